//! The words of a text, in any script: what is put into the index, and what is looked up there.
//!
//! Words are folded to lower case without the accents of European languages. Scripts that put no spaces between words
//! (Chinese, Japanese, Thai and others), and Korean, whose words carry their endings, give each pair of neighbouring
//! characters as a word: two characters are what most words there have, a longer word is its pairs in a row, and a pair is
//! found wherever it stands. Trigrams would miss words of two characters and, over all scripts, take thirty times the room.

use std::ops::Range;

/// Longer words are cut: they are digests and data, told apart by their beginnings.
const LONGEST: usize = 64;

/// Calls `each` with every word of a text and where it stands, in order. The last character of a run without spaces
/// comes alone, too, so that every character begins a word.
pub(crate) fn each_word(text: &str, mut each: impl FnMut(&str, Range<usize>)) {
    let mut word = Word::default();
    let mut run: Option<(char, usize)> = None;
    let mut pair = String::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if is_unspaced(c) {
            word.finish(at, &mut each);
            if let Some((before, from)) = run.replace((c, at)) {
                pair.clear();
                pair.extend([before, c]);
                each(&pair, from..end);
            }
            continue;
        }
        if is_combining(c) && (word.characters > 0 || run.is_some()) {
            continue;
        }
        if let Some((alone, from)) = run.take() {
            each(alone.encode_utf8(&mut [0; 4]), from..at);
        }
        match folded(c) {
            Some(letter) => word.push(letter, at),
            None if c.is_alphanumeric() => c.to_lowercase().for_each(|letter| word.push(letter, at)),
            None => word.finish(at, &mut each),
        }
    }
    if let Some((alone, from)) = run {
        each(alone.encode_utf8(&mut [0; 4]), from..text.len());
    }
    word.finish(text.len(), &mut each);
}

/// A word that is being read.
#[derive(Default)]
struct Word {
    text: String,
    start: usize,
    characters: usize,
}

impl Word {
    fn push(&mut self, letter: char, at: usize) {
        if self.characters == 0 {
            self.start = at;
        }
        self.characters += 1;
        if self.characters <= LONGEST {
            self.text.push(letter);
        }
    }

    fn finish(&mut self, end: usize, each: &mut impl FnMut(&str, Range<usize>)) {
        if self.characters > 0 {
            each(&self.text, self.start..end);
            self.text.clear();
            self.characters = 0;
        }
    }
}

/// Whether a script puts no spaces between its words, or a word's ending is written to it.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0e00..=0x0fbf      // Thai, Lao, Tibetan
        | 0x1000..=0x109f    // Burmese
        | 0x1100..=0x11ff    // Hangul
        | 0x1780..=0x17d3    // Khmer
        | 0x2e80..=0x2fdf    // radicals
        | 0x3005..=0x3007
        | 0x3041..=0x30fa | 0x30fc..=0x318f | 0x31a0..=0x31bf | 0x31f0..=0x31ff // kana, bopomofo, Hangul
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff // Chinese characters
        | 0xa960..=0xa97f | 0xac00..=0xd7ff // Hangul
        | 0xf900..=0xfaff | 0xff66..=0xff9f
        | 0x20000..=0x3ffff
    )
}

/// Accents that are written behind their letter.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// The plain letter or digit behind a character; `None` for those that have none.
fn folded(c: char) -> Option<char> {
    Some(match c {
        'a'..='z' | '0'..='9' => c,
        'A'..='Z' => c.to_ascii_lowercase(),
        '\u{c0}'..='\u{17f}' => {
            let plain = PLAIN.get(usize::try_from(u32::from(c) - 0xc0).unwrap_or(usize::MAX));
            char::from(plain.copied().filter(|&plain| plain != b'.')?)
        }
        // Full width, as in Japanese.
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
            char::from_u32(u32::from(c) - 0xfee0)?.to_ascii_lowercase()
        }
        _ => return None,
    })
}

/// The letters from À to ſ without accents; a dot where there is none.
const PLAIN: &[u8] = b"aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y\
    aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkk.llllllllllnnnnnnn..oooooo..rrrrrrsssssssstttttt\
    uuuuuuuuuuuuwwyyyzzzzzzs";

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word, place| {
            assert!(text.get(place).is_some(), "{text:?}");
            words.push(word.to_owned());
        });
        words
    }

    #[test]
    fn words_are_split_and_folded() {
        assert_eq!(words("Store::keep_fold(&self) // 42 MB"), ["store", "keep", "fold", "self", "42", "mb"]);
        assert_eq!(words("Café CAFÉ cafe\u{301} Łódź ＡＢ１"), ["cafe", "cafe", "cafe", "lodz", "ab1"]);
        assert_eq!(words("Привет, ΚΌΣΜΕ straße Æon"), ["привет", "κόσμε", "straße", "æon"]);
        assert_eq!(words(" …\u{301}!? "), Vec::<String>::new());
        assert_eq!(words(&"x".repeat(100)), ["x".repeat(64)]);
        assert_eq!(PLAIN.len(), 0x180 - 0xc0);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(words("数据库 连接"), ["数据", "据库", "库", "连接", "接"]);
        assert_eq!(words("用SQLite数据"), ["用", "sqlite", "数据", "据"]);
        assert_eq!(words("データ。"), ["デー", "ータ", "タ"]);
        assert_eq!(words("데이터를"), ["데이", "이터", "터를", "를"]);
        assert_eq!(words("ฐาน"), ["ฐา", "าน", "น"]);
    }

    #[test]
    fn every_place_is_where_its_word_stands() {
        let text = "ab 数据c";
        let mut places = Vec::new();
        each_word(text, |word, place| places.push((word.to_owned(), text[place].to_owned())));
        let own = |text: &str| (text.to_owned(), text.to_owned());
        assert_eq!(places, [own("ab"), own("数据"), own("据"), own("c")]);
    }
}
