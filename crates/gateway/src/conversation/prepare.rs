//! From a request to what is forwarded: recognise it, swap what is known, fold if it is time.

use super::ask::{Ask, Bypass};
use super::checkpoint::{Checkpoint, Marks, Seals};
use super::fault::Fault;
use super::fold::{Attempt, Fold, FoldTask, Start};
use super::gate::{Beside, Course, Move, choose};
use super::inner::{Inner, Rules, name};
use super::memory::{Lane, Reports};
use super::moment;
use super::prepared::{Durability, Outcome, Prepared, Recovery, Turn, Whole};
use super::purpose::{Purpose, purpose};
use super::sessions::Sums;
use super::settings::Mode;
use super::sight::Sight;
use super::tally::{self, Tally};
use super::windows::{self, Window};
use foldline_core::Setting;
use foldline_core::Trigger;
use foldline_core::cache::{Economics, Outlook, Tariff, weigh};
use foldline_core::planning::Usage;
use foldline_core::planning::{Size, Warmth};
use foldline_core::policy::{BudgetInputs, Budgets};
use foldline_core::summary::Cooldown;
use foldline_core::{Policy, Request, SessionState};
use foldline_store::{Key, Precedence};
use std::borrow::Cow;
use std::sync::Arc;

/// Makes a request ready to be forwarded.
pub(super) fn prepare<'a>(inner: &Arc<Inner>, ask: &Ask<'a>) -> Result<Prepared<'a>, Fault> {
    let rules = inner.rules();
    let sight = Sight::of(ask)?;
    let purpose = purpose(ask.purpose, &sight.transcript);
    let alone = left_alone(&rules, ask, &sight, purpose);
    let root = sight.root().filter(|_| alone != Some(Outcome::Bypassed) && purpose != Purpose::Side);
    let mut lane = match &root {
        Some(root) => inner.enter(&rules, ask, &sight, root)?,
        None => Lane::default(),
    };
    let window = windows::learnt(inner, ask.credential, sight.model(), ask.now.0);
    let policy = rules.policy(window, sight.transcript.max_output, ask.model);
    let setting = rules.job.setting(&sight.transcript, &policy, &lane.state);
    let tally = Tally::of(&sight, &tally::measure(setting.budgets.image_tokens), &mut lane.measured);
    let outside = tally.outside as f64 * lane.state.calibration.ratio();
    let setting = setting.beside(outside as u64, &policy);
    let mut path = Path {
        inner,
        rules: &rules,
        ask,
        sight: &sight,
        policy: &policy,
        setting,
        tally,
        lane,
        window,
        warnings: Vec::new(),
        durability: Durability::Disk,
        engine: Engine::Idle,
    };
    let passed = match (root, alone) {
        (Some(root), None) => path.go(root, purpose)?,
        _ => Passed { outcome: alone.unwrap_or(Outcome::Unchanged), checkpoint: None, task: None },
    };
    Ok(path.leave(root, purpose, alone, passed))
}

/// Why a request is left alone, if it is.
fn left_alone(rules: &Rules, ask: &Ask<'_>, sight: &Sight<'_>, purpose: Purpose) -> Option<Outcome> {
    let settings = &rules.settings;
    if ask.bypass == Bypass::Wanted
        || purpose == Purpose::Side
        || sight.is_continued
        || settings.bypass_models.iter().any(|pattern| matches(pattern, sight.model()))
        || offers(sight, &settings.bypass_tools)
    {
        return Some(Outcome::Bypassed);
    }
    if !settings.policy.compression.enabled {
        return Some(Outcome::Unchanged);
    }
    (settings.holdout > 0.0 && share(sight.session.as_str()) < settings.holdout).then_some(Outcome::Holdout)
}

/// Whether a name is meant: the same, or the same up to a final `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => name == pattern,
    }
}

/// Whether a request offers one of these tools.
fn offers(sight: &Sight<'_>, tools: &[String]) -> bool {
    let Some(span) = sight.transcript.tools.filter(|_| !tools.is_empty()) else {
        return false;
    };
    let offered: serde_json::Value = serde_json::from_str(sight.transcript.raw(span)).unwrap_or_default();
    let names =
        offered.as_array().into_iter().flatten().flat_map(|tool| [tool.get("name"), tool.pointer("/function/name")]);
    names.flatten().filter_map(|name| name.as_str()).any(|name| tools.iter().any(|tool| tool == name))
}

