//! The zones of a device: where each is written next, and who is at it. One table a device, shared by all workers of a run.
//!
//! Data in: who wants to write or read where, and how that ended. Data out: where it may be done, or what has to be done before.
//! It must not know patterns, time or the system's calls.
//!
//! What holds: a zone has one write under way at most, and it begins at the zone's write pointer, as the device has it; no more
//! zones are written in part than the limit; nothing is read that is not written, and no zone is emptied while it is read. All
//! of it is kept by one word a zone (`Zone::word`), whose bit `WRITING` is the zone's lock: who has set it alone moves the
//! pointer, opens, fills and empties. Nobody waits in here: who may not is told so, and asks again.

mod devices;
mod worker;

pub use devices::ZonesError;
pub(crate) use devices::{ZonedFiles, carry_out};
pub(crate) use worker::{OfFile, Place};
pub use worker::{WorkerZones, ZoneCommand};

use fathom_sys::zoned::{self, ZoneCondition, ZoneKind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Of a zone's word: bytes from its start to the write pointer.
const WRITTEN: u64 = (1 << 44) - 1;
/// One that reads it.
const READER: u64 = 1 << 44;
const READERS: u64 = 0x7fff << 44;
/// It can be neither written nor emptied any more.
const DEAD: u64 = 1 << 59;
/// Somebody writes it, fills it or empties it.
const WRITING: u64 = 1 << 60;
/// It is written in part, and counts.
const OPEN: u64 = 1 << 61;
/// Something went wrong: where its pointer is only the device knows.
const STALE: u64 = 1 << 62;
/// It is being emptied: nobody begins to read it.
const EMPTYING: u64 = 1 << 63;

/// What has to be done to a zone by a call of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Empty it.
    Reset,
    /// Make it full.
    Finish,
    /// Ask where its pointer is.
    Look,
}

impl Action {
    /// The system's name of the call.
    pub const fn call(self) -> &'static str {
        match self {
            Self::Reset => "BLKRESETZONE",
            Self::Finish => "BLKFINISHZONE",
            Self::Look => "BLKREPORTZONE",
        }
    }
}

/// What comes of a wish to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// At this offset of the device, so many bytes; [`ZoneTable::end_write`] has to follow. `emptied`: what the zone had is gone.
    Write { offset: u64, len: u64, emptied: bool },
    /// Somebody is at it.
    Busy,
    /// It is full, and was not to be emptied.
    Through,
    /// As many zones are open as may be.
    NoRoom,
    /// The zone is lost.
    Dead,
    /// This first; [`ZoneTable::done`] has to follow. The zone is locked until then.
    First(Action),
}

/// How a zone is to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    /// Bytes.
    pub len: u64,
    /// No write is shorter: where less is left, the zone is full.
    pub least: u64,
    /// A full zone is emptied.
    pub empties_full: bool,
    /// It is emptied, however much of it is written.
    pub empties: bool,
}

/// `len` bytes, or what of `left` are whole blocks of `least`.
fn cut(len: u64, left: u64, least: u64) -> u64 {
    if len <= left {
        len
    } else {
        left - left % least.max(1)
    }
}

/// One zone.
#[derive(Debug)]
struct Zone {
    word: AtomicU64,
    capacity: u64,
    len: u64,
    kind: ZoneKind,
}

/// What a zone takes while its table is made: what the device says of it as well.
pub(crate) const BYTES_A_ZONE: u64 = (size_of::<Zone>() + size_of::<zoned::Zone>()) as u64;

/// Zones that a worker may write: it may still do so.
#[derive(Debug)]
struct Claim {
    first: u32,
    end: u32,
    live: AtomicBool,
}

/// All zones of a device, or of a file that is taken for one.
#[derive(Debug)]
pub(crate) struct ZoneTable {
    zone_bytes: u64,
    zones: Box<[Zone]>,
    /// Each open zone's number, from 1 on; 0: there is room for one. Empty: as many as there are may be open.
    open: Box<[AtomicU32]>,
    /// Bytes written in all zones that have write pointers.
    written: AtomicU64,
    claims: Box<[Claim]>,
    /// The device has zones of its own: what is done to them it has to be told.
    has_own: bool,
}

