//! The folded turns as a summariser reads them: who said what, outputs reduced to what matters,
//! secrets masked, cut into pieces that fit its window.

use crate::handoff;
use crate::ledger::understand;
use crate::redact::{Mode, redact};
use crate::reduce;
use crate::tokens::Counter;
use crate::transcript::{PartKind, Role, Transcript};
use std::borrow::Cow;

/// How long turns are told, from roomy to terse; the roomiest that fits is taken. Before words are cut to nothing,
/// outputs go: goals and reasons stand in what people and the assistant say, and what was run is recorded anyway.
const LENGTHS: [Length; 9] = [
    Length { outputs: 6_000, words: 6_000 },
    Length { outputs: 3_000, words: 3_000 },
    Length { outputs: 1_600, words: 1_600 },
    Length { outputs: 800, words: 800 },
    Length { outputs: 400, words: 400 },
    Length { outputs: 200, words: 200 },
    Length { outputs: 100, words: 200 },
    Length { outputs: 0, words: 400 },
    Length { outputs: 0, words: 150 },
];

/// Characters that a turn gets.
#[derive(Clone, Copy, Debug)]
struct Length {
    /// For a call or its output; none at all when zero.
    outputs: usize,
    /// For words: the assistant's get twice, the user's four times as much.
    words: usize,
}

impl Length {
    fn of(self, share: Share) -> usize {
        match share {
            Share::Output => self.outputs,
            Share::Words(times) => self.words * times,
        }
    }

    fn at_most(self, most: usize) -> Length {
        Length { outputs: self.outputs.min(most), words: self.words.min(most) }
    }
}

/// What a part may take.
#[derive(Clone, Copy, Debug)]
enum Share {
    Output,
    Words(usize),
}

/// Of an output longer than this, beginning and end are read: enough for every reducer to see what it is.
const LONGEST_READ: usize = 512 * 1024;
/// Characters of a token in the densest text that is common (hexadecimal, CJK are denser and rare). It only
/// guides the choice of a length; what goes into a prompt is counted.
const CHARS_PER_TOKEN: usize = 3;
/// Where the estimate was too low, one of so many messages is left out before the next try.
const SKIPPED_AT_ONCE: usize = 12;
/// What stands around a turn.
const LABEL: usize = 24;

/// How much may be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Tokens of one piece.
    pub(super) piece: u32,
    /// Pieces at most.
    pub(super) pieces: u32,
}

/// The turns of `folded` in pieces, oldest first. Earlier handoffs are not among them.
pub(super) fn pieces(transcript: &Transcript<'_>, folded: &[usize], room: Room) -> Vec<String> {
    let capacity = room.piece as usize * room.pieces as usize * CHARS_PER_TOKEN;
    let sizes = Sizes::of(transcript, folded);
    for length in LENGTHS {
        if sizes.at(length) <= capacity {
            let made = cut(transcript, folded, 0, length, room);
            // Characters only guide; where the text is denser than usual, the next shorter length is tried.
            if made.len() <= room.pieces as usize {
                return made;
            }
        }
    }
    // Even tersely it is too much: the oldest turns are left to the ledger, as few as possible.
    let [.., tersest] = LENGTHS;
    let mut skip = sizes.skipped(tersest, capacity);
    loop {
        let made = cut(transcript, folded, skip, tersest, room);
        let left = folded.len().saturating_sub(skip);
        if made.len() <= room.pieces as usize || left <= 1 {
            return made.into_iter().take(room.pieces as usize).collect();
        }
        skip += (left / SKIPPED_AT_ONCE).max(1);
    }
}

/// The turns after the first `skip` messages, each quoted at about `length`.
fn cut(transcript: &Transcript<'_>, folded: &[usize], skip: usize, length: Length, room: Room) -> Vec<String> {
    // No turn may fill a piece by itself.
    let length = length.at_most((room.piece as usize * CHARS_PER_TOKEN / 8).max(40));
    let mut cutter = Cutter { room: room.piece, done: Vec::new(), piece: String::new(), tokens: 0 };
    if skip > 0 {
        cutter.add(&format!("[{skip} earlier messages are not shown; their facts are recorded elsewhere]\n"));
    }
    for &index in folded.iter().skip(skip) {
        for (part_index, share) in quotable(transcript, index) {
            if let Some(turn) = turn(transcript, index, part_index, length.of(share)) {
                cutter.add(&turn);
            }
        }
    }
    cutter.finish()
}

/// Everything the user says in `folded` and after, for checking quotes.
pub(super) fn user_words(transcript: &Transcript<'_>, folded: &[usize]) -> Vec<String> {
    let from = folded.first().copied().unwrap_or_default();
    let mut left = LONGEST_READ;
    let mut words = Vec::new();
    // Newest first: when the room is used up, what is missing is oldest.
    for index in (0..transcript.messages.len()).rev() {
        let Some(message) = transcript.messages.get(index).filter(|message| message.role == Role::User) else {
            continue;
        };
        for part in transcript.parts_of(message).iter().filter(|part| part.kind == PartKind::Text) {
            let text = if index < from { transcript.words(part) } else { handoff::own_words(transcript, part) };
            if text.len() > left {
                return words;
            }
            left -= text.len();
            words.push(redact(&text, Mode::Text).into_owned());
        }
    }
    words
}

