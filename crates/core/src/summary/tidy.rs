//! What a line of a reply must be to stand in a handoff. Weak models fill a form with anything: labels without content,
//! lists of names, "nothing known", the question put back as an answer, advice. Better a short section than such lines.

use super::prompt::{ASKED, Brief};
use crate::handoff::{CLOSING, OPENING, Section};
use crate::ledger::names::{self, NameKind};
use rustc_hash::FxHashSet;

/// Longer lines are no facts but pasted material or a loop without line ends.
const LONGEST_LINE: usize = 1_200;

/// How models say that they have nothing to say.
const NOTHING: [&str; 11] =
    ["none", "n/a", "nothing", "not applicable", "no answer", "keine", "aucun", "ninguno", "нет", "无", "なし"];
/// A short line that begins with one of these …
const DENIALS: [&str; 12] = [
    "no ",
    "none ",
    "nothing ",
    "there is no ",
    "there are no ",
    "there was no ",
    "not ",
    "the user has not ",
    "the user did not ",
    "they did not ",
    "the assistant did not ",
    "n/a ",
];
/// … and has one of these tells that there is nothing to tell.
const UNTOLD: [&str; 17] = [
    "any specific",
    "any particular",
    "any other",
    "blocked",
    "specified",
    "mentioned",
    "provided",
    "stated",
    "listed",
    "reported",
    "identified",
    "known",
    "given",
    "available",
    "unsolved",
    "applicable",
    "was set",
];
/// Words of such a line at most.
const LONGEST_DENIAL: usize = 14;
/// Looking at something is recorded with its file; a line that tells no more than that has one of these words …
const LOOKING: [&str; 10] =
    ["read", "reading", "look", "looking", "view", "viewing", "open", "opening", "examine", "examining"];
/// … among its first few.
const VERB_WITHIN: usize = 6;
/// Talk about the task of writing instead of the work, and about no work in particular.
const ABOUT_WRITING: [&str; 19] = [
    "the material",
    "this record",
    "record so far",
    "the record does",
    "the record is",
    "this summary",
    "this handoff",
    "the transcript",
    "provided conversation",
    "conversation above",
    "not mentioned in",
    "as an ai",
    "language model",
    "let me know",
    // Words that fit any work.
    "some progress",
    "made progress",
    "good progress",
    "feel free",
    "i hope",
];
/// How a greeting or a closing phrase begins.
const COURTESIES: [&str; 8] =
    ["here is ", "here's ", "here are ", "sure,", "sure!", "certainly", "in summary", "thank you"];
/// Verbs with which small models give advice. Many are nouns as well: only before an object they are commands.
const COMMANDS: [&str; 47] = [
    "add",
    "address",
    "analyse",
    "analyze",
    "apply",
    "ask",
    "change",
    "check",
    "commit",
    "compare",
    "complete",
    "confirm",
    "consider",
    "continue",
    "create",
    "deploy",
    "document",
    "ensure",
    "finish",
    "fix",
    "follow",
    "identify",
    "implement",
    "improve",
    "install",
    "investigate",
    "make",
    "merge",
    "monitor",
    "perform",
    "proceed",
    "provide",
    "push",
    "read",
    "refactor",
    "remove",
    "rename",
    "repair",
    "replace",
    "resolve",
    "review",
    "run",
    "test",
    "update",
    "use",
    "verify",
    "write",
];
const OBJECTS: [&str; 19] = [
    "a", "all", "an", "and", "any", "each", "every", "for", "how", "if", "it", "that", "the", "these", "this", "to",
    "whether", "why", "with",
];
/// What a command becomes where it tells what is left to do.
const OPEN: &str = "Not done: ";
/// Of words that are shorter, every sentence has many.
const SHORTEST_WORD: usize = 5;
/// Letters by which forms of one word are taken for the same.
const STEM: usize = 5;
/// A line without a name that takes this share of its words from the question is the question, in percent.
const ECHO: usize = 60;
/// Words beside file names that a line needs to say something about them.
const FEWEST_BESIDE_FILES: usize = 3;

