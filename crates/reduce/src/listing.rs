//! Decides what stays of a listing: the folders with their counts, and as many names as fit.

use crate::wording::counted;
use rustc_hash::FxHashMap;

use super::lines::{lines, push};
use super::{Body, Output};
use crate::search::{is_path, shared_folder};

/// Sizes are only worth a word from here on.
const HUGE: u64 = 50 * 1024 * 1024;
/// Folders that are told apart; the rest is counted.
const MOST_FOLDERS: usize = 2_000;
/// Deeper branches of a tree are counted with their parent.
const DEEPEST: usize = 32;
/// Bytes that every folder gets for its names.
const LEAST_SHARE: usize = 30;
/// Names that are remembered per folder.
const MOST_NAMES: usize = 400;

/// A line of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListedEntry<'a> {
    /// A file or folder with its size, if the listing says so.
    Name(&'a str, Option<u64>),
    /// A name below the last folder of a tree, with its depth.
    Branch(usize, &'a str),
    /// `folder:` before its entries.
    Folder(&'a str),
}

struct Folder<'a> {
    path: String,
    names: Vec<&'a str>,
    count: usize,
}

/// Folders by their path; the last one is remembered, because listings come in order.
#[derive(Default)]
struct Folders<'a> {
    list: Vec<Folder<'a>>,
    index: FxHashMap<String, usize>,
    last: usize,
    beyond: usize,
}

impl<'a> Folders<'a> {
    fn add(&mut self, path: &str, name: &'a str) {
        if self.list.get(self.last).is_none_or(|folder| folder.path != path) {
            self.last = match self.index.get(path) {
                Some(at) => *at,
                None if self.list.len() < MOST_FOLDERS => {
                    self.index.insert(path.to_owned(), self.list.len());
                    self.list.push(Folder { path: path.to_owned(), names: Vec::new(), count: 0 });
                    self.list.len() - 1
                }
                None => {
                    self.beyond += 1;
                    return;
                }
            };
        }
        if let Some(folder) = self.list.get_mut(self.last) {
            folder.count += 1;
            if folder.names.len() < MOST_NAMES {
                folder.names.push(name);
            }
        }
    }
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut folders = Folders::default();
    let mut huge: Vec<String> = Vec::new();
    let mut other = super::alarm::Distinct::default();
    let mut current = String::new();
    let mut branch: Vec<&str> = Vec::new();
    let mut path = String::new();
    let mut total = 0usize;
    for line in lines(output.text) {
        path.clear();
        let (name, size) = match entry(line) {
            None => {
                if let Some(severity) = super::alarm::severity(line) {
                    other.add(line, severity);
                }
                continue;
            }
            Some(ListedEntry::Folder(name)) => {
                current = format!("{}/", name.trim_end_matches('/'));
                continue;
            }
            Some(ListedEntry::Branch(depth, name)) => {
                branch.truncate(depth.min(DEEPEST));
                path.extend(branch.iter().flat_map(|part| [part.trim_end_matches('/'), "/"]));
                branch.push(name);
                (name, None)
            }
            Some(ListedEntry::Name(name, size)) => {
                path.push_str(&current);
                let cut = name.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
                path.push_str(name.get(..cut).unwrap_or_default());
                (name.get(cut..).unwrap_or(name), size)
            }
        };
        total += 1;
        if size.is_some_and(|size| size >= HUGE) && huge.len() < 20 {
            huge.push(format!("{path}{name} {} MB", size.unwrap_or(0) / (1024 * 1024)));
        }
        folders.add(&path, name);
    }
    if total == 0 {
        return None;
    }
    folders.list.sort_by(|a, b| a.path.cmp(&b.path));
    let mut text = written(&folders.list, output);
    if folders.beyond > 0 {
        push(&mut text, &format!("[… {} entries in further folders]", folders.beyond));
    }
    if let Some(line) = super::lines::roll("huge:", huge.iter().map(String::as_str), 400) {
        push(&mut text, &line);
    }
    for line in other.write(output.room.bytes().saturating_sub(text.len()), &text) {
        push(&mut text, &line);
    }
    Some(Body { note: format!("{} in {}", counted(total, "entry"), counted(folders.list.len(), "folder")), text })
}

