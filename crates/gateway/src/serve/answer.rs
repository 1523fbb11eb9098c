//! Answers that the gateway gives itself, in the shape that the client's SDK expects of its provider.

use super::Body;
use super::route::Provider;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

/// Why a request was not forwarded, or not answered by the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The body is larger than the settings allow.
    #[error("the request body is larger than {limit} bytes, the limit of this gateway (gateway.max_body_bytes)")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The body could not be read to its end.
    #[error("the request body ended early or its length is not what the headers say")]
    Incomplete,
    /// The body came too slowly.
    #[error("the request body came too slowly: a pause of more than {seconds} seconds, or hardly a byte in that time")]
    TooSlow {
        /// The limit.
        seconds: u64,
    },
    /// The body says it is compressed in a way that is not understood.
    #[error("content-encoding `{0}` is not supported; expected gzip, deflate, br, zstd or identity")]
    Encoding(String),
    /// The body is not what its content-encoding says.
    #[error("the request body is not valid {0}, as its content-encoding says")]
    Garbled(&'static str),
    /// No client key, or an unknown one.
    #[error("this gateway needs a client key, as x-api-key, as bearer token, or as x-foldline-key")]
    Unknown,
    /// Too many requests at once.
    #[error("this gateway serves {limit} requests at once and all places are taken (gateway.max_requests)")]
    Full {
        /// The limit.
        limit: u32,
    },
    /// Too much memory in all.
    #[error(
        "the request bodies that this gateway holds take all of the {limit} bytes that they may (gateway.body_memory_bytes); \
         try again in a moment"
    )]
    Memory {
        /// The limit.
        limit: u64,
    },
    /// Too many connections at once.
    #[error(
        "all {limit} connections of this gateway are at work (gateway.max_connections), or all that your address may \
         have (gateway.max_connections_per_address); try again in a moment"
    )]
    Crowded {
        /// The limit.
        limit: u32,
    },
    /// No host is named, or several.
    #[error("the request must name exactly one host, in a valid Host header")]
    Host,
    /// A host that we are not.
    #[error(
        "this gateway does not answer for the host `{0}`: it answers for localhost, for the address it was reached at and \
         for the names in gateway.hosts; add the name there if clients are to use it"
    )]
    ForeignHost(String),
    /// A page of somebody else.
    #[error(
        "a web page of `{0}` may not use this gateway; add its origin to gateway.origins if it should \
         (what is no browser sends neither Origin nor Sec-Fetch-Site)"
    )]
    ForeignOrigin(String),
    /// A request that any web page could make a browser send.
    #[error(
        "a POST request needs `content-type: application/json`, or a header that no web form has: authorization, \
         x-api-key, x-goog-api-key or x-foldline-key"
    )]
    Simple,
    /// Several keys in one place.
    #[error("the request carries a key more than once; send one authorization, x-api-key or x-goog-api-key header")]
    Keys,
    /// A key of another vendor.
    #[error(
        "the key of this request is not {vendor}'s by its look, so it was not sent to {host}; use a key of {vendor}, or set \
         gateway.upstream_openai, gateway.upstream_anthropic and gateway.upstream_gemini to one place that takes all"
    )]
    WrongVendor {
        /// Whose API was asked.
        vendor: &'static str,
        /// Where it would have gone.
        host: String,
    },
    /// A request with a key for one of two.
    #[error(
        "it cannot be told whether this request and its key are for OpenAI, Anthropic or Google, so it was not sent; send \
         one key only, or name the vendor by a header (anthropic-version, openai-organization, x-goog-api-client)"
    )]
    Doubt,
    /// The key map has no key for that vendor.
    #[error(
        "the key of this client stands for no key of {vendor}; the operator can add one to the file of gateway.client_keys"
    )]
    Unmapped {
        /// Whose API was asked.
        vendor: &'static str,
    },
    /// Something that does not pass under a shared key.
    #[error(
        "`{0}` does not pass under the key of this client, which stands for one that others share: only generation, \
         counting and the list of models do; the operator can allow more with gateway.mapped_paths"
    )]
    NotLent(String),
    /// What another client made, or nobody.
    #[error("nothing that this client made has that id")]
    NotYours,
    /// A list of what all clients made.
    #[error("a list would show what every client made under the key that they share; what you made is there by its id")]
    Listing,
    /// A body that must be read, and cannot be.
    #[error("the request body is no JSON object, as it must be under the key of this client")]
    NoJson,
    /// The address cannot be made.
    #[error("the path is no part of a valid address, or hides a way out of it")]
    Path,
    /// The provider cannot be reached.
    #[error("the upstream at {host} cannot be reached: {reason}")]
    Unreachable {
        /// Which.
        host: String,
        /// In words.
        reason: String,
    },
    /// The provider does not answer.
    #[error("the upstream at {host} did not begin to answer within {seconds} seconds")]
    Silent {
        /// Which.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// WebSockets are not spoken.
    #[error("this gateway does not speak WebSocket; send a POST request instead")]
    Upgrade,
    /// Nobody here has that.
    #[error("not found")]
    NotFound,
}

