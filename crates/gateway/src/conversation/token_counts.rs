//! Fast token counts of a request that reuse the counts of earlier turns.
//!
//! All counts here are estimates of one kind. Reported usage corrects them; the engine counts exactly
//! where it can, once it acts.

use super::parsed_request::ParsedRequest;
use foldline_core::tokens::{Counter, Measure, measure_message, measure_value};

/// The measure of all counts that are kept.
pub(super) fn measure(image_tokens: u32) -> Measure {
    Measure { counter: Counter::Estimate, image_tokens, scale: 1.0 }
}

/// Counts that the next turn of a conversation can use.
#[derive(Clone, Debug, Default)]
pub(super) struct CachedCounts {
    outside: Option<(u64, u64)>,
    /// For each message the beginning of its chained digest, and its tokens.
    messages: Vec<(u64, u32)>,
}

/// What a request costs as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenCounts {
    /// System prompt, tools and standing instructions.
    pub(super) outside: u64,
    /// Tokens before each message after the lead; one longer than the messages.
    before: Vec<u64>,
}

impl TokenCounts {
    /// Counts a request.
    pub(super) fn of(parsed: &ParsedRequest<'_>, measure: &Measure, measured: &mut CachedCounts) -> TokenCounts {
        let transcript = &parsed.transcript;
        let name = outside_name(parsed);
        let outside = match measured.outside {
            Some((known, tokens)) if known == name => tokens,
            _ => {
                let values = [transcript.system, transcript.tools].into_iter().flatten();
                let values: u64 = values.map(|span| u64::from(measure_value(transcript.raw(span), measure))).sum();
                let lead: u64 =
                    (0..parsed.lead).map(|index| u64::from(measure_message(transcript, index, measure))).sum();
                values + lead
            }
        };
        measured.outside = Some((name, outside));
        let mut sum = 0;
        let mut before = Vec::with_capacity(parsed.len() + 1);
        before.push(0);
        measured.messages.truncate(parsed.len());
        for (position, digest) in parsed.chain.iter().skip(1).enumerate() {
            let name = beginning(digest);
            let tokens = match measured.messages.get(position) {
                Some(&(known, tokens)) if known == name => tokens,
                _ => {
                    let tokens = measure_message(transcript, parsed.lead + position, measure);
                    measured.messages.truncate(position);
                    measured.messages.push((name, tokens));
                    tokens
                }
            };
            sum += u64::from(tokens);
            before.push(sum);
        }
        TokenCounts { outside, before }
    }

    /// Tokens of the messages after the first `position`.
    pub(super) fn since(&self, position: usize) -> u64 {
        let all = self.before.last().copied().unwrap_or_default();
        all - self.before.get(position).copied().unwrap_or(all)
    }

    /// Tokens of the whole request.
    pub(super) fn total(&self) -> u64 {
        self.outside + self.since(0)
    }
}

/// Changes when system prompt, tools or standing instructions do.
fn outside_name(parsed: &ParsedRequest<'_>) -> u64 {
    let transcript = &parsed.transcript;
    let mut hasher = blake3::Hasher::new();
    let lead = transcript.messages.iter().take(parsed.lead).map(|message| message.span);
    for span in [transcript.system, transcript.tools].into_iter().flatten().chain(lead) {
        hasher.update(transcript.raw(span).as_bytes());
        hasher.update(&[0]);
    }
    beginning(hasher.finalize().as_bytes())
}

fn beginning(digest: &[u8; 32]) -> u64 {
    digest.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
