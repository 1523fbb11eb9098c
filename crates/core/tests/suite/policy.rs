//! P: when to act.

use crate::common::kit::{budgets, counts, job, manual, policy, run, run_with, session, tokens};
use crate::common::writer::{PIXEL, Writer};
use foldline_core::Outcome;
use foldline_core::models::ModelProfile;
use foldline_core::planning::{Cuts, TailBudget, zones};
use foldline_core::planning::{Situation, Size, Verdict};
use foldline_core::policy::{AutoOr, BudgetInputs, Budgets, Preset, TriggerCap};
use foldline_core::settings::{Given, Layer, Origin, Setting};
use foldline_core::{Format, Policy, Report, SessionState, Trigger};
use foldline_transcript::wire;

fn size(tokens: u64) -> Size {
    Size { tokens, messages: 50, bytes: 4 * tokens }
}

fn decide(size: Size, policy: &Policy, budgets: &Budgets, state: &SessionState, trigger: Trigger) -> Verdict {
    let model = &ModelProfile::with_window(budgets.window);
    let (admitted, fixed, is_settled, target, idle) = (0, 0, false, None, None);
    Situation { size, admitted, fixed, is_settled, policy, model, budgets, state, trigger, target, idle }.assess()
}

fn of_window(policy: &Policy, window: u32) -> Budgets {
    Budgets::of(policy, &ModelProfile::with_window(window), BudgetInputs::default())
}

#[test]
fn p3_the_engine_acts_at_the_trigger_and_not_one_token_below() {
    let policy = policy(64_000);
    let budgets = of_window(&policy, 64_000);
    let state = SessionState::default();
    let acts = |tokens: u64| decide(size(tokens), &policy, &budgets, &state, Trigger::Engine).acts();
    let trigger = u64::from(budgets.trigger);
    assert!(!acts(trigger - 1));
    assert!(acts(trigger));
    assert!(acts(trigger + 1));
    assert!(!acts(0));
}

#[test]
fn p3_the_safety_net_is_fixed_at_85_percent_and_starts_at_four_messages() {
    let policy = policy(100_000);
    let budgets = of_window(&policy, 100_000);
    let state = SessionState::default();
    assert_eq!(budgets.hygiene, 85_000);
    let acts = |tokens: u64, messages: usize| {
        decide(Size { tokens, messages, ..Size::default() }, &policy, &budgets, &state, Trigger::Hygiene).acts()
    };
    assert!(!acts(84_999, 100), "the engine's trigger is not the net's");
    assert!(acts(85_000, 4));
    assert!(!acts(85_000, 3));
    for window in [32_000, 64_000] {
        assert_eq!(of_window(&Policy::of(Preset::Hermes), window).hygiene, window * 85 / 100);
    }
}

#[test]
fn p3_a_person_and_a_refusal_are_always_heard() {
    let policy = policy(100_000);
    let budgets = of_window(&policy, 100_000);
    let state = SessionState { strikes: 9, awaiting_usage: true, ..SessionState::default() };
    for trigger in [Trigger::Manual, Trigger::Overflow] {
        assert!(decide(size(10), &policy, &budgets, &state, trigger).acts(), "{trigger:?}");
    }
    let mut off = policy;
    off.compression.enabled = false;
    for trigger in [Trigger::Manual, Trigger::Overflow, Trigger::Engine, Trigger::Hygiene] {
        assert!(!decide(size(1_000_000), &off, &budgets, &SessionState::default(), trigger).acts(), "{trigger:?}");
    }
}

#[test]
fn p2_every_preset_has_the_trigger_of_its_document() {
    let triggers = [
        (Preset::Hermes, 100_000),
        (Preset::SacredZone, 150_000),
        (Preset::Skill, 150_000),
        (Preset::Runway, 100_000),
        (Preset::Frugal, 100_000),
    ];
    for (preset, trigger) in triggers {
        assert_eq!(of_window(&Policy::of(preset), 200_000).trigger, trigger, "{preset}");
    }
    assert_eq!(of_window(&Policy::of(Preset::SacredZone), 200_000).low_water, 100_000);
    assert_eq!(of_window(&Policy::of(Preset::SacredZone), 200_000).tail, 20_000);
    assert_eq!(of_window(&Policy::of(Preset::Hermes), 200_000).tail, 20_000);
    assert_eq!(of_window(&Policy::of(Preset::Runway), 200_000).prune_minimum, 10_000);
    let runway = Policy::of(Preset::Runway).compression;
    assert!(runway.never_prune.iter().any(|tool| tool == "memory"));
}

#[test]
fn p2_adaptive_protection_follows_the_window() {
    let runway = Policy::of(Preset::Runway);
    let spared: Vec<u32> =
        [32_000, 128_000, 200_000, 1_000_000].map(|window| of_window(&runway, window).protect_tool_tokens).to_vec();
    assert!(spared.windows(2).all(|pair| pair[0] <= pair[1]), "{spared:?}");
    assert!(spared[0] >= 5_000 && *spared.last().unwrap() <= 100_000, "{spared:?}");
}

#[test]
fn p4_no_budget_falls_or_jumps_as_windows_grow() {
    for &preset in Preset::ALL {
        let policy = Policy::of(preset);
        let mut last = of_window(&policy, 1_000);
        for step in 1..3_000u32 {
            let window = 1_000 + step * 400;
            let next = of_window(&policy, window);
            let pairs = [
                (last.trigger, next.trigger),
                (last.tail, next.tail),
                (last.tail_ceiling, next.tail_ceiling),
                (last.low_water, next.low_water),
                (last.handoff_max, next.handoff_max),
                (last.protect_tool_tokens, next.protect_tool_tokens),
            ];
            for (one, two) in pairs {
                assert!(one <= two, "{preset}, window {window}: {one} → {two}");
                assert!(two - one <= 900, "{preset}, window {window}: {one} → {two}");
            }
            last = next;
        }
    }
}

