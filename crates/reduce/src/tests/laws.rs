//! Laws that hold for any input.

use proptest::prelude::*;

use super::{Source, many, reduce};
use crate::{Kind, detect};

const TOOLS: &[&str] = &["Bash", "Read", "Grep", "Glob", "Edit", "WebFetch", "Task", "mcp__x__get", ""];
const ARGUMENTS: &[&str] =
    &["", "src/a.rs", "a.csv", "b.json", "c.yaml", "cat d.go", "cargo test", "https://example.com/x", "e.md", "f.log"];

/// Lines that look like parts of every kind.
const PIECES: &[&str] = &[
    "test a::b ... FAILED",
    "--- FAIL: TestX (0.00s)",
    "=== RUN TestX",
    "E   assert 1 == 2",
    "src/a.rs:12:3: error: bad thing",
    "error[E0308]: mismatched types",
    "  --> src/a.rs:3:4",
    "2026-01-02 03:04:05 ERROR it broke",
    "2026-01-02 03:04:05 INFO fine",
    "src/a.rs:12:let x = 1;",
    "./a/b/c.txt",
    "-rw-r--r-- 1 u g 12 Jan 1 10:00 name",
    "a,b,c",
    "1,2,3",
    "| a | b |",
    "{\"a\": 1, \"error\": \"bad\"}",
    "[1, 2, 3]",
    "fn main() {",
    "    let y = 2;",
    "}",
    "diff --git a/x b/x",
    "@@ -1,2 +3,4 @@ fn x",
    "+added",
    "-removed",
    "Traceback (most recent call last):",
    "  File \"a.py\", line 3, in f",
    "ValueError: no",
    "<html><body><h1>T</h1>",
    "key: value",
    "[section]",
    "# Heading",
    "A sentence that ends here. Another one.",
    "├── src",
    "│   └── a.rs",
    "",
    "   ",
    "\u{1b}[31mred\u{1b}[0m",
    "10%\r20%\r30%",
    "ääöü→…✓",
    "\u{0}\u{1}",
    "```",
    "     7→code here",
    "warning: unused variable: `x`",
    "ok  \tpkg/a\t0.1s",
];

fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => "\\PC{0,40}",
        1 => any::<String>(),
    ];
    (prop::collection::vec(piece, 0..60), 1usize..30).prop_map(|(pieces, times)| pieces.join("\n").repeat(times))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_result_is_shorter_stable_and_always_the_same(
        text in output(), tool in prop::sample::select(TOOLS), argument in prop::sample::select(ARGUMENTS), timing in any::<bool>(),
    ) {
        let focus: &[&str] = if timing { &["slow", "thing"] } else { &[] };
        let source = Source { tool, argument, focus };
        if let Some(reduced) = reduce(&source, &text) {
            prop_assert!(reduced.text.len() * 5 <= text.len() * 4);
            prop_assert_eq!(&reduce(&source, &text), &Some(reduced.clone()));
            prop_assert_eq!(reduce(&source, &reduced.text), None);
            prop_assert_eq!(reduce(&source, &format!("header of the caller\n{}", reduced.text)), None);
            prop_assert!(reduced.text.lines().all(|line| line.len() <= 4_400), "{}", reduced.text);
        }
        prop_assert!(Kind::ALL.contains(&detect(&source, &text)));
    }

    #[test]
    fn no_error_is_reduced_away(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 5..50), at in prop::collection::vec(0usize..50, 1..12), word in "[a-z]{9}",
    ) {
        let mut lines: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        for (index, place) in at.iter().enumerate() {
            lines.insert((*place).min(lines.len()), format!("error: {word}{} is broken", char::from(b'a' + index as u8)));
        }
        let text = lines.join("\n") + "\n" + &many(200, |i| format!("line {i} of other output"));
        if let Some(reduced) = reduce(&Source { tool: "Bash", argument: "", ..Source::default() }, &text) {
            for index in 0..at.len() {
                let name = format!("{word}{}", char::from(b'a' + index as u8));
                prop_assert!(reduced.text.contains(&name), "{} lost as {}:\n{}", name, reduced.kind, reduced.text);
            }
        }
    }
}
