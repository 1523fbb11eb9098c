//! The steps of a compaction one by one, for programs that schedule, resume or measure them.
//!
//! [`compact`](crate::compact) takes all of them in order:
//!
//! ```
//! use foldline_core::planning::{Inputs, apply, assess, plan, read};
//! use foldline_core::{Job, Policy, SessionState};
//!
//! let (policy, state, job) = (Policy::default(), SessionState::default(), Job::default());
//! let inputs = Inputs { policy: &policy, state: &state, job: &job };
//!
//! let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#;
//! let sound = read(body, &inputs)?;
//! let verdict = assess(&sound, &inputs);
//! assert!(!verdict.acts(), "{}", verdict.reason());
//! let plan = plan(&sound, verdict, &inputs)?;
//! let applied = apply(&sound, &plan)?;
//! assert_eq!(applied.body(), body);
//! # Ok::<(), foldline_core::EngineError>(())
//! ```
//!
//! Whoever has counted already asks a [`Situation`]; whoever hears from a provider tells a
//! [`SessionState`](crate::SessionState) by a [`SessionEvent`].

pub use crate::apply::{Applied, apply};
pub use crate::assess::{Situation, Size, Verdict, pressure};
pub use crate::engine::finish;
pub use crate::plan::{Change, Fold, Outcome, Plan, Skip, Step, StepKind, TokenChange, Writing};
pub use crate::planner::zones as zones_of;
pub use crate::planner::{CannotFit, plan, resume, standing};
pub use crate::prune::{Keeping, Proposal, Pruner, is_reduced, is_reduced_text, replacement};
pub use crate::request::{Inputs, Trigger};
pub use crate::setting::family_of;
pub use crate::sound::{Sound, assess, count, read};
pub use crate::state::{Cause, Left, SessionEvent, Usage};
pub use crate::zone::{Cuts, TailBudget, Zone, Zones, head_end, last_request, recent_need, zones};
