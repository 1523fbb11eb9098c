//! Decides what counts as a name in a text, and which lines define one.

/// Words that name nothing: keywords of common languages and English filler of four letters and more.
const COMMON: &[&str] = &[
    "about",
    "after",
    "again",
    "also",
    "and",
    "any",
    "async",
    "await",
    "because",
    "been",
    "before",
    "being",
    "between",
    "bool",
    "boolean",
    "both",
    "break",
    "byte",
    "bytes",
    "case",
    "catch",
    "char",
    "check",
    "class",
    "const",
    "continue",
    "could",
    "default",
    "defer",
    "does",
    "done",
    "double",
    "each",
    "elif",
    "else",
    "enum",
    "errorf",
    "even",
    "every",
    "except",
    "export",
    "extends",
    "extern",
    "false",
    "fatal",
    "fatalf",
    "final",
    "finally",
    "first",
    "float",
    "following",
    "found",
    "from",
    "func",
    "function",
    "given",
    "have",
    "here",
    "impl",
    "implements",
    "import",
    "inside",
    "instance",
    "instead",
    "interface",
    "into",
    "just",
    "lambda",
    "last",
    "like",
    "line",
    "lines",
    "long",
    "made",
    "make",
    "many",
    "more",
    "most",
    "must",
    "namespace",
    "need",
    "needs",
    "none",
    "note",
    "null",
    "object",
    "once",
    "only",
    "other",
    "over",
    "package",
    "pass",
    "please",
    "private",
    "protected",
    "public",
    "raise",
    "range",
    "readonly",
    "return",
    "returns",
    "same",
    "self",
    "should",
    "show",
    "since",
    "some",
    "static",
    "still",
    "string",
    "strings",
    "struct",
    "such",
    "super",
    "switch",
    "take",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "throw",
    "throws",
    "trait",
    "true",
    "type",
    "typedef",
    "typeof",
    "uint",
    "undefined",
    "under",
    "union",
    "unless",
    "until",
    "used",
    "using",
    "value",
    "values",
    "very",
    "void",
    "want",
    "well",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "without",
    "would",
    "yield",
    "your",
];

/// Words that stand before the keyword of a definition.
const MODIFIERS: &[&str] = &[
    "pub",
    "export",
    "default",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "unsafe",
    "extern",
    "virtual",
    "override",
    "inline",
    "declare",
    "open",
    "suspend",
    "sealed",
    "data",
    "partial",
    "readonly",
    "global",
    "local",
];

/// Words that start a definition, with how much of an outline they carry.
const DEFINERS: &[(&str, Rank)] = &[
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
];

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

/// Names in a text: runs of letters, digits and underscores that start with no digit and have four characters.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    names_at(text).map(|(_, name)| name)
}

/// The same with where they start. Works on bytes: a letter of another alphabet ends a name as a blank does.
pub(super) fn names_at(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            at += bytes.get(at..)?.iter().position(|byte| is_name_byte(*byte))?;
            let start = at;
            at += bytes.get(at..)?.iter().position(|byte| !is_name_byte(*byte)).unwrap_or(bytes.len() - at);
            if at - start >= 4 && !bytes.get(start).is_some_and(u8::is_ascii_digit) {
                return text.get(start..at).map(|name| (start, name));
            }
        }
    })
}

const fn is_name_byte(byte: u8) -> bool {
    const TABLE: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
            byte += 1;
        }
        table
    };
    TABLE[byte as usize]
}

/// What a name is worth: a coined one can be searched for, a common word cannot. The ratio is measured: a higher one keeps
/// hardly more of the names that agents use later, and loses other words.
pub(super) fn worth(name: &str) -> u32 {
    if name.len() > 64 || is_common(name) {
        0
    } else if is_coined(name) {
        6
    } else {
        1
    }
}

/// True for names that nobody writes in a sentence: `snake_case`, `camelCase`, `v2`.
pub(super) fn is_coined(name: &str) -> bool {
    let bytes = name.as_bytes();
    let inner = bytes.get(1..).unwrap_or_default();
    inner.iter().any(|b| *b == b'_' || b.is_ascii_digit())
        || (inner.iter().any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase))
}

pub(crate) fn is_common(word: &str) -> bool {
    let mut small = [0u8; 16];
    let Some(target) = small.get_mut(..word.len()) else {
        return false;
    };
    target.copy_from_slice(word.as_bytes());
    target.make_ascii_lowercase();
    COMMON.binary_search_by(|common| common.as_bytes().cmp(target)).is_ok()
}

/// The rank of a line that defines something in one of the common languages.
pub(super) fn definition(line: &str) -> Option<Rank> {
    let trimmed = line.trim_start();
    let nested = line.len() > trimmed.len();
    let mut modified = false;
    let mut words = trimmed.split_ascii_whitespace().take(6);
    let mut word = words.next()?;
    for _ in 0..5 {
        let bare = word.split_once('(').map_or(word, |(bare, _)| bare);
        if MODIFIERS.iter().any(|modifier| same(modifier, word)) || (bare == "pub" && word.ends_with(')')) {
            modified = true;
            word = words.next()?;
            continue;
        }
        break;
    }
    let keyword = word.split(['(', '<']).next().unwrap_or(word);
    if let Some((_, rank)) = DEFINERS.iter().find(|(definer, _)| same(definer, keyword)) {
        let named = words.next().is_some() || word.len() > keyword.len();
        let local = nested && !modified && *rank == Rank::Value;
        let sentence = trimmed.ends_with('.') || trimmed.ends_with(',');
        return (named && !local && !sentence).then_some(*rank);
    }
    if named_case(trimmed) {
        return Some(Rank::Item);
    }
    (c_like(trimmed, nested, modified) || shell_function(trimmed)).then_some(Rank::Item)
}

/// Equal words. The first bytes mostly settle it, which saves a call.
fn same(left: &str, right: &str) -> bool {
    left.as_bytes().first() == right.as_bytes().first() && left == right
}

/// Calls that name a test: `it("…")`, `t.Run("…")`.
fn named_case(line: &str) -> bool {
    ["describe(", "it(", "test(", "t.Run(", "context("]
        .iter()
        .any(|call| line.strip_prefix(call).is_some_and(|rest| rest.starts_with(['"', '\'', '`'])))
}

/// `type name(…) {` at the left edge, or a method with a modifier.
fn c_like(line: &str, nested: bool, modified: bool) -> bool {
    if nested && !modified {
        return false;
    }
    let opens = line.ends_with('{') || (modified && line.ends_with(';'));
    let starts = line.starts_with(|c: char| c.is_ascii_alphabetic());
    let head = line.split('(').next().unwrap_or_default();
    let words = head.split_ascii_whitespace().count();
    opens
        && starts
        && line.contains('(')
        && (2..=7).contains(&words)
        && !head.contains(['=', '.', '"'])
        && !["if", "for", "while", "switch", "return", "else", "catch", "match"]
            .iter()
            .any(|word| head.starts_with(word))
}

fn shell_function(line: &str) -> bool {
    line.split_once("()").is_some_and(|(name, rest)| {
        rest.trim() == "{"
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_sorted_for_binary_search() {
        assert!(COMMON.is_sorted(), "{:?}", COMMON.windows(2).find(|pair| pair[0] > pair[1]));
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

    #[test]
    fn coined_names_are_worth_more_than_words() {
        assert!(worth("saveStep") > worth("storage"));
        assert_eq!(worth("Return"), 0);
    }
}
