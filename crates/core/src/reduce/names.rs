//! Decides what counts as a name in a text, and what it is worth.

use rustc_hash::FxHasher;
use std::cell::OnceCell;
use std::hash::Hasher;

use super::lexicon::number;
use super::lines::prefix;
use super::words::is_common;

/// Shorter words are syntax.
const SHORTEST: usize = 4;
/// Longer ones are data.
const LONGEST: usize = 64;

/// A name: a run of letters, digits and underscores that starts with no digit and has four characters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    /// The text that it is in.
    source: &'a str,
    /// Where it starts.
    pub at: usize,
    length: usize,
    /// True for names that nobody writes in a sentence: `snake_case`, `camelCase`, `v2`.
    pub coined: bool,
}

impl<'a> Name<'a> {
    /// The name itself.
    pub(super) fn text(self) -> &'a str {
        self.source.get(self.at..self.at + self.length).unwrap_or_default()
    }

    /// What the name is in tables. Collisions cost a line that did not have to stay, no more.
    #[inline]
    pub(super) fn key(self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(self.source.as_bytes().get(self.at..self.at + self.length).unwrap_or_default());
        hasher.finish()
    }

    /// What a name is worth: a coined one can be searched for, a common word cannot. The ratio is measured: a higher one
    /// keeps hardly more of the names that agents use later, and loses other words.
    pub(super) fn worth(self) -> u32 {
        if self.length > LONGEST || is_common(self.text()) {
            0
        } else if self.coined {
            6
        } else {
            1
        }
    }
}

/// The names of a text, in order. Works on bytes: a letter of another alphabet ends a name as a blank does.
pub(super) fn names(text: &str) -> Names<'_> {
    Names { text, base: 0, block: Block::at(text, 0) }
}

/// Reads a text a block at a time: a block becomes bits, and a run of bits is a name. Words end so irregularly that a
/// processor guesses wrong at the end of each when it goes byte by byte.
#[derive(Debug, Clone)]
pub(super) struct Names<'a> {
    text: &'a str,
    /// Where the block starts.
    base: usize,
    block: Block,
}

/// The bytes of a block by what they are to a name, a bit for each.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Those of runs that may be names and have not been read.
    unread: u64,
    /// Those of any run.
    all: u64,
    lower: u64,
    upper: u64,
    /// Digits and underscores.
    joint: u64,
}

const BLOCK: usize = u64::BITS as usize;

impl<'a> Iterator for Names<'a> {
    type Item = Name<'a>;

    #[inline]
    fn next(&mut self) -> Option<Name<'a>> {
        loop {
            if self.block.unread == 0 {
                self.turn()?;
                continue;
            }
            let first = self.block.unread.trailing_zeros();
            let start = self.base + first as usize;
            let mut run = self.block.take_run(first);
            let mut end = self.base + end_of(run);
            // What its first byte is makes no name coined, but for a small one before capitals.
            let inner = run & (run - 1);
            let mut joint = self.block.joint & inner;
            let mut upper = self.block.upper & inner;
            let mut lower = self.block.lower & run;
            while run >> (BLOCK - 1) == 1 && self.turn().is_some() {
                run = self.block.take_run(0);
                end = self.base + end_of(run);
                joint |= self.block.joint & run;
                upper |= self.block.upper & run;
                lower |= self.block.lower & run;
            }
            if end - start >= SHORTEST && !self.text.as_bytes().get(start).is_some_and(u8::is_ascii_digit) {
                let coined = joint != 0 || upper != 0 && lower != 0;
                return Some(Name { source: self.text, at: start, length: end - start, coined });
            }
        }
    }
}

impl Names<'_> {
    /// Goes on to the next block; `None` when there is none.
    fn turn(&mut self) -> Option<()> {
        let base = self.base + BLOCK;
        // Most texts are lines, which end in their first block.
        if base >= self.text.len() {
            return None;
        }
        self.base = base;
        self.block = Block::at(self.text, base);
        Some(())
    }
}