impl Refusal {
    /// The status that says it.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete | Self::Garbled(_) | Self::Path | Self::Host | Self::Keys | Self::Doubt | Self::NoJson => {
                StatusCode::BAD_REQUEST
            }
            Self::ForeignHost(_)
            | Self::ForeignOrigin(_)
            | Self::Unmapped { .. }
            | Self::NotLent(_)
            | Self::Listing => StatusCode::FORBIDDEN,
            Self::WrongVendor { .. } => StatusCode::UNAUTHORIZED,
            Self::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Encoding(_) | Self::Simple => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unknown => StatusCode::UNAUTHORIZED,
            Self::Full { .. } | Self::Memory { .. } | Self::Crowded { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unreachable { .. } => StatusCode::BAD_GATEWAY,
            Self::Silent { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Upgrade => StatusCode::UPGRADE_REQUIRED,
            Self::NotFound | Self::NotYours => StatusCode::NOT_FOUND,
        }
    }

    /// For metrics: one word per kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Incomplete => "incomplete",
            Self::TooSlow { .. } => "too_slow",
            Self::Encoding(_) => "encoding",
            Self::Garbled(_) => "garbled",
            Self::Unknown => "unknown_key",
            Self::Full { .. } => "full",
            Self::Memory { .. } => "memory",
            Self::Crowded { .. } => "crowded",
            Self::Host => "host",
            Self::ForeignHost(_) => "foreign_host",
            Self::ForeignOrigin(_) => "foreign_origin",
            Self::Simple => "simple",
            Self::Keys => "keys",
            Self::WrongVendor { .. } => "wrong_vendor",
            Self::Doubt => "doubt",
            Self::Unmapped { .. } => "unmapped",
            Self::NotLent(_) => "not_lent",
            Self::NotYours => "not_yours",
            Self::Listing => "listing",
            Self::NoJson => "no_json",
            Self::Path => "path",
            Self::Unreachable { .. } => "unreachable",
            Self::Silent { .. } => "silent",
            Self::Upgrade => "upgrade",
            Self::NotFound => "not_found",
        }
    }

    /// The error type that OpenAI and Anthropic use for such a status.
    fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request_too_large",
            Self::Unknown | Self::WrongVendor { .. } => "authentication_error",
            Self::ForeignHost(_)
            | Self::ForeignOrigin(_)
            | Self::Unmapped { .. }
            | Self::NotLent(_)
            | Self::Listing => "permission_error",
            Self::NotFound | Self::NotYours => "not_found_error",
            Self::Full { .. } | Self::Memory { .. } | Self::Crowded { .. } => "overloaded_error",
            Self::Unreachable { .. } => "api_error",
            Self::Silent { .. } | Self::TooSlow { .. } => "timeout_error",
            _ => "invalid_request_error",
        }
    }

    /// The word that Google has for such a status.
    fn status_word(&self) -> &'static str {
        match self.status().as_u16() {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            408 | 504 => "DEADLINE_EXCEEDED",
            502 | 503 => "UNAVAILABLE",
            _ => "INVALID_ARGUMENT",
        }
    }

    /// The answer, in the shape of a provider's errors.
    pub fn answer(&self, provider: Provider) -> Response<Body> {
        let message = format!("foldline: {self}");
        let body = match provider {
            Provider::OpenAi => {
                json!({ "error": { "message": message, "type": self.kind(), "param": null, "code": self.name() } })
            }
            Provider::Anthropic => json!({ "type": "error", "error": { "type": self.kind(), "message": message } }),
            Provider::Google => {
                json!({ "error": { "code": self.status().as_u16(), "message": message, "status": self.status_word() } })
            }
        };
        let mut response = json_answer(self.status(), &body);
        match self {
            Self::Crowded { .. } | Self::Memory { .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Self::Full { .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::Upgrade => {
                response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("HTTP/1.1"));
            }
            // What is left of the body is not read: the connection cannot be used again.
            Self::TooLarge { .. } | Self::Incomplete | Self::TooSlow { .. } => {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// What a browser is told about everything that we say ourselves: not to guess what it is, not to keep it, not to run or
/// frame it, and not to hand it to other sites.
static FOR_BROWSERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CACHE_CONTROL, "no-store"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A JSON answer.
pub fn json_answer(status: StatusCode, body: &Value) -> Response<Body> {
    text_answer(status, "application/json", format!("{body}\n"))
}

/// A text answer.
pub fn text_answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(whole(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in &FOR_BROWSERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A body that is there as a whole.
pub fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn body(response: Response<Body>) -> Value {
        serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
    }

    #[tokio::test]
    async fn errors_have_the_shape_of_the_provider_that_was_asked() {
        let refusal = Refusal::TooLarge { limit: 10 };
        let openai = body(refusal.answer(Provider::OpenAi)).await;
        assert_eq!(openai["error"]["code"], "too_large");
        let google = body(refusal.answer(Provider::Google)).await;
        assert_eq!(google["error"]["code"], refusal.status().as_u16());
        let anthropic = body(refusal.answer(Provider::Anthropic)).await;
        assert_eq!(
            (anthropic["type"].as_str(), anthropic["error"]["type"].as_str()),
            (Some("error"), Some("request_too_large"))
        );
    }

    #[test]
    fn a_full_gateway_says_when_to_come_back() {
        let answer = Refusal::Full { limit: 1 }.answer(Provider::OpenAi);
        assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].as_bytes()), (503, b"1".as_slice()));
    }
}
