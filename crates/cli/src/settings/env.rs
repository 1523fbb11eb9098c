//! Settings from the environment: one variable per key.

use std::collections::BTreeMap;

use foldline_core::settings::{Given, Knob, Layer, Origin, Setting};

use super::flags::full_key;
use super::{CONFIG_VARIABLE, sections};

/// The variable of a knob: `FOLDLINE_COMPRESSION_THRESHOLD` for `compression.threshold`.
pub fn variable(knob: &Knob) -> String {
    format!("FOLDLINE_{}_{}", knob.section(), knob.name()).to_ascii_uppercase()
}

/// Keys and tokens of services are read from variables with this end. Unless a setting is called so, they are secrets
/// and must not be named in an error.
const SECRET_END: &str = "_KEY";

/// Variables that are no settings.
const OTHER: [&str; 2] = [CONFIG_VARIABLE, "FOLDLINE_LOG"];

/// Variables that are named after a flag instead of a key.
const FLAGS: [(&str, &str); 3] = [("model", "model.name"), ("window", "model.window"), ("store", "store.path")];

/// The settings among the variables. One that spells no key is handed on for the table to refuse when it names a
/// section or comes near a key; other variables are not ours.
pub(super) fn layer(vars: &BTreeMap<String, String>) -> Layer {
    let by_name: BTreeMap<String, &Knob> = sections().knobs().into_iter().map(|knob| (variable(knob), knob)).collect();
    let mut settings = Vec::new();
    for (name, value) in vars {
        let is_secret = name.ends_with(SECRET_END) && !by_name.contains_key(name);
        if value.is_empty() || is_secret || OTHER.contains(&name.as_str()) {
            continue;
        }
        let key = match by_name.get(name) {
            Some(knob) => Some(knob.key.to_owned()),
            None => short_or_misspelt(name),
        };
        settings.extend(key.map(|key| Setting {
            key,
            given: Given::Text(value.clone()),
            origin: Origin::Env(name.clone()),
        }));
    }
    Layer { settings }
}

/// The key that a variable spells without its section, as `--set` and flags do, or that it was probably meant to spell.
fn short_or_misspelt(name: &str) -> Option<String> {
    let rest = name.strip_prefix("FOLDLINE_")?.to_ascii_lowercase();
    if let Some((_, key)) = FLAGS.iter().find(|(flag, _)| *flag == rest) {
        return Some((*key).to_owned());
    }
    let (sections, short) = (sections(), full_key(&rest));
    if sections.knob(&short).is_some() {
        return Some(short);
    }
    match rest.split_once('_') {
        Some((section, key)) if sections.has(section) => Some(format!("{section}.{key}")),
        // A short word comes near many keys.
        _ => (rest.len() > 5 && sections.nearest_key(&rest).is_some()).then_some(rest),
    }
}
