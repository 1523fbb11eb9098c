//! How many rules, facts and corrections of chats survive several folds.
//!
//! Each file of a folder is a chat with notes on what was laid down in it (`examples/chats` has eight in as many
//! languages). The chat grows in equal steps; after each, it is folded to a share of everything said so far.

use crate::Failure;
use crate::matrix::sessions;
use foldline_core::ledger::Weights;
use foldline_core::{Job, Policy, Request, SessionState, Trigger, compact};
use foldline_measure::retention::Page;
use foldline_transcript::wire;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// A chat with notes.
#[derive(Deserialize)]
pub(crate) struct Chat {
    language: String,
    messages: Vec<Value>,
    pub(crate) rules: Vec<Held>,
    pub(crate) facts: Vec<Held>,
    corrections: Vec<Correction>,
    choices: Vec<Choice>,
}

impl Chat {
    /// The chat as a request.
    pub(crate) fn body(&self) -> String {
        body(&self.messages)
    }
}

/// Something that was laid down.
#[derive(Deserialize)]
pub(crate) struct Held {
    pub(crate) text: String,
    must_hold: Vec<String>,
    /// The message that says it, counted from 0.
    message: usize,
}

impl Held {
    fn is_told(&self, text: &str) -> bool {
        self.must_hold.iter().all(|words| text.contains(words.as_str()))
    }
}

/// A value that was replaced.
#[derive(Deserialize)]
struct Correction {
    old: String,
    new: String,
    about: String,
}

/// An option that a short reply chose.
#[derive(Deserialize)]
struct Choice {
    chosen: String,
}

/// What is tried.
pub struct Options {
    /// Folder with chats.
    pub chats: PathBuf,
    /// Share of the text that a fold may keep.
    pub share: f64,
    /// Folds in a row.
    pub folds: usize,
    /// Where to write the results, for reading.
    pub into: Option<PathBuf>,
}

/// What is left of one chat.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Its language.
    pub language: String,
    /// Rules kept, of all.
    pub rules: (usize, usize),
    /// Facts kept, of all.
    pub facts: (usize, usize),
    /// Choices kept, of all.
    pub choices: (usize, usize),
    /// Values that are told although they were replaced, without what replaced them.
    pub outdated: Vec<String>,
    /// Rules and facts that are lost.
    pub lost: Vec<String>,
}

/// What is left of all chats.
#[derive(Clone, Debug, Default)]
pub struct Survival(pub Vec<Left>);

impl Survival {
    /// The shares of rules and facts that are left, in percent.
    pub fn shares(&self) -> (f64, f64) {
        let share = |of: fn(&Left) -> (usize, usize)| {
            let (kept, all) = self.0.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            100.0 * kept as f64 / all.max(1) as f64
        };
        (share(|left| left.rules), share(|left| left.facts))
    }
}

impl fmt::Display for Survival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |(kept, of): (usize, usize)| format!("{kept:>3} of {of:<3}");
        writeln!(f, "language    rules      facts      choices    outdated")?;
        let mut sum = Left::default();
        for left in &self.0 {
            let Left { language, rules, facts, choices, outdated, .. } = left;
            writeln!(
                f,
                "{language:<10}  {}  {}  {}  {}",
                share(*rules),
                share(*facts),
                share(*choices),
                outdated.join("; ")
            )?;
            for (total, one) in [(&mut sum.rules, rules), (&mut sum.facts, facts), (&mut sum.choices, choices)] {
                *total = (total.0 + one.0, total.1 + one.1);
            }
            sum.outdated.extend(outdated.clone());
        }
        let percent = |(kept, of): (usize, usize)| 100.0 * kept as f64 / of.max(1) as f64;
        writeln!(
            f,
            "all: rules {:.0} %, facts {:.0} %, choices {:.0} %, {} outdated values told as current",
            percent(sum.rules),
            percent(sum.facts),
            percent(sum.choices),
            sum.outdated.len()
        )?;
        for left in &self.0 {
            for lost in &left.lost {
                writeln!(f, "lost {}: {lost}", left.language)?;
            }
        }
        Ok(())
    }
}

