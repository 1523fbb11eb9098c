//! How a command ended, read off its output: exit code, and the lines that say what went wrong.

use super::tool::Act;
use foldline_reduce::{Severity, each_trouble};

/// Where exit codes stand: near the beginning or the end of an output.
const EDGE: usize = 240;
/// Phrases in front of an exit code, in lower case.
const PHRASES: [&str; 6] =
    ["exit code: ", "exit code ", "exited with code ", "exit_code\": ", "exit_code\":", "exit status "];

/// The exit code that an output states.
pub(crate) fn exit_code(output: &str) -> Option<i32> {
    let edges = edges(output);
    // All phrases have the word; most outputs do not.
    edges.iter().copied().find_map(code_in)
}

fn edges(output: &str) -> [&str; 2] {
    let head = output.get(..output.floor_char_boundary(EDGE)).unwrap_or(output);
    let tail = output.get(output.ceil_char_boundary(output.len().saturating_sub(EDGE))..).unwrap_or_default();
    [head, tail]
}

fn code_in(edge: &str) -> Option<i32> {
    let word = memchr::memmem::find_iter(edge.as_bytes(), b"xit").next()?;
    let lower = edge.get(edge.floor_char_boundary(word.saturating_sub(1))..)?.to_ascii_lowercase();
    PHRASES.iter().find_map(|phrase| {
        let after = lower.split_once(phrase)?.1;
        let digits: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse().ok()
    })
}

/// How programs say at the end what went wrong: only so much of the end is searched.
const LAST_WORDS: usize = 16 * 1024;

fn last_words(output: &str) -> &str {
    output.get(output.ceil_char_boundary(output.len().saturating_sub(LAST_WORDS))..).unwrap_or_default()
}

/// Lines that say what went wrong: at most `most`, those that say most of it first, the first of equals before others.
/// Programs that run others end with a line of their own that only says that something failed.
pub(super) fn trouble(output: &str, most: usize) -> Vec<&str> {
    let mut lines: Vec<(usize, &str)> = Vec::new();
    each_trouble(last_words(output), |line, severity| {
        let line = line.trim();
        if severity == Severity::Error && (8..400).contains(&line.len()) {
            lines.push((says(line), line));
        }
    });
    lines.sort_by_key(|&(says, _)| std::cmp::Reverse(says));
    lines.truncate(most);
    lines.into_iter().map(|(_, line)| line).collect()
}

/// How much a line says of what went wrong: by its words, the place that it names, and what it quotes.
fn says(line: &str) -> usize {
    const MOST_WORDS: usize = 10;
    const PLACE: usize = 4;
    const QUOTE: usize = 1;
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().any(char::is_alphabetic));
    let words = words.take(MOST_WORDS).count();
    words + if names_place(line) { PLACE } else { 0 } + if line.contains(['`', '\'', '"']) { QUOTE } else { 0 }
}

/// Whether a line names a line of a file: `store.rs:12`, `"store.py", line 12`.
fn names_place(line: &str) -> bool {
    let is_file = |before: &str| {
        let name = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'')).next();
        name.and_then(|name| name.rsplit_once('.')).is_some_and(|(name, ending)| {
            name.ends_with(char::is_alphanumeric) && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        })
    };
    let followed = |at: usize| line.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    line.match_indices(':').any(|(at, _)| followed(at) && line.get(..at).is_some_and(is_file))
        || line.contains("\", line ")
}

/// Whether an output says of itself that the call failed: formats without a mark for that leave it to the words.
pub(super) fn reports_error(output: &str) -> bool {
    let output = output.trim_start();
    if let Some(word) = output.get(..ERROR.len()).filter(|word| word.eq_ignore_ascii_case(ERROR)) {
        return output.get(word.len()..).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    }
    if !output.starts_with('{') || output.len() > LONGEST_ERROR {
        return false;
    }
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(output).unwrap_or_default();
    let is = |name: &str, value: bool| fields.get(name).and_then(serde_json::Value::as_bool) == Some(value);
    let has_error = fields
        .get("error")
        .is_some_and(|error| error.is_object() || error.as_str().is_some_and(|error| !error.is_empty()));
    has_error || is("ok", false) || is("success", false) || is("isError", true)
}

const ERROR: &str = "error";
/// An object of more bytes is an answer.
const LONGEST_ERROR: usize = 2_000;

/// What clients put around the words of a failure, and what they say of a call that another one took down with it.
const FRAME: (&str, &str) = ("<tool_use_error>", "</tool_use_error>");
const TAKEN_DOWN: &str = "Sibling tool call errored";

/// What a tool said, without what the client put around it.
pub(super) fn unframed(output: &str) -> &str {
    match output.trim().strip_prefix(FRAME.0).and_then(|words| words.strip_suffix(FRAME.1)) {
        Some(TAKEN_DOWN) => "",
        Some(words) => words,
        None => output,
    }
}

/// What clients add to an output to say where the next command starts.
pub(super) const PLACE: &str = "Shell cwd was reset to ";

/// An output without the note of its client on where the next command starts.
pub(super) fn without_place(output: &str) -> &str {
    match output.trim_end().rsplit_once('\n') {
        Some((output, last)) if last.starts_with(PLACE) => output,
        None if output.starts_with(PLACE) => "",
        _ => output,
    }
}

