//! Usage from a stream of server-sent events, read on the way through. Bytes come in as the network
//! cuts them; nothing is held but the event that is not complete yet, up to a limit.

use super::events::{Events, data};
use super::json::Scanner;
use super::reply::{Notes, Reply, ReportedUsage, read_usage, scan};
use crate::transcript::Format;
use memchr::memmem;

/// Bytes of one event that are held. The last event of a Responses stream repeats the whole answer, so
/// of a longer event its end is kept: usage stands there.
const LONGEST_EVENT: usize = 256 << 10;

/// Reads usage while a stream passes.
#[derive(Clone, Debug)]
pub struct SseUsage {
    format: Format,
    notes: Notes,
    events: Events,
    /// Whether the beginning of the pending event was let go.
    is_cut: bool,
}

impl SseUsage {
    /// A reader for a stream of this format.
    pub fn new(format: Format) -> SseUsage {
        SseUsage { format, notes: Notes::default(), events: Events::default(), is_cut: false }
    }

    /// Takes the next bytes of the stream.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.events.feed(bytes);
        while let Some(event) = self.events.next_event() {
            read_event(event, std::mem::take(&mut self.is_cut), self.format, &mut self.notes);
        }
        if self.events.pending() > LONGEST_EVENT {
            self.events.keep_last(LONGEST_EVENT / 2);
            self.is_cut = true;
        }
    }

    /// What was reported so far.
    pub fn usage(&self) -> Option<ReportedUsage> {
        self.reply().usage
    }

    /// Usage and why the reply ended, as far as the stream has said. Some servers forget the last blank line.
    pub fn reply(&self) -> Reply {
        let mut notes = self.notes.clone();
        read_event(self.events.unfinished(), self.is_cut, self.format, &mut notes);
        notes.reply()
    }
}

fn read_event(event: &[u8], is_cut: bool, format: Format, notes: &mut Notes) {
    match is_cut {
        false => data(event).for_each(|line| read_data(line, format, notes)),
        true => read_end(event, notes),
    }
}

/// Most events are deltas of the answer, which say nothing of this: they are passed over unread.
fn read_data(data: &[u8], format: Format, notes: &mut Notes) {
    const WORDS: [&str; 5] =
        ["\"usage\"", "\"usageMetadata\"", "\"stop_reason\"", "\"finish_reason\"", "\"response.completed\""];
    let says_something = WORDS.iter().any(|word| memmem::find(data, word.as_bytes()).is_some());
    if says_something && let Ok(text) = std::str::from_utf8(data) {
        // A damaged event is the client's to complain about.
        let _ = scan(&mut Scanner::new(text, 0), format, notes);
    }
}

/// The end of an event whose beginning is gone. Inside a string every quote is escaped, so that the bare
/// word can only be a key.
fn read_end(event: &[u8], notes: &mut Notes) {
    for key in ["\"usage\":", "\"usageMetadata\":"] {
        if let Some(at) = memmem::rfind(event, key.as_bytes())
            && let Ok(text) = std::str::from_utf8(event.get(at + key.len()..).unwrap_or_default())
        {
            let _ = read_usage(&mut Scanner::new(text, 0), notes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(format: Format, stream: &str, piece: usize) -> Reply {
        let mut usage = SseUsage::new(format);
        stream.as_bytes().chunks(piece).for_each(|piece| usage.feed(piece));
        assert!(usage.events.pending() <= LONGEST_EVENT);
        usage.reply()
    }

    const MESSAGES: &str = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":4,\
        \"cache_read_input_tokens\":90,\"cache_creation_input_tokens\":6,\"output_tokens\":1}}}\r\n\r\n\
        event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"\\\"usage\\\":{\\\"input_tokens\\\":5000}\"}}\r\n\r\n\
        event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":33}}\r\n\r\n\
        event: message_stop\r\ndata: {\"type\":\"message_stop\"}\r\n\r\n";

    #[test]
    fn usage_of_a_stream_does_not_depend_on_how_it_is_cut() {
        let whole = fed(Format::Anthropic, MESSAGES, usize::MAX);
        assert_eq!(whole.usage, Some(ReportedUsage { input: 4, cache_read: 90, cache_write: 6, output: 33 }));
        assert_eq!(whole.stop.as_deref(), Some("end_turn"));
        for piece in 1..80 {
            assert_eq!(fed(Format::Anthropic, MESSAGES, piece), whole, "pieces of {piece}");
        }
    }

    #[test]
    fn chat_chunks_and_responses_events_are_read() {
        let chat = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}],\"usage\":null}\n\n\
            data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
        let reply = fed(Format::OpenAiChat, chat, 7);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 12, output: 3, ..ReportedUsage::default() }));
        assert_eq!(reply.stop.as_deref(), Some("stop"));
        let responses = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\
            \"output\":[],\"usage\":{\"input_tokens\":8,\"output_tokens\":2}}}\n\n";
        let reply = fed(Format::OpenAiResponses, responses, 11);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 8, output: 2, ..ReportedUsage::default() }));
        let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{\"promptTokenCount\":8}}\r\n\r\n\
            data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":8,\"candidatesTokenCount\":2}}\r\n\r\n";
        let reply = fed(Format::Gemini, gemini, 9);
        assert_eq!(reply.usage, Some(ReportedUsage { input: 8, output: 2, ..ReportedUsage::default() }));
        assert_eq!(reply.stop.as_deref(), Some("STOP"));
    }

    #[test]
    fn usage_is_found_behind_an_answer_of_any_length() {
        let answer = "\\\"usage\\\": x".repeat(200_000);
        let stream = format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[{{\"text\":\"{answer}\"}}],\
             \"usage\":{{\"input_tokens\":8,\"output_tokens\":2}}}}}}\n\n"
        );
        for piece in [1_000, 1_448, 1 << 20] {
            let reply = fed(Format::OpenAiResponses, &stream, piece);
            assert_eq!(reply.usage.map(|usage| usage.prompt()), Some(8), "pieces of {piece}");
        }
    }
}
