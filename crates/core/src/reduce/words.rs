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
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'#' | b'_' | b'-'))
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
        let named = words.next().is_some() || word.len() > keyword.len();
        let local = nested && !modified && rank == Rank::Value;
        let sentence = trimmed.ends_with('.') || trimmed.ends_with(',');
        return (named && !local && !sentence).then_some(rank);
    }
    if named_case(trimmed) {
        return Some(Rank::Item);
    }
    (c_like(trimmed, nested, modified) || shell_function(trimmed)).then_some(Rank::Item)
}

/// Calls that name a test: `it("…")`, `t.Run("…")`.
fn named_case(line: &str) -> bool {
    // Most lines begin with another letter.
    matches!(line.as_bytes().first(), Some(b'd' | b'i' | b't' | b'c'))
        && ["describe(", "it(", "test(", "t.Run(", "context("]
            .iter()
            .any(|call| line.strip_prefix(call).is_some_and(|rest| rest.starts_with(['"', '\'', '`'])))
}

/// `type name(…) {` at the left edge, or a method with a modifier.
fn c_like(line: &str, nested: bool, modified: bool) -> bool {
    let opens = line.ends_with('{') || (modified && line.ends_with(';'));
    let starts = line.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
    if (nested && !modified) || !opens || !starts {
        return false;
    }
    let Some((head, _)) = line.split_once('(') else {
        return false;
    };
    (2..=7).contains(&head.split_ascii_whitespace().count())
        && !head.contains(['=', '.', '"'])
        && !["if", "for", "while", "switch", "return", "else", "catch", "match"]
            .iter()
            .any(|word| head.starts_with(word))
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
        ] {
            assert_eq!(definition(line), None, "{line}");
        }
    }
}
