//! Which headers are forwarded: all except hop-by-hop headers and those for the gateway.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// Headers that speak of one connection and end with it.
static HOP_BY_HOP: [HeaderName; 10] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("http2-settings"),
];

/// What headers to the gateway itself begin with.
pub const OWN: &str = "x-foldline-";

/// Session name for people, given by the client or told to it.
pub const SESSION: HeaderName = HeaderName::from_static("x-foldline-session");
/// What was done.
pub const OUTCOME: HeaderName = HeaderName::from_static("x-foldline-outcome");
/// Tokens before and after.
pub const TOKENS: HeaderName = HeaderName::from_static("x-foldline-tokens");
/// Asks to be left alone.
pub const BYPASS: HeaderName = HeaderName::from_static("x-foldline-bypass");
/// What matters most to this client.
pub const FOCUS: HeaderName = HeaderName::from_static("x-foldline-focus");
/// A client key beside a provider's key.
pub const KEY: HeaderName = HeaderName::from_static("x-foldline-key");

/// Removes what ends with this connection, also what `connection` names.
pub fn end_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // A client that names a header which every message needs would cut it off from its own request.
        .filter(|name| *name != header::CONTENT_TYPE && *name != header::CONTENT_ENCODING && *name != header::HOST)
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
}

/// The headers of a request as the provider gets them. `host` and the length follow from address and body.
pub fn to_upstream(headers: &HeaderMap) -> HeaderMap {
    let mut sent = headers.clone();
    end_hop(&mut sent);
    sent.remove(header::HOST);
    // The body has been read to its end before anything is forwarded, so there is nothing left to wait for.
    sent.remove(header::EXPECT);
    let own: Vec<HeaderName> = sent.keys().filter(|name| name.as_str().starts_with(OWN)).cloned().collect();
    for name in own {
        sent.remove(name);
    }
    sent
}

/// The text of a header, where it is text.
pub fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim).filter(|value| !value.is_empty())
}

/// True when a header says yes.
pub fn says_yes(headers: &HeaderMap, name: &HeaderName) -> bool {
    text(headers, name).is_some_and(|value| matches!(value, "1" | "true" | "yes" | "on"))
}

/// A header value of text that may hold anything; what cannot stand in a header becomes `?`.
pub fn value(text: &str) -> HeaderValue {
    let clean: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    HeaderValue::from_str(&clean).unwrap_or(HeaderValue::from_static("?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()));
        pairs.collect()
    }

    #[test]
    fn unknown_headers_travel_and_those_of_the_connection_do_not() {
        let sent = to_upstream(&map(&[
            ("session_id", "a"),
            ("x-stainless-lang", "js"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("keep-alive", "5"),
            ("host", "localhost"),
            ("x-foldline-bypass", "1"),
            ("authorization", "Bearer k"),
        ]));
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["session_id", "x-stainless-lang", "authorization"]);
    }

    #[test]
    fn a_value_of_any_text_is_a_value() {
        assert_eq!(value("a\u{e9}\r\nb"), "a???b");
    }
}
