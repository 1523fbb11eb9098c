//! What a reader asks for: turns, lines, a pattern, a page.

use super::way::Way;
use foldline_reduce::wording::counted;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// Characters of a page unless somebody asks for another size: some 4,000 tokens, which no window feels.
pub const PAGE_SIZE: usize = 16_000;
/// The sizes that may be asked for. Below, a page would be mostly its last line; above, it is no page.
pub const PAGE_SIZES: RangeInclusive<usize> = 1_000..=1_000_000;

/// What of an original is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'g> {
    /// Only these turns.
    pub turns: Option<Numbers>,
    /// Only these lines of the turn, or of a text without turns. A single line is shown whole, however long.
    pub lines: Option<Numbers>,
    /// Only lines that match.
    pub grep: Option<Grep<'g>>,
    /// Lines to show around each match.
    pub context: usize,
    /// Which page of all that, counted from 1.
    pub page: usize,
    /// Characters of a page.
    pub page_size: usize,
}

impl Default for Choice<'_> {
    fn default() -> Self {
        Choice { turns: None, lines: None, grep: None, context: 0, page: 1, page_size: PAGE_SIZE }
    }
}

/// Where a line matches first, in bytes.
pub type Find<'g> = dyn Fn(&str) -> Option<Range<usize>> + 'g;

/// A pattern that lines are searched for.
#[derive(Clone, Copy)]
pub struct Grep<'g> {
    /// As it was given.
    pub pattern: &'g str,
    /// What it finds.
    pub find: &'g Find<'g>,
}

impl fmt::Debug for Grep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.pattern, f)
    }
}

/// Numbers from the first to the last, both included, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first.
    pub first: usize,
    /// The last; `None` is the end, wherever it is.
    pub last: Option<usize>,
}

/// What is wrong with a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumbersError {
    /// It is no range.
    #[error("`{0}` is no range; expected A:B, A:, :B or A, counted from 1")]
    Syntax(String),
    /// It begins or ends with 0.
    #[error("`{0}` begins or ends with 0; counting starts at 1")]
    Zero(String),
    /// It ends before it begins.
    #[error("`{text}` ends before it begins; did you mean {last}:{first}?")]
    Backwards {
        /// As it was given.
        text: String,
        /// Its first number.
        first: usize,
        /// Its last number.
        last: usize,
    },
}

/// Why there is nothing to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// Turns of a text that has none.
    #[error("{handle} is a single text without turns; choose from it with {option}")]
    NoTurns {
        /// The original.
        handle: String,
        /// How lines are chosen.
        option: String,
    },
    /// Turns that are not there.
    #[error("turn {asked} was asked for; {handle} has {}, counted from 1", counted(*.count, "turn"))]
    Turn {
        /// The original.
        handle: String,
        /// The first that was asked for.
        asked: usize,
        /// Those that there are.
        count: usize,
    },
    /// Lines of nothing in particular.
    #[error("lines are counted within a turn: say which with {option}; {handle} has {}", counted(*.count, "turn"))]
    WhichTurn {
        /// The original.
        handle: String,
        /// How a turn is chosen.
        option: String,
        /// The turns that there are.
        count: usize,
    },
    /// Lines that are not there.
    #[error("line {asked} was asked for; {place} has {}, counted from 1", counted(*.count, "line"))]
    Line {
        /// Where.
        place: String,
        /// The first that was asked for.
        asked: usize,
        /// Those that there are.
        count: usize,
    },
    /// A page that is not there.
    #[error("page {asked} was asked for; there {} {}", if *.count == 1 { "is" } else { "are" }, counted(*.count, "page"))]
    Page {
        /// The page.
        asked: usize,
        /// The pages that there are.
        count: usize,
    },
    /// A page of a size that is no size for a page.
    #[error(
        "a page of {asked} characters was asked for; expected {} to {}", PAGE_SIZES.start(), PAGE_SIZES.end()
    )]
    PageSize {
        /// The size.
        asked: usize,
    },
    /// Nothing matches.
    #[error("no line of {place} matches `{pattern}`")]
    NoMatch {
        /// Where was looked.
        place: String,
        /// For what.
        pattern: String,
    },
}

impl Numbers {
    /// One number.
    pub fn only(number: usize) -> Numbers {
        Numbers { first: number, last: Some(number) }
    }

    /// Whether it is one number.
    pub fn is_one(self) -> bool {
        self.last == Some(self.first)
    }

    /// Whether any of the numbers from `first` to `last` is among them.
    pub(super) fn meets(self, first: usize, last: usize) -> bool {
        first <= self.last.unwrap_or(usize::MAX) && last >= self.first
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => write!(f, "{last}"),
            Some(last) => write!(f, "{}:{last}", self.first),
            None => write!(f, "{}:", self.first),
        }
    }
}

impl FromStr for Numbers {
    type Err = NumbersError;

    fn from_str(text: &str) -> Result<Numbers, NumbersError> {
        let syntax = || NumbersError::Syntax(text.chars().take(60).collect());
        let number = |digits: &str| match digits.parse() {
            Ok(0) => Err(NumbersError::Zero(text.to_owned())),
            Ok(number) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(number),
            _ => Err(syntax()),
        };
        let (first, last) = match text.split_once(':') {
            None => (number(text)?, Some(number(text)?)),
            Some(("", "")) => return Err(syntax()),
            Some(("", last)) => (1, Some(number(last)?)),
            Some((first, "")) => (number(first)?, None),
            Some((first, last)) => (number(first)?, Some(number(last)?)),
        };
        match last {
            Some(last) if last < first => Err(NumbersError::Backwards { text: text.to_owned(), first, last }),
            _ => Ok(Numbers { first, last }),
        }
    }
}

impl Choice<'_> {
    /// As pairs of a name and a value, without what goes without saying.
    pub(super) fn options(&self) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        let mut add = |name, value: Option<String>| options.extend(value.map(|value| (name, value)));
        add(Way::TURN, self.turns.map(|turns| turns.to_string()));
        add(Way::LINES, self.lines.map(|lines| lines.to_string()));
        add(Way::GREP, self.grep.map(|grep| grep.pattern.to_owned()));
        add(Way::CONTEXT, (self.context > 0 && self.grep.is_some()).then(|| self.context.to_string()));
        add(Way::PAGE_SIZE, (self.page_size != PAGE_SIZE).then(|| self.page_size.to_string()));
        add(Way::PAGE, (self.page > 1).then(|| self.page.to_string()));
        options
    }

    /// Whether it is one line, which is then shown whole.
    pub(super) fn is_one_line(&self) -> bool {
        self.grep.is_none() && self.lines.is_some_and(Numbers::is_one)
    }
}
