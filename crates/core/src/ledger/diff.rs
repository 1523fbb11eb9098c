//! What an edit changed: the lines that went and the lines that came, in pieces that can be told alone.

use super::tool::Arguments;
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A piece of a change has at most this many lines.
const LONGEST_PIECE: usize = 5;
/// Longer texts are compared by their beginnings: an edit of that size is a rewrite.
const MOST_LINES: usize = 800;
/// A longer line is cut.
const LONGEST_LINE: usize = 240;
/// Of more lines that go, only so many of the outermost are told, and how many went: what is gone can no longer be
/// worked with.
const MOST_GONE: usize = 5;

/// A few neighbouring lines of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// `- old` and `+ new` lines.
    pub(super) text: String,
    /// Further lines that went.
    pub(super) also_gone: Vec<String>,
}

impl Piece {
    pub(super) fn of(text: String) -> Piece {
        Piece { text, also_gone: Vec::new() }
    }
}

/// The changes that a call makes to a file, by its arguments: an old and a new text, several of them, or a patch.
pub(super) fn pieces(arguments: &Arguments<'_>) -> Vec<Piece> {
    if let Some(patch) = arguments.first(&["patch", "input", "diff"]).filter(|patch| is_patch(patch)) {
        return patched(&patch);
    }
    let mut all = Vec::new();
    let old = arguments.first(&["old_string", "old_str", "old_text", "search", "old", "oldText"]);
    let new = arguments.first(&["new_string", "new_str", "new_text", "replace", "new", "newText", "replacement"]);
    if old.is_some() || new.is_some() {
        compare(old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default(), &mut all);
    }
    if let Some(edits) = arguments.raw("edits").and_then(|raw| serde_json::from_str::<Vec<Value>>(raw).ok()) {
        for edit in &edits {
            let field = |names: &[&str]| names.iter().find_map(|name| edit.get(name)?.as_str()).unwrap_or_default();
            compare(
                field(&["old_string", "oldText", "old_text"]),
                field(&["new_string", "newText", "new_text"]),
                &mut all,
            );
        }
    }
    if all.is_empty()
        && let Some(content) = arguments.first(&["content", "insert_text", "text", "code_edit"])
    {
        compare("", &content, &mut all);
    }
    all
}

fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch") || text.contains("\n@@") || text.starts_with("@@") || text.starts_with("--- ")
}

fn patched(patch: &str) -> Vec<Piece> {
    let mut all = Vec::new();
    let mut lines = Vec::new();
    for line in patch.lines().chain([""]) {
        let is_change = line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
        match is_change {
            true => lines.push(marked(line.get(..1).unwrap_or_default(), line.get(1..).unwrap_or_default())),
            false => cut(&mut lines, &mut all),
        }
    }
    all
}

fn compare(old: &str, new: &str, all: &mut Vec<Piece>) {
    let old: Vec<&str> = old.lines().take(MOST_LINES).collect();
    let new: Vec<&str> = new.lines().take(MOST_LINES).collect();
    for change in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if matches!(change, DiffOp::Equal { .. }) {
            continue;
        }
        let (mut lines, also_gone) = gone(old.get(change.old_range()).unwrap_or_default());
        lines.extend(new.get(change.new_range()).unwrap_or_default().iter().map(|line| marked("+", line)));
        let first = all.len();
        cut(&mut lines, all);
        if let Some(piece) = all.get_mut(first) {
            piece.also_gone = also_gone;
        }
    }
}

/// The lines that went: those that are told, and the others.
fn gone(lines: &[&str]) -> (Vec<String>, Vec<String>) {
    let says_something = |line: &&str| line.chars().any(char::is_alphanumeric);
    let count = lines.iter().filter(|line| says_something(line)).count();
    if count <= MOST_GONE {
        return (lines.iter().map(|line| marked("-", line)).collect(), Vec::new());
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut outermost: Vec<usize> = (0..lines.len()).filter(|&at| lines.get(at).is_some_and(says_something)).collect();
    outermost.sort_by_key(|&at| lines.get(at).map_or(0, |line| indent(line)));
    outermost.truncate(MOST_GONE - 1);
    outermost.sort_unstable();
    let mut told: Vec<String> = outermost.iter().filter_map(|&at| Some(marked("-", lines.get(at)?))).collect();
    told.push(format!("- … {} lines removed in all", lines.len()));
    (told, lines.iter().map(|line| (*line).to_owned()).collect())
}

fn marked(mark: &str, line: &str) -> String {
    let line = line.trim();
    let line = line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or_default();
    if line.is_empty() { String::new() } else { format!("{mark} {line}") }
}

/// Moves lines into pieces. Lines of the same side stay together where they can.
fn cut(lines: &mut Vec<String>, all: &mut Vec<Piece>) {
    lines.retain(|line| line.len() > 3);
    for piece in lines.chunks(LONGEST_PIECE) {
        all.push(Piece::of(piece.join("\n")));
    }
    lines.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(old: &str, new: &str) -> String {
        let mut all = Vec::new();
        compare(old, new, &mut all);
        all.into_iter().map(|piece| piece.text).collect::<Vec<_>>().join("\n~\n")
    }

    #[test]
    fn only_what_differs_is_told() {
        let old = "fn a() {\n    one();\n    two();\n}";
        let new = "fn a() {\n    one();\n    three();\n}\nfn b() {}";
        assert_eq!(told(old, new), "- two();\n+ three();\n~\n+ fn b() {}");
        assert_eq!(told("same", "same"), "");
    }

    #[test]
    fn of_much_that_goes_the_outermost_lines_are_told() {
        let old = "// about a\nfn a() {\n    one();\n    two();\n    three();\n    four();\n}\nfn b() {\n    five();\n}\nfn c() {}";
        assert_eq!(
            told(old, "fn c() {}"),
            "- // about a\n- fn a() {\n- one();\n- fn b() {\n- … 10 lines removed in all"
        );
    }

    #[test]
    fn patches_are_read_as_they_are() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n-    one();\n+    two();\n context\n+    three();\n*** End Patch";
        let pieces: Vec<String> = patched(patch).into_iter().map(|piece| piece.text).collect();
        assert_eq!(pieces, ["- one();\n+ two();", "+ three();"]);
    }
}
