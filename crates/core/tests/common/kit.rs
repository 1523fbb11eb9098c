//! Short ways to say what cases by hand need.

use super::texts::{self, Look};
use super::writer::{Call, Layout, Writer};
use foldline_core::planning::{SessionEvent, count};
use foldline_core::policy::{AutoOr, Budgets, Preset};
use foldline_core::tokens::Counts;
use foldline_core::{Compaction, EngineError, Format, Job, Policy, Request, SessionState, Trigger, compact};
use foldline_transcript::wire;

/// The plainest preset with a window.
pub fn policy(window: u64) -> Policy {
    let mut policy = Policy::of(Preset::Hermes);
    policy.model.window = AutoOr::Fixed(u32::try_from(window).unwrap());
    policy
}

/// A job that keeps originals.
pub fn job(format: Format) -> Job {
    let request = Request { keeps_originals: true, ..Request::default() };
    Job { format: Some(format), request, ..Job::default() }
}

/// Somebody asks for a fold.
pub fn manual(format: Format) -> Job {
    let mut job = job(format);
    job.request.trigger = Trigger::Manual;
    job
}

/// The result must fit.
pub fn within(format: Format, tokens: u64) -> Job {
    let mut job = job(format);
    job.request.target = Some(tokens);
    job
}

/// Compacts without a memory.
pub fn run(text: &str, policy: &Policy, job: &Job) -> Compaction<'static> {
    run_with(text, policy, &SessionState::default(), job)
}

/// Compacts with a memory.
pub fn run_with(text: &str, policy: &Policy, state: &SessionState, job: &Job) -> Compaction<'static> {
    try_run(text, policy, state, job).unwrap()
}

/// Compacts, or says why not.
pub fn try_run(
    text: &str,
    policy: &Policy,
    state: &SessionState,
    job: &Job,
) -> Result<Compaction<'static>, EngineError> {
    // Tests are short-lived: a result that owns its source is worth the leak.
    compact(Box::leak(text.to_owned().into_boxed_str()), policy, state, job)
}

/// What a text costs.
pub fn counts(text: &str, format: Format) -> Counts {
    let transcript = wire::read(text, Some(format)).unwrap();
    let (state, job) = (SessionState::default(), job(format));
    count(&transcript, &job.setting(&transcript, &Policy::of(Preset::Hermes), &state), &state)
}

/// Tokens of a text.
pub fn tokens(text: &str, format: Format) -> u64 {
    counts(text, format).total()
}

/// The budgets of a policy for a text.
pub fn budgets(text: &str, policy: &Policy, format: Format) -> Budgets {
    let transcript = wire::read(text, Some(format)).unwrap();
    job(format).setting(&transcript, policy, &SessionState::default()).budgets
}

/// The provider reports usage for a request that was counted as `counted` tokens.
pub fn observe_usage(state: &mut SessionState, budgets: &Budgets, prompt: u64, messages: usize, counted: u64) {
    let (messages, pressure) = (Some(messages), budgets.pressure.into());
    state.apply(&SessionEvent::Reported { prompt, messages, counted, pressure });
}

/// A log of so many lines.
pub fn log(lines: usize, seed: u32) -> String {
    texts::output(Look::Log, lines, seed)
}

/// Rounds of commands with logs.
pub fn work(writer: &mut Writer, rounds: u32, lines: usize) {
    for round in 0..rounds {
        let seed = writer.len() as u32 * 10 + round;
        writer.call(Call::run(&format!("make step-{seed}"), log(lines, seed)));
    }
}

/// A session of so many turns, each a request, rounds of work, and a reply.
pub fn session(format: Format, turns: u32, rounds: u32, lines: usize) -> Writer {
    let mut writer = Writer::new(format);
    for turn in 0..turns {
        writer.user(&format!("Request {turn}: mend the {} of part {turn}.", texts::word(turn)));
        work(&mut writer, rounds, lines);
        writer.assistant(&format!("Answer {turn}: the {} is mended.", texts::word(turn)));
    }
    writer
}

/// A body with more messages at its end. `stem` begins the ids of new calls.
pub fn appended(body: &str, format: Format, stem: &str, add: impl Fn(&mut Writer)) -> String {
    let mut writer = Writer::new(format);
    writer.layout = Layout::List;
    writer.stem = stem.to_owned();
    add(&mut writer);
    let list = writer.document();
    let inside = list.trim().trim_start_matches('[').trim_end_matches(']');
    let transcript = wire::read(body, Some(format)).unwrap();
    let at = transcript.messages.last().unwrap().span.end as usize;
    format!("{},{inside}{}", &body[..at], &body[at..])
}

/// The formats that have calls of their own.
pub const WITH_CALLS: [Format; 5] =
    [Format::OpenAiChat, Format::OpenAiResponses, Format::Anthropic, Format::ClaudeCode, Format::Gemini];
/// All of them.
pub const ALL: [Format; 6] = [
    Format::OpenAiChat,
    Format::OpenAiResponses,
    Format::Anthropic,
    Format::ClaudeCode,
    Format::ShareGpt,
    Format::Gemini,
];
