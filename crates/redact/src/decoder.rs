//! Writes a text without its disguises. What a disguise is, is said in `disguise.rs`.
//!
//! A text without any is not copied. JSON has a backslash in every line: the text between two of them is copied in pieces of
//! fixed length, and the next ones are found without a branch that depends on the text.

use crate::disguise::{BREAK_1, QUOTE_1, at_byte, backslashes, disguise};
use memchr::{memchr, memchr2, memchr3};

/// From `view` on, up to the next mark, bytes of the view stand in the original from `raw` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) view: usize,
    pub(crate) raw: usize,
    /// Whether the byte before `view` stands for several bytes that end at `raw`.
    pub(crate) replaced: bool,
}

/// The plain text and where its bytes stood; `None` if nothing is disguised.
pub(crate) fn decode(raw: &[u8]) -> Option<(Vec<u8>, Vec<Mark>)> {
    let mut finder = Finder::new(raw);
    let mut from = 0;
    while let Some(at) = finder.next(from) {
        if disguise(raw, at).is_some() {
            return Some(Writer::new(raw, at).write(finder));
        }
        from = at + plain_length(raw, at);
    }
    None
}

/// Finds the next byte that may begin a disguise. Each search goes over the text once and at memory speed.
struct Finder<'t> {
    raw: &'t [u8],
    backslash: usize,
    entity: usize,
    latin: usize,
    wide: usize,
}

impl<'t> Finder<'t> {
    fn new(raw: &'t [u8]) -> Self {
        Self { raw, backslash: backslash(raw, 0), entity: entity(raw, 0), latin: latin(raw, 0), wide: wide(raw, 0) }
    }

    fn next(&mut self, from: usize) -> Option<usize> {
        if self.backslash < from {
            self.backslash = backslash(self.raw, from);
        }
        let next = self.backslash.min(self.next_but_backslash(from));
        (next < self.raw.len()).then_some(next)
    }

    #[inline]
    fn next_but_backslash(&mut self, from: usize) -> usize {
        if self.entity < from {
            self.entity = entity(self.raw, from);
        }
        if self.latin < from {
            self.latin = latin(self.raw, from);
        }
        if self.wide < from {
            self.wide = wide(self.raw, from);
        }
        self.entity.min(self.latin).min(self.wide)
    }
}

fn place(from: usize, found: Option<usize>) -> usize {
    found.map_or(usize::MAX, |offset| from + offset)
}

fn backslash(raw: &[u8], from: usize) -> usize {
    place(from, memchr(b'\\', raw.get(from..).unwrap_or_default()))
}

fn entity(raw: &[u8], from: usize) -> usize {
    place(from, memchr3(b'&', 0x1b, b'%', raw.get(from..).unwrap_or_default()))
}

fn latin(raw: &[u8], from: usize) -> usize {
    place(from, memchr2(0xC2, b'^', raw.get(from..).unwrap_or_default()))
}

fn wide(raw: &[u8], from: usize) -> usize {
    place(from, memchr2(0xE2, 0xEF, raw.get(from..).unwrap_or_default()))
}

/// How much of a text is plain where a byte stands that begins no disguise after all.
fn plain_length(raw: &[u8], at: usize) -> usize {
    backslashes(raw, at).max(1)
}

/// Copies what is plain and notes what is not.
struct Writer<'t> {
    raw: &'t [u8],
    read: usize,
    out: Vec<u8>,
    marks: Vec<Mark>,
}

/// Bytes that are copied at once. What stands between two escapes is mostly shorter.
const CHUNK: usize = 32;
/// JSON has a disguise in about so many bytes.
const BYTES_PER_MARK: usize = 32;

impl<'t> Writer<'t> {
    /// A writer for a text that is plain up to a place.
    fn new(raw: &'t [u8], plain: usize) -> Self {
        let marks = Vec::with_capacity((raw.len() - plain) / BYTES_PER_MARK);
        let mut writer = Self { raw, read: 0, out: Vec::with_capacity(raw.len() + CHUNK), marks };
        writer.copy(plain);
        writer
    }

    fn write(mut self, mut finder: Finder<'t>) -> (Vec<u8>, Vec<Mark>) {
        while self.read < self.raw.len() {
            let stop = finder.next_but_backslash(self.read).min(self.raw.len());
            self.unescape(stop);
            if self.read == stop {
                self.decode();
            }
        }
        (self.out, self.marks)
    }

    /// Writes what stands before `stop`, where only backslashes begin a disguise.
    fn unescape(&mut self, stop: usize) {
        let mut from = self.read;
        while from < stop {
            let mut places = backslash_places(self.raw.get(from..stop).unwrap_or_default());
            while places != 0 {
                let at = from + places.trailing_zeros() as usize;
                places &= places - 1;
                // What is escaped may begin with a backslash, too.
                if at >= self.read {
                    self.copy(at);
                    match simple_escape(at_byte(self.raw, at + 1)) {
                        Some(plain) => self.replace(at + 2, Some(plain)),
                        None => self.decode(),
                    }
                }
            }
            from += BLOCK;
        }
        self.copy(stop);
    }

