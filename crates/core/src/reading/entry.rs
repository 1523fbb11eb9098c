//! The lines that a choice names, in order, each no longer than a page can take.

use super::choice::{Choice, ChoiceError};
use super::way::Way;
use super::{Line, LineKind, Reading, Shape, Turn};
use foldline_reduce::wording::grouped;
use std::borrow::Cow;
use std::ops::Range;

/// A longer line is cut in the middle: it is data or minified code, and would fill the page alone.
const LONGEST_LINE: usize = 2_000;

/// One line of what will be shown.
#[derive(Clone, Debug)]
pub(super) struct PageLine<'r> {
    /// The turn, by its place in the reading.
    pub(super) turn: usize,
    /// The line's number.
    pub(super) line: usize,
    pub(super) kind: LineKind,
    pub(super) look: Look,
    pub(super) text: Cow<'r, str>,
}

/// How a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The line that names the turn.
    Heading,
    /// A line of a turn.
    Line,
    /// What follows on the same line.
    Rest,
    /// A line that matches.
    Match,
    /// A line around one that matches.
    Around,
    /// The same, and lines before it are left out.
    AroundAfterGap,
    /// A line that matches, and lines before it are left out.
    MatchAfterGap,
}

/// What a choice names.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries<'r> {
    pub(super) list: Vec<PageLine<'r>>,
    /// Lines that match.
    pub(super) matches: usize,
    /// Turns with such lines.
    pub(super) matching_turns: usize,
}

impl Look {
    /// Whether the line itself matches.
    pub(super) fn is_match(self) -> bool {
        matches!(self, Look::Match | Look::MatchAfterGap)
    }

    /// Whether lines before it are left out.
    pub(super) fn is_after_gap(self) -> bool {
        matches!(self, Look::AroundAfterGap | Look::MatchAfterGap)
    }
}

/// The entries that a choice names, or why there are none. `longest` bounds the characters of an entry.
pub(super) fn entries<'r>(
    reading: &'r Reading<'r>,
    choice: &Choice<'_>,
    way: &Way,
    handle: &str,
    longest: usize,
) -> Result<Entries<'r>, ChoiceError> {
    let chosen = turns(reading, choice, way, handle)?;
    let mut gathering = Gathering {
        choice,
        way,
        handle,
        shape: reading.shape,
        longest: longest.min(LONGEST_LINE),
        found: Entries::default(),
    };
    for turn in chosen {
        if let Some(found) = reading.turns.get(turn) {
            gathering.turn(turn, found)?;
        }
    }
    match choice.grep {
        Some(grep) if gathering.found.matches == 0 => {
            Err(ChoiceError::NoMatch { place: place(reading, choice, handle), pattern: grep.pattern.to_owned() })
        }
        _ => Ok(gathering.found),
    }
}

/// The turns that a choice names, by their places.
fn turns(reading: &Reading<'_>, choice: &Choice<'_>, way: &Way, handle: &str) -> Result<Range<usize>, ChoiceError> {
    let count = reading.turns.len();
    let handle = handle.to_owned();
    match (reading.shape, choice.turns) {
        (Shape::Text, Some(_)) => Err(ChoiceError::NoTurns { handle, option: way.option(Way::LINES, "A:B") }),
        (Shape::Turns, None) if choice.lines.is_some() && count > 1 => {
            Err(ChoiceError::WhichTurn { handle, option: way.option(Way::TURN, "N"), count })
        }
        (Shape::Turns, Some(turns)) if choice.lines.is_some() && !turns.is_one() => {
            Err(ChoiceError::WhichTurn { handle, option: way.option(Way::TURN, "N"), count })
        }
        (_, None) => Ok(0..count),
        (_, Some(turns)) if turns.first > count => Err(ChoiceError::Turn { handle, asked: turns.first, count }),
        (_, Some(turns)) => Ok(turns.first.saturating_sub(1)..turns.last.unwrap_or(count).min(count)),
    }
}

/// What was searched, in words.
fn place(reading: &Reading<'_>, choice: &Choice<'_>, handle: &str) -> String {
    match (reading.shape, choice.turns) {
        (Shape::Turns, Some(turns)) if turns.is_one() => format!("turn {turns} of {handle}"),
        (Shape::Turns, Some(turns)) => format!("turns {turns} of {handle}"),
        _ => handle.to_owned(),
    }
}

struct Gathering<'c, 'g, 'r> {
    choice: &'c Choice<'g>,
    way: &'c Way,
    handle: &'c str,
    shape: Shape,
    longest: usize,
    found: Entries<'r>,
}

impl<'r> Gathering<'_, '_, 'r> {
    fn turn(&mut self, index: usize, turn: &'r Turn<'r>) -> Result<(), ChoiceError> {
        let lines = self.lines(turn)?;
        match self.choice.grep {
            None => {
                // Records of a client are many and say nothing; who wants one asks for it.
                if turn.is_record() && self.choice.turns.is_none() {
                    return Ok(());
                }
                self.heading(index, turn);
                for line in lines {
                    self.line(index, turn, line);
                }
            }
            Some(grep) => self.matches(index, turn, lines, grep.find),
        }
        Ok(())
    }

