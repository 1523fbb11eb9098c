//! Todo lists, verbatim: what the agent itself wrote down as left to do.

use super::tool::Arguments;
use serde_json::Value;

/// The items of a todo list as `[state] text` lines; empty when the call carries none.
pub(super) fn items(arguments: &Arguments<'_>) -> Vec<String> {
    ["todos", "plan", "items", "tasks", "todo_list"]
        .iter()
        .find_map(|key| arguments.raw(key))
        .and_then(|raw| serde_json::from_str::<Vec<Value>>(raw).ok())
        .map(|items| items.iter().filter_map(item).collect())
        .unwrap_or_default()
}

fn item(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(format!("- [ ] {text}"));
    }
    let field = |names: &[&str]| names.iter().find_map(|name| value.get(name)?.as_str());
    let text = field(&["content", "step", "title", "text", "task", "description"])?;
    let mark = match field(&["status", "state"]).unwrap_or("pending") {
        "completed" | "done" | "complete" => "x",
        "in_progress" | "in progress" | "active" => "~",
        "cancelled" | "canceled" => "-",
        _ => " ",
    };
    Some(format!("- [{mark}] {text}"))
}
