//! What a tool call does, read off its name and arguments, whatever agent it comes from.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use foldline_transcript::edit::Span;
use foldline_transcript::wire::json::{self, JsonKind, Scanner};
use foldline_transcript::{Content, Part, Transcript};
use std::borrow::Cow;
use std::sync::LazyLock;

/// What kind of act a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// Reads a file.
    Read,
    /// Creates or overwrites a file.
    Write,
    /// Changes a file.
    Edit,
    /// Runs a command or code.
    Run,
    /// Searches texts or names.
    Search,
    /// Lists files.
    List,
    /// Fetches or searches the web.
    Fetch,
    /// Keeps a list of things to do.
    Todo,
    /// Hands work to another agent.
    Delegate,
    /// Anything else.
    Use,
}

impl Act {
    /// The word in a list of actions.
    pub fn verb(self) -> &'static str {
        match self {
            Act::Read => "READ",
            Act::Write => "WRITE",
            Act::Edit => "EDIT",
            Act::Run => "RUN",
            Act::Search => "SEARCH",
            Act::List => "LIST",
            Act::Fetch => "FETCH",
            Act::Todo => "TODO",
            Act::Delegate => "DELEGATE",
            Act::Use => "USE",
        }
    }
}

/// Words in tool names and what they say, most telling first: `read_file` reads, `file_search` searches.
const WORDS: [(&str, Act); 38] = [
    ("todo", Act::Todo),
    ("taskcreate", Act::Todo),
    ("taskupdate", Act::Todo),
    ("tasklist", Act::Todo),
    ("taskget", Act::Todo),
    ("update_plan", Act::Todo),
    ("apply_patch", Act::Edit),
    ("str_replace", Act::Edit),
    ("edit", Act::Edit),
    ("patch", Act::Edit),
    ("replace", Act::Edit),
    ("write", Act::Write),
    ("create_file", Act::Write),
    ("save_file", Act::Write),
    ("web", Act::Fetch),
    ("fetch", Act::Fetch),
    ("http", Act::Fetch),
    ("browser", Act::Fetch),
    ("navigate", Act::Fetch),
    ("grep", Act::Search),
    ("search", Act::Search),
    ("glob", Act::List),
    ("list", Act::List),
    ("tree", Act::List),
    ("find", Act::Search),
    ("read", Act::Read),
    ("view", Act::Read),
    ("cat", Act::Read),
    ("open_file", Act::Read),
    ("bash", Act::Run),
    ("shell", Act::Run),
    ("terminal", Act::Run),
    ("exec", Act::Run),
    ("command", Act::Run),
    ("python", Act::Run),
    ("run", Act::Run),
    ("delegate", Act::Delegate),
    ("task", Act::Delegate),
];

/// Names of arguments and what they carry, in the order in which they are asked.
const PATHS: [&str; 9] =
    ["file_path", "path", "filename", "file", "notebook_path", "target_file", "absolute_path", "filepath", "dir_path"];
const COMMANDS: [&str; 5] = ["command", "cmd", "code", "script", "commands"];
const PATTERNS: [&str; 5] = ["pattern", "query", "regex", "q", "search"];
const URLS: [&str; 2] = ["url", "urls"];
const OTHERS: [&str; 12] =
    ["title", "subject", "description", "goal", "prompt", "task", "name", "action", "question", "id", "key", "text"];
/// Longer arguments say something rather than what it is about.
const LONGEST_TOPIC: usize = 160;

/// A call, understood.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// What kind of act it is.
    pub act: Act,
    /// The tool's name.
    pub tool: &'a str,
    /// The argument that says what it is about; empty when there is none.
    pub target: Cow<'a, str>,
    /// The file it is about, if it is about one.
    pub path: Option<Cow<'a, str>>,
    /// The patch that it applies, if it applies one.
    pub patch: Option<Cow<'a, str>>,
}

