//! Credentials in headers.

use crate::rule::Check::{Dense, Least, Mixed, NotSign, Real};
use crate::rule::{Reads, Rule, Shape};

#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule::from("authorization", "Credential in an authorization header", &["authorization"], 700,
        r#"(?i)authorization{q}?\]?{sp}{0,3}(?:[:=,\x16]|=>|{sp}{q}){sp}{0,3}\[?{sp}?{q}?(?:f|b|`)?{q}?{sp}?(?:(?:aws4-hmac-sha256|digest|hawk|oauth|hmac)[ ][^\n]{0,400}?(?:signature|response|mac){eq}{q}?|(?:bearer|basic|token|negotiate|ntlm|apikey|api-key|key|bot|ssws|geniekey|splunk|jwt|oauth|dpop|private-token|gitlab-ci-token|snowflake|flyv1|plain|client|user|session|[a-z][\w-]{1,20})(?:{sp}{1,4}|:{sp}?)(?:{q}{sp}{0,2}[+.,]{sp}{0,2}{q})?(?:(?:token|key|api_?key|access_token){eq}{q}?|[\w.@+-]{1,64}:)?)?()"#).reads(Reads::Credential).checks(&[Least(8), Mixed, Real]).low()
        .hits(&["Authorization: Bearer <a20>", "-H \"Authorization: token <a20>\"", "\"Authorization\": \"Basic <b24>\"", "Proxy-Authorization: Basic <b20>==", "authorization: <a32>",
            "req.Header.Set(\"Authorization\", \"Bearer <a24>\")", "\\\"Authorization\\\": \\\"Bearer <a20>\\\"", "Authorization%3A%20Bearer%20<a24>", "Authorization: hmac bob:<b28>"])
        .misses(&["Authorization: Bearer ${TOKEN}", "Authorization: required", "Authorization: Bearer <token>", "authorization: the process of granting rights", "Authorization: Bearer {}", "Authorization: Bearer ***"]),
    Rule::from("authorization-word", "Credential of letters in an authorization header", &["authorization:"], 200,
        r#"(?i)authorization:[ \t]{0,3}(?:bearer|basic|token|bot|apikey)[ \t]{1,3}({t68}{6,200}){q}?[ \t]*(?:{nl}|{q}|\z)"#).checks(&[Real]).chosen()
        .hits(&["Authorization: Basic <m24>\n"]).misses(&["Authorization: Bearer ***"]),
    Rule::from("bearer", "Credential after the word Bearer", &["bearer "], 80, r"(?i)bearer ()").reads(Reads::Credential).checks(&[Least(16), Dense, Mixed, NotSign, Real]).low()
        .hits(&["got bearer <a32>!", "sent Bearer <a40>.", "auth := \"Bearer <a32>\""]).misses(&["bearer authentication-required", "Bearer ${TOKEN}", "the bearer of this message", "Bearer {token}"]),
    Rule::from("websocket-bearer", "Credential among the protocols of a web socket", &["bearer.authorization.k8s.io."], 700, r"bearer\.authorization\.k8s\.io\.([\w-]{16,600})").hits(&["Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.<w60>"]),
    Rule::from("cookie-file", "Value in a file of cookies", &["\tTRUE\t", "\tFALSE\t"], 320, r"(?:\t(?:TRUE|FALSE)){1,2}(?:\t/[^\t\n]{0,80})?(?:\t(?:TRUE|FALSE))?\t\d{1,12}\t[^\t\n]{1,80}\t()").checks(&[Least(8), Mixed, Real]).low()
        .hits(&["example.org\tTRUE\t/\tFALSE\t0\tsid\t<a32>"]),
    Rule::special("cookie", "Value of a cookie", &["cookie"], Shape::Cookies).low()
        .hits(&["Cookie: sid=<a20>; theme=dark", "Set-Cookie: session=<a32>; Path=/; HttpOnly", "{\"set-cookie\": [\"sid=<a24>; Path=/\"]}"])
        .misses(&["Cookie: theme=dark", "cookie: string", "Set-Cookie: Path=/; Max-Age=3600"]),
];
