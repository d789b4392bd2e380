//! The critical path of one slow I/O: its time, cut into intervals, each with an owner.
//!
//! Data in: an I/O with its steps, what its thread did, who had the CPUs, what the kernel did, what the counterfactual grants.
//! Data out: a ledger whose sum is the response time, to the nanosecond. What no evidence covers is not seen.

use super::super::scene::{Scene, SlowIo};
use super::super::served::Busy;
use super::Usually;
use super::cpus::Cpus;
use super::device::Counterfactual;
use super::ledger::{Ledger, Owner};
use super::queue::Queue;
use super::still::Still;
use super::thread::{Doing, Span, Threads};
use crate::explain::answer::{OwnerClass, Process};
use fathom_core::record::{BlockOp, BlockedOn, Comm, KernelSpan, SpanKind, StreamKind};
use std::collections::HashMap;

/// What the paths of a disturbance's I/Os are found with.
pub(super) struct Paths<'s> {
    pub scene: &'s Scene<'s>,
    pub threads: Threads,
    pub cpus: Cpus<'s>,
    /// For each part of the disturbance.
    pub counterfactuals: Vec<Counterfactual>,
    pub usually: Vec<Usually>,
    pub host: Host,
    /// When the load was stopped, as it noticed itself.
    pub stops: Vec<(u64, u64)>,
    pub flushes: Vec<Flush>,
    /// When pages that the load had made dirty were being written back.
    pub own_pages: Busy,
    /// When CPUs, and all of them, did not run.
    pub still: Still,
    /// What held each worker up, for times in which an I/O was due and not sent.
    pub queue: Queue,
    /// When the CPU quota held the load back.
    pub quota: Vec<Quota>,
    /// When each thread was made to wait because too much was dirty, and whose it was.
    pub throttled: Throttled,
}

/// A flush of a device's cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flush {
    pub device: u32,
    pub from_ns: u64,
    /// From here on it was all that the device did.
    pub alone_ns: u64,
    pub to_ns: u64,
}

/// What is known of the host for the whole disturbance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Host {
    /// The load writes through the page cache.
    pub buffered: bool,
    /// On a modelled machine there is nothing but the disk.
    pub modelled: bool,
    /// The device is what is slow: a wait for a tag or in the scheduler is its.
    pub device_slow: bool,
    /// No request of the device was recorded.
    pub untraced: bool,
}

/// A time between two readings of what the CPU quota held back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quota {
    pub from_ns: u64,
    pub to_ns: u64,
    /// The parts of the ready time in it that the quota explains: without a holder, and with one.
    pub beside_idle: f64,
    pub while_held: f64,
}

/// Times with their owners, by thread.
pub(super) type Throttled = HashMap<u32, Vec<(u64, u64, Owner)>>;

/// From the end of what the kernel did to when it wakes who waited for that, at most.
const WAKING_NS: u64 = 1_000_000;

/// Which part of its way an I/O is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Unsent,
    Above,
    Seen,
    /// No request is known: anything but unsent.
    Unmatched,
}

