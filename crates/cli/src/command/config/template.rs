//! A settings file with every key as a comment.

use foldline_core::settings::{Preset, Sections, ValueKind};
use std::fmt::Write as _;

const HEAD: &str = "\
# Settings of Foldline. Remove the # directly before a key to change it; what stands there now is the default.
# Read are foldline.yaml in the working directory, else ~/.config/foldline/config.yaml, or what --config names.
# `foldline config show` prints the values in effect, `foldline help presets` explains the presets.
";

/// The file. Uncommented as it is, it changes nothing.
pub fn file(sections: &Sections) -> String {
    let mut out = HEAD.to_owned();
    let mut section = "";
    for knob in sections.knobs() {
        if knob.section() != section {
            section = knob.section();
            let _ = write!(out, "\n{section}:\n");
        }
        let value = match (&knob.kind, knob.value_in(Preset::DEFAULT)) {
            (ValueKind::Names | ValueKind::Texts, "") => "[]",
            (_, "") => "null",
            (_, value) => value,
        };
        let _ = write!(out, "  # {} ({})\n  #{}: {value}\n", knob.doc.trim(), knob.kind.expected(), knob.name());
    }
    out
}
