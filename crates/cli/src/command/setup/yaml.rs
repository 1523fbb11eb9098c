//! A block under a top-level key of a YAML file, set as text: everything else stays byte for byte.

/// Sets `key:` → `name:` → `lines`, block style, two spaces deep. A block of that name is replaced.
pub fn set(text: &str, key: &str, name: &str, lines: &[String]) -> Result<String, String> {
    let head = format!("{key}:");
    let block: String =
        std::iter::once(format!("  {name}:\n")).chain(lines.iter().map(|line| format!("    {line}\n"))).collect();
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(at) = all.iter().position(|line| line.trim_end().strip_prefix(&head).is_some_and(is_nothing)) else {
        if all.iter().any(|line| line.starts_with(&head)) {
            return Err(format!("`{key}:` is not written as a block; add `{name}` to it by hand"));
        }
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{gap}{head}\n{block}"));
    };
    let inside = |line: &&&str| line.starts_with(' ') || line.trim().is_empty() || line.starts_with('#');
    let end = at + 1 + all.iter().skip(at + 1).take_while(inside).count();
    // Empty lines and comments before the next key belong to it.
    let end = (at + 1..end)
        .rev()
        .find(|&line| all.get(line).is_some_and(|line| line.starts_with(' ')))
        .map_or(at + 1, |last| last + 1);
    let of_name = |line: &&str| {
        line.trim_end().strip_prefix("  ").and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest == ":")
    };
    let own = (at + 1..end).find(|&line| all.get(line).is_some_and(of_name));
    let (start, stop) = match own {
        Some(start) => {
            let deeper = |line: &&&str| line.starts_with("   ") || line.trim().is_empty();
            (start, start + 1 + all.get(start + 1..end).unwrap_or_default().iter().take_while(deeper).count())
        }
        None => (end, end),
    };
    let join = |lines: Option<&[&str]>| lines.unwrap_or_default().concat();
    let before = join(all.get(..start));
    let gap = if before.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{before}{gap}{block}{}", join(all.get(stop..))))
}

fn is_nothing(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        vec!["command: foldline".to_owned(), "args: [mcp]".to_owned()]
    }

    #[test]
    fn a_block_is_added_replaced_and_nothing_else_changes() {
        let text = "# mine\nmodel:\n  default: x # keep\nmcp_servers: # tools\n  other:\n    command: y\n\n# next\nagent:\n  max_turns: 4\n";
        let added = set(text, "mcp_servers", "foldline", &lines()).unwrap();
        assert_eq!(
            added,
            text.replace("    command: y\n", "    command: y\n  foldline:\n    command: foldline\n    args: [mcp]\n")
        );
        assert_eq!(set(&added, "mcp_servers", "foldline", &lines()).unwrap(), added);
        let other = set(&added, "mcp_servers", "foldline", &["command: z".to_owned()]).unwrap();
        assert_eq!(other, text.replace("    command: y\n", "    command: y\n  foldline:\n    command: z\n"));
    }

    #[test]
    fn a_missing_key_is_added_at_the_end_and_another_style_is_left_alone() {
        assert_eq!(set("a: 1", "m", "n", &["k: v".to_owned()]).unwrap(), "a: 1\nm:\n  n:\n    k: v\n");
        assert_eq!(set("", "m", "n", &["k: v".to_owned()]).unwrap(), "m:\n  n:\n    k: v\n");
        assert!(set("m: {x: 1}\n", "m", "n", &[]).unwrap_err().contains("by hand"));
    }
}
