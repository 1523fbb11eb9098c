//! OpenTelemetry: spans of requests and all metrics, exported by OTLP over HTTP (`http/protobuf`).
//!
//! | step | file |
//! |---|---|
//! | where to export, from settings and the `OTEL_*` variables | `target` |
//! | the `traceparent` of a client, and the one that a provider gets | `context` |
//! | what is recorded of a request | `span` |
//! | spans and metrics as messages of OTLP | `traces`, `metrics`, `resource`, `protobuf` |
//! | batches, retries, the flush at the end | `export` |
//!
//! Nothing here delays or fails a request: a span that ends is put into a bounded queue, or dropped and counted.

mod context;
mod export;
mod metrics;
mod protobuf;
mod resource;
mod span;
mod target;
mod traces;

pub use export::{Exporter, Source};
pub use span::{Span, SpanKind, Spans};
pub use target::{Target, TargetError, Variables};

/// When something is, in nanoseconds since 1970, as OTLP has it.
fn unix_nanos() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