#[test]
fn p7_the_reader_of_a_summary_caps_the_trigger() {
    let policy = Policy::of(Preset::Hermes);
    let inputs = BudgetInputs { summariser_window: Some(32_000), ..BudgetInputs::default() };
    let budgets = Budgets::of(&policy, &ModelProfile::with_window(1_000_000), inputs);
    assert_eq!((budgets.trigger, budgets.trigger_cap), (32_000, Some(TriggerCap::SummariserWindow)));
}

#[test]
fn f6_the_budget_of_a_handoff_is_a_fifth_within_bounds() {
    let budgets = of_window(&Policy::of(Preset::Hermes), 200_000);
    assert_eq!(budgets.handoff(20_000), 4_000);
    assert_eq!(budgets.handoff(100), 2_000);
    assert_eq!(budgets.handoff(10_000_000), 10_000, "5 % of the window");
    assert_eq!(of_window(&Policy::of(Preset::Hermes), 1_000_000).handoff(10_000_000), 12_000);
}

#[test]
fn p1_a_value_out_of_range_is_an_error_that_names_key_value_and_range() {
    let layer = |key: &str, value: &str| Layer {
        settings: vec![Setting {
            key: key.to_owned(),
            given: Given::Text(value.to_owned()),
            origin: Origin::Flag(format!("--set {key}={value}")),
        }],
    };
    for value in ["0.05", "0.9"] {
        let errors = Policy::sections().resolve(&[layer("compression.target_ratio", value)]).unwrap_err();
        let words = errors[0].to_string();
        for part in ["compression.target_ratio", value, "0.1", "0.8"] {
            assert!(words.contains(part), "{words}");
        }
    }
    assert!(Policy::sections().resolve(&[layer("compression.target_ratio", "0.8")]).is_ok());
    let words = Policy::sections().resolve(&[layer("compression.treshold", "0.5")]).unwrap_err()[0].to_string();
    assert!(words.contains("compression.treshold") && words.contains("compression.threshold"), "{words}");
}

#[test]
fn p5_the_pressure_warning_comes_once_and_again_only_after_usage_fell() {
    let long = session(Format::OpenAiChat, 6, 2, 20).document();
    let short = session(Format::OpenAiChat, 1, 1, 2).document();
    let window = tokens(&long, Format::OpenAiChat) * 2 * 100 / 92;
    let policy = policy(window);
    let job = job(Format::OpenAiChat);
    let warns = |text: &str, state: &SessionState| {
        let done = run_with(text, &policy, state, &job);
        assert_eq!(done.plan.outcome, Outcome::Unchanged);
        (done.plan.warnings.iter().any(|warning| warning.contains("context is at")), done.state)
    };
    let (first, state) = warns(&long, &SessionState::default());
    let (second, state) = warns(&long, &state);
    let (low, state) = warns(&short, &state);
    let (again, _) = warns(&long, &state);
    assert_eq!((first, second, low, again), (true, false, false, true));
}

#[test]
fn k5_a_body_that_is_too_large_is_acted_on_far_below_the_trigger() {
    let mut writer = Writer::new(Format::Anthropic);
    for turn in 0..12 {
        writer.picture(&format!("Screenshot {turn}.")).assistant("I see.");
    }
    let text = writer.document().replace(PIXEL, &PIXEL.repeat(300));
    let mut policy = policy(1_000_000);
    policy.compression.max_body_bytes = AutoOr::Fixed(text.len() as u64 / 2);
    let done = run(&text, &policy, &job(Format::Anthropic));
    assert_ne!(done.plan.outcome, Outcome::Unchanged, "{}", done.plan.reason);
    assert!(done.body.len() <= text.len() / 2, "{} of {} bytes", done.body.len(), text.len() / 2);
}

#[test]
fn k5_a_body_that_stays_too_large_is_spoken_of() {
    let text = session(Format::OpenAiChat, 1, 1, 400).document();
    let mut policy = policy(1_000_000);
    policy.compression.max_body_bytes = AutoOr::Fixed(10_000);
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert!(done.body.len() > 10_000, "{} bytes", done.body.len());
    assert!(done.plan.warnings.iter().any(|warning| warning.contains("over the limit of 10000")), "{:?}", done.plan);
}

#[test]
fn k3_images_weigh_a_little_more_in_the_tail_than_in_the_count() {
    let mut writer = Writer::new(Format::Anthropic);
    (0..12).for_each(|turn| _ = writer.picture(&format!("Screenshot {turn}.")).assistant("I see."));
    let text = writer.document();
    let counts = counts(&text, Format::Anthropic);
    let read = wire::read(&text, Some(Format::Anthropic)).unwrap();
    // Four images of 1,500 tokens and their words fit; four of 1,600 do not.
    let room = counts.between(16, 24);
    assert!((6_000..6_200).contains(&room), "{room}");
    let budget = TailBudget { tokens: room, ceiling: room, floor: 1, room };
    let tail = zones(&read, &counts, &Cuts::find(&read), 0, budget).tail;
    assert_eq!(counts.between(tail, 24) / 1_500, 3, "from message {tail} on");
}

#[test]
fn a_budget_is_reported_as_it_was_in_force() {
    let text = session(Format::OpenAiChat, 1, 1, 5).document();
    let policy = policy(50_000);
    let report = Report::of(&run(&text, &policy, &manual(Format::OpenAiChat)));
    assert_eq!((report.economics.window, report.economics.trigger), (50_000, 25_000));
    assert_eq!(budgets(&text, &policy, Format::OpenAiChat).trigger, 25_000);
}
