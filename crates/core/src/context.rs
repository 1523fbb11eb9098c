//! The trait between an agent's loop and a context engine.
//!
//! An agent holds a [`ContextEngine`] and asks it before each request. [`Foldline`] is ours; another
//! engine can take its place without the agent noticing.

use crate::assess::{Situation, Size, Verdict};
use crate::engine::{Compaction, EngineError, finish};
use crate::plan::{Outcome, Plan};
use crate::planner::{plan, resume};
use crate::policy::{AutoOr, Policy};
use crate::request::{Inputs, Job, Request, Trigger};
use crate::setting::Setting;
use crate::sound::{Sound, assess, read};
use crate::state::{SessionEvent, SessionState};
use crate::summary::{Ask, Failure, FailureClass, Summary, SummaryJob};
use foldline_transcript::Parsed;
use foldline_transcript::recall::Handle;
use serde::Serialize;
use std::fmt::Display;

/// What a provider reported for one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Prompt tokens, cached ones included.
    pub prompt: u64,
    /// Tokens of the reply; they do not count towards the trigger.
    pub completion: u64,
}

/// How an engine stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Prompt tokens as last reported.
    pub last_prompt_tokens: u64,
    /// Where the engine acts.
    pub trigger_tokens: u64,
    /// Window of the model.
    pub window: u64,
    /// Share of the window that is used, in percent.
    pub usage_percent: f64,
    /// Folds so far.
    pub folds: u32,
    /// Prunes so far that needed no fold.
    pub prunes: u32,
    /// Folds in a row that saved too little.
    pub strikes: u32,
}

/// What an engine made of a request.
#[derive(Clone, Debug)]
pub struct Compacted {
    /// The body to send, changed or not.
    pub body: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why, in a sentence.
    pub reason: String,
    /// What was removed. The body names the handles where the request says that originals are kept.
    pub originals: Vec<Removed>,
    /// What to ask a model that should write the handoff; [`ContextEngine::resume`] goes on with what it says. The body
    /// is complete without it.
    pub summary_job: Option<SummaryJob>,
}

/// A text that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its address.
    pub handle: Handle,
    /// The tool whose output it was; empty for anything else.
    pub tool: String,
    /// The text, byte for byte.
    pub text: String,
}

/// What a model is asked for a handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prompt<'p> {
    /// Who the model is.
    pub system: &'p str,
    /// What it shall do.
    pub user: &'p str,
    /// Tokens that the reply may take.
    pub most_tokens: u32,
}

/// Something that keeps a conversation inside its window.
pub trait ContextEngine {
    /// The engine's name.
    fn name(&self) -> &str;

    /// Whether to compact, judged by prompt tokens that the provider reported.
    fn should_compact(&self, prompt_tokens: u64) -> Verdict;

    /// Whether to compact before a request is sent, judged by the request itself.
    fn preflight(&self, body: &str) -> Result<Verdict, EngineError>;

    /// Compacts a request if it is time to. The body that comes back is the one to send, changed or not.
    fn compact(&mut self, body: &str, request: &Request) -> Result<Compacted, EngineError>;

    /// Goes on with the request of the last [`compact`](Self::compact) when a model has answered its
    /// [`summary_job`](Compacted::summary_job), or failed to. `None` when no request waits for one.
    fn resume(&mut self, summary: &Summary) -> Result<Option<Compacted>, EngineError>;

