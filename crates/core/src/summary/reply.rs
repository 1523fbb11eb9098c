//! Reading a reply: models think aloud, fence their answer, greet, rename headings, repeat themselves.

use super::gist::Gist;
use super::prompt::{ASKED, Brief};
use super::source::tokens;
use super::tidy::Tidy;
use crate::handoff::in_turn;
use crate::inserted::Section;
use foldline_redact::{Mode, redact};

/// What a model said, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The lines with their sections, in the order of the sections.
    pub(crate) lines: Vec<(Section, String)>,
}

/// Letters and dot of the longest abbreviation that a sentence is not taken to end with.
const SHORTEST_ENDING: usize = 3;

/// Tags around what a model says to itself.
const THOUGHTS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"),
];

impl Words {
    /// The usable lines of a reply, secrets masked.
    pub(super) fn read(reply: &str, brief: &Brief, material: &str) -> Words {
        let spoken = without_thoughts(reply);
        let masked = redact(&spoken, Mode::Text);
        let lines: Vec<&str> = masked.lines().filter(|line| !is_fence(line)).collect();
        let headings: Vec<(usize, &str)> =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, heading(line)?))).collect();
        let known = headings.iter().filter(|(_, title)| section_of(title).is_some()).count();
        // In another language the headings keep at least their order.
        let by_order = known * 2 < headings.len() && headings.len() == ASKED.len();
        let tidy = Tidy::of(brief, material);
        let mut words = Words::default();
        // What stands before the first heading is a greeting, unless there is no heading at all.
        let mut section = headings.is_empty().then_some(Section::CriticalContext);
        let mut met = 0;
        for line in &lines {
            if let Some(title) = heading(line) {
                let in_order = ASKED.get(met).map(|(section, _)| *section).filter(|_| by_order);
                section = Some(in_order.or_else(|| section_of(title)).unwrap_or(Section::CriticalContext));
                met += 1;
                continue;
            }
            if let Some(section) = section {
                let items = statements(line).into_iter().filter_map(|said| tidy.item(section, said));
                words.lines.extend(items.map(|item| (section, item)));
            }
        }
        words.lines.sort_by_key(|(section, _)| *section);
        words.once()
    }

    /// Everything said once, where it is said first. What the user insists on is said again where a goal mentions it:
    /// nobody looks for it there.
    fn once(mut self) -> Words {
        let mut told: Vec<(Section, Gist)> = Vec::new();
        self.lines.retain(|(section, line)| {
            let gist = Gist::of(line);
            let counts = |of: Section| (of, *section) != (Section::Goal, Section::Constraints);
            let is_news = !told.iter().any(|(of, other)| counts(*of) && (gist == *other || gist.is_told_by(other)));
            if is_news {
                told.push((*section, gist));
            }
            is_news
        });
        self
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The words as a text with headings.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (section, title) in Section::ALL {
            let mut lines = self.lines.iter().filter(|(of, _)| *of == section).peekable();
            if lines.peek().is_some() {
                out.push_str(&format!("## {title}\n"));
                lines.for_each(|(_, line)| {
                    out.push_str(line);
                    out.push('\n');
                });
                out.push('\n');
            }
        }
        out
    }

    /// The words within `budget` tokens.
    pub(super) fn within(mut self, budget: u32) -> Words {
        if tokens(&self.text()) <= budget {
            return self;
        }
        let sections: Vec<Section> = self.lines.iter().map(|(section, _)| *section).collect();
        let mut left = budget;
        let mut kept: Vec<usize> = Vec::new();
        for at in in_turn(&sections) {
            let cost = self.lines.get(at).map_or(u32::MAX, |(_, line)| tokens(line) + 1);
            if cost <= left {
                left -= cost;
                kept.push(at);
            }
        }
        kept.sort_unstable();
        self.lines = kept.into_iter().filter_map(|at| self.lines.get(at).cloned()).collect();
        self
    }
}

