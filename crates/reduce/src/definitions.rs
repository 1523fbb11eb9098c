//! Decides which lines define something in one of the common languages, by their look alone.

use super::lexicon::Lexicon;
use super::lines::trim;

/// How much of an outline a line carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// Constants and variables.
    Value,
    /// Functions and modules.
    Item,
    /// Types.
    Type,
}

/// What a word at the start of a line says of it.
#[derive(Clone, Copy)]
enum Start {
    /// Something may be defined after it.
    Modifies,
    /// What follows is.
    Defines(Rank),
}

const MODIFIERS: &str = "\
    pub export default async static public private protected internal abstract final unsafe extern virtual override \
    inline declare open suspend sealed data partial readonly global local";
const TYPES: &str = "class struct enum trait interface type record union protocol object impl extension typedef";
const ITEMS: &str = "fn func function def fun sub proc mod module namespace package macro_rules! create CREATE";
const VALUES: &str = "template const var let val #define";

/// One table for all of them: most lines begin with none, which takes one look.
static STARTS: Lexicon<Start, 256> = Lexicon::of_lists(&[
    (MODIFIERS, Start::Modifies),
    (TYPES, Start::Defines(Rank::Type)),
    (ITEMS, Start::Defines(Rank::Item)),
    (VALUES, Start::Defines(Rank::Value)),
]);
/// The longest of them.
const LONGEST_START: usize = 12;
/// Modifiers of one definition at most.
const MOST_MODIFIERS: usize = 5;

/// Whether a line defines something.
pub fn defines(line: &str) -> bool {
    definition(line).is_some()
}

/// The rank of a line that defines something.
pub(super) fn definition(line: &str) -> Option<Rank> {
    let text = trim(line);
    defined(text, text.as_bytes().first() != line.as_bytes().first())
}

/// The same for a line without the blanks around it; `nested` if there were some before it.
pub(super) fn defined(line: &str, nested: bool) -> Option<Rank> {
    // Everything that defines begins with a word.
    let first = *line.as_bytes().first()?;
    if !(first.is_ascii_alphanumeric() || matches!(first, b'#' | b'_' | b'-' | b'~' | b'$')) {
        return None;
    }
    let mut rest = line;
    for modifiers in 0..=MOST_MODIFIERS {
        let Some((word, after)) = start(rest) else {
            break;
        };
        let modified = modifiers > 0;
        match STARTS.get(word.as_bytes()) {
            Some(Start::Defines(rank)) => return by_keyword(line, nested && !modified, word, rank, after),
            Some(Start::Modifies) if let Some(next) = after_modifier(word, after) => rest = next,
            _ => return by_look(line, nested, modified),
        }
    }
    by_look(line, nested, rest.len() < line.len())
}

/// The word that begins a line, and what follows it; nothing where it is too long for a keyword.
fn start(line: &str) -> Option<(&str, &str)> {
    let ends = |byte: &u8| matches!(byte, b' ' | b'(' | b'<' | b'\t');
    let sought = line.as_bytes().get(..=LONGEST_START).unwrap_or(line.as_bytes());
    match sought.iter().position(ends) {
        Some(end) => line.split_at_checked(end),
        None => (line.len() <= LONGEST_START).then_some((line, "")),
    }
}

/// What is modified: `fn` of `pub(crate) fn`. What else touches a parenthesis is called.
fn after_modifier<'a>(word: &str, after: &'a str) -> Option<&'a str> {
    let after = match after.strip_prefix('(') {
        Some(scope) if word == "pub" => scope.split_once(')')?.1,
        _ => after,
    };
    after.starts_with([' ', '\t']).then(|| after.trim_ascii_start())
}

fn by_keyword(line: &str, local: bool, keyword: &str, rank: Rank, after: &str) -> Option<Rank> {
    let mut words = after.split_ascii_whitespace();
    let touches = after.starts_with(['(', '<']);
    let next = if touches { words.nth(1) } else { words.next() };
    let is_named = touches || next.is_some_and(|next| !next.starts_with(['=', '{']));
    // `const fn name`
    let rank = match next.filter(|_| rank == Rank::Value).and_then(|next| STARTS.get(next.as_bytes())) {
        Some(Start::Defines(rank)) => rank,
        _ => rank,
    };
    let is_local = local && rank == Rank::Value;
    let is_variable = words.next().is_some() && is_variable(keyword, line);
    (is_named && !is_local && !is_sentence(line) && !is_variable).then_some(rank)
}

/// `class of its own.` and `type of the value,`: a list of parameters may end with a comma, too.
fn is_sentence(line: &str) -> bool {
    line.ends_with('.') && !line.ends_with("...") || line.ends_with(',') && !line.contains('(')
}

/// `struct stat entry;` and `struct node *next)` of C define nothing, where a type of no fields has one word.
fn is_variable(keyword: &str, line: &str) -> bool {
    matches!(keyword, "struct" | "union" | "enum")
        && line.ends_with([';', ')', ',', '*'])
        && !line.contains(['(', '<', '{', '='])
}

