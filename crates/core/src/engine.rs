//! The engine: from a document to a compacted one. Pure: time, usage, settings and a model's words
//! come in as values, and what to remember comes out as one.
//!
//! [`compact`] takes all steps in order: [`read`], [`assess`], [`plan`], [`apply`]. When a model should write the handoff,
//! the plan is complete without it; whoever asks the model keeps document and plan, and goes on with
//! [`resume`](crate::planning::resume) and [`finish`].

use crate::apply::{Applied, apply};
use crate::assess::{Verdict, pressure};
use crate::cache::Economics;
use crate::models::ModelProfile;
use crate::plan::{Aftermath, Outcome, Plan};
use crate::planner::{self, CannotFit, plan};
use crate::policy::{Budgets, Policy, TriggerCap};
use crate::request::{Inputs, Job};
use crate::sound::{Sound, assess, read};
use crate::state::{Left, SessionEvent, SessionState};
use crate::summary::{SummariserReport, SummaryJob};
use foldline_transcript::recall::Handle;
use foldline_transcript::wire::WireError;
use foldline_transcript::{Format, Structure, Transcript};
use std::borrow::Cow;
use std::sync::Arc;

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
    /// What has happened since the state that came in, for whoever keeps one that has changed meanwhile.
    pub events: Vec<SessionEvent>,
    /// What the summariser did.
    pub summariser: SummariserReport,
    /// What a fold costs and saves, where prices are known.
    pub economics: Option<Economics>,
    /// Where everything stands in the body.
    structure: Arc<Structure>,
}

impl Compaction<'_> {
    /// The transcript of the body, as it was read when it was checked.
    pub fn transcript(&self) -> Transcript<'_> {
        Transcript::new(&self.body, Arc::clone(&self.structure))
    }
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
    let inputs = Inputs { policy, state, job };
    let sound = read(text, &inputs)?;
    let verdict = assess(&sound, &inputs);
    let plan = plan(&sound, verdict, &inputs)?;
    finish(sound, plan, &inputs)
}

/// Carries a plan out, and says what came of it.
pub fn finish<'a>(sound: Sound<'a>, plan: Plan, inputs: &Inputs<'_>) -> Result<Compaction<'a>, EngineError> {
    let (mut plan, applied) = fitted(&sound, plan, inputs)?;
    let situation = sound.situation(inputs);
    let economics = situation.economics();
    let mut events = Vec::from_iter(situation.is_cold().then_some(SessionEvent::CacheExpired));
    events.extend(events_of(&plan, applied.as_ref(), inputs));
    let bytes = applied.as_ref().map_or(sound.text().len(), |applied| applied.body().len());
    let (event, warnings) = warnings(&plan, bytes, &sound.setting.budgets, inputs.state);
    events.extend(event);
    plan.warnings.extend(warnings);
    let mut state = inputs.state.clone();
    state.apply_all(&events);
    if let (Verdict::Act(reason), Some(_), true) = (&plan.verdict, &plan.fold, inputs.policy.compression.economy) {
        plan.reason = format!("{reason}; {}", plan.reason);
    }
    let input = sound.input();
    let (bytes_before, messages) = (input.text().len(), input.transcript().messages.len());
    let result = match (applied, plan.outcome) {
        (_, Outcome::Aborted) => input.clone(),
        (Some(applied), _) => applied.parsed,
        (None, _) => sound.parsed().clone(),
    };
    plan = plan.of_input(sound.repairs());
    let messages = (messages, result.transcript().messages.len());
    let (body, structure) = result.into_parts();
    let (source, _) = sound.parsed().clone().into_parts();
    Ok(Compaction {
        body,
        source,
        messages,
        bytes_before,
        format: structure.format,
        budgets: sound.setting.budgets,
        model: sound.setting.model,
        summary_job: plan.writing.job.take(),
        summariser: plan.writing.report(),
        plan,
        state,
        events,
        economics,
        structure,
    })
}

/// A result over its target is planned again, lower; each time the excess shrinks.
const MOST_TRIES: usize = 4;

/// Carries a plan out so that it fits its target and saves something.
fn fitted(sound: &Sound<'_>, mut plan: Plan, inputs: &Inputs<'_>) -> Result<(Plan, Option<Applied>), EngineError> {
    let mut lowered_by = 0;
    for tries_left in (0..MOST_TRIES).rev() {
        if !plan.changes_something() {
            break;
        }
        let applied = apply(sound, &plan)?;
        plan.tokens.after = applied.tokens;
        let Some(target) = inputs.job.request.target.filter(|&target| applied.tokens > target) else {
            return Ok(match plan.tokens.after < plan.tokens.before {
                true => (plan, Some(applied)),
                false => (planner::dropped(sound, plan, inputs), None),
            });
        };
        lowered_by += applied.tokens - target;
        plan = planner::lower(sound, plan, target, lowered_by, inputs)?;
        if tries_left == 0 {
            return Err(planner::cannot_fit(sound, target, applied.tokens, inputs).into());
        }
    }
    Ok((plan, None))
}

/// What a session remembers of a plan that was carried out.
fn events_of(plan: &Plan, applied: Option<&Applied>, inputs: &Inputs<'_>) -> Vec<SessionEvent> {
    let now = inputs.job.request.now_ms.unwrap_or_default();
    let mut events: Vec<_> =
        plan.writing.summary.iter().map(|summary| SessionEvent::of_summary(summary, now)).collect();
    if plan.writing.aftermath == Aftermath::Ledger {
        events.push(SessionEvent::WrittenWithoutModel);
    }
    // A fold that waits for its summariser is no fold that found nothing to do.
    if !plan.verdict.acts() || plan.outcome == Outcome::Aborted || plan.writing.aftermath == Aftermath::Held {
        return events;
    }
    let left = applied.map(|applied| Left {
        tokens: applied.tokens,
        bytes: applied.body().len(),
        handle: Handle::of(applied.body()).to_string(),
    });
    events.push(match (&plan.fold, left) {
        (Some(_), Some(left)) => SessionEvent::Folded { too_little: plan.saved_too_little(inputs.policy), left },
        (None, Some(left)) => SessionEvent::Pruned { left },
        (_, None) => SessionEvent::FoundNothing,
    });
    events
}

/// What a person should know about a result.
fn warnings(plan: &Plan, bytes: usize, budgets: &Budgets, state: &SessionState) -> (Option<SessionEvent>, Vec<String>) {
    let (event, near) = pressure(plan.tokens.after, budgets, state).unzip();
    let mut warnings = Vec::from_iter(near.flatten());
    if bytes as u64 > budgets.max_body_bytes {
        warnings.push(format!(
            "the result has {bytes} bytes, over the limit of {} (compression.max_body_bytes): recent and protected \
             messages alone exceed it",
            budgets.max_body_bytes
        ));
    }
    if plan.verdict.acts() && budgets.trigger_cap == Some(TriggerCap::SummariserWindow) {
        warnings.push(format!(
            "the trigger is lowered to {} tokens, the window of the summariser; use a summary model with a larger \
             window (summarizer.model, summarizer.window) to keep more",
            budgets.trigger
        ));
    }
    (event, warnings)
}
