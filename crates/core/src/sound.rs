//! The first step: a document is read, repaired where its provider would refuse it, and counted.

use crate::assess::{Situation, Size, Verdict};
use crate::inserted;
use crate::policy::{Fidelity, Policy};
use crate::prune::{self, Keeping, Proposal, Pruner};
use crate::request::Inputs;
use crate::setting::Setting;
use crate::state::{SessionState, Usage};
use crate::tokens::{Counts, measure};
use foldline_transcript::recall::{Handle, Original};
use foldline_transcript::repair::{Repaired, repair};
use foldline_transcript::wire::WireError;
use foldline_transcript::{Parsed, Reported, Transcript};
use std::borrow::Cow;

/// A transcript that its provider would accept, with what it costs and the budgets that hold for it.
#[derive(Clone, Debug)]
pub struct Sound<'a> {
    /// The model, its budgets, and how tokens are counted.
    pub setting: Setting,
    /// What everything costs.
    pub counts: Counts,
    /// Huge outputs in the form in which they are admitted.
    pub(crate) admitted: Vec<Proposal>,
    parsed: Parsed<'a>,
    /// What was wrong with the input.
    damage: Option<Damage<'a>>,
}

/// An input that had to be repaired.
#[derive(Clone, Debug)]
struct Damage<'a> {
    input: Parsed<'a>,
    repaired: Repaired,
}

/// Reads a document.
pub fn read<'a>(text: impl Into<Cow<'a, str>>, inputs: &Inputs<'_>) -> Result<Sound<'a>, WireError> {
    Ok(Sound::of(Parsed::read(text, inputs.job.format)?, inputs))
}

/// Where nothing but damage was there, nothing is left to read: it goes through as it came.
fn repaired(input: Parsed<'_>) -> (Parsed<'_>, Option<Damage<'_>>) {
    let format = input.transcript().format;
    let Some(mut repaired) = repair(&input.transcript()) else { return (input, None) };
    match Parsed::read(std::mem::take(&mut repaired.text), Some(format)) {
        Ok(parsed) => (parsed, Some(Damage { input, repaired })),
        Err(_) => (input, None),
    }
}

impl<'a> Sound<'a> {
    /// A document that has been read already.
    pub fn of(input: Parsed<'a>, inputs: &Inputs<'_>) -> Sound<'a> {
        // Switched off means hands off, damage included.
        let (parsed, damage) = match inputs.policy.compression.enabled {
            true => repaired(input),
            false => (input, None),
        };
        let transcript = parsed.transcript();
        let setting = inputs.job.setting(&transcript, inputs.policy, inputs.state);
        let counts = match inputs.job.request.target {
            // A target is for this document; what a session file leaves out cannot be made smaller.
            Some(_) => measure(&transcript, &setting.measure),
            None => count(&transcript, &setting, inputs.state),
        };
        let setting = setting.counted(&transcript, &counts, inputs.policy);
        let admitted = admitted(&transcript, &setting, &counts, inputs);
        drop(transcript);
        Sound { setting, counts, admitted, parsed, damage }
    }

    /// The transcript.
    pub fn transcript(&self) -> Transcript<'_> {
        self.parsed.transcript()
    }

    /// The document: the input, or the input repaired. Originals stand in it.
    pub fn text(&self) -> &str {
        self.parsed.text()
    }

    /// The document as it came, damage included.
    pub fn input(&self) -> &Parsed<'a> {
        self.damage.as_ref().map_or(&self.parsed, |damage| &damage.input)
    }

    /// The document.
    pub fn parsed(&self) -> &Parsed<'a> {
        &self.parsed
    }

    /// What was repaired, if anything was.
    pub fn repairs(&self) -> Option<&Repaired> {
        self.damage.as_ref().map(|damage| &damage.repaired)
    }

    /// The same, with a text of its own.
    pub fn into_owned(self) -> Sound<'static> {
        let Sound { setting, counts, admitted, parsed, damage } = self;
        let damage = damage.map(|Damage { input, repaired }| Damage { input: input.into_owned(), repaired });
        Sound { setting, counts, admitted, parsed: parsed.into_owned(), damage }
    }

    /// The text of an original that a plan removes.
    pub fn original(&self, original: &Original) -> Cow<'_, str> {
        original.text(self.text())
    }

    /// Whether it is what the last compaction of a session left, with nothing new in it.
    pub fn is_settled(&self, state: &SessionState) -> bool {
        let text = self.text();
        let is_same =
            |(length, handle): &(usize, String)| *length == text.len() && *handle == Handle::of(text).to_string();
        state.settled.as_ref().is_some_and(is_same)
    }

    /// What a verdict on it follows from.
    pub fn situation<'s>(&'s self, inputs: &Inputs<'s>) -> Situation<'s> {
        let Inputs { policy, state, job } = *inputs;
        let counts = &self.counts;
        // What is admitted in reduced form never counts as what it was.
        let saved: u64 = self.admitted.iter().map(|proposal| proposal.step.saves()).sum();
        Situation {
            size: Size {
                tokens: counts.total().saturating_sub(saved),
                messages: self.transcript().messages.len(),
                bytes: self.text().len() as u64,
            },
            admitted: saved,
            fixed: counts.outside() + counts.between(0, policy.compression.protect_first_n as usize),
            is_settled: self.is_settled(state),
            policy,
            model: &self.setting.model,
            budgets: &self.setting.budgets,
            state,
            trigger: job.request.trigger,
            target: job.request.target,
            idle: job.request.idle,
        }
    }
}

