//! What a model is asked to write for one fold.

use super::cost::{Costs, Route, Volume};
use super::prompt::{Brief, Part};
use super::source::{self, Room, shortened, tokens};
use super::writer::Writer;
use super::{Cooldown, Failure, prefix};
use crate::engine::Setting;
use crate::handoff::{self, Line};
use crate::ledger::spoken;
use crate::models::{ApiFamily, ModelProfile, ModelTable};
use crate::plan::Fold;
use crate::planner::{Request, Trigger};
use crate::policy::Policy;
use crate::recall::Handle;
use crate::redact::{Mode, redact};
use crate::tokens::Counts;
use crate::transcript::{PartKind, Transcript};
use crate::zone::last_request;

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
    /// The turns written out.
    pub(super) pieces: Vec<String>,
    /// The record that an earlier fold left.
    pub(super) previous: Option<String>,
    /// What users said, for checking quotes.
    pub(super) user: Vec<String>,
}

/// A model of which nothing is known is taken to read this much: less than any hosted model, and what local
/// ones are commonly started with.
const UNKNOWN_WINDOW: u32 = 32_768;
/// A model's words take up to this share of a handoff; the rest belongs to the recorded facts.
pub(crate) const MODEL_SHARE: f64 = 0.45;
/// A reply takes at most this share of the window it is written in.
const REPLY_SHARE: u32 = 5;
/// Models write longer than they are asked to: this much room is kept for a reply, in tenths of its budget.
const REPLY_HEADROOM: u32 = 13;
/// A piece below this is not worth a prompt.
const SMALLEST_PIECE: u32 = 200;
/// Memory is context of the record and gets at most this share of the window.
const MEMORY_SHARE: u32 = 8;
/// Characters of a request that tell what work is about.
const LONGEST_REQUEST: usize = 500;
/// Words per token in running text.
const WORDS_PER_TOKEN: f64 = 0.7;

impl SummaryJob {
    /// The job for a fold; `None` when the summariser's window has no room for it.
    pub(crate) fn of(
        transcript: &Transcript<'_>,
        fold: &Fold,
        counts: &Counts,
        policy: &Policy,
        setting: &Setting,
        models: &ModelTable,
        request: &Request,
    ) -> Option<SummaryJob> {
        let model = policy.summary_model();
        let profile = models.profile(model.unwrap_or(&setting.model.name), ApiFamily::OpenAi);
        let window =
            policy.summarizer.window.fixed().unwrap_or(if profile.known { profile.window } else { UNKNOWN_WINDOW });
        let room = fold.handoff.tokens.max(setting.budgets.handoff(u32::try_from(fold.tokens).unwrap_or(u32::MAX)));
        let budget = ((f64::from(room) * MODEL_SHARE) as u32).min(window / REPLY_SHARE);
        let covers = covers(transcript, &fold.messages);
        let brief = brief(transcript, policy, request, covers, budget, window);
        let mut job = SummaryJob {
            covers,
            budget,
            model: model.or(own_model(policy, transcript)).map(str::to_owned),
            fallback_model: fallback_model(policy, transcript),
            window,
            route: Route::Serialised,
            costs: Costs::default(),
            brief,
            document: None,
            pieces: Vec::new(),
            previous: previous(transcript, &fold.messages),
            user: source::user_words(transcript, &fold.messages),
        };
        let piece = job.piece_room(window)?;
        let room = Room { piece, pieces: policy.summarizer.max_calls };
        job.pieces = source::pieces(transcript, &fold.messages, room);
        job.choose_route(transcript, counts, &setting.model, &profile, request);
        (!job.pieces.is_empty()).then_some(job)
    }

    /// Begins the work.
    pub fn start(&self) -> Writer {
        Writer::of(self.clone())
    }

    /// Prompts that it takes when all goes well.
    pub fn calls(&self) -> usize {
        if self.document.is_some() { 1 } else { self.pieces.len() }
    }

    /// Tokens that are kept free for one reply.
    pub(super) fn reply_room(&self) -> u32 {
        self.budget * REPLY_HEADROOM / 10
    }

    /// Tokens of turns that fit one prompt beside everything else; `None` when that is next to nothing.
    pub(super) fn piece_room(&self, window: u32) -> Option<u32> {
        let bare = self.brief.user(Some(""), "", Part { number: 999, of: 1000 });
        let fixed = tokens(&bare) + tokens(&self.brief.system());
        // The record is as long as a reply; a twentieth is for what chat templates add.
        let taken = fixed + 2 * self.reply_room() + window / 20;
        window.checked_sub(taken).filter(|&room| room >= SMALLEST_PIECE)
    }

