//! The lines of one turn while they are gathered: how texts become lines, and which of them are told by their size.

use super::{Line, LineKind, Turn, payload, value};
use foldline_reduce::{lines, visible};
use std::borrow::Cow;

/// JSON with a longer line than this is laid out: nobody reads it as it is.
const LONG_JSON: usize = 400;

/// Lines, in order.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) lines: Vec<Line<'a>>,
    /// Lines so far, those included that are told as one.
    count: usize,
}

impl<'a> Body<'a> {
    /// A line of ours.
    pub(super) fn mark(&mut self, text: String) {
        self.push(LineKind::Mark, Cow::Owned(text));
    }

    /// What somebody said.
    pub(super) fn words(&mut self, text: Cow<'a, str>) {
        match text {
            Cow::Borrowed(text) => self.each(text, |line| line),
            Cow::Owned(text) => self.each(&text, |line| Cow::Owned(line.into_owned())),
        }
    }

    /// A value of JSON, laid out; as it stands when it is none.
    pub(super) fn value(&mut self, json: Cow<'a, str>) {
        match value::lines(&json) {
            Some(laid_out) => laid_out.into_iter().for_each(|line| self.push(LineKind::Words, Cow::Owned(line))),
            None => self.words(json),
        }
    }

    /// Words, or JSON laid out where its lines would be too long to be read or hide the lines inside its strings.
    pub(super) fn text_or_json(&mut self, text: Cow<'a, str>) {
        let is_hard = || text.contains("\\n") || lines(&text).any(|line| line.len() > LONG_JSON);
        if text.trim_start().starts_with(['{', '[']) && is_hard() { self.value(text) } else { self.words(text) }
    }

    /// Adds the lines of a text; `keep` decides how each is held.
    fn each<'t>(&mut self, text: &'t str, keep: impl Fn(Cow<'t, str>) -> Cow<'a, str>) {
        let mut rest = text;
        while !rest.is_empty() {
            let wrapped = payload::wrapped(rest);
            if wrapped.lines > 0 {
                let words = format!("[base64, {} lines, {}]", wrapped.lines, payload::size(wrapped.bytes));
                self.push(LineKind::Words, Cow::Owned(words));
                self.count += wrapped.lines - 1;
                rest = rest.get(wrapped.bytes..).unwrap_or_default();
                continue;
            }
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = after;
            let line = match visible(line.strip_suffix('\r').unwrap_or(line)) {
                Cow::Borrowed(line) => payload::without(line),
                Cow::Owned(line) => Cow::Owned(payload::without(&line).into_owned()),
            };
            self.push(LineKind::Words, keep(line));
        }
    }

    /// All of it, as a turn.
    pub(super) fn turn(self, number: usize, role: &'static str) -> Turn<'a> {
        Turn { number, role, length: self.count, lines: self.lines }
    }

    fn push(&mut self, kind: LineKind, text: Cow<'a, str>) {
        self.count += 1;
        self.lines.push(Line { number: self.count, kind, text });
    }
}
