//! Lines worth quoting: whole lines of outputs, edits and replies, each once, in its newest place.

use super::{Author, Entry, Gathering, Stretch, Voice};
use crate::handoff::Section;
use crate::reduce::lines;
use rustc_hash::FxHashMap;
use std::hash::BuildHasher;

/// Longer lines are cut: what stands beyond is rarely read, and one line must not eat a budget.
const LONGEST_LINE: usize = 240;
/// A line whose letters are fewer says nothing.
const SHORTEST_LINE: usize = 4;

/// Where each line was seen last.
#[derive(Default)]
pub(super) struct Lines {
    seen: FxHashMap<u64, usize>,
    quotes: Vec<Option<Entry>>,
}

impl Gathering<'_, '_> {
    /// Offers the lines of a text for quoting under a group's heading.
    pub(super) fn quote(&mut self, index: usize, text: &str, voice: Voice, group: Option<u32>) {
        for line in lines(text) {
            let line = line.trim();
            if line.len() < SHORTEST_LINE {
                continue;
            }
            let line = cut(line);
            let place = self.lines.quotes.len();
            // The newest copy stays: it stands in the state that the agent saw last.
            let older = self.lines.seen.insert(fingerprint(line), place);
            let older = older.and_then(|older| self.lines.quotes.get_mut(older)).and_then(Option::take);
            let (text, names) = match older {
                Some(Entry { text, names, .. }) => {
                    self.note_again(index, names, voice);
                    (if numbered(line).is_some() { self.store_quote(line) } else { text }, names)
                }
                None => {
                    let names = self.note_names(index, line, voice);
                    (if names.range().is_empty() { Stretch::default() } else { self.store_quote(line) }, names)
                }
            };
            let section = group
                .and_then(|group| self.ledger.groups.get(group as usize))
                .map_or(Section::CriticalContext, |group| group.section);
            self.lines.quotes.push(Some(Entry {
                section,
                group,
                message: index as u32,
                worth: 0.0,
                by: Author::Ledger,
                text,
                names,
            }));
        }
    }

    /// Keeps a line; `12→code` of a numbered file read in plain characters.
    fn store_quote(&mut self, line: &str) -> Stretch {
        let Some((number, code)) = numbered(line) else {
            return self.ledger.store(line);
        };
        let number = self.ledger.store(number);
        self.ledger.store(": ");
        let code = self.ledger.store(code);
        Stretch { start: number.start, end: code.end }
    }

    /// Moves the surviving lines into the ledger.
    pub(super) fn close_lines(&mut self) {
        let quotes = std::mem::take(&mut self.lines.quotes);
        self.ledger.entries.extend(quotes.into_iter().flatten().filter(|quote| !quote.names.range().is_empty()));
    }
}

/// The line, cut at a character boundary if it is long.
fn cut(line: &str) -> &str {
    if line.len() <= LONGEST_LINE {
        return line;
    }
    line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line)
}

/// Number and code of a line of a numbered file read. Only the first bytes are looked at: most lines have no number.
fn numbered(line: &str) -> Option<(&str, &str)> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let code = line.get(digits..)?.strip_prefix('→').filter(|_| digits > 0)?;
    Some((line.get(..digits)?, code.trim_start()))
}

/// The same line at another line number is the same line.
fn fingerprint(line: &str) -> u64 {
    let text = numbered(line).map_or(line, |(_, code)| code);
    rustc_hash::FxBuildHasher.hash_one(text)
}
