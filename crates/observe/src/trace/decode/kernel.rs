//! Events of what the kernel does for a while: journal, writeback, reclaim, signals, freezer.

use super::{ById, Place, UnusableEvent, bytes, number};
use crate::trace::format::EventFormat;
use crate::trace::order::Timed;
use crate::trace::page::Record;
use fathom_core::record::Comm;

/// What happened, to whom the event does not say itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelKind {
    /// A commit of a journal began (`jbd2_start_commit`).
    CommitBegin { device: u32, transaction: u64 },
    /// It ended (`jbd2_end_commit`).
    CommitEnd { device: u32, transaction: u64 },
    /// A journal's thread was woken (`sched_waking`); 0 for an interrupt.
    WokeJournal { tid: u32, waker: u32 },
    /// `fsync` of a file began (`ext4_sync_file_enter`).
    SyncBegin { device: u32, inode: u64 },
    /// It ended (`ext4_sync_file_exit`).
    SyncEnd { device: u32, inode: u64 },
    /// Reclaim of memory on the task's own behalf (`mm_vmscan_memcg_reclaim_begin`, `mm_vmscan_direct_reclaim_begin`).
    ReclaimBegin,
    /// Its end.
    ReclaimEnd,
    /// Reclaim made it wait so long, which is over (`mm_vmscan_throttled`).
    ReclaimWaited { us: u64 },
    /// It is made to wait so long, from here on (`balance_dirty_pages`).
    DirtyPause { device: u32, ms: u64 },
    /// Writeback of an inode began (`writeback_single_inode_start`, else `ext4_writepages`).
    WritebackBegin { device: u32, inode: u64 },
    /// It ended (`writeback_single_inode`, else `ext4_writepages_result`).
    WritebackEnd { device: u32, inode: u64 },
    /// So many bytes of an inode were written to the cache (`ext4_da_write_begin`).
    Wrote { device: u32, inode: u64, bytes: u64 },
    /// A page of an inode, of unknown size, became dirty (`writeback_dirty_folio`).
    Dirtied { device: u32, inode: u64 },
    /// Blocks were freed (`ext4_free_blocks`).
    Freed { device: u32, blocks: u64 },
    /// A signal was sent (`signal_generate`).
    Signal { signal: u64, to: u32, comm: Comm },
    /// A control group is being frozen (`cgroup_freeze`); with the last part of its path.
    Freeze { group: u64, name: Comm },
    /// It is let go on (`cgroup_unfreeze`).
    Unfreeze { group: u64 },
    /// Events of this CPU were lost before this moment.
    Gap,
}

/// One such event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelEvent {
    pub time_ns: u64,
    /// The task in whose context it happened.
    pub tid: u32,
    pub kind: KernelKind,
}

impl Timed for KernelEvent {
    #[inline]
    fn time_ns(&self) -> u64 {
        self.time_ns
    }
}

/// The layouts of events: up to three numbers and a text.
#[derive(Debug, Clone, Copy)]
struct Layout {
    event: Event,
    numbers: [Option<Place>; 3],
    text: Option<(Place, bool)>,
}

/// The events that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    CommitBegin,
    CommitEnd,
    WokeJournal,
    SyncBegin,
    SyncEnd,
    ReclaimBegin,
    ReclaimEnd,
    ReclaimWaited,
    DirtyPause,
    WritebackBegin,
    WritebackEnd,
    PagesBegin,
    PagesEnd,
    Wrote,
    Dirtied,
    Freed,
    Signal,
    Freeze,
    Unfreeze,
}

/// Events, the numbers that are needed of them, and the text; `common_flags` is where all have it.
const EVENTS: [(&str, Event, &[&str], Option<&str>); 21] = [
    (
        "jbd2_start_commit",
        Event::CommitBegin,
        &["dev", "transaction"],
        None,
    ),
    ("jbd2_end_commit", Event::CommitEnd, &["dev", "transaction"], None),
    ("sched_waking", Event::WokeJournal, &["pid", "common_flags"], None),
    ("ext4_sync_file_enter", Event::SyncBegin, &["dev", "ino"], None),
    ("ext4_sync_file_exit", Event::SyncEnd, &["dev", "ino"], None),
    ("mm_vmscan_memcg_reclaim_begin", Event::ReclaimBegin, &[], None),
    ("mm_vmscan_memcg_reclaim_end", Event::ReclaimEnd, &[], None),
    ("mm_vmscan_direct_reclaim_begin", Event::ReclaimBegin, &[], None),
    ("mm_vmscan_direct_reclaim_end", Event::ReclaimEnd, &[], None),
    (
        "mm_vmscan_throttled",
        Event::ReclaimWaited,
        &["usec_delayed"],
        None,
    ),
    ("balance_dirty_pages", Event::DirtyPause, &["pause"], Some("bdi")),
    (
        "writeback_single_inode_start",
        Event::WritebackBegin,
        &["ino"],
        Some("name"),
    ),
    (
        "writeback_single_inode",
        Event::WritebackEnd,
        &["ino"],
        Some("name"),
    ),
    ("ext4_writepages", Event::PagesBegin, &["dev", "ino"], None),
    ("ext4_writepages_result", Event::PagesEnd, &["dev", "ino"], None),
    ("ext4_da_write_begin", Event::Wrote, &["dev", "ino", "len"], None),
    ("writeback_dirty_folio", Event::Dirtied, &["ino"], Some("name")),
    ("ext4_free_blocks", Event::Freed, &["dev", "count"], None),
    ("signal_generate", Event::Signal, &["sig", "pid"], Some("comm")),
    ("cgroup_freeze", Event::Freeze, &["id"], Some("path")),
    ("cgroup_unfreeze", Event::Unfreeze, &["id"], None),
];

