//! F4 and T3: where the handoff stands, who says it, and that everything around it stays valid.

use crate::common::kit::{ALL, WITH_CALLS, job, log, manual, policy, run, run_with, session, tokens};
use crate::common::reading::{Said, elements, said};
use crate::common::writer::{Call, Thought, Writer};
use foldline_core::Outcome;
use foldline_core::planning::StepKind;
use foldline_core::policy::AutoOr;
use foldline_core::{Compaction, Format, handoff};
use foldline_transcript::validate::{Rule, validate};
use foldline_transcript::wire;
use serde_json::{Value, json};

/// Filler that will be folded: speaks last as `last`.
fn middle(writer: &mut Writer, first: &str, last: &str) {
    let mut role = first;
    for at in 0.. {
        writer.say(role, &crate::common::texts::reply(at, 900));
        if at > 14 && role == last {
            break;
        }
        role = if role == "user" { "assistant" } else { "user" };
    }
}

fn position(messages: &[Said]) -> usize {
    messages
        .iter()
        .position(|said| said.texts.iter().any(|text| text.starts_with(handoff::OPENING)))
        .expect("a handoff")
}

fn alternates(messages: &[Said]) -> bool {
    messages.windows(2).all(|pair| pair[0].role != pair[1].role || pair[0].role == "tool")
}

fn assert_valid(done: &Compaction<'_>) {
    let after = wire::read(&done.body, Some(done.format)).unwrap();
    assert_eq!(validate(&after), vec![], "{}", done.body);
}

/// What a head can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    None,
    User,
    Assistant,
    Tool,
}

/// Folds with a head that ends with `head` and a tail that begins with `tail`.
fn fold_between(format: Format, head: Edge, tail: &str) -> Compaction<'static> {
    let mut writer = Writer::new(format);
    writer.system = Some("Be careful.".to_owned());
    let (protect, next) = match head {
        Edge::None => (0, "user"),
        Edge::User => (1, "assistant"),
        Edge::Assistant => (2, "user"),
        Edge::Tool => (3, "assistant"),
    };
    if head != Edge::None {
        writer.user("The opening.");
    }
    match head {
        Edge::Assistant => drop(writer.assistant("Opened.")),
        Edge::Tool => drop(writer.call(Call::run("ls", "a\nb"))),
        _ => {}
    }
    let before_tail = if tail == "user" { "assistant" } else { "user" };
    middle(&mut writer, next, before_tail);
    writer.say(tail, "The first of the tail.").say(before_tail, "The second.").say(tail, "The third.");
    let text = writer.document();
    let mut policy = policy(tokens(&text, format) * 2 - 2);
    policy.compression.protect_first_n = protect;
    policy.compression.protect_last_n = 3;
    policy.compression.target_ratio = 0.1;
    // Three messages are few tokens: exactly they fit.
    let three = tokens(&text, format) as u32;
    policy.compression.threshold = 0.05;
    policy.model.window = AutoOr::Fixed(three * 4);
    policy.compression.tail = foldline_core::policy::Tail::Tokens(40);
    run(&text, &policy, &job(format))
}

#[test]
fn f4_between_any_two_neighbours_the_handoff_has_a_role_of_its_own_or_joins_the_next() {
    for format in [Format::OpenAiChat, Format::Anthropic, Format::OpenAiResponses] {
        for head in [Edge::None, Edge::User, Edge::Assistant, Edge::Tool] {
            for tail in ["user", "assistant"] {
                let case = format!("{format}, {head:?} before, {tail} after");
                let done = fold_between(format, head, tail);
                assert_eq!(done.plan.outcome, Outcome::Folded, "{case}: {}", done.plan.reason);
                assert_eq!(done.plan.zones.messages - done.plan.zones.tail, 3, "{case}: {:?}", done.plan.zones);
                assert_valid(&done);
                let messages: Vec<Said> =
                    said(format, &done.body).into_iter().filter(|said| said.role != "system").collect();
                let roles: Vec<&str> = messages.iter().map(|said| said.role.as_str()).collect();
                if format != Format::OpenAiResponses {
                    assert!(alternates(&messages), "{case}: {roles:?}");
                }
                let at = position(&messages);
                let own = &messages[at];
                let words = own.texts.join("\n\n");
                let joins = words.ends_with("The first of the tail.");
                let before = at.checked_sub(1).map(|before| roles[before]);
                let taken = |role: &str| before == Some(role) || tail == role;
                match () {
                    () if format == Format::OpenAiResponses => {
                        assert_eq!((own.role.as_str(), joins), ("user", false), "{case}")
                    }
                    // The conversation starts with its user.
                    () if head == Edge::None => {
                        assert_eq!((own.role.as_str(), joins), ("user", tail == "user"), "{case}")
                    }
                    () if !taken("user") => assert_eq!((own.role.as_str(), joins), ("user", false), "{case}"),
                    () if !taken("assistant") => assert_eq!((own.role.as_str(), joins), ("assistant", false), "{case}"),
                    () => assert_eq!((own.role.as_str(), joins), (tail, true), "{case}"),
                }
                assert!(words.starts_with(handoff::OPENING) && words.contains(handoff::CLOSING), "{case}");
            }
        }
    }
}

