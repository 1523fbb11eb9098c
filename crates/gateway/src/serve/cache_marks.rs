//! Sets cache marks on requests to Claude whose client sets none.
//!
//! This is the one place between a rewritten request and the wire in which marks are set. The layout is the core's to
//! decide; a request that carries marks of its own keeps them as they are.

use super::rewrite::transcript;
use super::setup::Setup;
use crate::conversation::Dialect;
use foldline_core::cache::{Layout, marks};
use foldline_core::policy::CacheTtl;
use foldline_transcript::Structure;
use std::borrow::Cow;
use std::sync::Arc;

/// Shorter requests are below every model's least cacheable prefix; they go out as they came.
const LEAST_BYTES: usize = 4 << 10;

/// Whether marks are set, and for how long what they mark is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// The client's marks only.
    Off,
    /// Ours where there are none.
    On(CacheTtl),
}

impl Marking {
    /// What the settings say.
    pub fn of(setup: &Setup) -> Marking {
        if setup.gateway.cache_marks { Marking::On(setup.policy.model.cache_ttl) } else { Marking::Off }
    }
}

/// The body with cache marks, where its provider reads them and the client left them to us. `structure` is where everything
/// stands in it, as far as that is known.
pub fn place<'b>(
    dialect: Dialect,
    marking: Marking,
    body: Cow<'b, str>,
    structure: &mut Option<Arc<Structure>>,
) -> Cow<'b, str> {
    let Marking::On(ttl) = marking else { return body };
    let has_marks = || memchr::memmem::find(body.as_bytes(), b"\"cache_control\"").is_some();
    if dialect != Dialect::Messages || body.len() < LEAST_BYTES || has_marks() {
        return body;
    }
    let Some(transcript) = transcript(&body, dialect, structure.clone()) else { return body };
    // Other models behind this API cache by themselves, or not at all.
    if !transcript.model.as_deref().is_some_and(|model| model.contains("claude")) {
        return body;
    }
    let edits = marks::edits(&transcript, Layout::Auto, ttl, marks::Carrier::Native);
    if edits.is_empty() {
        return body;
    }
    let marked = edits.splice(&body);
    *structure = None;
    Cow::Owned(marked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foldline_transcript::wire;

    fn placed(dialect: Dialect, marking: Marking, body: &str) -> String {
        place(dialect, marking, Cow::Borrowed(body), &mut None).into_owned()
    }

    fn body(model: &str, content: &str) -> String {
        let turns: Vec<String> = (0..6)
            .map(|turn| match turn % 2 {
                0 => format!(r#"{{"role":"user","content":{content}}}"#),
                _ => r#"{"role":"assistant","content":"Done."}"#.to_owned(),
            })
            .collect();
        let system = "Be brief. ".repeat(500);
        format!(r#"{{"model":"{model}","system":"{system}","messages":[{}]}}"#, turns.join(","))
    }

    fn marks_in(body: &str) -> usize {
        body.matches("cache_control").count()
    }

    #[test]
    fn a_request_to_claude_without_marks_gets_up_to_four() {
        let plain = body("claude-sonnet-4-5", "\"Go on.\"");
        let marked = placed(Dialect::Messages, Marking::On(CacheTtl::FiveMinutes), &plain);
        assert!((2..=4).contains(&marks_in(&marked)), "{marked}");
        assert!(foldline_transcript::validate::validate(&wire::read(&marked, None).unwrap()).is_empty());
    }

    #[test]
    fn marks_of_the_client_other_models_and_the_setting_leave_it_as_it_came() {
        let own =
            body("claude-sonnet-4-5", r#"[{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]"#);
        let other = body("qwen", "\"Go on.\"");
        let plain = body("claude-sonnet-4-5", "\"Go on.\"");
        let on = Marking::On(CacheTtl::FiveMinutes);
        for (text, marking) in [(&own, on), (&other, on), (&plain, Marking::Off)] {
            assert_eq!(placed(Dialect::Messages, marking, text), *text);
        }
        assert_eq!(placed(Dialect::Chat, on, &plain), plain);
    }
}
