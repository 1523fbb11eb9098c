//! Observes a reply while it is streamed: usage, and how it ended, reported once. Observing delays no byte, except the
//! last where other nodes have to know first, and its failures do not affect the reply.

use super::decode::{Coding, Decoder};
use super::mapped_keys;
use foldline_core::Format;
use foldline_transcript::wire::events::{self, Events};
use foldline_transcript::wire::reply::{self, ReportedUsage};
use foldline_transcript::wire::sse::SseUsage;
use http::{HeaderMap, header};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its last byte.
    Complete,
    /// The provider's connection broke.
    Cut,
    /// The provider was silent for too long.
    Silent,
    /// The client went away.
    Abandoned,
}

impl Ending {
    /// For metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Cut => "cut",
            Self::Silent => "silent",
            Self::Abandoned => "abandoned",
        }
    }
}

/// Who is told. What it returns is over when everybody knows who must before the client does.
type Report = Box<dyn FnOnce(Ending, Observed) -> Option<Settled> + Send>;

/// What a reply has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Usage as the provider reports it. Before the end of a stream it may lack the answer.
    pub usage: Option<ReportedUsage>,
    /// Bytes of text that passed in a stream.
    pub text: u64,
}

/// Done when a report has reached all who need it.
pub type Settled = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Reads along.
pub struct ReplyObserver {
    decoder: Option<Decoder>,
    reader: Reader,
    /// Bytes of text that passed in a stream.
    text: u64,
    report: Option<Report>,
    naming: Option<Naming>,
}

/// Who is told the names of what a reply says it made, as soon as it does.
pub type Named = Box<dyn FnMut(&str) + Send>;

struct Naming {
    events: Events,
    named: Named,
}

enum Reader {
    Stream(SseUsage),
    Whole {
        format: Format,
        bytes: Vec<u8>,
    },
    /// Nothing more to learn, or nothing that can be read.
    Off,
}

/// A reply that is not streamed and larger than this is not kept to be read: usage of one turn is not worth the memory.
const LARGEST_WHOLE: usize = 4 << 20;
/// What a piece of a stream may unpack to.
const LARGEST_PIECE: usize = 16 << 20;

impl ReplyObserver {
    /// Reads a reply with these headers and tells `report` when it is over.
    pub fn new(format: Format, headers: &HeaderMap, report: Report) -> ReplyObserver {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let reader = match text(header::CONTENT_TYPE) {
            Some(kind) if kind.starts_with("text/event-stream") => Reader::Stream(SseUsage::new(format)),
            Some(kind) if kind.contains("json") => Reader::Whole { format, bytes: Vec::new() },
            _ => Reader::Off,
        };
        let (decoder, reader) = match Coding::of(text(header::CONTENT_ENCODING)) {
            Some(Coding::Identity) => (None, reader),
            Some(coding) => match Decoder::new(coding, LARGEST_PIECE) {
                Ok(decoder) => (Some(decoder), reader),
                Err(_) => (None, Reader::Off),
            },
            None => (None, Reader::Off),
        };
        ReplyObserver { decoder, reader, text: 0, report: Some(report), naming: None }
    }

    /// Tells `named` the name of what the reply makes.
    pub fn naming(mut self, named: Named) -> ReplyObserver {
        self.naming = Some(Naming { events: Events::default(), named });
        self
    }

    /// A piece passes.
    pub fn feed(&mut self, bytes: &[u8]) {
        if matches!(self.reader, Reader::Off) {
            return;
        }
        let read = catch_unwind(AssertUnwindSafe(|| self.read(bytes)));
        if !matches!(read, Ok(Some(()))) {
            self.reader = Reader::Off;
        }
    }

    /// Another reply takes the place of this one: nobody is told.
    pub fn forget(&mut self) {
        self.report = None;
    }

    /// The reply is over. Only the first call tells. Its last byte waits for what is returned.
    pub fn end(&mut self, ending: Ending) -> Option<Settled> {
        let report = self.report.take()?;
        let reader = std::mem::replace(&mut self.reader, Reader::Off);
        let usage = catch_unwind(AssertUnwindSafe(|| match reader {
            Reader::Stream(usage) => usage.usage(),
            Reader::Whole { format, bytes } => {
                if let Some(mut naming) = self.naming.take() {
                    mapped_keys::made(&bytes).iter().for_each(|id| (naming.named)(id));
                }
                std::str::from_utf8(&bytes).ok().and_then(|text| reply::read(format, text).usage)
            }
            Reader::Off => None,
        }));
        report(ending, Observed { usage: usage.unwrap_or_default(), text: self.text })
    }