    /// Writes what a disguise stands for that may begin here.
    fn decode(&mut self) {
        match disguise(self.raw, self.read) {
            Some((end, plain)) => self.replace(end, plain),
            None => self.copy(self.read + plain_length(self.raw, self.read)),
        }
    }

    /// Writes one byte or none in the place of a disguise.
    #[inline]
    fn replace(&mut self, end: usize, plain: Option<u8>) {
        if let Some(plain) = plain {
            self.out.push(plain);
        }
        self.read = end;
        match self.marks.last_mut() {
            // Something invisible right behind something invisible.
            Some(last) if plain.is_none() && !last.replaced && last.view == self.out.len() => last.raw = end,
            _ => self.marks.push(Mark { view: self.out.len(), raw: end, replaced: plain.is_some() }),
        }
    }

    /// Copies what stands before `stop`.
    #[inline]
    fn copy(&mut self, stop: usize) {
        while self.read < stop {
            let length = CHUNK.min(stop - self.read);
            match self.raw.get(self.read..).and_then(|raw| raw.first_chunk::<CHUNK>()) {
                // A copy of fixed length needs no call; what is too much is taken back.
                Some(chunk) => {
                    let written = self.out.len();
                    self.out.extend_from_slice(chunk);
                    self.out.truncate(written + length);
                }
                None => self.out.extend_from_slice(self.raw.get(self.read..stop).unwrap_or_default()),
            }
            self.read += length;
        }
    }
}

/// What a letter stands for behind a single backslash, for the most frequent ones: as [`disguise`] has it.
#[inline]
fn simple_escape(letter: u8) -> Option<u8> {
    match letter {
        b'n' => Some(BREAK_1),
        b'"' => Some(QUOTE_1),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// Bytes whose backslashes are found together.
const BLOCK: usize = u64::BITS as usize;

/// Where backslashes stand among the first bytes of a text: a bit for each byte, the lowest for the first.
#[inline]
fn backslash_places(text: &[u8]) -> u64 {
    let text = text.get(..BLOCK).unwrap_or(text);
    let (chunks, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let places = |chunk: &[u8; 8]| {
        const EACH: u64 = u64::MAX / 255;
        let zero = u64::from_le_bytes(*chunk) ^ (EACH * u64::from(b'\\'));
        // The highest bit of each byte that is not zero; of the others, it is moved to where the bits of all bytes meet.
        let other = ((zero & (EACH * 0x7F)) + EACH * 0x7F) | zero;
        (!other >> 7 & EACH).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let all = chunks.iter().rev().fold(0, |all, chunk| all << 8 | places(chunk));
    if rest.is_empty() { all } else { all | places(&last) << (8 * chunks.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backslashes_are_found_at_every_place() {
        for length in 0..=BLOCK + 1 {
            for place in 0..length {
                let mut text = vec![b'[' + (place % 2) as u8 * 2; length];
                text[place] = b'\\';
                let expected = if place < BLOCK { 1 << place } else { 0 };
                assert_eq!(backslash_places(&text), expected, "{place} of {length}");
            }
        }
        assert_eq!(backslash_places(&[b'\\'; BLOCK]), u64::MAX);
        assert_eq!(backslash_places(&[0xDC, b'\\', 0x5B, 0x5D, 0]), 0b10);
    }

    #[test]
    fn the_most_frequent_escapes_are_what_all_escapes_are() {
        for letter in 0..=u8::MAX {
            if let Some(plain) = simple_escape(letter) {
                assert_eq!(disguise(&[b'\\', letter], 0), Some((2, Some(plain))), "{letter}");
            }
        }
    }

    /// As [`decode`], one disguise at a time.
    fn one_by_one(raw: &[u8]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < raw.len() {
            let signs = matches!(raw[at], b'\\' | 0x1b | b'%' | b'&' | b'^' | 0xC2 | 0xE2 | 0xEF);
            match disguise(raw, at).filter(|_| signs) {
                Some((end, plain)) => {
                    out.extend(plain);
                    at = end;
                }
                None => {
                    let length = plain_length(raw, at);
                    out.extend_from_slice(&raw[at..at + length]);
                    at += length;
                }
            }
        }
        out
    }

    #[test]
    fn disguises_at_any_distance_come_off() {
        let disguises =
            ["\\n", "\\\"", "\\\\n", "\\\\\\\"", "\\u0041", "%3D", "\u{2019}", "\u{a0}", "&amp;", "\\", "^[[0m", "\\d"];
        for distance in 0..70 {
            for one in disguises {
                for other in disguises {
                    let text = format!("{one}{}{other}{}{one}", "a".repeat(distance), "b".repeat(distance / 2));
                    let plain = decode(text.as_bytes()).map_or_else(|| text.clone().into_bytes(), |(plain, _)| plain);
                    assert_eq!(plain, one_by_one(text.as_bytes()), "{text:?}");
                }
            }
        }
    }
}
