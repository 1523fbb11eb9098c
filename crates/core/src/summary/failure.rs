//! How summarisers fail, what that means for a fold, and how long to leave them alone.

use crate::settings::choice;
use foldline_redact::{Mode, redact};
use serde::{Deserialize, Serialize};

choice! {
    /// Why a model wrote nothing.
    FailureClass {
        /// The key is missing, wrong, or not allowed.
        Access = "access",
        /// The account has no money or allowance left.
        Quota = "quota",
        /// Too many requests.
        Rate = "rate",
        /// No connection, or it broke.
        Network = "network",
        /// No word for too long.
        Timeout = "timeout",
        /// The prompt does not fit the model.
        ContextLength = "context-length",
        /// The model does not exist there.
        NotFound = "not-found",
        /// The request was refused for another reason.
        Refused = "refused",
        /// The reply is empty, cut off, or says nothing that can be used.
        BadReply = "bad-reply",
        /// The server failed.
        Server = "server",
    }
}

impl FailureClass {
    /// Whether the same request may work a moment later.
    pub fn may_pass(self) -> bool {
        matches!(self, FailureClass::Rate | FailureClass::Network | FailureClass::Server)
    }

    /// Whether a fold waits until it is mended: what is wrong is the access to models as such, and a handoff made
    /// without one would be paid for with text that a working model could still read.
    pub fn holds_the_fold(self) -> bool {
        matches!(self, FailureClass::Access | FailureClass::Quota | FailureClass::Network)
    }

    /// Seconds for which a model is not asked again after the `nth` failure in a row.
    pub fn cooldown(self, nth: u32) -> u32 {
        match self {
            // Configuration: it will not mend itself within a turn.
            FailureClass::Access | FailureClass::Quota | FailureClass::NotFound | FailureClass::Refused => 600,
            // A slow server is left alone for longer each time.
            FailureClass::Timeout => [60, 300, 900].get(nth.saturating_sub(1) as usize).copied().unwrap_or(900),
            // Often an accident of one reply.
            FailureClass::BadReply => 30,
            FailureClass::Rate | FailureClass::Network | FailureClass::ContextLength | FailureClass::Server => 60,
        }
    }

    /// What helps.
    pub fn advice(self) -> &'static str {
        match self {
            FailureClass::Access => "check the key (summarizer.key_env or summarizer.key_file)",
            FailureClass::Quota => "check the account's balance and limits",
            FailureClass::Rate => "it will be asked again later",
            FailureClass::Network => "check summarizer.url and the proxy",
            FailureClass::Timeout => {
                "use a faster model, or raise summarizer.first_word_seconds and summarizer.idle_seconds"
            }
            FailureClass::ContextLength => "set summarizer.window to the model's real window",
            FailureClass::NotFound => "check summarizer.model and summarizer.url",
            FailureClass::Refused => "the server's words say why",
            FailureClass::BadReply => "use a more capable model (summarizer.model)",
            FailureClass::Server => "it will be asked again later",
        }
    }
}

/// A failure, in words that may be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub class: FailureClass,
    /// What happened: short, one line, without secrets.
    pub message: String,
    /// How often a model was asked in vain.
    pub calls: u32,
}

/// Servers answer with whole pages; this much of them is worth showing.
const LONGEST_MESSAGE: usize = 220;

impl Failure {
    /// A failure with a message from outside, made fit to be shown.
    pub fn new(class: FailureClass, message: &str) -> Failure {
        let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let masked = redact(&line, Mode::Text);
        let cut = masked.get(..masked.floor_char_boundary(LONGEST_MESSAGE)).unwrap_or_default();
        let rest = if cut.len() < masked.len() { "…" } else { "" };
        Failure { class, message: format!("{cut}{rest}"), calls: 0 }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}

/// What a session remembers about its summariser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cooldown {
    /// The last failure; none when the last attempt worked.
    pub failure: Option<Failure>,
    /// Failures of its class in a row.
    pub in_a_row: u32,
    /// Milliseconds since 1970 until which it is left alone.
    pub until_ms: i64,
    /// Handoffs that were made without the model that should have written them.
    pub fallbacks: u32,
}

impl Cooldown {
    /// The failure for which the summariser is left alone at `now_ms`.
    pub fn at(&self, now_ms: i64) -> Option<&Failure> {
        self.failure.as_ref().filter(|_| now_ms < self.until_ms)
    }

    /// Takes note of a failure.
    pub(crate) fn note(&mut self, failure: &Failure, now_ms: i64) {
        let same = self.failure.as_ref().is_some_and(|last| last.class == failure.class);
        self.in_a_row = if same { self.in_a_row.saturating_add(1) } else { 1 };
        self.until_ms = now_ms.saturating_add(i64::from(failure.class.cooldown(self.in_a_row)) * 1000);
        self.failure = Some(failure.clone());
    }

    /// Takes note that a model has written.
    pub(crate) fn clear(&mut self) {
        *self = Cooldown { fallbacks: self.fallbacks, ..Cooldown::default() };
    }
}
