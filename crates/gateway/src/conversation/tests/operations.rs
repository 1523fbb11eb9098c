//! What people set and see: refusals, shadow mode, holdouts, bypasses, manual folds, accounts.

use super::super::*;
use super::world::{Client, Provider, settings, turn, with_model};
use foldline_core::summary::{Failure, FailureClass, Summary};

const PROVIDER: Provider = Provider { window: 32_000, ratio: 1.0 };

fn working(dialect: Dialect, steps: usize) -> Client {
    let mut client = Client::new(dialect);
    client.user("Do it.");
    for step in 0..steps {
        client.work(step);
    }
    client
}

#[test]
fn a_refused_request_is_folded_harder_until_it_fits() {
    for dialect in Dialect::ALL {
        // The gateway believes in 200,000 tokens; the server has 16,384, and counts more than we do.
        let gateway = Conversations::open(settings(200_000, None)).unwrap();
        let server = Provider { window: 16_384, ratio: 1.4 };
        let mut client = working(dialect, 45);
        let (sent, outcome) = turn(&gateway, &client, &server, 1);
        assert_eq!(outcome, Outcome::Folded, "{dialect:?}");
        assert!(sent.len() < client.body().len());
        assert_eq!(gateway.totals().sums.recoveries, 1, "{dialect:?}: the first attempt fits");
        // What was learnt stays: the same conversation and others of that model are not refused again.
        for step in 45..90 {
            client.work(step);
            turn(&gateway, &client, &server, step as i64);
        }
        turn(&gateway, &working(dialect, 40), &server, 100);
        assert_eq!(gateway.totals().sums.recoveries, 1, "{dialect:?}");
    }
}

#[test]
fn a_refusal_without_numbers_or_by_bytes_shrinks_too() {
    for refusal in [
        SizeRefusal { kind: RefusalKind::Window, asked: None, limit: None },
        SizeRefusal { kind: RefusalKind::Bytes, asked: None, limit: None },
        SizeRefusal { kind: RefusalKind::Rate, asked: Some(30_000), limit: Some(10_000) },
    ] {
        let gateway = Conversations::open(settings(200_000, None)).unwrap();
        let client = working(Dialect::Messages, 45);
        let body = client.body();
        let ask = client.ask(&body, 1);
        let prepared = gateway.prepare(&ask).unwrap();
        assert_eq!(prepared.outcome, Outcome::Unchanged);
        let harder = gateway.overflow(&ask, &prepared.turn, &refusal, 1).unwrap().unwrap();
        assert!(harder.body.len() * 10 < body.len() * 8, "{refusal:?}: {} of {}", harder.body.len(), body.len());
        let hardest = gateway.overflow(&ask, &harder.turn, &refusal, 2).unwrap().unwrap();
        assert!(hardest.body.len() < harder.body.len(), "{refusal:?}");
        assert!(PROVIDER.answer(Dialect::Messages, &hardest.body).is_ok());
        assert!(gateway.overflow(&ask, &hardest.turn, &refusal, 3).unwrap().is_none(), "at most twice");
        // The next turn goes on from there.
        let again = gateway.prepare(&ask).unwrap();
        assert_eq!((again.outcome, &again.body), (Outcome::Checkpoint, &hardest.body));
    }
}

#[test]
fn a_checkpoint_that_was_rejected_is_dropped_and_folded_anew() {
    for dialect in Dialect::ALL {
        let folder = tempfile::tempdir().unwrap();
        let gateway = Conversations::open(settings(32_000, Some(&folder.path().join("s.db")))).unwrap();
        let mut client = working(dialect, 22);
        let body = client.body();
        let before = client.clone();
        let rejected = gateway.prepare(&before.ask(&body, 1)).unwrap();
        assert!(rejected.turn.checkpoint.is_some(), "{dialect:?}: {:?}", rejected.outcome);
        gateway.reject(&rejected.turn);
        let (rejected, whole) = (rejected.turn.checkpoint.clone(), rejected.turn.as_it_came());
        gateway.observe(&whole, PROVIDER.answer(dialect, &body).unwrap(), Timestamp(2));
        client.work(22);
        let body = client.body();
        let before = client.clone();
        let anew = gateway.prepare(&before.ask(&body, 3)).unwrap();
        assert!(matches!(anew.outcome, Outcome::Folded | Outcome::Pruned), "{dialect:?}: {:?}", anew.outcome);
        assert!(anew.turn.checkpoint.is_some() && anew.turn.checkpoint != rejected, "{dialect:?}: not tried again");
        let taken = anew.turn.checkpoint.clone();
        gateway.observe(&anew.turn, PROVIDER.answer(dialect, &anew.body).unwrap(), Timestamp(4));
        client.work(23);
        let body = client.body();
        let next = gateway.prepare(&client.ask(&body, 5)).unwrap();
        assert_eq!((next.outcome, next.turn.checkpoint.clone()), (Outcome::Checkpoint, taken), "{dialect:?}");
    }
}