/// The parts of a message that are told, with their share.
fn quotable(transcript: &Transcript<'_>, index: usize) -> impl Iterator<Item = (usize, Share)> {
    let message = transcript.messages.get(index);
    let role = message.map_or(Role::User, |message| message.role);
    let (start, end) = message.map_or((0, 0), |message| (message.parts.start as usize, message.parts.end as usize));
    (start..end).filter_map(move |part_index| {
        let share = match (transcript.parts.get(part_index)?.kind, role) {
            (PartKind::Text, Role::User) => Share::Words(4),
            (PartKind::Text, _) => Share::Words(2),
            (PartKind::ToolResult | PartKind::ToolCall, _) => Share::Output,
            _ => return None,
        };
        Some((part_index, share))
    })
}

/// How long turns are in the document; decoding them only to measure would double the work.
struct Sizes(Vec<Vec<(usize, Share)>>);

impl Sizes {
    fn of(transcript: &Transcript<'_>, folded: &[usize]) -> Sizes {
        let size = |part: usize| transcript.parts.get(part).map_or(0, |part| part.content.span().len());
        Sizes(
            folded
                .iter()
                .map(|&index| quotable(transcript, index).map(|(part, share)| (size(part), share)).collect())
                .collect(),
        )
    }

    fn message(parts: &[(usize, Share)], length: Length) -> usize {
        let told = parts.iter().map(|&(size, share)| size.min(length.of(share)));
        told.filter(|&told| told > 0).map(|told| told + LABEL).sum()
    }

    fn at(&self, length: Length) -> usize {
        self.0.iter().map(|parts| Sizes::message(parts, length)).sum()
    }

    /// How many of the oldest messages must go so that the rest fits.
    fn skipped(&self, length: Length, capacity: usize) -> usize {
        let mut size = 0;
        for (index, parts) in self.0.iter().enumerate().rev() {
            size += Sizes::message(parts, length);
            if size > capacity {
                return index + 1;
            }
        }
        0
    }
}

/// One part, with a label.
fn turn(transcript: &Transcript<'_>, index: usize, part_index: usize, length: usize) -> Option<String> {
    let part = transcript.parts.get(part_index).filter(|_| length > 0)?;
    let words = match part.kind {
        PartKind::Text => handoff::own_words(transcript, part),
        _ => transcript.words(part),
    };
    if words.trim().is_empty() {
        return None;
    }
    // Masked before it is cut: half a key matches no rule.
    let masked = redact(&words, Mode::Text);
    let text = masked.trim();
    Some(match part.kind {
        PartKind::Text => {
            let role = transcript.messages.get(index).map_or("user", |message| message.role.name());
            format!("[{role}] {}\n", shortened(text, length))
        }
        PartKind::ToolCall => format!("[call {}] {}\n", transcript.tool_of(part_index), shortened(text, length)),
        _ => format!("[result] {}\n", shortened(&reduced(transcript, part_index, text, length), length)),
    })
}

/// An output reduced by its kind, where it is too long to be told whole.
fn reduced<'t>(transcript: &Transcript<'_>, part_index: usize, text: &'t str, length: usize) -> Cow<'t, str> {
    if text.len() <= length {
        return Cow::Borrowed(text);
    }
    let read = shortened(text, LONGEST_READ);
    let call = transcript.exchanges.call_of(part_index).and_then(|call| transcript.parts.get(call));
    let call = call.map(|call| understand(transcript, call));
    let argument = call.as_ref().map_or("", |call| call.target.as_ref());
    let source = reduce::Source { tool: transcript.tool_of(part_index), argument, ..reduce::Source::default() };
    match reduce::reduce(&source, &read) {
        Some(reduced) => Cow::Owned(reduced.text),
        None => read,
    }
}

/// A text without its middle.
pub(super) fn shortened(text: &str, length: usize) -> Cow<'_, str> {
    if text.len() <= length {
        return Cow::Borrowed(text);
    }
    let head = text.get(..text.floor_char_boundary(length * 2 / 3)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - length / 3)..).unwrap_or_default();
    Cow::Owned(format!(
        "{}\n[… {} characters …]\n{}",
        head.trim_end(),
        text.len() - head.len() - tail.len(),
        tail.trim_start()
    ))
}

/// Fills pieces with turns.
struct Cutter {
    room: u32,
    done: Vec<String>,
    piece: String,
    tokens: u32,
}

impl Cutter {
    fn add(&mut self, turn: &str) {
        let tokens = tokens(turn);
        if tokens > self.room {
            // Denser than text is: halves, until they fit.
            let middle = turn.floor_char_boundary(turn.len() / 2);
            if middle > 0 {
                let (head, tail) = turn.split_at(middle);
                self.add(head);
                self.add(tail);
            }
            return;
        }
        if self.tokens + tokens > self.room && !self.piece.is_empty() {
            self.done.push(std::mem::take(&mut self.piece));
            self.tokens = 0;
        }
        self.tokens += tokens;
        self.piece.push_str(turn);
    }

    fn finish(mut self) -> Vec<String> {
        if !self.piece.is_empty() {
            self.done.push(self.piece);
        }
        self.done
    }
}

/// A piece in two, at a line end.
pub(super) fn halves(piece: &str) -> Option<(String, String)> {
    let middle = piece.floor_char_boundary(piece.len() / 2);
    let cut = piece.get(..middle)?.rfind('\n').map_or(middle, |end| end + 1);
    (cut > 0 && cut < piece.len()).then(|| {
        let (head, tail) = piece.split_at(cut);
        (head.to_owned(), tail.to_owned())
    })
}

/// What a text costs a model whose vocabulary is not known: the estimate, and a margin for its error.
pub(super) fn tokens(text: &str) -> u32 {
    let counted = Counter::Estimate.count(text);
    counted + counted / 6 + 1
}
