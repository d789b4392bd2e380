//! What the kernel did for a while, and on whose behalf.
//!
//! Duty: make spans of beginnings and ends, and tell for whom requests were made that one task queued for another. Data in:
//! [`KernelEvent`]s in the order of time, requests. Data out: [`KernelSpan`]s without the names of tasks, owners. It must
//! not know where events come from.
//!
//! The rules:
//! - A journal's commit was asked for by who woke its thread since its last commit; where an interrupt did (its timer), by
//!   who is in a sync of that device, the last that came; else by nobody.
//! - Pages of an inode are of who wrote most of it lately: what was written before its last writeback counts half at each.
//! - What a worker queues while it writes an inode back is that one's; what a journal's thread queues while it commits, of
//!   who asked for the commit; what is discarded after a commit, of who freed most of the blocks.

use super::decode::{KernelEvent, KernelKind};
use super::principals::Principals;
use super::tids::TidMap;
use fathom_core::record::{BlockOp, BlockRequest, Comm, KernelSpan, SpanKind};
use std::collections::{HashMap, VecDeque};

/// Doings of one task that are remembered for the requests that it queued meanwhile.
const DOINGS: usize = 512;
/// Tasks whose doings are remembered.
const WORKERS: usize = 1024;
/// Spans under way at a time.
const OPEN_MAX: usize = 16_384;
/// A page of which it is not known how large it is.
const PAGE_BYTES: u64 = 4096;
/// How often what was made dirty on a device counts half.
const AGE_NS: u64 = 1_000_000_000;

/// A time in which all that a task queued was on another one's behalf.
#[derive(Debug, Clone, Copy)]
struct Doing {
    from_ns: u64,
    /// `u64::MAX` while it goes on.
    to_ns: u64,
    by: u32,
}

/// What a task is at: a kind of span at a time.
type Key = (u32, SpanKind);

/// Makes spans of events.
#[derive(Debug, Default)]
pub struct Spans {
    /// Partitions, and the disks that they are of.
    disks: Vec<(u32, u32)>,
    open: HashMap<Key, KernelSpan>,
    done: Vec<KernelSpan>,
    doings: TidMap<VecDeque<Doing>>,
    /// Who woke a journal's thread since it last committed.
    asked: TidMap<u32>,
    pages: Principals<(u32, u64)>,
    /// Whether a task's writes to an inode come with their bytes.
    dirty: Principals<u32>,
    freed: Principals<u32>,
    /// Whose blocks were freed by the last commit of a device that freed any.
    committed: HashMap<u32, u32>,
    frozen: HashMap<u64, KernelSpan>,
    /// Who wrote last with a known number of bytes: the pages that this made dirty are not counted again.
    wrote: TidMap<(u32, u64)>,
    aged_ns: u64,
    seen_to_ns: u64,
}

impl Spans {
    /// `disks` says of partitions which disk they are of: events name now the one, now the other.
    pub fn new(disks: Vec<(u32, u32)>) -> Self {
        Self {
            disks,
            ..Self::default()
        }
    }

    fn disk(&self, device: u32) -> u32 {
        let found = self.disks.iter().find(|(partition, _)| *partition == device);
        found.map_or(device, |&(_, disk)| disk)
    }

