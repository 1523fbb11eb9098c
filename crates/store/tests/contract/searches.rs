//! Searching by words.

use super::{Place, TWINS};
use crate::support::{DAY, NOW, new, noise};
use foldline_core::reading::{Findings, Fit, Reach, Site, Way};
use foldline_store::{
    Key, Limits, NewCheckpoint, NewFold, NewOriginal, Precedence, Query, Recall, Search, SessionRow, Store, Whose,
};
use foldline_transcript::recall::Handle;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const FOLD: &str = r#"{"role":"user","content":"Why does the importer hang?"},{"role":"assistant","content":[{"type":"text","text":"I look at the lock."},{"type":"tool_use","id":"t1","name":"Grep","input":{"pattern":"busy_timeout"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"src/a.rs:1: x\nsrc/store.rs:40: busy_timeout(wait)\nsrc/z.rs:3: y"}]}"#;

fn find(store: &Store, namespace: &str, words: &str) -> Findings {
    let query = Query::parse(words).unwrap();
    let search = Search { query: &query, whose: Whose::Namespace(namespace), session: None, limit: 10 };
    store.search(&search, &Way::of(Reach::Command)).unwrap()
}

fn texts(findings: &Findings) -> Vec<&str> {
    findings.hits.iter().map(|hit| hit.text.as_str()).collect()
}

pub(crate) fn a_fold_is_found_by_its_words_turn_by_turn(place: Place) {
    let store = place(Limits::default());
    store.put(NOW, "a", &[new(FOLD, "")]).unwrap();
    let found = find(&store, "a", "importer hang");
    let handle = Handle::of(FOLD).to_string();
    let [hit] = found.hits.as_slice() else { panic!("{found:?}") };
    assert_eq!((hit.handle.as_str(), hit.turn, hit.role, hit.line), (handle.as_str(), Some(1), "user", 1));
    assert_eq!((hit.text.as_str(), hit.removed_at), ("Why does the importer hang?", NOW));
    assert_eq!(hit.show, format!("foldline recall {handle} --turn 1"));
    let found = find(&store, "a", "store.rs busy_timeout");
    assert_eq!((found.hits[0].turn, found.hits[0].line), (Some(3), 3));
    assert_eq!(found.hits[0].text, "src/store.rs:40: busy_timeout(wait)");
    assert_eq!(find(&store, "a", "calls Grep").hits[0].turn, Some(2));
    assert!(find(&store, "a", "nowhere").hits.is_empty());
}

pub(crate) fn an_output_is_found_by_line(place: Place) {
    let store = place(Limits::default());
    let output: String = (1..=5_000).map(|n| format!("request {n} took {} ms\n", n * 7)).collect();
    store.put(NOW, "", &[new(&output, "bash")]).unwrap();
    let found = find(&store, "", "\"request 4321\"");
    assert_eq!((found.hits.len(), found.hits[0].line, found.hits[0].lines), (1, 4_321, 5_000));
    let told = found.told(|_| String::new());
    assert_eq!(
        told,
        format!(
            "{handle} of bash, line 4321\n  request 4321 took 30247 ms\n  → foldline recall {handle} --lines 4306:4336\n",
            handle = Handle::of(&output)
        )
    );
}

pub(crate) fn one_namespace_never_finds_another(place: Place) {
    let store = place(Limits::default());
    store.put(NOW, "a", &[new("the secret of one", "")]).unwrap();
    store.put(NOW, "b", &[new("the secret of two", "")]).unwrap();
    for other in ["", "c", "A", "a ", "%", "a\0", "a\" OR \"b"] {
        assert_eq!(find(&store, other, "secret").hits, [], "{other:?}");
    }
    assert_eq!(texts(&find(&store, "a", "secret")), ["the secret of one"]);
    assert_eq!(texts(&find(&store, "b", "secret")), ["the secret of two"]);
    assert_eq!(find(&store, "b", "one").hits, []);
    // Nor by words that look like the entries of another.
    for typed in ["1zsecret", "2zsecret", "1z", "z", "1", "2"] {
        assert_eq!(find(&store, "a", typed).hits, [], "{typed}");
    }
    let query = Query::parse("secret").unwrap();
    let all = Search { query: &query, whose: Whose::Everybody, session: None, limit: 10 };
    assert_eq!(store.search(&all, &Way::of(Reach::Command)).unwrap().hits.len(), 2);
}

pub(crate) fn a_session_finds_what_it_removed(place: Place) {
    let store = place(Limits::default());
    let keep = |number: u8, session: &str, originals: &[NewOriginal<'_>]| {
        let row =
            SessionRow { id: session.to_owned(), namespace: "a".to_owned(), last_at: NOW, record: "{}".to_owned() };
        let key = Key([number; 32]);
        let checkpoint = NewCheckpoint { key, root: key, position: 1, record: "{}", text: "handoff" };
        let precedence = Precedence::First;
        store.keep_fold(NOW, &NewFold { namespace: "a", originals, checkpoint, precedence, session: &row }).unwrap();
    };
    keep(1, "s1", &[new("common words of one", ""), new("common words of both", "")]);
    keep(2, "s2", &[new("common words of both", "")]);
    let of = |session: &str| -> Vec<String> {
        let query = Query::parse("common").unwrap();
        let search = Search { query: &query, whose: Whose::Namespace("a"), session: Some(session), limit: 10 };
        let found = store.search(&search, &Way::of(Reach::Command)).unwrap();
        found.hits.into_iter().map(|hit| format!("{} {:?}", hit.text, hit.sessions)).collect()
    };
    let both = r#"common words of both ["s1", "s2"]"#;
    assert_eq!(of("s2"), [both]);
    assert_eq!(of("s1").len(), 2);
    assert_eq!(of("s3"), Vec::<String>::new());
}

