//! Measures what a compaction keeps and what it costs, on recorded sessions.
//!
//! ```
//! use foldline_measure::retention::{Exam, Page, Timeline};
//! use foldline_transcript::wire;
//!
//! # let body = r#"{"messages":[{"role":"user","content":"Look into src/importer/batch.rs"},
//! #     {"role":"assistant","content":"The limit in src/importer/batch.rs is MAX_BATCH_ROWS."},
//! #     {"role":"user","content":"Raise it"},
//! #     {"role":"assistant","content":"I raise MAX_BATCH_ROWS in src/importer/batch.rs now."}]}"#;
//! let transcript = wire::read(body, None)?;
//! let page = Page::of(&transcript);
//! // What the agent wrote from the third message on, and had seen before.
//! let exam = Exam::at(&page, &Timeline::of(&page), 2);
//! let everything = exam.score(page.lines()).total();
//! assert_eq!(everything.kept, everything.of, "the whole conversation keeps every fact");
//! # Ok::<(), wire::WireError>(())
//! ```
//!
//! # A tour
//!
//! - [`retention`] asks the rest of a session what it needed of the part that was compacted: paths, identifiers, hashes,
//!   and questions with known answers.
//! - [`replay`] plays a recorded session request by request under a policy, and adds up compactions, cache and money.
//! - [`cache`] plays a provider's prompt cache and holds the result against what the provider reported.
//! - [`trajectory`] makes training data of sessions, with synthetic messages dropped or labelled.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod cache;
pub mod replay;
pub mod retention;
pub mod trajectory;