impl Paths<'_> {
    /// An I/O's time by owner, what is usual included.
    pub(super) fn cut(&self, io: &SlowIo) -> Ledger {
        let mut ledger = Ledger::default();
        let Some((issued, done)) = io.at_device else {
            self.host(io, io.due_ns, io.created_ns, Step::Unsent, 0.0, &mut ledger);
            let usual = self.usually_of(io).map_or(0.0, Usually::latency_ns);
            let step = Step::Unmatched;
            self.host(io, io.created_ns, io.completed_ns, step, usual, &mut ledger);
            return ledger;
        };
        let usually = self.usually_of(io).copied().unwrap_or_default();
        let queued = io.created_ns + io.parts[1];
        self.host(
            io,
            io.due_ns,
            io.created_ns,
            Step::Unsent,
            usually.parts[0],
            &mut ledger,
        );
        self.host(
            io,
            io.created_ns,
            queued,
            Step::Above,
            usually.parts[1],
            &mut ledger,
        );
        self.below(io, (queued, issued, done), &usually, &mut ledger);
        self.host(
            io,
            done,
            io.completed_ns,
            Step::Seen,
            usually.parts[5],
            &mut ledger,
        );
        self.queue.inherit(io.worker, io.created_ns, &mut ledger);
        ledger
    }

    fn usually_of(&self, io: &SlowIo) -> Option<&Usually> {
        self.usually.get(io.part)
    }

    /// The block layer and the device.
    fn below(
        &self,
        io: &SlowIo,
        (queued, issued, done): (u64, u64, u64),
        usually: &Usually,
        ledger: &mut Ledger,
    ) {
        let all = done - queued;
        let usual = (usually.below_ns() as u64).min(all);
        ledger.add(Owner::of(OwnerClass::Usual), usual);
        // A machine that does not run sees no request end.
        let still = self.still.whole.within_ns(queued, done).min(all - usual);
        ledger.add(Owner::of(OwnerClass::Standstill), still);
        // Where requests were lost it is not known who else was there.
        let lost = self.scene.context.gaps.within_ns(StreamKind::Block, queued, done);
        let beyond = all - usual - still;
        let unknown = (beyond as f64 * lost as f64 / all.max(1) as f64).ceil() as u64;
        ledger.add(Owner::NOT_SEEN, unknown.min(beyond));
        let extra = beyond - unknown.min(beyond);
        if extra == 0 {
            return;
        }
        let granted = self.counterfactuals.get(io.part);
        let granted = granted.map_or_else(Vec::new, |counterfactual| counterfactual.granted(queued, done));
        let others: f64 = granted.iter().map(|(_, part)| part).sum();
        let mut shares = granted;
        let rest = (1.0 - others).max(0.0);
        let behind = self.behind_flush(io.device, queued, done);
        // What the queue had, beyond what it usually has, is its own only where the device was as fast as ever.
        let waited = (issued - queued) as f64;
        let usually_waited = usually.parts[2] + usually.parts[3];
        let queue = if self.host.device_slow || all == 0 {
            0.0
        } else {
            ((waited - usually_waited).max(0.0) / extra as f64).min(1.0)
        };
        if io.op == BlockOp::Flush {
            shares.push((Owner::of(OwnerClass::Flush), rest));
        } else {
            shares.push((Owner::of(OwnerClass::Flush), rest * behind));
            shares.push((Owner::of(OwnerClass::KernelQueue), rest * (1.0 - behind) * queue));
            shares.push((
                Owner::of(OwnerClass::Device),
                rest * (1.0 - behind) * (1.0 - queue),
            ));
        }
        shares.retain(|(_, weight)| *weight > 0.0);
        ledger.divide(extra, &shares);
    }

    /// The part of a request's time in which a flush was carried out that came before it.
    fn behind_flush(&self, device: Option<u32>, queued: u64, done: u64) -> f64 {
        let slack = (done - queued) / 10;
        let here = |flush: &&Flush| device.is_none_or(|device| device == flush.device);
        let before = self.flushes.iter().filter(here);
        let before = before.filter(|flush| flush.from_ns <= queued + slack);
        let behind = before.map(|flush| done.min(flush.to_ns).saturating_sub(queued.max(flush.alone_ns)));
        behind.max().unwrap_or(0) as f64 / (done - queued).max(1) as f64
    }

    /// A time in which the host had the I/O.
    fn host(&self, io: &SlowIo, from: u64, to: u64, step: Step, usual_ns: f64, ledger: &mut Ledger) {
        if from >= to {
            return;
        }
        let mut found = Ledger::default();
        let mut at = from;
        // Where the load itself knows that it did not run, that is what it was.
        for (stop_from, stop_to) in &self.stops {
            let (stop_from, stop_to) = ((*stop_from).max(at), (*stop_to).min(to));
            if stop_from < stop_to {
                self.spans(io, at, stop_from, step, &mut found);
                self.noticed(io, (stop_from, stop_to), step, &mut found);
                at = stop_to;
            }
        }
        self.spans(io, at, to, step, &mut found);
        let usual = (usual_ns as u64).min(to - from);
        ledger.add(Owner::of(OwnerClass::Usual), usual);
        ledger.join_scaled(&found, to - from - usual);
    }

    /// A time in which the load noticed that nothing of it ran: who stopped it, its thread's doings may tell.
    fn noticed(&self, io: &SlowIo, (from, to): (u64, u64), step: Step, found: &mut Ledger) {
        let mut told = Ledger::default();
        self.spans(io, from, to, step, &mut told);
        for (owner, ns) in told.iter() {
            let known = matches!(
                owner.class,
                OwnerClass::Stopped | OwnerClass::Frozen | OwnerClass::Standstill
            );
            found.add(
                if known {
                    owner
                } else {
                    Owner::of(OwnerClass::Stopped)
                },
                ns,
            );
        }
    }

    /// By what the thread did, but for times in which nothing ran.
    fn spans(&self, io: &SlowIo, from: u64, to: u64, step: Step, found: &mut Ledger) {
        let mut at = from;
        for (begin, end) in self.still.whole.spans(from, to) {
            self.recorded(io, at, begin, step, found);
            found.add(Owner::of(OwnerClass::Standstill), end - begin);
            at = end;
        }
        self.recorded(io, at, to, step, found);
    }

    /// By what the thread did, but for times of which rows were lost: what is there may lie around what is not.
    fn recorded(&self, io: &SlowIo, from: u64, to: u64, step: Step, found: &mut Ledger) {
        if from >= to {
            return;
        }
        let mut at = from;
        for (begin, end) in self.scene.context.gaps.of_host(from, to) {
            self.of_thread(io, at, begin, step, found);
            self.unseen(io, begin, end, step, found);
            at = end;
        }
        self.of_thread(io, at, to, step, found);
    }

    fn of_thread(&self, io: &SlowIo, from: u64, to: u64, step: Step, found: &mut Ledger) {
        if from >= to {
            return;
        }
        let Some(tid) = self.thread_of(io, from, to) else {
            self.unseen(io, from, to, step, found);
            return;
        };
        // Reclaim burns CPU and sleeps in turn: all of it is a wait for memory.
        let reclaims = self.spans_of(SpanKind::Reclaim, from, to);
        let reclaims = reclaims.filter(|span| span.tid == tid);
        let memory = Owner::of(OwnerClass::Memory);
        let mut told: Vec<(u64, u64, Owner)> = reclaims
            .map(|span| (span.start_ns, span.end_ns, memory))
            .collect();
        let throttled = self.throttled.get(&tid).map_or(&[][..], Vec::as_slice);
        let there = throttled
            .iter()
            .filter(|(begin, end, _)| *begin < to && from < *end);
        told.extend(there.copied());
        told.sort_unstable();
        let mut at = from;
        for (begin, end, owner) in told {
            let (begin, end) = (begin.clamp(at, to), end.clamp(at, to));
            self.states(io, tid, (at, begin), step, found);
            found.add(owner, end - begin);
            at = end;
        }
        self.states(io, tid, (at, to), step, found);
    }

    fn states(&self, io: &SlowIo, tid: u32, (from, to): (u64, u64), step: Step, found: &mut Ledger) {
        let mut at = from;
        for span in self.threads.within(tid, from, to) {
            self.unseen(io, at, span.from_ns, step, found);
            self.span(io, tid, span, step, found);
            at = span.to_ns;
        }
        self.unseen(io, at, to, step, found);
    }

    /// The thread that an I/O is of: of several that may be, that which stood ready longest.
    fn thread_of(&self, io: &SlowIo, from: u64, to: u64) -> Option<u32> {
        let known: Vec<u32> = match (io.worker, io.tid) {
            (Some(worker), _) => self.scene.tasks_of(worker).collect(),
            (None, tid) => tid.into_iter().collect(),
        };
        let may_be = if known.is_empty() && io.worker.is_some() {
            self.threads.tids().collect()
        } else {
            known
        };
        let waited = |tid: &u32| -> u64 {
            let spans = self.threads.within(*tid, from, to);
            spans
                .filter(|span| !matches!(span.doing, Doing::Running { .. }))
                .map(|span| span.to_ns - span.from_ns)
                .sum()
        };
        may_be
            .into_iter()
            .map(|tid| (waited(&tid), std::cmp::Reverse(tid)))
            .max()
            .map(|(_, tid)| tid.0)
    }

    /// What a thread did, but for times in which the CPU that it needed did not run.
    fn span(&self, io: &SlowIo, tid: u32, span: Span, step: Step, found: &mut Ledger) {
        let cpu = match span.doing {
            // Of one that sleeps, its timer is that CPU's.
            Doing::Running { cpu }
            | Doing::Ready { cpu }
            | Doing::Waiting {
                cpu,
                on: BlockedOn::Itself,
                waker: None,
            } => cpu,
            Doing::Waiting { .. } => return self.did(io, tid, span, step, found),
        };
        let mut rest = span;
        for (from_ns, to_ns) in self.still.of_cpu(cpu, span.from_ns, span.to_ns) {
            let before = Span {
                to_ns: from_ns,
                ..rest
            };
            self.did(io, tid, before, step, found);
            found.add(Owner::of(OwnerClass::Standstill), to_ns - from_ns);
            rest.from_ns = to_ns;
        }
        self.did(io, tid, rest, step, found);
    }

    fn did(&self, io: &SlowIo, tid: u32, span: Span, step: Step, found: &mut Ledger) {
        let Span {
            from_ns,
            to_ns,
            doing,
        } = span;
        if from_ns >= to_ns {
            return;
        }
        let ns = to_ns - from_ns;
        match doing {
            Doing::Running { .. } => found.add(Owner::of(OwnerClass::OwnCpu), ns),
            Doing::Ready { cpu } => self.ready(tid, cpu, (from_ns, to_ns), found),
            Doing::Waiting { cpu, on, waker } => match on {
                BlockedOn::Quota => found.add(Owner::of(OwnerClass::Quota), ns),
                BlockedOn::Frozen => self.stopped(None, (from_ns, to_ns), found),
                BlockedOn::Stopped => self.stopped(Some(tid), (from_ns, to_ns), found),
                BlockedOn::Tag | BlockedOn::WritebackThrottle => {
                    found.add(Owner::of(OwnerClass::KernelQueue), ns);
                }
                BlockedOn::Journal => self.behind_commit((from_ns, to_ns), found),
                // That too much is dirty its stack says; it is one of those who made it so.
                BlockedOn::DirtyLimit => {
                    let dirty = Owner::of(OwnerClass::DirtyPages);
                    for (begin, end) in self.behind_writeback((from_ns, to_ns), found) {
                        found.add(dirty, end - begin);
                    }
                }
                // A page of whoever had it written back.
                BlockedOn::Writeback => {
                    for (begin, end) in self.behind_writeback((from_ns, to_ns), found) {
                        self.pages(begin, end, found);
                    }
                }
                BlockedOn::Reclaim | BlockedOn::Fault => found.add(Owner::of(OwnerClass::Memory), ns),
                BlockedOn::Lock => found.add(self.lock(waker), ns),
                BlockedOn::Io if step == Step::Above => self.unseen(io, from_ns, to_ns, step, found),
                BlockedOn::Itself if step == Step::Unsent && waker.is_none() => {
                    self.slept_on(io, (tid, cpu), (from_ns, to_ns), found);
                }
                BlockedOn::Unknown => self.woken(io, waker, (from_ns, to_ns), step, found),
                BlockedOn::Itself | BlockedOn::Io => self.unseen(io, from_ns, to_ns, step, found),
            },
        }
    }

    /// A wait of which no stack tells: who ended it may tell, where that one ended what the kernel did at that moment.
    fn woken(
        &self,
        io: &SlowIo,
        waker: Option<(u32, Comm)>,
        (from, to): (u64, u64),
        step: Step,
        found: &mut Ledger,
    ) {
        let ended_by = |kind: SpanKind, who: fn(&KernelSpan) -> u32| {
            let mut spans = self.spans_of(kind, from, to + WAKING_NS);
            let waker = waker.map(|(tid, _)| tid);
            spans.any(|span| Some(who(span)) == waker && span.end_ns.abs_diff(to) <= WAKING_NS)
        };
        if ended_by(SpanKind::JournalCommit, |span| span.tid) {
            self.behind_commit((from, to), found);
        } else if ended_by(SpanKind::Frozen, |span| span.by_tid) {
            self.stopped(None, (from, to), found);
        } else {
            self.unseen(io, from, to, step, found);
        }
    }

    /// An I/O was due, and the thread that was to send it slept until an interrupt: behind earlier I/Os of its own, as far as those
    /// tell; the rest is a timer's that was late, as far as nobody had the CPU that it was set on.
    fn slept_on(&self, io: &SlowIo, (tid, cpu): (u32, u32), (from, to): (u64, u64), found: &mut Ledger) {
        // A sleeping thread is stopped where it is: its stack does not tell.
        let halts = [SpanKind::Frozen, SpanKind::Stopped];
        if halts
            .iter()
            .any(|kind| self.spans_of(*kind, from, to).next().is_some())
        {
            return self.unseen(io, from, to, Step::Unsent, found);
        }
        let mut told = Ledger::default();
        self.unseen(io, from, to, Step::Unsent, &mut told);
        let rest = told.take(OwnerClass::NotSeen);
        found.join(&told, 1.0);
        let holders = self.cpus.holders(cpu, tid, from, to);
        let idle = holders.iter().filter(|(who, _)| who.is_none());
        let idle: f64 = idle.map(|(_, ns)| ns).sum();
        let busy = ((to - from) as f64 - idle).max(0.0);
        found.divide(
            rest,
            &[(Owner::of(OwnerClass::LateTimer), idle), (Owner::NOT_SEEN, busy)],
        );
    }

    /// Who had the CPU that the thread stood ready for.
    fn ready(&self, tid: u32, cpu: u32, (from, to): (u64, u64), found: &mut Ledger) {
        let mut at = from;
        for (begin, end) in self.scene.context.gaps.spans(StreamKind::Cpus, from, to) {
            self.held(tid, cpu, (at, begin), found);
            found.add(Owner::NOT_SEEN, end - begin);
            at = end;
        }
        self.held(tid, cpu, (at, to), found);
    }

    /// The same where all rows are there, each part by what the quota had of it.
    fn held(&self, tid: u32, cpu: u32, (from, to): (u64, u64), found: &mut Ledger) {
        let first = self.quota.partition_point(|quota| quota.to_ns <= from);
        let mut at = from;
        for quota in self.quota[first..].iter().take_while(|quota| quota.from_ns < to) {
            let (begin, end) = (quota.from_ns.clamp(at, to), quota.to_ns.min(to));
            self.holders(tid, cpu, (at, begin), (0.0, 0.0), found);
            let parts = (quota.beside_idle, quota.while_held);
            self.holders(tid, cpu, (begin, end), parts, found);
            at = end;
        }
        self.holders(tid, cpu, (at, to), (0.0, 0.0), found);
    }

    /// Who had a CPU for a time; the quota explains these parts of it, beside an idle CPU and while somebody had it.
    fn holders(
        &self,
        tid: u32,
        cpu: u32,
        (from, to): (u64, u64),
        (beside_idle, while_held): (f64, f64),
        found: &mut Ledger,
    ) {
        if from >= to {
            return;
        }
        let ns = to - from;
        let mut shares: Vec<(Owner, f64)> = Vec::new();
        let mut held = 0.0;
        for (holder, part) in self.cpus.holders(cpu, tid, from, to) {
            let Some(process) = holder else { continue };
            held += part;
            let (part, by_quota) = (part * (1.0 - while_held), part * while_held);
            shares.push((Owner::of(OwnerClass::Quota), by_quota));
            let own = self.scene.is_own(process.pid, &process.comm);
            let owner = if own {
                Owner::of(OwnerClass::OwnCpu)
            } else {
                Owner::by(OwnerClass::NoCpu, process)
            };
            shares.push((owner, part));
        }
        let nobody = (ns as f64 - held).max(0.0);
        // Idle time belongs to nobody: only the quota lets a task stand ready beside an idle CPU.
        shares.push((Owner::of(OwnerClass::Quota), nobody * beside_idle));
        shares.push((Owner::NOT_SEEN, nobody * (1.0 - beside_idle)));
        shares.retain(|(_, weight)| *weight > 0.0);
        found.divide(ns, &shares);
    }

    /// By a signal to a thread, or with its group by a freezer; who did that, if it is known.
    fn stopped(&self, tid: Option<u32>, (from, to): (u64, u64), found: &mut Ledger) {
        let (kind, class) = match tid {
            Some(_) => (SpanKind::Stopped, OwnerClass::Stopped),
            None => (SpanKind::Frozen, OwnerClass::Frozen),
        };
        let of_it = self.spans_of(kind, from, to);
        let of_it = of_it.filter(|span| tid.is_none_or(|tid| span.tid == tid));
        // Several groups may be frozen: the thread was in the one whose time is its own.
        let apart_ns = |span: &&KernelSpan| span.start_ns.abs_diff(from) + span.end_ns.abs_diff(to);
        let by = of_it.min_by_key(apart_ns).filter(|span| span.by_tid != 0);
        let mut rest = to - from;
        if let Some(span) = by {
            let common = span.end_ns.min(to) - span.start_ns.max(from);
            found.add(Owner::by(class, by_of(span)), common);
            rest -= common;
        }
        found.add(Owner::of(class), rest);
    }

    fn lock(&self, waker: Option<(u32, Comm)>) -> Owner {
        match waker {
            Some((pid, comm)) if !self.scene.is_own(pid, &comm) => {
                Owner::by(OwnerClass::Lock, Process { pid, comm })
            }
            Some(_) => Owner::of(OwnerClass::OwnQueue),
            None => Owner::of(OwnerClass::Lock),
        }
    }

    fn spans_of(&self, kind: SpanKind, from: u64, to: u64) -> impl Iterator<Item = &KernelSpan> {
        let there = self.scene.kernel.iter();
        there.filter(move |span| span.kind == kind && span.start_ns < to && from < span.end_ns)
    }

    /// Behind what the kernel did, for as long as it did it: spans that go on at the same time come after the one that meets most
    /// of it. Gives what none of them covers.
    fn behind(
        &self,
        kind: SpanKind,
        (from, to): (u64, u64),
        mut each: impl FnMut(&KernelSpan, u64, u64),
    ) -> Vec<(u64, u64)> {
        let overlap = |span: &&KernelSpan| span.end_ns.min(to) - span.start_ns.max(from);
        let mut spans: Vec<&KernelSpan> = self.spans_of(kind, from, to).collect();
        spans.sort_by_key(|span| std::cmp::Reverse(overlap(span)));
        let mut rest = vec![(from, to)];
        for span in spans {
            let mut left = Vec::with_capacity(rest.len() + 1);
            for (from, to) in rest {
                let (begin, end) = (span.start_ns.clamp(from, to), span.end_ns.clamp(from, to));
                if begin < end {
                    each(span, begin, end);
                }
                let parts = [(from, begin), (end, to)];
                left.extend(parts.into_iter().filter(|(from, to)| from < to));
            }
            rest = left;
        }
        rest
    }

    /// A commit is of whoever asked for it, while it goes on; that it was a commit is known for all of the wait.
    fn behind_commit(&self, (from, to): (u64, u64), found: &mut Ledger) {
        let mut nobody: Vec<(u64, u64)> = Vec::new();
        let rest = self.behind(
            SpanKind::JournalCommit,
            (from, to),
            |span, begin, end| match self.other(span) {
                Some(process) => found.add(Owner::by(OwnerClass::Journal, process), end - begin),
                None => nobody.push((begin, end)),
            },
        );
        for (begin, end) in nobody.into_iter().chain(rest) {
            // A commit that nobody else asked for waits for the pages that belong to it.
            let own_pages = self.own_pages.within_ns(begin, end);
            found.add(Owner::of(OwnerClass::DirtyPages), own_pages);
            found.add(Owner::of(OwnerClass::Journal), end - begin - own_pages);
        }
    }

    /// Somebody else's dirty pages are somebody else's I/O, while they are written back. Gives what is not told.
    fn behind_writeback(&self, (from, to): (u64, u64), found: &mut Ledger) -> Vec<(u64, u64)> {
        let mut nobody: Vec<(u64, u64)> = Vec::new();
        let mut rest = self.behind(SpanKind::Writeback, (from, to), |span, begin, end| {
            match self.other(span) {
                Some(process) => found.add(Owner::by(OwnerClass::CompetingIo, process), end - begin),
                None if span.by_tid != 0 => found.add(Owner::of(OwnerClass::DirtyPages), end - begin),
                None => nobody.push((begin, end)),
            }
        });
        rest.extend(nobody);
        rest
    }

    /// On whose behalf the kernel did something, if it was not the load.
    fn other(&self, span: &KernelSpan) -> Option<Process> {
        let known = span.by_tid != 0 && !self.scene.is_own(span.by_tid, &span.by_comm);
        known.then(|| by_of(span))
    }

    /// A wait in which the load's own pages may have been written back.
    fn pages(&self, from: u64, to: u64, found: &mut Ledger) {
        let own = self.own_pages.within_ns(from, to);
        found.add(Owner::of(OwnerClass::DirtyPages), own);
        found.add(Owner::NOT_SEEN, to - from - own);
    }

    /// What the thread's own doings do not tell.
    fn unseen(&self, io: &SlowIo, from: u64, to: u64, step: Step, found: &mut Ledger) {
        if from >= to {
            return;
        }
        let ns = to - from;
        if self.host.modelled && step != Step::Unsent {
            found.add(Owner::of(OwnerClass::Device), ns);
            return;
        }
        match step {
            Step::Unsent => self.queued(io, (from, to), found),
            Step::Above => self.above(io, (from, to), found),
            Step::Unmatched if !self.host.untraced => self.above(io, (from, to), found),
            Step::Unmatched | Step::Seen => found.add(Owner::NOT_SEEN, ns),
        }
    }

    /// Behind earlier I/Os of its own, where these are all known.
    fn queued(&self, io: &SlowIo, (from, to): (u64, u64), found: &mut Ledger) {
        let mut at = from;
        for (begin, end) in self.scene.context.gaps.spans(StreamKind::Io, from, to) {
            if at < begin {
                self.queue.add(io.worker, (at, begin), found);
            }
            found.add(Owner::NOT_SEEN, end - begin);
            at = end;
        }
        if at < to {
            self.queue.add(io.worker, (at, to), found);
        }
    }

    /// Made and not in the block layer, and its thread's stack says nothing.
    fn above(&self, io: &SlowIo, (from, to): (u64, u64), found: &mut Ledger) {
        if io.let_go {
            found.add(Owner::of(OwnerClass::CgroupIo), to - from);
        } else if self.host.buffered {
            self.pages(from, to, found);
        } else {
            found.add(Owner::NOT_SEEN, to - from);
        }
    }
}

/// On whose behalf the kernel did something.
fn by_of(span: &KernelSpan) -> Process {
    Process {
        pid: span.by_tid,
        comm: span.by_comm,
    }
}
