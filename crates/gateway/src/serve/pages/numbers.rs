//! Figures as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A whole number in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Tokens in short: `812`, `14.2k`, `1.3M`.
pub fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{:.1}k", tokens as f64 / 1_000.0),
        _ => format!("{:.1}M", tokens as f64 / 1_000_000.0),
    }
}

/// Dollars, to cents, or to hundredths of them where it is less than one.
pub fn dollars(amount: f64) -> String {
    let sign = if amount < -0.000_05 { "−" } else { "" };
    let amount = amount.abs();
    match amount {
        _ if amount < 0.000_05 => "$0".to_owned(),
        _ if amount < 0.1 => format!("{sign}${amount:.4}"),
        _ => format!("{sign}${amount:.2}"),
    }
}

/// A part of a whole in percent.
pub fn percent(part: u64, whole: u64) -> String {
    (part * 100 + whole / 2).checked_div(whole).map_or_else(|| "–".to_owned(), |share| format!("{share} %"))
}

/// A moment in UTC to the second.
pub fn moment(millis: i64) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(moment) if millis > 0 => moment.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        _ => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_exact_enough() {
        assert_eq!(
            (grouped(0).as_str(), grouped(1_234_567).as_str(), grouped(999).as_str()),
            ("0", "1,234,567", "999")
        );
        assert_eq!((short(812), short(14_230), short(1_300_000)), ("812".into(), "14.2k".into(), "1.3M".into()));
        assert_eq!((dollars(0.0), dollars(0.01234), dollars(-3.5)), ("$0".into(), "$0.0123".into(), "−$3.50".into()));
        assert_eq!((percent(1, 3), percent(0, 0)), ("33 %".into(), "–".into()));
        assert_eq!(moment(1_769_860_800_250), "2026-01-31 12:00:00 UTC");
        assert_eq!(moment(0), "–");
    }
}
