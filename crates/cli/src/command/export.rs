//! `foldline export`: conversations as training data, without synthetic messages.

use super::settings;
use crate::args::{self, FormatName, Tuning};
use crate::batch;
use crate::failure::{Failure, Verdict};
use crate::input;
use crate::output;
use crate::settings::{Surroundings, model_table};
use clap::{Args, ValueEnum};
use foldline_core::tokens::measure;
use foldline_core::{Job, Policy, Request, SessionState, Trigger, compact};
use foldline_measure::trajectory::{Labels, Synthetic, Target, clean, convert};
use foldline_reduce::wording::{counted, grouped};
use foldline_transcript::wire;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// `foldline export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Synthetic messages are handoffs, placeholders and stub results of Foldline and other compactors. With \
--target-tokens, a conversation that is too long is compacted to fit: the first messages (system, first user, reply \
and tool turn) and the latest turns are kept verbatim, and the handoff between them is labelled.

Examples:
  foldline export sessions/ -o train.jsonl
  foldline export sessions/ --to openai-chat --synthetic label -o out/
  foldline export trajectories.jsonl --target-tokens 15250 -o short.jsonl
  foldline export a.json --to same --synthetic drop > clean.jsonl"
)]
pub struct ExportArgs {
    /// Transcripts, or folders of them. A JSONL file may hold one conversation per line.
    #[arg(required = true, value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Wire format of the transcripts.
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    pub format: FormatName,
    #[command(flatten)]
    pub tuning: Tuning,
    /// Output: a folder (one file per input) or a file (one conversation per line); standard output if omitted.
    #[arg(short, long, value_name = "DIR|FILE")]
    pub output: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Form::Sharegpt)]
    pub to: Form,
    /// Handling of synthetic messages.
    #[arg(long, value_enum, default_value_t = SyntheticName::Drop)]
    pub synthetic: SyntheticName,
    /// Maximum tokens of each conversation, as `15250` or `15k`.
    #[arg(long, value_name = "TOKENS", value_parser = args::tokens)]
    pub target_tokens: Option<u64>,
    /// The summary as JSON on standard error.
    #[arg(long)]
    pub json: bool,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// ShareGPT turns, as trainers read them.
    Sharegpt,
    /// Chat Completions messages.
    OpenaiChat,
    /// Unchanged.
    Same,
}

/// What happens to synthetic content, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SyntheticName {
    /// Drop them; a stub result is dropped with its call.
    Drop,
    /// Label them `"synthetic": true`.
    Label,
    /// Keep them unchanged.
    Keep,
}

/// What all conversations are exported with.
struct Exporter {
    policy: Policy,
    job: Job,
    to: Form,
    synthetic: Synthetic,
    target: Option<u64>,
}

/// A conversation, exported.
struct Exported {
    text: String,
    figures: ConversationFigures,
}

/// What became of one conversation.
#[derive(Clone, Debug, Default, Serialize)]
struct ConversationFigures {
    name: String,
    messages_before: usize,
    messages_after: usize,
    tokens_before: u64,
    tokens_after: u64,
    synthetic: usize,
    compacted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What became of all of them.
#[derive(Debug, Serialize)]
struct Summary {
    conversations: usize,
    failed: usize,
    compacted: usize,
    synthetic: usize,
    tokens_before: u64,
    tokens_after: u64,
    files: Vec<ConversationFigures>,
}

/// Where results go.
enum Destination<'a> {
    Stdout,
    File(&'a Path),
    Folder(&'a Path),
}

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<Verdict, Failure> {
    let settings = settings(&args.tuning, Vec::new())?;
    let models = model_table(settings.policy(), &Surroundings::of_process()).map_err(Failure::input)?;
    let files = batch::files(&args.paths)?;
    let exporter = Exporter {
        policy: settings.policy().clone(),
        job: Job { format: input::format_of(args.format), models: Some(models), ..Job::default() },
        to: args.to,
        synthetic: match args.synthetic {
            SyntheticName::Drop => Synthetic::Drop,
            SyntheticName::Label => Synthetic::Label,
            SyntheticName::Keep => Synthetic::Keep,
        },
        target: args.target_tokens,
    };
    let exported = batch::each(&files, "Exporting", |file| export_file(&exporter, file));
    match place(args.output.as_deref()) {
        Destination::Stdout => output::print(&lines(exported.iter().flatten()))?,
        Destination::File(path) => output::write_file(path, &lines(exported.iter().flatten()))?,
        Destination::Folder(folder) => write_folder(folder, &files, &exported)?,
    }
    let summary = Summary::of(exported.iter().flatten().map(|exported| exported.figures.clone()).collect());
    output::tell(&match args.json {
        true => serde_json::to_string_pretty(&summary).map_err(Failure::input)? + "\n",
        false => summary.words(),
    });
    Ok(if summary.failed > 0 { Verdict::Found } else { Verdict::Fine })
}

/// A folder that is there, or a name without an ending, means one file per input.
fn place(output: Option<&Path>) -> Destination<'_> {
    match output.filter(|path| *path != Path::new("-")) {
        None => Destination::Stdout,
        Some(path) if path.is_dir() || path.extension().is_none() && !path.exists() => Destination::Folder(path),
        Some(path) => Destination::File(path),
    }
}

fn export_file(exporter: &Exporter, file: &Path) -> Vec<Exported> {
    let name = file.display().to_string();
    let failed = |error: String| Exported {
        text: String::new(),
        figures: ConversationFigures { name: name.clone(), error: Some(error), ..ConversationFigures::default() },
    };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return vec![failed(error.to_string())],
    };
    let conversations = batch::conversations(&text);
    let several = conversations.len() > 1;
    let named = conversations.iter().zip(1..).map(|(text, number)| match several {
        true => (text, format!("{name}:{number}")),
        false => (text, name.clone()),
    });
    named
        .map(|(text, name)| {
            export(exporter, name.clone(), text).unwrap_or_else(|error| Exported {
                text: String::new(),
                figures: ConversationFigures { name, error: Some(error), ..ConversationFigures::default() },
            })
        })
        .collect()
}

