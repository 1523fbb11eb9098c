//! Reads the terms of a key from the command line.

use foldline_gateway::serve::dates;
use foldline_store::KeyScope;

/// A scope by its name.
pub fn scope(text: &str) -> Result<KeyScope, String> {
    KeyScope::parse(text).ok_or_else(|| "expected generate, recall or operator".to_owned())
}

/// A number of tokens.
pub fn token_budget(text: &str) -> Result<u64, String> {
    let kind = foldline_core::settings::tokens(1, 1_000_000_000_000);
    let number = kind.read(text).ok().and_then(|value| value.as_u64());
    number.ok_or_else(|| format!("expected {}, as 500000 or 500k", kind.expected()))
}

/// An amount of dollars.
pub fn dollar_budget(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    let is_amount = |amount: &f64| *amount > 0.0 && *amount <= 1_000_000.0;
    amount.filter(is_amount).ok_or_else(|| "expected an amount above 0, as 5 or 0.50".to_owned())
}

/// `PROVIDER=VARIABLE`. A value in place of the name would be a secret in the store and in the history of the shell.
pub fn mapping(text: &str) -> Result<(String, String), String> {
    let (provider, variable) = text.split_once('=').ok_or("expected PROVIDER=VARIABLE, as openai=OPENAI_API_KEY")?;
    if !["openai", "anthropic", "google"].contains(&provider) {
        return Err("unknown provider; expected openai, anthropic or google".to_owned());
    }
    let variable = variable.trim_start_matches('$');
    let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    match !variable.is_empty() && variable.len() <= 64 && variable.bytes().all(is_plain) {
        true => Ok((provider.to_owned(), variable.to_owned())),
        false => Err("expected the name of an environment variable in capitals, never a key itself".to_owned()),
    }
}

/// A span of time from now, or a date.
pub fn expiry(text: &str, now_ms: i64) -> Result<i64, String> {
    let time = match span(text) {
        Some(span) => now_ms.checked_add(span).ok_or("too far in the future")?,
        None => dates::parse(text).map_err(|error| format!("{error}, or a span such as 30d or 12h"))?,
    };
    if time > now_ms { Ok(time) } else { Err("expected a time in the future".to_owned()) }
}

fn span(text: &str) -> Option<i64> {
    let hour = 3_600_000;
    let (number, unit) = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => (days, 24 * hour),
        (None, Some(hours)) => (hours, hour),
        (None, None) => return None,
    };
    number.parse::<u32>().ok().and_then(|number| i64::from(number).checked_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_after_a_span_or_at_a_date() {
        let day = 86_400_000;
        assert_eq!(expiry("30d", 5), Ok(30 * day + 5));
        assert_eq!(expiry("12h", 0), Ok(day / 2));
        assert_eq!(expiry("1970-01-03", day), Ok(2 * day));
        for wrong in ["", "d", "-1d", "soon", "0d", "1970-01-01", "30"] {
            assert!(expiry(wrong, day).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_mapping_names_a_variable_and_never_a_key() {
        assert_eq!(mapping("openai=$OPENAI_API_KEY"), Ok(("openai".to_owned(), "OPENAI_API_KEY".to_owned())));
        for wrong in ["openai", "openai=", "azure=KEY", "openai=sk-something", "openai=A B"] {
            assert!(mapping(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn budgets_are_above_nothing() {
        assert_eq!((token_budget("1M"), dollar_budget("$2.50")), (Ok(1_000_000), Ok(2.5)));
        for wrong in ["0", "-1", "NaN", "inf", "many"] {
            assert!(token_budget(wrong).is_err() && dollar_budget(wrong).is_err(), "{wrong}");
        }
    }
}
