//! Made-up secrets and hostile texts.

/// A small generator of numbers: the same seed gives the same texts everywhere.
pub(crate) struct Dice(u64);

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % limit
    }

    fn from(&mut self, alphabet: &[u8]) -> char {
        char::from(alphabet[self.below(alphabet.len())])
    }

    pub(crate) fn letters(&mut self, length: usize) -> String {
        (0..length).map(|_| self.from(LETTERS)).collect()
    }
}

/// Fills in the holes of a template: `<a36>` letters and digits, `<h32>` hexadecimal, `<d9>` digits, `<u16>` capitals
/// and the digits of base32, `<l10>` small letters and digits, `<b40>` base64, `<w22>` URL-safe base64. Other angle
/// brackets stay.
///
/// Every filling begins with a letter and has a digit (where its alphabet allows) as long random strings do.
pub(crate) fn expand(template: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed + template.len() as u64);
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
    b"ahdulbw".contains(&kind).then(|| (kind, length, &text[close + 1..]))
}

fn fill(out: &mut String, dice: &mut Dice, kind: u8, length: usize) {
    let alphabet: &[u8] = match kind {
        b'h' => b"0123456789abcdef",
        b'd' => b"123456789",
        b'u' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        b'l' => b"abcdefghijklmnopqrstuvwxyz0123456789",
        b'b' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        b'w' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        _ => LETTERS,
    };
    for index in 0..length {
        let edge = index == 0 || index + 1 == length;
        let symbol = match (kind, index) {
            (b'd', _) => dice.from(alphabet),
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

/// Texts that lead matchers astray, each as a unit to be repeated.
pub(crate) fn hostile() -> Vec<(&'static str, &'static str)> {
    vec![
        ("dotted", "a.a.a.a="),
        ("hex", "0123456789abcdef"),
        ("jwt start", "eyJ"),
        ("jwt parts", "eyJaaaaaaaaaaaa."),
        ("dashes", "-----BEGIN RSA PRIVATE KEY-----\n"),
        ("sk", "sk-"),
        ("password", "password="),
        ("password space", "password= "),
        ("one letter", "x"),
        ("scheme", "a://"),
        ("scheme at", "a://b@"),
        ("database", "redis://a:b/"),
        ("braces", "{\""),
        ("quoted names", "\"password\":\""),
        ("escaped names", "\\\"token\\\":\\\""),
        ("plus", "+1234567"),
        ("base64", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"),
        ("end of key", "-----END RSA PRIVATE KEY-----\n"),
        ("long end", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-----END RSA PRIVATE KEY-----"),
        ("placeholder", "token=<"),
        ("tokens", "token"),
        ("authorization", "authorization="),
        ("bearer", "bearer "),
        ("bearer dots", "bearer a.a.a.a."),
        ("cookie", "cookie: a=b; "),
        ("backslashes", "\\"),
        ("quotes", "password='\""),
        ("commas", "token=a,"),
        ("dsn", "a:b@tcp("),
        ("dashes only", "-"),
        ("entities", "&amp;token="),
        ("discord", "MTAx."),
        ("slack", "hooks.slack.com/"),
        ("value", "\"password\", \"value\""),
        ("key", "_key"),
        ("typed", "password: x = "),
        ("escaped quote", "password=\\\""),
        ("digits", "1:AA"),
        ("mailchimp", "a-us1"),
        ("azure", "a8Q~"),
        ("gitlab", "glpat-"),
        ("dots", "hvs."),
        ("query", "?code=&key="),
        ("colour", "\\u001b[31mtoken=${"),
        ("env", "A_TOKEN=$X\n"),
        ("space", " "),
        ("secret dash", "secret-"),
        ("fernet", "gAAAAA"),
        ("netrc", "login a password "),
        ("curl", "curl -u a:"),
        ("sshpass", "sshpass -p "),
    ]
}
