//! Reads the conversations that LLM agents send to their providers, and edits them without parsing them into objects.
//!
//! A [`Transcript`] is a view of the text it was read from: every message and part is a span. What is not edited comes out
//! byte for byte as it went in, unknown fields, spacing and the spelling of numbers included, so that prompt caches keep
//! hitting.
//!
//! ```
//! use foldline_transcript::{Format, Role, wire};
//!
//! let body = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"}]}"#;
//! let transcript = wire::read(body, None)?;
//! assert_eq!(transcript.format, Format::Anthropic);
//! assert_eq!(transcript.messages[0].role, Role::User);
//! assert_eq!(transcript.words(&transcript.parts[0]), "Hello");
//! # Ok::<(), wire::WireError>(())
//! ```
//!
//! # A tour
//!
//! - [`wire`] reads OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Google Gemini bodies, arrays and JSON
//!   lines of messages, Claude Code sessions and ShareGPT trajectories; [`wire::compose`] writes messages of one's own.
//! - [`validate`] lists what a provider would refuse, [`repair`] puts it right.
//! - [`edit`] replaces spans of a text, [`rewrite`] removes and inserts whole messages.
//! - [`recall`] gives each removed text a short handle, [`identity`] tells conversations apart by how they begin.
//! - [`signature`] and [`reasoning`] know what must stay together: signed calls of Gemini, reasoning of the Responses API.
//!
//! Transcripts that were cut in the middle of a call are the most common damage:
//!
//! ```
//! use foldline_transcript::{repair::repair, validate::validate, wire};
//!
//! let body = r#"{"messages":[{"role":"user","content":"Hi"},
//!     {"role":"tool","tool_call_id":"call_1","content":"42"},
//!     {"role":"user","content":"Go on"}]}"#;
//! let damaged = wire::read(body, None)?;
//! assert!(!validate(&damaged).is_empty());
//!
//! let repaired = repair(&damaged).expect("something to repair");
//! let sound = wire::read(&repaired.text, Some(damaged.format))?;
//! assert!(validate(&sound).is_empty());
//! # Ok::<(), wire::WireError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod edit;
pub mod identity;
pub mod reasoning;
pub mod recall;
pub mod repair;
pub mod rewrite;
pub mod signature;
mod transcript;
pub mod validate;
pub mod wire;

pub use transcript::{
    Content, Exchanges, Format, Link, Message, Parsed, Part, PartKind, Place, Reported, Role, Shape, Structure,
    Transcript,
};
