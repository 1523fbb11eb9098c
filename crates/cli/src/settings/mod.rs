//! Settings from defaults, preset, file, environment and flags, in this order.
//!
//! What a value may be is not decided here but in the tables of the crates that read it. Files and environment are
//! reached only through [`Surroundings`], so that a test can stand in for the process.

mod env;
mod error;
mod file;
mod find;
mod flags;
mod models;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use foldline_core::Policy;
use foldline_core::settings::{Layer, Resolved, Section, Sections};
use foldline_gateway::settings::GatewaySettings;
use foldline_store::StoreSettings;

pub use error::SettingsError;
pub use find::{LOCAL, user_file};
pub use flags::Flag;
pub use models::model_table;

/// The variable that names the settings file.
pub const CONFIG_VARIABLE: &str = "FOLDLINE_CONFIG";

/// The world outside: environment and files.
pub struct Surroundings<'a> {
    /// All environment variables.
    pub vars: BTreeMap<String, String>,
    /// Reads a file as text.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl Surroundings<'static> {
    /// The environment and the files of this process.
    pub fn of_process() -> Self {
        // A name or value that is not Unicode cannot be one of ours.
        let vars =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self { vars: vars.collect(), read: &|path| std::fs::read_to_string(path) }
    }
}

/// What the command line says about settings.
#[derive(Debug, Clone, Default)]
pub struct SettingsArgs {
    /// `--config FILE`.
    pub config: Option<PathBuf>,
    /// Each `--set key=value`.
    pub sets: Vec<String>,
    /// Flags that stand for a key, such as `--preset`.
    pub flags: Vec<Flag>,
}

/// The settings in effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// All values and their origins.
    pub resolved: Resolved,
    /// When to compact and how far.
    policy: Policy,
    /// Where originals are kept, and how.
    pub store: StoreSettings,
    /// How the gateway serves.
    pub gateway: GatewaySettings,
    /// The file that was read, if there is one.
    pub file: Option<PathBuf>,
}

/// The sections of a settings file, in the order of the documentation.
pub fn sections() -> Sections {
    Sections::new(Policy::TABLES.into_iter().chain([StoreSettings::TABLE, GatewaySettings::TABLE]))
}

impl Settings {
    fn of(resolved: Resolved, file: Option<PathBuf>) -> Settings {
        Settings {
            policy: Policy::resolved(&resolved),
            store: resolved.section(),
            gateway: resolved.section(),
            resolved,
            file,
        }
    }

    /// What the engine reads.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }
}

/// Finds and lays over each other all that is set. All problems are reported, not only the first.
pub fn load(asked: &SettingsArgs, around: &Surroundings<'_>) -> Result<Settings, Vec<SettingsError>> {
    let mut errors = Vec::new();
    let (file, text) = match find::file(asked.config.as_deref(), around) {
        Ok(Some((path, text))) => (Some(path), text),
        Ok(None) => (None, String::new()),
        Err(error) => {
            errors.push(error);
            (None, String::new())
        }
    };
    let from_file = match &file {
        Some(path) => file::layer(path, &text).map_err(|error| errors.push(error)).unwrap_or_default(),
        None => Layer::default(),
    };
    // A variable speaks for a machine, `--set` for one call, and a flag of its own says it most plainly.
    let layers = [
        from_file,
        env::layer(&around.vars),
        flags::set_layer(&asked.sets, &mut errors),
        flags::flag_layer(&asked.flags),
    ];
    match sections().resolve(&layers) {
        Ok(resolved) if errors.is_empty() => Ok(Settings::of(resolved, file)),
        Ok(_) => Err(errors),
        Err(found) => {
            errors.extend(found.into_iter().map(SettingsError::from));
            Err(errors)
        }
    }
}

/// Checks one file alone, without environment and flags.
pub fn check_file(path: &Path, around: &Surroundings<'_>) -> Vec<SettingsError> {
    let text = match (around.read)(path) {
        Ok(text) => text,
        Err(error) => return vec![SettingsError::unreadable(path, &error)],
    };
    match file::layer(path, &text).map(|layer| sections().resolve(&[layer])) {
        Ok(Ok(_)) => Vec::new(),
        Ok(Err(found)) => found.into_iter().map(SettingsError::from).collect(),
        Err(error) => vec![error],
    }
}

#[cfg(test)]
mod tests;
