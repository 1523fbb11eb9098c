//! Prometheus metrics. Label values come from fixed tables or are names that an operator gave to keys, never from clients.

use super::route::Provider;
use crate::conversation::{Conversations, Dialect, ReportedUsage};
use foldline_store::KeyUsage;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, text::encode};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

/// A dialect and what became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Turned {
    dialect: &'static str,
    outcome: &'static str,
}

/// A status of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    provider: &'static str,
    status: u16,
}

/// A client key of the store.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeyLabel {
    key: String,
}

/// A client key of the store and what it used.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KeyTokens {
    key: String,
    kind: &'static str,
}

/// Keys that have figures of their own; all others share those of `OTHER_KEYS`.
const MOST_KEYS: usize = 200;
const OTHER_KEYS: &str = "(other)";

/// All figures of one gateway.
pub struct Metrics {
    registry: Registry,
    turns: Family<Turned, Counter>,
    replies: Family<Answered, Counter>,
    fallbacks: Family<Kind, Counter>,
    refusals: Family<Kind, Counter>,
    endings: Family<Kind, Counter>,
    retries: Family<Kind, Counter>,
    summaries: Family<Kind, Counter>,
    usage: Family<Kind, Counter>,
    prepare: Histogram,
    first_byte: Histogram,
    tokens: Histogram,
    saved: Histogram,
    reloads: Family<Kind, Counter>,
    spans: Family<Kind, Counter>,
    key_requests: Family<KeyLabel, Counter>,
    key_tokens: Family<KeyTokens, Counter>,
    key_dollars: Family<KeyLabel, Counter<f64, AtomicU64>>,
    key_names: Mutex<HashSet<String>>,
    /// Of every kind together, for the line of totals.
    all_fallbacks: AtomicU64,
    all_refusals: AtomicU64,
    all_failures: AtomicU64,
    /// Requests in progress.
    pub open_requests: Gauge,
    /// Open client connections.
    pub open_connections: Gauge,
    /// Bytes that request bodies take.
    pub body_bytes: Gauge,
}

impl Metrics {
    /// Fresh figures; those of the conversations are asked for when somebody reads.
    pub fn new(conversations: Conversations) -> Metrics {
        // From 50 µs, less than anybody notices, to 26 s.
        let seconds = || Histogram::new(exponential_buckets(0.000_05, 2.0, 20));
        // From 256 to 8 million tokens.
        let tokens = || Histogram::new(exponential_buckets(256.0, 2.0, 16));
        let mut metrics = Metrics {
            registry: Registry::with_prefix("foldline"),
            turns: Family::default(),
            replies: Family::default(),
            fallbacks: Family::default(),
            refusals: Family::default(),
            endings: Family::default(),
            retries: Family::default(),
            summaries: Family::default(),
            usage: Family::default(),
            prepare: seconds(),
            first_byte: seconds(),
            tokens: tokens(),
            saved: tokens(),
            reloads: Family::default(),
            spans: Family::default(),
            key_requests: Family::default(),
            key_tokens: Family::default(),
            key_dollars: Family::default(),
            key_names: Mutex::default(),
            all_fallbacks: AtomicU64::default(),
            all_refusals: AtomicU64::default(),
            all_failures: AtomicU64::default(),
            open_requests: Gauge::default(),
            open_connections: Gauge::default(),
            body_bytes: Gauge::default(),
        };
        let r = &mut metrics.registry;
        r.register("turns", "Conversation turns by outcome", metrics.turns.clone());
        r.register("upstream_replies", "Provider responses by status", metrics.replies.clone());
        r.register(
            "fallbacks",
            "Failures inside the gateway by kind; affected requests were forwarded unchanged",
            metrics.fallbacks.clone(),
        );
        r.register("refusals", "Requests that the gateway answered with its own error", metrics.refusals.clone());
        r.register("streams", "Replies by how they ended", metrics.endings.clone());
        r.register(
            "retries",
            "Requests resent before any byte of the reply reached the client",
            metrics.retries.clone(),
        );
        r.register("summaries", "Summaries by result", metrics.summaries.clone());
        r.register("usage_tokens", "Tokens reported by providers", metrics.usage.clone());
        r.register("added_latency_seconds", "Time spent reading and rewriting a request", metrics.prepare.clone());
        r.register(
            "first_byte_seconds",
            "Time until the first byte of a provider's response",
            metrics.first_byte.clone(),
        );
        r.register("request_tokens", "Tokens of incoming requests", metrics.tokens.clone());
        r.register("saved_tokens", "Tokens saved in rewritten requests", metrics.saved.clone());
        r.register("config_reloads", "Settings reloads by result", metrics.reloads.clone());
        r.register("trace_spans", "Spans of traces by whether they were exported", metrics.spans.clone());
        r.register("key_requests", "Requests forwarded by client key of the store", metrics.key_requests.clone());
        r.register("key_tokens", "Tokens by client key of the store", metrics.key_tokens.clone());
        r.register(
            "key_dollars",
            "Dollars by client key of the store, where prices are known",
            metrics.key_dollars.clone(),
        );
        r.register("open_requests", "Requests in progress", metrics.open_requests.clone());
        r.register("open_connections", "Open client connections", metrics.open_connections.clone());
        r.register(
            "body_bytes",
            "Memory used by request bodies, compressed and decompressed",
            metrics.body_bytes.clone(),
        );
        r.register_collector(Box::new(Sums { conversations }));
        metrics
    }

