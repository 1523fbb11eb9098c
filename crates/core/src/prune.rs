//! Pruning: old tool outputs, long arguments and stale media made shorter where they stand.
//!
//! Each proposal is one step on one part. Which of them are taken, and how many, is the planner's
//! decision; here it is only said what each would give.

use crate::ledger::{Act, Call, understand};
use crate::plan::{Step, StepKind};
use crate::policy::Fidelity;
use crate::reading::Reach;
use crate::request::Request;
use crate::tokens::{Counts, Measure};
use foldline_reduce::{self as reduce, ConversationNames};
use foldline_transcript::edit::Edits;
use foldline_transcript::recall::{self, Handle, Original};
use foldline_transcript::signature;
use foldline_transcript::wire::compose;
use foldline_transcript::wire::json::{self, Scanner};
use foldline_transcript::{Content, Part, PartKind, Transcript};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::OnceCell;

mod header;

pub(crate) use header::Header;
use header::is_already_reduced;

/// Long strings inside arguments keep this much of their beginning.
const ARGUMENT_HEAD: usize = 200;

/// A text of fewer lines has no outline.
const FEWEST_LINES: usize = 8;

/// How reducers know the content of a file that is written.
const WRITTEN: &str = "write";

/// Bytes per token, for a decision that must not depend on how tokens are counted at the time.
const BYTES_PER_TOKEN: usize = 4;

/// Whether originals can be had again, so that their handles may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping<'r> {
    /// They are stored, and their reader gets at them in this way.
    Kept(&'r Reach),
    /// They are gone.
    Dropped,
}

impl<'r> Keeping<'r> {
    /// By whether somebody stores them.
    pub(crate) fn of(request: &'r Request) -> Keeping<'r> {
        if request.keeps_originals { Keeping::Kept(&request.reach) } else { Keeping::Dropped }
    }

    /// A handle as it stands in a note, with the tool that takes it; nothing where it would lead nowhere. Other ways are
    /// long, and stand in the handoff.
    pub fn shown(self, handle: Handle) -> String {
        match self {
            Keeping::Kept(Reach::Tool(name)) => format!(", {name} {handle}"),
            Keeping::Kept(_) => format!(", {handle}"),
            Keeping::Dropped => String::new(),
        }
    }

    /// What a reader loses by a step.
    pub fn fidelity(self) -> Fidelity {
        match self {
            Keeping::Kept(_) => Fidelity::Recoverable,
            Keeping::Dropped => Fidelity::Lossy,
        }
    }
}

/// A step and the original that it would remove.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What would be done.
    pub step: Step,
    /// What would be removed.
    pub original: Original,
}

/// What is known about all exchanges, gathered once per plan.
pub struct Pruner<'t, 'a> {
    transcript: &'t Transcript<'a>,
    counts: &'t Counts,
    measure: &'t Measure,
    keeping: Keeping<'t>,
    /// The newest output that looks like this, by size and edges: what looks alike is compared in full.
    newest: FxHashMap<Look<'a>, usize>,
    /// The last part that shows or sets the whole of a file.
    whole_files: FxHashMap<String, usize>,
    /// The newest result of each command, by tool and command.
    runs: FxHashMap<(&'t str, Cow<'a, str>), usize>,
    /// Media before this message are stale.
    newest_media: usize,
    /// Signed calls from this message on stay as they were signed.
    signed_from: usize,
    /// From how many tokens on an output is admitted in reduced form; what it becomes then depends on it alone.
    admits_above: Option<u32>,
    /// How names stand in the conversation; gathered when the first output is reduced.
    conversation: OnceCell<ConversationNames>,
}

impl<'t, 'a> Pruner<'t, 'a> {
    /// Looks over a transcript once. `above` is the size from which outputs are worth a look.
    pub fn new(
        transcript: &'t Transcript<'a>,
        counts: &'t Counts,
        measure: &'t Measure,
        above: u32,
        keeping: Keeping<'t>,
    ) -> Pruner<'t, 'a> {
        let mut newest = FxHashMap::default();
        let mut whole_files = FxHashMap::default();
        let mut runs = FxHashMap::default();
        for (index, part) in transcript.parts.iter().enumerate() {
            match part.kind {
                PartKind::ToolResult if counts.parts.get(index).copied().unwrap_or_default() > above => {
                    newest.insert(look_of(transcript, part), index);
                }
                PartKind::ToolCall => {
                    let call = understand(transcript, part);
                    if let Some(path) = whole_file(transcript, part, &call) {
                        whole_files.insert(path, index);
                    }
                    if call.act == Act::Run
                        && let Some(result) = transcript.exchanges.result_of(index)
                    {
                        runs.insert((call.tool, call.target), result);
                    }
                }
                _ => {}
            }
        }
        let newest_media = (0..transcript.messages.len())
            .rev()
            .find(|&index| transcript.speaks(index) && has_media(transcript, index))
            .unwrap_or(0);
        Pruner {
            transcript,
            counts,
            measure,
            keeping,
            newest,
            whole_files,
            runs,
            newest_media,
            signed_from: signature::current_turn(transcript),
            admits_above: None,
            conversation: OnceCell::new(),
        }
    }

