//! The conversation itself as a prompt: everything that its provider has in the cache stays byte for
//! byte, and one more message asks for the record.

use foldline_redact::{Mode, find};
use foldline_transcript::edit::Span;
use foldline_transcript::rewrite::Rewrite;
use foldline_transcript::wire::compose::{self, Envelope, Side};
use foldline_transcript::wire::field;
use foldline_transcript::{Format, PartKind, Role, Shape, Transcript};

/// The request that asks for a record; `None` where the conversation cannot be sent as it is.
///
/// A secret in it would leave unmasked, and masking it would break the prefix: such a conversation is
/// written out instead.
pub(super) fn document(transcript: &Transcript<'_>, postscript: &str) -> Option<String> {
    let is_request = transcript.shape == Shape::Body
        && matches!(transcript.format, Format::OpenAiChat | Format::OpenAiResponses | Format::Anthropic);
    if !is_request || has_open_call(transcript) || !find(transcript.text, Mode::Text).is_empty() {
        return None;
    }
    let mut rewrite = Rewrite::default();
    let last = transcript.messages.len().checked_sub(1)?;
    let ends_with_user = transcript.messages.get(last)?.role == Role::User;
    if ends_with_user && transcript.format != Format::OpenAiResponses {
        compose::add_text(transcript, &mut rewrite, last, postscript, Side::Back);
    } else {
        let message = compose::text_message(transcript.format, Role::User, postscript, Envelope::default());
        rewrite.insert(last + 1, message);
    }
    let start = transcript.text.find('{')?;
    let stream = field::set(transcript.text, Span::new(start, transcript.text.len()), "stream", "true");
    rewrite.edits.replace(stream.span, stream.text);
    Some(rewrite.apply(transcript))
}

fn has_open_call(transcript: &Transcript<'_>) -> bool {
    (0..transcript.parts.len()).any(|index| {
        transcript.parts.get(index).is_some_and(|part| part.kind == PartKind::ToolCall)
            && transcript.exchanges.result_of(index).is_none()
    })
}
