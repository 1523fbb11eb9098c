//! Repairs of the message order: merges neighbours, inserts a first user message, completes the end.

use super::MISSING_START;
use super::change::{Change, Draft};
use crate::edit::Span;
use crate::reasoning::is_reasoning;
use crate::rewrite::Rewrite;
use crate::signature;
use crate::transcript::{PartKind, Place, Role, Transcript};
use crate::validate::turns::Turns;
use crate::validate::{Finding, MOST_MARKS, Rule, Subject, marks_in_messages};
use crate::wire::json::{JsonKind, Scanner};
use crate::wire::{compose, field};

/// Makes one message of each run of neighbours.
pub(super) fn merge(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    let turns = Turns::of(current);
    let mut second = findings.iter().map(|finding| finding.message).peekable();
    let mut run: Vec<usize> = Vec::new();
    // Instructions between two neighbours stay where they are; whether they part them is for the finder to say.
    for turn in turns.list.iter().filter(|turn| turn.role != Role::System) {
        let messages = turns.messages_of(turn);
        if second.next_if(|message| messages.first() == Some(message)).is_some() {
            run.extend(leading_lines(current, messages));
            continue;
        }
        finish_run(current, &run, change);
        // Of several lines that are one turn, the last takes the neighbours in.
        run = messages.last().copied().into_iter().collect();
    }
    finish_run(current, &run, change);
}

/// The messages of a turn up to where another speaks between them: the rest stays behind what was said there.
fn leading_lines<'t>(current: &Transcript<'_>, messages: &'t [usize]) -> &'t [usize] {
    let is_silent = |index: usize| current.messages.get(index).is_some_and(|message| message.role == Role::Meta);
    let torn = messages.windows(2).position(|pair| match pair {
        [one, two] => !(one + 1..*two).all(is_silent),
        _ => false,
    });
    messages.get(..torn.map_or(messages.len(), |at| at + 1)).unwrap_or_default()
}

fn finish_run(current: &Transcript<'_>, run: &[usize], change: &mut Change) {
    if run.len() < 2 {
        return;
    }
    let Some(host) = compose::merge(current, &mut change.rewrite, run) else {
        return;
    };
    change.note(host, Rule::SameRoleNeighbours, "merged the message with its neighbours");
    for &other in run.iter().filter(|&&other| other != host) {
        change.absorbed(other);
        change.note(other, Rule::SameRoleNeighbours, "merged the message with its neighbour");
    }
}

/// Repairs what is left when everything else is whole.
pub(super) fn fix_ends(current: &Transcript<'_>, findings: &[Finding], change: &mut Change) {
    for finding in findings {
        match finding.rule {
            Rule::LeadingRole | Rule::NoUserMessage => {
                let start = current.messages.iter().position(|message| !is_preamble(message.role));
                let before = start.unwrap_or(current.messages.len());
                change.insert(
                    before,
                    before.min(current.messages.len().saturating_sub(1)),
                    Draft::Text(Role::User, MISSING_START),
                );
                change.note(finding.message, finding.rule, "inserted a user message at the start");
            }
            Rule::TooManyMarks => drop_marks(current, change),
            Rule::SealedLast => drop_sealed_end(current, finding, change),
            Rule::UnsignedCall => {
                if let Subject::Part(call) = finding.subject
                    && let Some(call) = current.parts.get(call)
                {
                    change.edit(signature::stand_in(current, call));
                    change.note(finding.message, finding.rule, "gave a tool call the placeholder for a lost signature");
                }
            }
            Rule::DanglingReasoning => {
                let mut index = finding.message;
                loop {
                    change.remove(index, finding.rule, "dropped a reasoning item without output");
                    match index.checked_sub(1).filter(|&before| is_reasoning(current, before)) {
                        Some(before) => index = before,
                        None => break,
                    }
                }
            }
            _ => {}
        }
    }
}

/// What may stand before the first user message.
fn is_preamble(role: Role) -> bool {
    role.is_instruction() || role == Role::Meta
}

/// Drops signed blocks at the end of a message; a message of nothing else goes.
fn drop_sealed_end(current: &Transcript<'_>, finding: &Finding, change: &mut Change) {
    let Some(message) = current.messages.get(finding.message) else {
        return;
    };
    let blocks: Vec<usize> = (message.parts.start as usize..message.parts.end as usize)
        .filter(|&part| current.parts.get(part).is_some_and(|part| part.place == Place::Block))
        .collect();
    let is_sealed = |part: &&usize| current.parts.get(**part).is_some_and(|part| part.kind == PartKind::Sealed);
    let sealed = blocks.iter().rev().take_while(is_sealed).count();
    if sealed == blocks.len() {
        change.remove(finding.message, finding.rule, "dropped a message that contained only signed reasoning");
        return;
    }
    for &part in blocks.iter().rev().take(sealed) {
        change.rewrite.remove_part(current, part);
    }
    change.note(finding.message, finding.rule, "dropped signed reasoning without output");
}

/// Takes the oldest marks off messages, then off tools and system, until few enough are left.
fn drop_marks(current: &Transcript<'_>, change: &mut Change) {
    let marked = marks_in_messages(current);
    let mut excess = (marked.len() + current.outer_marks as usize).saturating_sub(MOST_MARKS);
    for (message, block) in marked.into_iter().filter(|(_, block)| block.kind != PartKind::Sealed).take(excess) {
        delete_mark(current, block.span, &mut change.rewrite);
        change.note(message, Rule::TooManyMarks, "removed an old cache mark");
        excess -= 1;
    }
    if excess == 0 {
        return;
    }
    for element in outer_elements(current).into_iter().take(excess) {
        delete_mark(current, element, &mut change.rewrite);
        change.note(0, Rule::TooManyMarks, "removed a cache mark outside the messages");
    }
}

fn delete_mark(current: &Transcript<'_>, object: Span, rewrite: &mut Rewrite) {
    if let Some(found) = field::find(current.text, object, "cache_control") {
        rewrite.edits.delete(found.removal);
    }
}

/// The elements of tools and system that carry a mark.
fn outer_elements(current: &Transcript<'_>) -> Vec<Span> {
    let mut elements = Vec::new();
    for list in [current.tools, current.system].into_iter().flatten() {
        let mut scanner = Scanner::new(current.text, list.start as usize);
        if scanner.peek() != Ok(JsonKind::Array) {
            continue;
        }
        // The reader went over it before: it is well formed.
        let _ = scanner.array(|scanner| {
            let element = scanner.skip()?;
            let is_object = current.raw(element).starts_with('{');
            let mark = is_object.then(|| field::value(current.text, element, "cache_control")).flatten();
            if mark.is_some_and(|mark| current.raw(mark) != "null") {
                elements.push(element);
            }
            Ok(())
        });
    }
    elements
}
