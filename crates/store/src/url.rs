//! URLs of databases, and how they are shown: never with their password.

use std::path::{Path, PathBuf};

/// How URLs of PostgreSQL begin.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// … and those of object stores.
const BUCKET: &str = "s3://";

/// Whether a place is the URL of a database and no file.
pub fn is_url(place: &Path) -> bool {
    Url::of(place).is_some()
}

/// A place as it may be shown: a URL without its password. That of an object store should have none, but people try.
pub fn shown(place: &Path) -> PathBuf {
    let bucket = || place.to_str().filter(|text| text.starts_with(BUCKET)).map(|text| Url(text.to_owned()));
    Url::of(place).or_else(bucket).map_or_else(|| place.to_owned(), |url| url.shown())
}

/// The URL of a database.
#[derive(Clone)]
pub(crate) struct Url(String);

impl Url {
    /// The URL that a place is, if it is one.
    pub(crate) fn of(place: &Path) -> Option<Url> {
        let text = place.to_str()?;
        SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then(|| Url(text.to_owned()))
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL without its password.
    pub(crate) fn shown(&self) -> PathBuf {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        // The last @: a password that was not escaped may hold one.
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let user = login.split(':').next().unwrap_or_default();
        let at = if login.is_empty() { "" } else { "@" };
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let kept: Vec<&str> =
            query.split('&').filter(|part| !part.is_empty() && !part.starts_with("password")).collect();
        let mark = if kept.is_empty() { "" } else { "?" };
        PathBuf::from(format!("{scheme}://{user}{at}{address}{mark}{}", kept.join("&")))
    }
}

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.shown().display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        let word = "s3".to_owned() + "cr:t@/x";
        let shown = |text: &str| Url::of(Path::new(text)).unwrap().shown().display().to_string();
        assert_eq!(shown(&format!("postgres://me:{word}@db:5432/fold")), "postgres://me@db:5432/fold");
        assert_eq!(shown("postgresql://db/fold?sslmode=require"), "postgresql://db/fold?sslmode=require");
        assert_eq!(shown(&format!("postgres://db/x?user=me&password={word}")).find("cr:t"), None);
        assert!(!is_url(Path::new("/home/me/postgres.db")));
        let bucket = format!("s3://id:{word}@bucket/prefix");
        assert_eq!(super::shown(Path::new(&bucket)), Path::new("s3://id@bucket/prefix"));
    }
}
