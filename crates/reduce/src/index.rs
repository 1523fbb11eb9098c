//! The names of an output, read once however many ask.

use std::cell::OnceCell;

use super::lines::prefix;
use super::names::{Name, Which, each_name};

/// The names of a text, looked for once, when somebody asks first.
#[derive(Debug)]
pub(super) struct Index<'a> {
    text: &'a str,
    which: Which,
    spots: OnceCell<Vec<Spot>>,
}

/// Where a name is, and what it is in tables.
#[derive(Debug, Clone, Copy)]
struct Spot {
    key: u64,
    at: u32,
    /// Its length, and in the lowest bit whether it is coined: an output has thousands, and they stay in the cache.
    look: u32,
}

impl Spot {
    #[inline]
    fn of(name: Name<'_>) -> Spot {
        Spot { key: name.key(), at: name.at as u32, look: (name.length as u32) << 1 | u32::from(name.coined) }
    }

    const fn length(self) -> usize {
        (self.look >> 1) as usize
    }

    const fn is_coined(self) -> bool {
        self.look & 1 == 1
    }
}

/// The rest of a larger text is not looked through.
const MOST_INDEXED: usize = 1 << 20;
/// A name comes every so many bytes, at the most.
const BYTES_PER_SPOT: usize = 10;

impl<'a> Index<'a> {
    pub(super) const fn of(text: &'a str, which: Which) -> Index<'a> {
        Index { text, which, spots: OnceCell::new() }
    }

    fn spots(&self) -> &[Spot] {
        self.spots.get_or_init(|| {
            let text = prefix(self.text, MOST_INDEXED);
            let mut spots = Vec::with_capacity(text.len() / BYTES_PER_SPOT);
            each_name(text, self.which, |name| spots.push(Spot::of(name)));
            spots
        })
    }

    fn name(&self, spot: &Spot) -> Name<'a> {
        Name { source: self.text, at: spot.at as usize, length: spot.length(), coined: spot.is_coined() }
    }

    /// The coined names and what they are in tables.
    pub(super) fn coined(&self) -> impl Iterator<Item = (Name<'a>, u64)> {
        self.spots().iter().filter(|spot| spot.is_coined()).map(|spot| (self.name(spot), spot.key))
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
            each_name(part, self.index.which, |name| take(name, name.key()));
            return;
        };
        let spots = self.index.spots();
        if self.next.checked_sub(1).and_then(|last| spots.get(last)).is_some_and(|last| last.at as usize >= start) {
            self.next = spots.partition_point(|spot| (spot.at as usize) < start);
        }
        while let Some(spot) = spots.get(self.next) {
            let at = spot.at as usize;
            if at + spot.length() > start + part.len() {
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

    #[test]
    fn names_of_parts_are_those_of_the_text_in_any_order() {
        let text = "first_name = load(second_name)\n  third_name\n";
        let index = Index::of(text, Which::All);
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
        let mut coined = Vec::new();
        let index = Index::of(text, Which::Coined);
        index.reader().each(&text[..30], |name, _| coined.push(name.text().to_owned()));
        assert_eq!(coined, ["first_name", "second_name"]);
    }
}
