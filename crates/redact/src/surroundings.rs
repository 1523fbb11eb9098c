//! Whether a stretch of text is source code.
//!
//! `password: sunshine` is a setting in a file of settings and a variable in a program. The line alone does not tell;
//! what stands around it does.

use crate::view::is_break;
use std::cell::Cell;

/// The text is judged block by block, each at most once.
const BLOCK: usize = 1024;

/// The last verdict. Neighbouring questions are about the same block.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    last: Cell<Option<(usize, bool)>>,
}

impl Surroundings {
    /// Whether the text around `index` reads as a program.
    pub(crate) fn is_code(&self, text: &[u8], index: usize) -> bool {
        let block = index / (BLOCK / 2);
        if let Some((known, verdict)) = self.last.get()
            && known == block
        {
            return verdict;
        }
        let start = (block * (BLOCK / 2)).saturating_sub(BLOCK / 2);
        let end = text.len().min(start + BLOCK + BLOCK / 2);
        let verdict = reads_as_code(text.get(start..end).unwrap_or_default());
        self.last.set(Some((block, verdict)));
        verdict
    }
}

/// Signs of a program: calls, operators, ends of statements. Settings and prose have few of them.
fn reads_as_code(text: &[u8]) -> bool {
    /// Signs that a text of a few lines needs, and how many bytes there may be for each further one.
    const FEWEST: usize = 4;
    const BYTES_PER_SIGN: usize = 100;
    let mut signs = 0;
    for window in text.windows(3) {
        let &[first, second, third] = window else { continue };
        signs += usize::from(match (first, second, third) {
            // A call, and the beginning of one.
            (b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' | b'!', b'(', b')' | b'"' | b'\'' | b'&' | b'a'..=b'z' | b'A'..=b'Z' | b'_') => true,
            (b')' | b'"' | b'a'..=b'z' | b'0'..=b'9', b';', end) => is_break(end),
            (b' ' | b')', b'{', end) | (b'}' | b')', b',' | b';', end) => is_break(end),
            (b' ', b'=' | b'!' | b'-', b'=' | b'>') => true,
            (b':', b':', b'a'..=b'z' | b'A'..=b'Z' | b'<') => true,
            (b' ', b'&', b'&') | (b' ', b'|', b'|') => true,
            (b')', b':', end) => is_break(end),
            (b'*', b'/', _) | (b'/', b'*', _) | (b'/', b'/', b' ' | b'/') => true,
            _ => false,
        });
    }
    signs >= FEWEST + text.len() / BYTES_PER_SIGN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_settings() {
        let settings = "server:\n  host: db.internal\n  port: 5432\n  user: app\n  password: sunshine\nlogging:\n  level: debug\n";
        let program = "fn login(user: &str) -> Result<(), Error> {\n    let token = parse(user)?;\n    if token.is_empty() {\n        return Err(Error::new(\"x\"));\n    }\n    send(token, &self.password);\n    Ok(())\n}\n";
        assert!(!Surroundings::default().is_code(settings.as_bytes(), 10));
        assert!(Surroundings::default().is_code(program.as_bytes(), 10));
    }
}
