//! C3, C4: decisions by money, replays that keep prefixes, and the worked example of S0 16.5.2.

use crate::common::kit::{job, run_with, session, tokens};
use foldline_core::Outcome;
use foldline_core::cache::{Layout, Mark, Outlook, Pace, Tariff, Traffic, weigh};
use foldline_core::models::{ApiFamily, ModelTable};
use foldline_core::policy::{AutoOr, BudgetInputs, Budgets, CacheTtl, Preset};
use foldline_core::{Format, Job, Policy, Report, SessionState};
use foldline_measure::cache::{Block, Rules, Simulator};
use foldline_measure::replay::{Exams, Metrics, ReplaySetup, Session, play};

const MODEL: &str = "claude-sonnet-4-6";
const FIVE: CacheTtl = CacheTtl::FiveMinutes;

/// A policy for a model whose window the conversation fills to the given percentage.
fn frugal(text: &str, percent: u64) -> Policy {
    let mut policy = Policy::of(Preset::Frugal);
    policy.model.name = Some(MODEL.to_owned());
    policy.model.window = AutoOr::Fixed((tokens(text, Format::Anthropic) * 100 / percent) as u32);
    policy
}

/// A session that has been watched for a while.
fn watched(text: &str) -> SessionState {
    let mut state = SessionState::default();
    let total = tokens(text, Format::Anthropic);
    (1..=40).for_each(|request| state.pace.observe(total * request / 40));
    state
}

#[test]
fn c4_a_cold_cache_is_the_moment_to_fold() {
    let text = session(Format::Anthropic, 20, 4, 60).document();
    let policy = frugal(&text, 40);
    let state = watched(&text);
    let after = |idle: u32| {
        let mut job = job(Format::Anthropic);
        job.request.idle = Some(idle);
        run_with(&text, &policy, &state, &job)
    };
    let (warm, cold) = (after(20), after(4_000));
    assert_eq!(cold.plan.outcome, Outcome::Folded, "{}", cold.plan.reason);
    assert!(cold.plan.reason.contains("the cache is cold") && cold.plan.reason.contains('$'), "{}", cold.plan.reason);
    let report = serde_json::to_value(Report::of(&cold)).unwrap();
    assert!(report["economics"]["fold"]["cost_now"].as_f64().unwrap() < 0.0, "a cold fold saves at once");
    assert!(warm.economics.unwrap().cost_now > cold.economics.unwrap().cost_now);
}

#[test]
fn c4_the_same_pause_changes_nothing_for_presets_that_do_not_look_at_money() {
    let text = session(Format::Anthropic, 20, 4, 60).document();
    let mut policy = frugal(&text, 40);
    policy.compression = Policy::of(Preset::Runway).compression;
    let mut job = job(Format::Anthropic);
    job.request.idle = Some(4_000);
    assert_eq!(run_with(&text, &policy, &watched(&text), &job).plan.outcome, Outcome::Unchanged);
}

#[test]
fn c4_without_prices_money_does_not_decide() {
    let text = session(Format::Anthropic, 20, 4, 60).document();
    let mut policy = frugal(&text, 40);
    policy.model.name = Some("house-llm-7".to_owned());
    let mut job = job(Format::Anthropic);
    job.request.idle = Some(4_000);
    let done = run_with(&text, &policy, &watched(&text), &job);
    assert_eq!((done.plan.outcome, done.economics), (Outcome::Unchanged, None));
}

fn sonnet() -> Tariff {
    Tariff::of(&ModelTable::embedded().profile("claude-3-5-sonnet", ApiFamily::Anthropic)).unwrap()
}

/// The session of S0 16.4.3: minutes and tokens of the prompt.
const CURVE: [(f64, f64); 6] = [(0.0, 2e3), (30.0, 38e3), (30.01, 31e3), (60.0, 46e3), (90.0, 49e3), (127.0, 47e3)];
/// What all its calls add up to (16.5.2).
const TOTAL: u64 = 1_240_000;
const ZONE: u64 = 26_000;

fn on_curve(minute: f64) -> f64 {
    let step = CURVE.windows(2).find(|pair| minute <= pair[1].0).unwrap();
    let (from, to) = (step[0], step[1]);
    from.1 + (to.1 - from.1) * (minute - from.0) / (to.0 - from.0)
}

/// Seconds and prompt sizes of the calls: so many that they add up to the total.
fn calls() -> Vec<(f64, u64)> {
    let spread = |calls: usize| -> Vec<(f64, f64)> {
        let minute = |call: usize| 127.0 * call as f64 / (calls - 1) as f64;
        (0..calls).map(|call| (minute(call) * 60.0, on_curve(minute(call)))).collect()
    };
    let total = |calls: usize| spread(calls).iter().map(|(_, tokens)| tokens).sum::<f64>();
    let calls = (10..100).min_by_key(|&calls| (total(calls) - TOTAL as f64).abs() as u64).unwrap();
    let scale = TOTAL as f64 / total(calls);
    spread(calls).into_iter().map(|(at, tokens)| (at, (tokens * scale).round() as u64)).collect()
}

