//! What a handoff says of agents that are no coding clients, or that change files and commit in ways of their own.

use crate::common::kit::{log, manual, policy, run};
use crate::common::reading::{handoff, section};
use crate::common::writer::{Call, Writer, quoted};
use foldline_core::Format;
use foldline_core::policy::Tail;

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];

/// The handoff of a session, with something behind it that stays.
fn folded(writer: &mut Writer) -> String {
    writer.user("Show me all parts.");
    for part in 0..6 {
        writer.call(Call::run(&format!("make part-{part}"), log(40, part)));
    }
    writer.assistant("There they are.");
    let mut policy = policy(40_000);
    policy.compression.protect_first_n = 0;
    policy.compression.tail = Tail::Tokens(500);
    let done = run(&writer.document(), &policy, &manual(writer.format));
    handoff(writer.format, &done.body).unwrap_or_else(|| panic!("no handoff: {}", done.plan.reason))
}

fn patch(lines: &str) -> String {
    format!("*** Begin Patch\n*** Update File: src/retry.py\n@@ def fetch\n{lines}\n*** End Patch")
}

#[test]
fn patches_that_a_shell_applies_are_edits() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Retry five times.");
        for (old, new) in [("ATTEMPTS = 3", "ATTEMPTS = 4"), ("ATTEMPTS = 4", "ATTEMPTS = 5")] {
            let text = quoted(&patch(&format!("-{old}\n+{new}")));
            let arguments = format!(r#"{{"command":["apply_patch",{text}]}}"#);
            writer.call(Call::new("shell", arguments, "Success. Updated the following files:\nM src/retry.py"));
        }
        let typed = quoted(&format!("apply_patch <<'EOF'\n{}\nEOF", patch("-sleep(1)\n+sleep(jitter())")));
        writer.call(Call::new("shell", format!(r#"{{"command":["bash","-lc",{typed}]}}"#), "Success."));
        writer.assistant("It retries five times now.");
        let text = folded(&mut writer);
        assert!(text.contains("EDIT src/retry.py") && text.contains("+ ATTEMPTS = 5"), "{format}: {text}");
        assert!(text.contains("+ sleep(jitter())"), "{format}: {text}");
        assert!(!text.contains("apply_patch"), "{format}: {text}");
        assert!(section(&text, "Relevant Files").contains("src/retry.py — edited 3×"), "{format}: {text}");
    }
}

#[test]
fn a_commit_that_prints_nothing_is_read_off_the_log_behind_it() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Fix the typo and commit.");
        writer.call(Call::new("edit_file", r#"{"path":"a.md","old_string":"teh","new_string":"the"}"#, "ok"));
        writer.call(Call::run("git commit -qam 'Fix typo' && git log --oneline -1", "c60e8b3 Fix typo\nexit code: 0"));
        writer.assistant("Committed.");
        let text = folded(&mut writer);
        let state = section(&text, "Active State");
        assert!(state.contains("commit c60e8b3 Fix typo") && !state.contains("changed by edits"), "{format}: {text}");
    }
}

#[test]
fn what_worked_in_another_way_blocks_nothing() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Write the report and lint.");
        let write = |path: &str| format!(r#"{{"path":"{path}","content":"Totals by month"}}"#);
        writer.call(Call::new("write_file", write("project/report.md"), "Error: permission denied"));
        writer.call(Call::new("write_file", write("/data/report.md"), "ok"));
        writer.call(Call::run("pytest -q; ruff check src", "50 passed\nFound 1 error.\nexit code: 1"));
        writer.call(Call::run("sed -i 's/a/b/' src/x.py && ruff check src", "All checks passed!\nexit code: 0"));
        writer.call(Call::run("deploy --dry-run", "error: no such host\nexit code: 2"));
        writer.assistant("The report is written, the deployment fails.");
        let text = folded(&mut writer);
        let blocked = section(&text, "Blocked");
        assert!(blocked.contains("no such host"), "{format}: {text}");
        assert!(!blocked.contains("permission denied") && !blocked.contains("Found 1 error"), "{format}: {text}");
        assert!(!section(&text, "Relevant Files").contains("project/report.md — written"), "{format}: {text}");
    }
}

#[test]
fn a_reply_that_names_an_option_is_a_decision_and_no_rule() {
    let mut writer = Writer::new(Format::Anthropic);
    writer.user("Find me a flight to Boston on 3 April.");
    writer.call(Call::new("search_flights", r#"{"to":"BOS"}"#, log(10, 1)));
    writer.assistant("Two fit:\n1. MDA402, 06:10, $214\n2. MDA406, 08:25, $231\n\nWhich one would you like?");
    writer.user("number 2");
    writer.assistant("MDA406 for $231. Which card?");
    writer.user("The Visa. Never put anything private on the Mastercard, that is my work card.");
    writer.call(Call::new("book", r#"{"flight":"MDA406"}"#, "{\"ok\": true}"));
    writer.assistant("Booked.");
    let text = folded(&mut writer);
    let rules = section(&text, "Constraints & Preferences");
    assert!(!rules.contains("number 2"), "{text}");
    assert!(text.contains("Never put anything private on the Mastercard"), "{text}");
    let decisions = section(&text, "Key Decisions");
    assert!(decisions.contains("MDA406, 08:25") && !decisions.contains("all parts"), "{text}");
}

#[test]
fn a_rule_whose_value_was_named_and_changed_says_so() {
    for (rule, change) in [
        ("Never ship more than 3 parcels at once.", "Ann says 3 parcels are too few, never ship more than 5."),
        ("Niemals länger als 30 Minuten reservieren.", "Der Vertrieb sagt gerade 20 Minuten statt 30, bitte ändern."),
    ] {
        let mut writer = Writer::new(Format::Anthropic);
        writer.user(&format!("Rework the reservations. {rule}"));
        writer.call(Call::run("make test", log(20, 1)));
        writer.assistant("Done.");
        writer.user(change);
        writer.call(Call::run("make test", log(20, 2)));
        writer.assistant("Changed.");
        let text = folded(&mut writer);
        let rules = section(&text, "Constraints & Preferences");
        let old = rules.lines().find(|line| line.contains(rule));
        assert!(old.is_none_or(|line| line.ends_with("(a value was changed later)")), "{text}");
        assert!(text.contains(change), "{text}");
    }
}

#[test]
fn a_plan_with_headings_lays_nothing_down_for_good() {
    let mut writer = Writer::new(Format::Anthropic);
    let context = "A checkpoint can hold several sessions, so readers must always resolve the agent of each session.";
    writer.user(&format!(
        "Implement the following plan:\n\n# Sessions\n\n## Context\n\n{context}\n\n## Changes\n\nRead it in the loop."
    ));
    writer.call(Call::run("make test", log(20, 1)));
    writer.assistant("Done.");
    writer.user("Never fall back to the first agent.");
    writer.call(Call::run("make test", log(20, 2)));
    writer.assistant("It does not.");
    let text = folded(&mut writer);
    let rules = section(&text, "Constraints & Preferences");
    assert!(!rules.contains("A checkpoint can hold"), "{text}");
    assert!(text.contains("Never fall back to the first agent."), "{text}");
}

#[test]
fn a_request_of_nothing_but_rules_is_told_where_it_was_made() {
    let mut writer = Writer::new(Format::Anthropic);
    writer.user("Never touch the schema. Always run the linter. Never push to main.");
    writer.call(Call::run("make lint", log(20, 1)));
    writer.assistant("The linter is clean.");
    let text = folded(&mut writer);
    let actions = section(&text, "Completed Actions");
    assert!(!actions.contains("User: …") && actions.contains("Never touch the schema."), "{text}");
}

#[test]
fn words_written_behind_their_calls_are_no_answer() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Count the open invoices of March, April and May.");
    for month in ["March", "April", "May"] {
        let call = format!(
            r#"{{"id":"call_{month}","type":"function","function":{{"name":"query","arguments":"{{\"month\":\"{month}\"}}"}}}}"#
        );
        writer.raw(format!(
            r#"{{"role":"assistant","tool_calls":[{call}],"content":"I ask the ledger about {month} next, as agreed."}}"#
        ));
        writer.raw(format!(r#"{{"role":"tool","tool_call_id":"call_{month}","content":"{}"}}"#, "invoice ".repeat(60)));
    }
    writer.assistant("There are 41 open invoices: 12 in March, 9 in April, 20 in May.");
    let text = folded(&mut writer);
    let answer = text.find("41 open invoices").unwrap_or_else(|| panic!("{text}"));
    assert!(text.find("I ask the ledger about May").is_none_or(|at| at < answer), "{text}");
}

#[test]
fn what_is_sent_again_before_any_answer_is_told_once() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("hi");
        let report = "The build stops.\n\nLinker: not found\nFolder: /opt/cross\n\nOptions:\n1. install it\n2. skip it";
        writer.user(report);
        writer.user("The steps: open a shell, then run make.");
        writer.user(&format!(
            "When I start it, this comes up:\n\n{report}\n\nThe steps: open a shell, then run make. Why?"
        ));
        writer.call(Call::run("make cross", log(30, 1)));
        writer.assistant("The linker is in another package.");
        let text = folded(&mut writer);
        let text = section(&text, "Completed Actions");
        for once in ["Folder: /opt/cross", "2. skip it", "open a shell, then run make"] {
            assert_eq!(text.matches(once).count(), 1, "{format}, {once}: {text}");
        }
    }
}

#[test]
fn a_failed_run_is_told_by_the_line_that_says_most() {
    let output = "Exit code 1\nError: deadline exceeded\n--- FAIL: TestSave (0.01s)\n    save_test.go:176: failed to save state: no root\nFAIL\nFAIL\tone/save\t6.5s\n[test] ERROR task failed";
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Do all tests pass?");
        writer.call(Call::run("mise run test", output));
        writer.assistant("One fails.");
        let text = folded(&mut writer);
        assert!(
            text.contains("FAIL\tone/save\t6.5s: save_test.go:176: failed to save state: no root"),
            "{format}: {text}"
        );
    }
}

#[test]
fn a_commit_is_told_with_its_size() {
    let output = "[main c0dd4af] Add summaries\n 8 files changed, 998 insertions(+), 4 deletions(-)\n create mode 100644 summary.go";
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Commit all of it.");
        writer.call(Call::run("git commit -am 'Add summaries'", output));
        writer.assistant("Committed.");
        let text = folded(&mut writer);
        let state = section(&text, "Active State");
        assert!(state.contains("commit c0dd4af Add summaries (8 files, +998, -4)"), "{format}: {text}");
    }
}

#[test]
fn a_remark_that_takes_up_nothing_of_an_offer_is_no_decision() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Why is the index broken?");
        writer.call(Call::run("git fsck", log(20, 3)));
        writer.assistant("A cache went stale. Shall I rebuild it?");
        writer.user("this has happened twice now, by the way");
        writer.call(Call::run("git gc", log(20, 4)));
        writer.assistant("It runs every day. Shall I rebuild the cache?");
        writer.user("yes, rebuild it");
        writer.call(Call::run("git read-tree HEAD", "done"));
        writer.assistant("Rebuilt.");
        let text = folded(&mut writer);
        let decisions = section(&text, "Key Decisions");
        assert!(decisions.contains("yes, rebuild it") && !decisions.contains("twice now"), "{format}: {text}");
    }
}

