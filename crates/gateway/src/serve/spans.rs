//! What traces tell about a request: attributes by OpenTelemetry's conventions for HTTP and for generative models, and our
//! own under `foldline.`. Never content.

use super::gateway::Gateway;
use super::log_lines::model_name;
use super::reply_observer::Ending;
use super::rewrite::{FAILED_OPEN, RewriteDetails, Rewritten};
use super::route::{Provider, Route};
use crate::conversation::{Compacted, CompactionKind, Dialect, ReportedUsage, Turn};
use crate::telemetry::{Span, SpanKind};
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use std::time::Duration;

/// The span of a request. Pages of our own have none: probes and dashboards would drown the rest.
pub fn of_request(gateway: &Gateway, route: &Route, parts: &Parts) -> Span {
    let Some(spans) = gateway.spans.as_ref().filter(|_| !matches!(route, Route::Own(_) | Route::Alive)) else {
        return Span::default();
    };
    let method = method_name(&parts.method);
    let span = match route.pattern() {
        Some(pattern) => {
            let span = spans.serve(format!("{method} {pattern}"), &parts.headers);
            span.set("http.route", pattern);
            span
        }
        None => spans.serve(method.to_owned(), &parts.headers),
    };
    span.set("http.request.method", method);
    span.set("foldline.route", route.name());
    span
}

/// The name of a method, if it is one that everybody knows.
fn method_name(method: &Method) -> &'static str {
    let known = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
    let names = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    known.iter().zip(names).find(|(known, _)| *known == method).map_or("_OTHER", |(_, name)| name)
}

/// The client gets an answer.
pub fn answered(span: &Span, status: StatusCode) {
    span.set("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        span.fail(status.as_str());
    }
}

/// What became of a request.
pub fn rewritten(spans: &[&Span], rewritten: &Rewritten) {
    for span in spans {
        span.set("foldline.outcome", rewritten.outcome);
        if let Some(RewriteDetails { session, tokens, compacted: done, .. }) = &rewritten.details {
            span.set("foldline.session", session.as_str());
            span.set("foldline.tokens.before", tokens.0);
            span.set("foldline.tokens.after", tokens.1);
            if let Some(done) = done {
                compacted(span, done);
            }
        }
    }
    if let (FAILED_OPEN, Some(rewriting)) = (rewritten.outcome, spans.first()) {
        rewriting.fail(FAILED_OPEN);
    }
}

/// A fold or a prune.
pub fn compacted(span: &Span, done: &Compacted) {
    let kind = match done.kind {
        CompactionKind::Fold => "fold",
        CompactionKind::Prune => "prune",
    };
    span.set("foldline.compaction", kind);
    span.set("foldline.reason", done.reason.as_str());
}

/// A provider is asked.
pub fn upstream(request: &Span, method: &Method, target: &Uri) -> Span {
    let method = method_name(method);
    let span = request.child(method, SpanKind::Client);
    span.set("http.request.method", method);
    span.set("server.address", target.host().unwrap_or_default());
    if let Some(port) = target.port_u16() {
        span.set("server.port", port);
    }
    span
}

/// What a model is asked for.
pub fn asked(upstream: &Span, provider: Provider, dialect: Dialect, turn: Option<&Turn>) {
    let (provider, operation) = match provider {
        Provider::OpenAi => ("openai", "chat"),
        Provider::Anthropic => ("anthropic", "chat"),
        Provider::Google => ("gcp.gemini", "generate_content"),
    };
    upstream.set("gen_ai.provider.name", provider);
    upstream.set("gen_ai.operation.name", operation);
    upstream.set("foldline.api", dialect.name());
    if let Some(turn) = turn {
        upstream.set("gen_ai.request.model", model_name(turn.model()));
    }
}

/// A provider begins to answer.
pub fn replied(upstream: &Span, status: StatusCode, took: Duration) {
    upstream.set("http.response.status_code", status.as_u16());
    upstream.set("foldline.first_byte_seconds", took.as_secs_f64());
    if status.is_client_error() || status.is_server_error() {
        upstream.fail(status.as_str());
    }
}

/// A reply is over.
pub fn ended(spans: &[&Span], ending: Ending, usage: Option<ReportedUsage>) {
    for span in spans {
        span.set("foldline.ending", ending.name());
        if let Some(usage) = usage {
            span.set("gen_ai.usage.input_tokens", usage.prompt());
            span.set("gen_ai.usage.output_tokens", usage.output);
            span.set("gen_ai.usage.cache_read.input_tokens", usage.cache_read);
            span.set("gen_ai.usage.cache_creation.input_tokens", usage.cache_write);
        }
        if matches!(ending, Ending::Cut | Ending::Silent) {
            span.fail(ending.name());
        }
    }
}
