//! Finds the settings file: the first that exists. Files are not merged.

use std::io;
use std::path::{Path, PathBuf};

use super::{CONFIG_VARIABLE, SettingsError, Surroundings};

/// The settings file of a directory.
pub const LOCAL: &str = "foldline.yaml";

/// A place to look, and what its absence means.
enum Place {
    /// Somebody named it: it must be there.
    Named(PathBuf),
    /// A usual place: it may be there.
    Usual(PathBuf),
}

/// The settings file and its text, or nothing when there is none.
pub(super) fn file(
    config: Option<&Path>,
    around: &Surroundings<'_>,
) -> Result<Option<(PathBuf, String)>, SettingsError> {
    for place in places(config, around) {
        let (path, named) = match place {
            Place::Named(path) => (path, true),
            Place::Usual(path) => (path, false),
        };
        match (around.read)(&path) {
            Ok(text) => return Ok(Some((path, text))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !named => {}
            Err(error) => return Err(SettingsError::unreadable(&path, &error)),
        }
    }
    Ok(None)
}

/// The places, in the order in which they are tried.
fn places(config: Option<&Path>, around: &Surroundings<'_>) -> Vec<Place> {
    // An empty variable is how shells and compose files say "not set".
    let var = |name: &str| around.vars.get(name).filter(|value| !value.is_empty());
    if let Some(path) = config.map(Path::to_owned).or_else(|| var(CONFIG_VARIABLE).map(PathBuf::from)) {
        return vec![Place::Named(path)];
    }
    [Some(PathBuf::from(LOCAL)), user_file(around)].into_iter().flatten().map(Place::Usual).collect()
}

/// The settings file of the user, whether it exists or not.
pub fn user_file(around: &Surroundings<'_>) -> Option<PathBuf> {
    let var = |name: &str| around.vars.get(name).filter(|value| !value.is_empty());
    let home = || var("HOME").or_else(|| var("USERPROFILE")).map(|home| Path::new(home).join(".config"));
    let user = var("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    user.map(|folder| folder.join("foldline").join("config.yaml"))
}