fn export(exporter: &Exporter, name: String, text: &str) -> Result<Exported, String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let before = input::transcript(text, exporter.job.format).map_err(|error| told(&error))?;
    let cleaned = clean(&before, exporter.synthetic).map_err(|error| told(&error))?;
    let fitted = match exporter.target {
        Some(target) => Some(fit(exporter, &cleaned.text, target)?),
        None => None,
    };
    let text = fitted.as_ref().map_or(cleaned.text.as_ref(), |(text, _)| text);
    let after = wire::read(text, Some(before.format)).map_err(|error| told(&error))?;
    let tokens = |transcript| {
        let setting = exporter.job.setting(transcript, &exporter.policy, &SessionState::default());
        measure(transcript, &setting.measure).total()
    };
    let compacted = fitted.as_ref().is_some_and(|(_, compacted)| *compacted);
    let figures = ConversationFigures {
        name,
        messages_before: before.messages.len(),
        messages_after: after.messages.len(),
        tokens_before: tokens(&before),
        tokens_after: tokens(&after),
        synthetic: cleaned.synthetic,
        compacted,
        error: None,
    };
    let labels = if exporter.synthetic == Synthetic::Keep { Labels::Omit } else { Labels::Write };
    let text = match exporter.to {
        Form::Sharegpt => convert(&after, Target::ShareGpt, labels),
        Form::OpenaiChat => convert(&after, Target::OpenAiChat, labels),
        // The handoff that the export itself wrote is labelled, whatever happened to those that came in.
        Form::Same if compacted && labels == Labels::Write => {
            clean(&after, Synthetic::Label).map_err(|error| told(&error))?.text.into_owned()
        }
        Form::Same => text.to_owned(),
    };
    Ok(Exported { text, figures })
}

/// Compacts a conversation that is over its target. Training data has no store behind it: no handles.
fn fit(exporter: &Exporter, text: &str, target: u64) -> Result<(String, bool), String> {
    let request = Request { trigger: Trigger::Manual, target: Some(target), ..Request::default() };
    let job = Job { request, ..exporter.job.clone() };
    let done = compact(text, &exporter.policy, &SessionState::default(), &job).map_err(|error| error.to_string())?;
    let compacted = done.plan.changes_something();
    Ok((done.body.into_owned(), compacted))
}

/// One conversation per line.
fn lines<'e>(exported: impl Iterator<Item = &'e Exported>) -> String {
    exported.filter(|one| one.figures.error.is_none()).fold(String::new(), |mut out, one| {
        let _ = writeln!(out, "{}", on_one_line(&one.text));
        out
    })
}

/// A document on a line of its own; messages on several lines become a list.
fn on_one_line(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => value.to_string(),
        Err(_) => {
            let messages: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            serde_json::json!({ "messages": messages }).to_string()
        }
    }
}

fn write_folder(folder: &Path, files: &[PathBuf], exported: &[Vec<Exported>]) -> Result<(), Failure> {
    let fail = |error| Failure::input(format!("cannot create the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(fail)?;
    let mut taken = BTreeSet::new();
    for (file, exported) in files.iter().zip(exported) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (text, ending) = match exported.as_slice() {
            [one] if one.figures.error.is_some() => continue,
            [one] if serde_json::from_str::<serde::de::IgnoredAny>(&one.text).is_ok() => {
                (one.text.clone() + "\n", "json")
            }
            [one] => (one.text.clone(), "jsonl"),
            several => (lines(several.iter()), "jsonl"),
        };
        // Two inputs of one name from two folders are two results.
        let names = std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}-{number}")));
        let name = names.map(|stem| format!("{stem}.{ending}")).find(|name| taken.insert(name.clone()));
        output::write_file(&folder.join(name.unwrap_or(stem)), &text)?;
    }
    Ok(())
}

impl Summary {
    fn of(files: Vec<ConversationFigures>) -> Summary {
        let fine = || files.iter().filter(|figures| figures.error.is_none());
        Summary {
            conversations: fine().count(),
            failed: files.len() - fine().count(),
            compacted: fine().filter(|figures| figures.compacted).count(),
            synthetic: fine().map(|figures| figures.synthetic).sum(),
            tokens_before: fine().map(|figures| figures.tokens_before).sum(),
            tokens_after: fine().map(|figures| figures.tokens_after).sum(),
            files,
        }
    }

    fn words(&self) -> String {
        let mut out = format!(
            "exported {}, {} failed; {} found, {} compacted; tokens {} → {}\n",
            counted(self.conversations, "conversation"),
            self.failed,
            counted(self.synthetic, "synthetic part"),
            self.compacted,
            grouped(self.tokens_before),
            grouped(self.tokens_after)
        );
        for figures in &self.files {
            if let Some(error) = &figures.error {
                let _ = writeln!(out, "  {}: {error}", figures.name);
            }
        }
        out
    }
}
