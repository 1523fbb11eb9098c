//! What is asked of an original or of all of them, the same on the command line, over HTTP and by tools.

use crate::original::Original;
use crate::search::Query;
use foldline_core::reading::{self, Choice, ChoiceError, Findings, Grep, Numbers, PAGE_SIZE, Page, Way};
use regex::{Regex, RegexBuilder};

/// Bytes of a pattern's program: large enough for any that people write.
const PATTERN_BYTES: usize = 1 << 20;

/// What is to be seen of an original.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Only these turns.
    pub turns: Option<Numbers>,
    /// Only these lines.
    pub lines: Option<Numbers>,
    /// Only lines that match.
    pub pattern: Option<Regex>,
    /// Lines around each match.
    pub context: usize,
    /// Which page.
    pub page: usize,
    /// Characters of a page.
    pub page_size: usize,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted { turns: None, lines: None, pattern: None, context: 0, page: 1, page_size: PAGE_SIZE }
    }
}

impl Wanted {
    /// A regular expression whose program stays small.
    pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
        RegexBuilder::new(text).size_limit(PATTERN_BYTES).build()
    }

    /// The page of an original that is wanted.
    pub fn page(&self, original: &Original, handle: &str, way: &Way) -> Result<Page, ChoiceError> {
        let find = |line: &str| self.pattern.as_ref()?.find(line).map(|found| found.range());
        let choice = Choice {
            turns: self.turns,
            lines: self.lines,
            grep: self.pattern.as_ref().map(|pattern| Grep { pattern: pattern.as_str(), find: &find }),
            context: self.context,
            page: self.page,
            page_size: self.page_size,
        };
        reading::page(&reading::read(&original.text, &original.tool), &choice, way, handle)
    }
}

/// What a search found, as text that says how to ask for more.
pub fn tell(found: &Findings, query: &Query, session: Option<&str>, way: &Way) -> String {
    found.told(|limit| {
        let session = session.map(|session| ("session", session.to_owned()));
        way.search(query.typed(), session.into_iter().chain([("limit", limit.to_string())]).collect())
    })
}
