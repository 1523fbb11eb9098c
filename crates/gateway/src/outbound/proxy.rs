//! Which proxy is used for a destination.

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::net::IpAddr;

/// Where proxies come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxies {
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, also in small letters.
    #[default]
    Environment,
    /// None, whatever the environment says.
    None,
    /// These URLs; an empty one means none. `no` lists hosts and networks to reach directly.
    Given {
        /// For `http` destinations.
        http: String,
        /// For `https` destinations.
        https: String,
        /// Exceptions, separated by commas.
        no: String,
    },
}

impl Proxies {
    pub(super) fn matcher(&self) -> Matcher {
        match self {
            Proxies::Environment => Matcher::from_env(),
            Proxies::None => Matcher::builder().build(),
            Proxies::Given { http, https, no } => {
                Matcher::builder().http(http.clone()).https(https.clone()).no(no.clone()).build()
            }
        }
    }
}

/// The proxy for a destination. A proxy elsewhere could not reach this machine's loopback.
pub(super) fn between(matcher: &Matcher, destination: &Uri) -> Option<Intercept> {
    if is_loopback(destination.host()?) {
        return None;
    }
    matcher.intercept(destination)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
