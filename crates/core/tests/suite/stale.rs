//! What a handoff says is how things stand: newest values, standing orders, failures first, every file.

use crate::common::kit::observe_usage;
use crate::common::kit::{appended, log, manual, policy, run_with};
use crate::common::reading::{said, section};
use crate::common::writer::{Call, Writer};
use foldline_core::handoff::record;
use foldline_core::{Format, SessionState};

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];

/// Folds a body, and gives the new body and its handoff.
fn fold(format: Format, body: &str, window: u64, state: &mut SessionState) -> (String, String) {
    let done = run_with(body, &policy(window), state, &manual(format));
    let after = done.plan.tokens.after;
    *state = done.state.clone();
    observe_usage(state, &done.budgets, after, done.messages.1, after);
    state.usage = None;
    let body = done.body.to_string();
    let texts = said(format, &body).into_iter().flat_map(|said| said.texts);
    let mut found = texts.filter_map(|text| record(&text).map(|found| found.text.to_owned()));
    let handoff = found.next().unwrap_or_else(|| panic!("no handoff: {}", done.plan.reason));
    (body, handoff)
}

/// A session behind its opening, which the first fold leaves where it is.
fn opened(format: Format) -> Writer {
    let mut writer = Writer::new(format);
    writer.user("We work on the importer today.").assistant("Good.").user("It is in src.").assistant("I see.");
    writer
}

/// More of the same, so that a fold has something to do.
fn filler(body: &str, format: Format, seed: u32) -> String {
    appended(body, format, &format!("filler_{seed}"), |writer| {
        for turn in 0..6 {
            writer.user(&format!("Now build part {seed}-{turn}."));
            writer.call(Call::run(&format!("make part-{seed}-{turn}"), log(40, seed * 10 + turn)));
            writer.assistant("It is built.");
        }
    })
}

/// A file of marks; those below `edited` have their new value.
fn marks(edited: usize) -> String {
    let value = |mark: usize| if mark < edited { 100 + mark } else { 0 };
    (0..40).map(|mark| format!("MARK_{mark} = {}\n", value(mark))).collect()
}

#[test]
fn edited_values_are_never_quoted_as_they_were() {
    for format in FORMATS {
        for shell in [false, true] {
            let mut writer = opened(format);
            writer.user("Set every mark in src/marks.py to its number plus one hundred.");
            writer.call(Call::read("src/marks.py", marks(0)));
            writer.assistant("I begin.");
            for mark in 0..40 {
                let (old, new) = (format!("MARK_{mark} = 0"), format!("MARK_{mark} = {}", 100 + mark));
                writer.call(match shell {
                    true => Call::run(&format!("sed -i 's/^{old}$/{new}/' src/marks.py"), ""),
                    false => Call::new(
                        "edit_file",
                        format!(r#"{{"path":"src/marks.py","old_string":"{old}","new_string":"{new}"}}"#),
                        "ok",
                    ),
                });
                if mark % 10 == 9 {
                    writer.call(Call::run("cat src/marks.py", marks(mark + 1)));
                }
            }
            writer.assistant("All marks are set.");
            let (mut body, mut state) = (writer.document(), SessionState::default());
            for round in 0..3 {
                body = filler(&body, format, round);
                let (folded, handoff) = fold(format, &body, 60_000, &mut state);
                body = folded;
                let lines: Vec<&str> = handoff.lines().map(str::trim).collect();
                // What an edit took away may be told beside what it put there.
                let is_told = |at: usize| {
                    let new = lines[at].strip_prefix("- ").map(|old| format!("+ {}", old.trim_end_matches('0')));
                    new.is_some_and(|new| lines[at..].iter().take(6).any(|line| line.starts_with(&new)))
                };
                let stale: Vec<&str> = (0..lines.len())
                    .filter(|&at| lines[at].contains("MARK_") && lines[at].ends_with("= 0") && !is_told(at))
                    .map(|at| lines[at])
                    .collect();
                assert!(stale.is_empty(), "{format}, fold {round}, shell {shell}: {stale:?}\n{handoff}");
                assert!(handoff.contains("src/marks.py"), "{format}, fold {round}, shell {shell}: {handoff}");
            }
        }
    }
}

#[test]
fn standing_orders_are_rules_and_stand_once() {
    const ORDERS: [&str; 4] = [
        "From now on answer in German.",
        "The deadline moved to Friday, 14 March.",
        "Never touch config/secrets.toml.",
        "Always run the linter before you commit.",
    ];
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Rebuild the importer.").assistant("I begin.");
        let (mut body, mut state) = (writer.document(), SessionState::default());
        for round in 0..5 {
            let order = ORDERS.get(round).copied().unwrap_or("Go on.");
            body = appended(&body, format, &format!("order_{round}"), |writer| {
                writer.user(order).assistant("Understood.");
            });
            body = filler(&body, format, round as u32);
            let (folded, handoff) = fold(format, &body, 60_000, &mut state);
            body = folded;
            let rules = section(&handoff, "Constraints & Preferences");
            for order in ORDERS.iter().take(round + 1) {
                assert_eq!(rules.matches(order).count(), 1, "{format}, fold {round}: {order}\n{handoff}");
            }
            assert!(!section(&handoff, "Resolved Questions").contains("German"), "{format}, fold {round}: {handoff}");
        }
    }
}

