//! The numbers by which passages are weighed against each other.
//!
//! They are fitted, not chosen: `lab fit passages DIR` moves one after the other and keeps what tells more of what
//! later turns of recorded sessions needed. Run it on sessions of your own to see what they would be there.

use crate::inserted::Source;

/// How much a source counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceWeight {
    /// What the terms of a passage are multiplied with.
    pub prior: f32,
    /// The share of a handoff from which on further passages count for half.
    pub share: f32,
}

/// All fitted numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// By source, in the order of [`Source::ALL`].
    pub sources: [SourceWeight; Source::ALL.len()],
    /// What a term is worth because a person used it.
    pub term_user: f32,
    /// … for each doubling of the assistant's texts that have it.
    pub term_assistant: f32,
    /// … of its calls.
    pub term_call: f32,
    /// … of the outputs.
    pub term_tool: f32,
    /// Factor for names that programs use.
    pub term_coined: f32,
    /// Factor for terms with digits.
    pub term_number: f32,
    /// Factor for terms that only one text has: nobody came back to them.
    pub term_once: f32,
    /// What a term is still worth when it has been told once, twice, three times.
    pub again: [f32; 3],
    /// How much more the newest passage counts than the oldest.
    pub recency: f32,
    /// How much of its worth narration loses with age, 0 to 1.
    pub narration_fades: f32,
    /// Factor for words in the middle of work that name a value or quote something: they tell what was found.
    pub finding: f32,
    /// Factor for those that do not: they announce what is done next.
    pub announcement: f32,
    /// Factor for a sentence at the end of such words that ends with a colon: what it announces follows.
    pub announced: f32,
    /// Factor for short questions of an answer that name no value: they hand over to the user.
    pub courtesy: f32,
    /// Factor for answers of an episode of whose answer nothing is told: each request wants its outcome.
    pub first_answer: f32,
    /// Factor for a passage whose neighbour is told: a whole is easier to read than two halves.
    pub beside: f32,
    /// The share of a heading that its first passage pays.
    pub heading: f32,
    /// What the first paragraphs of a request are worth beside their terms.
    pub request: f32,
    /// What a sentence of the user is worth for the odds that it lays something down.
    pub statement: f32,
    /// How much more the odds that it is a rule count.
    pub rule: f32,
    /// The share of that which the sentence before it gets.
    pub object: f32,
    /// That a file was changed.
    pub change: f32,
    /// How a command ended.
    pub outcome: f32,
    /// How one ended that failed.
    pub failure: f32,
}

impl Weights {
    /// The weight of a source.
    pub fn of(&self, source: Source) -> SourceWeight {
        self.sources.get(source as usize).copied().unwrap_or(SourceWeight { prior: 1.0, share: 0.1 })
    }
}

impl Default for Weights {
    fn default() -> Weights {
        let weight = |prior, share| SourceWeight { prior, share };
        Weights {
            sources: [
                weight(3.00, 0.450), // User
                weight(4.80, 0.171), // Pasted
                weight(2.00, 0.480), // Answer
                weight(0.62, 0.256), // Explanation
                weight(1.60, 0.120), // Narration
                weight(0.30, 0.050), // Report
                weight(2.05, 0.768), // Edit
                weight(1.20, 0.100), // Outline
                weight(0.56, 0.021), // Written
                weight(0.50, 0.050), // Document
                weight(1.12, 0.050), // Command
                weight(0.62, 0.080), // Output
                weight(0.22, 0.075), // Read
                weight(0.38, 0.016), // Arguments
            ],
            term_user: 3.0,
            term_assistant: 1.5,
            term_call: 1.0,
            term_tool: 0.3,
            term_coined: 2.08,
            term_number: 2.2,
            term_once: 0.5,
            again: [0.35, 0.106, 0.031],
            recency: 0.3,
            narration_fades: 0.6,
            finding: 1.8,
            announcement: 0.6,
            announced: 0.1,
            courtesy: 0.4,
            first_answer: 6.0,
            beside: 1.25,
            heading: 0.5,
            request: 64.0,
            statement: 90.0,
            rule: 2.0,
            object: 0.32,
            change: 14.1,
            outcome: 5.0,
            failure: 80.0,
        }
    }
}