/// Judges the lines of replies to one brief.
pub(super) struct Tidy {
    fence: String,
    /// The lines of the prompt.
    lines: FxHashSet<String>,
    /// The stems of its words.
    stems: FxHashSet<String>,
}

impl Tidy {
    pub(super) fn of(brief: &Brief) -> Tidy {
        let own = brief.instruction(true);
        // What the user cares about stands in the prompt, too, and is what a record is about.
        let asked = Brief::default().instruction(true);
        let lines = own.lines().chain(ASKED.iter().map(|(_, question)| *question)).map(bare).collect();
        Tidy { fence: brief.fence.clone(), lines, stems: stems(&asked).collect() }
    }

    /// What a line says in a section, as an item of a list; `None` when it says nothing that helps.
    pub(super) fn item(&self, section: Section, line: &str) -> Option<String> {
        let text = without_bullet(line);
        // Our own marks inside a reply would end the handoff early.
        let is_frame = text.contains(OPENING) || text.contains(CLOSING);
        let is_prompt = !self.fence.is_empty() && text.contains(&self.fence) || self.lines.contains(&bare(text));
        if is_frame || is_prompt || is_label(text) {
            return None;
        }
        let text = without_emphasis(text);
        let text = text.trim();
        if says_nothing(text) || is_file_list(text) || is_only_looking(text) {
            return None;
        }
        // Work on transcripts and models exists; a line that names something of it is no talk.
        if !is_specific(text) && (is_about_writing(text) || self.is_echo(text)) {
            return None;
        }
        // Open questions belong to what is left; elsewhere a model asks itself.
        let is_open = matches!(section, Section::RemainingWork | Section::Blocked);
        if text.ends_with('?') && !is_open {
            return None;
        }
        let text = match (is_command(text), section) {
            (false, _) | (true, Section::Goal | Section::Constraints | Section::KeyDecisions) => text.to_owned(),
            (true, section) if section == Section::RemainingWork || is_specific(text) => {
                format!("{OPEN}{}", lower_first(text))
            }
            (true, _) => return None,
        };
        let cut = text.get(..text.floor_char_boundary(LONGEST_LINE)).unwrap_or_default();
        Some(format!("- {cut}{}", if cut.len() < text.len() { " …" } else { "" }))
    }

    /// Whether a line only gives back the words that it was asked with.
    fn is_echo(&self, text: &str) -> bool {
        let (mut all, mut own) = (0, 0);
        for stem in stems(text) {
            all += 1;
            own += usize::from(self.stems.contains(&stem));
        }
        all > 0 && own * 100 >= all * ECHO
    }
}

/// A line without what lists and models put around it.
fn bare(line: &str) -> String {
    line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// A line without the mark of its list: `-`, `*`, `3.`, `[ ]`.
fn without_bullet(line: &str) -> &str {
    let text = line.trim();
    let text = match text.strip_prefix("**") {
        Some(_) => text,
        None => text.strip_prefix(['-', '*', '•', '+']).map_or(text, str::trim_start),
    };
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = match number.strip_prefix(". ").or_else(|| number.strip_prefix(") ")) {
        Some(rest) if number.len() < text.len() => rest.trim_start(),
        _ => text,
    };
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}

/// A heading with nothing behind it: `**Blockers**`, `Decisions:`.
fn is_label(text: &str) -> bool {
    text.ends_with(':')
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

fn says_nothing(text: &str) -> bool {
    let is_nothing = |said: &str| NOTHING.iter().any(|word| said.eq_ignore_ascii_case(word));
    let said = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '*' | '(' | ')' | '_' | '`'));
    let behind = said.rsplit_once(':').map_or("", |(_, rest)| rest).trim_matches(|c: char| !c.is_alphanumeric());
    if said.chars().filter(|c| c.is_alphanumeric()).count() < 2 || is_nothing(said) || is_nothing(behind) {
        return true;
    }
    let lower = said.to_lowercase();
    DENIALS.iter().any(|denial| lower.starts_with(denial))
        && UNTOLD.iter().any(|word| lower.contains(word))
        && said.split_whitespace().count() <= LONGEST_DENIAL
        && !is_specific(text)
}

