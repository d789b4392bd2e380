//! Certificates for what is served.
//!
//! Data in: what clap matched. Data out: [`TlsArgs`]. It must not open files.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Who this is, and whose clients are let in.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(crate) struct TlsArgs {
    /// Serve by TLS with the certificates in this file (PEM), the server's own first
    #[arg(id = "tls_cert", long = "tls-cert", value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = "TLS")]
    pub cert: Option<PathBuf>,
    /// The private key that belongs to it (PEM)
    #[arg(id = "tls_key", long = "tls-key", value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = "TLS")]
    pub key: Option<PathBuf>,
    /// Answer only who has a certificate of an authority in this file (PEM)
    #[arg(id = "tls_ca", long = "tls-ca", value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = "TLS")]
    pub ca: Option<PathBuf>,
}