    /// The same for a policy that admits outputs of more tokens than this in reduced form.
    pub fn admitting(self, above: Option<u32>) -> Pruner<'t, 'a> {
        Pruner { admits_above: above, ..self }
    }

    /// How names stand in the conversation.
    pub fn conversation(&self) -> &ConversationNames {
        self.conversation.get_or_init(|| ConversationNames::of(self.transcript))
    }

    /// Whether an output is huge: by its bytes, which no learnt ratio changes from one request to the next.
    fn is_huge(&self, words: &str) -> bool {
        self.admits_above.is_some_and(|above| words.len() / BYTES_PER_TOKEN > above as usize)
    }

    /// The form in which a huge output is admitted: a function of the output, its call and the policy.
    pub fn admit(&self, part_index: usize) -> Option<Proposal> {
        let part = self.transcript.parts.get(part_index).filter(|part| part.kind == PartKind::ToolResult)?;
        // Escapes only add bytes: what is small as it stands is small.
        if part.content.span().len() / BYTES_PER_TOKEN <= self.admits_above? as usize {
            return None;
        }
        let words = self.transcript.words(part);
        if !self.is_huge(&words) || is_already_reduced(&words) {
            return None;
        }
        let call = self.call_of(part_index);
        let original = Original::of_part(self.transcript, part_index, &words);
        let header = Header::of(call.as_ref(), &words, media_inside(self.transcript, part));
        self.reduced(part_index, call.as_ref(), &header, &words, original)
    }

