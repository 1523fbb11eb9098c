//! Questions on a session: what somebody must know who takes the work over, each with the places that tell it.
//!
//! A compacted part tells a place when four fifths of its words stand together, on three neighbouring lines. That is no
//! reader: it says whether a reader could find the answer, not whether they would.

use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The questions on one session.
#[derive(Clone, Debug, Deserialize)]
pub struct Questions {
    /// The session that they are about, by the name of its file.
    pub session: String,
    /// How many messages of it are asked about.
    pub cut: usize,
    /// The questions.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Clone, Debug, Deserialize)]
pub struct Question {
    /// Its number.
    pub id: u32,
    /// What kind of knowledge it asks for.
    pub kind: String,
    /// The question.
    pub question: String,
    /// A model answer, for whoever grades.
    #[serde(default)]
    pub answer: String,
    /// What a full answer says, for whoever grades.
    #[serde(default)]
    pub key_points: Vec<String>,
    /// The places of the session that tell the answer, verbatim.
    pub evidence: Vec<String>,
}

/// How much of the evidence is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// By kind of question: told, and all.
    pub kinds: BTreeMap<String, (u64, u64)>,
}

impl Told {
    /// All kinds together.
    pub fn total(&self) -> (u64, u64) {
        self.kinds.values().fold((0, 0), |(told, of), (kind_told, kind_of)| (told + kind_told, of + kind_of))
    }

    /// Adds what was found in another session.
    pub fn add(&mut self, other: &Told) {
        for (kind, (told, of)) in &other.kinds {
            let sum = self.kinds.entry(kind.clone()).or_default();
            sum.0 += told;
            sum.1 += of;
        }
    }
}

/// A longer line is read in pieces of so many characters.
const PIECE: usize = 300;
/// Lines that a reader takes in together.
const TOGETHER: usize = 3;

impl Questions {
    /// How much of the evidence the lines of a compacted part tell.
    pub fn told<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Told {
        let lines: Vec<FxHashSet<String>> = lines.flat_map(pieces).map(words).collect();
        let mut told = Told::default();
        for question in &self.questions {
            for place in &question.evidence {
                let sum = told.kinds.entry(question.kind.clone()).or_default();
                sum.0 += u64::from(is_told(place, &lines));
                sum.1 += 1;
            }
        }
        told
    }
}

fn is_told(place: &str, lines: &[FxHashSet<String>]) -> bool {
    let wanted = words(place);
    (0..lines.len()).any(|at| {
        let near = lines.get(at..(at + TOGETHER).min(lines.len())).unwrap_or_default();
        let found = wanted.iter().filter(|word| near.iter().any(|line| line.contains(*word))).count();
        found * 5 >= wanted.len() * 4
    })
}

fn pieces(line: &str) -> Vec<&str> {
    let mut rest = line;
    let mut all = Vec::new();
    loop {
        let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        all.push(piece);
        if after.is_empty() {
            return all;
        }
        rest = after;
    }
}

/// Words of two characters and more, and numbers.
fn words(text: &str) -> FxHashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().nth(1).is_some() || word.starts_with(|c: char| c.is_ascii_digit()))
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_when_most_of_its_words_stand_together() {
        let questions: Questions = serde_json::from_str(
            r#"{"session":"s","cut":3,"questions":[{"id":1,"kind":"value","question":"Which port?","evidence":["the staging database listens on port 55432"]}]}"#,
        )
        .expect("it is valid");
        let total = |text: &str| questions.told(text.lines()).total();
        assert_eq!(total("The staging database\n(new) listens on\nport 55432."), (1, 1));
        assert_eq!(total("The\n\n\n\nstaging database listens on port 55432"), (1, 1));
        assert_eq!(total("the staging\n\n\n\nport 55432"), (0, 1));
    }
}
