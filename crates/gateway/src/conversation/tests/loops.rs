//! Long loops: every request valid, inside the window, and byte-stable between folds.

use super::super::*;
use super::world::{Client, MarkStyle, Provider, Said, finish, marks_of, names, output, settings, turn, with_model};
use foldline_transcript::wire;

const WINDOW: u32 = 32_000;
const DIALECTS: [Dialect; 4] = Dialect::ALL;

fn provider(ratio: f64) -> Provider {
    Provider { window: WINDOW.into(), ratio }
}

/// What was sent in a loop.
struct Log {
    sent: Vec<String>,
    outcomes: Vec<Outcome>,
}

/// Runs a loop. `between` may replace the gateway before each turn.
fn run(client: &mut Client, turns: usize, ratio: f64, mut between: impl FnMut(usize) -> Conversations) -> Log {
    let mut log = Log { sent: Vec::new(), outcomes: Vec::new() };
    client.user("Request 0: rebuild the parts one by one, never touch config/secrets.toml.");
    for step in 0..turns {
        let gateway = between(step);
        let (sent, outcome) = turn(&gateway, client, &provider(ratio), 1_000 + step as i64 * 10);
        log.sent.push(sent);
        log.outcomes.push(outcome);
        client.work(step);
        if step % 40 == 39 {
            client.assistant(&format!("Parts up to {step} are done."));
            client.user(&format!("Request {}: go on with the next parts.", step + 1));
        }
    }
    log
}

/// Between folds every request extends the one before it.
fn assert_stable(dialect: Dialect, log: &Log) -> usize {
    let mut changes = 0;
    for (index, pair) in log.sent.windows(2).enumerate() {
        let (before, after) = (names(dialect, &pair[0]), names(dialect, &pair[1]));
        if after.get(..before.len()) != Some(before.as_slice()) {
            changes += 1;
            // The change is a fold, made now or beside the turn before.
            let now = log.outcomes[index + 1];
            assert!(matches!(now, Outcome::Folded | Outcome::Pruned | Outcome::Checkpoint), "turn {index}: {now:?}");
        }
    }
    changes
}

/// Through a provider that counts differently than we do, with folds before the request or beside it.
fn three_hundred_turns(dialect: Dialect, ratio: f64, beside: bool) {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(WINDOW, Some(&folder.path().join("s.db")));
    let gateway = Conversations::open(if beside { with_model(settings) } else { settings }).unwrap();
    let mut client = Client::new(dialect);
    let log = run(&mut client, 300, ratio, |_| gateway.clone());
    let changes = assert_stable(dialect, &log);
    let sums = gateway.totals().sums;
    let folds = sums.folds + sums.prunes;
    assert!(folds >= 8, "{folds}");
    // The last one may have been made beside the last turn.
    assert!(folds - changes as u64 <= 1, "{changes} changes, {folds} folds");
    // A rewrite buys two fifths of the trigger, so that there cannot be more of them than this. One that
    // is made beside starts at the pressure mark and buys less.
    let room = if beside { 4_000.0 } else { 6_400.0 };
    let tokens = provider(ratio).count(dialect, &client.body()) as f64;
    assert!((changes as f64) < tokens / room, "{changes} changes on {tokens} tokens");
    let last = log.sent.last().unwrap();
    assert!(last.contains("never touch config/secrets.toml"), "the constraint is there");
    assert!(last.contains("Request 280: go on"), "the task is there");
    assert_eq!(sums.recoveries, 0);
}

#[test]
fn three_hundred_turns_of_chat_stay_inside_the_window() {
    three_hundred_turns(Dialect::Chat, 1.3, false);
}

#[test]
fn three_hundred_turns_of_responses_stay_inside_the_window() {
    three_hundred_turns(Dialect::Responses, 0.8, true);
}

#[test]
fn three_hundred_turns_of_messages_stay_inside_the_window() {
    three_hundred_turns(Dialect::Messages, 1.0, false);
}

