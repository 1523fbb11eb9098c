//! Client keys, what they used, and what happened to them.

use super::Place;
use crate::support::{DAY, NOW};
use foldline_store::{
    ClientKey, Key, KeyDay, KeyEvent, KeyEventKind, KeyRefused, KeyScope, KeyTerms, KeyUsage, Limits,
};

fn terms() -> KeyTerms {
    KeyTerms { scopes: [KeyScope::Generate, KeyScope::Recall].into(), ..KeyTerms::default() }
}

const ONE: Key = Key([1; 32]);
const TWO: Key = Key([2; 32]);

pub(crate) fn a_client_key_survives_the_store(place: Place) {
    let terms = KeyTerms {
        scopes: [KeyScope::Operator].into(),
        upstream: vec![("openai".to_owned(), "OPENAI_API_KEY".to_owned())],
        expires_at: Some(NOW + DAY),
        tokens_per_day: Some(1_000_000),
        dollars_per_day: Some(2.5),
    };
    place(Limits::default()).add_client_key(NOW, ONE, "build", terms.clone()).unwrap().unwrap();
    let kept = place(Limits::default()).client_keys().unwrap();
    let name = "build".to_owned();
    assert_eq!(kept, [ClientKey { digest: ONE, name, terms, created_at: NOW, revoked_at: None, used_at: None }]);
}

pub(crate) fn a_name_is_that_of_one_key_until_it_is_revoked(place: Place) {
    let store = place(Limits::default());
    store.add_client_key(NOW, ONE, "build", terms()).unwrap().unwrap();
    assert_eq!(store.add_client_key(NOW, TWO, "build", terms()).unwrap(), Err(KeyRefused::Taken));
    assert!(store.revoke_client_key(NOW + 1, "build").unwrap());
    assert!(!store.revoke_client_key(NOW + 2, "build").unwrap(), "it is revoked once");
    assert!(!store.revoke_client_key(NOW + 2, "nobody").unwrap());
    store.add_client_key(NOW + 3, TWO, "build", terms()).unwrap().unwrap();
    let keys = store.client_keys().unwrap();
    let told: Vec<_> = keys.iter().map(|key| (key.digest, key.revoked_at)).collect();
    assert_eq!(told, [(TWO, None), (ONE, Some(NOW + 1))], "the newest first, the revoked one remembered");
    let events = store.key_events(10).unwrap();
    let told: Vec<_> = events.iter().map(|event| (event.at, event.name.as_str(), event.kind)).collect();
    let (added, revoked) = (KeyEventKind::Added, KeyEventKind::Revoked);
    assert_eq!(told, [(NOW + 3, "build", added), (NOW + 1, "build", revoked), (NOW, "build", added)]);
}

pub(crate) fn a_key_needs_a_plain_name_and_a_scope(place: Place) {
    let store = place(Limits::default());
    for name in ["", "a b", "a\nb", "a=b", "é", &"x".repeat(65)] {
        assert_eq!(store.add_client_key(NOW, ONE, name, terms()).unwrap(), Err(KeyRefused::Name), "{name}");
    }
    assert_eq!(store.add_client_key(NOW, ONE, "a", KeyTerms::default()).unwrap(), Err(KeyRefused::NoScope));
    assert_eq!(store.client_keys().unwrap(), []);
    assert_eq!(store.key_events(10).unwrap(), []);
}

pub(crate) fn usage_adds_up_per_key_and_day(place: Place) {
    let (store, other) = (place(Limits::default()), place(Limits::default()));
    store.add_client_key(NOW, ONE, "one", terms()).unwrap().unwrap();
    store.add_client_key(NOW, TWO, "two", terms()).unwrap().unwrap();
    let today = KeyDay::of(NOW);
    let usage = KeyUsage { requests: 1, tokens_in: 100, tokens_out: 10, dollars: 0.25 };
    let day = |digest, day| KeyDay { digest, day, usage };
    store.book_keys(NOW + 5, &[day(TWO, today), day(ONE, today)], &[]).unwrap();
    // Another node, and the day after.
    other.book_keys(NOW + 6, &[day(ONE, today), day(ONE, today + 1)], &[]).unwrap();
    let twice = KeyUsage { requests: 2, tokens_in: 200, tokens_out: 20, dollars: 0.5 };
    let expected = [KeyDay { digest: ONE, day: today, usage: twice }, day(TWO, today), day(ONE, today + 1)];
    assert_eq!(store.key_usage(today).unwrap(), expected);
    assert_eq!(store.key_usage(today + 1).unwrap(), [day(ONE, today + 1)]);
    let used: Vec<_> = store.client_keys().unwrap().iter().map(|key| (key.digest, key.used_at)).collect();
    assert_eq!(used, [(ONE, Some(NOW + 6)), (TWO, Some(NOW + 5))]);
    // What is too old to matter goes.
    store.book_keys(NOW + 402 * DAY, &[], &[]).unwrap();
    assert_eq!(store.key_usage(0).unwrap(), []);
}

pub(crate) fn events_of_keys_are_bounded_in_number(place: Place) {
    let store = place(Limits::default());
    let event = |at| KeyEvent { at, name: "one".to_owned(), kind: KeyEventKind::RefusedBudget };
    let many: Vec<KeyEvent> = (0..10_010).map(event).collect();
    store.book_keys(NOW, &[], &many).unwrap();
    let kept = store.key_events(usize::MAX).unwrap();
    assert_eq!((kept.len(), kept[0].at), (10_000, 10_009), "the latest stay, newest first");
    assert_eq!(store.key_events(2).unwrap(), [event(10_009), event(10_008)]);
}