impl Layout {
    fn new(format: &EventFormat) -> Option<Result<Self, UnusableEvent>> {
        let known = EVENTS.iter().find(|known| known.0 == format.name)?;
        Some(Self::of(format, known))
    }

    fn of(
        format: &EventFormat,
        &(_, event, names, text): &(&str, Event, &'static [&'static str], Option<&'static str>),
    ) -> Result<Self, UnusableEvent> {
        let mut numbers = [None; 3];
        for (place, name) in numbers.iter_mut().zip(names) {
            *place = Some(number(format, name)?);
        }
        let text = text.map(|name| match format.field(name).filter(|field| field.data_loc) {
            Some(field) => Ok((Place::from_field(field), true)),
            None => Ok((bytes(format, name)?, false)),
        });
        Ok(Self {
            event,
            numbers,
            text: text.transpose()?,
        })
    }

    /// The text, up to its end.
    fn text<'a>(&self, payload: &'a [u8]) -> Option<&'a [u8]> {
        let (place, located) = self.text?;
        let bytes = if located {
            let location = place.number(payload)? as usize;
            let (at, len) = (location & 0xffff, location >> 16 & 0xffff);
            payload.get(at..at.checked_add(len)?)?
        } else {
            place.bytes(payload)?
        };
        Some(bytes.split(|&byte| byte == 0).next().unwrap_or_default())
    }

    fn kind(&self, payload: &[u8]) -> Option<KernelKind> {
        let number = |index: usize| -> Option<u64> { self.numbers[index]?.number(payload) };
        let device = |index: usize| number(index).map(|device| device as u32);
        let named = || self.text(payload).and_then(device_of);
        Some(match self.event {
            Event::CommitBegin => KernelKind::CommitBegin {
                device: device(0)?,
                transaction: number(1)?,
            },
            Event::CommitEnd => KernelKind::CommitEnd {
                device: device(0)?,
                transaction: number(1)?,
            },
            // Who woke it is the event's own task.
            Event::WokeJournal => KernelKind::WokeJournal {
                tid: device(0)?,
                waker: u32::from(number(1)? & super::sched::IN_INTERRUPT == 0),
            },
            Event::SyncBegin => KernelKind::SyncBegin {
                device: device(0)?,
                inode: number(1)?,
            },
            Event::SyncEnd => KernelKind::SyncEnd {
                device: device(0)?,
                inode: number(1)?,
            },
            Event::ReclaimBegin => KernelKind::ReclaimBegin,
            Event::ReclaimEnd => KernelKind::ReclaimEnd,
            Event::ReclaimWaited => KernelKind::ReclaimWaited { us: number(0)? },
            Event::DirtyPause => KernelKind::DirtyPause {
                device: named().unwrap_or(0),
                ms: number(0)?,
            },
            Event::WritebackBegin => KernelKind::WritebackBegin {
                device: named()?,
                inode: number(0)?,
            },
            Event::WritebackEnd => KernelKind::WritebackEnd {
                device: named()?,
                inode: number(0)?,
            },
            Event::PagesBegin => KernelKind::WritebackBegin {
                device: device(0)?,
                inode: number(1)?,
            },
            Event::PagesEnd => KernelKind::WritebackEnd {
                device: device(0)?,
                inode: number(1)?,
            },
            Event::Wrote => KernelKind::Wrote {
                device: device(0)?,
                inode: number(1)?,
                bytes: number(2)?,
            },
            Event::Dirtied => KernelKind::Dirtied {
                device: named()?,
                inode: number(0)?,
            },
            Event::Freed => KernelKind::Freed {
                device: device(0)?,
                blocks: number(1)?,
            },
            Event::Signal => KernelKind::Signal {
                signal: number(0)?,
                to: device(1)?,
                comm: Comm::new(self.text(payload)?),
            },
            Event::Freeze => KernelKind::Freeze {
                group: number(0)?,
                name: self.text(payload).map(last_part).unwrap_or_default(),
            },
            Event::Unfreeze => KernelKind::Unfreeze { group: number(0)? },
        })
    }
}

/// The device that the kernel names `254:0`.
fn device_of(name: &[u8]) -> Option<u32> {
    let (major, minor) = std::str::from_utf8(name).ok()?.split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    (major < 1 << 12 && minor < 1 << 20).then_some(major << 20 | minor)
}

fn last_part(path: &[u8]) -> Comm {
    Comm::new(path.rsplit(|&byte| byte == b'/').next().unwrap_or_default())
}

/// Turns records into events.
#[derive(Debug, Clone)]
pub struct KernelDecoder(ById<Layout>);

impl KernelDecoder {
    /// For the events of `formats`; those that are not understood are left alone.
    ///
    /// # Errors
    /// There is none, or one lacks a field that is needed.
    pub fn new(formats: &[EventFormat]) -> Result<Self, UnusableEvent> {
        let known = formats
            .iter()
            .filter_map(|format| Some((format, Layout::new(format)?)));
        let layouts = known.map(|(format, layout)| Ok((format, layout?)));
        Ok(Self(ById::new(layouts.collect::<Result<_, _>>()?)?))
    }

    /// The event of a record; `None` where it is another one or too short.
    #[inline]
    pub fn decode(&self, record: &Record<'_>) -> Option<KernelEvent> {
        let payload = record.payload;
        let tid = self.0.pid(payload)?;
        let kind = match self.0.find(payload)?.kind(payload)? {
            KernelKind::WokeJournal { tid: woken, waker } => KernelKind::WokeJournal {
                tid: woken,
                waker: waker * tid,
            },
            kind => kind,
        };
        Some(KernelEvent {
            time_ns: record.time_ns,
            tid,
            kind,
        })
    }
}
