//! How a reader requests more: the command or URL, ready to use.

use super::choice::Choice;
use std::fmt::Write as _;

/// How originals are reached from where the reader is. Whoever writes a handoff is told, so that it names a way that its
/// reader has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// By the `foldline` command.
    #[default]
    Command,
    /// At a gateway, over HTTP.
    Http(Site),
    /// By a tool that the agent has, of this name.
    Tool(String),
    /// By nothing that the reader has. Handles are told for the people beside it.
    Nothing,
}

/// Where a gateway answers, and how a reader says who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Scheme, host and port; empty where the reader knows them.
    pub origin: String,
    /// The header that shows the reader's key, as a shell writes it; none where nobody needs one.
    pub header: Option<String>,
}

impl Reach {
    /// By our own tool, under the name that the agent knows it by; `None` when the name is another tool's.
    pub fn by_tool(name: &str) -> Option<Reach> {
        name.ends_with(RECALL_TOOL).then(|| Reach::Tool(name.to_owned()))
    }

    /// How to see messages of a stretch that was folded, and how to search in it, in a sentence that begins with a way
    /// in backquotes.
    pub fn sentence(&self) -> String {
        let (shows, searches) = match self {
            Reach::Nothing => return "`HANDLE` is for the user, who can look it up.".to_owned(),
            Reach::Command => ("`foldline recall HANDLE --turn A:B`".to_owned(), "`--grep RE`".to_owned()),
            Reach::Http(site) => {
                let header = site.header.as_ref().map(|header| format!("-H \"{header}\" ")).unwrap_or_default();
                let origin = &site.origin;
                (format!("`curl -s {header}\"{origin}/foldline/recall/HANDLE?turn=A:B\"`"), "`grep=RE`".to_owned())
            }
            Reach::Tool(name) => (format!("`{name}` with handle HANDLE and turn A:B"), "`grep`".to_owned()),
        };
        format!("{shows} prints the messages [A:B] of an episode, {searches} searches.")
    }
}

/// The way to an original, or to a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// Where the reader is.
    pub reach: Reach,
    /// What has to be said every time: the store, the form of the answer.
    pub also: Vec<(&'static str, String)>,
}

impl Way {
    pub(super) const TURN: &'static str = "turn";
    pub(super) const LINES: &'static str = "lines";
    pub(super) const GREP: &'static str = "grep";
    pub(super) const CONTEXT: &'static str = "context";
    pub(super) const PAGE: &'static str = "page";
    pub(super) const PAGE_SIZE: &'static str = "page-size";

    /// A way that needs nothing said beside.
    pub fn of(reach: Reach) -> Way {
        Way { reach, also: Vec::new() }
    }

    /// How to see a part of an original.
    pub fn recall(&self, handle: &str, choice: &Choice<'_>) -> String {
        match &self.reach {
            Reach::Command => self.command(&format!("foldline recall {handle}"), choice.options()),
            Reach::Http(site) => self.address(&format!("{}/foldline/recall/{handle}", site.origin), choice.options()),
            Reach::Tool(name) => self.call(name, ("handle", handle), choice.options()),
            Reach::Nothing => handle.to_owned(),
        }
    }

