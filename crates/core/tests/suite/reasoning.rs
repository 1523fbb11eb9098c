//! Items of the Responses format and the reasoning that they were written with: what a provider remembers by its id
//! comes back with all of it.

use crate::common::generate::{Knobs, transcript};
use foldline_core::ledger::{Stretches, Weights, Wishes, gather};
use foldline_core::policy::Preset;
use foldline_core::policy::SignedReasoning;
use foldline_core::settings::AutoOr;
use foldline_core::{EngineError, Format, Job, Policy, SessionState, compact};
use foldline_transcript::validate::{Violation, validate_rewrite};
use foldline_transcript::wire;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Work with reasoning in most replies.
const WORK: Knobs = Knobs { turns: 24, accidents: 0, odd: 0, huge: 6_000 };

fn items(body: &str) -> Vec<Value> {
    match serde_json::from_str(body) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Object(mut body)) if body.contains_key("input") => body["input"].take().as_array().cloned().unwrap(),
        _ => body.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

fn is_reasoning(item: &Value) -> bool {
    item["type"] == "reasoning"
}

/// What a provider remembers: which reasoning each of its items came with. The generator writes each result of a round
/// behind its call at times, so a reply ends where somebody else speaks, or where reasoning begins anew.
fn memory(items: &[Value]) -> BTreeMap<String, String> {
    let mut memory = BTreeMap::new();
    let mut latest = None;
    for item in items {
        match (is_reasoning(item), item["role"].as_str(), item["id"].as_str()) {
            (true, _, id) => latest = id.map(str::to_owned),
            (_, Some("user" | "system" | "developer"), _) => latest = None,
            (_, _, Some(id)) => {
                latest.clone().map(|latest| memory.entry(id.to_owned()).or_insert(latest));
            }
            _ => {}
        }
    }
    memory
}

/// The items that a provider refuses, because their reasoning is not there.
fn refused(items: &[Value], memory: &BTreeMap<String, String>) -> Vec<String> {
    let here: BTreeSet<&str> =
        items.iter().filter(|item| is_reasoning(item)).filter_map(|item| item["id"].as_str()).collect();
    // Searches and the like cannot be sent without an id; clients that lose their reasoning are on their own.
    let is_free = |item: &&Value| matches!(item["type"].as_str(), None | Some("message" | "function_call"));
    let ids = items.iter().filter(is_free).filter_map(|item| item["id"].as_str());
    ids.filter(|id| memory.get(*id).is_some_and(|need| !here.contains(need.as_str()))).map(str::to_owned).collect()
}

fn policy(window: u32, signed: Option<SignedReasoning>) -> Policy {
    let mut policy = Policy::of(Preset::Hermes);
    policy.model.window = AutoOr::Fixed(window);
    policy.compression.signed_reasoning = signed.map_or(AutoOr::Auto, AutoOr::Fixed);
    policy
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_cut_separates_an_item_from_its_reasoning(
        text in transcript(Format::OpenAiResponses, WORK),
        window in 2_000..30_000u32,
        target in prop::option::of(800..8_000u64),
        bound in any::<bool>(),
    ) {
        let remembered = memory(&items(&text));
        let policy = policy(window, bound.then_some(SignedReasoning::PrefixBound));
        let mut job = Job { format: Some(Format::OpenAiResponses), ..Job::default() };
        job.request.target = target;
        let mut body = text;
        // A second fold works on what the first one left.
        for target in [target, target.map(|target| target * 2 / 3)] {
            job.request.target = target;
            match compact(&body, &policy, &SessionState::default(), &job) {
                Ok(done) => {
                    let refused = refused(&items(&done.body), &remembered);
                    prop_assert!(refused.is_empty(), "{refused:?} of {:?}: {}", done.plan.outcome, done.body);
                    body = done.body.into_owned();
                }
                Err(EngineError::CannotFit(_)) => break,
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
        }
    }

    #[test]
    fn no_repair_does_either(
        text in transcript(Format::OpenAiResponses, Knobs { turns: 8, accidents: 6, odd: 3, huge: 200 }),
    ) {
        let remembered = memory(&items(&text));
        let before = refused(&items(&text), &remembered);
        let job = Job { format: Some(Format::OpenAiResponses), ..Job::default() };
        let done = compact(&text, &Policy::of(Preset::Hermes), &SessionState::default(), &job).unwrap();
        let after = refused(&items(&done.body), &remembered);
        prop_assert!(after.iter().all(|id| before.contains(id)), "{after:?}: {}", done.body);
    }
}

/// One reply of Codex: it thinks, says what it does, and calls two tools.
fn reply(turn: usize) -> String {
    let output = format!("line of output number {turn}\\n").repeat(60);
    format!(
        r#"{{"type":"reasoning","id":"rs_{turn}","summary":[],"encrypted_content":"gAAAA{turn}"}},{{"type":"message","id":"msg_{turn}","role":"assistant","content":[{{"type":"output_text","text":"I look at part {turn}."}}]}},{{"type":"function_call","id":"fc_{turn}a","call_id":"c{turn}a","name":"shell","arguments":"{{}}"}},{{"type":"function_call","id":"fc_{turn}b","call_id":"c{turn}b","name":"shell","arguments":"{{}}"}},{{"type":"function_call_output","call_id":"c{turn}a","output":"{output}"}},{{"type":"function_call_output","call_id":"c{turn}b","output":"{output}"}}"#
    )
}

#[test]
fn items_of_one_reply_stay_or_go_together() {
    let replies: Vec<String> = (0..40).map(reply).collect();
    let text = format!(r#"[{{"role":"user","content":"Do it."}},{}]"#, replies.join(","));
    let remembered = memory(&items(&text));
    assert_eq!(remembered.len(), 120);
    for window in (8_000..40_000).step_by(500) {
        let job = Job { format: Some(Format::OpenAiResponses), ..Job::default() };
        let done = compact(&text, &policy(window, None), &SessionState::default(), &job).unwrap();
        let after = items(&done.body);
        assert_eq!(refused(&after, &remembered), [""; 0], "{window}");
        let kept = |prefix: &str| {
            let ids = after.iter().filter_map(|item| item["id"].as_str());
            ids.filter_map(|id| id.strip_prefix(prefix)).map(|id| id.trim_end_matches(['a', 'b']).to_owned()).collect()
        };
        let (reasoning, messages, calls): (BTreeSet<String>, BTreeSet<String>, BTreeSet<String>) =
            (kept("rs_"), kept("msg_"), kept("fc_"));
        assert!(reasoning == messages && reasoning == calls, "{window}: {reasoning:?} {messages:?} {calls:?}");
    }
}

fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "gAAAA="})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "read", "arguments": "{}"})
}

