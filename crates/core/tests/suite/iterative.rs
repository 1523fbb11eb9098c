//! F5: one fold after the other.

use crate::common::kit::observe_usage;
use crate::common::kit::{appended, log, manual, policy, run, run_with, session, tokens};
use crate::common::reading::{handoff, said, section};
use crate::common::texts::{self, Look, Maker};
use crate::common::writer::{Call, Layout, Writer};
use foldline_core::Outcome;
use foldline_core::handoff::{CLOSING, OPENING};
use foldline_core::ledger::HeldKind;
use foldline_core::summary::Ask;
use foldline_core::{Compaction, Format, Policy, SessionState};
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

const FORMATS: [Format; 3] = [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses];

/// A session that goes on where another ended.
struct Going {
    format: Format,
    body: String,
    state: SessionState,
    turn: u32,
}

impl Going {
    fn start(format: Format) -> Going {
        let mut writer = Writer::new(format);
        writer.system = Some("You are a careful engineer.".to_owned());
        writer.user("Rebuild the importer. Never use floats for money, and always keep Python 3.9.");
        writer.assistant("Understood.");
        Going { format, body: writer.document(), state: SessionState::default(), turn: 0 }
    }

    /// Adds messages at the end of the list.
    fn append(&mut self, add: impl Fn(&mut Writer)) {
        self.body = appended(&self.body, self.format, &format!("call_{}", self.turn), add);
        self.turn += 1;
    }

    /// A turn of the user with work and a reply.
    fn work(&mut self, rounds: u32, lines: usize) {
        let turn = self.turn;
        self.append(|writer| {
            writer.user(&format!("Step {turn}: convert module_{turn}.py, please."));
            for round in 0..rounds {
                let seed = turn * 10 + round;
                writer.call(Call::new(
                    "edit_file",
                    format!(r#"{{"path":"src/module_{turn}.py","content":"x{round}"}}"#),
                    "ok",
                ));
                writer.call(Call::run(
                    &format!("pytest tests/test_{seed}.py"),
                    format!("{}\n{seed} passed in 1.0s", log(lines, seed)),
                ));
            }
            writer.assistant(&format!("Step {turn} is done."));
        });
    }

    fn fold(&mut self, policy: &Policy) -> Compaction<'static> {
        let done = run_with(&self.body, policy, &self.state, &manual(self.format));
        self.state = done.state.clone();
        let after = done.plan.tokens.after;
        observe_usage(&mut self.state, &done.budgets, after, done.messages.1, after);
        self.state.usage = None;
        self.body = done.body.to_string();
        done
    }
}

fn numbers(handoff: &str) -> Vec<u32> {
    section(handoff, "Completed Actions").lines().filter_map(|line| line.split('.').next()?.parse().ok()).collect()
}

#[test]
fn ten_folds_in_a_row_keep_budget_constraints_and_numbering_and_stack_no_marks() {
    for format in FORMATS {
        let mut going = Going::start(format);
        let policy = policy(60_000);
        let mut highest = 0;
        for fold in 0..10 {
            for _ in 0..3 {
                going.work(2, 30);
            }
            let done = going.fold(&policy);
            assert_eq!(done.plan.outcome, Outcome::Folded, "{format}, fold {fold}: {}", done.plan.reason);
            let after = wire::read(&going.body, Some(format)).unwrap();
            assert_eq!(validate(&after), vec![], "{format}, fold {fold}");
            let text = handoff(format, &going.body).expect("a handoff");
            let size = done.plan.fold.as_ref().unwrap();
            assert!(size.handoff.tokens <= done.budgets.handoff_max, "{format}, fold {fold}: {}", size.handoff.tokens);
            assert_eq!(size.iterative, fold > 0, "{format}, fold {fold}");
            assert_eq!(going.body.matches(OPENING).count(), 1, "{format}, fold {fold}");
            assert_eq!(going.body.matches(CLOSING).count(), 1, "{format}, fold {fold}");
            let visible =
                said(format, &going.body).iter().flat_map(|said| said.texts.clone()).collect::<Vec<_>>().join("\n");
            for rule in ["Never use floats for money", "always keep Python 3.9"] {
                assert!(visible.contains(rule), "{format}, fold {fold}: {rule} is forgotten: {text}");
            }
            let numbers = numbers(&text);
            // What goes on over a fold has a line for each part.
            assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]), "{format}, fold {fold}: {numbers:?}");
            let last = numbers.last().copied().unwrap_or_default();
            assert!(
                last > highest,
                "{format}, fold {fold}: numbering goes on after {highest}, not at {last}: {} {:?} {text}",
                done.plan.reason,
                done.plan.zones
            );
            highest = last;
        }
    }
}

