//! What stands for the first messages of a conversation. A host that sends its whole history each time gets the fold of
//! an earlier request back word for word, so that between two folds each request extends the one before it.

use foldline_transcript::Transcript;
use foldline_transcript::identity::{self, Digest};
use serde::{Deserialize, Serialize};

/// The messages that replace the first ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// How many messages they stand for.
    position: usize,
    /// What those messages say.
    digest: Digest,
    /// The format of both, by its name.
    format: String,
    /// The messages that come instead, as they stand in a list.
    text: String,
}

impl Checkpoint {
    /// Cuts a checkpoint out of a result. It is as short as possible: what stands at the end of both in the same bytes is
    /// no part of it, so that a history which is taken back within its tail still fits.
    pub(crate) fn cut(before: &Transcript<'_>, after: &Transcript<'_>) -> Option<Checkpoint> {
        let pairs = before.messages.iter().rev().zip(after.messages.iter().rev());
        let same = pairs.take_while(|(old, new)| before.raw(old.span) == after.raw(new.span)).count();
        let (position, end) = (before.messages.len() - same, after.messages.len() - same);
        let (first, last) = (after.messages.first()?, after.messages.get(end.checked_sub(1)?)?);
        Some(Checkpoint {
            position,
            digest: digest(before, position)?,
            format: before.format.to_string(),
            text: after.text.get(first.span.start as usize..last.span.end as usize)?.to_owned(),
        })
    }

    /// The document with its first messages replaced; `None` when they are not those that this stands for.
    pub(crate) fn swap(&self, document: &Transcript<'_>) -> Option<String> {
        let same = document.format.to_string() == self.format && digest(document, self.position)? == self.digest;
        let first = document.messages.first().filter(|_| same)?.span.start as usize;
        let last = document.messages.get(self.position.checked_sub(1)?)?.span.end as usize;
        Some([document.text.get(..first)?, &self.text, document.text.get(last..)?].concat())
    }
}

/// What the first messages say.
fn digest(document: &Transcript<'_>, position: usize) -> Option<Digest> {
    identity::chain(document, 0, &[0; 32]).get(position).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    fn user(text: &str) -> String {
        format!(r#"{{"role":"user","content":"{text}"}}"#)
    }

    fn body(texts: &[&str]) -> String {
        let messages: Vec<String> = texts.iter().map(|text| user(text)).collect();
        format!(r#"{{"model":"m","messages":[{}],"stream":true}}"#, messages.join(","))
    }

    fn checkpoint(before: &[&str], after: &[&str]) -> Checkpoint {
        let (before, after) = (body(before), body(after));
        Checkpoint::cut(&wire::read(&before, None).unwrap(), &wire::read(&after, None).unwrap()).unwrap()
    }

    fn swapped(checkpoint: &Checkpoint, texts: &[&str]) -> Option<String> {
        checkpoint.swap(&wire::read(&body(texts), None).unwrap())
    }

    #[test]
    fn what_follows_comes_after_what_was_folded() {
        let folded = checkpoint(&["a", "b", "c", "d"], &["a", "handoff", "d"]);
        assert_eq!(swapped(&folded, &["a", "b", "c", "d", "e"]), Some(body(&["a", "handoff", "d", "e"])));
        assert_eq!(swapped(&folded, &["a", "b", "c"]), Some(body(&["a", "handoff"])), "the tail is no part of it");
        assert_eq!(swapped(&folded, &["a", "b", "x", "d"]), None, "another conversation");
        assert_eq!(swapped(&folded, &["a", "b"]), None, "taken back further than the fold");
    }
}