#[test]
fn every_short_request_is_told() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        for step in 0..12 {
            writer.user(&format!("Look at part {step} of the importer, please."));
            writer.call(Call::run(&format!("make importer-{step}"), log(30, step)));
            writer.assistant(&format!(
                "Part {step} reads {} rows into the staging table and checks each of them.",
                step * 17
            ));
            writer.user("push");
            writer.call(Call::run("git push", log(30, step + 20)));
            writer.assistant("Pushed.");
        }
        let text = folded(&mut writer);
        let told = format!("\n{}", section(&text, "Completed Actions"));
        for number in 1..=24 {
            assert!(told.contains(&format!("\n{number}. User")), "{format}, {number}: {text}");
        }
    }
}

#[test]
fn what_leads_up_to_a_question_is_no_rule_and_what_was_stopped_is_told_as_such() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Fix the hook.");
        writer.call(Call::run("make hook", log(20, 3)));
        writer.assistant("Fixed.");
        writer.user("commit this");
        writer.call(Call::run("git commit -am 'Fix hook'", "[Request interrupted by user]"));
        writer.user("[Request interrupted by user]");
        writer.user(
            "Until now we assumed that people commit after a prompt is done. This means that a check at the end may come too late. Is there a reason not to move it to the start?",
        );
        writer.call(Call::run("make check", log(20, 4)));
        writer.assistant("There is none.");
        let text = folded(&mut writer);
        assert!(!section(&text, "Constraints & Preferences").contains("too late"), "{format}: {text}");
        let told = section(&text, "Completed Actions");
        assert!(told.contains("commit this") && told.contains("may come too late"), "{format}: {text}");
    }
}

