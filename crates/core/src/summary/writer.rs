//! The work itself, step by step: prompts out, replies in.

use super::job::SummaryJob;
use super::prompt::Part;
use super::reply::Words;
use super::source::{halves, shortened, tokens};
use super::verify::verify;
use super::{Effort, Written};
use crate::redact::{Mode, redact};

/// One thing to ask a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A prompt of our own.
    Prompt {
        /// Who the model is.
        system: String,
        /// What it shall do.
        user: String,
        /// Tokens that the reply may take.
        reply: u32,
    },
    /// A whole request in the conversation's own format, for its own model. It streams.
    Document {
        /// The request.
        body: String,
        /// Tokens that the reply may take.
        reply: u32,
    },
}

/// A reply that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadReply {
    /// Nothing in it.
    #[error("the reply is empty")]
    Empty,
    /// Text, but no statement: thoughts without end, a copy of the prompt.
    #[error("the reply says nothing that can be used")]
    NothingUsable,
}

/// A summary in the making.
#[derive(Clone, Debug)]
pub struct Writer {
    job: SummaryJob,
    /// The step that waits for its reply.
    at: usize,
    /// Steps that were there at the start and that splitting added.
    record: Option<Words>,
    /// Whether the conversation itself is still to be tried.
    tries_document: bool,
    tokens: u64,
    calls: u32,
    window: u32,
}

impl Writer {
    pub(super) fn of(job: SummaryJob) -> Writer {
        let tries_document = job.document.is_some();
        let window = job.window;
        Writer { job, at: 0, record: None, tries_document, tokens: 0, calls: 0, window }
    }

    /// The job.
    pub fn job(&self) -> &SummaryJob {
        &self.job
    }

    /// The step that is being asked, counted from one, and how many there are.
    pub fn step(&self) -> (usize, usize) {
        if self.tries_document { (1, 1) } else { (self.at + 1, self.job.pieces.len()) }
    }

    /// What to ask; `None` when all is written.
    pub fn ask(&self) -> Option<Ask> {
        let reply = self.job.reply_room();
        if let (true, Some(body)) = (self.tries_document, &self.job.document) {
            return Some(Ask::Document { body: body.clone(), reply });
        }
        let piece = self.job.pieces.get(self.at)?;
        let part = Part { number: self.at + 1, of: self.job.pieces.len() };
        let user = self.job.brief.user(self.record_text().as_deref(), piece, part);
        // Everything in it was masked before; a seam between two pieces of text may have made something new.
        let user = redact(&user, Mode::Text).into_owned();
        Some(Ask::Prompt { system: self.job.brief.system(), user, reply })
    }

    fn record_text(&self) -> Option<String> {
        match &self.record {
            Some(words) => Some(words.text()),
            None => {
                let previous = self.job.previous.as_deref()?;
                // Three characters a token is dense text; what is longer than a reply could be is cut.
                let mut length = self.job.reply_room() as usize * 3;
                loop {
                    let text = shortened(previous, length);
                    if tokens(&text) <= self.job.reply_room() || length < 100 {
                        return Some(text.into_owned());
                    }
                    length = length * 3 / 4;
                }
            }
        }
    }

    /// Takes the reply to the last ask.
    pub fn reply(&mut self, text: &str) -> Result<(), BadReply> {
        self.count(text);
        if text.trim().is_empty() {
            return Err(BadReply::Empty);
        }
        let words = Words::read(text, &self.job.brief);
        if words.is_empty() {
            return Err(BadReply::NothingUsable);
        }
        let earlier = self.record.take();
        self.record = Some(words.keeping(earlier).within(self.job.reply_room()));
        if std::mem::take(&mut self.tries_document) {
            self.at = self.job.pieces.len();
        } else {
            self.at += 1;
        }
        Ok(())
    }

    fn count(&mut self, reply: &str) {
        self.calls += 1;
        let asked = match self.ask() {
            Some(Ask::Prompt { system, user, .. }) => tokens(&system) + tokens(&user),
            Some(Ask::Document { body, .. }) => tokens(&body),
            None => 0,
        };
        self.tokens += u64::from(asked) + u64::from(tokens(reply));
    }

    /// Goes on with turns written out, when the conversation itself could not be sent.
    pub fn without_document(&mut self) -> bool {
        std::mem::take(&mut self.tries_document)
    }

    /// The server says that the prompt is too long: what is left is asked in smaller pieces. False when they
    /// cannot be made smaller.
    pub fn shrink(&mut self) -> bool {
        if self.without_document() {
            return true;
        }
        self.window /= 2;
        let Some(room) = self.job.piece_room(self.window) else {
            return false;
        };
        let mut left: Vec<String> = self.job.pieces.split_off(self.at);
        left.reverse();
        while let Some(piece) = left.pop() {
            match (tokens(&piece) > room).then(|| halves(&piece)).flatten() {
                Some((head, tail)) => left.extend([tail, head]),
                None => self.job.pieces.push(piece),
            }
        }
        true
    }

    /// The summary, checked; `None` while something is left to ask.
    pub fn finish(self) -> Option<Written> {
        if self.ask().is_some() {
            return None;
        }
        let mut material: Vec<&str> = self.job.pieces.iter().map(String::as_str).collect();
        material.extend(self.job.previous.as_deref());
        material.extend(self.job.document.as_deref());
        material.extend(self.job.brief.memory.as_deref());
        material.extend(self.job.user.iter().map(String::as_str));
        let (words, checked) = verify(self.record?, &material, &self.job.user);
        Some(Written {
            covers: self.job.covers,
            words: words.within(self.job.budget),
            checked,
            effort: Effort { calls: self.calls, model: self.job.model.clone(), tokens: self.tokens, rescued: None },
        })
    }
}
