//! R: old outputs, arguments and pictures made shorter where they stand.

use crate::common::kit::{WITH_CALLS, job, log, policy, run, session, tokens, within};
use crate::common::reading::{Said, handles, said};
use crate::common::texts::{self, Look};
use crate::common::writer::{Answer, Call, PIXEL, Writer};
use foldline_core::Outcome;
use foldline_core::planning::{Skip, StepKind};
use foldline_core::policy::{AutoOr, Fidelity, Preset, Tail};
use foldline_core::{Compaction, Format, Policy};
use serde_json::{Value, json};

/// A session with these calls early on, and then enough talk that they lie in the middle.
fn with_old(format: Format, calls: &[Call]) -> Writer {
    let mut writer = Writer::new(format);
    writer.user("Begin.").assistant("Yes.").user("Go on.").assistant("Gladly.").user("Now.");
    for call in calls {
        writer.call(call.clone());
    }
    writer.assistant("Done with that.");
    for turn in 0..12 {
        writer.user(&format!("And number {turn}?")).assistant(&format!("Number {turn} is fine."));
    }
    writer
}

/// A policy that protects little.
fn short_tail() -> Policy {
    let mut policy = policy(200_000);
    policy.compression.tail = Tail::Tokens(500);
    policy
}

/// Prunes with a target that pruning alone can meet: the text less most of `reducible`.
fn pruned(writer: &Writer, less: u64) -> Compaction<'static> {
    let text = writer.document();
    let before = tokens(&text, writer.format);
    let done = run(&text, &short_tail(), &within(writer.format, before - less));
    assert_eq!(done.plan.outcome, Outcome::Pruned, "{}: {:?}", done.plan.reason, done.plan.skips);
    done
}

fn result(messages: &[Said], at: usize) -> &str {
    &messages.iter().flat_map(|said| &said.results).nth(at).unwrap().1
}

#[test]
fn r4_of_equal_outputs_the_newest_stays_and_older_ones_point_to_it() {
    for format in WITH_CALLS {
        let output = log(120, 3);
        let writer = with_old(
            format,
            &[Call::run("make all", output.clone()), Call::run("ls", "a\nb"), Call::run("make all", output.clone())],
        );
        let done = pruned(&writer, 500);
        let messages = said(format, &done.body);
        assert_eq!(result(&messages, 2), output, "{format}: the newest is whole");
        let older = result(&messages, 0);
        assert!(
            older.len() < 300 && older.contains("later message") && older.contains("make all"),
            "{format}: {older}"
        );
        assert_eq!(handles(older).len(), 1, "{older}");
        assert_eq!(done.plan.steps[0].kind, StepKind::Duplicate);
        assert_eq!(result(&messages, 1), "a\nb", "small outputs are left alone");
    }
}

