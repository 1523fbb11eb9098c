//! Timing on a busy machine: the best of several runs is the least disturbed.
//!
//! Short runs fit between two interruptions and are timed by the wall clock. Long ones never do; where the
//! kernel tells how long this thread really ran, that is what counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A measurement of one thing goes on until it has taken this long, or has been repeated often enough.
const ENOUGH: Duration = Duration::from_millis(2_500);
/// The kernel's books are as fine as its clock tick; below this the wall clock is the better witness.
const COARSE: Duration = Duration::from_millis(40);

/// The shortest of up to `runs` runs; at least two.
pub fn of<T>(runs: usize, mut work: impl FnMut() -> T) -> Duration {
    let started = Instant::now();
    let mut best = Duration::MAX;
    for run in 0..runs.max(2) {
        let (before, ran) = (Instant::now(), on_processor("/proc/thread-self"));
        black_box(work());
        let wall = before.elapsed();
        let spent = on_processor("/proc/thread-self").zip(ran).map(|(after, before)| after.saturating_sub(before));
        best = best.min(match spent {
            Some(spent) if wall > COARSE => wall.min(spent.max(COARSE / 2)),
            _ => wall,
        });
        if run > 0 && started.elapsed() > ENOUGH {
            break;
        }
    }
    best
}

/// How long a task ran on a processor, if the kernel tells.
pub fn on_processor(task: &str) -> Option<Duration> {
    let books = std::fs::read_to_string(format!("{task}/schedstat")).ok()?;
    books.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// In milliseconds.
pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
