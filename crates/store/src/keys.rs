//! Encryption keys: 32 random bytes each; the first one encrypts.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use std::fmt;
use std::io;
use zeroize::Zeroizing;

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// A random key has 25 to 32 different bytes; a phrase in hex, or a key that was typed, has fewer.
const FEWEST_DIFFERENT: usize = 12;

/// The keys of a store. New content is encrypted with the first; the others read what is older.
#[derive(Clone, Default)]
pub struct Keyring(Vec<StoreKey>);

/// One key.
#[derive(Clone)]
pub(crate) struct StoreKey(Zeroizing<[u8; KEY_BYTES]>);

/// The name of a key: a digest of it, which tells nothing about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub(crate) [u8; 8]);

/// A text that holds no key where one was expected. Never repeats it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nothing is there.
    #[error(
        "contains no key; expected 32 random bytes as 64 hex digits or base64, as `foldline store key` creates them"
    )]
    Absent,
    /// One of them is something else.
    #[error(
        "its key {0} is invalid; expected 32 random bytes as 64 hex digits or base64, as `foldline store key` creates \
         them"
    )]
    Unreadable(usize),
    /// One of them repeats itself.
    #[error("its key {0} is not random; create one with `foldline store key`")]
    Weak(usize),
}

impl Keyring {
    /// No keys: what is kept can be read by whoever has the file.
    pub fn none() -> Keyring {
        Keyring::default()
    }

    /// Reads keys, the newest first, apart by spaces, commas or lines. What follows a `#` is a remark.
    pub fn parse(text: &str) -> Result<Keyring, KeyError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.flat_map(|line| line.split([' ', '\t', ',', '\r'])).filter(|word| !word.is_empty());
        let mut keys: Vec<StoreKey> = Vec::new();
        for (at, word) in words.enumerate() {
            let key = StoreKey::parse(word).ok_or(KeyError::Unreadable(at + 1))?;
            if !key.looks_random() {
                return Err(KeyError::Weak(at + 1));
            }
            if !keys.iter().any(|known| known.id() == key.id()) {
                keys.push(key);
            }
        }
        if keys.is_empty() { Err(KeyError::Absent) } else { Ok(Keyring(keys)) }
    }

    /// A new key, as text.
    pub fn generate() -> io::Result<String> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        random(bytes.as_mut())?;
        Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their names, the one that writes first.
    pub fn ids(&self) -> Vec<KeyId> {
        self.0.iter().map(StoreKey::id).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &StoreKey> {
        self.0.iter()
    }
}

impl StoreKey {
    fn parse(text: &str) -> Option<StoreKey> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        if text.len() == 2 * KEY_BYTES {
            for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
                *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            }
            return Some(StoreKey(bytes));
        }
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        let decoded = engines.iter().find_map(|engine| engine.decode(text).ok()).map(Zeroizing::new)?;
        bytes.copy_from_slice(decoded.get(..KEY_BYTES).filter(|_| decoded.len() == KEY_BYTES)?);
        Some(StoreKey(bytes))
    }

    fn looks_random(&self) -> bool {
        let mut bytes = self.0.to_vec();
        bytes.sort_unstable();
        bytes.dedup();
        bytes.len() >= FEWEST_DIFFERENT
    }

    pub(crate) fn id(&self) -> KeyId {
        let digest = blake3::derive_key("foldline 2026 name of a store key", self.0.as_ref());
        let mut id = KeyId([0; 8]);
        id.0.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
        id
    }

    /// A key for one purpose and one scope.
    pub(crate) fn derive(&self, purpose: &'static str, scope: &[u8]) -> Zeroizing<[u8; KEY_BYTES]> {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(self.0.as_ref());
        hasher.update(scope);
        Zeroizing::new(*hasher.finalize().as_bytes())
    }
}

/// A number that nobody else has.
pub fn random_id() -> [u8; 16] {
    let mut id = [0; 16];
    if random(&mut id).is_err() {
        // A system without random numbers has made no key either; the process and the address tell nodes apart.
        let place = std::ptr::from_ref(&id).addr();
        let told = format!("{} {place} {:?}", std::process::id(), std::thread::current().id());
        id.iter_mut().zip(blake3::hash(told.as_bytes()).as_bytes()).for_each(|(byte, from)| *byte = *from);
    }
    id
}

/// Fills a buffer with random bytes of the system.
pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        io::Error::other(format!(
            "cannot read random numbers from the system: \
     {error}"
        ))
    })
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Keyring {
    /// Names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

impl fmt::Debug for StoreKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {}", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_in_hex_and_base64_alike() {
        let text = Keyring::generate().unwrap();
        let bytes: Vec<u8> = (0..64).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
        let ids = |text: &str| Keyring::parse(text).unwrap().ids();
        for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
            assert_eq!(ids(&engine.encode(&bytes)), ids(&text));
        }
        assert_eq!(ids(&text.to_uppercase()), ids(&text));
    }

    #[test]
    fn several_keys_keep_their_order_and_stand_once() {
        let [one, two] = [Keyring::generate().unwrap(), Keyring::generate().unwrap()];
        let keys = Keyring::parse(&format!("# keys\n{one} # new\r\n\n{two},{one}\n")).unwrap();
        assert_eq!(keys.ids().len(), 2);
        assert_eq!(keys.ids()[0], Keyring::parse(&one).unwrap().ids()[0]);
        assert!(!format!("{keys:?}").contains(&one[..8]));
    }

    #[test]
    fn what_is_no_key_is_refused_and_not_repeated() {
        assert_eq!(Keyring::parse("# nothing\n").unwrap_err(), KeyError::Absent);
        let good = Keyring::generate().unwrap();
        let error = Keyring::parse(&format!("{good} correct-horse-battery")).unwrap_err();
        assert_eq!(error, KeyError::Unreadable(2));
        assert!(!error.to_string().contains("horse"));
        assert_eq!(Keyring::parse(&"ab".repeat(32)).unwrap_err(), KeyError::Weak(1));
        assert_eq!(Keyring::parse(&good[..62]).unwrap_err(), KeyError::Unreadable(1));
    }
}
