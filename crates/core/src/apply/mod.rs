//! The last step: a plan becomes a document, which is read, checked and counted once.

mod place;
mod steps;

use crate::plan::Plan;
use crate::sound::Sound;
use crate::tokens::measure;
use foldline_transcript::recall::Original;
use foldline_transcript::repair::repair;
use foldline_transcript::wire::WireError;
use foldline_transcript::{Parsed, Transcript};

/// What came of a plan.
#[derive(Clone, Debug)]
pub struct Applied {
    /// What was removed and can be had again; [`Sound::original`] has the texts.
    pub originals: Vec<Original>,
    /// What the document costs.
    pub tokens: u64,
    pub(crate) parsed: Parsed<'static>,
}

impl Applied {
    /// The document.
    pub fn body(&self) -> &str {
        self.parsed.text()
    }

    /// Its transcript.
    pub fn transcript(&self) -> Transcript<'_> {
        self.parsed.transcript()
    }
}

/// Carries a plan out. The result is valid by construction, and checked all the same.
pub fn apply(sound: &Sound<'_>, plan: &Plan) -> Result<Applied, WireError> {
    let source = sound.transcript();
    let mut parsed = Parsed::read(steps::rewritten(plan, &source), Some(source.format))?;
    let repaired = repair(&parsed.transcript());
    if let Some(repaired) = repaired {
        parsed = Parsed::read(repaired.text, Some(source.format))?;
    }
    // What was planned is estimated part by part; what came out is counted.
    let tokens = measure(&parsed.transcript(), &sound.setting.measure).total() + sound.counts.unseen;
    Ok(Applied { originals: plan.originals.clone(), tokens, parsed })
}
