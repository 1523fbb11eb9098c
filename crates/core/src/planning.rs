//! The steps of a compaction one by one, for programs that schedule or measure them.
//!
//! [`compact`](crate::compact) takes all of them in order. A gateway asks [`decide`] with counts that it has already, a
//! measurement draws [`zones`] for itself, and whoever hears from a provider tells [`observe_usage`].

pub use crate::engine::{count, economics, judge, observe_usage};
pub use crate::plan::{Change, Fold, Outcome, Plan, Skip, Step, StepKind, TokenChange};
pub use crate::planner::{
    CannotFit, Planner, Size, Trigger, Verdict, Warmth, decide, decide_by_money, record, standing,
};
pub use crate::prune::{Keeping, Proposal, Pruner, is_reduced, is_reduced_text, replacement};
pub use crate::setting::family_of;
pub use crate::state::{Cause, Usage};
pub use crate::zone::{Cuts, TailBudget, Zone, Zones, head_end, last_request, recent_need, zones};
