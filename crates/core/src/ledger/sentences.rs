//! Sentences of any script.

use unicode_segmentation::UnicodeSegmentation;

/// The sentences of a text, line by line, without list marks.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_sentence_bounds())
        .map(|sentence| sentence.trim().trim_start_matches(['-', '*', '•', '#']).trim())
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::sentences;

    #[test]
    fn sentences_end_where_their_script_ends_them() {
        let all = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(all("One. Two? Three!\n- four"), ["One.", "Two?", "Three!", "four"]);
        assert_eq!(all("不要猪肉。预算是4200。"), ["不要猪肉。", "预算是4200。"]);
        assert_eq!(all("كم السعر؟ لا أريد ذلك."), ["كم السعر؟", "لا أريد ذلك."]);
        assert_eq!(all("यह ठीक है। आगे चलो।"), ["यह ठीक है।", "आगे चलो।"]);
        assert!(all("...\n--").is_empty());
    }
}
