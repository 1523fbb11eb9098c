//! What every backend of the store has to do. A backend gives a function that makes an empty place and
//! returns how to open it; each check takes a place of its own.

use crate::support::{DAY, NOW, found, new, noise};
use foldline_store::{Address, Expiry, Fault, Limits, NewOriginal, Recall, Store};
use foldline_transcript::recall::Handle;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::time::Duration;

/// Opens a place, as often as one likes.
pub(crate) type Place = Box<dyn Fn(Limits) -> Store>;

/// Two texts whose digests agree in their first twelve digits, found by trying some twenty million.
const TWINS: [&str; 2] = ["original 22277647", "original 553051"];

/// Hands every check to a macro, which makes a test of each.
macro_rules! checks {
    ($make:ident, $place:expr) => {
        $make! { $place;
            what_was_put_comes_back
            any_text_comes_back_byte_for_byte
            a_text_is_stored_once
            a_put_is_all_or_nothing
            the_same_text_twice_in_one_put_is_one_original
            what_was_put_survives_the_store
            one_namespace_never_sees_another
            texts_under_one_handle_are_told_apart
            a_gone_text_and_a_kept_one_under_one_handle_are_told_apart
            an_unused_original_expires_by_age
            use_keeps_an_original_young
            the_least_recently_used_goes_first_when_room_is_needed
            a_put_never_lets_go_of_what_it_was_given
            more_than_the_store_may_hold_is_refused
            an_expired_text_that_comes_back_is_kept_again
            tombstones_are_forgotten_in_the_end
            stats_count_what_is_there
            a_pruned_store_forgets_nothing_within_the_limits
            threads_share_a_store
            a_text_of_fifty_megabytes_comes_back
            a_fold_survives_the_store
            what_is_known_about_windows_survives_the_store
            the_first_checkpoint_of_a_key_stays_unless_it_is_replaced
            checkpoints_of_one_namespace_are_not_those_of_another
            a_fold_that_cannot_be_kept_leaves_nothing
            unused_checkpoints_are_let_go_by_age_and_by_size
            sessions_and_events_come_back_newest_first
            a_fold_is_found_by_its_words_turn_by_turn
            an_output_is_found_by_line
            one_namespace_never_finds_another
            a_session_finds_what_it_removed
            a_session_finds_words_that_are_everywhere
            what_is_gone_is_not_found
            words_are_found_in_any_script
            phrases_beginnings_and_some_words_are_found
            whatever_is_typed_is_no_error
            what_is_everywhere_is_found_newest_first
            signatures_and_payloads_are_not_found
            twins_are_found_under_addresses_of_their_own
            the_index_counts_as_room
            a_client_key_survives_the_store
            a_name_is_that_of_one_key_until_it_is_revoked
            a_key_needs_a_plain_name_and_a_scope
            usage_adds_up_per_key_and_day
            events_of_keys_are_bounded_in_number
            an_export_is_taken_in_whole_and_once
            a_key_in_force_keeps_its_name_from_an_import
        }
    };
}
pub(crate) use checks;