impl Block {
    #[inline]
    fn at(text: &str, base: usize) -> Block {
        let rest = text.as_bytes().get(base..).unwrap_or_default();
        match rest.first_chunk() {
            Some(bytes) => Block::of(bytes),
            None => Block::of(&padded(rest)),
        }
    }

    #[inline]
    fn of(bytes: &[u8; BLOCK]) -> Block {
        // Gathering bits costs more than telling bytes apart, and two bits are enough for three looks.
        let is_joint = |byte: u8| u8::from(byte.wrapping_sub(b'0') < 10) | u8::from(byte == b'_');
        let no_upper = bits(&bytes.map(|byte| u8::from(byte.wrapping_sub(b'a') < 26) | is_joint(byte)));
        let no_lower = bits(&bytes.map(|byte| u8::from(byte.wrapping_sub(b'A') < 26) | is_joint(byte)));
        let (lower, upper, joint) = (no_upper & !no_lower, no_lower & !no_upper, no_upper & no_lower);
        let all = no_upper | no_lower;
        // Short runs inside of a block are no names; one that touches its end may go on.
        let starts = all & all >> 1 & all >> 2 & all >> 3;
        let touching = !(u64::MAX.checked_shr(all.leading_ones()).unwrap_or(0));
        let unread = starts | starts << 1 | starts << 2 | starts << 3 | touching;
        Block { unread, all, lower, upper, joint }
    }

    /// The run of bits from `first` on, which is read with that; nothing where there is none.
    #[inline]
    fn take_run(&mut self, first: u32) -> u64 {
        // Adding a bit carries through a run that begins with it, and leaves the rest as it is.
        let run = self.all & !self.all.wrapping_add(1 << first) & u64::MAX << first;
        self.unread &= !run;
        run
    }
}

/// Fewer bytes than a block, copied in pieces of one size: a copy of any length is slower.
#[inline]
fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    const PIECE: usize = 16;
    let mut block = [0; BLOCK];
    match bytes.last_chunk::<PIECE>() {
        Some(last) => {
            let (whole, rest) = bytes.as_chunks::<PIECE>();
            // What whole pieces leave over is the end of the last sixteen bytes.
            let copied = 8 * (PIECE - rest.len()) as u32;
            let rest = u128::from_le_bytes(*last).checked_shr(copied).unwrap_or(0).to_le_bytes();
            for (to, from) in block.as_chunks_mut::<PIECE>().0.iter_mut().zip(whole.iter().chain([&rest])) {
                *to = *from;
            }
        }
        None => {
            if let Some(to) = block.first_chunk_mut() {
                *to = number(bytes).unwrap_or(0).to_le_bytes();
            }
        }
    }
    block
}

/// Where the last bit of a run ends.
#[inline]
fn end_of(run: u64) -> usize {
    BLOCK - run.leading_zeros() as usize
}

/// Zeros and ones as bits, the first one lowest.
#[inline]
fn bits(flags: &[u8; BLOCK]) -> u64 {
    /// Moves the lowest bit of each of eight bytes to its place in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let eights = flags.as_chunks::<8>().0.iter().enumerate();
    eights.fold(0, |bits, (place, eight)| bits | (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * place))
}

/// The names of a text, looked for once, when somebody asks first.
#[derive(Debug)]
pub(super) struct Index<'a> {
    text: &'a str,
    spots: OnceCell<Vec<Spot>>,
}

/// Where a name is, and what it is in tables.
#[derive(Debug, Clone, Copy)]
struct Spot {
    key: u64,
    at: u32,
    length: u32,
    coined: bool,
}

impl Spot {
    fn of(name: Name<'_>) -> Spot {
        Spot { key: name.key(), at: name.at as u32, length: name.length as u32, coined: name.coined }
    }
}

/// The rest of a larger text is not looked through.
const MOST_INDEXED: usize = 1 << 20;
/// A name comes every so many bytes, at the most.
const BYTES_PER_SPOT: usize = 10;

