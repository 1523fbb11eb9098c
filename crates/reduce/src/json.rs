//! Decides what stays of JSON: the shape of its arrays and objects, and the values that name or judge things.
//!
//! The document is read once as a stream into a summary of bounded size; no tree of the whole is ever built.

use crate::wording::counted;
use std::borrow::Cow;
use std::fmt::Write as _;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lines::{cut, lines, prefix, push, suffix};
use super::{Body, Output};

/// Keys that are told apart per object.
const MOST_KEYS: usize = 60;
/// Items of an array that are kept as examples.
const MOST_ITEMS: usize = 1;
/// Further items that are kept as one line each.
const MOST_BRIEFS: usize = 60;
/// Deeper values are only counted by type.
const DEEPEST: usize = 6;
/// The longest string that stays whole, and for keys that name or judge.
const LONGEST_VALUE: usize = 60;
const LONGEST_TELLING: usize = 160;
/// Keys whose values name things or say how they went.
const TELLING: &[&str] = &[
    "id", "name", "title", "status", "state", "error", "message", "path", "file", "url", "code", "type", "reason",
    "key", "line", "number", "author", "body",
];
/// Keys that are worth a look in every item: what went wrong is never only counted.
const JUDGING: &[&str] = &["error", "errors", "exception", "failure", "failed"];
/// Bytes for the names of an array's keys.
const MOST_KEY_BYTES: usize = 120;
/// Values of judging keys that are remembered.
const MOST_JUDGED: usize = 40;

/// Bytes at the start and the end of a text that are looked at.
const EDGE: usize = 4 * 1024;

/// What was learned about one value.
#[derive(Debug, Clone)]
enum Shape {
    Scalar(String),
    Object(Vec<(String, Shape)>, usize),
    Array(Items),
    Unread,
}

/// An array: its first items, one line each for the next ones, and the count.
#[derive(Debug, Clone, Default)]
struct Items {
    first: Vec<Shape>,
    briefs: Vec<String>,
    count: usize,
}

impl Items {
    /// What should be read of the next item.
    fn reading(&self) -> Reading {
        if self.first.len() + self.briefs.len() < MOST_ITEMS + MOST_BRIEFS { Reading::Full } else { Reading::Judged }
    }

    fn add(&mut self, item: Shape) {
        self.count += 1;
        if self.first.len() < MOST_ITEMS {
            self.first.push(item);
        } else if self.briefs.len() < MOST_BRIEFS {
            self.briefs.extend(item.brief());
        }
    }
}

impl Shape {
    /// The values of an item that name or judge it, on one line.
    fn brief(&self) -> Option<String> {
        match self {
            Shape::Scalar(value) => Some(value.clone()),
            Shape::Object(keys, _) => {
                let mut line = String::new();
                for (key, shape) in keys {
                    if let (true, Shape::Scalar(value)) = (is_telling(key), shape) {
                        let _ = write!(
                            line,
                            "{}{key}: {}",
                            if line.is_empty() { "" } else { "; " },
                            cut(value, LONGEST_VALUE)
                        );
                    }
                }
                (!line.is_empty()).then_some(line)
            }
            Shape::Array(_) | Shape::Unread => None,
        }
    }
}

/// How much of a value is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Its shape and its values.
    Full,
    /// Only what went wrong.
    Judged,
}

/// True when a text starts and ends like one JSON document.
pub(super) fn looks_like(text: &str) -> bool {
    let (start, end) = (prefix(text, EDGE).trim_start(), suffix(text, EDGE).trim_end());
    let inner = start.get(1..).unwrap_or_default().trim_start();
    (start.starts_with('{') && end.ends_with('}') && (inner.starts_with('"') || inner == "}"))
        || (start.starts_with('[')
            && end.ends_with(']')
            && inner.starts_with([
                '{', '[', '"', ']', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 't', 'f', 'n',
            ]))
}

/// True when most lines are JSON objects.
pub(super) fn is_lines(sample: &[&str]) -> bool {
    let objects = sample.iter().filter(|line| line.starts_with("{\"")).count();
    objects >= 2 && objects * 10 >= sample.len() * 8
}

