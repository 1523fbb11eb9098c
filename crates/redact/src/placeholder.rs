//! Decides from a value alone what it can be: placeholders, variables, types, places and sentences are no secrets.

use crate::gibberish::is_gibberish;
use crate::mask::is_masked;
use crate::rule::compile;
use crate::string_stats::{head, is_filler, is_mixed, is_name, is_random, words};
use crate::words::{FIXTURE_WORDS, PLACEHOLDER_PARTS, PLACEHOLDERS, SENTENCE_WORDS};
use regex::bytes::Regex;
use std::sync::LazyLock;

/// Whether the value stands for another one: something that is filled in, kept elsewhere, or masked already.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    let head = head(value);
    // Most values have none of the signs that references and holes are made of.
    let signs = || head.iter().any(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'+' | b'-'));
    let holes = || head.iter().any(|byte| matches!(byte, b'.' | b'*' | b'[' | b'$' | b'{' | b'%' | b'<' | 0xE2));
    is_masked(value)
        || is_documented(head)
        || is_filler(head)
        || PLACEHOLDERS.has(head)
        || signs() && (matches(&REFERENCES, head) || holes() && matches(&HOLES, head))
        || complete_words(head).any(|word| word.len() > 3 && (PLACEHOLDER_PARTS.has(word) || is_filler(word)))
            && !is_random(head)
}

/// Keys in the manuals of clouds have the word in them, where chance would put it into one of a trillion.
pub(crate) fn is_documented(head: &[u8]) -> bool {
    const SHORTEST: usize = 16;
    head.len() >= SHORTEST && !head.contains(&b' ') && memchr::memmem::find(head, b"EXAMPLE").is_some()
}

fn matches(pattern: &LazyLock<Option<Regex>>, value: &[u8]) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(value))
}

/// How a reference to a value begins that is kept elsewhere.
static REFERENCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\A(?::[a-z_]\w*\z|\?\z|",
        // Variables of shells and templates.
        r"\$[a-z_][a-z_]*[0-9]?\z|\$[0-9@*#?]\z|\$[a-z_][\w]*[:\[]|\$[({]|\$\{\{|\{\{|\{%|\{\w*\}|<[a-z%=]|%[a-z_]\w*%\z|%\(|%[svdq]\b|#\{|@\{|@[\w.]+@|`|\(\(",
        // Files and stores.
        r"|@/|@-|op://|vault:|secret://|secretsmanager|arn:|ssm:|projects/|keyring:|env:|env\.|env\(|os\.|process\.|secrets\.|file:|enc[\[(]|!ref|!vault|!sub|!secret|ref\+|\*\w+\z",
        // Documentation.
        r"|\[[a-z <]|<<|-----begin",
        ")"
    ))
});

/// Marks of what is filled in later, or was left out.
static HOLES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r"\.\.\.|\*\*\*|\xE2\x80\xA6|\[REDACTED|\$\{|\{\{|\$\(|%[svd](?:\W|\z)|\{[a-z_.]*\}|<[A-Za-z][\w -]*>")
});

/// Whether a value in source code is there for a test or as an illustration.
pub(crate) fn is_fixture(value: &[u8]) -> bool {
    complete_words(head(value)).any(|word| FIXTURE_WORDS.has(word))
}

/// Whether an unquoted value is code that computes one: a call, an index, a path of names, a generic type.
pub(crate) fn is_expression(value: &[u8]) -> bool {
    static EXPRESSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"\A(?:await |new |not |return |lambda |\(|[&!*])*[A-Za-z_]\w*",
            // A call, an index, a generic, a macro, an optional; or a path of names and then one of these.
            r"(?:(?:\.|::|->|\?\.|\.\$)[A-Za-z_]\w*)*(?:[(\[{<|]|\?(?:[.?:)]|\z)|!\(|!\[|\.\()",
        ))
    });
    static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(r"\A[&!*]{0,2}[A-Za-z_]\w{0,40}(?:(?:\.|::|->|\?\.)[A-Za-z_]\w{0,40})+(?:[-+*/;,)].*)?\z")
    });
    let head = head(value);
    if !head.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{' | b'<' | b'|' | b'?' | b'.' | b':' | b'>' | b'!')) {
        return false;
    }
    let computes = EXPRESSION.as_ref().and_then(|pattern| pattern.find(head));
    // `a.b(`: names, not a generated string with a bracket inside.
    let named = |bytes: &[u8]| !bytes.split(|&byte| !byte.is_ascii_alphanumeric()).any(is_random);
    // Behind the bracket of a call nothing follows, or more of the expression.
    let closed = || match head.iter().rposition(|&byte| byte == b')') {
        Some(last) => matches!(
            head.get(last + 1),
            None | Some(b'.' | b';' | b',' | b')' | b']' | b'?' | b'[' | b'(' | b'}' | b'"' | b'\'')
        ),
        None => true,
    };
    head.first() == Some(&b'(')
        || computes.is_some_and(|found| named(found.as_bytes())) && closed()
        || matches(&PATH, head) && named(head)
}

