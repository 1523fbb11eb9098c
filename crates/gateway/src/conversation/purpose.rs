//! Classifies a request: a turn of its conversation, the client's own compaction, or a side request such as a title.

use super::incoming::PurposeHint;
use foldline_transcript::wire::json;
use foldline_transcript::{Content, PartKind, Transcript};

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Turn,
    Compaction,
    Side,
}

/// What clients say when they compact a conversation themselves, in its last message or in the system prompt.
const COMPACTION: &[&str] = &[
    "create a detailed summary of the conversation",
    "create a detailed summary of the RECENT portion of the conversation",
    "CONTEXT CHECKPOINT COMPACTION",
    "Provide a detailed prompt for continuing our conversation",
    "tasked with summarizing conversations",
    "conversation to summarize. Create a structured context checkpoint",
    "llm context limit was reached when a user was in a working session",
    "summarizes internal chat history",
    "summarization agent creating a context checkpoint",
    "Create a comprehensive summary of our entire conversation",
    "distilling chat history into a structured XML",
];

/// What clients say when they want a name for a conversation.
const SIDE: &[&str] = &[
    "You are a title generator",
    "Generate a title for this conversation",
    "Generate a short, descriptive title",
    "Generate a concise title",
    "concise, sentence-case title",
    "description in four words or less",
    "description of this session in 4 words or less",
    "indicates a new conversation topic",
    "Summarize the user's primary intent or goal in this conversation in ONE sentence",
];

/// Conversations beside the main one are short: a few messages of context and the question.
const MOST_SIDE_MESSAGES: usize = 6;

/// Instructions stand at the beginning of a text; what comes much later is quoted.
const LOOKED_AT: usize = 4_000;

/// Whether a client compacts its conversation itself with a request.
pub fn is_compaction(hint: PurposeHint, transcript: &Transcript<'_>) -> bool {
    purpose(hint, transcript) == Purpose::Compaction
}

/// What a request is for.
pub(super) fn purpose(hint: PurposeHint, transcript: &Transcript<'_>) -> Purpose {
    match hint {
        PurposeHint::Turn => return Purpose::Turn,
        PurposeHint::Compaction => return Purpose::Compaction,
        PurposeHint::Side => return Purpose::Side,
        PurposeHint::None => {}
    }
    let last = transcript.messages.len().saturating_sub(1);
    let texts = |index: usize| {
        transcript.parts_at(index).iter().filter(|part| part.kind == PartKind::Text).filter_map(|part| {
            match part.content {
                Content::Text(literal) => Some(beginning(transcript.raw(literal.inner()))),
                _ => None,
            }
        })
    };
    let says = |index: usize, words: &[&str]| {
        texts(index).any(|text| words.iter().any(|word| json::decode(text).contains(word)))
    };
    // The system prompt: a value of its own, or the first messages.
    let system = transcript.system.map(|span| beginning(transcript.raw(span))).unwrap_or_default();
    let instructs = |words: &[&str]| {
        words.iter().any(|word| system.contains(word))
            || transcript
                .messages
                .iter()
                .enumerate()
                .take_while(|(_, message)| message.role.is_instruction())
                .any(|(index, _)| says(index, words))
    };
    if transcript.speaks(last) && says(last, COMPACTION) || instructs(COMPACTION) {
        return Purpose::Compaction;
    }
    let is_short = transcript.messages.len() <= MOST_SIDE_MESSAGES && transcript.tools.is_none();
    if is_short && (says(last, SIDE) || instructs(SIDE)) {
        return Purpose::Side;
    }
    Purpose::Turn
}

fn beginning(raw: &str) -> &str {
    raw.get(..raw.floor_char_boundary(LOOKED_AT)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_core::Format;
    use foldline_transcript::wire;

    fn purpose_of(format: Format, body: &str) -> Purpose {
        purpose(PurposeHint::None, &wire::read(body, Some(format)).unwrap())
    }

    #[test]
    fn compactions_are_recognised_by_their_last_message_or_system_prompt() {
        let claude = r#"{"system":"x","tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},
            {"role":"user","content":[{"type":"text","text":"CRITICAL: Respond with TEXT ONLY.\n\nYour task is to create a detailed summary of the conversation so far."}]}]}"#;
        assert_eq!(purpose_of(Format::Anthropic, claude), Purpose::Compaction);
        let codex = r#"{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"You are performing a CONTEXT CHECKPOINT COMPACTION."}]}]}"#;
        assert_eq!(purpose_of(Format::OpenAiResponses, codex), Purpose::Compaction);
        let opencode = r#"{"messages":[{"role":"system","content":"You are a helpful AI assistant tasked with summarizing conversations."},{"role":"user","content":"a"}]}"#;
        assert_eq!(purpose_of(Format::OpenAiChat, opencode), Purpose::Compaction);
        let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"role":"user","parts":[{"text":"\nYou are a specialized system component responsible for distilling chat history into a structured XML <state_snapshot>."}]}}"#;
        assert_eq!(purpose_of(Format::Gemini, gemini), Purpose::Compaction);
    }

    #[test]
    fn title_requests_have_no_tools_and_few_messages() {
        let title = r#"{"messages":[{"role":"system","content":"You are a title generator. You output ONLY a thread title."},{"role":"user","content":"a"}]}"#;
        assert_eq!(purpose_of(Format::OpenAiChat, title), Purpose::Side);
        let with_tools = title.replacen('{', r#"{"tools":[{"type":"function","function":{"name":"f"}}],"#, 1);
        assert_eq!(purpose_of(Format::OpenAiChat, &with_tools), Purpose::Turn);
    }

    #[test]
    fn a_tool_output_that_quotes_such_words_is_a_turn() {
        let body = r#"{"messages":[{"role":"user","content":"look"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"read","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c","content":"You are performing a CONTEXT CHECKPOINT COMPACTION"}]}"#;
        assert_eq!(purpose_of(Format::OpenAiChat, body), Purpose::Turn);
        assert_eq!(purpose(PurposeHint::Compaction, &wire::read(body, None).unwrap()), Purpose::Compaction);
    }
}
