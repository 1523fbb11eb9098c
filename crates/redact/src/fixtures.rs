//! Made-up secrets: templates with holes that are filled at run time, so that no secret is spelled out in the source.

/// A small generator of numbers: the same seed gives the same texts everywhere.
#[derive(Debug)]
pub struct Random(u64);

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Random {
    /// Random for one seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).unwrap_or_default() % limit.max(1)
    }

    fn from(&mut self, alphabet: &[u8]) -> char {
        char::from(alphabet.get(self.below(alphabet.len())).copied().unwrap_or(b'x'))
    }

    /// One of several things.
    pub fn pick<'t, T>(&mut self, things: &'t [T]) -> &'t T {
        &things[self.below(things.len())]
    }

    /// Letters and digits.
    pub fn letters(&mut self, length: usize) -> String {
        (0..length).map(|_| self.from(LETTERS)).collect()
    }
}

/// Fills in the holes of a template: `<a36>` letters and digits, `<h32>` hexadecimal, `<d9>` digits, `<u16>` capitals
/// and the digits of base32, `<l10>` small letters and digits, `<b40>` base64, `<w22>` URL-safe base64, `<c50>` base58,
/// `<m8>` small letters only, `<p8>` small letters that can be pronounced. Other angle brackets stay.
///
/// Every filling begins with a letter and has a digit (where its alphabet allows) as long random strings do.
pub fn expand(template: &str, seed: u64) -> String {
    let mut dice = Random::new(seed + template.len() as u64);
    let mut out = String::new();
    let mut rest = template;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        match hole(rest) {
            Some((kind, length, after)) => {
                fill(&mut out, &mut dice, kind, length);
                rest = after;
            }
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn hole(text: &str) -> Option<(u8, usize, &str)> {
    let close = text.find('>')?;
    let kind = *text.as_bytes().get(1)?;
    let length = text.get(2..close)?.parse().ok()?;
    b"ahdulbwcmp".contains(&kind).then(|| (kind, length, &text[close + 1..]))
}

fn fill(out: &mut String, dice: &mut Random, kind: u8, length: usize) {
    let alphabet: &[u8] = match kind {
        b'h' => b"0123456789abcdef",
        b'd' => b"123456789",
        b'u' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        b'l' => b"abcdefghijklmnopqrstuvwxyz0123456789",
        b'b' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        b'w' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        b'c' => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
        b'm' => b"abcdefghijklmnopqrstuvwxyz",
        b'p' => b"bdfgklmnprstvz",
        _ => LETTERS,
    };
    for index in 0..length {
        let edge = index == 0 || index + 1 == length;
        let symbol = match (kind, index) {
            (b'p', _) if index % 2 == 1 => dice.from(b"aeiou"),
            (b'd' | b'm' | b'p', _) => dice.from(alphabet),
            (b'h', 0) => 'c',
            (b'u', 0) => 'Q',
            (_, 0) => 'k',
            (_, 2) => '7',
            (_, 5) => '4',
            _ => dice.from(alphabet),
        };
        let symbol = if edge && !symbol.is_ascii_alphanumeric() { 'm' } else { symbol };
        out.push(symbol);
    }
}
