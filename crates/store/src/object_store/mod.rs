//! Texts of originals in an object store beside the database, which keeps their rows.
//!
//! - An object is written, durably, before the row that names it is committed, and deleted after the row is gone. So a row
//!   always finds its text, and a process that is killed in between leaves an object that nobody names. `unlinked` in the
//!   database lists those whose row is gone; [`sweep`](orphans::sweep) finds those whose row never came.
//! - Names are random, and each is given to one row only. Nobody can tell from a name whose text it is or what it says,
//!   and a text that is stored anew while the old one is deleted does not lose its object.
//! - What an object holds is what the database would hold: packed pieces, encrypted where a key is set, under the key of
//!   their namespace and bound to their row.

mod bucket;
mod elsewhere;
mod files;
mod frame;
#[cfg(feature = "object-store")]
mod http;
mod location;
mod objects;
mod orphans;
mod placing;
mod rows;
#[cfg(feature = "object-store")]
mod s3;
mod writer;

pub(crate) use crate::object_name::{ObjectName, StoreId};
pub(crate) use elsewhere::{Elsewhere, Looked};
pub use location::ObjectPlace;
pub(crate) use objects::{Fetched, Objects};
pub(crate) use orphans::{delete_unlinked, sweep};
pub(crate) use placing::{Placed, place, place_records};
pub(crate) use rows::{ObjectRows, Spot};
pub(crate) use writer::ObjectWriter;
