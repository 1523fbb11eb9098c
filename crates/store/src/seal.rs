//! Encryption of rows, and keyed digests to look them up.
//!
//! Content is packed, then encrypted with XChaCha20-Poly1305 under a random nonce and bound to its place, so that rows
//! cannot be exchanged. What rows are found by (digests, keys of checkpoints, names of sessions, words) are keyed digests.
//! Every namespace has keys of its own, derived from that of the store. A row says by number which key it needs; zero is
//! none, and then everything is written as it is.

use crate::address::{Address, Digest};
use crate::conversation::Key;
use crate::error::Fault;
use crate::keys::{KeyId, StoreKey, random};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use std::borrow::Cow;
use zeroize::Zeroizing;

const NONCE: usize = 24;

/// Leading bytes of a digest that stand for themselves, so that a handle finds it: 12 hex digits.
const HANDLE: usize = 6;

/// The keys of an open store and their numbers in its file; the first one writes.
#[derive(Debug, Default)]
pub(crate) struct Vault {
    keys: Vec<(i64, StoreKey)>,
}

/// What a row is sealed for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    /// One namespace.
    Namespace(&'a str),
    /// Names of sessions and what happened in them, which are looked up without a namespace.
    Sessions,
}

/// What a sealed value is. It cannot be opened as anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    /// The digest and the tool of an original.
    Label(&'a Digest),
    /// A piece of the text of an original.
    Piece(&'a Digest, i64),
    /// Facts about a checkpoint.
    Facts(&'a Key),
    /// What a checkpoint puts in place of messages.
    Text(&'a Key),
    /// The record of a session.
    Session(&'a str),
    /// Something that happened in a session.
    Event(&'a str),
}

/// What an entry of the index is a keyed digest of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry {
    /// A word.
    Word,
    /// How words begin.
    Beginning,
}

/// How rows of a scope are written and read.
#[derive(Debug)]
pub(crate) enum Seal {
    /// As they are.
    Open,
    /// Encrypted.
    Closed(Closed),
}

/// The keys of a scope.
pub(crate) struct Closed {
    number: i64,
    content: XChaCha20Poly1305,
    /// For keyed digests.
    names: Zeroizing<[u8; 32]>,
}

impl Vault {
    pub(crate) fn new(keys: Vec<(i64, StoreKey)>) -> Vault {
        Vault { keys }
    }

    /// The number of the key that writes.
    pub(crate) fn number(&self) -> i64 {
        self.keys.first().map_or(0, |(number, _)| *number)
    }

    /// How new rows are written.
    pub(crate) fn writing(&self, scope: Scope<'_>) -> Seal {
        self.keys.first().map_or(Seal::Open, |(number, key)| Seal::of(*number, key, scope))
    }

    /// Every way in which rows may have been written, the present one first.
    pub(crate) fn all(&self, scope: Scope<'_>) -> Vec<Seal> {
        let closed = self.keys.iter().map(|(number, key)| Seal::of(*number, key, scope));
        closed.chain([Seal::Open]).collect()
    }

    /// How a row with this number was written; `None` when its key is not there.
    pub(crate) fn of_row(&self, number: i64, scope: Scope<'_>) -> Option<Seal> {
        match number {
            0 => Some(Seal::Open),
            _ => self.keys.iter().find(|(own, _)| *own == number).map(|(own, key)| Seal::of(*own, key, scope)),
        }
    }

    /// How rows of a key are written; `None` when it is not there.
    pub(crate) fn of_key(&self, id: &KeyId, scope: Scope<'_>) -> Option<Seal> {
        let found = self.keys.iter().find(|(_, key)| key.id() == *id);
        found.map(|(number, key)| Seal::of(*number, key, scope))
    }

    /// The keys that are there.
    pub(crate) fn ids(&self) -> Vec<KeyId> {
        self.keys.iter().map(|(_, key)| key.id()).collect()
    }
}

impl Scope<'_> {
    fn derive(&self, key: &StoreKey, purposes: [&'static str; 2]) -> Zeroizing<[u8; 32]> {
        let [namespace, sessions] = purposes;
        match self {
            Scope::Namespace(name) => key.derive(namespace, name.as_bytes()),
            Scope::Sessions => key.derive(sessions, b""),
        }
    }
}

impl What<'_> {
    /// The bytes that a value is bound to.
    fn bound(&self) -> Vec<u8> {
        let (kind, place, part): (u8, &[u8], i64) = match self {
            What::Label(digest) => (1, digest.as_bytes(), 0),
            What::Piece(digest, part) => (2, digest.as_bytes(), *part),
            What::Facts(key) => (3, &key.0, 0),
            What::Text(key) => (4, &key.0, 0),
            What::Session(name) => (5, name.as_bytes(), 0),
            What::Event(name) => (6, name.as_bytes(), 0),
        };
        [&[kind], part.to_le_bytes().as_slice(), place].concat()
    }
}

impl Seal {
    fn of(number: i64, key: &StoreKey, scope: Scope<'_>) -> Seal {
        let content = scope.derive(key, ["foldline 2026 content of a namespace", "foldline 2026 content of sessions"]);
        let names = scope.derive(key, ["foldline 2026 names in a namespace", "foldline 2026 names of sessions"]);
        let content = XChaCha20Poly1305::new((&*content).into());
        Seal::Closed(Closed { number, content, names })
    }

    /// The number that a row is marked with.
    pub(crate) fn number(&self) -> i64 {
        match self {
            Seal::Open => 0,
            Seal::Closed(closed) => closed.number,
        }
    }

    /// What an original is found by.
    pub(crate) fn digest(&self, digest: &Digest) -> Digest {
        match self {
            Seal::Open => *digest,
            Seal::Closed(closed) => {
                let bytes = digest.as_bytes();
                let mut found_by = closed.keyed(b"digest", bytes);
                let handle = closed.keyed(b"handle", bytes.get(..HANDLE).unwrap_or(bytes));
                found_by.iter_mut().zip(handle).take(HANDLE).for_each(|(byte, from)| *byte = from);
                Digest::from_array(found_by)
            }
        }
    }

    /// Where the originals stand that may have an address: more of them than do, as only twelve of its digits are used.
    pub(crate) fn range(&self, address: &Address) -> (Digest, Digest) {
        match self {
            Seal::Open => address.range(),
            Seal::Closed(_) => {
                let (low, _) = address.range();
                Address::distinguishing(&self.digest(&low), &[]).range()
            }
        }
    }

    /// What a checkpoint is found by.
    pub(crate) fn key(&self, key: &Key) -> Key {
        match self {
            Seal::Open => *key,
            Seal::Closed(closed) => Key(closed.keyed(b"checkpoint", &key.0)),
        }
    }

    /// The entry of a keyed digest in the index; `None` where words stand there as they are.
    pub(crate) fn entry(&self, kind: Entry, word: &str) -> Option<[u8; 6]> {
        let Seal::Closed(closed) = self else { return None };
        let kind: &[u8] = match kind {
            Entry::Word => b"word",
            Entry::Beginning => b"beginning",
        };
        let digest = closed.keyed(kind, word.as_bytes());
        // 48 bits: what agrees by chance is found out when the text is read.
        digest.first_chunk().copied()
    }

    /// Seals content.
    pub(crate) fn bytes<'b>(&self, what: What<'_>, content: &'b [u8]) -> Result<Cow<'b, [u8]>, Fault> {
        let Seal::Closed(closed) = self else { return Ok(Cow::Borrowed(content)) };
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        closed.seal(&nonce, &what.bound(), content).map(Cow::Owned)
    }

    /// Opens content; `None` when it is not what was sealed there.
    pub(crate) fn open_bytes<'b>(&self, what: What<'_>, sealed: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self {
            Seal::Open => Some(Cow::Borrowed(sealed)),
            Seal::Closed(closed) => closed.open(&what.bound(), sealed).map(Cow::Owned),
        }
    }

    /// Seals a text as a text.
    pub(crate) fn text<'t>(&self, what: What<'_>, text: &'t str) -> Result<Cow<'t, str>, Fault> {
        match self {
            Seal::Open => Ok(Cow::Borrowed(text)),
            Seal::Closed(_) => Ok(Cow::Owned(STANDARD_NO_PAD.encode(self.bytes(what, text.as_bytes())?))),
        }
    }

    /// Opens a text.
    pub(crate) fn open_text(&self, what: What<'_>, sealed: String) -> Option<String> {
        match self {
            Seal::Open => Some(sealed),
            Seal::Closed(_) => {
                let sealed = STANDARD_NO_PAD.decode(sealed).ok()?;
                String::from_utf8(self.open_bytes(what, &sealed)?.into_owned()).ok()
            }
        }
    }

    /// Seals a short text so that it can be found by itself: the same one is always sealed alike.
    pub(crate) fn name(&self, name: &str) -> Result<String, Fault> {
        let Seal::Closed(closed) = self else { return Ok(name.to_owned()) };
        let mut nonce = [0; NONCE];
        nonce.iter_mut().zip(closed.keyed(b"name", name.as_bytes())).for_each(|(byte, from)| *byte = from);
        Ok(STANDARD_NO_PAD.encode(closed.seal(&nonce, b"name", name.as_bytes())?))
    }

    /// Opens a short text.
    pub(crate) fn open_name(&self, sealed: String) -> Option<String> {
        let Seal::Closed(closed) = self else { return Some(sealed) };
        let sealed = STANDARD_NO_PAD.decode(sealed).ok()?;
        String::from_utf8(closed.open(b"name", &sealed)?).ok()
    }
}

impl Closed {
    fn keyed(&self, kind: &[u8], bytes: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.names);
        hasher.update(kind).update(b"\0").update(bytes);
        *hasher.finalize().as_bytes()
    }

    fn seal(&self, nonce: &[u8; NONCE], aad: &[u8], msg: &[u8]) -> Result<Vec<u8>, Fault> {
        let sealed = self.content.encrypt(&XNonce::from(*nonce), Payload { msg, aad });
        let sealed = sealed.map_err(|_| Fault::Other("a text is too long to be encrypted".into()))?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    fn open(&self, aad: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, msg) = sealed.split_first_chunk::<NONCE>()?;
        self.content.decrypt(&XNonce::from(*nonce), Payload { msg, aad }).ok()
    }
}

impl std::fmt::Debug for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "key number {}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keyring;

    fn vault() -> Vault {
        let text = Keyring::generate().unwrap();
        let keys = Keyring::parse(&text).unwrap();
        Vault::new(keys.iter().cloned().map(|key| (1, key)).collect())
    }

    #[test]
    fn content_opens_in_its_place_only() {
        let vault = vault();
        let seal = vault.writing(Scope::Namespace("a"));
        let digest = Digest::of("x");
        let sealed = seal.bytes(What::Piece(&digest, 0), b"content").unwrap();
        assert!(!sealed.windows(7).any(|window| window == b"content"));
        assert_eq!(seal.open_bytes(What::Piece(&digest, 0), &sealed).unwrap().as_ref(), b"content");
        assert!(seal.open_bytes(What::Piece(&digest, 1), &sealed).is_none(), "another piece");
        assert!(seal.open_bytes(What::Piece(&Digest::of("y"), 0), &sealed).is_none(), "another original");
        assert!(seal.open_bytes(What::Label(&digest), &sealed).is_none(), "another kind");
        let other = vault.writing(Scope::Namespace("b"));
        assert!(other.open_bytes(What::Piece(&digest, 0), &sealed).is_none(), "another namespace");
        assert!(seal.open_bytes(What::Piece(&digest, 0), &sealed[..20]).is_none());
        assert_ne!(sealed, seal.bytes(What::Piece(&digest, 0), b"content").unwrap(), "no two are alike");
    }

    #[test]
    fn names_are_found_by_themselves_and_read_back() {
        let seal = vault().writing(Scope::Sessions);
        let name = seal.name("fs-0123456789abcdef").unwrap();
        assert_eq!(name, seal.name("fs-0123456789abcdef").unwrap());
        assert_ne!(name, seal.name("fs-0123456789abcdee").unwrap());
        assert_eq!(seal.open_name(name).unwrap(), "fs-0123456789abcdef");
        assert_eq!(seal.open_name("fs-0123456789abcdef".to_owned()), None);
    }

    #[test]
    fn a_handle_finds_where_its_digest_stands() {
        let seal = vault().writing(Scope::Namespace(""));
        let digest = Digest::of("text");
        for digits in [12, 13, 40, 64] {
            let address: Address = digest.to_string()[..digits].parse().unwrap();
            let (low, high) = seal.range(&address);
            assert!((low..=high).contains(&seal.digest(&digest)), "{digits}");
        }
        let (low, high) = seal.range(&Address::distinguishing(&Digest::of("other"), &[]));
        assert!(!(low..=high).contains(&seal.digest(&digest)));
    }
}
