//! Checkpoints, sessions and events.

use super::{Place, room_for};
use crate::support::{DAY, NOW, found, new, noise};
use foldline_store::{
    EventRow, Fault, Kept, Key, Limits, NewCheckpoint, NewFold, Precedence, SessionRow, Store, WindowRow,
};
use foldline_transcript::recall::Handle;

const ROOT: Key = Key([1; 32]);

fn key(number: u8) -> Key {
    Key([number; 32])
}

fn session(id: &str, last_at: i64) -> SessionRow {
    SessionRow { id: id.to_owned(), namespace: "a".to_owned(), last_at, record: format!("{{\"at\":{last_at}}}") }
}

/// Keeps a checkpoint of namespace `a`, with what was removed for it.
fn keep(store: &Store, now: i64, number: u8, text: &str, removed: &[&str], precedence: Precedence) -> Kept {
    let originals: Vec<_> = removed.iter().map(|text| new(text, "bash")).collect();
    let position = number.into();
    let checkpoint = NewCheckpoint { key: key(number), root: ROOT, position, record: "{\"fact\":1}", text };
    let fold = NewFold { namespace: "a", originals: &originals, checkpoint, precedence, session: &session("s", now) };
    store.keep_fold(now, &fold).unwrap()
}

fn text(store: &Store, number: u8) -> Option<String> {
    // Long ago, so that looking is no use.
    store.checkpoint_text(0, "a", &key(number)).unwrap()
}

pub(crate) fn what_is_known_about_windows_survives_the_store(place: Place) {
    let row = |namespace: &str, record: Option<&str>| WindowRow {
        namespace: namespace.to_owned(),
        model: "m".to_owned(),
        record: record.map(str::to_owned),
    };
    let first = place(Limits::default());
    first.write_windows(NOW, &[row("a", Some("{}")), row("b", Some("{\"named\":1}"))]).unwrap();
    first.write_windows(NOW, &[row("a", Some("{\"named\":2}")), row("b", None)]).unwrap();
    let store = place(Limits::default());
    assert_eq!(store.window("a", "m").unwrap().as_deref(), Some("{\"named\":2}"));
    assert_eq!(store.window("b", "m").unwrap(), None, "it turned out wrong");
    assert_eq!(store.window("a", "other").unwrap(), None);
}

pub(crate) fn a_fold_survives_the_store(place: Place) {
    let long = noise(3, 700_000);
    assert_eq!(keep(&place(Limits::default()), NOW, 7, &long, &["removed"], Precedence::First), Kept::Written);
    let store = place(Limits::default());
    assert!(text(&store, 7).as_deref() == Some(long.as_str()));
    let [entry] = store.checkpoints("a", &ROOT, 10).unwrap().try_into().unwrap();
    assert_eq!((entry.key, entry.position, entry.record.as_str()), (key(7), 7, "{\"fact\":1}"));
    assert_eq!(found(store.get(NOW, "a", Handle::of("removed")).unwrap()).text, "removed");
    assert_eq!(store.session("s").unwrap(), Some(session("s", NOW)));
}

pub(crate) fn the_first_checkpoint_of_a_key_stays_unless_it_is_replaced(place: Place) {
    let store = place(Limits::default());
    keep(&store, NOW, 7, "one", &[], Precedence::First);
    assert_eq!(keep(&store, NOW, 7, "two", &["of two"], Precedence::First), Kept::Known);
    assert_eq!(text(&store, 7).as_deref(), Some("one"));
    assert_eq!(store.stats().unwrap().originals, 0, "nothing of a fold that was not kept");
    assert_eq!(keep(&store, NOW, 7, "three", &[], Precedence::Latest), Kept::Written);
    assert_eq!(text(&store, 7).as_deref(), Some("three"));
    assert_eq!(store.checkpoints("a", &ROOT, 10).unwrap().len(), 1);
}

pub(crate) fn checkpoints_of_one_namespace_are_not_those_of_another(place: Place) {
    let store = place(Limits::default());
    keep(&store, NOW, 7, "one", &[], Precedence::First);
    assert_eq!(store.checkpoint_text(NOW, "b", &key(7)).unwrap(), None);
    assert!(store.checkpoints("b", &ROOT, 10).unwrap().is_empty());
    assert!(store.checkpoints("a", &key(7), 10).unwrap().is_empty(), "another root");
}

pub(crate) fn a_fold_that_cannot_be_kept_leaves_nothing(place: Place) {
    let store = place(room_for(1));
    let large = noise(5, 400_000);
    let originals = [new(&large, "bash")];
    let checkpoint = NewCheckpoint { key: key(7), root: ROOT, position: 7, record: "{}", text: "one" };
    let row = session("s", NOW);
    let precedence = Precedence::First;
    let fold = NewFold { namespace: "a", originals: &originals, checkpoint, precedence, session: &row };
    assert!(matches!(store.keep_fold(NOW, &fold).unwrap_err().fault, Fault::TooLarge { .. }));
    assert_eq!((text(&store, 7), store.session("s").unwrap()), (None, None));
}

pub(crate) fn unused_checkpoints_are_let_go_by_age_and_by_size(place: Place) {
    let store = place(Limits { max_bytes: 1_000_000, ..Limits::default() });
    keep(&store, NOW, 2, "old", &[], Precedence::First);
    keep(&store, NOW, 3, "old, but used", &[], Precedence::First);
    store.checkpoint_text(NOW + 20 * DAY, "a", &key(3)).unwrap();
    keep(&store, NOW + 31 * DAY, 4, "young", &[], Precedence::First);
    assert_eq!([2, 3, 4].map(|number| text(&store, number).is_some()), [false, true, true]);
    // A quarter of the room is for checkpoints.
    for number in 10..16 {
        keep(
            &store,
            NOW + 32 * DAY + i64::from(number),
            number,
            &noise(number.into(), 100_000),
            &[],
            Precedence::First,
        );
    }
    assert_eq!([3, 4, 10, 15].map(|number| text(&store, number).is_some()), [false, false, false, true]);
}

pub(crate) fn sessions_and_events_come_back_newest_first(place: Place) {
    let store = place(Limits::default());
    let event = |at: i64| EventRow { session: "s1".to_owned(), at, record: format!("{{\"n\":{at}}}") };
    let other = SessionRow { namespace: "b".to_owned(), ..session("s3", NOW + 3) };
    let rows = [session("s1", NOW + 1), session("s2", NOW + 2), other];
    store.write_sessions(NOW, &rows, &[event(NOW), event(NOW + 1)]).unwrap();
    store.write_sessions(NOW, &[session("s1", NOW + 9)], &[event(NOW + 9)]).unwrap();
    let ids = |namespace| -> Vec<String> {
        store.sessions(namespace, 10).unwrap().into_iter().map(|session| session.id).collect()
    };
    assert_eq!(ids(None), ["s1", "s3", "s2"]);
    assert_eq!(ids(Some("a")), ["s1", "s2"]);
    let times: Vec<i64> = store.events("s1", 2).unwrap().into_iter().map(|event| event.at).collect();
    assert_eq!(times, [NOW + 9, NOW + 1]);
    store.write_sessions(NOW + 31 * DAY, &[session("s4", NOW + 31 * DAY)], &[]).unwrap();
    assert_eq!(ids(None), ["s4"]);
    assert!(store.events("s1", 9).unwrap().is_empty());
}
