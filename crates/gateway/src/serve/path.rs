//! Normalises paths, so that the routed path is the one that is sent and none leaves its base URL.

use http::uri::PathAndQuery;
use std::borrow::Cow;

/// A path without `.`, `..` and empty segments. `None` for one that means something else to whoever decodes it.
pub fn normal(given: &PathAndQuery) -> Option<Cow<'_, PathAndQuery>> {
    let path = given.path();
    if !path.starts_with('/') {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match decoded(segment)?.as_ref() {
            b"" | b"." => {}
            b".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let mut text = String::with_capacity(path.len());
    for segment in &kept {
        text.push('/');
        text.push_str(segment);
    }
    if text.is_empty() || (path.ends_with('/') && !text.ends_with('/')) {
        text.push('/');
    }
    if text == path {
        return Some(Cow::Borrowed(given));
    }
    if let Some(query) = given.query() {
        text.push('?');
        text.push_str(query);
    }
    PathAndQuery::try_from(text).ok().map(Cow::Owned)
}

/// How often a segment is decoded: some servers decode what a proxy before them has decoded.
const MOST_LAYERS: usize = 3;

/// A segment as a server may read it. `None` when that hides a way up, or what no path has.
fn decoded(segment: &str) -> Option<Cow<'_, [u8]>> {
    let mut bytes = Cow::Borrowed(segment.as_bytes());
    for _ in 0..MOST_LAYERS {
        match unescaped(&bytes) {
            Some(next) => bytes = Cow::Owned(next),
            None => break,
        }
    }
    let goes_up = |piece: &[u8]| {
        let name = piece.split(|byte| *byte == b';').next().unwrap_or_default();
        matches!(name, b"." | b"..")
    };
    let is_plain = matches!(bytes.as_ref(), b"." | b"..");
    let hides = !is_plain && bytes.split(|byte| matches!(byte, b'/' | b'\\')).any(goes_up);
    // Two bytes that UTF-8 never has; careless decoders make slashes and dots of them.
    let is_text = |byte: &u8| !byte.is_ascii_control() && !matches!(byte, 0xC0 | 0xC1);
    (!hides && bytes.iter().all(is_text)).then_some(bytes)
}

/// One layer of escapes taken away; `None` when there is none.
fn unescaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    let mut found = false;
    while let Some(&byte) = bytes.get(at) {
        let digit = |n: usize| bytes.get(at + n).and_then(|&digit| char::from(digit).to_digit(16));
        match (byte, digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
                found = true;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<String> {
        let path = PathAndQuery::try_from(path).unwrap();
        normal(&path).map(|path| path.as_str().to_owned())
    }

    #[test]
    fn ordinary_paths_are_left_as_they_are() {
        for path in [
            "/",
            "/v1/messages?beta=true&x=../y",
            "/v1/files/a%20b",
            "/v1/models/org%2Fname",
            "/v1/a/",
            "/a..b/...",
            "/v1/x;y",
        ] {
            assert_eq!(of(path).as_deref(), Some(path));
        }
    }

    #[test]
    fn detours_are_taken_out_and_end_at_the_root() {
        assert_eq!(of("/v1/../../admin").as_deref(), Some("/admin"));
        assert_eq!(of("/v1/%2e%2E/x/./y//z?q").as_deref(), Some("/x/y/z?q"));
        assert_eq!(of("/v1/%252e%252e/x").as_deref(), Some("/x"));
        assert_eq!(of("/../../").as_deref(), Some("/"));
        assert_eq!(of("//v1//chat/completions").as_deref(), Some("/v1/chat/completions"));
    }

    #[test]
    fn hidden_ways_up_are_refused() {
        for path in [
            "/v1/..%2fadmin",
            "/v1/..%5cadmin",
            "/v1/x%2f..%2f..%2fadmin",
            "/v1/..;/admin",
            "/v1/..%252fadmin",
            "/v1/a%00b",
            "/v1/%2e%2e%3bx",
            "/v1/..%c0%afadmin",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
        assert_eq!(normal(&PathAndQuery::from_static("*")), None);
    }
}
