//! Question files: finding and checking them, and matching them to sessions.

use super::evidence::EvidenceMeasurement;
use super::session::{self, QuestionMismatch};
use crate::failure::Failure;
use foldline_measure::retention::Questions;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file of questions.
#[derive(Clone, Debug)]
pub struct QuestionFile {
    /// The file.
    pub file: PathBuf,
    /// What is in it.
    pub questions: Questions,
}

/// Questions on sessions that are measured.
#[derive(Clone, Debug, Default)]
pub struct QuestionFiles {
    all: Vec<QuestionFile>,
    /// Questions on sessions that are not, in words for the user.
    unmatched: Vec<String>,
}

/// Broken files that are shown at once.
const SHOWN: usize = 5;

impl QuestionFiles {
    /// Reads the questions that paths name, files or folders of them, and keeps those on sessions among `files`.
    pub fn read(paths: &[PathBuf], files: &[PathBuf]) -> Result<QuestionFiles, Failure> {
        let (mut question_files, mut broken) = (Vec::new(), Vec::new());
        for file in files_of(paths)? {
            match read(&file) {
                Ok(question_file) => question_files.push(question_file),
                Err(why) => broken.push(why),
            }
        }
        if !broken.is_empty() {
            broken.truncate(SHOWN);
            return Err(Failure::input(broken.join("\n       ")));
        }
        let names: BTreeSet<String> = files.iter().map(|file| session::name_of(file)).collect();
        let (all, unmatched): (Vec<QuestionFile>, Vec<QuestionFile>) = question_files
            .into_iter()
            .partition(|question_file| names.contains(file_of(&question_file.questions.session, &names)));
        let unmatched: Vec<String> = unmatched.iter().map(not_among_the_paths).collect();
        match all.is_empty() && !paths.is_empty() {
            true => Err(Failure::input(no_match(&unmatched, &names))),
            false => Ok(QuestionFiles { all, unmatched }),
        }
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The questions that were put to no session, in words for the user.
    pub fn left_out(&self, read: &[EvidenceMeasurement<'_>], misfits: &[QuestionMismatch<'_>]) -> Vec<String> {
        let mut words = self.unmatched.clone();
        words.extend(misfits.iter().map(|misfit| format!("{}: {}", misfit.question_file.file.display(), misfit.why)));
        // A file with several conversations may have fewer than the name says.
        let met = |question_file: &&QuestionFile| {
            let mut all = read
                .iter()
                .map(|reading| reading.question_file)
                .chain(misfits.iter().map(|misfit| misfit.question_file));
            !all.any(|one| one.file == question_file.file)
        };
        words.extend(self.all.iter().filter(met).map(not_among_the_paths));
        words
    }

    /// Refuses questions whose answers nobody can grade.
    pub fn require_grades(&self) -> Result<(), Failure> {
        let lacking: Vec<String> = self.all.iter().filter_map(lacking).collect();
        match lacking.is_empty() {
            true => Ok(()),
            false => Err(Failure::input(format!(
                "--ask grades by `answer` or `key_points`; these questions have neither:\n  {}",
                lacking.join("\n  ")
            ))),
        }
    }

    /// The questions on a session.
    pub fn on(&self, session: &str) -> impl Iterator<Item = &QuestionFile> {
        self.all.iter().filter(move |question_file| question_file.questions.session == session)
    }
}

/// The file of a session: conversations of a file with several are called `file:1`, `file:2`.
fn file_of<'n>(session: &'n str, names: &BTreeSet<String>) -> &'n str {
    match session.rsplit_once(':') {
        Some((file, number)) if !names.contains(session) && number.parse::<usize>().is_ok() => file,
        _ => session,
    }
}

fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let fail = |error: std::io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
        if !std::fs::metadata(path).map_err(fail)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
        let mut found: Vec<PathBuf> =
            entries.iter().map(std::fs::DirEntry::path).filter(|path| is_json(path)).collect();
        if found.is_empty() {
            return Err(Failure::input(format!("no questions in {}; expected .json files", path.display())));
        }
        found.sort();
        files.append(&mut found);
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "json")
}

fn read(file: &Path) -> Result<QuestionFile, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let questions = Questions::parse(&text).map_err(|error| format!("{shown}: {error}"))?;
    Ok(QuestionFile { file: file.to_owned(), questions })
}

fn not_among_the_paths(question_file: &QuestionFile) -> String {
    format!(
        "{} asks about the session {}, which is not among the paths",
        question_file.file.display(),
        question_file.questions.session
    )
}

fn no_match(unmatched: &[String], names: &BTreeSet<String>) -> String {
    let some: Vec<&str> = names.iter().map(String::as_str).take(SHOWN).collect();
    let more = if names.len() > some.len() { ", …" } else { "" };
    let mut lines = vec!["no questions match any of these sessions".to_owned()];
    lines.extend(unmatched.iter().take(SHOWN).map(|words| format!("  {words}")));
    lines.push(format!("expected `session` to be the name of a file without its ending: {}{more}", some.join(", ")));
    lines.join("\n")
}

fn lacking(question_file: &QuestionFile) -> Option<String> {
    let ungraded = question_file.questions.questions.iter().filter(|question| !question.can_be_graded());
    let ids: Vec<String> = ungraded.map(|question| question.id.to_string()).collect();
    (!ids.is_empty()).then(|| format!("{}: {}", question_file.file.display(), ids.join(", ")))
}
