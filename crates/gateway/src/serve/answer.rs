//! Errors and responses of the gateway itself, in the format that the client's SDK expects from its provider.

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
    #[error("the request body exceeds the limit of {limit} bytes (gateway.max_body_bytes)")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The body could not be read to its end.
    #[error("the request body ended early or its length differs from Content-Length")]
    Incomplete,
    /// The body came too slowly.
    #[error("the request body arrived too slowly: no data, or too little, for {seconds} seconds (gateway.body_secs)")]
    TooSlow {
        /// The limit.
        seconds: u64,
    },
    /// The body says it is compressed in a way that is not understood.
    #[error("content-encoding `{0}` is not supported; expected gzip, deflate, br, zstd or identity")]
    UnsupportedEncoding(String),
    /// The body is not what its content-encoding says.
    #[error("the request body is not valid {0}, although content-encoding says so")]
    InvalidEncoding(&'static str),
    /// No client key, or an unknown one.
    #[error("client key missing or unknown; send it as x-api-key, as bearer token or as x-foldline-key")]
    UnknownKey,
    /// A client key of the store that was revoked.
    #[error("this client key was revoked; ask the operator for another one")]
    KeyRevoked,
    /// A client key of the store that is over.
    #[error("this client key expired at {at}; ask the operator for another one")]
    KeyExpired {
        /// When.
        at: String,
    },
    /// A client key of the store that is for something else.
    #[error("this client key lacks the scope `{scope}`; ask the operator for a key that has it")]
    KeyScope {
        /// The scope that is needed.
        scope: &'static str,
    },
    /// The budget of a client key is used up.
    #[error(
        "the budget of this client key, {budget} per day, is used up; it is renewed at midnight UTC, in {seconds} s"
    )]
    KeyBudget {
        /// How much it is.
        budget: String,
        /// Until there is a new one.
        seconds: u64,
    },
    /// Requests in progress take up what is left of the budget of a client key.
    #[error(
        "what is left of the budget of this client key, {budget} per day, is taken up by its requests in progress; try again when one of them has ended"
    )]
    KeyBudgetTaken {
        /// How much it is.
        budget: String,
    },
    /// The store of client keys cannot be read.
    #[error("client keys cannot be read from the store at the moment; try again in a moment")]
    KeysUnread,
    /// Too many requests at once.
    #[error("concurrency limit {limit} reached (gateway.max_requests); try again in a moment")]
    TooManyRequests {
        /// The limit.
        limit: u32,
    },
    /// Too much memory in all.
    #[error(
        "memory limit of {limit} bytes for request bodies reached (gateway.body_memory_bytes); try again in a moment"
    )]
    BodyMemory {
        /// The limit.
        limit: u64,
    },
    /// Too many connections at once.
    #[error(
        "connection limit reached: {limit} in total (gateway.max_connections), or the limit for your address \
         (gateway.max_connections_per_address); try again in a moment"
    )]
    TooManyConnections {
        /// The limit.
        limit: u32,
    },
    /// No host is named, or several.
    #[error("expected exactly one valid Host header")]
    InvalidHost,
    /// A host that we are not.
    #[error(
        "host `{0}` is not allowed; allowed are localhost, the address of the connection and the names in \
         gateway.hosts; add it there to allow it"
    )]
    ForeignHost(String),
    /// A page of somebody else.
    #[error(
        "origin `{0}` is not allowed; add it to gateway.origins to allow it (clients other than browsers should send \
         neither Origin nor Sec-Fetch-Site)"
    )]
    ForeignOrigin(String),
    /// A request that any web page could make a browser send.
    #[error(
        "a POST request needs `content-type: application/json`, or one of the headers authorization, x-api-key, \
         x-goog-api-key and x-foldline-key, which web forms cannot send"
    )]
    FormRequest,
    /// Several keys in one place.
    #[error(
        "the request has more than one API key; send exactly one authorization, x-api-key or x-goog-api-key header"
    )]
    SeveralKeys,
    /// A key of another vendor.
    #[error(
        "the API key does not look like a key of {vendor} and was not sent to {host}; use a key of {vendor}, or set \
         gateway.upstream_openai, gateway.upstream_anthropic and gateway.upstream_gemini to one server that accepts \
         all keys"
    )]
    WrongProviderKey {
        /// Whose API was asked.
        vendor: &'static str,
        /// Where it would have gone.
        host: String,
    },
    /// A request with a key for one of two.
    #[error(
        "cannot tell whether this request is for OpenAI, Anthropic or Google; send exactly one API key, or a header of \
         the provider (anthropic-version, openai-organization, x-goog-api-client)"
    )]
    AmbiguousProvider,
    /// The key map has no key for that vendor.
    #[error(
        "no key of {vendor} is mapped to this client key; the operator can add one to the file gateway.client_keys, \
         or with `foldline keys add --upstream`"
    )]
    NoMappedKey {
        /// Whose API was asked.
        vendor: &'static str,
    },
    /// Something that does not pass under a shared key.
    #[error(
        "`{0}` is not allowed with this client key, because clients share the provider key it is mapped to; allowed \
         are generation, token counting, the list of models and the paths in gateway.mapped_paths"
    )]
    PathNotMapped(String),
    /// What another client made, or nobody.
    #[error("no object with that id was created with this client key")]
    NotOwned,
    /// A list of what all clients made.
    #[error(
        "lists are not allowed with this client key: they would show objects of every client that shares the \
     provider key; request an object by its id"
    )]
    ListNotAllowed,
    /// A body that must be read, and cannot be.
    #[error("expected a JSON object as request body, which a mapped client key requires")]
    NotJson,
    /// The address cannot be made.
    #[error("invalid path: not a valid URL path, or it leaves the base path")]
    InvalidPath,
    /// The provider cannot be reached.
    #[error("cannot reach the upstream {host}: {reason}")]
    UpstreamUnreachable {
        /// Which.
        host: String,
        /// In words.
        reason: String,
    },
    /// The provider does not answer.
    #[error("the upstream {host} sent no response within {seconds} seconds (gateway.reply_secs)")]
    UpstreamTimeout {
        /// Which.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// WebSockets are not spoken.
    #[error("WebSocket is not supported; send a POST request")]
    WebSocket,
    /// Nobody here has that.
    #[error("not found")]
    NotFound,
}

