//! What an edit changed: the lines that went and the lines that came, in pieces that can be told alone.

use super::code;
use super::tool::{Arguments, Call};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// A piece of a change has at most this many lines.
const LONGEST_PIECE: usize = 5;
/// Longer texts are compared by their beginnings: an edit of that size is a rewrite.
const MOST_LINES: usize = 800;
/// A longer line is cut.
const LONGEST_LINE: usize = 240;
/// Of more lines that go, only so many of the outermost are told, and how many went: what is gone can no longer be
/// worked with.
const MOST_GONE: usize = 5;
/// More new lines in a row are something new, like a file that is written: its outline says what it is.
const LONGEST_CHANGE: usize = 24;

/// A few neighbouring lines of a change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// `- old` and `+ new` lines.
    pub(super) text: String,
    /// Further lines that went.
    pub(super) also_gone: Vec<String>,
    /// Whether it is the inside of something long and new, whose outline is told as the change.
    pub(super) is_inside: bool,
    /// The lines before and behind the change.
    pub(super) beside: Neighbours,
}

/// The lines around a change, where the edit shows them: they tell two places with the same line apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbours {
    before: Option<String>,
    behind: Option<String>,
}

impl Neighbours {
    fn of(lines: &[&str], place: Range<usize>) -> Neighbours {
        let says_something = |line: &&&str| line.chars().any(char::is_alphanumeric);
        let before = lines.get(..place.start).unwrap_or_default().iter().rev().find(says_something);
        let behind = lines.get(place.end..).unwrap_or_default().iter().find(says_something);
        let owned = |line: &&str| line.trim().to_owned();
        Neighbours { before: before.map(owned), behind: behind.map(owned) }
    }

    /// Whether both may be the same place: nothing says that they are not.
    pub(super) fn agree(&self, other: &Neighbours) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| one.is_none() || other.is_none() || one == other;
        agree(&self.before, &other.before) && agree(&self.behind, &other.behind)
    }
}

impl Piece {
    pub(super) fn of(text: String) -> Piece {
        Piece { text, ..Piece::default() }
    }
}

/// The changes that a call makes to a file, by its arguments: an old and a new text, several of them, or a patch.
pub(super) fn pieces(call: &Call<'_>, arguments: &Arguments<'_>) -> Vec<Piece> {
    if let Some(patch) = &call.patch {
        return patched(patch);
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
        let (outer, inside) = come(new.get(change.new_range()).unwrap_or_default());
        lines.extend(outer);
        let first = all.len();
        cut(&mut lines, all);
        if let Some(piece) = all.get_mut(first) {
            piece.also_gone = also_gone;
        }
        let outer = all.len();
        inside.into_iter().for_each(|mut lines| cut(&mut lines, all));
        all.iter_mut().skip(outer).for_each(|piece| piece.is_inside = true);
        let beside = Neighbours::of(&old, change.old_range());
        all.iter_mut().skip(first).for_each(|piece| piece.beside.clone_from(&beside));
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

/// The lines that came: those that say what changed, and runs of those inside something long and new.
fn come(lines: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let marked = |line: &&str| marked("+", line);
    if lines.len() <= LONGEST_CHANGE {
        return (lines.iter().map(marked).collect(), Vec::new());
    }
    let parts = code::parts(lines);
    let is_inside = |at: &usize| parts.get(*at) == Some(&code::Part::Inside);
    let told = |places: &[usize]| places.iter().filter_map(|&at| lines.get(at)).map(marked).collect();
    let places: Vec<usize> = (0..lines.len()).collect();
    let outline: Vec<usize> = places.iter().copied().filter(|at| !is_inside(at)).collect();
    let runs = places.split(|at| !is_inside(at)).filter(|run| !run.is_empty());
    (told(&outline), runs.map(told).collect())
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
    fn of_something_long_and_new_the_outline_is_the_change() {
        let body = "    let x = step();\n".repeat(30);
        let mut all = Vec::new();
        compare("", &format!("/// Adds.\nfn add() {{\n{body}}}\nconst MOST: u32 = 4;"), &mut all);
        let outer: Vec<&str> = all.iter().filter(|piece| !piece.is_inside).map(|piece| piece.text.as_str()).collect();
        assert_eq!(outer, ["+ fn add() {\n+ const MOST: u32 = 4;"]);
        assert!(all.iter().any(|piece| piece.is_inside && piece.text.contains("step()")));
    }

    #[test]
    fn patches_are_read_as_they_are() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n-    one();\n+    two();\n context\n+    three();\n*** End Patch";
        let pieces: Vec<String> = patched(patch).into_iter().map(|piece| piece.text).collect();
        assert_eq!(pieces, ["- one();\n+ two();", "+ three();"]);
    }
}
