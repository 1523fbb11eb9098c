//! Parses dates and times.

use jiff::Timestamp;

/// A text that is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid date `{0}`; expected a day such as 2026-01-31 (00:00 UTC) or a time such as 2026-01-31T12:00:00Z")]
pub struct WhenError(String);

/// Milliseconds since 1970 of a day's beginning in UTC, or of a moment with its zone.
pub fn parse(text: &str) -> Result<i64, WhenError> {
    let text = text.trim();
    let moment = format!("{text}T00:00:00Z").parse::<Timestamp>().or_else(|_| text.parse());
    moment.map(Timestamp::as_millisecond).map_err(|_| WhenError(text.chars().take(40).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_times() {
        assert_eq!(parse("1970-01-02").unwrap(), 86_400_000);
        assert_eq!(parse("1970-01-01T01:00:00+01:00").unwrap(), 0);
        for wrong in ["", "yesterday", "2026-13-01", "2026-01-31T12:00:00"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
