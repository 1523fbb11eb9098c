//! Plans as lines for people: one line per message, what stays, what shrinks, what goes.

pub use crate::inspect::{Inspection, LargeOutput, Share, ZoneSize, inspect};
use crate::plan::{Plan, Step, StepKind};
use crate::tokens::Counts;
use crate::zone::Zone;
use foldline_transcript::{PartKind, Transcript};
use std::fmt::Write;

/// The shape of a plan on the transcript that came in, one line per message:
///
/// ```text
///  03 assistant    middle     412         fold
///  04 tool         middle    8120 →   310 reduce   shell_exec  fl-0123456789ab
/// ```
pub fn shape(transcript: &Transcript<'_>, counts: &Counts, plan: &Plan) -> String {
    let mut out = String::new();
    let digits = transcript.messages.len().to_string().len().max(2);
    for (index, message) in transcript.messages.iter().enumerate() {
        let zone = match plan.zones.zone_of(index) {
            Zone::Head => "head",
            Zone::Middle => "middle",
            Zone::Tail => "tail",
        };
        let tokens = counts.message(index);
        let steps: Vec<_> = plan.steps.iter().filter(|step| step.message == index && is_of_message(step)).collect();
        let folds = plan.fold.as_ref().is_some_and(|fold| fold.messages.binary_search(&index).is_ok());
        let saved: u64 = steps.iter().map(|step| step.saves()).sum();
        let what = match (folds, plan.zones.carried == Some(index)) {
            (true, true) => "carry".to_owned(),
            (true, false) => "fold".to_owned(),
            (false, _) => {
                let mut names: Vec<_> = steps.iter().map(|step| name_of(step.kind)).collect();
                names.dedup();
                names.join("+")
            }
        };
        let change = if saved > 0 { format!("→ {:>7}", tokens - saved.min(tokens)) } else { " ".repeat(9) };
        let handle = steps.iter().find_map(|step| step.handle).map(|handle| handle.to_string()).unwrap_or_default();
        let tool = tool_of(transcript, index);
        let line = format!(
            "{index:>digits$} {:<10} {zone:<6} {tokens:>8} {change} {what:<10} {tool:<16} {handle}",
            message.role.name()
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// Folds and the like are steps of a stretch; what they do to a message is told from the plan's zones.
fn is_of_message(step: &Step) -> bool {
    step.part.is_some() || step.kind == StepKind::Repair
}

/// What a plan does, in a few lines.
pub fn summary(plan: &Plan) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{:?}: {}", plan.outcome, plan.reason);
    let _ = writeln!(out, "tokens  {} → {}", plan.tokens.before, plan.tokens.after);
    let zones = &plan.zones;
    let _ = writeln!(
        out,
        "zones   head {} · middle {} · tail {}",
        zones.head,
        zones.tail - zones.head,
        zones.messages - zones.tail
    );
    if let Some(fold) = plan.fold.as_ref().filter(|fold| !fold.context.is_empty()) {
        let _ = writeln!(
            out,
            "host    {} of standing context, {} tokens, carried verbatim",
            foldline_reduce::wording::counted(fold.context.len(), "piece"),
            fold.context_tokens
        );
    }
    for skip in &plan.skips {
        let _ = writeln!(out, "left    {}", serde_json::to_string(skip).unwrap_or_default());
    }
    for step in plan.steps.iter().filter(|step| step.kind == StepKind::Repair) {
        let _ = writeln!(out, "repair  message {}: {}", step.message, step.text.as_deref().unwrap_or_default());
    }
    for warning in &plan.warnings {
        let _ = writeln!(out, "note    {warning}");
    }
    out
}

/// The name of a step.
pub fn name_of(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Reduce => "reduce",
        StepKind::Duplicate => "duplicate",
        StepKind::Superseded => "superseded",
        StepKind::Arguments => "arguments",
        StepKind::Media => "media",
        StepKind::Fold => "fold",
        StepKind::Clamp => "clamp",
        StepKind::DropSealed => "unseal",
        StepKind::DropId => "unname",
        StepKind::Carry => "carry",
        StepKind::SystemNote => "note",
        StepKind::Repair => "repair",
    }
}

fn tool_of<'a>(transcript: &Transcript<'a>, index: usize) -> &'a str {
    let Some(message) = transcript.messages.get(index) else {
        return "";
    };
    (message.parts.start as usize..message.parts.end as usize)
        .find(|&part| {
            transcript
                .parts
                .get(part)
                .is_some_and(|part| matches!(part.kind, PartKind::ToolCall | PartKind::ToolResult))
        })
        .map_or("", |part| transcript.tool_of(part))
}