    /// How to search again.
    pub fn search(&self, words: &str, options: Vec<(&'static str, String)>) -> String {
        match &self.reach {
            Reach::Command => {
                // Behind the options, so that words may look like one.
                let dashes = if words.starts_with('-') { "-- " } else { "" };
                format!("{} {dashes}{}", self.command("foldline search", options), shell(words))
            }
            Reach::Http(site) => {
                let words = std::iter::once(("q", words.to_owned()));
                self.address(&format!("{}/foldline/search", site.origin), words.chain(options).collect())
            }
            Reach::Tool(name) => self.call(&searcher(name), ("query", words), options),
            Reach::Nothing => words.to_owned(),
        }
    }

    /// An option by its name, as it is written here.
    pub(super) fn option(&self, name: &str, value: &str) -> String {
        match self.reach {
            Reach::Command => format!("--{name} {value}"),
            Reach::Http(_) | Reach::Tool(_) | Reach::Nothing => format!("{}={value}", parameter(name)),
        }
    }

    fn command(&self, start: &str, options: Vec<(&'static str, String)>) -> String {
        let mut out = start.to_owned();
        for (name, value) in options.iter().chain(&self.also) {
            let _ = write!(out, " --{name}");
            if !value.is_empty() {
                let _ = write!(out, " {}", shell(value));
            }
        }
        out
    }

    fn call(&self, tool: &str, first: (&str, &str), options: Vec<(&'static str, String)>) -> String {
        let mut out = format!("{tool} {}={}", first.0, first.1);
        for (name, value) in options.iter().chain(&self.also) {
            let _ = write!(out, " {}={value}", parameter(name));
        }
        out
    }

    fn address(&self, start: &str, options: Vec<(&'static str, String)>) -> String {
        let mut out = start.to_owned();
        for (at, (name, value)) in options.iter().chain(&self.also).enumerate() {
            let mark = if at == 0 { '?' } else { '&' };
            let _ = write!(out, "{mark}{}={}", parameter(name), percent(value));
        }
        out
    }
}

/// The tool that recalls, and the one beside it that searches.
const RECALL_TOOL: &str = "foldline_recall";
const SEARCH_TOOL: &str = "foldline_search";

/// The tool that searches, by the name of the one that recalls: clients put the same words before both.
fn searcher(recall: &str) -> String {
    match recall.strip_suffix(RECALL_TOOL) {
        Some(prefix) => format!("{prefix}{SEARCH_TOOL}"),
        None => SEARCH_TOOL.to_owned(),
    }
}

/// Parameters have low lines where options have hyphens.
fn parameter(name: &str) -> String {
    name.replace('-', "_")
}

/// A word for a shell.
fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A value for an address.
fn percent(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => out.push(char::from(byte)),
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::choice::{Grep, Numbers};
    use super::*;

    fn choice<'g>(pattern: &'g str) -> Choice<'g> {
        Choice {
            turns: Some(Numbers::only(12)),
            grep: Some(Grep { pattern, find: &|_| None }),
            context: 2,
            page: 3,
            ..Choice::default()
        }
    }

    fn here() -> Reach {
        Reach::Http(Site::default())
    }

    #[test]
    fn a_handoff_names_the_way_that_its_reader_has() {
        let site =
            Site { origin: "http://127.0.0.1:8787".into(), header: Some("x-api-key: $ANTHROPIC_API_KEY".into()) };
        let told = Reach::Http(site).sentence();
        let wanted = r#"`curl -s -H "x-api-key: $ANTHROPIC_API_KEY" "http://127.0.0.1:8787/foldline/recall/HANDLE?turn=A:B"` prints"#;
        assert!(told.starts_with(wanted) && !told.contains("foldline recall"), "{told}");
        assert!(Reach::Command.sentence().starts_with("`foldline recall HANDLE --turn A:B` prints"));
        assert!(Reach::Tool("foldline_recall".into()).sentence().starts_with("`foldline_recall` with handle HANDLE"));
        let tool = Way::of(Reach::Tool("foldline_recall".into()));
        assert_eq!(tool.recall("fl-0", &Choice { page: 2, ..Choice::default() }), "foldline_recall handle=fl-0 page=2");
        let named = Way::of(Reach::by_tool("mcp__foldline__foldline_recall").unwrap());
        assert_eq!(
            named.search("a b", vec![("limit", "3".into())]),
            "mcp__foldline__foldline_search query=a b limit=3"
        );
        assert_eq!(Reach::by_tool("recall"), None);
        assert_eq!(Way::of(Reach::Nothing).recall("fl-0", &Choice::default()), "fl-0");
        assert!(Reach::Nothing.sentence().starts_with("`HANDLE` is for the user"));
    }

    #[test]
    fn a_command_can_be_pasted() {
        let way =
            Way { reach: Reach::Command, also: vec![("store", "my store.db".to_owned()), ("json", String::new())] };
        assert_eq!(
            way.recall("fl-0", &choice("it's|a")),
            r"foldline recall fl-0 --turn 12 --grep 'it'\''s|a' --context 2 --page 3 --store 'my store.db' --json"
        );
        assert_eq!(Way::of(Reach::Command).recall("fl-0", &Choice::default()), "foldline recall fl-0");
        assert_eq!(
            Way::of(Reach::Command).search("-x y", vec![("limit", "3".into())]),
            "foldline search --limit 3 -- '-x y'"
        );
    }

    #[test]
    fn an_address_can_be_fetched() {
        let way = Way { reach: here(), also: vec![("format", "json".to_owned())] };
        let wanted = "/foldline/recall/fl-0?turn=12&grep=a%26b%20%C3%A9&context=2&page=3&format=json";
        assert_eq!(way.recall("fl-0", &choice("a&b é")), wanted);
        let sized = Choice { page_size: 2_000, ..Choice::default() };
        assert_eq!(Way::of(here()).recall("fl-0", &sized), "/foldline/recall/fl-0?page_size=2000");
        assert_eq!(Way::of(here()).search("a b", vec![("limit", "3".into())]), "/foldline/search?q=a%20b&limit=3");
    }
}
