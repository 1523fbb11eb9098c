//! Searching originals by words: what is asked, how a text is split, how well it fits.

mod entries;
mod parts;
mod places;
mod query;
mod rank;
mod words;

pub(crate) use entries::{Entries, lookup};
pub(crate) use parts::{MOST_PARTS, Parts};
pub(crate) use places::{
    MOST_BYTES, MOST_NAMESPACES, MOST_READ, MOST_SESSIONS, Place, Places, Source, Wanted, names_of, read_at_once,
};
pub(crate) use query::{Extent, Term};
pub use query::{Query, QueryError};
pub(crate) use rank::{Fitting, fitting, weight};
pub(crate) use words::{each_word, is_unspaced};

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// For what.
    pub query: &'a Query,
    /// Among whose originals.
    pub whose: Whose<'a>,
    /// Only what this session removed.
    pub session: Option<&'a str>,
    /// How many places are wanted.
    pub limit: usize,
}

/// Among whose originals is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose<'a> {
    /// Those of one namespace.
    Namespace(&'a str),
    /// Those of all: for the owner of the file, never for a client.
    Everybody,
}
