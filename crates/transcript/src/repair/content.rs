//! Repairs inside messages: blank blocks go, arguments become JSON, content gets a shape.

use super::MISSING_START;
use super::change::Change;
use crate::edit::{Edit, Span};
use crate::transcript::{Content, Format, Part, PartKind, Place, Role, Transcript};
use crate::validate::{Finding, Rule, Subject, function_of};
use crate::wire::compose::{self, Envelope};
use crate::wire::{field, gemini, json};
use std::collections::BTreeSet;

/// Repairs what messages hold.
pub(super) fn fix(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    let mut blocks_gone: BTreeSet<usize> = BTreeSet::new();
    let mut inner_gone: BTreeSet<usize> = BTreeSet::new();
    for finding in findings {
        match (finding.rule, finding.subject) {
            (Rule::BarePrompt, _) => give_a_list(current, change),
            (Rule::UnknownRole, _) => set_role(current, finding.message, change),
            (Rule::NullContent, _) => fill_or_remove(current, finding, change),
            (Rule::EmptyMessage, _) => fill_or_remove(current, finding, change),
            (Rule::EmptyToolCalls, _) => delete_field(current, finding, "tool_calls", change),
            (Rule::ContentShape, Subject::Message) => {
                if let Some(message) = current.messages.get(finding.message) {
                    let span = message.content.span();
                    let (text, what) = match current.format {
                        Format::Gemini => (parts_of(current.raw(span)), "the parts were converted to an array"),
                        _ => (json::encode(current.raw(span)), "the content was converted to a string"),
                    };
                    change.edit(Edit { span, text });
                    change.note(finding.message, finding.rule, what);
                }
            }
            (Rule::ContentShape, Subject::Part(part)) => give_a_shape(current, finding, part, change),
            (Rule::BlankText, Subject::Part(part)) => drop(blocks_gone.insert(part)),
            (Rule::BlankText, Subject::Inner(inner)) => drop(inner_gone.insert(inner)),
            (Rule::BadArguments, Subject::Part(part)) => mend_arguments(current, finding, part, change),
            (Rule::ForeignCall, Subject::Part(part)) => match current.parts.get(part).map(|part| part.place) {
                Some(Place::Call)
                    if current.format == Format::OpenAiChat && !is_whole_field_foreign(current, finding) =>
                {
                    change.rewrite.remove_part(current, part);
                    change.note(finding.message, finding.rule, "dropped a tool call without a function");
                }
                Some(Place::Call) => delete_field(current, finding, "tool_calls", change),
                Some(Place::Field) => delete_field(current, finding, "function_call", change),
                _ => drop(blocks_gone.insert(part)),
            },
            _ => {}
        }
    }
    remove_blocks(current, &blocks_gone, findings, change);
    remove_inner(current, &inner_gone, change);
}

/// A user message's calls are foreign all together; an assistant's may be so one by one.
fn is_whole_field_foreign(current: &Transcript<'_>, finding: &Finding) -> bool {
    current.messages.get(finding.message).is_none_or(|message| message.role != Role::Assistant)
}

fn give_a_list(current: &Transcript<'_>, change: &mut Change) {
    let Some(prompt) = current.messages.first() else {
        return;
    };
    let text = match current.format {
        Format::OpenAiResponses => json::encode(MISSING_START),
        format => {
            let words = json::decode(current.raw(prompt.span.inner()));
            compose::array(&[compose::text_message(format, Role::User, &words, Envelope::default())])
        }
    };
    change.edit(Edit { span: prompt.span, text });
    change.note(0, Rule::BarePrompt, "the blank prompt was replaced");
}

/// A list of one part for a value that is none.
fn parts_of(raw: &str) -> String {
    match raw.as_bytes().first() {
        Some(b'{') => compose::array(&[raw]),
        Some(b'"') => compose::array(&[compose::text_block(Format::Gemini, Role::User, raw)]),
        _ => compose::array(&[compose::text_block(Format::Gemini, Role::User, &json::encode(raw))]),
    }
}

