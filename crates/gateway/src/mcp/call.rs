//! What each tool answers. An error is a sentence for the model: what was wrong, what to do.

use super::Tools;
use super::arguments::Arguments;
use super::{schema, status};
use crate::conversation::{SessionId, Timestamp};
use foldline_core::ledger::LONGEST_PIN;
use foldline_core::reading::MOST_HITS;
use foldline_store::{Address, Query, Recall, Wanted, tell};
use rmcp::model::JsonObject;

/// Pages and lines are counted in numbers that people can read.
const MOST: usize = 1_000_000_000;
/// Places that a search shows unless it is asked for more or fewer.
const HITS: usize = 10;

impl Tools {
    /// Answers a call of a tool that there is.
    pub(super) fn answer(&self, tool: &str, arguments: &JsonObject) -> Result<String, String> {
        let arguments = Arguments(arguments);
        match tool {
            schema::RECALL => self.recall(&arguments),
            schema::SEARCH => self.search(&arguments),
            schema::STATUS => self.status(&arguments),
            _ => pin(&arguments),
        }
    }

    fn recall(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let address: Address = arguments.needed("handle")?.trim().parse().map_err(|error| format!("{error}"))?;
        let pattern = arguments.text("grep").map(|text| Wanted::pattern(&text));
        let wanted = Wanted {
            turns: arguments.parse("turn")?,
            lines: arguments.parse("lines")?,
            pattern: pattern.transpose().map_err(|error| format!("grep: {error}"))?,
            context: arguments.number("context", 0..=MOST)?.unwrap_or(0),
            page: arguments.number("page", 1..=MOST)?.unwrap_or(1),
            ..Wanted::default()
        };
        let found = self.conversations.recall(self.whom, address, now()).map_err(|error| error.to_string())?;
        let original = match found {
            Recall::Found(original) => original,
            Recall::Ambiguous(_) => return Err(format!("several originals begin with {address}; give more of it")),
            Recall::Unknown => {
                return Err(format!(
                    "nothing is known of {address}; {} finds originals by their words",
                    schema::SEARCH
                ));
            }
            Recall::Expired { .. } => return Err(format!("{address} is no longer kept")),
        };
        let page = wanted.page(&original, &address.to_string(), &Tools::way()).map_err(|error| error.to_string())?;
        Ok(page.to_string())
    }

    fn search(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let query = Query::parse(&arguments.needed("query")?).map_err(|error| error.to_string())?;
        let limit = arguments.number("limit", 1..=MOST_HITS)?.unwrap_or(HITS);
        let session = session(arguments)?;
        let session = session.as_ref().map(SessionId::as_str);
        let way = Tools::way();
        let found = self.conversations.search(self.whom, &query, session, limit, &way);
        let found = found.map_err(|error| error.to_string())?;
        Ok(match (found.hits.is_empty(), found.waiting) {
            (false, _) => tell(&found, &query, session, &way),
            (true, 0) => format!("No original holds `{}`. Try fewer or other words.\n", found.words),
            (true, _) => {
                format!("`{}` is not found yet: older originals wait to be indexed. Search again.\n", found.words)
            }
        })
    }

    fn status(&self, arguments: &Arguments<'_>) -> Result<String, String> {
        let wanted = session(arguments)?;
        let sessions = self.conversations.sessions(self.whom.credential(), status::MOST_SESSIONS);
        let sessions = sessions.map_err(|error| error.to_string())?;
        let shown = match &wanted {
            Some(id) => sessions.iter().find(|session| session.id == *id),
            None => sessions.first(),
        };
        match (shown, wanted) {
            (Some(shown), _) => {
                let held = self.conversations.held(&shown.id, now()).map_err(|error| error.to_string())?;
                Ok(status::told(shown, &held, &sessions))
            }
            (None, Some(id)) => Err(format!("there is no session {id}")),
            (None, None) => Ok(status::NOTHING.to_owned()),
        }
    }
}

fn pin(arguments: &Arguments<'_>) -> Result<String, String> {
    let text = arguments.needed("text")?;
    if text.len() > LONGEST_PIN {
        return Err(format!(
            "a pin has at most {LONGEST_PIN} bytes; this has {}. Pin the sentence that matters.",
            text.len()
        ));
    }
    Ok(match arguments.is_on("unpin") {
        true => format!("From the next fold on, no pin that contains `{}` is carried.\n", text.trim()),
        false => format!("Pinned. Every fold of this conversation carries it word for word:\n{}\n", text.trim()),
    })
}

fn session(arguments: &Arguments<'_>) -> Result<Option<SessionId>, String> {
    let wrong = || "session: expected fs- and 16 hex digits".to_owned();
    arguments.text("session").map(|text| SessionId::parse(text.trim()).ok_or_else(wrong)).transpose()
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
