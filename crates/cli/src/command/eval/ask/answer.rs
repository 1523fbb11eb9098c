//! A model's answer to a question, and its score.

use serde::{Serialize, Serializer};

/// An answer as its reader means it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The record tells it.
    Told(String),
    /// An inference.
    Guess(String),
    /// The record does not tell it.
    NotInContext,
}

/// The words with which a reader says that the record does not tell.
pub const NOT_IN_CONTEXT: &str = "not in context";
/// What stands before an inference.
pub const GUESS: &str = "guess:";
/// What a right guess counts.
const GUESS_COUNTS: f64 = 0.5;

impl Answer {
    /// The answer that a reader's words are.
    pub fn of(words: &str) -> Answer {
        let words = words.trim();
        let bare = words.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_guess = words.get(..GUESS.len()).is_some_and(|start| start.eq_ignore_ascii_case(GUESS));
        match words.get(GUESS.len()..).filter(|_| is_guess) {
            _ if bare.is_empty() || bare == NOT_IN_CONTEXT => Answer::NotInContext,
            Some(guess) => Answer::Guess(guess.trim().to_owned()),
            None => Answer::Told(words.to_owned()),
        }
    }

    /// What there is to grade.
    pub fn words(&self) -> Option<&str> {
        match self {
            Answer::Told(words) | Answer::Guess(words) => Some(words),
            Answer::NotInContext => None,
        }
    }
}

/// How right an answer is, in quarters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grade(u8);

impl Grade {
    /// The grade that a number from 0 to 1 is, if it is one of the five.
    pub fn of(share: f64) -> Option<Grade> {
        (0..=4).map(Grade).find(|grade| (grade.share() - share).abs() < 1e-6)
    }

    /// From 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / 4.0
    }
}

impl Serialize for Grade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.share())
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum QuestionOutcome {
    /// It was answered from the record.
    Told {
        /// The answer.
        answer: String,
        /// How right it is.
        grade: Grade,
    },
    /// It was answered by an inference.
    Guess {
        /// The answer.
        answer: String,
        /// How right it is.
        grade: Grade,
    },
    /// The record does not tell it.
    NotInContext,
    /// There is no record: the session does not fit the budget.
    Unmet,
    /// A model did not do what it was asked to; that says nothing about the record.
    Failed {
        /// The answer, if there is one that was not graded.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// Why.
        why: String,
    },
}

impl QuestionOutcome {
    /// A graded answer.
    pub fn of(answer: Answer, grade: Grade) -> QuestionOutcome {
        match answer {
            Answer::Told(answer) => QuestionOutcome::Told { answer, grade },
            Answer::Guess(answer) => QuestionOutcome::Guess { answer, grade },
            Answer::NotInContext => QuestionOutcome::NotInContext,
        }
    }

    /// What it counts, from 0 to 1; nothing where a model failed.
    pub fn counts(&self) -> Option<f64> {
        match self {
            QuestionOutcome::Told { grade, .. } => Some(grade.share()),
            QuestionOutcome::Guess { grade, .. } => Some(grade.share() * GUESS_COUNTS),
            QuestionOutcome::NotInContext | QuestionOutcome::Unmet => Some(0.0),
            QuestionOutcome::Failed { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_say_what_they_know_guess_or_miss() {
        for words in ["not in context", "  Not in context.", "\"NOT IN CONTEXT\"", "", " – "] {
            assert_eq!(Answer::of(words), Answer::NotInContext, "{words}");
        }
        assert_eq!(Answer::of("Guess:  port 80"), Answer::Guess("port 80".into()));
        assert_eq!(
            Answer::of("Port 80; the host is not in context."),
            Answer::Told("Port 80; the host is not in context.".into())
        );
        assert_eq!(Answer::of("Über 80"), Answer::Told("Über 80".into()));
    }

    #[test]
    fn there_are_five_grades_and_a_right_guess_counts_half() {
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| Grade::of(share).unwrap().share()),
            [0.0, 0.25, 0.5, 0.75, 1.0]
        );
        assert_eq!([0.6, -0.25, 1.25, f64::NAN].map(Grade::of), [None; 4]);
        let grade = Grade::of(0.75).unwrap();
        assert_eq!(QuestionOutcome::of(Answer::Told("a".into()), grade).counts(), Some(0.75));
        assert_eq!(QuestionOutcome::of(Answer::Guess("a".into()), grade).counts(), Some(0.375));
        assert_eq!(QuestionOutcome::of(Answer::NotInContext, grade).counts(), Some(0.0));
        assert_eq!(QuestionOutcome::Failed { answer: None, why: "no".into() }.counts(), None);
    }
}
