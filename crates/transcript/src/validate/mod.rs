//! Checks a transcript against the rules of its provider and lists the violations.
//!
//! Three views are checked one after the other: what each message holds (`content`), which result
//! answers which call and where (`pairs`), and in which order roles come (`sequence`). A call
//! still in flight at the end is no violation: its client is about to answer it.

mod content;
pub(crate) mod pairs;
mod sequence;
pub(crate) mod turns;

use crate::edit::Span;
use crate::reasoning::Needs;
use crate::transcript::{Format, Shape, Transcript};
use crate::wire::field;
pub(crate) use content::function_of;
use pairs::Pairs;
pub use sequence::{MOST_MARKS, marks_in_messages};
use std::fmt;
use turns::Turns;

/// What a provider demands; [`RULES`] says it for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the table of rules explains every one")]
pub enum Rule {
    BarePrompt,
    UnknownRole,
    NullContent,
    ContentShape,
    BlankText,
    EmptyMessage,
    BadArguments,
    EmptyToolCalls,
    ForeignCall,
    EmptyCallId,
    DuplicateCallId,
    UnansweredCall,
    OrphanResult,
    DuplicateResult,
    MisplacedResult,
    ResultsNotFirst,
    SameRoleNeighbours,
    LeadingRole,
    NoUserMessage,
    TooManyMarks,
    SealedLast,
    DanglingReasoning,
    LostReasoning,
    UnsignedCall,
}

/// Every rule with its stable id and what it demands.
pub const RULES: [(Rule, &str, &str); 24] = [
    (Rule::BarePrompt, "bare-prompt", "messages are an array; a prompt given as a string is not blank"),
    (Rule::UnknownRole, "unknown-role", "every message has a role that the provider accepts"),
    (Rule::NullContent, "null-content", "only assistant messages may omit their content"),
    (Rule::ContentShape, "content-shape", "content is a string or an array of blocks with a type"),
    (Rule::BlankText, "blank-text", "a text block contains more than white space"),
    (Rule::EmptyMessage, "empty-message", "a message has text, a tool call or a tool result"),
    (Rule::BadArguments, "bad-arguments", "the arguments of a tool call are JSON in the form the provider requires"),
    (Rule::EmptyToolCalls, "empty-tool-calls", "`tool_calls` is omitted when there are none"),
    (Rule::ForeignCall, "foreign-call", "tool calls and results are in messages of the right role"),
    (Rule::EmptyCallId, "empty-call-id", "every tool call has an id"),
    (Rule::DuplicateCallId, "duplicate-call-id", "pending tool calls have different ids"),
    (Rule::UnansweredCall, "unanswered-call", "every tool call has a result where the provider expects it"),
    (Rule::OrphanResult, "orphan-result", "every tool result matches a tool call"),
    (Rule::DuplicateResult, "duplicate-result", "a tool call has one result"),
    (Rule::MisplacedResult, "misplaced-result", "a tool result is where the provider expects it"),
    (Rule::ResultsNotFirst, "results-not-first", "tool results come first in their message"),
    (Rule::SameRoleNeighbours, "same-role-neighbours", "neighbouring messages have different roles"),
    (Rule::LeadingRole, "leading-role", "the conversation starts with the role that the provider expects"),
    (Rule::NoUserMessage, "no-user-message", "there is at least one user message"),
    (Rule::TooManyMarks, "too-many-marks", "there are at most four cache marks"),
    (Rule::SealedLast, "sealed-last", "an assistant message does not end with signed reasoning"),
    (Rule::DanglingReasoning, "dangling-reasoning", "a reasoning item is followed by its output"),
    (Rule::LostReasoning, "lost-reasoning", "an item with an id is sent with its reasoning"),
    (
        Rule::UnsignedCall,
        "unsigned-call",
        "if the model signs tool calls, the first call of each reply since the last user message has its signature",
    ),
];

impl Rule {
    /// The stable name, for reports and metrics.
    pub fn id(self) -> &'static str {
        RULES.iter().find(|(rule, ..)| *rule == self).map_or("", |(_, id, _)| id)
    }

    /// What the rule demands, in one line.
    pub fn explanation(self) -> &'static str {
        RULES.iter().find(|(rule, ..)| *rule == self).map_or("", |(.., explanation)| explanation)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// One place where a transcript breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The message, by index.
    pub message: usize,
    /// The rule.
    pub rule: Rule,
    /// What was found there.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}: {}", self.message, self.rule, self.detail)
    }
}

