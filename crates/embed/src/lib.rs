//! The engine for programs in other languages.
//!
//! What crosses the border is text: a body in the form the provider wants it, options and reports as JSON. So a binding
//! converts strings and nothing else, and all of them behave alike.
//!
//! ```
//! use foldline_embed::{Ask, Options, Session, Step};
//!
//! let session = Session::new(Options::read(r#"{"window": 16000}"#)?);
//! let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#;
//! let Step::Done(done) = session.compact(body, Ask::default())? else { unreachable!("no summariser was offered") };
//! assert_eq!(done.body, None, "far below the trigger: nothing to do");
//! # Ok::<(), foldline_embed::Error>(())
//! ```
//!
//! - A [`Session`] remembers what was folded. A host that sends its whole history each time gets the same beginning back
//!   each time (`checkpoint.rs`), so that provider caches keep hitting, and originals are read by their handles.
//! - A model that writes handoffs is asked by the host: [`Session::compact`] stops at [`Step::Asks`], and
//!   [`Pending::answer`] goes on. Nothing here waits for anything, so a host may ask as it likes, also without blocking.
//! - [`validate`], [`redact`], [`reduce`] and [`count`] need no session.
#![warn(missing_docs)]

mod checkpoint;
mod error;
mod kept;
mod options;
mod originals;
mod session;
mod texts;

pub use error::Error;
pub use options::{Ask, Options};
pub use originals::{Look, Removed};
pub use session::{Done, Pending, Prompt, Session, Step};
pub use texts::{Reduced, count, count_text, redact, reduce, validate};
