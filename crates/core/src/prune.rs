//! Pruning: old tool outputs, long arguments and stale media made shorter where they stand.
//!
//! Each proposal is one step on one part. Which of them are taken, and how many, is the planner's
//! decision; here it is only said what each would give.

use crate::ledger::{Act, Call, understand};
use crate::plan::{Step, StepKind};
use crate::policy::Fidelity;
use crate::recall::{self, Handle, Original};
use crate::reduce;
use crate::tokens::{Counts, Measure};
use crate::transcript::{Content, Part, PartKind, Transcript};
use crate::wire::json;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Long strings inside arguments keep this much of their beginning.
const ARGUMENT_HEAD: usize = 200;

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
    /// The newest part with each content, by handle.
    newest: FxHashMap<Handle, usize>,
    /// The last part that shows or sets the whole of a file.
    whole_files: FxHashMap<String, usize>,
    /// Media before this message are stale.
    newest_media: usize,
}

impl<'t, 'a> Pruner<'t, 'a> {
    /// Looks over a transcript once. `above` is the size from which outputs are worth a look.
    pub fn new(transcript: &'t Transcript<'a>, counts: &'t Counts, measure: &'t Measure, above: u32) -> Pruner<'t, 'a> {
        let mut newest = FxHashMap::default();
        let mut whole_files = FxHashMap::default();
        for (index, part) in transcript.parts.iter().enumerate() {
            match part.kind {
                PartKind::ToolResult if counts.parts.get(index).copied().unwrap_or_default() > above => {
                    newest.insert(Handle::of(&transcript.words(part)), index);
                }
                PartKind::ToolCall => {
                    let call = understand(transcript, part);
                    if let Some(path) = whole_file(transcript, part, &call) {
                        whole_files.insert(path, index);
                    }
                }
                _ => {}
            }
        }
        let newest_media = (0..transcript.messages.len())
            .rev()
            .find(|&index| transcript.speaks(index) && has_media(transcript, index))
            .unwrap_or(0);
        Pruner { transcript, counts, measure, newest, whole_files, newest_media }
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
        let call = transcript
            .exchanges
            .call_of(part_index)
            .and_then(|call| transcript.parts.get(call))
            .map(|call| understand(transcript, call));
        let header = Header::of(call.as_ref(), &words, original.handle);
        let newest = self.newest.get(&original.handle).copied().unwrap_or(part_index);
        if newest > part_index {
            let note = format!("same output as in a later message, {}", original.handle);
            return self.proposal(part_index, StepKind::Duplicate, header.line(&note), original);
        }
        if let Some(call) = &call
            && call.act == Act::Read
            && let Some(path) = &call.path
            && self.whole_files.get(path.as_ref()).is_some_and(|&later| later > part_index)
        {
            let note = format!("superseded by a later read or write of the file, {}", original.handle);
            return self.proposal(part_index, StepKind::Superseded, header.line(&note), original);
        }
        let argument = call.as_ref().map_or("", |call| call.target.as_ref());
        let source = reduce::Source { tool: transcript.tool_of(part_index), argument, focus: &[] };
        let text = match reduce::reduce(&source, &words) {
            Some(reduced) => {
                let line = header.line(&format!("reduced as {}, {}", reduced.kind, original.handle));
                format!("{line}\n{}", reduced.text)
            }
            None => return None,
        };
        self.proposal(part_index, StepKind::Reduce, text, original)
    }

    fn arguments(&self, part_index: usize, part: &Part) -> Option<Proposal> {
        let transcript = self.transcript;
        let source = recall::content(transcript, part);
        let original = Original::of_part(transcript, part_index, &source);
        let text = shorten_leaves(&source, original.handle)?;
        self.proposal(part_index, StepKind::Arguments, text, original)
    }

    fn media(&self, part_index: usize, part: &Part) -> Option<Proposal> {
        if self.transcript.message_of(part_index) >= self.newest_media {
            return None;
        }
        let raw = self.transcript.raw(part.span);
        let original = Original::of_span(self.transcript, part.span);
        let text = format!(
            "[{} · {} KB · removed, {}]",
            media_type(self.transcript, part),
            raw.len().div_ceil(1024),
            original.handle
        );
        self.proposal(part_index, StepKind::Media, text, original)
    }

    /// A proposal, if it saves something.
    fn proposal(&self, part_index: usize, kind: StepKind, text: String, original: Original) -> Option<Proposal> {
        let before = self.counts.parts.get(part_index).copied().unwrap_or_default();
        let after = self.measure.text(&text);
        (after < before).then(|| Proposal {
            step: Step {
                message: self.transcript.message_of(part_index),
                part: Some(part_index),
                kind,
                tool: original.tool.clone(),
                before: before.into(),
                after: after.into(),
                fidelity: Fidelity::Recoverable,
                handle: Some(original.handle),
                text: Some(text),
            },
            original,
        })
    }
}

/// The line that says what an output was.
struct Header {
    what: String,
    lines: usize,
    bytes: usize,
}

impl Header {
    /// How such a line begins; reduced outputs are recognised by it.
    const OPENING: &'static str = "[was ";

    fn of(call: Option<&Call<'_>>, words: &str, _handle: Handle) -> Header {
        let what = match call {
            Some(call) if !call.target.is_empty() => format!("{} `{}`", call.tool, first_line(&call.target)),
            Some(call) => call.tool.to_owned(),
            None => "tool output".to_owned(),
        };
        Header { what, lines: words.lines().count(), bytes: words.len() }
    }

    fn line(&self, note: &str) -> String {
        let size = if self.bytes < 2048 { format!("{} B", self.bytes) } else { format!("{} KB", self.bytes / 1024) };
        format!("{}{} · {} lines, {size} · {note}]", Header::OPENING, self.what, self.lines)
    }
}

fn is_already_reduced(words: &str) -> bool {
    words.starts_with(Header::OPENING)
}

fn first_line(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.len() > LONGEST {
        true => format!("{}…", line.get(..line.floor_char_boundary(LONGEST)).unwrap_or_default()),
        false => line.to_owned(),
    }
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

/// The same JSON with long strings cut; `None` when there are none or it is no JSON.
fn shorten_leaves(source: &str, handle: Handle) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(source).ok()?;
    let mut cut = 0;
    shorten(&mut value, handle, &mut cut);
    (cut > 0).then(|| value.to_string())
}

fn shorten(value: &mut serde_json::Value, handle: Handle, cut: &mut usize) {
    match value {
        serde_json::Value::String(text) if text.len() > 2 * ARGUMENT_HEAD => {
            let head = text.floor_char_boundary(ARGUMENT_HEAD);
            let gone = text.len() - head;
            text.truncate(head);
            text.push_str(&format!("… [{gone} more characters, {handle}]"));
            *cut += 1;
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, handle, cut)),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|field| shorten(field, handle, cut)),
        _ => {}
    }
}

/// The value that replaces a part's content in the document.
pub fn replacement(transcript: &Transcript<'_>, step: &Step) -> Option<(crate::edit::Span, String)> {
    let part = transcript.parts.get(step.part?)?;
    let text = step.text.as_deref()?;
    match (part.kind, &part.content) {
        // Arguments that are an object stay one; a string of JSON stays a string.
        (PartKind::ToolCall, Content::Json(span)) => Some((*span, text.to_owned())),
        (PartKind::ToolCall, Content::Text(span)) => Some((*span, json::encode(text))),
        (PartKind::ToolResult | PartKind::Text, content) => Some((content.span(), json::encode(text))),
        _ => None,
    }
}
