//! Values in a TOML file; comments, order and look of everything else stay.

use toml_edit::{DocumentMut, Item, Table, Value};

/// Sets the value at a path of keys; tables on the way are made where they are missing.
pub fn set(text: &str, path: &[&str], value: Value) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let (last, tables) = path.split_last().ok_or("no key is named")?;
    let mut table: &mut Table = document.as_table_mut();
    for (depth, key) in tables.iter().enumerate() {
        let is_deepest = depth + 1 == tables.len();
        let next = table.entry(key).or_insert_with(|| {
            let mut made = Table::new();
            // `[a.b]` needs no `[a]` before it.
            made.set_implicit(!is_deepest);
            Item::Table(made)
        });
        table = next.as_table_mut().ok_or_else(|| format!("`{key}` is no table"))?;
    }
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            let look = old.decor().clone();
            *old = value;
            *old.decor_mut() = look;
        }
        None => drop(table.insert(last, Item::Value(value))),
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_unknown_keys_stay() {
        let text = "# mine\nmodel = \"gpt\" # the model\nodd = { a = 1 }\n\n[mcp_servers.other]\ncommand = \"x\"\n";
        let changed = set(text, &["model"], "new".into()).unwrap();
        assert_eq!(changed, text.replace("\"gpt\"", "\"new\""));
        let changed = set(text, &["mcp_servers", "foldline", "command"], "foldline".into()).unwrap();
        assert_eq!(changed, format!("{text}\n[mcp_servers.foldline]\ncommand = \"foldline\"\n"));
        assert!(set(text, &["model", "x"], "y".into()).unwrap_err().contains("`model` is no table"));
        assert!(set("a = ", &["b"], "y".into()).is_err());
    }
}
