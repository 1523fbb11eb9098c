//! Decides what stays of search results: every file with its number of matches, and the best lines of each.

use crate::wording::counted;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

use super::definitions::definition;
use super::lines::{lines, prefix, push, trim};
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::{Body, Output};

/// The longest matching line; search results are read for where, then for what.
const LONGEST_HIT: usize = 140;

/// One line of a search result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit<'a> {
    /// Empty when the search was in one file.
    pub path: &'a str,
    pub number: usize,
    /// A matching line, not one around it.
    pub matched: bool,
    pub text: &'a str,
}

struct File<'a> {
    path: &'a str,
    matches: usize,
    lines: Vec<(usize, &'a str)>,
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut files: Vec<File<'_>> = Vec::new();
    let mut index: FxHashMap<&str, usize> = FxHashMap::default();
    let mut hits: Vec<(usize, Hit<'_>)> = Vec::new();
    let mut heading = "";
    let mut last = "";
    for line in lines(output.text) {
        let Some(mut hit) = hit(line, last) else {
            if is_path(line) {
                heading = line;
            }
            continue;
        };
        if hit.path.is_empty() {
            hit.path = heading;
        } else {
            last = hit.path;
        }
        let at = *index.entry(hit.path).or_insert_with(|| {
            files.push(File { path: hit.path, matches: 0, lines: Vec::new() });
            files.len() - 1
        });
        if let Some(file) = files.get_mut(at) {
            file.matches += usize::from(hit.matched);
        }
        if hits.len() < MOST_CANDIDATES {
            hits.push((at, hit));
        }
    }
    if hits.is_empty() {
        return None;
    }
    let matches: usize = files.iter().map(|file| file.matches).sum();
    let candidates = hits
        .iter()
        .enumerate()
        .filter(|(_, (_, hit))| !trim(hit.text).is_empty())
        .map(|(position, (_, hit))| Candidate {
            position,
            weight: weight(hit),
            text: prefix(trim(hit.text), LONGEST_HIT),
            extra: 8,
        })
        .collect();
    let shared = shared_folder(files.iter().map(|file| file.path));
    let names: usize = files.iter().map(|file| file.path.len().saturating_sub(shared.len()) + 6).sum();
    let room = output.room.bytes();
    let for_lines = room.saturating_sub(names.min(room / 2));
    for picked in pick(candidates, for_lines, output.focus, output.names) {
        if let Some((at, hit)) = hits.get(picked.position)
            && let Some(file) = files.get_mut(*at)
        {
            file.lines.push((hit.number, picked.text));
        }
    }
    Some(Body {
        note: format!("{} in {}", counted(matches, "match"), counted(files.len(), "file")),
        text: written(&files, shared, room),
    })
}

/// Matching lines come before lines around them, definitions before uses.
fn weight(hit: &Hit<'_>) -> u32 {
    match (hit.matched, definition(hit.text).is_some()) {
        (true, true) => 24,
        (true, false) => 8,
        (false, true) => 4,
        (false, false) => 0,
    }
}

/// Files with lines first as blocks, then the others with their counts.
fn written(files: &[File<'_>], shared: &str, room: usize) -> String {
    let mut text = String::with_capacity(2 * room);
    if !shared.is_empty() {
        let _ = writeln!(text, "under {shared}");
    }
    for file in files.iter().filter(|file| !file.lines.is_empty()) {
        let name = file.path.strip_prefix(shared).unwrap_or(file.path);
        if !name.is_empty() {
            let _ = write!(text, "{name} ({})", file.matches);
        }
        for (number, line) in &file.lines {
            match number {
                0 => _ = writeln!(text, " {line}"),
                _ => _ = writeln!(text, " {number}: {line}"),
            }
        }
    }
    let others: Vec<String> = files
        .iter()
        .filter(|file| file.lines.is_empty())
        .map(|file| format!("{} ({})", file.path.strip_prefix(shared).unwrap_or(file.path), file.matches))
        .collect();
    if let Some(line) = super::lines::roll("also:", others.iter().map(String::as_str), room / 2) {
        push(&mut text, &line);
    }
    text
}

/// The folder that all paths share, with its slash; empty unless that saves something.
pub(super) fn shared_folder<'a>(paths: impl Iterator<Item = &'a str>) -> &'a str {
    let mut shared: Option<&str> = None;
    let mut seen = 0usize;
    for path in paths {
        seen += 1;
        shared = Some(match shared {
            None => path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default(),
            Some(folder) => common_folder(folder, path),
        });
    }
    shared.filter(|folder| seen > 1 && folder.len() > 8).unwrap_or_default()
}