#[test]
fn f4_the_message_that_takes_a_handoff_in_keeps_its_blocks_and_pictures() {
    let mut writer = Writer::new(Format::Anthropic);
    middle(&mut writer, "user", "assistant");
    writer.picture("What is wrong here?").assistant("The margin.").user("Mend it.");
    let text = writer.document();
    let mut policy = policy(tokens(&text, Format::Anthropic) * 2 - 2);
    policy.compression.protect_first_n = 0;
    policy.compression.protect_last_n = 3;
    // The picture fills the tail alone.
    policy.compression.tail = foldline_core::policy::Tail::Tokens(1_500);
    policy.model.window = AutoOr::Fixed(7_000);
    let done = run(&text, &policy, &job(Format::Anthropic));
    assert_eq!(done.plan.zones.messages - done.plan.zones.tail, 3, "{:?}", done.plan.zones);
    assert_valid(&done);
    let messages = said(Format::Anthropic, &done.body);
    let host = &messages[position(&messages)];
    assert_eq!((host.role.as_str(), host.images), ("user", 1), "{host:?}");
    assert_eq!(host.texts.last().unwrap(), "What is wrong here?");
}

#[test]
fn f4_a_conversation_never_starts_with_the_assistant() {
    for format in [Format::OpenAiChat, Format::Anthropic, Format::ShareGpt] {
        for system in [None, Some("Be careful.".to_owned())] {
            let mut writer = session(format, 8, 2, 20);
            writer.system = system;
            let text = writer.document();
            let mut policy = policy(tokens(&text, format) * 2 - 2);
            policy.compression.protect_first_n = 0;
            let mut body = text;
            let mut state = foldline_core::SessionState::default();
            for round in 0..3 {
                let done = run_with(&body, &policy, &state, &manual(format));
                let first = said(format, &done.body).into_iter().find(|said| said.role != "system").unwrap();
                assert_eq!(first.role, "user", "{format}, fold {round}");
                assert_valid(&done);
                state = done.state.clone();
                body = done.body.into_owned();
            }
        }
    }
}

#[test]
fn f4_someone_asks_something_even_when_no_request_survives() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.system = Some("Work alone.".to_owned());
    writer.user(&crate::common::texts::old_handoff(crate::common::texts::Maker::Hermes, 3));
    for at in 0..20 {
        writer.call(Call::run(&format!("step {at}"), log(30, at)));
    }
    let text = writer.document();
    let done = run(&text, &policy(tokens(&text, Format::OpenAiChat) * 2 - 2), &manual(Format::OpenAiChat));
    assert_valid(&done);
    assert!(said(Format::OpenAiChat, &done.body).iter().any(|said| said.role == "user"));
}

#[test]
fn nothing_of_ours_but_words_reaches_the_wire() {
    for format in WITH_CALLS {
        let text = session(format, 8, 2, 20).document();
        let done = run(&text, &policy(tokens(&text, format) * 2 - 2), &manual(format));
        let known: Vec<String> = elements(&text).iter().flat_map(keys).collect();
        for key in elements(&done.body).iter().flat_map(keys) {
            assert!(!key.starts_with('_'), "{format}: {key}");
            let own_mark = format == Format::ClaudeCode && (key == "isCompactSummary" || key == "isMeta");
            assert!(known.contains(&key) || own_mark, "{format}: a field {key} that the session does not have");
        }
    }
}

fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| std::iter::once(key.clone()).chain(keys(value))).collect()
        }
        Value::Array(items) => items.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn t3_responses_items_are_paired_by_call_id_and_not_by_id() {
    let mut writer = Writer::new(Format::OpenAiResponses);
    writer.user("Begin.");
    for at in 0..20 {
        // Ids of items cross over with ids of calls: whoever pairs by the wrong one separates them.
        let arguments = serde_json::to_string(&json!({"command": format!("step {at}")}).to_string()).unwrap();
        writer.raw(format!(
            r#"{{"type":"function_call","id":"x_{}","call_id":"y_{at}","name":"bash","arguments":{arguments}}}"#,
            19 - at
        ));
        let output = serde_json::to_string(&log(20, at)).unwrap();
        writer.raw(format!(r#"{{"type":"function_call_output","id":"x_{at}","call_id":"y_{at}","output":{output}}}"#));
    }
    let text = writer.document();
    let done = run(&text, &policy(tokens(&text, Format::OpenAiResponses) * 2 - 2), &manual(Format::OpenAiResponses));
    assert_eq!(done.plan.outcome, Outcome::Folded);
    assert_valid(&done);
    let messages = said(Format::OpenAiResponses, &done.body);
    let calls: Vec<_> = messages.iter().flat_map(|said| said.calls.iter().map(|call| &call.0)).collect();
    let results: Vec<_> = messages.iter().flat_map(|said| said.results.iter().map(|result| &result.0)).collect();
    assert_eq!(calls, results);
    assert!(!calls.is_empty());
}

#[test]
fn t3_damage_is_repaired_on_the_way() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Begin.");
    writer.raw(r#"{"role":"tool","tool_call_id":"nobody","content":"orphan"}"#);
    writer.raw(r#"{"role":"assistant","content":null,"tool_calls":[{"id":"lost","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#);
    writer.user("And then?").user("Hello?").assistant("Yes.");
    let text = writer.document();
    let before = wire::read(&text, Some(Format::OpenAiChat)).unwrap();
    let rules: Vec<Rule> = validate(&before).iter().map(|violation| violation.rule).collect();
    assert!(rules.contains(&Rule::OrphanResult) && rules.contains(&Rule::UnansweredCall), "{rules:?}");
    let done = run(&text, &policy(200_000), &job(Format::OpenAiChat));
    assert_valid(&done);
    assert_eq!(done.plan.outcome, Outcome::Pruned);
    assert!(done.plan.steps.iter().all(|step| step.kind == StepKind::Repair));
    assert!(done.plan.steps.len() >= 3);
    let words: Vec<String> = said(Format::OpenAiChat, &done.body).into_iter().flat_map(|said| said.texts).collect();
    assert!(words.iter().any(|text| text.contains("And then?")) && words.iter().any(|text| text.contains("Hello?")));
    assert!(!done.body.contains("orphan"));
}

#[test]
fn t3_the_first_change_of_a_damaged_transcript_is_told_in_the_numbers_of_the_input() {
    let mut writer = Writer::new(Format::OpenAiChat);
    writer.user("Begin.");
    for _ in 0..5 {
        writer.raw(r#"{"role":"tool","tool_call_id":"nobody","content":"orphan"}"#);
    }
    let mut more = session(Format::OpenAiChat, 8, 2, 20);
    more.layout = crate::common::writer::Layout::List;
    writer.assistant("Yes.");
    for element in elements(&more.document()) {
        writer.raw(element.to_string());
    }
    let text = writer.document();
    let before = wire::read(&text, Some(Format::OpenAiChat)).unwrap();
    let mut policy = policy(tokens(&text, Format::OpenAiChat));
    policy.compression.protect_first_n = 0;
    let done = run(&text, &policy, &manual(Format::OpenAiChat));
    let fold = done.plan.fold.as_ref().unwrap();
    assert!(fold.messages.iter().all(|&index| index < before.messages.len()));
    // Message 0 is folded; of the input, not of what repair made of it, are the boundaries, too.
    assert_eq!(done.plan.zones.messages, before.messages.len());
}

#[test]
fn t4_signed_reasoning_after_the_fold_goes_where_it_is_bound_to_its_prefix() {
    use foldline_core::policy::SignedReasoning;
    for format in [Format::Anthropic, Format::OpenAiResponses, Format::ClaudeCode] {
        let mut writer = Writer::new(format);
        writer.user("Begin.");
        for at in 0..20 {
            writer.round(Thought::Signed, Some("I look."), &[Call::run(&format!("step {at}"), log(20, at))]);
        }
        let text = writer.document();
        for (signed, stays) in
            [(SignedReasoning::PrefixBound, false), (SignedReasoning::LatestTurn, true), (SignedReasoning::None, true)]
        {
            let mut policy = policy(tokens(&text, format) * 2 - 2);
            policy.compression.protect_first_n = 0;
            policy.compression.signed_reasoning = AutoOr::Fixed(signed);
            let done = run(&text, &policy, &manual(format));
            assert_eq!(done.plan.outcome, Outcome::Folded, "{format}");
            assert_valid(&done);
            let left = done.body.contains("mocksig") || done.body.contains("encrypted_content");
            assert_eq!(left, stays, "{format} {signed}");
        }
    }
}

#[test]
fn t5_a_fold_that_would_not_save_anything_gives_the_input_back() {
    for format in ALL {
        let mut writer = Writer::new(format);
        for _ in 0..4 {
            writer.user("Hi.").assistant("Hello.");
        }
        let text = writer.document();
        let done = run(&text, &policy(200_000), &manual(format));
        assert_eq!(done.plan.outcome, Outcome::Unchanged, "{format}: {}", done.plan.reason);
        assert_eq!(done.body, text, "{format}");
    }
}
