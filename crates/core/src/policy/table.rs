//! The settings sections of the core: every setting once, with type, range, default, presets and documentation.
//!
//! To add a knob, add a row: the line of documentation, `name: type = kind, "default"`, and the presets
//! that differ. The field of [`Policy`], the check, the error message, the documentation, the schema, the
//! environment variable and `--set` follow from it. A section is added the same way, in the crate that reads it.

use super::choice::{Basis, Dialect, Fidelity, PruneOrder, Tail};
use crate::models::{CacheTtl, SignedReasoning};
use crate::section;
use crate::settings::{
    AutoOr, Order, Preset, Relation, Resolved, Section, Sections, Table, ValueKind, bytes, count, fraction, one_of,
    tokens,
};
use serde_json::Value;

/// A window below this cannot hold a system prompt and a handoff.
const SMALLEST_WINDOW: u64 = 1_000;
/// Far above any window that is sold, low enough that sums of budgets fit 32 bits.
const LARGEST_WINDOW: u64 = 100_000_000;

section! {
    /// When to act and how far.
    CompressionPolicy = "compression" {
        /// Enable compaction; when false, transcripts are returned unchanged.
        enabled: bool = ValueKind::Flag, "true";
        /// Named set of defaults for the other keys of this section.
        preset: Preset = one_of(Preset::NAMES), Preset::DEFAULT.name();
        /// Fraction of the effective window (window minus reserved output) at which the engine acts.
        threshold: f64 = fraction(0.05, 0.95), "0.5", [SacredZone, Skill] "0.75", [Steady] "0.86";
        /// Added to `threshold` in windows of up to 32,000 tokens, falling to 0 at 128,000.
        small_window_extra: f64 = fraction(0.0, 0.1), "0", [Steady] "0.048";
        /// Added to `threshold` if a request asks for a reply of at most 5 % of the window, falling to 0 at 10 %.
        short_reply_extra: f64 = fraction(0.0, 0.1), "0", [Steady] "0.07";
        /// What fractions refer to: the effective window, or the room it leaves beside system prompt and tools.
        basis: Basis = one_of(Basis::NAMES), "window", [Steady] "room";
        /// Fraction of the trigger at which the engine acts if the prompt cache has expired; 1 disables this.
        cold_threshold: f64 = fraction(0.1, 1.0), "1", [Steady] "0.5";
        /// Minimum growth between unforced rewrites, as a fraction of the trigger; `auto` is 0, in the gateway 0.3.
        min_growth: AutoOr<f64> = fraction(0.0, 0.9).or(&["auto"]), "auto", [Steady] "0.3";
        /// Fraction of the messages' tokens that an unforced fold must free; less counts as a strike.
        min_freed: f64 = fraction(0.0, 0.9), "0", [Steady] "0.3";
        /// Largest share of the window that the `max_tokens` of a request reserves; 1 limits only huge values.
        reply_share: f64 = fraction(0.0, 1.0), "1", [Steady] "0.1";
        /// Length of the verbatim tail as a fraction of the trigger, if `tail` is `ratio`.
        target_ratio: f64 = fraction(0.10, 0.80), "0.2", [Frugal, Steady] "0.1";
        /// Maximum length of a tail by `target_ratio`, in tokens.
        tail_max: u32 = tokens(500, 10_000_000), "10000000", [Steady] "6000";
        /// Messages after the system prompt that the first fold keeps verbatim.
        protect_first_n: u32 = count(0, 50), "3", [SacredZone] "2";
        /// Messages at the end that stay in the tail if they fit.
        protect_last_n: u32 = count(1, 500), "20", [Steady] "4";
        /// Model that writes summaries; null uses `summarizer.model`.
        summary_model: Option<String> = ValueKind::Text, "null";
        /// Tail budget: `ratio` of the trigger, `auto` from the recent pace, or a number of tokens.
        tail: Tail = tokens(500, 10_000_000).or(&["ratio", "auto"]), "ratio", [SacredZone, Skill] "20000";
        /// Fraction of the effective window that a prune must reach; `auto` is the trigger less the runway.
        low_water: AutoOr<f64> = fraction(0.02, 0.90).or(&["auto"]), "auto", [SacredZone] "0.5";
        /// Free room below the trigger that a prune alone must reach, as a fraction of the trigger.
        runway: f64 = fraction(0.0, 0.9), "0.15", [Steady] "0.88";
        /// Tokens that a prune must reclaim to be worth its cache miss; `auto` grows with the window.
        prune_minimum: AutoOr<u32> = tokens(0, 10_000_000).or(&["auto"]), "0", [Runway, Frugal] "auto";
        /// Tool outputs of up to this many tokens are not pruned.
        prune_above: u32 = tokens(0, 1_000_000), "50", [SacredZone, Skill] "500";
        /// Which outputs a prune takes first.
        prune_order: PruneOrder = one_of(PruneOrder::NAMES), "largest";
        /// Tokens of recent tool output outside the tail that a prune keeps; `auto` grows with the window.
        protect_tool_tokens: AutoOr<u32> = tokens(0, 10_000_000).or(&["auto"]), "0", [Runway, Frugal] "auto";
        /// Tools whose outputs are never pruned, by name.
        never_prune: Vec<String> = ValueKind::Names, "", [Runway, Frugal] "clarify,memory,skill_view,todo,read_file";
        /// What every handoff keeps: texts verbatim, and patterns with `*` that match sentences of the user.
        pins: Vec<String> = ValueKind::Texts, "";
        /// Saving below which a fold counts as a strike, as a fraction of the tokens before it.
        min_saving: f64 = fraction(0.0, 0.9), "0.1";
        /// Strikes in a row after which automatic folds stop.
        max_strikes: u32 = count(1, 100), "2";
        /// Fraction of the trigger at which a warning is given and background work may start.
        pressure: f64 = fraction(0.10, 1.0), "0.85";
        /// Fraction of the whole window at which the safety net folds before the request is sent.
        hygiene_threshold: f64 = fraction(0.10, 0.99), "0.85";
        /// Fewest messages for which the safety net acts.
        hygiene_min_messages: u32 = count(0, 10_000), "4";
        /// Length of a handoff, as a fraction of the folded tokens.
        summary_ratio: f64 = fraction(0.01, 0.9), "0.2", [Frugal] "0.35", [Steady] "0.25";
        /// Minimum budget of a handoff in tokens.
        summary_min: u32 = tokens(100, 100_000), "2000";
        /// Maximum budget of a handoff in tokens.
        summary_max: u32 = tokens(100, 1_000_000), "12000", [Frugal] "24000", [Steady] "15000";
        /// Maximum budget of a handoff as a fraction of the window.
        summary_window_share: f64 = fraction(0.005, 0.5), "0.05", [Frugal] "0.12", [Steady] "0.075";
        /// Share of the handoff that a focus topic gets.
        focus_share: f64 = fraction(0.3, 0.9), "0.65";
        /// Return the input unchanged when the summariser fails, instead of a handoff made without a model.
        abort_on_failure: bool = ValueKind::Flag, "false";
        /// Append a note to the system prompt on the first fold; invalidates cached prefixes once. Ignored by the gateway.
        system_note: bool = ValueKind::Flag, "false";
        /// Reduce a huge tool output in the first request that contains it.
        admission: bool = ValueKind::Flag, "false", [Frugal] "true";
        /// Tokens above which a new tool output counts as huge; `auto` grows with the window.
        admission_above: AutoOr<u32> = tokens(200, 10_000_000).or(&["auto"]), "auto";
        /// Also fold below the trigger if that costs less than continuing, by prices, pace and cache age.
        economy: bool = ValueKind::Flag, "false", [Frugal] "true";
        /// Largest request body in bytes; `auto` is a safe limit for the provider of the format.
        max_body_bytes: AutoOr<u64> = bytes(10_000, 10_000_000_000).or(&["auto"]), "auto";
        /// Tokens counted per image, whatever its size.
        image_tokens: u32 = tokens(0, 100_000), "1500";
        /// Lowest fidelity allowed for a step.
        fidelity: Fidelity = one_of(Fidelity::NAMES), "recoverable";
        /// How an edit affects signed reasoning after it; `auto` uses the model table.
        signed_reasoning: AutoOr<SignedReasoning> = one_of(AutoOr::<SignedReasoning>::NAMES), "auto";
    }
    relations &[
        Relation { key: "compression.low_water", order: Order::Below, other: "compression.threshold" },
        Relation { key: "compression.summary_min", order: Order::AtMost, other: "compression.summary_max" },
    ];
    retired &[("compression.outlines", "definitions are found by the look of lines; remove it")];
}