impl ZoneTable {
    /// The zones that a device reports. `limit` of them may be written in part at a time (0: any number); `claims` are the zones
    /// that workers write. Those of them that are written in part are open: there is room for them.
    pub(crate) fn new(found: &[zoned::Zone], has_own: bool, limit: u32, claims: &[(u32, u32)]) -> Self {
        let zones: Box<[Zone]> = found
            .iter()
            .map(|zone| {
                let dead = matches!(zone.condition, ZoneCondition::ReadOnly | ZoneCondition::Offline);
                Zone {
                    word: AtomicU64::new(zone.written_bytes & WRITTEN | if dead { DEAD } else { 0 }),
                    capacity: zone.capacity_bytes,
                    len: zone.len_bytes,
                    kind: zone.kind,
                }
            })
            .collect();
        let written = found
            .iter()
            .filter(|zone| zone.kind == ZoneKind::Sequential)
            .fold(0u64, |sum, zone| sum.saturating_add(zone.written_bytes));
        let table = Self {
            zone_bytes: found.first().map_or(1, |zone| zone.len_bytes).max(1),
            zones,
            open: (0..limit).map(|_| AtomicU32::new(0)).collect(),
            written: AtomicU64::new(written),
            claims: claims
                .iter()
                .map(|&(first, end)| Claim {
                    first,
                    end,
                    live: AtomicBool::new(false),
                })
                .collect(),
            has_own,
        };
        for number in 0..found.len() as u32 {
            if table.is_partly_written(number)
                && claims.iter().any(|&(first, end)| (first..end).contains(&number))
            {
                // Whoever makes the table has seen to it that there is room.
                let _has_room = table.try_open(number);
            }
        }
        table
    }

    /// Zones of `zone_bytes` each that nobody has but this table, all empty; what can be written of each is `capacity`.
    pub(crate) fn made_up(
        zone_bytes: u64,
        capacity: u64,
        count: u32,
        limit: u32,
        claims: &[(u32, u32)],
    ) -> Self {
        let zone = |number: u32| zoned::Zone {
            start_bytes: u64::from(number) * zone_bytes,
            len_bytes: zone_bytes,
            capacity_bytes: capacity,
            written_bytes: 0,
            kind: ZoneKind::Sequential,
            condition: ZoneCondition::Empty,
        };
        let zones: Vec<zoned::Zone> = (0..count).map(zone).collect();
        Self::new(&zones, false, limit, claims)
    }

    fn zone(&self, number: u32) -> &Zone {
        &self.zones[number as usize]
    }

    /// To the next zone, or to the device's end.
    pub(crate) fn len_of(&self, number: u32) -> u64 {
        self.zone(number).len
    }

    /// The zone of an offset.
    #[inline]
    pub(crate) fn number_of(&self, offset: u64) -> u32 {
        (offset / self.zone_bytes).min(self.zones.len() as u64 - 1) as u32
    }

    /// Where a zone begins.
    #[inline]
    pub(crate) fn start_of(&self, number: u32) -> u64 {
        u64::from(number) * self.zone_bytes
    }

    /// What of a zone can be written.
    #[inline]
    pub(crate) fn capacity_of(&self, number: u32) -> u64 {
        self.zone(number).capacity
    }

    /// Whether a zone is written anywhere.
    #[inline]
    pub(crate) fn is_conventional(&self, number: u32) -> bool {
        self.zone(number).kind == ZoneKind::Conventional
    }

    fn is_partly_written(&self, number: u32) -> bool {
        let zone = self.zone(number);
        let word = zone.word.load(Ordering::Relaxed);
        let written = word & WRITTEN;
        zone.kind == ZoneKind::Sequential && word & DEAD == 0 && written > 0 && written < zone.capacity
    }

    /// Bytes written in zones with write pointers.
    #[inline]
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Whether it counts as open.
    #[inline]
    pub(crate) fn is_open(&self, number: u32) -> bool {
        self.zone(number).word.load(Ordering::Relaxed) & OPEN != 0
    }

    /// Locks a zone. What its word was; `None`: somebody else has it.
    #[inline]
    fn lock(&self, number: u32) -> Option<u64> {
        let word = self.zone(number).word.fetch_or(WRITING, Ordering::Acquire);
        (word & WRITING == 0).then_some(word)
    }

    /// Gives the lock back, and these bits up.
    #[inline]
    fn unlock(&self, number: u32, bits: u64) {
        self.zone(number)
            .word
            .fetch_and(!(WRITING | bits), Ordering::Release);
    }

