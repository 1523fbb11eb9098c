//! Repairs between calls and results: ids, strays, results that stand elsewhere, stubs.

use super::MISSING_RESULT;
use super::change::{Change, Draft};
use crate::transcript::{Format, PartKind, Place, Role, Transcript};
use crate::validate::turns::Turns;
use crate::validate::{Finding, Rule, Subject};
use crate::wire::{compose, field, gemini};
use std::collections::{BTreeMap, BTreeSet};

/// Gives calls without an id of their own one, and their results the same.
pub(super) fn fix_ids(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    for finding in findings {
        let Subject::Pair { call, result } = finding.subject else {
            continue;
        };
        let Some(part) = current.parts.get(call) else {
            continue;
        };
        let is_nameless = current.format == Format::Gemini && part.name.is_empty();
        if part.place == Place::Field || is_nameless {
            // A function without a name cannot be called, nor answered.
            change.rewrite.remove_part(current, call);
            change.note(finding.message, finding.rule, "dropped a tool call without a name");
            continue;
        }
        let id = format!("\"{}\"", fresh_id(current, finding.message, call));
        let key = if part.place == Place::Item { "call_id" } else { "id" };
        let object = match current.format {
            Format::Gemini => gemini::object_in(current.text, part.span, gemini::CALL),
            _ => None,
        };
        change.edit(field::set(current.text, object.unwrap_or(part.span), key, &id));
        if let Some(result) = result
            && let Some((object, key)) = id_field_of(current, result)
        {
            change.edit(field::set(current.text, object, key, &id));
            change.note(current.message_of(result), finding.rule, "set the id of a tool result to that of its call");
        }
        change.note(finding.message, finding.rule, "gave a tool call a new id");
    }
}

/// The object and the field that hold the id which a result answers.
fn id_field_of(current: &Transcript<'_>, result: usize) -> Option<(crate::edit::Span, &'static str)> {
    let part = current.parts.get(result)?;
    match part.place {
        Place::Block if current.format == Format::Gemini => {
            Some((gemini::object_in(current.text, part.span, gemini::RESPONSE)?, "id"))
        }
        Place::Block => Some((part.span, "tool_use_id")),
        Place::Item if field::find(current.text, part.span, "call_id").is_some() => Some((part.span, "call_id")),
        Place::Item => Some((part.span, "id")),
        _ => Some((current.messages.get(current.message_of(result))?.span, "tool_call_id")),
    }
}

/// An id that follows from the call and its place, so that every run gives the same.
fn fresh_id(current: &Transcript<'_>, message: usize, call: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    let within = call - current.messages.get(message).map_or(0, |message| message.parts.start as usize).min(call);
    hasher.update(format!("{message}/{within}/").as_bytes());
    hasher.update(current.parts.get(call).map_or("", |call| current.raw(call.span)).as_bytes());
    let hash = hasher.finalize().to_hex();
    format!("call_{}", hash.get(..24).unwrap_or_default())
}

/// Drops strays, moves what stands elsewhere, puts stubs where nothing stands.
pub(super) fn fix(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    match current.format {
        Format::Anthropic | Format::ClaudeCode | Format::Gemini => fix_blocks(current, findings, change),
        _ => fix_messages(current, findings, change),
    }
}

/// Where results are messages or items of their own.
fn fix_messages(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    for finding in findings {
        match finding.subject {
            Subject::Pair { call, result: None } => {
                let caller = finding.message;
                match compose::stub_result(current, call, MISSING_RESULT) {
                    Some(stub) => {
                        change.insert(end_of_results(current, caller), caller, Draft::Verbatim(stub));
                        change.note(caller, finding.rule, "inserted a stub result");
                    }
                    None => {
                        change.remove(caller, finding.rule, "dropped a tool call that cannot be given a stub result")
                    }
                }
            }
            Subject::Pair { call, result: Some(_) } => {
                let caller = current.message_of(call);
                let Some(moved) = current.messages.get(finding.message) else {
                    continue;
                };
                let verbatim = Draft::Verbatim(current.raw(moved.span).to_owned());
                change.insert(end_of_results(current, caller), finding.message, verbatim);
                change.remove(finding.message, finding.rule, "moved a tool result to its call");
            }
            _ => change.remove(finding.message, finding.rule, "dropped a tool result without a matching call"),
        }
    }
}

/// Before which message further results of the message at `caller` go.
fn end_of_results(current: &Transcript<'_>, caller: usize) -> usize {
    let follows = |role: Role, index: usize| match current.format {
        // Behind the calls that were made at the same time, and nothing else.
        Format::OpenAiResponses => {
            role == Role::Assistant && current.parts_at(index).iter().any(|part| part.kind == PartKind::ToolCall)
        }
        _ => role == Role::Tool,
    };
    let after = current.messages.iter().enumerate().skip(caller + 1);
    caller + 1 + after.take_while(|(index, message)| follows(message.role, *index)).count()
}

/// What happens to the results of one user turn.
#[derive(Default)]
struct Front {
    /// Blocks that go to the front of the turn.
    blocks: Vec<String>,
    /// The message that made them necessary, and the rule.
    because: usize,
    rule: Option<Rule>,
}