/// Makes a test of every check, for a place that can always be had.
#[allow(unused_macros)]
macro_rules! contract {
    ($place:expr; $($check:ident)*) => {
        $(#[test] fn $check() { $crate::contract::$check($place()); })*
    };
}
#[allow(unused_imports)]
pub(crate) use contract;

mod client_keys;
mod conversations;
#[allow(dead_code, unused_imports, unused_macros)] // Not every backend has objects.
pub(crate) mod objects;
mod searches;
mod transfers;
pub(crate) use client_keys::*;
pub(crate) use conversations::*;
pub(crate) use searches::*;
pub(crate) use transfers::*;

fn put(store: &Store, now: i64, text: &str) {
    store.put(now, "", &[new(text, "")]).unwrap();
}

fn get(store: &Store, now: i64, text: &str) -> Recall {
    store.get(now, "", Handle::of(text)).unwrap()
}

fn is_kept(store: &Store, text: &str) -> bool {
    // Long ago, so that looking is no use.
    matches!(get(store, 0, text), Recall::Found(_))
}

/// Room for a little over `count` texts of noise of 100 KB.
fn room_for(count: u64) -> Limits {
    Limits { max_bytes: count * 100_000, ..Limits::default() }
}

pub(crate) fn what_was_put_comes_back(place: Place) {
    let store = place(Limits::default());
    let stored = store.put(NOW, "", &[new("one", "bash"), new("", ""), new("two\r\n\0é", "read")]).unwrap();
    assert_eq!((stored.added, stored.known, stored.expired), (3, 0, 0));
    let original = found(get(&store, NOW + 5, "one"));
    assert_eq!((original.text.as_str(), original.tool.as_str()), ("one", "bash"));
    assert_eq!((original.created_at, original.used_at), (NOW, NOW));
    assert_eq!(found(get(&store, NOW, "")).text, "");
    assert_eq!(found(get(&store, NOW, "two\r\n\0é")).text, "two\r\n\0é");
    assert_eq!(get(&store, NOW, "three"), Recall::Unknown);
    let all_digits: Address = original.digest.to_string().parse().unwrap();
    assert_eq!(found(store.get(NOW, "", all_digits).unwrap()).text, "one");
}

pub(crate) fn any_text_comes_back_byte_for_byte(place: Place) {
    let store = place(Limits::default());
    let texts = prop::collection::vec((any::<String>(), ".{0,20}", 1_usize..400), 1..4);
    let config = Config { failure_persistence: None, ..Config::with_cases(64) };
    let law = TestRunner::new(config).run(&(texts, any::<String>()), |(texts, namespace)| {
        let texts: Vec<_> = texts.into_iter().map(|(text, tool, times)| (text.repeat(times), tool)).collect();
        let batch: Vec<_> = texts.iter().map(|(text, tool)| new(text, tool)).collect();
        store.put(NOW, &namespace, &batch).unwrap();
        for (text, _) in &texts {
            prop_assert!(&found(store.get(NOW, &namespace, Handle::of(text)).unwrap()).text == text);
        }
        Ok(())
    });
    law.unwrap();
}

pub(crate) fn a_text_is_stored_once(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, "text");
    let before = store.stats().unwrap();
    let again = store.put(NOW + DAY, "", &[new("text", "another tool")]).unwrap();
    assert_eq!((again.added, again.known, again.added_bytes), (0, 1, 0));
    assert_eq!(store.stats().unwrap().originals, before.originals);
    assert_eq!(store.stats().unwrap().stored_bytes, before.stored_bytes);
    let original = found(get(&store, NOW + DAY, "text"));
    assert_eq!((original.created_at, original.used_at), (NOW, NOW + DAY));
}

pub(crate) fn a_put_is_all_or_nothing(place: Place) {
    let store = place(Limits::default());
    let wrong = NewOriginal { handle: Handle::of("something else"), text: "b", tool: "" };
    let error = store.put(NOW, "", &[new("a", ""), wrong]).unwrap_err();
    assert!(matches!(error.fault, Fault::Mismatch(handle) if handle == wrong.handle), "{error}");
    assert_eq!(get(&store, NOW, "a"), Recall::Unknown);
    assert_eq!(store.stats().unwrap().originals, 0);
}

pub(crate) fn the_same_text_twice_in_one_put_is_one_original(place: Place) {
    let store = place(Limits::default());
    let stored = store.put(NOW, "", &[new("a", ""), new("b", ""), new("a", "")]).unwrap();
    assert_eq!((stored.added, stored.known), (2, 1));
    assert_eq!(store.stats().unwrap().originals, 2);
}

pub(crate) fn what_was_put_survives_the_store(place: Place) {
    put(&place(Limits::default()), NOW, "text");
    assert_eq!(found(get(&place(Limits::default()), NOW, "text")).text, "text");
}

pub(crate) fn one_namespace_never_sees_another(place: Place) {
    let store = place(Limits { max_age: Duration::from_secs(24 * 60 * 60), ..Limits::default() });
    let handle = Handle::of("secret of a");
    store.put(NOW, "a", &[new("secret of a", "")]).unwrap();
    for other in ["", "b", "A", "a ", "%", "a\0"] {
        assert_eq!(store.get(NOW, other, handle).unwrap(), Recall::Unknown, "{other:?}");
    }
    // Nor does a put tell whether somebody else has the text, nor a tombstone that somebody had it.
    let stored = store.put(NOW, "b", &[new("secret of a", "")]).unwrap();
    assert_eq!((stored.added, stored.known), (1, 0));
    store.put(NOW + 2 * DAY, "b", &[new("secret of a", "")]).unwrap();
    assert!(matches!(store.get(NOW, "a", handle).unwrap(), Recall::Expired { why: Expiry::Age, .. }));
    assert!(matches!(store.get(NOW, "b", handle).unwrap(), Recall::Found(_)));
    assert_eq!(store.get(NOW, "c", handle).unwrap(), Recall::Unknown);
}