#[test]
fn what_went_out_as_it_came_can_still_be_folded_harder() {
    let gateway = Conversations::open(settings(32_000, None)).unwrap();
    let client = working(Dialect::Responses, 22);
    let body = client.body();
    let ask = client.ask(&body, 1);
    let rejected = gateway.prepare(&ask).unwrap();
    gateway.reject(&rejected.turn);
    let refusal = SizeRefusal { kind: RefusalKind::Window, asked: Some(24_000), limit: Some(16_000) };
    let harder = gateway.overflow(&ask, &rejected.turn.as_it_came(), &refusal, 1).unwrap().unwrap();
    assert!(harder.body.len() < body.len() && harder.body != rejected.body);
}

#[test]
fn what_cannot_shrink_is_left_to_the_provider() {
    let gateway = Conversations::open(settings(200_000, None)).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user(&"One long request. ".repeat(5_000));
    let body = client.body();
    let ask = client.ask(&body, 1);
    let prepared = gateway.prepare(&ask).unwrap();
    let refusal = SizeRefusal { kind: RefusalKind::Window, asked: Some(20_000), limit: Some(8_000) };
    assert!(gateway.overflow(&ask, &prepared.turn, &refusal, 1).unwrap().is_none());
}

#[test]
fn shadow_mode_decides_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let live = settings(32_000, Some(&path));
    let shadow = ConversationSettings { mode: Mode::Shadow, ..live.clone() };
    let gateway = Conversations::open(shadow).unwrap();
    let provider = Provider { window: 1_000_000, ratio: 1.0 };
    let mut client = Client::new(Dialect::Messages);
    client.user("Do it.");
    let mut would_save = 0;
    for step in 0..60 {
        client.work(step);
        let body = client.body();
        let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
        assert_eq!((prepared.outcome, prepared.body.as_ref()), (Outcome::Shadow, body.as_str()));
        would_save += prepared.tokens.0 - prepared.tokens.1;
        gateway.observe(&prepared.turn, provider.answer(Dialect::Messages, &body).unwrap(), Timestamp(1));
        if let Some(task) = prepared.background {
            super::world::finish(&gateway, task, 1);
        }
    }
    assert!(would_save > 10_000, "{would_save}");
    // Nothing of it outlives the mode.
    gateway.reload(live);
    let body = client.body();
    let prepared = gateway.prepare(&client.ask(&body, 2)).unwrap();
    assert_eq!(prepared.outcome, Outcome::Folded, "a fold of its own, none that was only thought of");
}

#[test]
fn some_are_left_alone_on_purpose() {
    let mut with = settings(32_000, None);
    with.bypass_models = vec!["cheap-*".to_owned()];
    with.bypass_tools = vec!["never".to_owned()];
    let gateway = Conversations::open(with.clone()).unwrap();
    let client = working(Dialect::Chat, 60);
    let body = client.body();
    let outcome = |ask: &IncomingTurn<'_>| {
        let prepared = gateway.prepare(ask).unwrap();
        let is_untouched = prepared.body == ask.body;
        (prepared.outcome, is_untouched)
    };
    assert_eq!(outcome(&client.ask(&body, 1)), (Outcome::Folded, false));
    assert_eq!(outcome(&IncomingTurn { bypass: Bypass::Wanted, ..client.ask(&body, 1) }), (Outcome::Bypassed, true));
    let cheap = body.replacen("test-model", "cheap-1", 1);
    assert_eq!(outcome(&client.ask(&cheap, 1)), (Outcome::Bypassed, true));
    let tool = body.replacen(r#""tools":[]"#, r#""tools":[{"type":"function","function":{"name":"never"}}]"#, 1);
    assert_eq!(outcome(&client.ask(&tool, 1)), (Outcome::Bypassed, true));
    with.policy.compression.enabled = false;
    gateway.reload(with);
    assert_eq!(outcome(&client.ask(&body, 1)), (Outcome::Unchanged, true));
}

#[test]
fn a_holdout_is_a_share_of_sessions_and_always_the_same() {
    let mut with = settings(8_000, None);
    with.holdout = 0.25;
    let gateway = Conversations::open(with).unwrap();
    let client = working(Dialect::Chat, 20);
    let body = client.body();
    let mut held = 0;
    for number in 0..200 {
        let session = format!("session {number}");
        let ask = IncomingTurn { session_hint: Some(&session), ..client.ask(&body, 1) };
        let outcomes = [1, 2].map(|_| gateway.prepare(&ask).unwrap().outcome == Outcome::Holdout);
        assert_eq!(outcomes[0], outcomes[1]);
        held += usize::from(outcomes[0]);
    }
    assert!((30..70).contains(&held), "{held}");
}

#[test]
fn a_person_can_ask_for_a_fold() {
    let gateway = Conversations::open(settings(200_000, None)).unwrap();
    let mut client = working(Dialect::Responses, 30);
    let body = client.body();
    let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
    assert_eq!(prepared.outcome, Outcome::Unchanged);
    assert!(!gateway.compact_now(&SessionId::parse("fs-0000000000000000").unwrap(), None).unwrap());
    assert!(gateway.compact_now(&prepared.session, Some("part 7")).unwrap());
    let (_, outcome) = turn(&gateway, &client, &PROVIDER, 2);
    assert_eq!(outcome, Outcome::Folded);
    client.work(31);
    assert_eq!(turn(&gateway, &client, &PROVIDER, 3).1, Outcome::Checkpoint, "once");
}