/// A reply without what the model said to itself.
fn without_thoughts(reply: &str) -> String {
    let mut text = reply.to_owned();
    for (open, close) in THOUGHTS {
        while let Some(start) = find_ignoring_case(&text, open) {
            let end =
                find_ignoring_case(text.get(start..).unwrap_or_default(), close).map(|at| start + at + close.len());
            // A thought that never ends leaves nothing behind it.
            text.replace_range(start..end.unwrap_or(text.len()), "");
        }
        // Some servers swallow the opening tag.
        if let Some(end) = find_ignoring_case(&text, close) {
            text.replace_range(..end + close.len(), "");
        }
    }
    text
}

fn find_ignoring_case(text: &str, tag: &str) -> Option<usize> {
    text.as_bytes().windows(tag.len()).position(|window| window.eq_ignore_ascii_case(tag.as_bytes()))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.strip_prefix("```")
        .or_else(|| line.strip_prefix("~~~"))
        .is_some_and(|label| label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '.')))
}

/// The title of a line that is a heading: `## Goal`, `**Goal**`, `Goal:`, `1. Goal`.
fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(title) = line.strip_prefix('#') {
        return Some(bare(title.trim_start_matches('#')));
    }
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**") && line.len() < 60;
    let title = bare(line);
    ((is_bold || line.ends_with(':') || line.len() == title.len()) && section_of(title).is_some()).then_some(title)
}

fn bare(title: &str) -> &str {
    title
        .trim()
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '))
        .trim_matches(|c| matches!(c, '*' | ':' | '_' | ' ' | '#'))
}

fn section_of(title: &str) -> Option<Section> {
    let plain = title.replace(" and ", " & ");
    Section::titled(&plain).or_else(|| {
        let lower = plain.to_lowercase();
        let close = |word: &str| lower.contains(word);
        match () {
            () if lower.len() > 48 => None,
            () if close("constraint") || close("preference") => Some(Section::Constraints),
            () if close("decision") => Some(Section::KeyDecisions),
            () if close("remaining") || close("next step") || close("todo") => Some(Section::RemainingWork),
            () if close("in progress") || close("in-progress") => Some(Section::InProgress),
            () if close("blocked") || close("blocker") => Some(Section::Blocked),
            () if close("current state") || close("active state") => Some(Section::ActiveState),
            () if close("resolved") => Some(Section::ResolvedQuestions),
            () if close("critical") => Some(Section::CriticalContext),
            () if close("goal") || close("objective") => Some(Section::Goal),
            () => None,
        }
    })
}

/// What a line says, statement by statement: items of a list are whole, running text is taken apart at its sentences, so
/// that a bad one does not take good ones along.
fn statements(line: &str) -> Vec<&str> {
    let text = line.trim();
    if text.starts_with(['-', '*', '•', '+', '|', '>', '(']) || text.starts_with(|c: char| c.is_ascii_digit()) {
        return vec![text];
    }
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(". ") {
        let sentence = text.get(start..=at).unwrap_or_default();
        let goes_on = text.get(at + 2..).is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c == '`'));
        // A dot after few letters ends an abbreviation.
        let last_word = sentence.rsplit(char::is_whitespace).next().unwrap_or_default();
        if goes_on && last_word.len() > SHORTEST_ENDING {
            found.push(sentence);
            start = at + 2;
        }
    }
    found.push(text.get(start..).unwrap_or_default());
    found
}

#[cfg(test)]
mod tests {
    use super::{Section, Words, statements};

    #[test]
    fn what_the_user_insists_on_is_said_under_its_own_heading() {
        let line = |section, text: &str| (section, text.to_owned());
        let words = Words {
            lines: vec![
                line(Section::Goal, "- Mend the feed on Node 20 without new packages."),
                line(Section::Constraints, "- No new packages."),
                line(Section::KeyDecisions, "- No new packages."),
            ],
        };
        let sections: Vec<Section> = words.once().lines.iter().map(|(section, _)| *section).collect();
        assert_eq!(sections, [Section::Goal, Section::Constraints]);
    }

    #[test]
    fn running_text_is_taken_apart_at_its_sentences_and_items_are_not() {
        assert_eq!(statements("One thing works. The other fails."), ["One thing works.", "The other fails."]);
        assert_eq!(statements("- One thing works. The other fails."), ["- One thing works. The other fails."]);
        assert_eq!(statements("Ask Dr. Who about version 3. it waits."), ["Ask Dr. Who about version 3. it waits."]);
        assert_eq!(statements(""), [""]);
    }
}
