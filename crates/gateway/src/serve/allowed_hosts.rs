//! Checks the host of a request, and the origin of requests from browsers.
//!
//! A page that somebody visits can make the visitor's browser speak to this machine: by a name that its owner points
//! here (DNS rebinding), by a form, by a script. None of that is a client's doing, and all of it shows in headers that
//! a page cannot change: `host`, `origin`, `sec-fetch-site`, and the few kinds of bodies that need nobody's leave.

use super::answer::Refusal;
use super::headers;
use http::header::{self, HeaderMap, HeaderName};
use http::request::Parts;
use http::uri::Authority;
use http::{Method, Version};
use std::net::IpAddr;

/// Names by which containers know the machine that runs them. Nobody can own them: `internal` is no public domain.
const FROM_CONTAINERS: &[&str] = &["host.docker.internal", "gateway.docker.internal", "host.containers.internal"];

/// Where a browser says how its page stands to us.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names and origins that are served.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl AllowedHosts {
    /// Beside those of this machine, these hosts and origins. A star stands for all, `*.` for all names under one.
    pub fn new(hosts: &[String], origins: &[String]) -> AllowedHosts {
        let small = |list: &[String]| list.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        AllowedHosts { hosts: small(hosts), origins: small(origins) }
    }

    /// Checks a request that came in at the address `local_address`.
    pub fn check(&self, parts: &Parts, local_address: IpAddr) -> Result<(), Refusal> {
        self.check_host(parts, local_address)?;
        self.check_page(&parts.headers, local_address)?;
        if parts.method == Method::POST && !needs_leave(&parts.headers) {
            return Err(Refusal::FormRequest);
        }
        Ok(())
    }

    fn check_host(&self, parts: &Parts, local_address: IpAddr) -> Result<(), Refusal> {
        let mut named = parts.headers.get_all(header::HOST).iter();
        let (host, another) = (named.next(), named.next());
        let is_named = host.is_some() || (parts.version >= Version::HTTP_2 && parts.uri.authority().is_some());
        if another.is_some() || !is_named {
            return Err(Refusal::InvalidHost);
        }
        let host =
            host.map(|host| Authority::try_from(host.as_bytes()).map_err(|_| Refusal::InvalidHost)).transpose()?;
        for authority in host.iter().chain(parts.uri.authority()) {
            if authority.as_str().contains('@') {
                return Err(Refusal::InvalidHost);
            }
            if !self.answers_to(authority.host(), local_address) {
                return Err(Refusal::ForeignHost(authority.host().chars().take(SHOWN).collect()));
            }
        }
        Ok(())
    }

    fn answers_to(&self, host: &str, local_address: IpAddr) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let digits = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        if let Ok(address) = digits.parse::<IpAddr>() {
            let address = address.to_canonical();
            return address.is_loopback() || address == local_address.to_canonical() || self.lists(digits);
        }
        host == "localhost"
            || host.ends_with(".localhost")
            || FROM_CONTAINERS.contains(&host.as_str())
            || self.lists(&host)
    }

    fn lists(&self, host: &str) -> bool {
        self.hosts.iter().any(|listed| match listed.strip_prefix('*') {
            Some("") => true,
            Some(under) => under.starts_with('.') && host.ends_with(under),
            None => listed == host,
        })
    }

    fn check_page(&self, headers: &HeaderMap, local_address: IpAddr) -> Result<(), Refusal> {
        let refused =
            |origin: &[u8]| Err(Refusal::ForeignOrigin(String::from_utf8_lossy(origin).chars().take(SHOWN).collect()));
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let origin = origins.next();
        if let Some(another) = origins.next() {
            return refused(another.as_bytes());
        }
        let is_listed = match origin.map(|origin| (origin, origin.to_str().unwrap_or_default().to_ascii_lowercase())) {
            None => false,
            Some((_, origin)) if self.origins.iter().any(|listed| *listed == origin || listed == "*") => true,
            Some((_, origin)) if self.is_ours(&origin, local_address) => false,
            Some((origin, _)) => return refused(origin.as_bytes()),
        };
        let site = headers.get(FETCH_SITE).map(|site| site.as_bytes().to_ascii_lowercase());
        match site.as_deref() {
            Some(b"cross-site") if !is_listed => refused(origin.map_or(b"another site".as_slice(), |o| o.as_bytes())),
            _ => Ok(()),
        }
    }

    /// Whether an origin is a page of a host that we are, on whatever port.
    fn is_ours(&self, origin: &str, local_address: IpAddr) -> bool {
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let authority = rest.and_then(|rest| rest.parse::<Authority>().ok()).filter(|a| !a.as_str().contains('@'));
        // A star in the list of hosts says nothing about pages.
        authority.is_some_and(|a| {
            AllowedHosts { hosts: self.exact(), origins: Vec::new() }.answers_to(a.host(), local_address)
        })
    }

    fn exact(&self) -> Vec<String> {
        self.hosts.iter().filter(|host| !host.starts_with('*')).cloned().collect()
    }
}