    /// Opens a zone that is locked; `false`: there is no room for it.
    fn try_open(&self, number: u32) -> bool {
        let has_room = self.open.is_empty()
            || self.open.iter().any(|place| {
                place.load(Ordering::Relaxed) == 0
                    && place
                        .compare_exchange(0, number + 1, Ordering::Relaxed, Ordering::Relaxed)
                        .is_ok()
            });
        if has_room {
            self.zone(number).word.fetch_or(OPEN, Ordering::Relaxed);
        }
        has_room
    }

    /// A zone that is locked is open no more.
    fn close(&self, number: u32) {
        let before = self.zone(number).word.fetch_and(!OPEN, Ordering::Relaxed);
        if before & OPEN == 0 {
            return;
        }
        if let Some(place) = self
            .open
            .iter()
            .find(|place| place.load(Ordering::Relaxed) == number + 1)
        {
            place.store(0, Ordering::Relaxed);
        }
    }

    /// Moves the pointer of a zone that is locked. Readers may come and go meanwhile.
    fn set_written(&self, number: u32, written: u64) {
        let word = &self.zone(number).word;
        let before = word.load(Ordering::Relaxed) & WRITTEN;
        // The lock is this one's: nobody else changes these bits, and so neither borrows nor carries leave them.
        if written >= before {
            word.fetch_add(written - before, Ordering::Relaxed);
            self.written.fetch_add(written - before, Ordering::Relaxed);
        } else {
            word.fetch_sub(before - written, Ordering::Relaxed);
            self.written.fetch_sub(before - written, Ordering::Relaxed);
        }
    }

