//! What a request counts towards the budget of its key.

use super::reply_observer::{Ending, Observed};
use crate::conversation::{ReportedUsage, Turn};
use foldline_store::KeyUsage;

/// Tokens that an answer is expected to have, at least.
const SHORT_ANSWER: u64 = 200;

/// Bytes of a token, where nobody counts them.
const TOKEN_BYTES: u64 = 4;

/// What a request in progress counts, by its turn or by the length of a body that could not be read.
pub fn expected(turn: Option<&Turn>, body: usize) -> KeyUsage {
    counted(&ReportedUsage { output: SHORT_ANSWER, ..assumed(turn, body) }, turn)
}

/// What a request counted. A client that leaves before the provider has reported has used its prompt all the same, and the
/// answer as far as it came.
pub fn used(ending: Ending, observed: Observed, turn: Option<&Turn>, body: usize) -> KeyUsage {
    let mut usage = observed.usage.unwrap_or_else(|| assumed(turn, body));
    if ending != Ending::Complete || observed.usage.is_none() {
        usage.output = usage.output.max(observed.text / TOKEN_BYTES);
    }
    counted(&usage, turn)
}

/// What a request takes if nobody reports it.
fn assumed(turn: Option<&Turn>, body: usize) -> ReportedUsage {
    let by_length = || ReportedUsage { input: body as u64 / TOKEN_BYTES, ..ReportedUsage::default() };
    turn.map_or_else(by_length, Turn::assumed_usage)
}

fn counted(usage: &ReportedUsage, turn: Option<&Turn>) -> KeyUsage {
    let dollars = turn.map_or(0.0, |turn| turn.charged(usage));
    KeyUsage { requests: 0, tokens_in: usage.prompt(), tokens_out: usage.output, dollars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reports_is_measured() {
        let reported = ReportedUsage { input: 7, output: 1, ..ReportedUsage::default() };
        let tokens = |ending, usage, text| {
            let used = used(ending, Observed { usage, text }, None, 400);
            (used.tokens_in, used.tokens_out)
        };
        assert_eq!(tokens(Ending::Complete, Some(reported), 4_000), (7, 1), "what is reported at the end counts");
        assert_eq!(tokens(Ending::Abandoned, Some(reported), 4_000), (7, 1_000), "before the end it lacks the answer");
        assert_eq!(tokens(Ending::Complete, None, 4_000), (100, 1_000));
        assert_eq!(tokens(Ending::Cut, None, 0), (100, 0));
    }
}