pub(crate) fn texts_under_one_handle_are_told_apart(place: Place) {
    let store = place(Limits::default());
    assert_eq!(Handle::of(TWINS[0]), Handle::of(TWINS[1]));
    put(&store, NOW, TWINS[0]);
    assert_eq!(found(get(&store, NOW, TWINS[1])).text, TWINS[0], "nobody knows of the other one yet");
    assert_eq!(store.put(NOW, "", &[new(TWINS[1], "bash")]).unwrap().added, 1);
    let Recall::Ambiguous(candidates) = get(&store, NOW, TWINS[0]) else { panic!("one of two was chosen") };
    assert_eq!(candidates.len(), 2);
    let mut texts: Vec<_> =
        candidates.iter().map(|candidate| found(store.get(NOW, "", candidate.address).unwrap()).text).collect();
    texts.sort();
    assert_eq!(texts, TWINS);
}

pub(crate) fn a_gone_text_and_a_kept_one_under_one_handle_are_told_apart(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, TWINS[0]);
    put(&store, NOW + 40 * DAY, TWINS[1]);
    let Recall::Ambiguous(candidates) = get(&store, NOW + 40 * DAY, TWINS[0]) else {
        panic!("the wrong text may have been given")
    };
    let answers: Vec<_> = candidates.iter().map(|candidate| store.get(NOW, "", candidate.address).unwrap()).collect();
    assert!(answers.iter().any(|answer| matches!(answer, Recall::Expired { .. })));
    assert!(answers.iter().any(|answer| matches!(answer, Recall::Found(text) if text.text == TWINS[1])));
}

pub(crate) fn an_unused_original_expires_by_age(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, "old");
    put(&store, NOW + 30 * DAY, "younger");
    assert!(is_kept(&store, "old"), "thirty days are allowed");
    let stored = store.put(NOW + 30 * DAY + 1, "", &[new("newest", "")]).unwrap();
    assert_eq!(stored.expired, 1);
    let expired = Recall::Expired { at: NOW + 30 * DAY + 1, why: Expiry::Age };
    assert_eq!(get(&store, NOW + 31 * DAY, "old"), expired);
    assert!(is_kept(&store, "younger"));
    let pruned = store.prune(NOW + 61 * DAY).unwrap();
    assert_eq!((pruned.aged, pruned.oversized), (2, 0));
}

pub(crate) fn use_keeps_an_original_young(place: Place) {
    let store = place(Limits::default());
    for text in ["recalled", "put again", "neither"] {
        put(&store, NOW, text);
    }
    found(get(&store, NOW + 20 * DAY, "recalled"));
    put(&store, NOW + 20 * DAY, "put again");
    // A clock that goes back makes nothing older.
    found(get(&store, NOW + DAY, "recalled"));
    put(&store, NOW + DAY, "put again");
    store.prune(NOW + 40 * DAY).unwrap();
    assert!(is_kept(&store, "recalled"));
    assert!(is_kept(&store, "put again"));
    assert!(!is_kept(&store, "neither"));
}

pub(crate) fn the_least_recently_used_goes_first_when_room_is_needed(place: Place) {
    let store = place(room_for(3));
    let texts: Vec<_> = (0..4).map(|seed| noise(seed, 100_000)).collect();
    for (text, day) in texts.iter().zip(0..3) {
        put(&store, NOW + day * DAY, text);
    }
    found(get(&store, NOW + 4 * DAY, &texts[0]));
    let stored = store.put(NOW + 5 * DAY, "", &[new(&texts[3], "")]).unwrap();
    assert_eq!(stored.expired, 1);
    let kept: Vec<_> = texts.iter().map(|text| is_kept(&store, text)).collect();
    assert_eq!(kept, [true, false, true, true]);
    let expired = Recall::Expired { at: NOW + 5 * DAY, why: Expiry::Size };
    assert_eq!(get(&store, NOW + 5 * DAY, &texts[1]), expired);
    assert!(store.stats().unwrap().stored_bytes <= 300_000);

    // Smaller limits take effect at the next occasion.
    drop(store);
    let store = place(room_for(1));
    assert_eq!(store.prune(NOW + 6 * DAY).unwrap().oversized, 2);
    assert!(store.stats().unwrap().stored_bytes <= 100_000);
    assert!(is_kept(&store, &texts[3]));
}

