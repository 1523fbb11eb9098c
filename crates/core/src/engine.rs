//! The engine: from a document to a compacted one, in one call or step by step.

use crate::apply::apply;
use crate::models::{ApiFamily, ModelProfile, ModelTable};
use crate::plan::{Outcome, Plan};
use crate::planner::{CannotFit, Planner, Request, Size, Verdict, decide, record};
use crate::policy::{BudgetInputs, Budgets, Policy};
use crate::state::SessionState;
use crate::tokens::{Counter, Counts, Measure, measure};
use crate::transcript::{Format, Transcript};
use crate::wire::{self, WireError};
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
    /// The model that reads the result; the document's own when not given.
    pub model: Option<String>,
    /// What to do.
    pub request: Request,
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
    /// The format.
    pub format: Format,
    /// The budgets that were in force.
    pub budgets: Budgets,
    /// The model's profile.
    pub model: ModelProfile,
}

/// What the engine knows about one model under one policy.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The model.
    pub model: ModelProfile,
    /// Its budgets.
    pub budgets: Budgets,
    /// How tokens are counted.
    pub measure: Measure,
}

impl Setting {
    /// The setting for a transcript.
    pub fn of(transcript: &Transcript<'_>, policy: &Policy, model: Option<&str>, state: &SessionState) -> Setting {
        let family = family_of(transcript.format);
        let name = model.or(transcript.model.as_deref()).or(policy.model.name.as_deref()).unwrap_or_default();
        let model = ModelTable::embedded().profile(name, family);
        let inputs = BudgetInputs { max_output: transcript.max_output, family: Some(family), ..BudgetInputs::default() };
        let budgets = Budgets::of(policy, &model, inputs);
        let measure = Measure {
            counter: Counter::for_model(&model, transcript.text.len()),
            image_tokens: budgets.image_tokens,
            scale: state.calibration.ratio(),
        };
        Setting { model, budgets, measure }
    }
}

fn family_of(format: Format) -> ApiFamily {
    match format {
        Format::Anthropic | Format::ClaudeCode => ApiFamily::Anthropic,
        Format::OpenAiChat | Format::OpenAiResponses | Format::ShareGpt => ApiFamily::OpenAi,
    }
}

/// Compacts a document if it is time to.
///
/// ```
/// use foldline_core::{Job, Policy, SessionState, compact};
///
/// let body = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"}]}"#;
/// let done = compact(body, &Policy::default(), &mut SessionState::default(), &Job::default())?;
/// assert_eq!(done.body, body, "far below the trigger: nothing to do");
/// # Ok::<(), foldline_core::EngineError>(())
/// ```
pub fn compact<'a>(
    text: &'a str,
    policy: &Policy,
    state: &mut SessionState,
    job: &Job,
) -> Result<Compaction<'a>, EngineError> {
    let input = wire::read(text, job.format)?;
    let counts_in = input.messages.len();
    if !policy.compression.enabled {
        return Ok(untouched(text, &input, policy, job, state));
    }
    compact_healthy(Cow::Borrowed(text), input, policy, state, job, counts_in)
}

fn compact_healthy<'a>(
    source: Cow<'a, str>,
    transcript: Transcript<'_>,
    policy: &Policy,
    state: &mut SessionState,
    job: &Job,
    messages_before: usize,
) -> Result<Compaction<'a>, EngineError> {
    let setting = Setting::of(&transcript, policy, job.model.as_deref(), state);
    let counts = measure(&transcript, &setting.measure);
    let planner =
        Planner::new(&transcript, &counts, policy, &setting.budgets, &setting.measure, &job.request);
    let verdict = judge(&transcript, &counts, policy, &setting, state, &job.request);
    let mut plan = match &verdict {
        Verdict::Wait(reason) => planner.unchanged(reason.clone()),
        Verdict::Act(_) => planner.plan()?,
    };
    let body = plan.changes_something().then(|| apply(&plan, &transcript));
    let mut messages_after = transcript.messages.len();
    if let Some(body) = &body {
        let after = wire::read(body, Some(transcript.format))?;
        let recounted = measure(&after, &setting.measure);
        plan.tokens.after = recounted.total() + counts.unseen;
        messages_after = after.messages.len();
    }
    if verdict.acts() {
        record(state, &plan, policy);
    }
    let format = transcript.format;
    drop(transcript);
    Ok(Compaction {
        body: body.map_or_else(|| source.clone(), Cow::Owned),
        source,
        plan,
        messages: (messages_before, messages_after),
        format,
        budgets: setting.budgets,
        model: setting.model,
    })
}

/// Whether to act on a measured transcript.
pub fn judge(
    transcript: &Transcript<'_>,
    counts: &Counts,
    policy: &Policy,
    setting: &Setting,
    state: &SessionState,
    request: &Request,
) -> Verdict {
    let size = Size {
        tokens: counts.total(),
        messages: transcript.messages.len(),
        bytes: transcript.text.len() as u64,
    };
    if let Some(target) = request.target {
        return match size.tokens > target {
            true => Verdict::Act(format!("{} tokens, over the target of {target}", size.tokens)),
            false => Verdict::Wait(format!("{} tokens, within the target of {target}", size.tokens)),
        };
    }
    decide(size, policy, &setting.budgets, state, request.trigger)
}

fn untouched<'a>(text: &'a str, transcript: &Transcript<'_>, policy: &Policy, job: &Job, state: &SessionState) -> Compaction<'a> {
    let setting = Setting::of(transcript, policy, job.model.as_deref(), state);
    let counts = measure(transcript, &setting.measure);
    let planner = Planner::new(transcript, &counts, policy, &setting.budgets, &setting.measure, &job.request);
    let mut plan = planner.unchanged("compression is switched off (compression.enabled)");
    plan.outcome = Outcome::Unchanged;
    let messages = transcript.messages.len();
    Compaction {
        body: Cow::Borrowed(text),
        source: Cow::Borrowed(text),
        plan,
        messages: (messages, messages),
        format: transcript.format,
        budgets: setting.budgets,
        model: setting.model,
    }
}
