//! How counts are written for people and models.

/// `1 line`, `3 lines`, `0 entries`.
pub fn counted<N: Integer>(count: N, noun: &str) -> String {
    let count = count.to_string();
    match (count.as_str(), noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o']))) {
        ("1", _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// The types of counts.
pub trait Integer: Copy + std::fmt::Display {}

impl Integer for u8 {}
impl Integer for u32 {}
impl Integer for u64 {}
impl Integer for usize {}

/// A number with commas: `1,204`.
pub fn grouped<N: Integer>(number: N) -> String {
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
        assert_eq!([0u64, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!(
            [
                counted(1u32, "line"),
                counted(0u32, "entry"),
                counted(2u32, "match"),
                counted(3u32, "file"),
                counted(4u32, "key")
            ],
            ["1 line", "0 entries", "2 matches", "3 files", "4 keys"]
        );
    }
}
