//! Reads transcripts from a file or standard input.

use crate::args::{FormatName, Source};
use crate::failure::Failure;
use foldline_core::Format;
use foldline_transcript::Transcript;
use foldline_transcript::wire::{self, WireError};
use std::io::{IsTerminal, Read};
use std::path::Path;

/// A document and what to call it.
pub struct Document {
    /// Its text.
    pub text: String,
    /// The file's name, or `standard input`.
    pub name: String,
}

/// Reads the document that the user names.
pub fn read(source: &Source) -> Result<Document, Failure> {
    let (bytes, name) = match source.file.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let name = path.display().to_string();
            let bytes = std::fs::read(path).map_err(|error| Failure::input(format!("cannot read {name}: {error}")))?;
            (bytes, name)
        }
        None => {
            if source.file.is_none() {
                refuse_terminal("a transcript")?;
            }
            let mut bytes = Vec::new();
            let name = "standard input".to_owned();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::input(format!("cannot read {name}: {error}")))?;
            (bytes, name)
        }
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::input(format!("{name}: invalid UTF-8 at byte {at}; expected a transcript as JSON or JSON lines"))
    })?;
    // A byte order mark is how some editors say "this is UTF-8"; JSON knows none.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    if let Some(said) = format_of(source.format) {
        wire::check_format(&text, said).map_err(|error| {
            Failure::input(format!("{name}: {error}\nhint: without --format, the format is detected"))
        })?;
    }
    Ok(Document { text, name })
}

/// Fails if nobody names a file and standard input is a terminal: the command would wait without saying for what.
pub fn refuse_terminal(what: &str) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "no FILE is given and standard input is a terminal; name a file with {what}, or pipe one in\n\
         hint: `-` as FILE reads from the terminal; `--help` has examples"
    )))
}

/// Reads one of many documents in the format that the user says they have, unless its content contradicts that.
pub fn transcript(text: &str, said: Option<Format>) -> Result<Transcript<'_>, WireError> {
    if let Some(said) = said {
        wire::check_format(text, said)?;
    }
    wire::read(text, said)
}

/// The format that the user asks for.
pub fn format_of(name: FormatName) -> Option<Format> {
    match name {
        FormatName::Auto => None,
        FormatName::OpenaiChat => Some(Format::OpenAiChat),
        FormatName::OpenaiResponses => Some(Format::OpenAiResponses),
        FormatName::Anthropic => Some(Format::Anthropic),
        FormatName::ClaudeCode => Some(Format::ClaudeCode),
        FormatName::Sharegpt => Some(Format::ShareGpt),
        FormatName::Gemini => Some(Format::Gemini),
    }
}
