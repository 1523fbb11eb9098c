//! Writing a handoff: the chosen entries, section by section, within a budget.

use super::frame::{Fill, Frame};
use super::quote::{quoted, quoted_name, quoted_passage};
use super::select::select;
use crate::inserted::{GAP, NOTHING, SPEAKERS, STEP, Section, UNDER, WORDLESS};
use crate::ledger::{Author, Entry, GOAL_BELOW, Group, GroupKind, Held, Ledger, REQUEST_BESIDE};
use crate::tokens::Measure;
use foldline_redact::{Mode, redact};
use std::borrow::Cow;
use std::fmt::Write as _;

/// How long the quote of the active request may be, in characters, and how much of a budget it may take: the
/// request itself stays alive as a message.
const TASK_LENGTH: (usize, usize) = (200, 1_400);
const TASK_CHARACTERS_PER_TOKEN: f32 = 0.12;

/// Below this many tokens what is left over is worth a second choice.
const SMALL: u32 = 12_000;

/// Below this budget a handoff says less about itself.
const BRIEF: u32 = 1_200;

/// A handoff, ready to be put into a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// What it says, framing included.
    pub text: String,
    /// What it costs.
    pub tokens: u32,
    /// The rules and pins that it holds.
    pub held: Vec<Held>,
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
    let frame = &Frame { is_brief: budget < BRIEF, ..frame.clone() };
    let fixed = render(&[], ledger, frame);
    let mut room = budget.saturating_sub(measure.text(&fixed));
    let mut best: Option<Handoff> = None;
    // Counts are not perfectly additive: what comes out a little too long is chosen again, smaller.
    loop {
        let chosen = select(ledger, room, measure, frame.fill);
        // A handoff outlives the messages it stands for and travels further: secrets do not come along.
        let text = render(&chosen, ledger, frame);
        let text = redact(&ledger.secrets.hide(&text), Mode::Text).into_owned();
        let tokens = measure.text(&text);
        if tokens <= budget || chosen.is_empty() {
            let held = held(&chosen, ledger);
            let handoff = Handoff { text, tokens, held, shown: chosen.len(), offered: ledger.entries.len() };
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

/// Whether the chronicle says which messages of the originals each episode had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// `3. User [5:8]: …`
    Named,
    /// `3. User: …`
    Unnamed,
}

/// The sections without their frame, in at most `room` tokens.
pub fn tell(ledger: &Ledger, room: u32, measure: &Measure, turns: Turns) -> String {
    let mut wanted = room;
    loop {
        let chosen = select(ledger, wanted, measure, Fill::Room);
        let mut text = String::new();
        for (section, title) in Section::ALL {
            write_section(&chosen, ledger, section, title, turns == Turns::Named, &mut text);
        }
        let text = redact(&ledger.secrets.hide(&text), Mode::Text).into_owned();
        let tokens = measure.text(&text);
        if tokens <= room || chosen.is_empty() {
            return text;
        }
        wanted = wanted.saturating_sub((tokens - room).max(wanted / 50 + 1));
    }
}

fn held(chosen: &[usize], ledger: &Ledger) -> Vec<Held> {
    let entries = chosen.iter().filter_map(|&at| ledger.entries.get(at));
    let rules = entries.filter(|entry| entry.section == Section::Constraints);
    rules.map(|entry| Held::read(&redact(&ledger.secrets.hide(ledger.text(entry)), Mode::Text))).collect()
}

fn render(chosen: &[usize], ledger: &Ledger, frame: &Frame<'_>) -> String {
    let mut out = frame.opening(ledger);
    let mut empty = Vec::new();
    for (section, title) in Section::ALL {
        let before = out.len();
        // The request of a chat stands beside the handoff in full; a small one has no room to say it twice.
        let is_beside = frame.is_brief && ledger.is_chat;
        let has_task = section == Section::ActiveTask && !is_beside && {
            let _ = write!(out, "\n## {title}\n");
            let start = out.len();
            frame.write_task(&mut out);
            out.len() > start
        };
        if !has_task {
            out.truncate(before);
            if !write_section(chosen, ledger, section, title, frame.handle.is_some(), &mut out) {
                empty.push(title);
            }
        }
    }
    // Most sections are about work: a chat without them lacks nothing.
    if !empty.is_empty() && !frame.is_brief && !is_users_words(ledger, frame.handle.is_some()) {
        let _ = write!(out, "\n{NOTHING} {}.\n", empty.join(", "));
    }
    out.push('\n');
    out.push_str(&frame.closing());
    out
}

/// Writes the chosen entries of a section under its title, if there are any.
fn write_section(
    chosen: &[usize],
    ledger: &Ledger,
    section: Section,
    title: &str,
    names_turns: bool,
    out: &mut String,
) -> bool {
    let entries: Vec<usize> = chosen
        .iter()
        .copied()
        .filter(|&at| ledger.entries.get(at).is_some_and(|entry| entry.section == section))
        .collect();
    let before = out.len();
    let _ = write!(out, "\n## {title}\n");
    let start = out.len();
    match section {
        Section::CompletedActions | Section::ResolvedQuestions => write_chronicle(&entries, ledger, names_turns, out),
        Section::RelevantFiles => write_files(&entries, ledger, out),
        Section::Goal if let Some(number) = goal_below(chosen, ledger) => {
            let goal = entries.first().and_then(|&at| ledger.entries.get(at)).map(|entry| ledger.shown(entry));
            let changed = match ledger.episodes.last().is_some_and(|last| last.number > number) {
                true => ", as changed by later ones",
                false => "",
            };
            let _ = writeln!(out, "{}{GOAL_BELOW}{number}{changed})", quoted(&shortened(&goal.unwrap_or_default())));
        }
        _ => write_facts(&entries, ledger, out),
    }
    let says_something = out.len() > start;
    if !says_something {
        out.truncate(before);
    }
    says_something
}

/// The number of the request that the goal quotes, where its first words are told in the chronicle.
fn goal_below(chosen: &[usize], ledger: &Ledger) -> Option<u32> {
    let goal = ledger.goal?;
    let is_first = |entry: &Entry| entry.group == Some(goal) && !ledger.text(entry).is_empty();
    let first = ledger.entries.iter().position(is_first)?;
    let mut goals = chosen.iter().filter_map(|&at| ledger.entries.get(at)).filter(|one| one.section == Section::Goal);
    // A model's own words are told as they are.
    let is_quoted = goals.next().is_some_and(|one| one.by == Author::Ledger) && goals.next().is_none();
    let group = ledger.groups.get(goal as usize).filter(|_| is_quoted && chosen.binary_search(&first).is_ok())?;
    ledger.episodes.get(group.episode as usize).map(|episode| episode.number)
}

/// A goal whose request is told elsewhere, by so many bytes.
const GOAL_LENGTH: usize = 100;

/// The beginning of a longer text, up to a word.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= GOAL_LENGTH {
        return Cow::Borrowed(text);
    }
    let start = text.get(..text.floor_char_boundary(GOAL_LENGTH)).unwrap_or_default();
    let start = start.rsplit_once(char::is_whitespace).map_or(start, |(start, _)| start);
    Cow::Owned(format!("{start} …"))
}

