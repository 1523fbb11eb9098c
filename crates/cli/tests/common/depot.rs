//! A tiny session, and questions on it.

use super::Desk;
use serde_json::{Value, json};

/// A conversation of which the first four messages are asked about.
pub fn session() -> Value {
    let says = |role: &str, content: &str| json!({"role": role, "content": content});
    json!({"model": "gpt-5", "messages": [
        says("user", "Move the staging database to port 55432, but keep the old column."),
        says("assistant", "The staging database listens on port 55432 now.\nThe old column stays, because reports read it."),
        says("user", "Good. What about the importer?"),
        says("assistant", "It fails with a timeout after 30 seconds; I have not found out why."),
        says("user", "Go on."),
        says("assistant", "The timeout came from the proxy."),
    ]})
}

/// Three questions, of which the last cannot be answered from those messages.
pub fn questions() -> Value {
    json!({"session": "depot", "cut": 4, "questions": [
        {"id": 1, "kind": "value", "question": "Which port has the staging database?",
         "answer": "55432", "evidence": ["The staging database listens on port 55432 now."]},
        {"id": 2, "kind": "decision", "question": "Why does the old column stay?",
         "key_points": ["reports read it"], "evidence": ["The old column stays, because reports read it."]},
        {"id": 3, "kind": "decision", "question": "Where does the timeout come from?",
         "answer": "From the proxy.", "evidence": ["The timeout came from the proxy."]},
    ]})
}

/// Both as files.
pub fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("sessions/depot.json", &session().to_string());
    desk.write("exam/depot.json", &questions().to_string());
    desk
}
