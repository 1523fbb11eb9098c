//! Settings converted to the types used while serving. Rebuilt on every reload, never modified.

use super::allowed_hosts::AllowedHosts;
use super::answer::Refusal;
use super::inbound::Bounds;
use super::keys::{Admission, KeyError, Keys};
use super::route::Provider;
use super::upstream::{Base, BaseError};
use super::{credentials, headers};
use crate::conversation::{CredentialId, SummariserAt};
use crate::settings::GatewaySettings;
use crate::summariser::Summariser;
use foldline_core::Policy;
use http::{HeaderMap, Uri};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

/// The settings of the gateway, read and checked.
pub struct Setup {
    /// Where OpenAI's API is.
    pub openai: Base,
    /// Where Anthropic's API is.
    pub anthropic: Base,
    /// Where Google's API is.
    pub google: Base,
    /// Who may come in.
    pub keys: Keys,
    /// Which hosts it answers to, and pages of which origins.
    pub names: AllowedHosts,
    /// What request bodies may be.
    pub bounds: Bounds,
    /// How long things may take.
    pub patience: Timeouts,
    /// Who writes handoffs, if somebody does.
    pub summariser: Option<Summariser>,
    /// When to compact and how far, as it was given.
    pub policy: Policy,
    /// How to serve, as it was given.
    pub gateway: GatewaySettings,
}

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Reading and rewriting a request.
    pub prepare: Duration,
    /// Until a provider begins to answer.
    pub reply: Duration,
    /// Silence within a reply.
    pub idle: Duration,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A base address.
    #[error("{key}: {error}")]
    Base {
        /// The setting.
        key: &'static str,
        /// What is wrong.
        error: BaseError,
    },
    /// The key file cannot be read.
    #[error("gateway.client_keys: {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Everybody may write the key file.
    #[error("gateway.client_keys: {path} is writable by other users, who could add keys; run chmod 600 on it")]
    Writable {
        /// The file.
        path: String,
    },
    /// The key file has a bad line.
    #[error("gateway.client_keys: {path}: {error}")]
    Keys {
        /// The file.
        path: String,
        /// What is wrong.
        error: KeyError,
    },
    /// The key file names nobody.
    #[error(
        "gateway.client_keys: {path} contains no key, so every client would be refused; remove the setting to accept \
         all clients on loopback"
    )]
    NoKeys {
        /// The file.
        path: String,
    },
    /// The model that writes handoffs.
    #[error("summarizer: {0}")]
    Summariser(#[from] crate::summariser::SetupError),
    /// The address to listen on.
    #[error("gateway.listen: invalid address `{text}`: {reason}; expected for example 127.0.0.1:8787")]
    Listen {
        /// As given.
        text: String,
        /// What the system said.
        reason: String,
    },
    /// An address that others can reach, and no keys.
    #[error(
        "gateway.listen: {address} is reachable from other machines and no client keys are set; set \
         gateway.client_keys to a file with the keys of your clients, or gateway.require_key for keys that \
         `foldline keys add` creates, or listen on 127.0.0.1"
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// Keys are required, and there is nowhere to look for them.
    #[error(
        "gateway.require_key: there are no client keys, because there is no store (store.path) and no key file \
         (gateway.client_keys); set one of them"
    )]
    NoStore,
    /// Another address than the one that connections come in at.
    #[error(
        "gateway.listen: cannot change from {now} to {wanted} while the gateway runs; restart it, or undo the change"
    )]
    Moved {
        /// Where it listens.
        now: SocketAddr,
        /// Where it should.
        wanted: SocketAddr,
    },
    /// Keys that do not open the store.
    #[error(transparent)]
    Store(#[from] foldline_store::StoreError),
    /// No keys where there were some.
    #[error("gateway.client_keys: cannot be removed while the gateway runs; restart it to accept clients without keys")]
    Opened,
}

impl Setup {
    /// Reads the settings. The key file and the environment are read here and nowhere else.
    pub fn of(policy: &Policy, gateway: &GatewaySettings) -> Result<Setup, SetupError> {
        let seconds = |n: u32| Duration::from_secs(u64::from(n));
        if policy.compression.system_note {
            tracing::warn!(
                "compression.system_note has no effect in the gateway, because it would break the cached prefix"
            );
        }
        let keys = match gateway.client_keys.as_deref() {
            Some(path) => read_keys(path)?,
            None => Keys::default(),
        };
        let admission = if gateway.require_key { Admission::KeysOnly } else { Admission::Everybody };
        Ok(Setup {
            openai: base("gateway.upstream_openai", &gateway.upstream_openai, OPENAI, Provider::OpenAi)?,
            anthropic: base("gateway.upstream_anthropic", &gateway.upstream_anthropic, ANTHROPIC, Provider::Anthropic)?,
            google: base("gateway.upstream_gemini", &gateway.upstream_gemini, GEMINI, Provider::Google)?,
            keys: keys.admitting(admission),
            names: AllowedHosts::new(&gateway.hosts, &gateway.origins),
            bounds: Bounds { bytes: gateway.max_body_bytes, pause: seconds(gateway.body_secs) },
            patience: Timeouts {
                prepare: Duration::from_millis(u64::from(gateway.prepare_ms)),
                reply: seconds(gateway.reply_secs),
                idle: seconds(gateway.idle_secs),
            },
            summariser: Summariser::of_policy(policy, &|name| std::env::var(name).ok())?,
            policy: policy.clone(),
            gateway: gateway.clone(),
        })
    }

