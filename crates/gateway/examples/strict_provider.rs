//! A provider for tests of clients: always the same words, but only to requests that its vendor would accept.
#![allow(clippy::print_stdout)]

use foldline_script::{Provider, Strict};

/// Tokens that fit, four bytes each.
const WINDOW: usize = 16_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let strict = Strict::new(WINDOW);
    let provider = Provider::choosing(move |request, _| strict.judge(request, "Go on.")).await?;
    println!("{}", provider.url());
    std::future::pending().await
}
