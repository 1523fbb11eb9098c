//! Decides which words name nothing, and which lines define something.

use super::lexicon::Lexicon;
use super::lines::trim_start;

/// Words that name nothing: keywords of common languages and English filler of four letters and more.
static COMMON: Lexicon<(), 1024> = Lexicon::new(&[
    ("about", ()),
    ("after", ()),
    ("again", ()),
    ("also", ()),
    ("and", ()),
    ("any", ()),
    ("async", ()),
    ("await", ()),
    ("because", ()),
    ("been", ()),
    ("before", ()),
    ("being", ()),
    ("between", ()),
    ("bool", ()),
    ("boolean", ()),
    ("both", ()),
    ("break", ()),
    ("byte", ()),
    ("bytes", ()),
    ("case", ()),
    ("catch", ()),
    ("char", ()),
    ("check", ()),
    ("class", ()),
    ("const", ()),
    ("continue", ()),
    ("could", ()),
    ("default", ()),
    ("defer", ()),
    ("does", ()),
    ("done", ()),
    ("double", ()),
    ("each", ()),
    ("elif", ()),
    ("else", ()),
    ("enum", ()),
    ("errorf", ()),
    ("even", ()),
    ("every", ()),
    ("except", ()),
    ("export", ()),
    ("extends", ()),
    ("extern", ()),
    ("false", ()),
    ("fatal", ()),
    ("fatalf", ()),
    ("final", ()),
    ("finally", ()),
    ("first", ()),
    ("float", ()),
    ("following", ()),
    ("found", ()),
    ("from", ()),
    ("func", ()),
    ("function", ()),
    ("given", ()),
    ("have", ()),
    ("here", ()),
    ("impl", ()),
    ("implements", ()),
    ("import", ()),
    ("inside", ()),
    ("instance", ()),
    ("instead", ()),
    ("interface", ()),
    ("into", ()),
    ("just", ()),
    ("lambda", ()),
    ("last", ()),
    ("like", ()),
    ("line", ()),
    ("lines", ()),
    ("long", ()),
    ("made", ()),
    ("make", ()),
    ("many", ()),
    ("more", ()),
    ("most", ()),
    ("must", ()),
    ("namespace", ()),
    ("need", ()),
    ("needs", ()),
    ("none", ()),
    ("note", ()),
    ("null", ()),
    ("object", ()),
    ("once", ()),
    ("only", ()),
    ("other", ()),
    ("over", ()),
    ("package", ()),
    ("pass", ()),
    ("please", ()),
    ("private", ()),
    ("protected", ()),
    ("public", ()),
    ("raise", ()),
    ("range", ()),
    ("readonly", ()),
    ("return", ()),
    ("returns", ()),
    ("same", ()),
    ("self", ()),
    ("should", ()),
    ("show", ()),
    ("since", ()),
    ("some", ()),
    ("static", ()),
    ("still", ()),
    ("string", ()),
    ("strings", ()),
    ("struct", ()),
    ("such", ()),
    ("super", ()),
    ("switch", ()),
    ("take", ()),
    ("than", ()),
    ("that", ()),
    ("their", ()),
    ("them", ()),
    ("then", ()),
    ("there", ()),
    ("these", ()),
    ("they", ()),
    ("this", ()),
    ("those", ()),
    ("throw", ()),
    ("throws", ()),
    ("trait", ()),
    ("true", ()),
    ("type", ()),
    ("typedef", ()),
    ("typeof", ()),
    ("uint", ()),
    ("undefined", ()),
    ("under", ()),
    ("union", ()),
    ("unless", ()),
    ("until", ()),
    ("used", ()),
    ("using", ()),
    ("value", ()),
    ("values", ()),
    ("very", ()),
    ("void", ()),
    ("want", ()),
    ("well", ()),
    ("were", ()),
    ("what", ()),
    ("when", ()),
    ("where", ()),
    ("which", ()),
    ("while", ()),
    ("will", ()),
    ("with", ()),
    ("without", ()),
    ("would", ()),
    ("yield", ()),
    ("your", ()),
]);

/// Words that stand before the keyword of a definition.
static MODIFIERS: Lexicon<(), 128> = Lexicon::new(&[
    ("pub", ()),
    ("export", ()),
    ("default", ()),
    ("async", ()),
    ("static", ()),
    ("public", ()),
    ("private", ()),
    ("protected", ()),
    ("internal", ()),
    ("abstract", ()),
    ("final", ()),
    ("unsafe", ()),
    ("extern", ()),
    ("virtual", ()),
    ("override", ()),
    ("inline", ()),
    ("declare", ()),
    ("open", ()),
    ("suspend", ()),
    ("sealed", ()),
    ("data", ()),
    ("partial", ()),
    ("readonly", ()),
    ("global", ()),
    ("local", ()),
]);

