//! How rarely a conversation is rewritten or refused, with clients that repeat a large prompt, ask for long replies, or
//! meet windows that nobody told us.

use super::super::*;
use super::world::{Client, Provider, output, settings};
use foldline_core::policy::{AutoOr, Policy, Preset};
use std::fmt::Write as _;

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tale {
    rewrites: u64,
    refusals: u64,
}

/// A client with a prompt of its own, its replies as long as it asks for, against a provider.
struct Run {
    client: Client,
    max_tokens: u32,
    provider: Provider,
    /// Whether a refusal says how much is too much.
    says_numbers: bool,
    output: fn(usize) -> String,
}

impl Run {
    fn new(dialect: Dialect, prompt: usize, window: u32) -> Run {
        let mut client = Client::new(dialect);
        client.system = prompt_of(prompt);
        client.user("Rebuild the parts one by one.");
        Run {
            client,
            max_tokens: 1_000,
            provider: Provider { window: window.into(), ratio: 1.0 },
            says_numbers: true,
            output,
        }
    }

    /// Plays so many turns.
    fn play(&mut self, gateway: &Conversations, turns: std::ops::Range<usize>) -> Tale {
        let before = gateway.totals().sums;
        let mut refusals = 0;
        for step in turns {
            let now = 1_000 + step as i64 * 10_000;
            let wish = format!("\"max_tokens\":{}", self.max_tokens);
            let body = self.client.body().replacen("\"max_tokens\":1000", &wish, 1);
            let ask = self.client.ask(&body, now);
            let mut prepared = gateway.prepare(&ask).unwrap();
            let mut judged = self.judge(&prepared.body);
            for attempt in 1..=2 {
                let Err(refusal) = &judged else { break };
                refusals += 1;
                prepared = gateway.overflow(&ask, &prepared.turn, refusal, attempt).unwrap().expect("room to fold");
                judged = self.judge(&prepared.body);
            }
            gateway.observe(&prepared.turn, judged.expect("accepted in the end"), Timestamp(now + 1));
            let text = (self.output)(step);
            self.client.call("bash", &format!(r#"{{"command":"make part-{step}"}}"#), &text);
        }
        let after = gateway.totals().sums;
        Tale { rewrites: after.folds + after.prunes - before.folds - before.prunes, refusals }
    }

    /// The provider's word: what it takes is compared to the prompt alone.
    fn judge(&self, body: &str) -> Result<ReportedUsage, SizeRefusal> {
        let tokens = self.provider.count(self.client.dialect, body);
        if tokens <= self.provider.window {
            return Ok(ReportedUsage { input: tokens, output: 50, ..ReportedUsage::default() });
        }
        let said = |number| self.says_numbers.then_some(number);
        Err(SizeRefusal { kind: RefusalKind::Window, asked: said(tokens), limit: said(self.provider.window) })
    }
}

/// A system prompt of about so many tokens.
fn prompt_of(tokens: usize) -> String {
    let mut text = String::from("You are a careful engineer.");
    for rule in 0..tokens / 20 {
        let _ =
            write!(text, "\nRule {rule}: before part {rule} is built, say which of its files you are going to read.");
    }
    text
}

/// What a tool prints, some 10 to 24 KB.
fn large_output(turn: usize) -> String {
    (0..3 + turn % 4).map(|piece| output(turn * 31 + piece)).collect()
}

fn gateway(preset: Preset, window: Option<u32>, store: Option<&std::path::Path>) -> Conversations {
    let mut settings = settings(32_000, store);
    settings.policy = Policy::of(preset);
    if let Some(window) = window {
        settings.policy.model.window = AutoOr::Fixed(window);
    }
    Conversations::open(settings).unwrap()
}

#[test]
fn a_large_prompt_does_not_make_folds_frequent() {
    let mut run = Run::new(Dialect::Messages, 16_000, 32_000);
    let tale = run.play(&gateway(Preset::Steady, Some(32_000), None), 0..100);
    let tokens = run.provider.count(Dialect::Messages, &run.client.body()) - 16_000;
    assert_eq!(tale.refusals, 0);
    // What can be compacted has 16,000 tokens; a rewrite must buy a third of them.
    assert!(tale.rewrites <= tokens / 5_300, "{tale:?} on {tokens} tokens");
}

#[test]
fn a_client_that_asks_for_the_longest_reply_is_not_folded_more_often_than_it_would_itself() {
    let mut run = Run::new(Dialect::Messages, 20_000, 200_000);
    (run.max_tokens, run.output) = (128_000, large_output);
    let tale = run.play(&gateway(Preset::Steady, Some(200_000), None), 0..150);
    assert_eq!(tale.refusals, 0);
    // It compacts at 167,000 tokens by itself, and goes on with its prompt, a summary and the files that it reads again.
    let (mut own, mut tokens) = (0, 20_000);
    for step in 0..150 {
        tokens += run
            .provider
            .count(Dialect::Messages, &Client::new(Dialect::Messages).call("bash", "{}", &large_output(step)).body());
        if tokens > 167_000 {
            own += 1;
            tokens = 20_000 + 35_000;
        }
    }
    assert!(tale.rewrites <= own, "{tale:?}, itself {own}");
}

#[test]
fn every_preset_stays_inside_a_small_window_that_is_known() {
    for preset in Preset::ALL {
        for prompt in [500, 14_000] {
            let mut run = Run::new(Dialect::Messages, prompt, 32_000);
            let tale = run.play(&gateway(*preset, Some(32_000), None), 0..120);
            assert_eq!(tale.refusals, 0, "{preset} with a prompt of {prompt}: {tale:?}");
        }
    }
}

#[test]
fn a_window_that_nobody_names_is_learnt_and_kept() {
    for says_numbers in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.db");
        let mut run = Run::new(Dialect::Responses, 500, 32_000);
        run.says_numbers = says_numbers;
        let tale = run.play(&gateway(Preset::Steady, Some(200_000), Some(&path)), 0..120);
        assert!((1..=2).contains(&tale.refusals), "numbers {says_numbers}: {tale:?}");
        // Another process, another conversation, the same model.
        let mut run = Run { says_numbers, ..Run::new(Dialect::Responses, 500, 32_000) };
        let tale = run.play(&gateway(Preset::Steady, Some(200_000), Some(&path)), 0..120);
        assert_eq!(tale.refusals, 0, "numbers {says_numbers}: {tale:?}");
    }
}

#[test]
fn a_provider_that_counts_the_reply_refuses_once() {
    let mut run = Run::new(Dialect::Messages, 500, 32_000);
    run.max_tokens = 12_000;
    let gateway = gateway(Preset::Steady, Some(32_000), None);
    let mut refusals = 0;
    for step in 0..120 {
        let now = 1_000 + step as i64 * 10_000;
        let body = run.client.body().replacen("\"max_tokens\":1000", "\"max_tokens\":12000", 1);
        let ask = run.client.ask(&body, now);
        let mut prepared = gateway.prepare(&ask).unwrap();
        let sum = |body: &str| run.provider.count(Dialect::Messages, body) + 12_000;
        if sum(&prepared.body) > 32_000 {
            refusals += 1;
            let refusal =
                SizeRefusal { kind: RefusalKind::Window, asked: Some(sum(&prepared.body)), limit: Some(32_000) };
            prepared = gateway.overflow(&ask, &prepared.turn, &refusal, 1).unwrap().unwrap();
        }
        assert!(sum(&prepared.body) <= 32_000);
        let usage = ReportedUsage { input: sum(&prepared.body) - 12_000, output: 50, ..ReportedUsage::default() };
        gateway.observe(&prepared.turn, usage, Timestamp(now + 1));
        run.client.work(step);
    }
    assert!(refusals <= 1, "{refusals}");
}