/// Understands a tool call.
pub fn understand<'a>(transcript: &Transcript<'a>, part: &Part) -> Call<'a> {
    understand_with(transcript.raw(part.name), &Arguments::of(transcript, part))
}

/// Understands a call of `tool` with these arguments.
pub fn understand_with<'a>(tool: &'a str, arguments: &Arguments<'a>) -> Call<'a> {
    let act = act_of(tool, arguments);
    let patch = match act {
        Act::Edit => patch_of(arguments),
        Act::Run => patch_in_command(arguments),
        _ => None,
    };
    // Some agents apply patches by a program of their shell.
    let act = if patch.is_some() { Act::Edit } else { act };
    let path = arguments.first(&PATHS);
    let target = match act {
        Act::Run => arguments.first(&COMMANDS),
        Act::Search | Act::List => arguments.first(&PATTERNS).or_else(|| arguments.first(&PATHS)),
        Act::Fetch => arguments.first(&URLS).or_else(|| arguments.first(&PATTERNS)),
        Act::Read | Act::Write | Act::Edit => path.clone().or_else(|| patch.as_deref().and_then(patched_file)),
        Act::Todo => None,
        Act::Delegate | Act::Use => None,
    };
    let target = target
        .or_else(|| arguments.topic())
        .or_else(|| arguments.first(&OTHERS))
        .or_else(|| arguments.first(&PATTERNS))
        .or_else(|| arguments.first(&COMMANDS))
        .or_else(|| arguments.any_topic())
        .unwrap_or_default();
    let path = match act {
        Act::Read | Act::Write | Act::Edit => Some(target.clone()).filter(|target| !target.is_empty()),
        _ => path,
    };
    Call { act, tool, target, path, patch }
}

fn act_of(tool: &str, arguments: &Arguments<'_>) -> Act {
    let lower = tool.to_ascii_lowercase();
    // One tool, several commands: an editor says in `command` what it does.
    if lower.contains("editor") {
        return match arguments.get("command").as_deref() {
            Some("view") => Act::Read,
            Some("create") => Act::Write,
            _ => Act::Edit,
        };
    }
    let words = FINDER.as_ref().into_iter().flat_map(|finder| finder.find_overlapping_iter(&lower));
    words
        .map(|found| found.pattern().as_usize())
        .min()
        .and_then(|first| WORDS.get(first))
        .map_or(Act::Use, |(_, act)| *act)
}

static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(WORDS.map(|(word, _)| word)).ok());

/// The patch that an edit hands over as an argument.
fn patch_of<'a>(arguments: &Arguments<'a>) -> Option<Cow<'a, str>> {
    let is_patch = |text: &Cow<'a, str>| {
        text.contains(PATCH_BEGINS) || text.contains("\n@@") || text.starts_with("@@") || text.starts_with("--- ")
    };
    arguments.first(&["patch", "input", "diff"]).filter(is_patch)
}

/// The patch that a command hands to the program that applies it, if it does nothing else.
fn patch_in_command<'a>(arguments: &Arguments<'a>) -> Option<Cow<'a, str>> {
    // Most commands are not decoded for this.
    memchr::memmem::find(arguments.source.as_bytes(), PATCH_BEGINS.as_bytes())?;
    let command = arguments.first(&COMMANDS)?;
    let (before, patch) = command.split_once(PATCH_BEGINS)?;
    let (patch, behind) = patch.split_once(PATCH_ENDS)?;
    // Behind the patch stands at most the word that ends the text typed in; whatever else is run has an output.
    let is_all = before.trim_start().starts_with("apply_patch") && behind.split_whitespace().count() <= 1;
    is_all.then(|| Cow::Owned(format!("{PATCH_BEGINS}{patch}{PATCH_ENDS}")))
}

const PATCH_BEGINS: &str = "*** Begin Patch";
const PATCH_ENDS: &str = "*** End Patch";

/// The file that a patch text names first.
fn patched_file<'a>(patch: &str) -> Option<Cow<'a, str>> {
    patch.lines().take(20).find_map(|line| {
        ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(|path| Cow::Owned(path.trim().to_owned()))
    })
}

