//! Pages: as much as fits, cut between turns where that wastes little, between lines otherwise.

use super::choice::{Choice, ChoiceError, PAGE_SIZES};
use super::entry::{Entries, Look, PageLine, entries};
use super::way::Way;
use super::{INDENT, LineKind, Reading, Shape};
use serde::Serialize;
use std::ops::Range;

/// One page of an original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The original.
    pub handle: String,
    /// Turns that it has; none for a single text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<usize>,
    /// Lines that a single text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// Which page of what was asked for, counted from 1.
    pub page: usize,
    /// How many there are.
    pub pages: usize,
    /// Lines that match, when a pattern was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<usize>,
    /// Turns with such lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching_turns: Option<usize>,
    /// What is on it.
    pub content: Vec<Passage>,
    /// Lines of the last turn that follow on later pages.
    pub lines_follow: usize,
    /// Turns that follow on later pages.
    pub turns_follow: usize,
    /// How to get the next page.
    pub next: Option<String>,
}

/// Lines of one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The turn's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// Who speaks.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub role: &'static str,
    /// Whether the turn began on an earlier page.
    #[serde(skip_serializing_if = "is_false")]
    pub continued: bool,
    /// The lines.
    pub lines: Vec<ShownLine>,
}

/// A line on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownLine {
    /// Its number in the turn or text.
    pub line: usize,
    /// The line.
    pub text: String,
    /// Whether it says what follows or what is not shown, and is nobody's words.
    #[serde(skip_serializing_if = "is_false")]
    pub mark: bool,
    /// Whether it matches the pattern.
    #[serde(rename = "match", skip_serializing_if = "is_false")]
    pub is_match: bool,
    /// Whether lines between matches are left out before it.
    #[serde(skip_serializing_if = "is_false")]
    pub after_gap: bool,
    /// Whether it continues a line on the page before.
    #[serde(skip_serializing_if = "is_false")]
    pub continued: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(is: &bool) -> bool {
    !is
}

/// What the last line of a page takes beside the command for the next: counts of pages, turns and lines.
const LAST_LINE: usize = 200;
/// A command longer than this is not repeated on the page.
const LONGEST_COMMAND: usize = 400;
/// No original has more pages: it would have a terabyte.
const MOST_PAGES: usize = 999_999_999;
/// What the line that names a turn takes at most, with a note that the turn began before.
const HEADING: usize = 80;
/// What a line takes beside its text: number, indent, break, a mark for a gap.
const AROUND_LINE: usize = 20;

/// The page of an original that a choice names.
pub fn page(reading: &Reading<'_>, choice: &Choice<'_>, way: &Way, handle: &str) -> Result<Page, ChoiceError> {
    if !PAGE_SIZES.contains(&choice.page_size) {
        return Err(ChoiceError::PageSize { asked: choice.page_size });
    }
    // All pages are cut alike, whichever is asked for: room is left for the command with the longest number.
    let command = |page| way.recall(handle, &Choice { page, ..*choice });
    let longest_command = command(MOST_PAGES).chars().count();
    let is_repeated = longest_command <= LONGEST_COMMAND;
    let room = choice.page_size - LAST_LINE - longest_command.min(LONGEST_COMMAND);
    let longest = room - HEADING - AROUND_LINE;
    let found = entries(reading, choice, way, handle, longest)?;
    let pages = cut(reading.shape, &found, room);
    let count = pages.len();
    let Some(range) = choice.page.checked_sub(1).and_then(|at| pages.into_iter().nth(at)) else {
        return Err(ChoiceError::Page { asked: choice.page, count });
    };
    let is_last = choice.page == count;
    let last_turn = found.list.get(range.clone()).unwrap_or_default().last().map(|entry| entry.turn);
    let after = found.list.get(range.end..).unwrap_or_default();
    let is_counted = |entry: &&PageLine<'_>| !matches!(entry.look, Look::Heading | Look::Rest);
    let has_pattern = choice.grep.is_some();
    Ok(Page {
        handle: handle.to_owned(),
        turns: (reading.shape == Shape::Turns).then_some(reading.turns.len()),
        lines: match (reading.shape, reading.turns.as_slice()) {
            (Shape::Text, [only]) => Some(only.length),
            _ => None,
        },
        page: choice.page,
        pages: count,
        matches: has_pattern.then_some(found.matches),
        matching_turns: (has_pattern && reading.shape == Shape::Turns).then_some(found.matching_turns),
        content: passages(reading, found.list.get(range).unwrap_or_default()),
        lines_follow: after.iter().filter(is_counted).filter(|entry| Some(entry.turn) == last_turn).count(),
        turns_follow: after.iter().filter(|entry| entry.look == Look::Heading).count(),
        next: (!is_last).then(|| match choice.page.saturating_add(1) {
            page if is_repeated => command(page),
            page => format!("the same with {}", way.option(Way::PAGE, &page.to_string())),
        }),
    })
}

