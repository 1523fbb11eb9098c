//! What a model is asked to write for one fold.

use super::cost::{Costs, PrefixCall, Route, Volume};
use super::prefix;
use super::prompt::Brief;
use super::source::{self, shortened, tokens};
use super::writer::Writer;
use crate::handoff::MODEL_SHARE;
use crate::inserted;
use crate::ledger::{Ledger, spoken};
use crate::models::{ApiFamily, ModelProfile, ModelTable};
use crate::policy::Policy;
use crate::zone::last_request;
use foldline_redact::{Mode, redact};
use foldline_transcript::recall::Handle;
use foldline_transcript::{PartKind, Transcript};

/// A handoff that a model should write.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryJob {
    /// The folded messages: a reply counts only for them.
    pub covers: Handle,
    /// Tokens that the reply should stay below.
    pub budget: u32,
    /// The model to ask: the one that the policy names, else the conversation's own.
    pub model: Option<String>,
    /// The model to ask once when that one fails: the conversation's own.
    pub fallback_model: Option<String>,
    /// Window of the model to ask, in tokens.
    pub window: u32,
    /// The cheaper way to ask.
    pub route: Route,
    /// What the ways cost.
    pub costs: Costs,
    pub(super) brief: Brief,
    /// The conversation as a prompt, where that is the way to ask.
    pub(super) document: Option<String>,
    /// What the ledger tells of the folded messages.
    pub(super) material: String,
    /// What users said, for checking quotes.
    pub(super) user: Vec<String>,
}

/// A model of which nothing is known is taken to read this much: less than any hosted model, and what local
/// ones are commonly started with.
const UNKNOWN_WINDOW: u32 = 32_768;
/// A reply takes at most this share of the window it is written in.
const REPLY_SHARE: u32 = 5;
/// Models write longer than they are asked to: this much room is kept for a reply, in tenths of its budget.
const REPLY_HEADROOM: u32 = 13;
/// Less material is not worth a prompt.
const LEAST_MATERIAL: u32 = 200;
/// More material tells a model hardly more than the handoff itself does: most of it is outputs.
const MOST_MATERIAL: u32 = 48_000;
/// What follows the fold is told in so many tokens, and in at most this share of the window.
const MOST_AFTER: u32 = 2_000;
const AFTER_SHARE: u32 = 16;
/// A request is named by so many bytes of its words.
const LONGEST_NAME: usize = 100;
/// Memory is context of the record and gets at most this share of the window.
const MEMORY_SHARE: u32 = 8;
/// Characters of a request that tell what work is about.
const LONGEST_REQUEST: usize = 500;
/// Words per token in a record of technical work, where names and paths take several tokens each.
const WORDS_PER_TOKEN: f64 = 0.62;

impl SummaryJob {
    /// The job for a fold; `None` when the summariser's window has no room for it.
    pub(crate) fn of(input: Input<'_, '_>) -> Option<SummaryJob> {
        let Input { transcript, messages, ledger, policy, .. } = input;
        let model = policy.summary_model();
        let profile = input.models.profile(model.unwrap_or(&input.model.name), ApiFamily::OpenAi);
        let window =
            policy.summarizer.window.fixed().unwrap_or(if profile.known { profile.window } else { UNKNOWN_WINDOW });
        let budget = ((f64::from(input.room) * MODEL_SHARE) as u32).min(window / REPLY_SHARE);
        let covers = covers(transcript, messages);
        let mut job = SummaryJob {
            covers,
            budget,
            model: model.or(own_model(policy, transcript)).map(str::to_owned),
            fallback_model: fallback_model(policy, transcript),
            window,
            route: Route::Serialised,
            costs: Costs::default(),
            brief: Brief {
                after: source::material(input.after, MOST_AFTER.min(window / AFTER_SHARE)),
                ..brief(&input, covers, budget, window)
            },
            document: None,
            material: String::new(),
            user: source::user_words(transcript, messages),
        };
        let room = job.material_room(window)?.min(MOST_MATERIAL);
        job.material = source::material(ledger, room);
        job.choose_route(&input, &profile);
        (!job.material.trim().is_empty()).then_some(job)
    }

    /// Begins the work.
    pub fn start(&self) -> Writer {
        Writer::of(self.clone())
    }

    /// Tokens that are kept free for one reply.
    pub(super) fn reply_room(&self) -> u32 {
        self.budget * REPLY_HEADROOM / 10
    }

    /// Tokens of material that fit a prompt beside everything else; `None` when that is next to nothing.
    pub(super) fn material_room(&self, window: u32) -> Option<u32> {
        let fixed = tokens(&self.brief.user("")) + tokens(&self.brief.system());
        // A twentieth is for what chat templates add.
        let taken = fixed + self.reply_room() + window / 20;
        window.checked_sub(taken).filter(|&room| room >= LEAST_MATERIAL)
    }

