//! The engine, from outside: laws on generated sessions, cases by rule, the example sessions.
//! One program, because linking costs more than running.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// The core is pure; its tests read examples and how many cases to try.
#![allow(clippy::disallowed_methods)]

mod common;

mod suite {
    mod admission;
    mod agents;
    mod examples;
    mod fold;
    mod forgery;
    mod formats;
    mod generator;
    mod handoff;
    mod hosts;
    mod iterative;
    mod ladder;
    mod laws;
    mod money;
    mod policy;
    mod prune;
    mod reading;
    mod reasoning;
    mod stale;
    mod state;
    mod steps;
    mod summaries;
    mod summary;
    mod tokens;
    mod zones;
}
