//! The engine: from a document to a compacted one. Pure: time, usage, settings and a model's words
//! come in as values, and what to remember comes out as one.
//!
//! When a model should write the handoff, the first call returns a [`SummaryJob`] beside a result
//! that is complete without it. Whoever runs the job calls again with its outcome; planning is
//! deterministic, so nothing has to be kept in between.

use crate::apply::apply;
use crate::cache::{Economics, Outlook, Tariff, weigh};
use crate::inserted;
use crate::models::{ModelProfile, ModelTable};
use crate::plan::{Fold, Outcome, Plan};
use crate::planner::{
    self, Aftermath, CannotFit, Planner, Request, Size, Verdict, Warmth, decide, decide_by_money, record,
};
use crate::policy::{Budgets, Policy, TriggerCap};
use crate::prune;
use crate::setting::Setting;
use crate::state::{SessionState, Usage};
use crate::summary::{self, SummariserReport, SummaryJob};
use crate::tokens::{Counter, Counts, measure};
use foldline_transcript::recall::Handle;
use foldline_transcript::repair::repair;
use foldline_transcript::wire::{self, WireError};
use foldline_transcript::{Format, Reported, Transcript};
use std::borrow::Cow;

/// Why a document could not be compacted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// It is no transcript.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// It cannot be made to fit.
    #[error(transparent)]
    CannotFit(#[from] CannotFit),
}

/// What is asked of the engine, beside the document.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Whose format it is; found out when not given.
    pub format: Option<Format>,
    /// What is known about models; the embedded table when not given.
    pub models: Option<ModelTable>,
    /// How texts are counted; as exactly as the model allows when not given.
    pub counter: Option<Counter>,
    /// What to do.
    pub request: Request,
}

impl Job {
    /// What is known about models.
    pub fn models(&self) -> &ModelTable {
        self.models.as_ref().unwrap_or(ModelTable::embedded())
    }

    /// The setting for a transcript in a session.
    pub fn setting(&self, transcript: &Transcript<'_>, policy: &Policy, state: &SessionState) -> Setting {
        Setting::of(transcript, policy, self.models(), self.counter, state.calibration.ratio())
    }
}

/// The result.
#[derive(Clone, Debug)]
pub struct Compaction<'a> {
    /// The document, changed or not.
    pub body: Cow<'a, str>,
    /// The document in which the originals stand: the input, or the input repaired.
    pub source: Cow<'a, str>,
    /// What was done, and what not.
    pub plan: Plan,
    /// Messages before and after.
    pub messages: (usize, usize),
    /// Bytes of the input.
    pub bytes_before: usize,
    /// The format.
    pub format: Format,
    /// The budgets that were in force.
    pub budgets: Budgets,
    /// The model's profile.
    pub model: ModelProfile,
    /// What to ask a model, where the policy wants one and none has answered yet.
    pub summary_job: Option<SummaryJob>,
    /// What to remember.
    pub state: SessionState,
    /// What the summariser did.
    pub summariser: SummariserReport,
    /// What a fold costs and saves, where prices are known.
    pub economics: Option<Economics>,
}

/// Compacts a document if it is time to.
///
/// ```
/// use foldline_core::{Job, Policy, SessionState, compact};
///
/// let body = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"}]}"#;
/// let done = compact(body, &Policy::default(), &SessionState::default(), &Job::default())?;
/// assert_eq!(done.body, body, "far below the trigger: nothing to do");
/// # Ok::<(), foldline_core::EngineError>(())
/// ```
pub fn compact<'a>(
    text: &'a str,
    policy: &Policy,
    state: &SessionState,
    job: &Job,
) -> Result<Compaction<'a>, EngineError> {
    let input = wire::read(text, job.format)?;
    let messages = input.messages.len();
    // Switched off means hands off, damage included.
    let repaired = if policy.compression.enabled { repair(&input) } else { None };
    let Some(repaired) = repaired else {
        return compact_sound(Cow::Borrowed(text), &input, policy, state, job);
    };
    // Where nothing but damage was there, nothing is left to read: it goes through as it came.
    let Ok(sound) = wire::read(&repaired.text, Some(input.format)) else {
        return compact_sound(Cow::Borrowed(text), &input, policy, state, job);
    };
    let done = compact_sound(Cow::Borrowed(repaired.text.as_str()), &sound, policy, state, job)?;
    let mut done = Compaction {
        body: Cow::Owned(done.body.into_owned()),
        source: Cow::Owned(repaired.text.clone()),
        messages: (messages, done.messages.1),
        bytes_before: text.len(),
        plan: done.plan,
        format: done.format,
        budgets: done.budgets,
        model: done.model,
        summary_job: done.summary_job,
        state: done.state,
        summariser: done.summariser,
        economics: done.economics,
    };
    if done.plan.outcome == Outcome::Aborted {
        done.body = Cow::Borrowed(text);
        return Ok(done);
    }
    done.plan.note_repairs(&repaired);
    Ok(done)
}