    fn choose_route(
        &mut self,
        transcript: &Transcript<'_>,
        counts: &Counts,
        main: &ModelProfile,
        summary: &ModelProfile,
        request: &Request,
    ) {
        let instruction = self.brief.postscript();
        let replies = u64::from(self.budget) * self.pieces.len() as u64;
        let prompts: u64 = self.pieces.iter().map(|piece| u64::from(tokens(piece))).sum();
        let around = u64::from(tokens(&instruction));
        let volume = Volume {
            prefix: counts.total(),
            serialised: prompts + around * self.pieces.len() as u64 + replies,
            instruction: around,
            replies,
            reply: self.budget.into(),
        };
        self.costs = Costs::of(volume, main, summary, request.prefix_call);
        let fits = counts.total() + around + u64::from(self.reply_room()) <= u64::from(main.window);
        if self.costs.cheaper() == Route::CachedPrefix && fits {
            self.document = prefix::document(transcript, &instruction);
        }
        self.route = if self.document.is_some() { Route::CachedPrefix } else { Route::Serialised };
    }
}

/// The failure for which no model is asked: the summariser failed a moment ago. Who asks by hand is not put off.
pub(crate) fn rest_until(cooldown: &Cooldown, request: &Request) -> Option<Failure> {
    let now = request.now_ms.filter(|_| request.trigger != Trigger::Manual)?;
    cooldown.at(now).cloned()
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

fn brief(
    transcript: &Transcript<'_>,
    policy: &Policy,
    request: &Request,
    covers: Handle,
    budget: u32,
    window: u32,
) -> Brief {
    let share = (policy.compression.focus_share * 100.0).round() as u32;
    let masked = |text: &str| redact(text, Mode::Text).into_owned();
    let memory = request.memory.as_deref().map(masked);
    let opening = first_request(transcript);
    let newest = last_request(transcript);
    Brief {
        focus: request.focus.as_deref().map(|focus| (masked(focus), share)),
        today: request.today.clone(),
        memory: memory.map(|memory| shortened(&memory, (window / MEMORY_SHARE) as usize * 3).into_owned()),
        opening: opening.and_then(|index| asked(transcript, index)),
        newest: newest.filter(|_| newest != opening).and_then(|index| asked(transcript, index)),
        words: (f64::from(budget) * WORDS_PER_TOKEN) as u32,
        fence: covers.to_string(),
    }
}

/// The message in which a person says something first.
fn first_request(transcript: &Transcript<'_>) -> Option<usize> {
    (0..transcript.messages.len())
        .find(|&index| transcript.speaks(index) && !handoff::is_only_handoff(transcript, index))
}

/// What a user asked in a message, on one line.
fn asked(transcript: &Transcript<'_>, index: usize) -> Option<String> {
    let part = transcript.parts_at(index).iter().find(|part| part.kind == PartKind::Text)?;
    let words = spoken(&handoff::own_words(transcript, part));
    let masked = redact(&words, Mode::Text);
    let line = masked.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = line.get(..line.floor_char_boundary(LONGEST_REQUEST)).unwrap_or_default();
    let rest = if cut.len() < line.len() { " …" } else { "" };
    (!cut.is_empty()).then(|| format!("\"{cut}{rest}\""))
}

/// What the newest of earlier records says in the sections that a model writes; the others are merged as facts.
fn previous(transcript: &Transcript<'_>, folded: &[usize]) -> Option<String> {
    let part = folded.iter().rev().find_map(|&index| handoff::handoff_part(transcript, index))?;
    let words = transcript.words(transcript.parts.get(part)?);
    let record = handoff::record_in(transcript, transcript.parts.get(part)?, &words)?;
    let mut out = String::new();
    let mut section = None;
    for line in handoff::recall(&record) {
        let Line::Fact { section: of, text } = line else {
            continue;
        };
        if !super::prompt::ASKED.iter().any(|(asked, _)| *asked == of) {
            continue;
        }
        if section != Some(of) {
            section = Some(of);
            out.push_str(&format!("## {}\n", of.title()));
        }
        out.push_str(&format!("{text}\n"));
    }
    (!out.is_empty()).then(|| redact(&out, Mode::Text).into_owned())
}