#[test]
fn the_request_behind_a_long_loop_survives_one_fold_after_the_other() {
    for format in FORMATS {
        let mut going = Going::start(format);
        going.work(2, 20);
        going.append(|writer| {
            writer.user("THE LONG ONE: convert everything, and leave tests/golden alone.");
        });
        let policy = policy(40_000);
        for fold in 0..5 {
            let seed = fold * 100;
            going.append(|writer| {
                for at in 0..14 {
                    writer.call(Call::run(&format!("convert {at}"), log(40, seed + at)));
                }
            });
            let done = going.fold(&policy);
            assert_eq!(done.plan.outcome, Outcome::Folded, "{format}, fold {fold}: {}", done.plan.reason);
            let alive = said(format, &going.body)
                .iter()
                .filter(|said| {
                    said.role == "user"
                        && said.texts.iter().any(|text| {
                            text.ends_with("THE LONG ONE: convert everything, and leave tests/golden alone.")
                        })
                })
                .count();
            assert_eq!(alive, 1, "{format}, fold {fold}: the request is gone or doubled");
            let text = handoff(format, &going.body).unwrap();
            assert!(section(&text, "Active Task").contains("THE LONG ONE"), "{format}, fold {fold}: {text}");
            assert_eq!(going.body.matches(OPENING).count(), 1, "{format}, fold {fold}");
        }
    }
}

#[test]
fn the_goal_stays_the_first_request() {
    let mut going = Going::start(Format::OpenAiChat);
    let mut policy = policy(40_000);
    policy.compression.protect_first_n = 0;
    for _ in 0..4 {
        for _ in 0..3 {
            going.work(2, 20);
        }
        going.fold(&policy);
    }
    let text = handoff(Format::OpenAiChat, &going.body).unwrap();
    let goal = section(&text, "Goal");
    assert!(goal.contains("Rebuild the importer."), "{goal}");
    assert!(!goal.contains("Step "), "later requests are no goals: {goal}");
}

#[test]
fn an_ask_that_was_pending_and_has_been_answered_is_no_longer_pending() {
    let mut going = Going::start(Format::OpenAiChat);
    let policy = policy(40_000);
    going.work(2, 20);
    going.append(|writer| {
        writer.user("Which tables are affected?");
        for at in 0..12 {
            writer.call(Call::run(&format!("psql {at}"), log(30, at)));
        }
    });
    going.fold(&policy);
    going.append(|writer| {
        writer.assistant("The tables orders and refunds are affected.");
    });
    for _ in 0..4 {
        going.work(2, 20);
    }
    going.fold(&policy);
    let text = handoff(Format::OpenAiChat, &going.body).unwrap();
    assert!(!section(&text, "Pending User Asks").contains("Which tables are affected?"), "{text}");
}

#[test]
fn an_error_that_was_solved_since_leaves_the_blockers() {
    let mut going = Going::start(Format::OpenAiChat);
    let policy = policy(40_000);
    going.append(|writer| {
        writer.user("Deploy.");
        writer.call(Call::run("deploy now", format!("{}\nerror: quota exceeded\nexit code: 1", log(20, 1))));
        writer.call(Call::run("deploy now", format!("{}\nerror: quota exceeded\nexit code: 1", log(20, 2))));
        writer.assistant("It failed.");
    });
    for _ in 0..4 {
        going.work(2, 20);
    }
    let first = going.fold(&policy);
    let text = first.plan.fold.unwrap().handoff.text;
    assert!(section(&text, "Blocked").contains("quota exceeded"), "{text}");
    going.append(|writer| {
        writer.user("Try again.");
        writer.call(Call::run("deploy now", "deployed\nexit code: 0"));
        writer.assistant("It worked.");
    });
    for _ in 0..4 {
        going.work(2, 20);
    }
    let second = going.fold(&policy);
    let text = second.plan.fold.unwrap().handoff.text;
    assert!(!section(&text, "Blocked").contains("quota exceeded"), "{text}");
}

