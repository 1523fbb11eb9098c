//! Whether a stretch of text is source code.
//!
//! `password: sunshine` is a setting in a file of settings and a variable in a program. The line alone does not tell;
//! what stands around it does.

use crate::disguise::is_break;

/// How far around a place the text is judged.
const REACH: usize = 512;

/// Where signs of a program stand. They are collected as far as questions reach, each byte once.
#[derive(Debug, Default)]
pub(crate) struct CodeContext {
    signs: Vec<usize>,
    read: usize,
}

impl CodeContext {
    /// Whether the text around `index` reads as a program. Questions come in the order of the text.
    pub(crate) fn is_code(&mut self, text: &[u8], index: usize) -> bool {
        /// Signs that a text of a few lines needs, and how many bytes there may be for each further one.
        const FEWEST: usize = 4;
        const BYTES_PER_SIGN: usize = 100;
        let from = index.saturating_sub(REACH);
        let to = text.len().min(index + REACH);
        self.read_until(text, from, to);
        let count = |place: usize| self.signs.partition_point(|&sign| sign < place);
        count(to) - count(from) >= FEWEST + (to - from) / BYTES_PER_SIGN
    }

    fn read_until(&mut self, text: &[u8], from: usize, to: usize) {
        let start = self.read.max(from);
        if start >= to {
            return;
        }
        let stretch = text.get(start..text.len().min(to + 2)).unwrap_or_default();
        self.signs.extend(
            stretch.windows(3).enumerate().filter(|(_, window)| is_sign(window)).map(|(offset, _)| start + offset),
        );
        self.read = to;
    }
}

/// Signs of a program: calls, operators, ends of statements, comments. Settings and prose have few of them.
fn is_sign(window: &[u8]) -> bool {
    let &[first, second, third] = window else { return false };
    match second {
        b'(' => {
            let called = is_word(first) || first == b'!';
            called && (is_word(third) || matches!(third, b')' | b'"' | b'\'' | b'&'))
        }
        b';' => (is_word(first) || matches!(first, b')' | b'"' | b'}')) && is_break(third),
        b'{' => matches!(first, b' ' | b')') && is_break(third),
        b',' => matches!(first, b'}' | b')') && is_break(third),
        b'=' | b'!' | b'-' => first == b' ' && matches!(third, b'=' | b'>'),
        b':' => first == b':' && (third.is_ascii_alphabetic() || third == b'<') || first == b')' && is_break(third),
        b'&' | b'|' => first == b' ' && third == second,
        b'/' => first == b'*' || first == b'/' && matches!(third, b' ' | b'/'),
        b'*' => first == b'/',
        _ => false,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_settings() {
        let settings =
            "server:\n  host: db.internal\n  port: 5432\n  user: app\n  password: sunshine\nlogging:\n  level: debug\n";
        let program = "fn login(user: &str) -> Result<(), Error> {\n    let token = parse(user)?;\n    if token.is_empty() {\n        return Err(Error::new(\"x\"));\n    }\n    send(token, &self.password);\n    Ok(())\n}\n";
        assert!(!CodeContext::default().is_code(settings.as_bytes(), 10));
        assert!(CodeContext::default().is_code(program.as_bytes(), 10));
    }
}
