//! One field of an object, looked up again in the source: where its pair is, how to take it out,
//! how to set it. The reader keeps spans of what every transcript needs; this is for the rest.

use super::json::{JsonError, Scanner};
use crate::edit::{Edit, Span};

/// Where a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// `"key": value`
    pub pair: Span,
    /// The value.
    pub value: Span,
    /// What to delete so that the pair is gone and the object stays well formed.
    pub removal: Span,
}

/// Ends a scan when what was looked for is found; no text is that long.
const FOUND: usize = usize::MAX;

/// The first field named `key` of the object at `object`. Stops at the hit: the fields that are
/// asked for mostly stand first.
pub fn find(text: &str, object: Span, key: &str) -> Option<Field> {
    let mut hit = None;
    // The walk ends with an error of our own at the hit; damage cannot occur, the reader saw it all.
    let _ = each(text, object, |name, field| {
        if name == key {
            hit = Some(field);
        }
        hit.is_none()
    });
    hit
}

/// The value of a field.
pub fn value(text: &str, object: Span, key: &str) -> Option<Span> {
    find(text, object, key).map(|field| field.value)
}

/// The inside of a field's string; empty when there is none.
pub fn word<'a>(text: &'a str, object: Span, key: &str) -> &'a str {
    match value(text, object, key) {
        Some(value) if value.of(text).starts_with('"') => value.inner().of(text),
        _ => "",
    }
}

/// All fields of an object with their decoded names.
pub fn all(text: &str, object: Span) -> Vec<(String, Field)> {
    let mut fields = Vec::new();
    let _ = each(text, object, |name, field| {
        fields.push((name.to_owned(), field));
        true
    });
    fields
}

/// The edit that gives `key` the value `json`: in place of what it has, or as first field.
pub fn set(text: &str, object: Span, key: &str, json: &str) -> Edit {
    match find(text, object, key) {
        Some(field) => Edit { span: field.value, text: json.to_owned() },
        None => {
            let inside = (object.start + 1) as usize;
            let more = text.get(inside..).is_some_and(|rest| !rest.trim_start().starts_with('}'));
            let comma = if more { "," } else { "" };
            Edit { span: Span::new(inside, inside), text: format!("\"{key}\":{json}{comma}") }
        }
    }
}

/// Calls `visit` with every field until it returns `false`.
fn each(text: &str, object: Span, mut visit: impl FnMut(&str, Field) -> bool) -> Result<(), JsonError> {
    let mut scanner = Scanner::new(text, object.start as usize);
    // End of the value before, or the inside of the opening brace.
    let mut before = object.start as usize + 1;
    let mut is_first = true;
    scanner.object(|scanner, name| {
        let value = scanner.skip()?;
        let end = value.end as usize;
        let pair = Span::new(skip_space(text, before, Comma::Skipped), end);
        let removal = match is_first {
            true => Span::new(pair.start as usize, skip_space(text, end, Comma::Skipped)),
            false => Span::new(before, end),
        };
        before = end;
        is_first = false;
        match visit(name, Field { pair, value, removal }) {
            true => Ok(()),
            false => Err(JsonError { offset: FOUND, message: "".into(), element: None }),
        }
    })?;
    Ok(())
}

/// Whether one comma is passed over together with the space around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comma {
    Skipped,
    Kept,
}

fn skip_space(text: &str, from: usize, comma: Comma) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while matches!(bytes.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    match (comma, bytes.get(at)) {
        (Comma::Skipped, Some(b',')) => skip_space(text, at + 1, Comma::Kept),
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::Edits;

    fn without(object: &str, key: &str) -> String {
        let mut edits = Edits::new();
        edits.delete(find(object, Span::new(0, object.len()), key).unwrap().removal);
        edits.splice(object)
    }

    #[test]
    fn a_field_leaves_no_comma_behind() {
        let object = r#"{ "a" : 1 , "b": {"c":[1,2]}, "d":"x" }"#;
        assert_eq!(without(object, "a"), r#"{ "b": {"c":[1,2]}, "d":"x" }"#);
        assert_eq!(without(object, "b"), r#"{ "a" : 1, "d":"x" }"#);
        assert_eq!(without(object, "d"), r#"{ "a" : 1 , "b": {"c":[1,2]} }"#);
        assert_eq!(without(r#"{"a":1}"#, "a"), "{}");
    }

    #[test]
    fn a_field_is_set_in_place_or_first() {
        let set_in = |object: &str, key: &str| {
            let edit = set(object, Span::new(0, object.len()), key, "7");
            let mut edits = Edits::new();
            edits.replace(edit.span, edit.text);
            edits.splice(object)
        };
        assert_eq!(set_in(r#"{"a":1,"b":null}"#, "b"), r#"{"a":1,"b":7}"#);
        assert_eq!(set_in(r#"{"a":1}"#, "c"), r#"{"c":7,"a":1}"#);
        assert_eq!(set_in("{ }", "c"), r#"{"c":7 }"#);
    }
}
