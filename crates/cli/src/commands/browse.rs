//! `fathom browse`: a folder of runs, for a browser.
//!
//! Data in: arguments as typed. Data out: a server until Ctrl-C. Reports and comparisons are those of `fathom report` and `fathom
//! compare`.

use crate::args::browse::BrowseArgs;
use crate::commands::{compare, report, serve};
use crate::exit::Exit;
use crate::terminal::{self, signals};
use anyhow::{Context, bail};
use fathom_session::with_causes;
use fathom_web::{Reports, Server};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest sleep: whoever waits for nothing but a signal need not wake.
const LONG: Duration = Duration::from_mins(1);

/// Carries `fathom browse` out.
pub(crate) fn browse(args: &BrowseArgs) -> anyhow::Result<Exit> {
    let folder = args.dir.canonicalize();
    let folder = folder.with_context(|| format!("{}: give a folder of runs", args.dir.display()))?;
    if !folder.is_dir() {
        bail!("{}: that is no folder: give one of runs", args.dir.display());
    }
    let access = serve::access(&args.serve())?.context("an address is asked for")?;
    let (address, scheme) = (access.address, access.scheme());
    let stop = signals::stop_flag()?;
    let mut bell = signals::bell()?;
    let server = Server::of_folder(access, folder, Box::new(Made), env!("CARGO_PKG_VERSION"));
    let server = server.map_err(|error| serve::cannot_listen(&error, address))?;
    terminal::say(&format!("serving {scheme}://{}/", server.address()));
    if !args.quiet {
        terminal::note(&format!("what is in {} (Ctrl-C ends it)", args.dir.display()));
    }
    while !stop.load(Ordering::Relaxed) {
        bell.sleep(LONG).context("cannot wait for the end")?;
    }
    Ok(Exit::Done)
}

/// Pages as the commands make them.
struct Made;

impl Reports for Made {
    fn report(&self, dir: &Path) -> Result<String, String> {
        report::page(dir).map_err(|error| with_causes(&error))
    }

    fn compare(&self, a: &[PathBuf], b: &[PathBuf]) -> Result<String, String> {
        compare::page(a, b).map_err(|error| with_causes(&error))
    }
}
