//! The modelled machine: a guest with its page cache, above the host's cache, the virtual machine's limits and the
//! disks. What the virtual loop drives.
//!
//! Data in: a [`Spec`]; workers' I/Os in the order of time. Data out: when each is complete; afterwards the counters. It
//! must not know the workload beyond the I/O in hand.

use crate::attached::Shared;
use crate::below::Below;
use crate::events::Event;
use crate::host_cache::HostCache;
use crate::page_cache::PageCache;
use crate::path::{LimitState, Unit};
use crate::spec::{GuestSpec, Spec};
use crate::volume::Lent;
use crate::waiter::Waiter;
use crate::watch::Watch;
use fathom_core::backend::{Op, Request};
use fathom_core::record::{BlockRequest, CounterRow};
use fathom_core::run::{DiskSummary, Held, ModelSummary};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::{Accepted, CreditLeft, Submitter, Trace, VirtualDisk};

/// A modelled machine.
#[derive(Debug, Clone)]
pub struct Machine {
    guest: GuestSpec,
    submitters: Vec<Submitter>,
    volume_name: String,
    page_cache: PageCache,
    below: Below,
}

impl Machine {
    /// The machine of a valid `spec`.
    pub fn new(spec: &Spec) -> Self {
        Self {
            page_cache: PageCache::new(spec.guest.page_cache.clone()),
            guest: spec.guest.clone(),
            submitters: Vec::new(),
            volume_name: spec.volume_name(),
            below: Below::new(spec),
        }
    }

    /// Lets everything that is still dirty reach the disks; nothing more is sent. Returns when all of it was there.
    pub fn settle(&mut self, from: MonoTime) -> MonoTime {
        let mut clean_at = from;
        while self.unwritten_bytes() > 0 {
            let Some((time_ns, event)) = self.below.events.pop_to(u64::MAX) else {
                break;
            };
            clean_at = clean_at.max(MonoTime(time_ns));
            self.happen(time_ns, event, &mut |_, _| {});
        }
        clean_at
    }

    /// What the guest and the host's cache hold that is not on the disks.
    pub fn unwritten_bytes(&self) -> u64 {
        self.page_cache.unwritten_bytes() + self.below.cache.as_ref().map_or(0, HostCache::dirty_bytes)
    }

    /// The counters of each disk over a run of `duration_ns`, as the guest's kernel would keep them.
    pub fn disks(&self, duration_ns: u64) -> Vec<DiskSummary> {
        self.below.volume.counters(duration_ns)
    }

    /// How long all limits together held I/Os so far, in nanoseconds.
    pub fn held_ns(&self) -> u64 {
        self.held().iter().map(|(_, held_ns)| held_ns).sum()
    }

    /// How long each limit held I/Os so far.
    fn held(&self) -> Vec<(&'static str, u64)> {
        let mut held = self.below.volume.held_ns();
        if let Some(cache) = &self.below.cache {
            held.push(("VM cached IOPS", cache.limits().held_ns(Unit::Iops)));
            held.push(("VM cached MB/s", cache.limits().held_ns(Unit::Bytes)));
        }
        held
    }

    /// What the machine tells of itself; what is known of its [`Spec`] alone is left empty.
    pub fn account(&self) -> ModelSummary {
        let cache = self.below.cache.as_ref();
        let mut credits = self.below.volume.spent();
        if let Some(cache) = cache {
            for (unit, name) in [(Unit::Iops, "VM cached IOPS"), (Unit::Bytes, "VM cached MB/s")] {
                credits.extend(cache.limits().spent(unit).map(|spent| spent.told(name, unit)));
            }
        }
        let held = self.held().into_iter().filter(|(_, held_ns)| *held_ns > 0);
        ModelSummary {
            held: held
                .map(|(limit, held_ns)| Held {
                    limit: limit.to_owned(),
                    held_ns,
                })
                .collect(),
            credits,
            dirty_peak_bytes: self.page_cache.dirty_peak_bytes,
            host_dirty_peak_bytes: cache.map_or(0, |cache| cache.dirty_peak_bytes),
            host_cache_hits: cache.map_or(0, |cache| cache.hits),
            host_cache_misses: cache.map_or(0, |cache| cache.misses),
            ..ModelSummary::default()
        }
    }

    /// One worker, past the page cache; so many disks of its machine come before this volume's.
    pub(crate) fn attach_directly(&mut self, disks_before: usize) {
        self.below.volume.attach_after(disks_before);
        self.attach(Submitter {
            direct: true,
            sync_writes: false,
            file_base_bytes: vec![0],
        });
    }

    /// When an I/O past the page cache is complete; `None`: it waits.
    pub(crate) fn admit_directly(&mut self, now_ns: u64, ticket: u32, io: (Op, u64, u32)) -> Option<u64> {
        self.below.admit(now_ns, Waiter::Ticket(ticket), io)
    }

