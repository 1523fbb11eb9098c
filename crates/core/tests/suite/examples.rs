//! The example sessions: what the engine makes of them, line by line.

use crate::common::kit::{job, policy, run, within};
use foldline_core::explain;
use foldline_core::planning::count;
use foldline_core::policy::{AutoOr, Preset};
use foldline_core::{Compaction, Format, Job, Policy, SessionState};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;
use std::path::PathBuf;

fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The plan as people see it, and the handoff.
fn picture(text: &str, done: &Compaction<'_>, policy: &Policy, job: &Job) -> String {
    let source = wire::read(text, Some(done.format)).unwrap();
    let state = SessionState::default();
    let counts = count(&source, &job.setting(&source, policy, &state), &state);
    let mut out = explain::summary(&done.plan);
    out.push('\n');
    out.push_str(&explain::shape(&source, &counts, &done.plan));
    if let Some(fold) = &done.plan.fold {
        out.push('\n');
        out.push_str(&fold.handoff.text);
        out.push('\n');
    }
    out
}

fn snapshot(title: &str, file: &str, format: Format, policy: &Policy, job: &Job) {
    let text = example(file);
    let done = run(&text, policy, job);
    assert_eq!(done.format, format);
    let after = wire::read(&done.body, Some(format)).unwrap();
    assert_eq!(validate(&after), vec![], "{title}");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(title, picture(&text, &done, policy, job)));
}

const TWO_HOURS: [(&str, Format); 3] = [
    ("two-hour-session.anthropic.json", Format::Anthropic),
    ("two-hour-session.openai-chat.json", Format::OpenAiChat),
    ("two-hour-session.openai-responses.json", Format::OpenAiResponses),
];

fn preset(preset: Preset, window: u32) -> Policy {
    let mut policy = Policy::of(preset);
    policy.model.window = AutoOr::Fixed(window);
    policy
}

#[test]
fn two_hours_under_hermes_with_a_window_of_100k() {
    for (file, format) in TWO_HOURS {
        snapshot(&format!("two-hours-hermes-{format}"), file, format, &policy(100_000), &job(format));
    }
}

#[test]
fn two_hours_under_sacred_zone() {
    for (file, format) in TWO_HOURS {
        let policy = preset(Preset::SacredZone, 160_000);
        snapshot(&format!("two-hours-sacred-zone-{format}"), file, format, &policy, &job(format));
    }
}

#[test]
fn two_hours_in_twelve_thousand_tokens() {
    for (file, format) in TWO_HOURS {
        snapshot(&format!("two-hours-target-{format}"), file, format, &policy(200_000), &within(format, 12_000));
    }
}

#[test]
fn two_hours_keep_the_rules_of_the_first_message() {
    for (file, format) in TWO_HOURS {
        let text = example(file);
        for target in [40_000, 20_000, 12_000, 9_000] {
            let done = run(&text, &policy(200_000), &within(format, target));
            for rule in ["Python 3.9", "cents"] {
                assert!(done.body.contains(rule), "{format} in {target}: {rule} is forgotten");
            }
        }
    }
}

#[test]
fn the_same_session_is_treated_alike_in_all_formats() {
    let plans: Vec<_> = TWO_HOURS
        .iter()
        .map(|(file, format)| {
            let done = run(&example(file), &policy(100_000), &job(*format));
            (done.plan.outcome, done.plan.tokens.after as f64 / done.plan.tokens.before as f64)
        })
        .collect();
    assert!(plans.iter().all(|plan| plan.0 == plans[0].0), "{plans:?}");
    assert!(plans.iter().all(|plan| (plan.1 - plans[0].1).abs() < 0.1), "{plans:?}");
}

#[test]
fn a_small_session_is_left_alone_unless_forced() {
    for (file, format) in [
        ("small.anthropic.json", Format::Anthropic),
        ("small.openai-chat.json", Format::OpenAiChat),
        ("small.openai-responses.json", Format::OpenAiResponses),
    ] {
        let text = example(file);
        assert_eq!(run(&text, &Policy::of(Preset::Hermes), &job(format)).body, text, "{file}");
        snapshot(
            &format!("small-forced-{format}"),
            file,
            format,
            &policy(200_000),
            &crate::common::kit::manual(format),
        );
    }
}

#[test]
fn damaged_sessions_are_repaired() {
    for (file, format) in
        [("damaged.anthropic.json", Format::Anthropic), ("damaged.openai-chat.json", Format::OpenAiChat)]
    {
        snapshot(&format!("damaged-{format}"), file, format, &Policy::of(Preset::Hermes), &job(format));
    }
}

#[test]
fn a_session_file_and_a_trajectory_are_folded() {
    let format = Format::ClaudeCode;
    snapshot("claude-code", "claude-code-session.jsonl", format, &policy(200_000), &crate::common::kit::manual(format));
    let format = Format::ShareGpt;
    snapshot("sharegpt", "trajectory.sharegpt.json", format, &policy(4_000), &crate::common::kit::manual(format));
}

#[test]
fn screenshots_become_placeholders() {
    for (file, format) in
        [("images.anthropic.json", Format::Anthropic), ("images.openai-chat.json", Format::OpenAiChat)]
    {
        snapshot(&format!("images-{format}"), file, format, &policy(8_000), &within(format, 6_000));
    }
}
