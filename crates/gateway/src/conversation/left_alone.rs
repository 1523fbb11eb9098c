//! Requests that are left alone on purpose.

use super::incoming::{Bypass, IncomingTurn};
use super::parsed_request::ParsedRequest;
use super::prepared::Outcome;
use super::purpose::Purpose;
use super::shared::Rules;

/// Why a request is left alone, if it is.
pub(super) fn left_alone(
    rules: &Rules,
    ask: &IncomingTurn<'_>,
    parsed: &ParsedRequest<'_>,
    purpose: Purpose,
) -> Option<Outcome> {
    let settings = &rules.settings;
    if ask.bypass == Bypass::Wanted
        || purpose == Purpose::Side
        || parsed.is_continued
        || settings.bypass_models.iter().any(|pattern| matches(pattern, parsed.model()))
        || offers(parsed, &settings.bypass_tools)
    {
        return Some(Outcome::Bypassed);
    }
    if !settings.policy.compression.enabled {
        return Some(Outcome::Unchanged);
    }
    (settings.holdout > 0.0 && share(parsed.session.as_str()) < settings.holdout).then_some(Outcome::Holdout)
}

/// Whether a name is meant: the same, or the same up to a final `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(stem) => name.starts_with(stem),
        None => name == pattern,
    }
}

/// Whether a request offers one of these tools.
fn offers(parsed: &ParsedRequest<'_>, tools: &[String]) -> bool {
    let Some(span) = parsed.transcript.tools.filter(|_| !tools.is_empty()) else {
        return false;
    };
    let offered: serde_json::Value = serde_json::from_str(parsed.transcript.raw(span)).unwrap_or_default();
    let names =
        offered.as_array().into_iter().flatten().flat_map(|tool| [tool.get("name"), tool.pointer("/function/name")]);
    names.flatten().filter_map(|name| name.as_str()).any(|name| tools.iter().any(|tool| tool == name))
}

/// A number between 0 and 1 that a session always gets.
fn share(session: &str) -> f64 {
    let digest = blake3::hash(session.as_bytes());
    let bytes = digest.as_bytes().first_chunk::<4>().copied().unwrap_or_default();
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}