fn is_about_writing(text: &str) -> bool {
    let lower = text.to_lowercase();
    ABOUT_WRITING.iter().any(|phrase| lower.contains(phrase))
        || COURTESIES.iter().any(|opening| lower.starts_with(opening))
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
    let words = words.iter().filter(|word| !matches!(word.trim_end_matches(','), "and" | "or" | "the")).count();
    !files.is_empty() && words < FEWEST_BESIDE_FILES
}

/// Whether a line tells that the assistant looks at something, and not what it saw there.
fn is_only_looking(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some(deed) = lower.strip_prefix("the assistant ") else {
        return false;
    };
    let looks = |word: &str| LOOKING.contains(&word);
    let tells = text.bytes().any(|byte| byte.is_ascii_digit())
        || [" and ", " because ", ": "].iter().any(|joint| lower.contains(joint));
    !tells && deed.split_whitespace().take(VERB_WITHIN).any(looks)
}

/// Whether a line has something that only this work has: a number, a name, code, a quote.
fn is_specific(text: &str) -> bool {
    let mut named = text.bytes().any(|byte| byte.is_ascii_digit() || matches!(byte, b'`' | b'"'));
    names::scan(text, |_, kind| named |= kind != NameKind::Word);
    named || text.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase))
}

/// Whether a line tells its reader to do something.
fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_lowercase();
    let Some(next) = words.next() else {
        return false;
    };
    let is_object =
        OBJECTS.contains(&next.to_lowercase().as_str()) || next.starts_with(|c: char| c.is_uppercase() || c == '`');
    first == "please" || COMMANDS.contains(&first.as_str()) && is_object
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The beginnings of a text's longer words.
fn stems(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
        .map(|word| word.chars().take(STEM).flat_map(char::to_lowercase).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(section: Section, line: &str) -> Option<String> {
        Tidy::of(&Brief { fence: "fl-0123".to_owned(), ..Brief::default() }).item(section, line)
    }

    #[test]
    fn lines_that_say_nothing_are_dropped() {
        for line in [
            "- **Known issues**: None.",
            "- No constraints or preferences specified.",
            "- There are no errors reported.",
            "- **What was decided?**",
            "(What did the user ask for that is not done yet?)",
            "- Decisions made:",
            "- The user insisted on exact names and values.",
            "- Which error is still unsolved, in its own words?",
            "- The material does not tell what the branch is.",
            "- Here is the state of things.",
            "- **Files read**: `data/a.csv`, `data/b.csv`, ..., `data/c.csv`",
            "- **Test suite**: `shop/reports/render.py`",
            "- Review the results to ensure that they are correct.",
            "- Please check the branch.",
            "- The user did not forbid or insist on any specific tools or methods.",
            "- There are no blocked errors.",
            "- The assistant is reading the store.py file to understand the import.",
            "- The assistant has finished reading `logs/server.log`.",
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
            "- Test suite passes except for test_weeks.",
            "- The transcript of run 7 lacks its last line.",
            "- A language model writes the texts of `shop/mail.py`.",
            "- Run 14 failed with `**kwargs` missing.",
            "- The assistant read both modules and found that `parse_amount` loses cents.",
            "- The user did not want any other index on order_line.",
            "- Die Prüfung der Wochen läuft noch.",
            "- 测试全部通过",
        ] {
            assert_eq!(item(Section::ActiveState, line).as_deref(), Some(line));
        }
    }

    #[test]
    fn headings_inside_items_lose_their_look_and_commands_become_descriptions() {
        assert_eq!(item(Section::ActiveState, "1. **Branch**: `main`").as_deref(), Some("- Branch: `main`"));
        assert_eq!(
            item(Section::RemainingWork, "- [ ] Write the runbook for Tuesday.").as_deref(),
            Some("- Not done: write the runbook for Tuesday.")
        );
        assert_eq!(
            item(Section::InProgress, "- Check the sums of `week.db`.").as_deref(),
            Some("- Not done: check the sums of `week.db`.")
        );
        assert_eq!(item(Section::Goal, "* Fix the import.").as_deref(), Some("- Fix the import."));
        assert_eq!(
            item(Section::RemainingWork, "- Which day comes after Friday?").as_deref(),
            Some("- Which day comes after Friday?")
        );
    }
}
