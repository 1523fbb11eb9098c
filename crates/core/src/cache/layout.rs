//! Where cache marks go in a prompt.

use crate::models::CacheTtl;

/// Blocks before a mark in which Anthropic looks for an entry. A turn that adds more misses what was there.
pub const LOOK_BACK: usize = 20;

/// A cache mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The block it is on.
    pub block: usize,
    /// How long what ends here should live.
    pub ttl: CacheTtl,
}

/// Where marks are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// On the system prompt and on the ends of the last three messages.
    SystemAndThree,
    /// On what stays (tools, system prompt, handoff), on the end, and on ends before it that are close enough to find
    /// where the last request ended.
    Auto,
}

impl Layout {
    /// The marks of a prompt. `system` is the block that ends the system prompt, `ends` are the last blocks of the
    /// messages, in order.
    pub fn marks(self, system: Option<usize>, ends: &[usize], ttl: CacheTtl) -> Vec<Mark> {
        let mut blocks = self.window(ends, ROLLING);
        blocks.extend(system);
        blocks.sort_unstable();
        blocks.dedup();
        blocks.into_iter().map(|block| Mark { block, ttl }).collect()
    }

    /// Which ends of messages are marked, newest first, at most `slots`.
    pub(super) fn window(self, ends: &[usize], slots: usize) -> Vec<usize> {
        match self {
            Layout::SystemAndThree => ends.iter().rev().take(slots.min(ROLLING)).copied().collect(),
            Layout::Auto => rolling(ends, slots),
        }
    }
}

/// Marks that move with the conversation.
const ROLLING: usize = 3;

/// The last end, and ends before it from which look-backs reach over into each other.
fn rolling(ends: &[usize], slots: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = ends.last().copied().into_iter().take(slots).collect();
    while let Some(&last) = chosen.last().filter(|_| chosen.len() < slots) {
        let reach = last.saturating_sub(LOOK_BACK);
        let before = ends.get(..ends.partition_point(|&end| end < last)).unwrap_or_default();
        // The farthest end in reach; where a message has more blocks than that, the end before it.
        let Some(next) = before.iter().copied().find(|&end| end >= reach).or(before.last().copied()) else { break };
        chosen.push(next);
    }
    chosen
}
