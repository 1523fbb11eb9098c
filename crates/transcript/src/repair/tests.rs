use super::*;
use crate::validate::validate;
use crate::wire::read;

/// The repaired messages, one per line.
fn repaired(format: Format, messages: &[&str]) -> Vec<String> {
    let text = format!("[{}]", messages.join(","));
    let repaired = repair(&read(&text, Some(format)).unwrap()).unwrap();
    let after = read(&repaired.text, Some(format)).unwrap();
    assert_eq!(validate(&after), []);
    after.messages.iter().map(|message| after.raw(message.span).to_owned()).collect()
}

const USER: &str = r#"{"role":"user","content":"Hi"}"#;
const NEXT: &str = r#"{"role":"user", "content":"Go on"}"#;
const SAYS: &str = r#"{"role":"assistant","content":"Well"}"#;
const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const RESULT: &str = r#"{"role":"tool","tool_call_id":"c1","content":"ok"}"#;
const USE: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}"#;
const CHAT: Format = Format::OpenAiChat;
const BLOCKS: Format = Format::Anthropic;

#[test]
fn a_healthy_transcript_is_left_alone() {
    let text = format!("[{USER},{CALL},{RESULT}]");
    assert_eq!(repair(&read(&text, Some(CHAT)).unwrap()), None);
}

#[test]
fn a_result_is_moved_to_its_call_verbatim() {
    let after = repaired(CHAT, &[USER, CALL, NEXT, RESULT]);
    assert_eq!(after, [USER, CALL, RESULT, NEXT]);
}