#[test]
fn a_restart_between_any_two_turns_changes_no_byte() {
    for dialect in DIALECTS {
        let steady = tempfile::tempdir().unwrap();
        let gateway = Conversations::open(settings(WINDOW, Some(&steady.path().join("s.db")))).unwrap();
        let straight = run(&mut Client::new(dialect), 80, 1.0, |_| gateway.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let restarted =
            run(&mut Client::new(dialect), 80, 1.0, |_| Conversations::open(settings(WINDOW, Some(&path))).unwrap());
        assert!(straight.outcomes.contains(&Outcome::Checkpoint));
        assert!(straight.sent == restarted.sent, "{dialect:?}");
    }
}

#[test]
fn a_crash_between_any_two_turns_keeps_the_prefix() {
    for dialect in DIALECTS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        // A gateway that is never dropped never flushes: what it had not written is lost.
        let crashed = |_| {
            let gateway = Conversations::open(settings(WINDOW, Some(&path))).unwrap();
            std::mem::forget(gateway.clone());
            gateway
        };
        let log = run(&mut Client::new(dialect), 80, 1.0, crashed);
        assert!(log.outcomes.contains(&Outcome::Checkpoint));
        assert_stable(dialect, &log);
    }
}

#[test]
fn a_crash_that_loses_the_only_report_does_not_fold_what_went_out_whole() {
    for dialect in DIALECTS {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let open = || Conversations::open(settings(WINDOW, Some(&path))).unwrap();
        // Counted as more than the trigger, reported as a third of that.
        let counts_less = provider(0.3);
        let mut client = Client::new(dialect);
        client.user("Do it.");
        for step in 0..11 {
            client.work(step);
        }
        let small = client.body();
        for step in 11..18 {
            client.work(step);
        }
        let large = client.body();
        let gateway = open();
        let first = gateway.prepare(&client.ask(&small, 1)).unwrap();
        assert_eq!(first.outcome, Outcome::Unchanged);
        gateway.flush(Timestamp(2)).unwrap();
        gateway.observe(&first.turn, counts_less.answer(dialect, &first.body).unwrap(), Timestamp(3));
        let before = gateway.prepare(&client.ask(&large, 4)).unwrap();
        assert_eq!(before.outcome, Outcome::Unchanged, "{dialect:?}: by what was reported it is small");
        std::mem::forget(gateway);
        let gateway = open();
        let after = gateway.prepare(&client.ask(&large, 5)).unwrap();
        assert_eq!((after.outcome, &after.body), (Outcome::Unchanged, &before.body), "{dialect:?}");
        // A provider that never reports is folded for at the next request.
        let next = gateway.prepare(&client.ask(&large, 6)).unwrap();
        assert!(matches!(next.outcome, Outcome::Folded | Outcome::Pruned), "{dialect:?}: {:?}", next.outcome);
    }
}

#[test]
fn two_processes_on_one_store_rewrite_alike() {
    for dialect in DIALECTS {
        let folder = tempfile::tempdir().unwrap();
        let open = || Conversations::open(settings(WINDOW, Some(&folder.path().join("s.db")))).unwrap();
        let gateways = [open(), open()];
        let log = run(&mut Client::new(dialect), 90, 1.0, |step| gateways[step / 2 % 2].clone());
        let changes = assert_stable(dialect, &log);
        assert!((3..20).contains(&changes), "{dialect:?}: {changes}");
    }
}

#[test]
fn the_same_body_twice_gives_the_same_bytes() {
    for dialect in DIALECTS {
        let gateway = Conversations::open(settings(WINDOW, None)).unwrap();
        let mut client = Client::new(dialect);
        client.marks = MarkStyle::Moving;
        client.user("Do it.");
        for step in 0..60 {
            client.work(step);
            let body = client.body();
            let ask = client.ask(&body, 5);
            let first = gateway.prepare(&ask).unwrap();
            let second = gateway.prepare(&ask).unwrap();
            assert_eq!(first.body, second.body, "{dialect:?} {step}");
            let usage = provider(1.0).answer(dialect, &first.body).unwrap();
            gateway.observe(&first.turn, usage, Timestamp(6));
        }
    }
}