/// Whether the value is a place in a file system or on the web rather than a credential.
pub(crate) fn is_location(value: &[u8]) -> bool {
    static ROOTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\A(?:/[\w.-]+/|\.{1,2}/|~/|[A-Za-z]:\\|file:|https?://|ssh://|unix:|git@|/(?:etc|var|run|usr|home|opt|tmp|dev|bin|api|auth|v\d)\b)",
        )
    });
    static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"\A[\w.@-]+(?:/[\w.@-]+)+\z|\A[\w-]+\.(?:json|ya?ml|toml|pem|key|crt|txt|env|ini|conf|md|rs|py|js|ts|go|html|php|xml)\z",
        )
    });
    let head = head(value);
    if !head.iter().any(|byte| matches!(byte, b'/' | b'\\' | b':' | b'.' | b'@')) {
        return false;
    }
    if matches(&ROOTED, head) {
        let slashes = head.iter().filter(|&&byte| byte == b'/').count();
        return !is_random(head) || slashes > 2;
    }
    matches(&PATH, head) && !is_random(head) && (!is_mixed(head) || head.contains(&b'.'))
}

/// Whether a quoted text reads as a sentence or a label.
pub(crate) fn is_prose(value: &[u8]) -> bool {
    let head = head(value);
    if !head.contains(&b' ') {
        return false;
    }
    let telling = words(head).filter(|word| SENTENCE_WORDS.has(word)).count();
    telling > 0 && telling * 5 >= words(head).count() * 2
}

/// Whether a value is a word of a natural language, as far as its form tells.
pub(crate) fn is_plain_word(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-' || *byte == b'\'')
}

/// Whether a bare value names a type.
pub(crate) fn is_type(value: &[u8]) -> bool {
    static TYPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(concat!(
            r"\A&[A-Z]\w*\z|\A(?:&(?:'\w+ )?(?:mut )?)?(?:[a-z]\w*::)*(?:",
            r"str|string|bytes|bool|boolean|int|integer|float|number|text|char|object|any|none|null|nil|void|undefined|never|unknown|uuid|date|datetime|varchar|usize|[iu](?:8|16|32|64)|vec|dict|list|map|tuple|set|option|optional|self|",
            r"[A-Z][A-Za-z]*(?:Str|String|Type|Token|Key|Secret|Password|Credential|Credentials|Config|Provider|NameKind|Id|Options|Value|Data|Info|Error|Bytes|Array|List|Map|Callback|Fn|Function|Model|Schema|Field|Input|Request|Response|Manager|Service|Factory|Store)|",
            r"(?:String|Str|Token|Key|Secret|Password|Credential|Credentials|Bytes|Any|Optional|Option|None|Self|Vec|List|Dict|Map|Char|Text|Boolean|Int|Float|Object|Type|Union|Literal|Required|Annotated|Final|Buffer|Data|Union|Uuid|Date)",
            r")[!?]?\z"
        ))
    });
    matches(&TYPE, value)
}

/// Whether the value could be a variable: a name that has the word of a secret in it, or one of a few letters.
pub(crate) fn is_variable(value: &[u8], name: &[u8]) -> bool {
    static SECRET_WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
        compile(
            r"(?i)pass(?:w|phrase|code|_|\z)|pwd|secret|token|(?:^|_)key|cred|auth|\Apw|_pw|jwt|cookie|session|config|setting|param|argv|args|self|this|input|value|default|undefined|none|null",
        )
    });
    is_name(value)
        && !is_gibberish(value)
        && (value.len() < 3 || value.eq_ignore_ascii_case(name) || matches(&SECRET_WORD, value))
}

/// The words of a window. One that reaches its end may be the beginning of a longer one and does not count.
fn complete_words(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let cut = head.len() >= crate::string_stats::WINDOW;
    let whole = match head.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
        Some(last) if cut => last,
        None if cut => 0,
        _ => head.len(),
    };
    words(head.get(..whole).unwrap_or(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_known() {
        for value in [
            "***",
            "xxxx",
            "<your-key>",
            "${VAR}",
            "$VAR",
            "$(pass show db)",
            "{{ secret }}",
            "{password}",
            "%PASSWORD%",
            "%(pw)s",
            "%s",
            "os.environ['X']",
            "process.env.X",
            "your-api-key",
            "changeme",
            "null",
            "string",
            "op://vault/item",
            "abcdef...wxyz",
            "[REDACTED]",
            "YOUR_TOKEN_HERE",
            "#{secret}",
            "!vault",
            "$1",
            "ENC[abc]",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in
            ["hunter2", "swordfish", "$uper$ecret1", "correct horse", "p%ssword1", "Sup3r!", "$2b$10$abcdefghijk"]
        {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn expressions_are_known() {
        for value in [
            "getpass.getpass()",
            "config.password",
            "self.token",
            "args[0]",
            "Option<String>",
            "os.Getenv(\"X\")",
            "format!(\"{}\")",
            "a?.b",
            "str|None",
            "user::token",
            "parser.next();",
        ] {
            assert!(is_expression(value.as_bytes()), "{value}");
        }
        for value in ["hunter2", "a.b1c2d3e4f5g6h7", "swordfish", "p(ss)word1!", "k7Lm2Xp9Rt4VwQ(x"] {
            assert!(!is_expression(value.as_bytes()) || value.contains('('), "{value}");
        }
    }

    #[test]
    fn types_and_variables_are_known() {
        for value in ["string", "String", "SecretStr", "&str", "Token", "str", "String!", "AccessToken"] {
            assert!(is_type(value.as_bytes()), "{value}");
        }
        assert!(!is_type(b"sunshine") && !is_type(b"Sunshine"));
        assert!(
            is_variable(b"db_password", b"password")
                && is_variable(b"pw", b"password")
                && !is_variable(b"sunshine", b"password")
        );
    }
}
