//! Decides whether an output says nearly the same as a later one, and what only it says.

use rustc_hash::{FxHashSet, FxHasher};
use std::hash::Hasher;

use super::Kind;
use super::alarm::severity;
use super::envelope::printed;
use super::focus::Focus;
use super::index::Index;
use super::lines::{count, lines, prefix};
use super::names::Which;
use super::pick::{Candidate, MOST_CANDIDATES, pick};
use super::room::Room;

/// A later output that is so many times larger is no other run of the same.
const MOST_LARGER: usize = 4;
/// Lines of which fewer than this percentage differ are nearly the same.
const MOST_DIFFERENT: usize = 30;
/// What a line of trouble is worth beside its names: why a run was repeated.
const TROUBLE: u32 = 40;
/// The longest line that stays.
const LONGEST_LINE: usize = 160;

/// The lines that only the `older` of two outputs has, as many as are worth it; `None` unless they are nearly the same.
/// Numbers do not tell lines apart: a second run takes another time.
pub fn difference(older: &str, newer: &str) -> Option<Difference> {
    if newer.len() > older.len().saturating_mul(MOST_LARGER) {
        return None;
    }
    let (older, newer) = (&*printed(older), &*printed(newer));
    let known: FxHashSet<u64> = lines(newer).map(look).collect();
    let total = count(older);
    let mut differing = 0usize;
    let mut candidates = Vec::new();
    for (position, line) in lines(older).enumerate() {
        let text = prefix(line.trim(), LONGEST_LINE);
        if text.is_empty() || known.contains(&look(line)) {
            continue;
        }
        differing += 1;
        if candidates.len() < MOST_CANDIDATES {
            let weight = 1 + if severity(text).is_some() { TROUBLE } else { 0 };
            candidates.push(Candidate { position, weight, text, extra: 1 });
        }
    }
    if differing * 100 > total * MOST_DIFFERENT {
        return None;
    }
    let picked = pick(
        candidates,
        Room::of(Kind::Command, older.len()).bytes(),
        &Focus::new(&[], None),
        &Index::of(older, Which::All),
    );
    Some(Difference { differing, lines: picked.iter().map(|picked| picked.text.to_owned()).collect() })
}

/// What only the older of two outputs says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Lines that differ.
    pub differing: usize,
    /// Those that stay, in order.
    pub lines: Vec<String>,
}

/// A line without its numbers.
fn look(line: &str) -> u64 {
    let mut hasher = FxHasher::default();
    let mut in_number = false;
    for byte in line.trim().bytes() {
        let digit = byte.is_ascii_digit();
        if !(digit && in_number) {
            hasher.write_u8(if digit { b'0' } else { byte });
        }
        in_number = digit || (in_number && byte == b'.');
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(failing: &[usize], took: usize) -> String {
        (0..60)
            .map(|test| {
                let verdict = if failing.contains(&test) { "FAILED" } else { "ok" };
                format!("test store::case_{} ... {verdict} ({took} ms)\n", "x".repeat(test + 1))
            })
            .collect()
    }

    #[test]
    fn a_second_run_leaves_only_what_differs_of_the_first() {
        let difference = difference(&run(&[7], 12), &run(&[], 481)).expect("nearly the same");
        assert_eq!(difference.differing, 1);
        assert!(difference.lines.iter().all(|line| line.contains("FAILED")), "{difference:?}");
    }

    #[test]
    fn other_texts_have_no_difference() {
        assert_eq!(difference(&run(&[], 1), "something else\n"), None);
    }
}
