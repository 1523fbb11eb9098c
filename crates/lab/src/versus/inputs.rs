//! Sessions and questions, as tasks in the Chat Completions form.
//!
//! Every session gives a task by names: its first part, as `foldline eval` cuts it. Every file of questions gives a task by evidence:
//! the messages that it asks about.

use super::judge::Judge;
use crate::{Failure, convert};
use foldline_core::Format;
use foldline_measure::retention::{Exam, Page, Questions, SHARE, Timeline, cut};
use foldline_measure::trajectory::{Labels, Target, convert as trajectory};
use foldline_transcript::repair::repair;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::{Transcript, wire};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A shorter session fits any window; nothing is learnt from folding it.
const FEWEST_TOKENS: u64 = 8_000;

/// Everything that is compacted.
#[derive(Default)]
pub struct Inputs {
    /// The sessions, by name.
    pub sessions: Vec<Session>,
    /// Files that are not used, and why.
    pub left_out: Vec<String>,
}

/// A session with the tasks that it gives.
pub struct Session {
    /// The name of its file, without endings.
    pub name: String,
    /// All its messages.
    pub messages: Vec<Value>,
    /// Tokens of all its messages.
    pub tokens: u64,
    /// What is compacted of it.
    pub tasks: Vec<Task>,
}

/// Messages to compact, with what is asked of the result.
pub struct Task {
    /// What it is called.
    pub name: String,
    /// The messages.
    pub messages: Vec<Value>,
    /// Their tokens.
    pub tokens: u64,
    /// What is asked.
    pub asks: Asks,
}

/// What a result is asked for.
pub enum Asks {
    /// Names that the rest of the session needed.
    Names(Exam),
    /// Evidence that answers questions.
    Evidence(Questions),
}

impl Inputs {
    /// All tasks, in order.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.sessions.iter().flat_map(|session| &session.tasks)
    }

    /// How many sessions have questions.
    pub fn with_questions(&self) -> usize {
        let asked = |session: &&Session| session.tasks.iter().any(|task| matches!(task.asks, Asks::Evidence(_)));
        self.sessions.iter().filter(asked).count()
    }

    /// The longest sessions.
    pub fn longest(&self, number: usize) -> Vec<&Session> {
        let mut all: Vec<&Session> = self.sessions.iter().collect();
        all.sort_by_key(|session| std::cmp::Reverse(session.tokens));
        all.truncate(number);
        all
    }
}

/// Reads what is in `folders`; sessions with questions come first, so that `limit` does not drop them.
pub fn read(folders: &[PathBuf], limit: usize, judge: &Judge) -> Result<Inputs, Failure> {
    let mut questions = Vec::new();
    let mut files = Vec::new();
    for folder in folders {
        for file in files_in(folder)? {
            let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            match is_question_file(&text) {
                true => {
                    let read = Questions::parse(&text).map_err(|error| format!("{}: {error}", file.display()))?;
                    questions.push(read);
                }
                false => files.push((file, text)),
            }
        }
    }
    let is_asked = |file: &Path| questions.iter().any(|asked| belongs(asked, file));
    files.sort_by_key(|(file, _)| (!is_asked(file), file.clone()));
    let mut inputs = Inputs::default();
    let mut seen = BTreeSet::new();
    for (file, text) in &files {
        if inputs.sessions.len() == limit {
            break;
        }
        let name = name_of(file);
        if seen.contains(&name) {
            inputs.left_out.push(format!("{}: the same session in another format", file.display()));
            continue;
        }
        match session(&name, text, questions.iter().filter(|asked| belongs(asked, file)), judge) {
            Ok(session) => {
                seen.insert(name);
                inputs.sessions.push(session);
            }
            Err(why) => inputs.left_out.push(format!("{}: {why}", file.display())),
        }
    }
    match inputs.sessions.is_empty() {
        true => Err(format!("no session to compare on:\n  {}", inputs.left_out.join("\n  ")).into()),
        false => Ok(inputs),
    }
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a document has the form of questions: only those have an object with both fields.
fn is_question_file(text: &str) -> bool {
    let document = serde_json::from_str::<Value>(text).unwrap_or_default();
    document.get("session").is_some() && document.get("questions").is_some()
}

/// `two-hour-session.anthropic.json` is the session `two-hour-session`.
fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

fn belongs(questions: &Questions, file: &Path) -> bool {
    file.file_stem().is_some_and(|stem| stem.to_string_lossy() == questions.session)
}

fn session<'q>(
    name: &str,
    text: &str,
    asked: impl Iterator<Item = &'q Questions>,
    judge: &Judge,
) -> Result<Session, Failure> {
    let transcript = wire::read(text, None)?;
    // Peers are not tried on damage: it is repaired first, for all alike.
    let repaired = repair(&transcript).map(|repaired| repaired.text);
    let sound = repaired.as_deref().unwrap_or(text);
    let transcript = wire::read(sound, Some(transcript.format))?;
    let messages = chat(&transcript, sound)?;
    let tokens = judge.tokens(&messages);
    if tokens < FEWEST_TOKENS {
        return Err(format!("{tokens} tokens; at least {FEWEST_TOKENS} are needed for a comparison").into());
    }
    let task = |name: String, document: &str, asks| -> Result<Task, Failure> {
        let messages = chat(&wire::read(document, Some(transcript.format))?, document)?;
        Ok(Task { name, tokens: judge.tokens(&messages), messages, asks })
    };
    let mut tasks = Vec::new();
    let page = Page::of(&transcript);
    let cut = cut(&transcript, &page, SHARE)?;
    let exam = Exam::at(&page, &Timeline::of(&page), cut.message);
    if !exam.is_empty() {
        tasks.push(task(format!("{name} (names)"), &cut.first, Asks::Names(exam))?);
    }
    // Questions count the messages of the file as it is, and repairs may add some.
    let original = wire::read(text, Some(transcript.format))?;
    for questions in asked {
        let mut rewrite = Rewrite::default();
        (questions.cut..original.messages.len()).for_each(|index| rewrite.remove(index));
        let first = rewrite.apply(&original);
        let repaired = repair(&wire::read(&first, Some(transcript.format))?).map(|repaired| repaired.text);
        let first = repaired.unwrap_or(first);
        tasks.push(task(format!("{name} (questions)"), &first, Asks::Evidence(questions.clone()))?);
    }
    match tasks.is_empty() {
        true => Err("nothing of its first part was needed in the second, and there are no questions on it".into()),
        false => Ok(Session { name: name.to_owned(), messages, tokens, tasks }),
    }
}

/// The messages of a transcript as Chat Completions has them.
fn chat(transcript: &Transcript<'_>, text: &str) -> Result<Vec<Value>, Failure> {
    let body = match transcript.format {
        Format::OpenAiChat => serde_json::from_str(text)?,
        Format::Anthropic => convert::to_chat(&serde_json::from_str(text)?),
        _ => serde_json::from_str(&trajectory(transcript, Target::OpenAiChat, Labels::Omit))?,
    };
    let messages = match body {
        Value::Array(messages) => messages,
        mut object => object["messages"].take().as_array().cloned().unwrap_or_default(),
    };
    // Signed reasoning has no place in this form, and no peer reads it.
    Ok(messages.into_iter().map(without_reasoning).collect())
}

fn without_reasoning(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        fields.remove("reasoning_content");
    }
    message
}
