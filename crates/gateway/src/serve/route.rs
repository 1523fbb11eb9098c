//! Where a request goes, from its method, path and a few headers.

use super::credentials::{Destination, destination};
use crate::conversation::Dialect;
use http::header::{self, HeaderMap};
use http::{Method, request::Parts};

/// Whose API a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Chat Completions, Responses, and whatever else OpenAI and those who copy it serve.
    OpenAi,
    /// Messages.
    Anthropic,
    /// Gemini.
    Google,
}

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 3] = [Provider::OpenAi, Provider::Anthropic, Provider::Google];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "OpenAI",
            Provider::Anthropic => "Anthropic",
            Provider::Google => "Google",
        }
    }
}

/// Whose API a dialect belongs to.
pub fn provider_of(dialect: Dialect) -> Provider {
    match dialect {
        Dialect::Chat | Dialect::Responses => Provider::OpenAi,
        Dialect::Messages => Provider::Anthropic,
        Dialect::Gemini => Provider::Google,
    }
}

/// What is done with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A turn of a conversation: rewritten where that helps, then forwarded.
    Turn(Dialect),
    /// Forwarded as it is.
    Pass(Provider),
    /// One of the gateway's own pages; the path after `/foldline/`.
    Own(String),
    /// Messages of another gateway whose outputs are to be made shorter.
    Compress,
    /// The original of such an output, by its hash.
    Retrieve(String),
    /// A question whether anybody is there.
    Alive,
    /// A change of protocol that is not spoken here; clients fall back to plain requests.
    Upgrade,
    /// Nobody can tell for whom it is, and it carries a key.
    Ambiguous,
    /// A question that only another product answers. Answering it would make clients take us for that.
    Foreign,
}

impl Route {
    /// Whose words an error of ours is told in.
    pub fn provider(&self) -> Provider {
        match self {
            Route::Turn(dialect) => provider_of(*dialect),
            Route::Pass(provider) => *provider,
            Route::Own(_)
            | Route::Compress
            | Route::Retrieve(_)
            | Route::Alive
            | Route::Upgrade
            | Route::Ambiguous
            | Route::Foreign => Provider::OpenAi,
        }
    }

    /// Its address, without what differs from request to request; for traces.
    pub fn pattern(&self) -> Option<&'static str> {
        match self {
            Route::Turn(Dialect::Chat) => Some("/v1/chat/completions"),
            Route::Turn(Dialect::Responses) => Some("/v1/responses"),
            Route::Turn(Dialect::Messages) => Some("/v1/messages"),
            Route::Turn(Dialect::Gemini) => Some("/v1beta/models/{model}:generateContent"),
            Route::Compress => Some("/v1/compress"),
            Route::Retrieve(_) => Some("/v1/retrieve/{hash}"),
            Route::Own(_) | Route::Pass(_) | Route::Alive | Route::Upgrade | Route::Ambiguous | Route::Foreign => None,
        }
    }

    /// What was asked for, as logs tell it.
    pub fn name(&self) -> &'static str {
        match self {
            Route::Turn(dialect) => dialect.name(),
            Route::Pass(_) => "pass_through",
            Route::Own(_) => "foldline",
            Route::Compress => "compress",
            Route::Retrieve(_) => "retrieve",
            Route::Alive => "alive",
            Route::Upgrade => "upgrade",
            Route::Ambiguous => "ambiguous_provider",
            Route::Foreign => "other_product",
        }
    }
}

/// Where the gateway's own pages are.
const OWN: &str = "/foldline";

/// Questions by which clients find out whether they talk to Ollama, LM Studio, llama.cpp, vLLM or OpenRouter.
/// They get the answer of somebody who is none of them.
const FOREIGN: &[&str] =
    &["/props", "/version", "/api/version", "/api/tags", "/api/show", "/api/ps", "/slots", "/info"];

/// Prefixes of other products' APIs, with the same reason.
const FOREIGN_UNDER: &[&str] = &["/api/v0/", "/api/v1/"];

