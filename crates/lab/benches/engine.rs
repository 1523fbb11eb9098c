//! The engine's stages on generated transcripts of three sizes.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot start has nothing to say")]

use divan::{Bencher, counter::BytesCount};
use foldline_core::planning::{self, Inputs, assess, count, read};
use foldline_core::policy::AutoOr;
use foldline_core::{Format, Job, Policy, SessionState, compact};
use foldline_lab::generate;
use foldline_transcript::validate::validate;
use foldline_transcript::wire;

const SIZES: [usize; 3] = [100, 1_000, 10_000];
const SEED: u64 = 1;
/// Small enough that transcripts of every size are compacted.
const WINDOW: u32 = 64_000;

fn main() {
    divan::main();
}

fn policy() -> Policy {
    let mut policy = Policy::default();
    policy.model.window = AutoOr::Fixed(WINDOW);
    policy
}

fn body(messages: usize) -> String {
    generate::transcript(Format::Anthropic, messages, SEED)
}

#[divan::bench(args = SIZES)]
fn parse(bencher: Bencher<'_, '_>, messages: usize) {
    let body = body(messages);
    bencher.counter(BytesCount::of_str(&body)).bench_local(|| wire::read(&body, None).unwrap().messages.len());
}

#[divan::bench(args = SIZES)]
fn check(bencher: Bencher<'_, '_>, messages: usize) {
    let body = body(messages);
    let transcript = wire::read(&body, None).unwrap();
    bencher.counter(BytesCount::of_str(&body)).bench_local(|| validate(&transcript).len());
}

#[divan::bench(args = SIZES)]
fn tokens(bencher: Bencher<'_, '_>, messages: usize) {
    let body = body(messages);
    let transcript = wire::read(&body, None).unwrap();
    let state = SessionState::default();
    let setting = Job::default().setting(&transcript, &policy(), &state);
    bencher.counter(BytesCount::of_str(&body)).bench_local(|| count(&transcript, &setting, &state).total());
}

#[divan::bench(args = SIZES)]
fn plan(bencher: Bencher<'_, '_>, messages: usize) {
    let body = body(messages);
    let (policy, state, job) = (policy(), SessionState::default(), Job::default());
    let inputs = Inputs { policy: &policy, state: &state, job: &job };
    let sound = read(&body, &inputs).unwrap();
    bencher
        .counter(BytesCount::of_str(&body))
        .bench_local(|| planning::plan(&sound, assess(&sound, &inputs), &inputs).unwrap().tokens.after);
}

/// Everything: parse, check, count, plan, apply, and a look at the result.
#[divan::bench(args = SIZES)]
fn whole(bencher: Bencher<'_, '_>, messages: usize) {
    let body = body(messages);
    let (policy, state, job) = (policy(), SessionState::default(), Job::default());
    bencher
        .counter(BytesCount::of_str(&body))
        .bench_local(|| compact(&body, &policy, &state, &job).unwrap().body.len());
}
