//! The table: every knob once, with its type, range, default, presets and one line of documentation.
//!
//! To add a knob, add a row: the line of documentation, `name: type = kind, "default"`, and the presets
//! that differ. The field of [`Policy`], the check, the error message, the documentation, the schema, the
//! environment variable and `--set` follow from it. A section is added the same way.

use serde_json::{Map, Value};

use super::choice::{Basis, CacheTtl, Dialect, Fidelity, Outlines, Preset, PruneOrder, SignedReasoning};
use super::field::{AutoOr, Field, Tail};
use super::kind::{Kind, bytes, choice, count, fraction, tokens};
use super::knob::Knob;

/// Makes the sections of [`Policy`] and the rows of [`KNOBS`] from one listing.
macro_rules! table {
    ($(
        $(#[$about:meta])*
        $section:ident: $Section:ident {
            $(
                #[doc = $doc:literal]
                $field:ident: $type:ty = $kind:expr, $default:expr
                    $(, [$($preset:ident),+] $value:literal)*;
            )+
        }
    )+) => {
        /// All settings, typed. The path of a field is the key of its knob.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Policy {
            $($(#[$about])* pub $section: $Section,)+
        }

        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq)]
            pub struct $Section {
                $(#[doc = $doc] pub $field: $type,)+
            }
        )+

        impl Policy {
            /// Placeholders in all fields; the defaults of the table overwrite each of them.
            fn blank() -> Self {
                Self { $($section: $Section { $($field: <$type as Field>::blank(),)+ },)+ }
            }
        }

        /// All knobs, in the order of the documentation.
        pub(crate) static KNOBS: &[Knob] = &[$($(
            Knob {
                key: concat!(stringify!($section), ".", stringify!($field)),
                kind: $kind,
                doc: $doc,
                default: $default,
                presets: &[$((&[$(Preset::$preset),+], $value)),*],
                take: |policy, value| Field::take(&mut policy.$section.$field, value),
                give: |policy| Field::give(&policy.$section.$field),
            },
        )+)+];
    };
}

/// A window below this cannot hold a system prompt and a handoff.
const SMALLEST_WINDOW: u64 = 1_000;
/// Far above any window that is sold, low enough that sums of budgets fit 32 bits.
const LARGEST_WINDOW: u64 = 100_000_000;

