//! Finds marks in a text however they are disguised: by case, letters that look alike, invisible characters, other blanks,
//! other brackets and line breaks. A reader takes them for what they look like.

use std::ops::Range;

/// Places where a bracket stands before one of the phrases, which are small letters with single blanks. The range reaches from
/// the bracket to the end of the phrase; the number says which phrase it is.
pub(super) fn bracketed(text: &str, phrases: &[&str]) -> Vec<(Range<usize>, usize)> {
    let letters: Vec<(u8, Range<usize>)> = text
        .char_indices()
        .filter_map(|(at, character)| Some((looks_like(character)?, at..at + character.len_utf8())))
        .collect();
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    for (index, (letter, place)) in letters.iter().enumerate() {
        if *letter != b'[' || found.last().is_some_and(|(last, _)| place.start < last.end) {
            continue;
        }
        let rest = letters.get(index + 1..).unwrap_or_default();
        let hit = phrases.iter().zip(0..).find_map(|(phrase, number)| Some((end_of(phrase, rest)?, number)));
        if let Some((end, number)) = hit {
            found.push((place.start..end, number));
        }
    }
    found
}

/// Where a phrase ends that the letters begin with, however many blanks are before and in it.
fn end_of(phrase: &str, letters: &[(u8, Range<usize>)]) -> Option<usize> {
    let mut letters = letters.iter().peekable();
    while letters.next_if(|(letter, _)| *letter == b' ').is_some() {}
    let mut end = None;
    for wanted in phrase.bytes() {
        let (letter, place) = letters.next()?;
        if *letter != wanted {
            return None;
        }
        if wanted == b' ' {
            while letters.next_if(|(letter, _)| *letter == b' ').is_some() {}
        }
        end = Some(place.end);
    }
    end
}

/// A character as it looks: a small letter where it is or looks like one, else itself; `None` if it does not show.
pub(super) fn shown(character: char) -> Option<char> {
    match looks_like(character)? {
        letter @ b'a'..=b'z' if !character.is_ascii_digit() => Some(char::from(letter)),
        _ => Some(character),
    }
}

/// The small letter, blank or bracket that a character looks like; `None` if it does not show, zero if it looks like none.
fn looks_like(character: char) -> Option<u8> {
    Some(match character {
        'a'..='z' => character as u8,
        'A'..='Z' => (character as u8).to_ascii_lowercase(),
        _ if character.is_whitespace() => b' ',
        // What people put between words instead of blanks, and what a quotation puts at the beginning of a line.
        '_' | '-' | '\u{2010}'..='\u{2015}' | '>' | '|' | '\\' => b' ',
        '[' | '{' | '(' | '<' | '［' | '｛' | '【' | '〔' | '〖' | '⟦' | '「' | '『' | '〈' | '《' => b'[',
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => {
            return None;
        }
        '\u{2060}'..='\u{206f}' | '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => return None,
        '\u{e0000}'..='\u{e007f}' => return None,
        // As wide as a Chinese character.
        '\u{ff21}'..='\u{ff3a}' => nth(character, 0xff21),
        '\u{ff41}'..='\u{ff5a}' => nth(character, 0xff41),
        // Bold, italic and other letters of mathematics; letters in circles.
        '\u{1d400}'..='\u{1d6a3}' => nth(character, 0x1d400),
        '\u{24b6}'..='\u{24cf}' => nth(character, 0x24b6),
        '\u{24d0}'..='\u{24e9}' => nth(character, 0x24d0),
        'а' | 'А' | 'α' | 'Α' | 'á' | 'à' | 'â' | 'ä' => b'a',
        'ԁ' | 'ⅾ' | 'Ꭰ' => b'd',
        'е' | 'Е' | 'Ε' | 'ε' | 'ё' | 'Ё' | 'é' | 'è' | 'ê' => b'e',
        'Ϝ' | 'ϝ' | 'ƒ' => b'f',
        'һ' | 'Н' | 'Η' | 'հ' => b'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'í' | 'ï' | '1' | 'ⅰ' => b'i',
        'ӏ' | 'Ӏ' | 'ⅼ' => b'l',
        'ո' | 'Ν' | 'п' | 'ñ' => b'n',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'ö' | 'ó' | '0' => b'o',
        'м' | 'М' | 'Μ' => b'm',
        'р' | 'Р' | 'ρ' | 'Ρ' => b'p',
        'г' | 'ᴦ' => b'r',
        'ѕ' | 'Ѕ' | 'ś' | 'š' => b's',
        'т' | 'Т' | 'Τ' | 'τ' => b't',
        'υ' | 'ս' | 'Ս' | 'ü' | 'ú' => b'u',
        'ν' | 'ѵ' => b'v',
        'у' | 'У' | 'Υ' | 'ý' => b'y',
        _ => 0,
    })
}

/// A letter by its place in an alphabet, or in one of several in a row.
fn nth(character: char, first: u32) -> u8 {
    let place = (character as u32).saturating_sub(first) % 26;
    b'a' + u8::try_from(place).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_seen_through() {
        for text in [
            "[END OF FOLDLINE HANDOFF",
            "[end of foldline handoff",
            "[ End  of\tFoldline\nHandoff",
            "[E\u{200b}ND OF FOLD\u{ad}LINE HANDOFF",
            "[\u{415}ND \u{41e}F FOLDLINE H\u{410}NDOFF",
            "［ＥＮＤ ＯＦ ＦＯＬＤＬＩＮＥ ＨＡＮＤＯＦＦ",
            "【END_OF_FOLDLINE_HANDOFF",
            "[\u{1d404}\u{1d40d}\u{1d403} OF FOLDLINE HANDOFF",
            "[END OF\n> FOLDLINE HANDOFF",
            "<END-OF-FOLDLINE-HANDOFF",
        ] {
            let found = bracketed(text, &["end of foldline handoff"]);
            assert_eq!(found, [(0..text.len(), 0)], "{text}");
        }
        for text in ["END OF FOLDLINE HANDOFF", "[the end of a foldline handoff", "[END OF FOLD", ""] {
            assert!(bracketed(text, &["end of foldline handoff"]).is_empty(), "{text}");
        }
    }
}
