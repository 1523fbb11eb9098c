//! What holds for one transcript under one policy: the model, its budgets, how tokens are counted.

use crate::models::{ApiFamily, ModelProfile, ModelTable};
use crate::policy::{BudgetInputs, Budgets, Policy, Tail};
use crate::tokens::{Counter, Counts, Measure};
use crate::zone;
use foldline_transcript::{Format, Transcript};

/// What the engine knows about one transcript under one policy.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The model.
    pub model: ModelProfile,
    /// What its budgets follow from, beside policy and model.
    pub inputs: BudgetInputs,
    /// Its budgets.
    pub budgets: Budgets,
    /// How tokens are counted.
    pub measure: Measure,
}

impl Setting {
    /// The setting for a transcript; `scale` is the learnt ratio of reported to counted tokens, and without a counter
    /// texts are counted as exactly as the model allows.
    pub fn of(
        transcript: &Transcript<'_>,
        policy: &Policy,
        table: &ModelTable,
        counter: Option<Counter>,
        scale: f64,
    ) -> Setting {
        let family = family_of(transcript.format);
        let name = policy.model.name.as_deref().or(transcript.model.as_deref()).unwrap_or_default();
        let model = table.profile(name, family);
        let inputs = BudgetInputs {
            max_output: transcript.max_output,
            summariser_window: summariser_window(policy, table),
            family: Some(family),
            ..BudgetInputs::default()
        };
        let budgets = Budgets::of(policy, &model, inputs);
        let measure = Measure {
            counter: counter.unwrap_or_else(|| Counter::for_model(&model, transcript.text.len())),
            image_tokens: budgets.image_tokens,
            scale,
        };
        Setting { model, inputs, budgets, measure }
    }

    /// The same setting for a transcript that has been counted: shares follow what stands beside the messages
    /// (`basis: room`), and the tail the recent pace (`tail: auto`), where the policy wants that.
    pub fn counted(self, transcript: &Transcript<'_>, counts: &Counts, policy: &Policy) -> Setting {
        let tail_need = match policy.compression.tail {
            Tail::Auto => Some(zone::recent_need(transcript, counts)),
            _ => None,
        };
        let inputs = BudgetInputs { tail_need, ..self.inputs };
        let is_standing =
            |index: &usize| transcript.messages.get(*index).is_some_and(|message| message.role.is_instruction());
        let lead: u64 = (0..transcript.messages.len()).take_while(is_standing).map(|index| counts.message(index)).sum();
        Setting { inputs, ..self }.beside(counts.outside() + lead, policy)
    }

    /// The same setting with the tokens of what no compaction touches: system prompt, tools and standing instructions.
    pub fn beside(self, outside: u64, policy: &Policy) -> Setting {
        let inputs = BudgetInputs { outside: u32::try_from(outside).unwrap_or(u32::MAX), ..self.inputs };
        Setting { budgets: Budgets::of(policy, &self.model, inputs), inputs, ..self }
    }
}

fn summariser_window(policy: &Policy, table: &ModelTable) -> Option<u32> {
    policy.summarizer.url.as_ref()?;
    policy.summarizer.window.fixed().or_else(|| {
        let profile = table.profile(policy.summary_model()?, ApiFamily::OpenAi);
        profile.known.then_some(profile.window)
    })
}

/// Whose API a format belongs to.
pub fn family_of(format: Format) -> ApiFamily {
    match format {
        Format::Anthropic | Format::ClaudeCode => ApiFamily::Anthropic,
        Format::OpenAiChat | Format::OpenAiResponses | Format::ShareGpt => ApiFamily::OpenAi,
        Format::Gemini => ApiFamily::Google,
    }
}
