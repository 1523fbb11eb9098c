//! How counts are written for people and models.

/// `1 line`, `3 lines`, `0 entries`.
pub fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o']))) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// A number with commas: `1,204`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{counted, grouped};

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(
            [counted(1, "line"), counted(0, "entry"), counted(2, "match"), counted(3, "file"), counted(4, "key")],
            ["1 line", "0 entries", "2 matches", "3 files", "4 keys"]
        );
    }
}