/// Facts in the order in which they were learnt.
fn write_facts(entries: &[usize], ledger: &Ledger, out: &mut String) {
    let mut facts: Vec<&Entry> = entries.iter().filter_map(|&at| ledger.entries.get(at)).collect();
    facts.sort_by_key(|entry| entry.message);
    for fact in facts {
        for (at, line) in quoted(&ledger.shown(fact)).lines().enumerate() {
            let indent = if at > 0 && !line.starts_with([' ', '-']) { "  " } else { "" };
            let _ = writeln!(out, "{indent}{line}");
        }
    }
}

/// The episodes in order: the request, then what was said and done. Where the originals are kept each says which
/// messages it had.
fn write_chronicle(entries: &[usize], ledger: &Ledger, names_turns: bool, out: &mut String) {
    let group_of = |at: usize| ledger.entries.get(at).and_then(|entry| entry.group);
    // What belongs to no episode comes from handoffs of other making.
    let loose: Vec<usize> = entries.iter().copied().filter(|&at| group_of(at).is_none()).collect();
    write_facts(&loose, ledger, out);
    let mut told: Vec<(u32, bool, u32, usize)> = entries
        .iter()
        .filter_map(|&at| {
            let place = group_of(at)?;
            let group = ledger.groups.get(place as usize)?;
            let comes_first = matches!(group.kind, GroupKind::Request | GroupKind::InShort);
            Some((group.episode, !comes_first, place, at))
        })
        .collect();
    told.sort_unstable();
    // A request that stays as a message is named, whether or not there was room to choose its heading.
    let is_beside = |group: &&Group| group.kind == GroupKind::Request && group.title.starts_with(REQUEST_BESIDE);
    let beside: Vec<&Group> = ledger.groups.iter().filter(is_beside).collect();
    let mut episode = None;
    let mut heads_episode = false;
    let mut previous: Option<(u32, usize)> = None;
    for (place, _, group_at, at) in told {
        let (Some(group), Some(entry)) = (ledger.groups.get(group_at as usize), ledger.entries.get(at)) else {
            continue;
        };
        let before = episode.replace(place);
        let is_new = before != Some(place);
        // Work that went on after an earlier fold stands under the same heading, unless that says where its originals are.
        let goes_on = before.is_some_and(|before| number(ledger, before) == number(ledger, place));
        if is_new && (names_turns || !goes_on) {
            let request = beside.iter().find(|request| request.episode == place).unwrap_or(&group);
            write_episode_heading(ledger, place, request, names_turns, out);
        }
        let text = ledger.shown(entry);
        let begins = previous.is_none_or(|(before, _)| before != group_at);
        // A second message of the user before any answer is a step of the same episode.
        let is_request = group.kind == GroupKind::Request;
        let title = if is_request { "User:" } else { group.title.as_str() };
        let speaks = SPEAKERS.contains(&title);
        if begins && !(is_request && is_new) {
            let _ = write!(out, "{STEP}- {}", quoted_name(&ledger.relative(title)));
            out.push(if speaks && !text.is_empty() { ' ' } else { '\n' });
        }
        let leaves_out = match previous {
            Some((before, last)) if before == group_at => left_out(ledger, group_at, last + 1..at),
            _ => left_out_before(ledger, group_at, at),
        };
        if begins {
            heads_episode = is_request && is_new;
        }
        let indent = if heads_episode { STEP } else { UNDER };
        let on_heading = begins && !text.is_empty() && speaks;
        if leaves_out && !on_heading && !text.is_empty() && out.ends_with('\n') {
            out.pop();
            let _ = writeln!(out, " {GAP}");
        }
        let goes_on = previous.is_some_and(|(before, last)| before == group_at && last >= paragraph_start(ledger, at));
        if entry.joined && goes_on && out.ends_with('\n') {
            out.pop();
            out.push_str(if out.ends_with(|c: char| c.is_ascii() || c == '…' || c.is_alphanumeric()) {
                " "
            } else {
                ""
            });
        }
        write_passage(&text, indent, on_heading || (entry.joined && goes_on), out);
        previous = Some((group_at, at));
    }
}

