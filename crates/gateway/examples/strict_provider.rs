//! A provider for tests of clients: always the same words, but only to requests that its vendor would accept.
#![allow(clippy::print_stdout)]

use foldline_core::validate::validate;
use foldline_core::{Format, wire};
use foldline_script::{Act, Provider, Received};

/// Tokens that fit, four bytes each.
const WINDOW: usize = 16_000;

fn answer(request: &Received) -> Act {
    let format = match request.uri.path() {
        path if path.ends_with("/messages") => Format::Anthropic,
        path if path.ends_with("/responses") => Format::OpenAiResponses,
        _ => Format::OpenAiChat,
    };
    let text = request.text();
    match wire::read(&text, Some(format)) {
        Err(error) => Act::error(422, "invalid_request_error", &error.to_string()),
        Ok(transcript) => match validate(&transcript).first() {
            Some(violation) => Act::error(422, "invalid_request_error", &format!("{violation:?}")),
            None if text.len() / 4 > WINDOW => Act::error(413, "request_too_large", "more than the window holds"),
            None => Act::say("Go on."),
        },
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let provider = Provider::choosing(|request, _| answer(request)).await?;
    println!("{}", provider.url());
    std::future::pending().await
}
