//! A session under a policy: what a law is checked on.

use super::session::{Session, session};
use foldline_core::policy::{AutoOr, Preset, SignedReasoning};
use foldline_core::{Compaction, EngineError, Job, Policy, Request, SessionState, Trigger, compact};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A session and what is asked for.
#[derive(Clone, Debug)]
pub struct Case {
    pub session: Session,
    pub preset: Preset,
    pub window: u32,
    pub signed: Option<SignedReasoning>,
    pub want: Want,
    pub keeps_originals: bool,
}

/// Who asks, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Automatic,
    Hygiene,
    Overflow,
    Manual,
    Target(u64),
}

impl Case {
    pub fn policy(&self) -> Policy {
        let mut policy = Policy::of(self.preset);
        policy.model.window = AutoOr::Fixed(self.window);
        if let Some(signed) = self.signed {
            policy.compression.signed_reasoning = AutoOr::Fixed(signed);
        }
        policy
    }

    pub fn job(&self) -> Job {
        let trigger = match self.want {
            Want::Automatic | Want::Target(_) => Trigger::Engine,
            Want::Hygiene => Trigger::Hygiene,
            Want::Overflow => Trigger::Overflow,
            Want::Manual => Trigger::Manual,
        };
        let target = match self.want {
            Want::Target(tokens) => Some(tokens),
            _ => None,
        };
        let request = Request { trigger, target, keeps_originals: self.keeps_originals, ..Request::default() };
        Job { format: Some(self.session.format), request, ..Job::default() }
    }

    /// Compacts a text as the case asks.
    pub fn compact<'a>(&self, text: &'a str) -> Result<Compaction<'a>, EngineError> {
        self.compact_with(text, &SessionState::default())
    }

    /// The same, with a memory.
    pub fn compact_with<'a>(&self, text: &'a str, state: &SessionState) -> Result<Compaction<'a>, EngineError> {
        compact(text, &self.policy(), state, &self.job())
    }
}

/// Any case.
pub fn case() -> impl Strategy<Value = Case> {
    case_of(session())
}

/// A case of these sessions.
pub fn case_of(session: impl Strategy<Value = Session>) -> impl Strategy<Value = Case> {
    let preset = prop_oneof![
        4 => Just(Preset::Hermes),
        1 => Just(Preset::SacredZone),
        1 => Just(Preset::Skill),
        2 => Just(Preset::Runway),
        1 => Just(Preset::Frugal),
    ];
    // Windows that the session fills a little, just so, or many times over.
    let fill = prop_oneof![1 => 0.2..0.6f64, 4 => 0.6..2.2f64];
    let signed = prop::option::of(prop::sample::select(SignedReasoning::ALL.to_vec()));
    let want = prop_oneof![
        8 => Just(Want::Automatic),
        1 => Just(Want::Hygiene),
        1 => Just(Want::Overflow),
        2 => Just(Want::Manual),
        4 => (300..9_000u64).prop_map(Want::Target),
    ];
    (session, preset, fill, signed, want, prop::bool::weighted(0.8)).prop_map(
        |(session, preset, fill, signed, want, keeps_originals)| {
            let tokens = session.text().len() as f64 / 3.0;
            let window = ((tokens * fill) as u32).clamp(2_000, 60_000);
            Case { session, preset, window, signed, want, keeps_originals }
        },
    )
}

/// How laws are run: the same cases everywhere, so that a failure is a failure for everybody. Other
/// cases are explored with `PROPTEST_RNG_SEED` and more of them with `PROPTEST_CASES`.
pub fn config(cases: u32) -> ProptestConfig {
    let given = ProptestConfig::default();
    let many = std::env::var_os("PROPTEST_CASES").is_some();
    let explores = std::env::var_os("PROPTEST_RNG_SEED").is_some();
    ProptestConfig {
        cases: if many { given.cases } else { cases },
        rng_seed: if explores { given.rng_seed } else { RngSeed::Fixed(2026) },
        max_shrink_iters: 400,
        failure_persistence: None,
        ..given
    }
}