    /// The lines of a turn that are chosen.
    fn lines(&self, turn: &'r Turn<'r>) -> Result<&'r [Line<'r>], ChoiceError> {
        let Some(numbers) = self.choice.lines else {
            return Ok(&turn.lines);
        };
        if numbers.first > turn.length {
            let place = match self.shape {
                Shape::Turns => format!("turn {} of {}", turn.number, self.handle),
                Shape::Text => self.handle.to_owned(),
            };
            return Err(ChoiceError::Line { place, asked: numbers.first, count: turn.length });
        }
        // Where several lines are told as one, it stands for all of them.
        let last_of = |at: usize| turn.lines.get(at + 1).map_or(turn.length, |next| next.number - 1);
        let is_chosen = |at: usize, line: &Line<'_>| numbers.meets(line.number, last_of(at));
        let start =
            turn.lines.iter().enumerate().position(|(at, line)| is_chosen(at, line)).unwrap_or(turn.lines.len());
        let end = turn.lines.iter().enumerate().rposition(|(at, line)| is_chosen(at, line)).map_or(start, |at| at + 1);
        Ok(turn.lines.get(start..end).unwrap_or_default())
    }

    fn heading(&mut self, turn: usize, found: &Turn<'_>) {
        if self.shape == Shape::Turns {
            let text = Cow::Owned(found.heading());
            self.found.list.push(PageLine { turn, line: 0, kind: LineKind::Mark, look: Look::Heading, text });
        }
    }

    fn line(&mut self, index: usize, turn: &'r Turn<'r>, line: &'r Line<'r>) {
        let entry = |look, text| PageLine { turn: index, line: line.number, kind: line.kind, look, text };
        if !self.choice.is_one_line() {
            let text = self.shortened(turn, line, 0);
            return self.found.list.push(entry(Look::Line, text));
        }
        let mut look = Look::Line;
        let mut rest = line.text.as_ref();
        loop {
            let (piece, after) = split(rest, self.longest);
            self.found.list.push(entry(look, Cow::Borrowed(piece)));
            if after.is_empty() {
                return;
            }
            (look, rest) = (Look::Rest, after);
        }
    }

    fn matches(&mut self, index: usize, turn: &'r Turn<'r>, lines: &'r [Line<'r>], find: &super::Find<'_>) {
        let hits: Vec<(usize, Range<usize>)> =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, find(&line.text)?))).collect();
        if hits.is_empty() {
            return;
        }
        self.heading(index, turn);
        self.found.matches += hits.len();
        self.found.matching_turns += 1;
        let mut next = 0;
        let mut hits = hits.into_iter().peekable();
        while let Some((hit, range)) = hits.next() {
            let from = hit.saturating_sub(self.choice.context).max(next);
            let until = hit.saturating_add(self.choice.context).saturating_add(1).min(lines.len());
            let until = hits.peek().map_or(until, |(following, _)| until.min(*following));
            let mut is_after_gap = from > next && self.choice.context > 0 && next > 0;
            for (at, line) in (from..until).zip(lines.get(from..until).unwrap_or_default()) {
                let look = match (at == hit, std::mem::take(&mut is_after_gap)) {
                    (true, false) => Look::Match,
                    (true, true) => Look::MatchAfterGap,
                    (false, false) => Look::Around,
                    (false, true) => Look::AroundAfterGap,
                };
                let text = self.shortened(turn, line, if at == hit { range.start } else { 0 });
                self.found.list.push(PageLine { turn: index, line: line.number, kind: line.kind, look, text });
            }
            next = until;
        }
    }

    /// A line, without its middle where it is too long. What is at byte `at` stays.
    fn shortened(&self, turn: &Turn<'_>, line: &'r Line<'r>, at: usize) -> Cow<'r, str> {
        let text = line.text.as_ref();
        // Characters are never more than bytes.
        if text.len() <= self.longest || text.chars().count() <= self.longest {
            return Cow::Borrowed(text);
        }
        let numbers = super::Numbers::only;
        let turns = (self.shape == Shape::Turns).then(|| numbers(turn.number));
        let whole = Choice { turns, lines: Some(numbers(line.number)), ..Choice::default() };
        let how = self.way.recall(self.handle, &whole);
        // The command may be long, too, where a store has a long path.
        let how = if how.chars().count() * 4 > self.longest {
            self.way.option(Way::LINES, &line.number.to_string())
        } else {
            how
        };
        let room = self.longest.saturating_sub(how.chars().count() + 80);
        let count = |text: &str| grouped(text.chars().count());
        let start = text.floor_char_boundary(at.min(text.len()));
        let before = text.get(..start).unwrap_or_default();
        if before.chars().count() <= room / 2 {
            let (head, rest) = split(text, room * 2 / 3);
            let (middle, tail) = split_end(rest, room / 3);
            return Cow::Owned(format!("{head} [… {} characters left out; whole: {how} …] {tail}", count(middle)));
        }
        let (left, lead) = split_end(before, room / 3);
        let (hit, right) = split(text.get(start..).unwrap_or_default(), room * 2 / 3);
        let (left, right) = (count(left), count(right));
        Cow::Owned(format!("[… {left} characters] {lead}{hit} [{right} characters …; whole: {how}]"))
    }
}

/// The first characters of a text, and the rest.
fn split(text: &str, characters: usize) -> (&str, &str) {
    let at = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// A text up to its last characters, and these.
fn split_end(text: &str, characters: usize) -> (&str, &str) {
    let at = match characters.checked_sub(1) {
        None => text.len(),
        Some(last) => text.char_indices().nth_back(last).map_or(0, |(at, _)| at),
    };
    text.split_at_checked(at).unwrap_or((text, ""))
}