pub(super) fn reduce(output: &Output<'_>) -> Option<Body> {
    let mut judged = Vec::new();
    let text = output.text.trim();
    let shape = document(text, Reading::Full, &mut judged).or_else(|| stream(text, &mut judged))?;
    let mut out = String::new();
    let note = match &shape {
        Shape::Array(items) => format!("array of {}", items.count),
        Shape::Object(keys, more) => format!("object with {}", counted(keys.len() + more, "key")),
        _ => String::new(),
    };
    let room = output.room.bytes();
    for value in &judged {
        if out.len() < room {
            push(&mut out, value);
        }
    }
    let writer = Writer { room: room.saturating_add(out.len() / 2) };
    writer.write(&shape, 0, "", &mut out);
    Some(Body { note, text: out })
}

fn document(text: &str, reading: Reading, judged: &mut Vec<String>) -> Option<Shape> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let shape = Seed { depth: 0, key: "", reading, judged }.deserialize(&mut reader).ok()?;
    reader.end().ok().map(|()| shape)
}

/// JSON lines become one array; a line that is none ends the attempt unless most lines are.
fn stream(text: &str, judged: &mut Vec<String>) -> Option<Shape> {
    let mut items = Items::default();
    let mut broken = 0usize;
    for line in lines(text).filter(|line| !line.trim().is_empty()) {
        let shape = if line.starts_with(['{', '[']) { document(line, items.reading(), judged) } else { None };
        match shape {
            Some(shape) => items.add(shape),
            None => broken += 1,
        }
        if broken > 4 + items.count / 4 {
            return None;
        }
    }
    (items.count > 0).then_some(Shape::Array(items))
}

