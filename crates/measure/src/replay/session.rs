//! A session made ready: sound, counted, with the times and sizes that its record tells.

use crate::cache::{Break, Fit, Recording};
use crate::retention::{Exam, Page, Timeline};
use foldline_core::Job;
use foldline_core::SessionState;
use foldline_core::policy::{CacheTtl, Policy};
use foldline_core::tokens::{Measure, measure};
use foldline_transcript::edit::Span;
use foldline_transcript::repair::repair;
use foldline_transcript::wire::{self, WireError};
use foldline_transcript::{Format, Transcript};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// Seconds between requests of a session that recorded no times: an agent at work.
const USUAL_GAP: f64 = 15.0;
/// Seconds between sessions that are chained: long enough that every cache with the shorter lifetime is cold.
const CHAIN_GAP: f64 = 900.0;
/// Reported per counted token where nothing was reported: the mean of recorded Claude sessions.
const USUAL_SCALE: f64 = 1.08;

/// One message of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it stands.
    pub span: Span,
    /// Tokens.
    pub tokens: u64,
    /// Content blocks.
    pub blocks: u32,
    /// Digest of its bytes.
    pub digest: u64,
}

/// One request of the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Messages that were sent.
    pub messages: usize,
    /// When, in seconds.
    pub at: f64,
    /// Tokens of the reply.
    pub output: u64,
    /// Whether the client changed what stands before the messages.
    pub is_broken: bool,
}

/// A session to be played.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its name.
    pub name: String,
    /// Whose format it is.
    pub format: Format,
    /// The model.
    pub model: String,
    /// The document, sound.
    pub text: String,
    /// What stands before and after the messages, and between two.
    pub(super) frame: (String, &'static str, &'static str),
    /// The messages.
    pub pieces: Vec<Piece>,
    /// The requests.
    pub turns: Vec<Turn>,
    /// Tokens beside the messages.
    pub outside: u64,
    /// Tokens of them that stay cached when the client changes its own.
    pub system: u64,
    /// Reported per counted token.
    pub scale: f64,
    /// Lifetime of cached prefixes.
    pub ttl: CacheTtl,
    /// Whether times are from a record.
    pub has_times: bool,
}

/// What is known about a session beside its messages.
struct Facts {
    turns: Vec<Turn>,
    outside: u64,
    system: u64,
    scale: f64,
    ttl: Option<CacheTtl>,
    has_times: bool,
}

impl Session {
    /// Reads a session.
    pub fn read(
        name: &str,
        text: &str,
        format: Option<Format>,
        policy: &Policy,
        job: &Job,
    ) -> Result<Session, WireError> {
        let transcript = wire::read(text, format)?;
        let recording = Recording::of(&transcript);
        let counts = measure(&transcript, &plain_measure(&transcript, policy, job));
        let fit = Fit::of(&recording, &counts);
        let has_times = recording.requests.iter().all(|request| request.at.is_some());
        let mut clock = 0.0_f64;
        let turns = recording.requests.iter().enumerate().map(|(index, request)| {
            let at = request.at.filter(|_| has_times).unwrap_or(index as f64 * USUAL_GAP);
            // Clocks of clients jump; time does not.
            clock = clock.max(at);
            let counted = counts.between(request.reply, request.reply + 1);
            Turn {
                messages: request.reply,
                at: clock,
                // Clients that stream write down what was known when the reply began.
                output: counted.max(request.reported.map_or(0, |reported| reported.output)),
                is_broken: fit.as_ref().and_then(|fit| *fit.breaks.get(index)?) == Some(Break::Client),
            }
        });
        let facts = Facts {
            turns: turns.collect(),
            outside: fit.as_ref().map_or(counts.system + counts.tools, |fit| fit.outside),
            system: fit.as_ref().map_or(counts.system + counts.tools, |fit| fit.system),
            scale: fit.as_ref().map_or(USUAL_SCALE, |fit| fit.scale),
            ttl: recording.ttl(),
            has_times,
        };
        Session::build(name.to_owned(), &transcript, facts, policy, job)
    }

    /// Several sessions as one that goes on and on.
    pub fn chained(sessions: &[Session], policy: &Policy, job: &Job) -> Result<Session, WireError> {
        let mut body = String::new();
        let mut turns = Vec::new();
        let (mut messages, mut clock) = (0, 0.0);
        let mut outside = (0, 0);
        let mut scale = 0.0;
        let mut name = String::new();
        let frame = sessions.first().map(|session| session.frame.clone()).unwrap_or_default();
        body.push_str(&frame.0);
        for (number, session) in sessions.iter().enumerate() {
            let start = session.turns.first().map_or(0.0, |turn| turn.at);
            turns.extend(session.turns.iter().map(|turn| Turn {
                messages: turn.messages + messages,
                at: turn.at - start + clock,
                ..*turn
            }));
            clock += session.turns.last().map_or(0.0, |turn| turn.at) - start + CHAIN_GAP;
            messages += session.pieces.len();
            for (index, piece) in session.pieces.iter().enumerate() {
                if index > 0 || number > 0 {
                    body.push_str(frame.1);
                }
                body.push_str(piece.span.of(&session.text));
            }
            outside = (outside.0.max(session.outside), outside.1.max(session.system));
            scale += session.scale / sessions.len().max(1) as f64;
            name = format!("{name}{}{}", if number > 0 { "+" } else { "" }, session.name);
        }
        body.push_str(frame.2);
        let transcript = wire::read(&body, sessions.first().map(|session| session.format))?;
        let ttl = sessions.first().map(|session| session.ttl);
        let has_times = sessions.iter().all(|session| session.has_times);
        let facts = Facts { turns, outside: outside.0, system: outside.1, scale, ttl, has_times };
        Session::build(name, &transcript, facts, policy, job)
    }