fn number(ledger: &Ledger, place: u32) -> Option<u32> {
    ledger.episodes.get(place as usize).map(|episode| episode.number)
}

fn write_episode_heading(ledger: &Ledger, place: u32, first: &Group, names_turns: bool, out: &mut String) {
    let Some(episode) = ledger.episodes.get(place as usize) else {
        return;
    };
    let is_plain = first.kind == GroupKind::Request && first.title.is_empty();
    if is_plain && is_users_words(ledger, names_turns) {
        out.push_str("- ");
        return;
    }
    let turns = match episode.turns.filter(|_| names_turns) {
        Some((first, last)) if first == last => format!(" [{first}]"),
        Some((first, last)) => format!(" [{first}:{last}]"),
        None => String::new(),
    };
    let (note, newline) = match (first.kind, first.title.as_str()) {
        (GroupKind::Request, "") => (String::new(), ""),
        (GroupKind::Request, title) if title.starts_with(REQUEST_BESIDE) => (format!(" {title}"), "\n"),
        (GroupKind::Request, title) => (format!(" ({title})"), ""),
        _ => (format!(" {WORDLESS}"), "\n"),
    };
    match note.starts_with(" (") {
        true => {
            let _ = write!(out, "{}. User{turns}{note}: ", episode.number);
        }
        false => {
            let _ =
                write!(out, "{}. User{turns}:{}{newline}", episode.number, if note.is_empty() { " " } else { &note });
        }
    }
}

/// Whether the chronicle is the user's words, message by message: the numbers of a chat say nothing where its originals
/// are not kept.
pub(super) fn is_users_words(ledger: &Ledger, names_turns: bool) -> bool {
    ledger.is_chat && !names_turns
}

/// Writes a passage, indented; where it begins on the line of its heading, only what follows is.
fn write_passage(text: &str, indent: &str, on_heading: bool, out: &mut String) {
    for (at, line) in quoted_passage(text).lines().filter(|line| !line.trim().is_empty()).enumerate() {
        match on_heading && at == 0 {
            true => out.push_str(line.trim_start()),
            false => {
                out.push_str(indent);
                out.push_str(line);
            }
        }
        out.push('\n');
    }
}

/// Where the paragraph of an entry begins.
fn paragraph_start(ledger: &Ledger, at: usize) -> usize {
    (0..=at).rev().find(|&at| ledger.entries.get(at).is_some_and(|entry| !entry.joined)).unwrap_or_default()
}

/// Whether passages of a group between two that are told are not.
fn left_out(ledger: &Ledger, group: u32, between: std::ops::Range<usize>) -> bool {
    ledger
        .entries
        .get(between)
        .unwrap_or_default()
        .iter()
        .any(|entry| entry.group == Some(group) && !ledger.text(entry).is_empty() && !ledger.terms(entry).is_empty())
}

fn left_out_before(ledger: &Ledger, group: u32, at: usize) -> bool {
    // Passages of one group stand close together.
    left_out(ledger, group, at.saturating_sub(64)..at)
}

/// Files in the order in which they were last touched, each with what is quoted of it.
fn write_files(entries: &[usize], ledger: &Ledger, out: &mut String) {
    let mut told: Vec<(u32, u32, usize)> = entries
        .iter()
        .filter_map(|&at| {
            let group = ledger.entries.get(at)?.group?;
            Some((ledger.groups.get(group as usize)?.message, group, at))
        })
        .collect();
    told.sort_unstable();
    let mut heading = None;
    for (_, group_at, at) in told {
        let (Some(group), Some(entry)) = (ledger.groups.get(group_at as usize), ledger.entries.get(at)) else {
            continue;
        };
        if heading.replace(group_at) != Some(group_at) {
            let _ = writeln!(out, "- {}", quoted_name(&ledger.relative(&group.title)));
        }
        write_passage(&ledger.shown(entry), "  ", false, out);
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
