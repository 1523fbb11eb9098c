//! The default location of the store.

use std::path::PathBuf;

/// The user's own store: `$XDG_DATA_HOME/foldline/originals.db`, else
/// `~/.local/share/foldline/originals.db`. `None` when the environment names neither folder.
pub fn default_path(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    // The base directory specification tells readers to ignore relative paths.
    let folder = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("foldline").join("originals.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(variables: &[(&str, &str)]) -> Option<String> {
        let env = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        default_path(&env).map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn the_data_folder_comes_before_the_home_folder() {
        let home = ("HOME", "/home/u");
        assert_eq!(path(&[home, ("XDG_DATA_HOME", "/data")]).as_deref(), Some("/data/foldline/originals.db"));
        let at_home = Some("/home/u/.local/share/foldline/originals.db");
        assert_eq!(path(&[home]).as_deref(), at_home);
        assert_eq!(path(&[home, ("XDG_DATA_HOME", "")]).as_deref(), at_home);
        assert_eq!(path(&[home, ("XDG_DATA_HOME", "relative")]).as_deref(), at_home);
    }

    #[test]
    fn without_folders_there_is_no_default() {
        assert_eq!(path(&[]), None);
        assert_eq!(path(&[("HOME", "")]), None);
    }
}