/// Folders below the shared one; each gets a share of the room by its number of names.
fn written(folders: &[Folder<'_>], output: &Output<'_>) -> String {
    let shared = shared_folder(folders.iter().map(|folder| folder.path.as_str()));
    let room = output.room.bytes() * 5 / 4;
    let total: usize = folders.iter().map(|folder| folder.count).sum();
    let labels: usize = folders.iter().map(|folder| folder.path.len().saturating_sub(shared.len()) + 8).sum();
    let for_names = room.saturating_sub(labels.min(room / 2));
    let mut text = String::new();
    if !shared.is_empty() {
        push(&mut text, &format!("under {shared}"));
    }
    let mut left_out = 0usize;
    for folder in folders {
        if text.len() > room {
            left_out += folder.count;
            continue;
        }
        let name = folder.path.strip_prefix(shared).unwrap_or(&folder.path);
        let share = (for_names * folder.count / total.max(1)).max(LEAST_SHARE);
        let label = match (name, folder.count) {
            ("", _) => "./:".to_owned(),
            (name, 1) => format!("{name}:"),
            (name, count) => format!("{name} ({count}):"),
        };
        let (listed, extra) = (folder.names.iter().copied(), folder.count - folder.names.len());
        if let Some(mut line) = super::lines::roll(&label, listed, label.len() + share) {
            if extra > 0 {
                line.push_str(&format!(" (+{extra})"));
            }
            push(&mut text, &line);
        }
    }
    if left_out > 0 {
        push(&mut text, &format!("[… {left_out} entries in further folders]"));
    }
    text
}

/// True for a line that can only be an entry of a listing.
pub(super) fn is_entry(line: &str) -> bool {
    match entry(line) {
        Some(ListedEntry::Branch(..)) => true,
        Some(ListedEntry::Name(name, size)) => size.is_some() || (is_path(name) && !name.contains(':')),
        Some(ListedEntry::Folder(_)) | None => false,
    }
}

fn entry(line: &str) -> Option<ListedEntry<'_>> {
    let text = line.trim();
    if text.is_empty() || text.len() > 400 {
        return None;
    }
    if text.starts_with("total ")
        && text.bytes().skip(6).all(|b| b.is_ascii_digit() || b == b'K' || b == b'M' || b == b'G' || b == b'.')
    {
        return None;
    }
    if let Some(found) = branch(line) {
        return Some(found);
    }
    if let Some(found) = long_entry(text) {
        return Some(found);
    }
    if let Some(folder) = text.strip_suffix(':') {
        return (!folder.contains(' ')).then_some(ListedEntry::Folder(folder));
    }
    (!text.contains(' ') && !text.contains('\t')).then_some(ListedEntry::Name(text, None))
}

/// A line of `tree`.
fn branch(line: &str) -> Option<ListedEntry<'_>> {
    if !line.starts_with(['│', '├', '└', '|', '`', '+', ' ', '\u{a0}']) {
        return None;
    }
    let start = line.find("── ").or_else(|| line.find("-- ").filter(|_| line.starts_with(['|', '`', '+'])))?;
    let lead = line.get(..start)?;
    let name = line.get(start..)?.trim_start_matches(['─', '-', ' ']);
    if !lead.chars().all(|c| matches!(c, '│' | '├' | '└' | '|' | '`' | '+' | ' ' | '\u{a0}')) {
        return None;
    }
    Some(ListedEntry::Branch(lead.chars().count() / 4, name))
}

/// A line of `ls -l`: mode, links, owner, group, size, three words of date, name.
fn long_entry(text: &str) -> Option<ListedEntry<'_>> {
    let mode = text.split_ascii_whitespace().next()?;
    if !(10..=11).contains(&mode.len())
        || !mode.starts_with(['-', 'd', 'l', 'c', 'b', 's', 'p'])
        || !mode.bytes().skip(1).take(9).all(|b| b"rwxsStT-".contains(&b))
    {
        return None;
    }
    let mut rest = text;
    let mut size = 0u64;
    for field in 0..8 {
        let (word, after) = rest.split_once(' ')?;
        if field == 4 {
            size = word.trim_end_matches(',').parse().unwrap_or(0);
        }
        rest = after.trim_start();
    }
    (rest != "." && rest != "..").then_some(ListedEntry::Name(rest, Some(size)))
}
