//! Whether the generator reaches what the laws speak about: a law over nothing holds always.

use crate::common::case::{Case, case, config};
use crate::common::session::session;
use foldline_core::EngineError;
use foldline_core::Outcome;
use foldline_core::planning::StepKind;
use foldline_transcript::validate::validate;
use foldline_transcript::{PartKind, wire};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

fn cases(count: usize) -> Vec<Case> {
    let mut runner = TestRunner::new(config(1));
    (0..count).map(|_| case().new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn the_generator_reaches_every_outcome_and_every_step() {
    let mut reached: BTreeMap<String, usize> = BTreeMap::new();
    let mut note = |what: String| *reached.entry(what).or_default() += 1;
    for case in cases(200) {
        let text = case.session.text();
        match case.compact(&text) {
            Ok(done) => {
                note(format!("{:?}", done.plan.outcome));
                let mut kinds: Vec<StepKind> = done.plan.steps.iter().map(|step| step.kind).collect();
                kinds.sort_by_key(|kind| format!("{kind:?}"));
                kinds.dedup();
                kinds.iter().for_each(|kind| note(format!("{kind:?}")));
                if done.plan.fold.as_ref().is_some_and(|fold| fold.iterative) {
                    note("iterative".to_owned());
                }
            }
            Err(EngineError::CannotFit(_)) => note("CannotFit".to_owned()),
            Err(error) => panic!("{error}: {text}"),
        }
    }
    let least = [
        ("Unchanged", 12),
        ("Pruned", 10),
        ("Folded", 30),
        ("Clamped", 6),
        ("CannotFit", 3),
        ("Reduce", 10),
        ("Duplicate", 3),
        ("Superseded", 2),
        ("Arguments", 3),
        ("Media", 2),
        ("Clamp", 3),
        ("DropSealed", 10),
        ("Carry", 5),
        ("iterative", 8),
    ];
    for (what, least) in least {
        let found = reached.get(what).copied().unwrap_or_default();
        assert!(found >= least, "{what}: {found} of at least {least}; all: {reached:?}");
    }
    assert_eq!(reached.get("Repair"), None, "sessions are healthy: {reached:?}");
    let _ = Outcome::Aborted;
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn generated_sessions_are_healthy_and_read_as_what_they_are(session in session()) {
        let text = session.text();
        let found = wire::read(&text, None).unwrap();
        // Plain words look the same in several formats.
        if found.parts.iter().any(|part| matches!(part.kind, PartKind::ToolCall | PartKind::ToolResult)) {
            prop_assert_eq!(found.format, session.format);
        }
        let transcript = wire::read(&text, Some(session.format)).unwrap();
        prop_assert_eq!(validate(&transcript), vec![]);
    }
}