#[test]
fn files_are_listed_once_however_often_they_are_met() {
    let mut going = Going::start(Format::OpenAiChat);
    let policy = policy(40_000);
    for fold in 0..4 {
        going.append(|writer| {
            writer.user("Again.");
            for at in 0..6 {
                writer.call(Call::read("src/always.py", texts::output(Look::Code, 20, fold * 6 + at)));
            }
            writer.assistant("Again done.");
        });
        going.work(3, 20);
        going.fold(&policy);
    }
    let text = handoff(Format::OpenAiChat, &going.body).unwrap();
    let listed = section(&text, "Relevant Files").lines().filter(|line| line.starts_with("- src/always.py")).count();
    assert_eq!(listed, 1, "{text}");
}

#[test]
fn handoffs_of_other_compactors_are_taken_over_and_not_stacked() {
    for maker in [Maker::Hermes, Maker::OldHermes, Maker::Foldline] {
        for format in FORMATS {
            let mut writer = Writer::new(format);
            writer.user(&texts::old_handoff(maker, 3)).assistant("I have read it.");
            let mut more = session(format, 8, 2, 20);
            more.layout = Layout::List;
            for element in crate::common::reading::elements(&more.document()) {
                writer.raw(element.to_string());
            }
            let text = writer.document();
            let done = run(&text, &policy(tokens(&text, format) * 2 - 2), &manual(format));
            let fold = done.plan.fold.as_ref().unwrap();
            assert!(fold.iterative, "{maker:?} {format}");
            let own = handoff(format, &done.body).unwrap();
            for mark in ["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "--- END OF CONTEXT SUMMARY"] {
                assert!(!done.body.contains(mark), "{maker:?} {format}: {mark} in {own}");
            }
            assert_eq!(own.matches(OPENING).count(), 1);
            match maker {
                Maker::Foldline => {
                    assert!(section(&own, "Goal").contains("Repair the"), "{own}");
                    assert!(numbers(&own).starts_with(&[1, 2]), "{own}");
                }
                Maker::Hermes => {
                    assert!(section(&own, "Completed Actions").contains("RAN pytest — 3 failed"), "{own}");
                    assert!(section(&own, "Remaining Work").contains("- the"), "{own}");
                }
                Maker::OldHermes => assert!(own.contains("wants the"), "{maker:?} {format}: {own}"),
            }
        }
    }
}

#[test]
fn a_second_fold_reads_the_record_of_the_first_and_what_came_since() {
    let mut going = Going::start(Format::OpenAiChat);
    let policy = policy(40_000);
    for _ in 0..4 {
        going.work(2, 30);
    }
    going.fold(&policy);
    for _ in 0..4 {
        going.work(2, 30);
    }
    let mut with_model = policy.clone();
    with_model.summarizer.url = Some("http://127.0.0.1:1/v1".to_owned());
    let done = run(&going.body, &with_model, &manual(Format::OpenAiChat));
    let job = done.summary_job.expect("a model is wanted");
    let Some(Ask::Prompt { user: prompt, .. }) = job.start().ask() else { panic!("a prompt") };
    let (_, material) = prompt.split_once("\nMATERIAL ").expect("the instruction comes first");
    assert!(material.contains("pytest tests/test_41.py") || material.contains("tests/test_5"), "{material}");
    assert!(material.contains("Rebuild the importer"), "{material}");
    assert!(!material.contains("[FOLDLINE HANDOFF"), "the earlier handoff is read, not quoted");
}