fn set_role(current: &Transcript<'_>, index: usize, change: &mut Change) {
    let (Some(object), Some(message)) = (compose::object_of(current, index), current.messages.get(index)) else {
        return;
    };
    let role = match (current.format, message.role) {
        (Format::Anthropic | Format::ClaudeCode, Role::Developer) => "system",
        (Format::ShareGpt, _) => "human",
        (Format::Gemini, _) if field::word(current.text, object, "role") == "assistant" => "model",
        _ => "user",
    };
    let key = match current.format {
        Format::ShareGpt if field::find(current.text, object, "from").is_some() => "from",
        _ => "role",
    };
    change.edit(field::set(current.text, object, key, &format!("\"{role}\"")));
    change.note(index, Rule::UnknownRole, format!("the role was changed to `{role}`"));
}

/// A message without content goes, unless it carries something beside it or answers a call. Thoughts are nothing that
/// an assistant message could be sent for.
fn fill_or_remove(current: &Transcript<'_>, finding: &Finding, change: &mut Change) {
    let is_silent = finding.rule == Rule::EmptyMessage
        && current.messages.get(finding.message).is_some_and(|message| message.role == Role::Assistant);
    let carries_more = current.format == Format::OpenAiChat
        && !is_silent
        && current.parts_at(finding.message).iter().any(|part| part.place != Place::Block);
    if carries_more {
        compose::set_content(current, &mut change.rewrite, finding.message, "\"\"");
        change.note(finding.message, finding.rule, "the content was replaced by an empty string");
    } else {
        change.remove(finding.message, finding.rule, "dropped a message without content");
    }
}

fn delete_field(current: &Transcript<'_>, finding: &Finding, key: &str, change: &mut Change) {
    if let Some(object) = compose::object_of(current, finding.message)
        && let Some(found) = field::find(current.text, object, key)
    {
        change.rewrite.edits.delete(found.removal);
        change.note(finding.message, finding.rule, format!("removed `{key}`"));
    }
}

/// A block without type becomes a text, a result that is neither text nor blocks a string.
fn give_a_shape(current: &Transcript<'_>, finding: &Finding, part_index: usize, change: &mut Change) {
    let (Some(part), Some(message)) = (current.parts.get(part_index), current.messages.get(finding.message)) else {
        return;
    };
    if current.format == Format::Gemini && part.kind == PartKind::ToolResult {
        return shape_response(current, finding, part_index, change);
    }
    if part.kind == PartKind::ToolResult {
        let span = part.content.span();
        change.edit(Edit { span, text: json::encode(current.raw(span)) });
        change.note(finding.message, finding.rule, "the tool result was converted to a string");
        return;
    }
    let raw = current.raw(part.span);
    let literal = if raw.starts_with('"') { raw.to_owned() } else { json::encode(raw) };
    let block = compose::text_block(current.format, message.role, &literal);
    change.edit(Edit { span: part.span, text: block });
    change.note(finding.message, finding.rule, "a block without `type` was converted to a text block");
}

/// A response becomes an object and gets the name of the function that was called.
fn shape_response(current: &Transcript<'_>, finding: &Finding, part_index: usize, change: &mut Change) {
    let Some(part) = current.parts.get(part_index) else {
        return;
    };
    let Some(object) = gemini::object_in(current.text, part.span, gemini::RESPONSE) else {
        return;
    };
    if part.name.is_empty() {
        let name = match current.tool_of(part_index) {
            "" => "unknown",
            name => name,
        };
        change.edit(field::set(current.text, object, "name", &format!("\"{name}\"")));
        change.note(finding.message, finding.rule, "added the function name to a response");
        return;
    }
    let response = match current.raw(part.content.span()) {
        "" => compose::response_of("\"\""),
        raw if raw.starts_with('"') => compose::response_of(raw),
        raw => compose::response_of(&json::encode(raw)),
    };
    change.edit(field::set(current.text, object, "response", &response));
    change.note(finding.message, finding.rule, "a response was converted to an object");
}