impl<'a> Index<'a> {
    pub(super) const fn of(text: &'a str) -> Index<'a> {
        Index { text, spots: OnceCell::new() }
    }

    fn spots(&self) -> &[Spot] {
        self.spots.get_or_init(|| {
            let text = prefix(self.text, MOST_INDEXED);
            let mut spots = Vec::with_capacity(text.len() / BYTES_PER_SPOT);
            names(text).for_each(|name| spots.push(Spot::of(name)));
            spots
        })
    }

    fn name(&self, spot: &Spot) -> Name<'a> {
        Name { source: self.text, at: spot.at as usize, length: spot.length as usize, coined: spot.coined }
    }

    /// The coined names and what they are in tables.
    pub(super) fn coined(&self) -> impl Iterator<Item = (Name<'a>, u64)> {
        self.spots().iter().filter(|spot| spot.coined).map(|spot| (self.name(spot), spot.key))
    }

    /// Reads the names of one part after the other.
    pub(super) fn reader(&self) -> Reader<'_, 'a> {
        Reader { index: self, next: 0 }
    }

    /// Where a part of the text begins, if it is one and was looked through.
    fn place_of(&self, part: &str) -> Option<usize> {
        let at = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (at + part.len() <= self.text.len().min(MOST_INDEXED)).then_some(at)
    }
}

/// Reads names of parts of a text. Parts mostly come in the order of the text, so it stays where it was.
#[derive(Debug)]
pub(super) struct Reader<'i, 'a> {
    index: &'i Index<'a>,
    next: usize,
}

impl Reader<'_, '_> {
    /// The names of a part and what they are in tables. A part of another text is looked through for itself.
    #[inline]
    pub(super) fn each(&mut self, part: &str, mut take: impl FnMut(Name<'_>, u64)) {
        let Some(start) = self.index.place_of(part) else {
            names(part).for_each(|name| take(name, name.key()));
            return;
        };
        let spots = self.index.spots();
        if self.next.checked_sub(1).and_then(|last| spots.get(last)).is_some_and(|last| last.at as usize >= start) {
            self.next = spots.partition_point(|spot| (spot.at as usize) < start);
        }
        while let Some(spot) = spots.get(self.next) {
            let at = spot.at as usize;
            if at + spot.length as usize > start + part.len() {
                break;
            }
            self.next += 1;
            if at >= start {
                take(self.index.name(spot), spot.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name<'_> {
        names(text).next().expect("a name")
    }

    #[test]
    fn names_are_found_with_their_places_and_looks() {
        let found: Vec<_> = names("let saveStep = über_all(x1, v200, 9lives, the Word);")
            .map(|name| (name.at, name.text(), name.coined))
            .collect();
        assert_eq!(found, [(4, "saveStep", true), (17, "ber_all", true), (29, "v200", true), (47, "Word", false)]);
    }

    #[test]
    fn names_are_the_same_wherever_blocks_end() {
        let name = "a".repeat(60) + "_Z9" + &"bC".repeat(40);
        for blanks in 0..140 {
            let text = format!("{}{name} 12ab {}", " ".repeat(blanks), &name[..5]);
            let found: Vec<_> = names(&text).map(|name| (name.at, name.text(), name.coined)).collect();
            assert_eq!(found, [(blanks, &*name, true), (blanks + name.len() + 6, "aaaaa", false)], "{blanks} blanks");
        }
    }

    #[test]
    fn names_of_parts_are_those_of_the_text_in_any_order() {
        let text = "first_name = load(second_name)\n  third_name\n";
        let index = Index::of(text);
        let mut reader = index.reader();
        let mut read = |part: &str| {
            let mut found = Vec::new();
            reader.each(part, |name, key| {
                assert_eq!(key, name.key());
                found.push(name.text().to_owned());
            });
            found
        };
        assert_eq!(read(&text[..30]), ["first_name", "load", "second_name"]);
        assert_eq!(read(&text[33..]), ["third_name"]);
        assert_eq!(read(&text[13..22]), ["load"], "what a part cuts is no name of it");
        assert_eq!(read(&text[13..30]), ["load", "second_name"]);
        assert_eq!(read("of_elsewhere"), ["of_elsewhere"]);
    }

    #[test]
    fn coined_names_are_worth_more_than_words() {
        assert!(name("saveStep").worth() > name("storage").worth());
        assert_eq!(name("Return").worth(), 0);
    }
}
