//! Named alternatives of the policy.

use crate::settings::{Field, choice};
use serde_json::Value;

choice! {
    /// What marks and budgets are shares of.
    Basis {
        /// The whole effective window.
        Window = "window",
        /// What is left of it beside system prompt and tools: that part alone can be compacted.
        Room = "room",
    }
}

choice! {
    /// Which outputs a prune takes first.
    PruneOrder {
        /// The largest output first: fewest edits for the same room.
        Largest = "largest",
        /// The oldest output first.
        Oldest = "oldest",
    }
}

choice! {
    /// How much of the removed text must stay reachable, from least to most.
    Fidelity {
        /// Text may be lost.
        Lossy = "lossy",
        /// The original is stored and a handle stands in its place.
        Recoverable = "recoverable",
        /// The model reads the same information.
        Exact = "exact",
    }
}

choice! {
    /// Whose API a summariser speaks.
    Dialect {
        /// Told by the address.
        Auto = "auto",
        /// OpenAI Chat Completions, and those who speak it.
        OpenAiChat = "openai-chat",
        /// OpenAI Responses.
        OpenAiResponses = "openai-responses",
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// Google Gemini.
        Gemini = "gemini",
    }
}

/// How the token budget of the tail is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// `target_ratio` of the trigger.
    Ratio,
    /// From the recent call rate and output sizes, within bounds around the ratio.
    Auto,
    /// A fixed number of tokens.
    Tokens(u32),
}

impl Field for Tail {
    fn blank() -> Self {
        Self::Ratio
    }
    fn take(&mut self, value: &Value) -> bool {
        let tail = match value {
            Value::String(word) if word == "ratio" => Some(Self::Ratio),
            Value::String(word) if word == "auto" => Some(Self::Auto),
            other => other.as_u64().and_then(|n| u32::try_from(n).ok()).map(Self::Tokens),
        };
        tail.map(|tail| *self = tail).is_some()
    }
    fn give(&self) -> Value {
        match self {
            Self::Ratio => Value::from("ratio"),
            Self::Auto => Value::from("auto"),
            Self::Tokens(tokens) => Value::from(*tokens),
        }
    }
}