/// Decides.
pub fn route(parts: &Parts) -> Route {
    let path = parts.uri.path();
    if let Some(rest) = path.strip_prefix(OWN).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        return Route::Own(rest.trim_start_matches('/').to_owned());
    }
    if path == "/v1/compress" && parts.method == Method::POST {
        return Route::Compress;
    }
    if let Some(hash) = path.strip_prefix("/v1/retrieve/").filter(|_| parts.method == Method::GET) {
        return Route::Retrieve(hash.to_owned());
    }
    if wants_websocket(&parts.headers) {
        return Route::Upgrade;
    }
    if path == "/" && matches!(parts.method, Method::GET | Method::HEAD) {
        return Route::Alive;
    }
    if is_googles(path) {
        return match ModelCall::of(path).is_some_and(|call| call.answers()) && parts.method == Method::POST {
            true => Route::Turn(Dialect::Gemini),
            false => Route::Pass(Provider::Google),
        };
    }
    let (rest, _) = operation(path);
    if FOREIGN.contains(&rest) || FOREIGN_UNDER.iter().any(|prefix| path.starts_with(prefix)) {
        return Route::Foreign;
    }
    let dialect = match rest.trim_end_matches('/') {
        "/chat/completions" => Some(Dialect::Chat),
        "/responses" => Some(Dialect::Responses),
        "/messages" => Some(Dialect::Messages),
        _ => None,
    };
    match dialect {
        Some(dialect) if parts.method == Method::POST => Route::Turn(dialect),
        Some(dialect) => Route::Pass(provider_of(dialect)),
        None => match destination(rest, &parts.headers) {
            Destination::One(provider) => Route::Pass(provider),
            Destination::Doubt => Route::Ambiguous,
        },
    }
}

/// Whether a client wants to speak WebSocket. Others that offer to change the protocol, as Java's client does with every
/// request, are content with the one they speak.
fn wants_websocket(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(header::UPGRADE).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut names = offers.map(|offer| offer.split(|byte| *byte == b'/').next().unwrap_or_default().trim_ascii());
    names.any(|name| name.eq_ignore_ascii_case(b"websocket"))
}

/// Versions under which only Google has something.
const GOOGLES: &[&str] = &["v1alpha", "v1beta", "v1beta1", "v1beta2", "v1internal", "upload", "download"];

/// Whether only Google has something at a path.
pub fn is_googles(path: &str) -> bool {
    let first = path.trim_start_matches('/').split(['/', ':']).next().unwrap_or_default();
    GOOGLES.contains(&first) || ModelCall::of(path).is_some()
}

/// What a path of Gemini asks of a model: `/v1beta/models/gemini-2.5-pro:generateContent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelCall<'p> {
    /// The model.
    pub model: &'p str,
    /// What it shall do.
    pub verb: &'p str,
}

impl<'p> ModelCall<'p> {
    /// Reads a path; `None` for one that calls no model.
    pub fn of(path: &'p str) -> Option<ModelCall<'p>> {
        let (parent, last) = path.trim_end_matches('/').rsplit_once('/')?;
        let (model, verb) =
            last.split_once(':').or_else(|| last.split_once("%3A")).or_else(|| last.split_once("%3a"))?;
        let is_model = parent.ends_with("/models") || parent.ends_with("/tunedModels");
        (is_model && !model.is_empty()).then_some(ModelCall { model, verb })
    }

    /// Whether the model is to say something.
    pub fn answers(&self) -> bool {
        matches!(self.verb, "generateContent" | "streamGenerateContent")
    }
}

/// How a path names the version of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `/v1/…`, also behind `/openai`.
    Named,
    /// Not at all: the client's base address ends before it.
    Unnamed,
}

