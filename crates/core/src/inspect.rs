//! Where the tokens of a transcript are: by source, by tool, in the largest outputs, in repetitions.

use crate::assess::Verdict;
use crate::ledger::Held;
use crate::planner::{held, plan, standing, zones};
use crate::request::Inputs;
use crate::sound::{Sound, assess};
use crate::tokens::Source;
use crate::zone::Zone;
use foldline_reduce::wording::grouped;
use foldline_transcript::recall::Handle;
use foldline_transcript::validate::validate;
use foldline_transcript::{PartKind, Role, Transcript};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// How many of the largest outputs are listed.
const LARGEST: usize = 10;
/// Outputs below this many tokens are not compared: repeating "ok" is no waste.
const COMPARED_ABOVE: u32 = 50;

/// A name and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// What it is.
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// Tokens.
    pub tokens: u64,
    /// Percent of the whole.
    pub percent: f64,
}

/// One of the largest outputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargeOutput {
    /// The message it is in.
    pub message: usize,
    /// The tool it comes from.
    pub tool: String,
    /// What the tool was asked.
    pub argument: String,
    /// Tokens.
    pub tokens: u64,
    /// The zone it is in.
    pub zone: Zone,
}

/// Tokens and messages of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZoneSize {
    /// Messages.
    pub messages: usize,
    /// Tokens.
    pub tokens: u64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Whose format it is.
    pub format: String,
    /// The model's name, as far as known.
    pub model: String,
    /// Whether the model is in the table.
    pub model_known: bool,
    /// Window of the model.
    pub window: u32,
    /// Where the engine acts.
    pub trigger: u32,
    /// Messages.
    pub messages: usize,
    /// Bytes.
    pub bytes: usize,
    /// Tokens of the whole.
    pub tokens: u64,
    /// How they are known.
    pub source: Source,
    /// Share of the window that is used.
    pub window_used: f64,
    /// Share of the trigger that is used.
    pub pressure: f64,
    /// By source.
    pub by_source: Vec<Share>,
    /// Tool results by tool.
    pub by_tool: Vec<Share>,
    /// The largest outputs.
    pub largest: Vec<LargeOutput>,
    /// Outputs that repeat a later one.
    pub duplicates: Share,
    /// Images and documents.
    pub media: usize,
    /// Protected at the start.
    pub head: ZoneSize,
    /// Reduced or folded.
    pub middle: ZoneSize,
    /// Protected at the end.
    pub tail: ZoneSize,
    /// Rules of the provider that are broken.
    pub violations: usize,
    /// Where the conversation stands.
    pub state: crate::handoff::Standing,
    /// Whether the engine would act now, and why.
    pub verdict: String,
    /// What it would do.
    pub would: String,
    /// The rules and pins that a handoff would hold, without secrets.
    pub held: Vec<Held>,
}

