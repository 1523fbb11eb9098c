//! Connecting: the URL, TLS, and a pool of connections.

use crate::error::Fault;
use crate::limits::Limits;
use crate::url::Url;
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Connections of one process. A statement takes a millisecond or less, so few serve many callers.
const CONNECTIONS: usize = 8;
/// How long a connection may take to come about, at least: a fresh one asks the name server and agrees on keys.
const CONNECT: Duration = Duration::from_secs(2);

/// The parts of a URL that are ours to understand; the others are the driver's.
struct Own {
    rest: String,
    mode: Option<String>,
    root: Option<String>,
}

/// Prepares a pool; nothing is connected yet.
pub(super) fn pool(url: &Url, limits: &Limits) -> Result<Pool, Fault> {
    let Limits { wait, restart, .. } = *limits;
    let own = own(url.as_str());
    let mut config: Config = own.rest.parse().map_err(|error: tokio_postgres::Error| {
        // The driver's words name the parameter, never its value.
        Fault::BadUrl(error.to_string())
    })?;
    if config.get_hosts().is_empty() {
        return Err(Fault::BadUrl("it names no host".into()));
    }
    if config.get_dbname().is_none() {
        return Err(Fault::BadUrl("it names no database".into()));
    }
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    let mode = mode(own.mode.as_deref(), config.get_hosts())?;
    config.ssl_mode(mode);
    config.connect_timeout(wait.max(CONNECT));
    config.keepalives_idle(Duration::from_secs(30));
    config.application_name("foldline");
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match mode {
        // A socket has no name that a certificate could be for.
        SslMode::Disable => Manager::from_config(config, NoTls, recycling),
        _ => Manager::from_config(config, MakeRustlsConnect::new(tls(own.root.as_deref())?), recycling),
    };
    Pool::builder(manager)
        .max_size(CONNECTIONS)
        // Those who have the connections get on, or wait for the server themselves.
        .wait_timeout(Some(wait.max(restart)))
        .create_timeout(Some(wait.max(CONNECT)))
        .runtime(deadpool_postgres::Runtime::Tokio1)
        .build()
        .map_err(|error| Fault::Other(error.to_string()))
}

fn own(url: &str) -> Own {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut own = Own { rest: address.to_owned(), mode: None, root: None };
    let mut kept = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("sslmode", value)) => own.mode = Some(value.to_owned()),
            Some(("sslrootcert", value)) => own.root = Some(value.replace("%2F", "/")),
            _ => kept.push(part),
        }
    }
    if !kept.is_empty() {
        own.rest = format!("{address}?{}", kept.join("&"));
    }
    own
}

/// Whether TLS is used. Where nobody says so, it is for every host but this one. It is never used without checking the
/// certificate: whoever can read what passes can also stand in between.
fn mode(given: Option<&str>, hosts: &[Host]) -> Result<SslMode, Fault> {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1" | "[::1]"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    match given {
        None if hosts.iter().all(is_here) => Ok(SslMode::Disable),
        None | Some("require" | "verify-ca" | "verify-full") => Ok(SslMode::Require),
        Some("prefer" | "allow") => Ok(SslMode::Prefer),
        Some("disable") => Ok(SslMode::Disable),
        Some(_) => Err(Fault::BadUrl("sslmode is disable, prefer, require, verify-ca or verify-full".into())),
    }
}

fn tls(root: Option<&str>) -> Result<ClientConfig, Fault> {
    let mut roots = RootCertStore::empty();
    match root {
        Some(file) => {
            let unreadable = |error: rustls::pki_types::pem::Error| {
                Fault::BadUrl(format!("sslrootcert {file} cannot be read as certificates: {error}"))
            };
            for certificate in CertificateDer::pem_file_iter(file).map_err(unreadable)? {
                roots.add_parsable_certificates([certificate.map_err(unreadable)?]);
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Other(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str) -> Result<SslMode, Fault> {
        let own = own(url);
        let config: Config = own.rest.parse().unwrap();
        mode(own.mode.as_deref(), config.get_hosts())
    }

    #[test]
    fn tls_is_used_for_every_other_host_unless_it_is_switched_off() {
        assert_eq!(chosen("postgres://u@localhost/d").unwrap(), SslMode::Disable);
        assert_eq!(chosen("postgres://u@%2Frun%2Fpostgresql/d").unwrap(), SslMode::Disable);
        assert_eq!(chosen("postgres://u@db.example/d").unwrap(), SslMode::Require);
        assert_eq!(chosen("postgres://u@db.example/d?sslmode=disable").unwrap(), SslMode::Disable);
        assert_eq!(chosen("postgres://u@localhost/d?sslmode=verify-full").unwrap(), SslMode::Require);
        assert!(chosen("postgres://u@localhost/d?sslmode=maybe").is_err());
    }
}
