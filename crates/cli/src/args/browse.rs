//! The command line of `fathom browse`.

use super::serve::{DEFAULT_BROWSE, ServeArgs, address};
use super::tls::TlsArgs;
use clap::{Args, ValueHint};
use fathom_web::HostName;
use std::net::SocketAddr;
use std::path::PathBuf;

const ABOUT: &str = "\
Serves a list of the runs, sweeps and recordings in a folder, for a browser: filters, the report of each, two or more compared, names and \
notes that are kept beside the run. It goes on until Ctrl-C. Nothing is removed through it, and nothing of what was measured is changed.";

const EXAMPLES: &str = "\
Examples:
  what fathom run keeps unless told otherwise
    fathom browse
  another folder, on a port of one's own
    fathom browse runs --serve=9000
  for others too, who must know the token
    openssl rand -hex 32 > token
    fathom browse runs --serve=0.0.0.0:9878 --token token --serve-name disks";

/// Look at what was measured, in a browser
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct BrowseArgs {
    /// The folder of runs [default: fathom-runs]
    #[arg(value_name = "DIR", default_value = "fathom-runs", hide_default_value = true, value_hint = ValueHint::DirPath)]
    pub dir: PathBuf,
    /// Serve here [default: 127.0.0.1:9878]
    #[arg(long, value_name = "ADDR:PORT", value_parser = address, default_value = DEFAULT_BROWSE, hide_default_value = true)]
    serve: SocketAddr,
    /// Answer only those who send the token in this file: as a bearer token, or as the password of any user
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    token: Option<PathBuf>,
    /// Answer requests for this host name too, beside localhost and this machine's addresses (repeatable)
    #[arg(long, value_name = "NAME")]
    serve_name: Vec<HostName>,
    #[command(flatten)]
    tls: TlsArgs,
    /// No notes on stderr but where it serves
    #[arg(short, long)]
    pub quiet: bool,
}

impl BrowseArgs {
    /// Where and to whom.
    pub(crate) fn serve(&self) -> ServeArgs {
        ServeArgs {
            serve: Some(self.serve),
            serve_token: self.token.clone(),
            serve_name: self.serve_name.clone(),
            serve_after: None,
            tls: self.tls.clone(),
        }
    }
}