#[test]
fn r4_a_read_that_a_later_write_replaces_says_so() {
    let writer = with_old(
        Format::Anthropic,
        &[
            Call::read("src/a.rs", texts::output(Look::Code, 90, 1)),
            Call::new("write_file", r#"{"path":"src/a.rs","content":"fn main() {}"}"#, "ok"),
        ],
    );
    let done = pruned(&writer, 500);
    assert_eq!(done.plan.steps[0].kind, StepKind::Superseded);
    let messages = said(Format::Anthropic, &done.body);
    let old = result(&messages, 0);
    assert!(old.contains("superseded") && old.contains("src/a.rs"), "{old}");
}

#[test]
fn r4_a_read_of_a_few_lines_does_not_supersede_the_whole_file() {
    let writer = with_old(
        Format::Anthropic,
        &[
            Call::read("src/a.rs", texts::output(Look::Code, 90, 1)),
            Call::new("read_file", r#"{"path":"src/a.rs","offset":10,"limit":2}"#, "fn x() {}\nfn y() {}"),
        ],
    );
    let text = writer.document();
    let done = run(&text, &short_tail(), &within(Format::Anthropic, tokens(&text, Format::Anthropic) - 300));
    assert_ne!(done.plan.outcome, Outcome::Unchanged);
    assert!(done.plan.steps.iter().all(|step| step.kind != StepKind::Superseded), "{:?}", done.plan.steps);
}

#[test]
fn r4_of_two_runs_that_say_nearly_the_same_the_older_keeps_the_difference() {
    let report = |verdict: &str, took: usize| {
        let cases = (0..80).map(|case| format!("test {}::case_{} ... ok\n", texts::word(case), texts::word(case + 7)));
        format!("{}test store::saves_twice ... {verdict}\nfinished in {took}.31s\n", cases.collect::<String>())
    };
    let writer = with_old(
        Format::Anthropic,
        &[Call::run("make check", report("FAILED", 4)), Call::run("make check", report("ok", 5))],
    );
    let done = pruned(&writer, 300);
    let messages = said(Format::Anthropic, &done.body);
    let older = result(&messages, 0);
    assert!(older.contains("1 line differs from the later run in message"), "{older}");
    assert!(older.contains("saves_twice ... FAILED") && older.len() < 400, "{older}");
    assert_eq!(result(&messages, 1), report("ok", 5));
}

#[test]
fn r5_a_written_file_keeps_its_path_its_size_and_an_outline() {
    let steps: String = (0..60).map(|step| format!("    step({step}, {});\n", texts::word(step))).collect();
    let body = |name: &str| format!("pub fn {name}(rows: &[Row]) -> usize {{\n{steps}}}\n\n");
    let content: String = ["load_rows", "merge_rows", "save_rows"].map(body).concat();
    let arguments = json!({"path": "src/rows.rs", "content": content});
    let writer = with_old(Format::Anthropic, &[Call::new("write_file", arguments.to_string(), "ok")]);
    let done = pruned(&writer, 200);
    let messages = said(Format::Anthropic, &done.body);
    let short = messages.iter().flat_map(|said| &said.calls).next().unwrap().1.clone();
    assert_eq!(short["path"], "src/rows.rs");
    let outline = short["content"].as_str().unwrap();
    for part in ["load_rows", "merge_rows", "save_rows", "189 lines", &format!("{} characters", content.len())] {
        assert!(outline.contains(part), "no {part:?} in {outline}");
    }
    assert_eq!(handles(outline).len(), 1, "{outline}");
}

#[test]
fn r3_a_reduced_output_says_what_it_was() {
    for format in WITH_CALLS {
        let output = format!("{}exit code: 3\n", log(150, 5));
        let writer = with_old(format, &[Call::run("cargo build --all", output.clone())]);
        let done = pruned(&writer, 500);
        let messages = said(format, &done.body);
        let reduced = result(&messages, 0);
        let lines = output.lines().count().to_string();
        for part in ["bash", "cargo build --all", lines.as_str(), "reduced", "KB"] {
            assert!(reduced.contains(part), "{format}: no {part:?} in {reduced}");
        }
        assert_eq!(handles(reduced).len(), 1);
        let step = &done.plan.steps[0];
        assert_eq!((step.kind, step.tool.as_str()), (StepKind::Reduce, "bash"));
        let original = done.plan.originals.iter().find(|original| Some(original.handle) == step.handle).unwrap();
        assert_eq!(original.text(&done.source), output);
        assert_eq!(original.tool, "bash");
    }
}

#[test]
fn r3_the_header_of_a_reduced_command_names_its_exit_code() {
    let writer = with_old(Format::OpenAiChat, &[Call::run("cargo build", format!("{}exit code: 3\n", log(150, 5)))]);
    let done = pruned(&writer, 500);
    let messages = said(Format::OpenAiChat, &done.body);
    let header = result(&messages, 0).lines().next().unwrap_or_default().to_owned();
    assert!(header.contains("exit 3") || header.contains("exit code 3"), "{header}");
}

#[test]
fn r1_reduced_text_never_splits_a_character() {
    let writer = with_old(Format::OpenAiChat, &[Call::run("cat", texts::output(Look::Unicode, 200, 5))]);
    let done = pruned(&writer, 500);
    assert!(!done.body.contains('\u{fffd}'));
    assert!(serde_json::from_str::<Value>(&done.body).is_ok());
}

#[test]
fn r5_long_arguments_shrink_inside_their_json() {
    for format in WITH_CALLS {
        let arguments = json!({
            "path": "src/long.rs", "content": "x = 1\n".repeat(600), "count": 7, "big": 12_345_678_901_234_567_u64,
            "on": true, "off": null, "list": [1, 2.5, "short"], "nested": {"deep": "値は何ですか ".repeat(200), "n": -1}
        });
        let writer = with_old(format, &[Call::new("write_file", arguments.to_string(), "ok")]);
        let done = pruned(&writer, 300);
        assert_eq!(done.plan.steps[0].kind, StepKind::Arguments);
        let messages = said(format, &done.body);
        let short = messages.iter().flat_map(|said| &said.calls).next().unwrap().1.clone();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&short), keys(&arguments), "{format}");
        for key in ["path", "count", "big", "on", "off", "list"] {
            assert_eq!(short[key], arguments[key], "{format}: {key}");
        }
        assert_eq!(short["nested"]["n"], -1);
        let deep = short["nested"]["deep"].as_str().unwrap();
        assert!(deep.starts_with("値は何ですか") && deep.len() < 600, "{deep}");
        assert_eq!(handles(short["content"].as_str().unwrap()).len(), 1);
        assert!(short["content"].as_str().unwrap().len() < 400);
    }
}

