//! Missed secrets in generated texts.

use super::sets::{Leaks, SETS};
use std::fmt::Write;

/// How much of every set leaks, by group, with the texts that do.
pub fn leaks() -> String {
    let mut out = String::new();
    for (name, shapes) in SETS {
        let leaks = Leaks::of(&shapes());
        let _ = writeln!(out, "{name} set\n{leaks}");
        for (group, text, masked) in leaks.texts() {
            let _ = writeln!(out, "  {group}: {text:?}\n      → {masked:?}");
        }
        out.push('\n');
    }
    out
}
