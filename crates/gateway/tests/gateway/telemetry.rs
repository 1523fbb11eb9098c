//! Traces and metrics as a receiver of OTLP gets them, decoded with OpenTelemetry's own definitions.

use crate::harness::{CHAT, MESSAGES, TestGateway, Tuned, message, request};
use foldline_core::policy::AutoOr;
use foldline_script::{Act, Provider, Received};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric::Data, number_data_point};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message as _;
use std::time::{Duration, Instant};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";
/// Must not leave the conversation.
const WORDS: &str = "the importer reads orders and checks each row";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn accepted() -> Act {
    Act::Raw { status: 200, headers: Vec::new(), content_type: "application/x-protobuf".into(), body: String::new() }
}

async fn receiver() -> Provider {
    Provider::choosing(|_, _| accepted()).await.unwrap()
}

fn exporting_to(receiver: &Provider) -> impl FnOnce(&mut Tuned) + use<> {
    // The provider's address ends with a version, which a base for OTLP does not have.
    let endpoint = format!("http://{}", receiver.address());
    move |tuned| tuned.gateway.otlp_endpoint = Some(endpoint)
}

fn spans(requests: &[Received]) -> Vec<Span> {
    let sent = requests.iter().filter(|request| request.uri.path() == "/v1/traces");
    let decoded = sent.map(|request| {
        assert_eq!(request.headers["content-type"], "application/x-protobuf");
        ExportTraceServiceRequest::decode(request.body.clone()).unwrap()
    });
    let scoped = decoded.flat_map(|request| request.resource_spans).flat_map(|spans| {
        let resource = spans.resource.unwrap();
        assert_eq!(text(&resource.attributes, "service.name"), "foldline");
        spans.scope_spans
    });
    scoped.flat_map(|spans| spans.spans).collect()
}

fn metrics(requests: &[Received]) -> Vec<Metric> {
    let last = requests.iter().rfind(|request| request.uri.path() == "/v1/metrics").unwrap();
    let decoded = ExportMetricsServiceRequest::decode(last.body.clone()).unwrap();
    let scoped = decoded.resource_metrics.into_iter().flat_map(|metrics| metrics.scope_metrics);
    scoped.flat_map(|metrics| metrics.metrics).collect()
}

fn value(attributes: &[KeyValue], key: &str) -> Option<Value> {
    attributes.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone()?.value)
}

fn text(attributes: &[KeyValue], key: &str) -> String {
    match value(attributes, key) {
        Some(Value::StringValue(text)) => text,
        other => panic!("{key} is {other:?} in {attributes:?}"),
    }
}

fn number(attributes: &[KeyValue], key: &str) -> i64 {
    match value(attributes, key) {
        Some(Value::IntValue(number)) => number,
        other => panic!("{key} is {other:?} in {attributes:?}"),
    }
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(found.len(), 1, "{name} of {names:?}");
    found[0]
}

/// A conversation that has to be folded.
fn long() -> String {
    let said = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let words = |n: usize| format!("Step {n}: {}", format!("{WORDS}. ").repeat(40));
    request(MESSAGES, true, (0..41).map(|n| message(MESSAGES, said(n), &words(n))).collect()).to_string()
}