    /// Keeps readers out of a zone that is locked; `false`: there are some.
    fn keep_out_readers(&self, number: u32) -> bool {
        let out = self
            .zone(number)
            .word
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| {
                (word & READERS == 0).then_some(word | EMPTYING)
            });
        out.is_ok()
    }

    /// Somebody wants to write to a zone.
    pub(crate) fn begin_write(&self, number: u32, wish: Wish) -> Begin {
        let Some(word) = self.lock(number) else {
            return Begin::Busy;
        };
        if word & DEAD != 0 {
            self.unlock(number, 0);
            return Begin::Dead;
        }
        if word & STALE != 0 {
            return Begin::First(Action::Look);
        }
        let zone = self.zone(number);
        let (mut written, mut emptied) = (word & WRITTEN, false);
        let is_through = zone.capacity.saturating_sub(written) < wish.least;
        if is_through && !wish.empties_full {
            self.unlock(number, 0);
            return Begin::Through;
        }
        let was_open = word & OPEN != 0;
        if !was_open && !self.try_open(number) {
            self.unlock(number, 0);
            return Begin::NoRoom;
        }
        if is_through || wish.empties && written > 0 {
            if !self.keep_out_readers(number) {
                if !was_open {
                    self.close(number);
                }
                self.unlock(number, 0);
                return Begin::Busy;
            }
            if self.has_own {
                return Begin::First(Action::Reset);
            }
            self.set_written(number, 0);
            zone.word.fetch_and(!EMPTYING, Ordering::Relaxed);
            (written, emptied) = (0, true);
        }
        Begin::Write {
            offset: self.start_of(number) + written,
            len: cut(wish.len, zone.capacity - written, wish.least),
            emptied,
        }
    }

    /// The write that was begun has ended. `written`: so many bytes as it was to have; `None`: it failed, or some are missing.
    /// What has to be done next, with the zone still locked; `None`: nothing.
    pub(crate) fn end_write(&self, number: u32, written: Option<u64>, least: u64) -> Option<Action> {
        let zone = self.zone(number);
        let Some(bytes) = written else {
            if self.has_own {
                zone.word.fetch_or(STALE, Ordering::Relaxed);
            }
            self.unlock(number, 0);
            return None;
        };
        let now = (zone.word.load(Ordering::Relaxed) & WRITTEN).saturating_add(bytes);
        self.set_written(number, now.min(zone.capacity));
        if zone.capacity.saturating_sub(now) < least.max(1) {
            if self.has_own && now < zone.capacity {
                return Some(Action::Finish);
            }
            self.fill(number);
        }
        self.unlock(number, 0);
        None
    }

    /// A zone that is locked counts as full.
    fn fill(&self, number: u32) {
        self.set_written(number, self.zone(number).capacity);
        self.close(number);
    }

    /// What had to be done is done, and the zone is not locked any more. `look`: what it was found to be, where that was asked
    /// for. `false`: it failed, and the zone is asked about before it is written again.
    pub(crate) fn done(&self, number: u32, action: Action, well: bool, look: Option<&zoned::Zone>) {
        let word = &self.zone(number).word;
        match (action, look) {
            _ if !well => {
                word.fetch_or(STALE, Ordering::Relaxed);
            }
            (Action::Reset, _) => self.set_written(number, 0),
            (Action::Finish, _) => self.fill(number),
            (Action::Look, Some(found)) => {
                let written = found.written_bytes.min(self.zone(number).capacity);
                self.set_written(number, written);
                word.fetch_and(!STALE, Ordering::Relaxed);
                if matches!(found.condition, ZoneCondition::ReadOnly | ZoneCondition::Offline) {
                    word.fetch_or(DEAD, Ordering::Relaxed);
                    self.close(number);
                }
                if found.condition == ZoneCondition::Full {
                    self.close(number);
                }
            }
            (Action::Look, None) => {}
        }
        self.unlock(number, EMPTYING);
    }

    /// Somebody begins to read a zone: how much of it can be read, of a lost one nothing; [`ZoneTable::end_read`] has to follow.
    /// `None`: not now.
    pub(crate) fn begin_read(&self, number: u32) -> Option<u64> {
        let zone = self.zone(number);
        let took = zone
            .word
            .fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| {
                let may = word & EMPTYING == 0 && word & READERS != READERS;
                may.then_some(word + READER)
            });
        let word = took.ok()?;
        Some(match zone.kind {
            ZoneKind::Conventional => zone.capacity,
            ZoneKind::Sequential if word & DEAD != 0 => 0,
            ZoneKind::Sequential => word & WRITTEN,
        })
    }

    pub(crate) fn end_read(&self, number: u32) {
        self.zone(number).word.fetch_sub(READER, Ordering::Release);
    }

    /// The nearest zone from this one on, within `zones`, that has so many bytes to read: upwards first, then downwards.
    pub(crate) fn with_data(&self, from: u32, (first, end): (u32, u32), least: u64) -> Option<u32> {
        let has = |&number: &u32| {
            let zone = self.zone(number);
            let word = zone.word.load(Ordering::Relaxed);
            zone.kind == ZoneKind::Conventional || word & DEAD == 0 && word & WRITTEN >= least
        };
        (from..end).find(has).or_else(|| (first..from).rev().find(has))
    }

    /// An open zone within `zones`, looked for from the place `hint` on.
    pub(crate) fn any_open(&self, (first, end): (u32, u32), hint: u64) -> Option<u32> {
        let places = self.open.len();
        let from = (hint % places.max(1) as u64) as usize;
        (0..places).find_map(|at| {
            let number = self.open[(from + at) % places]
                .load(Ordering::Relaxed)
                .checked_sub(1)?;
            (first..end).contains(&number).then_some(number)
        })
    }

    /// Where all places are taken by zones that nobody writes any more: one of them, locked, to be made full, so that there is
    /// room again.
    pub(crate) fn left_open(&self) -> Option<u32> {
        let is_left = |number: u32| {
            let mine = |claim: &Claim| {
                claim.live.load(Ordering::Relaxed) && (claim.first..claim.end).contains(&number)
            };
            !self.claims.iter().any(mine)
        };
        self.open.iter().find_map(|place| {
            let number = place.load(Ordering::Relaxed).checked_sub(1)?;
            let word = is_left(number).then(|| self.lock(number)).flatten()?;
            if word & OPEN == 0 {
                // It was made full meanwhile.
                self.unlock(number, 0);
                return None;
            }
            Some(number)
        })
    }

    /// Makes a zone that is locked full, where the device need not be told; `false`: it has to be.
    pub(crate) fn finish_here(&self, number: u32) -> bool {
        if self.has_own {
            return false;
        }
        self.fill(number);
        self.unlock(number, 0);
        true
    }

    /// What a worker was at when it ended: of the zone only the device knows.
    pub(crate) fn let_go(&self, number: u32) {
        if self.has_own {
            self.zone(number).word.fetch_or(STALE, Ordering::Relaxed);
        }
        self.unlock(number, EMPTYING);
    }

    fn claim(&self, claim: usize, live: bool) {
        if let Some(claim) = self.claims.get(claim) {
            claim.live.store(live, Ordering::Relaxed);
        }
    }
}
