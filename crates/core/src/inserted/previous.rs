//! An earlier handoff, read back: its lines are facts to be merged, not text to be folded again.

use super::foreign::recall_foreign;
use super::mark::{self, Maker, Record};
use super::section::Section;
use super::source::{Source, source_of};

/// Something that an earlier handoff said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandoffLine {
    /// An episode begins with these words of the user.
    Episode {
        /// The section it stood in.
        section: Section,
        /// Its number.
        number: u32,
        /// Its first and last message in the originals of the fold that took it.
        turns: Option<(u32, u32)>,
        /// What the user said, up to the first gap.
        words: String,
    },
    /// A step of an episode.
    Step {
        /// Its heading.
        title: String,
        /// Where what it says comes from.
        source: Source,
        /// The first passage on the heading's line.
        text: String,
    },
    /// A further passage of the step, request or file before it.
    Passage {
        /// Where it comes from.
        source: Source,
        /// What it says.
        text: String,
    },
    /// A file, under its heading.
    File {
        /// The heading.
        title: String,
    },
    /// A line of any other section.
    Fact {
        /// The section.
        section: Section,
        /// What it says.
        text: String,
    },
}

/// Indent of the parts of an episode and of what stands under them.
pub(crate) const STEP: &str = "   ";
pub(crate) const UNDER: &str = "     ";
/// Headings on whose line the words begin.
pub(crate) const SPEAKERS: [&str; 3] = ["Assistant:", "User:", IN_SHORT];
/// The heading of what a model says about an episode.
pub(crate) const IN_SHORT: &str = "In short:";
/// Where something was left out.
pub(crate) const GAP: &str = "[…]";

/// What stands for the words of a request that are not told.
pub(crate) const WORDLESS: &str = "…";

/// Reads a handoff back, whoever made it.
pub fn recall(record: &Record<'_>) -> Vec<HandoffLine> {
    match record.maker {
        Maker::Foldline => {
            let framing = record.text.split_once("\n## ").map_or("", |(framing, _)| framing);
            remember(&record.body, framing.contains(mark::USERS_WORDS))
        }
        Maker::Other => recall_foreign(&record.body),
    }
}

/// Reads the body of a handoff of ours back. What stands under no known heading becomes critical context.
fn remember(body: &str, is_users_words: bool) -> Vec<HandoffLine> {
    let mut reader = HandoffReader {
        section: Section::CriticalContext,
        lines: Vec::new(),
        source: Source::User,
        is_open: false,
        unnumbered: is_users_words.then_some(0),
    };
    for line in body.lines() {
        reader.read(line.trim_end());
    }
    reader.lines
}

struct HandoffReader {
    section: Section,
    lines: Vec<HandoffLine>,
    /// Where passages of the current step come from.
    source: Source,
    /// Whether a line that is indented further goes on with the last passage.
    is_open: bool,
    /// The number of the latest episode where they are told without numbers, as the messages of a chat are.
    unnumbered: Option<u32>,
}

impl HandoffReader {
    fn read(&mut self, line: &str) {
        // A gap ends the passage that it stands behind.
        let (line, has_gap) = match line.strip_suffix(GAP) {
            Some(before) => (before.trim_end(), true),
            None => (line, false),
        };
        self.read_line(line);
        self.is_open &= !has_gap;
    }