    /// The page for Prometheus.
    pub fn page(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut out, &self.registry);
        out
    }

    /// A turn was made ready.
    pub fn turn(&self, dialect: Dialect, outcome: &'static str, tokens: (u64, u64), took: Duration) {
        self.turns.get_or_create(&Turned { dialect: dialect.name(), outcome }).inc();
        self.prepare.observe(took.as_secs_f64());
        if tokens.0 > 0 {
            self.tokens.observe(tokens.0 as f64);
        }
        if tokens.0 > tokens.1 {
            self.saved.observe((tokens.0 - tokens.1) as f64);
        }
    }

    /// A provider began to answer.
    pub fn reply(&self, provider: Provider, status: u16, took: Duration) {
        let provider = match provider {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Google => "google",
        };
        self.replies.get_or_create(&Answered { provider, status }).inc();
        self.all_failures.fetch_add(u64::from(status >= 400), Ordering::Relaxed);
        self.first_byte.observe(took.as_secs_f64());
    }

    /// Faults of ours, errors of our own, and errors of providers.
    pub fn troubles(&self) -> (u64, u64, u64) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&self.all_fallbacks), load(&self.all_refusals), load(&self.all_failures))
    }

    /// A fault of ours; the original went out.
    pub fn fallback(&self, kind: &'static str) {
        self.fallbacks.get_or_create(&Kind { kind }).inc();
        self.all_fallbacks.fetch_add(1, Ordering::Relaxed);
    }

    /// An error of our own.
    pub fn refusal(&self, kind: &'static str) {
        self.refusals.get_or_create(&Kind { kind }).inc();
        self.all_refusals.fetch_add(1, Ordering::Relaxed);
    }

    /// A reply ended.
    pub fn ending(&self, kind: &'static str) {
        self.endings.get_or_create(&Kind { kind }).inc();
    }

    /// A request was sent again.
    pub fn retry(&self, kind: &'static str) {
        self.retries.get_or_create(&Kind { kind }).inc();
    }

    /// A summary was asked for.
    pub fn summary(&self, kind: &'static str) {
        self.summaries.get_or_create(&Kind { kind }).inc();
    }

    /// Spans were exported or dropped.
    pub fn spans(&self, kind: &'static str, count: u64) {
        if count > 0 {
            self.spans.get_or_create(&Kind { kind }).inc_by(count);
        }
    }

    /// The settings were read again.
    pub fn reload(&self, kind: &'static str) {
        self.reloads.get_or_create(&Kind { kind }).inc();
    }

    /// A client key of the store used something.
    pub fn key_used(&self, name: &str, usage: &KeyUsage) {
        let key = self.key_label(name);
        self.key_requests.get_or_create(&KeyLabel { key: key.clone() }).inc_by(usage.requests);
        for (kind, tokens) in [("input", usage.tokens_in), ("output", usage.tokens_out)] {
            self.key_tokens.get_or_create(&KeyTokens { key: key.clone(), kind }).inc_by(tokens);
        }
        self.key_dollars.get_or_create(&KeyLabel { key }).inc_by(usage.dollars);
    }

    /// The name of a key, as long as there are few.
    fn key_label(&self, name: &str) -> String {
        let mut names = self.key_names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = names.contains(name) || (names.len() < MOST_KEYS && names.insert(name.to_owned()));
        if is_known { name } else { OTHER_KEYS }.to_owned()
    }

    /// A provider reported usage.
    pub fn used(&self, usage: ReportedUsage) {
        let kinds = [
            ("input", usage.input),
            ("cache_read", usage.cache_read),
            ("cache_write", usage.cache_write),
            ("output", usage.output),
        ];
        for (kind, tokens) in kinds {
            self.usage.get_or_create(&Kind { kind }).inc_by(tokens);
        }
    }
}

/// The sums that conversations keep.
#[derive(Debug)]
struct Sums {
    conversations: Conversations,
}

impl Collector for Sums {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let totals = self.conversations.totals();
        let sums = totals.sums;
        let counts = [
            ("folds", "Folds", sums.folds),
            ("prunes", "Prunes (old tool outputs reduced, nothing folded)", sums.prunes),
            ("recoveries", "Requests folded again after a provider refused their size", sums.recoveries),
            ("failed_open", "Folds that could not be stored", sums.failed_open),
            ("checkpoint_hits", "Requests with a stored checkpoint", totals.checkpoint_hits),
            ("checkpoint_misses", "Requests without a stored checkpoint", totals.checkpoint_misses),
            ("tokens_before", "Tokens received", sums.tokens_before),
            ("tokens_after", "Tokens forwarded", sums.tokens_after),
            ("shadow_tokens", "Tokens that shadow mode would have saved", sums.shadow_tokens),
        ];
        for (name, help, value) in counts {
            let counter = ConstCounter::new(value);
            counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)?;
        }
        // Saved is what a provider would have charged less what it charged and what summaries cost: it may be negative.
        let money = [
            ("charged_dollars", "Provider charges in dollars, where prices are known", sums.charged),
            ("uncompacted_dollars", "What the same requests would have cost without compaction", sums.uncompacted),
            ("summary_dollars", "Charges for summaries", sums.summaries),
            ("saved_dollars", "Dollars saved, net of summaries", sums.saved()),
            ("shadow_dollars", "Dollars that shadow mode would have saved", sums.shadow_dollars),
        ];
        for (name, help, value) in money {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        let levels = [
            ("background_folds", "Background folds in progress", totals.in_flight),
            ("sessions", "Sessions in memory", totals.sessions),
        ];
        for (name, help, value) in levels {
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}
