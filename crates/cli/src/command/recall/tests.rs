use super::*;
use foldline_store::{Limits, NewOriginal};
use foldline_transcript::recall::Handle;

const NOW: i64 = 1_760_000_000_000;
const DAY: i64 = 24 * 60 * 60 * 1000;
const TEXT: &str = "one\ntwo\r\nthree\n\nfive";

struct Shop {
    folder: tempfile::TempDir,
}

impl Shop {
    fn new() -> Shop {
        Shop { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("foldline/originals.db")
    }

    fn put(&self, now: i64, texts: &[&str]) {
        let batch: Vec<_> =
            texts.iter().map(|text| NewOriginal { handle: Handle::of(text), text, tool: "bash" }).collect();
        Store::open(&self.path(), Limits::default()).unwrap().put(now, "", &batch).unwrap();
    }

    fn recall(&self, handle: &str, grep: Option<&str>) -> Result<String, (u8, String)> {
        self.asked(&RecallArgs { grep: grep.map(str::to_owned), ..args(handle) })
    }

    fn asked(&self, args: &RecallArgs) -> Result<String, (u8, String)> {
        recall(args, Some(self.path()), Limits::default(), NOW).map_err(|error| (error.exit_code(), error.to_string()))
    }
}

fn args(handle: &str) -> RecallArgs {
    RecallArgs {
        handle: handle.to_owned(),
        turn: None,
        lines: None,
        grep: None,
        context: 0,
        page: 1,
        page_size: PAGE_SIZE,
        raw: false,
        json: false,
        store: None,
        config: None,
    }
}

#[test]
fn an_original_is_shown_by_lines_and_comes_out_byte_for_byte() {
    let shop = Shop::new();
    shop.put(NOW, &[TEXT]);
    let handle = Handle::of(TEXT).to_string();
    assert_eq!(shop.recall(&handle, None).unwrap(), "one\ntwo\nthree\n\nfive\n");
    assert_eq!(shop.asked(&RecallArgs { raw: true, ..args(&handle) }).unwrap(), TEXT);
    let some = RecallArgs { raw: true, lines: Some("2:3".parse().unwrap()), ..args(&handle) };
    assert_eq!(shop.asked(&some).unwrap(), "two\r\nthree\n");
    assert_eq!(shop.recall(&handle, Some("f.ve")).unwrap(), "5:five\n[1 matching line]\n");
    let (code, message) = shop.recall(&handle, Some("seven")).unwrap_err();
    assert_eq!((code, message), (1, format!("no line of {handle} matches `seven`")));
    assert_eq!(shop.recall(&handle, Some("(")).unwrap_err().0, 2);
    assert_eq!(shop.asked(&RecallArgs { page: 2, ..args(&handle) }).unwrap_err().0, 2);
}

#[test]
fn the_next_page_is_asked_for_in_the_same_way() {
    let shop = Shop::new();
    let long = "a line of a long output\n".repeat(200);
    shop.put(NOW, &[&long]);
    let handle = Handle::of(&long).to_string();
    let asked = RecallArgs { page_size: 2_000, store: Some(PathBuf::from("a b.db")), ..args(&handle) };
    let page = shop.asked(&asked).unwrap();
    let next = format!("next: foldline recall {handle} --page-size 2000 --page 2 --store 'a b.db']\n");
    assert!(page.chars().count() <= 2_000 && page.ends_with(&next), "{page}");
    let json = shop.asked(&RecallArgs { json: true, ..asked }).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["page"].as_u64(), json["lines"].as_u64()), (Some(1), Some(200)));
    assert!(json["next"].as_str().unwrap().ends_with(" --json"), "{json}");
}

#[test]
fn what_is_not_there_is_explained() {
    let shop = Shop::new();
    let (code, message) = shop.recall("abc", None).unwrap_err();
    assert_eq!((code, message.as_str()), (2, "invalid handle `abc`; expected fl- and 12 hex digits"));

    let (code, message) = shop.recall("fl-0123456789ab", None).unwrap_err();
    assert_eq!(code, 2);
    assert!(message.contains("originals.db: file not found"), "{message}");
    assert!(!shop.path().exists(), "asking makes no store");

    shop.put(NOW - 100 * DAY, &["old"]);
    shop.put(NOW - 3 * DAY, &["young"]);
    let (code, message) = shop.recall("fl-0123456789ab", None).unwrap_err();
    assert_eq!(code, 1);
    assert!(message.starts_with("fl-0123456789ab not found in /"), "{message}");

    let old = Handle::of("old").to_string();
    let (code, message) = shop.recall(&old, None).unwrap_err();
    let expected = format!("{old} expired on 2025-10-06 because of the age limit (store.max_age)");
    assert_eq!((code, message), (1, expected));
}

#[test]
fn two_originals_under_one_handle_ask_for_more_digits() {
    // Found by trying some twenty million texts.
    let twins = ["original 22277647", "original 553051"];
    let shop = Shop::new();
    shop.put(NOW, &twins);
    let (code, message) = shop.recall(&Handle::of(twins[0]).to_string(), None).unwrap_err();
    assert_eq!(code, 1);
    let addresses: Vec<_> = message.lines().skip(1).map(|line| line.trim().trim_end_matches(" (bash)")).collect();
    assert_eq!(addresses.len(), 2, "{message}");
    let mut texts: Vec<_> =
        addresses.iter().map(|address| shop.recall(address, None).unwrap().trim_end().to_owned()).collect();
    texts.sort();
    assert_eq!(texts, twins);
}
