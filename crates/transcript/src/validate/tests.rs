use super::*;
use crate::wire::read;

/// The ids of the rules that a transcript breaks, in order.
fn broken(format: Format, text: &str) -> Vec<&'static str> {
    let transcript = read(text, Some(format)).unwrap();
    validate(&transcript).into_iter().map(|violation| violation.rule.id()).collect()
}

const USER: &str = r#"{"role":"user","content":"Hi"}"#;
const HUMAN: &str = r#"{"from":"human","value":"Hi"}"#;
const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#;
const USE: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}"#;
const ANSWER: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}"#;

fn check(format: Format, messages: &[&str], expected: &[&str]) {
    assert_eq!(broken(format, &format!("[{}]", messages.join(","))), expected, "{messages:?}");
}

#[test]
fn every_rule_has_one_row_in_the_table() {
    for (index, (rule, id, explanation)) in RULES.iter().enumerate() {
        assert_eq!(rule.id(), *id);
        assert!(!explanation.is_empty());
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        assert!(RULES[index + 1..].iter().all(|(other, other_id, _)| other != rule && other_id != id));
    }
}

#[test]
fn chat_rules() {
    let chat = |messages: &[&str], expected: &[&str]| check(Format::OpenAiChat, messages, expected);
    chat(&[USER, CALL, RESULT], &[]);
    chat(&[], &["no-user-message"]);
    chat(&[r#"{"role":"narrator","content":"x"}"#, USER], &["unknown-role"]);
    chat(&[USER, r#"{"role":"system","content":null}"#], &["null-content"]);
    chat(&[r#"{"role":"user","content":{"a":1}}"#], &["content-shape"]);
    chat(&[r#"{"role":"user","content":["bare"]}"#], &["content-shape"]);
    chat(&[USER, r#"{"role":"assistant","content":null}"#], &["empty-message"]);
    chat(&[USER, r#"{"role":"assistant","content":null,"refusal":"No."}"#], &[]);
    chat(&[USER, r#"{"role":"assistant","content":null,"audio":{"id":"a"}}"#], &[]);
    chat(&[USER, r#"{"role":"assistant","content":"x","tool_calls":[]}"#], &["empty-tool-calls"]);
    chat(&[USER, CALL, USER], &["unanswered-call"]);
    chat(&[USER, CALL, USER, RESULT], &["misplaced-result"]);
    chat(&[USER, RESULT], &["orphan-result"]);
    chat(&[USER, CALL, RESULT, RESULT], &["duplicate-result"]);
    chat(&[USER, USER], &["same-role-neighbours"]);
    chat(&[USER, r#"{"role":"system","content":"x"}"#, USER], &[]);
    chat(&[USER, &CALL.replace(r#""{}""#, r#""{""#), RESULT], &["bad-arguments"]);
    chat(&[USER, &CALL.replace(r#""{}""#, r#""""#), RESULT], &[]);
    chat(&[USER, &CALL.replace("c1", ""), &RESULT.replace("c1", "")], &["empty-call-id"]);
    chat(&[r#"{"role":"user","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}"#], &["foreign-call"]);
    let inside = RESULT.replace(r#""ok""#, r#"[{"type":"tool_use","id":"c2","name":"f","input":{}}]"#);
    chat(&[USER, CALL, &inside], &["content-shape"]);
    chat(&[USER, CALL, &RESULT.replace(r#""ok""#, r#"[{"type":"text","text":"ok"}]"#)], &[]);
}

#[test]
fn a_message_that_only_carries_settings_may_be_empty() {
    let anthropic = |system: &str, expected: &[&str]| check(Format::Anthropic, &[USER, system], expected);
    anthropic(r#"{"role":"system","content":[],"output_config":{"effort":"high"}}"#, &[]);
    anthropic(r#"{"role":"system","content":[]}"#, &["empty-message"]);
}

#[test]
fn freely_worded_input_of_a_custom_tool_is_valid() {
    let call = r#"{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"patch","input":"*** free"}}]}"#;
    check(Format::OpenAiChat, &[USER, call, RESULT], &[]);
}

#[test]
fn ids_can_be_used_again_when_their_call_is_answered() {
    check(Format::OpenAiChat, &[USER, CALL, RESULT, CALL, RESULT], &[]);
    let twice = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c1","name":"f","input":{}}]}"#;
    let answers = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c1"}]}"#;
    check(Format::Anthropic, &[USER, twice, answers], &["duplicate-call-id"]);
}

#[test]
fn a_function_answers_the_old_form_of_calls_by_name() {
    let call = r#"{"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{}"}}"#;
    let answer = r#"{"role":"function","name":"look","content":"seen"}"#;
    check(Format::OpenAiChat, &[USER, call, answer], &[]);
    check(
        Format::OpenAiChat,
        &[USER, call, &answer.replace("function", "tool"), USER],
        &["unanswered-call", "orphan-result"],
    );
}

#[test]
fn anthropic_rules() {
    let messages = |messages: &[&str], expected: &[&str]| check(Format::Anthropic, messages, expected);
    let system = r#"{"role":"system","content":"Mind the gap."}"#;
    messages(&[system, USER, USE, system, ANSWER], &[]);
    messages(&[USE, ANSWER], &["leading-role"]);
    messages(&[system], &["no-user-message"]);
    messages(&[USER, system, USER], &["same-role-neighbours"]);
    messages(&[USER, r#"{"role":"tool","content":"x"}"#], &["unknown-role"]);
    messages(
        &[r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":" \n"}]}"#],
        &["blank-text"],
    );
    messages(&[r#"{"role":"user","content":"  "}"#], &["empty-message"]);
    messages(&[USER, r#"{"role":"assistant","content":[]}"#], &[]);
    messages(&[USER, r#"{"role":"assistant","content":[]}"#, USER], &["empty-message"]);
    messages(&[USER, USE, &ANSWER.replace(r#""ok""#, r#"[{"type":"text","text":""}]"#)], &["blank-text"]);
    messages(
        &[
            USER,
            USE,
            r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"c1"}]}"#,
        ],
        &["results-not-first"],
    );
    messages(&[USER, &USE.replace("{}", "[]"), ANSWER], &["bad-arguments"]);
    messages(
        &[
            USER,
            r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"thinking","thinking":"","signature":"s"}]}"#,
        ],
        &["sealed-last"],
    );
    messages(&[USER, USE, ANSWER, USE, USER], &["unanswered-call"]);
    messages(
        &[r#"{"role":"user","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}"#],
        &["foreign-call"],
    );
}

#[test]
fn cache_marks_are_counted_wherever_they_are() {
    let marked = r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#;
    let body = |inside: &str| {
        format!(
            r#"{{"system":[{marked}],"messages":[{{"role":"user","content":[{marked},{marked}]}},{USE},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","content":[{inside}]}}]}}]}}"#
        )
    };
    assert_eq!(broken(Format::Anthropic, &body(marked)), [""; 0]);
    assert_eq!(broken(Format::Anthropic, &body(&format!("{marked},{marked}"))), ["too-many-marks"]);
}

#[test]
fn responses_rules() {
    let items = |messages: &[&str], expected: &[&str]| check(Format::OpenAiResponses, messages, expected);
    let call = r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#;
    let output = r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#;
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[]}"#;
    items(&[USER, reasoning, call, USER, output], &[]);
    items(&[USER, reasoning, reasoning, USER], &["dangling-reasoning"]);
    items(&[USER, call, USER], &["unanswered-call"]);
    items(&[USER, output, call], &["orphan-result"]);
    items(&[USER, call, call, output, output], &["duplicate-call-id"]);
    items(&[USER, &call.replace(r#""call_id":"c1","#, ""), USER], &["empty-call-id"]);
    items(&[USER, r#"{"type":"tool_search_output","call_id":"t1","tools":[]}"#], &[]);
    items(&[output, USER], &["orphan-result"]);
    let continued = format!(r#"{{"previous_response_id":"resp_1","input":[{output}]}}"#);
    assert_eq!(broken(Format::OpenAiResponses, &continued), [""; 0]);
}

#[test]
fn a_bare_prompt_is_one_for_responses_only() {
    assert_eq!(broken(Format::OpenAiResponses, r#"{"input":"Hi"}"#), [""; 0]);
    assert_eq!(broken(Format::OpenAiResponses, r#"{"input":" "}"#), ["bare-prompt"]);
    assert_eq!(broken(Format::OpenAiChat, r#"{"messages":"Hi"}"#), ["bare-prompt"]);
}

#[test]
fn trajectory_rules() {
    let turns = |messages: &[&str], expected: &[&str]| check(Format::ShareGpt, messages, expected);
    let gpt = r#"{"from":"gpt","value":"x"}"#;
    let tool = r#"{"from":"tool","value":"x"}"#;
    turns(&[HUMAN, gpt, tool, tool, gpt], &[]);
    turns(&[gpt], &["leading-role"]);
    turns(&[HUMAN, tool], &["orphan-result"]);
    turns(&[HUMAN, HUMAN], &["same-role-neighbours"]);
    turns(&[r#"{"from":"bard","value":"x"}"#, HUMAN], &["unknown-role"]);
}

#[test]
fn the_lines_of_one_reply_are_one_message() {
    let line = |role: &str, id: &str, block: &str| {
        format!(r#"{{"type":"{role}","uuid":"u","message":{{"id":"{id}","role":"{role}","content":[{block}]}}}}"#)
    };
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
    let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}"}}"#);
    let ask = line("user", "", r#"{"type":"text","text":"Hi"}"#);
    let think = line("assistant", "m1", r#"{"type":"thinking","thinking":"","signature":"s"}"#);
    let meta = r#"{"type":"summary","summary":"x"}"#.to_owned();
    let lines = [
        ask.clone(),
        think,
        meta,
        line("assistant", "m1", &call("a")),
        line("user", "", &result("a")),
        line("assistant", "m1", &call("b")),
        line("user", "", &result("b")),
        ask.clone(),
    ];
    assert_eq!(broken(Format::ClaudeCode, &lines.join("\n")), [""; 0]);
    let other = [ask, line("assistant", "m1", &call("a")), line("assistant", "m2", &call("b"))];
    assert_eq!(broken(Format::ClaudeCode, &other.join("\n")), ["unanswered-call", "same-role-neighbours"]);
}

#[test]
fn a_call_in_flight_is_no_violation() {
    check(Format::OpenAiChat, &[USER, &CALL.replace(r#""{}""#, r#""{\"a""#)], &[]);
    check(Format::Anthropic, &[USER, USE], &[]);
    let both = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"f","input":{}}]}"#;
    let line = |message: &str| format!(r#"{{"type":"x","uuid":"u","message":{message}}}"#);
    let text = [line(USER), line(both), line(ANSWER)].join("\n");
    let transcript = read(&text, Some(Format::ClaudeCode)).unwrap();
    assert_eq!(validate(&transcript), []);
    let flying: Vec<&str> =
        in_flight(&transcript).iter().map(|&part| transcript.raw(transcript.parts[part].id)).collect();
    assert_eq!(flying, ["c2"]);
    // All results of a turn are in one message: the one that is there is about to be sent.
    check(Format::Anthropic, &[USER, both, ANSWER], &["unanswered-call"]);
    check(Format::Anthropic, &[USER, both, r#"{"role":"system","content":"x"}"#, ANSWER], &["unanswered-call"]);
}

#[test]
fn an_assistant_message_of_chat_says_something() {
    let chat = |message: &str, expected: &[&str]| check(Format::OpenAiChat, &[USER, message], expected);
    let silent = r#"{"role":"assistant","content":""}"#;
    chat(silent, &["empty-message"]);
    chat(&silent.replace(r#""""#, r#"" \n""#), &["empty-message"]);
    chat(&silent.replace(r#""""#, r#"[{"type":"text","text":""}]"#), &["empty-message"]);
    chat(&silent.replace(r#""""#, r#""","reasoning_content":"Hm.""#), &["empty-message"]);
    chat(&silent.replace(r#""""#, r#""","refusal":"No.""#), &[]);
    chat(&CALL.replace("null", r#""""#), &[]);
    chat(&CALL.replace("null", r#"[{"type":"text","text":""}]"#), &[]);
    check(Format::OpenAiChat, &[r#"{"role":"user","content":""}"#], &[]);
}
