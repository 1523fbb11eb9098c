//! A model's words among the facts of a ledger. They add; they remove nothing that was recorded
//! without a model, and outdate only what an earlier model said about the state of things.

use super::Written;
use super::gist::Gist;
use crate::inserted::Section;
use crate::ledger::Ledger;

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
    let recorded = recorded(ledger, written);
    for (section, line) in &written.words.lines {
        // The active task is quoted from the user, word for word.
        if *section == Section::ActiveTask {
            continue;
        }
        if let (Section::CompletedActions, Some((number, said))) = (section, numbered(line))
            && ledger.say_of(number, said, worth(*section))
        {
            continue;
        }
        let gist = Gist::of(line);
        let same = recorded.iter().find(|(at, known)| {
            gist.is_told_by(known) && ledger.entries.get(*at).is_some_and(|entry| entry.section == *section)
        });
        match same.and_then(|(at, _)| ledger.entries.get_mut(*at)) {
            // Said in the words in which it was recorded; that a model tells it shows that it matters.
            Some(entry) => entry.worth = entry.worth.max(worth(*section)),
            None => ledger.say(*section, u32::MAX, line, worth(*section)),
        }
    }
}

/// What the ledger says in the sections in which the model says something, by place.
fn recorded(ledger: &Ledger, written: &Written) -> Vec<(usize, Gist)> {
    let is_told = |section: Section| written.words.lines.iter().any(|(of, _)| *of == section);
    ledger
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.group.is_none() && is_told(entry.section))
        .map(|(at, entry)| (at, Gist::of(ledger.text(entry))))
        .collect()
}

/// Number and words of a line about one request: `- 3: …`.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches(['-', ' ', '*', '#']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let number = line.get(..digits)?.parse().ok()?;
    let said = line.get(digits..)?.strip_prefix([':', '.', ')'])?.trim();
    (!said.is_empty()).then_some((number, said))
}

/// What only a model can know is worth most.
fn worth(section: Section) -> f32 {
    match section {
        Section::Goal | Section::KeyDecisions | Section::Constraints => 500.0,
        Section::InProgress | Section::ActiveState | Section::Blocked | Section::RemainingWork => 300.0,
        _ => 60.0,
    }
}
