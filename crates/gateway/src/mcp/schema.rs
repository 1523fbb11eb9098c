//! The tools as clients see them: names, descriptions, arguments. Always in the same order: the list stands in prompts.

use foldline_core::reading::MOST_HITS;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const RECALL: &str = "foldline_recall";
pub(super) const SEARCH: &str = "foldline_search";
pub(super) const STATUS: &str = "foldline_status";
pub(super) const PIN: &str = "foldline_pin";

/// All tools.
pub(super) fn tools() -> Vec<Tool> {
    vec![
        tool(
            RECALL,
            "Show what was removed from the conversation under a handle (fl-…): folded messages as numbered turns, an output by \
             lines. Long originals come in pages; each ends with the call for the next.",
            json!({
                "handle": { "type": "string", "description": "The handle, like fl-3f9a0c51d2e7" },
                "turn": { "type": "string", "description": "Only these turns, counted from 1: 12, 12:20, 12: or :20" },
                "lines": { "type": "string", "description": "Only these lines of the turn, or of an output: 120:180" },
                "grep": { "type": "string", "description": "Only lines that match this regular expression" },
                "context": { "type": "integer", "minimum": 0, "description": "Lines to show around each match" },
                "page": { "type": "integer", "minimum": 1, "description": "Which page" },
            }),
            &["handle"],
        ),
        tool(
            SEARCH,
            "Find words in everything that was removed from conversations: old messages, tool outputs. Capitals and accents do \
             not matter; words in double quotes stand side by side. Each place is told with the call that shows it.",
            json!({
                "query": { "type": "string", "description": "The words" },
                "session": { "type": "string", "description": "Only what this session removed, like fs-3f9a0c51d2e70b14" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MOST_HITS, "description": "Places to show; 10 if not given" },
            }),
            &["query"],
        ),
        tool(
            STATUS,
            "How full the context is, what was folded and saved, and which rules and pins are carried through every fold.",
            json!({
                "session": { "type": "string", "description": "The session, like fs-3f9a0c51d2e70b14; the latest if not given" },
            }),
            &[],
        ),
        tool(
            PIN,
            "Keep a sentence word for word through every later compaction of this conversation: a rule, a decision, a value that \
             must not be lost. Only what the user wants kept.",
            json!({
                "text": { "type": "string", "description": "What must stay, in a sentence or two" },
                "unpin": { "type": "boolean", "description": "Drop the pins that contain the text instead" },
            }),
            &["text"],
        ),
    ]
}

fn tool(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    // A pin changes nothing of ours: it takes effect by standing in the conversation.
    let hints = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new(name, description, schema).with_annotations(hints)
}
