//! T1: what is read, and that the output has the shape of the input.

use foldline_core::policy::Preset;
use foldline_core::{Format, Job, Policy, SessionState, compact};
use foldline_transcript::wire;

#[test]
fn json_lines_are_read_in_every_format_that_is_named() {
    let lines = [
        (Format::OpenAiChat, r#"{"role":"user","content":"Hi"}"#),
        (Format::Anthropic, r#"{"role":"user","content":"Hi"}"#),
        (Format::OpenAiResponses, r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#),
        (Format::OpenAiResponses, r#"{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"x"}"#),
        (Format::ShareGpt, r#"{"from":"human","value":"Hi"}"#),
        (Format::ClaudeCode, r#"{"type":"summary","summary":"x","leafUuid":"u1"}"#),
    ];
    for (format, line) in lines {
        let text = format!("{line}\n{line}\n");
        let read = wire::read(&text, Some(format));
        assert!(read.is_ok(), "{format}: {}", read.unwrap_err());
    }
}

#[test]
fn trajectory_turns_on_lines_of_their_own_are_recognised() {
    let text = "{\"from\":\"human\",\"value\":\"Hi\"}\n{\"from\":\"gpt\",\"value\":\"Hello\"}\n";
    assert_eq!(wire::read(text, None).unwrap().format, Format::ShareGpt);
}

#[test]
fn a_file_that_only_repair_makes_small_is_compacted_without_an_error() {
    let text = concat!(
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":""},"uuid":"o1"}"#,
        "\n",
        r#"{"type":"summary","summary":"Fix the tests","leafUuid":"u1"}"#,
        "\n"
    );
    let job = Job { format: Some(Format::ClaudeCode), ..Job::default() };
    let done = compact(text, &Policy::of(Preset::Hermes), &SessionState::default(), &job);
    assert!(done.is_ok(), "{}", done.unwrap_err());
}
