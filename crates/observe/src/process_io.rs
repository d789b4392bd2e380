//! The kernel's account of a process's I/O.
//!
//! Data in: `/proc/PID/io`. Data out: [`ProcessIo`]. It must not know whose it is.

use crate::root::SystemRoot;
use fathom_core::run::ProcessIo;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The account of a process: opened while it runs, since of one that has ended only root may open it.
#[derive(Debug)]
pub struct ProcessIoAccount(File);

impl ProcessIoAccount {
    /// That of process `pid`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(root: &SystemRoot, pid: u32) -> io::Result<Self> {
        File::open(root.at(Path::new(&format!("/proc/{pid}/io")))).map(Self)
    }

    /// What the kernel counted of the process and of all its children that were waited for. It is there until the process, once
    /// ended, is waited for itself.
    ///
    /// # Errors
    /// It cannot be read, or lacks a count.
    pub fn read(mut self) -> io::Result<ProcessIo> {
        let mut text = String::new();
        self.0.read_to_string(&mut text)?;
        parse(&text).map_err(|name| {
            let message = format!("/proc/PID/io has no {name}");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })
    }
}

/// The counts, or the name of one that is missing.
fn parse(text: &str) -> Result<ProcessIo, &'static str> {
    let field = |name: &'static str| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse().ok()).ok_or(name)
    };
    Ok(ProcessIo {
        read_call_bytes: field("rchar")?,
        write_call_bytes: field("wchar")?,
        read_calls: field("syscr")?,
        write_calls: field("syscw")?,
        read_bytes: field("read_bytes")?,
        written_bytes: field("write_bytes")?,
        cancelled_bytes: field("cancelled_write_bytes")?,
    })
}

#[cfg(test)]
mod tests;
