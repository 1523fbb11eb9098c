//! What is known about models, by name.
//!
//! Facts are data (`models.json`), each with its source and date. [`ModelTable::profile`] finds the
//! entries that fit a name, from the family to the single model, and lays them over each other. A name
//! that no entry fits still gets a [`ModelProfile`], with a careful window and `known: false`.

mod choice;
mod name;
mod price;
mod profile;
mod table;

pub use choice::{CacheTtl, SignedReasoning};
pub use name::ModelName;
pub use price::{CacheWrite, PriceStep, Prices};
pub use profile::{ApiFamily, ModelProfile, Tokeniser};
pub use table::{CacheMultiple, CachePrice, ModelEntry, ModelTable, ModelTableError, PlainPrice};

#[cfg(test)]
mod tests;