    /// Compacts a request if it is time to, with a handoff that `summarise` writes. When that fails, the handoff is made
    /// without a model.
    ///
    /// ```
    /// use foldline_core::{ContextEngine, Foldline, Policy};
    ///
    /// # fn ask_my_model(system: &str, user: &str) -> Result<String, std::io::Error> { Ok(String::new()) }
    /// let mut engine = Foldline::new(Policy::default());
    /// let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#;
    ///
    /// let done = engine.compact_with(body, |prompt| ask_my_model(prompt.system, prompt.user))?;
    /// for original in &done.originals {
    ///     println!("{} can be read again: {} bytes", original.handle, original.text.len());
    /// }
    /// assert_eq!(done.body, body, "far below the trigger: nothing to do");
    /// # Ok::<(), foldline_core::EngineError>(())
    /// ```
    fn compact_with<E: Display>(
        &mut self,
        body: &str,
        mut summarise: impl FnMut(Prompt<'_>) -> Result<String, E>,
    ) -> Result<Compacted, EngineError>
    where
        Self: Sized,
    {
        let request = Request { has_summariser: true, ..Request::default() };
        let done = self.compact(body, &request)?;
        let Some(job) = &done.summary_job else { return Ok(done) };
        let summary = written(job, &mut summarise);
        Ok(self.resume(&summary)?.unwrap_or(done))
    }

    /// Takes note of what the provider reported for `body`.
    fn observe(&mut self, body: &str, usage: TokenUsage);

    /// A session begins, or goes on after a restart with the state it had.
    fn start_session(&mut self, state: SessionState);

    /// A session pauses; what comes back must be kept to go on. Nothing is forgotten.
    fn end_session(&mut self) -> SessionState;

    /// The conversation starts from nothing.
    fn reset_session(&mut self);

    /// Another model reads the conversation from here on.
    fn switch_model(&mut self, model: &str, window: Option<u32>);

    /// How things stand.
    fn status(&self) -> Status;
}

/// Runs a job: prompts out, replies in.
fn written<E: Display>(job: &SummaryJob, summarise: &mut impl FnMut(Prompt<'_>) -> Result<String, E>) -> Summary {
    let mut writer = job.start();
    while let Some(ask) = writer.ask() {
        let Ask::Prompt { system, user, reply } = ask else {
            writer.without_document();
            continue;
        };
        let heard = match summarise(Prompt { system: &system, user: &user, most_tokens: reply }) {
            Ok(text) => writer.reply(&text).map_err(|bad| Failure::new(FailureClass::BadReply, &bad.to_string())),
            Err(error) => Err(Failure::new(FailureClass::Server, &error.to_string())),
        };
        if let Err(failure) = heard {
            return Summary::Failed(failure);
        }
    }
    let nothing = || Summary::Failed(Failure::new(FailureClass::BadReply, "the model was asked nothing"));
    writer.finish().map_or_else(nothing, Summary::Written)
}

/// Our engine, with a policy and the memory of one session.
#[derive(Clone, Debug, Default)]
pub struct Foldline {
    policy: Policy,
    state: SessionState,
    /// The setting of the last request: a verdict on reported tokens alone needs it.
    setting: Option<Setting>,
    /// The request that waits for a summary.
    waiting: Option<Waiting>,
}

/// A request whose handoff a model writes.
#[derive(Clone, Debug)]
struct Waiting {
    sound: Sound<'static>,
    plan: Plan,
    job: Job,
    /// The memory before it.
    state: SessionState,
}

impl Foldline {
    /// An engine under a policy.
    pub fn new(policy: Policy) -> Foldline {
        Foldline { policy, ..Foldline::default() }
    }

    /// The session's memory.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Compacts and returns everything that is known about it.
    pub fn run<'a>(&mut self, body: &'a str, request: Request) -> Result<Compaction<'a>, EngineError> {
        self.run_parsed(Parsed::read(body, None)?, Job { request, ..Job::default() })
    }

    /// The same for a document that has been read already.
    pub fn run_parsed<'a>(&mut self, body: Parsed<'a>, job: Job) -> Result<Compaction<'a>, EngineError> {
        let inputs = Inputs { policy: &self.policy, state: &self.state, job: &job };
        let sound = Sound::of(body, &inputs);
        let plan = plan(&sound, assess(&sound, &inputs), &inputs)?;
        self.setting = Some(sound.setting.clone());
        self.waiting = match &plan.writing.job {
            Some(_) => Some(Waiting {
                sound: sound.clone().into_owned(),
                plan: plan.clone(),
                job: job.clone(),
                state: self.state.clone(),
            }),
            None => None,
        };
        let done = finish(sound, plan, &inputs)?;
        self.state = done.state.clone();
        Ok(done)
    }

    /// Goes on when a model has answered, and returns everything that is known about it.
    pub fn run_resumed(&mut self, summary: &Summary) -> Result<Option<Compaction<'static>>, EngineError> {
        let Some(Waiting { sound, plan, job, state }) = self.waiting.take() else { return Ok(None) };
        let inputs = Inputs { policy: &self.policy, state: &state, job: &job };
        let plan = resume(&sound, plan, summary, &inputs)?;
        let done = finish(sound, plan, &inputs)?;
        self.state = done.state.clone();
        Ok(Some(done))
    }
}

