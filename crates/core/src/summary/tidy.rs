//! What a line of a reply must be to stand in a handoff. Weak models fill a form with anything: labels without content,
//! lists of names, "nothing known", the question put back as an answer. Such lines have one thing in common: their words
//! come from the prompt and not from the material. Better a short section than lines like these.

use super::prompt::{ASKED, Brief};
use crate::inserted::{CLOSING, OPENING, Section};
use crate::ledger::names::{self, NameKind};
use rustc_hash::FxHashSet;
use unicode_segmentation::UnicodeSegmentation;

/// Longer lines are no facts but pasted material or a loop without line ends.
const LONGEST_LINE: usize = 1_200;
/// A line without a word of the material needs so many words of its own …
const FEWEST_WORDS: usize = 2;
/// … of which at most this share may be the prompt's, in percent.
const ECHO: usize = 60;
/// Words of fewer letters are in every sentence, except in scripts without spaces.
const SHORTEST_WORD: usize = 4;
/// Letters by which forms of one word are taken for the same.
const STEM: usize = 5;
/// Words beside file names that a line needs to say something about them.
const FEWEST_BESIDE_FILES: usize = 3;

/// Judges the lines of replies to one prompt.
pub(super) struct Tidy {
    fence: String,
    /// The lines of the prompt.
    lines: FxHashSet<String>,
    /// The stems of its words.
    asked: FxHashSet<String>,
    /// Those of the material.
    told: FxHashSet<String>,
}

impl Tidy {
    pub(super) fn of(brief: &Brief, material: &str) -> Tidy {
        let own = brief.instruction();
        // What the user cares about stands in the prompt, too, and is what a record is about.
        let asked: FxHashSet<String> = stems(&Brief::default().instruction()).collect();
        let lines = own.lines().chain(ASKED.iter().map(|(_, question)| *question)).map(bare).collect();
        Tidy { fence: brief.fence.clone(), lines, asked, told: stems(material).collect() }
    }

    /// What a line says in a section, as an item of a list; `None` when it says nothing that helps.
    pub(super) fn item(&self, section: Section, line: &str) -> Option<String> {
        let text = without_bullet(line, section);
        // Our own marks inside a reply would end the handoff early.
        let is_frame = text.contains(OPENING) || text.contains(CLOSING);
        let is_prompt = !self.fence.is_empty() && text.contains(&self.fence) || self.lines.contains(&bare(text));
        if is_frame || is_prompt || is_label(text) {
            return None;
        }
        let text = without_emphasis(text);
        let text = text.trim();
        if is_file_list(text) || !self.is_about_the_work(text) {
            return None;
        }
        // Open questions belong to what is left; elsewhere a model asks itself.
        let is_open = matches!(section, Section::RemainingWork | Section::Blocked);
        if text.ends_with(['?', '？', '؟']) && !is_open {
            return None;
        }
        // What is left is told as open items, so that nobody takes it for an order.
        let mark = if section == Section::RemainingWork { "[ ] " } else { "" };
        let cut = text.get(..text.floor_char_boundary(LONGEST_LINE)).unwrap_or_default();
        Some(format!("- {mark}{cut}{}", if cut.len() < text.len() { " …" } else { "" }))
    }

    /// Whether a line says more than what it was asked.
    fn is_about_the_work(&self, text: &str) -> bool {
        let stems: FxHashSet<String> = stems(text).collect();
        let echoed = stems.iter().filter(|stem| self.asked.contains(*stem)).count();
        let is_told = stems.iter().any(|stem| self.told.contains(stem) && !self.asked.contains(stem));
        is_told || is_specific(text) || (stems.len() >= FEWEST_WORDS && echoed * 100 < stems.len() * ECHO)
    }
}

