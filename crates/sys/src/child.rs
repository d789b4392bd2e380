//! A process that was started: whether it has ended, signals to it and all that it started, what it left in the page cache.
//!
//! Data in: its number. Data out: plain facts. It must not know what the process is for.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::fs::File;
use std::io;

fn pid(number: u32) -> io::Result<Pid> {
    i32::try_from(number)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))
}

/// Whether a child has ended. It is not waited for: what `/proc` says of it stays until it is.
///
/// # Errors
/// It is no child of this process.
pub fn has_ended(child: u32) -> io::Result<bool> {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(rustix::process::waitid(WaitId::Pid(pid(child)?), how)?.is_some())
}

/// Sends a signal to all processes of the group whose first one is `leader`; nothing where it is not there any more.
///
/// # Errors
/// There is no such signal, or it may not be sent.
pub fn signal_group(leader: u32, signal: i32) -> io::Result<()> {
    let signal =
        Signal::from_named_raw(signal).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    match rustix::process::kill_process_group(pid(leader)?, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Writes out all that the page cache has of the file system that `file` is on, and waits for it.
///
/// # Errors
/// What `syncfs` said: something could not be written.
pub fn sync_file_system(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// The same of all file systems.
pub fn sync_all() {
    rustix::fs::sync();
}
