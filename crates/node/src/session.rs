//! Sessions and the compactions in them.

use crate::errors::thrown;
use foldline_embed::{self as embed, Ask, Look, Options, Step};
use napi::bindgen_prelude::{AsyncTask, Either};
use napi::{Env, Task};
use napi_derive::napi;

/// One conversation.
#[napi]
pub struct Session(embed::Session);

#[napi]
impl Session {
    /// Options are JSON; `saved` is what `save` returned.
    #[napi(constructor)]
    pub fn new(options: String, saved: Option<String>) -> napi::Result<Session> {
        let options = Options::read(&options).map_err(thrown)?;
        Ok(Session(match saved {
            Some(saved) => embed::Session::restore(options, &saved).map_err(thrown)?,
            None => embed::Session::new(options),
        }))
    }

    /// Compacts a body while the caller waits.
    #[napi]
    pub fn compact_sync(&self, body: String, ask: String) -> napi::Result<Either<Done, Pending>> {
        let ask = Ask::read(&ask).map_err(thrown)?;
        self.0.compact(&body, ask).map(told).map_err(thrown)
    }

    /// Compacts a body on another thread.
    #[napi(ts_return_type = "Promise<Done | Pending>")]
    pub fn compact(&self, body: String, ask: String) -> napi::Result<AsyncTask<Work>> {
        let ask = Ask::read(&ask).map_err(thrown)?;
        Ok(AsyncTask::new(Work::Compact(self.0.clone(), body, Some(ask))))
    }

    /// Takes note of what the provider reported for a body.
    #[napi]
    pub fn observe(&self, body: String, prompt_tokens: f64, completion_tokens: f64) {
        self.0.observe(&body, prompt_tokens as u64, completion_tokens as u64);
    }

    /// An original, byte for byte.
    #[napi]
    pub fn original(&self, handle: String) -> napi::Result<String> {
        self.0.original(&handle).map(|original| original.text.to_string()).map_err(thrown)
    }

    /// A page of an original.
    #[napi]
    pub fn recall(&self, handle: String, look: String) -> napi::Result<String> {
        let look = Look::read(&look).map_err(thrown)?;
        self.0.recall(&handle, &look).map_err(thrown)
    }

    /// Everything that is remembered.
    #[napi]
    pub fn save(&self) -> String {
        self.0.save()
    }

    /// How things stand, as JSON.
    #[napi]
    pub fn status(&self) -> String {
        self.0.status()
    }
}

/// A finished compaction.
#[napi]
pub struct Done(Box<embed::Done>);

/// A text that was removed.
#[napi(object)]
pub struct Original {
    /// Its address.
    pub handle: String,
    /// The tool whose output it was.
    pub tool: String,
    /// The text.
    pub text: String,
}

#[napi]
impl Done {
    /// The new body, if there is one.
    #[napi(getter)]
    pub fn body(&self) -> Option<&str> {
        self.0.body.as_deref()
    }

    /// The report, as JSON.
    #[napi(getter)]
    pub fn report(&self) -> &str {
        &self.0.report
    }

    /// Which messages were kept; -1 for those that are new or changed.
    #[napi(getter)]
    pub fn kept(&self) -> Vec<i32> {
        self.0.kept.iter().map(|kept| kept.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1)).collect()
    }

    /// What was removed.
    #[napi(getter)]
    pub fn originals(&self) -> Vec<Original> {
        let originals = self.0.originals.iter().map(|original| Original {
            handle: original.handle.clone(),
            tool: original.tool.clone(),
            text: original.text.to_string(),
        });
        originals.collect()
    }
}

/// A compaction that waits for a model. It is answered once.
#[napi]
pub struct Pending(Option<Box<embed::Pending>>);

/// What a model is asked.
#[napi(object)]
pub struct Prompt {
    /// Who it is.
    pub system: String,
    /// What it shall do.
    pub user: String,
    /// Tokens that its reply may take.
    pub max_tokens: u32,
}

#[napi]
impl Pending {
    /// What the model is to be asked.
    #[napi(getter)]
    pub fn prompt(&self) -> napi::Result<Prompt> {
        let prompt = self.0.as_ref().ok_or_else(answered)?.prompt();
        Ok(Prompt { system: prompt.system.clone(), user: prompt.user.clone(), max_tokens: prompt.max_tokens })
    }

    /// Goes on with the model's words, or with why there are none, while the caller waits.
    #[napi]
    pub fn answer_sync(&mut self, text: Option<String>, error: String) -> napi::Result<Either<Done, Pending>> {
        let pending = self.0.take().ok_or_else(answered)?;
        pending.answer(text.as_deref().ok_or(&error)).map(told).map_err(thrown)
    }

    /// The same on another thread.
    #[napi(ts_return_type = "Promise<Done | Pending>")]
    pub fn answer(&mut self, text: Option<String>, error: String) -> napi::Result<AsyncTask<Work>> {
        let pending = self.0.take().ok_or_else(answered)?;
        Ok(AsyncTask::new(Work::Answer(Some(pending), text.ok_or(error))))
    }
}

/// What a thread of Node's pool does.
pub enum Work {
    /// A compaction from its beginning.
    Compact(embed::Session, String, Option<Ask>),
    /// A compaction whose model has answered.
    Answer(Option<Box<embed::Pending>>, Result<String, String>),
}

impl Task for Work {
    type Output = Step;
    type JsValue = Either<Done, Pending>;

    fn compute(&mut self) -> napi::Result<Step> {
        match self {
            Work::Compact(session, body, ask) => session.compact(body, ask.take().unwrap_or_default()).map_err(thrown),
            Work::Answer(pending, heard) => {
                let heard = heard.as_deref().map_err(String::as_str);
                pending.take().ok_or_else(answered)?.answer(heard).map_err(thrown)
            }
        }
    }

    fn resolve(&mut self, _: Env, step: Step) -> napi::Result<Either<Done, Pending>> {
        Ok(told(step))
    }
}

fn told(step: Step) -> Either<Done, Pending> {
    match step {
        Step::Done(done) => Either::A(Done(done)),
        Step::Asks(pending) => Either::B(Pending(Some(pending))),
    }
}

fn answered() -> napi::Error {
    napi::Error::from_reason("OptionError: this compaction has been answered already")
}