/// The entries of each page. There is always one.
fn cut(shape: Shape, found: &Entries<'_>, room: usize) -> Vec<Range<usize>> {
    let mut pages = Vec::new();
    let mut start = 0;
    while start < found.list.len() {
        let end = end_of_page(shape, &found.list, start, room);
        pages.push(start..end);
        start = end;
    }
    if pages.is_empty() {
        pages.push(0..0);
    }
    pages
}

/// Where the page that begins at `start` ends: behind it at least, so that pages come to an end.
fn end_of_page(shape: Shape, list: &[PageLine<'_>], start: usize, room: usize) -> usize {
    let begins_inside = list.get(start).is_some_and(|entry| entry.look != Look::Heading);
    let mut used = if begins_inside && shape == Shape::Turns { HEADING } else { 0 };
    // The last turn that begins on this page, and what stands before it.
    let mut turn: Option<(usize, usize)> = None;
    for (at, entry) in list.iter().enumerate().skip(start) {
        if entry.look == Look::Heading && at > start {
            turn = Some((at, used));
        }
        let cost = cost(entry);
        if at > start && used + cost > room {
            return match turn {
                // Nothing but its heading would stand here.
                Some((heading, _)) if heading + 1 == at => heading,
                // Half a page or more is full, and the turn fits the next one.
                Some((heading, before)) if before * 2 >= room && fits(list, heading, room) => heading,
                _ => at,
            };
        }
        used += cost;
    }
    list.len()
}

/// Whether the turn that begins at `heading` fits a page.
fn fits(list: &[PageLine<'_>], heading: usize, room: usize) -> bool {
    let mut used = 0;
    for (at, entry) in list.iter().enumerate().skip(heading) {
        if entry.look == Look::Heading && at > heading {
            break;
        }
        used += cost(entry);
        if used > room {
            return false;
        }
    }
    true
}

/// What an entry takes at most.
fn cost(entry: &PageLine<'_>) -> usize {
    let text = entry.text.chars().count();
    match entry.look {
        Look::Heading => HEADING.max(text + 2),
        Look::Rest => text + 1,
        Look::Line => text + INDENT.len() + 1,
        _ => text + AROUND_LINE,
    }
}

fn passages(reading: &Reading<'_>, list: &[PageLine<'_>]) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut current = None;
    for entry in list {
        if current != Some(entry.turn) {
            current = Some(entry.turn);
            let turn = reading.turns.get(entry.turn);
            passages.push(Passage {
                turn: turn.filter(|_| reading.shape == Shape::Turns).map(|turn| turn.number),
                role: turn.map_or("", |turn| turn.role),
                continued: entry.look != Look::Heading && reading.shape == Shape::Turns,
                lines: Vec::new(),
            });
        }
        let Some(passage) = passages.last_mut().filter(|_| entry.look != Look::Heading) else {
            continue;
        };
        match passage.lines.last_mut() {
            Some(before) if entry.look == Look::Rest => before.text.push_str(&entry.text),
            _ => passage.lines.push(ShownLine {
                line: entry.line,
                text: entry.text.clone().into_owned(),
                mark: entry.kind == LineKind::Mark,
                is_match: entry.look.is_match(),
                after_gap: entry.look.is_after_gap(),
                continued: entry.look == Look::Rest,
            }),
        }
    }
    passages
}
