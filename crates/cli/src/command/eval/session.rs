//! The conversations of a file, each measured by the names that it needed and by the questions on it.

use super::evidence::{self, Reading};
use super::sheets::{Sheet, Sheets};
use super::trial::{self, Court, Verdict};
use crate::batch;
use std::path::Path;

/// What was found out about one conversation.
pub struct Outcome<'s> {
    /// By the names that it needed.
    pub names: Verdict,
    /// By the questions on it, file by file; why not, where they do not fit it.
    pub readings: Vec<Result<Reading<'s>, Misfit<'s>>>,
}

/// Questions that cannot be put to the session that they name.
pub struct Misfit<'s> {
    /// The questions.
    pub sheet: &'s Sheet,
    /// What is wrong.
    pub why: String,
}

/// The name of a session: its file's, without the ending.
pub fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| file.display().to_string(), |stem| stem.to_string_lossy().into_owned())
}

/// Measures all conversations of a file.
pub fn try_file<'s>(court: &Court, sheets: &'s Sheets, file: &Path) -> Vec<Outcome<'s>> {
    let name = name_of(file);
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            let readings = sheets.on(&name).map(|sheet| Err(Misfit { sheet, why: error.to_string() })).collect();
            return vec![Outcome { names: Verdict::Unreadable(format!("{}: {error}", file.display())), readings }];
        }
    };
    let conversations = batch::conversations(&text);
    let several = conversations.len() > 1;
    let named = conversations.iter().zip(1..).map(|(text, number)| match several {
        true => (text, format!("{name}:{number}")),
        false => (text, name.clone()),
    });
    let outcome = |(text, name): (&&str, String)| {
        let read = |sheet| evidence::read(court, sheet, text).map_err(|why| Misfit { sheet, why });
        let readings = sheets.on(&name).map(read).collect();
        Outcome { names: trial::try_session(court, name, text), readings }
    };
    named.map(outcome).collect()
}
