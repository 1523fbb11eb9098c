//! One conversation: what was folded of it, what was removed, and compactions that may wait for a model.

use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::kept::kept;
use crate::options::{Ask, Options};
use crate::originals::{Look, Removed, page, removed};
use foldline_core::planning::SessionEvent;
use foldline_core::summary::{self, Failure, FailureClass, Summary, Writer};
use foldline_core::{Compaction, ContextEngine, Foldline, Job, Report, SessionState, TokenUsage};
use foldline_transcript::Parsed;
use foldline_transcript::recall::Handle;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The memory of one conversation, shared by all who hold it.
#[derive(Clone, Debug)]
pub struct Session {
    options: Arc<Options>,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Debug, Default)]
struct Memory {
    engine: Foldline,
    checkpoint: Option<Checkpoint>,
    originals: BTreeMap<String, Removed>,
    left: Option<Left>,
}

/// What the last rewrite left, by our own count.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Left {
    tokens: u64,
    /// The pressure mark at that time.
    pressure: u32,
}

/// What [`Session::save`] writes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    state: SessionState,
    checkpoint: Option<Checkpoint>,
    originals: Vec<Removed>,
    left: Option<Left>,
}

/// How far a compaction is.
#[derive(Debug)]
pub enum Step {
    /// A model has to be asked.
    Asks(Box<Pending>),
    /// It is finished.
    Done(Box<Done>),
}

/// A finished compaction.
#[derive(Clone, Debug)]
pub struct Done {
    /// The new body; `None` when the one that came in is to be sent as it is.
    pub body: Option<String>,
    /// The report, as JSON.
    pub report: String,
    /// For each message of the new body its index among those that came in; `None` for messages that are new or changed.
    /// Empty when there is no new body.
    pub kept: Vec<Option<usize>>,
    /// What was removed.
    pub originals: Vec<Removed>,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Who it is.
    pub system: String,
    /// What it shall do.
    pub user: String,
    /// Tokens that its reply may take.
    pub max_tokens: u32,
}

/// A compaction that waits for a model's words.
#[derive(Debug)]
pub struct Pending {
    session: Session,
    /// The engine as it stands in the middle of this compaction.
    engine: Foldline,
    /// What the host sent.
    input: Parsed<'static>,
    writer: Writer,
    prompt: Prompt,
    spent: Duration,
}

impl Session {
    /// A conversation that begins.
    pub fn new(options: Options) -> Session {
        let memory = Memory { engine: Foldline::new(options.policy.clone()), ..Memory::default() };
        Session { options: Arc::new(options), memory: Arc::new(Mutex::new(memory)) }
    }

    /// A conversation that goes on with what [`save`](Self::save) wrote.
    pub fn restore(options: Options, saved: &str) -> Result<Session, Error> {
        let saved: Saved = serde_json::from_str(saved).map_err(|error| Error::Saved(error.to_string()))?;
        let session = Session::new(options);
        let mut memory = session.memory();
        memory.engine.start_session(saved.state);
        memory.checkpoint = saved.checkpoint;
        memory.left = saved.left;
        memory.keep(&saved.originals);
        drop(memory);
        Ok(session)
    }