#[test]
fn a_model_writes_beside_the_conversation() {
    let gateway = Conversations::open(with_model(settings(32_000, None))).unwrap();
    let mut client = Client::new(Dialect::Messages);
    client.user("Do it.");
    let mut asked = 0;
    let mut sent = String::new();
    for step in 0..60 {
        client.work(step);
        let body = client.body();
        let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
        assert_ne!(prepared.outcome, Outcome::Folded, "no turn waits");
        gateway.observe(&prepared.turn, PROVIDER.answer(Dialect::Messages, &prepared.body).unwrap(), Timestamp(1));
        sent = prepared.body.into_owned();
        let Some(mut task) = prepared.background else { continue };
        let Planned::NeedsSummary(job) = gateway.plan(&mut task).unwrap() else {
            // Old outputs alone made enough room.
            gateway.run(task, None, Timestamp(1)).unwrap();
            continue;
        };
        asked += 1;
        let text = "## Goal\n- Rebuild the observatory dome.\n## Key Decisions\n- Brass gears, because steel rusts.";
        let mut writer = job.start();
        while writer.ask().is_some() {
            writer.reply(text).unwrap();
        }
        let summary = Summary::Written(writer.finish().unwrap());
        gateway.run(task, Some(summary), Timestamp(1)).unwrap();
    }
    assert!(asked >= 2, "{asked}");
    assert!(sent.contains("Brass gears, because steel rusts."));
}

#[test]
fn a_conversation_that_outruns_its_model_is_folded_without_it() {
    let gateway = Conversations::open(with_model(settings(32_000, None))).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    let mut waiting = None;
    let mut folded_at = None;
    for step in 0..60 {
        client.work(step);
        let body = client.body();
        let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
        gateway.observe(&prepared.turn, PROVIDER.answer(Dialect::Chat, &prepared.body).unwrap(), Timestamp(1));
        waiting = waiting.or(prepared.background);
        if prepared.outcome == Outcome::Folded {
            folded_at = Some(prepared.tokens.0);
            break;
        }
    }
    assert!(folded_at.is_some_and(|tokens| tokens >= 27_000), "at the safety net: {folded_at:?}");
    // The model answers at last; its fold is about a conversation that is gone.
    let folds = gateway.totals().sums.folds;
    gateway
        .run(waiting.unwrap(), Some(Summary::Failed(Failure::new(FailureClass::Timeout, "slow"))), Timestamp(2))
        .unwrap();
    assert_eq!(gateway.totals().sums.folds, folds);
}

#[test]
fn pressure_is_said_once_and_again_after_it_fell() {
    let gateway = Conversations::open(settings(32_000, None)).unwrap();
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    let mut warnings = 0;
    for step in 0..100 {
        client.work(step);
        let body = client.body();
        let mut prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
        warnings += prepared.warnings.iter().filter(|warning| warning.contains("context is at")).count();
        gateway.observe(&prepared.turn, PROVIDER.answer(Dialect::Chat, &prepared.body).unwrap(), Timestamp(1));
        if let Some(task) = prepared.background.take() {
            super::world::finish(&gateway, task, 1);
        }
    }
    let sums = gateway.totals().sums;
    let folds = (sums.folds + sums.prunes) as usize;
    assert!(warnings >= 2 && warnings <= folds + 1, "{warnings} warnings, {folds} folds");
}

#[test]
fn accounts_are_kept_per_session_and_survive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    let mut client = Client::new(Dialect::Messages);
    client.model = "claude-sonnet-4-5".to_owned();
    client.session = Some("my session".to_owned());
    client.user("Do it.");
    let steps = 60;
    {
        let gateway = Conversations::open(settings(32_000, Some(&path))).unwrap();
        for step in 0..steps {
            turn(&gateway, &client, &PROVIDER, 1_000 + step as i64);
            client.work(step);
        }
    }
    let gateway = Conversations::open(settings(32_000, Some(&path))).unwrap();
    let [session] = gateway.sessions(None, 10).unwrap().try_into().unwrap();
    assert_eq!((session.label.as_str(), session.model.as_str()), ("my session", "claude-sonnet-4-5"));
    let sums = session.sums;
    assert_eq!(sums.requests, steps as u64);
    assert!(sums.folds >= 2 && sums.tokens_after < sums.tokens_before, "{sums:?}");
    assert!(sums.charged > 0.0 && sums.uncompacted > sums.charged, "{sums:?}");
    let (_, events) = gateway.session(&session.id, 20).unwrap().unwrap();
    assert_eq!(events.len(), 20);
    assert!(events.windows(2).all(|pair| pair[0].at >= pair[1].at));
    assert!(events.iter().any(|event| event.outcome == "checkpoint"));
}