/// Reads one value at a depth, below a key.
struct Seed<'j, 'k> {
    depth: usize,
    key: &'k str,
    reading: Reading,
    judged: &'j mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Shape;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Shape, D::Error> {
        if self.depth > DEEPEST {
            return reader.deserialize_ignored_any(IgnoredAny).map(|_| Shape::Unread);
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Shape;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(self.scalar(&value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(self.scalar(&value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(self.scalar(&value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Shape, E> {
        Ok(self.scalar(&value))
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(self.scalar(&"null"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        if JUDGING.contains(&self.key) && !value.is_empty() && self.judged.len() < MOST_JUDGED {
            let line = format!("{}: {}", self.key, one_line(value, LONGEST_TELLING));
            if !self.judged.contains(&line) {
                self.judged.push(line);
            }
        }
        Ok(match self.reading {
            Reading::Full => {
                Shape::Scalar(one_line(value, if is_telling(self.key) { LONGEST_TELLING } else { LONGEST_VALUE }))
            }
            Reading::Judged => Shape::Unread,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut items = Items::default();
        loop {
            let reading = if self.reading == Reading::Full { items.reading() } else { Reading::Judged };
            let judged = &mut *self.judged;
            let Some(shape) =
                entries.next_element_seed(Seed { depth: self.depth + 1, key: self.key, reading, judged })?
            else {
                break;
            };
            items.add(shape);
        }
        Ok(Shape::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut kept: Vec<(String, Shape)> = Vec::new();
        let mut more = 0usize;
        while let Some(Key(key)) = entries.next_key_seed(KeySeed)? {
            let judged = &mut *self.judged;
            let reading = if kept.len() < MOST_KEYS { self.reading } else { Reading::Judged };
            let shape = entries.next_value_seed(Seed { depth: self.depth + 1, key: &key, reading, judged })?;
            if reading == Reading::Full {
                kept.push((cut(&key, LONGEST_VALUE).into_owned(), shape));
            } else {
                more += 1;
            }
        }
        Ok(Shape::Object(kept, more))
    }
}

impl Seed<'_, '_> {
    fn scalar(&self, value: &dyn std::fmt::Display) -> Shape {
        match self.reading {
            Reading::Full => Shape::Scalar(value.to_string()),
            Reading::Judged => Shape::Unread,
        }
    }
}

/// A key, borrowed from the document unless it holds escapes.
struct Key<'a>(Cow<'a, str>);
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Key<'de>;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Key<'de>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Borrowed(key)))
    }

    fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
        Ok(Key(Cow::Owned(key.to_owned())))
    }
}

/// True for keys such as `id`, `user_name`, `errorMessage`.
fn is_telling(key: &str) -> bool {
    let lower = prefix(key, 40).to_ascii_lowercase();
    let last = lower.rsplit(['_', '-']).next().unwrap_or(&lower);
    TELLING.contains(&last) || ["Id", "Name", "Path", "Message", "Error", "Status"].iter().any(|end| key.ends_with(end))
}

fn one_line(value: &str, limit: usize) -> String {
    let mut line = String::new();
    for part in value.split_ascii_whitespace() {
        if line.len() > limit {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(prefix(part, limit + 8));
    }
    if value.len() > limit { format!("{}… ({} chars)", prefix(&line, limit), value.len()) } else { line }
}

/// Writes a shape, one key per line, until the room is used up.
struct Writer {
    room: usize,
}

impl Writer {
    fn write(&self, shape: &Shape, depth: usize, label: &str, out: &mut String) {
        if out.len() > self.room {
            return;
        }
        let indent = " ".repeat(depth.min(8));
        match shape {
            Shape::Scalar(value) => push(out, &format!("{indent}{label}{value}")),
            Shape::Unread => push(out, &format!("{indent}{label}…")),
            Shape::Object(keys, more) => {
                if !label.is_empty() {
                    push(out, &format!("{indent}{}", label.trim_end()));
                }
                self.object(keys, *more, depth + usize::from(!label.is_empty()), out);
            }
            Shape::Array(items) => self.array(items, depth, label, out),
        }
    }

    fn object(&self, keys: &[(String, Shape)], more: usize, depth: usize, out: &mut String) {
        let mut hidden: Vec<&str> = Vec::new();
        let (telling, rest): (Vec<_>, Vec<_>) =
            keys.iter().partition(|(key, shape)| is_telling(key) && matches!(shape, Shape::Scalar(..)));
        let indent = " ".repeat(depth.min(8));
        let mut line = indent.clone();
        for (key, shape) in telling.iter().chain(rest.iter()) {
            match shape {
                _ if out.len() + line.len() > self.room => hidden.push(key),
                Shape::Scalar(value) => {
                    let _ = write!(line, "{}{key}: {value}", if line.len() > indent.len() { "; " } else { "" });
                    if line.len() > 160 {
                        push(out, &line);
                        line.clone_from(&indent);
                    }
                }
                _ => {
                    if line.len() > indent.len() {
                        push(out, &line);
                        line.clone_from(&indent);
                    }
                    self.write(shape, depth, &format!("{key}: "), out);
                }
            }
        }
        if line.len() > indent.len() {
            push(out, &line);
        }
        if let Some(rolled) = super::lines::roll(&format!("{indent}also keys:"), hidden, MOST_KEY_BYTES) {
            push(out, &rolled);
        }
        if more > 0 {
            push(out, &format!("{indent}[… {more} more keys]"));
        }
    }

    fn array(&self, items: &Items, depth: usize, label: &str, out: &mut String) {
        let indent = " ".repeat(depth.min(8));
        let scalars = items.first.iter().all(|item| matches!(item, Shape::Scalar(_)));
        if scalars {
            let first: Vec<String> = items.first.iter().filter_map(Shape::brief).collect();
            let values = first.iter().chain(&items.briefs).map(String::as_str);
            let room = self.room.saturating_sub(out.len()).max(80);
            let line = super::lines::roll(&format!("{indent}{label}{} values:", items.count), values, room.min(400));
            push(out, &line.unwrap_or_else(|| format!("{indent}{label}[]")));
            return;
        }
        push(out, &format!("{indent}{label}{} items{}", items.count, keys_of(&items.first)));
        // The first item shows the shape; a third of the room is left for the names of the others.
        let left = self.room.saturating_sub(out.len());
        let room = if items.briefs.is_empty() { self.room } else { out.len() + left * 2 / 3 };
        for (index, item) in items.first.iter().enumerate() {
            Writer { room }.write(item, depth + 1, &format!("#{index}: "), out);
        }
        for brief in &items.briefs {
            self.brief(&indent, brief, out);
        }
    }

    fn brief(&self, indent: &str, brief: &str, out: &mut String) {
        if out.len() + brief.len() <= self.room {
            push(out, &format!("{indent} {brief}"));
        }
    }
}

/// The keys of an array's objects, for a reader who sees only the first items.
fn keys_of(items: &[Shape]) -> String {
    let Some(Shape::Object(keys, _)) = items.first() else {
        return String::new();
    };
    super::lines::roll(" with", keys.iter().map(|(key, _)| key.as_str()), MOST_KEY_BYTES).unwrap_or_default()
}
