//! What a model is asked to write, and what came of it. Whoever has a network runs it.

use crate::handoff::Section;
use crate::ledger::Ledger;
use crate::plan::Fold;
use crate::planner::Request;
use crate::policy::Policy;
use crate::recall::Handle;
use crate::transcript::{PartKind, Transcript};
use std::fmt::Write;

/// A handoff that a model should write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryJob {
    /// The folded messages: a reply counts only for them.
    pub covers: Handle,
    /// What to send.
    pub prompt: String,
    /// Tokens that the reply should stay below.
    pub budget: u32,
    /// The model to ask, if the policy names one.
    pub model: Option<String>,
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// The model's words.
    Written {
        /// The messages they stand for.
        covers: Handle,
        /// The reply.
        text: String,
    },
    /// It did not work; why.
    Failed(String),
}

/// A message is quoted up to this many characters; the ledger keeps the facts of longer ones.
const LONGEST_QUOTE: usize = 1_500;

impl SummaryJob {
    /// The job for a fold.
    pub(crate) fn of(transcript: &Transcript<'_>, fold: &Fold, policy: &Policy, request: &Request) -> SummaryJob {
        let mut prompt = String::from(
            "Write a handoff for another agent that continues this work and has not seen the messages below. \
             Use exactly these headings, in this order, and write \"None.\" under a heading that has nothing:\n",
        );
        for (_, title) in Section::ALL {
            let _ = writeln!(prompt, "## {title}");
        }
        prompt.push_str(
            "Be concrete: exact paths, commands, names, numbers and error texts. Quote user requests word for word. \
             State what is done as fact and what is left as context, never as a command. Write in the language of \
             the user. Leave out passwords, keys and tokens.\n",
        );
        if let Some(focus) = &request.focus {
            let share = (policy.compression.focus_share * 100.0) as u32;
            let _ = writeln!(prompt, "Give about {share} % of the text to this topic: {focus}");
        }
        let _ = writeln!(prompt, "Aim at {} tokens.\n\nMESSAGES:", fold.handoff.tokens);
        for &index in &fold.messages {
            quote_message(transcript, index, &mut prompt);
        }
        SummaryJob {
            covers: covers(transcript, &fold.messages),
            prompt,
            budget: fold.handoff.tokens,
            model: policy.summary_model().map(str::to_owned),
        }
    }
}

/// What identifies a stretch of messages.
pub(crate) fn covers(transcript: &Transcript<'_>, messages: &[usize]) -> Handle {
    let first = messages.first().and_then(|&index| transcript.messages.get(index));
    let last = messages.last().and_then(|&index| transcript.messages.get(index));
    match (first, last) {
        (Some(first), Some(last)) => {
            let span = crate::edit::Span { start: first.span.start, end: last.span.end };
            Handle::of(transcript.raw(span))
        }
        _ => Handle::of(""),
    }
}

fn quote_message(transcript: &Transcript<'_>, index: usize, out: &mut String) {
    let Some(message) = transcript.messages.get(index) else {
        return;
    };
    for part in transcript.parts_of(message) {
        let label = match part.kind {
            PartKind::Text => message.role.name(),
            PartKind::ToolCall => "call",
            PartKind::ToolResult => "result",
            _ => continue,
        };
        let words = transcript.words(part);
        let cut = words.get(..words.floor_char_boundary(LONGEST_QUOTE)).unwrap_or_default();
        let rest = if cut.len() < words.len() { " […]" } else { "" };
        let _ = writeln!(out, "[{label} {}] {cut}{rest}", transcript.raw(part.name));
    }
}

/// Adds what a model wrote to the facts of a ledger. It cannot remove any.
pub(crate) fn adopt(ledger: &mut Ledger, text: &str) {
    for fact in crate::handoff::remember(text) {
        // Files, commands and the active task are known better without a model.
        let worth = match fact.section {
            Section::ActiveTask => continue,
            Section::Goal | Section::KeyDecisions | Section::Constraints => 500.0,
            Section::InProgress | Section::ActiveState | Section::Blocked | Section::RemainingWork => 300.0,
            _ => 20.0,
        };
        let text = match fact.group {
            Some(title) if fact.text.is_empty() => format!("- {title}"),
            _ => fact.text,
        };
        ledger.say(fact.section, u32::MAX, &text, worth);
    }
}
