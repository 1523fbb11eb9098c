//! Tests of all reducers together: what each kind keeps, laws that hold for any input, and inputs made to hurt.

mod hostile;
mod kinds;
mod laws;

use super::{Kind, Source, reduce};

/// Reduces `input` and checks the kind and the whole result.
#[track_caller]
fn check(source: Source<'_>, input: &str, kind: Kind, expected: &str) {
    let reduced = reduce(&source, input).expect("something to save");
    assert_eq!(reduced.kind, kind, "{}", reduced.text);
    assert_eq!(reduced.text, expected, "\n{}", reduced.text);
}

/// Reduces `input` and checks the kind and that all of `kept` stands in the result.
#[track_caller]
fn keeps(source: Source<'_>, input: &str, kind: Kind, kept: &[&str]) -> String {
    let reduced = reduce(&source, input).expect("something to save");
    assert_eq!(reduced.kind, kind, "{}", reduced.text);
    for part in kept {
        assert!(reduced.text.contains(part), "{part:?} is not in\n{}", reduced.text);
    }
    reduced.text
}

fn shell(command: &str) -> Source<'_> {
    Source { tool: "Bash", argument: command, ..Source::default() }
}

fn read(path: &str) -> Source<'_> {
    Source { tool: "Read", argument: path, ..Source::default() }
}

/// `count` lines made from their numbers.
fn many(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|index| line(index) + "\n").collect()
}