#[test]
fn a_rule_that_stands_beside_another_one_is_not_told_again_alone() {
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Rebuild the importer.").assistant("I begin.");
        let (mut body, mut state) = (writer.document(), SessionState::default());
        body = appended(&body, format, "order", |writer| {
            writer.user("The release notes must name ticket PAY-3391. Answer in German.").assistant("Understood.");
        });
        for round in 0..3 {
            body = filler(&body, format, round);
            let (folded, handoff) = fold(format, &body, 60_000, &mut state);
            body = folded;
            let rules = section(&handoff, "Constraints & Preferences");
            assert_eq!(rules.matches("PAY-3391").count(), 1, "{format}, fold {round}: {handoff}");
            assert_eq!(rules.matches("in German").count(), 1, "{format}, fold {round}: {handoff}");
        }
    }
}

#[test]
fn a_constraint_that_is_said_again_stands_once() {
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Rebuild the importer. Never use floats for money.").assistant("I begin.");
        let (mut body, mut state) = (writer.document(), SessionState::default());
        for round in 0..6 {
            body = appended(&body, format, &format!("order_{round}"), |writer| {
                writer.user(&format!("Go on with step {round}. Never use floats for money.")).assistant("Understood.");
            });
            body = filler(&body, format, round);
            let (folded, handoff) = fold(format, &body, 60_000, &mut state);
            body = folded;
            let rules = section(&handoff, "Constraints & Preferences");
            assert_eq!(rules.matches("Never use floats for money").count(), 1, "{format}, fold {round}: {handoff}");
        }
    }
}

#[test]
fn failed_lines_come_before_passed_ones() {
    let mut report = String::from("============ test session starts ============\ncollected 240 items\n\n");
    for test in 0..240 {
        let outcome = if test % 60 == 17 { "FAILED" } else { "PASSED" };
        report += &format!("tests/test_import.py::test_case_{test} {outcome} [ {}%]\n", test * 100 / 240);
    }
    report += "============ 4 failed, 236 passed in 12.31s ============\n";
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Run the tests.").call(Call::run("pytest -v", report.clone())).assistant("Four fail.");
        let (mut body, mut state) = (writer.document(), SessionState::default());
        for round in 0..2 {
            body = filler(&body, format, round);
            let (folded, handoff) = fold(format, &body, 60_000, &mut state);
            body = folded;
            let visible = said(format, &body).into_iter().flat_map(|said| said.texts).collect::<Vec<_>>().join("\n");
            for test in [17, 77, 137, 197] {
                let name = format!("test_case_{test} FAILED");
                assert!(visible.contains(&name) || body.contains(&name), "{format}, fold {round}: {name}\n{handoff}");
            }
        }
    }
}