section! {
    /// The model that reads the transcript.
    ModelPolicy = "model" {
        /// Model name for requests without one; null uses the name in the request.
        name: Option<String> = ValueKind::Text, "null";
        /// Context window in tokens; `auto` uses the model table.
        window: AutoOr<u32> = tokens(SMALLEST_WINDOW, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// Tokens reserved for the reply; `auto` is the `max_tokens` of the request, limited if it is huge.
        max_output: AutoOr<u32> = tokens(1, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// Lifetime of cached prefixes.
        cache_ttl: CacheTtl = one_of(CacheTtl::NAMES), "5m";
        /// File with model data (JSON or YAML) that overrides the built-in table; null for none.
        table: Option<String> = ValueKind::Text, "null";
    }
}

section! {
    /// The model that writes summaries.
    SummarizerPolicy = "summarizer" {
        /// Base URL of an OpenAI-compatible, Anthropic or Gemini API; null writes handoffs without a model.
        url: Option<String> = ValueKind::Text, "null";
        /// Model name in its requests.
        model: Option<String> = ValueKind::Text, "null";
        /// Context window of that model in tokens; `auto` uses the model table.
        window: AutoOr<u32> = tokens(SMALLEST_WINDOW, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// API dialect; `auto` derives it from the URL.
        dialect: Dialect = one_of(Dialect::NAMES), "auto";
        /// Environment variable with the key; null is FOLDLINE_SUMMARIZER_KEY, or the vendor's variable for the vendor's URL.
        key_env: Option<String> = ValueKind::Text, "null";
        /// File with the key, instead of an environment variable.
        key_file: Option<String> = ValueKind::Text, "null";
        /// Model that is asked once if the first one fails; null is the model of the transcript, if the endpoint serves it.
        fallback_model: Option<String> = ValueKind::Text, "null";
        /// Timeout in seconds for the first token of a reply.
        first_word_seconds: u32 = count(1, 3600), "300";
        /// Timeout in seconds between tokens of a reply.
        idle_seconds: u32 = count(1, 3600), "60";
        /// Retries after a transient failure (overload, connection error).
        retries: u32 = count(0, 10), "2";
        /// PEM file with certificate authorities to trust in addition to those of the system.
        ca_file: Option<String> = ValueKind::Text, "null";
    }
}

/// What the engine decides with. The path of a field is the key of its knob.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// When to act and how far.
    pub compression: CompressionPolicy,
    /// The model that reads the transcript.
    pub model: ModelPolicy,
    /// The model that writes summaries.
    pub summarizer: SummarizerPolicy,
}

impl Default for Policy {
    fn default() -> Self {
        Self::of(Preset::DEFAULT)
    }
}

impl Policy {
    /// Its sections, for a program to compose with those of other crates.
    pub const TABLES: [Table; 3] = [CompressionPolicy::TABLE, ModelPolicy::TABLE, SummarizerPolicy::TABLE];

    /// Its sections alone.
    pub fn sections() -> Sections {
        Sections::new(Policy::TABLES)
    }

    /// The policy of a preset, with nothing laid over it.
    pub fn of(preset: Preset) -> Self {
        let compression = CompressionPolicy { preset, ..CompressionPolicy::of(preset) };
        Self { compression, model: ModelPolicy::of(preset), summarizer: SummarizerPolicy::of(preset) }
    }

    /// The policy among all settings.
    pub fn resolved(settings: &Resolved) -> Self {
        Self { compression: settings.section(), model: settings.section(), summarizer: settings.section() }
    }

    /// The value of a key, as it would be written in a file.
    pub fn value(&self, key: &str) -> Option<Value> {
        match key.split_once('.')? {
            ("compression", name) => self.compression.value(name),
            ("model", name) => self.model.value(name),
            ("summarizer", name) => self.summarizer.value(name),
            _ => None,
        }
    }

    /// The model that writes summaries: the key of the compression section wins.
    pub fn summary_model(&self) -> Option<&str> {
        self.compression.summary_model.as_deref().or(self.summarizer.model.as_deref())
    }
}