table! {
    /// When to act and how far.
    compression: CompressionPolicy {
        /// Compact at all; when off, transcripts pass as they are.
        enabled: bool = Kind::Flag, "true";
        /// Named set of values that the other keys of this section start from.
        preset: Preset = choice(Preset::NAMES), Preset::DEFAULT.name();
        /// Fraction of the effective window (window minus reserved output) at which the engine acts.
        threshold: f64 = fraction(0.05, 0.95), "0.5", [SacredZone, Skill] "0.75", [Steady] "0.85";
        /// By this share `threshold` is higher in windows of up to 32,000 tokens; less in larger ones, nothing from 128,000 on.
        small_window_extra: f64 = fraction(0.0, 0.1), "0", [Steady] "0.06";
        /// What fractions are taken of: the effective window, or its room beside system prompt and tools.
        basis: Basis = choice(Basis::NAMES), "window", [Steady] "room";
        /// Fraction of the trigger at which the engine acts where the cache has gone cold anyway; 1 waits.
        cold_threshold: f64 = fraction(0.1, 1.0), "1", [Steady] "0.5";
        /// Growth between unforced rewrites, as a fraction of the trigger; `auto` is none, 0.3 in the gateway.
        min_growth: AutoOr<f64> = fraction(0.0, 0.9).or(&["auto"]), "auto", [Steady] "0.3";
        /// Fraction of the messages' tokens that an unforced fold must free; less counts as a strike.
        min_freed: f64 = fraction(0.0, 0.9), "0", [Steady] "0.3";
        /// Most of the window that the `max_tokens` of a request reserves; 1 takes all but huge wishes at their word.
        reply_share: f64 = fraction(0.0, 1.0), "1", [Steady] "0.1";
        /// Tail kept verbatim, as a fraction of the trigger, when `tail` is `ratio`.
        target_ratio: f64 = fraction(0.10, 0.80), "0.2", [Frugal, Steady] "0.1";
        /// Messages after the system prompt that are kept verbatim at the start, on the first fold.
        protect_first_n: u32 = count(0, 50), "3", [SacredZone] "2";
        /// Messages at the end that stay in the tail where they fit.
        protect_last_n: u32 = count(1, 500), "20";
        /// Model that writes summaries; null leaves it to `summarizer.model`.
        summary_model: Option<String> = Kind::Text, "null";
        /// Tail budget: `ratio` of the trigger, `auto` from the recent pace, or a number of tokens.
        tail: Tail = tokens(500, 10_000_000).or(&["ratio", "auto"]), "ratio", [SacredZone, Skill] "20000";
        /// Fraction of the effective window that a prune must reach; `auto` is the trigger less the runway.
        low_water: AutoOr<f64> = fraction(0.02, 0.90).or(&["auto"]), "auto", [SacredZone] "0.5";
        /// Room below the trigger that a prune alone must leave, as a fraction of the trigger.
        runway: f64 = fraction(0.0, 0.9), "0.15", [Steady] "0.88";
        /// Tokens that a prune must reclaim to be worth its cache miss; `auto` grows with the window.
        prune_minimum: AutoOr<u32> = tokens(0, 10_000_000).or(&["auto"]), "0", [Runway, Frugal] "auto";
        /// Tool outputs of at most this many tokens are left alone.
        prune_above: u32 = tokens(0, 1_000_000), "50", [SacredZone, Skill] "500";
        /// How definitions are found in source code that becomes an outline.
        outlines: Outlines = choice(Outlines::NAMES), "lines";
        /// Which outputs a prune takes first.
        prune_order: PruneOrder = choice(PruneOrder::NAMES), "largest";
        /// Tokens of recent tool output outside the tail that a prune spares; `auto` grows with the window.
        protect_tool_tokens: AutoOr<u32> = tokens(0, 10_000_000).or(&["auto"]), "0", [Runway, Frugal] "auto";
        /// Tools whose outputs are never pruned, by name.
        never_prune: Vec<String> = Kind::Names, "", [Runway, Frugal] "clarify,memory,skill_view,todo,read_file";
        /// What every handoff keeps: texts word for word, and patterns with `*` for sentences of the user.
        pins: Vec<String> = Kind::Texts, "";
        /// Saving below which a fold counts as a strike, as a fraction of the tokens before it.
        min_saving: f64 = fraction(0.0, 0.9), "0.1";
        /// Strikes in a row after which automatic folds stop.
        max_strikes: u32 = count(1, 100), "2";
        /// Fraction of the trigger at which a warning is given and background work may start.
        pressure: f64 = fraction(0.10, 1.0), "0.85";
        /// Fraction of the whole window at which the safety net acts before the agent sees a message.
        hygiene_threshold: f64 = fraction(0.10, 0.99), "0.85";
        /// Messages below which the safety net stays out.
        hygiene_min_messages: u32 = count(0, 10_000), "4";
        /// Length of a handoff, as a fraction of the folded tokens.
        summary_ratio: f64 = fraction(0.01, 0.9), "0.2", [Frugal] "0.35", [Steady] "0.25";
        /// Shortest budget of a handoff, in tokens.
        summary_min: u32 = tokens(100, 100_000), "2000";
        /// Longest budget of a handoff, in tokens.
        summary_max: u32 = tokens(100, 1_000_000), "12000", [Frugal] "24000", [Steady] "9000";
        /// Longest budget of a handoff, as a fraction of the window.
        summary_window_share: f64 = fraction(0.005, 0.5), "0.05", [Frugal] "0.12", [Steady] "0.07";
        /// Share of the handoff that a focus topic gets.
        focus_share: f64 = fraction(0.3, 0.9), "0.65";
        /// Return the input unchanged when the summariser fails, instead of a handoff made without a model.
        abort_on_failure: bool = Kind::Flag, "false";
        /// Append a note to the system prompt on the first fold; breaks every cached prefix once.
        system_note: bool = Kind::Flag, "false";
        /// Reduce a huge tool output at once, on the request in which it first appears.
        admission: bool = Kind::Flag, "false", [Frugal] "true";
        /// Tokens above which a tool output is huge when it first appears; `auto` grows with the window.
        admission_above: AutoOr<u32> = tokens(200, 10_000_000).or(&["auto"]), "auto";
        /// Fold below the trigger, too, when that costs less than going on: by prices, pace and the age of the cache.
        economy: bool = Kind::Flag, "false", [Frugal] "true";
        /// Largest request body, in bytes; `auto` is what the provider of the format takes safely.
        max_body_bytes: AutoOr<u64> = bytes(10_000, 10_000_000_000).or(&["auto"]), "auto";
        /// Tokens that one image counts for, whatever its size in bytes.
        image_tokens: u32 = tokens(0, 100_000), "1500";
        /// Lowest fidelity that a step may have.
        fidelity: Fidelity = choice(Fidelity::NAMES), "recoverable";
        /// What an edit does to signed reasoning after it; `auto` asks the model table.
        signed_reasoning: AutoOr<SignedReasoning> = choice(AutoOr::<SignedReasoning>::NAMES), "auto";
    }
    /// The model that reads the transcript.
    model: ModelPolicy {
        /// Model name when the request has none; null leaves it to the request.
        name: Option<String> = Kind::Text, "null";
        /// Window in tokens; `auto` asks the model table.
        window: AutoOr<u32> = tokens(SMALLEST_WINDOW, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// Tokens reserved for the reply; `auto` is what the request asks for, and a part of it where that is huge.
        max_output: AutoOr<u32> = tokens(1, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// Lifetime of cached prefixes.
        cache_ttl: CacheTtl = choice(CacheTtl::NAMES), "5m";
        /// File with facts about models (JSON or YAML), laid over the table that ships; null for none.
        table: Option<String> = Kind::Text, "null";
    }
    /// The model that writes summaries.
    summarizer: SummarizerPolicy {
        /// Base address of an OpenAI-compatible or Anthropic API; null writes handoffs without a model.
        url: Option<String> = Kind::Text, "null";
        /// Model name sent to it.
        model: Option<String> = Kind::Text, "null";
        /// Window of that model in tokens; `auto` asks the model table.
        window: AutoOr<u32> = tokens(SMALLEST_WINDOW, LARGEST_WINDOW).or(&["auto"]), "auto";
        /// Whose API it speaks; `auto` tells by the address.
        dialect: Dialect = choice(Dialect::NAMES), "auto";
        /// Environment variable that holds the key; null is FOLDLINE_SUMMARIZER_KEY, or the vendor's own for its own address.
        key_env: Option<String> = Kind::Text, "null";
        /// File that holds the key, instead of an environment variable.
        key_file: Option<String> = Kind::Text, "null";
        /// Model that is asked once when the first one fails; null is the transcript's own, where the address can serve it.
        fallback_model: Option<String> = Kind::Text, "null";
        /// Seconds without a first word after which a call is given up.
        first_word_seconds: u32 = count(1, 3600), "300";
        /// Seconds without a further word after which a call is given up.
        idle_seconds: u32 = count(1, 3600), "60";
        /// Further tries after a failure that may pass (busy, broken connection).
        retries: u32 = count(0, 10), "2";
        /// PEM file with certificate authorities to trust beside those of the operating system.
        ca_file: Option<String> = Kind::Text, "null";
    }
    /// Where originals and checkpoints are kept.
    store: StorePolicy {
        /// File or URL of the store; `none` keeps nothing, null is the default place of the user.
        path: Option<String> = Kind::Text, "null";
        /// Bytes that all that is kept may take, packed; the least recently used of whoever takes most go first.
        max_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "1000M";
        /// Bytes that those of one client may take; `auto` is as much as there is room for.
        max_bytes_per_client: AutoOr<u64> = bytes(1_000_000, 10_000_000_000_000).or(&["auto"]), "auto";
        /// File with the keys that what is kept is encrypted with, the one for new content first; for its owner only.
        key_file: Option<String> = Kind::Text, "null";
        /// Command that prints these keys, such as one that asks the keyring of the system.
        key_command: Option<String> = Kind::Text, "null";
        /// Days that an original is kept after its last use.
        max_age_days: u32 = count(1, 36_500), "30";
    }
    /// The gateway between agents and their providers.
    gateway: GatewayPolicy {
        /// Address to listen on; another than loopback needs `client_keys`.
        listen: Option<String> = Kind::Text, "127.0.0.1:8787";
        /// Base address of the OpenAI API, or of one that speaks like it.
        upstream_openai: Option<String> = Kind::Text, "https://api.openai.com/v1";
        /// Base address of the Anthropic API, or of one that speaks like it.
        upstream_anthropic: Option<String> = Kind::Text, "https://api.anthropic.com";
        /// Base address of the Gemini API, or of one that speaks like it.
        upstream_gemini: Option<String> = Kind::Text, "https://generativelanguage.googleapis.com";
        /// Host names that clients may use beside loopback's and the address reached; `*.x` for names under x, a star for all.
        hosts: Vec<String> = Kind::Names, "";
        /// Origins of web pages, such as `https://app.example`, that may use the gateway beside this machine's; a star for all.
        origins: Vec<String> = Kind::Names, "";
        /// File with the keys of clients, one a line, and the upstream keys to send in their place; null admits all.
        client_keys: Option<String> = Kind::Text, "null";
        /// Paths that pass under a mapped key beside generation, counting and models; a star at the end stands for any rest.
        mapped_paths: Vec<String> = Kind::Names, "";
        /// Decide and report, but forward every request as it came.
        shadow: bool = Kind::Flag, "false";
        /// Share of conversations that is left untouched, to compare with.
        holdout: f64 = fraction(0.0, 0.9), "0";
        /// Models whose requests pass untouched; a star at the end stands for any rest.
        bypass_models: Vec<String> = Kind::Names, "";
        /// Requests that offer one of these tools pass untouched.
        bypass_tools: Vec<String> = Kind::Names, "";
        /// User messages that are exactly `/compress` (and a focus), `/pin …` or `/unpin …` are answered by the gateway.
        slash_compress: bool = Kind::Flag, "false";
        /// Set cache marks on requests to Claude that have none.
        cache_marks: bool = Kind::Flag, "true";
        /// Ask for usage in streams that do not report it, and take that part out of the reply again.
        force_usage: bool = Kind::Flag, "true";
        /// Largest request body, in bytes, unpacked.
        max_body_bytes: u64 = bytes(1_000, 4_000_000_000), "100M";
        /// Memory in bytes that all request bodies in flight may take, unpacking included; further ones are refused.
        body_memory_bytes: u64 = bytes(1_000_000, 10_000_000_000_000), "512M";
        /// Requests that are served at once; further ones wait a moment and are then refused.
        max_requests: u32 = count(1, 100_000), "512";
        /// Connections that are open at once; a further one takes the place of the one that has waited longest.
        max_connections: u32 = count(1, 1_000_000), "4096";
        /// Connections that are open at once from one address (one network of 64 bits with IPv6).
        max_connections_per_address: u32 = count(1, 1_000_000), "1024";
        /// Milliseconds that reading and rewriting a request may take before it is forwarded as it came.
        prepare_ms: u32 = count(1, 600_000), "3000";
        /// Seconds from the opening of a connection within which the headers of its first request must have come.
        header_secs: u32 = count(1, 86_400), "30";
        /// Seconds from the end of a reply within which the headers of the connection's next request must have come.
        keep_alive_secs: u32 = count(1, 86_400), "120";
        /// Longest pause in seconds within a request body, or of a client that does not read its reply.
        body_secs: u32 = count(1, 86_400), "60";
        /// Seconds within which a connection to a provider must stand.
        connect_secs: u32 = count(1, 86_400), "10";
        /// Seconds within which a provider must begin to answer.
        reply_secs: u32 = count(1, 86_400), "600";
        /// Longest silence in seconds within a reply.
        idle_secs: u32 = count(1, 86_400), "900";
        /// Seconds that open requests get to finish when the gateway is told to stop.
        shutdown_secs: u32 = count(0, 86_400), "30";
    }
}

/// Two knobs that must agree.
pub(crate) struct Relation {
    /// The knob that is blamed.
    pub(crate) key: &'static str,
    /// How it stands to the other.
    pub(crate) order: Order,
    /// The knob it is measured against.
    pub(crate) other: &'static str,
}

/// How one number stands to another.
pub(crate) enum Order {
    /// Strictly less.
    Below,
    /// Less or equal.
    AtMost,
}

impl Order {
    pub(crate) fn holds(&self, left: f64, right: f64) -> bool {
        match self {
            Self::Below => left < right,
            Self::AtMost => left <= right,
        }
    }

    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::Below => "a number below",
            Self::AtMost => "a number of at most",
        }
    }
}

