//! Who views a page. A browser signs in with a key once and gets a cookie for it.
//!
//! The cookie is a random value that only this process knows. Scripts cannot read it (`HttpOnly`), pages of other sites
//! cannot send it (`SameSite=Strict`), and it ends after twelve hours or with the process. The key is not stored.

use super::layout::{Page, Place};
use super::{html, see_other};
use crate::conversation::CredentialId;
use crate::serve::Body;
use crate::serve::gateway::Gateway;
use crate::serve::query::Parameters;
use crate::serve::{headers, setup::Setup};
use foldline_store::KeyScope;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use maud::html as markup;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The name of the cookie.
const COOKIE: &str = "foldline-visit";
/// How long a browser stays signed in.
const STAY: Duration = Duration::from_secs(12 * 60 * 60);
/// Signed-in browsers; beyond that the oldest is signed out.
const MOST: usize = 1_024;
/// Delay after an unknown key, so that guessing takes long.
const AFTER_A_WRONG_KEY: Duration = Duration::from_millis(400);

/// What a client key of the store must be for, one of them.
const SCOPES: [KeyScope; 2] = [KeyScope::Recall, KeyScope::Operator];

/// Browsers that are signed in.
#[derive(Default)]
pub struct Visitors {
    known: Mutex<HashMap<String, (CredentialId, Instant)>>,
}

impl Visitors {
    fn admit(&self, credential: CredentialId) -> Option<String> {
        let mut bytes = [0; 32];
        rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).ok()?;
        let mut name = String::with_capacity(64);
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, since)| since.elapsed() < STAY);
        if known.len() >= MOST
            && let Some(oldest) = known.iter().min_by_key(|(_, (_, since))| *since).map(|(name, _)| name.clone())
        {
            known.remove(&oldest);
        }
        known.insert(name.clone(), (credential, Instant::now()));
        Some(name)
    }

    fn credential(&self, name: &str) -> Option<CredentialId> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name).filter(|(_, since)| since.elapsed() < STAY).map(|(credential, _)| *credential)
    }

    fn forget(&self, name: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

/// How somebody showed who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// By the cookie of the form.
    In,
    /// By a header.
    Header,
    /// Not at all; where no key is needed.
    Out,
}

/// Who looks at a page.
#[derive(Clone, Copy, Debug)]
pub struct Viewer {
    /// Whose content they may see.
    pub credential: CredentialId,
    pub sign: Sign,
    is_operator: bool,
}

impl Viewer {
    /// Who sends a request; `None` when a key is needed and none is shown.
    pub fn of(gateway: &Gateway, parts: &Parts) -> Option<Viewer> {
        let setup = gateway.setup();
        let by_cookie = cookie(&parts.headers).and_then(|name| gateway.visitors.credential(name));
        let may_look = |credential: &CredentialId| setup.keys.check(*credential, &SCOPES).is_ok();
        let by_cookie = by_cookie.filter(|credential| setup.keys.knows(*credential)).filter(may_look);
        let (credential, sign) = match by_cookie {
            Some(credential) => (credential, Sign::In),
            None => {
                let credential = setup.keys.authorise(&parts.headers, &SCOPES).ok()?;
                let is_nobody = credential == CredentialId::of_key("");
                (gateway.accepted.whose(credential), if is_nobody { Sign::Out } else { Sign::Header })
            }
        };
        Some(Viewer { credential, sign, is_operator: setup.keys.is_operator(credential) })
    }

    /// Whether they see the figures of everybody.
    pub fn sees_all(&self) -> bool {
        self.is_operator
    }

    /// Whose sessions they see: all, or their own.
    pub fn whose(&self) -> Option<CredentialId> {
        (!self.is_operator).then_some(self.credential)
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// The form.
pub fn form(gateway: &Gateway, wrong: Option<&str>) -> Response<Body> {
    let help = match gateway.setup().keys.is_open() {
        true => {
            "Everyone on this machine can see the list of sessions. To read the content of a session, sign in with the key \
             of its agent: the API key that it sends through this gateway, or its x-foldline-key."
        }
        false => "This gateway is shared. Sign in with the client key that your agent sends.",
    };
    let content = markup! {
        @if let Some(wrong) = wrong { p.wrong role="alert" { (wrong) } }
        p.lead { (help) }
        form.login method="post" action="/foldline/login" {
            label for="key" { "Key" }
            input #key name="key" type="password" autocomplete="current-password" required;
            button type="submit" { "Sign in" }
        }
        p { "The key is not stored. This browser stays signed in for twelve hours, or until the gateway restarts." }
    };
    let page = Page { title: "Sign in", place: Place::Login, content };
    html(if wrong.is_some() { StatusCode::UNAUTHORIZED } else { StatusCode::OK }, page.write(None))
}

/// Takes a key, and gives a cookie for it.
pub async fn enter(gateway: &Arc<Gateway>, body: &[u8]) -> Response<Body> {
    let text = std::str::from_utf8(body).unwrap_or_default();
    let key = Parameters::read(Some(text), &["key"]).ok().and_then(|form| form.get("key").map(str::to_owned));
    let setup = gateway.setup();
    let admitted = key.as_deref().and_then(|key| admitted(&setup, key));
    let visit = admitted.map(|credential| gateway.accepted.whose(credential)).and_then(|c| gateway.visitors.admit(c));
    let Some(visit) = visit else {
        tokio::time::sleep(AFTER_A_WRONG_KEY).await;
        return form(gateway, Some("Unknown key."));
    };
    let mut answer = see_other("/foldline/");
    set_cookie(&mut answer, &format!("{COOKIE}={visit}; Max-Age={}", STAY.as_secs()));
    answer
}

/// Whom a key lets in.
fn admitted(setup: &Setup, key: &str) -> Option<CredentialId> {
    let value = HeaderValue::from_str(key.trim()).ok().filter(|value| !value.is_empty())?;
    setup.keys.authorise(&HeaderMap::from_iter([(headers::KEY, value)]), &SCOPES).ok()
}

/// Ends the visit of a browser.
pub fn leave(gateway: &Gateway, parts: &Parts) -> Response<Body> {
    if let Some(name) = cookie(&parts.headers) {
        gateway.visitors.forget(name);
    }
    let mut answer = see_other("/foldline/");
    set_cookie(&mut answer, &format!("{COOKIE}=; Max-Age=0"));
    answer
}

fn set_cookie(answer: &mut Response<Body>, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(&format!("{cookie}; Path=/foldline; HttpOnly; SameSite=Strict")) {
        answer.headers_mut().insert(header::SET_COOKIE, value);
    }
}
