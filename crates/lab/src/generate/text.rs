//! Generated tool outputs and messages with realistic shapes.

use super::dice::Dice;
use std::fmt::Write;

const VERBS: [&str; 20] = [
    "load", "store", "merge", "split", "parse", "render", "verify", "fetch", "index", "queue", "retry", "close",
    "open", "count", "group", "filter", "apply", "resolve", "encode", "publish",
];
const NOUNS: [&str; 24] = [
    "order", "ledger", "session", "invoice", "route", "cursor", "batch", "tenant", "schema", "bucket", "snapshot",
    "worker", "lease", "event", "header", "packet", "token", "shard", "policy", "report", "window", "channel",
    "parcel", "depot",
];
const PLACES: [&str; 8] = ["src", "src/api", "src/store", "src/queue", "tests", "tests/api", "tools", "src/report"];
const ENDINGS: [&str; 4] = ["rs", "py", "ts", "go"];
const GLUE: [&str; 18] = [
    "the",
    "a",
    "because",
    "when",
    "so that",
    "and then",
    "before",
    "after",
    "which",
    "must",
    "should not",
    "with",
    "without",
    "for every",
    "in",
    "still",
    "only if",
    "of",
];
const LEVELS: [&str; 8] = ["INFO", "INFO", "INFO", "DEBUG", "DEBUG", "INFO", "WARN", "ERROR"];
/// Words outside ASCII, so that no counter and no cut sees bytes only.
const FOREIGN: [&str; 6] = ["größer", "naïve", "日本語の表示", "файл", "✓ geprüft", "🚚"];

/// A name such as `merge_ledger`.
pub(super) fn name(dice: &mut Dice) -> String {
    format!("{}_{}", dice.pick(&VERBS), dice.pick(&NOUNS))
}

/// A path of the made-up project; there are a few hundred, so that files are read more than once.
pub(super) fn path(dice: &mut Dice) -> String {
    format!("{}/{}_{}.{}", dice.pick(&PLACES), dice.pick(&NOUNS), dice.pick(&VERBS), dice.pick(&ENDINGS))
}

/// Words of a person or a model, about `bytes` long.
pub(super) fn prose(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 80);
    while out.len() < bytes {
        let start = out.len();
        for _ in 0..dice.between(5, 16) {
            let word = match dice.below(10) {
                0..4 => dice.pick(&GLUE),
                4..7 => dice.pick(&NOUNS),
                _ => dice.pick(&VERBS),
            };
            out.push_str(word);
            out.push(' ');
        }
        match dice.below(12) {
            0 => _ = write!(out, "`{}`", name(dice)),
            1 => out.push_str(&path(dice)),
            2 => out.push_str(dice.pick(&FOREIGN)),
            _ => drop(out.pop()),
        }
        out.push_str(if dice.happens(20) { ".\n" } else { ". " });
        if let Some(first) = out.get_mut(start..start + 1) {
            first.make_ascii_uppercase();
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// One of the kinds of output, about `bytes` long.
pub(super) fn output(dice: &mut Dice, tool: &str, bytes: usize) -> String {
    match (tool, dice.below(4)) {
        ("read_file", _) => code(dice, bytes),
        ("grep", _) => search(dice, bytes),
        ("run_tests", _) => test_report(dice, bytes),
        ("edit_file", _) => format!("The file {} has been updated: 1 replacement.", path(dice)),
        (_, 0) => json(dice, bytes),
        (_, 1) => table(dice, bytes),
        _ => log(dice, bytes),
    }
}

/// Source code, numbered as readers of files number it.
pub(super) fn code(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 160);
    let mut line = dice.between(1, 400);
    while out.len() < bytes {
        let (function, thing) = (name(dice), dice.pick(&NOUNS));
        let body = [
            format!("/// {}", prose(dice, 40).replace('\n', " ")),
            format!("pub fn {function}({thing}: &{thing}::Record, limit: usize) -> Result<u64, Error> {{"),
            format!("    let mut total = {};", dice.below(5000)),
            format!("    for entry in {thing}.entries().take(limit) {{"),
            format!(
                "        total += entry.{}()?.checked_mul({}).ok_or(Error::Overflow)?;",
                name(dice),
                dice.below(99)
            ),
            "    }".to_owned(),
            format!("    log::debug!(\"{function}: {{}} of {thing}\", total);"),
            "    Ok(total)".to_owned(),
            "}".to_owned(),
            String::new(),
        ];
        for text in body {
            _ = writeln!(out, "{line:>6}\t{text}");
            line += 1;
        }
    }
    out
}

fn log(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 160);
    let mut second = dice.below(80_000);
    while out.len() < bytes {
        second += dice.below(3);
        let (hours, minutes, seconds) = (second / 3600 % 24, second / 60 % 60, second % 60);
        _ = writeln!(
            out,
            "2026-03-14T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z {:<5} {}: {} id={:08x} took={}ms",
            dice.below(1000),
            dice.pick(&LEVELS),
            name(dice),
            prose(dice, 30).replace('\n', " "),
            dice.throw() as u32,
            dice.below(900),
        );
    }
    out
}

fn test_report(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::from("============================= test session starts =============================\n");
    let (mut passed, mut failed) = (0, Vec::new());
    while out.len() + 400 * failed.len() < bytes {
        let case = format!("{}::test_{}_{}", path(dice), name(dice), dice.below(100));
        match dice.happens(4) && failed.len() < 8 {
            true => {
                _ = writeln!(out, "{case} FAILED");
                failed.push(case);
            }
            false => {
                passed += 1;
                _ = writeln!(out, "{case} PASSED");
            }
        }
    }
    for case in &failed {
        let (left, right) = (dice.below(9000), dice.below(9000));
        _ = write!(
            out,
            "\n____ {case} ____\n    def test():\n>       assert {}(record) == {right}\nE       assert {left} == {right}\n\n{}:{}: AssertionError\n",
            name(dice),
            path(dice),
            dice.below(400),
        );
    }
    _ = writeln!(
        out,
        "=================== {} failed, {passed} passed in {}.{:02}s ===================",
        failed.len(),
        dice.below(90),
        dice.below(100)
    );
    out
}

fn search(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 160);
    let wanted = name(dice);
    while out.len() < bytes {
        _ = writeln!(
            out,
            "{}:{}:    let {} = {wanted}({}, {});",
            path(dice),
            dice.below(900),
            dice.pick(&NOUNS),
            dice.pick(&NOUNS),
            dice.below(64)
        );
    }
    out
}

fn json(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::from("{\n  \"items\": [\n");
    while out.len() < bytes {
        _ = writeln!(
            out,
            "    {{\"id\": \"{:016x}\", \"name\": \"{}\", \"path\": \"C:\\\\{}\\\\{}\", \"size\": {}, \"ok\": {}}},",
            dice.throw(),
            name(dice),
            dice.pick(&NOUNS),
            dice.pick(&NOUNS),
            dice.below(1_000_000),
            dice.happens(90),
        );
    }
    out.push_str("    null\n  ]\n}\n");
    out
}

fn table(dice: &mut Dice, bytes: usize) -> String {
    let mut out = String::from("| depot | parcel | state | weight | note |\n|---|---|---|---|---|\n");
    while out.len() < bytes {
        _ = writeln!(
            out,
            "| {} | {:06} | {} | {}.{:02} | {} |",
            dice.pick(&NOUNS),
            dice.below(1_000_000),
            dice.pick(&VERBS),
            dice.below(40),
            dice.below(100),
            if dice.happens(10) { dice.pick(&FOREIGN) } else { "" },
        );
    }
    out
}
