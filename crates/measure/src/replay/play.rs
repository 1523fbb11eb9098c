//! One session under one policy.

use super::session::{Exams, Piece, Session, pieces};
use crate::cache::{Block, Rules, Simulator};
use crate::retention::{Page, Tally};
use foldline_core::Event;
use foldline_core::Outcome;
use foldline_core::SessionState;
use foldline_core::Setting;
use foldline_core::cache::{Bill, Layout, Tariff, Traffic};
use foldline_core::handoff;
use foldline_core::models::ModelTable;
use foldline_core::planning::StepKind;
use foldline_core::planning::family_of;
use foldline_core::planning::{SessionEvent, Situation, Size, Verdict};
use foldline_core::policy::Policy;
use foldline_core::tokens::Measure;
use foldline_core::{EngineError, Job, compact};
use foldline_core::{Request, Trigger};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use serde::Serialize;
use std::borrow::Cow;

/// Where a session is played.
#[derive(Clone, Debug)]
pub struct ReplaySetup<'a> {
    /// What is known about models.
    pub models: &'a ModelTable,
    /// Where marks are put.
    pub layout: Layout,
    /// Whether originals are kept, so that handles stand in handoffs.
    pub keeps_originals: bool,
}

/// One request as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sent {
    /// Seconds since the first.
    pub at: f64,
    /// Tokens of the prompt.
    pub tokens: u64,
    /// What they are charged as.
    pub traffic: Traffic,
    /// Dollars.
    pub dollars: f64,
}

/// A compaction of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compacted {
    /// What it did.
    #[serde(flatten)]
    pub event: Event,
    /// Facts that the agent needed later and that survived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Tally>,
}

/// A played session.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Run {
    /// The requests.
    pub requests: Vec<Sent>,
    /// The compactions.
    pub events: Vec<Compacted>,
    /// Tokens in all.
    pub traffic: Traffic,
    /// Dollars in all.
    pub bill: Bill,
    /// The model's window.
    pub window: u64,
    /// Requests that do not fit it.
    pub over_window: u64,
    /// Places where a request is not the one before plus what came, though nothing was folded, or where a fold
    /// changed something before its first change. Anything here is a defect.
    pub unstable: Vec<String>,
    /// Compactions that could not be made, and why.
    pub failures: Vec<String>,
}

/// A message of the request that is being built: of the session, or written by a compaction.
type Held<'a> = (Cow<'a, str>, Piece);

/// Plays a session; without a policy nothing is ever compacted.
pub fn play(
    session: &Session,
    policy: Option<&Policy>,
    stage: &ReplaySetup<'_>,
    exams: &mut Exams,
) -> Result<Run, foldline_core::cache::PricesUnknown> {
    let family = family_of(session.format);
    let mut policy_here = policy.cloned().unwrap_or_default();
    policy_here.model.cache_ttl = session.ttl;
    let name = policy_here.model.name.clone().unwrap_or_else(|| session.model.clone());
    let model = stage.models.profile(&name, family);
    let tariff = Tariff::of(&model)?;
    let mut game = Replayer {
        session,
        policy: policy.map(|_| &policy_here),
        job: Job {
            format: Some(session.format),
            models: Some(stage.models.clone()),
            request: Request::default(),
            ..Job::default()
        },
        keeps_originals: stage.keeps_originals,
        setting: None,
        held: Vec::new(),
        state: SessionState::default(),
        run: Run::default(),
        tariff,
        audit: Audit::Passed,
    };
    let mut cache = Simulator::new(Rules::of(&model, family));
    let window = policy_here.model.window.fixed().unwrap_or(model.window);
    game.run.window = window.into();
    let mut road = RequestHistory::new(session);
    let mut taken = 0;
    let first = session.turns.first().map_or(0.0, |turn| turn.at);
    let mut last_at = None;
    for (number, turn) in session.turns.iter().enumerate() {
        for piece in session.pieces.get(taken..turn.messages).unwrap_or_default() {
            game.held.push((Cow::Borrowed(piece.span.of(&session.text)), *piece));
        }
        taken = taken.max(turn.messages);
        let idle = last_at.map(|last: f64| (turn.at - last) as u32).filter(|_| session.has_times);
        last_at = Some(turn.at);
        if turn.is_broken {
            road.reset();
        }
        let changed = game.consider(number as u64, turn.messages, idle, exams);
        road.drive(&game.held, changed, &mut game.run.unstable, number);
        let marks = stage.layout.marks(Some(0), &road.ends, session.ttl);
        let mut traffic = cache.request(turn.at, &road.blocks, &marks);
        traffic.output = turn.output;
        let bill = game.tariff.bill(traffic);
        let tokens = traffic.prompt();
        game.run.over_window += u64::from(tokens > u64::from(window));
        game.run.requests.push(Sent { at: turn.at - first, tokens, traffic, dollars: bill.total() });
        game.run.traffic += traffic;
        game.run.bill += bill;
        game.observe(tokens);
    }
    Ok(game.run)
}