impl Refusal {
    /// The status that says it.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Incomplete
            | Self::InvalidEncoding(_)
            | Self::InvalidPath
            | Self::InvalidHost
            | Self::SeveralKeys
            | Self::AmbiguousProvider
            | Self::NotJson => StatusCode::BAD_REQUEST,
            Self::ForeignHost(_)
            | Self::ForeignOrigin(_)
            | Self::NoMappedKey { .. }
            | Self::PathNotMapped(_)
            | Self::KeyScope { .. }
            | Self::ListNotAllowed => StatusCode::FORBIDDEN,
            Self::WrongProviderKey { .. } => StatusCode::UNAUTHORIZED,
            Self::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::UnsupportedEncoding(_) | Self::FormRequest => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::UnknownKey | Self::KeyRevoked | Self::KeyExpired { .. } => StatusCode::UNAUTHORIZED,
            Self::KeyBudget { .. } | Self::KeyBudgetTaken { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TooManyRequests { .. }
            | Self::BodyMemory { .. }
            | Self::TooManyConnections { .. }
            | Self::KeysUnread => StatusCode::SERVICE_UNAVAILABLE,
            Self::UpstreamUnreachable { .. } => StatusCode::BAD_GATEWAY,
            Self::UpstreamTimeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::WebSocket => StatusCode::UPGRADE_REQUIRED,
            Self::NotFound | Self::NotOwned => StatusCode::NOT_FOUND,
        }
    }

    /// For metrics: one word per kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Incomplete => "incomplete_body",
            Self::TooSlow { .. } => "slow_body",
            Self::UnsupportedEncoding(_) => "unsupported_encoding",
            Self::InvalidEncoding(_) => "invalid_encoding",
            Self::UnknownKey => "unknown_key",
            Self::KeyRevoked => "key_revoked",
            Self::KeyExpired { .. } => "key_expired",
            Self::KeyScope { .. } => "key_scope",
            Self::KeyBudget { .. } | Self::KeyBudgetTaken { .. } => "key_budget",
            Self::KeysUnread => "keys_unread",
            Self::TooManyRequests { .. } => "too_many_requests",
            Self::BodyMemory { .. } => "body_memory",
            Self::TooManyConnections { .. } => "too_many_connections",
            Self::InvalidHost => "invalid_host",
            Self::ForeignHost(_) => "host_not_allowed",
            Self::ForeignOrigin(_) => "origin_not_allowed",
            Self::FormRequest => "form_request",
            Self::SeveralKeys => "several_keys",
            Self::WrongProviderKey { .. } => "wrong_provider_key",
            Self::AmbiguousProvider => "ambiguous_provider",
            Self::NoMappedKey { .. } => "no_mapped_key",
            Self::PathNotMapped(_) => "path_not_mapped",
            Self::NotOwned => "not_owned",
            Self::ListNotAllowed => "list_not_allowed",
            Self::NotJson => "not_json",
            Self::InvalidPath => "invalid_path",
            Self::UpstreamUnreachable { .. } => "upstream_unreachable",
            Self::UpstreamTimeout { .. } => "upstream_timeout",
            Self::WebSocket => "websocket",
            Self::NotFound => "not_found",
        }
    }

    /// The error type that OpenAI and Anthropic use for such a status.
    fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "request_too_large",
            Self::UnknownKey | Self::KeyRevoked | Self::KeyExpired { .. } | Self::WrongProviderKey { .. } => {
                "authentication_error"
            }
            Self::KeyBudget { .. } | Self::KeyBudgetTaken { .. } => "rate_limit_error",
            Self::ForeignHost(_)
            | Self::ForeignOrigin(_)
            | Self::NoMappedKey { .. }
            | Self::PathNotMapped(_)
            | Self::KeyScope { .. }
            | Self::ListNotAllowed => "permission_error",
            Self::NotFound | Self::NotOwned => "not_found_error",
            Self::TooManyRequests { .. }
            | Self::BodyMemory { .. }
            | Self::TooManyConnections { .. }
            | Self::KeysUnread => "overloaded_error",
            Self::UpstreamUnreachable { .. } => "api_error",
            Self::UpstreamTimeout { .. } | Self::TooSlow { .. } => "timeout_error",
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
            429 => "RESOURCE_EXHAUSTED",
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
            Self::TooManyConnections { .. } | Self::BodyMemory { .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Self::KeyBudget { seconds, .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
                // The libraries of the vendors would try again at once.
                response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
            }
            Self::KeyBudgetTaken { .. } => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
            }
            Self::TooManyRequests { .. } | Self::KeysUnread => {
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Self::WebSocket => {
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
    fn every_error_names_its_cause_and_what_to_do() {
        let (vendor, host) = ("Anthropic", "api.example".to_owned());
        let all = [
            Refusal::TooLarge { limit: 1_000 },
            Refusal::Incomplete,
            Refusal::TooSlow { seconds: 60 },
            Refusal::UnsupportedEncoding("lzma".into()),
            Refusal::InvalidEncoding("gzip"),
            Refusal::UnknownKey,
            Refusal::KeyRevoked,
            Refusal::KeyExpired { at: "2026-01-31T00:00:00.000Z".into() },
            Refusal::KeyScope { scope: "generate" },
            Refusal::KeyBudget { budget: "100000 tokens".into(), seconds: 3_600 },
            Refusal::KeyBudgetTaken { budget: "100000 tokens".into() },
            Refusal::KeysUnread,
            Refusal::TooManyRequests { limit: 512 },
            Refusal::BodyMemory { limit: 1_000 },
            Refusal::TooManyConnections { limit: 4_096 },
            Refusal::InvalidHost,
            Refusal::ForeignHost("evil.example".into()),
            Refusal::ForeignOrigin("https://evil.example".into()),
            Refusal::FormRequest,
            Refusal::SeveralKeys,
            Refusal::WrongProviderKey { vendor, host: host.clone() },
            Refusal::AmbiguousProvider,
            Refusal::NoMappedKey { vendor },
            Refusal::PathNotMapped("/files".into()),
            Refusal::NotOwned,
            Refusal::ListNotAllowed,
            Refusal::NotJson,
            Refusal::InvalidPath,
            Refusal::UpstreamUnreachable { host: host.clone(), reason: "connection refused".into() },
            Refusal::UpstreamTimeout { host, seconds: 600 },
            Refusal::WebSocket,
            Refusal::NotFound,
        ];
        let lines = all.iter().map(|refusal| format!("{} {}: {refusal}\n", refusal.status().as_u16(), refusal.name()));
        insta::assert_snapshot!("errors", lines.collect::<String>());
    }

    #[test]
    fn a_full_gateway_says_when_to_come_back() {
        let answer = Refusal::TooManyRequests { limit: 1 }.answer(Provider::OpenAi);
        assert_eq!((answer.status().as_u16(), answer.headers()["retry-after"].as_bytes()), (503, b"1".as_slice()));
    }
}
