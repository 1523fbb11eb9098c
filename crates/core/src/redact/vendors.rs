//! Rules for tokens that carry their vendor's prefix.
//!
//! Lengths are those that vendors document or that their tokens show, with room on both sides where a vendor has
//! changed them before. Identifiers that a vendor regards as public (publishable keys, account ids) are left out.

use crate::redact::alphabet::{
    ALNUM, ASTRA, BASE64, BRAINTREE, DASH, DOTTED, HEX, HEX_ANY, HEX_DASH, LOWER, SLACK, TOKEN_BASE64, TOKEN_EQUALS,
    UPPER, WORD,
};
use crate::redact::rules::Rule;
use crate::redact::token::Look;

/// Bodies longer than this are no tokens of the kinds below.
const LONG: usize = 600;

#[rustfmt::skip]
pub(crate) static VENDORS: [Rule; 92] = [
    // Models
    Rule::token("anthropic", "Anthropic API key or OAuth token", &["sk-ant-"], (&DASH, 16, LONG), &["sk-ant-api03-<w90>AA", "sk-ant-oat01-<w40>"]).look(Look::Dense)
        .misses(&["sk-ant-<a6>", "sk-ant-your-key-goes-here"]),
    Rule::token("openai", "API key in OpenAI's style, also used by OpenRouter, DeepSeek and others", &["sk-"], (&DASH, 16, LONG),
        &["sk-<a48>", "sk-proj-<w74>", "sk-svcacct-<w60>", "sk-or-v1-<h64>", "sk-<h32>"]).look(Look::Dense)
        .misses(&["sk-<a6>", "task-sk-<a30>", "sk-estimator-doc-link", "sk-fading-circle sk-spinner-pulse", "sk-xxxxxxxxxxxxxxxxxxxxxxxx", "risk-assessment-for-2024"]),
    Rule::token("google-api-key", "Google Cloud or Gemini API key", &["AIza"], (&DASH, 30, 40), &["AIza<w35>"]).misses(&["AIza<w8>"]),
    Rule::token("huggingface", "Hugging Face token", &["hf_", "api_org_"], (&ALNUM, 30, 60), &["hf_<a34>", "api_org_<a34>"]).misses(&["hf_hub_download_and_load_the_model_file"]),
    Rule::token("perplexity", "Perplexity API key", &["pplx-"], (&ALNUM, 32, 80), &["pplx-<a48>"]),
    Rule::token("groq", "Groq API key", &["gsk_"], (&ALNUM, 32, 80), &["gsk_<a52>"]),
    Rule::token("xai", "xAI API key", &["xai-"], (&ALNUM, 30, 120), &["xai-<a80>"]),
    Rule::token("fireworks", "Fireworks AI API key", &["fw_", "fpk_"], (&ALNUM, 20, 60), &["fw_<a24>", "fpk_<a30>"]).misses(&["fw_version_number_of_the_device"]).look(Look::Digit),
    Rule::token("replicate", "Replicate API token", &["r8_"], (&ALNUM, 30, 60), &["r8_<a37>"]),
    Rule::token("tavily", "Tavily API key", &["tvly-"], (&DASH, 20, 80), &["tvly-<a32>", "tvly-dev-<a32>"]).look(Look::Dense),
    Rule::token("nvidia", "NVIDIA API key", &["nvapi-"], (&DASH, 40, 100), &["nvapi-<w64>"]),
    Rule::token("cerebras", "Cerebras API key", &["csk-"], (&ALNUM, 32, 80), &["csk-<a48>"]),
    Rule::token("together", "Together AI API key", &["tgp_v1_"], (&DASH, 32, 80), &["tgp_v1_<w43>"]),
    Rule::token("langsmith", "LangSmith API key", &["lsv2_pt_", "lsv2_sk_"], (&WORD, 32, 80), &["lsv2_pt_<h32>_<h10>"]),
    Rule::token("firecrawl", "Firecrawl API key", &["fc-"], (&HEX, 32, 32), &["fc-<h32>"]),
    Rule::token("exa", "Exa, Fal, Jina or Mem0 API key", &["exa_", "fal_", "jina_", "mem0_"], (&DASH, 24, 120), &["jina_<a60>", "fal_<a40>"]).look(Look::Dense),
    Rule::token("browserbase", "Browserbase API key", &["bb_live_"], (&DASH, 20, 80), &["bb_live_<a27>"]),
    Rule::token("matrix", "Matrix access token", &["syt_"], (&DASH, 20, 120), &["syt_<a12>_<a20>_<a6>"]).look(Look::Digit),
    Rule::token("agent-tools", "Hosted memory or workspace keys of agent platforms", &["retaindb_", "hsk-", "brv_"], (&DASH, 20, 120), &["retaindb_<a32>", "brv_<a30>"]).look(Look::Dense),
    // Code hosts and package registries
    Rule::token("github", "GitHub token: personal, OAuth, app, installation or refresh", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], (&ALNUM, 30, 255), &["ghp_<a36>", "ghs_<a36>", "gho_<a36>", "\\nghu_<a36>", "x=ghr_<a76>"])
        .misses(&["ghp_<a10>", "Xghp_<a36>", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"]),
    Rule::token("github-fine-grained", "GitHub fine-grained personal token", &["github_pat_"], (&WORD, 22, 255), &["github_pat_<a22>_<a59>"]).misses(&["github_pat_token_for_releases"]).look(Look::Digit),
    Rule::token("gitlab", "GitLab token: personal, deploy, runner, trigger, feed, agent, OAuth",
        &["glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "gloas-"], (&DOTTED, 20, 300),
        &["glpat-<w20>", "glpat-<w27>.01.<a9>", "gldt-<w20>", "glrt-t1_<w20>", "glagent-<w50>"]).misses(&["glpat-<a6>"]),
    Rule::token("gitlab-runner", "GitLab runner registration token", &["GR1348941"], (&DASH, 20, 60), &["GR1348941<w20>"]),
    Rule::token("bitbucket", "Bitbucket app password", &["ATBB"], (&ALNUM, 28, 60), &["ATBB<a32>"]).look(Look::Digit),
    Rule::token("atlassian", "Atlassian API token", &["ATATT3x", "ATCTT3x", "ATTA"], (&TOKEN_EQUALS, 60, 400), &["ATATT3x<w180>=<u8>", "ATTA<h72>"]),
    Rule::token("npm", "npm access token", &["npm_"], (&ALNUM, 36, 36), &["npm_<a36>"]).misses(&["npm_config_registry", "npm_package_dependencies_typescriptversions"]),
    Rule::token("pypi", "PyPI upload token", &["pypi-"], (&DASH, 40, 400), &["pypi-AgEIcHlwaS5vcmc<w70>"]).misses(&["pypi-publish-action"]).look(Look::Dense),
    Rule::token("rubygems", "RubyGems API key", &["rubygems_"], (&HEX, 48, 48), &["rubygems_<h48>"]),
    Rule::token("clojars", "Clojars deploy token", &["CLOJARS_"], (&ALNUM, 60, 60), &["CLOJARS_<a60>"]),
    Rule::token("nuget", "NuGet API key", &["oy2"], (&LOWER, 43, 43), &["oy2<l43>"]).look(Look::Digit),
    Rule::token("docker", "Docker Hub personal or organisation token", &["dckr_pat_", "dckr_oat_"], (&DASH, 20, 60), &["dckr_pat_<w27>"]),
    Rule::token("sourcegraph", "Sourcegraph access token", &["sgp_"], (&WORD, 40, 80), &["sgp_<h16>_<h40>", "sgp_<h40>"]),
    Rule::token("circleci", "CircleCI token", &["CCIPAT_", "CCIPRJ_"], (&WORD, 40, 90), &["CCIPAT_<a22>_<h40>"]),
    Rule::token("buildkite", "Buildkite token", &["bkua_"], (&HEX, 40, 40), &["bkua_<h40>"]),
    // Clouds and hosts
    Rule::token("aws-access-key", "AWS access key id, permanent or temporary", &["AKIA", "ASIA", "ABIA", "ACCA"], (&UPPER, 16, 16), &["AKIA<u16>", "ASIA<u16>", "key AKIA<u16>."])
        .misses(&["AKIA<u8>", "XAKIA<u16>", "ASIAPACIFICREGION", "AROA<u16>"]).look(Look::Digit),
    Rule::token("aws-bedrock", "AWS Bedrock API key", &["ABSK"], (&BASE64, 100, 280), &["ABSK<b130>"]),
    Rule::token("amazon-mws", "Amazon Marketplace token", &["amzn.mws."], (&HEX_DASH, 36, 36), &["amzn.mws.<h8>-<h4>-<h4>-<h4>-<h12>"]),
    Rule::token("google-oauth-secret", "Google OAuth client secret", &["GOCSPX-"], (&DASH, 20, 40), &["GOCSPX-<w28>"]),
    Rule::token("google-oauth-access", "Google OAuth access token", &["ya29."], (&DOTTED, 20, LONG), &["ya29.<w120>"]),
    Rule::token("google-oauth-refresh", "Google OAuth refresh token", &["1//0"], (&DASH, 30, 200), &["1//0<w60>"]).look(Look::Digit).misses(&["1//0 is undefined"]),
    Rule::token("digitalocean", "DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], (&HEX, 64, 64), &["dop_v1_<h64>"]),
    Rule::token("heroku", "Heroku API key", &["HRKU-"], (&DASH, 30, 80), &["HRKU-<h8>-<h4>-<h4>-<h4>-<h12>", "HRKU-AA<w58>"]),
    Rule::token("cloudflare-origin", "Cloudflare origin CA key", &["v1.0-"], (&HEX_DASH, 100, 200), &["v1.0-<h24>-<h146>"]),
    Rule::token("cloudflare", "Cloudflare scannable token", &["cfut_", "cfat_", "cfk_"], (&ALNUM, 40, 60), &["cfut_<a48>"]),
    Rule::token("databricks", "Databricks access token", &["dapi"], (&HEX_DASH, 32, 36), &["dapi<h32>", "dapi<h32>-2"]),
    Rule::token("planetscale", "PlanetScale token or password", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], (&DOTTED, 30, 80), &["pscale_pw_<w43>"]),
    Rule::token("supabase", "Supabase access token or secret key", &["sbp_", "sb_secret_"], (&DASH, 30, 60), &["sbp_<h40>", "sb_secret_<w31>"]).look(Look::Digit),
    Rule::token("netlify", "Netlify token", &["nfp_"], (&ALNUM, 36, 40), &["nfp_<a36>"]),
    Rule::token("vercel", "Vercel token", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], (&ALNUM, 40, 80), &["vcp_<a56>"]),
    Rule::token("fly", "Fly.io token", &["fm1_", "fm2_", "fm1r_", "fm2r_", "fo1_"], (&TOKEN_BASE64, 40, 4000), &["fm2_<b200>", "fo1_<w43>"]),
    Rule::token("tailscale", "Tailscale key", &["tskey-"], (&DASH, 20, 80), &["tskey-auth-<a12>CNTRL-<a32>"]).look(Look::Digit),
    Rule::token("pulumi-prefect", "Pulumi or Prefect token", &["pul-", "pnu_"], (&ALNUM, 36, 40), &["pul-<h40>", "pnu_<a36>"]).look(Look::Digit),
    Rule::token("vault", "HashiCorp Vault token", &["hvs.", "hvb.", "hvr."], (&DASH, 24, 400), &["hvs.<w90>", "hvb.<w130>"]),
    Rule::token("doppler", "Doppler token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], (&DOTTED, 40, 70), &["dp.pt.<a43>", "dp.st.prd.<a43>"]),
    Rule::token("onepassword", "1Password service account token", &["ops_eyJ"], (&TOKEN_EQUALS, 200, 4000), &["ops_eyJ<a260>"]),
    Rule::token("age", "age identity", &["AGE-SECRET-KEY-1"], (&UPPER, 58, 58), &["AGE-SECRET-KEY-1<u58>"]),
    Rule::token("fernet", "Fernet token", &["gAAAAA"], (&TOKEN_EQUALS, 60, 8000), &["gAAAAA<w94>=="]).misses(&["gAAAAA<a20>+/<a80>"]),
    // Messages, mail, telephone
    Rule::token("slack", "Slack bot, user, app or configuration token", &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-", "xapp-"], (&SLACK, 16, 400),
        &["xoxb-<d12>-<d12>-<a24>", "xapp-1-A<u10>-<d13>-<h64>", "xoxe.xoxp-1-<a160>"]).misses(&["xoxb-<a4>", "xoxb-your-token-goes-here"]).look(Look::Digit),
    Rule::token("sendgrid", "SendGrid API key", &["SG."], (&DOTTED, 30, 90), &["SG.<w22>.<w43>"]).look(Look::Dots(1)),
    Rule::token("mailgun", "Mailgun key", &["key-"], (&HEX, 32, 32), &["key-<h32>"]).misses(&["key-value", "api-key-<h32>x"]),
    Rule::token("brevo", "Brevo API or SMTP key", &["xkeysib-", "xsmtpsib-"], (&DASH, 64, 100), &["xkeysib-<h64>-<a16>"]),
    Rule::token("resend", "Resend API key", &["re_"], (&WORD, 30, 40), &["re_<a8>_<a24>"]).look(Look::Dense).misses(&["re_compile_all_the_patterns_of_this", "re_enable_http2_in_the_next_release1"]),
    Rule::token("twilio", "Twilio API key", &["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"], (&HEX, 31, 31), &["SK0<h31>", "SKf<h31>"]),
    // Money and shops
    Rule::token("stripe", "Stripe secret or restricted key, webhook secret", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_", "whsec_"], (&TOKEN_BASE64, 16, 260), &["sk_live_<a24>", "rk_test_<a99>", "whsec_<b32>"])
        .misses(&["pk_live_<a24>", "sk_test_<a4>", "whsec_your_webhook_secret"]).look(Look::Dense),
    Rule::token("elevenlabs", "ElevenLabs API key", &["sk_"], (&HEX, 48, 48), &["sk_<h48>"]),
    Rule::token("square", "Square access token or application secret", &["sq0atp-", "sq0csp-", "sq0idb-", "EAAAE"], (&DASH, 22, 80), &["sq0csp-<w43>", "EAAAE<w59>"]).look(Look::Digit),
    Rule::token("shopify", "Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], (&HEX_ANY, 32, 40), &["shpat_<h32>"]),
    Rule::token("braintree", "Braintree access token", &["access_token$production$", "access_token$sandbox$"], (&BRAINTREE, 40, 60), &["access_token$production$<l16>$<h32>"]),
    Rule::token("flutterwave", "Flutterwave secret key", &["FLWSECK_TEST-", "FLWSECK-"], (&DASH, 12, 60), &["FLWSECK_TEST-<h32>-X"]).look(Look::Digit),
    Rule::token("easypost", "EasyPost key", &["EZAK", "EZTK"], (&ALNUM, 54, 54), &["EZAK<a54>"]),
    Rule::token("shippo", "Shippo token", &["shippo_live_", "shippo_test_"], (&HEX, 40, 40), &["shippo_live_<h40>"]),
    Rule::token("duffel", "Duffel token", &["duffel_live_", "duffel_test_"], (&DASH, 40, 60), &["duffel_test_<w43>"]),
    Rule::token("cal-polar", "Cal.com or Polar key", &["cal_live_", "polar_oat_", "polar_pat_"], (&DASH, 30, 60), &["cal_live_<h32>", "polar_oat_<a43>"]),
    // Observing and working
    Rule::token("grafana", "Grafana cloud or service account token", &["glc_", "glsa_"], (&TOKEN_BASE64, 32, 400), &["glsa_<a32>_<h8>", "glc_eyJ<a60>="]),
    Rule::token("new-relic", "New Relic key", &["NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRJS-", "NRSP-"], (&DASH, 19, 60), &["NRAK-<u27>", "NRII-<w32>"]).look(Look::Digit),
    Rule::token("sentry", "Sentry token", &["sntrys_", "sntryu_", "sntrya_"], (&TOKEN_BASE64, 40, 400), &["sntryu_<h64>", "sntrys_eyJ<a100>_<a43>"]),
    Rule::token("dynatrace", "Dynatrace token", &["dt0c01.", "dt0s16.", "dt0s01."], (&DOTTED, 60, 120), &["dt0c01.<u24>.<u64>"]),
    Rule::token("posthog", "PostHog personal key", &["phx_"], (&ALNUM, 40, 60), &["phx_<a43>"]),
    Rule::token("weights-and-biases", "Weights & Biases key", &["wandb_v1_"], (&DASH, 40, 120), &["wandb_v1_<w60>"]),
    Rule::token("linear", "Linear API key", &["lin_api_", "lin_oauth_"], (&ALNUM, 32, 80), &["lin_api_<a40>"]),
    Rule::token("notion", "Notion token", &["ntn_"], (&ALNUM, 40, 60), &["ntn_<d11><a35>"]),
    Rule::token("notion-secret", "Notion token of the older form", &["secret_"], (&ALNUM, 43, 43), &["secret_<a43>"]).look(Look::Digit),
    Rule::token("postman", "Postman API key", &["PMAK-"], (&HEX_DASH, 50, 70), &["PMAK-<h24>-<h34>"]),
    Rule::token("figma", "Figma personal token", &["figd_", "figdr_"], (&DASH, 36, 60), &["figd_<w40>"]),
    Rule::token("hubspot", "HubSpot private app token", &["pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"], (&HEX_DASH, 36, 36), &["pat-na1-<h8>-<h4>-<h4>-<h4>-<h12>"]),
    Rule::token("contentful", "Contentful personal token", &["CFPAT-"], (&DASH, 40, 50), &["CFPAT-<w43>"]),
    Rule::token("readme", "ReadMe API key", &["rdme_"], (&LOWER, 70, 70), &["rdme_<l70>"]),
    Rule::token("frame-io", "Frame.io token", &["fio-u-"], (&DASH, 60, 70), &["fio-u-<w64>"]),
    Rule::token("dropbox", "Dropbox short-lived token", &["sl.B", "sl.u."], (&DASH, 100, LONG), &["sl.B<w140>", "sl.u.<w150>"]),
    Rule::token("mapbox", "Mapbox secret token", &["sk.eyJ"], (&DOTTED, 40, 200), &["sk.eyJ<a60>.<a22>"]),
    Rule::token("facebook", "Facebook or Instagram access token", &["EAACEdEose0cBA", "EAAG", "EAAB", "IGQV"], (&ALNUM, 80, 400), &["EAAG<a160>"]).look(Look::Digit),
    Rule::token("astra", "DataStax Astra token", &["AstraCS:"], (&ASTRA, 60, 120), &["AstraCS:<a24>:<h64>"]),
];