/// A number between 0 and 1 that a session always gets.
fn share(session: &str) -> f64 {
    let digest = blake3::hash(session.as_bytes());
    let bytes = digest.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}

/// What the engine may take as reported: usage of a request that this one extends.
pub(super) fn usage_for(lane: &Lane, sight: &Sight<'_>, checkpoint: Option<&Checkpoint>) -> Option<Usage> {
    let base = lane.base.as_ref()?;
    let same_beginning = sight.key(base.position).is_some_and(|key| name(&key) == base.digest);
    let same_checkpoint = checkpoint.map(|checkpoint| name(&checkpoint.key)) == base.checkpoint;
    (same_beginning && same_checkpoint).then_some(Usage { prompt: base.prompt, messages: base.sent })
}

/// A request on its way through.
struct Path<'p, 'a> {
    inner: &'p Arc<Inner>,
    rules: &'p Arc<Rules>,
    ask: &'p Ask<'a>,
    sight: &'p Sight<'a>,
    policy: &'p Policy,
    setting: Setting,
    tally: Tally,
    lane: Lane,
    window: Option<Window>,
    warnings: Vec<String>,
    durability: Durability,
    /// Whether the engine was asked, so that what it remembers has changed.
    engine: Engine,
}

/// Whether the engine took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    Idle,
    Asked,
}

/// What was decided.
struct Passed {
    outcome: Outcome,
    checkpoint: Option<Arc<Checkpoint>>,
    task: Option<FoldTask>,
}