/// Characters of a name that are repeated in an answer.
const SHOWN: usize = 100;

/// Whether a browser would have had to ask before it sent this from another site's page: for JSON, and for headers
/// that no form has.
fn needs_leave(headers: &HeaderMap) -> bool {
    let kind = headers::text(headers, &header::CONTENT_TYPE).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"));
    // Browsers add `basic` on their own.
    let is_authorised = headers
        .get(header::AUTHORIZATION)
        .is_some_and(|value| !value.as_bytes().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"basic")));
    let is_custom = |name: &HeaderName| {
        let name = name.as_str();
        name == "x-api-key" || name == "anthropic-version" || name == "x-goog-api-key" || name.starts_with(headers::OWN)
    };
    is_json || is_authorised || headers.keys().any(is_custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn parts(method: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method(method).uri("/foldline/sessions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn get(names: &AllowedHosts, headers: &[(&str, &str)]) -> Option<&'static str> {
        names.check(&parts("GET", headers), HERE).err().map(|refusal| refusal.name())
    }

    #[test]
    fn this_machine_is_known_by_its_names_and_by_the_address_that_was_reached() {
        let names = AllowedHosts::default();
        for host in
            ["localhost", "LOCALHOST:8787", "a.localhost", "127.0.0.1:1", "127.9.9.9", "[::1]:8787", "localhost."]
        {
            assert_eq!(get(&names, &[("host", host)]), None, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "10.0.0.7", "127.0.0.1.nip.io", "notlocalhost"] {
            assert_eq!(get(&names, &[("host", host)]), Some("host_not_allowed"), "{host}");
        }
        let reached = names.check(&parts("GET", &[("host", "10.0.0.7:8787")]), IpAddr::from([10, 0, 0, 7]));
        assert_eq!(reached, Ok(()));
    }

    #[test]
    fn more_names_can_be_listed() {
        let names = AllowedHosts::new(&["Gate.example".to_owned(), "*.corp.example".to_owned()], &[]);
        for host in ["gate.example", "a.corp.example:99"] {
            assert_eq!(get(&names, &[("host", host)]), None, "{host}");
        }
        for host in ["x.gate.example", "corp.example", "evilcorp.example"] {
            assert_eq!(get(&names, &[("host", host)]), Some("host_not_allowed"), "{host}");
        }
        assert_eq!(get(&AllowedHosts::new(&["*".to_owned()], &[]), &[("host", "any.example")]), None);
    }

    #[test]
    fn a_request_names_one_host() {
        let names = AllowedHosts::default();
        assert_eq!(get(&names, &[]), Some("invalid_host"));
        assert_eq!(get(&names, &[("host", "localhost"), ("host", "localhost")]), Some("invalid_host"));
        assert_eq!(get(&names, &[("host", "a@localhost")]), Some("invalid_host"));
        assert_eq!(get(&names, &[("host", "")]), Some("invalid_host"));
    }

    #[test]
    fn pages_of_others_are_refused_and_those_of_this_machine_are_not() {
        let names = AllowedHosts::new(&["*".to_owned()], &["https://app.example".to_owned()]);
        let from = |origin, site| get(&names, &[("host", "localhost"), ("origin", origin), ("sec-fetch-site", site)]);
        assert_eq!(from("https://evil.example", "cross-site"), Some("origin_not_allowed"));
        assert_eq!(from("https://evil.example", "same-origin"), Some("origin_not_allowed"));
        assert_eq!(from("null", "cross-site"), Some("origin_not_allowed"));
        assert_eq!(from("http://localhost:8787", "same-origin"), None);
        assert_eq!(from("http://localhost:3000", "same-site"), None);
        assert_eq!(from("http://localhost:3000", "cross-site"), Some("origin_not_allowed"));
        assert_eq!(from("https://app.example", "cross-site"), None);
        assert_eq!(from("http://localhost.evil.example", "cross-site"), Some("origin_not_allowed"));
        assert_eq!(get(&names, &[("host", "localhost"), ("sec-fetch-site", "cross-site")]), Some("origin_not_allowed"));
        assert_eq!(get(&names, &[("host", "localhost"), ("sec-fetch-site", "none")]), None);
    }

    #[test]
    fn what_a_form_could_send_changes_nothing() {
        let post = |headers: &[(&str, &str)]| {
            let headers = [&[("host", "localhost")], headers].concat();
            AllowedHosts::default().check(&parts("POST", &headers), HERE).err().map(|refusal| refusal.name())
        };
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
            assert_eq!(post(&[("content-type", kind)]), Some("form_request"), "{kind}");
            assert_eq!(post(&[("content-type", kind), ("authorization", "Bearer k")]), None, "{kind}");
        }
        assert_eq!(post(&[]), Some("form_request"));
        assert_eq!(post(&[("authorization", "Basic eDp5")]), Some("form_request"));
        assert_eq!(post(&[("content-type", "Application/JSON; charset=utf-8")]), None);
        assert_eq!(post(&[("x-foldline-key", "k")]), None);
    }
}