/// Looks a document over. What it says about a compaction is what one would plan.
pub fn inspect(sound: &Sound<'_>, inputs: &Inputs<'_>) -> Inspection {
    let (transcript, counts, setting) = (&sound.transcript(), &sound.counts, &sound.setting);
    let verdict = assess(sound, inputs);
    let zones = zones(sound, inputs);
    let forced = plan(sound, Verdict::Act(verdict.reason().to_owned()), inputs);
    let origin = |message: usize| sound.repairs().map_or(message, |repaired| repaired.origin_of(message));
    let total = counts.total().max(1);
    let percent = |tokens: u64| tokens as f64 * 100.0 / total as f64;
    let mut sources = Sources::default();
    sources.add("system prompt", counts.system, 1);
    sources.add("tool schemas", counts.tools, 1);
    sources.add("not in this file", counts.unseen, 1);
    let mut tools = Sources::default();
    let mut newest: FxHashMap<Handle, ()> = FxHashMap::default();
    let mut duplicates = (0, 0);
    let mut largest = Vec::new();
    for (index, message) in transcript.messages.iter().enumerate().rev() {
        let mut in_parts = 0;
        for part_index in message.parts.start as usize..message.parts.end as usize {
            let (Some(part), tokens) =
                (transcript.parts.get(part_index), counts.parts.get(part_index).copied().unwrap_or(0))
            else {
                continue;
            };
            in_parts += u64::from(tokens);
            sources.add(source_of(part.kind, message.role), tokens.into(), 1);
            if part.kind != PartKind::ToolResult {
                continue;
            }
            let tool = match transcript.tool_of(part_index) {
                "" => "(unknown)",
                tool => tool,
            };
            tools.add(tool, tokens.into(), 1);
            if tokens > COMPARED_ABOVE && newest.insert(Handle::of(&transcript.words(part)), ()).is_some() {
                duplicates.0 += 1;
                duplicates.1 += u64::from(tokens);
            }
            largest.push((tokens, index, part_index));
        }
        let overhead = counts.message(index).saturating_sub(in_parts);
        sources.add("message framing", overhead, 1);
    }
    largest.sort_by_key(|&(tokens, _, part)| (std::cmp::Reverse(tokens), part));
    largest.truncate(LARGEST);
    let zone = |from: usize, to: usize| ZoneSize { messages: to - from, tokens: counts.between(from, to) };
    Inspection {
        format: transcript.format.to_string(),
        model: setting.model.name.clone(),
        model_known: setting.model.known,
        window: setting.budgets.window,
        trigger: setting.budgets.trigger,
        messages: sound.input().transcript().messages.len(),
        bytes: sound.input().text().len(),
        tokens: counts.total(),
        source: counts.source,
        window_used: counts.total() as f64 / f64::from(setting.budgets.window.max(1)),
        pressure: counts.total() as f64 / f64::from(setting.budgets.trigger.max(1)),
        by_source: sources.shares(percent),
        by_tool: tools.shares(percent),
        largest: largest
            .into_iter()
            .map(|(tokens, message, part)| LargeOutput {
                message: origin(message),
                tool: transcript.tool_of(part).to_owned(),
                argument: argument_of(transcript, part),
                tokens: tokens.into(),
                zone: zones.zone_of(message),
            })
            .collect(),
        duplicates: Share {
            name: "repeated outputs".to_owned(),
            count: duplicates.0,
            tokens: duplicates.1,
            percent: percent(duplicates.1),
        },
        media: counts.images as usize,
        head: zone(0, zones.head),
        middle: zone(zones.head, zones.tail),
        tail: zone(zones.tail, zones.messages),
        violations: validate(&sound.input().transcript()).len(),
        state: standing(transcript),
        verdict: verdict.reason().to_owned(),
        would: match forced {
            Ok(plan) if plan.tokens.after == plan.tokens.before => plan.reason,
            Ok(plan) => {
                format!("{} ({} → {} tokens)", plan.reason, grouped(plan.tokens.before), grouped(plan.tokens.after))
            }
            Err(error) => error.to_string(),
        },
        held: held(sound, inputs),
    }
}

/// Tokens by name, in the order in which names first come up.
#[derive(Default)]
struct Sources {
    names: Vec<(String, usize, u64)>,
}

impl Sources {
    fn add(&mut self, name: &str, tokens: u64, count: usize) {
        if tokens == 0 {
            return;
        }
        match self.names.iter_mut().find(|(known, _, _)| known == name) {
            Some((_, n, sum)) => {
                *n += count;
                *sum += tokens;
            }
            None => self.names.push((name.to_owned(), count, tokens)),
        }
    }

    /// Largest first.
    fn shares(mut self, percent: impl Fn(u64) -> f64) -> Vec<Share> {
        self.names.sort_by(|one, two| two.2.cmp(&one.2).then(one.0.cmp(&two.0)));
        self.names
            .into_iter()
            .map(|(name, count, tokens)| Share { name, count, tokens, percent: percent(tokens) })
            .collect()
    }
}

fn source_of(kind: PartKind, role: Role) -> &'static str {
    match (kind, role) {
        (PartKind::ToolResult, _) => "tool results",
        (PartKind::ToolCall, _) => "tool call parameters",
        (PartKind::Sealed | PartKind::Reasoning, _) => "model thinking",
        (PartKind::Media, _) => "images and documents",
        (PartKind::Opaque, _) => "other blocks",
        (PartKind::Text, Role::System | Role::Developer) => "system messages",
        (PartKind::Text, Role::User) => "user messages",
        (PartKind::Text, Role::Assistant) => "model replies",
        (PartKind::Text, _) => "other text",
    }
}

/// What the call behind a result was about, in one line.
fn argument_of(transcript: &Transcript<'_>, result: usize) -> String {
    const LONGEST: usize = 60;
    let Some(call) = transcript.exchanges.call_of(result).and_then(|call| transcript.parts.get(call)) else {
        return String::new();
    };
    let call = crate::ledger::understand(transcript, call);
    let line = call.target.lines().next().unwrap_or_default();
    match line.chars().count() > LONGEST {
        true => format!("{}…", line.chars().take(LONGEST).collect::<String>()),
        false => line.to_owned(),
    }
}
