//! How likely a sentence of the user lays something down: a rule, a fact, a decision.
//!
//! Two things tell: its letters ([`letters`](super::letters)) and its form, which is much the same in every language: statements are
//! longer than reactions, have numbers and names, are no questions, do not open a message unless the assistant had
//! asked something, and the assistant comes back to their words. `lab fit statements` fits both.

use super::episodes::has_question;
use super::letters::{KINDS, SLOTS, Table};

/// What is looked at, in the order of [`Statement::seen`].
pub const SIGNS: [&str; 15] = [
    "base",
    "letters of a rule",
    "letters of a rule or fact",
    "letters of a request for now",
    "length",
    "question",
    "number",
    "opens the message",
    "answers a question",
    "closes the message",
    "alone",
    "name",
    "exclaims",
    "quotes",
    "taken up",
];
/// The place of what is only known when the conversation has been read.
const TAKEN_UP: usize = SIGNS.len() - 1;

/// The fitted numbers: for rules and for anything worth keeping the weights of the signs, then the scale of the table,
/// all as little-endian floats, then the table.
static FITTED: &[u8] = include_bytes!("statement.bin");
const HEADER: usize = (2 * SIGNS.len() + 1) * 4;

/// A sentence of the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statement {
    /// What was seen of it, by [`SIGNS`].
    pub seen: [f32; SIGNS.len()],
    /// Logarithm of the odds that it is a rule.
    pub rule: f32,
    /// … that it lays anything down.
    pub keep: f32,
}

/// Where a sentence stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its number in the message, and how many there are; `None` when that is no longer known.
    pub(super) at: Option<(usize, usize)>,
    /// Whether the assistant had asked something.
    pub(super) answers: bool,
}

impl Statement {
    /// What can be seen of a sentence before the conversation is known to its end.
    pub(super) fn of(sentence: &str, terms: usize, place: Place) -> Statement {
        let flag = |is: bool| f32::from(u8::from(is));
        let [rule, keep, once] = contrasts(table().look_up(sentence));
        let (is_first, is_last, is_alone) = match place.at {
            Some((at, of)) => (at == 0, at + 1 == of && of > 1, of == 1 && !place.answers),
            None => (false, false, false),
        };
        let seen = [
            1.0,
            rule,
            keep,
            once,
            ln(1 + terms as u32),
            flag(has_question(sentence)),
            flag(sentence.chars().any(char::is_numeric)),
            flag(is_first && !place.answers),
            flag(is_first && place.answers),
            flag(is_last),
            flag(is_alone),
            flag(has_name(sentence)),
            flag(sentence.ends_with(['!', '！'])),
            flag(sentence.contains(['"', '“', '„', '«', '「'])),
            0.0,
        ];
        let mut statement = Statement { seen, rule: 0.0, keep: 0.0 };
        statement.judge();
        statement
    }

    /// A sentence by itself.
    pub fn alone(sentence: &str) -> Statement {
        Statement::of(sentence, sentence.split_whitespace().count(), Place { at: None, answers: false })
    }

    /// Notes how many of its words the assistant came back to.
    pub(super) fn take_up(&mut self, words: usize) {
        if let Some(sign) = self.seen.get_mut(TAKEN_UP) {
            *sign = ln(1 + words as u32);
        }
        self.judge();
    }

    fn judge(&mut self) {
        self.rule = weigh(&self.seen, 0);
        self.keep = weigh(&self.seen, 1);
    }

    /// How much its letters speak for a rule.
    pub(super) fn sounds_like_rule(&self) -> f32 {
        self.seen.get(1).copied().unwrap_or_default()
    }

    /// How much its letters speak for anything worth keeping.
    pub(super) fn sounds_kept(&self) -> f32 {
        self.seen.get(2).copied().unwrap_or_default()
    }

    /// The odds that it is a rule.
    pub(super) fn rule_odds(&self) -> f32 {
        exp(self.rule)
    }

    /// The odds that it lays anything down.
    pub(super) fn keep_odds(&self) -> f32 {
        exp(self.keep)
    }
}

/// How much the letters speak for a rule, for anything worth keeping and for a request for now, each against what else
/// a sentence can be.
pub fn contrasts([rule, fact, once]: [f32; KINDS]) -> [f32; KINDS] {
    const TALK: f32 = 0.0;
    [rule - fact.max(once).max(TALK), rule.max(fact) - once.max(TALK), once - rule.max(fact).max(TALK)]
}

fn table() -> Table<'static> {
    Table { scale: number(2 * SIGNS.len()), weights: FITTED.get(HEADER..).unwrap_or_default() }
}

fn weigh(seen: &[f32; SIGNS.len()], row: usize) -> f32 {
    seen.iter().enumerate().map(|(at, sign)| sign * number(row * SIGNS.len() + at)).sum()
}

/// A float of the header.
fn number(at: usize) -> f32 {
    FITTED.get(at * 4..).and_then(|bytes| bytes.first_chunk()).copied().map_or(0.0, f32::from_le_bytes)
}

/// Writes fitted numbers as `statement.bin` holds them.
pub fn write_fitted(rule: &[f32; SIGNS.len()], keep: &[f32; SIGNS.len()], table: &[[f32; KINDS]]) -> Vec<u8> {
    let most = table.iter().flatten().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    let scale = most.max(1e-6) / f32::from(i8::MAX);
    let header = rule.iter().chain(keep).chain(std::iter::once(&scale));
    let mut out: Vec<u8> = header.flat_map(|number| number.to_le_bytes()).collect();
    out.extend(table.iter().take(SLOTS).flatten().map(|weight| (weight / scale).round() as i8 as u8));
    out
}

/// Whether a word in the middle of a sentence is written as a name.
fn has_name(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    words.next();
    words.any(|word| word.chars().next().is_some_and(char::is_uppercase) && word.chars().nth(2).is_some())
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

    fn keep(sentence: &str, at: usize, of: usize) -> f32 {
        let place = Place { at: Some((at, of)), answers: false };
        Statement::of(sentence, sentence.split_whitespace().count(), place).keep
    }

    #[test]
    fn statements_stand_above_reactions_and_questions() {
        let rule = keep("The budget is 4,200 and nothing above it without asking me first.", 1, 3);
        for other in ["Ha, you must be kidding!", "How was your weekend?", "Thanks a lot."] {
            assert!(keep(other, 0, 1) + 2.0 < rule, "{other}");
        }
        let german = keep("Am 14. Mai kommt Henrik mit dem Wagen.", 1, 3);
        assert!(german > keep("Na toll, das fängt ja gut an.", 0, 2));
    }

    #[test]
    fn odds_rise_with_what_is_taken_up() {
        let mut statement = Statement::of("The flat is in Leipzig.", 5, Place { at: Some((1, 2)), answers: false });
        let before = statement.keep_odds();
        statement.take_up(8);
        assert!(statement.keep_odds() > before);
        assert!((exp(2.0_f32.ln()) - 2.0).abs() < 1e-5);
    }

    #[test]
    fn fitted_numbers_come_back_as_they_were_written() {
        let rule = std::array::from_fn(|at| at as f32);
        let written = write_fitted(&rule, &rule, &vec![[0.5, -1.0, 0.25]; SLOTS]);
        assert_eq!(written.len(), FITTED.len());
        assert_eq!(written.get(HEADER..HEADER + 3), Some(&[64, 129, 32][..]));
        assert_eq!(FITTED.len(), HEADER + SLOTS * KINDS);
    }
}