    /// Everything that is remembered, as JSON.
    pub fn save(&self) -> String {
        let mut memory = self.memory();
        let saved = Saved {
            state: memory.engine.end_session(),
            checkpoint: memory.checkpoint.clone(),
            originals: memory.originals.values().cloned().collect(),
            left: memory.left,
        };
        drop(memory);
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Compacts a body if it is time to.
    pub fn compact(&self, body: &str, ask: Ask) -> Result<Step, Error> {
        let started = Instant::now();
        let input = Parsed::read(body, self.options.format)?;
        let (mut engine, swapped) = {
            let mut memory = self.memory();
            memory.stop_waiting();
            let swapped = memory.checkpoint.as_ref().and_then(|checkpoint| checkpoint.swap(&input.transcript()));
            (memory.engine.clone(), swapped)
        };
        let shown = match swapped {
            Some(text) => Parsed::read(text, Some(input.transcript().format))?,
            None => input.clone(),
        };
        let job = Job { format: self.options.format, request: ask.request(&self.options), ..Job::default() };
        let mut done = engine.run_parsed(shown, job)?;
        match done.summary_job.take() {
            None => Ok(self.finished(engine, &input, &done, started.elapsed())),
            Some(job) => {
                let input = input.into_owned();
                Pending::step(self.clone(), engine, input, job.start(), started.elapsed())
            }
        }
    }

    /// Ends a compaction whose model has answered, or failed to.
    fn resumed(
        &self,
        mut engine: Foldline,
        input: &Parsed<'_>,
        summary: &Summary,
        spent: Duration,
    ) -> Result<Step, Error> {
        let started = Instant::now();
        match engine.run_resumed(summary)? {
            Some(done) => Ok(self.finished(engine, input, &done, spent + started.elapsed())),
            None => Err(Error::Options("no compaction waits for a summary".to_owned())),
        }
    }

    /// Remembers what came of a compaction.
    fn finished(&self, engine: Foldline, input: &Parsed<'_>, done: &Compaction<'_>, spent: Duration) -> Step {
        let (before, after) = (input.transcript(), done.transcript());
        let is_new = done.body != input.text();
        let originals = removed(done);
        let mut memory = self.memory();
        // Another compaction of this conversation may have ended meanwhile: what it learnt stays.
        let mut state = memory.engine.end_session();
        state.apply_all(&done.events);
        memory.engine = engine;
        memory.engine.start_session(state);
        if is_new {
            memory.checkpoint = Checkpoint::cut(&before, &after);
            memory.left = Some(Left { tokens: done.plan.tokens.after, pressure: done.budgets.pressure });
        }
        memory.keep(&originals);
        drop(memory);
        let mut report = Report::of(done);
        report.timing_ms.insert("compact".into(), spent.as_secs_f64() * 1000.0);
        Step::Done(Box::new(Done {
            report: serde_json::to_string(&report).unwrap_or_default(),
            kept: if is_new { kept(&before, &after) } else { Vec::new() },
            body: is_new.then(|| done.body.to_string()),
            originals,
        }))
    }

    /// Takes note of the prompt tokens that the provider reported for a body: counts become exact, and the next decision
    /// rests on them.
    pub fn observe(&self, body: &str, prompt_tokens: u64, completion_tokens: u64) {
        let usage = TokenUsage { prompt: prompt_tokens, completion: completion_tokens };
        self.memory().engine.observe(body, usage);
    }

    /// How the session stands, as JSON.
    pub fn status(&self) -> String {
        serde_json::to_string(&self.memory().engine.status()).unwrap_or_default()
    }

    /// An original, byte for byte.
    pub fn original(&self, handle: &str) -> Result<Removed, Error> {
        let known = Handle::parse(handle).and_then(|handle| self.memory().originals.get(&handle.to_string()).cloned());
        known.ok_or_else(|| {
            Error::Recall(format!(
                "nothing that this session removed has the handle {handle:?}; handles look like fl-3f9a0c51d2e7"
            ))
        })
    }

    /// A page of an original, as turns and lines.
    pub fn recall(&self, handle: &str, look: &Look) -> Result<String, Error> {
        let tool = self.options.recall_tool.as_deref().unwrap_or("recall");
        page(&self.original(handle)?, look, tool)
    }

    /// A panic elsewhere leaves a memory that is whole: it is only ever replaced by finished values.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// After a fold the engine waits for the usage that the provider reports. A host that sends its next request without
    /// having told any reports none: our own count stands for it, or there would be no second fold.
    fn stop_waiting(&mut self) {
        let Some(left) = self.left.take() else { return };
        let mut state = self.engine.end_session();
        if state.awaiting_usage {
            let (prompt, pressure) = (left.tokens, left.pressure.into());
            state.apply(&SessionEvent::Reported { prompt, messages: None, counted: 0, pressure });
            self.engine.start_session(state);
        }
    }

    fn keep(&mut self, originals: &[Removed]) {
        self.originals.extend(originals.iter().map(|original| (original.handle.clone(), original.clone())));
    }
}

impl Pending {
    fn step(
        session: Session,
        engine: Foldline,
        input: Parsed<'static>,
        mut writer: Writer,
        spent: Duration,
    ) -> Result<Step, Error> {
        let started = Instant::now();
        let asked = match writer.ask() {
            // The host asks by prompts; it is offered no request in the conversation's own format.
            Some(summary::Ask::Document { .. }) => {
                writer.without_document();
                writer.ask()
            }
            asked => asked,
        };
        if let Some(summary::Ask::Prompt { system, user, reply }) = asked {
            let prompt = Prompt { system, user, max_tokens: reply };
            let spent = spent + started.elapsed();
            return Ok(Step::Asks(Box::new(Pending { session, engine, input, writer, prompt, spent })));
        }
        let nothing = || Summary::Failed(Failure::new(FailureClass::BadReply, "the model was asked nothing"));
        let summary = writer.finish().map_or_else(nothing, Summary::Written);
        session.resumed(engine, &input, &summary, spent + started.elapsed())
    }

    /// What the model is to be asked.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Goes on with what the model said, or with why it said nothing; then the handoff is written without it.
    pub fn answer(self, heard: Result<&str, &str>) -> Result<Step, Error> {
        let Pending { session, engine, input, mut writer, spent, .. } = self;
        let heard = match heard {
            Ok(text) => writer.reply(text).map_err(|bad| Failure::new(FailureClass::BadReply, &bad.to_string())),
            Err(why) => Err(Failure::new(FailureClass::Server, why)),
        };
        match heard {
            Ok(()) => Pending::step(session, engine, input, writer, spent),
            Err(failure) => session.resumed(engine, &input, &Summary::Failed(failure), spent),
        }
    }
}
