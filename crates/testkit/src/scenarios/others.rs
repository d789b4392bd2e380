//! What else the machine does: other processes' I/O, the journal, dirty pages written back.

use super::Window;
use super::block::Request;
use super::machine::{Event, MS, Machine, Owner, SECOND, comm, inside};
use fathom_core::record::{BlockFlags, BlockOp, Comm};

/// A process that does I/O.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub pid: u32,
    pub comm: Comm,
    pub op: BlockOp,
    pub depth: usize,
    pub size: u32,
    pub windows: Vec<Window>,
    /// Mean pause between one's end and the next; 0: none.
    pub pause_ns: u64,
    pub in_flight: usize,
    pub bytes: Vec<(u64, u64)>,
}

/// The journal of the file system.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal {
    /// Off, where there is none.
    pub on: bool,
    pub every_ns: u64,
    writes_left: u32,
    flushing: bool,
    started: bool,
}

/// Dirty pages.
#[derive(Debug, Clone, Default)]
pub(super) struct Writeback {
    pub dirty: u64,
    /// Writers are held from here on, and the kernel writes from there on.
    pub limit: u64,
    pub background: u64,
    pub depth: usize,
    in_flight: usize,
    in_flight_bytes: u64,
    pub held: Vec<(usize, usize)>,
    /// Bytes that another process makes dirty, when: a second at a time.
    pub others: Vec<(u64, u64)>,
}

impl Writeback {
    pub(super) fn holds_writers(&self, _now: u64) -> bool {
        !self.held.is_empty()
    }
}

const WRITEBACK_BYTES: u32 = 512 << 10;

impl Machine {
    pub(super) fn stream_send(&mut self, index: usize) {
        while inside(&self.streams[index].windows, self.now).is_some()
            && self.streams[index].in_flight < self.streams[index].depth
        {
            let (pid, name, op, size) = {
                let stream = &self.streams[index];
                (stream.pid, stream.comm, stream.op, stream.size)
            };
            let sector = (1 << 26) + self.rng.below(1 << 20) * u64::from(size / 512);
            self.streams[index].in_flight += 1;
            let second = self.now / SECOND;
            match self.streams[index].bytes.last_mut() {
                Some((known, bytes)) if *known == second => *bytes += u64::from(size),
                _ => self.streams[index].bytes.push((second, u64::from(size))),
            }
            self.submit(Request::new(Owner::Stream(index), (pid, name), op, sector, size));
            if self.streams[index].pause_ns > 0 {
                break;
            }
        }
    }

    pub(super) fn stream_completed(&mut self, index: usize) {
        self.streams[index].in_flight -= 1;
        let pause_ns = self.streams[index].pause_ns;
        let pause = if pause_ns == 0 {
            3_000.0
        } else {
            self.exponential(pause_ns as f64)
        };
        self.at(self.now + pause as u64, Event::Stream(index));
    }

    pub(super) fn journal_commit(&mut self) {
        if !self.journal.on {
            return;
        }
        let every = self.journal.every_ns;
        self.at(self.now + every, Event::Commit);
        if self.journal.started {
            return;
        }
        self.journal.started = true;
        self.journal.writes_left = 2;
        for _ in 0..2 {
            let sector = (1 << 21) + self.rng.below(1 << 15) * 8;
            let who = (300, comm("jbd2/vda1-8"));
            self.submit(Request::new(
                Owner::Journal,
                who,
                BlockOp::Write,
                sector,
                16 << 10,
            ));
        }
    }

    pub(super) fn journal_completed(&mut self) {
        if self.journal.flushing {
            self.journal.flushing = false;
            self.journal.started = false;
            return;
        }
        self.journal.writes_left -= 1;
        if self.journal.writes_left == 0 {
            self.journal.flushing = true;
            let who = (300, comm("jbd2/vda1-8"));
            let mut flush = Request::new(Owner::Journal, who, BlockOp::Flush, 0, 0);
            flush.flags = BlockFlags::SYNC;
            self.submit(flush);
        }
    }

    /// The kernel writes dirty pages back while there are enough of them.
    pub(super) fn flusher_look(&mut self) {
        let second = self.now / SECOND;
        if let Some(place) = self.writeback.others.iter().position(|(at, _)| *at <= second) {
            let (_, bytes) = self.writeback.others.swap_remove(place);
            self.writeback.dirty += bytes;
        }
        self.flusher_send();
        if self.writeback.in_flight == 0 {
            self.at(self.now + 200 * MS, Event::Flusher);
        }
    }

    fn flusher_send(&mut self) {
        while self.writeback.in_flight < self.writeback.depth
            && self.writeback.dirty > self.writeback.in_flight_bytes + self.writeback.background
        {
            let sector = (1 << 27) + self.rng.below(1 << 20) * 1024;
            let who = (55, comm("kworker/u8:2"));
            self.writeback.in_flight += 1;
            self.writeback.in_flight_bytes += u64::from(WRITEBACK_BYTES);
            self.submit(Request::new(
                Owner::Flusher,
                who,
                BlockOp::Write,
                sector,
                WRITEBACK_BYTES,
            ));
        }
    }

    pub(super) fn flusher_completed(&mut self, len: u32) {
        self.writeback.in_flight -= 1;
        self.writeback.in_flight_bytes -= u64::from(len);
        self.writeback.dirty = self.writeback.dirty.saturating_sub(u64::from(len));
        // Held writers go on once a good part is written.
        if self.writeback.dirty < self.writeback.limit - self.writeback.limit / 8 {
            let held: Vec<(usize, usize)> = self.writeback.held.drain(..).collect();
            for (worker, slot) in held {
                self.load_completed(worker, slot as u32);
            }
        }
        self.flusher_send();
        if self.writeback.in_flight == 0 {
            self.at(self.now + 200 * MS, Event::Flusher);
        }
    }
}
