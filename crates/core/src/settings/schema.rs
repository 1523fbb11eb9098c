//! JSON Schema (draft 2020-12) of a settings file, made from the table.

use serde_json::{Map, Value, json};

use super::choice::Preset;
use super::kind::{Unit, ValueKind};
use super::knob::Knob;

/// The schema. It accepts what [`super::Sections::resolve`] accepts from a file, except that it cannot see
/// contradictions between two keys.
pub(super) fn json_schema(knobs: &[&'static Knob]) -> Value {
    let mut sections = Map::new();
    for knob in knobs {
        let section = sections
            .entry(knob.section())
            .or_insert_with(|| json!({ "type": "object", "additionalProperties": false, "properties": {} }));
        if let Some(Value::Object(properties)) = section.get_mut("properties") {
            properties.insert(knob.name().to_owned(), property(knob));
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Foldline settings",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    })
}

/// The schema of one knob.
fn property(knob: &Knob) -> Value {
    let mut schema = accepted(&knob.kind);
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), Value::from(knob.doc.trim()));
        schema.insert("default".to_owned(), knob.canonical_in(Preset::DEFAULT));
    }
    schema
}

/// The values that a kind accepts.
fn accepted(kind: &ValueKind) -> Value {
    match kind {
        ValueKind::Flag => json!({ "type": "boolean" }),
        ValueKind::Fraction { min, max, words } => {
            any_of(vec![json!({ "type": "number", "minimum": min, "maximum": max })], words)
        }
        ValueKind::Whole { min, max, unit, words } => {
            let mut forms = vec![json!({ "type": "integer", "minimum": min, "maximum": max })];
            if *unit != Unit::Items {
                forms.push(json!({ "type": "string", "pattern": SHORTHAND }));
            }
            any_of(forms, words)
        }
        ValueKind::Choice { names } => json!({ "type": "string", "enum": names }),
        ValueKind::Text => json!({ "type": ["string", "null"] }),
        ValueKind::Names | ValueKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
    }
}

/// `200k` and `1.5M`. A pattern cannot check the range; the program does.
const SHORTHAND: &str = "^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)[kKmM]$";

/// One of several forms, or one of the words.
fn any_of(mut forms: Vec<Value>, words: &[&str]) -> Value {
    if !words.is_empty() {
        forms.push(json!({ "enum": words }));
    }
    match forms.pop() {
        Some(only) if forms.is_empty() => only,
        Some(last) => {
            forms.push(last);
            json!({ "anyOf": forms })
        }
        None => json!({}),
    }
}
