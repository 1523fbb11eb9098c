//! How a command ended, read off its output: exit code, and the lines that say what went wrong.

/// Where exit codes stand: near the beginning or the end of an output.
const EDGE: usize = 240;
/// Phrases in front of an exit code, in lower case.
const PHRASES: [&str; 6] =
    ["exit code: ", "exit code ", "exited with code ", "exit_code\": ", "exit_code\":", "exit status "];

/// Words that mark a line as trouble.
const TROUBLE: [&str; 12] = [
    "error",
    "failed",
    "failure",
    "fail:",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "denied",
    "not found",
    "no such file",
    "undefined",
];

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

/// Lines that say what went wrong: at most `most`, the last ones win.
pub(super) fn trouble(output: &str, most: usize) -> Vec<&str> {
    let mut lines: Vec<&str> = output
        .lines()
        .rev()
        .take(400)
        .map(str::trim)
        .filter(|line| (8..400).contains(&line.len()) && is_trouble(line))
        .take(most)
        .collect();
    lines.reverse();
    lines
}

/// Whether a line speaks of trouble.
pub(super) fn is_trouble(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    TROUBLE.iter().any(|word| lower.contains(word)) && !lower.contains("0 failed") && !lower.contains("no error")
}

/// The line in which a test run sums itself up.
pub(super) fn test_summary(output: &str) -> Option<&str> {
    output.lines().rev().take(200).map(str::trim).find(|line| {
        let counts = line.bytes().any(|byte| byte.is_ascii_digit());
        (counts && (line.contains(" passed") || line.contains(" failed") || line.contains("Tests:")))
            || line.starts_with("test result:")
            || line.starts_with("--- FAIL")
            || (line.starts_with("ok  \t") || line.starts_with("FAIL\t"))
    })
}
