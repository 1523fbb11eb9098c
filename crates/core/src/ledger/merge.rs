//! Earlier handoffs among the folded messages: their facts go on, with less weight the older they get.

use super::asks::Ask;
use super::{Author, CALLS, Entry, Gathering, Voice, WORDS};
use crate::handoff::{self, Section};
use rustc_hash::FxHashMap;

impl Gathering<'_, '_> {
    /// Takes over the facts of earlier handoffs, newest knowledge last.
    pub(super) fn previous_handoffs(&mut self, folded: &[usize]) {
        for &index in folded {
            let Some(part) = handoff::handoff_part(self.transcript, index) else {
                continue;
            };
            let Some(part) = self.transcript.parts.get(part) else {
                continue;
            };
            let words = self.transcript.words(part);
            let (body, _) = handoff::split(&words);
            self.take_over(index, &body);
        }
    }

    fn take_over(&mut self, index: usize, body: &str) {
        let mut headings: FxHashMap<String, u32> = FxHashMap::default();
        for fact in handoff::remember(body) {
            let worth = match fact.section {
                // What was going on then is over, and the task is read off the live conversation.
                Section::ActiveTask | Section::InProgress | Section::ActiveState => continue,
                Section::Goal => 800.0,
                Section::Constraints => 90.0,
                Section::PendingAsks | Section::ResolvedQuestions => 8.0,
                Section::KeyDecisions => 10.0,
                Section::RemainingWork => 20.0,
                Section::Blocked => 6.0,
                Section::CompletedActions => 2.0,
                Section::RelevantFiles | Section::CriticalContext => 0.5,
            };
            // An ask that waited may have been answered since.
            if fact.section == Section::PendingAsks {
                let text = fact.text.trim_start_matches("- ").trim_start_matches("User: ").to_owned();
                self.record.asks.push(Ask { message: index, text, answer: None });
                continue;
            }
            if fact.section == Section::CompletedActions {
                let number = fact.text.split('.').next().and_then(|number| number.trim().parse().ok()).unwrap_or(0);
                self.record.numbered = self.record.numbered.max(number);
            }
            let group = fact.group.map(|title| match fact.section {
                // The same file under the same heading, whether it is met again or not.
                Section::RelevantFiles => {
                    let path = title.split(" — ").next().unwrap_or(&title).to_owned();
                    let group = self.file_group(index, &path);
                    if let Some(group) = self.ledger.groups.get_mut(group as usize)
                        && group.title == path
                    {
                        group.title.clone_from(&title);
                    }
                    group
                }
                _ if [WORDS, CALLS].contains(&title.as_str()) => self.shared_group(index, &title),
                section => *headings.entry(title.clone()).or_insert_with(|| self.command_group(index, section, title)),
            });
            let source = if fact.text.is_empty() {
                group.and_then(|group| self.ledger.groups.get(group as usize)).map(|group| group.title.clone())
            } else {
                Some(fact.text.clone())
            };
            let names = self.note_names(index, source.as_deref().unwrap_or_default(), Voice::Tool);
            let text = self.ledger.store(&fact.text);
            self.ledger.entries.push(Entry {
                section: fact.section,
                group,
                message: index as u32,
                worth,
                by: Author::Ledger,
                text,
                names,
            });
        }
    }
}