pub(crate) fn a_put_never_lets_go_of_what_it_was_given(place: Place) {
    let store = place(room_for(3));
    let texts: Vec<_> = (0..4).map(|seed| noise(seed, 100_000)).collect();
    put(&store, NOW, &texts[0]);
    put(&store, NOW + 1, &texts[1]);
    put(&store, NOW + 2, &texts[2]);
    // The oldest is in this put, too, and used so short a time ago that no use is noted.
    store.put(NOW + 3, "", &[new(&texts[0], ""), new(&texts[3], "")]).unwrap();
    let kept: Vec<_> = texts.iter().map(|text| is_kept(&store, text)).collect();
    assert_eq!(kept, [true, false, true, true]);
}

pub(crate) fn more_than_the_store_may_hold_is_refused(place: Place) {
    let store = place(room_for(2));
    put(&store, NOW, "kept");
    let texts: Vec<_> = (0..3).map(|seed| noise(seed, 100_000)).collect();
    let batch: Vec<_> = texts.iter().map(|text| new(text, "")).collect();
    let error = store.put(NOW, "", &batch).unwrap_err();
    assert!(matches!(error.fault, Fault::TooLarge { limit: 200_000, .. }), "{error}");
    assert!(error.to_string().contains("store.max_bytes"), "{error}");
    assert!(is_kept(&store, "kept"), "nothing was given up for it");
    assert_eq!(store.stats().unwrap().originals, 1);
}

pub(crate) fn an_expired_text_that_comes_back_is_kept_again(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, "text");
    store.prune(NOW + 31 * DAY).unwrap();
    assert_eq!(store.stats().unwrap().tombstones, 1);
    put(&store, NOW + 32 * DAY, "text");
    assert_eq!(found(get(&store, NOW + 32 * DAY, "text")).created_at, NOW + 32 * DAY);
    assert_eq!(store.stats().unwrap().tombstones, 0);
}

pub(crate) fn tombstones_are_forgotten_in_the_end(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, "text");
    store.prune(NOW + 31 * DAY).unwrap();
    assert_eq!(store.prune(NOW + 121 * DAY).unwrap().forgotten, 0);
    assert!(matches!(get(&store, NOW, "text"), Recall::Expired { .. }));
    assert_eq!(store.prune(NOW + 122 * DAY).unwrap().forgotten, 1);
    assert_eq!(get(&store, NOW, "text"), Recall::Unknown);
    assert_eq!(store.stats().unwrap().tombstones, 0);
}

pub(crate) fn stats_count_what_is_there(place: Place) {
    let store = place(Limits::default());
    let zero = store.stats().unwrap();
    assert_eq!((zero.originals, zero.text_bytes, zero.stored_bytes, zero.tombstones), (0, 0, 0, 0));
    let long = "line of a log\n".repeat(10_000);
    let stored = store.put(NOW, "a", &[new(&long, ""), new("b", "")]).unwrap();
    put(&store, NOW, "b");
    let stats = store.stats().unwrap();
    assert_eq!((stats.originals, stats.text_bytes), (3, long.len() as u64 + 2));
    assert!(stats.stored_bytes > stored.added_bytes && stats.stored_bytes < 5_000, "{stats:?}");
    assert!(stats.file_bytes > stats.stored_bytes);
}

pub(crate) fn a_pruned_store_forgets_nothing_within_the_limits(place: Place) {
    let store = place(Limits::default());
    put(&store, NOW, "text");
    let before = store.stats().unwrap();
    assert_eq!(store.prune(NOW).unwrap(), foldline_store::Pruned::default());
    assert_eq!(store.stats().unwrap().originals, before.originals);
    assert_eq!(store.stats().unwrap().stored_bytes, before.stored_bytes);
}

pub(crate) fn threads_share_a_store(place: Place) {
    let store = place(Limits::default());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for turn in 0..20 {
                    let text = format!("text {turn} of thread {thread}");
                    put(store, NOW, &text);
                    assert_eq!(found(get(store, NOW, &text)).text, text);
                }
            });
        }
    });
    assert_eq!(store.stats().unwrap().originals, 80);
}

pub(crate) fn a_text_of_fifty_megabytes_comes_back(place: Place) {
    let store = place(Limits::default());
    let mut text = noise(7, 5_000_000);
    text.push_str(&"a line that comes again and again\n".repeat(45_000_000 / 34));
    put(&store, NOW, &text);
    assert!(found(get(&store, NOW, &text)).text == text);
}