    fn call_of(&self, part_index: usize) -> Option<Call<'a>> {
        let call = self.transcript.exchanges.call_of(part_index)?;
        self.transcript.parts.get(call).map(|call| understand(self.transcript, call))
    }

    /// What could be done to a part; `None` when nothing would be saved.
    pub fn propose(&self, part_index: usize) -> Option<Proposal> {
        let part = self.transcript.parts.get(part_index)?;
        match part.kind {
            PartKind::ToolResult => self.output(part_index, part),
            PartKind::ToolCall => self.arguments(part_index, part),
            PartKind::Media => self.media(part_index, part),
            _ => None,
        }
    }

    fn output(&self, part_index: usize, part: &Part) -> Option<Proposal> {
        let transcript = self.transcript;
        let words = transcript.words(part);
        if is_already_reduced(&words) {
            return None;
        }
        let original = Original::of_part(transcript, part_index, &words);
        let shown = self.keeping.shown(original.handle);
        let call = self.call_of(part_index);
        let header = Header::of(call.as_ref(), &words, media_inside(transcript, part));
        if self.is_repeated_later(part_index, part) {
            let note = format!("same output as in a later message{shown}");
            return self.proposal(part_index, StepKind::Duplicate, header.line(&note), original);
        }
        if let Some(call) = &call
            && call.act == Act::Read
            && let Some(path) = &call.path
            && self.whole_files.get(path.as_ref()).is_some_and(|&later| later > part_index)
        {
            let note = format!("superseded by a later read or write of the file{shown}");
            return self.proposal(part_index, StepKind::Superseded, header.line(&note), original);
        }
        if let Some(text) = call.as_ref().and_then(|call| self.difference(part_index, call, &header, &words, &shown)) {
            return self.proposal(part_index, StepKind::Duplicate, text, original);
        }
        self.reduced(part_index, call.as_ref(), &header, &words, original)
    }

    /// The reduced form of an output, chosen by what the conversation speaks of unless it is one that is admitted so.
    fn reduced(
        &self,
        part_index: usize,
        call: Option<&Call<'_>>,
        header: &Header,
        words: &str,
        original: Original,
    ) -> Option<Proposal> {
        let argument = call.map_or("", |call| call.target.as_ref());
        let tool = self.transcript.tool_of(part_index);
        let source = reduce::Source { tool, argument, focus: &[] };
        let reduced = match self.is_huge(words) {
            true => reduce::reduce(&source, words),
            false => reduce::reduce_in_context(&source, self.conversation(), words),
        }?;
        let line = header.line(&format!("reduced as {}{}", reduced.kind, self.keeping.shown(original.handle)));
        self.proposal(part_index, StepKind::Reduce, format!("{line}\n{}", reduced.text), original)
    }

    /// What is left of a run when a later run of the same command says nearly the same.
    fn difference(
        &self,
        part_index: usize,
        call: &Call<'a>,
        header: &Header,
        words: &str,
        shown: &str,
    ) -> Option<String> {
        let later = *self.runs.get(&(call.tool, call.target.clone())).filter(|&&later| later > part_index)?;
        let newer = self.transcript.words(self.transcript.parts.get(later)?);
        let difference = reduce::difference(words, &newer)?;
        let message = self.transcript.message_of(later);
        let note = match difference.differing {
            0 => format!("same but for numbers as the later run in message {message}{shown}"),
            1 => format!("1 line differs from the later run in message {message}{shown}"),
            lines => format!("{lines} lines differ from the later run in message {message}{shown}"),
        };
        let mut text = header.line(&note);
        difference.lines.iter().for_each(|line| text.extend(["\n", line]));
        Some(text)
    }

    /// Whether a later output says exactly the same.
    fn is_repeated_later(&self, part_index: usize, part: &Part) -> bool {
        let newest = self.newest.get(&look_of(self.transcript, part)).copied().unwrap_or(part_index);
        newest > part_index
            && self.transcript.parts.get(newest).is_some_and(|newest| {
                self.transcript.raw(newest.content.span()) == self.transcript.raw(part.content.span())
            })
    }

    fn arguments(&self, part_index: usize, part: &Part) -> Option<Proposal> {
        let transcript = self.transcript;
        let is_signed = || signature::of(transcript, part).is_some();
        if transcript.message_of(part_index) >= self.signed_from && is_signed() {
            return None;
        }
        let source = recall::content(transcript, part);
        let original = Original::of_part(transcript, part_index, &source);
        let path = understand(transcript, part).path;
        let text = shorten_leaves(&source, path.as_deref(), &self.keeping.shown(original.handle))?;
        self.proposal(part_index, StepKind::Arguments, text, original)
    }

    fn media(&self, part_index: usize, part: &Part) -> Option<Proposal> {
        if self.transcript.message_of(part_index) >= self.newest_media {
            return None;
        }
        let raw = self.transcript.raw(part.span);
        let original = Original::of_span(self.transcript, part.span);
        let text = format!(
            "[{} · {} KB · removed{}]",
            media_type(self.transcript, part),
            raw.len().div_ceil(1024),
            self.keeping.shown(original.handle)
        );
        self.proposal(part_index, StepKind::Media, text, original)
    }

    /// What a part costs beside its content: a replaced text keeps it.
    pub fn envelope(&self, part_index: usize) -> u32 {
        let before = self.counts.parts.get(part_index).copied().unwrap_or_default();
        match self.transcript.parts.get(part_index) {
            Some(part) if part.kind != PartKind::Media && media_inside(self.transcript, part) == 0 => {
                before.saturating_sub(self.measure.text(&recall::content(self.transcript, part)))
            }
            _ => 0,
        }
    }

    /// A proposal, if it saves something.
    fn proposal(&self, part_index: usize, kind: StepKind, text: String, original: Original) -> Option<Proposal> {
        let before = self.counts.parts.get(part_index).copied().unwrap_or_default();
        let after = self.envelope(part_index) + self.measure.text(&text);
        (after < before).then(|| Proposal {
            step: Step {
                message: self.transcript.message_of(part_index),
                part: Some(part_index),
                kind,
                tool: original.tool.clone(),
                before: before.into(),
                after: after.into(),
                fidelity: self.keeping.fidelity(),
                handle: Some(original.handle),
                text: Some(text),
            },
            original,
        })
    }
}

/// Size, beginning and end of an output as it stands in the document.
type Look<'a> = (usize, &'a str, &'a str);

fn look_of<'a>(transcript: &Transcript<'a>, part: &Part) -> Look<'a> {
    const EDGE: usize = 48;
    let raw = transcript.raw(part.content.span());
    let head = raw.get(..raw.floor_char_boundary(EDGE)).unwrap_or_default();
    let tail = raw.get(raw.ceil_char_boundary(raw.len().saturating_sub(EDGE))..).unwrap_or_default();
    (raw.len(), head, tail)
}

