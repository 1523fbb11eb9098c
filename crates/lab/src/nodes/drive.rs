//! Agents that send every turn to the next node, and try the one after it when a node is gone.

use super::fleet::Fleet;
use crate::Failure;
use crate::load::wire::Client;
use foldline_script::Agent;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The APIs that conversations speak, in turn.
const PATHS: [&str; 4] = ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:generateContent"];
/// Clients at once.
const CLIENTS: usize = 16;
/// Keys that conversations are sent with: each is a tenant.
const KEYS: usize = 10;
/// How long a turn is tried.
const PATIENCE: Duration = Duration::from_secs(60);
/// The header that tells the provider which turn a request is.
pub(super) const TURN: &str = "x-lab-turn";

/// A conversation and how many turns it has had.
pub(super) type Turn = (usize, usize);

/// How a run went, as its clients see it.
#[derive(Debug, Default)]
pub(super) struct Driven {
    /// What the gateway said it did, by turn; of turns that were tried again the last.
    pub(super) outcomes: BTreeMap<Turn, String>,
    /// Bodies as the clients sent them.
    pub(super) sent: BTreeMap<Turn, Vec<u8>>,
    /// When each turn was sent first, and when it was answered.
    pub(super) times: BTreeMap<Turn, (Instant, Instant)>,
    /// How long it took.
    pub(super) took: Duration,
    /// Times that a turn was sent again because a node was gone.
    pub(super) retries: usize,
}

/// Something that every output of a conversation speaks of.
pub(super) fn mark(conversation: usize) -> String {
    format!("case{conversation:03}")
}

/// Has all conversations.
pub(super) fn drive(fleet: &Fleet, conversations: usize, turns: usize) -> Result<Driven, Failure> {
    let next = AtomicUsize::new(0);
    let driven = Mutex::new(Driven::default());
    let began = Instant::now();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| -> Result<(), Failure> {
                    let mut client = Connections::new(fleet);
                    loop {
                        let conversation = next.fetch_add(1, Ordering::Relaxed);
                        if conversation >= conversations {
                            return Ok(());
                        }
                        converse(&mut client, conversation, turns, &driven)?;
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().map_err(|_| "a client panicked")??;
        }
        Ok::<_, Failure>(())
    })?;
    let mut driven = driven.into_inner().unwrap_or_else(PoisonError::into_inner);
    driven.took = began.elapsed();
    Ok(driven)
}

fn converse(
    client: &mut Connections<'_>,
    conversation: usize,
    turns: usize,
    driven: &Mutex<Driven>,
) -> Result<(), Failure> {
    let path = PATHS.get(conversation % PATHS.len()).copied().unwrap_or_default();
    let mut agent = Agent::new(path, &format!("Run all tests of project {conversation} and mend what fails."));
    agent.mark = mark(conversation);
    for turn in 0..turns {
        let body = agent.body().into_bytes();
        let began = Instant::now();
        let (outcome, retries) = client.ask((conversation, turn), path, &body)?;
        let mut driven = driven.lock().unwrap_or_else(PoisonError::into_inner);
        driven.outcomes.insert((conversation, turn), outcome);
        driven.times.insert((conversation, turn), (began, Instant::now()));
        driven.sent.insert((conversation, turn), body);
        driven.retries += retries;
        drop(driven);
        agent.act(turn);
    }
    Ok(())
}

/// A connection to each node, made anew when the node is.
struct Connections<'f> {
    fleet: &'f Fleet,
    open: HashMap<std::net::SocketAddr, Client>,
}

impl<'f> Connections<'f> {
    fn new(fleet: &'f Fleet) -> Connections<'f> {
        Connections { fleet, open: HashMap::new() }
    }

    /// Sends a turn to its node, or to the ones after it. What the gateway did, and how often it was sent again.
    fn ask(&mut self, turn: Turn, path: &str, body: &[u8]) -> Result<(String, usize), Failure> {
        let key = format!("lab-{}", turn.0 % KEYS);
        let headers = format!(
            "{TURN}: {}/{}\r\nauthorization: Bearer {key}\r\nx-api-key: {key}\r\nx-goog-api-key: {key}\r\n",
            turn.0, turn.1
        );
        let began = Instant::now();
        for tries in 0.. {
            let node = (turn.0 + turn.1 + tries) % self.fleet.len();
            match self.try_once(node, path, &headers, body) {
                Ok(outcome) => return Ok((outcome, tries)),
                Err(error) if began.elapsed() > PATIENCE => {
                    return Err(format!("turn {} of conversation {} got no answer: {error}", turn.1, turn.0).into());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        Err("never".into())
    }

    fn try_once(&mut self, node: usize, path: &str, headers: &str, body: &[u8]) -> Result<String, Failure> {
        let address = self.fleet.address(node).ok_or("the node is down")?;
        let mut client = match self.open.remove(&address) {
            Some(client) => client,
            None => Client::to(address)?,
        };
        client.post_with(path, headers, body)?;
        let outcome = client.outcome.clone().unwrap_or_default();
        self.open.insert(address, client);
        Ok(outcome)
    }
}