#[test]
fn marks_that_move_never_become_too_many_and_one_stands_at_the_seam() {
    for marks in [MarkStyle::Moving, MarkStyle::Full] {
        let gateway = Conversations::open(settings(WINDOW, None)).unwrap();
        let mut client = Client::new(Dialect::Messages);
        client.marks = marks;
        let log = run(&mut client, 120, 1.0, |_| gateway.clone());
        assert!(assert_stable(Dialect::Messages, &log) >= 3);
        for (sent, outcome) in log.sent.iter().zip(&log.outcomes) {
            let transcript = wire::read(sent, Some(Dialect::Messages.format())).unwrap();
            let marks_sent = marks_of(&transcript);
            assert!(marks_sent <= 4, "{marks_sent}");
            let rewritten = !matches!(outcome, Outcome::Unchanged);
            if marks == MarkStyle::Moving {
                assert_eq!(marks_sent, if rewritten { 4 } else { 3 }, "{outcome:?}");
                let last = transcript.parts_at(transcript.messages.len() - 1).last().unwrap();
                assert!(last.marked, "the client's own mark stays where it is");
            }
        }
    }
}

#[test]
fn two_clients_can_continue_one_conversation() {
    for dialect in DIALECTS {
        let gateway = Conversations::open(settings(WINDOW, None)).unwrap();
        let mut one = Client::new(dialect);
        one.user("Do it together.");
        for step in 0..20 {
            one.work(step);
        }
        let mut two = one.clone();
        let mut logs = [Log { sent: vec![], outcomes: vec![] }, Log { sent: vec![], outcomes: vec![] }];
        for step in 20..90 {
            for (index, client) in [&mut one, &mut two].into_iter().enumerate() {
                client.work(step + 1_000 * index);
                let (sent, outcome) = turn(&gateway, client, &provider(1.0), step as i64);
                let theirs = format!("step_{}", step + 1_000 * (1 - index));
                assert!(!sent.contains(&format!("{theirs} ")), "{dialect:?}: the other client's work shows");
                logs[index].sent.push(sent);
                logs[index].outcomes.push(outcome);
            }
        }
        for log in &logs {
            assert!(assert_stable(dialect, log) >= 2);
        }
    }
}

#[test]
fn a_rewound_history_matches_an_earlier_checkpoint_or_none() {
    for dialect in DIALECTS {
        let gateway = Conversations::open(settings(WINDOW, None)).unwrap();
        let mut client = Client::new(dialect);
        run(&mut client, 120, 1.0, |_| gateway.clone());
        let whole = client.messages.clone();
        let mut outcomes = Vec::new();
        for kept in (1..whole.len()).rev().step_by(7) {
            // Back to where a person or the model has the word, and on with something else.
            let mut rewound = client.clone();
            rewound.messages.truncate(kept);
            while matches!(rewound.messages.last(), Some(Said::Call { .. } | Said::Assistant(_))) {
                rewound.messages.pop();
            }
            let body = rewound.body();
            let prepared = gateway.prepare(&rewound.ask(&body, 9)).unwrap();
            assert!(provider(1.0).answer(dialect, &prepared.body).is_ok(), "{dialect:?} {kept}");
            outcomes.push(prepared.outcome);
            if let Some(task) = prepared.background {
                finish(&gateway, task, 9);
            }
            rewound.messages.pop();
            rewound.user("No, something else.");
            let body = rewound.body();
            let prepared = gateway.prepare(&rewound.ask(&body, 9)).unwrap();
            assert!(prepared.body.contains("No, something else."));
            let plain = wire::read(&body, Some(dialect.format())).unwrap();
            // Two requests in a row are the client's own doing; everything else must be right.
            if foldline_transcript::validate::validate(&plain).is_empty() {
                assert!(provider(1.0).answer(dialect, &prepared.body).is_ok(), "{dialect:?} {kept}");
            }
        }
        assert!(outcomes.contains(&Outcome::Checkpoint) && outcomes.contains(&Outcome::Unchanged), "{outcomes:?}");
    }
}