#[test]
fn a_call_without_result_gets_a_stub_behind_the_results_that_are_there() {
    let two = CALL.replace("]}", r#",{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]}"#);
    let after = repaired(CHAT, &[USER, &two, RESULT, NEXT]);
    let stub = format!(r#"{{"role":"tool","tool_call_id":"c2","content":"{MISSING_RESULT}"}}"#);
    assert_eq!(after, [USER, &two, RESULT, &stub, NEXT]);
}

#[test]
fn a_stub_leads_the_user_message_that_follows() {
    let after = repaired(BLOCKS, &[USER, USE, NEXT]);
    assert_eq!(
        after[2],
        format!(
            r#"{{"role":"user", "content":[{{"type":"tool_result","tool_use_id":"c1","content":"{MISSING_RESULT}"}},{{"type":"text","text":"Go on"}}]}}"#
        )
    );
}

#[test]
fn results_that_a_last_message_leaves_out_are_put_behind_those_it_has() {
    let both = USE.replace("}]}", r#"},{"type":"tool_use","id":"c2","name":"f","input":{}}]}"#);
    let answer = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}"#;
    let stub = format!(r#",{{"type":"tool_result","tool_use_id":"c2","content":"{MISSING_RESULT}"}}]}}"#);
    let after = repaired(BLOCKS, &[USER, &both, answer]);
    assert_eq!(after, [USER, &both, &answer.replace("]}", &stub)]);
}

#[test]
fn an_assistant_message_of_chat_that_says_nothing_goes() {
    for content in [r#""""#, r#"" ""#, r#"[{"type":"text","text":""}]"#, r#""","reasoning_content":"Hm.""#, "null"] {
        let silent = format!(r#"{{"role":"assistant","content":{content}}}"#);
        assert_eq!(repaired(CHAT, &[USER, SAYS, NEXT, &silent]), [USER, SAYS, NEXT], "{content}");
        assert_eq!(repaired(CHAT, &[USER, &silent, CALL, RESULT]), [USER, CALL, RESULT], "{content}");
    }
}

#[test]
fn calls_that_were_written_one_by_one_become_parallel() {
    let other = USE.replace("c1", "c2");
    let answers = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c2"}]}"#;
    let after = repaired(BLOCKS, &[USER, USE, &other, answers]);
    assert_eq!(after.len(), 3);
    assert_eq!(after[2], answers);
}

#[test]
fn results_that_answer_nothing_go_and_so_do_messages_of_nothing_else() {
    let orphan = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c9"}]}"#;
    let after = repaired(BLOCKS, &[USER, SAYS, orphan]);
    assert_eq!(after, [USER, SAYS]);
    assert_eq!(repaired(CHAT, &[USER, CALL, RESULT, RESULT]), [USER, CALL, RESULT]);
}

#[test]
fn calls_and_results_without_ids_find_each_other_by_order() {
    let call = CALL.replace("c1", "");
    let result = r#"{"role":"tool","content":"ok"}"#;
    let after = repaired(CHAT, &[USER, &call, result, NEXT]);
    assert_eq!(after.len(), 4);
    assert!(after[2].contains("\"ok\"") && after[2].contains("\"tool_call_id\":\"call_"));
}

#[test]
fn neighbours_become_one_and_keep_their_fields() {
    let named = r#"{"role":"user","name":"ann","content":"A \u00e9"}"#;
    let after = repaired(CHAT, &[USER, named, SAYS, CALL, RESULT]);
    assert_eq!(after[0], r#"{"role":"user","content":"Hi\n\nA \u00e9","name":"ann"}"#);
    assert_eq!(after[1], CALL.replace("null", r#""Well""#));
    let image = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}"#;
    let after = repaired(CHAT, &[USER, image]);
    assert_eq!(
        after[0],
        r#"{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"image_url","image_url":{"url":"data:"}}]}"#
    );
}

#[test]
fn a_conversation_that_starts_with_the_model_gets_a_user() {
    let after = repaired(BLOCKS, &[SAYS, NEXT]);
    assert_eq!(
        after,
        [&format!(r#"{{"role":"user","content":[{{"type":"text","text":"{MISSING_START}"}}]}}"#), SAYS, NEXT]
    );
    assert_eq!(repaired(CHAT, &[r#"{"role":"system","content":"x"}"#, SAYS]).len(), 3);
}

#[test]
fn arguments_that_are_no_json_are_kept_inside_json() {
    let after = repaired(CHAT, &[USER, &CALL.replace(r#""{}""#, r#""{\"a\": ""#), RESULT]);
    assert!(after[1].contains(r#""arguments":"{\"unparsed\":\"{\\\"a\\\": \"}""#), "{}", after[1]);
    let after = repaired(BLOCKS, &[USER, &USE.replace("{}", r#""{\"a\":1}""#), NEXT]);
    assert!(after[1].contains(r#""input":{"a":1}"#), "{}", after[1]);
}

#[test]
fn the_oldest_marks_go_first() {
    let marked = |text: &str| format!(r#"{{"type":"text","text":"{text}","cache_control":{{"type":"ephemeral"}}}}"#);
    let blocks: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(marked).to_vec();
    let after = repaired(BLOCKS, &[&format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","))]);
    let kept = blocks[2..].join(",");
    assert_eq!(
        after[0],
        format!(r#"{{"role":"user","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"b"}},{kept}]}}"#)
    );
}

#[test]
fn marks_outside_the_messages_go_when_there_are_too_many_of_them() {
    let tool = r#"{"name":"t","cache_control":{"type":"ephemeral"}}"#;
    let text = format!(r#"{{"tools":[{}],"system":"x","messages":[{USER}]}}"#, [tool; 6].join(","));
    let repaired = repair(&read(&text, None).unwrap()).unwrap();
    assert_eq!(repaired.text.matches("cache_control").count(), 4);
    assert!(repaired.text.ends_with(&format!(r#""messages":[{USER}]}}"#)));
}

#[test]
fn reasoning_that_leads_to_nothing_goes_as_a_whole() {
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[],"encrypted_content":"x"}"#;
    let after = repaired(Format::OpenAiResponses, &[USER, reasoning, reasoning, NEXT]);
    assert_eq!(after, [USER, NEXT]);
    let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"}]}"#;
    assert_eq!(repaired(BLOCKS, &[USER, thought]), [USER]);
}

#[test]
fn a_call_that_no_stub_can_answer_goes_with_its_reasoning() {
    let reasoning = r#"{"type":"reasoning","id":"r","summary":[]}"#;
    let call = r#"{"type":"computer_call","call_id":"c1","action":{}}"#;
    assert_eq!(repaired(Format::OpenAiResponses, &[USER, reasoning, call, NEXT]), [USER, NEXT]);
}

#[test]
fn results_for_a_conversation_that_the_provider_keeps_are_left_alone() {
    let text =
        r#"{"previous_response_id":"r1","input":[{"type":"function_call_output","call_id":"c1","output":"ok"}]}"#;
    assert_eq!(repair(&read(text, None).unwrap()), None);
}

#[test]
fn lines_of_a_session_stay_linked() {
    let line = |own: &str, parent: &str, message: &str| {
        format!(r#"{{"type":"x","uuid":"{own}","parentUuid":{parent},"message":{message}}}"#)
    };
    let lines = [
        line("a", "null", USER),
        line("b", "\"a\"", USE),
        line("c", "\"b\"", r#"{"role":"assistant","content":[{"type":"text","text":" "}]}"#),
        line("d", "\"c\"", r#"{"role":"assistant","content":[{"type":"text","text":"x"}]}"#),
        line("e", "\"d\"", NEXT),
    ];
    let text = lines.join("\n");
    let repaired = repair(&read(&text, None).unwrap()).unwrap();
    let after = read(&repaired.text, None).unwrap();
    assert_eq!(validate(&after), []);
    let mut before = "null";
    for link in &after.links {
        assert_eq!(after.raw(link.parent), before);
        before = after.raw(link.own);
    }
    assert_eq!(repaired.text, repair(&read(&text, None).unwrap()).unwrap().text);
}

#[test]
fn every_message_knows_where_it_came_from() {
    let text = format!("[{USER},{CALL},{NEXT},{RESULT},{SAYS}]");
    let repaired = repair(&read(&text, Some(CHAT)).unwrap()).unwrap();
    assert_eq!(repaired.origin, [0, 1, 3, 2, 4]);
    assert_eq!(repaired.fixes.len(), 1);
    assert_eq!(repaired.fixes[0].message, 3);
}

#[test]
fn a_message_that_nothing_can_mend_goes_in_the_end() {
    let twice = CALL.replace(r#""id":"c1""#, r#""id":"c1","id":"""#);
    assert_eq!(repaired(CHAT, &[USER, &twice, NEXT]).len(), 1);
}

#[test]
fn where_nobody_has_said_anything_nothing_is_made_up() {
    let record = r#"{"type":"summary","summary":"x","leafUuid":"a"}"#;
    for (format, text) in [
        (CHAT, "[]"),
        (CHAT, r#"{"messages":[]}"#),
        (Format::Anthropic, r#"{"messages":[]}"#),
        (Format::OpenAiResponses, r#"{"input":[]}"#),
        (Format::Gemini, r#"{"contents":[]}"#),
        (Format::ClaudeCode, record),
    ] {
        assert_eq!(repair(&read(text, Some(format)).unwrap()), None, "{text}");
    }
}
