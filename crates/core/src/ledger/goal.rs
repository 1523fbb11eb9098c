//! What all of the work is for.

use super::Gathering;
use super::work::first_line;
use crate::inserted::Section;

/// What it is all for is told before anything else, by the beginning of the first request.
const GOAL_WORTH: f32 = 800.0;
const LONGEST_GOAL: usize = 200;
/// Who only talks has no goal from the first word on: it is told where there is room for it.
const CHAT_GOAL_WORTH: f32 = 8.0;
/// What comes between the beginning of a goal and the number of the request that the chronicle tells.
pub(crate) const GOAL_BELOW: &str = " (request ";

impl Gathering<'_, '_> {
    /// What all of it is for: how the first request begins.
    pub(super) fn tell_goal(&mut self, group: u32) {
        // What an earlier fold left of a chat is not how it began.
        let episode =
            self.ledger.groups.get(group as usize).and_then(|group| self.ledger.episodes.get(group.episode as usize));
        let is_late = self.is_chat && episode.is_some_and(|episode| !episode.is_new);
        let told = self.ledger.entries.iter().find(|entry| entry.section == Section::Goal);
        if let Some(told) = told.map(|entry| self.ledger.text(entry).trim_start_matches("User: ")) {
            let words = self.ledger.entries.iter().find(|entry| entry.group == Some(group));
            let words = words.map_or("", |entry| self.ledger.text(entry));
            let is_told =
                !words.is_empty() && (words.starts_with(told.trim_end_matches(" …")) || told.starts_with(words));
            self.ledger.goal = is_told.then_some(group);
            return;
        }
        if is_late {
            return;
        }
        let mut entries = self.ledger.entries.iter().filter(|entry| entry.group == Some(group)).peekable();
        let Some(message) = entries.peek().map(|entry| entry.message as usize) else {
            return;
        };
        let mut words = String::new();
        for entry in entries {
            let more = format!("{words} {}", self.ledger.text(entry)).trim().to_owned();
            // Whole sentences, unless the first alone is too long.
            if !words.is_empty() && more.len() > LONGEST_GOAL {
                break;
            }
            words = more;
        }
        let words = if words.is_empty() { self.live_words(message) } else { words };
        if !words.is_empty() {
            self.ledger.goal = Some(group);
            let words: Vec<&str> = words.split_whitespace().collect();
            self.fact(
                message,
                Section::Goal,
                &format!("User: {}", first_line(&words.join(" "), LONGEST_GOAL)),
                self.goal_worth(),
            );
        }
    }

    pub(super) fn goal_worth(&self) -> f32 {
        if self.is_chat { CHAT_GOAL_WORTH } else { GOAL_WORTH }
    }
}
