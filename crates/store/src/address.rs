//! What an original is looked up by: its digest, or the first digits of it.

use foldline_transcript::recall::Handle;
use std::fmt;
use std::str::FromStr;

/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;

/// The blake3 digest of an original's text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; DIGEST_BYTES]);

/// The first digits of a digest, 12 (a handle) to 64 (all of them). Twelve are enough unless two texts
/// happen to agree in them; then more digits tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Address {
    /// The digits, then zeros.
    low: [u8; DIGEST_BYTES],
    digits: usize,
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid handle `{0}`; expected {prefix} and 12 hex digits", prefix = Handle::PREFIX)]
pub struct AddressError(String);

impl Digest {
    /// The digest of a text.
    pub fn of(text: &str) -> Digest {
        Digest(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// The first digits of it.
    pub fn hex(&self, digits: usize) -> String {
        hex(&self.0, digits)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Digest> {
        bytes.try_into().ok().map(Digest)
    }

    pub(crate) fn from_array(bytes: [u8; DIGEST_BYTES]) -> Digest {
        Digest(bytes)
    }

    pub(crate) fn into_array(self) -> [u8; DIGEST_BYTES] {
        self.0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads all digits of a digest.
    pub(crate) fn from_hex(digits: &str) -> Option<Digest> {
        let address: Address = digits.parse().ok()?;
        (address.digits == Address::MOST).then_some(Digest(address.low))
    }

    /// How many leading hex digits two digests share.
    fn common_digits(&self, other: &Digest) -> usize {
        let same = self.0.iter().zip(&other.0).take_while(|(a, b)| a == b).count();
        let high_nibble = match (self.0.get(same), other.0.get(same)) {
            (Some(a), Some(b)) if a >> 4 == b >> 4 => 1,
            _ => 0,
        };
        2 * same + high_nibble
    }
}

impl Address {
    const FEWEST: usize = 12;
    pub(crate) const MOST: usize = 2 * DIGEST_BYTES;
    /// A mistaken argument can be a whole file; the message repeats this many characters of it.
    const QUOTED: usize = 60;

    /// The shortest address of `digest` that none of `others` shares.
    pub(crate) fn distinguishing(digest: &Digest, others: &[Digest]) -> Address {
        let shared = others.iter().filter(|other| *other != digest).map(|other| digest.common_digits(other));
        let digits = shared.max().map_or(Self::FEWEST, |most| (most + 1).clamp(Self::FEWEST, Self::MOST));
        Address::from_digits(&hex(&digest.0, digits))
    }

    /// The lowest and the highest digest that begin with these digits.
    pub(crate) fn range(&self) -> (Digest, Digest) {
        let mut high = self.low;
        for (index, byte) in high.iter_mut().enumerate() {
            match (2 * index).cmp(&self.digits) {
                std::cmp::Ordering::Less if 2 * index + 1 == self.digits => *byte |= 0x0f,
                std::cmp::Ordering::Less => {}
                _ => *byte = 0xff,
            }
        }
        (Digest(self.low), Digest(high))
    }

    /// Whether a digest begins with these digits.
    pub fn covers(&self, digest: &Digest) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(digest)
    }

    /// Takes hex digits as they come; anything else among them is passed over.
    fn from_digits(text: &str) -> Address {
        let mut low = [0; DIGEST_BYTES];
        let mut digits = 0;
        for (index, nibble) in text.chars().filter_map(|c| c.to_digit(16)).take(Self::MOST).enumerate() {
            if let (Some(byte), Ok(nibble)) = (low.get_mut(index / 2), u8::try_from(nibble)) {
                *byte |= if index % 2 == 0 { nibble << 4 } else { nibble };
                digits = index + 1;
            }
        }
        Address { low, digits }
    }
}

impl From<Handle> for Address {
    fn from(handle: Handle) -> Address {
        let text = handle.to_string();
        Address::from_digits(text.strip_prefix(Handle::PREFIX).unwrap_or(&text))
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let trimmed = text.trim();
        let digits = trimmed.strip_prefix(Handle::PREFIX).unwrap_or(trimmed);
        let length = Self::FEWEST..=Self::MOST;
        if !length.contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(AddressError(quoted(trimmed)));
        }
        Ok(Address::from_digits(digits))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Handle::PREFIX, hex(&self.low, self.digits))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0, Address::MOST))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The first digits of some bytes.
fn hex(bytes: &[u8], digits: usize) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0x0f])
        .take(digits)
        .filter_map(|nibble| char::from_digit(u32::from(nibble), 16))
        .collect()
}

/// The beginning of a text, on one line.
fn quoted(text: &str) -> String {
    let mut start: String = text.chars().take(Address::QUOTED).flat_map(char::escape_debug).collect();
    if text.chars().nth(Address::QUOTED).is_some() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_with_any_number_of_digits() {
        let digest = Digest::of("some text").to_string();
        for digits in Address::FEWEST..=Address::MOST {
            let written = format!("fl-{}", &digest[..digits]);
            let address: Address = written.parse().unwrap();
            assert_eq!(address.to_string(), written);
            assert!(address.covers(&Digest::of("some text")));
            assert!(!address.covers(&Digest::of("another text")));
        }
    }

    #[test]
    fn a_range_ends_where_the_digits_change() {
        let odd: Address = "fl-000000000000a".parse().unwrap();
        let (low, high) = odd.range();
        assert!(low.to_string().starts_with("000000000000a00"));
        assert!(high.to_string().starts_with("000000000000aff"));
    }

    #[test]
    fn a_handle_is_an_address_of_its_text() {
        let handle = Handle::of("text");
        assert_eq!(Address::from(handle).to_string(), handle.to_string());
        assert!(Address::from(handle).covers(&Digest::of("text")));
    }

    #[test]
    fn prefix_case_and_blanks_do_not_matter() {
        let plain: Address = "fl-0123456789ab".parse().unwrap();
        assert_eq!(" 0123456789AB\n".parse(), Ok(plain));
    }

    #[test]
    fn what_is_no_handle_is_quoted_in_short() {
        let error = "abc".parse::<Address>().unwrap_err();
        assert_eq!(error.to_string(), "invalid handle `abc`; expected fl- and 12 hex digits");
        for wrong in ["", "fl-", "fl-0123456789a", "fl-0123456789ag", "fl-0123456789aé", &"a".repeat(65)] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
        assert!("é\n".repeat(500).parse::<Address>().unwrap_err().to_string().chars().count() < 200);
    }
}
