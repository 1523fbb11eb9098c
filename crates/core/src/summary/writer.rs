//! The work itself: a prompt out, a reply in, and what to try when that does not go well.

use super::job::SummaryJob;
use super::reply::Words;
use super::source::{shortened, tokens};
use super::verify::verify;
use super::{Effort, Written};
use foldline_redact::{Mode, redact};

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
    /// What the model wrote.
    words: Option<Words>,
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
        Writer { job, words: None, tries_document, tokens: 0, calls: 0, window }
    }

    /// The job.
    pub fn job(&self) -> &SummaryJob {
        &self.job
    }

    /// What to ask; `None` when all is written.
    pub fn ask(&self) -> Option<Ask> {
        if self.words.is_some() {
            return None;
        }
        let reply = self.job.reply_room();
        if let (true, Some(body)) = (self.tries_document, &self.job.document) {
            return Some(Ask::Document { body: body.clone(), reply });
        }
        let user = self.job.brief.user(&self.job.material);
        // Everything in it was masked before; a seam between two pieces of text may have made something new.
        let user = redact(&user, Mode::Text).into_owned();
        Some(Ask::Prompt { system: self.job.brief.system(), user, reply })
    }

    /// Takes the reply to the last ask.
    pub fn reply(&mut self, text: &str) -> Result<(), BadReply> {
        self.count(text);
        if text.trim().is_empty() {
            return Err(BadReply::Empty);
        }
        let words = Words::read(text, &self.job.brief, &self.job.material);
        if words.is_empty() {
            return Err(BadReply::NothingUsable);
        }
        // A bound for replies that run away. How much of the rest is told is up to the handoff, which counts exactly.
        self.words = Some(words.within(self.job.reply_room()));
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

    /// Goes on with the record, when the conversation itself could not be sent.
    pub fn without_document(&mut self) -> bool {
        std::mem::take(&mut self.tries_document)
    }

    /// The server says that the prompt is too long: half as much is asked. False when it cannot be made smaller.
    pub fn shrink(&mut self) -> bool {
        if self.without_document() {
            return true;
        }
        self.window /= 2;
        let Some(room) = self.job.material_room(self.window) else {
            return false;
        };
        while tokens(&self.job.material) > room {
            self.job.material = shortened(&self.job.material, self.job.material.len() / 2).into_owned();
        }
        true
    }

    /// The summary, checked; `None` while something is left to ask.
    pub fn finish(self) -> Option<Written> {
        let mut material = vec![self.job.material.as_str(), self.job.brief.after.as_str()];
        material.extend(self.job.document.as_deref());
        material.extend(self.job.brief.memory.as_deref());
        material.extend(self.job.user.iter().map(String::as_str));
        let (words, checked) = verify(self.words?, &material, &self.job.user);
        Some(Written {
            covers: self.job.covers,
            words,
            checked,
            effort: Effort { calls: self.calls, model: self.job.model.clone(), tokens: self.tokens, rescued: None },
        })
    }
}
