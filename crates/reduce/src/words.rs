//! Decides which words name nothing.

use super::lexicon::Lexicon;

/// Words that name nothing: keywords of common languages and English filler of four letters and more.
static COMMON: Lexicon<(), 1024> = Lexicon::of(
    "\
     about after again also and any async await because been before being between bool boolean both break byte bytes \
     case catch char check class const continue could default defer does done double each elif else enum errorf even \
     every except export extends extern false fatal fatalf final finally first float following found from func \
     function given have here impl implements import inside instance instead interface into just lambda last like \
     line lines long made make many more most must namespace need needs none note null object once only other over \
     package pass please private protected public raise range readonly return returns same self should show since \
     some static still string strings struct such super switch take than that their them then there these they this \
     those throw throws trait true type typedef typeof uint undefined under union unless until used using value \
     values very void want well were what when where which while will with without would yield your",
);

/// The longest of them.
const LONGEST_COMMON: usize = 10;

/// True for words that name nothing, in any case.
pub fn is_common(word: &str) -> bool {
    word.len() <= LONGEST_COMMON && COMMON.get_any_case(word.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_are_common_in_any_case() {
        for word in ["and", "implements", "Return", "YIELD"] {
            assert!(is_common(word), "{word}");
        }
        assert!(!is_common("store") && !is_common("implementation") && !is_common(""));
    }
}
