use serde_json::{Value, json};

use crate::policy::*;
use crate::settings::{Knob, ValueKind};

/// A document with only this key.
fn document(knob: &Knob, value: &Value) -> Value {
    json!({ knob.section(): { knob.name(): value } })
}

/// Values to try on every knob: some right, some wrong, for each kind.
fn samples(knob: &Knob) -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(0.5),
        json!(1.4),
        json!(7),
        json!(20_000),
        json!(1e15),
        json!(""),
        json!("auto"),
        json!("nonsense"),
        json!("20k"),
        json!("-2k"),
        json!("k"),
        json!([]),
        json!(["todo"]),
        json!([1]),
        json!({}),
    ];
    values.extend(knob.kind.words().iter().map(|word| json!(word)));
    match knob.kind {
        ValueKind::Fraction { min, max, .. } => {
            values.extend([json!(min), json!(max), json!(min - 1e-9), json!(max + 1e-9)]);
        }
        ValueKind::Whole { min, max, .. } => {
            values.extend([json!(min), json!(max), json!(max + 1)]);
            values.extend(min.checked_sub(1).map(|below| json!(below)));
        }
        _ => {}
    }
    values
}

#[test]
fn the_schema_is_valid_and_accepts_every_preset() {
    let schema = Policy::sections().json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&json!({})));
    for preset in Preset::ALL {
        let mut document = json!({});
        for knob in Policy::sections().knobs() {
            document[knob.section()][knob.name()] = Policy::of(*preset).value(knob.key).unwrap();
        }
        let faults: Vec<_> = validator.iter_errors(&document).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{preset}: {faults:?}");
    }
}

#[test]
fn the_schema_and_the_check_agree_on_every_sample() {
    let validator = jsonschema::validator_for(&Policy::sections().json_schema()).unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for knob in Policy::sections().knobs() {
        for value in samples(knob) {
            let by_check = knob.kind.check(&value).is_ok();
            let by_schema = validator.is_valid(&document(knob, &value));
            // Shorthand is text to a schema, which cannot see its size.
            let shorthand = value == json!("20k");
            assert!(by_check == by_schema || shorthand, "{}: {value}: {by_check} {by_schema}", knob.key);
            if by_check { accepted += 1 } else { refused += 1 }
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} {refused}");
}

#[test]
fn the_schema_refuses_unknown_keys_and_sections() {
    let validator = jsonschema::validator_for(&Policy::sections().json_schema()).unwrap();
    assert!(!validator.is_valid(&json!({ "compression": { "treshold": 0.5 } })));
    assert!(!validator.is_valid(&json!({ "compresion": {} })));
}
