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

/// A few neighbouring lines of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// `- old` and `+ new` lines.
    pub(super) text: String,
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
        let mut lines = Vec::new();
        let gone = old.get(change.old_range()).unwrap_or_default().iter().map(|line| marked("-", line));
        let come = new.get(change.new_range()).unwrap_or_default().iter().map(|line| marked("+", line));
        lines.extend(gone.chain(come));
        cut(&mut lines, all);
    }
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
        all.push(Piece { text: piece.join("\n") });
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
    fn patches_are_read_as_they_are() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n-    one();\n+    two();\n context\n+    three();\n*** End Patch";
        let pieces: Vec<String> = patched(patch).into_iter().map(|piece| piece.text).collect();
        assert_eq!(pieces, ["- one();\n+ two();", "+ three();"]);
    }
}