/// Whether to act on a document now, and why. [`Situation::assess`] decides, also for those who have counted already.
pub fn assess(sound: &Sound<'_>, inputs: &Inputs<'_>) -> Verdict {
    sound.situation(inputs).assess()
}

/// Counts a transcript, with what the provider last reported as its base where that is known.
pub fn count(transcript: &Transcript<'_>, setting: &Setting, state: &SessionState) -> Counts {
    // A session file keeps the usage of before a fold beside the lines that it kept.
    let recorded = transcript.reported.filter(|_| !has_been_compacted(transcript));
    let reported = recorded.or_else(|| {
        let Usage { prompt, messages } = state.usage?;
        (messages <= transcript.messages.len()).then_some(Reported { message: messages, prompt, output: 0 })
    });
    measure(transcript, &setting.measure).with_reported(reported)
}

fn has_been_compacted(transcript: &Transcript<'_>) -> bool {
    (0..transcript.messages.len()).any(|index| inserted::is_handoff(transcript, index))
        || transcript.parts.iter().any(|part| prune::is_reduced(transcript, part))
}

/// Outputs that are huge when they first appear come in reduced form, on every request alike; none unless the policy
/// wants it. What an output becomes is a function of the output, its call and the policy. So a client that keeps sending
/// the original gets the same bytes every time, and no cached prefix breaks.
fn admitted(transcript: &Transcript<'_>, setting: &Setting, counts: &Counts, inputs: &Inputs<'_>) -> Vec<Proposal> {
    let (knobs, request) = (&inputs.policy.compression, &inputs.job.request);
    let is_wanted = knobs.enabled && knobs.admission && knobs.fidelity != Fidelity::Exact;
    if !is_wanted || request.target.is_some() {
        return Vec::new();
    }
    let keeping = Keeping::of(request);
    let pruner = pruner(transcript, counts, setting, inputs.policy, keeping);
    let may_change = |part: usize| !knobs.never_prune.iter().any(|name| name == transcript.tool_of(part));
    (0..transcript.parts.len()).filter(|&part| may_change(part)).filter_map(|part| pruner.admit(part)).collect()
}

/// What a policy makes of single outputs.
pub(crate) fn pruner<'t, 'a>(
    transcript: &'t Transcript<'a>,
    counts: &'t Counts,
    setting: &'t Setting,
    policy: &Policy,
    keeping: Keeping<'t>,
) -> Pruner<'t, 'a> {
    let knobs = &policy.compression;
    let admits = knobs.admission.then_some(setting.budgets.admission_above);
    Pruner::new(transcript, counts, &setting.measure, knobs.prune_above, keeping).admitting(admits)
}
