//! The settings of conversations.

use foldline_core::Policy;
use foldline_core::models::ModelTable;
use foldline_store::{Keyring, Limits, ObjectPlace, StoreSettings};
use std::path::PathBuf;
use std::time::Duration;

/// Whether decisions are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Requests are rewritten.
    #[default]
    Live,
    /// Everything is decided and reported; every request goes out as it came.
    Shadow,
}

/// Settings of [`Conversations`](super::Conversations).
#[derive(Clone, Debug)]
pub struct ConversationSettings {
    /// When to act and how far.
    pub policy: Policy,
    /// What is known about models; the embedded table when not given.
    pub models: Option<ModelTable>,
    /// The file of the store; without one nothing outlives the process and no original is kept.
    pub store: Option<PathBuf>,
    /// How much it keeps, and for how long.
    pub limits: Limits,
    /// What it is encrypted with.
    pub keys: Keyring,
    /// Where its large texts are; in the store itself when nowhere else.
    pub originals: Option<ObjectPlace>,
    /// Whether decisions are carried out.
    pub mode: Mode,
    /// Share of sessions that are left alone to compare with, 0 to 1.
    pub holdout: f64,
    /// Models whose requests are left alone: names as requests spell them, `*` at the end matches any rest.
    pub bypass_models: Vec<String>,
    /// Tools whose conversations are left alone: a request that offers one of them is forwarded as it is.
    pub bypass_tools: Vec<String>,
    /// How long a request waits for the store.
    pub store_wait: Duration,
    /// Bytes of checkpoints kept in memory.
    pub memory_bytes: usize,
    /// Sessions kept in memory.
    pub memory_sessions: usize,
}

impl Default for ConversationSettings {
    fn default() -> ConversationSettings {
        ConversationSettings {
            policy: Policy::default(),
            models: None,
            store: None,
            limits: StoreSettings::default().limits(),
            keys: Keyring::none(),
            originals: None,
            mode: Mode::Live,
            holdout: 0.0,
            bypass_models: Vec::new(),
            bypass_tools: Vec::new(),
            // Longer than any commit on a healthy disk, short enough that nobody notices a sick one.
            store_wait: Duration::from_millis(200),
            // Some three hundred conversations of average length; the rest is a read away.
            memory_bytes: 24 << 20,
            memory_sessions: 4_096,
        }
    }
}
