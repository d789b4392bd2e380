//! Where a server is asked: its control socket.
//!
//! Data in: a directory, a socket, or nothing. Data out: the socket. It must not connect to more than it has to.

use crate::terminal::env;
use anyhow::{Context, bail};
use fathom_disk::leftover;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The directory of this user's sockets.
fn directory() -> PathBuf {
    match env("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_dir()) {
        Some(dir) => Path::new(&dir).join("fathom-disk"),
        None => std::env::temp_dir().join(format!("fathom-disk-{}", rustix::process::geteuid().as_raw())),
    }
}

/// The socket of the server that has this process number.
pub(super) fn socket_for(pid: u32) -> PathBuf {
    directory().join(format!("{pid}.sock"))
}

/// The socket of the server that is meant: that of a directory, a socket itself, or the only one there is.
pub(super) fn socket_of(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let Some(named) = named else {
        return only_one();
    };
    if std::fs::symlink_metadata(named).is_ok_and(|found| found.file_type().is_socket()) {
        return Ok(named.to_owned());
    }
    let server = leftover::server_of(named).context("cannot read the table of mounts")?;
    match server {
        Some(pid) if socket_for(pid).exists() => Ok(socket_for(pid)),
        Some(_) => bail!(
            "--of {0}: its server has another control socket, or belongs to another user: give the socket that it named",
            named.display()
        ),
        None => bail!(
            "--of {}: no disk is served there: give the directory of --at, or the socket that the server named",
            named.display()
        ),
    }
}

fn only_one() -> anyhow::Result<PathBuf> {
    let directory = directory();
    let entries = std::fs::read_dir(&directory).into_iter().flatten();
    let sockets = entries.filter_map(|entry| Some(entry.ok()?.path()));
    // What a killed server left does not answer.
    let mut living = sockets.filter(|socket| UnixStream::connect(socket).is_ok());
    match (living.next(), living.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => bail!("several servers run: say with --of which one is meant"),
        (None, _) => bail!("no server of yours runs: fathom disk serve starts one"),
    }
}
