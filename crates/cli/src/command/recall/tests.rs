use super::*;
use foldline_core::recall::Handle;
use foldline_store::NewOriginal;

const NOW: i64 = 1_760_000_000_000;
const DAY: i64 = 24 * 60 * 60 * 1000;
const TEXT: &str = "one\ntwo\r\nthree\n\nfive";

fn lines(text: &str) -> Lines {
    text.parse().unwrap()
}

fn search(pattern: &str, range: &str, context: usize) -> String {
    grep(TEXT, &Regex::new(pattern).unwrap(), lines(range), context).unwrap()
}

#[test]
fn lines_are_counted_from_one_and_both_ends_are_in() {
    let select = |range| select_lines(TEXT, lines(range)).unwrap();
    assert_eq!(select("1:1"), "one\n");
    assert_eq!(select("2"), "two\r\n");
    assert_eq!(select("2:4"), "two\r\nthree\n\n");
    assert_eq!(select(":2"), "one\ntwo\r\n");
    assert_eq!(select("4:"), "\nfive");
    assert_eq!(select("5:1000"), "five");
    assert_eq!(select("1:"), TEXT);
}

#[test]
fn all_lines_are_the_text() {
    for text in [TEXT, "", "\n", "a", "a\n", "\r\n\r\n"] {
        assert_eq!(select_lines(text, Lines::ALL).unwrap(), text);
    }
}

#[test]
fn mistaken_ranges_say_what_is_wrong() {
    let message = |range: &str| range.parse::<Lines>().unwrap_err().to_string();
    for wrong in ["", ":", "a:b", "1:2:3", "-3:", "1.5", "99999999999999999999"] {
        assert!(message(wrong).starts_with(&format!("`{wrong}` is no range of lines; expected A:B")), "{wrong}");
    }
    assert_eq!(message("0:5"), "`0:5` names line 0; lines are counted from 1");
    assert_eq!(message("9:3"), "`9:3` ends before it begins; did you mean 3:9?");
    let beyond = select_lines(TEXT, lines("6:")).unwrap_err();
    assert_eq!(beyond.to_string(), "line 6 was asked for, the original has 5");
    assert!(select_lines("", lines("1:3")).is_err());
}

#[test]
fn matches_come_with_their_numbers() {
    assert_eq!(search("o", "1:", 0), "1:one\n2:two\n");
    assert_eq!(search("^$", "1:", 0), "4:\n");
    assert_eq!(search("nothing", "1:", 3), "");
}

#[test]
fn lines_around_a_match_are_shown_once_and_gaps_are_marked() {
    assert_eq!(search("two", "1:", 1), "1-one\n2:two\n3-three\n");
    assert_eq!(search("one|two", "1:", 1), "1:one\n2:two\n3-three\n");
    assert_eq!(search("one|three", "1:", 1), "1:one\n2-two\n3:three\n4-\n");
    assert_eq!(search("one|five", "1:", 1), "1:one\n2-two\n--\n4-\n5:five\n");
    assert_eq!(search("three", "1:", usize::MAX), "1-one\n2-two\n3:three\n4-\n5-five\n");
}

#[test]
fn a_search_stays_within_the_lines_chosen() {
    assert_eq!(search("o", "2:4", 0), "2:two\n");
    assert_eq!(search("three", "3:4", 5), "3:three\n4-\n");
}

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
        let args = RecallArgs {
            handle: handle.to_owned(),
            lines: None,
            grep: grep.map(str::to_owned),
            context: 0,
            store: None,
            config: None,
        };
        let mut out = Vec::new();
        recall(&args, Some(self.path()), Limits::default(), NOW, &mut out)
            .map(|()| String::from_utf8(out).unwrap())
            .map_err(|error| (error.exit_code(), error.to_string()))
    }
}

#[test]
fn an_original_comes_out_byte_for_byte() {
    let shop = Shop::new();
    shop.put(NOW, &[TEXT]);
    let handle = Handle::of(TEXT).to_string();
    assert_eq!(shop.recall(&handle, None).unwrap(), TEXT);
    assert_eq!(shop.recall(&handle, Some("f.ve")).unwrap(), "5:five\n");
    let (code, message) = shop.recall(&handle, Some("seven")).unwrap_err();
    assert_eq!((code, message), (1, format!("no line of {handle} matches `seven`")));
    assert_eq!(shop.recall(&handle, Some("(")).unwrap_err().0, 2);
}

#[test]
fn what_is_not_there_is_explained() {
    let shop = Shop::new();
    let (code, message) = shop.recall("abc", None).unwrap_err();
    assert_eq!((code, message.as_str()), (2, "`abc` is no handle; expected fl- and 12 hex digits"));

    let (code, message) = shop.recall("fl-0123456789ab", None).unwrap_err();
    assert_eq!(code, 2);
    assert!(message.contains("originals.db: there is no such file"), "{message}");
    assert!(!shop.path().exists(), "asking makes no store");

    shop.put(NOW - 100 * DAY, &["old"]);
    shop.put(NOW - 3 * DAY, &["young"]);
    let (code, message) = shop.recall("fl-0123456789ab", None).unwrap_err();
    assert_eq!(code, 1);
    assert!(message.starts_with("nothing is known of fl-0123456789ab in /"), "{message}");

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
    let mut texts: Vec<_> = addresses.iter().map(|address| shop.recall(address, None).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, twins);
}
