//! Whose conversation it is: never mixed up, whatever clients change about it.

use super::super::*;
use super::world::{Client, MarkStyle, Provider, settings, turn};

#[test]
fn two_hundred_conversations_that_share_a_beginning_never_mix() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Conversations::open(settings(16_000, Some(&folder.path().join("s.db")))).unwrap();
    let provider = Provider { window: 16_000, ratio: 1.0 };
    let mut clients: Vec<Client> = (0..200)
        .map(|number| {
            let mut client = Client::new(Dialect::ALL[number % 3]);
            // The same system prompt and the same first message.
            client.user("Begin.");
            client.assistant("What shall I do?");
            client.user(&format!("Task of conversation canary-{number:03}: rebuild."));
            client
        })
        .collect();
    let mut folded = 0;
    for step in 0..14 {
        for (number, client) in clients.iter_mut().enumerate() {
            let (sent, outcome) = turn(&gateway, client, &provider, step);
            folded += usize::from(outcome == Outcome::Checkpoint);
            for at in sent.match_indices("canary-") {
                let name = &sent[at.0..at.0 + 10];
                assert_eq!(name, format!("canary-{number:03}"));
            }
            let output = format!("canary-{number:03} {}", super::world::output(step as usize * 200 + number));
            client.call("bash", "{}", &output);
        }
    }
    assert!(folded > 200, "{folded}");
}

#[test]
fn strings_and_blocks_and_marks_are_the_same_conversation() {
    let gateway = Conversations::open(settings(32_000, None)).unwrap();
    let provider = Provider { window: 32_000, ratio: 1.0 };
    let mut client = Client::new(Dialect::Messages);
    client.user("Do it.");
    for step in 0..60 {
        let (_, outcome) = turn(&gateway, &client, &provider, step);
        if gateway.totals().sums.folds > 0 && outcome == Outcome::Checkpoint {
            break;
        }
        client.work(step as usize);
    }
    assert!(gateway.totals().sums.folds > 0);
    for marks in [MarkStyle::Moving, MarkStyle::Full, MarkStyle::None] {
        let client = Client { marks, ..client.clone() };
        let body = client.body();
        let prepared = gateway.prepare(&client.ask(&body, 99)).unwrap();
        assert_eq!(prepared.outcome, Outcome::Checkpoint, "{marks:?}");
        assert!(prepared.body.len() < body.len() / 2);
    }
}

#[test]
fn another_credential_shares_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Conversations::open(settings(32_000, Some(&folder.path().join("s.db")))).unwrap();
    let provider = Provider { window: 32_000, ratio: 1.0 };
    let mut client = Client::new(Dialect::Chat);
    client.user("Do it.");
    let mut last = String::new();
    for step in 0..60 {
        last = turn(&gateway, &client, &provider, step).0;
        client.work(step as usize);
    }
    let at = last.find("fl-").expect("a handle stands in the handoff");
    let address: foldline_store::Address = last[at..at + 15].parse().unwrap();
    let own = CredentialId::of_key(&client.key);
    let stranger = CredentialId::of_key("somebody else");
    assert!(matches!(gateway.recall(&own, address, Timestamp(1)), Ok(foldline_store::Recall::Found(_))));
    assert!(matches!(gateway.recall(&stranger, address, Timestamp(1)), Ok(foldline_store::Recall::Unknown)));
    let other = Client { key: "somebody else".to_owned(), ..client.clone() };
    let body = other.body();
    let shared = gateway.prepare(&other.ask(&body, 1)).unwrap();
    assert_ne!(shared.outcome, Outcome::Checkpoint);
    assert_eq!(gateway.sessions(Some(&own), 10).unwrap().len(), 1);
    assert_eq!(gateway.sessions(Some(&stranger), 10).unwrap().len(), 1);
    assert_eq!(gateway.sessions(None, 10).unwrap().len(), 2);
}

#[test]
fn titles_and_compactions_of_the_client_are_left_alone() {
    let gateway = Conversations::open(settings(32_000, None)).unwrap();
    let provider = Provider { window: 32_000, ratio: 1.0 };
    let mut client = Client::new(Dialect::Chat);
    client.session = Some("s-1".to_owned());
    client.user("Do it.");
    for step in 0..17 {
        turn(&gateway, &client, &provider, step);
        client.work(step as usize);
    }
    assert!(gateway.totals().sums.swaps > 0);
    let mut title = Client { session: client.session.clone(), ..Client::new(Dialect::Chat) };
    title.system = "You are a title generator. You output ONLY a thread title.".to_owned();
    title.user("Do it.");
    let body = title.body().replace(r#""tools":[],"#, "");
    let prepared = gateway.prepare(&title.ask(&body, 50)).unwrap();
    assert_eq!((prepared.outcome, prepared.body.as_ref()), (Outcome::Bypassed, body.as_str()));
    gateway.observe(&prepared.turn, ReportedUsage { input: 10, ..ReportedUsage::default() }, Timestamp(50));

    // A compaction that fits goes out as it came; one that does not goes out with what is known.
    let mut compaction = client.clone();
    compaction.user("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.");
    let body = compaction.body();
    let prepared = gateway.prepare(&compaction.ask(&body, 51)).unwrap();
    assert_eq!((prepared.outcome, prepared.body.as_ref()), (Outcome::Bypassed, body.as_str()));
    for step in 17..60 {
        turn(&gateway, &client, &provider, step);
        client.work(step as usize);
    }
    let mut compaction = client.clone();
    compaction.user("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.");
    let body = compaction.body();
    let prepared = gateway.prepare(&compaction.ask(&body, 90)).unwrap();
    assert_eq!(prepared.outcome, Outcome::Checkpoint);
    assert!(provider.answer(Dialect::Chat, &prepared.body).is_ok());
    // The conversation goes on as if neither had been there.
    assert_eq!(gateway.sessions(None, 10).unwrap().len(), 1);
    let (_, outcome) = turn(&gateway, &client, &provider, 91);
    assert_ne!(outcome, Outcome::Unchanged);
}

#[test]
fn a_conversation_that_the_provider_holds_is_left_alone() {
    let gateway = Conversations::open(settings(2_000, None)).unwrap();
    let mut client = Client::new(Dialect::Responses);
    client.user("Do it.");
    for step in 0..20 {
        client.work(step);
    }
    let body = client.body().replacen('{', r#"{"previous_response_id":"resp_1","#, 1);
    let prepared = gateway.prepare(&client.ask(&body, 1)).unwrap();
    assert_eq!((prepared.outcome, prepared.body.as_ref()), (Outcome::Bypassed, body.as_str()));
}

#[test]
fn everything_crosses_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Conversations>();
    crosses::<Prepared<'static>>();
    crosses::<FoldTask>();
    crosses::<Turn>();
    crosses::<PrepareError>();
}