/// Where results are blocks at the front of a user turn.
fn fix_blocks(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    let turns = Turns::of(current);
    let turn_of = turn_of_messages(current, &turns);
    let turn_at = |message: usize| turn_of.get(message).copied().unwrap_or_default();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    let mut touched: BTreeMap<usize, Rule> = BTreeMap::new();
    let mut fronts: BTreeMap<usize, Front> = BTreeMap::new();
    let mut add = |caller_turn: usize, finding: &Finding, block: String| {
        let front = fronts.entry(caller_turn).or_default();
        if front.rule.is_none() {
            front.because = finding.message;
            front.rule = Some(finding.rule);
        }
        front.blocks.push(block);
    };
    // Results that are there come before stubs, so that a front reads like the original.
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by_key(|finding| finding.rule == Rule::UnansweredCall);
    for finding in ordered {
        match finding.subject {
            Subject::Pair { call, result: None } => {
                if let Some(stub) = compose::stub_result(current, call, MISSING_RESULT) {
                    add(turn_at(finding.message), finding, stub);
                    change.note(finding.message, finding.rule, "inserted a stub result");
                }
            }
            Subject::Pair { call, result: Some(result) } => {
                let raw = current.parts.get(result).map_or("", |part| current.raw(part.span));
                add(turn_at(current.message_of(call)), finding, raw.to_owned());
                gone.insert(result);
                touched.insert(finding.message, finding.rule);
            }
            Subject::Part(result) => {
                if finding.rule == Rule::ResultsNotFirst
                    && let Some(caller) =
                        turn_at(finding.message).checked_sub(1).and_then(|before| caller_of(&turns, before))
                {
                    let raw = current.parts.get(result).map_or("", |part| current.raw(part.span));
                    add(caller, finding, raw.to_owned());
                }
                gone.insert(result);
                touched.insert(finding.message, finding.rule);
            }
            _ => {}
        }
    }
    let mut leads: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (caller, front) in fronts {
        let last = turns.list.get(caller).and_then(|turn| turns.messages_of(turn).last().copied());
        let answer = turns.answer_to(caller).and_then(|turn| turns.list.get(turn));
        // A session file can hold a reply's first results before its last lines.
        let first =
            answer.and_then(|turn| turns.messages_of(turn).iter().copied().find(|&message| Some(message) > last));
        match first {
            Some(first) => {
                touched.entry(first).or_insert(front.rule.unwrap_or(Rule::ResultsNotFirst));
                leads.insert(first, front.blocks);
            }
            None => {
                let before = last.map_or(current.messages.len(), |last| last + 1);
                change.insert(before, front.because, Draft::Blocks(Role::User, front.blocks));
            }
        }
    }
    for (message, rule) in touched {
        let lead = leads.remove(&message).unwrap_or_default();
        rebuild(current, message, rule, lead, &gone, change);
    }
}

/// The turn of each message; session records that are no messages have none.
fn turn_of_messages(current: &Transcript<'_>, turns: &Turns) -> Vec<usize> {
    let mut turn_of = vec![0; current.messages.len()];
    for (index, turn) in turns.list.iter().enumerate() {
        for &message in turns.messages_of(turn) {
            if let Some(slot) = turn_of.get_mut(message) {
                *slot = index;
            }
        }
    }
    turn_of
}

/// The assistant turn that a user turn answers, looking back from `before` over instructions.
fn caller_of(turns: &Turns, before: usize) -> Option<usize> {
    let ahead = turns.list.get(..=before)?;
    let caller = ahead.iter().rposition(|turn| turn.role != Role::System)?;
    (turns.list.get(caller)?.role == Role::Assistant).then_some(caller)
}

/// Writes a message's content again: results that lead it, then `lead`, then the rest without what is `gone`.
fn rebuild(
    current: &Transcript<'_>,
    index: usize,
    rule: Rule,
    lead: Vec<String>,
    gone: &BTreeSet<usize>,
    change: &mut Change,
) {
    let Some(message) = current.messages.get(index) else {
        return;
    };
    let mut results = Vec::new();
    let mut rest = Vec::new();
    for part_index in message.parts.start as usize..message.parts.end as usize {
        let Some(part) = current.parts.get(part_index).filter(|_| !gone.contains(&part_index)) else {
            continue;
        };
        let raw = current.raw(part.span);
        match (part.place, part.kind) {
            (Place::Whole, _) => rest.push(compose::text_block(current.format, message.role, raw)),
            (Place::Block, PartKind::ToolResult) if rest.is_empty() => results.push(raw.to_owned()),
            (Place::Block, _) => rest.push(raw.to_owned()),
            _ => {}
        }
    }
    results.extend(lead);
    results.append(&mut rest);
    if results.is_empty() {
        change.remove(index, rule, "dropped a message of tool results without matching calls");
    } else {
        compose::set_content(current, &mut change.rewrite, index, &compose::array(&results));
        let what = match rule {
            Rule::OrphanResult | Rule::DuplicateResult => "dropped tool results without matching calls",
            Rule::UnansweredCall => "inserted stub results into the message",
            _ => "reordered the tool results of the message",
        };
        change.note(index, rule, what);
    }
}