/// Words that start a definition, with how much of an outline they carry.
static DEFINERS: Lexicon<Rank, 128> = Lexicon::new(&[
    ("fn", Rank::Item),
    ("func", Rank::Item),
    ("function", Rank::Item),
    ("def", Rank::Item),
    ("fun", Rank::Item),
    ("sub", Rank::Item),
    ("proc", Rank::Item),
    ("class", Rank::Type),
    ("struct", Rank::Type),
    ("enum", Rank::Type),
    ("trait", Rank::Type),
    ("interface", Rank::Type),
    ("type", Rank::Type),
    ("record", Rank::Type),
    ("union", Rank::Type),
    ("protocol", Rank::Type),
    ("object", Rank::Type),
    ("impl", Rank::Type),
    ("mod", Rank::Item),
    ("module", Rank::Item),
    ("namespace", Rank::Item),
    ("package", Rank::Item),
    ("macro_rules!", Rank::Item),
    ("extension", Rank::Type),
    ("typedef", Rank::Type),
    ("template", Rank::Value),
    ("const", Rank::Value),
    ("var", Rank::Value),
    ("let", Rank::Value),
    ("val", Rank::Value),
    ("#define", Rank::Value),
    ("create", Rank::Item),
    ("CREATE", Rank::Item),
]);

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

/// The longest of them.
const LONGEST_COMMON: usize = 10;

/// True for words that name nothing, in any case.
pub(crate) fn is_common(word: &str) -> bool {
    word.len() <= LONGEST_COMMON && COMMON.get_any_case(word.as_bytes()).is_some()
}

/// The rank of a line that defines something in one of the common languages.
pub(super) fn definition(line: &str) -> Option<Rank> {
    let trimmed = trim_start(line);
    // Everything that defines begins with a word.
    if !trimmed
        .as_bytes()
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'_' | b'-' | b'~' | b'$'))
    {
        return None;
    }
    let nested = line.len() > trimmed.len();
    let mut modified = false;
    let mut words = trimmed.split_ascii_whitespace().take(6);
    let mut word = words.next()?;
    for _ in 0..5 {
        if MODIFIERS.get(word.as_bytes()).is_none() && !(word.starts_with("pub(") && word.ends_with(')')) {
            break;
        }
        modified = true;
        word = words.next()?;
    }
    let end = word.bytes().position(|byte| matches!(byte, b'(' | b'<')).unwrap_or(word.len());
    let keyword = word.as_bytes().get(..end).unwrap_or_default();
    if let Some(rank) = DEFINERS.get(keyword) {
        let next = words.next();
        let is_named = next.is_some_and(|next| !next.starts_with(['=', '{'])) || word.len() > keyword.len();
        // `const fn name`
        let rank = next.filter(|_| rank == Rank::Value).and_then(|next| DEFINERS.get(next.as_bytes())).unwrap_or(rank);
        let is_local = nested && !modified && rank == Rank::Value;
        let is_variable = words.next().is_some() && is_variable(keyword, trimmed);
        return (is_named && !is_local && !is_sentence(trimmed) && !is_variable).then_some(rank);
    }
    (named_case(trimmed) || callable(trimmed, nested, modified) || shell_function(trimmed)).then_some(Rank::Item)
}

/// `class of its own.` and `type of the value,`: a list of parameters may end with a comma, too.
fn is_sentence(line: &str) -> bool {
    line.ends_with('.') && !line.ends_with("...") || line.ends_with(',') && !line.contains('(')
}

/// `struct stat entry;` and `struct node *next)` of C define nothing, where a type of no fields has one word.
fn is_variable(keyword: &[u8], line: &str) -> bool {
    matches!(keyword, b"struct" | b"union" | b"enum")
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
static STATEMENTS: Lexicon<(), 128> = Lexicon::new(&[
    ("assert", ()),
    ("await", ()),
    ("case", ()),
    ("catch", ()),
    ("defer", ()),
    ("del", ()),
    ("do", ()),
    ("echo", ()),
    ("elif", ()),
    ("else", ()),
    ("for", ()),
    ("foreach", ()),
    ("go", ()),
    ("guard", ()),
    ("if", ()),
    ("lock", ()),
    ("loop", ()),
    ("match", ()),
    ("new", ()),
    ("not", ()),
    ("raise", ()),
    ("return", ()),
    ("select", ()),
    ("switch", ()),
    ("synchronized", ()),
    ("throw", ()),
    ("try", ()),
    ("unless", ()),
    ("until", ()),
    ("using", ()),
    ("when", ()),
    ("while", ()),
    ("with", ()),
    ("yield", ()),
]);

/// What has parameters and no keyword: functions of C and its relatives, methods of any type.
fn callable(line: &str, nested: bool, modified: bool) -> bool {
    let last = line.bytes().last().unwrap_or_default();
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
    let Some(name) = line.trim_end().strip_suffix('{').and_then(|line| line.trim_end().strip_suffix("()")) else {
        return false;
    };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_common_in_any_case() {
        for word in ["and", "implements", "Return", "YIELD"] {
            assert!(is_common(word), "{word}");
        }
        assert!(!is_common("store") && !is_common("implementation") && !is_common(""));
    }

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