/// A violation and what exactly it is about, for the one who repairs it.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) message: usize,
    pub(crate) rule: Rule,
    pub(crate) subject: Subject,
    pub(crate) detail: String,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The message.
    Message,
    /// A part, by index in [`Transcript::parts`].
    Part(usize),
    /// A block inside a result, by index in [`Transcript::inner`].
    Inner(usize),
    /// A call and what answers it.
    Pair { call: usize, result: Option<usize> },
}

/// All violations, in the order of messages.
///
/// ```
/// use foldline_transcript::{validate::validate, wire};
/// let body = r#"[{"role":"user","content":"Hi"},{"role":"tool","tool_call_id":"c1","content":"?"}]"#;
/// let transcript = wire::read(body, None)?;
/// assert_eq!(validate(&transcript)[0].rule.id(), "orphan-result");
/// # Ok::<(), foldline_transcript::wire::WireError>(())
/// ```
pub fn validate(transcript: &Transcript<'_>) -> Vec<Violation> {
    let as_violation =
        |finding: Finding| Violation { message: finding.message, rule: finding.rule, detail: finding.detail };
    find(transcript).into_iter().map(as_violation).collect()
}

/// [`validate`], and what only the transcript `before` a rewrite can tell: items whose reasoning is gone while they
/// still have the ids under which their provider remembers it.
pub fn validate_rewrite(before: &Transcript<'_>, after: &Transcript<'_>) -> Vec<Violation> {
    let mut violations = validate(after);
    let lost = Needs::of(before).unmet(after, |_| true).into_iter().map(|message| Violation {
        message,
        rule: Rule::LostReasoning,
        detail: "the item still has its id but its reasoning is missing".to_owned(),
    });
    violations.extend(lost);
    violations.sort_by_key(|violation| (violation.message, violation.rule));
    violations
}

/// The calls (part indices) that wait for their results at the very end of the transcript.
pub fn in_flight(transcript: &Transcript<'_>) -> Vec<usize> {
    Pairs::of(transcript, &Turns::of(transcript)).in_flight
}

/// [`validate`], with what a repair needs to know.
pub(crate) fn find(transcript: &Transcript<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(finding) = bare_prompt(transcript) {
        findings.extend(finding);
        return findings;
    }
    let turns = Turns::of(transcript);
    let pairs = Pairs::of(transcript, &turns);
    content::check(transcript, &pairs.in_flight, &mut findings);
    pairs.check(transcript, &mut findings);
    sequence::check(transcript, &turns, &pairs.in_flight, &mut findings);
    if !findings.is_empty() && continues_elsewhere(transcript) {
        findings
            .retain(|finding| !matches!(finding.rule, Rule::OrphanResult | Rule::NoUserMessage | Rule::LeadingRole));
    }
    findings.sort_by_key(|finding| (finding.message, finding.rule));
    findings
}

/// For a list of messages that is a bare string: what is wrong with it, if anything.
fn bare_prompt(transcript: &Transcript<'_>) -> Option<Option<Finding>> {
    let only = transcript.messages.first()?;
    if !transcript.raw(only.span).starts_with('"') {
        return None;
    }
    let is_blank = transcript.parts_of(only).iter().all(|part| transcript.is_blank(part));
    let detail = match transcript.format {
        Format::OpenAiResponses if is_blank => "the prompt is empty or white space",
        Format::OpenAiResponses => return Some(None),
        _ => "the messages are a string",
    };
    Some(Some(Finding { message: 0, rule: Rule::BarePrompt, subject: Subject::Message, detail: detail.to_owned() }))
}

/// Whether the provider keeps the start of the conversation: then calls may be there.
fn continues_elsewhere(transcript: &Transcript<'_>) -> bool {
    let keys: &[&str] = match transcript.format {
        Format::OpenAiResponses => &["previous_response_id", "conversation"],
        Format::Gemini => &["cachedContent", "cached_content"],
        _ => &[],
    };
    if keys.is_empty() || transcript.shape != Shape::Body {
        return false;
    }
    let space = transcript.text.len() - transcript.text.trim_start().len();
    let body = Span::new(space, transcript.text.len());
    keys.iter().any(|key| {
        field::value(transcript.text, body, key).is_some_and(|value| !matches!(transcript.raw(value), "null" | "\"\""))
    })
}

#[cfg(test)]
mod tests;
