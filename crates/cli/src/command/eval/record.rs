//! A conversation as plain text with speakers.

use foldline_measure::retention::Page;
use foldline_transcript::{PartKind, Transcript};
use std::fmt::Write as _;

/// The text of a transcript, which `page` shows.
pub fn of(transcript: &Transcript<'_>, page: &Page) -> String {
    let mut out = String::new();
    for block in page.blocks() {
        let words = page.words(block).trim();
        if words.is_empty() {
            continue;
        }
        let role = transcript.messages.get(block.message).map_or("", |message| message.role.name());
        let speaker = match transcript.parts.get(block.part).map(|part| part.kind) {
            Some(PartKind::ToolCall) => "assistant calls",
            Some(PartKind::ToolResult) => "tool result",
            _ => role,
        };
        let _ = writeln!(out, "--- [{}] {speaker}\n{words}", block.message);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    #[test]
    fn every_passage_says_who_speaks() {
        let text = r#"{"messages":[
            {"role":"user","content":"Look at a.rs."},
            {"role":"assistant","content":[
                {"type":"text","text":"Reading."},
                {"type":"tool_use","id":"t","name":"Read","input":{"path":"a.rs"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"fn main() {}\n"}]}]}"#;
        let transcript = wire::read(text, None).unwrap();
        let expected = "--- [0] user\nLook at a.rs.\n--- [1] assistant\nReading.\n--- [1] assistant calls\nRead a.rs\n\
                        --- [2] tool result\nfn main() {}\n";
        assert_eq!(of(&transcript, &Page::of(&transcript)), expected);
    }
}
