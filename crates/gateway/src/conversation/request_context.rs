//! Facts about a request that the engine cannot know: idle time, whether the cached prefix is alive, the date.

use super::incoming::{Dialect, IncomingTurn, SummariserAt};
use super::parsed_request::ParsedRequest;
use super::state::Conversation;
use foldline_core::Trigger;
use foldline_core::reading::Reach;
use foldline_core::summary::PrefixCall;
use foldline_core::{Policy, Request};
use serde_json::Value;

/// What the engine is told when it is asked about a request.
pub(super) fn request(
    trigger: Trigger,
    ask: &IncomingTurn<'_>,
    parsed: &ParsedRequest<'_>,
    conversation: &Conversation,
    policy: &Policy,
) -> Request {
    Request {
        trigger,
        focus: ask.focus.map(str::to_owned),
        idle: idle(conversation, ask),
        now_ms: Some(ask.now.0),
        today: today(ask.now.0),
        prefix_call: prefix_call(ask, parsed, conversation, policy),
        reach: reach(ask, parsed),
        ..Request::default()
    }
}

/// How whoever reads the result gets originals back: by our tool where the request offers it, else at our address.
fn reach(ask: &IncomingTurn<'_>, parsed: &ParsedRequest<'_>) -> Reach {
    let tool = parsed.transcript.tools.and_then(|span| recall_tool(parsed.transcript.raw(span)));
    tool.unwrap_or_else(|| ask.site.map_or(Reach::Command, |site| Reach::Http(site.clone())))
}

/// Our tool among those that a request offers, whatever the client puts before its name.
fn recall_tool(tools: &str) -> Option<Reach> {
    memchr::memmem::find(tools.as_bytes(), b"foldline_recall")?;
    named(&serde_json::from_str(tools).ok()?)
}

/// The first object with the name of our tool: formats nest definitions in different ways.
fn named(value: &Value) -> Option<Reach> {
    match value {
        Value::Array(values) => values.iter().find_map(named),
        Value::Object(fields) => {
            let own = fields.get("name").and_then(Value::as_str).and_then(Reach::by_tool);
            own.or_else(|| fields.values().find_map(named))
        }
        _ => None,
    }
}

/// Seconds since the conversation's last request.
pub(super) fn idle(conversation: &Conversation, ask: &IncomingTurn<'_>) -> Option<u32> {
    let passed = (ask.now.0 - conversation.last_at).max(0) / 1_000;
    (conversation.last_at > 0).then(|| u32::try_from(passed).unwrap_or(u32::MAX))
}

/// The day in Greenwich, as `YYYY-MM-DD`.
fn today(now: i64) -> Option<String> {
    let now = jiff::Timestamp::from_millisecond(now).ok()?.to_string();
    now.split('T').next().map(str::to_owned)
}

/// What a model that writes handoffs finds in the cache of its provider.
fn prefix_call(
    ask: &IncomingTurn<'_>,
    parsed: &ParsedRequest<'_>,
    conversation: &Conversation,
    policy: &Policy,
) -> PrefixCall {
    if ask.writer == SummariserAt::Elsewhere {
        return PrefixCall::Impossible;
    }
    let is_fresh = idle(conversation, ask).is_some_and(|idle| idle <= policy.model.cache_ttl.seconds());
    // Marks that are set on the way out are not in the document that a writer gets.
    let is_found = ask.dialect != Dialect::Messages || parsed.transcript.parts.iter().any(|part| part.marked);
    if conversation.caches && is_fresh && is_found { PrefixCall::Warm } else { PrefixCall::Cold }
}

#[cfg(test)]
mod tests {
    use super::super::incoming::{CredentialId, Timestamp};
    use super::*;

    fn ask<'a>(dialect: Dialect, body: &'a str, writer: SummariserAt, now: i64) -> IncomingTurn<'a> {
        IncomingTurn { writer, ..IncomingTurn::plain(dialect, body, CredentialId::of_key("k"), Timestamp(now)) }
    }

    fn asked(dialect: Dialect, body: &str, writer: SummariserAt, conversation: &Conversation) -> Request {
        let ask = ask(dialect, body, writer, 1_000_000);
        request(Trigger::Background, &ask, &ParsedRequest::of(&ask).unwrap(), conversation, &Policy::default())
    }

    fn conversation(last_at: i64, caches: bool) -> Conversation {
        let mut conversation = Conversation::default();
        (conversation.last_at, conversation.caches) = (last_at, caches);
        conversation
    }

    const PLAIN: &str = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}"#;
    const MARKED: &str = r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}]}"#;

    #[test]
    fn a_tool_of_ours_is_named_where_the_request_offers_it() {
        for tools in [
            r#"[{"name":"Bash"},{"name":"mcp__foldline__foldline_recall","input_schema":{}}]"#,
            r#"[{"type":"function","function":{"name":"mcp__foldline__foldline_recall"}}]"#,
            r#"[{"functionDeclarations":[{"name":"mcp__foldline__foldline_recall"}]}]"#,
        ] {
            assert_eq!(recall_tool(tools), Some(Reach::Tool("mcp__foldline__foldline_recall".to_owned())), "{tools}");
        }
        for tools in [r#"[{"name":"Bash","description":"not foldline_recall"}]"#, "[]", r#"["foldline_recall"]"#] {
            assert_eq!(recall_tool(tools), None, "{tools}");
        }
    }

    #[test]
    fn the_engine_hears_how_long_nobody_asked() {
        let conversation = conversation(400_000, false);
        let heard = asked(Dialect::Chat, PLAIN, SummariserAt::Elsewhere, &conversation);
        assert_eq!((heard.idle, heard.now_ms), (Some(600), Some(1_000_000)));
        assert_eq!(heard.today.as_deref(), Some("1970-01-01"));
        assert_eq!(asked(Dialect::Chat, PLAIN, SummariserAt::Elsewhere, &Conversation::default()).idle, None);
    }

    #[test]
    fn a_prefix_is_warm_where_the_writer_is_the_conversations_own_model_and_its_cache_is_fresh() {
        let (warm, cold, never) =
            (conversation(900_000, true), conversation(100_000, true), conversation(900_000, false));
        let call =
            |dialect, body, writer, conversation: &Conversation| asked(dialect, body, writer, conversation).prefix_call;
        assert_eq!(call(Dialect::Chat, PLAIN, SummariserAt::Here, &warm), PrefixCall::Warm);
        assert_eq!(call(Dialect::Chat, PLAIN, SummariserAt::Here, &cold), PrefixCall::Cold);
        assert_eq!(call(Dialect::Chat, PLAIN, SummariserAt::Here, &never), PrefixCall::Cold);
        assert_eq!(call(Dialect::Chat, PLAIN, SummariserAt::Elsewhere, &warm), PrefixCall::Impossible);
        assert_eq!(call(Dialect::Messages, PLAIN, SummariserAt::Here, &warm), PrefixCall::Cold);
        assert_eq!(call(Dialect::Messages, MARKED, SummariserAt::Here, &warm), PrefixCall::Warm);
    }
}
