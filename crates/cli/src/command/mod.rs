//! One file per command.

pub mod completions;
pub mod compress;
pub mod config;
pub mod doctor;
pub mod eval;
pub mod export;
mod feedback;
pub mod forget;
pub mod help;
pub mod hook;
pub mod inspect;
pub mod keys;
pub mod mcp;
pub mod recall;
pub mod redact;
pub mod reduce;
pub mod replay;
pub mod search;
pub mod serve;
pub mod setup;
pub mod start;
pub mod store;
mod summarise;
pub mod undo;
pub mod validate;
pub mod wrap;

use crate::args::Tuning;
use crate::failure::Failure;
use crate::settings::{Flag, Settings, SettingsArgs, Surroundings, load};

/// The settings in effect for a command.
pub fn settings(tuning: &Tuning, more: Vec<Flag>) -> Result<Settings, Failure> {
    let flag = |flag: &'static str, key: &'static str, value: &Option<String>| {
        value.clone().map(|value| Flag { flag, key, value })
    };
    let flags = [
        flag("--model", "model.name", &tuning.model),
        flag("--window", "model.window", &tuning.window),
        flag("--preset", "compression.preset", &tuning.preset),
        flag("--store", "store.path", &tuning.store),
    ];
    let asked = SettingsArgs {
        config: tuning.config.clone(),
        sets: tuning.sets.clone(),
        flags: flags.into_iter().flatten().chain(more).collect(),
    };
    load(&asked, &Surroundings::of_process()).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::input(format!(
            "{}\nhint: `foldline config schema` lists all keys; `foldline config show` the values in effect",
            lines.join("\n       ")
        ))
    })
}
