//! The native module behind the package for Node: texts in, texts out. What takes long runs on a thread of Node's pool,
//! or, where the caller wants to wait, on its own. What users call is in `index.js`.

mod errors;
mod session;

use errors::thrown;
use foldline_embed as embed;
use napi_derive::napi;

/// Violations of a body as JSON.
#[napi]
pub fn validate(body: String, format: Option<String>) -> napi::Result<String> {
    embed::validate(&body, format.as_deref()).map_err(thrown)
}

/// A text without its secrets.
#[napi]
pub fn redact(text: String, mode: String) -> napi::Result<String> {
    embed::redact(&text, &mode).map_err(thrown)
}

/// A shorter output.
#[napi(object)]
pub struct Reduced {
    /// Such as `log` or `test-report`.
    pub kind: String,
    /// What is left.
    pub text: String,
}

/// One tool output, shorter, or nothing.
#[napi]
pub fn reduce(text: String, tool: String, argument: String) -> Option<Reduced> {
    embed::reduce(&text, &tool, &argument).map(|shorter| Reduced { kind: shorter.kind, text: shorter.text })
}

/// Tokens of a body.
#[napi]
pub fn count(body: String, model: Option<String>, format: Option<String>) -> napi::Result<f64> {
    embed::count(&body, model.as_deref(), format.as_deref()).map(|tokens| tokens as f64).map_err(thrown)
}

/// Tokens of a text.
#[napi]
pub fn count_text(text: String, model: Option<String>) -> f64 {
    embed::count_text(&text, model.as_deref()) as f64
}

/// The version of the package.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