/// Compacts a transcript that its provider would accept.
fn compact_sound<'a>(
    source: Cow<'a, str>,
    transcript: &Transcript<'_>,
    policy: &Policy,
    state: &SessionState,
    job: &Job,
) -> Result<Compaction<'a>, EngineError> {
    let setting = job.setting(transcript, policy, state);
    let counts = match job.request.target {
        // A target is for this document; what a session file leaves out cannot be made smaller.
        Some(_) => measure(transcript, &setting.measure),
        None => count(transcript, &setting, state),
    };
    let setting = setting.counted(transcript, &counts, policy);
    let mut planner = Planner::new(transcript, &counts, policy, &setting, &job.request);
    let asks_a_model = policy.summarizer.url.is_some() && job.request.summary.is_none();
    if asks_a_model {
        planner.failure = planner::rest_until(&state.summariser, &job.request);
    }
    let mut state = state.clone();
    state.pace.pause(job.request.idle, policy.model.cache_ttl);
    let economics = economics(&counts, policy, &setting, &state, &job.request);
    let admitted = planner.admitted();
    let verdict = match is_settled(transcript.text, &state) && job.request.target.is_none() {
        true => Verdict::Wait("nothing new has come since the last compaction".into()),
        false => {
            // What is admitted in reduced form never counts as what it was.
            let saved: u64 = admitted.iter().map(|proposal| proposal.step.saves()).sum();
            let tokens = counts.total().saturating_sub(saved);
            let size = size_of(transcript, tokens, &job.request, policy);
            judge_size(size, policy, &setting, &state, &job.request, economics.as_ref())
        }
    };
    let mut plan = match &verdict {
        Verdict::Wait(reason) => planner.unchanged(reason.clone()),
        Verdict::Act(_) => planner.plan()?,
    };
    planner.admit(&mut plan, admitted);
    let mut aftermath = Aftermath::of(&job.request, &plan);
    if let (Some(failure), true) = (&planner.failure, plan.fold.is_some()) {
        aftermath = planner.after_failure(failure, &mut plan);
    }
    let mut summary_job = None;
    if let (Some(fold), true) = (&plan.fold, asks_a_model && planner.failure.is_none()) {
        summary_job = SummaryJob::of(summary::Input {
            transcript,
            messages: &fold.messages,
            ledger: &planner.ledger_of(fold),
            after: &planner.ledger_after(fold),
            total: counts.total(),
            room: handoff_room(fold, &setting.budgets, &job.request),
            policy,
            model: &setting.model,
            models: job.models(),
            prefix_call: job.request.prefix_call,
            focus: job.request.focus.as_deref(),
            memory: job.request.memory.as_deref(),
            today: job.request.today.as_deref(),
        });
        if summary_job.is_none() {
            plan.warnings.push("the summariser's window has no room for a prompt (summarizer.window)".to_owned());
        }
    }
    let mut messages = (transcript.messages.len(), transcript.messages.len());
    let mut body = None;
    let mut lowered_by = 0;
    for tries_left in (0..MOST_TRIES).rev() {
        body = None;
        if !plan.changes_something() {
            break;
        }
        let text = carried_out(&plan, transcript)?;
        // What was planned is estimated part by part; what came out is counted.
        let after = wire::read(&text, Some(transcript.format))?;
        plan.tokens.after = measure(&after, &setting.measure).total() + counts.unseen;
        let excess = job.request.target.map_or(0, |target| plan.tokens.after.saturating_sub(target));
        if excess == 0 && plan.tokens.after >= plan.tokens.before {
            plan = planner.unless_it_grows(plan);
            break;
        }
        messages.1 = after.messages.len();
        body = Some(text);
        if excess == 0 {
            break;
        }
        lowered_by += excess;
        let lower = planner.plan_lower(plan.tokens.after - excess, lowered_by);
        match (lower, tries_left) {
            (Ok(lower), 1..) => plan = lower,
            (Err(error), _) => return Err(error.into()),
            (Ok(_), 0) => return Err(planner.cannot_fit(plan.tokens.after - excess, plan.tokens.after).into()),
        }
    }
    if let (Verdict::Act(reason), Some(_), true) = (&verdict, &plan.fold, policy.compression.economy) {
        plan.reason = format!("{reason}; {}", plan.reason);
    }
    aftermath.note(&mut state, &job.request);
    // A fold that waits for its summariser is no fold that found nothing to do.
    if verdict.acts() && plan.outcome != Outcome::Aborted && aftermath != Aftermath::Held {
        record(&mut state, &plan, policy);
        if let Some(body) = &body {
            state.settled = Some((body.len(), Handle::of(body).to_string()));
            state.pace.shrink(plan.tokens.after);
        }
    }
    warn_of_pressure(&mut plan, &mut state, &setting.budgets);
    warn_of_bytes(&mut plan, body.as_ref().map_or(source.len(), String::len), &setting.budgets);
    if verdict.acts() && setting.budgets.trigger_cap == Some(TriggerCap::SummariserWindow) {
        plan.warnings.push(format!(
            "the trigger is lowered to {} tokens, the summariser's window; a summary model with a larger one \
             (summarizer.model, summarizer.window) lets more stay",
            setting.budgets.trigger
        ));
    }
    Ok(Compaction {
        summariser: aftermath.report(&job.request, planner.failure.as_ref()),
        bytes_before: source.len(),
        body: body.map_or_else(|| source.clone(), Cow::Owned),
        source,
        plan,
        messages,
        format: transcript.format,
        budgets: setting.budgets,
        model: setting.model,
        summary_job,
        state,
        economics,
    })
}

