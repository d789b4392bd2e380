//! I/Os as fio's iolog, which `read_iolog=` plays.
//!
//! Data in: arrivals in the order of their start, and which file each offset lies in. Data out: lines, as fio 3.33 reads them
//! (`iolog.c`). Version 3 has microseconds since the log began on each line; version 2 has only `wait`, whose number fio takes for
//! milliseconds since its own start. It must not know where the I/Os come from.

use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;
use std::io::{self, Write};

/// fio reads names into so many bytes, and stops at a blank.
const NAME_BYTES_MAX: usize = 255;

/// Which of its versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Two,
    Three,
}

/// Whether fio can read a file's name back.
pub fn can_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(char::is_whitespace)
}

/// Writes a log.
#[derive(Debug)]
pub struct Iolog {
    version: Version,
    names: Vec<String>,
    /// When the first I/O was due.
    first_ns: Option<u64>,
    last_us: u64,
    waited_ms: u64,
}

impl Iolog {
    /// A log of these files, opened before the first I/O.
    ///
    /// # Errors
    /// `out` could not be written.
    pub fn begin(version: Version, names: Vec<String>, out: &mut dyn Write) -> io::Result<Self> {
        let log = Self {
            version,
            names,
            first_ns: None,
            last_us: 0,
            waited_ms: 0,
        };
        writeln!(
            out,
            "fio version {} iolog",
            match version {
                Version::Two => 2,
                Version::Three => 3,
            }
        )?;
        log.of_files("add", out)?;
        log.of_files("open", out)?;
        Ok(log)
    }

    /// Writes one I/O at `offset_bytes` of a file, by its number.
    ///
    /// # Errors
    /// `out` could not be written.
    pub fn io(
        &mut self,
        arrival: &Arrival,
        file: usize,
        offset_bytes: u64,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let first_ns = *self.first_ns.get_or_insert(arrival.due_ns);
        let since_us = arrival.due_ns.saturating_sub(first_ns) / 1_000;
        self.last_us = since_us;
        let action = match arrival.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Sync => "sync",
            Op::DataSync => "datasync",
        };
        let name = &self.names[file];
        match self.version {
            // fio counts from the second line that has a time: a time of 0 is none to it.
            Version::Three => write!(out, "{} ", since_us + 1)?,
            Version::Two => {
                let ms = since_us / 1_000;
                if ms > self.waited_ms {
                    self.waited_ms = ms;
                    writeln!(out, "{name} wait {ms} 0")?;
                }
            }
        }
        writeln!(out, "{name} {action} {offset_bytes} {}", arrival.len_bytes)
    }

    /// Closes all files.
    ///
    /// # Errors
    /// `out` could not be written.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        self.of_files("close", out)
    }

    fn of_files(&self, action: &str, out: &mut dyn Write) -> io::Result<()> {
        for name in &self.names {
            match self.version {
                Version::Two => writeln!(out, "{name} {action}")?,
                Version::Three => writeln!(out, "{} {name} {action}", self.last_us + 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