    /// `None` when there is nothing more to be read.
    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let unpacked;
        let bytes = match &mut self.decoder {
            Some(decoder) => {
                decoder.feed(bytes).ok()?;
                unpacked = decoder.take();
                unpacked.as_slice()
            }
            None => bytes,
        };
        match &mut self.reader {
            Reader::Stream(usage) => {
                usage.feed(bytes);
                self.text += text_length(bytes);
                self.naming = self.naming.take().and_then(|naming| naming.after(bytes));
            }
            Reader::Whole { bytes: whole, .. } if whole.len() + bytes.len() <= LARGEST_WHOLE => {
                whole.extend_from_slice(bytes);
            }
            Reader::Whole { .. } | Reader::Off => return None,
        }
        Some(())
    }
}

/// Bytes of the strings in a piece of a stream that hold parts of an answer. Strings that are cut count as far as they are
/// in the piece.
fn text_length(piece: &[u8]) -> u64 {
    const FIELDS: [&[u8]; 8] = [
        br#""content":"#,
        br#""text":"#,
        br#""delta":"#,
        br#""thinking":"#,
        br#""partial_json":"#,
        br#""arguments":"#,
        br#""reasoning_content":"#,
        br#""reasoning":"#,
    ];
    let mut length = 0;
    for field in FIELDS {
        let mut rest = piece;
        while let Some(at) = memchr::memmem::find(rest, field) {
            rest = rest.get(at + field.len()..).unwrap_or_default().trim_ascii_start();
            let Some(string) = rest.strip_prefix(b"\"") else { continue };
            rest = string;
            let end = string_end(rest);
            length += end as u64;
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    length
}

/// Where a string ends that has begun.
fn string_end(text: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        match text.get(from + at) {
            Some(b'"') => return from + at,
            _ => from += at + 2,
        }
    }
    text.len()
}

impl Naming {
    /// `None` once an event has told.
    fn after(mut self, bytes: &[u8]) -> Option<Naming> {
        self.events.feed(bytes);
        while let Some(event) = self.events.next_event() {
            let made = mapped_keys::made(&events::payload(event));
            made.iter().for_each(|id| (self.named)(id));
            if !made.is_empty() {
                return None;
            }
        }
        (self.events.pending() <= LARGEST_PIECE).then_some(self)
    }
}

impl Drop for ReplyObserver {
    fn drop(&mut self) {
        let _nobody_waits = self.end(Ending::Abandoned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::{Arc, Mutex};

    type Told = Arc<Mutex<Vec<(Ending, Observed)>>>;

    fn watch(headers: &[(header::HeaderName, &str)]) -> (ReplyObserver, Told) {
        let told = Told::default();
        let tell = told.clone();
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        let report = Box::new(move |ending, observed| {
            tell.lock().unwrap().push((ending, observed));
            None
        });
        (ReplyObserver::new(Format::OpenAiChat, &headers, report), told)
    }

    const REPLY: &[u8] = br#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;

    #[test]
    fn the_end_is_told_once_and_also_when_nobody_says_it() {
        let (mut ended, told) = watch(&[(header::CONTENT_TYPE, "application/json")]);
        ended.feed(REPLY);
        ended.end(Ending::Complete);
        drop(ended);
        let told = told.lock().unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].0, told[0].1.usage.map(|usage| usage.input)), (Ending::Complete, Some(7)));

        let (dropped, told) = watch(&[(header::CONTENT_TYPE, "text/event-stream")]);
        drop(dropped);
        assert_eq!(*told.lock().unwrap(), [(Ending::Abandoned, Observed::default())]);
    }

    #[test]
    fn the_text_of_a_stream_is_measured_in_every_format() {
        for (event, length) in [
            (r#"data: {"choices":[{"delta":{"content":"four"}}]}"#, 4),
            (r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"a\":1}"}}]}}]}"#, 9),
            (r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"a \" b"}}"#, 6),
            (r#"data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{}"}}"#, 2),
            (r#"data: {"type":"response.output_text.delta","delta":"four"}"#, 4),
            (r#"data: {"candidates":[{"content":{"parts":[{"text":"four"}]}}]}"#, 4),
            (r#"data: {"choices": [{"text": "cut o"#, 5),
            (r#"data: {"type":"ping"}"#, 0),
        ] {
            assert_eq!(text_length(event.as_bytes()), length, "{event}");
        }
    }

    #[test]
    fn a_packed_reply_is_read_and_a_garbled_one_is_not() {
        let mut packed = Vec::new();
        flate2::read::GzEncoder::new(REPLY, flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
        let headers = [(header::CONTENT_TYPE, "application/json"), (header::CONTENT_ENCODING, "gzip")];
        let (mut good, told) = watch(&headers);
        packed.chunks(5).for_each(|piece| good.feed(piece));
        good.end(Ending::Complete);
        assert_eq!(told.lock().unwrap()[0].1.usage.map(|usage| usage.output), Some(2));

        let (mut bad, told) = watch(&headers);
        bad.feed(b"no gzip at all");
        bad.end(Ending::Cut);
        assert_eq!(*told.lock().unwrap(), [(Ending::Cut, Observed::default())]);
    }
}
