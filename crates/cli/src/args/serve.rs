//! `--serve` and what belongs to it, of all commands that measure.
//!
//! Data in: what clap matched. Data out: [`ServeArgs`]. It must not listen.

use super::tls::TlsArgs;
use clap::{Args, ValueHint};
use fathom_core::units::Nanos;
use fathom_web::HostName;
use std::net::SocketAddr;
use std::path::PathBuf;

const HEADING: &str = "Watching";

/// Where a page and metrics are served unless something else is said.
const DEFAULT: &str = "127.0.0.1:9877";
/// The same of a folder of runs.
pub(super) const DEFAULT_BROWSE: &str = "127.0.0.1:9878";

const SERVE: &str = "\
Serve a live page and /metrics for Prometheus (text, OpenMetrics, protobuf with native histograms) while it goes on, at this address: \
ADDR:PORT, or a port alone for this machine only [default: 127.0.0.1:9877; port 0: any that is free]. Nothing can be changed through it. \
Any address but this machine's own needs --token, or clients with certificates (--tls-ca).";

/// Serving while it goes on.
#[derive(Debug, Clone, Default, Args)]
#[group(skip)]
pub(crate) struct ServeArgs {
    /// Serve a live page and metrics for Prometheus here [default: 127.0.0.1:9877]
    #[arg(long, value_name = "ADDR:PORT", long_help = SERVE, value_parser = address, help_heading = HEADING)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT)]
    pub serve: Option<SocketAddr>,
    /// Answer only those who send the token in this file: as a bearer token, or as the password of any user
    #[arg(long = "token", value_name = "FILE", requires = "serve", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = HEADING)]
    pub serve_token: Option<PathBuf>,
    /// Answer requests for this host name too, beside localhost and this machine's addresses (repeatable)
    #[arg(long, value_name = "NAME", requires = "serve", hide_short_help = true, help_heading = HEADING)]
    pub serve_name: Vec<HostName>,
    /// Go on serving for so long after the end, as 5m; Ctrl-C ends it sooner
    #[arg(long, value_name = "TIME", requires = "serve", value_parser = fathom_dialect::duration, hide_short_help = true, help_heading = HEADING)]
    pub serve_after: Option<Nanos>,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// An address with its port, or a port of this machine.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.strip_prefix(':').unwrap_or(text).parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let named = text
        .strip_prefix("localhost:")
        .map(|port| format!("127.0.0.1:{port}"));
    let text = named.as_deref().unwrap_or(text);
    text.parse().map_err(|_| {
        format!("{text:?} is no address: give ADDR:PORT, as 127.0.0.1:9877 or [::1]:9877, or a port alone")
    })
}

#[cfg(test)]
mod tests;
