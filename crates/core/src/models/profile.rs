//! The profile of one model, with conservative defaults for unknown values.

use serde::Serialize;

use super::choice::SignedReasoning;
use super::price::{PriceStep, Prices};
use crate::settings::choice;

choice! {
    /// How tokens of a model are counted.
    Tokeniser {
        /// Exact, with the o200k vocabulary.
        O200k = "o200k",
        /// Exact, with the cl100k vocabulary.
        Cl100k = "cl100k",
        /// Estimated; the vocabulary is not public or not carried.
        Estimate = "estimate",
    }
}

choice! {
    /// Which vendor's API the request speaks: it decides what an unknown model is taken for.
    ApiFamily {
        /// Anthropic Messages.
        Anthropic = "anthropic",
        /// OpenAI Chat Completions, OpenAI Responses, and those who speak them.
        OpenAi = "openai",
        /// Google Gemini.
        Google = "google",
    }
}

impl ApiFamily {
    /// Window of a model that the table does not know: the smallest that the family sells today, because
    /// a window that is guessed too large ends in a refused request, one too small in an early fold.
    pub const fn unknown_window(self) -> u32 {
        match self {
            Self::Anthropic => 200_000,
            Self::OpenAi => 128_000,
            Self::Google => 1_048_576,
        }
    }

    /// Request body that is taken safely. Anthropic documents 32 MB and fails more and more above 20 MiB;
    /// OpenAI documents 50 MB for a request with images and Google 20 MB, of which a fifth is left for growth in transit.
    pub const fn safe_body_bytes(self) -> u64 {
        match self {
            Self::Anthropic => 20 * 1024 * 1024,
            Self::OpenAi => 40_000_000,
            Self::Google => 16_000_000,
        }
    }
}

/// One model, as the rest of the core sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelProfile {
    /// Canonical name, without provider and date.
    pub name: String,
    /// False when no entry fits the name and the window is a guess.
    pub known: bool,
    /// Tokens that input and output share.
    pub window: u32,
    /// Largest input, where it is less than the window whatever the output.
    pub max_input: Option<u32>,
    /// Largest output.
    pub max_output: Option<u32>,
    /// How its tokens are counted.
    pub tokeniser: Tokeniser,
    /// Tokens that a typical image costs, where the vendor says.
    pub image_tokens: Option<u32>,
    /// What an edit does to signed reasoning after it.
    pub signed_reasoning: SignedReasoning,
    /// Input size above which a request costs a multiple.
    pub price_step: Option<PriceStep>,
    /// Prices, where they are known.
    pub prices: Option<Prices>,
    /// Shortest prefix that the provider caches, in tokens.
    pub min_cacheable: Option<u32>,
    /// Where the facts are from.
    pub source: Option<String>,
    /// When they were true, as `YYYY-MM-DD`.
    pub date: Option<String>,
}

impl ModelProfile {
    /// A model about which nothing is known but the API it is called through.
    pub fn unknown(name: &str, family: ApiFamily) -> Self {
        Self {
            name: name.to_owned(),
            known: false,
            window: family.unknown_window(),
            max_input: None,
            max_output: None,
            tokeniser: Tokeniser::Estimate,
            image_tokens: None,
            // An edit that is refused costs a turn; one that is merely too careful costs some room.
            signed_reasoning: SignedReasoning::LatestTurn,
            price_step: None,
            prices: None,
            min_cacheable: None,
            source: None,
            date: None,
        }
    }

    /// The profile of a model with this window and nothing else known.
    pub fn with_window(window: u32) -> Self {
        Self { window, ..Self::unknown("", ApiFamily::OpenAi) }
    }
}
