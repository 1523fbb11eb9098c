//! Fair shares: how much of the room each namespace may take when there is not enough for all.
//!
//! Whoever takes less than an even share keeps all of it; the others are cut to the same level. So a namespace loses
//! something only to those that take less than it does, and one that is alone has all the room.

use crate::limits::Limits;

/// Checkpoints may take this share of all room: they are the shorter side of the same texts.
pub(crate) const CHECKPOINTS: u64 = 4;
/// Sessions of one namespace may take this share of all room: they are counts.
pub(crate) const SESSIONS: u64 = 16;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// All that is kept.
    All,
    /// Checkpoints alone.
    Checkpoints,
}

/// A namespace that takes more than its share.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excess {
    pub(crate) namespace: String,
    /// What it may take.
    pub(crate) level: u64,
    /// What it takes beyond that.
    pub(crate) bytes: u64,
}

/// The namespaces that take more than their share of what is taken, and by how much.
pub(crate) fn beyond(taken: Vec<(String, u64)>, limits: &Limits, what: What) -> Vec<Excess> {
    let (room, quota) = match what {
        What::All => (limits.max_bytes, limits.max_bytes_per_namespace),
        What::Checkpoints => {
            (limits.max_bytes / CHECKPOINTS, limits.max_bytes_per_namespace.map(|quota| quota / CHECKPOINTS))
        }
    };
    let level = level(taken.iter().map(|(_, bytes)| *bytes).collect(), room).min(quota.unwrap_or(u64::MAX));
    let beyond = taken.into_iter().filter(|(_, bytes)| *bytes > level);
    beyond.map(|(namespace, bytes)| Excess { namespace, level, bytes: bytes - level }).collect()
}

/// Bytes that the sessions of one namespace may take.
pub(crate) fn room_for_sessions(limits: &Limits) -> u64 {
    limits.max_bytes.min(limits.max_bytes_per_namespace.unwrap_or(u64::MAX)) / SESSIONS
}

/// The most that each may take so that all fit into the room.
fn level(mut taken: Vec<u64>, room: u64) -> u64 {
    taken.sort_unstable();
    let mut left = room;
    let mut others = taken.len() as u64;
    for bytes in taken {
        let even = left / others;
        if bytes > even {
            return even;
        }
        left -= bytes;
        others -= 1;
    }
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_less_than_an_even_share_keeps_it() {
        assert_eq!(level(vec![10, 20, 30], 60), u64::MAX);
        assert_eq!(level(vec![10, 20, 31], 60), 30);
        assert_eq!(level(vec![1, 500, 500], 101), 50);
        assert_eq!(level(vec![900], 100), 100);
        assert_eq!(level(vec![], 100), u64::MAX);
    }
}