/// The request under construction and what the engine remembers.
struct Replayer<'a> {
    session: &'a Session,
    policy: Option<&'a Policy>,
    job: Job,
    keeps_originals: bool,
    setting: Option<Setting>,
    held: Vec<Held<'a>>,
    state: SessionState,
    run: Run,
    tariff: Tariff,
    audit: Audit,
}

/// Whether the engine itself has been asked since the last compaction that it leaves its own result alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audit {
    Due,
    Passed,
}

impl Replayer<'_> {
    /// Compacts before a request if it is time to. Says from which message on the request is another one.
    fn consider(&mut self, number: u64, message: usize, idle: Option<u32>, exams: &mut Exams) -> Option<usize> {
        let policy = self.policy?;
        self.prepare(policy)?;
        let setting = self.setting.as_ref()?;
        let head: u64 =
            self.held.iter().take(policy.compression.protect_first_n as usize).map(|(_, piece)| piece.tokens).sum();
        let situation = Situation {
            size: Size {
                tokens: self.tokens(),
                messages: self.held.len(),
                bytes: self.held.iter().map(|(raw, _)| raw.len() as u64 + 1).sum(),
            },
            admitted: 0,
            fixed: self.session.outside + head,
            is_settled: false,
            policy,
            model: &setting.model,
            budgets: &setting.budgets,
            state: &self.state,
            trigger: Trigger::Engine,
            target: None,
            idle,
        };
        let is_cold = situation.is_cold();
        let verdict = situation.assess();
        match verdict {
            Verdict::Wait(_) => {
                if self.audit == Audit::Due {
                    self.audit = Audit::Passed;
                    self.audit(policy, number, idle);
                }
                if is_cold {
                    self.state.apply(&SessionEvent::CacheExpired);
                }
                None
            }
            Verdict::Act(_) => self.act(policy, number, message, idle, exams),
        }
    }

    /// Between folds a request is taken to be the one before plus what came. Once per fold the engine is asked in full:
    /// where it waits, its body must be the same, byte for byte.
    fn audit(&mut self, policy: &Policy, number: u64, idle: Option<u32>) {
        let body = self.body();
        self.job.request = Request { idle, keeps_originals: self.keeps_originals, ..Request::default() };
        let Ok(done) = compact(&body, policy, &self.state, &self.job) else { return };
        let has_waited = done.plan.steps.iter().all(|step| step.kind == StepKind::Repair) && done.plan.fold.is_none();
        if has_waited && done.body != body {
            self.run.unstable.push(format!("request {number}: the engine changes what it was to leave alone"));
        }
    }

    fn act(
        &mut self,
        policy: &Policy,
        number: u64,
        message: usize,
        idle: Option<u32>,
        exams: &mut Exams,
    ) -> Option<usize> {
        let body = self.body();
        self.job.request = Request { idle, keeps_originals: self.keeps_originals, ..Request::default() };
        let done = match compact(&body, policy, &self.state, &self.job) {
            Ok(done) => done,
            Err(error) => {
                self.run.failures.push(format!("request {number}: {}", failure(&error)));
                return None;
            }
        };
        self.state = done.state.clone();
        let event = Event::of(&done)?;
        if done.plan.outcome == Outcome::Unchanged {
            return None;
        }
        let after = done.transcript();
        let violations = validate(&after).len() as u64;
        let page = Page::of(&after);
        let exam = exams.at(self.session, message);
        let root = done.plan.fold.as_ref().and_then(|fold| handoff::root(&fold.handoff.text));
        let retention = (!exam.is_empty()).then(|| exam.clone().relative_to(root).score(page.lines()).total());
        let earliest = event.earliest_changed.unwrap_or(0);
        let measure = Measure { scale: self.session.scale, ..self.setting.as_ref()?.measure };
        self.held = pieces(&after, &measure)
            .into_iter()
            .map(|piece| (Cow::Owned(piece.span.of(&done.body).to_owned()), piece))
            .collect();
        self.audit = Audit::Due;
        self.run.events.push(Compacted { event: Event { request: number, violations, ..event }, retention });
        Some(earliest)
    }

    /// Budgets follow from the model and the policy; the engine works them out once for the session.
    fn prepare(&mut self, policy: &Policy) -> Option<()> {
        if self.setting.is_none() {
            let opening = wire::read(&self.session.text, Some(self.session.format)).ok()?;
            let setting = self.job.setting(&opening, policy, &self.state);
            self.setting = Some(setting.beside(self.session.outside, policy));
        }
        Some(())
    }

    fn tokens(&self) -> u64 {
        self.session.outside + self.held.iter().map(|(_, piece)| piece.tokens).sum::<u64>()
    }

    fn body(&self) -> String {
        let (head, between, end) = &self.session.frame;
        let mut body = head.clone();
        for (index, (raw, _)) in self.held.iter().enumerate() {
            if index > 0 {
                body.push_str(between);
            }
            body.push_str(raw);
        }
        body.push_str(end);
        body
    }

    /// The provider's report, as the simulator has it: counts are those of the session, scaled.
    fn observe(&mut self, prompt: u64) {
        let Some(setting) = &self.setting else { return };
        let counted = (prompt as f64 / self.session.scale) as u64;
        let (messages, pressure) = (Some(self.held.len()), setting.budgets.pressure.into());
        self.state.apply(&SessionEvent::Reported { prompt, messages, counted, pressure });
    }
}