    /// The provider's base address.
    pub fn base(&self, provider: Provider) -> &Base {
        match provider {
            Provider::OpenAi => &self.openai,
            Provider::Anthropic => &self.anthropic,
            Provider::Google => &self.google,
        }
    }

    /// The headers as they go to a provider, for somebody who was admitted.
    pub fn outgoing(
        &self,
        credential: CredentialId,
        provider: Provider,
        headers: &HeaderMap,
    ) -> Result<HeaderMap, Refusal> {
        let mut sent = headers::to_upstream(headers);
        self.keys.exchange(credential, provider, &mut sent)?;
        if !self.keys.is_mapped(credential, provider) {
            credentials::screen(&mut sent, provider, |provider| self.base(provider))?;
        }
        Ok(sent)
    }

    /// Where the model that writes handoffs is asked, seen from a request that goes to `target` with these headers.
    pub fn writer(&self, target: &Uri, headers: &HeaderMap) -> SummariserAt {
        match &self.summariser {
            Some(summariser) if summariser.first.is_at(target, headers) => SummariserAt::Here,
            _ => SummariserAt::Elsewhere,
        }
    }

    /// Where to listen. Refuses an address that others can reach when everybody would be admitted.
    pub fn listen(&self) -> Result<SocketAddr, SetupError> {
        let address = address(self.gateway.listen.as_deref())?;
        self.may_serve(address)?;
        Ok(address)
    }

    /// Refuses to serve at an address that others can reach when everybody would be admitted.
    pub fn may_serve(&self, address: SocketAddr) -> Result<(), SetupError> {
        match self.keys.is_open() && !address.ip().to_canonical().is_loopback() {
            true => Err(SetupError::Exposed { address }),
            false => Ok(()),
        }
    }
}

/// What a setting for the address to listen on stands for.
pub fn address(listen: Option<&str>) -> Result<SocketAddr, SetupError> {
    let text = listen.unwrap_or(LISTEN);
    let fail = |reason: String| SetupError::Listen { text: text.to_owned(), reason };
    let mut found = text.to_socket_addrs().map_err(|error| fail(error.to_string()))?;
    found.next().ok_or_else(|| fail("it resolves to no address".to_owned()))
}

/// Where nobody said anything else.
const LISTEN: &str = "127.0.0.1:8787";
const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";
const GEMINI: &str = "https://generativelanguage.googleapis.com";

fn base(key: &'static str, given: &Option<String>, usual: &str, provider: Provider) -> Result<Base, SetupError> {
    let text = given.as_deref().unwrap_or(usual);
    Base::parse(text, provider).map_err(|error| SetupError::Base { key, error })
}

/// Refuses a key file that everybody may write, and says so where others may read it.
#[cfg(unix)]
fn check_permissions(path: &str) -> Result<(), SetupError> {
    use std::os::unix::fs::PermissionsExt;
    let unreadable = |error| SetupError::Unreadable { path: path.to_owned(), error };
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o002 != 0 {
        return Err(SetupError::Writable { path: path.to_owned() });
    }
    if mode & 0o077 != 0 {
        let mode = format!("{:o}", mode & 0o777);
        tracing::warn!(path, mode, "other users can read the client keys; run chmod 600 on the file");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_permissions(_: &str) -> Result<(), SetupError> {
    Ok(())
}

fn read_keys(path: &str) -> Result<Keys, SetupError> {
    check_permissions(path)?;
    let text =
        std::fs::read_to_string(path).map_err(|error| SetupError::Unreadable { path: path.to_owned(), error })?;
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let keys = Keys::parse(&text, &variable).map_err(|error| SetupError::Keys { path: path.to_owned(), error })?;
    if keys.is_open() { Err(SetupError::NoKeys { path: path.to_owned() }) } else { Ok(keys) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_others_can_reach_needs_keys() {
        let mut gateway = GatewaySettings { listen: Some("0.0.0.0:8787".to_owned()), ..Default::default() };
        let error = Setup::of(&Policy::default(), &gateway).unwrap().listen().unwrap_err();
        assert!(error.to_string().contains("client_keys"), "{error}");

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        std::fs::write(&file, "one\n").unwrap();
        gateway.client_keys = Some(file.display().to_string());
        assert_eq!(Setup::of(&Policy::default(), &gateway).unwrap().listen().unwrap().port(), 8787);
        std::fs::write(&file, "# nobody\n").unwrap();
        assert!(matches!(Setup::of(&Policy::default(), &gateway), Err(SetupError::NoKeys { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_everybody_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "one\n").unwrap();
        let client_keys = Some(file.path().display().to_string());
        let gateway = GatewaySettings { client_keys, ..Default::default() };
        for (mode, works) in [(0o600, true), (0o644, true), (0o646, false), (0o666, false)] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Setup::of(&Policy::default(), &gateway).is_ok(), works, "{mode:o}");
        }
    }

    #[test]
    fn loopback_in_all_its_spellings_is_open() {
        for listen in ["127.0.0.1:0", "[::1]:0", "127.8.8.8:0", "[::ffff:127.0.0.1]:0"] {
            let gateway = GatewaySettings { listen: Some(listen.to_owned()), ..Default::default() };
            assert!(Setup::of(&Policy::default(), &gateway).unwrap().listen().is_ok(), "{listen}");
        }
    }
}
