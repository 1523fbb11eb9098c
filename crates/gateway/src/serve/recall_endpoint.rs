//! How the agent that sent a request can reach the gateway's own endpoints: the address it used, and the header and
//! variable of its key.

use super::headers;
use crate::conversation::Dialect;
use foldline_core::reading::Site;
use http::header::{self, HeaderMap, HeaderName};

/// Where Anthropic's clients show their key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Where the sender of a request finds our pages. `None` when the request does not say whom it reached.
pub fn recall_endpoint(headers: &HeaderMap, dialect: Dialect) -> Option<Site> {
    let host = headers::text(headers, &header::HOST)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_plain) {
        return None;
    }
    let shows = |name: &HeaderName| headers.contains_key(name);
    let header = match dialect {
        _ if shows(&headers::KEY) => Some("x-foldline-key: $FOLDLINE_KEY"),
        _ if shows(&API_KEY) => Some("x-api-key: $ANTHROPIC_API_KEY"),
        Dialect::Messages if shows(&header::AUTHORIZATION) => Some("authorization: Bearer $ANTHROPIC_AUTH_TOKEN"),
        _ if shows(&header::AUTHORIZATION) => Some("authorization: Bearer $OPENAI_API_KEY"),
        _ => None,
    };
    Some(Site { origin: format!("http://{host}"), header: header.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&'static str, &'static str)], dialect: Dialect) -> Option<Site> {
        let named = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        recall_endpoint(&named.collect(), dialect)
    }

    #[test]
    fn the_header_that_showed_the_key_is_the_one_to_use() {
        let at = ("host", "127.0.0.1:8787");
        for (header, dialect, wanted) in [
            ("x-api-key", Dialect::Messages, "x-api-key: $ANTHROPIC_API_KEY"),
            ("authorization", Dialect::Messages, "authorization: Bearer $ANTHROPIC_AUTH_TOKEN"),
            ("authorization", Dialect::Responses, "authorization: Bearer $OPENAI_API_KEY"),
            ("x-foldline-key", Dialect::Chat, "x-foldline-key: $FOLDLINE_KEY"),
        ] {
            let site = told(&[at, (header, "v")], dialect).unwrap();
            assert_eq!((site.origin.as_str(), site.header.as_deref()), ("http://127.0.0.1:8787", Some(wanted)));
        }
        assert_eq!(told(&[at], Dialect::Chat).unwrap().header, None, "who needs no key shows none");
    }

    #[test]
    fn an_address_that_a_shell_would_read_otherwise_is_not_named() {
        assert_eq!(told(&[("host", "a`b")], Dialect::Chat), None);
        assert_eq!(told(&[], Dialect::Chat), None);
    }
}
