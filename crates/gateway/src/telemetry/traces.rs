//! Spans as OTLP has them (`trace.proto` and `trace_service.proto` of opentelemetry-proto 1.x).

use super::context::{Sampling, TraceContext};
use super::protobuf::Message;
use super::resource::{attribute, scope};
use super::span::{Ended, SpanKind};

/// `ExportTraceServiceRequest`.
pub(super) fn request(resource: Message, spans: &[Ended]) -> Vec<u8> {
    let spans = Message::default().message(1, scope()).messages(2, spans.iter().map(span));
    let traces = Message::default().message(1, resource).message(2, spans);
    Message::default().message(1, traces).into_bytes()
}

fn span(span: &Ended) -> Message {
    let TraceContext { trace, span: id, sampling } = span.context;
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    let status = Message::default().number(3, if span.noted.is_error { ERROR } else { UNSET });
    Message::default()
        .bytes(1, &trace)
        .bytes(2, &id)
        .bytes(4, span.parent.as_ref().map_or(&[], |parent| parent.as_slice()))
        .text(5, &span.name)
        .number(6, kind)
        .fixed64(7, span.start)
        .fixed64(8, span.end)
        .messages(9, span.noted.attributes.iter().map(|(key, value)| attribute(key, value)))
        .message(15, status)
        .fixed32(16, u32::from(sampling == Sampling::Recorded))
}

/// Values of `Status.StatusCode`.
const UNSET: u64 = 0;
const ERROR: u64 = 2;