#[test]
fn files_that_a_shell_reads_are_read() {
    let commands = [
        ("sed -n '1,40p' src/alpha.rs", "src/alpha.rs"),
        ("cat src/beta.rs", "src/beta.rs"),
        ("head -50 src/gamma.rs", "src/gamma.rs"),
        ("tail -n 20 src/delta.rs", "src/delta.rs"),
        ("cd /srv/app && nl -ba src/epsilon.rs | sed -n '1,9p'", "src/epsilon.rs"),
        ("rg -n 'fn parse' src/zeta.rs", "src/zeta.rs"),
        ("grep -n parse src/eta.rs", "src/eta.rs"),
    ];
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Look at the parsers.");
        for (command, path) in commands {
            let text: String = (0..30).map(|line| format!("fn parse_{line}() {{}} // of {path}\n")).collect();
            writer.call(Call::run(command, text));
        }
        writer.assistant("I have seen them.");
        let body = filler(&writer.document(), format, 1);
        let (_, handoff) = fold(format, &body, 60_000, &mut SessionState::default());
        let files = section(&handoff, "Relevant Files");
        for (command, path) in commands {
            assert!(files.contains(path), "{format}: {command}\n{handoff}");
        }
    }
}

#[test]
fn every_edited_file_is_named() {
    for format in FORMATS {
        let mut writer = opened(format);
        writer.user("Rename the parcel type everywhere.");
        for file in 0..40 {
            writer.call(Call::new(
                "edit_file",
                format!(r#"{{"path":"src/part_{file}/mod_{file}.rs","old_string":"Parcel{file}","new_string":"Package{file}"}}"#),
                "ok",
            ));
        }
        writer.assistant("Renamed.");
        let (mut body, mut state) = (writer.document(), SessionState::default());
        for round in 0..3 {
            body = filler(&body, format, round);
            let (folded, handoff) = fold(format, &body, 60_000, &mut state);
            body = folded;
            for file in 0..40 {
                let path = format!("part_{file}/mod_{file}.rs");
                assert!(handoff.contains(&path), "{format}, fold {round}: {path}\n{handoff}");
            }
        }
    }
}

/// A session with what `add` writes, folded once; gives the handoff.
fn told(format: Format, add: impl Fn(&mut Writer)) -> String {
    let mut writer = opened(format);
    add(&mut writer);
    let body = filler(&writer.document(), format, 1);
    fold(format, &body, 60_000, &mut SessionState::default()).1
}

fn edit(old: &str, new: &str) -> Call {
    let arguments = serde_json::json!({"path": "src/hooks.go", "old_string": old, "new_string": new});
    Call::new("edit_file", arguments.to_string(), "ok")
}

#[test]
fn a_line_that_moves_is_told_where_it_came_and_where_it_went() {
    let handoff = told(Format::Anthropic, |writer| {
        writer.user("Move the setup call from the stop handler to the start handler.");
        writer.call(edit("\tcheck()\n\tcapture()", "\tcheck()\n\tensureSetupEarly()\n\tcapture()"));
        writer.call(edit("\tcheck()\n\tensureSetupEarly()\n\tfinish()", "\tcheck()\n\tfinish()"));
        writer.assistant("Moved.");
    });
    assert!(handoff.contains("+ ensureSetupEarly()"), "{handoff}");
    assert!(handoff.contains("- ensureSetupEarly()"), "{handoff}");
}

#[test]
fn a_check_that_ran_again_as_part_of_another_line_is_told_once() {
    let handoff = told(Format::OpenAiChat, |writer| {
        writer.user("Make the linter happy.");
        writer.call(Call::run("make lint 2>&1", "Exit code 1\n2 failed"));
        writer.call(edit("a", "b"));
        writer.call(Call::run("make fmt && make lint 2>&1 | tail -3", "12 passed"));
        writer.assistant("It is.");
    });
    let state = section(&handoff, "Active State");
    assert!(state.contains("12 passed") && !state.contains("2 failed"), "{state}");
}

#[test]
fn a_missing_file_blocks_nothing_and_a_commit_that_mentions_failures_is_no_check() {
    let handoff = told(Format::Anthropic, |writer| {
        writer.user("Look at the helpers.");
        writer.call(Call { failed: true, ..Call::read("src/helpers.go", "File does not exist.") });
        writer.call(Call::run("git log --oneline -1", "baf139d Add warnings for failed agents"));
        writer.assistant("There are none.");
    });
    assert!(!handoff.contains("## Blocked"), "{handoff}");
    assert!(!section(&handoff, "Active State").contains("git log"), "{handoff}");
}