/// Whether a part is an output that was reduced before.
pub fn is_reduced(transcript: &Transcript<'_>, part: &Part) -> bool {
    part.kind == PartKind::ToolResult && transcript.raw(part.content.span().inner()).starts_with(Header::OPENING)
}

/// Whether a text is an output that was reduced before.
pub fn is_reduced_text(text: &str) -> bool {
    is_already_reduced(text)
}

/// The file whose whole content a call reads or writes.
fn whole_file(transcript: &Transcript<'_>, part: &Part, call: &Call<'_>) -> Option<String> {
    let path = call.path.as_deref()?;
    let raw = transcript.raw(part.content.span());
    let is_whole = match call.act {
        Act::Write => true,
        Act::Read => !["offset", "limit", "start", "line", "range"].iter().any(|word| raw.contains(word)),
        _ => false,
    };
    is_whole.then(|| path.to_owned())
}

/// Pictures and documents inside a tool result.
fn media_inside(transcript: &Transcript<'_>, part: &Part) -> usize {
    transcript.inner_of(part).iter().filter(|block| block.kind == PartKind::Media).count()
}

fn has_media(transcript: &Transcript<'_>, index: usize) -> bool {
    transcript.parts_at(index).iter().any(|part| part.kind == PartKind::Media)
}

/// `image/png`, or the block's own type.
fn media_type<'a>(transcript: &Transcript<'a>, part: &Part) -> Cow<'a, str> {
    let raw = transcript.raw(part.span);
    let stated = raw
        .split_once("\"media_type\"")
        .and_then(|(_, rest)| rest.split('"').nth(1))
        .or_else(|| raw.split_once("data:").and_then(|(_, rest)| rest.split([';', ',']).next()));
    match stated {
        Some(stated) if stated.len() < 40 => Cow::Borrowed(stated),
        _ => Cow::Borrowed(transcript.raw(part.name)),
    }
}

/// The same JSON with long strings made shorter, everything else as it is written; `None` when there are none or
/// it is no JSON.
fn shorten_leaves(source: &str, path: Option<&str>, shown: &str) -> Option<String> {
    Scanner::new(source, 0).skip().ok()?;
    let mut edits = Edits::new();
    let mut scanner = Scanner::new(source, 0);
    while let Some(quote) = memchr::memchr(b'"', source.as_bytes().get(scanner.offset()..)?) {
        scanner = Scanner::new(source, scanner.offset() + quote);
        let literal = scanner.string().ok()?;
        let is_key = scanner.next_byte() == Some(b':');
        if !is_key && literal.len() > 2 * ARGUMENT_HEAD {
            let text = json::decode(literal.inner().of(source));
            if let Some(short) = shorter(&text, path, shown) {
                edits.replace(literal, json::encode(&short));
            }
        }
    }
    (!edits.is_empty()).then(|| edits.splice(source))
}

/// What stays of a long string: of what goes into a file an outline with its size, of anything else the beginning.
fn shorter(text: &str, path: Option<&str>, shown: &str) -> Option<String> {
    if reduce::is_reduced(text) {
        return None;
    }
    let has_lines = memchr::memchr_iter(b'\n', text.as_bytes()).nth(FEWEST_LINES).is_some();
    let outline = path.filter(|_| has_lines).and_then(|path| {
        let source = reduce::Source { tool: WRITTEN, argument: path, focus: &[] };
        reduce::reduce(&source, text)
    });
    if let Some(outline) = outline {
        return Some(format!("{}\n… [outline of {} characters{shown}]", outline.text, text.len()));
    }
    let head = text.get(..text.floor_char_boundary(ARGUMENT_HEAD)).unwrap_or_default();
    let gone = text.len() - head.len();
    Some(format!("{head}… [{gone} more characters{shown}]"))
}

/// The value that replaces a part's content in the document.
pub fn replacement(transcript: &Transcript<'_>, step: &Step) -> Option<(foldline_transcript::edit::Span, String)> {
    let part = transcript.parts.get(step.part?)?;
    let text = step.text.as_deref()?;
    match (part.kind, &part.content) {
        // Arguments that are an object stay one; a string of JSON stays a string.
        (PartKind::ToolCall, Content::Json(span)) => Some((*span, text.to_owned())),
        (PartKind::ToolCall, Content::Text(span)) => Some((*span, json::encode(text))),
        (PartKind::ToolResult, content) => Some((content.span(), compose::result_value(transcript, part, text))),
        (PartKind::Text, content) => Some((content.span(), json::encode(text))),
        _ => None,
    }
}
