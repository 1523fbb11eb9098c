//! Rules for the order of roles and for the transcript as a whole.

use super::turns::{Turn, Turns};
use super::{Finding, Rule, Subject};
use crate::reasoning::is_reasoning;
use crate::signature;
use crate::transcript::{Format, Part, PartKind, Place, Role, Transcript};

/// Anthropic refuses a request with more.
pub const MOST_MARKS: usize = 4;

/// Adds what is wrong to `findings`. Calls `in_flight` are not looked at.
pub(super) fn check(transcript: &Transcript<'_>, turns: &Turns, in_flight: &[usize], findings: &mut Vec<Finding>) {
    let mut add = |message: usize, rule: Rule, detail: String| {
        findings.push(Finding { message, rule, subject: Subject::Message, detail });
    };
    check_user(transcript, turns, &mut add);
    check_neighbours(transcript, turns, &mut add);
    match transcript.format {
        Format::Anthropic | Format::ClaudeCode => {
            check_marks(transcript, &mut add);
            check_ends(transcript, turns, &mut add);
        }
        Format::OpenAiResponses => check_reasoning(transcript, &mut add),
        Format::Gemini => check_signatures(transcript, in_flight, findings),
        Format::ShareGpt => check_tool_turns(transcript, &mut add),
        Format::OpenAiChat => {}
    }
}

/// At least one user message, and the first word to the right role.
fn check_user(transcript: &Transcript<'_>, turns: &Turns, add: &mut impl FnMut(usize, Rule, String)) {
    let first = turns.list.iter().find(|turn| !turn.role.is_instruction());
    let starts_with_user = match transcript.format {
        Format::Anthropic | Format::ClaudeCode | Format::ShareGpt | Format::Gemini => true,
        Format::OpenAiChat | Format::OpenAiResponses => false,
    };
    if let Some(first) = first
        && starts_with_user
        && first.role == Role::Assistant
    {
        let message = turns.messages_of(first).first().copied().unwrap_or_default();
        add(message, Rule::LeadingRole, format!("the first message has the role `{}`", first.role.name()));
        return;
    }
    if !turns.list.iter().any(|turn| turn.role == Role::User) {
        add(0, Rule::NoUserMessage, "there is no user message".to_owned());
    }
}

/// No two neighbours of one role, where the provider minds.
fn check_neighbours(transcript: &Transcript<'_>, turns: &Turns, add: &mut impl FnMut(usize, Rule, String)) {
    let has = |turn: &Turn, kind: PartKind| {
        let mut messages = turns.messages_of(turn).iter();
        messages.any(|&index| transcript.parts_at(index).iter().any(|part| part.kind == kind))
    };
    let minds = |one: &Turn, two: &Turn| match (transcript.format, two.role) {
        (Format::OpenAiResponses, _) => false,
        (Format::ShareGpt, role) => role == Role::User,
        // All calls of a reply are in one content, and all their results in the next.
        (Format::Gemini, Role::User) => has(two, PartKind::ToolResult),
        (Format::Gemini, _) => has(one, PartKind::ToolCall) || has(two, PartKind::ToolCall),
        (_, role) => matches!(role, Role::User | Role::Assistant),
    };
    let passes_over = |role: Role| match transcript.format {
        Format::Anthropic | Format::ClaudeCode => role == Role::System,
        _ => false,
    };
    let mut previous: Option<&Turn> = None;
    for turn in turns.list.iter().filter(|turn| !passes_over(turn.role)) {
        if previous.is_some_and(|previous| previous.role == turn.role && minds(previous, turn)) {
            let message = turns.messages_of(turn).first().copied().unwrap_or_default();
            add(
                message,
                Rule::SameRoleNeighbours,
                format!("the message before it has the role `{}` too", turn.role.name()),
            );
        }
        previous = Some(turn);
    }
}

fn check_marks(transcript: &Transcript<'_>, add: &mut impl FnMut(usize, Rule, String)) {
    let marked = marks_in_messages(transcript);
    let total = marked.len() + transcript.outer_marks as usize;
    if total > MOST_MARKS {
        let message = marked.first().map_or(0, |(message, _)| *message);
        add(message, Rule::TooManyMarks, format!("{total} cache marks"));
    }
}

/// The blocks with a cache mark, also inside results, oldest first, with their messages.
pub fn marks_in_messages<'t>(transcript: &'t Transcript<'_>) -> Vec<(usize, &'t Part)> {
    let mut marked = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate() {
        for part in transcript.parts_of(message) {
            marked.extend(transcript.inner_of(part).iter().filter(|block| block.marked).map(|block| (index, block)));
            if part.marked {
                marked.push((index, part));
            }
        }
    }
    marked
}

/// Signed reasoning must lead to something.
fn check_ends(transcript: &Transcript<'_>, turns: &Turns, add: &mut impl FnMut(usize, Rule, String)) {
    for turn in turns.list.iter().filter(|turn| turn.role == Role::Assistant) {
        let end = turns.messages_of(turn).iter().rev().find_map(|&index| {
            let in_content = |part: &&Part| matches!(part.place, Place::Block | Place::Whole);
            let last = transcript.parts_at(index).iter().rev().find(in_content)?;
            Some((index, last))
        });
        if let Some((index, last)) = end
            && last.kind == PartKind::Sealed
        {
            add(index, Rule::SealedLast, "the last block is signed reasoning".to_owned());
        }
    }
}

/// Calls whose signature is lost.
fn check_signatures(transcript: &Transcript<'_>, in_flight: &[usize], findings: &mut Vec<Finding>) {
    let missing = signature::missing(transcript).into_iter().filter(|call| in_flight.binary_search(call).is_err());
    findings.extend(missing.map(|call| Finding {
        message: transcript.message_of(call),
        rule: Rule::UnsignedCall,
        subject: Subject::Part(call),
        detail: format!("the first tool call (`{}`) has no signature", transcript.tool_of(call)),
    }));
}

/// A reasoning item belongs to the item that follows it.
fn check_reasoning(transcript: &Transcript<'_>, add: &mut impl FnMut(usize, Rule, String)) {
    for index in 0..transcript.messages.len() {
        if !is_reasoning(transcript, index) {
            continue;
        }
        let next = transcript.messages.get(index + 1).map(|message| message.role);
        // An item of an unknown kind may well be what was reasoned about.
        if !matches!(next, Some(Role::Assistant | Role::Other)) {
            let what = next.map_or("the end", Role::name);
            add(index, Rule::DanglingReasoning, format!("a reasoning item is followed by {what}"));
        }
    }
}

/// In a trajectory, a tool speaks only after the model.
fn check_tool_turns(transcript: &Transcript<'_>, add: &mut impl FnMut(usize, Rule, String)) {
    let mut called = false;
    for (index, message) in transcript.messages.iter().enumerate() {
        match message.role {
            Role::Assistant => called = true,
            Role::Tool if called => {}
            Role::Tool => add(index, Rule::OrphanResult, "a tool message does not follow a model message".to_owned()),
            _ => called = false,
        }
    }
}
