//! Prompt caches and money: what providers keep of a prompt, what that costs, and where marks go.
//!
//! - [`Tariff`] turns tokens into dollars; a model whose prices nobody knows is an error, not a guess.
//! - [`Outlook`] and [`Economics`] say whether a fold pays.
//! - [`marks`] puts cache marks on a request.

mod bill;
mod economics;
mod layout;
pub mod marks;

pub use bill::{Bill, PricesUnknown, Tariff, Traffic};
pub use economics::{Economics, Outlook, Pace, weigh};
pub use layout::{LOOK_BACK, Layout, Mark};