impl ContextEngine for Foldline {
    fn name(&self) -> &str {
        "foldline"
    }

    fn should_compact(&self, prompt_tokens: u64) -> Verdict {
        let Some(setting) = &self.setting else {
            return Verdict::Wait("no request has been seen yet".into());
        };
        let situation = Situation {
            size: Size { tokens: prompt_tokens, messages: usize::MAX, bytes: 0 },
            admitted: 0,
            fixed: 0,
            is_settled: false,
            policy: &self.policy,
            model: &setting.model,
            budgets: &setting.budgets,
            state: &self.state,
            trigger: Trigger::Engine,
            target: None,
            idle: None,
        };
        situation.assess()
    }

    fn preflight(&self, body: &str) -> Result<Verdict, EngineError> {
        let job = Job::default();
        let inputs = Inputs { policy: &self.policy, state: &self.state, job: &job };
        Ok(assess(&read(body, &inputs)?, &inputs))
    }

    fn compact(&mut self, body: &str, request: &Request) -> Result<Compacted, EngineError> {
        self.run(body, request.clone()).map(Compacted::of)
    }

    fn resume(&mut self, summary: &Summary) -> Result<Option<Compacted>, EngineError> {
        Ok(self.run_resumed(summary)?.map(Compacted::of))
    }

    fn observe(&mut self, body: &str, usage: TokenUsage) {
        let (job, unscaled) = (Job::default(), SessionState::default());
        let sound = read(body, &Inputs { policy: &self.policy, state: &unscaled, job: &job }).ok();
        // A body that cannot be read teaches nothing about counting; its usage still counts.
        let messages = sound.as_ref().map_or(usize::MAX, |sound| sound.transcript().messages.len());
        let counted = sound.as_ref().map_or(0, |sound| sound.counts.total());
        self.setting = sound.map(|sound| sound.setting).or(self.setting.take());
        let pressure = self.setting.as_ref().map_or(0, |setting| setting.budgets.pressure.into());
        let event = SessionEvent::Reported { prompt: usage.prompt, messages: Some(messages), counted, pressure };
        self.state.apply(&event);
    }

    fn start_session(&mut self, state: SessionState) {
        self.state = state;
    }

    fn end_session(&mut self) -> SessionState {
        self.state.clone()
    }

    fn reset_session(&mut self) {
        *self = Foldline::new(std::mem::take(&mut self.policy));
    }

    fn switch_model(&mut self, model: &str, window: Option<u32>) {
        self.policy.model.name = Some(model.to_owned());
        if let Some(window) = window {
            self.policy.model.window = AutoOr::Fixed(window);
        }
        self.state.apply(&SessionEvent::ModelSwitched);
        self.setting = None;
        self.waiting = None;
    }

    fn status(&self) -> Status {
        let budgets = self.setting.as_ref().map(|setting| setting.budgets);
        let last = self.state.usage.map_or(0, |usage| usage.prompt);
        let window = budgets.map_or(0, |budgets| budgets.window.into());
        Status {
            last_prompt_tokens: last,
            trigger_tokens: budgets.map_or(0, |budgets| budgets.trigger.into()),
            window,
            usage_percent: if window == 0 { 0.0 } else { last as f64 * 100.0 / window as f64 },
            folds: self.state.folds,
            prunes: self.state.prunes,
            strikes: self.state.strikes,
        }
    }
}

impl Compacted {
    fn of(done: Compaction<'_>) -> Compacted {
        let originals = done.plan.originals.iter().map(|original| Removed {
            handle: original.handle,
            tool: original.tool.clone(),
            text: original.text(&done.source).into_owned(),
        });
        Compacted {
            originals: originals.collect(),
            outcome: done.plan.outcome,
            reason: done.plan.reason,
            summary_job: done.summary_job,
            body: done.body.into_owned(),
        }
    }
}