pub(crate) fn a_session_finds_words_that_are_everywhere(place: Place) {
    const MANY: usize = 2_200;
    const LARGE: usize = 700;
    let store = place(Limits::default());
    let texts: Vec<String> = (0..MANY).map(|number| format!("finished number {number}")).collect();
    let keep = |session: &str, number: u8, texts: &[String]| {
        let row =
            SessionRow { id: session.to_owned(), namespace: "a".to_owned(), last_at: NOW, record: "{}".to_owned() };
        let key = Key([number; 32]);
        let checkpoint = NewCheckpoint { key, root: key, position: 1, record: "{}", text: "handoff" };
        let originals: Vec<NewOriginal<'_>> = texts.iter().map(|text| new(text, "bash")).collect();
        let fold =
            NewFold { namespace: "a", originals: &originals, checkpoint, precedence: Precedence::First, session: &row };
        store.keep_fold(NOW, &fold).unwrap();
    };
    keep("small", 1, &texts[..3]);
    keep("large", 2, &texts[3..3 + LARGE]);
    keep("rest", 3, &texts[3 + LARGE..]);
    let found = |session: &str, words: &str| {
        let query = Query::parse(words).unwrap();
        let search = Search { query: &query, whose: Whose::Namespace("a"), session: Some(session), limit: 10 };
        store.search(&search, &Way::of(Reach::Command)).unwrap()
    };
    let small = found("small", "finished");
    assert_eq!((small.places, small.waiting), (3, 0));
    assert!(small.hits.iter().all(|hit| hit.sessions == ["small"]), "{small:?}");
    let large = found("large", "finished");
    assert_eq!(large.hits.len(), 10);
    assert!(large.hits.iter().all(|hit| hit.sessions == ["large"]), "{large:?}");
    assert_eq!(found("large", "finished number 702").hits[0].text, "finished number 702");
    assert_eq!(found("small", "finished nowhere").fit, Fit::Some);
    assert!(found("nobody", "finished").hits.is_empty());
}

pub(crate) fn what_is_gone_is_not_found(place: Place) {
    let store = place(Limits { max_bytes: 150_000, ..Limits::default() });
    store.put(NOW, "", &[new("an old needle", "")]).unwrap();
    assert_eq!(find(&store, "", "needle").hits.len(), 1);
    store.put(NOW + 31 * DAY, "", &[new("a young needle", "")]).unwrap();
    assert_eq!(texts(&find(&store, "", "needle")), ["a young needle"], "by age");
    store.put(NOW + 32 * DAY, "", &[new(&noise(1, 100_000), "")]).unwrap();
    store.put(NOW + 33 * DAY, "", &[new(&noise(2, 100_000), ""), new("the newest needle", "")]).unwrap();
    assert_eq!(texts(&find(&store, "", "needle")), ["the newest needle"], "by size");
    store.put(NOW + 34 * DAY, "", &[new("an old needle", "")]).unwrap();
    assert_eq!(find(&store, "", "old needle").hits.len(), 1, "what comes back is found again");
}

pub(crate) fn words_are_found_in_any_script(place: Place) {
    let store = place(Limits::default());
    let lines = [
        "数据库连接失败，请检查配置文件。",
        "データベースへの接続に失敗しました",
        "데이터베이스를 연결할 수 없습니다",
        "ไม่สามารถเชื่อมต่อฐานข้อมูลได้",
        "Не удалось подключиться к базе данных",
        "Η σύνδεση με τη βάση απέτυχε",
        "تعذر الاتصال بقاعدة البيانات",
        "Échec de la connexion à la base",
        "用SQLite数据库保存",
    ];
    for line in lines {
        store.put(NOW, "", &[new(line, "")]).unwrap();
    }
    for (words, wanted) in [
        ("连接", 0),
        ("连接失败", 0),
        ("失败 配置", 0),
        ("件", 0),
        ("データベース", 1),
        ("接続", 1),
        ("데이터베이스", 2),
        ("연결", 2),
        ("ฐานข้อมูล", 3),
        ("БАЗЕ", 4),
        ("σύνδεση", 5),
        ("بقاعدة", 6),
        ("echec CONNEXION", 7),
        ("sqlite数据库", 8),
        ("\"用SQLite数据库\"", 8),
    ] {
        let found = find(&store, "", words);
        assert_eq!((texts(&found), found.fit), (vec![lines[wanted]], Fit::All), "{words}");
    }
    assert_eq!(find(&store, "", "数据").hits.len(), 2);
    assert!(find(&store, "", "据数").hits.is_empty());
}