/// Pairs that are checked after all layers are in place.
pub(crate) static RELATIONS: &[Relation] = &[
    Relation { key: "compression.low_water", order: Order::Below, other: "compression.threshold" },
    Relation { key: "compression.summary_min", order: Order::AtMost, other: "compression.summary_max" },
];

impl Default for Policy {
    fn default() -> Self {
        Self::of(Preset::DEFAULT)
    }
}

impl Policy {
    /// The policy of a preset, with nothing laid over it.
    pub fn of(preset: Preset) -> Self {
        let mut policy = Self::blank();
        for knob in KNOBS {
            // The tests read every text of the table, so that nothing is left blank here.
            if let Ok(value) = knob.kind.read(knob.value_in(preset)) {
                (knob.take)(&mut policy, &value);
            }
        }
        policy.compression.preset = preset;
        policy
    }

    /// The value of a key, as it would be written in a file.
    pub fn value(&self, key: &str) -> Option<Value> {
        super::knob::knob(key).map(|knob| (knob.give)(self))
    }

    /// All values as a document with the shape of a settings file.
    pub fn to_json(&self) -> Value {
        let mut document = Map::new();
        for knob in KNOBS {
            let section = document.entry(knob.section()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(section) = section {
                section.insert(knob.name().to_owned(), (knob.give)(self));
            }
        }
        Value::Object(document)
    }

    /// The model that writes summaries: the key of the compression section wins.
    pub fn summary_model(&self) -> Option<&str> {
        self.compression.summary_model.as_deref().or(self.summarizer.model.as_deref())
    }
}
