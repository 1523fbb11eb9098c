//! Sets of bytes that a token body, a key or a value may be made of.

/// A set of bytes with constant-time lookup.
#[derive(Debug)]
pub struct Alphabet {
    spec: &'static str,
    member: [bool; 256],
}

/// Letters and digits.
pub static ALNUM: Alphabet = Alphabet::new("A-Za-z0-9");
/// What programming languages allow in a name.
pub static WORD: Alphabet = Alphabet::new("A-Za-z0-9_");
/// URL-safe base64; also the characters of a key in most formats.
pub static DASH: Alphabet = Alphabet::new("A-Za-z0-9_-");
/// Keys of dotted configuration.
pub static DOTTED: Alphabet = Alphabet::new("A-Za-z0-9_.-");
/// Classic base64 with padding.
pub static BASE64: Alphabet = Alphabet::new("A-Za-z0-9+/=");
/// What an HTTP credential may contain besides letters and digits (`token68`).
pub static TOKEN68: Alphabet = Alphabet::new("A-Za-z0-9._~+/=-");
/// Lower-case hexadecimal.
pub static HEX: Alphabet = Alphabet::new("0-9a-f");
/// Hexadecimal in groups, as in UUIDs.
pub static HEX_DASH: Alphabet = Alphabet::new("0-9a-f-");
/// Upper-case letters and digits.
pub static UPPER: Alphabet = Alphabet::new("A-Z0-9");
/// Lower-case letters and digits.
pub static LOWER: Alphabet = Alphabet::new("a-z0-9");
/// Hexadecimal in either case.
pub static HEX_ANY: Alphabet = Alphabet::new("0-9a-fA-F");
/// URL-safe base64 with padding.
pub static TOKEN_EQUALS: Alphabet = Alphabet::new("A-Za-z0-9_=-");
/// Either base64, with padding.
pub static TOKEN_BASE64: Alphabet = Alphabet::new("A-Za-z0-9_+/=-");
/// Slack joins parts with dashes and escapes its cookie tokens with percent signs.
pub static SLACK: Alphabet = Alphabet::new("A-Za-z0-9%-");
/// Braintree joins parts with dollar signs.
pub static BRAINTREE: Alphabet = Alphabet::new("a-z0-9$");
/// Astra joins parts with colons.
pub static ASTRA: Alphabet = Alphabet::new("A-Za-z0-9:");
/// What is part of a bare value wherever it stands in one.
pub static INSIDE: Alphabet = Alphabet::new("A-Za-z0-9_.:/+=~!?@#$%^*");
/// Decimal digits.
pub static DIGIT: Alphabet = Alphabet::new("0-9");

impl Alphabet {
    /// `spec` lists bytes and ranges like `a-z`; a final `-` stands for itself.
    const fn new(spec: &'static str) -> Self {
        let bytes = spec.as_bytes();
        let mut member = [false; 256];
        let mut i = 0;
        while i < bytes.len() {
            let is_range = i + 2 < bytes.len() && bytes[i + 1] == b'-';
            let last = if is_range { bytes[i + 2] } else { bytes[i] };
            let mut byte = bytes[i];
            while byte <= last {
                member[byte as usize] = true;
                byte += 1;
            }
            i += if is_range { 3 } else { 1 };
        }
        Self { spec, member }
    }
    #[inline]
    pub const fn has(&self, byte: u8) -> bool {
        self.member[byte as usize]
    }

    /// The notation it was made from, for people.
    pub const fn spec(&self) -> &'static str {
        self.spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_final_dash_stands_for_itself() {
        assert!(DASH.has(b'-') && DASH.has(b'm') && !DASH.has(b'.'));
        assert!(!WORD.has(b'-') && WORD.has(b'_'));
        assert!(TOKEN68.has(b'~') && TOKEN68.has(b'-') && !TOKEN68.has(b','));
    }
}