    fn build(
        name: String,
        transcript: &Transcript<'_>,
        facts: Facts,
        policy: &Policy,
        job: &Job,
    ) -> Result<Session, WireError> {
        let frame = frame_of(transcript);
        let repaired = repair(transcript);
        let sound = match &repaired {
            Some(repaired) => wire::read(&repaired.text, Some(transcript.format))?,
            None => transcript.clone(),
        };
        let mut text = frame.0.clone();
        for (index, message) in sound.messages.iter().enumerate() {
            if index > 0 {
                text.push_str(frame.1);
            }
            text.push_str(sound.raw(message.span));
        }
        text.push_str(frame.2);
        // A message that went with the repair was not sent; what follows it moves up.
        let moved = |messages: usize| match &repaired {
            Some(repaired) => repaired.origin.partition_point(|&origin| origin < messages),
            None => messages,
        };
        let turns = facts.turns.into_iter().map(|turn| Turn { messages: moved(turn.messages), ..turn });
        let mut turns: Vec<Turn> = turns.filter(|turn| turn.messages > 0).collect();
        turns.dedup_by_key(|turn| turn.messages);
        let ready = wire::read(&text, Some(transcript.format))?;
        let measure = Measure { scale: facts.scale, ..plain_measure(&ready, policy, job) };
        let pieces = pieces(&ready, &measure);
        let model = transcript.model.as_deref().unwrap_or_default().to_owned();
        Ok(Session {
            name,
            format: transcript.format,
            model,
            frame,
            pieces,
            turns,
            outside: facts.outside,
            system: facts.system,
            scale: facts.scale,
            ttl: facts.ttl.unwrap_or(policy.model.cache_ttl),
            has_times: facts.has_times,
            text,
        })
    }

    /// Tokens of the longest request.
    pub fn longest(&self) -> u64 {
        let sent = self.turns.last().map_or(0, |turn| turn.messages);
        self.outside + self.pieces.iter().take(sent).map(|piece| piece.tokens).sum::<u64>()
    }
}

/// The messages of a transcript as pieces.
pub(super) fn pieces(transcript: &Transcript<'_>, measure_by: &Measure) -> Vec<Piece> {
    let counts = measure(transcript, measure_by);
    let piece = |(index, message): (usize, &foldline_transcript::Message)| Piece {
        span: message.span,
        tokens: counts.message(index),
        blocks: (message.parts.end - message.parts.start).max(1),
        digest: FxBuildHasher.hash_one(transcript.raw(message.span)),
    };
    transcript.messages.iter().enumerate().map(piece).collect()
}

fn plain_measure(transcript: &Transcript<'_>, policy: &Policy, job: &Job) -> Measure {
    job.setting(transcript, policy, &SessionState::default()).measure
}

/// The document around the messages: only what a request needs, without the record.
fn frame_of(transcript: &Transcript<'_>) -> (String, &'static str, &'static str) {
    if transcript.format == Format::ClaudeCode {
        return (String::new(), "\n", "\n");
    }
    let mut head = String::from("{");
    if let Some(model) = &transcript.model {
        head.push_str(&format!("\"model\":{},", serde_json::Value::from(model.as_str())));
    }
    let (system, list) = match transcript.format {
        Format::OpenAiResponses => ("instructions", "input"),
        Format::ShareGpt => ("system", "conversations"),
        Format::Gemini => ("systemInstruction", "contents"),
        _ => ("system", "messages"),
    };
    for (name, span) in [(system, transcript.system), ("tools", transcript.tools)] {
        if let Some(span) = span {
            head.push_str(&format!("\"{name}\":{},", transcript.raw(span)));
        }
    }
    (format!("{head}\"{list}\":["), ",", "]}")
}

/// What is needed at each point of a session, worked out once and asked by every policy.
#[derive(Debug, Default)]
pub struct Exams {
    read: Option<(Page, Timeline)>,
    at: BTreeMap<usize, Exam>,
}

impl Exams {
    /// The exam on everything before a message.
    pub fn at(&mut self, session: &Session, message: usize) -> &Exam {
        let (page, timeline) = self.read.get_or_insert_with(|| {
            let page = wire::read(&session.text, Some(session.format)).map(|transcript| Page::of(&transcript));
            let page = page.unwrap_or_default();
            let timeline = Timeline::of(&page);
            (page, timeline)
        });
        self.at.entry(message).or_insert_with(|| Exam::at(page, timeline, message))
    }
}
