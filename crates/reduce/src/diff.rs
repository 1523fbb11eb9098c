//! Decides what stays of a diff: every file with its counts, the hunks, and the changed lines that matter most.

use super::definitions::definition;
use super::lines::{lines, prefix, push};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};
use crate::wording::counted;

const LONGEST_CHANGE: usize = 140;
/// Bytes for the names of files of which no line is shown; a larger change is known by its count.
const MOST_FILE_BYTES: usize = 4_000;
/// Changed lines are candidates up to this many.
const MOST_CHANGES: usize = MOST_CANDIDATES;

#[derive(Default)]
struct File<'a> {
    path: &'a str,
    added: usize,
    removed: usize,
    hunks: usize,
    lines: Vec<String>,
}

struct Change<'a> {
    file: usize,
    number: usize,
    text: &'a str,
    weight: u32,
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut before: Vec<&str> = Vec::new();
    let (mut files, changes) = read(output.text, &mut before);
    if files.is_empty() {
        return None;
    }
    let room = output.room.bytes();
    let names: usize = files.iter().map(|file| file.path.len() + 10).sum();
    let heading: usize = before.iter().map(|line| line.len() + 1).sum();
    let candidates = changes
        .iter()
        .enumerate()
        .map(|(position, change)| Candidate {
            position,
            weight: change.weight,
            text: prefix(change.text.trim_end(), LONGEST_CHANGE),
            extra: 6,
        })
        .collect();
    let left = room.saturating_sub((names + heading).min(room / 2));
    for picked in pick(candidates, left, output.focus, output.names) {
        if let Some(change) = changes.get(picked.position)
            && let Some(file) = files.get_mut(change.file)
        {
            file.lines.push(format!("{} {}", change.number, picked.text));
        }
    }
    let mut text = String::new();
    for line in before {
        push(&mut text, line);
    }
    let shared = super::search::shared_folder(files.iter().map(|file| file.path));
    if !shared.is_empty() {
        push(&mut text, &format!("under {shared}"));
    }
    let mut others: Vec<String> = Vec::new();
    for file in &files {
        let name = file.path.strip_prefix(shared).unwrap_or(file.path);
        if file.lines.is_empty() {
            others.push(format!("{name} +{} -{}", file.added, file.removed));
            continue;
        }
        push(&mut text, &format!("{name} +{} -{} in {}", file.added, file.removed, counted(file.hunks, "hunk")));
        file.lines.iter().for_each(|line| push(&mut text, line));
    }
    if let Some(line) = super::lines::roll("also:", others.iter().map(String::as_str), MOST_FILE_BYTES) {
        push(&mut text, &line);
    }
    let (added, removed) =
        files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    Some(Body { note: format!("{}, +{added} -{removed}", counted(files.len(), "file")), text })
}

/// Files and their changed lines; what stands before the first file goes to `before`.
fn read<'a>(text: &'a str, before: &mut Vec<&'a str>) -> (Vec<File<'a>>, Vec<Change<'a>>) {
    let mut files: Vec<File<'a>> = Vec::new();
    let mut changes = Vec::new();
    let mut number = 0usize;
    let mut inside = false;
    for line in lines(text) {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            let path = rest.rsplit_once(" b/").map_or(rest, |(_, path)| path);
            files.push(File { path, ..File::default() });
            inside = false;
        } else if !inside && line.starts_with("+++ ") {
            let path = line.get(4..).unwrap_or_default().split('\t').next().unwrap_or_default();
            let path = path.strip_prefix("b/").unwrap_or(path);
            match files.last_mut() {
                Some(file) if file.hunks == 0 => {
                    if path != "/dev/null" {
                        file.path = path;
                    }
                }
                _ => files.push(File { path, ..File::default() }),
            }
        } else if line.starts_with("@@ ") {
            inside = true;
            number = line
                .split('+')
                .nth(1)
                .and_then(|rest| rest.split([',', ' ']).next())
                .and_then(|digits| digits.parse().ok())
                .unwrap_or(0);
            let index = files.len().saturating_sub(1);
            if let Some(file) = files.last_mut() {
                file.hunks += 1;
            }
            let context = line.get(3..).and_then(|rest| rest.split_once("@@ ")).map_or("", |(_, context)| context);
            if !context.trim().is_empty() && changes.len() < MOST_CHANGES {
                changes.push(Change { file: index, number, text: context, weight: 2 });
            }
        } else if inside {
            let index = files.len().saturating_sub(1);
            let change = line.starts_with('+') || line.starts_with('-');
            if let (Some(file), true) = (files.last_mut(), change) {
                if line.starts_with('+') {
                    file.added += 1
                } else {
                    file.removed += 1
                }
                let body = line.get(1..).unwrap_or_default();
                if !body.trim().is_empty() && changes.len() < MOST_CHANGES {
                    let weight = if definition(body).is_some() { 10 } else { 1 };
                    changes.push(Change { file: index, number, text: line, weight });
                }
            }
            if !line.starts_with('-') {
                number += 1;
            }
        } else if files.is_empty() && before.len() < 6 && !line.trim().is_empty() && !line.starts_with("--- ") {
            before.push(prefix(line, 120));
        }
    }
    (files, changes)
}
