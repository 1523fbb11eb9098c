//! Inputs made to hurt: time must grow with size and no faster.

#![expect(clippy::disallowed_methods, reason = "tests may look at the clock")]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::{Source, many, reduce};
use crate::{ConversationNames, reduce_in_context};

/// Time that this thread has had a processor, where the system says so: on a busy machine the clock says something else.
fn worked() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let said = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = said.and_then(|said| said.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Time for the larger of two sizes, over time for the smaller, with a floor that hides the noise of short runs.
fn growth(source: &Source<'_>, make: impl Fn(usize) -> String, small: usize, factor: usize) -> f64 {
    let conversation = ConversationNames::of_words(["word_of_talk"]);
    let best = |text: &str| {
        (0..3)
            .map(|_| {
                let started = worked();
                let _ = reduce_in_context(source, &conversation, text);
                worked() - started
            })
            .min()
            .unwrap_or_default()
    };
    let floor = Duration::from_millis(4);
    let short = best(&make(small)).max(floor);
    best(&make(small * factor)).as_secs_f64() / short.as_secs_f64()
}

#[test]
fn time_is_linear_on_hostile_inputs() {
    let shapes: &[(&str, &str, &str, &str)] = &[
        ("one line", "Bash", "", "x"),
        ("one line of words", "Bash", "", "word "),
        ("errors on one line", "Bash", "", "error "),
        ("empty lines", "Bash", "", "\n"),
        ("open brackets", "Bash", "", "["),
        ("open objects", "Bash", "", "{\"a\":"),
        ("open quotes", "Bash", "", "\""),
        ("open tags", "WebFetch", "https://x", "<a "),
        ("page", "WebFetch", "https://x", "<html><script>"),
        ("colons", "Grep", "x", "a.b:1:"),
        ("dashes", "Grep", "x", "a.b-1-\n"),
        ("escapes", "Bash", "", "\u{1b}[3"),
        ("bare escapes", "Bash", "", "\u{1b}"),
        ("returns", "Bash", "", "x\r"),
        ("commas", "Read", "a.csv", ","),
        ("quoted cells", "Read", "a.csv", "\"a\",\n"),
        ("bars", "Bash", "", "| a | b |\n"),
        ("frames", "Bash", "", "  at a.b(c:1)\n"),
        ("failures", "Bash", "go test", "--- FAIL: TestX\n"),
        ("reminders", "Read", "a.rs", "<system-reminder>"),
        ("branches", "Bash", "tree", "│   "),
        ("hunks", "Bash", "git diff", "@@ -1 +1 @@ x\n+y\n"),
        ("code", "Read", "a.zig", "fn a() {\n"),
    ];
    for (name, tool, argument, piece) in shapes {
        let source = Source { tool, argument, focus: &["slow"] };
        let factor = 16;
        // Quadratic time would grow by the square of the factor; a busy machine stays far below.
        let grown = growth(&source, |size| piece.repeat(size / piece.len()), 1 << 17, factor);
        assert!(grown < 6.0 * factor as f64, "{name}: {grown:.1} times the time for {factor} times the size");
    }
}

#[test]
fn distinct_failures_stay_linear() {
    let source = Source { tool: "Bash", argument: "cargo test", ..Source::default() };
    let grown = growth(&source, |size| many(size / 32, |i| format!("test case_{i:08} ... FAILED")), 1 << 17, 8);
    assert!(grown < 32.0, "{grown}");
}

#[test]
fn nothing_panics_on_short_and_odd_texts() {
    for text in [
        "",
        "\n",
        "\r",
        "\r\n",
        "{",
        "[",
        "}",
        "]",
        "[]",
        "{}",
        "<",
        "<html",
        "|",
        "a|b",
        ",",
        "→",
        "1→",
        "1:",
        ":1:",
        "-1-",
        "diff --git ",
        "@@ ",
        "+++ ",
        "---- stdout ----",
        "test ... ok",
        "=",
        "____ ____",
        "\u{1b}",
        "\u{1b}[",
    ] {
        for (tool, argument) in [
            ("Bash", ""),
            ("Read", "a.rs"),
            ("Read", "a.csv"),
            ("Read", "a.json"),
            ("Grep", "x"),
            ("Glob", "*"),
            ("WebFetch", "u"),
            ("Task", ""),
        ] {
            let source = Source { tool, argument, focus: &["a"] };
            assert_eq!(reduce(&source, text), None, "{text:?}");
            let _ = reduce(&source, &text.repeat(1000));
            let _ = reduce(&source, &format!("{text}\n").repeat(1000));
        }
    }
}
