//! Writing a handoff: the chosen entries, section by section, within a budget.

use super::frame::Frame;
use super::section::Section;
use super::select::select;
use crate::ledger::{Entry, Ledger};
use crate::redact::{Mode, redact};
use crate::tokens::Measure;

/// How long the quote of the active request may be, in characters, and how much of a budget it may take: the
/// request itself stays alive as a message.
const TASK_LENGTH: (usize, usize) = (200, 1_400);
const TASK_CHARACTERS_PER_TOKEN: f32 = 0.25;

/// Below this many tokens what is left over is worth a second choice.
const SMALL: u32 = 6_000;

/// A handoff, ready to be put into a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// What it says, framing included.
    pub text: String,
    /// What it costs.
    pub tokens: u32,
    /// Entries that found room, of all that were offered.
    pub shown: usize,
    /// All entries.
    pub offered: usize,
}

/// Writes a handoff of at most `budget` tokens. The framing is written even when the budget has no
/// room for facts: whether the result still saves something is for the caller to decide.
pub fn write(ledger: &Ledger, frame: &Frame<'_>, budget: u32, measure: &Measure) -> Handoff {
    let length = (budget as f32 * TASK_CHARACTERS_PER_TOKEN) as usize;
    let task = frame.task.map(|task| quoted_task(task, length.clamp(TASK_LENGTH.0, TASK_LENGTH.1)));
    let frame = &Frame { task: task.as_deref(), ..frame.clone() };
    let fixed = render(&[], ledger, frame);
    let mut room = budget.saturating_sub(measure.text(&fixed));
    let mut best: Option<Handoff> = None;
    // Counts are not perfectly additive: what comes out a little too long is chosen again, smaller.
    loop {
        let chosen = select(ledger, room, measure);
        // A handoff outlives the messages it stands for and travels further: secrets do not come along.
        let text = render(&chosen, ledger, frame);
        let text = redact(&ledger.secrets.hide(&text), Mode::Text).into_owned();
        let tokens = measure.text(&text);
        if tokens <= budget || chosen.is_empty() {
            let handoff = Handoff { text, tokens, shown: chosen.len(), offered: ledger.entries.len() };
            // What a small handoff leaves over is much of it.
            let over = budget.saturating_sub(tokens);
            if best.is_none() && budget < SMALL && over * 100 > budget && !chosen.is_empty() {
                best = Some(handoff);
                room += over;
                continue;
            }
            return handoff;
        }
        if let Some(best) = best {
            return best;
        }
        room = room.saturating_sub((tokens - budget).max(room / 50 + 1));
    }
}

fn render(chosen: &[usize], ledger: &Ledger, frame: &Frame<'_>) -> String {
    let mut out = frame.opening();
    for (section, title) in Section::ALL {
        out.push_str("\n## ");
        out.push_str(title);
        out.push('\n');
        let before = out.len();
        if section == Section::ActiveTask
            && let Some(task) = frame.task
        {
            out.push_str("User asked: ");
            out.push_str(task);
            out.push('\n');
        }
        let mut entries: Vec<&Entry> = chosen
            .iter()
            .filter_map(|&entry| ledger.entries.get(entry))
            .filter(|entry| entry.section == section)
            .collect();
        entries.sort_by_key(|entry| order(entry, ledger));
        write_entries(&entries, ledger, &mut out);
        if out.len() == before {
            out.push_str("None.\n");
        }
    }
    out.push('\n');
    out.push_str(&frame.closing());
    out
}

/// Groups stand together, in the order in which they were last touched; lines in the order they were said.
fn order(entry: &Entry, ledger: &Ledger) -> (u32, Option<u32>, bool, u32) {
    let touched =
        entry.group.and_then(|group| ledger.groups.get(group as usize)).map_or(entry.message, |group| group.message);
    (touched, entry.group, !ledger.text(entry).is_empty(), entry.message)
}

fn write_entries(entries: &[&Entry], ledger: &Ledger, out: &mut String) {
    let mut heading = None;
    for entry in entries {
        if entry.group != heading {
            heading = entry.group;
            if let Some(group) = heading.and_then(|group| ledger.groups.get(group as usize)) {
                out.push_str("- ");
                out.push_str(&group.title);
                out.push('\n');
            }
        }
        let text = ledger.text(entry);
        if text.is_empty() {
            continue;
        }
        if entry.group.is_some() {
            out.push_str("  ");
        }
        out.push_str(text);
        out.push('\n');
    }
}

fn quoted_task(task: &str, longest: usize) -> String {
    let task = task.trim();
    if task.len() <= longest {
        return format!("\"{task}\"");
    }
    let start = task.get(..task.floor_char_boundary(longest)).unwrap_or_default();
    let start = start.rsplit_once(char::is_whitespace).map_or(start, |(start, _)| start);
    format!("\"{start} …\" (cut here; the message itself is complete)")
}