#[test]
fn instructions_in_the_middle_survive_every_fold() {
    for dialect in Dialect::ALL {
        let gateway = Conversations::open(settings(24_000, None)).unwrap();
        let mut client = Client::new(dialect);
        client.user("Make all parts work.").system("Skills of this session: MARK-OF-THE-MIDDLE.");
        client.assistant("I begin.").user("Go on.");
        let mut folds = 0;
        for step in 0..160 {
            client.work(step);
            let (sent, outcome) = turn(&gateway, &client, &provider(1.0), step as i64);
            folds += usize::from(outcome == Outcome::Folded);
            let told = sent.matches("MARK-OF-THE-MIDDLE").count();
            // Gemini has no instructions between contents: there it is what a user says, which a handoff may name, too.
            let once = told == 1 || (dialect == Dialect::Gemini && told > 1);
            assert!(once, "{dialect:?}: step {step}, fold {folds}, told {told} times");
        }
        assert!(folds >= 3, "{dialect:?}: {folds} folds");
    }
}

#[test]
fn no_item_of_responses_comes_back_without_its_reasoning() {
    for beside in [false, true] {
        let live = settings(WINDOW, None);
        let gateway = Conversations::open(if beside { with_model(live) } else { live }).unwrap();
        let mut client = Client::new(Dialect::Responses);
        client.user("Make all parts work.");
        let mut folds = 0;
        for step in 0..150 {
            client.call_with_thought("bash", &format!(r#"{{"command":"make part-{step}"}}"#), &output(step), "gAAAA");
            let (sent, outcome) = turn(&gateway, &client, &provider(1.0), step as i64);
            folds += usize::from(outcome == Outcome::Folded || outcome == Outcome::Checkpoint);
            let body: serde_json::Value = serde_json::from_str(&sent).unwrap();
            let ids: Vec<&str> =
                body["input"].as_array().unwrap().iter().filter_map(|item| item["id"].as_str()).collect();
            for id in &ids {
                let (_, number) = id.split_once('_').unwrap();
                assert!(ids.contains(&format!("rs_{number}").as_str()), "step {step}: {id} without its reasoning");
            }
        }
        assert!(folds >= 3, "{folds} folds");
    }
}

#[test]
fn signed_reasoning_is_whole_or_gone() {
    use foldline_core::policy::{AutoOr, SignedReasoning};
    let mut settings = settings(WINDOW, None);
    settings.policy.compression.signed_reasoning = AutoOr::Fixed(SignedReasoning::PrefixBound);
    for settings in [settings.clone(), with_model(settings)] {
        signed_loop(&Conversations::open(settings).unwrap());
    }
}

/// A loop in which every call has a signature that is bound to everything before it.
fn signed_loop(gateway: &Conversations) {
    let mut client = Client::new(Dialect::Messages);
    client.user("Think hard.");
    let mut tasks: Vec<FoldTask> = Vec::new();
    let mut previous: Vec<[u8; 32]> = Vec::new();
    // For each signature, the beginning of the request that it was made for.
    let mut made_for: Vec<(String, Vec<[u8; 32]>)> = Vec::new();
    let mut changes = 0;
    for step in 0..150 {
        let body = client.body();
        let mut prepared = gateway.prepare(&client.ask(&body, step as i64)).unwrap();
        let usage = provider(1.0).answer(Dialect::Messages, &prepared.body).unwrap();
        gateway.observe(&prepared.turn, usage, Timestamp(step as i64));
        let sent = names(Dialect::Messages, &prepared.body);
        changes += usize::from(sent.get(..previous.len()) != Some(previous.as_slice()));
        let transcript = wire::read(&prepared.body, Some(Dialect::Messages.format())).unwrap();
        for (signature, prefix) in &made_for {
            let Some(index) = (0..transcript.messages.len())
                .find(|&index| transcript.raw(transcript.messages[index].span).contains(&format!("\"{signature}\"")))
            else {
                continue;
            };
            assert_eq!(&sent[..=index], prefix.as_slice(), "step {step}: {signature} stands after another prefix");
        }
        previous = sent.clone();
        // Folds beside the conversation end a turn later, as they do with a model.
        tasks.drain(..).for_each(|task| finish(gateway, task, step as i64));
        tasks.extend(prepared.background.take());
        made_for.push((format!("sig-{}", client.messages.len()), sent));
        client.call_with_thought("bash", "{}", &super::world::output(step), "I think about it.");
    }
    assert!(changes >= 3, "{changes}");
}
