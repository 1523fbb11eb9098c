//! The seam between an agent's loop and whatever keeps its context small.
//!
//! An agent holds a [`ContextEngine`] and asks it before each request. [`Foldline`] is ours; another
//! engine can take its place without the agent noticing.

use crate::engine::{Compaction, EngineError, Job, compact, count, judge, observe_usage};
use crate::planner::{Request, Trigger, Verdict};
use crate::policy::{AutoOr, Policy};
use crate::setting::Setting;
use crate::state::SessionState;
use foldline_transcript::Format;
use foldline_transcript::wire;
use serde::Serialize;

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

/// Something that keeps a conversation inside its window.
pub trait ContextEngine {
    /// The engine's name.
    fn name(&self) -> &str;

    /// Whether to compact, judged by prompt tokens that the provider reported.
    fn should_compact(&self, prompt_tokens: u64) -> Verdict;

    /// Whether to compact before a request is sent, judged by the request itself.
    fn preflight(&self, body: &str) -> Result<Verdict, EngineError>;

    /// Compacts a request on behalf of its trigger, with a focus if there is one. The body that
    /// comes back is the one to send, changed or not.
    fn compact(&mut self, body: &str, trigger: Trigger, focus: Option<&str>) -> Result<String, EngineError>;

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

/// Our engine, with a policy and the memory of one session.
#[derive(Clone, Debug, Default)]
pub struct Foldline {
    policy: Policy,
    format: Option<Format>,
    state: SessionState,
    /// The budgets of the last request: a verdict on reported tokens alone needs them.
    setting: Option<Setting>,
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
        let job = Job { format: self.format, request, ..Job::default() };
        let done = compact(body, &self.policy, &self.state, &job)?;
        self.state = done.state.clone();
        self.setting = Some(Setting {
            model: done.model.clone(),
            inputs: Default::default(),
            budgets: done.budgets,
            measure: Default::default(),
        });
        Ok(done)
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
        let size = crate::planner::Size { tokens: prompt_tokens, messages: usize::MAX, ..Default::default() };
        crate::planner::decide(size, &self.policy, &setting.budgets, &self.state, Trigger::Engine)
    }

    fn preflight(&self, body: &str) -> Result<Verdict, EngineError> {
        let transcript = wire::read(body, self.format)?;
        let setting = Job::default().setting(&transcript, &self.policy, &self.state);
        let counts = count(&transcript, &setting, &self.state);
        let setting = setting.counted(&transcript, &counts, &self.policy);
        Ok(judge(&transcript, &counts, &self.policy, &setting, &self.state, &Request::default()))
    }

    fn compact(&mut self, body: &str, trigger: Trigger, focus: Option<&str>) -> Result<String, EngineError> {
        let request = Request { trigger, focus: focus.map(str::to_owned), ..Request::default() };
        Ok(self.run(body, request)?.body.into_owned())
    }

    fn observe(&mut self, body: &str, usage: TokenUsage) {
        // A body that cannot be read teaches nothing about counting; its usage still counts.
        let Ok(transcript) = wire::read(body, self.format) else {
            return;
        };
        let unscaled = SessionState::default();
        let setting = Job::default().setting(&transcript, &self.policy, &unscaled);
        let counts = count(&transcript, &setting, &unscaled);
        let setting = setting.counted(&transcript, &counts, &self.policy);
        let messages = transcript.messages.len();
        observe_usage(&mut self.state, &setting.budgets, usage.prompt, messages, counts.total());
        self.setting = Some(setting);
    }

    fn start_session(&mut self, state: SessionState) {
        self.state = state;
    }

    fn end_session(&mut self) -> SessionState {
        self.state.clone()
    }

    fn reset_session(&mut self) {
        self.state = SessionState::default();
        self.setting = None;
    }

    fn switch_model(&mut self, model: &str, window: Option<u32>) {
        self.policy.model.name = Some(model.to_owned());
        if let Some(window) = window {
            self.policy.model.window = AutoOr::Fixed(window);
        }
        // What was learnt about counting and about strikes belongs to the model that is gone.
        self.state.calibration = Default::default();
        self.state.usage = None;
        self.state.strikes = 0;
        self.state.cause = None;
        self.setting = None;
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