/// Arguments that are no JSON are kept as a text inside JSON; arguments of the wrong form get the right one.
fn mend_arguments(current: &Transcript<'_>, finding: &Finding, part_index: usize, change: &mut Change) {
    let Some(call) = current.parts.get(part_index) else {
        return;
    };
    let span = call.content.span();
    let edit = match current.format {
        Format::Anthropic | Format::ClaudeCode => match current.raw(span) {
            "" | "null" => field::set(current.text, call.span, "input", "{}"),
            raw => Edit { span, text: object_of_input(raw) },
        },
        Format::Gemini => Edit { span, text: object_of_input(current.raw(span)) },
        _ => match &call.content {
            Content::Text(literal) => Edit { span, text: json::encode(&unparsed(current.raw(*literal))) },
            Content::Absent => {
                let object = match call.place {
                    Place::Call => function_of(current.text, call.span).map(|(_, object)| object),
                    Place::Field => field_value(current, call),
                    _ => Some(call.span),
                };
                field::set(current.text, object.unwrap_or(call.span), "arguments", "\"{}\"")
            }
            _ if current.raw(span) == "null" => Edit { span, text: "\"{}\"".to_owned() },
            _ => Edit { span, text: json::encode(current.raw(span)) },
        },
    };
    change.edit(edit);
    change.note(finding.message, finding.rule, "repaired the arguments of a tool call");
}

/// The value of a part that is a `"key": value` pair.
fn field_value(current: &Transcript<'_>, part: &Part) -> Option<Span> {
    let raw = current.raw(part.span);
    let brace = raw.find('{')?;
    Some(Span { start: part.span.start + brace as u32, end: part.span.end })
}

/// An object that says what `input` said: the object inside a string, or the text under a name.
fn object_of_input(raw: &str) -> String {
    if raw.starts_with('"') {
        let inside = Span::new(0, raw.len()).inner().of(raw);
        let text = json::decode(inside);
        let mut scanner = json::Scanner::new(&text, 0);
        if scanner.next_byte() == Some(b'{') && scanner.skip().is_ok() && scanner.next_byte().is_none() {
            return text.into_owned();
        }
        return unparsed(raw);
    }
    unparsed(&json::encode(raw))
}

fn unparsed(literal: &str) -> String {
    format!("{{\"unparsed\":{literal}}}")
}

/// Takes blocks out; a message that has nothing else goes.
fn remove_blocks(current: &Transcript<'_>, gone: &BTreeSet<usize>, findings: &[Finding], change: &mut Change) {
    let mut at = None;
    for finding in findings {
        let Subject::Part(part) = finding.subject else {
            continue;
        };
        if !gone.contains(&part) || at == Some(finding.message) {
            continue;
        }
        at = Some(finding.message);
        let Some(message) = current.messages.get(finding.message) else {
            continue;
        };
        let parts = message.parts.start as usize..message.parts.end as usize;
        let carries_more = parts.clone().any(|part| !gone.contains(&part));
        if !carries_more {
            change.remove(finding.message, finding.rule, "dropped a message that had no content left");
            continue;
        }
        for part in parts.filter(|part| gone.contains(part)) {
            change.rewrite.remove_part(current, part);
        }
        change.note(finding.message, finding.rule, "dropped empty or misplaced blocks");
    }
}

/// Takes blocks out of results.
fn remove_inner(current: &Transcript<'_>, gone: &BTreeSet<usize>, change: &mut Change) {
    if gone.is_empty() {
        return;
    }
    for (index, message) in current.messages.iter().enumerate() {
        for result in current.parts_of(message) {
            let Content::Blocks { span, inner } = &result.content else {
                continue;
            };
            let all = inner.start as usize..inner.end as usize;
            if !all.clone().any(|block| gone.contains(&block)) {
                continue;
            }
            let kept: Vec<&str> = all
                .filter(|block| !gone.contains(block))
                .filter_map(|block| current.inner.get(block))
                .map(|block| current.raw(block.span))
                .collect();
            change.edit(Edit { span: *span, text: compose::array(&kept) });
            change.note(index, Rule::BlankText, "dropped blank texts in a tool result");
        }
    }
}
