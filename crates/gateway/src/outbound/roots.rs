//! Trusted certificate authorities: those of the operating system (or of `SSL_CERT_FILE` and `SSL_CERT_DIR`), and a
//! file of the user.

use super::error::OutboundError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// The trusted authorities; may be empty, where a machine has none.
pub(super) fn trusted(ca_file: Option<&Path>) -> Result<RootCertStore, OutboundError> {
    let mut roots = RootCertStore::empty();
    // Single unreadable certificates are common in system stores and no reason to trust none.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        let fault = |cause: String| OutboundError::Certificates { path: path.display().to_string(), cause };
        let found = CertificateDer::pem_file_iter(path).map_err(|error| fault(error.to_string()))?;
        let found: Vec<_> = found.collect::<Result<_, _>>().map_err(|error| fault(error.to_string()))?;
        let (added, _) = roots.add_parsable_certificates(found);
        if added == 0 {
            return Err(fault("it contains no certificate".into()));
        }
    }
    Ok(roots)
}

/// TLS with these authorities; protocols are left to the caller.
pub(super) fn tls(roots: RootCertStore) -> Result<ClientConfig, OutboundError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| OutboundError::Connect(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