fn output(id: &str, words: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": words})
}

fn message(id: &str, role: &str, words: &str) -> Value {
    json!({"type": "message", "id": id, "role": role, "content": [{"type": "input_text", "text": words}]})
}

/// Folds a list of items in a small window and says what a provider has against the result.
fn faults(items: &[Value], window: u32, target: u64) -> (Vec<Violation>, Vec<Value>) {
    let text = json!({"model": "gpt-5", "input": items, "store": false}).to_string();
    let mut job = Job { format: Some(Format::OpenAiResponses), ..Job::default() };
    job.request.target = Some(target);
    let done = compact(&text, &policy(window, None), &SessionState::default(), &job).unwrap();
    assert!(done.plan.fold.is_some());
    let [before, after] = [&text, &*done.body].map(|text| wire::read(text, Some(Format::OpenAiResponses)).unwrap());
    (validate_rewrite(&before, &after), self::items(&done.body))
}

#[test]
fn a_copy_of_reasoning_that_repair_takes_out_is_missed_by_what_followed_it() {
    let long = "0123456789 abcdef\n".repeat(900);
    let items = [
        message("m1", "user", "Begin."),
        reasoning("rs_1"),
        call("a"),
        output("a", &long),
        message("msg_5", "assistant", &long),
        message("m2", "user", "Go on."),
        call("b"),
        output("b", "found"),
        reasoning("rs_4"),
        message("msg_10", "assistant", "Two more."),
        call("c"),
        call("d"),
        output("c", "found"),
        // Out of place: repair takes it out, and a fold takes out the other one.
        reasoning("rs_1"),
        output("d", "found"),
        message("msg_15", "assistant", "That is all."),
        message("m3", "user", "And now?"),
        message("msg_20", "assistant", "Nothing is left."),
    ];
    let (faults, after) = faults(&items, 2_605, 4_282);
    assert_eq!(faults, []);
    assert!(after.iter().any(|item| item["content"][0]["text"] == "That is all." && item["id"].is_null()), "{after:?}");
}

#[test]
fn calls_in_flight_lose_the_id_whose_reasoning_went_and_nothing_else() {
    let long = "0123456789 abcdef\n".repeat(900);
    let mut items = vec![message("m1", "user", "Begin."), reasoning("rs_1"), call("a"), output("a", &long)];
    for turn in ["b", "c", "d"] {
        items.extend([call(turn), output(turn, &long)]);
    }
    items.push(call("e"));
    let (faults, after) = faults(&items, 2_605, 4_282);
    assert_eq!(faults, []);
    let mut bare = call("e");
    bare.as_object_mut().unwrap().remove("id");
    assert_eq!(after.last(), Some(&bare));
}

#[test]
fn a_secret_in_signed_words_is_known_and_their_signature_is_none() {
    let password = format!("{}{}", "tangerine", "-42-horses");
    let signature: String =
        (0..96_u32).map(|n| char::from(b"k7Qx2ZbT9mWd4Rf8"[(n * n * 5 + n * 3) as usize % 16])).collect();
    let words = format!("The file says DB_PASSWORD={password} and nothing else.");
    let thinking = format!(r#"{{"type":"thinking","thinking":"{words}","signature":"{signature}"}}"#);
    let body = format!(
        r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":"Read it."}},{{"role":"assistant","content":[{thinking},{{"type":"text","text":"Done."}}]}}]}}"#
    );
    let transcript = wire::read(&body, None).unwrap();
    let wishes = Wishes { focus: None, pins: &[], weights: &Weights::default() };
    let ledger = gather(&transcript, Stretches { folded: &[0, 1], live: &[] }, wishes);
    assert!(!ledger.secrets.hide(&format!("it was {password}")).contains(&password));
    assert_eq!(ledger.secrets.hide(&signature), signature);
}
