//! Decides what stays of source code: what it defines, with line numbers, and the lines that bring most names.

mod numbered;
mod plain;

use std::borrow::Cow;
use std::fmt::Write as _;

use super::definitions::{Rank, defined};
use super::lines::{count, cut, push, roll, trim};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};
use crate::wording::counted;
use numbered::Numbering;
pub(super) use numbered::plain as without_numbers;

/// Above this size only definitions are weighed.
const MOST_WEIGHED: usize = 1 << 20;
/// The longest line of an outline; signatures beyond it are lists of parameters.
const LONGEST_SIGNATURE: usize = 160;
/// The longest other line: its start names what it does.
const LONGEST_LINE: usize = 110;
/// Imports say little about a file that its other lines do not.
const IMPORT_SHARE: usize = 8;

/// A line of a file and the number that it has there.
#[derive(Debug, Clone, Copy)]
struct CodeLine<'a> {
    number: usize,
    raw: &'a str,
    /// The line without the blanks around it.
    text: &'a str,
}

impl<'a> CodeLine<'a> {
    fn new(number: usize, raw: &'a str) -> CodeLine<'a> {
        CodeLine { number, raw, text: trim(raw) }
    }

    fn is_nested(&self) -> bool {
        self.raw.as_bytes().first() != self.text.as_bytes().first()
    }
}

/// A definition: where it starts and its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Definition<'a> {
    /// Index of the line among the lines read.
    index: usize,
    rank: Rank,
    nested: bool,
    signature: Cow<'a, str>,
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let numbering = Numbering::of(output.text);
    let read: Vec<CodeLine<'_>> = if output.text.len() <= MOST_WEIGHED {
        let mut read = Vec::with_capacity(count(output.text));
        read.extend(numbered::code_lines(output.text, numbering));
        read
    } else {
        numbered::code_lines(output.text, numbering)
            .filter(|line| defined(line.text, line.is_nested()).is_some())
            .take(MOST_CANDIDATES)
            .collect()
    };
    let definitions = plain::definitions(&read);
    let room = output.room;
    let mut text = String::with_capacity(2 * room.bytes());
    if let Some(heading) = plain::heading(&read) {
        push(&mut text, &cut(heading, LONGEST_SIGNATURE));
    }
    let imports = plain::imports(&read);
    if let Some(line) = roll("imports:", imports.names.iter().map(String::as_str), room.percent(IMPORT_SHARE)) {
        push(&mut text, &line);
    }
    let candidates = candidates(&read, &definitions, &imports.lines);
    for picked in pick(candidates, room.bytes().saturating_sub(text.len()), output.focus, output.names) {
        let number = read.get(picked.position).map_or(0, |line| line.number);
        match number {
            0 => push(&mut text, picked.text),
            _ => _ = writeln!(text, "{number} {}", picked.text),
        }
    }
    Some(Body { note: counted(definitions.len(), "definition"), text })
}

/// Definitions weigh more than other lines; comments and closing braces are no candidates.
fn candidates<'a>(read: &[CodeLine<'a>], definitions: &'a [Definition<'_>], imports: &[usize]) -> Vec<Candidate<'a>> {
    let mut defined = definitions.iter().peekable();
    let mut imported = imports.iter().peekable();
    let mut candidates = Vec::with_capacity(read.len());
    for (position, line) in read.iter().enumerate() {
        let extra = 2 + digits(line.number);
        while imported.next_if(|index| **index < position).is_some() {}
        while defined.next_if(|definition| definition.index < position).is_some() {}
        if let Some(definition) = defined.next_if(|definition| definition.index == position) {
            let text = plain::trimmed(super::lines::prefix(&definition.signature, LONGEST_SIGNATURE));
            candidates.push(Candidate { position, weight: weight(definition), text, extra });
        } else if imported.peek() != Some(&&position) && !plain::is_comment(line.text) {
            let text = plain::trimmed(super::lines::prefix(line.text, LONGEST_LINE));
            candidates.push(Candidate { position, weight: 0, text, extra });
        }
    }
    candidates.truncate(MOST_CANDIDATES);
    candidates
}

/// What a definition is worth beside its names, by what it defines: as much as a name or two that the agent works with.
/// By `foldline eval DIR`, 30 keeps three more in a hundred of the names that agents need later in the output, and 500 eight fewer;
/// handoffs keep most at about this weight, and an outline is what a reader looks for.
fn weight(definition: &Definition<'_>) -> u32 {
    match (definition.rank, definition.nested) {
        (Rank::Type, _) | (Rank::Item, false) => 160,
        (Rank::Item, true) => 130,
        (Rank::Value, _) => 2,
    }
}

fn digits(number: usize) -> usize {
    match number {
        0 => 0,
        1..10 => 1,
        10..100 => 2,
        100..1_000 => 3,
        _ => number.ilog10() as usize + 1,
    }
}
