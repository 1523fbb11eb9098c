//! Questions on a session: what somebody must know who takes the work over, each with the places that tell it.
//!
//! A compacted part tells a place when four fifths of its words stand together, on three neighbouring lines. That is no
//! reader: it says whether a reader could find the answer, not whether they would.

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde_json::Value;
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

/// Questions that cannot be used: where in their file, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct QuestionsError {
    /// Line and column, or the element.
    pub place: String,
    /// What was found, and what was expected.
    pub message: String,
}

/// What a file of questions looks like.
const FORM: &str = r#"{"session": "name", "cut": 120, "questions": [{"id": 1, "kind": "decision", "question": "…", "evidence": ["…"]}]}"#;

impl Questions {
    /// Reads a file of questions, and says where it is wrong.
    pub fn parse(text: &str) -> Result<Questions, QuestionsError> {
        let wrong = |place: String, message: String| QuestionsError { place, message };
        // Questions are read one by one: an error then names the question, not the end of the list.
        let Outline { session, cut, questions: elements } = serde_json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            wrong(place, format!("{message}; expected {FORM}"))
        })?;
        if session.trim().is_empty() {
            return Err(wrong("session".into(), "it is empty; expected the name of a session's file".into()));
        }
        if cut == 0 {
            return Err(wrong("cut".into(), "0; expected how many messages are asked about".into()));
        }
        if elements.is_empty() {
            return Err(wrong("questions".into(), format!("there are none; expected {FORM}")));
        }
        let mut places = BTreeMap::new();
        let mut questions: Vec<Question> = Vec::with_capacity(elements.len());
        for (at, element) in elements.into_iter().enumerate() {
            let place = format!("questions[{at}]");
            let question: Question = serde_json::from_value(element)
                .map_err(|error| wrong(place.clone(), format!("{error}; expected questions as in {FORM}")))?;
            if let Some(before) = places.insert(question.id, at) {
                let message = format!("questions[{before}] has the id {}, too; expected one of its own", question.id);
                return Err(wrong(place, message));
            }
            questions.push(question);
        }
        Ok(Questions { session, cut, questions })
    }
}

#[derive(Deserialize)]
struct Outline {
    session: String,
    cut: usize,
    questions: Vec<Value>,
}

impl Question {
    /// Whether there is something to grade an answer by.
    pub fn can_be_graded(&self) -> bool {
        std::iter::once(&self.answer).chain(&self.key_points).any(|text| !text.trim().is_empty())
    }
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

    #[test]
    fn a_file_that_is_wrong_is_told_by_its_place() {
        let question = r#"{"id":1,"kind":"value","question":"Which port?","evidence":[]}"#;
        let sheet = |questions: &str| format!(r#"{{"session":"s","cut":3,"questions":[{questions}]}}"#);
        assert!(Questions::parse(&sheet(question)).is_ok());
        for (text, expected) in [
            ("{\n  \"session\": s", "line 2, column 14: expected value; expected {\"session\""),
            (r#"{"session":"s","questions":[]}"#, "line 1, column 30: missing field `cut`; expected {"),
            (r#"{"session":" ","cut":3,"questions":[]}"#, "session: it is empty; expected the name"),
            (r#"{"session":"s","cut":0,"questions":[]}"#, "cut: 0; expected how many"),
            (&sheet(""), "questions: there are none; expected {"),
            (
                &sheet(&format!(r#"{question},{{"id":2,"question":"?"}}"#)),
                "questions[1]: missing field `kind`; expected ",
            ),
            (&sheet(&question.replace(":1", ":\"1\"")), "questions[0]: invalid type: string \"1\", expected u32; "),
            (&sheet(&format!("{question},{question}")), "questions[1]: questions[0] has the id 1, too; expected one"),
        ] {
            let error = Questions::parse(text).expect_err("it is wrong").to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_question_can_be_graded_by_an_answer_or_by_key_points() {
        let graded = |more: &str| {
            let text = format!(r#"{{"id":1,"kind":"value","question":"?","evidence":[]{more}}}"#);
            serde_json::from_str::<Question>(&text).expect("it is valid").can_be_graded()
        };
        assert!(graded(r#","answer":"55432""#) && graded(r#","key_points":["55432"]"#));
        assert!(!graded("") && !graded(r#","answer":" ","key_points":[]"#));
    }
}