/// The line of a failed output without a word of trouble that says most: tools say at once what is wrong (`File does not
/// exist.`), programs at the end.
pub(super) fn complaint(output: &str, act: Act) -> Option<&str> {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    if act == Act::Run { lines.next_back() } else { lines.next() }
}

/// The line in which a test run sums itself up.
pub(super) fn test_summary(output: &str) -> Option<&str> {
    let output = last_words(output);
    let lines = || output.lines().rev().map(str::trim);
    let [passed, failed] = [" passed", " failed"].map(memchr::memmem::Finder::new);
    let counts = |line: &str, word: &memchr::memmem::Finder<'_>| {
        word.find_iter(line.as_bytes()).any(|at| line[..at].ends_with(|c: char| c.is_ascii_digit()))
    };
    let sums_up = |line: &&str| {
        counts(line, &passed)
            || counts(line, &failed)
            || line.starts_with("Tests:")
            || line.starts_with("test result:")
            || line.starts_with("ok  \t")
    };
    // Where each package has a line, one that failed says more than the last one.
    lines().find(|line| line.starts_with("FAIL\t") || line.starts_with("--- FAIL")).or_else(|| lines().find(sums_up))
}

/// What the line that sums up a run says of it: which package passed, and how long it took, the command says or nobody asks.
pub(super) fn result(line: &str) -> &str {
    if line.starts_with("ok  \t") { "ok" } else { line }
}

/// What a run over many packages says in all, where each has a line of its own and none failed.
pub(super) fn packages(output: &str) -> Option<String> {
    let ok = output.lines().filter(|line| line.starts_with("ok  \t")).count();
    let failed = output.lines().any(|line| line.starts_with("FAIL") || line.starts_with("--- FAIL"));
    (ok > 1 && !failed).then(|| format!("ok in all {ok} packages"))
}

#[cfg(test)]
mod tests {
    use super::{Act, complaint, packages, reports_error, test_summary, trouble, unframed};

    #[test]
    fn the_line_that_says_most_of_a_failure_comes_first() {
        let first = |output: &'static str| trouble(output, 3).first().copied();
        let go = "Error: context deadline exceeded\n--- FAIL: TestSave (0.01s)\n    save_test.go:176: failed to save state: no root\nFAIL\nFAIL\tone/save\t6.5s\n[test] ERROR task failed\n";
        assert_eq!(first(go), Some("save_test.go:176: failed to save state: no root"));
        let c = "cc -c a.c\na.c:3:5: error: expected ';' before 'return'\nmake: *** [Makefile:3: all] Error 2\n";
        assert_eq!(first(c), Some("a.c:3:5: error: expected ';' before 'return'"));
        let rust =
            "error[E0433]: failed to resolve: use of undeclared crate `store`\nerror: could not compile `one` (lib)\n";
        assert_eq!(first(rust), Some("error[E0433]: failed to resolve: use of undeclared crate `store`"));
        assert_eq!(trouble("error: one thing\nerror: other thing\n", 1), ["error: one thing"]);
    }

    #[test]
    fn a_failure_without_a_word_of_trouble_is_told_by_its_first_line() {
        assert_eq!(unframed("<tool_use_error>File does not exist.</tool_use_error>\n"), "File does not exist.");
        assert_eq!(unframed("about <tool_use_error>"), "about <tool_use_error>");
        let said = "\nThe user said no.\nAnd more.\n";
        assert_eq!(complaint(said, Act::Edit), Some("The user said no."));
        assert_eq!(complaint(said, Act::Run), Some("And more."));
        assert_eq!(unframed("<tool_use_error>Sibling tool call errored</tool_use_error>"), "");
        assert_eq!(complaint(" \n", Act::Run), None);
    }

    #[test]
    fn outputs_say_of_themselves_that_a_call_failed() {
        for failed in
            ["Error: user not found", "ERROR 404", "{\"error\": \"no seat left\"}", "{\"ok\": false, \"id\": 3}"]
        {
            assert!(reports_error(failed), "{failed}");
        }
        for worked in
            ["Errors are counted below", "{\"error\": null, \"id\": 3}", "{\"ok\": true}", "No error: done", ""]
        {
            assert!(!reports_error(worked), "{worked}");
        }
    }

    #[test]
    fn a_package_that_failed_sums_a_run_up() {
        let mixed = "ok  \tone/store\t0.2s\nFAIL\tone/wire [build failed]\nok  \tone/plan\t(cached)\nFAIL\n";
        assert_eq!(test_summary(mixed), Some("FAIL\tone/wire [build failed]"));
        assert_eq!(test_summary("ok  \tone/store\t0.2s\n"), Some("ok  \tone/store\t0.2s"));
        assert_eq!(packages(mixed), None);
        assert_eq!(packages("ok  \ta\t1s\nok  \tb\t1s\n"), Some("ok in all 2 packages".to_owned()));
        assert_eq!(test_summary("3 failed, 844 passed in 12.1s\n"), Some("3 failed, 844 passed in 12.1s"));
        assert_eq!(test_summary("baf139d7 Add warnings for failed agent resolution\n"), None);
    }
}