/// The arguments of a call: top-level fields, decoded on demand.
pub struct Arguments<'a> {
    source: Cow<'a, str>,
    fields: Vec<(Span, Span)>,
}

impl<'a> Arguments<'a> {
    /// Looks at the arguments of a call. What is no object has no fields.
    pub fn of(transcript: &Transcript<'a>, part: &Part) -> Arguments<'a> {
        let source = match &part.content {
            Content::Json(span) => Cow::Borrowed(transcript.raw(*span)),
            Content::Text(span) => json::decode(transcript.raw(span.inner())),
            _ => Cow::Borrowed(""),
        };
        Arguments::read(source)
    }

    /// Looks at arguments as they are written. What is no object has no fields.
    pub fn read(source: Cow<'a, str>) -> Arguments<'a> {
        let mut fields = Vec::new();
        let mut scanner = Scanner::new(&source, 0);
        // A damaged text keeps the fields found before the damage.
        let _ = scanner.object(|scanner, _| {
            let value = scanner.skip()?;
            fields.push((key_before(scanner.text(), value), value));
            Ok(())
        });
        Arguments { source, fields }
    }

    /// The string of a field; a list of strings is joined as a command line.
    pub fn get(&self, key: &str) -> Option<Cow<'a, str>> {
        let (_, value) = self.fields.iter().find(|(name, _)| name.of(&self.source) == key)?;
        let text = plain(value.of(&self.source))?;
        (!text.trim().is_empty()).then(|| Cow::Owned(text.into_owned()))
    }

    /// The first of several fields that is there.
    pub fn first(&self, keys: &[&str]) -> Option<Cow<'a, str>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The field with a telling name that says in a line what a call is about.
    fn topic(&self) -> Option<Cow<'a, str>> {
        OTHERS.iter().find_map(|key| self.get(key).filter(|text| is_topic(text)))
    }

    /// The first string of a line, whatever its name.
    fn any_topic(&self) -> Option<Cow<'a, str>> {
        self.strings().find(|text| is_topic(text)).map(|text| Cow::Owned(text.into_owned()))
    }

    /// All string fields.
    pub fn strings(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.fields.iter().filter_map(|(_, value)| {
            let raw = value.of(&self.source);
            raw.starts_with('"').then(|| json::decode(raw.get(1..raw.len() - 1).unwrap_or_default()))
        })
    }

    /// A field as it is written.
    pub fn raw(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name.of(&self.source) == key).map(|(_, value)| value.of(&self.source))
    }
}

fn is_topic(text: &str) -> bool {
    let text = text.trim();
    (1..=LONGEST_TOPIC).contains(&text.len()) && !text.contains('\n')
}

fn plain(raw: &str) -> Option<Cow<'_, str>> {
    match Scanner::new(raw, 0).peek().ok()? {
        JsonKind::String => Some(json::decode(raw.get(1..raw.len() - 1)?)),
        JsonKind::Number | JsonKind::Bool => Some(Cow::Borrowed(raw)),
        JsonKind::Array => {
            let words: Vec<String> = serde_json::from_str(raw).ok()?;
            // `["bash", "-lc", "…"]` is about its last word.
            match words.as_slice() {
                [shell, flag, command] if shell.ends_with("sh") && flag.starts_with('-') => {
                    Some(Cow::Owned(command.clone()))
                }
                _ => Some(Cow::Owned(words.join(" "))),
            }
        }
        JsonKind::Object | JsonKind::Null => None,
    }
}

/// The key in front of a value.
fn key_before(text: &str, value: Span) -> Span {
    let before = text.get(..value.start as usize).unwrap_or_default();
    let end = before.rfind('"').unwrap_or_default();
    let start = before.get(..end).and_then(|key| key.rfind('"')).map_or(end, |at| at + 1);
    Span::new(start, end)
}