    fn choose_route(&mut self, input: &Input<'_, '_>, summary: &ModelProfile) {
        let main = input.model;
        let instruction = self.brief.postscript(&requests(input.ledger));
        let total = input.total;
        let around = u64::from(tokens(&instruction));
        let volume = Volume {
            prefix: total,
            serialised: u64::from(tokens(&self.material)) + around,
            instruction: around,
            reply: self.budget.into(),
        };
        self.costs = Costs::of(volume, main, summary, input.prefix_call);
        let fits = total + around + u64::from(self.reply_room()) <= u64::from(main.window);
        if self.costs.cheaper() == Route::CachedPrefix && fits {
            self.document = prefix::document(input.transcript, &instruction);
        }
        self.route = if self.document.is_some() { Route::CachedPrefix } else { Route::Serialised };
    }
}

/// What a job is made from.
pub(crate) struct Input<'a, 't> {
    pub(crate) transcript: &'a Transcript<'t>,
    /// The messages that are folded, by index.
    pub(crate) messages: &'a [usize],
    /// What is known of them.
    pub(crate) ledger: &'a Ledger,
    /// What is known of the messages that stay behind the fold.
    pub(crate) after: &'a Ledger,
    /// Tokens of the whole conversation.
    pub(crate) total: u64,
    /// Tokens that the handoff may take.
    pub(crate) room: u32,
    pub(crate) policy: &'a Policy,
    /// The model of the conversation.
    pub(crate) model: &'a ModelProfile,
    pub(crate) models: &'a ModelTable,
    pub(crate) prefix_call: PrefixCall,
    pub(crate) focus: Option<&'a str>,
    pub(crate) memory: Option<&'a str>,
    pub(crate) today: Option<&'a str>,
}

/// The requests by number, a line each.
fn requests(ledger: &Ledger) -> String {
    let name = |words: &str| {
        let line = words.lines().next().unwrap_or_default();
        line.get(..line.floor_char_boundary(LONGEST_NAME)).unwrap_or_default().to_owned()
    };
    let lines: Vec<String> =
        ledger.requests().iter().map(|(number, words)| format!("{number}. {}", name(words))).collect();
    redact(&ledger.secrets.hide(&lines.join("\n")), Mode::Text).into_owned()
}

/// What identifies a stretch of messages.
fn covers(transcript: &Transcript<'_>, messages: &[usize]) -> Handle {
    let first = messages.first().and_then(|&index| transcript.messages.get(index));
    let last = messages.last().and_then(|&index| transcript.messages.get(index));
    match (first, last) {
        (Some(first), Some(last)) => {
            let span = foldline_transcript::edit::Span { start: first.span.start, end: last.span.end };
            Handle::of(transcript.raw(span))
        }
        _ => Handle::of(""),
    }
}

/// The conversation's own model, where it is not the one that is asked anyway.
fn fallback_model(policy: &Policy, transcript: &Transcript<'_>) -> Option<String> {
    let own = own_model(policy, transcript);
    let first = policy.summary_model().or(own);
    let fallback = policy.summarizer.fallback_model.as_deref().or(own)?;
    (Some(fallback) != first).then(|| fallback.to_owned())
}

fn own_model<'p>(policy: &'p Policy, transcript: &'p Transcript<'_>) -> Option<&'p str> {
    policy.model.name.as_deref().or(transcript.model.as_deref())
}

fn brief(input: &Input<'_, '_>, covers: Handle, budget: u32, window: u32) -> Brief {
    let transcript = input.transcript;
    let share = (input.policy.compression.focus_share * 100.0).round() as u32;
    let masked = |text: &str| redact(text, Mode::Text).into_owned();
    let memory = input.memory.map(masked);
    let opening = first_request(transcript);
    let newest = last_request(transcript);
    Brief {
        focus: input.focus.map(|focus| (masked(focus), share)),
        today: input.today.map(str::to_owned),
        memory: memory.map(|memory| shortened(&memory, (window / MEMORY_SHARE) as usize * 3).into_owned()),
        opening: opening.and_then(|index| asked(transcript, index)),
        newest: newest.filter(|_| newest != opening).and_then(|index| asked(transcript, index)),
        words: (f64::from(budget) * WORDS_PER_TOKEN) as u32,
        fence: covers.to_string(),
        ..Brief::default()
    }
}

/// The message in which a person says something first.
fn first_request(transcript: &Transcript<'_>) -> Option<usize> {
    (0..transcript.messages.len())
        .find(|&index| transcript.speaks(index) && !inserted::is_only_handoff(transcript, index))
}

/// What a user asked in a message, on one line.
fn asked(transcript: &Transcript<'_>, index: usize) -> Option<String> {
    let part = transcript.parts_at(index).iter().find(|part| part.kind == PartKind::Text)?;
    let words = spoken(&inserted::own_words(transcript, part));
    let masked = redact(&words, Mode::Text);
    let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = line.get(..line.floor_char_boundary(LONGEST_REQUEST)).unwrap_or_default();
    let rest = if cut.len() < line.len() { " …" } else { "" };
    (!cut.is_empty()).then(|| format!("\"{cut}{rest}\""))
}
