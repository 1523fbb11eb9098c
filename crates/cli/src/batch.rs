//! Work on many transcripts: finding the files, and processing them in parallel.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Endings of files in a folder that may be transcripts.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// The files that paths name, folders searched through, in the order of their names.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let fail = |error: std::io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
        match std::fs::metadata(path).map_err(fail)?.is_dir() {
            true => search(path, &mut found).map_err(fail)?,
            false => found.push(path.clone()),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    match found.is_empty() {
        true => {
            let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            Err(Failure::input(format!(
                "no transcripts in {}; expected files with the extension .{}",
                places.join(", "),
                ENDINGS.join(", .")
            )))
        }
        false => Ok(found),
    }
}

fn search(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link is not followed: it could lead back to where it stands.
        if entry.file_type()?.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
            found.push(path);
        }
    }
    Ok(())
}

/// The conversations of a file's text: one, or one per line where each line is a whole conversation.
pub fn conversations(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let holds_messages = |line: &&str| match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => {
            ["conversations", "messages", "input"].iter().any(|key| fields.get(*key).is_some_and(Value::is_array))
        }
        Ok(Value::Array(_)) => true,
        _ => false,
    };
    match lines.as_slice() {
        // Most files with several lines are one document or one message per line: the first line tells.
        [first, _, ..] if holds_messages(first) && lines.iter().all(holds_messages) => lines,
        _ => vec![text],
    }
}

/// Works on all items with as many threads as there are cores, and shows how far it is. Results are in the
/// order of the items.
pub fn each<T: Sync, R: Send>(items: &[T], what: &str, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len()).max(1);
    let bar = progress(items.len(), what);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = take(items, &next) {
                    let result = work(item);
                    bar.inc(1);
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, result));
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'t, T>(items: &'t [T], next: &AtomicUsize) -> Option<(usize, &'t T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}

/// A bar on standard error, where somebody sees it.
fn progress(length: usize, what: &str) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}  {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_items() {
        let items: Vec<u64> = (0..200).collect();
        assert_eq!(each(&items, "doubling", |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(each(&[] as &[u64], "nothing", |item| *item).is_empty());
    }

    #[test]
    fn a_line_is_a_conversation_when_all_lines_are() {
        let line = r#"{"conversations":[{"from":"human","value":"Hi"}]}"#;
        assert_eq!(conversations(&format!("{line}\n\n{line}\n")), [line, line]);
        let messages = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
        assert_eq!(conversations(messages), [messages]);
        let pretty = "{\n\"messages\": []\n}";
        assert_eq!(conversations(pretty), [pretty]);
    }

    #[test]
    fn folders_are_searched_and_files_are_taken_at_their_word() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        for name in ["b.json", "deep/a.jsonl", "notes.txt"] {
            std::fs::write(folder.path().join(name), "[]").unwrap();
        }
        let named = folder.path().join("notes.txt");
        let found = files(&[folder.path().to_owned(), named]).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["b.json", "a.jsonl", "notes.txt"]);
    }
}