    /// The next event.
    pub fn apply(&mut self, event: &KernelEvent) {
        let (at_ns, tid) = (event.time_ns, event.tid);
        self.seen_to(at_ns);
        match event.kind {
            KernelKind::CommitBegin { device, transaction } => self.commit(event, device, transaction),
            KernelKind::CommitEnd { device, .. } => {
                self.end(tid, SpanKind::JournalCommit, at_ns);
                self.end_doing(tid, at_ns);
                let disk = self.disk(device);
                if let Some(by) = self.freed.of(disk) {
                    self.committed.insert(disk, by);
                    self.freed.age(disk);
                }
            }
            KernelKind::WokeJournal { tid: journal, waker } => {
                if waker != 0 {
                    self.asked.insert(journal, waker);
                }
            }
            KernelKind::SyncBegin { device, inode } => {
                self.begin(event, SpanKind::Sync, self.disk(device), inode);
            }
            KernelKind::SyncEnd { .. } => self.end(tid, SpanKind::Sync, at_ns),
            KernelKind::ReclaimBegin => self.begin(event, SpanKind::Reclaim, 0, 0),
            KernelKind::ReclaimEnd => self.end(tid, SpanKind::Reclaim, at_ns),
            KernelKind::ReclaimWaited { us } => {
                if let Some(span) = self.open.get_mut(&(tid, SpanKind::Reclaim)) {
                    span.about += us * 1_000;
                }
            }
            KernelKind::DirtyPause { device, ms } => {
                let disk = self.disk(device);
                self.done.push(KernelSpan {
                    end_ns: at_ns + ms.min(10_000) * 1_000_000,
                    by_tid: self.dirty.of(disk).unwrap_or(0),
                    ..span(event, SpanKind::DirtyThrottle, disk, 0)
                });
            }
            KernelKind::WritebackBegin { device, inode } => {
                let disk = self.disk(device);
                let by = self.pages.of((disk, inode)).unwrap_or(0);
                self.begin(event, SpanKind::Writeback, disk, inode);
                if let Some(span) = self.open.get_mut(&(tid, SpanKind::Writeback)) {
                    span.by_tid = by;
                }
                self.doing(tid, at_ns, by);
            }
            KernelKind::WritebackEnd { device, inode } => {
                self.end(tid, SpanKind::Writeback, at_ns);
                self.end_doing(tid, at_ns);
                self.pages.age((self.disk(device), inode));
            }
            KernelKind::Wrote { device, inode, bytes } => {
                let disk = self.disk(device);
                self.pages.did(at_ns, (disk, inode), tid, bytes);
                self.dirty.did(at_ns, disk, tid, bytes);
                self.remember_writer(tid, (disk, inode));
            }
            KernelKind::Dirtied { device, inode } => {
                let disk = self.disk(device);
                if self.wrote.get(&tid) != Some(&(disk, inode)) {
                    self.pages.did(at_ns, (disk, inode), tid, PAGE_BYTES);
                    self.dirty.did(at_ns, disk, tid, PAGE_BYTES);
                }
            }
            KernelKind::Freed { device, blocks } => {
                self.freed.did(at_ns, self.disk(device), tid, blocks.max(1));
            }
            KernelKind::Signal { signal, to, comm } => self.signal(event, signal, (to, comm)),
            KernelKind::Freeze { group, name } => {
                if self.frozen.len() < OPEN_MAX {
                    let span = KernelSpan {
                        tid: 0,
                        comm: name,
                        by_tid: tid,
                        ..span(event, SpanKind::Frozen, 0, group)
                    };
                    self.frozen.entry(group).or_insert(span);
                }
            }
            KernelKind::Unfreeze { group } => {
                if let Some(mut span) = self.frozen.remove(&group) {
                    span.end_ns = at_ns;
                    self.done.push(span);
                }
            }
            KernelKind::Gap => {
                // Ends may be among what was lost.
                self.open.retain(|(_, kind), _| *kind == SpanKind::Stopped);
                for doings in self.doings.values_mut() {
                    doings.retain(|doing| doing.to_ns != u64::MAX);
                }
            }
        }
    }

    fn commit(&mut self, event: &KernelEvent, device: u32, transaction: u64) {
        let disk = self.disk(device);
        let by = self.asked.remove(&event.tid).or_else(|| {
            let in_sync = self
                .open
                .values()
                .filter(|span| span.kind == SpanKind::Sync && span.device == disk);
            in_sync.max_by_key(|span| span.start_ns).map(|span| span.tid)
        });
        let by = by.unwrap_or(0);
        self.begin(event, SpanKind::JournalCommit, disk, transaction);
        if let Some(span) = self.open.get_mut(&(event.tid, SpanKind::JournalCommit)) {
            span.by_tid = by;
        }
        self.doing(event.tid, event.time_ns, by);
    }

    /// Stopped by `SIGSTOP`, it goes on with `SIGCONT`, or ends.
    fn signal(&mut self, event: &KernelEvent, signal: u64, (to, comm): (u32, Comm)) {
        const STOP: u64 = rustix::process::Signal::STOP.as_raw() as u64;
        const GO_ON: u64 = rustix::process::Signal::CONT.as_raw() as u64;
        const KILL: u64 = rustix::process::Signal::KILL.as_raw() as u64;
        match signal {
            STOP if self.open.len() < OPEN_MAX => {
                let span = KernelSpan {
                    tid: to,
                    comm,
                    by_tid: event.tid,
                    ..span(event, SpanKind::Stopped, 0, signal)
                };
                self.open.entry((to, SpanKind::Stopped)).or_insert(span);
            }
            GO_ON | KILL => self.end(to, SpanKind::Stopped, event.time_ns),
            _ => {}
        }
    }

