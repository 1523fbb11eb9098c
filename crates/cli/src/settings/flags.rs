//! Settings from the command line: `--set key=value`, and flags that stand for a key.

use foldline_core::settings::{Given, Layer, Origin, Setting};

use super::{SettingsError, sections};

/// A flag that stands for a key: `--preset runway`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// The flag as users know it, with its dashes.
    pub flag: &'static str,
    /// The key it sets.
    pub key: &'static str,
    /// The value, as typed.
    pub value: String,
}

/// The section whose keys may be typed without it.
const SHORT_SECTION: &str = "compression";

/// The key that a short name stands for; what is no short name comes back as it is.
pub fn full_key(typed: &str) -> String {
    let full = format!("{SHORT_SECTION}.{typed}");
    let sections = sections();
    let short = sections.knob(typed).is_none() && sections.knob(&full).is_some();
    if short { full } else { typed.to_owned() }
}

/// The settings of all `--set`.
pub(super) fn set_layer(sets: &[String], errors: &mut Vec<SettingsError>) -> Layer {
    let mut settings = Vec::new();
    for text in sets {
        match text.split_once('=') {
            Some((key, value)) => settings.push(Setting {
                key: full_key(key.trim()),
                given: Given::Text(value.to_owned()),
                origin: Origin::Flag(format!("--set {text}")),
            }),
            None => errors.push(SettingsError::NoAssignment { text: text.clone() }),
        }
    }
    Layer { settings }
}

/// The settings of flags that stand for a key.
pub(super) fn flag_layer(flags: &[Flag]) -> Layer {
    let settings = flags.iter().map(|flag| Setting {
        key: flag.key.to_owned(),
        given: Given::Text(flag.value.clone()),
        origin: Origin::Flag(format!("{} {}", flag.flag, flag.value)),
    });
    Layer { settings: settings.collect() }
}
