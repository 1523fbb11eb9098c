//! Skipping what repeats loses no secret.

use crate::fixtures::expand;
use crate::hostile::hostile;
use crate::repeat::Repeat;
use crate::scan::find_with;
use crate::{Finding, Mode, RULES};

/// More than the text that has to repeat before the rest is skipped.
const SIZE: usize = 24 * 1024;

fn check(unit: &str) {
    // The end differs, so that the last repetitions are followed by something else.
    for end in ["", "\npassword=k7Lm2Xp9Rt4VwQ\n", "\" and then some prose."] {
        let text = unit.repeat(SIZE / unit.len() + 1) + end;
        let found = |repeat| find_with(text.as_bytes(), Mode::Text, repeat);
        let all = found(Some(Repeat::default()));
        let covered = |one: &Finding| all.iter().any(|other| other.start <= one.start && one.end <= other.end);
        assert!(found(None).iter().all(covered), "{unit:?} … {end:?}");
    }
}

#[test]
fn nothing_is_lost_in_hostile_texts() {
    // Without an end, one value would go on for longer than any secret.
    hostile().into_iter().for_each(|(_, unit)| check(&(unit.to_owned() + "\n")));
}

#[test]
fn repeated_secrets_are_all_found() {
    for (index, rule) in RULES.iter().enumerate() {
        for template in rule.hits.iter().chain(rule.misses).take(2) {
            check(&(expand(template, index as u64) + "\n"));
        }
    }
}