fn common_folder<'a>(folder: &'a str, path: &str) -> &'a str {
    let same = folder.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    let end = folder.as_bytes().get(..same).and_then(|bytes| memchr::memrchr(b'/', bytes)).map_or(0, |at| at + 1);
    folder.get(..end).unwrap_or_default()
}

/// Reads `path:12:text`, `path-12-text`, `12:text`, `12-text` and `path:text`. A path that was seen before settles
/// where a name with dashes and digits ends.
pub(super) fn hit<'a>(line: &'a str, last: &str) -> Option<Hit<'a>> {
    if !last.is_empty()
        && let Some(rest) = line.strip_prefix(last)
        && let Some((number, matched, text)) = number_of(rest)
    {
        return Some(Hit { path: prefix(line, last.len()), number, matched, text });
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=7).contains(&digits) {
        let (number, rest) = line.split_at_checked(digits)?;
        let matched = rest.starts_with(':');
        if matched || rest.starts_with('-') {
            return Some(Hit { path: "", number: number.parse().ok()?, matched, text: rest.get(1..)? });
        }
    }
    let head = prefix(line, 300).as_bytes();
    // A colon settles more than a dash: names with dashes and digits are common.
    for mark in [b':', b'-'] {
        for at in memchr::memchr_iter(mark, head) {
            let (path, rest) = line.split_at_checked(at)?;
            if path.bytes().any(|b| b == b' ') {
                break;
            }
            if let Some((number, matched, text)) = number_of(rest)
                && is_path(path)
            {
                return Some(Hit { path, number, matched, text });
            }
        }
    }
    let (path, text) = line.split_once(':')?;
    (is_path(path) && !text.starts_with("//")).then_some(Hit { path, number: 0, matched: true, text })
}

/// `:12:text` or `-12-text`.
fn number_of(rest: &str) -> Option<(usize, bool, &str)> {
    let mark = rest.bytes().next().filter(|b| matches!(b, b':' | b'-'))?;
    let after = rest.get(1..)?;
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=7).contains(&digits) || after.as_bytes().get(digits) != Some(&mark) {
        return None;
    }
    Some((after.get(..digits)?.parse().ok()?, mark == b':', after.get(digits + 1..)?))
}

/// True for a word that can be a file: no blanks, and a slash or an extension.
pub(super) fn is_path(word: &str) -> bool {
    let bytes = word.as_bytes();
    let within = (2..=300).contains(&bytes.len());
    let seen = if within { bytes.iter().fold(0, |seen, byte| seen | in_path(*byte)) } else { NO_PATH };
    seen & (NO_PATH | JOINS | WRITES) == JOINS | WRITES && !(seen & COLON != 0 && word.contains("://"))
}

const NO_PATH: u8 = 1;
/// Joins the parts of a path.
const JOINS: u8 = 2;
/// Letters and digits.
const WRITES: u8 = 4;
const COLON: u8 = 8;

/// What a byte is to a path.
const fn in_path(byte: u8) -> u8 {
    const CLASSES: [u8; 256] = {
        let mut classes = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = match byte as u8 {
                b'(' | b')' | b'"' | b'{' | b'}' | b'<' | b'>' | b'=' | b';' | b',' | b'|' => NO_PATH,
                b'/' | b'.' | b'\\' => JOINS,
                b':' => COLON,
                other if other.is_ascii_whitespace() => NO_PATH,
                other if other.is_ascii_alphanumeric() => WRITES,
                _ => 0,
            };
            byte += 1;
        }
        classes
    };
    CLASSES[byte as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_read_in_every_form() {
        let read = |line| hit(line, "").map(|hit| (hit.path, hit.number, hit.matched, hit.text));
        assert_eq!(read("src/a-1-b.rs:12:let x"), Some(("src/a-1-b.rs", 12, true, "let x")));
        assert_eq!(read("src/a.rs-13-  y"), Some(("src/a.rs", 13, false, "  y")));
        assert_eq!(read("7:fn main"), Some(("", 7, true, "fn main")));
        assert_eq!(read("src/a.rs:plain"), Some(("src/a.rs", 0, true, "plain")));
        assert_eq!(read("no hit: here"), None);
        assert_eq!(hit("a-2-b.go-3-x", "a-2-b.go").map(|hit| hit.number), Some(3));
    }

    #[test]
    fn the_shared_folder_ends_with_a_slash() {
        assert_eq!(shared_folder(["/srv/project/a.rs", "/srv/project/b/c.rs"].into_iter()), "/srv/project/");
        assert_eq!(shared_folder(["/srv/project/a.rs"].into_iter()), "");
    }
}
