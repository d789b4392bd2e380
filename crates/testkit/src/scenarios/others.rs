//! What else the machine does: other processes' I/O, the journal, dirty pages written back.

use super::Window;
use super::block::Request;
use super::draws::{Of, draws, exponential};
use super::machine::{Event, MS, Machine, Owner, SECOND, comm, inside};
use fathom_core::record::{BlockFlags, BlockOp, Comm, KernelSpan, SpanKind};
use fathom_core::rng::Rng;

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
    /// Requests and pauses that were drawn.
    pub drawn: u64,
    pub bytes: Vec<(u64, u64)>,
}

/// The journal of the file system.
#[derive(Debug, Clone, Default)]
pub(super) struct Journal {
    /// Off, where there is none.
    pub on: bool,
    pub every_ns: u64,
    /// Who asks for commits, beside the timer.
    pub asks: Option<(u32, Comm)>,
    writes_left: u32,
    flushing: bool,
    /// Since when it commits, and on whose behalf.
    since_ns: Option<u64>,
    by: Option<(u32, Comm)>,
    transaction: u64,
    /// Requests that wait for its end.
    pub held: Vec<Request>,
    /// Requests that were made.
    made: u64,
}

impl Journal {
    pub(super) fn commits(&self) -> bool {
        self.since_ns.is_some()
    }
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
    /// Whose pages they are.
    pub dirtied_by: Option<(u32, Comm)>,
    since_ns: Option<u64>,
    made: u64,
    /// Writers that are held: worker, slot, since when.
    pub held: Vec<(usize, usize, u64)>,
    /// Bytes that another process makes dirty, when: a second at a time.
    pub others: Vec<(u64, u64)>,
}

impl Writeback {
    pub(super) fn holds_writers(&self, _now: u64) -> bool {
        !self.held.is_empty()
    }
}

/// The journal's thread.
fn journal() -> (u32, Comm) {
    (300, comm("jbd2/vda1-8"))
}

