//! Settings from the environment: one variable per key.

use std::collections::BTreeMap;

use foldline_core::settings::{Given, Knob, Layer, Origin, Setting};

use super::sections;

/// The variable of a knob: `FOLDLINE_COMPRESSION_THRESHOLD` for `compression.threshold`.
pub fn variable(knob: &Knob) -> String {
    format!("FOLDLINE_{}_{}", knob.section(), knob.name()).to_ascii_uppercase()
}

/// Keys and tokens of services are read from variables with this end. They are secrets, never settings,
/// and must not be named in an error.
const SECRET_END: &str = "_KEY";

/// The settings among the variables. A variable that names a section but no key of it is an error of
/// spelling, so it is handed on for the table to refuse; other variables are not ours.
pub(super) fn layer(vars: &BTreeMap<String, String>) -> Layer {
    let by_name: BTreeMap<String, &Knob> = sections().knobs().into_iter().map(|knob| (variable(knob), knob)).collect();
    let mut settings = Vec::new();
    for (name, value) in vars {
        if value.is_empty() || name.ends_with(SECRET_END) {
            continue;
        }
        let key = match by_name.get(name) {
            Some(knob) => Some(knob.key.to_owned()),
            None => misspelt(name),
        };
        settings.extend(key.map(|key| Setting {
            key,
            given: Given::Text(value.clone()),
            origin: Origin::Env(name.clone()),
        }));
    }
    Layer { settings }
}

/// The key that a variable spells, when it begins like one of ours.
fn misspelt(name: &str) -> Option<String> {
    let rest = name.strip_prefix("FOLDLINE_")?.to_ascii_lowercase();
    let (section, key) = rest.split_once('_')?;
    sections().has(section).then(|| format!("{section}.{key}"))
}
