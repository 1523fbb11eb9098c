//! The table of knobs as Markdown, for the documentation.

use super::choice::Preset;
use super::knob::Knob;

/// One Markdown table per section: key, default, range, meaning, and what presets change.
pub(super) fn markdown(knobs: &[&'static Knob]) -> String {
    let mut out = String::new();
    let mut section = "";
    for knob in knobs {
        if knob.section() != section {
            section = knob.section();
            let gap = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{gap}### `{section}`\n\n"));
            out.push_str("| key | default | accepts | meaning | presets |\n|---|---|---|---|---|\n");
        }
        out.push_str(&row(knob));
    }
    out
}

/// One row of the table.
fn row(knob: &Knob) -> String {
    let presets: Vec<String> = Preset::ALL
        .iter()
        .filter_map(|preset| knob.preset(*preset).map(|value| format!("{preset}: `{value}`")))
        .collect();
    let default = if knob.default.is_empty() { "none".to_owned() } else { format!("`{}`", knob.default) };
    format!(
        "| `{}` | {default} | {} | {} | {} |\n",
        knob.name(),
        knob.kind.expected(),
        knob.doc.trim(),
        presets.join(", "),
    )
}