#[test]
fn the_handoff_is_found_again_after_a_restart() {
    for format in FORMATS {
        let mut going = Going::start(format);
        let policy = policy(40_000);
        for _ in 0..5 {
            going.work(2, 30);
        }
        going.fold(&policy);
        let first = numbers(&handoff(format, &going.body).unwrap());
        // A new process knows nothing but the transcript.
        going.state = SessionState::default();
        for _ in 0..5 {
            going.work(2, 30);
        }
        let done = going.fold(&policy);
        assert!(done.plan.fold.unwrap().iterative, "{format}");
        let second = numbers(&handoff(format, &going.body).unwrap());
        assert!(second.last() > first.last(), "{format}: {first:?} then {second:?}");
    }
}

#[test]
fn a_fold_with_little_news_keeps_what_the_handoff_said() {
    let mut going = Going::start(Format::OpenAiChat);
    let mut policy = policy(40_000);
    policy.compression.protect_first_n = 0;
    for _ in 0..6 {
        going.work(2, 30);
    }
    going.fold(&policy);
    let first = handoff(Format::OpenAiChat, &going.body).unwrap();
    for _ in 0..2 {
        going.work(1, 5);
        going.fold(&policy);
    }
    let last = handoff(Format::OpenAiChat, &going.body).unwrap();
    assert!(section(&last, "Goal").contains("Rebuild the importer."), "{last}");
    assert!(section(&last, "Constraints & Preferences").contains("Never use floats"), "{last}");
    let (before, after) = (numbers(&first).len(), numbers(&last).len());
    assert!(after * 2 >= before, "{before} actions became {after}: {last}");
}

#[test]
fn pins_hold_until_they_are_taken_back() {
    for format in FORMATS {
        let mut policy = policy(32_000);
        policy.compression.pins = vec!["Deploys need two reviews.".to_owned(), "*ticket*".to_owned()];
        let mut going = Going::start(format);
        // The first fold leaves the beginning as it is.
        going.work(3, 60);
        going.fold(&policy);
        going.append(|writer| {
            writer.user("The ticket is HG-4411. Nice weather today.");
            writer.assistant("Noted.");
            writer.user("/pin The customer is called Brantwood");
            writer.assistant("Pinned.");
        });
        for _ in 0..4 {
            going.work(3, 60);
            let done = going.fold(&policy);
            let told = section(&handoff(format, &done.body).unwrap(), "Constraints & Preferences").to_owned();
            for pinned in ["(pinned) The customer is called Brantwood", "Deploys need two reviews.", "HG-4411"] {
                assert_eq!(told.matches(pinned).count(), 1, "{format}: {pinned}\n{told}");
            }
            assert!(!told.contains("weather"), "{told}");
            let held = done.plan.fold.as_ref().map(|fold| fold.handoff.held.clone()).unwrap();
            assert!(held.iter().any(|held| held.kind == HeldKind::Pin && held.text.contains("Brantwood")), "{held:?}");
        }
        going.append(|writer| {
            writer.user("/unpin brantwood");
            writer.assistant("Unpinned.");
        });
        policy.compression.pins.clear();
        going.work(3, 60);
        let told = handoff(format, &going.fold(&policy).body).unwrap();
        assert!(!told.contains("Brantwood") && !told.contains("two reviews"), "{told}");
        assert!(told.contains("HG-4411"), "what a pattern pinned stays: {told}");
    }
}

