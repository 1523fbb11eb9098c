//! The key that a misspelt one was meant to be.

use super::knob::Knob;

/// The key a user most likely meant, if one is close enough to be worth naming.
pub(super) fn nearest_key(knobs: &[&'static Knob], typed: &str) -> Option<&'static str> {
    // A key without its section is the most common slip, and a far one by letters.
    if let Some(knob) = knobs.iter().find(|knob| knob.name() == typed) {
        return Some(knob.key);
    }
    let (section, name) = typed.rsplit_once('.').map_or((None, typed), |(section, name)| (Some(section), name));
    let by_distance = knobs.iter().map(|knob| {
        let whole = distance(knob.key, typed);
        // A right name in the wrong section costs one step, so that it beats chance neighbours.
        let elsewhere = section.is_some_and(|section| section != knob.section());
        let part = distance(knob.name(), name) + usize::from(elsewhere);
        (whole.min(part), knob.key)
    });
    let (steps, key) = by_distance.min_by_key(|(steps, _)| *steps)?;
    // More than a third of the letters wrong is a guess, and a wrong guess is worse than none.
    (steps <= 1 + name.chars().count() / 3).then_some(key)
}

/// Edits (insert, delete, replace) between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for ((y, above), diagonal) in b.iter().zip(row.iter().skip(1)).zip(row.iter()) {
            let left = next.last().copied().unwrap_or(i + 1);
            let replaced = diagonal + usize::from(x != *y);
            next.push(replaced.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
