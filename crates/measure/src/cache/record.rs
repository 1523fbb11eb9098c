//! What a provider reported while a session was recorded.
//!
//! A recording is a list `requests` beside the messages: for each request the index of its reply, its time and its
//! usage, in the words of the Anthropic or the OpenAI API. Claude Code's session files carry the same on their lines.

use foldline_core::cache::Traffic;
use foldline_core::policy::CacheTtl;
use foldline_transcript::{Format, Role, Transcript};
use serde::Deserialize;

/// One request as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// The message that answers it: everything before it was sent.
    pub reply: usize,
    /// When, in seconds since 1970; `None` where nobody wrote it down.
    pub at: Option<f64>,
    /// What the provider reported; `None` where nobody wrote it down.
    pub reported: Option<Traffic>,
}

/// All requests of a session, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// The requests.
    pub requests: Vec<Recorded>,
}

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    requests: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    reply: usize,
    #[serde(default)]
    ts: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    message: LineMessage,
}

#[derive(Default, Deserialize)]
struct LineMessage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// Usage in the words of either API.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Option<u64>,
    prompt_tokens: Option<u64>,
    output_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<Creation>,
    prompt_tokens_details: Option<Details>,
    input_tokens_details: Option<Details>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Creation {
    ephemeral_1h_input_tokens: u64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: u64,
}

impl Usage {
    fn traffic(&self) -> Traffic {
        let output = self.output_tokens.or(self.completion_tokens).unwrap_or_default();
        let plain = self.input_tokens.or(self.prompt_tokens).unwrap_or_default();
        // OpenAI counts cached tokens among the prompt's, Anthropic beside them.
        if let Some(details) = self.prompt_tokens_details.or(self.input_tokens_details) {
            let cache_read = details.cached_tokens.min(plain);
            return Traffic { input: plain - cache_read, cache_read, output, ..Traffic::default() };
        }
        let written = self.cache_creation_input_tokens.unwrap_or_default();
        let long = self.cache_creation.map_or(0, |creation| creation.ephemeral_1h_input_tokens).min(written);
        Traffic {
            input: plain,
            cache_read: self.cache_read_input_tokens.unwrap_or_default(),
            cache_write: written - long,
            cache_write_long: long,
            output,
        }
    }
}

impl Recording {
    /// The recording of a document. One that has none gets a request per reply, without times.
    pub fn of(transcript: &Transcript<'_>) -> Recording {
        let mut requests = match transcript.format {
            Format::ClaudeCode => of_lines(transcript),
            _ => serde_json::from_str::<File>(transcript.text).unwrap_or_default().entries(),
        };
        requests.retain(|request| request.reply <= transcript.messages.len());
        if requests.is_empty() {
            let replies = transcript.messages.iter().enumerate().filter(|(_, message)| message.role == Role::Assistant);
            let starts = replies.filter(|&(index, _)| {
                index == 0 || transcript.messages.get(index - 1).is_none_or(|before| before.role != Role::Assistant)
            });
            requests = starts.map(|(reply, _)| Recorded { reply, at: None, reported: None }).collect();
        }
        Recording { requests }
    }

    /// The lifetime that the client asked for.
    pub fn ttl(&self) -> Option<CacheTtl> {
        let mut written = Traffic::default();
        self.requests.iter().filter_map(|request| request.reported).for_each(|reported| written += reported);
        match (written.cache_write_long, written.cache_write) {
            (0, 0) => None,
            (long, short) if long > short => Some(CacheTtl::OneHour),
            _ => Some(CacheTtl::FiveMinutes),
        }
    }

    /// What was reported in all.
    pub fn reported(&self) -> Traffic {
        let mut total = Traffic::default();
        self.requests.iter().filter_map(|request| request.reported).for_each(|reported| total += reported);
        total
    }
}

impl File {
    fn entries(self) -> Vec<Recorded> {
        let recorded = |entry: Entry| Recorded {
            reply: entry.reply,
            at: entry.ts.as_deref().and_then(seconds),
            reported: entry.usage.map(|usage| usage.traffic()),
        };
        self.requests.into_iter().map(recorded).collect()
    }
}

/// Session files split one reply over several lines, each with the usage of the whole.
fn of_lines(transcript: &Transcript<'_>) -> Vec<Recorded> {
    let mut requests = Vec::new();
    let mut last = None;
    for (reply, message) in transcript.messages.iter().enumerate() {
        if message.role != Role::Assistant {
            continue;
        }
        let Ok(line) = serde_json::from_str::<Line>(transcript.raw(message.span)) else { continue };
        if line.message.id.is_some() && line.message.id == last {
            continue;
        }
        last = line.message.id;
        requests.push(Recorded {
            reply,
            at: line.timestamp.as_deref().and_then(seconds),
            reported: line.message.usage.map(|usage| usage.traffic()),
        });
    }
    requests
}

/// Seconds since 1970 of `2026-02-10T02:51:38.007Z`; offsets other than `Z` are not written by any client we read.
fn seconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.trim_end_matches('Z').split(':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes, seconds) = (time.next()??, time.next()??, time.next()??);
    // Days by the civil calendar: years begin in March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, month) = (year.div_euclid(400), (month + 9) % 12);
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + (153 * month + 2) / 5 + day - 1;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(days as f64 * 86_400.0 + hours * 3600.0 + minutes * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    #[test]
    fn times_are_read_in_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-03-01T00:00:01.5Z"), Some(951_868_801.5));
        assert_eq!(seconds("2026-02-10T02:51:38Z"), Some(1_770_691_898.0));
        assert_eq!(seconds("yesterday"), None);
    }

    #[test]
    fn a_recording_is_read_in_the_words_of_both_apis() {
        let body = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"requests":[
            {"reply":1,"ts":"1970-01-01T00:01:00Z","usage":{"input_tokens":3,"cache_creation_input_tokens":50,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_1h_input_tokens":50},"output_tokens":2}},
            {"reply":1,"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":64}}}]}"#;
        let recording = Recording::of(&wire::read(body, Some(Format::Anthropic)).unwrap());
        let [first, second] = recording.requests.as_slice() else { panic!("two requests") };
        assert_eq!(first.at, Some(60.0));
        assert_eq!(
            first.reported.unwrap(),
            Traffic { input: 3, cache_read: 7, cache_write: 0, cache_write_long: 50, output: 2 }
        );
        assert_eq!(second.reported.unwrap().cache_read, 64);
        assert_eq!(second.reported.unwrap().prompt(), 100);
        assert_eq!(recording.ttl(), Some(CacheTtl::OneHour));
    }

    #[test]
    fn without_a_recording_every_reply_is_a_request() {
        let body = r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}"#;
        let recording = Recording::of(&wire::read(body, Some(Format::Anthropic)).unwrap());
        assert_eq!(recording.requests.iter().map(|request| request.reply).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(recording.ttl(), None);
    }
}
