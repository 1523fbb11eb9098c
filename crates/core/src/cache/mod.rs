//! Prompt caches and money: what providers keep of a prompt, what that costs, and where marks go.
//!
//! - [`Tariff`] turns tokens into dollars; a model whose prices nobody knows is an error, not a guess.
//! - [`Simulator`] plays a provider's cache: which tokens of a request are read, written or plain input.
//! - [`Recording`] reads what a provider reported for a session; [`Fit`] holds the simulator against it.
//! - [`Outlook`] and [`Economics`] say whether a fold pays.
//! - [`marks`] puts cache marks on a request.

mod bill;
mod economics;
mod fit;
pub mod marks;
mod record;
mod simulate;

pub use bill::{Bill, PricesUnknown, Tariff, Traffic};
pub use economics::{Economics, Outlook, Pace, weigh};
pub use fit::{Break, Fit, Prediction, Sizes};
pub use record::{Recorded, Recording};
pub use simulate::{Block, Layout, Mark, Rules, Simulator};
