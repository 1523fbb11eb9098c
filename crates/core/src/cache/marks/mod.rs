//! Cache marks on a request: where they go, and the few bytes that put them there.
//!
//! Marks that the client set stay and count; the rest, up to four, is filled in. Nothing is copied to find out:
//! the result is a handful of insertions into the source.

mod present;
mod spot;

use super::layout::Layout;
use crate::inserted;
use crate::policy::CacheTtl;
use foldline_transcript::edit::Edits;
use foldline_transcript::validate::{MOST_MARKS, marks_in_messages};
use foldline_transcript::{Format, Message, Role, Transcript};
pub use present::{count, example, unmarked};
pub use spot::Spot;

/// The most that a request may have.
pub const MOST: usize = MOST_MARKS;

/// The field.
const FIELD: &str = "cache_control";

/// How a request carries marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// To Anthropic's own API, or to an adapter that translates for it: tool messages carry marks, too.
    Native,
    /// Through an API of another form that hands content blocks on: marks sit on blocks only.
    Envelope,
}

impl Carrier {
    /// The carrier that a format implies.
    pub fn of(format: Format) -> Carrier {
        match format {
            Format::Anthropic | Format::ClaudeCode => Carrier::Native,
            _ => Carrier::Envelope,
        }
    }
}

/// The value of a mark.
fn value(ttl: CacheTtl) -> &'static str {
    match ttl {
        CacheTtl::FiveMinutes => r#"{"type":"ephemeral"}"#,
        CacheTtl::OneHour => r#"{"type":"ephemeral","ttl":"1h"}"#,
    }
}

/// The insertions that mark a request; none for formats without marks.
pub fn edits(transcript: &Transcript<'_>, layout: Layout, ttl: CacheTtl, carrier: Carrier) -> Edits {
    let mut edits = Edits::new();
    if !matches!(transcript.format, Format::Anthropic | Format::OpenAiChat) {
        return edits;
    }
    let present = marks_in_messages(transcript);
    let mut free = MOST.saturating_sub(present.len() + transcript.outer_marks as usize);
    // Long lifetimes must come before short ones: beside the client's marks only its own value is safe.
    let value = present.last().and_then(|(_, part)| present::value(transcript, part)).unwrap_or(value(ttl));
    let on_message = |index: usize| Spot::on_message(transcript, index, carrier);
    let mut put = |spot: Option<Spot>| spot.map(|spot| spot.mark(value, &mut edits)).is_some();
    let handoff = (0..transcript.messages.len()).rev().find(|&index| inserted::is_handoff(transcript, index));
    let handoff = handoff.filter(|_| layout == Layout::Auto);
    // Where the client marked what stands before the messages, it knows what it wants there.
    if transcript.outer_marks == 0 {
        if free > 0 && put(Spot::on_system(transcript, carrier)) {
            free -= 1;
        }
        if layout == Layout::Auto && handoff.is_none() && free > 1 && put(Spot::on_tools(transcript)) {
            free -= 1;
        }
    }
    let has_mark = |index: usize| present.iter().any(|&(message, _)| message == index);
    if let Some(index) = handoff.filter(|&index| free > 1 && !has_mark(index))
        && put(on_message(index))
    {
        free -= 1;
    }
    let mut block = 0;
    let mut ends = Vec::new();
    let mut owners = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate().filter(|(_, message)| is_counted(message)) {
        block += (message.parts.end - message.parts.start).max(1) as usize;
        let can_carry = layout == Layout::SystemAndThree || on_message(index).is_some();
        if can_carry && Some(index) != handoff {
            ends.push(block);
            owners.push(index);
        }
    }
    for end in layout.window(&ends, free + present.len()) {
        let owner = ends.binary_search(&end).ok().and_then(|at| owners.get(at).copied());
        if let Some(index) = owner.filter(|&index| free > 0 && !has_mark(index)) {
            free -= usize::from(put(on_message(index)));
        }
    }
    edits.sort();
    edits
}

