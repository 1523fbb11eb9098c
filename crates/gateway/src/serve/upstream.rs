//! Base URLs of providers, and the URL of a request below them.

use super::route::{Provider, Version, operation};
use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};

/// The base address of a provider's API.
///
/// The vendors' SDKs differ: a base address for OpenAI ends with the version (`https://api.openai.com/v1`), one for
/// Anthropic or Google ends before it. Both spellings are understood for both; a path of another kind is kept as the vendor's SDK would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    provider: Provider,
    scheme: Scheme,
    authority: Authority,
    path: String,
}

/// Why a text is no base address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid base URL `{text}`: {reason}; expected for example https://api.openai.com/v1")]
pub struct BaseError {
    text: String,
    reason: String,
}

impl Base {
    /// Reads a base address.
    pub fn parse(text: &str, provider: Provider) -> Result<Base, BaseError> {
        let fail = |reason: &str| BaseError { text: text.to_owned(), reason: reason.to_owned() };
        let uri: Uri = text.trim().parse().map_err(|error: http::uri::InvalidUri| fail(&error.to_string()))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.ok_or_else(|| fail("it has no scheme"))?;
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(fail("its scheme is neither http nor https"));
        }
        let authority = parts.authority.ok_or_else(|| fail("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(fail("it contains a user name; send keys in headers"));
        }
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path).trim_end_matches('/').to_owned();
        if parts.path_and_query.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(fail("it has a query"));
        }
        Ok(Base { provider, scheme, authority, path })
    }

    /// Where a request for `path` goes. `None` when the result is no address.
    pub fn target(&self, path_and_query: &PathAndQuery) -> Option<Uri> {
        if self.provider == Provider::Google {
            return self.under(self.versioned_once(path_and_query.path()), path_and_query.query());
        }
        let (rest, version) = operation(path_and_query.path());
        let complete = self.path.ends_with("/v1") || (self.provider == Provider::OpenAi && !self.path.is_empty());
        let known = version == Version::Named || is_versioned(rest);
        let versioned = if complete || !known { "" } else { "/v1" };
        self.under(&format!("{versioned}{rest}"), path_and_query.query())
    }

    /// A path of Google's, which names its version, without the one that the base ends with.
    fn versioned_once<'p>(&self, path: &'p str) -> &'p str {
        let last = self.path.rsplit('/').next().unwrap_or_default();
        let rest = path.strip_prefix('/').and_then(|path| path.strip_prefix(last)).filter(|_| !last.is_empty());
        rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
    }

    fn under(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let mut text = format!("{}{path}", self.path);
        if let Some(query) = query {
            text.push('?');
            text.push_str(query);
        }
        let path = PathAndQuery::try_from(text).ok()?;
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(path).build().ok()
    }

    /// The host.
    pub fn host(&self) -> &str {
        self.authority.host()
    }

    /// Whether another base is at the same place.
    pub fn is_at(&self, other: &Base) -> bool {
        self.authority == other.authority
    }

    /// Whose own place it is.
    pub fn vendor(&self) -> Option<Provider> {
        let under = |domain: &str| {
            let host = self.host().to_ascii_lowercase();
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        if under("anthropic.com") {
            Some(Provider::Anthropic)
        } else if under("googleapis.com") {
            Some(Provider::Google)
        } else {
            (under("openai.com") || under("chatgpt.com")).then_some(Provider::OpenAi)
        }
    }

    /// For people: scheme, host and path.
    pub fn text(&self) -> String {
        format!("{}://{}{}", self.scheme, self.authority, self.path)
    }
}

/// Operations that exist only under a version, so that a client which leaves it out means it.
fn is_versioned(operation: &str) -> bool {
    ["/chat/completions", "/responses", "/messages", "/models", "/completions", "/embeddings"]
        .iter()
        .any(|known| operation.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(base: &str, provider: Provider, path: &str) -> String {
        Base::parse(base, provider).unwrap().target(&path.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn the_version_stands_once_whoever_names_it() {
        let chat = "https://api.openai.com/v1/chat/completions";
        for base in ["https://api.openai.com", "https://api.openai.com/", "https://api.openai.com/v1"] {
            for path in ["/v1/chat/completions", "/chat/completions", "/openai/v1/chat/completions"] {
                assert_eq!(target(base, Provider::OpenAi, path), chat, "{base} {path}");
            }
        }
        let messages = "https://api.anthropic.com/v1/messages?beta=true";
        for base in ["https://api.anthropic.com", "https://api.anthropic.com/v1"] {
            assert_eq!(target(base, Provider::Anthropic, "/v1/messages?beta=true"), messages);
        }
    }

    #[test]
    fn a_path_in_the_base_is_kept_as_the_vendors_sdk_keeps_it() {
        let google = "https://g.example/v1beta/openai";
        assert_eq!(target(google, Provider::OpenAi, "/v1/models"), "https://g.example/v1beta/openai/models");
        let proxy = "http://127.0.0.1:9/anthropic";
        assert_eq!(target(proxy, Provider::Anthropic, "/v1/messages"), "http://127.0.0.1:9/anthropic/v1/messages");
    }

    #[test]
    fn google_names_its_versions_itself() {
        let call = "/v1beta/models/m:streamGenerateContent?alt=sse";
        for base in ["http://h:1", "http://h:1/v1beta"] {
            assert_eq!(target(base, Provider::Google, call), format!("http://h:1{call}"));
        }
        assert_eq!(target("http://h:1/gemini", Provider::Google, "/v1/models"), "http://h:1/gemini/v1/models");
    }

    #[test]
    fn what_is_no_operation_keeps_its_path() {
        assert_eq!(target("http://h:1", Provider::Anthropic, "/api/hello"), "http://h:1/api/hello");
    }

    #[test]
    fn a_bad_base_says_what_is_wrong() {
        for (text, word) in [
            ("api.openai.com", "scheme"),
            ("ftp://h", "scheme"),
            ("https://u:p@h", "user name"),
            ("http://h/?a=1", "query"),
        ] {
            let error = Base::parse(text, Provider::OpenAi).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
