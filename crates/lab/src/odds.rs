//! Counts what some weights stand for: how likely a name of an output is needed again, by what the conversation says of
//! it (`reduce/src/conversation_names.rs`), and how fast conversations grow and cool down (`core/src/cache/economics.rs`).

use crate::Failure;
use foldline_measure::cache::Recording;
use foldline_measure::retention::{Page, SHARE, Timeline, cut};
use foldline_reduce::ConversationNames;
use foldline_transcript::{PartKind, wire};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

/// Seconds after which a cache of five minutes is cold.
const COLD: f64 = 300.0;

/// What was counted.
#[derive(Debug, Default)]
pub struct Odds {
    /// Names in outputs by the weight that they have: all of them, and those that were needed later.
    pub names: BTreeMap<u32, (u64, u64)>,
    /// Requests, those before which the cache went cold, and tokens that prompts grew by.
    pub requests: u64,
    /// Requests after a pause that no cache outlives.
    pub cold: u64,
    /// Tokens that prompts grew by.
    pub grown: u64,
}

/// Counts in the sessions of `files`.
pub fn count(files: &[PathBuf]) -> Result<Odds, Failure> {
    let mut odds = Odds::default();
    for file in files {
        let text = std::fs::read_to_string(file)?;
        odds.add_names(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        odds.add_pace(&Recording::of(&wire::read(&text, None)?));
    }
    Ok(odds)
}

impl Odds {
    fn add_names(&mut self, text: &str) -> Result<(), Failure> {
        let transcript = wire::read(text, None)?;
        let page = Page::of(&transcript);
        let Ok(cut) = cut(&transcript, &page, SHARE) else { return Ok(()) };
        let first = wire::read(&cut.first, Some(transcript.format))?;
        let conversation = ConversationNames::of(&first);
        let timeline = Timeline::of(&page);
        let from = page.first_block_of(cut.message);
        for (index, block) in page.blocks().iter().enumerate().take(from) {
            if transcript.parts.get(block.part).is_none_or(|part| part.kind != PartKind::ToolResult) {
                continue;
            }
            let needed: BTreeSet<String> =
                timeline.needed_from(&page, index, from).into_iter().map(|fact| fact.name).collect();
            for name in timeline.names_of(&page, index) {
                let (all, later) = self.names.entry(conversation.likelihood_of(&name)).or_default();
                *all += 1;
                *later += u64::from(needed.contains(&name));
            }
        }
        Ok(())
    }

    fn add_pace(&mut self, recording: &Recording) {
        for pair in recording.requests.windows(2) {
            let [before, after] = pair else { continue };
            if let (Some(before), Some(after)) = (before.reported, after.reported) {
                self.requests += 1;
                self.grown += after.prompt().saturating_sub(before.prompt());
            }
            if let (Some(before), Some(after)) = (before.at, after.at) {
                self.cold += u64::from(after - before > COLD);
            }
        }
    }
}

impl fmt::Display for Odds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |(all, needed): (u64, u64)| needed as f64 / all.max(1) as f64;
        let least = self.names.get(&1).copied().map_or(0.0, share);
        writeln!(f, "{:>6}{:>10}{:>10}{:>10}{:>14}", "weight", "names", "needed", "share", "times weight 1")?;
        for (weight, &(all, needed)) in &self.names {
            let found = share((all, needed));
            writeln!(f, "{weight:>6}{all:>10}{needed:>10}{:>9.1}%{:>14.1}", found * 100.0, found / least.max(1e-9))?;
        }
        let requests = self.requests.max(1) as f64;
        writeln!(
            f,
            "\n{} requests with usage: {:.0} tokens of growth each, {:.1} % after a pause of five minutes",
            self.requests,
            self.grown as f64 / requests,
            100.0 * self.cold as f64 / requests
        )
    }
}