fn is_counted(message: &Message) -> bool {
    !message.role.is_instruction() && message.role != Role::Meta
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::validate::validate;
    use foldline_transcript::wire;
    use serde_json::{Value, json};

    fn marked(format: Format, body: &Value, layout: Layout, ttl: CacheTtl, carrier: Carrier) -> Value {
        let text = body.to_string();
        let transcript = wire::read(&text, Some(format)).unwrap();
        let out = edits(&transcript, layout, ttl, carrier).splice(&text);
        let again = wire::read(&out, Some(format)).unwrap();
        assert!(
            validate(&again)
                .iter()
                .all(|violation| violation.rule != foldline_transcript::validate::Rule::TooManyMarks),
            "{out}"
        );
        serde_json::from_str(&out).unwrap()
    }

    fn three(format: Format, body: &Value, carrier: Carrier) -> Value {
        marked(format, body, Layout::SystemAndThree, CacheTtl::FiveMinutes, carrier)
    }

    fn mark() -> Value {
        json!({"type": "ephemeral"})
    }

    fn anthropic() -> Value {
        json!({"system": "Be brief.", "tools": [{"name": "run", "input_schema": {}}], "messages": [
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "s"}, {"type": "tool_use", "id": "t", "name": "run", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": [{"type": "text", "text": "three"}]}]})
    }

    #[test]
    fn system_and_the_last_three_messages_are_marked() {
        let out = three(Format::Anthropic, &anthropic(), Carrier::Native);
        assert_eq!(out["system"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark()}]));
        let messages = &out["messages"];
        assert_eq!(messages[0], json!({"role": "user", "content": "one"}));
        assert!(messages[1].to_string().find("cache_control").is_none());
        assert_eq!(messages[2]["content"][0]["cache_control"], mark());
        assert_eq!(messages[3]["content"], json!([{"type": "text", "text": "two", "cache_control": mark()}]));
        assert_eq!(messages[4]["content"][0]["cache_control"], mark());
        assert_eq!(out["tools"], anthropic()["tools"]);
    }

    #[test]
    fn an_hour_is_said_in_the_mark() {
        let out = marked(Format::Anthropic, &anthropic(), Layout::SystemAndThree, CacheTtl::OneHour, Carrier::Native);
        assert_eq!(out["system"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    }

    #[test]
    fn each_content_carries_its_mark_as_the_table_says() {
        let body = json!({"messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]});
        for (carrier, on_tool) in [(Carrier::Native, mark()), (Carrier::Envelope, Value::Null)] {
            let out = three(Format::OpenAiChat, &body, carrier);
            let messages = &out["messages"];
            assert_eq!(messages[0]["content"], json!([{"type": "text", "text": "Be brief.", "cache_control": mark()}]));
            assert_eq!(messages[1]["content"], "go");
            assert_eq!(messages[2]["cache_control"], mark(), "nothing to mark but the message");
            assert_eq!(messages[3]["cache_control"], on_tool, "{carrier:?}");
            assert_eq!(messages[3]["content"], "ok");
            assert_eq!(messages[4]["content"][1]["cache_control"], mark());
            assert_eq!(messages[4]["content"][0]["cache_control"], Value::Null);
        }
    }

    #[test]
    fn marks_of_the_client_stay_and_count() {
        let mut body = anthropic();
        body["system"] = json!([{"type": "text", "text": "Be brief.", "cache_control": mark()}]);
        body["tools"][0]["cache_control"] = mark();
        body["messages"][4]["content"][0]["cache_control"] = json!({"type": "ephemeral", "ttl": "5m"});
        for layout in [Layout::SystemAndThree, Layout::Auto] {
            let out = marked(Format::Anthropic, &body, layout, CacheTtl::OneHour, Carrier::Native);
            assert_eq!(out.to_string().matches("cache_control").count(), 4, "{out}");
            assert!(!out.to_string().contains("1h"), "a longer life after a shorter one is refused");
            assert_eq!(out["messages"][4], body["messages"][4]);
            let full = marked(Format::Anthropic, &out, layout, CacheTtl::OneHour, Carrier::Native);
            assert_eq!(full, out, "four are four");
        }
    }

    #[test]
    fn the_auto_layout_marks_tools_system_and_a_window_that_rolls() {
        let mut body = anthropic();
        let turn = |number: usize| {
            let id = format!("c{number}");
            [
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}),
            ]
        };
        body["messages"] = (0..30).flat_map(turn).collect();
        body["messages"].as_array_mut().unwrap().insert(0, json!({"role": "user", "content": "go"}));
        let out = marked(Format::Anthropic, &body, Layout::Auto, CacheTtl::FiveMinutes, Carrier::Native);
        assert_eq!(out["tools"][0]["cache_control"], mark());
        let places: Vec<usize> = out["messages"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .filter(|(_, message)| message.to_string().contains("cache_control"))
            .map(|(index, _)| index)
            .collect();
        assert_eq!(places, [40, 60], "the end, and as far before it as a look-back reaches");
    }

    #[test]
    fn only_the_bytes_of_marks_are_added() {
        let text = anthropic().to_string();
        let transcript = wire::read(&text, Some(Format::Anthropic)).unwrap();
        let edits = edits(&transcript, Layout::Auto, CacheTtl::FiveMinutes, Carrier::Native);
        assert!(edits.as_slice().iter().all(|edit| edit.span.is_empty()), "{edits:?}");
        let responses = r#"{"input":[{"role":"user","content":"a"}]}"#;
        let other = wire::read(responses, Some(Format::OpenAiResponses)).unwrap();
        assert!(super::edits(&other, Layout::Auto, CacheTtl::FiveMinutes, Carrier::Native).is_empty());
    }
}
