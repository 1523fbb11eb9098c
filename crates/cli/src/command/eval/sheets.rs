//! Files of questions: which the user means, what is wrong with them, and which session each is about.

use super::evidence::Reading;
use super::session::{self, Misfit};
use crate::failure::Failure;
use foldline_measure::retention::Questions;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file of questions.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The file.
    pub file: PathBuf,
    /// What is in it.
    pub questions: Questions,
}

/// Questions on sessions that are measured.
#[derive(Clone, Debug, Default)]
pub struct Sheets {
    all: Vec<Sheet>,
    /// Questions on sessions that are not, in words for the user.
    homeless: Vec<String>,
}

/// Broken files that are shown at once.
const SHOWN: usize = 5;

impl Sheets {
    /// Reads the questions that paths name, files or folders of them, and keeps those on sessions among `files`.
    pub fn read(paths: &[PathBuf], files: &[PathBuf]) -> Result<Sheets, Failure> {
        let (mut sheets, mut broken) = (Vec::new(), Vec::new());
        for file in files_of(paths)? {
            match read(&file) {
                Ok(sheet) => sheets.push(sheet),
                Err(why) => broken.push(why),
            }
        }
        if !broken.is_empty() {
            broken.truncate(SHOWN);
            return Err(Failure::input(broken.join("\n       ")));
        }
        let names: BTreeSet<String> = files.iter().map(|file| session::name_of(file)).collect();
        let (all, homeless): (Vec<Sheet>, Vec<Sheet>) =
            sheets.into_iter().partition(|sheet| names.contains(file_of(&sheet.questions.session, &names)));
        let homeless: Vec<String> = homeless.iter().map(not_among_the_paths).collect();
        match all.is_empty() && !paths.is_empty() {
            true => Err(Failure::input(no_match(&homeless, &names))),
            false => Ok(Sheets { all, homeless }),
        }
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The questions that were put to no session, in words for the user.
    pub fn left_out(&self, read: &[Reading<'_>], misfits: &[Misfit<'_>]) -> Vec<String> {
        let mut words = self.homeless.clone();
        words.extend(misfits.iter().map(|misfit| format!("{}: {}", misfit.sheet.file.display(), misfit.why)));
        // A file with several conversations may have fewer than the name says.
        let met = |sheet: &&Sheet| {
            let mut all = read.iter().map(|reading| reading.sheet).chain(misfits.iter().map(|misfit| misfit.sheet));
            !all.any(|one| one.file == sheet.file)
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
    pub fn on(&self, session: &str) -> impl Iterator<Item = &Sheet> {
        self.all.iter().filter(move |sheet| sheet.questions.session == session)
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

fn read(file: &Path) -> Result<Sheet, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let questions = Questions::parse(&text).map_err(|error| format!("{shown}: {error}"))?;
    Ok(Sheet { file: file.to_owned(), questions })
}

fn not_among_the_paths(sheet: &Sheet) -> String {
    format!("{} asks about the session {}, which is not among the paths", sheet.file.display(), sheet.questions.session)
}

fn no_match(homeless: &[String], names: &BTreeSet<String>) -> String {
    let some: Vec<&str> = names.iter().map(String::as_str).take(SHOWN).collect();
    let more = if names.len() > some.len() { ", …" } else { "" };
    let mut lines = vec!["no questions on any of these sessions".to_owned()];
    lines.extend(homeless.iter().take(SHOWN).map(|words| format!("  {words}")));
    lines.push(format!("expected `session` to be the name of a file without its ending: {}{more}", some.join(", ")));
    lines.join("\n")
}

fn lacking(sheet: &Sheet) -> Option<String> {
    let ungraded = sheet.questions.questions.iter().filter(|question| !question.can_be_graded());
    let ids: Vec<String> = ungraded.map(|question| question.id.to_string()).collect();
    (!ids.is_empty()).then(|| format!("{}: {}", sheet.file.display(), ids.join(", ")))
}
