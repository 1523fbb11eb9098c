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

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_no_plural() {
        assert_eq!(
            [counted(1, "line"), counted(0, "entry"), counted(2, "match"), counted(3, "file"), counted(4, "key")],
            ["1 line", "0 entries", "2 matches", "3 files", "4 keys"]
        );
    }
}