/// A line without what lists and models put around it.
fn bare(line: &str) -> String {
    line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// A line without the mark of its list: `-`, `*`, `3.`, `[ ]`. Actions keep the number of their request.
fn without_bullet(line: &str, section: Section) -> &str {
    let text = line.trim();
    let text = match text.strip_prefix("**") {
        Some(_) => text,
        None => text.strip_prefix(['-', '*', '•', '+']).map_or(text, str::trim_start),
    };
    if section == Section::CompletedActions {
        return text;
    }
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = match number.strip_prefix(". ").or_else(|| number.strip_prefix(") ")) {
        Some(rest) if number.len() < text.len() => rest.trim_start(),
        _ => text,
    };
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}

/// A heading with nothing behind it: `**Blockers**`, `Decisions:`.
fn is_label(text: &str) -> bool {
    text.ends_with([':', '：'])
        || text.trim_end_matches(':').ends_with("**") && text.starts_with("**") && text.matches("**").count() == 2
}

/// A line without bold print, which looks like a heading inside an item. Code keeps its asterisks.
fn without_emphasis(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    let marks: usize = pieces.iter().step_by(2).map(|piece| piece.matches("**").count()).sum();
    if marks == 0 || marks % 2 == 1 {
        return text.to_owned();
    }
    let plain = |(at, piece): (usize, &&str)| if at % 2 == 0 { piece.replace("**", "") } else { (*piece).to_owned() };
    pieces.iter().enumerate().map(plain).collect::<Vec<_>>().join("`")
}

/// Whether a line is names of files and hardly a word about them: the files are recorded already.
fn is_file_list(text: &str) -> bool {
    let is_file = |word: &str| {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric());
        let last = name.rsplit('/').next().unwrap_or(name);
        last.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty()
                && (1..=5).contains(&extension.len())
                && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && extension.bytes().any(|byte| byte.is_ascii_alphabetic())
        }) && !word.contains("://")
    };
    let (files, words): (Vec<&str>, Vec<&str>) =
        text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).partition(|word| is_file(word));
    !files.is_empty() && words.len() < FEWEST_BESIDE_FILES
}

/// Whether a line has something that only this work has: a number, a name, code, a quote.
fn is_specific(text: &str) -> bool {
    let mut named = text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'`' | b'"'));
    names::scan(text, |_, kind| named |= kind != NameKind::Word);
    named
}

/// The beginnings of a text's longer words; in scripts without spaces its single characters.
fn stems(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words()
        .filter(|word| word.chars().count() >= SHORTEST_WORD || !word.is_ascii() && word.chars().count() <= 2)
        .map(|word| word.chars().take(STEM).flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATERIAL: &str = "Ann fixed shop/backfill.py: it deletes a whole day. The branch is backfill. Working directory \
        /srv/shop. The import loses cents. test_weeks fails, weeks are wrong. Runbook for Tuesday. No index may be added. \
        Die Prüfung der Wochen läuft. 测试全部通过";

    fn item(section: Section, line: &str) -> Option<String> {
        Tidy::of(&Brief { fence: "fl-0123".to_owned(), ..Brief::default() }, MATERIAL).item(section, line)
    }

    #[test]
    fn lines_that_say_nothing_are_dropped() {
        for line in [
            "None.",
            "无",
            "Keine.",
            "- Known issues: None.",
            "- No constraints or preferences specified.",
            "- **What was decided?**",
            "(What did the user ask for that is not done yet?)",
            "- Decisions made:",
            "- The user insisted on exact names and values.",
            "- Which error is still unsolved, in its own words?",
            "- **Files read**: `data/a.csv`, `data/b.csv`, ..., `data/c.csv`",
            "- **Test suite**: `shop/reports/render.py`",
            "MATERIAL fl-0123",
        ] {
            assert_eq!(item(Section::ActiveState, line), None, "{line}");
        }
    }

    #[test]
    fn facts_stay_as_they_are_written() {
        for line in [
            "- All 876 tests pass on branch `backfill`.",
            "- No index may be added, because imp-1 is slow.",
            "- `shop/backfill.py` deletes a whole day before each line.",
            "- Working directory: /srv/shop",
            "- The import of the weeks fails.",
            "- Run 14 failed with `**kwargs` missing.",
            "- Die Prüfung der Wochen läuft noch.",
            "- 测试全部通过",
        ] {
            assert_eq!(item(Section::ActiveState, line).as_deref(), Some(line));
        }
    }

    #[test]
    fn headings_inside_items_lose_their_look_and_what_is_left_is_an_open_item() {
        assert_eq!(item(Section::ActiveState, "1. **Branch**: `main`").as_deref(), Some("- Branch: `main`"));
        for line in ["- [ ] Write the runbook for Tuesday.", "Write the runbook for Tuesday."] {
            assert_eq!(
                item(Section::RemainingWork, line).as_deref(),
                Some("- [ ] Write the runbook for Tuesday."),
                "{line}"
            );
        }
        assert_eq!(item(Section::Goal, "* Fix the import of weeks.").as_deref(), Some("- Fix the import of weeks."));
        assert_eq!(
            item(Section::CompletedActions, "- 3: the import is fixed by Ann.").as_deref(),
            Some("- 3: the import is fixed by Ann.")
        );
    }
}