/// Folds every chat of a folder.
pub fn run(options: &Options) -> Result<Survival, Failure> {
    run_with(options, &Weights::default())
}

/// The same with other weights.
pub fn run_with(options: &Options, weights: &Weights) -> Result<Survival, Failure> {
    let mut all = Vec::new();
    for file in sessions(&options.chats)? {
        let chat: Chat = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        let texts = folded(&chat, options, weights)?;
        if let Some((folder, last)) = options.into.as_ref().zip(texts.last()) {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(name_of(&file)), &last.text)?;
        }
        all.push(left(&chat, &texts));
    }
    Ok(Survival(all))
}

fn name_of(file: &Path) -> String {
    format!("{}.txt", file.file_stem().unwrap_or_default().to_string_lossy())
}

/// What is left after a fold.
struct Folded {
    /// Messages that had been spoken.
    spoken: usize,
    text: String,
}

/// The lines that are left after each fold.
fn folded(chat: &Chat, options: &Options, weights: &Weights) -> Result<Vec<Folded>, Failure> {
    let mut texts = Vec::new();
    let mut messages: Vec<Value> = Vec::new();
    let mut state = SessionState::default();
    let step = chat.messages.len().div_ceil(options.folds);
    let mut spoken = 0;
    for part in chat.messages.chunks(step) {
        messages.extend(part.iter().cloned());
        spoken += part.len();
        let whole = body(chat.messages.get(..spoken).unwrap_or_default());
        let transcript = wire::read(&whole, None)?;
        let setting = Job::default().setting(&transcript, &Policy::default(), &SessionState::default());
        let tokens = foldline_core::tokens::measure(&transcript, &setting.measure).total();
        let target = Some((tokens as f64 * options.share) as u64);
        let request = Request { trigger: Trigger::Manual, target, weights: weights.clone(), ..Request::default() };
        let current = body(&messages);
        // The first steps of a short chat may be smaller than any handoff: they are folded with the next one.
        let done = match compact(&current, &Policy::default(), &state, &Job { request, ..Job::default() }) {
            Ok(done) => done,
            Err(_) if spoken < chat.messages.len() => continue,
            Err(error) => return Err(error.into()),
        };
        let after: Value = serde_json::from_str(&done.body)?;
        messages = after.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        state = done.state;
        let page = body(&messages);
        let page = Page::of(&wire::read(&page, None)?);
        texts.push(Folded { spoken, text: page.lines().collect::<Vec<_>>().join("\n") });
    }
    Ok(texts)
}

fn body(messages: &[Value]) -> String {
    json!({"model": "claude-sonnet-4-5", "max_tokens": 4096, "messages": messages}).to_string()
}

fn left(chat: &Chat, folds: &[Folded]) -> Left {
    let text = folds.last().map_or("", |last| last.text.as_str());
    let count = |all: &[Held]| (all.iter().filter(|held| held.is_told(text)).count(), all.len());
    let chosen = chat.choices.iter().filter(|choice| text.contains(&choice.chosen)).count();
    let outdated = chat.corrections.iter().filter(|one| text.contains(&one.old) && !text.contains(&one.new));
    let notes = chat.rules.iter().map(|held| ("rule", held)).chain(chat.facts.iter().map(|held| ("fact", held)));
    let lost = notes.filter(|(_, held)| !held.is_told(text)).map(|(kind, held)| {
        // The folds that had it and did not tell it.
        let gone = folds.iter().position(|fold| fold.spoken > held.message && !held.is_told(&fold.text));
        format!("{kind}, by fold {}: {}", gone.unwrap_or_default() + 1, held.text)
    });
    Left {
        language: chat.language.clone(),
        rules: count(&chat.rules),
        facts: count(&chat.facts),
        choices: (chosen, chat.choices.len()),
        outdated: outdated.map(|one| format!("{}: {} (now {})", one.about, one.old, one.new)).collect(),
        lost: lost.collect(),
    }
}