/// The part of a path that names an operation, without version and vendor prefix.
pub fn operation(path: &str) -> (&str, Version) {
    for prefix in ["/v1", "/openai/v1"] {
        if let Some(rest) = path.strip_prefix(prefix).filter(|rest| rest.starts_with('/')) {
            return (rest, Version::Named);
        }
    }
    (path, Version::Unnamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn routed(method: &str, path: &str, headers: &[(&str, &str)]) -> Route {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        route(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn conversations_are_found_under_every_prefix_that_clients_use() {
        for prefix in ["", "/v1", "/openai/v1"] {
            let at = |path: &str| routed("POST", &format!("{prefix}{path}"), &[]);
            assert_eq!(at("/chat/completions"), Route::Turn(Dialect::Chat));
            assert_eq!(at("/responses"), Route::Turn(Dialect::Responses));
            assert_eq!(at("/messages?beta=true"), Route::Turn(Dialect::Messages));
        }
    }

    #[test]
    fn what_is_no_conversation_goes_to_the_provider_that_its_headers_name() {
        assert_eq!(routed("GET", "/v1/models", &[]), Route::Pass(Provider::OpenAi));
        assert_eq!(routed("GET", "/v1/models", &[("anthropic-version", "x")]), Route::Pass(Provider::Anthropic));
        assert_eq!(routed("POST", "/v1/messages/count_tokens?beta=true", &[]), Route::Pass(Provider::Anthropic));
        assert_eq!(routed("GET", "/v1/responses/resp_1", &[]), Route::Pass(Provider::OpenAi));
        assert_eq!(routed("POST", "/v1/embeddings", &[]), Route::Pass(Provider::OpenAi));
    }

    #[test]
    fn other_gateways_find_what_makes_outputs_shorter() {
        assert_eq!(routed("POST", "/v1/compress", &[]), Route::Compress);
        assert_eq!(
            routed("GET", "/v1/retrieve/0123456789abcdef01234567?query=a", &[]),
            Route::Retrieve("0123456789abcdef01234567".to_owned())
        );
        assert_eq!(routed("GET", "/v1/compress", &[]), Route::Pass(Provider::OpenAi));
    }

    #[test]
    fn models_of_gemini_are_called_by_their_path() {
        let google = Route::Pass(Provider::Google);
        for version in ["v1", "v1beta", "v1alpha", "v1/projects/p/locations/l/publishers/google"] {
            let at = |path: &str| routed("POST", &format!("/{version}/models/gemini-3-pro:{path}"), &[]);
            assert_eq!(at("generateContent"), Route::Turn(Dialect::Gemini));
            assert_eq!(at("streamGenerateContent?alt=sse"), Route::Turn(Dialect::Gemini));
            assert_eq!(at("countTokens"), google);
        }
        for path in ["/v1beta/models", "/v1beta/cachedContents", "/upload/v1beta/files", "/v1beta/openai/models"] {
            assert_eq!(routed("GET", path, &[]), google, "{path}");
        }
        assert_eq!(routed("GET", "/v1/models", &[("x-goog-api-key", "k")]), google);
        assert_eq!(routed("GET", "/v1/models/m:thinking", &[]), google);
        assert_eq!(routed("GET", "/v1/models/m", &[]), Route::Pass(Provider::OpenAi));
        let call = ModelCall::of("/v1beta/tunedModels/mine%3AgenerateContent").unwrap();
        assert_eq!((call.model, call.verb), ("mine", "generateContent"));
    }

    #[test]
    fn probes_for_other_products_are_foreign() {
        for path in ["/api/v1/models", "/api/tags", "/v1/props", "/props", "/version", "/api/show"] {
            assert_eq!(routed("GET", path, &[]), Route::Foreign, "{path}");
        }
    }

    #[test]
    fn a_websocket_is_an_upgrade_and_not_a_turn() {
        assert_eq!(routed("GET", "/v1/responses", &[("upgrade", "websocket")]), Route::Upgrade);
        assert_eq!(routed("GET", "/v1/responses", &[("upgrade", "WebSocket/13, h2c")]), Route::Upgrade);
        assert_eq!(routed("POST", "/v1/responses", &[("upgrade", "h2c")]), Route::Turn(Dialect::Responses));
        assert_eq!(routed("HEAD", "/", &[]), Route::Alive);
        assert_eq!(routed("GET", "/foldline/healthz", &[]), Route::Own("healthz".to_owned()));
        assert_eq!(routed("GET", "/foldlines", &[]), Route::Pass(Provider::OpenAi));
    }
}