fn failure(error: &EngineError) -> String {
    error.to_string()
}

/// The blocks of the requests, one after the other: extended while nothing changes, rebuilt from the first change.
struct RequestHistory {
    outside: (u64, u64),
    epoch: u64,
    blocks: Vec<Block>,
    /// The last block of each message.
    ends: Vec<usize>,
    digests: Vec<u64>,
}

impl RequestHistory {
    fn new(session: &Session) -> RequestHistory {
        let mut road = RequestHistory {
            outside: (session.system, session.outside.saturating_sub(session.system)),
            epoch: 0,
            blocks: Vec::new(),
            ends: Vec::new(),
            digests: Vec::new(),
        };
        road.reset();
        road
    }

    /// The client changed what stands before the messages.
    fn reset(&mut self) {
        self.epoch += 1;
        let system = Block::after(None, 1, self.outside.0);
        self.blocks = vec![system, Block::after(Some(system), self.epoch + 1, self.outside.1)];
        self.ends.clear();
    }

    /// Moves on to the next request, and checks that it begins as it must.
    fn drive(&mut self, held: &[Held<'_>], changed: Option<usize>, unstable: &mut Vec<String>, number: usize) {
        let stays = changed.unwrap_or(self.digests.len());
        let before = self.digests.get(..stays.min(self.digests.len())).unwrap_or_default();
        let now = held.iter().map(|(_, piece)| piece.digest);
        if let Some(index) = before.iter().zip(now.clone()).position(|(before, now)| *before != now) {
            unstable.push(format!("request {number}: message {index} changed, allowed from {stays} on"));
        }
        if held.len() < before.len() {
            unstable.push(format!("request {number}: {} messages, {} were to stay", held.len(), before.len()));
        }
        self.digests = now.collect();
        let same = stays.min(self.ends.len());
        self.ends.truncate(same);
        self.blocks.truncate(self.ends.last().map_or(2, |end| end + 1));
        for (_, piece) in held.get(same..).unwrap_or_default() {
            for block in 1..=piece.blocks {
                // Sizes inside a message do not matter: marks stand at its end.
                let tokens = if block == piece.blocks { piece.tokens } else { 0 };
                let digest = piece.digest.wrapping_add(u64::from(block));
                self.blocks.push(Block::after(self.blocks.last().copied(), digest, tokens));
            }
            self.ends.push(self.blocks.len() - 1);
        }
    }
}