#[test]
fn r5_numbers_keep_their_spelling() {
    let arguments =
        format!(r#"{{"content":"{}","n":2.50,"huge":123456789012345678901234567890,"e":1e3}}"#, "word ".repeat(3_000));
    let writer = with_old(Format::Anthropic, &[Call::new("write_file", arguments, "ok")]);
    let done = pruned(&writer, 300);
    for number in [r#""n":2.50"#, r#""huge":123456789012345678901234567890"#, r#""e":1e3"#] {
        assert!(done.body.contains(number), "{number} is gone");
    }
}

#[test]
fn r5_what_is_no_json_is_left_alone() {
    let free = "*** Begin Patch\n".to_owned() + &"+ line\n".repeat(300);
    let call = format!(
        r#"{{"type":"custom_tool_call","call_id":"ctc_1","name":"apply_patch","input":{}}}"#,
        serde_json::to_string(&free).unwrap()
    );
    let mut writer = with_old(Format::OpenAiResponses, &[Call::run("make", log(100, 2))]);
    writer.raw(call.clone()).raw(r#"{"type":"custom_tool_call_output","call_id":"ctc_1","output":"Done"}"#);
    for turn in 0..12 {
        writer.user(&format!("And {turn}?")).assistant("Fine.");
    }
    let done = pruned(&writer, 300);
    assert!(done.body.contains(&call));
}

#[test]
fn r5_a_scalar_string_of_arguments_shrinks_and_stays_json() {
    let arguments = serde_json::to_string(&"word ".repeat(2_000)).unwrap();
    let writer = with_old(Format::OpenAiChat, &[Call::new("note", arguments, "ok")]);
    let done = pruned(&writer, 300);
    let messages = said(Format::OpenAiChat, &done.body);
    let short = messages.iter().flat_map(|said| &said.calls).next().unwrap().1.clone();
    assert!(short.as_str().is_some_and(|text| text.len() < 400), "{short}");
}

#[test]
fn arguments_of_odd_types_do_no_harm() {
    for odd in [
        r#"{"command":true}"#,
        r#"{"command":5}"#,
        r#"{"path":null}"#,
        r#"{"url":{"a":1}}"#,
        r#"{"command":[1,{}]}"#,
        "{}",
    ] {
        let calls: Vec<Call> =
            ["bash", "read_file", "web_fetch", "todo_write"].map(|tool| Call::new(tool, odd, log(80, 1))).to_vec();
        let writer = with_old(Format::OpenAiChat, &calls);
        let text = writer.document();
        let done = run(&text, &policy(tokens(&text, Format::OpenAiChat) * 2 - 2), &job(Format::OpenAiChat));
        assert_ne!(done.plan.outcome, Outcome::Unchanged, "{odd}");
    }
}

#[test]
fn r6_pictures_before_the_newest_ones_become_placeholders() {
    for format in WITH_CALLS {
        let mut writer = Writer::new(format);
        writer.user("Begin.").assistant("Yes.").user("Go on.").assistant("Gladly.");
        for turn in 0..6 {
            writer.picture(&format!("Screenshot {turn}.")).assistant("I see.");
        }
        for turn in 0..10 {
            writer.user(&format!("And number {turn}?")).assistant("Fine.");
        }
        let done = pruned(&writer, 4_000);
        let messages = said(format, &done.body);
        let newest = messages.iter().find(|said| said.texts.iter().any(|text| text == "Screenshot 5.")).unwrap();
        assert_eq!(newest.images, 1, "{format}: the newest stays");
        let replaced: Vec<&String> =
            messages.iter().flat_map(|said| &said.texts).filter(|text| !handles(text).is_empty()).collect();
        assert!(replaced.len() >= 3, "{format}: {replaced:?}");
        for text in replaced {
            assert!(text.contains("image/png") && text.contains("KB"), "{format}: {text}");
        }
        assert!(messages.iter().flat_map(|said| &said.texts).any(|text| text == "Screenshot 0."), "words stay");
    }
}

#[test]
fn r6_a_picture_in_an_old_result_becomes_a_placeholder_that_leads_to_it() {
    for format in WITH_CALLS {
        let shots: Vec<Call> =
            (0..4).map(|at| Call::run(&format!("shot {at}"), log(60, at)).answered(Answer::Picture)).collect();
        let writer = with_old(format, &shots);
        let done = pruned(&writer, 4_000);
        let images: usize = said(format, &done.body).iter().map(|said| said.images).sum();
        let kept = done.plan.originals.iter().filter(|original| original.text(&done.source).contains(PIXEL)).count();
        assert!(images + kept >= 4, "{format}: {images} pictures are left and {kept} can be recalled, of 4");
    }
}

#[test]
fn r7_the_largest_goes_first_and_no_more_than_needed() {
    let calls: Vec<Call> = [40, 200, 60, 50]
        .iter()
        .enumerate()
        .map(|(at, &lines)| Call::run(&format!("step {at}"), log(lines, at as u32)))
        .collect();
    let done = pruned(&with_old(Format::OpenAiChat, &calls), 600);
    assert_eq!(done.plan.steps.len(), 1, "{:?}", done.plan.steps);
    let text = done.plan.steps[0].text.as_deref().unwrap();
    assert!(text.contains("step 1"), "{text}");
}

#[test]
fn r7_pruning_is_accepted_only_when_it_lands_at_the_low_water_mark() {
    for preset in [Preset::Hermes, Preset::SacredZone, Preset::Runway] {
        let text = session(Format::OpenAiChat, 8, 3, 60).document();
        let mut policy = Policy::of(preset);
        policy.model.window =
            AutoOr::Fixed((tokens(&text, Format::OpenAiChat) as f64 / policy.compression.threshold) as u32);
        let done = run(&text, &policy, &job(Format::OpenAiChat));
        match done.plan.outcome {
            Outcome::Pruned => assert!(done.plan.tokens.after <= u64::from(done.budgets.low_water), "{preset}"),
            Outcome::Folded => {
                assert!(done.plan.skips.iter().any(|skip| matches!(skip, Skip::NoRunway { .. })), "{preset}")
            }
            other => panic!("{preset}: {other:?}: {}", done.plan.reason),
        }
    }
}

#[test]
fn r7_outputs_that_cannot_be_reduced_lead_to_a_fold_with_the_reason() {
    let text = session(Format::OpenAiChat, 30, 0, 0).document();
    let done = run(&text, &policy(tokens(&text, Format::OpenAiChat) * 2 - 2), &job(Format::OpenAiChat));
    assert_eq!(done.plan.outcome, Outcome::Folded);
    assert!(done.plan.skips.iter().any(|skip| matches!(skip, Skip::NoRunway { .. })), "{:?}", done.plan.skips);
}

#[test]
fn r9_nothing_is_pruned_where_everything_is_recent() {
    let text = session(Format::OpenAiChat, 2, 2, 60).document();
    let mut policy = policy(tokens(&text, Format::OpenAiChat) * 2 - 2);
    policy.compression.target_ratio = 0.8;
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert!(done.plan.steps.iter().all(|step| step.message < done.plan.zones.tail), "{:?}", done.plan.steps);
}

#[test]
fn tools_on_the_list_are_never_pruned_and_the_plan_says_so() {
    let writer = with_old(
        Format::OpenAiChat,
        &[Call::new("memory", r#"{"key":"x"}"#, log(150, 1)), Call::run("make", log(150, 2))],
    );
    let text = writer.document();
    let mut policy = short_tail();
    policy.compression.never_prune = vec!["memory".to_owned()];
    let done = run(&text, &policy, &within(Format::OpenAiChat, tokens(&text, Format::OpenAiChat) - 600));
    assert!(done.plan.steps.iter().all(|step| step.tool != "memory"), "{:?}", done.plan.steps);
    assert!(done.plan.skips.iter().any(|skip| matches!(skip, Skip::NeverPruned { tool, .. } if tool == "memory")));
    assert_eq!(result(&said(Format::OpenAiChat, &done.body), 0), log(150, 1));
}

#[test]
fn recent_tool_output_that_the_policy_spares_is_spared() {
    let calls: Vec<Call> = (0..6).map(|at| Call::run(&format!("step {at}"), log(100, at))).collect();
    let text = with_old(Format::OpenAiChat, &calls).document();
    let mut policy = short_tail();
    policy.compression.protect_tool_tokens = AutoOr::Fixed(2_500);
    let done = run(&text, &policy, &within(Format::OpenAiChat, tokens(&text, Format::OpenAiChat) - 2_000));
    assert_eq!(done.plan.outcome, Outcome::Pruned, "{}", done.plan.reason);
    assert_eq!(result(&said(Format::OpenAiChat, &done.body), 5), log(100, 5), "the newest is spared");
    assert!(done.plan.skips.iter().any(|skip| matches!(skip, Skip::Spared { .. })));
}

#[test]
fn an_exact_policy_loses_nothing() {
    let text = session(Format::OpenAiChat, 8, 3, 60).document();
    let mut policy = policy(tokens(&text, Format::OpenAiChat));
    policy.compression.fidelity = Fidelity::Exact;
    let done = run(&text, &policy, &job(Format::OpenAiChat));
    assert_eq!(done.plan.outcome, Outcome::Unchanged, "{}", done.plan.reason);
}

#[test]
fn pruning_twice_reduces_nothing_twice() {
    let calls: Vec<Call> = (0..6).map(|at| Call::run(&format!("step {at}"), log(100, at))).collect();
    let writer = with_old(Format::OpenAiChat, &calls);
    let first = pruned(&writer, 1_000);
    let smaller = first.plan.tokens.after - 1_000;
    let second = run(&first.body, &short_tail(), &within(Format::OpenAiChat, smaller));
    for step in &second.plan.steps {
        let text = step.text.as_deref().unwrap_or_default();
        assert_eq!(text.matches("[was ").count(), 1, "{text}");
    }
}
