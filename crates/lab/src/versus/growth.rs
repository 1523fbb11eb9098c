//! What a growing session costs: the host sends a request before every reply, and the provider caches the beginning that a request
//! shares with the one before.

use super::driver::{Driver, Reply};
use super::inputs::Session;
use super::judge::Judge;
use crate::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Dollars for a million tokens of input: a common price of large models.
const PRICE: f64 = 3.0;
/// What a token costs that is read from the cache.
const READ: f64 = 0.1;
/// What a token costs that is written to it.
const WRITE: f64 = 1.25;

/// Requests of sessions that grew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Requests.
    pub requests: u64,
    /// Requests that were longer than the window.
    pub too_long: u64,
    /// Requests that did not begin with the whole request before.
    pub rewrites: u64,
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written to it.
    pub written: u64,
    /// Dollars.
    pub dollars: f64,
    /// What the same requests cost without compaction, whatever the window.
    pub dollars_untouched: f64,
    /// Processor seconds.
    pub seconds: f64,
}

impl Growth {
    /// Adds another session.
    pub fn add(&mut self, other: &Growth) {
        self.requests += other.requests;
        self.too_long += other.too_long;
        self.rewrites += other.rewrites;
        self.read += other.read;
        self.written += other.written;
        self.dollars += other.dollars;
        self.dollars_untouched += other.dollars_untouched;
        self.seconds += other.seconds;
    }

    /// Adds a request.
    fn request(&mut self, sent: &Sent, before: &Sent, window: u64) {
        let shared = sent.shared_with(before);
        let read: u64 = sent.tokens.iter().take(shared).sum();
        let written = sent.total() - read;
        self.requests += 1;
        self.too_long += u64::from(sent.total() > window);
        self.rewrites += u64::from(shared < before.messages.len());
        self.read += read;
        self.written += written;
        self.dollars += PRICE / 1e6 * (read as f64 * READ + written as f64 * WRITE);
    }
}

/// The messages of a request, with their tokens.
#[derive(Default)]
struct Sent {
    messages: Vec<Value>,
    tokens: Vec<u64>,
}

impl Sent {
    /// Counts only what the request before did not have.
    fn new(messages: Vec<Value>, before: &Sent, judge: &Judge) -> Sent {
        let same = messages.iter().zip(&before.messages).take_while(|(new, old)| new == old).count();
        let known = before.tokens.iter().take(same).copied();
        let tokens = known.chain(messages.iter().skip(same).map(|message| judge.tokens_of(message))).collect();
        Sent { messages, tokens }
    }

    fn shared_with(&self, before: &Sent) -> usize {
        self.messages.iter().zip(&before.messages).take_while(|(new, old)| new == old).count()
    }

    fn total(&self) -> u64 {
        self.tokens.iter().sum()
    }
}

/// Lets a session grow; `None` if the peer cannot be called turn by turn.
pub fn play(driver: &mut Driver, judge: &Judge, session: &Session, window: u64) -> Result<Option<Growth>, Failure> {
    if let Reply::Unsupported = driver.ask(&json!({"do": "begin", "window": window}))? {
        return Ok(None);
    }
    let mut growth = Growth::default();
    let mut untouched = Growth::default();
    let (mut before, mut whole_before) = (Sent::default(), Sent::default());
    let mut asked = 0;
    for end in requests(&session.messages) {
        let new = session.messages.get(asked..end).unwrap_or_default();
        let answer = driver.ask(&json!({"do": "turn", "messages": new, "used": before.total()}))?;
        let Reply::Done(mut answer) = answer else {
            return Ok(None);
        };
        asked = end;
        growth.seconds += answer["seconds"].as_f64().unwrap_or_default();
        let Value::Array(messages) = answer["messages"].take() else {
            return Err("the driver answered no messages".into());
        };
        let sent = Sent::new(messages, &before, judge);
        growth.request(&sent, &before, window);
        before = sent;
        let whole = session.messages.get(..end).unwrap_or_default().to_vec();
        let whole = Sent::new(whole, &whole_before, judge);
        untouched.request(&whole, &whole_before, window);
        whole_before = whole;
    }
    growth.dollars_untouched = untouched.dollars;
    Ok(Some(growth))
}

/// How many messages each request has: a reply follows each of them.
fn requests(messages: &[Value]) -> impl Iterator<Item = usize> {
    let replies = messages.iter().enumerate().filter(|(_, message)| message["role"] == "assistant");
    replies.map(|(at, _)| at).filter(|at| *at > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewritten_beginning_is_paid_again() {
        let judge = Judge::new().expect("a vocabulary");
        let message = |text: &str| json!({"role": "user", "content": text});
        let first = Sent::new(vec![message("one"), message("two")], &Sent::default(), &judge);
        let longer = Sent::new(vec![message("one"), message("two"), message("three")], &first, &judge);
        let other = Sent::new(vec![message("one, differently"), message("three")], &longer, &judge);
        let mut growth = Growth::default();
        growth.request(&first, &Sent::default(), 1_000);
        growth.request(&longer, &first, 1_000);
        assert_eq!((growth.rewrites, growth.read, growth.too_long), (0, first.total(), 0));
        growth.request(&other, &longer, 5);
        assert_eq!((growth.rewrites, growth.read, growth.too_long), (1, first.total(), 1));
        assert_eq!(growth.written, longer.total() + other.total());
    }

    #[test]
    fn a_request_is_sent_before_every_reply() {
        let roles = ["user", "assistant", "tool", "tool", "assistant", "user"];
        let messages: Vec<Value> = roles.iter().map(|role| json!({"role": role})).collect();
        assert_eq!(requests(&messages).collect::<Vec<_>>(), [1, 4]);
    }
}
