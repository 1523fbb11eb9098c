//! Repairs a damaged transcript with as few changes as possible, so that its provider accepts it.
//!
//! Works in rounds: find what is wrong, repair the findings of the lowest stage, read again.
//! Later stages rely on earlier ones: pairs can only be judged when blocks have a shape. A healthy
//! transcript costs one look. Calls in flight at the end are left alone, signed reasoning is kept
//! as it is or dropped as a whole.
//!
//! What single repairs cannot mend, such as objects that have the same key twice, goes message by
//! message in the end. If even that fails, the best document that can be read is handed back.

mod change;
mod content;
mod pairs;
mod sequence;

use crate::reasoning::{self, Needs};
use crate::transcript::{Format, Transcript};
use crate::validate::{Finding, Rule, find};
use crate::wire;
use change::Change;

/// What a call says for which no result was recorded.
pub const MISSING_RESULT: &str = "[no result was recorded for this call]";

/// What a user says where a conversation starts without one.
pub const MISSING_START: &str = "[earlier turns are not part of this transcript]";

/// Rounds after which single repairs are given up. Every stage settles in one round and can call for an
/// earlier one at most once, so damage that is left then feeds on itself.
const CAREFUL_ROUNDS: usize = 10;

/// Rounds in which whatever is still in the way goes as a whole.
const FINAL_ROUNDS: usize = 10;

/// A transcript that was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The document.
    pub text: String,
    /// What was done, in order.
    pub fixes: Vec<Fix>,
    /// For each message of the document the message of the source that it stems from; for an
    /// inserted one the message that made it necessary.
    pub origin: Vec<usize>,
    /// Messages of the source.
    pub messages: usize,
}

impl Repaired {
    /// The message of the source that a message of the document stems from.
    pub fn origin_of(&self, message: usize) -> usize {
        self.origin.get(message).copied().unwrap_or(message)
    }
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The message of the source that it was done for.
    pub message: usize,
    /// The rule that was broken.
    pub rule: Rule,
    /// What was done.
    pub what: String,
}

/// What is repaired before what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// What messages hold.
    Content,
    /// Neighbours that become one message before anything is paired.
    EarlyMerge,
    /// Ids, then calls and results.
    Ids,
    Pairs,
    /// Neighbours, where a merge must not tear a call from its results.
    LateMerge,
    /// What only a transcript that is whole otherwise can show.
    Ends,
}

fn stage_of(rule: Rule, format: Format) -> Stage {
    match rule {
        Rule::BarePrompt
        | Rule::UnknownRole
        | Rule::NullContent
        | Rule::ContentShape
        | Rule::BlankText
        | Rule::EmptyMessage
        | Rule::BadArguments
        | Rule::EmptyToolCalls
        | Rule::ForeignCall => Stage::Content,
        Rule::EmptyCallId | Rule::DuplicateCallId => Stage::Ids,
        Rule::UnansweredCall
        | Rule::OrphanResult
        | Rule::DuplicateResult
        | Rule::MisplacedResult
        | Rule::ResultsNotFirst => Stage::Pairs,
        Rule::SameRoleNeighbours => match format {
            // Blocks of neighbours are parallel calls that a client wrote down one by one.
            Format::Anthropic | Format::ClaudeCode | Format::Gemini => Stage::EarlyMerge,
            _ => Stage::LateMerge,
        },
        Rule::LeadingRole
        | Rule::NoUserMessage
        | Rule::TooManyMarks
        | Rule::SealedLast
        | Rule::DanglingReasoning
        | Rule::LostReasoning
        | Rule::UnsignedCall => Stage::Ends,
    }
}

/// Repairs a transcript; `None` when nothing is wrong with it, or when it has no message: one that we make up would be
/// all there is.
pub fn repair(transcript: &Transcript<'_>) -> Option<Repaired> {
    if !transcript.has_begun() {
        return None;
    }
    let findings = find(transcript);
    if findings.is_empty() {
        return None;
    }
    let untouched = Repaired {
        text: transcript.text.to_owned(),
        fixes: Vec::new(),
        origin: (0..transcript.messages.len()).collect(),
        messages: transcript.messages.len(),
    };
    let mut next = one_round(transcript, findings, 0, &untouched);
    let mut done = untouched;
    for round in 1..CAREFUL_ROUNDS + FINAL_ROUNDS {
        // A document that cannot be read again is worse than a damaged one.
        let Ok(current) = wire::read(&next.text, Some(transcript.format)) else {
            break;
        };
        let findings = find(&current);
        if findings.is_empty() {
            return Some(released(transcript, &current, &next).unwrap_or(next));
        }
        let after = one_round(&current, findings, round, &next);
        done = std::mem::replace(&mut next, after);
    }
    (!done.fixes.is_empty()).then_some(done)
}

/// What is `done`, without the ids of items whose reasoning went; `None` when there are none.
fn released(source: &Transcript<'_>, current: &Transcript<'_>, done: &Repaired) -> Option<Repaired> {
    let unmet = Needs::of(source).forgotten(current);
    let mut change = Change::default();
    for &index in &unmet {
        reasoning::release(current, &mut change.rewrite, index);
        change.note(index, Rule::LostReasoning, "removed the id of an item whose reasoning was removed");
    }
    (!unmet.is_empty()).then(|| change.apply(current, done))
}

/// Repairs the findings of the lowest stage, on top of what is `done`.
fn one_round(current: &Transcript<'_>, mut findings: Vec<Finding>, round: usize, done: &Repaired) -> Repaired {
    let stage = |finding: &Finding| stage_of(finding.rule, current.format);
    let lowest = findings.iter().map(stage).min();
    findings.retain(|finding| Some(stage(finding)) == lowest);
    let mut change = Change::default();
    if round >= CAREFUL_ROUNDS && !findings.iter().any(|finding| is_about_the_start(finding.rule)) {
        for finding in &findings {
            change.remove(finding.message, finding.rule, "dropped the message: no smaller repair makes it valid");
        }
    } else {
        match lowest {
            Some(Stage::Content) => content::fix(current, &findings, &mut change),
            Some(Stage::Ids) => pairs::fix_ids(current, &findings, &mut change),
            Some(Stage::Pairs) => pairs::fix(current, &findings, &mut change),
            Some(Stage::EarlyMerge | Stage::LateMerge) => sequence::merge(current, &findings, &mut change),
            Some(Stage::Ends) => sequence::fix_ends(current, &findings, &mut change),
            None => {}
        }
    }
    change.apply(current, done)
}

/// Rules that ask for a message more, not for one less.
fn is_about_the_start(rule: Rule) -> bool {
    matches!(rule, Rule::LeadingRole | Rule::NoUserMessage | Rule::BarePrompt)
}

#[cfg(test)]
mod tests;