#[test]
fn a_reply_of_one_letter_is_told_in_its_place() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("Summaries exist already for some checkpoints. What shall we do with them?");
        writer.call(Call::run("make list", log(20, 3)));
        writer.assistant(
            "Three ways:\n\n- **A)** keep them\n- **B)** ask the user\n- **C)** add a `--force` flag\n\nWhich one?",
        );
        writer.user("C)");
        writer.call(Call::run("make force", log(20, 4)));
        writer.assistant("The flag is there.");
        let text = folded(&mut writer);
        assert!(section(&text, "Completed Actions").contains("User [5:8]: C)"), "{format}: {text}");
        assert!(section(&text, "Key Decisions").contains("add a `--force` flag"), "{format}: {text}");
    }
}

#[test]
fn reports_of_how_code_behaves_are_no_rules() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user(
            "Look at these findings. After a fold in PostCommit, state.Attributions is not cleared. When Count is reset to 0 the list \
             keeps its old entries. On the next fold all entries are summed, including those of earlier folds. Never touch schema.sql.",
        );
        writer.call(Call::run("make check", log(20, 4)));
        writer.assistant("All three are real.");
        let text = folded(&mut writer);
        let rules = section(&text, "Constraints & Preferences");
        assert!(rules.contains("Never touch schema.sql."), "{format}: {text}");
        assert!(!rules.contains("is not cleared") && !rules.contains("old entries"), "{format}: {text}");
    }
}

#[test]
fn reminders_of_the_host_behind_an_output_are_no_part_of_it() {
    for format in FORMATS {
        let mut writer = Writer::new(format);
        writer.user("What does the importer define?");
        let file = "1\tMOST_ROWS = 500\n2\tdef read_rows(path):\n\n<system-reminder>\nConsider whether this file is malware.\n</system-reminder>\n";
        writer.call(Call::new("read_file", r#"{"path":"importer.py"}"#, file));
        writer.assistant("It reads at most 500 rows.");
        let text = folded(&mut writer);
        assert!(text.contains("MOST_ROWS = 500") && !text.contains("malware"), "{format}: {text}");
    }
}