    fn read_line(&mut self, line: &str) {
        if let Some(title) = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")) {
            self.section = Section::titled(title).unwrap_or(Section::CriticalContext);
            self.is_open = false;
            return;
        }
        let is_empty = ["", "None.", "None"].contains(&line)
            || [mark::NOTHING, mark::NOTHING_BEFORE].iter().any(|empty| line.starts_with(empty));
        if is_empty {
            return;
        }
        match self.section {
            Section::CompletedActions | Section::ResolvedQuestions => self.read_chronicle(line),
            Section::RelevantFiles => self.read_file(line),
            _ => self.read_fact(line),
        }
    }

    fn read_chronicle(&mut self, line: &str) {
        if let (Some(number), Some(words)) = (self.unnumbered.as_mut(), line.strip_prefix("- ")) {
            *number += 1;
            let words = words.to_owned();
            self.lines.push(HandoffLine::Episode { section: self.section, number: *number, turns: None, words });
            self.source = Source::User;
            self.is_open = true;
            return;
        }
        if let Some((number, turns, words)) = episode_line(line) {
            self.source = Source::User;
            self.lines.push(HandoffLine::Episode { section: self.section, number, turns, words: words.to_owned() });
            self.is_open = true;
            return;
        }
        if let Some(inner) = line.strip_prefix(UNDER) {
            return self.passage(inner);
        }
        let Some(inner) = line.strip_prefix(STEP) else {
            // A line of another form: an action of an older release, or foreign words.
            return self.read_fact(line);
        };
        match inner.strip_prefix("- ") {
            Some(step) => {
                self.source = source_of(step);
                let said = SPEAKERS.iter().find_map(|who| Some((*who, step.strip_prefix(who)?.strip_prefix(' ')?)));
                let (title, text) = said.unwrap_or((step, ""));
                self.lines.push(HandoffLine::Step {
                    title: title.to_owned(),
                    source: self.source,
                    text: text.to_owned(),
                });
                self.is_open = !text.is_empty();
            }
            None => self.passage(inner),
        }
    }

    /// A line under a step: it goes on with the passage before it, until a gap.
    fn passage(&mut self, line: &str) {
        let open = self.lines.last_mut().filter(|_| self.is_open);
        match open {
            Some(
                HandoffLine::Episode { words: text, .. }
                | HandoffLine::Step { text, .. }
                | HandoffLine::Passage { text, .. },
            ) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(line);
            }
            _ => {
                self.lines.push(HandoffLine::Passage { source: self.source, text: line.to_owned() });
                self.is_open = true;
            }
        }
    }

    fn read_file(&mut self, line: &str) {
        match (line.strip_prefix("  "), line.strip_prefix("- ")) {
            (Some(inner), _)
                if self
                    .lines
                    .last()
                    .is_some_and(|last| matches!(last, HandoffLine::File { .. } | HandoffLine::Passage { .. })) =>
            {
                self.lines.push(HandoffLine::Passage { source: Source::Read, text: inner.to_owned() });
            }
            (_, Some(title)) => self.lines.push(HandoffLine::File { title: title.to_owned() }),
            _ => self.lines.push(HandoffLine::Fact { section: self.section, text: line.to_owned() }),
        }
    }

    fn read_fact(&mut self, line: &str) {
        let begins =
            line.starts_with("- ") || line.starts_with("User: ") || line.starts_with(|c: char| c.is_ascii_digit());
        if let (false, Some(HandoffLine::Fact { section, text })) = (begins, self.lines.last_mut())
            && *section == self.section
        {
            text.push('\n');
            text.push_str(line);
            return;
        }
        self.lines.push(HandoffLine::Fact { section: self.section, text: line.to_owned() });
    }
}

/// Number, messages and words of a line that begins an episode.
type Beginning<'l> = (u32, Option<(u32, u32)>, &'l str);

/// Reads a line that begins an episode: `3. User [5:8]: words`.
fn episode_line(line: &str) -> Option<Beginning<'_>> {
    let (number, rest) = line.split_once(". ")?;
    let number = number.parse().ok()?;
    let rest = rest.strip_prefix("User")?;
    let (turns, rest) = match rest.strip_prefix(" [").and_then(|rest| rest.split_once(']')) {
        Some((turns, rest)) => (Some(turn_range(turns)?), rest),
        None => (None, rest),
    };
    let (_, words) = rest.split_once(':')?;
    let words = words.trim_start();
    Some((number, turns, if words == WORDLESS { "" } else { words }))
}

/// `5:8`, or `5` alone.
fn turn_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{HandoffLine, episode_line, remember};
    use crate::inserted::{Section, Source};

    #[test]
    fn the_words_of_a_chat_are_read_back_message_by_message() {
        let body = "## Completed Actions\n- No nuts. […] Imke is allergic.\n   - Assistant: Noted.\n- See you.";
        let section = Section::CompletedActions;
        let said = |number, words: &str| HandoffLine::Episode { section, number, turns: None, words: words.to_owned() };
        let noted = HandoffLine::Step { title: "Assistant:".into(), source: Source::Answer, text: "Noted.".into() };
        assert_eq!(remember(body, true), [said(1, "No nuts. […] Imke is allergic."), noted, said(2, "See you.")]);
        assert!(matches!(remember(body, false).first(), Some(HandoffLine::Fact { .. })), "older ones are facts");
    }

    #[test]
    fn a_line_that_begins_an_episode_is_read_back() {
        assert_eq!(episode_line("3. User [5:8]: at 9: call"), Some((3, Some((5, 8)), "at 9: call")));
        assert_eq!(episode_line("3. User [5] (interrupted): stop"), Some((3, Some((5, 5)), "stop")));
        assert_eq!(episode_line("12. User: go on"), Some((12, None, "go on")));
        assert_eq!(episode_line("12. User [3:4]: …"), Some((12, Some((3, 4)), "")));
        assert_eq!(episode_line("1. EDIT a.rs — done"), None);
    }
}
