//! Which way of asking is cheaper: the model that has the conversation in its cache, or another one
//! that reads the record of it.

use crate::models::ModelProfile;
use serde::Serialize;

/// Whether the conversation itself can be sent to its own model, and what that finds there. Only who sends
/// requests knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrefixCall {
    /// It cannot be sent.
    #[default]
    Impossible,
    /// It can, and nothing of it is cached any more.
    Cold,
    /// It can, and the provider has it in its cache.
    Warm,
}

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The conversation as it is, with one more message, to its own model.
    CachedPrefix,
    /// The record of it, to the summary model.
    Serialised,
}

/// What both ways would cost, in dollars; none where no price is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Costs {
    /// The conversation as it is.
    pub cached_prefix: Option<f64>,
    /// The record of it.
    pub serialised: Option<f64>,
}

/// Tokens that the two ways take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    /// The whole conversation.
    pub(super) prefix: u64,
    /// The prompt with the record of it.
    pub(super) serialised: u64,
    /// The instruction alone.
    pub(super) instruction: u64,
    /// The reply.
    pub(super) reply: u64,
}

const MILLION: f64 = 1e6;

impl Costs {
    pub(super) fn of(volume: Volume, main: &ModelProfile, summary: &ModelProfile, call: PrefixCall) -> Costs {
        let dollars = |tokens: u64, price: f64| tokens as f64 * price / MILLION;
        let cached_prefix = main.prices.as_ref().filter(|_| call != PrefixCall::Impossible).map(|prices| {
            let read = if call == PrefixCall::Warm { prices.cache_read } else { prices.input };
            let step = main.price_step.filter(|step| volume.prefix > u64::from(step.above));
            let (input, output) = step.map_or((1.0, 1.0), |step| (step.input, step.output));
            (dollars(volume.prefix, read) + dollars(volume.instruction, prices.input)) * input
                + dollars(volume.reply, prices.output) * output
        });
        let serialised = summary
            .prices
            .as_ref()
            .map(|prices| dollars(volume.serialised, prices.input) + dollars(volume.reply, prices.output));
        Costs { cached_prefix, serialised }
    }

    /// The cheaper way. Without prices the record is sent: a model that costs nothing is a local one.
    pub(super) fn cheaper(self) -> Route {
        match (self.cached_prefix, self.serialised) {
            (Some(prefix), Some(serialised)) if prefix < serialised => Route::CachedPrefix,
            _ => Route::Serialised,
        }
    }
}