#[test]
fn s0_the_worked_example_costs_what_it_says() {
    let tariff = sonnet();
    let calls = calls();
    let plain: f64 =
        calls.iter().map(|&(_, tokens)| tariff.bill(Traffic { input: tokens, ..Traffic::default() }).total()).sum();
    assert!((plain - 3.72).abs() < 0.005, "without caching ${plain:.3}");

    // With the protected zone cached, and nothing else.
    let mut cache = Simulator::new(Rules::Marked { minimum: 1024 });
    let mut zoned = 0.0;
    for (number, &(at, tokens)) in calls.iter().enumerate() {
        let zone = Block::after(None, 1, ZONE.min(tokens));
        let rest = Block::after(Some(zone), 100 + number as u64, tokens.saturating_sub(ZONE));
        // Until the zone is full, it is not what will be cached.
        let marks: &[Mark] = if tokens >= ZONE { &[Mark { block: 0, ttl: FIVE }] } else { &[] };
        zoned += tariff.bill(cache.request(at, &[zone, rest], marks)).total();
    }
    assert!((zoned - 1.87).abs() < 0.06, "with the zone cached ${zoned:.3}");
}

/// The same session grows by what a raw one does (85,000 tokens in 45 minutes), with the whole prompt cached.
fn raw_growth(folds: bool) -> (f64, u32, u64) {
    let tariff = sonnet();
    let model = ModelTable::embedded().profile("claude-3-5-sonnet", ApiFamily::Anthropic);
    let budgets = Budgets::of(&Policy::of(Preset::Frugal), &model, BudgetInputs::default());
    let mut cache = Simulator::new(Rules::Marked { minimum: 1024 });
    let mut pace = Pace::default();
    let system = Block::after(None, 1, 2_000);
    let mut blocks = vec![system];
    let (mut dollars, mut count, mut longest) = (0.0, 0, 0);
    let calls = calls();
    let gap = calls[1].0;
    for (number, &(at, _)) in calls.iter().enumerate() {
        let digest = 10 + number as u64;
        blocks.push(Block::after(blocks.last().copied(), digest, (85_000.0 / 45.0 * gap / 60.0) as u64));
        let tokens = blocks.last().unwrap().upto;
        let outlook = Outlook { tokens, fixed: system.upto, idle: Some(gap as u32), ttl: FIVE, pace };
        let economics = weigh(&outlook, &budgets, &tariff);
        if folds && (economics.pays || tokens >= u64::from(budgets.trigger)) {
            blocks = vec![system, Block::after(Some(system), 1_000 + digest, economics.after - system.upto)];
            count += 1;
            pace.shrink(economics.after);
        }
        let ends: Vec<usize> = (1..blocks.len()).collect();
        let marks = Layout::Auto.marks(Some(0), &ends, FIVE);
        let traffic = cache.request(at, &blocks, &marks);
        longest = longest.max(traffic.prompt());
        dollars += tariff.bill(traffic).total();
        pace.observe(traffic.prompt());
    }
    (dollars, count, longest)
}

#[test]
fn s0_frugal_finishes_the_worked_example_uncompressed_at_insertion() {
    let (plain, _, longest) = raw_growth(false);
    let (frugal, folds, within) = raw_growth(true);
    assert!(longest > 200_000, "without folding it does not fit: {longest}");
    assert!(within < 100_000 && folds >= 2, "{folds} folds, up to {within} tokens");
    assert!(frugal < plain && frugal < 1.87, "${frugal:.2} with {folds} folds, ${plain:.2} without");
}

#[test]
fn c3_a_replay_keeps_prefixes_and_breaks_no_rule() {
    let text = session(Format::Anthropic, 30, 4, 40).document();
    let base = Policy { model: frugal(&text, 150).model, ..Policy::of(Preset::Hermes) };
    let job = Job { format: Some(Format::Anthropic), ..Job::default() };
    let session = Session::read("s", &text, job.format, &base, &job).unwrap();
    assert!(session.turns.len() > 20);
    let stage = ReplaySetup { models: ModelTable::embedded(), layout: Layout::Auto, keeps_originals: true };
    let mut exams = Exams::default();
    for &preset in Preset::ALL {
        let policy = Policy { model: base.model.clone(), ..Policy::of(preset) };
        let run = play(&session, Some(&policy), &stage, &mut exams).unwrap();
        assert!(!run.events.is_empty(), "{preset}: nothing happened");
        assert_eq!(run.unstable, Vec::<String>::new(), "{preset}");
        assert!(run.events.iter().all(|event| event.event.violations == 0), "{preset}");
        let metrics = Metrics::of(std::iter::once(&run));
        assert_eq!(metrics.requests, session.turns.len() as u64);
        assert!(metrics.dollars > 0.0 && metrics.cache_read_share > 0.5, "{preset}: {metrics:?}");
    }
}

#[test]
fn c3_sessions_can_be_chained() {
    let text = session(Format::Anthropic, 10, 3, 20).document();
    let policy = Policy { model: frugal(&text, 50).model, ..Policy::of(Preset::Hermes) };
    let job = Job { format: Some(Format::Anthropic), ..Job::default() };
    let one = Session::read("s", &text, job.format, &policy, &job).unwrap();
    let three = Session::chained(&[one.clone(), one.clone(), one.clone()], &policy, &job).unwrap();
    assert!(three.turns.len() >= 3 * one.turns.len() - 2, "{} of {}", three.turns.len(), one.turns.len());
    assert!(three.longest() > 2 * one.longest());
    assert!(three.turns.windows(2).all(|pair| pair[0].at <= pair[1].at && pair[0].messages < pair[1].messages));
}
