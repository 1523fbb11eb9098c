//! Keys of model providers and of tools for agents.
//!
//! In all tables of tokens: lengths are those that vendors document or that their tokens show, with room on both sides
//! where a vendor has changed them before. Identifiers that a vendor regards as public are left out.

use crate::rule::Check::{Dense, Digit, Most};
use crate::rule::Rule;

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::token("anthropic", "Anthropic API key or OAuth token", &["sk-ant-"], r"[\w-]{16,}").checks(&[Dense, Most(600)])
        .hits(&["sk-ant-api03-<w90>AA", "sk-ant-oat01-<w40>", "sk-ant-admin01-<w93>AA"]).misses(&["sk-ant-<a6>", "sk-ant-your-key-goes-here"]),
    Rule::token("openai", "API key in OpenAI's style, also used by OpenRouter, DeepSeek and others", &["sk-"], r"[\w-]{16,}").checks(&[Dense, Most(600)])
        .hits(&["sk-<a48>", "sk-proj-<w74>", "sk-svcacct-<w60>", "sk-or-v1-<h64>", "sk-<h32>"])
        .misses(&["sk-<a6>", "task-sk-<a30>", "sk-estimator-doc-link", "sk-fading-circle sk-spinner-pulse", "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "risk-assessment-for-2024"]),
    Rule::token("openai-session", "OpenAI session key", &["sess-"], r"[A-Za-z0-9]{40}").hits(&["sess-<a40>"]).misses(&["sess-<a12>"]),
    Rule::token("google-api-key", "Google Cloud or Gemini API key", &["AIza"], r"[\w-]{30,40}").hits(&["AIza<w35>"]).misses(&["AIza<w8>"]),
    Rule::token("huggingface", "Hugging Face token", &["hf_", "api_org_"], r"[A-Za-z0-9]{30,60}").checks(&[Dense]).hits(&["hf_<a34>", "api_org_<a34>"]).misses(&["hf_hub_download_and_load_the_model_file"]),
    Rule::token("perplexity", "Perplexity API key", &["pplx-"], r"[A-Za-z0-9]{32,80}").hits(&["pplx-<a48>"]),
    Rule::token("groq", "Groq API key", &["gsk_"], r"[A-Za-z0-9]{32,80}").hits(&["gsk_<a52>"]),
    Rule::token("xai", "xAI API key", &["xai-"], r"\w{30,120}").checks(&[Digit]).hits(&["xai-<a80>"]),
    Rule::token("fireworks", "Fireworks AI API key", &["fw_", "fpk_"], r"[A-Za-z0-9]{20,60}").checks(&[Digit]).hits(&["fw_<a24>", "fpk_<a30>"]).misses(&["fw_version_number_of_the_device"]),
    Rule::token("replicate", "Replicate API token", &["r8_"], r"[A-Za-z0-9_-]{30,60}").checks(&[Dense]).hits(&["r8_<a37>"]),
    Rule::token("tavily", "Tavily API key", &["tvly-"], r"[\w-]{20,80}").checks(&[Dense]).hits(&["tvly-<a32>", "tvly-dev-<a32>"]),
    Rule::token("nvidia", "NVIDIA API key", &["nvapi-"], r"[\w-]{40,100}").hits(&["nvapi-<w64>"]),
    Rule::token("cerebras", "Cerebras API key", &["csk-"], r"[A-Za-z0-9]{32,80}").hits(&["csk-<a48>"]),
    Rule::token("together", "Together AI API key", &["tgp_v1_"], r"[\w-]{32,80}").hits(&["tgp_v1_<w43>"]),
    Rule::token("langsmith", "LangSmith API key", &["lsv2_pt_", "lsv2_sk_"], r"\w{32,80}").hits(&["lsv2_pt_<h32>_<h10>"]),
    Rule::token("langfuse", "Langfuse secret key", &["sk-lf-"], r"[0-9a-f-]{36}").hits(&["sk-lf-<h8>-<h4>-<h4>-<h4>-<h12>"]),
    Rule::token("firecrawl", "Firecrawl API key", &["fc-"], r"[0-9a-f]{32}").hits(&["fc-<h32>"]),
    Rule::token("exa", "Exa, Fal, Jina or Mem0 API key", &["exa_", "fal_", "jina_", "mem0_", "m0-"], r"[\w-]{24,120}").checks(&[Dense]).hits(&["jina_<a60>", "fal_<a40>"]),
    Rule::token("browserbase", "Browserbase API key", &["bb_live_", "bb_test_"], r"[\w-]{20,80}").hits(&["bb_live_<a27>"]),
    Rule::token("e2b", "E2B API key", &["e2b_"], r"[0-9a-f]{40}").hits(&["e2b_<h40>"]),
    Rule::token("apify", "Apify token", &["apify_api_"], r"[A-Za-z0-9-]{30,50}").hits(&["apify_api_<a36>"]),
    Rule::token("assembly-and-speech", "Deepgram or Cartesia key with a prefix", &["sk_car_", "dg_live_"], r"[\w-]{20,60}").hits(&["sk_car_<a22>"]),
    Rule::token("pinecone", "Pinecone API key", &["pcsk_"], r"[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,70}").hits(&["pcsk_<a6>_<a63>"]),
    Rule::token("voyage", "Voyage AI key", &["pa-"], r"[\w-]{40,48}").checks(&[Dense, Digit]).hits(&["pa-<w43>"]).misses(&["pa-rt-of-the-menu-that-is-shown-to-the-users"]),
    Rule::token("stability-and-novita", "Novita or SiliconFlow key", &["sk_novita_", "sk-sf-"], r"[\w-]{30,80}").hits(&["sk_novita_<a40>"]),
    Rule::token("matrix", "Matrix access token", &["syt_"], r"[\w-]{20,120}").checks(&[Digit]).hits(&["syt_<a12>_<a20>_<a6>"]),
    Rule::token("agent-tools", "Hosted memory or workspace keys of agent platforms", &["retaindb_", "hsk-", "brv_"], r"[\w-]{20,120}").checks(&[Dense]).hits(&["retaindb_<a32>", "brv_<a30>"]),
    Rule::token("weights-and-biases", "Weights & Biases key", &["wandb_v1_"], r"[\w-]{40,120}").hits(&["wandb_v1_<w60>"]),
    Rule::token("elevenlabs", "ElevenLabs API key", &["sk_"], r"[0-9a-f]{48}").hits(&["sk_<h48>"]),
];
