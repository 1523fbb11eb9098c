//! The model that is asked, configured like a summariser.

use super::prompt::Prompt;
use super::reply::{self, Entries};
use crate::command::summarise;
use crate::failure::Failure;
use crate::progress::{ProgressDisplay, spinner};
use foldline_core::Policy;
use foldline_core::summary::{self, FailureClass};
use foldline_gateway::summariser::{Progress, Summariser};
use indicatif::ProgressBar;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A call is given up after this long, tries and all: limits of the settings watch for silence only.
const LONGEST: Duration = Duration::from_secs(20 * 60);
/// A server that is too slow or fails so often in a row is not asked again: all other calls would take as long.
const PATIENCE: u32 = 3;

/// A model that can be asked.
pub struct Model {
    summariser: Summariser,
    runtime: Runtime,
}

impl Model {
    /// The model at an address, with the key and the limits of a summariser. Without a name it is the one of the
    /// settings.
    pub fn at(url: &str, name: Option<&str>, policy: &Policy) -> Result<Model, Failure> {
        let mut policy = policy.clone();
        policy.summarizer.url = Some(url.to_owned());
        if let Some(name) = name {
            policy.compression.summary_model = None;
            policy.summarizer.model = Some(name.to_owned());
        }
        let summariser = Summariser::of_policy(&policy, &|name| std::env::var(name).ok());
        let summariser = summariser.map_err(|error| Failure::input(format!("--ask: {error}")))?;
        let summariser = summariser.ok_or_else(|| Failure::input("--ask: expected the URL of a model endpoint"))?;
        Ok(Model { summariser, runtime: summarise::runtime()? })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.summariser.first.model
    }

    /// Begins to ask.
    pub fn ask_session(&self) -> AskSession<'_> {
        AskSession {
            model: self,
            bar: spinner(ProgressDisplay::Shown),
            line: String::new(),
            calls: 0,
            in_vain: 0,
            hopeless: None,
        }
    }
}

/// Questions on their way.
pub struct AskSession<'m> {
    model: &'m Model,
    bar: ProgressBar,
    line: String,
    calls: u32,
    /// Calls in a row that the server did not answer.
    in_vain: u32,
    /// Why every further call would be in vain, once that is known.
    hopeless: Option<String>,
}

impl AskSession<'_> {
    /// Says on a terminal what is asked about.
    pub fn announce(&mut self, about: String) {
        self.line = format!("asking {} about {about}", self.model.name());
    }

    /// How often the model was asked.
    pub fn finish(self) -> u32 {
        self.bar.finish_and_clear();
        self.calls
    }

    /// Asks for an entry for each question of a prompt. A reply that lacks some is asked for once again.
    pub fn ask<T>(&mut self, prompt: &Prompt, entry: fn(&Value) -> Result<T, String>) -> Entries<T> {
        let first = match self.call(prompt.system, &prompt.user, prompt.reply) {
            Ok(reply) => reply,
            Err(why) => return Entries { found: BTreeMap::new(), wrong: Some(why) },
        };
        let mut entries = reply::read(&first, &prompt.ids, entry);
        let Some(wrong) = &entries.wrong else {
            return entries;
        };
        match self.call(prompt.system, &prompt.again(&first, wrong), prompt.reply) {
            Ok(second) => {
                let mut second = reply::read(&second, &prompt.ids, entry);
                // What the first reply had right stays, should the second have less.
                entries.found.append(&mut second.found);
                entries.wrong = second.wrong;
            }
            Err(why) => entries.wrong = Some(why),
        }
        entries
    }

    fn call(&mut self, system: &str, user: &str, reply: u32) -> Result<String, String> {
        if let Some(why) = &self.hopeless {
            return Err(why.clone());
        }
        let AskSession { model, bar, line, calls, .. } = self;
        let mut progress = |step: Progress| {
            *calls += u32::from(matches!(step, Progress::Asking { .. }));
            summarise::show(bar, line, &step);
        };
        let answer = model.runtime.block_on(async {
            tokio::time::timeout(LONGEST, model.summariser.ask(system, user, reply, &mut progress)).await
        });
        let failure = match answer {
            Ok(Ok(text)) => {
                self.in_vain = 0;
                return Ok(text);
            }
            Ok(Err(failure)) => failure,
            Err(_) => summary::Failure::new(FailureClass::Timeout, &format!("no complete reply within {LONGEST:?}")),
        };
        let why = format!("{failure}; {}", failure.class.advice());
        self.in_vain += u32::from(is_of_the_server(failure.class));
        if self.in_vain == PATIENCE || is_final(failure.class) {
            self.hopeless = Some(why.clone());
        }
        Err(why)
    }
}

/// Whether all other calls fail in the same way.
fn is_final(class: FailureClass) -> bool {
    class.holds_the_fold() || class == FailureClass::NotFound
}

/// Whether a failure says something about the server, not about what it was asked.
fn is_of_the_server(class: FailureClass) -> bool {
    matches!(class, FailureClass::Timeout | FailureClass::Rate | FailureClass::Server)
}
