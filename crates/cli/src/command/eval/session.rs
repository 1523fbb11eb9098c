//! Measures the conversations of a file by names and by questions.

use super::evidence::{self, EvidenceMeasurement};
use super::measure::{self, EvalSetup, SessionResult};
use super::question_files::{QuestionFile, QuestionFiles};
use crate::batch;
use std::path::Path;

/// What was found out about one conversation.
pub struct Outcome<'s> {
    /// By the names that it needed.
    pub names: SessionResult,
    /// By the questions on it, file by file; why not, where they do not fit it.
    pub readings: Vec<Result<EvidenceMeasurement<'s>, QuestionMismatch<'s>>>,
}

/// Questions that cannot be put to the session that they name.
pub struct QuestionMismatch<'s> {
    /// The questions.
    pub question_file: &'s QuestionFile,
    /// What is wrong.
    pub why: String,
}

/// The name of a session: its file's, without the ending.
pub fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}

/// Measures all conversations of a file.
pub fn try_file<'s>(setup: &EvalSetup, question_files: &'s QuestionFiles, file: &Path) -> Vec<Outcome<'s>> {
    let name = name_of(file);
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let readings = question_files
                .on(&name)
                .map(|question_file| Err(QuestionMismatch { question_file, why: error.to_string() }))
                .collect();
            return vec![Outcome {
                names: SessionResult::Unreadable(format!("{}: {error}", file.display())),
                readings,
            }];
        }
    };
    let conversations = batch::conversations(&text);
    let several = conversations.len() > 1;
    let named = conversations.iter().zip(1..).map(|(text, number)| match several {
        true => (text, format!("{name}:{number}")),
        false => (text, name.clone()),
    });
    let outcome = |(text, name): (&&str, String)| {
        let read = |question_file| {
            evidence::read(setup, question_file, text).map_err(|why| QuestionMismatch { question_file, why })
        };
        let readings = question_files.on(&name).map(read).collect();
        Outcome { names: measure::measure_session(setup, name, text), readings }
    };
    named.map(outcome).collect()
}