    /// Takes the limits of its machine from `shared`, or gives them back.
    pub(crate) fn exchange(&mut self, shared: &mut Shared, lent: &Lent) {
        self.below.volume.exchange(&mut shared.uncached, lent);
        if let Some(cache) = &mut self.below.cache {
            cache.exchange(&mut shared.cached);
        }
    }

    /// How its limits stand at `now_ns`, those of the virtual machine among them where `with_machine`.
    pub(crate) fn limits(&self, now_ns: u64, with_machine: bool) -> Vec<LimitState> {
        let mut limits = self.below.volume.limits(now_ns, with_machine);
        if let Some(cache) = self.below.cache.as_ref().filter(|_| with_machine) {
            limits.extend(
                cache
                    .limits()
                    .states(now_ns, ("VM cached IOPS", "VM cached MB/s")),
            );
        }
        limits
    }

    pub(crate) fn has_host_cache(&self) -> bool {
        self.below.cache.is_some()
    }

    fn happen(&mut self, now_ns: u64, event: Event, done: &mut dyn FnMut(u32, u64)) {
        match event {
            Event::Written { pages, number } => {
                self.page_cache
                    .written(now_ns, (pages, number), &mut self.below, done);
            }
            Event::Wake => self.page_cache.wake(now_ns, &mut self.below),
            Event::FlushNext | Event::Flushed { .. } => self.below.cache_event(now_ns, event, done),
        }
    }

    fn submit_buffered(
        &mut self,
        worker: u32,
        ticket: u32,
        offset: u64,
        request: &Request,
        now_ns: u64,
    ) -> Option<u64> {
        let (page_cache, below) = (&mut self.page_cache, &mut self.below);
        let len = request.len;
        match request.op {
            Op::Read => Some(page_cache.read(now_ns, worker, ticket, offset, len, below)),
            Op::Write if self.submitters[worker as usize].sync_writes => {
                page_cache.write_through(now_ns, ticket, offset, len, below)
            }
            Op::Write => page_cache.write(now_ns, ticket, offset, len, below),
            Op::Trim => below.admit(now_ns, Waiter::Ticket(ticket), (Op::Trim, offset, len)),
            op @ (Op::Sync | Op::DataSync) => page_cache.sync(now_ns, ticket, op, below),
        }
    }
}

impl VirtualDisk for Machine {
    fn capacity_bytes(&self) -> u64 {
        self.below.volume.size_bytes()
    }

    fn submission(&self) -> Nanos {
        Nanos(self.guest.submit_ns)
    }

    fn attach(&mut self, submitter: Submitter) {
        self.submitters.push(submitter);
    }

    #[inline]
    fn submit(&mut self, worker: u32, ticket: u32, request: &Request, now: MonoTime) -> Accepted {
        let submitter = &self.submitters[worker as usize];
        let offset = submitter.file_base_bytes[request.file as usize] + request.offset;
        if submitter.direct {
            let submitted = now.0 + self.guest.submit_ns;
            let io = (request.op, offset, request.len);
            let due = self.below.admit(submitted, Waiter::Ticket(ticket), io);
            return Accepted {
                submitted: MonoTime(submitted),
                completed: due.map_or(MonoTime::NEVER, MonoTime),
            };
        }
        let due = self.submit_buffered(worker, ticket, offset, request, now.0);
        let completed = due.map_or(MonoTime::NEVER, MonoTime);
        // The call returns when all is done.
        Accepted {
            submitted: completed,
            completed,
        }
    }

    fn is_passive(&self) -> bool {
        self.below.cache.is_none() && self.submitters.iter().all(|submitter| submitter.direct)
    }

    #[inline]
    fn next_event(&self) -> MonoTime {
        MonoTime(self.below.events.next_ns())
    }

    fn advance(&mut self, now: MonoTime, done: &mut dyn FnMut(u32, MonoTime)) {
        while let Some((time_ns, event)) = self.below.events.pop_to(now.0) {
            self.happen(time_ns, event, &mut |ticket, due| done(ticket, MonoTime(due)));
        }
    }

    fn trace(&mut self, what: Trace) {
        let wanted = what != Trace::default();
        self.below.watch = wanted.then(|| Box::new(Watch::new(&self.volume_name, what)));
    }

    fn take_requests(&mut self, now: MonoTime, out: &mut Vec<BlockRequest>) {
        if let Some(watch) = &mut self.below.watch {
            watch.take(now.0, out);
        }
    }

    /// The disk's at `now`; the page cache's as it is, which may be a little later.
    fn counters(&mut self, now: MonoTime, out: &mut Vec<CounterRow>) {
        if let Some(watch) = &mut self.below.watch {
            let (dirty, writing) = self.page_cache.dirty_and_writing_bytes();
            watch.count(now.0, (dirty, writing), out);
        }
    }

    fn credit(&self, now: MonoTime, out: &mut Vec<CreditLeft>) {
        self.below.volume.credit(now.0, out);
    }
}

#[cfg(test)]
mod tests;
