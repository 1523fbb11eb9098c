//! How likely a sentence of the user lays something down: a rule, a fact, a decision.
//!
//! Two things tell: its letters ([`letters`](super::letters)) and its form, which is much the same in every language: statements are
//! longer than reactions, have numbers and names, are no questions, answer one of the assistant's, and the assistant comes
//! back to their words. `lab fit statements` fits both.

use super::letters::{KINDS, SLOTS, Table};
use super::reply::has_question;

/// What is looked at, in the order of [`Statement::seen`].
pub const SIGNS: [&str; 15] = [
    "base",
    "letters of a rule",
    "letters of a rule or fact",
    "letters of a request for now",
    "a clause of a rule",
    "a clause of a rule or fact",
    "a clause of a request for now",
    "length",
    "question",
    "number",
    "answers a question",
    "name",
    "exclaims",
    "quotes",
    "taken up",
];
/// How many of the signs behind the first are told by the letters.
pub const BY_LETTERS: usize = 2 * KINDS;
/// The place of what says that it answers a question.
const ANSWERS: usize = 10;
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
    /// Whether an earlier handoff told it.
    pub is_told: bool,
}

/// Where a sentence stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentencePlace {
    /// Whether it is known to open its message.
    pub(super) is_first: bool,
    /// Whether the assistant had asked something.
    pub(super) answers: bool,
}

impl Statement {
    /// What can be seen of a sentence before the conversation is known to its end.
    pub(super) fn of(sentence: &str, terms: usize, place: SentencePlace) -> Statement {
        let flag = |is: bool| f32::from(u8::from(is));
        let [rule, keep, once, rule_clause, keep_clause, once_clause] =
            letter_signs(sentence, |text| table().look_up(text));
        let seen = [
            1.0,
            rule,
            keep,
            once,
            rule_clause,
            keep_clause,
            once_clause,
            ln(1 + terms as u32),
            flag(has_question(sentence)),
            flag(sentence.chars().any(char::is_numeric)),
            flag(place.is_first && place.answers),
            flag(has_name(sentence)),
            flag(sentence.ends_with(['!', '！'])),
            flag(sentence.contains(['"', '“', '„', '«', '「'])),
            0.0,
        ];
        let mut statement = Statement { seen, rule: 0.0, keep: 0.0, is_told: false };
        statement.judge();
        statement
    }

    /// A sentence by itself.
    pub fn alone(sentence: &str) -> Statement {
        Statement::of(sentence, sentence.split_whitespace().count(), SentencePlace { is_first: false, answers: false })
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

    /// How much the letters of the clause that speaks most for a rule do.
    pub(super) fn has_clause_of_rule(&self) -> f32 {
        self.seen.get(1 + KINDS).copied().unwrap_or_default()
    }

    /// How much its letters speak for anything worth keeping.
    pub(super) fn sounds_kept(&self) -> f32 {
        self.seen.get(2).copied().unwrap_or_default()
    }

    /// How much its letters speak for a request for now.
    pub(super) fn sounds_once(&self) -> f32 {
        self.seen.get(3).copied().unwrap_or_default()
    }

    /// Whether it opens a reply to a question.
    pub(super) fn answers(&self) -> bool {
        self.seen.get(ANSWERS).is_some_and(|&answers| answers > 0.0)
    }

    /// The odds that it is a rule.
    pub(super) fn rule_odds(&self) -> f32 {
        exp(self.rule)
    }

    /// The odds that it lays anything down.
    pub(super) fn keep_odds(&self) -> f32 {
        exp(self.keep)
    }

    /// How likely it lays anything down, a rule counting `rule` times more.
    pub(super) fn chance(&self, rule: f32) -> f32 {
        let chance = |odds: f32| odds / (1.0 + odds);
        chance(self.keep_odds()) + rule * chance(self.rule_odds())
    }
}

/// How much the letters of a sentence speak for a rule, for anything worth keeping and for a request for now; then how
/// much those of the clause do that speaks most for it. People give their reasons in the same breath: the clause that
/// lays something down may be a small part of its sentence.
pub fn letter_signs(sentence: &str, look_up: impl Fn(&str) -> [f32; KINDS]) -> [f32; BY_LETTERS] {
    let [rule, keep, once] = contrasts(look_up(sentence));
    let mut most = [rule, keep, once];
    let parts = || clauses(sentence);
    if parts().nth(1).is_some() {
        for clause in parts().take(MOST_CLAUSES) {
            most.iter_mut().zip(contrasts(look_up(clause))).for_each(|(most, own)| *most = most.max(own));
        }
    }
    let [rule_clause, keep_clause, once_clause] = most;
    [rule, keep, once, rule_clause, keep_clause, once_clause]
}

/// Each kind against what else a sentence can be.
fn contrasts([rule, fact, once]: [f32; KINDS]) -> [f32; KINDS] {
    const TALK: f32 = 0.0;
    [rule - fact.max(once).max(TALK), rule.max(fact) - once.max(TALK), once - rule.max(fact).max(TALK)]
}

/// The clauses of a sentence that are long enough to say something.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let is_mark =
        |c: char| matches!(c, ',' | ';' | ':' | '，' | '；' | '：' | '、' | '،' | '؛' | '–' | '—' | '(' | ')');
    let is_long = |clause: &&str| clause.len() >= SHORTEST_CLAUSE;
    sentence.split(is_mark).map(str::trim).filter(is_long)
}

/// In bytes: fewer are an interjection in any script.
const SHORTEST_CLAUSE: usize = 14;
const MOST_CLAUSES: usize = 6;

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

/// Writes fitted weights of the signs beside the table of letters that is in force.
pub fn write_signs(rule: &[f32; SIGNS.len()], keep: &[f32; SIGNS.len()]) -> Vec<u8> {
    let mut out: Vec<u8> = rule.iter().chain(keep).flat_map(|number| number.to_le_bytes()).collect();
    out.extend(FITTED.get(out.len()..).unwrap_or_default());
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

    fn keep(sentence: &str) -> f32 {
        Statement::alone(sentence).keep
    }

    #[test]
    fn statements_stand_above_reactions_and_questions() {
        let rule = keep("The budget is 4,200 and nothing above it without asking me first.");
        for other in ["Ha, you must be kidding!", "How was your weekend?", "Thanks a lot."] {
            assert!(keep(other) + 2.0 < rule, "{other}");
        }
        let german = keep("Am 14. Mai kommt Henrik mit dem Wagen.");
        assert!(german > keep("Na toll, das fängt ja gut an."));
    }

    #[test]
    fn a_reason_in_the_same_breath_does_not_hide_a_rule() {
        let signs = |sentence: &str| letter_signs(sentence, |text| table().look_up(text));
        let [whole, _, _, clause, ..] =
            signs("Nada de treino em descida, o joelho incha no dia seguinte e eu fico mancando feito pirata.");
        assert!(clause > whole, "{clause} {whole}");
        let [whole, _, _, clause, ..] = signs("Never deploy on Fridays.");
        assert_eq!(clause, whole, "one clause is the sentence");
    }

    #[test]
    fn odds_rise_with_what_is_taken_up() {
        let mut statement = Statement::alone("The flat is in Leipzig.");
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