/// Calls that name a test: `it("…")`, `t.Run("…")`.
fn named_case(line: &str) -> bool {
    // Most lines begin with another letter.
    matches!(line.as_bytes().first(), Some(b'd' | b'i' | b't' | b'c'))
        && ["describe(", "it(", "test(", "t.Run(", "context("]
            .iter()
            .any(|call| line.strip_prefix(call).is_some_and(|rest| rest.starts_with(['"', '\'', '`'])))
}

/// Words before a parenthesis that begin a statement.
static STATEMENTS: Lexicon<(), 128> = Lexicon::of(
    "\
     assert await case catch defer del do echo elif else for foreach go guard if lock loop match new not raise return \
     select switch synchronized throw try unless until using when while with yield",
);

fn by_look(line: &str, nested: bool, modified: bool) -> Option<Rank> {
    let last = line.bytes().last().unwrap_or_default();
    (named_case(line) || callable(line, last, nested, modified) || last == b'{' && shell_function(line))
        .then_some(Rank::Item)
}

/// What has parameters and no keyword: functions of C and its relatives, methods of any type.
fn callable(line: &str, last: u8, nested: bool, modified: bool) -> bool {
    // What most lines end with settles it.
    let may_be = match last {
        b'{' | b'}' => true,
        b')' | b',' | b'(' => !nested,
        b';' => modified || nested && line.contains("): "),
        _ => false,
    };
    if !may_be {
        return false;
    }
    let Some(open) = memchr::memchr(b'(', line.as_bytes()) else {
        return false;
    };
    let (head, list) = line.split_at_checked(open).unwrap_or_default();
    let words = head.split_ascii_whitespace().count();
    if !(1..=7).contains(&words) || !declares(head) {
        return false;
    }
    // In a sentence there is a blank before a parenthesis.
    let touches = head.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '>'));
    let is_typed = words >= 2 && touches;
    let Some(rest) = after_list(list) else {
        // It goes on below.
        return !nested && is_typed && matches!(last, b',' | b'(');
    };
    match rest.bytes().next() {
        // The brace is on the next line.
        None => !nested && is_typed,
        Some(b';') => modified && words >= 2,
        Some(b'{' | b':' | b'-' | b'a'..=b'z') if matches!(last, b'{' | b'}') => {
            (touches || nested) && rest.contains('{') && !rest.contains("=>")
        }
        // `name(): type;` of an interface.
        Some(b':') => nested && last == b';' && touches,
        _ => false,
    }
}

/// What follows a list in parentheses; `None` where it is not closed.
fn after_list(list: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, byte) in list.bytes().enumerate() {
        depth += usize::from(byte == b'(');
        depth -= usize::from(byte == b')');
        if depth == 0 {
            return list.get(at + 1..).map(str::trim_ascii_start);
        }
    }
    None
}

/// Whether what stands before a parenthesis can be types and a name.
fn declares(head: &str) -> bool {
    let name = head.trim_start_matches(['#', '~', '$']);
    let first = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    name.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && STATEMENTS.get(first.as_bytes()).is_none()
        && !head.bytes().any(|byte| matches!(byte, b'=' | b'.' | b'"' | b'\'' | b';' | b'`'))
}

/// `name() {`
fn shell_function(line: &str) -> bool {
    let Some(name) = line.strip_suffix('{').and_then(|line| line.trim_end().strip_suffix("()")) else {
        return false;
    };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_of_many_languages_are_seen() {
        for line in [
            "pub(crate) async fn run(x: u8) -> u8 {",
            "func (s *Store) Get(id string) error {",
            "    def load(self):",
            "class Foo(Bar):",
            "export default class Foo {",
            "export const limit = 3;",
            "type Phase string",
            "    private static int count(String a) {",
            "int main(int argc, char **argv) {",
            "deploy() {",
            "it('works', () => {",
            "\tt.Run(\"empty\", func(t *testing.T) {",
            "#define MAX 3",
            "pub struct Invalid;",
            "static int count_lines(const char *path)",
            "    void insert(int key, T value) {",
            "  async load(id: string): Promise<void> {",
            "  constructor(private store: Store) {",
            "  get size () {",
            "  #grow(by) {",
            "  ~Pool() {",
            "  abort(): void;",
            "    pub const fn new(text: &str) -> Self {",
            "    def read(self, key: str) -> str: ...",
            "    def __init__(self, path,",
            "static bool is_raw(Delimiter *d) { return d->flags; }",
            "pub(in crate::reduce) fn split(self) {",
            "size_t Merger::Merge(const std::set<int> &first,",
        ] {
            assert!(definition(line).is_some(), "{line}");
        }
    }

    #[test]
    fn statements_and_sentences_define_nothing() {
        for line in [
            "    let x = 3;",
            "return foo(bar);",
            "type of the value.",
            "if (x) {",
            "foo();",
            "} else {",
            "    const y = 1;",
            "} else if (a b) {",
            "    for (int i = 0; i < n; i++) {",
            "    setTimeout(function () {",
            "    items.forEach((item) => {",
            "    return build(a) {",
            "See the notes of the last release (below)",
            "  x = call(y) {",
            "            Ok(name) => {",
            "        Some(x) if x > 3 => {",
            "    func = target.load",
            "    struct stat entry;",
            "static struct order *",
            "Both the open() and the close() call, or only the close()",
            "main()",
        ] {
            assert_eq!(definition(line), None, "{line}");
        }
    }
}
