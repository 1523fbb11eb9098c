//! How likely a sentence of the user lays something down: a rule, a fact, a decision.
//!
//! What tells is the same in every language: statements are longer than reactions, have numbers and names, are no
//! questions, do not open a message unless the assistant had asked something, and the assistant comes back to their words.
//! The weights come from eight chats in as many languages (`examples/chats`), each language judged by the weights of
//! the seven others: the best 40 % of what users said hold 76 % of their rules and facts, a random choice 39 %.

use super::episodes::has_question;

/// What is seen of a sentence before the conversation is known to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its number in the message, and how many there are.
    pub(super) at: usize,
    pub(super) of: usize,
    /// Whether the assistant had asked something.
    pub(super) answers: bool,
}

/// The form of a sentence as a logarithm of odds.
pub(super) fn form(sentence: &str, terms: usize, place: Place) -> f32 {
    let flag = |is: bool, weight: f32| if is { weight } else { 0.0 };
    let opens = place.at == 0 && !place.answers;
    BASE + LENGTH * ln(1 + terms as u32)
        + flag(has_question(sentence), QUESTION)
        + flag(sentence.chars().any(char::is_numeric), NUMBER)
        + flag(opens, OPENS)
        + flag(place.at + 1 == place.of && place.of > 1, CLOSES)
        + flag(place.of == 1 && !place.answers, ALONE)
        + flag(sentence.contains(['"', '“', '„', '«', '「']), QUOTES)
        + flag(sentence.ends_with(['!', '！']), EXCLAIMS)
        + flag(has_name(sentence), NAME)
        + flag(is_meant_to_last(sentence), LASTS)
}

/// The odds of a sentence, with the weight of its words that the assistant came back to.
pub(super) fn odds(form: f32, taken_up: f32) -> f32 {
    exp(form + TAKEN_UP * ln(1 + taken_up as u32))
}

const BASE: f32 = -2.2;
const LENGTH: f32 = 0.85;
const QUESTION: f32 = -2.6;
const NUMBER: f32 = 1.5;
const OPENS: f32 = -2.2;
const CLOSES: f32 = -1.1;
const ALONE: f32 = -0.8;
const QUOTES: f32 = -1.3;
const EXCLAIMS: f32 = -0.7;
const NAME: f32 = 0.8;
const TAKEN_UP: f32 = 0.4;
/// A hint of a word list: worth little, see ARCHITECTURE.md.
const LASTS: f32 = 1.0;

/// Whether a word in the middle of a sentence is written as a name.
fn has_name(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    words.next();
    words.any(|word| word.chars().next().is_some_and(char::is_uppercase) && word.chars().nth(2).is_some())
}

/// Hints that a sentence is meant to last.
const LASTING: [&str; 60] = [
    "never ",
    "always ",
    "from now on",
    "don't ",
    "do not ",
    "must not",
    "no longer",
    "prefer ",
    "avoid ",
    "make sure",
    "at most",
    "at least",
    "stick to",
    "not allowed",
    "please ",
    "niemals",
    "nie ",
    "immer ",
    "ab jetzt",
    "ab sofort",
    "künftig",
    "bitte",
    "nur noch",
    "auf keinen fall",
    "grundsätzlich",
    "nunca",
    "siempre",
    "a partir de ahora",
    "no quiero",
    "prefiero",
    "jamais",
    "toujours",
    "désormais",
    "ne pas ",
    "sempre",
    "d'ora in poi",
    "de agora em diante",
    "никогда",
    "всегда",
    "с этого момента",
    "отныне",
    "не надо",
    "пожалуйста",
    "不要",
    "别再",
    "必须",
    "一律",
    "从现在",
    "以后",
    "しないで",
    "必ず",
    "これから",
    "ください",
    "دائما",
    "دائمًا",
    "من الآن",
    "لو سمحت",
    "हमेशा",
    "अब से",
    "मत ",
];

/// Whether a sentence has one of the hints.
pub(super) fn is_meant_to_last(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    LASTING.iter().any(|hint| lower.contains(hint))
}

/// A natural logarithm that is the same on every machine: exact at powers of two, straight lines between them.
fn ln(number: u32) -> f32 {
    let power = number.max(1).ilog2();
    let base = (1_u32 << power) as f32;
    (power as f32 + (number.max(1) as f32 / base - 1.0)) * std::f32::consts::LN_2
}

/// Its inverse, within bounds that no sentence reaches.
fn exp(power: f32) -> f32 {
    let doublings = (power / std::f32::consts::LN_2).clamp(-12.0, 12.0);
    let whole = doublings.floor();
    let base = if whole < 0.0 { 1.0 / (1_u32 << (-whole as u32)) as f32 } else { (1_u32 << (whole as u32)) as f32 };
    base * (1.0 + doublings - whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(sentence: &str, at: usize, of: usize) -> f32 {
        form(sentence, sentence.split_whitespace().count(), Place { at, of, answers: false })
    }

    #[test]
    fn statements_stand_above_reactions_and_questions() {
        let rule = score("The budget is 4,200 and nothing above it without asking me first.", 1, 3);
        for other in ["Ha, you must be kidding!", "How was your weekend?", "Thanks a lot."] {
            assert!(score(other, 0, 1) + 2.0 < rule, "{other}");
        }
        let german = score("Am 14. Mai kommt Henrik mit dem Wagen.", 1, 3);
        assert!(german > score("Na toll, das fängt ja gut an.", 0, 2));
    }

    #[test]
    fn odds_rise_with_what_is_taken_up() {
        assert!(odds(0.0, 8.0) > odds(0.0, 0.0));
        assert!((odds(0.0, 0.0) - 1.0).abs() < 1e-6);
        assert!((exp(2.0_f32.ln()) - 2.0).abs() < 1e-5);
    }
}