/// The worker that writes pages back.
fn flusher() -> (u32, Comm) {
    (55, comm("kworker/u8:2"))
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
            let mut rng = self.stream_draws(index);
            let sector = (1 << 26) + rng.below(1 << 20) * u64::from(size / 512);
            self.streams[index].in_flight += 1;
            let second = self.now / SECOND;
            match self.streams[index].bytes.last_mut() {
                Some((known, bytes)) if *known == second => *bytes += u64::from(size),
                _ => self.streams[index].bytes.push((second, u64::from(size))),
            }
            let luck = rng.next_u64();
            self.submit(Request::new(
                Owner::Stream(index),
                (pid, name),
                op,
                (sector, size),
                luck,
            ));
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
            exponential(&mut self.stream_draws(index), pause_ns as f64)
        };
        self.at(self.now + pause as u64, Event::Stream(index));
    }

    fn stream_draws(&mut self, index: usize) -> Rng {
        let stream = &mut self.streams[index];
        stream.drawn += 1;
        draws(self.seed, Of::Stream(stream.pid), stream.drawn)
    }

    fn journal_draws(&mut self) -> Rng {
        self.journal.made += 1;
        draws(self.seed, Of::Journal, self.journal.made)
    }

    pub(super) fn journal_commit(&mut self) {
        if !self.journal.on {
            return;
        }
        let every = self.journal.every_ns;
        self.at(self.now + every, Event::Commit);
        if !self.journal.commits() {
            self.commit(2, None);
        }
    }

    /// A sync of somebody's; while another commit is under way it waits for that one first.
    pub(super) fn journal_asked(&mut self, requests: u32) {
        if self.journal.commits() {
            self.at(self.now + MS, Event::Asked(requests));
        } else {
            self.commit(requests, self.journal.asks);
        }
    }

    fn commit(&mut self, requests: u32, by: Option<(u32, Comm)>) {
        self.journal.since_ns = Some(self.now);
        self.journal.writes_left = requests;
        self.journal.by = by;
        for _ in 0..requests {
            let mut rng = self.journal_draws();
            let sector = (1 << 21) + rng.below(1 << 15) * 8;
            let luck = rng.next_u64();
            self.journal_send(BlockOp::Write, (sector, 16 << 10), luck);
        }
    }

    fn journal_send(&mut self, op: BlockOp, place: (u64, u32), luck: u64) {
        let mut request = Request::new(Owner::Journal, journal(), op, place, luck);
        request.by = self.journal.by;
        request.flags = match op {
            BlockOp::Flush => BlockFlags::SYNC,
            // As jbd2 marks what goes into its log.
            _ => BlockFlags::SYNC | BlockFlags::META,
        };
        self.submit(request);
    }

    pub(super) fn journal_completed(&mut self) {
        if self.journal.flushing {
            self.journal.flushing = false;
            self.journal_committed();
            return;
        }
        self.journal.writes_left -= 1;
        if self.journal.writes_left == 0 {
            self.journal.flushing = true;
            let luck = self.journal_draws().next_u64();
            self.journal_send(BlockOp::Flush, (0, 0), luck);
        }
    }

    fn journal_committed(&mut self) {
        let Some(since_ns) = self.journal.since_ns.take() else {
            return;
        };
        self.journal.transaction += 1;
        let span = self.span(SpanKind::JournalCommit, since_ns, journal(), self.journal.by);
        self.kernel.push(KernelSpan {
            about: self.journal.transaction,
            ..span
        });
        for request in std::mem::take(&mut self.journal.held) {
            self.load_let_go(request, journal());
        }
    }

    /// What the kernel did until now.
    pub(super) fn span(
        &self,
        kind: SpanKind,
        start_ns: u64,
        (tid, comm): (u32, Comm),
        by: Option<(u32, Comm)>,
    ) -> KernelSpan {
        KernelSpan {
            kind,
            start_ns,
            end_ns: self.now,
            device: 254 << 20,
            tid,
            comm,
            about: 0,
            by_tid: by.map_or(0, |(tid, _)| tid),
            by_comm: by.map(|(_, comm)| comm).unwrap_or_default(),
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
            self.writeback.made += 1;
            let mut rng = draws(self.seed, Of::Flusher, self.writeback.made);
            let sector = (1 << 27) + rng.below(1 << 20) * 1024;
            self.writeback.in_flight += 1;
            self.writeback.in_flight_bytes += u64::from(WRITEBACK_BYTES);
            let place = (sector, WRITEBACK_BYTES);
            let mut request = Request::new(Owner::Flusher, flusher(), BlockOp::Write, place, rng.next_u64());
            request.by = self.writeback.dirtied_by;
            self.writeback.since_ns.get_or_insert(self.now);
            self.submit(request);
        }
    }

    pub(super) fn flusher_completed(&mut self, len: u32) {
        self.writeback.in_flight -= 1;
        self.writeback.in_flight_bytes -= u64::from(len);
        self.writeback.dirty = self.writeback.dirty.saturating_sub(u64::from(len));
        // Held writers go on once a good part is written.
        if self.writeback.dirty < self.writeback.limit - self.writeback.limit / 8 {
            for (worker, slot, since_ns) in std::mem::take(&mut self.writeback.held) {
                let task = &self.tasks[self.workers[worker].task];
                let who = (task.tid, task.comm);
                let span = self.span(SpanKind::DirtyThrottle, since_ns, who, self.writeback.dirtied_by);
                self.kernel.push(span);
                self.load_completed(worker, slot as u32);
            }
        }
        self.flusher_send();
        if self.writeback.in_flight == 0 {
            if let Some(since_ns) = self.writeback.since_ns.take() {
                let span = self.span(
                    SpanKind::Writeback,
                    since_ns,
                    flusher(),
                    self.writeback.dirtied_by,
                );
                self.kernel.push(KernelSpan { about: 12, ..span });
            }
            self.at(self.now + 200 * MS, Event::Flusher);
        }
    }
}
