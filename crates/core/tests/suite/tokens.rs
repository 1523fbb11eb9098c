//! K: what things cost.

use crate::common::kit::observe_usage;
use crate::common::kit::{ALL, budgets, counts, job, log, policy, run, run_with, session, tokens};
use crate::common::reading::said;
use crate::common::writer::{Answer, Call, PIXEL, Thought, Writer};
use foldline_core::tokens::Calibration;
use foldline_core::tokens::Source;
use foldline_core::{Format, Report, SessionState};

const WITH_IMAGES: [Format; 4] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::ClaudeCode];

#[test]
fn k3_a_picture_costs_the_same_whatever_its_bytes_in_every_provider_s_shape() {
    for format in WITH_IMAGES {
        let mut writer = Writer::new(format);
        writer.picture("Look at this.");
        let small = writer.document();
        let large = small.replace(PIXEL, &PIXEL.repeat(4_000));
        assert!(large.len() > small.len() + 300_000);
        assert_eq!(tokens(&small, format), tokens(&large, format), "{format}");
        assert_eq!(counts(&small, format).images, 1, "{format}");
        let without = small.replace(&writer.image(), r#"{"type":"text","text":"x"}"#);
        assert!(tokens(&small, format) >= tokens(&without, format) + 1_400, "{format}");
    }
}

#[test]
fn k3_pictures_inside_tool_results_count_flat_too() {
    for format in WITH_IMAGES {
        let mut writer = Writer::new(format);
        writer.user("Take a screenshot.").call(Call::run("shot", "done").answered(Answer::Picture));
        let small = writer.document();
        let large = small.replace(PIXEL, &PIXEL.repeat(4_000));
        assert_eq!(tokens(&small, format), tokens(&large, format), "{format}");
        assert_eq!(counts(&small, format).images, 1, "{format}");
    }
}

#[test]
fn k3_the_policy_says_what_a_picture_costs() {
    let mut writer = Writer::new(Format::Anthropic);
    writer.picture("Look.");
    let text = writer.document();
    let mut cheap = policy(200_000);
    cheap.compression.image_tokens = 100;
    let dear = run(&text, &policy(200_000), &job(Format::Anthropic));
    let cheap = run(&text, &cheap, &job(Format::Anthropic));
    assert_eq!(dear.plan.tokens.before, cheap.plan.tokens.before + 1_400);
}

#[test]
fn k4_four_parallel_calls_cost_four_times_one() {
    let arguments = format!(r#"{{"content":"{}"}}"#, "lorem ipsum dolor ".repeat(200));
    let with = |count: usize, format: Format| {
        let mut writer = Writer::new(format);
        writer.user("Go.");
        let calls: Vec<Call> = (0..count).map(|_| Call::new("write_file", arguments.clone(), "ok")).collect();
        tokens(&writer.round(Thought::None, None, &calls).document(), format)
    };
    for format in WITH_IMAGES {
        let (none, one, four) = (with(0, format), with(1, format), with(4, format));
        assert!(four - none >= 4 * (one - none) * 9 / 10, "{format}: {none} {one} {four}");
        assert!(one - none > 400, "{format}: the arguments are counted");
    }
}

#[test]
fn k4_replayed_reasoning_counts() {
    for field in ["reasoning_content", "codex_reasoning_items", "reasoning_details", "x_unknown_but_huge"] {
        let value = format!("\"{}\"", "reasoning about it ".repeat(3_000));
        let message = format!(r#"{{"role":"assistant","content":"ok","{field}":{value}}}"#);
        let mut writer = Writer::new(Format::OpenAiChat);
        writer.user("Go.");
        let without = tokens(&writer.clone().assistant("ok").document(), Format::OpenAiChat);
        let with = tokens(&writer.raw(message).document(), Format::OpenAiChat);
        assert!(with > without + 5_000, "{field}: {without} → {with}");
    }
}

#[test]
fn k4_system_prompt_and_tool_schemas_count_towards_the_window() {
    let mut writer = Writer::new(Format::Anthropic);
    writer.user("Go.");
    let plain = tokens(&writer.document(), Format::Anthropic);
    writer.system = Some("Be careful. ".repeat(1_000));
    let with_system = writer.document();
    assert!(tokens(&with_system, Format::Anthropic) > plain + 2_000);
    let with_tools = with_system.replace("Runs a command.", &"Runs a command. ".repeat(1_000));
    assert!(tokens(&with_tools, Format::Anthropic) > tokens(&with_system, Format::Anthropic) + 2_000);
    let counted = counts(&with_tools, Format::Anthropic);
    assert_eq!(counted.total(), counted.system + counted.tools + counted.messages());
}

#[test]
fn k4_the_room_for_the_reply_is_taken_off_the_window() {
    for format in [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic] {
        let mut writer = Writer::new(format);
        writer.user("Go.");
        assert_eq!(budgets(&writer.document(), &policy(200_000), format).trigger, 100_000);
        writer.max_tokens = Some(65_536);
        let with = budgets(&writer.document(), &policy(200_000), format);
        assert_eq!((with.effective_window, with.trigger), (134_464, 67_232), "{format}");
        // A reply of more than half of the window is a wish, and one that claims all of it a client's mistake.
        writer.max_tokens = Some(128_000);
        assert_eq!(budgets(&writer.document(), &policy(200_000), format).effective_window, 185_600, "{format}");
        writer.max_tokens = Some(400_000);
        assert_eq!(budgets(&writer.document(), &policy(200_000), format).trigger, 100_000, "{format}");
    }
}

#[test]
fn k1_the_report_says_where_its_numbers_come_from() {
    let text = session(Format::OpenAiChat, 2, 1, 10).document();
    let policy = policy(200_000);
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert_ne!(Report::of(&done).tokens.source, Source::Reported);
    let mut state = SessionState::default();
    observe_usage(&mut state, &done.budgets, 5_000, done.messages.1, 5_000);
    let done = run_with(&text, &policy, &state, &job(Format::OpenAiChat));
    assert_eq!(Report::of(&done).tokens.source, Source::Reported);
}

#[test]
fn k1_reported_usage_is_the_base_and_only_what_came_since_is_estimated() {
    let mut writer = session(Format::OpenAiChat, 2, 1, 10);
    let before = writer.document();
    let policy = policy(200_000);
    let done = run(&before, &policy, &job(Format::OpenAiChat));
    let mut state = SessionState::default();
    let counted = done.plan.tokens.before;
    // A provider that counts differently for reasons unknown: twice as much, learnt once as a ratio.
    observe_usage(&mut state, &done.budgets, counted, done.messages.1, counted);
    writer.user("One more thing, please.");
    let after = run_with(&writer.document(), &policy, &state, &job(Format::OpenAiChat));
    let added = after.plan.tokens.before - counted;
    assert!((4..40).contains(&added), "{added} tokens for one more sentence");
}

#[test]
fn k2_the_learnt_ratio_stays_within_a_half_and_two() {
    let mut calibration = Calibration::default();
    assert_eq!(calibration.ratio(), 1.0);
    calibration.observe(1_000, 1_000_000);
    assert_eq!(calibration.ratio(), 2.0);
    for _ in 0..100 {
        calibration.observe(1_000_000, 1);
    }
    assert!((0.5..0.51).contains(&calibration.ratio()), "{}", calibration.ratio());
    let kept = calibration;
    calibration.observe(0, 10);
    calibration.observe(10, 0);
    assert_eq!(calibration, kept, "nothing is learnt from nothing");
}

#[test]
fn k2_what_the_provider_counts_more_is_counted_more_next_time() {
    let text = session(Format::OpenAiChat, 2, 2, 20).document();
    let policy = policy(200_000);
    let plain = run(&text, &policy, &job(Format::OpenAiChat));
    let mut state = SessionState::default();
    observe_usage(&mut state, &plain.budgets, plain.plan.tokens.before * 3 / 2, 1, plain.plan.tokens.before);
    state.usage = None;
    let skewed = run_with(&text, &policy, &state, &job(Format::OpenAiChat));
    let ratio = skewed.plan.tokens.before as f64 / plain.plan.tokens.before as f64;
    assert!((1.3..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn bare_strings_and_numbers_in_content_do_not_crash_anything() {
    let text = r#"[{"role":"user","content":["Hi",7,null,{"type":"text","text":"there"}]},{"role":"assistant","content":"Yes?"}]"#;
    let done = run(text, &policy(2_000), &job(Format::OpenAiChat));
    assert!(said(Format::OpenAiChat, &done.body)[0].texts.iter().any(|text| text.contains("there")));
    for format in ALL {
        let _ = tokens(&session(format, 1, 1, 3).document(), format);
    }
    assert!(
        tokens(&format!(r#"[{{"role":"user","content":["{}"]}}]"#, "word ".repeat(2_000)), Format::OpenAiChat) > 1_500
    );
    assert!(!log(3, 1).is_empty());
}
