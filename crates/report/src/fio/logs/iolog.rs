//! The trace that a job writes of its own I/O (`write_iolog`), which `read_iolog` plays.
//!
//! Data in: I/Os in the order of their completion. Data out: lines in that of their creation, since a trace's times are
//! differences between lines: what was made is held back for a moment, until all that was made before must be complete. What
//! takes longer than that is written when it comes.

use super::LogFile;
use crate::export::iolog::{Iolog, Version};
use fathom_core::arrival::Arrival;
use fathom_core::backend::Op;
use fathom_core::record::IoRecord;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io;

/// How long an I/O is held back.
const HELD_NS: u64 = 250_000_000;

/// By creation: when, a number that keeps equals apart, which file, where, how much, what.
type Held = (u64, u64, usize, u64, u32, u8);

/// One trace, of one or more workers.
pub(super) struct IologWriter {
    file: usize,
    names: Vec<String>,
    known: BTreeSet<String>,
    log: Option<Iolog>,
    held: BinaryHeap<Reverse<Held>>,
    number: u64,
    latest_ns: u64,
}

impl IologWriter {
    pub(super) fn new(file: usize) -> Self {
        Self {
            file,
            names: Vec::new(),
            known: BTreeSet::new(),
            log: None,
            held: BinaryHeap::new(),
            number: 0,
            latest_ns: 0,
        }
    }

    /// Which file it is written to.
    pub(super) fn file(&self) -> usize {
        self.file
    }

    /// Files that a worker uses.
    pub(super) fn add(&mut self, names: &[String]) {
        for name in names {
            if self.known.insert(name.clone()) {
                self.names.push(name.clone());
            }
        }
    }

    /// Takes one I/O in, of a worker with these files.
    pub(super) fn take(&mut self, io: &IoRecord, files: &[String]) {
        let name = files.get(io.file as usize);
        let Some(file) = name.and_then(|name| self.names.iter().position(|known| known == name)) else {
            return;
        };
        self.number += 1;
        self.latest_ns = self.latest_ns.max(io.completed_ns);
        self.held.push(Reverse((
            io.created_ns,
            self.number,
            file,
            io.offset_bytes,
            io.len_bytes,
            io.op as u8,
        )));
    }

    /// Writes what needs not be held back any more.
    pub(super) fn write_settled(&mut self, out: &mut Box<dyn LogFile>) -> io::Result<()> {
        let until = self.latest_ns.saturating_sub(HELD_NS);
        self.write_until(until, out)
    }

    /// Writes the rest.
    pub(super) fn finish(&mut self, out: &mut Box<dyn LogFile>) -> io::Result<()> {
        self.write_until(u64::MAX, out)?;
        let log = self.log.take().map_or_else(|| self.begin(out), Ok)?;
        log.finish(out)
    }

    fn begin(&self, out: &mut Box<dyn LogFile>) -> io::Result<Iolog> {
        Iolog::begin(Version::Three, self.names.clone(), out)
    }

    fn write_until(&mut self, until_ns: u64, out: &mut Box<dyn LogFile>) -> io::Result<()> {
        while self.held.peek().is_some_and(|Reverse(first)| first.0 <= until_ns) {
            let Some(Reverse((due_ns, _, file, offset, len_bytes, op))) = self.held.pop() else {
                break;
            };
            if self.log.is_none() {
                self.log = Some(self.begin(out)?);
            }
            let ops = [Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync];
            let arrival = Arrival {
                due_ns,
                offset_bytes: offset,
                len_bytes,
                op: ops[usize::from(op)],
                file: 0,
                worker: 0,
                depth: 0,
                think_ns: 0,
                took_ns: 0,
            };
            if let Some(log) = &mut self.log {
                log.io(&arrival, file, offset, out)?;
            }
        }
        Ok(())
    }
}