/// Tokens that the handoff of a fold may take when a model writes it.
fn handoff_room(fold: &Fold, budgets: &Budgets, request: &Request) -> u32 {
    // Where the result must fit a target, the handoff is what fits.
    if request.target.is_some() {
        return fold.handoff.tokens;
    }
    fold.handoff.tokens.max(budgets.handoff(saturated(fold.tokens)))
}

/// A result over its target is planned again, lower; each time the excess shrinks.
const MOST_TRIES: usize = 4;

/// The document with the plan carried out, valid by construction and checked all the same.
fn carried_out(plan: &Plan, transcript: &Transcript<'_>) -> Result<String, WireError> {
    let body = apply(plan, transcript);
    let after = wire::read(&body, Some(transcript.format))?;
    match repair(&after) {
        Some(repaired) => Ok(repaired.text),
        None => Ok(body),
    }
}

/// Whether a document is the last result, with nothing new in it.
fn is_settled(text: &str, state: &SessionState) -> bool {
    state
        .settled
        .as_ref()
        .is_some_and(|(length, handle)| *length == text.len() && *handle == Handle::of(text).to_string())
}

/// Counts a transcript, with what the provider last reported as its base where that is known.
pub fn count(transcript: &Transcript<'_>, setting: &Setting, state: &SessionState) -> Counts {
    // A session file keeps the usage of before a fold beside the lines that it kept.
    let recorded = transcript.reported.filter(|_| !has_been_compacted(transcript));
    let reported = recorded.or_else(|| {
        let Usage { prompt, messages } = state.usage?;
        (messages <= transcript.messages.len()).then_some(Reported { message: messages, prompt, output: 0 })
    });
    measure(transcript, &setting.measure).with_reported(reported)
}

