//! The pages of all CPUs, as they come.
//!
//! Duty: read `trace_pipe_raw` without waiting, and put what it holds in the order of time. Data in: open pipes. Data
//! out: records, or events in order. It must not know what the events say.

use super::order::{Merge, Timed};
use super::page::{PageLayout, Record};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How long events are held back for those of other CPUs, in nanoseconds: longer than what may interrupt a CPU between
/// taking an event's time and writing it (on a virtual machine, the host taking the CPU away), short enough not to matter
/// to who reads.
pub const HOLD_BACK_NS: u64 = 10_000_000;

/// How many pages of one CPU are read at a time: a CPU that writes as fast as it is read must not keep the others
/// waiting.
const PAGES_MAX: u32 = 4096;

/// Opens a pipe so that reading never waits.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// What a pipe holds.
enum Found<'r, 'p> {
    Record(&'r Record<'p>),
    /// Records were lost before this time.
    Gap(u64),
}

/// The pipes of all CPUs.
#[derive(Debug)]
pub struct Pipes {
    files: Vec<(u32, File)>,
    layout: PageLayout,
    page: Vec<u8>,
}

impl Pipes {
    /// For open files, each with its CPU.
    pub fn new(files: Vec<(u32, File)>, layout: PageLayout) -> Self {
        let page = vec![0; layout.page_bytes()];
        Self { files, layout, page }
    }

    pub fn cpus(&self) -> Vec<u32> {
        self.files.iter().map(|&(cpu, _)| cpu).collect()
    }

    /// How many CPUs there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Reads what the pipe `index` holds, and gives each record to `f` with the CPU. Says whether it is empty now, and
    /// how many pages broke off.
    fn read(&mut self, index: usize, f: &mut impl FnMut(u32, Found<'_, '_>)) -> io::Result<(bool, u64)> {
        let (cpu, file) = &mut self.files[index];
        let mut torn = 0;
        for _ in 0..PAGES_MAX {
            let length = match file.read(&mut self.page) {
                Ok(0) => return Ok((true, torn)),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok((true, torn)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut records = self.layout.records(&self.page[..length]);
            if records.missed() {
                f(*cpu, Found::Gap(records.time_ns()));
            }
            for record in &mut records {
                f(*cpu, Found::Record(&record));
            }
            torn += u64::from(records.is_torn());
        }
        Ok((false, torn))
    }
}

/// Events of all CPUs in the order of time.
#[derive(Debug)]
pub struct Stream<E> {
    pipes: Pipes,
    merge: Merge<E>,
    torn_pages: u64,
}

impl<E: Timed> Stream<E> {
    /// What comes out of `pipes`.
    pub fn new(pipes: Pipes) -> Self {
        Self {
            merge: Merge::new(pipes.len(), HOLD_BACK_NS),
            pipes,
            torn_pages: 0,
        }
    }

    /// Reads all there is, `now_ns` being the time before; `decode` makes events of records, `gap` of the places where
    /// records of a CPU were lost (with the time after). `take` gets the events that
    /// none can come before any more.
    ///
    /// # Errors
    /// A pipe cannot be read.
    pub fn poll(
        &mut self,
        now_ns: u64,
        decode: impl Fn(u32, &Record<'_>) -> Option<E>,
        gap: impl Fn(u32, u64) -> Option<E>,
        take: impl FnMut(&E),
    ) -> io::Result<()> {
        self.read(now_ns, decode, gap)?;
        self.merge.take(take);
        Ok(())
    }

    /// Reads the rest, once nothing more is written, and gives all of it.
    ///
    /// # Errors
    /// A pipe cannot be read; what was read is given.
    pub fn finish(
        &mut self,
        now_ns: u64,
        decode: impl Fn(u32, &Record<'_>) -> Option<E>,
        gap: impl Fn(u32, u64) -> Option<E>,
        take: impl FnMut(&E),
    ) -> io::Result<()> {
        let mut outcome = Ok(());
        while outcome.is_ok() {
            match self.read(now_ns, &decode, &gap) {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => outcome = Err(error),
            }
        }
        self.merge.take_all(take);
        outcome
    }

    fn read(
        &mut self,
        now_ns: u64,
        decode: impl Fn(u32, &Record<'_>) -> Option<E>,
        gap: impl Fn(u32, u64) -> Option<E>,
    ) -> io::Result<bool> {
        let mut all_empty = true;
        for index in 0..self.pipes.len() {
            let merge = &mut self.merge;
            let mut keep = |cpu: u32, found: Found<'_, '_>| {
                let event = match found {
                    Found::Record(record) => decode(cpu, record),
                    Found::Gap(time_ns) => gap(cpu, time_ns),
                };
                if let Some(event) = event {
                    merge.push(index, event);
                }
            };
            let (empty, torn) = self.pipes.read(index, &mut keep)?;
            self.torn_pages += torn;
            if empty {
                self.merge.read_to(index, now_ns);
            }
            all_empty &= empty;
        }
        Ok(all_empty)
    }

    /// Up to when all that happened was given.
    pub fn complete_to_ns(&self) -> u64 {
        self.merge.complete_to_ns()
    }

    /// Events that came too late to be in order.
    pub fn late(&self) -> u64 {
        self.merge.late()
    }

    /// Pages that broke off in the middle of a record: there is none, unless the kernel writes in an unknown way.
    pub fn torn_pages(&self) -> u64 {
        self.torn_pages
    }
}

#[cfg(test)]
mod tests;
