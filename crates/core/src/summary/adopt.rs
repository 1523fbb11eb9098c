//! A model's words among the facts of a ledger. They add; they remove nothing that was recorded
//! without a model, and outdate only what an earlier model said about the state of things.

use super::Written;
use crate::handoff::Section;
use crate::ledger::Ledger;
use rustc_hash::FxHashSet;

/// Adds what a model wrote to a ledger. `handoffs` are the messages among the folded ones that hold
/// earlier records.
pub(crate) fn adopt(ledger: &mut Ledger, written: &Written, handoffs: &[usize]) {
    let says = |section: Section| written.words.lines.iter().any(|(of, _)| *of == section);
    // What was left to do then is told anew; what was decided still holds.
    ledger.entries.retain(|entry| {
        !(matches!(entry.section, Section::RemainingWork | Section::Blocked)
            && handoffs.contains(&(entry.message as usize))
            && says(entry.section))
    });
    let known: FxHashSet<String> = ledger.entries.iter().map(|entry| ledger.text(entry).to_lowercase()).collect();
    for (section, line) in &written.words.lines {
        // The active task is quoted from the user, word for word.
        if *section == Section::ActiveTask || known.contains(&line.to_lowercase()) {
            continue;
        }
        ledger.say(*section, u32::MAX, line, worth(*section));
    }
}

/// What only a model can know is worth most.
fn worth(section: Section) -> f32 {
    match section {
        Section::Goal | Section::KeyDecisions | Section::Constraints => 500.0,
        Section::InProgress | Section::ActiveState | Section::Blocked | Section::RemainingWork => 300.0,
        _ => 60.0,
    }
}
