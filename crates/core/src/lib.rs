//! Keeps the conversation of a long-running LLM agent inside its context window.
//!
//! A request body goes in as text and comes out as text, smaller: system prompt, opening and recent work stay byte for
//! byte, old tool outputs become shorter, the middle becomes a structured handoff, and the result is valid for its
//! provider. No step needs a model, a network or a clock.
//!
//! ```
//! use foldline_core::{Job, Outcome, Policy, Request, SessionState, Trigger, compact};
//!
//! # let mut messages = vec![r#"{"role":"user","content":"Find out why the import is slow."}"#.to_owned()];
//! # for step in 0..60 {
//! #     let call = format!(r#"{{"type":"tool_use","id":"toolu_{step}","name":"bash","input":{{"command":"cat part-{step}.log"}}}}"#);
//! #     let output = format!("part {step}: read a chunk of rows and wrote it to the table\\n").repeat(40);
//! #     messages.push(format!(r#"{{"role":"assistant","content":[{call}]}}"#));
//! #     messages.push(format!(
//! #         r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_{step}","content":"{output}"}}]}}"#
//! #     ));
//! # }
//! # let body = format!(r#"{{"model":"claude-sonnet-4-5","max_tokens":1024,"messages":[{}]}}"#, messages.join(","));
//! let request = Request { trigger: Trigger::Manual, ..Request::default() };
//! let job = Job { request, ..Job::default() };
//! let done = compact(&body, &Policy::default(), &SessionState::default(), &job)?;
//!
//! assert_eq!(done.plan.outcome, Outcome::Folded);
//! assert!(done.body.len() < body.len() / 2);
//! # Ok::<(), foldline_core::EngineError>(())
//! ```
//!
//! # A tour
//!
//! - [`compact`] is a pure function. What a session remembers between two calls is its [`SessionState`]: keep what
//!   [`Compaction::state`] returns and pass it in the next time. [`Foldline`] does so for you, behind the trait
//!   [`ContextEngine`] that an agent's loop can hold.
//! - [`Compaction::plan`] says what was done, what was left alone, and why; [`Report`] is the same for machines, without
//!   content, and [`explain`] for people.
//! - A [`Policy`] holds every setting; [`settings`] checks, layers and documents them, and lets other crates add sections
//!   of their own. [`models`] knows windows and prices.
//! - The steps are public, each for itself: [`planning`] has [`read`](planning::read), [`assess`](planning::assess),
//!   [`plan`](planning::plan) and [`apply`](planning::apply).
//! - When a model should write the handoff, [`ContextEngine::compact_with`] takes a closure that asks it. Whoever asks by
//!   other means runs [`Compaction::summary_job`] and goes on with [`resume`](planning::resume). See [`summary`].
//! - What is removed can be kept: [`Plan::originals`] lists it, [`reading`] shows it again in pages.
//!
//! Settings are typed, and checked with the place they came from:
//!
//! ```
//! use foldline_core::Policy;
//! use foldline_core::settings::{Given, Layer, Origin, Setting};
//!
//! let threshold = Setting {
//!     key: "compression.threshold".to_owned(),
//!     given: Given::Text("1.4".to_owned()),
//!     origin: Origin::Flag("--set compression.threshold=1.4".to_owned()),
//! };
//! let errors = Policy::sections().resolve(&[Layer { settings: vec![threshold] }]).unwrap_err();
//! assert!(errors[0].to_string().ends_with("1.4 is out of range, expected a number from 0.05 to 0.95"));
//! ```
//!
//! # Features
//!
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod apply;
mod assess;
pub mod cache;
mod context;
mod engine;
mod event;
pub mod explain;
pub mod handoff;
mod inserted;
mod inspect;
pub mod ledger;
pub mod models;
pub mod output;
mod plan;
mod planner;
pub mod planning;
pub mod policy;
mod prune;
pub mod reading;
pub mod report;
mod request;
mod setting;
pub mod settings;
mod sound;
mod state;
pub mod summary;
pub mod tokens;
mod zone;

pub use context::{Compacted, ContextEngine, Foldline, Prompt, Removed, Status, TokenUsage};
pub use engine::{Compaction, EngineError, compact};
pub use event::Event;
pub use foldline_transcript::{Format, Transcript};
pub use plan::{Outcome, Plan};
pub use policy::Policy;
pub use report::Report;
pub use request::{Job, Request, Trigger};
pub use setting::Setting;
pub use sound::Sound;
pub use state::SessionState;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