#[tokio::test]
async fn a_request_is_one_span_with_its_parts_and_all_is_flushed_at_the_end() {
    let receiver = receiver().await;
    let export = exporting_to(&receiver);
    let mut test = TestGateway::tuned([Act::say("Done.")], |tuned| {
        tuned.model.window = AutoOr::Fixed(20_000);
        export(tuned);
    })
    .await;
    let parent = format!("00-{TRACE}-{PARENT}-01");
    let key = ["sk-", "ant-", "api03-traced"].concat();
    let headers = [("traceparent", parent.as_str()), ("tracestate", "vendor=1"), ("x-api-key", key.as_str())];
    let seen = test.post_with(MESSAGES, &headers, long().as_bytes()).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    let forwarded = test.forwarded();
    test.ask_to_stop();
    test.stopped().await;

    let requests = receiver.requests();
    let spans = spans(&requests);
    let server = named(&spans, "POST /v1/messages");
    assert_eq!(
        (server.kind(), hex(&server.trace_id), hex(&server.parent_span_id)),
        (SpanKind::Server, TRACE.into(), PARENT.into())
    );
    assert_eq!(number(&server.attributes, "http.response.status_code"), 200);
    assert!(text(&server.attributes, "foldline.session").starts_with("fs-"));
    let (before, after) =
        (number(&server.attributes, "foldline.tokens.before"), number(&server.attributes, "foldline.tokens.after"));
    assert!(before > after && after > 0, "{before} {after}");
    for (name, kind) in [("receive", SpanKind::Internal), ("rewrite", SpanKind::Internal), ("POST", SpanKind::Client)] {
        let part = named(&spans, name);
        assert_eq!(
            (part.kind(), &part.trace_id, &part.parent_span_id),
            (kind, &server.trace_id, &server.span_id),
            "{name}"
        );
        assert!(server.start_time_unix_nano <= part.start_time_unix_nano, "{name}");
        assert!(part.start_time_unix_nano <= part.end_time_unix_nano, "{name}");
        assert!(part.end_time_unix_nano <= server.end_time_unix_nano, "{name}");
    }
    let rewrite = named(&spans, "rewrite");
    assert_eq!(text(&rewrite.attributes, "foldline.compaction"), "fold");
    let upstream = named(&spans, "POST");
    assert_eq!(text(&upstream.attributes, "gen_ai.provider.name"), "anthropic");
    assert_eq!(text(&upstream.attributes, "gen_ai.request.model"), "m");
    assert!(number(&upstream.attributes, "gen_ai.usage.output_tokens") > 0);
    // The provider is told that it is a part of asking it.
    let sent = forwarded.headers["traceparent"].to_str().unwrap();
    assert_eq!(sent, format!("00-{TRACE}-{}-01", hex(&upstream.span_id)));
    assert_eq!(forwarded.headers["tracestate"], "vendor=1");

    let metrics = metrics(&requests);
    let turns = metrics.iter().find(|metric| metric.name == "foldline_turns").unwrap();
    let Some(Data::Sum(sum)) = &turns.data else { panic!("{turns:?}") };
    assert!(sum.is_monotonic && sum.aggregation_temporality == 2);
    assert_eq!(sum.data_points[0].value, Some(number_data_point::Value::AsDouble(1.0)));
    assert_eq!(text(&sum.data_points[0].attributes, "dialect"), "messages");
    let added = metrics.iter().find(|metric| metric.name == "foldline_added_latency_seconds").unwrap();
    let Some(Data::Histogram(histogram)) = &added.data else { panic!("{added:?}") };
    let [point] = histogram.data_points.as_slice() else { panic!("{histogram:?}") };
    assert_eq!((point.count, point.bucket_counts.iter().sum::<u64>(), added.unit.as_str()), (1, 1, "s"));
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    assert!(point.sum.unwrap() > 0.0);

    for request in &requests {
        let body = request.text();
        assert!(!body.contains("importer") && !body.contains(&key), "content or keys in telemetry");
    }
}

#[tokio::test]
async fn without_telemetry_the_headers_of_traces_pass_untouched() {
    let test = TestGateway::with([Act::say("Done.")]).await;
    let parent = format!("00-{TRACE}-{PARENT}-01");
    let body = request(CHAT, false, vec![message(CHAT, "user", "Hi")]).to_string();
    test.post_with(CHAT, &[("traceparent", &parent)], body.as_bytes()).await;
    assert_eq!(test.forwarded().headers["traceparent"], parent.as_str());
}

#[tokio::test]
async fn failures_are_errors_of_their_spans() {
    let receiver = receiver().await;
    let script = [Act::status(529, "overloaded")];
    let mut test = TestGateway::tuned(script, exporting_to(&receiver)).await;
    let body = request(MESSAGES, false, vec![message(MESSAGES, "user", "Hi")]).to_string();
    assert_eq!(test.post(MESSAGES, &body).await.status, 529);
    assert_eq!(test.send("BREW", "/v1/models", &[], b"").await.status, 529);
    test.get("/foldline/healthz").await;
    test.ask_to_stop();
    test.stopped().await;
    let spans = spans(&receiver.requests());
    let server = named(&spans, "POST /v1/messages");
    let upstream = named(&spans, "POST");
    for span in [server, upstream] {
        assert_eq!(span.status.clone().unwrap().code(), StatusCode::Error, "{}", span.name);
        assert_eq!(text(&span.attributes, "error.type"), "529");
    }
    // A method that nobody knows is not a name of a span, and probes have none.
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "_OTHER").count(), 2, "{names:?}");
    assert_eq!(spans.len(), 6, "{names:?}");
}

#[tokio::test]
async fn a_receiver_that_fails_or_hangs_delays_nobody() {
    for act in [Act::status(503, "later"), Act::Stall] {
        let receiver = Provider::start([act]).await.unwrap();
        let mut test = TestGateway::tuned([Act::say("Done.")], exporting_to(&receiver)).await;
        let body = request(CHAT, false, vec![message(CHAT, "user", "Hi")]).to_string();
        for _ in 0..200 {
            assert_eq!(test.post(CHAT, &body).await.status, 200);
        }
        test.ask_to_stop();
        let began = Instant::now();
        test.stopped().await;
        assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_the_start() {
    let gateway = foldline_gateway::settings::GatewaySettings {
        otlp_endpoint: Some("collector:4318".into()),
        ..Default::default()
    };
    let config = foldline_gateway::serve::GatewayConfig { gateway, ..Default::default() };
    let error = foldline_gateway::serve::Gateway::open(&config).err().unwrap().to_string();
    assert!(error.starts_with("gateway.otlp_endpoint: "), "{error}");
}
