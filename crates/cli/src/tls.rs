//! Certificates and keys, as files have them, for what is served.
//!
//! Data in: arguments as typed. Data out: a configuration of TLS 1.3. Whoever is trusted is so by the files alone, not by what the
//! system trusts.

use crate::args::tls::TlsArgs;
use anyhow::{Context, bail};
use fathom_web::Secured;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, version};
use std::path::Path;
use std::sync::Arc;

/// What browsers and scrapers ask for; other protocols do not ask.
const PROTOCOL: &[u8] = b"http/1.1";

/// What the files say; `None`: none are named.
///
/// # Errors
/// A file cannot be read, is none of PEM, or they do not belong together.
pub(crate) fn secured(args: &TlsArgs) -> anyhow::Result<Option<Secured>> {
    let (Some(certificate), Some(key)) = (&args.cert, &args.key) else {
        return Ok(None);
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = certificates("--tls-cert", certificate)?;
    let own_key = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("--tls-key {}: give a private key in PEM", key.display()))?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&[&version::TLS13])?;
    let builder = match &args.ca {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut trusted = RootCertStore::empty();
            for one in certificates("--tls-ca", authority)? {
                let added = trusted.add(one);
                added.with_context(|| {
                    format!("--tls-ca {}: a certificate is of no use", authority.display())
                })?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(trusted), provider).build();
            builder.with_client_cert_verifier(
                verifier.with_context(|| format!("--tls-ca {}", authority.display()))?,
            )
        }
    };
    let mut config = builder.with_single_cert(chain, own_key).with_context(|| {
        format!(
            "--tls-cert {}, --tls-key {}: they do not belong together",
            certificate.display(),
            key.display()
        )
    })?;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    // Nobody comes back so often that it would pay.
    config.send_tls13_tickets = 0;
    Ok(Some(Secured {
        config: Arc::new(config),
        knows_clients: args.ca.is_some(),
    }))
}

fn certificates(flag: &str, path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.with_context(|| format!("{flag} {}: give certificates in PEM", path.display()))?;
    if found.is_empty() {
        bail!(
            "{flag} {}: no certificate is in it: give a file in PEM",
            path.display()
        );
    }
    Ok(found)
}
