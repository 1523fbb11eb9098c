//! What a scripted provider does with one request.

use std::time::Duration;

/// One reaction.
#[derive(Clone, Debug)]
pub enum Act {
    /// Answers in the dialect of the request, with usage.
    Say {
        /// The words.
        text: String,
        /// A pause before each piece of a stream.
        pace: Duration,
    },
    /// Answers with these bytes.
    Raw {
        /// The status.
        status: u16,
        /// Headers beside the content type.
        headers: Vec<(String, String)>,
        /// The content type.
        content_type: String,
        /// The body.
        body: String,
    },
    /// Takes the request and never answers.
    Stall,
    /// Streams so many words and then says no more, with the connection open.
    StallAfter {
        /// The words.
        text: String,
        /// How many pieces come.
        pieces: usize,
    },
    /// Streams so many words and breaks the connection.
    CutAfter {
        /// The words.
        text: String,
        /// How many pieces come.
        pieces: usize,
    },
    /// Streams so many words and ends the body in good order, without the event that says so.
    EndAfter {
        /// The words.
        text: String,
        /// How many pieces come.
        pieces: usize,
    },
    /// Streams some words and then an error event in the dialect of the request.
    FailAfter {
        /// The words.
        text: String,
        /// The vendor's name for the error.
        kind: String,
    },
    /// Streams words for ever.
    Babble,
    /// Closes the connection without a response.
    HangUp,
}

impl Act {
    /// Answers with these words.
    pub fn say(text: impl Into<String>) -> Act {
        Act::Say { text: text.into(), pace: Duration::ZERO }
    }

    /// Refuses with a status and a message, in the form that all three vendors understand.
    pub fn status(status: u16, message: &str) -> Act {
        Act::error(status, "error", message)
    }

    /// Refuses with a status, the vendor's name for the error and a message.
    pub fn error(status: u16, kind: &str, message: &str) -> Act {
        let body = serde_json::json!({ "type": "error", "error": { "type": kind, "code": kind, "message": message } });
        Act::Raw { status, headers: Vec::new(), content_type: "application/json".into(), body: body.to_string() }
    }

    /// The same act with one more header, for those that have headers.
    pub fn with_header(mut self, name: &str, value: &str) -> Act {
        if let Act::Raw { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}
