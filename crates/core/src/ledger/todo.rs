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
    let mark = mark_of(field(&["status", "state"]).unwrap_or("pending"));
    Some(format!("- [{mark}] {text}"))
}

fn mark_of(status: &str) -> &'static str {
    match status {
        "completed" | "done" | "complete" => "x",
        "in_progress" | "in progress" | "active" => "~",
        "cancelled" | "canceled" | "deleted" => "-",
        _ => " ",
    }
}

fn status_of(mark: &str) -> &'static str {
    match mark {
        "x" => "completed",
        "~" => "in_progress",
        "-" => "cancelled",
        _ => "pending",
    }
}

/// A list that is kept call by call: one creates an item, another changes its state.
#[derive(Default)]
pub(super) struct Tasks {
    items: Vec<(String, String)>,
    touched: usize,
}

impl Tasks {
    /// Takes note of a call that creates or changes an item.
    pub(super) fn note(&mut self, message: usize, arguments: &Arguments<'_>) {
        let id = arguments.get("taskId").or_else(|| arguments.get("id"));
        let status = arguments.get("status");
        match (arguments.get("subject").or_else(|| arguments.get("title")), id) {
            (Some(subject), None) => self.items.push((subject.into_owned(), "pending".to_owned())),
            (_, Some(id)) => {
                // Items are numbered from one in the order of their creation.
                let place = id.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                if let (Some(item), Some(status)) = (place.and_then(|place| self.items.get_mut(place)), status) {
                    item.1 = status.into_owned();
                }
            }
            (None, None) => return,
        }
        self.touched = message;
    }

    /// Takes note of an item that an earlier handoff told: `- [x] #3 text`. False when it is none.
    pub(super) fn remember(&mut self, line: &str) -> bool {
        let Some((mark, rest)) = line.strip_prefix("- [").and_then(|rest| rest.split_once("] #")) else {
            return false;
        };
        let Some((number, subject)) = rest.split_once(' ') else {
            return false;
        };
        // Items are numbered from one without gaps; anything else is somebody else's list.
        if number.parse() != Ok(self.items.len() + 1) {
            return false;
        }
        self.items.push((subject.to_owned(), status_of(mark).to_owned()));
        true
    }

    /// The list as lines, and the message that touched it last.
    pub(super) fn list(self) -> Option<(usize, Vec<String>)> {
        let numbered = self.items.iter().zip(1..);
        let lines: Vec<String> = numbered
            .map(|((subject, status), number)| format!("- [{}] #{number} {subject}", mark_of(status)))
            .collect();
        (!lines.is_empty()).then_some((self.touched, lines))
    }
}
