//! Sends a single prompt to the summariser's endpoint.

use super::write::{Progress, Summariser};
use foldline_core::summary::{Ask, Failure};
use foldline_redact::{Mode, redact};

impl Summariser {
    /// What the first endpoint replies to a prompt, asked again where a failure may pass. Secrets are masked before it
    /// leaves. `system` says who the model is, `user` what it shall do, `reply` how many tokens it may say.
    pub async fn ask(
        &self,
        system: &str,
        user: &str,
        reply: u32,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<String, Failure> {
        let masked = |text: &str| redact(text, Mode::Text).into_owned();
        let ask = Ask::Prompt { system: masked(system), user: masked(user), reply };
        let mut tries = 0;
        loop {
            let missed = match self.send(&self.first, &ask, progress, &mut Vec::new()).await {
                Ok(text) => return Ok(text),
                Err(missed) => missed,
            };
            let Some(pause) = missed.pause(tries, self.limits.retries) else {
                return Err(Failure { calls: tries + 1, ..missed.failure });
            };
            tries += 1;
            progress(Progress::Waiting { pause, failure: missed.failure });
            tokio::time::sleep(pause).await;
        }
    }
}