impl<'a> Path<'_, 'a> {
    /// Swaps what is known, and folds if it is time.
    fn go(&mut self, root: Key, purpose: Purpose) -> Result<Passed, Fault> {
        let mut checkpoint = self.inner.best(self.rules, self.ask, self.sight)?;
        {
            let mut memory = self.inner.memory();
            match checkpoint {
                Some(_) => memory.totals.checkpoint_hits += 1,
                None => memory.totals.checkpoint_misses += 1,
            }
        }
        // A client that compacts should see everything, as long as it fits.
        if purpose == Purpose::Compaction && self.tokens(None) < u64::from(self.setting.budgets.effective_window) {
            return Ok(Passed { outcome: Outcome::Bypassed, checkpoint: None, task: None });
        }
        if let Some(stale) = checkpoint.clone().filter(|checkpoint| checkpoint.facts.seals == Seals::Stale) {
            self.engine = Engine::Asked;
            let mut lane = std::mem::take(&mut self.lane);
            let fold = self.fold(root, Some(&stale), Request::default());
            let adopted = fold.adopt(&mut lane, self.setting.budgets.image_tokens);
            self.lane = lane;
            match adopted? {
                Attempt::Done(done) => checkpoint = Some(done.checkpoint),
                Attempt::Nothing(_) => {}
                // Without the adoption its signatures would be refused, without the checkpoint perhaps its size.
                Attempt::Unkept(error) => return Err(error.into()),
            }
        }
        self.act(root, purpose, checkpoint)
    }

    /// Chooses what to do now that the checkpoint is known, and does it.
    fn act(&mut self, root: Key, purpose: Purpose, mut checkpoint: Option<Arc<Checkpoint>>) -> Result<Passed, Fault> {
        let manual = self.inner.memory().session(&self.sight.session).and_then(|session| session.manual.clone());
        let choose = |checkpoint: Option<&Checkpoint>| match (&manual, purpose) {
            (Some(_), Purpose::Turn) => Move::Fold(Trigger::Manual),
            (_, Purpose::Turn) => self.next_move(root, checkpoint),
            // Its own compaction is at work: only what cannot be sent at all is folded.
            _ => match self.tokens(checkpoint) >= u64::from(self.setting.budgets.effective_window) {
                true => Move::Fold(Trigger::Overflow),
                false => Move::Forward,
            },
        };
        let mut next = choose(checkpoint.as_deref());
        let mut doubt = None;
        let can_ask = self.inner.store_for(self.rules).is_some() && !self.inner.store_rests(self.ask.now.0);
        if next != Move::Forward && can_ask {
            // Another process may have folded this conversation already.
            let learnt = self.inner.learn_root(self.rules, self.ask.credential, &root);
            let known = match learnt.and_then(|()| self.inner.best(self.rules, self.ask, self.sight)) {
                Ok(known) => known,
                // What is known here still counts; whether the fold can be kept will show.
                Err(fault) => {
                    doubt = Some(format!("the store cannot be asked about other folds: {fault}"));
                    checkpoint.clone()
                }
            };
            let position = |of: &Option<Arc<Checkpoint>>| of.as_ref().map(|checkpoint| checkpoint.facts.position);
            if position(&known) > position(&checkpoint)
                && known.as_ref().is_some_and(|known| known.facts.seals == Seals::Sound)
            {
                next = choose(known.as_deref());
                checkpoint = known;
            }
        }
        self.warnings.extend(doubt);
        let can_wait = !matches!(next, Move::Forward | Move::Fold(Trigger::Overflow | Trigger::Manual));
        if can_wait && self.inner.store_rests(self.ask.now.0) {
            return Ok(Passed { outcome: Outcome::FailedOpen, checkpoint, task: None });
        }
        let swapped = if checkpoint.is_some() { Outcome::Checkpoint } else { Outcome::Unchanged };
        match next {
            Move::Forward => Ok(Passed { outcome: swapped, checkpoint, task: None }),
            Move::Beside(trigger) => {
                let start = Start {
                    request: moment::request(trigger, self.ask, self.sight, &self.lane, self.policy),
                    rules: self.rules,
                    ask: self.ask,
                    sight: self.sight,
                    root,
                    checkpoint: checkpoint.as_ref(),
                    lane: &self.lane,
                    window: self.window,
                };
                let task = FoldTask::start(self.inner, start);
                Ok(Passed { outcome: swapped, checkpoint, task })
            }
            Move::Fold(trigger) => {
                let focus = manual.flatten().or_else(|| self.ask.focus.map(str::to_owned));
                self.fold_now(root, checkpoint, trigger, focus, swapped)
            }
        }
    }

    fn next_move(&self, root: Key, checkpoint: Option<&Checkpoint>) -> Move {
        let in_flight = self.inner.memory().flights.contains(&(self.sight.session.clone(), root));
        let beside = if in_flight { Beside::Fold } else { Beside::Nothing };
        let replaced =
            checkpoint.map_or(0, |checkpoint| checkpoint.facts.messages as i64 - checkpoint.facts.position as i64);
        let size = Size {
            tokens: self.tokens(checkpoint),
            messages: self.sight.transcript.messages.len().saturating_add_signed(replaced as isize),
            bytes: self.bytes(checkpoint),
            cache: Warmth::after(moment::idle(&self.lane, self.ask), self.policy.model.cache_ttl),
        };
        let economics = self.economics(checkpoint, size.tokens);
        let course = Course { beside, reports: self.lane.reports, economics };
        choose(size, self.policy, &self.budgets(checkpoint), &self.lane.state, course)
    }

    /// The budgets as the engine will see them: what was reported beyond what is counted stands beside the messages.
    fn budgets(&self, checkpoint: Option<&Checkpoint>) -> Budgets {
        let Setting { model, inputs, .. } = &self.setting;
        let scale = self.lane.state.calibration.ratio();
        let unseen = self.tokens(checkpoint).saturating_sub((self.counted(checkpoint) as f64 * scale) as u64);
        let outside = inputs.outside.saturating_add(u32::try_from(unseen).unwrap_or(u32::MAX));
        Budgets::of(self.policy, model, BudgetInputs { outside, ..*inputs })
    }

    /// What a fold would cost and save, where the policy lets money decide.
    fn economics(&self, checkpoint: Option<&Checkpoint>, tokens: u64) -> Option<Economics> {
        let knobs = &self.policy.compression;
        let tariff = Tariff::of(&self.setting.model).ok().filter(|_| knobs.economy)?;
        let opening = match checkpoint {
            Some(_) => 0,
            None => self.tally.since(0) - self.tally.since((knobs.protect_first_n as usize).min(self.sight.len())),
        };
        let outlook = Outlook {
            tokens,
            fixed: self.tally.outside + opening,
            idle: moment::idle(&self.lane, self.ask),
            ttl: self.policy.model.cache_ttl,
            pace: self.lane.state.pace,
        };
        Some(weigh(&outlook, &self.setting.budgets, &tariff))
    }

    fn fold_now(
        &mut self,
        root: Key,
        checkpoint: Option<Arc<Checkpoint>>,
        trigger: Trigger,
        focus: Option<String>,
        otherwise: Outcome,
    ) -> Result<Passed, Fault> {
        let (is_manual, is_needed) = (trigger == Trigger::Manual, trigger == Trigger::Overflow);
        let request = Request { focus, ..moment::request(trigger, self.ask, self.sight, &self.lane, self.policy) };
        let mut fold = self.fold(root, checkpoint.as_deref(), request);
        if is_manual {
            fold.precedence = Precedence::Latest;
        }
        let mut lane = self.lane.clone();
        let attempt = if is_needed { fold.make_at_any_rate(&mut lane)? } else { fold.make(&mut lane)? };
        self.lane = lane;
        self.engine = Engine::Asked;
        if is_manual && let Some(session) = self.inner.memory().session(&self.sight.session) {
            session.manual = None;
        }
        Ok(match attempt {
            Attempt::Done(done) => {
                self.warnings.extend(done.warnings);
                self.durability = done.durability;
                let outcome = if done.is_fold { Outcome::Folded } else { Outcome::Pruned };
                Passed { outcome, checkpoint: Some(done.checkpoint), task: None }
            }
            Attempt::Nothing(warnings) => {
                self.warnings.extend(warnings);
                Passed { outcome: otherwise, checkpoint, task: None }
            }
            Attempt::Unkept(error) => {
                self.warnings.push(format!("a fold could not be kept and is not used: {error}"));
                Passed { outcome: Outcome::FailedOpen, checkpoint, task: None }
            }
        })
    }

    fn fold<'f>(&'f self, root: Key, checkpoint: Option<&'f Checkpoint>, request: Request) -> Fold<'f, 'a> {
        Fold {
            inner: self.inner,
            rules: self.rules,
            policy: self.policy,
            ask: self.ask,
            sight: self.sight,
            root,
            checkpoint,
            request,
            precedence: Precedence::First,
            seals: Seals::Sound,
            durability: Durability::Disk,
        }
    }

    /// Tokens as they go out, estimated.
    fn counted(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        match checkpoint {
            Some(checkpoint) => {
                self.tally.outside + checkpoint.facts.tokens + self.tally.since(checkpoint.facts.position)
            }
            None => self.tally.total(),
        }
    }

    /// Tokens as they go out, best known: reported for the beginning, estimated for the rest.
    fn tokens(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let scale = self.lane.state.calibration.ratio();
        let scaled = |tokens: u64| (tokens as f64 * scale) as u64;
        match (usage_for(&self.lane, self.sight, checkpoint), &self.lane.base) {
            (Some(usage), Some(base)) => usage.prompt + scaled(self.tally.since(base.position)),
            _ => scaled(self.counted(checkpoint)),
        }
    }

    fn bytes(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let all = self.sight.transcript.text.len();
        let Some(checkpoint) = checkpoint else {
            return all as u64;
        };
        let end = |position: usize| self.sight.message(position).map_or(0, |message| message.span.end as usize);
        let start = self.sight.message(0).map_or(0, |message| message.span.start as usize);
        let replaced = end(checkpoint.facts.position.saturating_sub(1)).saturating_sub(start);
        (all - replaced.min(all) + checkpoint.text.len()) as u64
    }

    /// Writes the body, and remembers what the next turn needs.
    fn leave(mut self, root: Option<Key>, purpose: Purpose, alone: Option<Outcome>, passed: Passed) -> Prepared<'a> {
        let Passed { outcome, checkpoint, task } = passed;
        let swapped = checkpoint.as_deref().and_then(|checkpoint| checkpoint.swap(self.sight, Marks::AtTheSeam));
        let is_swapped = swapped.is_some();
        let decided = self.tokens(checkpoint.as_deref().filter(|_| is_swapped));
        let as_it_came = match is_swapped {
            // Both in the same measure, so that their difference means something.
            true => decided + self.scaled_difference(checkpoint.as_deref()),
            false => decided,
        };
        let is_shadow = self.rules.settings.mode == Mode::Shadow && alone.is_none();
        let outcome = if is_shadow && outcome != Outcome::Bypassed { Outcome::Shadow } else { outcome };
        self.warn_of_pressure(root, decided);
        let body = match swapped {
            Some(text) if !is_shadow => Cow::Owned(text),
            _ => Cow::Borrowed(self.ask.body),
        };
        let goes_out = if is_shadow { as_it_came } else { decided };
        let sent = checkpoint.as_deref().filter(|_| !is_shadow);
        let messages = self.sight.transcript.messages.len();
        let turn = Turn {
            credential: self.ask.credential,
            session: self.sight.session.clone(),
            // What a client adds for its own compaction is no part of the conversation.
            root: root.filter(|_| purpose == Purpose::Turn),
            outcome,
            recovery: match (is_shadow, alone) {
                (false, None) => Recovery::Allowed,
                _ => Recovery::Forbidden,
            },
            tokens: (as_it_came, goes_out),
            counted: self.counted(sent),
            end: (self.sight.key(self.sight.len()).map(|key| name(&key)).unwrap_or_default(), self.sight.len()),
            sent: sent.map_or(messages, |sent| messages - sent.facts.position + sent.facts.messages),
            whole: Whole { counted: self.counted(None), sent: messages },
            checkpoint: sent.map(|sent| name(&sent.key)),
            budgets: self.setting.budgets,
            model: self.setting.model.clone(),
            asked_model: self.sight.model().to_owned(),
        };
        self.remember(root, &turn, is_swapped);
        Prepared {
            body,
            session: turn.session.clone(),
            outcome,
            tokens: (as_it_came, decided),
            turn,
            durability: self.durability,
            background: task,
            warnings: self.warnings,
        }
    }

    /// What a checkpoint takes away, in corrected tokens.
    fn scaled_difference(&self, checkpoint: Option<&Checkpoint>) -> u64 {
        let removed = self.tally.total().saturating_sub(self.counted(checkpoint));
        (removed as f64 * self.lane.state.calibration.ratio()) as u64
    }

    /// Says once that the trigger is near; says it again only after usage had fallen.
    fn warn_of_pressure(&mut self, root: Option<Key>, tokens: u64) {
        let budgets = &self.setting.budgets;
        if root.is_none() {
            return;
        }
        if tokens < u64::from(budgets.pressure) {
            self.lane.state.warned = false;
        } else if !self.lane.state.warned {
            self.lane.state.warned = true;
            let share = tokens * 100 / u64::from(budgets.trigger.max(1));
            self.warnings.push(format!(
                "context is at {share} % of the compaction trigger ({tokens} of {} tokens)",
                budgets.trigger
            ));
        }
    }

    fn remember(&mut self, root: Option<Key>, turn: &Turn, is_swapped: bool) {
        let mut sums = Sums {
            requests: 1,
            tokens_before: turn.tokens.0,
            tokens_after: turn.tokens.1,
            swaps: u64::from(is_swapped),
            ..Sums::default()
        };
        match turn.outcome {
            Outcome::Folded => sums.folds = 1,
            Outcome::Pruned => sums.prunes = 1,
            Outcome::FailedOpen => sums.failed_open = 1,
            _ => {}
        }
        sums.failed_open += u64::from(self.durability == Durability::Memory);
        let mut memory = self.inner.memory();
        if let (Some(root), Some(session)) = (root, memory.session(&self.sight.session)) {
            let record = &mut session.record;
            record.label.clone_from(&self.sight.label);
            self.sight.dialect.name().clone_into(&mut record.dialect);
            self.sight.model().clone_into(&mut record.model);
            if record.first_at == 0 {
                record.first_at = self.ask.now.0;
            }
            record.last_at = record.last_at.max(self.ask.now.0);
            record.context = turn.tokens.1;
            record.trigger = self.setting.budgets.trigger.into();
            record.window = self.setting.budgets.window.into();
            let lane = std::mem::take(&mut self.lane);
            let idle = moment::idle(&lane, self.ask);
            record.with_lane(&name(&root), |stored| {
                stored.measured = lane.measured;
                stored.last_at = stored.last_at.max(self.ask.now.0);
                stored.reports = Reports::Known;
                match self.engine {
                    // A fold beside the conversation may have ended meanwhile; what it left is later than ours.
                    Engine::Idle => {
                        stored.state.warned = lane.state.warned;
                        stored.state.pace.pause(idle, self.policy.model.cache_ttl);
                    }
                    Engine::Asked => {
                        // What was learnt meanwhile about counting, and by a fold beside it about the summariser, stays.
                        let calibration = stored.state.calibration;
                        let fallbacks = stored.state.summariser.fallbacks.max(lane.state.summariser.fallbacks);
                        let summariser = Cooldown { fallbacks, ..std::mem::take(&mut stored.state.summariser) };
                        stored.state = SessionState { calibration, summariser, ..lane.state };
                        stored.latest = lane.latest;
                        stored.base = lane.base;
                    }
                }
            });
        }
        memory.add(&self.sight.session, &sums);
    }
}
