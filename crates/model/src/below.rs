//! What is below the guest: the host's cache, where there is one, and the volume.
//!
//! Data in: I/Os as the guest's block layer sends them. Data out: when each is complete, or that it waits. It must not
//! know the page cache or the workers.

use crate::events::{Event, Events};
use crate::host_cache::HostCache;
use crate::spec::Spec;
use crate::volume::Volume;
use crate::waiter::Waiter;
use crate::watch::Watch;
use fathom_core::backend::Op;

/// Everything below the guest.
#[derive(Debug, Clone)]
pub(crate) struct Below {
    /// The disks.
    pub(crate) volume: Volume,
    /// The host's cache.
    pub(crate) cache: Option<HostCache>,
    /// What happens of itself.
    pub(crate) events: Events,
    /// Who looks at what the guest sends.
    pub(crate) watch: Option<Box<Watch>>,
}

impl Below {
    /// What `spec` has below the guest.
    pub(crate) fn new(spec: &Spec) -> Self {
        let volume = Volume::new(spec);
        Self {
            cache: HostCache::new(spec, volume.units()),
            volume,
            events: Events::default(),
            watch: None,
        }
    }

    /// When an I/O sent at `now_ns` is complete; `None`: it waits, and its waiter will be told.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        now_ns: u64,
        waiter: Waiter,
        (op, offset, len): (Op, u64, u32),
    ) -> Option<u64> {
        let due = match &mut self.cache {
            None => Some(self.volume.admit(now_ns, op, offset, len)),
            Some(cache) => cache.admit(
                now_ns,
                waiter,
                (op, offset, len),
                &mut self.volume,
                &mut self.events,
            ),
        };
        if let Some(watch) = &mut self.watch {
            watch.sent(now_ns, waiter, (op, offset, len), due);
        }
        due
    }

    /// An event of the host's cache. Tickets that may go on are told to `done`; writeback that may goes on by itself.
    pub(crate) fn cache_event(&mut self, now_ns: u64, event: Event, done: &mut dyn FnMut(u32, u64)) {
        let Some(cache) = &mut self.cache else { return };
        match event {
            Event::FlushNext => cache.flush_next(now_ns, &mut self.volume, &mut self.events),
            Event::Flushed { bytes, number } => {
                let watch = &mut self.watch;
                let mut tell = |waiter, due, events: &mut Events| {
                    if let Some(watch) = watch {
                        watch.told(waiter, due);
                    }
                    match waiter {
                        Waiter::Ticket(ticket) => done(ticket, due),
                        Waiter::Writeback { pages, number } => {
                            events.push(due, Event::Written { pages, number });
                        }
                    }
                };
                let (volume, events) = (&mut self.volume, &mut self.events);
                cache.flushed(now_ns, (bytes, number), volume, events, &mut tell);
            }
            Event::Written { .. } | Event::Wake => {}
        }
    }
}
