//! Where objects are: the URL of the setting.

use crate::error::Fault;
use std::path::PathBuf;

/// Where texts of originals are kept, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    /// `file:///FOLDER` or `s3://BUCKET/PREFIX`. Keys are no part of it.
    pub url: String,
    /// Bytes, packed, from which on a text is kept there; smaller ones are in the database.
    pub min_bytes: u64,
}

/// A URL that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    Files(PathBuf),
    S3 { bucket: String, prefix: String },
}

impl ObjectPlace {
    pub(super) fn location(&self) -> Result<Location, Fault> {
        // What is wrong is not repeated: somebody may have put a key into it.
        let wrong = |words: &str| Err(Fault::ObjectUrl(words.to_owned()));
        let Some((scheme, rest)) = self.url.split_once("://") else { return wrong("it is no URL") };
        if rest.contains(['@', '?', '#']) {
            return wrong("it holds more than a place; keys and endpoint come from AWS_… variables");
        }
        match scheme {
            "file" => {
                let path = rest.strip_prefix("localhost").unwrap_or(rest);
                match decoded(path) {
                    Some(path) if path.starts_with('/') && path.len() > 1 => Ok(Location::Files(folder(&path))),
                    _ => wrong("it names no absolute folder"),
                }
            }
            "s3" => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return wrong("it names no bucket");
                }
                Ok(Location::S3 { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
            }
            _ => wrong("its scheme is not known"),
        }
    }
}

#[cfg(not(windows))]
fn folder(path: &str) -> PathBuf {
    PathBuf::from(path)
}

/// `/C:/folder` is `C:/folder`.
#[cfg(windows)]
fn folder(path: &str) -> PathBuf {
    PathBuf::from(path.trim_start_matches('/'))
}

/// A path without its percent signs; `None` when they are followed by anything but two digits, or hide no text.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, more) = more.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = more;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(url: &str) -> Result<Location, Fault> {
        ObjectPlace { url: url.to_owned(), min_bytes: 0 }.location()
    }

    #[test]
    fn urls_are_understood() {
        assert_eq!(location("file:///var/lib/my%20texts").unwrap(), Location::Files("/var/lib/my texts".into()));
        assert_eq!(location("file://localhost/texts").unwrap(), Location::Files("/texts".into()));
        let s3 = |bucket: &str, prefix: &str| Location::S3 { bucket: bucket.into(), prefix: prefix.into() };
        assert_eq!(location("s3://texts").unwrap(), s3("texts", ""));
        assert_eq!(location("s3://texts/of/foldline/").unwrap(), s3("texts", "of/foldline"));
    }

    #[test]
    fn what_is_wrong_is_told_without_the_url() {
        let word = "s3".to_owned() + "cret";
        let wrong = ["file://", "file:///", "file://host/x", "s3://", "gs://bucket", "/folder", "file:///a%2"];
        for url in wrong
            .map(str::to_owned)
            .into_iter()
            .chain([format!("s3://me:{word}@texts"), format!("s3://texts?key={word}")])
        {
            let error = location(&url).unwrap_err().to_string();
            assert!(error.contains("store.originals") && !error.contains(&word), "{error}");
        }
    }
}
