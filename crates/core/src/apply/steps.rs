//! From the steps of a plan to bytes.

use super::place::{place_handoff, relink};
use crate::plan::{Plan, Step, StepKind};
use crate::prune;
use foldline_transcript::edit::Span;
use foldline_transcript::reasoning;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::signature;
use foldline_transcript::wire::{
    compose::{self, Side},
    field, json,
};
use foldline_transcript::{Format, Part, Place, Role, Transcript};

/// The document with the steps of a plan carried out.
pub(super) fn rewritten(plan: &Plan, transcript: &Transcript<'_>) -> String {
    let mut rewrite = Rewrite::default();
    for step in &plan.steps {
        match step.kind {
            StepKind::Media => replace_media(transcript, &mut rewrite, step),
            StepKind::SystemNote => note_in_system(transcript, &mut rewrite, step),
            StepKind::DropSealed => drop_sealed(transcript, &mut rewrite, plan, step),
            StepKind::DropId => reasoning::release(transcript, &mut rewrite, step.message),
            StepKind::Reduce | StepKind::Duplicate | StepKind::Superseded | StepKind::Arguments | StepKind::Clamp => {
                if let Some((span, value)) = prune::replacement(transcript, step) {
                    rewrite.edits.replace(span, value);
                }
                if let (StepKind::Arguments, Some(call)) = (step.kind, part_of(transcript, step)) {
                    signature::release(transcript, &mut rewrite, call);
                }
            }
            // Carried requests are placed with the fold; repairs were made before planning.
            StepKind::Carry | StepKind::Fold | StepKind::Repair => {}
        }
    }
    match &plan.fold {
        Some(fold) => place_handoff(transcript, &mut rewrite, plan, fold),
        None if transcript.format == Format::ClaudeCode => relink(transcript, &mut rewrite, &[], None),
        None => {}
    }
    rewrite.apply(transcript)
}

fn part_of<'t>(transcript: &'t Transcript<'_>, step: &Step) -> Option<&'t Part> {
    transcript.parts.get(step.part?)
}

/// Appends a note to the system prompt, wherever the format keeps it.
fn note_in_system(transcript: &Transcript<'_>, rewrite: &mut Rewrite, step: &Step) {
    let Some(note) = &step.text else {
        return;
    };
    let Some(system) = transcript.system else {
        return compose::add_text(transcript, rewrite, step.message, note, Side::Back);
    };
    // Gemini writes it like a message.
    let system = match transcript.format {
        Format::Gemini => field::value(transcript.text, system, "parts").unwrap_or(system),
        _ => system,
    };
    let raw = transcript.raw(system);
    let end = system.end as usize - 1;
    let at = Span::new(end, end);
    match raw.as_bytes().first() {
        Some(b'"') => {
            let mut text = String::from("\\n\\n");
            json::encode_into(note, &mut text);
            rewrite.edits.replace(at, text);
        }
        Some(b'[') => {
            let block = compose::text_block(transcript.format, Role::System, &json::encode(note));
            rewrite.edits.replace(at, format!(",{block}"));
        }
        _ => {}
    }
}

/// Signed reasoning goes with its message when nothing else is in it.
fn drop_sealed(transcript: &Transcript<'_>, rewrite: &mut Rewrite, plan: &Plan, step: &Step) {
    let Some(part) = step.part else {
        return;
    };
    let all_dropped = transcript.messages.get(step.message).is_some_and(|message| {
        (message.parts.start as usize..message.parts.end as usize)
            .all(|other| plan.steps.iter().any(|step| step.kind == StepKind::DropSealed && step.part == Some(other)))
    });
    match all_dropped {
        true => rewrite.remove(step.message),
        false => rewrite.remove_part(transcript, part),
    }
}

fn replace_media(transcript: &Transcript<'_>, rewrite: &mut Rewrite, step: &Step) {
    let (Some(part), Some(text)) = (part_of(transcript, step), &step.text) else {
        return;
    };
    let role = transcript.messages.get(step.message).map_or(Role::User, |message| message.role);
    if part.place == Place::Block {
        rewrite.edits.replace(part.span, compose::text_block(transcript.format, role, &json::encode(text)));
    }
}