#[test]
fn a_request_that_goes_on_over_folds_has_one_place_and_its_todo_list_follows_the_work() {
    let format = Format::Anthropic;
    let mut going = Going::start(format);
    let task = |arguments: serde_json::Value| Call::new("TaskUpdate", arguments.to_string(), "ok");
    going.append(|writer| {
        writer.user("Convert the three readers, one after the other, and say when all of them are done.");
        for subject in ["csv reader", "xml reader", "json reader"] {
            writer.call(Call::new("TaskCreate", serde_json::json!({"subject": subject}).to_string(), "ok"));
        }
    });
    for round in 1..=3 {
        going.append(|writer| {
            writer.call(Call::run(&format!("convert reader-{round}"), log(400, round)));
            writer.call(task(serde_json::json!({"taskId": round.to_string(), "status": "completed"})));
            writer.call(Call::run(&format!("pytest tests/reader_{round}.py"), log(400, round + 10)));
        });
        let done = going.fold(&policy(30_000));
        assert_eq!(done.plan.outcome, Outcome::Folded, "{}", done.plan.reason);
    }
    going.append(|writer| {
        writer.assistant("All three are done.");
        writer.user("Now write the change log.");
        writer.call(Call::run("git log --stat", log(600, 40)));
        writer.call(Call::run("git diff", log(600, 41)));
    });
    going.fold(&policy(30_000));
    let text = handoff(format, &going.body).expect("a handoff");
    let chronicle = section(&text, "Completed Actions");
    assert_eq!(chronicle.matches("Convert the three readers").count(), 1, "{text}");
    let request = chronicle.find("Convert the three readers").unwrap();
    let work = chronicle.find("convert reader-").unwrap_or(usize::MAX);
    assert!(request < work, "the request stands above its work: {text}");
    let numbers = numbers(&text);
    assert_eq!(numbers.last(), Some(&2), "one number for all its parts: {numbers:?}");
    assert!(!section(&text, "Remaining Work").contains("[ ]"), "all items are done: {text}");
}

#[test]
fn the_state_of_before_a_fold_holds_until_something_newer_is_seen() {
    let format = Format::OpenAiChat;
    let mut going = Going::start(format);
    going.append(|writer| {
        writer.user("Convert the store and check it.");
        writer.call(Call::run("git checkout -b convert-store", "Switched to a new branch"));
        writer.call(Call::new("edit_file", r#"{"path":"/srv/shop/store.py","content":"x = 1"}"#, "ok"));
        writer.call(Call::new("edit_file", r#"{"path":"/srv/shop/index.py","content":"y = 1"}"#, "ok"));
        writer.call(Call::run("pytest tests/store.py", format!("{}\n31 passed in 1.0s", log(300, 1))));
        writer.assistant("The store is converted.");
    });
    for turn in 0..2 {
        going.work(3, 200);
        let done = going.fold(&policy(30_000));
        assert_eq!(done.plan.outcome, Outcome::Folded, "turn {turn}: {}", done.plan.reason);
    }
    let text = handoff(format, &going.body).expect("a handoff");
    let state = section(&text, "Active State");
    for known in ["branch convert-store", "store.py", "index.py", "31 passed"] {
        assert!(state.contains(known), "{known} is forgotten: {state}");
    }
}

#[test]
fn f5_a_request_behind_an_interruption_goes_on_under_its_number() {
    let format = Format::Anthropic;
    let mut going = Going::start(format);
    going.work(3, 60);
    going.append(|writer| {
        writer.raw(
            r#"{"role":"user","content":[{"type":"text","text":"commit this"},{"type":"text","text":"[Request interrupted by user]"},{"type":"text","text":"Could the check run at the first hook of a session instead of the last one?"}]}"#,
        );
        for round in 0..4 {
            writer.call(Call::run(&format!("make hook-{round}"), log(60, 40 + round)));
        }
    });
    let mut policy = policy(40_000);
    policy.compression.protect_first_n = 0;
    policy.compression.tail = foldline_core::policy::Tail::Tokens(500);
    let first = run(&going.body, &policy, &manual(format));
    let told = handoff(format, &first.body).expect("the first fold");
    assert!(told.contains("the message beside this record, \"Could the check run"), "{told}");
    going.body = first.body.into_owned();
    going.append(|writer| {
        writer.assistant("It can, and nothing depends on the last one.");
    });
    going.work(3, 60);
    let text = handoff(format, &run(&going.body, &policy, &manual(format)).body).expect("the second fold");
    let told = section(&text, "Completed Actions");
    let asked = told.find("Could the check run at the first hook").expect(&text);
    let answered = told.find("nothing depends on the last one").expect(&text);
    // The heading of its later messages has the same number.
    assert!(asked < answered && !told[asked..answered].contains("\n5. User"), "{text}");
    assert!(told.contains("User, before that:\n     commit this"), "{text}");
}