    fn begin(&mut self, event: &KernelEvent, kind: SpanKind, device: u32, about: u64) {
        if self.open.len() < OPEN_MAX {
            self.open
                .insert((event.tid, kind), span(event, kind, device, about));
        }
    }

    fn end(&mut self, tid: u32, kind: SpanKind, at_ns: u64) {
        if let Some(mut span) = self.open.remove(&(tid, kind)) {
            span.end_ns = at_ns;
            self.done.push(span);
        }
    }

    fn remember_writer(&mut self, tid: u32, inode: (u32, u64)) {
        if self.wrote.len() >= WORKERS {
            self.wrote.clear();
        }
        self.wrote.insert(tid, inode);
    }

    fn doing(&mut self, tid: u32, at_ns: u64, by: u32) {
        if self.doings.len() >= WORKERS && !self.doings.contains_key(&tid) {
            let ended = |doings: &VecDeque<Doing>| doings.back().map_or(0, |last| last.from_ns);
            let oldest = self.doings.iter().min_by_key(|(_, doings)| ended(doings));
            if let Some(oldest) = oldest.map(|(&tid, _)| tid) {
                self.doings.remove(&oldest);
            }
        }
        let doings = self.doings.entry(tid).or_default();
        if doings.len() >= DOINGS {
            doings.pop_front();
        }
        doings.push_back(Doing {
            from_ns: at_ns,
            to_ns: u64::MAX,
            by,
        });
    }

    fn end_doing(&mut self, tid: u32, at_ns: u64) {
        let doings = self.doings.get_mut(&tid);
        if let Some(doing) = doings
            .and_then(VecDeque::back_mut)
            .filter(|doing| doing.to_ns == u64::MAX)
        {
            doing.to_ns = at_ns;
        }
    }

    /// All that happened up to `at_ns` was given.
    pub fn seen_to(&mut self, at_ns: u64) {
        self.seen_to_ns = self.seen_to_ns.max(at_ns);
        if self.seen_to_ns >= self.aged_ns + AGE_NS {
            self.aged_ns = self.seen_to_ns;
            self.dirty.age_all();
        }
    }

    /// On whose behalf a request was made that ended before what was seen; `None` where it is not known or its own task's.
    pub fn owner(&self, row: &BlockRequest) -> Option<u32> {
        let queued_ns = row.begun_ns();
        let doings = self.doings.get(&row.pid);
        let doing = doings.and_then(|doings| {
            let after = doings.partition_point(|doing| doing.from_ns <= queued_ns);
            let last = doings.get(after.checked_sub(1)?)?;
            (queued_ns <= last.to_ns).then_some(last.by)
        });
        let by = match row.op {
            BlockOp::Discard => self.committed.get(&row.device).copied().or(doing),
            BlockOp::Read | BlockOp::Other => None,
            BlockOp::Write | BlockOp::Flush => doing,
        };
        by.filter(|&by| by != 0 && by != row.pid)
    }

    /// Appends the spans that have ended, in the order of their ends.
    pub fn take(&mut self, out: &mut Vec<KernelSpan>) {
        self.done.sort_by_key(|span| span.end_ns);
        let count = self.done.partition_point(|span| span.end_ns <= self.seen_to_ns);
        out.extend(self.done.drain(..count));
    }

    /// Appends all, those that go on as well: they end now.
    pub fn finish(&mut self, out: &mut Vec<KernelSpan>) {
        let now_ns = self.seen_to_ns;
        let going_on = self.open.drain().map(|(_, span)| span);
        let going_on = going_on.chain(self.frozen.drain().map(|(_, span)| span));
        self.done.extend(going_on.map(|span| KernelSpan {
            end_ns: now_ns.max(span.start_ns),
            ..span
        }));
        self.done.sort_by_key(|span| span.end_ns);
        out.append(&mut self.done);
    }
}

/// A span that begins with `event`.
fn span(event: &KernelEvent, kind: SpanKind, device: u32, about: u64) -> KernelSpan {
    KernelSpan {
        kind,
        start_ns: event.time_ns,
        end_ns: event.time_ns,
        device,
        tid: event.tid,
        comm: Comm::NONE,
        about,
        by_tid: 0,
        by_comm: Comm::NONE,
    }
}

#[cfg(test)]
mod tests;
