//! Lines worth quoting: whole lines of outputs, edits and replies, each once, in its newest place.

use super::{Entry, Gathering, Voice};
use crate::handoff::Section;
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
        for line in text.lines() {
            let line = line.trim();
            if line.len() < SHORTEST_LINE {
                continue;
            }
            let line = cut(line);
            let names = self.note_names(index, line, voice);
            if names.is_empty() {
                continue;
            }
            let section = match (group, voice) {
                (Some(group), _) => {
                    self.ledger.groups.get(group as usize).map_or(Section::CriticalContext, |group| group.section)
                }
                (None, _) => Section::CriticalContext,
            };
            let quote = Entry {
                section,
                group,
                message: index as u32,
                text: plain_number(line),
                names,
                worth: 0.0,
                by: super::Author::Ledger,
            };
            let key = fingerprint(line);
            let place = self.lines.quotes.len();
            // The newest copy stays: it stands in the state that the agent saw last.
            if let Some(older) = self.lines.seen.insert(key, place)
                && let Some(slot) = self.lines.quotes.get_mut(older)
            {
                *slot = None;
            }
            self.lines.quotes.push(Some(quote));
        }
    }

    /// Moves the surviving lines into the ledger.
    pub(super) fn close_lines(&mut self) {
        let quotes = std::mem::take(&mut self.lines.quotes);
        self.ledger.entries.extend(quotes.into_iter().flatten());
    }
}

/// The line, cut at a character boundary if it is long.
fn cut(line: &str) -> &str {
    if line.len() <= LONGEST_LINE {
        return line;
    }
    line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line)
}

/// `12→code` of a numbered file read, in plain characters.
fn plain_number(line: &str) -> String {
    match line.split_once('→') {
        Some((number, code)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{number}: {}", code.trim_start())
        }
        _ => line.to_owned(),
    }
}

/// The same line at another line number is the same line.
fn fingerprint(line: &str) -> u64 {
    let text = line.split_once('→').map_or(line, |(_, code)| code).trim();
    rustc_hash::FxBuildHasher.hash_one(text)
}