fn has_been_compacted(transcript: &Transcript<'_>) -> bool {
    (0..transcript.messages.len()).any(|index| inserted::is_handoff(transcript, index))
        || transcript.parts.iter().any(|part| prune::is_reduced(transcript, part))
}

/// Whether to act on a counted transcript.
pub fn judge(
    transcript: &Transcript<'_>,
    counts: &Counts,
    policy: &Policy,
    setting: &Setting,
    state: &SessionState,
    request: &Request,
) -> Verdict {
    let economics = economics(counts, policy, setting, state, request);
    let size = size_of(transcript, counts.total(), request, policy);
    judge_size(size, policy, setting, state, request, economics.as_ref())
}

fn size_of(transcript: &Transcript<'_>, tokens: u64, request: &Request, policy: &Policy) -> Size {
    let cache = Warmth::after(request.idle, policy.model.cache_ttl);
    Size { tokens, messages: transcript.messages.len(), bytes: transcript.text.len() as u64, cache }
}

fn judge_size(
    size: Size,
    policy: &Policy,
    setting: &Setting,
    state: &SessionState,
    request: &Request,
    economics: Option<&Economics>,
) -> Verdict {
    match request.target {
        Some(_) if !policy.compression.enabled => decide(size, policy, &setting.budgets, state, request.trigger),
        Some(target) if size.tokens > target => {
            Verdict::Act(format!("{} tokens, over the target of {target}", size.tokens))
        }
        Some(target) => Verdict::Wait(format!("{} tokens, within the target of {target}", size.tokens)),
        None => {
            let verdict = decide(size, policy, &setting.budgets, state, request.trigger);
            decide_by_money(verdict, size.tokens, policy, state, request.trigger, economics)
        }
    }
}

/// What a fold would cost and save now; `None` where nobody knows the prices.
pub fn economics(
    counts: &Counts,
    policy: &Policy,
    setting: &Setting,
    state: &SessionState,
    request: &Request,
) -> Option<Economics> {
    let tariff = Tariff::of(&setting.model).ok()?;
    let outlook = Outlook {
        tokens: counts.total(),
        fixed: counts.outside() + counts.between(0, policy.compression.protect_first_n as usize),
        idle: request.idle,
        ttl: policy.model.cache_ttl,
        pace: state.pace,
    };
    Some(weigh(&outlook, &setting.budgets, &tariff))
}

/// Says once that the trigger is near; says it again only after usage had fallen.
fn warn_of_pressure(plan: &mut Plan, state: &mut SessionState, budgets: &Budgets) {
    let tokens = plan.tokens.after;
    if tokens < u64::from(budgets.pressure) {
        state.warned = false;
    } else if !state.warned {
        state.warned = true;
        let share = tokens * 100 / u64::from(budgets.trigger.max(1));
        plan.warnings.push(format!(
            "context is at {share} % of the compaction trigger ({tokens} of {} tokens)",
            budgets.trigger
        ));
    }
}

/// Says when a result is still larger than the provider takes: text that must stay has no shorter form.
fn warn_of_bytes(plan: &mut Plan, bytes: usize, budgets: &Budgets) {
    if bytes as u64 > budgets.max_body_bytes {
        plan.warnings.push(format!(
            "the result has {bytes} bytes, over the limit of {} (compression.max_body_bytes): what is recent and what must \
             stay is larger",
            budgets.max_body_bytes
        ));
    }
}

/// Takes note of usage that the provider reported for a request of `messages` messages that we
/// counted as `counted` tokens.
pub fn observe_usage(state: &mut SessionState, budgets: &Budgets, prompt: u64, messages: usize, counted: u64) {
    state.calibration.observe(saturated(counted), saturated(prompt));
    state.usage = Some(Usage { prompt, messages });
    state.pace.observe(prompt);
    state.landed = match state.awaiting_usage {
        true => Some(prompt),
        false => state.landed.map(|landed| landed.min(prompt)),
    };
    state.awaiting_usage = false;
    // Just below the trigger is where a fold that saved too little lands: only real room is a new beginning.
    if prompt < u64::from(budgets.pressure) {
        state.strikes = 0;
        state.cause = None;
    }
}

fn saturated(tokens: u64) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
