//! Takes the failures of a report out of the lines between which they stand.

use super::event::{Event, bare, event};

/// A report with fewer lines of passed tests is short enough to be told as it is.
const FEWEST_PASSED: usize = 5;

/// The lines of failed tests, and all others but those of passed tests, which the totals tell. `None` where nothing
/// failed, or where hardly anything else did not.
pub fn failed_tests(text: &str) -> Option<(String, String)> {
    let (mut failed, mut others) = (String::new(), String::new());
    let mut passed = 0;
    for line in text.lines() {
        match event(bare(line)) {
            Some(Event::Fail(..)) => push(&mut failed, line),
            Some(Event::Pass(_) | Event::Tick(_)) => passed += 1,
            _ => push(&mut others, line),
        }
    }
    (passed >= FEWEST_PASSED && !failed.is_empty()).then_some((failed, others))
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}