pub(crate) fn phrases_beginnings_and_some_words_are_found(place: Place) {
    let store = place(Limits::default());
    for text in
        ["connection was refused", "refused: connection reset", "connection refused by peer", "redaction of keys"]
    {
        store.put(NOW, "", &[new(text, "")]).unwrap();
    }
    assert_eq!(texts(&find(&store, "", "\"connection refused\"")), ["connection refused by peer"]);
    assert_eq!(texts(&find(&store, "", "connection-refused")), ["connection refused by peer"]);
    assert_eq!(find(&store, "", "refused connection").hits.len(), 3);
    let beginning = find(&store, "", "redact key");
    assert_eq!((texts(&beginning), beginning.fit), (vec!["redaction of keys"], Fit::All));
    let some = find(&store, "", "peer pressure");
    assert_eq!((texts(&some), some.fit), (vec!["connection refused by peer"], Fit::Some));
    assert!(some.told(|_| String::new()).starts_with("[no place holds all of these words; these hold some]\n\nfl-"));
}

pub(crate) fn whatever_is_typed_is_no_error(place: Place) {
    let store = place(Limits::default());
    store.put(NOW, "", &[new("some words: \"quoted\" (and) NOT - ^ * OR near", "")]).unwrap();
    let config = Config { failure_persistence: None, ..Config::with_cases(256) };
    let typed = prop_oneof![
        any::<String>(),
        "[\"'*^():{}+ -]{0,12}(AND|OR|NOT|NEAR|words|quoted)[\"'*^():{}+ -]{0,12}(a|words)?",
        "(NEAR\\(|col:|-|\\^|\"){1,4}[a-z]{0,3}",
        "[\\u{e00}-\\u{e7f}\\u{4e00}-\\u{4e20}a\" ]{0,12}",
    ];
    let law = TestRunner::new(config).run(&typed, |typed| {
        if let Ok(query) = Query::parse(&typed) {
            for whose in [Whose::Everybody, Whose::Namespace(""), Whose::Namespace(&typed)] {
                let search = Search { query: &query, whose, session: Some(&typed), limit: 10 };
                store.search(&search, &Way::of(Reach::Http(Site::default()))).unwrap();
                store.search(&Search { session: None, ..search }, &Way::of(Reach::Http(Site::default()))).unwrap();
            }
        }
        Ok(())
    });
    law.unwrap();
}

pub(crate) fn what_is_everywhere_is_found_newest_first(place: Place) {
    let store = place(Limits::default());
    let texts: Vec<String> = (0..40).map(|n| format!("common words in text {n}")).collect();
    for (text, day) in texts.iter().zip(0..) {
        store.put(NOW + day, "", &[new(text, "")]).unwrap();
    }
    let found = find(&store, "", "common words");
    let expected: Vec<&str> = texts.iter().rev().take(10).map(String::as_str).collect();
    assert_eq!((self::texts(&found), found.places), (expected, 40));
    let told = found.told(|limit| format!("again with {limit}"));
    assert!(told.ends_with("\n\n[10 of 40 places · more: again with 20]\n"), "{told}");
    // The same line in several originals is one place.
    store.put(NOW + DAY, "", &[new("common words in text 7\n", "")]).unwrap();
    assert_eq!(find(&store, "", "common words").places, 40);
}

pub(crate) fn signatures_and_payloads_are_not_found(place: Place) {
    let store = place(Limits::default());
    let text = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hidden thoughts","signature":"c2lnbmF0dXJl"},{"type":"text","text":"shown"}]}"#;
    store.put(NOW, "", &[new(text, "")]).unwrap();
    for word in ["hidden", "c2lnbmF0dXJl", "thinking", "assistant", "role"] {
        assert!(find(&store, "", word).hits.is_empty(), "{word}");
    }
    assert_eq!(find(&store, "", "shown").hits.len(), 1);
}

pub(crate) fn twins_are_found_under_addresses_of_their_own(place: Place) {
    let store = place(Limits::default());
    store.put(NOW, "", &TWINS.map(|text| new(text, ""))).unwrap();
    let found = find(&store, "", "original");
    assert_eq!(found.hits.len(), 2);
    for hit in &found.hits {
        let address: foldline_store::Address = hit.handle.parse().unwrap();
        match store.get(NOW, "", address).unwrap() {
            Recall::Found(original) => assert_eq!(original.text, hit.text),
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn the_index_counts_as_room(place: Place) {
    let store = place(Limits::default());
    let text: String = (0..20_000).map(|n| format!("word{n} ")).collect();
    store.put(NOW, "", &[new(&text, "")]).unwrap();
    let before = store.stats().unwrap().stored_bytes;
    assert_eq!(store.index(u64::MAX).unwrap(), 0);
    let after = store.stats().unwrap().stored_bytes;
    assert!(after > before + 5_000, "{before} → {after}");
    store.prune(NOW + 31 * DAY).unwrap();
    assert_eq!(store.stats().unwrap().stored_bytes, 0);
}
