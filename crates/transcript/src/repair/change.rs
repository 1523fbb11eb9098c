//! What one round of repairs changes, and how that is written: where each message came from, and in
//! session files the links from line to line.

use super::{Fix, MISSING_START, Repaired};
use crate::edit::{Edit, Span};
use crate::rewrite::Rewrite;
use crate::transcript::{Format, Role, Shape, Transcript};
use crate::validate::Rule;
use crate::wire::compose::{self, Envelope, Purpose};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The changes of one round.
#[derive(Default)]
pub(super) struct Change {
    pub(super) rewrite: Rewrite,
    removed: BTreeSet<usize>,
    inserted: BTreeMap<usize, Vec<(usize, Draft)>>,
    notes: Vec<(usize, Rule, String)>,
}

/// A message that comes.
pub(super) enum Draft {
    /// As it is written.
    Verbatim(String),
    /// A message of a role with these blocks.
    Blocks(Role, Vec<String>),
    /// A message of a role that says this.
    Text(Role, &'static str),
}

impl Change {
    /// Says what is done for a message.
    pub(super) fn note(&mut self, message: usize, rule: Rule, what: impl Into<String>) {
        self.notes.push((message, rule, what.into()));
    }

    /// Takes a message out.
    pub(super) fn remove(&mut self, message: usize, rule: Rule, what: &str) {
        if self.removed.insert(message) {
            self.rewrite.remove(message);
            self.note(message, rule, what);
        }
    }

    /// Takes a message out whose words live on in another.
    pub(super) fn absorbed(&mut self, message: usize) {
        self.removed.insert(message);
    }

    /// Puts a message before the message at `before`, because of the one at `origin`.
    pub(super) fn insert(&mut self, before: usize, origin: usize, draft: Draft) {
        self.inserted.entry(before).or_default().push((origin, draft));
    }

    /// Replaces what a span covers.
    pub(super) fn edit(&mut self, edit: Edit) {
        self.rewrite.edits.replace(edit.span, edit.text);
    }

    /// The document with all changes made, on top of what was `done` before.
    pub(super) fn apply(mut self, current: &Transcript<'_>, done: &Repaired) -> Repaired {
        self.leave_something(current);
        let origin_of = |index: usize| done.origin.get(index).copied().unwrap_or_default();
        let mut origin = Vec::with_capacity(current.messages.len());
        let mut chain = Chain::new(current, &self.removed);
        let inserted = std::mem::take(&mut self.inserted);
        let mut inserted = inserted.into_iter().peekable();
        for index in 0..=current.messages.len() {
            while let Some((_, drafts)) = inserted.next_if(|(before, _)| *before <= index) {
                for (because, draft) in drafts {
                    let message = draft.compose(current.format, chain.last());
                    chain.grows(&message);
                    origin.push(origin_of(because));
                    self.put(current, index, message);
                }
            }
            if index < current.messages.len() && !self.removed.contains(&index) {
                origin.push(origin_of(index));
                if let Some(edit) = chain.passes(index) {
                    self.edit(edit);
                }
            }
        }
        let mut fixes = done.fixes.clone();
        let notes = self.notes.into_iter();
        fixes.extend(notes.map(|(message, rule, what)| Fix { message: origin_of(message), rule, what }));
        Repaired { text: self.rewrite.apply(current), fixes, origin, messages: done.messages }
    }

    /// A document without a message could not be read again.
    fn leave_something(&mut self, current: &Transcript<'_>) {
        let mut stays = current.messages.iter().enumerate().filter(|(index, _)| !self.removed.contains(index));
        if self.inserted.is_empty() && !stays.any(|(_, message)| message.role != Role::Meta) {
            self.insert(current.messages.len(), 0, Draft::Text(Role::User, MISSING_START));
            self.note(0, Rule::NoUserMessage, "all messages were dropped; a user message was inserted");
        }
    }

    fn put(&mut self, current: &Transcript<'_>, before: usize, message: String) {
        if current.messages.is_empty() && current.shape != Shape::Lines {
            // There is no message to stand beside: between the brackets.
            let inside = current.list.start + 1;
            self.rewrite.edits.replace(Span { start: inside, end: inside }, message);
        } else {
            self.rewrite.insert(before, message);
        }
    }
}

impl Draft {
    fn compose(self, format: Format, parent: Option<&str>) -> String {
        let envelope = Envelope { parent, purpose: Purpose::Note };
        match self {
            Draft::Verbatim(message) => message,
            Draft::Blocks(role, blocks) => compose::block_message(format, role, &blocks, envelope),
            Draft::Text(role, text) => compose::text_message(format, role, text, envelope),
        }
    }
}

/// The links of a session file while its lines go by: a line whose parent went gets the parent's
/// parent, a line before which one was put gets that one.
struct Chain<'c, 'a> {
    transcript: &'c Transcript<'a>,
    /// Parents of the lines that go, by `uuid` literal.
    gone: FxHashMap<&'a str, &'a str>,
    /// The `uuid` literal of the last line that stays.
    last: Option<&'a str>,
    /// What was put after that line.
    grown: Option<String>,
}

impl<'c, 'a> Chain<'c, 'a> {
    fn new(transcript: &'c Transcript<'a>, removed: &BTreeSet<usize>) -> Chain<'c, 'a> {
        let links = removed.iter().filter_map(|&index| transcript.links.get(index));
        let gone = links
            .filter(|link| !link.own.is_empty())
            .map(|link| (transcript.raw(link.own), transcript.raw(link.parent)))
            .collect();
        Chain { transcript, gone, last: None, grown: None }
    }

    fn last(&self) -> Option<&str> {
        self.grown.as_deref().or(self.last)
    }

    /// A composed line joins the chain.
    fn grows(&mut self, line: &str) {
        if self.transcript.format == Format::ClaudeCode {
            let uuid = crate::wire::field::value(line, Span::new(0, line.len()), "uuid");
            self.grown = uuid.map(|uuid| uuid.of(line).to_owned()).or(self.grown.take());
        }
    }

    /// The line at `index` joins the chain; the edit that its link needs, if any.
    fn passes(&mut self, index: usize) -> Option<Edit> {
        let link = self.transcript.links.get(index)?;
        let written = self.transcript.raw(link.parent);
        let mut parent = written;
        // A chain of lines that went can be a circle in a damaged file.
        for _ in 0..self.gone.len() {
            match self.gone.get(parent) {
                Some(above) => parent = above,
                None => break,
            }
        }
        let follows =
            !link.parent.is_empty() && (Some(parent) == self.last || (parent == "null" && self.last.is_none()));
        let replacement = match self.grown.as_deref() {
            Some(grown) if follows => grown.to_owned(),
            _ if parent.is_empty() => "null".to_owned(),
            _ => parent.to_owned(),
        };
        if !link.own.is_empty() {
            self.last = Some(self.transcript.raw(link.own));
            self.grown = None;
        }
        (!link.parent.is_empty() && replacement != written).then_some(Edit { span: link.parent, text: replacement })
    }
}
