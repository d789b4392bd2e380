//! One worker's way with zones: where an I/O that its pattern draws is done.
//!
//! Data in: draws, completions. Data out: the I/O as it is sent, or that it has to wait, or what has to be done to a zone before.
//! Of a random pattern an offset names a zone; where in the zone, the zone says. A sequence goes from zone to zone, and what it
//! draws only says how long each I/O is. It must not know time or the system's calls.

use super::{Action, Begin, Wish, ZoneTable, cut};
use crate::pattern::{Draw, Span};
use fathom_core::backend::{Op, Outcome, Request};
use fathom_core::rng::Rng;
use fathom_core::workload::{Job, ZoneRules};
use fathom_sys::zoned;
use std::sync::Arc;

/// Zones that are tried for one I/O before it waits.
const TRIES: u32 = 8;

/// What has to be done to a zone of a file before anything is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneCommand {
    /// The worker's file.
    pub file: u32,
    /// The zone's number.
    pub zone: u32,
    pub start_bytes: u64,
    pub len_bytes: u64,
    pub action: Action,
}

/// Where an I/O goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// There.
    Send(Draw),
    /// Somebody is at its zone.
    Busy,
    /// This first.
    First(ZoneCommand),
    /// Nowhere in its file: the sequence is at the end there.
    Skip,
    /// The sequences of all files are at their ends.
    PassOver,
    /// There is nothing that could be read, or no zone that could be written.
    Nothing,
}

/// What a slot's I/O has of its zone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Nothing,
    Read {
        file: u32,
        zone: u32,
    },
    Write {
        file: u32,
        zone: u32,
    },
}

/// Where a sequence is.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    zone: u32,
    /// Bytes from the zone's start: of reads, and in conventional zones.
    pos: u64,
    /// Nothing was done in the zone yet.
    enters: bool,
}

impl Cursor {
    /// At the beginning of a zone.
    fn before(zone: u32) -> Self {
        Self {
            zone,
            pos: 0,
            enters: true,
        }
    }
}

/// The zones of one file.
#[derive(Debug)]
struct ZonedFile {
    table: Arc<ZoneTable>,
    claim: usize,
    first: u32,
    end: u32,
    cursors: [Cursor; 2],
    /// So much written in all of them is enough to empty some.
    reset_above: u64,
}

/// A file that a worker reads or writes zone by zone.
#[derive(Debug)]
pub(crate) struct OfFile {
    pub table: Arc<ZoneTable>,
    /// The number of the worker's claim.
    pub claim: usize,
    pub span: Span,
}

/// The zones of one worker.
#[derive(Debug)]
pub struct WorkerZones {
    files: Box<[ZonedFile]>,
    random: bool,
    /// A sequence begins again behind the last zone.
    wraps: bool,
    /// Reads that find nothing become writes.
    mixed: bool,
    /// The shortest read and the shortest write.
    least: [u64; 2],
    reads_beyond: bool,
    /// Zones that this worker writes to; more than there is room for it must not.
    own: Vec<(u32, u32)>,
    own_limit: usize,
    /// Every so many writes one empties its zone; 0: none does.
    reset_every: u64,
    writes: u64,
    resets: u64,
    rng: Rng,
    next: Held,
    held: Box<[Held]>,
    /// What writes that have ended leave to be done.
    due: Vec<ZoneCommand>,
}

impl WorkerZones {
    /// Of a worker of `job` with so many slots. `wraps`: its sequences begin again behind the last zone.
    pub(crate) fn new(
        job: &Job,
        rules: &ZoneRules,
        files: Vec<OfFile>,
        slots: u32,
        wraps: bool,
        seed: u64,
    ) -> Self {
        let writes = job.pattern.mix.uses()[1];
        let file = |file: OfFile| {
            let first = file.table.number_of(file.span.start);
            let end = file.table.number_of(file.span.start + file.span.bytes.max(1) - 1) + 1;
            file.table.claim(file.claim, writes);
            ZonedFile {
                table: file.table,
                claim: file.claim,
                first,
                end,
                cursors: [Cursor::before(first); 2],
                reset_above: (file.span.bytes as f64 * rules.reset_above_share) as u64,
            }
        };
        let resets = rules.reset_above_share > 0.0 && rules.reset_share > 0.0;
        let own_limit = rules.max_open_per_worker as usize;
        Self {
            files: files.into_iter().map(file).collect(),
            random: job.pattern.random,
            wraps,
            mixed: job.pattern.mix.uses()[0] && writes,
            least: [0, 1].map(|op| job.block_size[op].min().max(1)),
            reads_beyond: rules.reads_beyond,
            own: Vec::with_capacity(own_limit),
            own_limit,
            reset_every: if resets {
                (1.0 / rules.reset_share) as u64
            } else {
                0
            },
            writes: 0,
            resets: 0,
            rng: Rng::new(seed),
            next: Held::Nothing,
            held: vec![Held::Nothing; slots as usize].into_boxed_slice(),
            due: Vec::with_capacity(slots as usize + 1),
        }
    }

    /// Where what was drawn goes.
    pub(crate) fn place(&mut self, draw: Draw) -> Place {
        match draw.op {
            Op::Read if self.reads_beyond => Place::Send(draw),
            Op::Read => match self.place_read(draw) {
                Place::Nothing if self.mixed => self.place_write(Draw {
                    op: Op::Write,
                    ..draw
                }),
                place => place,
            },
            Op::Write => self.place_write(draw),
            Op::Trim | Op::Sync | Op::DataSync => Place::Send(draw),
        }
    }

    fn place_read(&mut self, draw: Draw) -> Place {
        if self.random {
            self.random_read(draw)
        } else {
            self.next_read(draw)
        }
    }

    fn random_read(&mut self, draw: Draw) -> Place {
        let least = self.least[0];
        let file = &self.files[draw.file as usize];
        let table = &file.table;
        let mut zone = table.number_of(draw.offset);
        for _ in 0..TRIES {
            let start = table.start_of(zone);
            let within = draw.offset - table.start_of(table.number_of(draw.offset));
            let Some(valid) = table.begin_read(zone) else {
                return Place::Busy;
            };
            if valid >= least {
                let (within, len) = fit(within, u64::from(draw.len), valid, least);
                self.next = Held::Read {
                    file: draw.file,
                    zone,
                };
                return Place::Send(Draw {
                    offset: start + within,
                    len: len as u32,
                    ..draw
                });
            }
            table.end_read(zone);
            match table.with_data(zone, (file.first, file.end), least) {
                Some(other) => zone = other,
                None => return Place::Nothing,
            }
        }
        Place::Busy
    }

    fn next_read(&mut self, draw: Draw) -> Place {
        let least = self.least[0];
        let file = &mut self.files[draw.file as usize];
        let table = &file.table;
        let cursor = &mut file.cursors[0];
        let before = *cursor;
        // Once round, and the zone that it stands in once more.
        for _ in 0..=file.end - file.first + 1 {
            if cursor.zone >= file.end {
                if self.mixed && !self.wraps {
                    // Reads come behind writes: there may be more to read later.
                    *cursor = before;
                    return Place::Nothing;
                }
                if !self.wraps {
                    return self.at_end(0);
                }
                *cursor = Cursor::before(file.first);
            }
            let zone = cursor.zone;
            let Some(valid) = table.begin_read(zone) else {
                return Place::Busy;
            };
            let left = valid.saturating_sub(cursor.pos);
            if left >= least {
                let len = cut(u64::from(draw.len), left, least);
                let offset = table.start_of(zone) + cursor.pos;
                cursor.pos += len;
                self.next = Held::Read {
                    file: draw.file,
                    zone,
                };
                return Place::Send(Draw {
                    offset,
                    len: len as u32,
                    ..draw
                });
            }
            table.end_read(zone);
            *cursor = Cursor::before(zone + 1);
        }
        Place::Nothing
    }

    /// A sequence is at its end in one file.
    fn at_end(&self, op: usize) -> Place {
        if self.files.iter().all(|file| file.cursors[op].zone >= file.end) {
            Place::PassOver
        } else {
            Place::Skip
        }
    }

    fn place_write(&mut self, draw: Draw) -> Place {
        let number = draw.file as usize;
        let len = u64::from(draw.len);
        // Where its turn is; `false`: another zone has to do.
        let mut in_turn = true;
        let mut zone = self.files[number].table.number_of(draw.offset);
        if !self.random {
            match self.zone_in_turn(number) {
                Some(turn) => zone = turn,
                None => return self.at_end(1),
            }
        }
        if self.files[number].table.is_conventional(zone) {
            return self.conventional_write(draw, zone);
        }
        if let Some(own) = self.own_instead(draw.file, zone) {
            (zone, in_turn) = (own, false);
        }
        let empties = self.empties_next(number);
        let zones = self.files[number].end - self.files[number].first;
        let mut all_lost = true;
        for _ in 0..TRIES.max(zones) {
            let file = &mut self.files[number];
            let wish = Wish {
                len,
                least: self.least[1],
                empties_full: self.random || !in_turn || file.cursors[1].enters,
                empties,
            };
            let begin = file.table.begin_write(zone, wish);
            all_lost &= begin == Begin::Dead;
            match begin {
                Begin::Write { offset, len, emptied } => {
                    self.resets += u64::from(emptied);
                    if in_turn {
                        file.cursors[1].enters = false;
                    }
                    self.wrote_to(draw.file, zone, empties);
                    return Place::Send(Draw {
                        offset,
                        len: len as u32,
                        ..draw
                    });
                }
                Begin::Busy => return Place::Busy,
                Begin::First(action) => {
                    if action == Action::Reset {
                        self.writes = if empties { 0 } else { self.writes };
                    }
                    return Place::First(self.command(draw.file, zone, action));
                }
                Begin::Through | Begin::Dead if self.random => {
                    zone = if zone + 1 < file.end { zone + 1 } else { file.first };
                }
                Begin::Through | Begin::Dead => {
                    file.cursors[1] = Cursor::before(file.cursors[1].zone + 1);
                    match self.zone_in_turn(number) {
                        Some(turn) => (zone, in_turn) = (turn, true),
                        None => return self.at_end(1),
                    }
                    if self.files[number].table.is_conventional(zone) {
                        return self.conventional_write(draw, zone);
                    }
                }
                Begin::NoRoom => {
                    let hint = self.rng.next_u64();
                    if let Some(open) = file.table.any_open((file.first, file.end), hint) {
                        (zone, in_turn) = (open, false);
                    } else if let Some(left) = file.table.left_open() {
                        if !file.table.finish_here(left) {
                            return Place::First(self.command(draw.file, left, Action::Finish));
                        }
                    } else {
                        return Place::Busy;
                    }
                }
            }
        }
        if all_lost { Place::Nothing } else { Place::Busy }
    }

    /// The zone where the sequence of writes is; `None`: it is at its end.
    fn zone_in_turn(&mut self, number: usize) -> Option<u32> {
        let file = &mut self.files[number];
        if file.cursors[1].zone >= file.end {
            if !self.wraps {
                return None;
            }
            file.cursors[1] = Cursor::before(file.first);
        }
        Some(file.cursors[1].zone)
    }

    /// As on an ordinary disk, but within the zone.
    fn conventional_write(&mut self, draw: Draw, zone: u32) -> Place {
        let least = self.least[1];
        let file = &mut self.files[draw.file as usize];
        let (start, capacity) = (file.table.start_of(zone), file.table.capacity_of(zone));
        let (within, len) = if self.random {
            fit(draw.offset - start, u64::from(draw.len), capacity, least)
        } else {
            let cursor = &mut file.cursors[1];
            let within = cursor.pos;
            let len = cut(u64::from(draw.len), capacity - within, least);
            *cursor = if capacity - within - len < least {
                Cursor::before(zone + 1)
            } else {
                Cursor {
                    zone,
                    pos: within + len,
                    enters: false,
                }
            };
            (within, len)
        };
        Place::Send(Draw {
            offset: start + within,
            len: len as u32,
            ..draw
        })
    }

    /// One of this worker's own zones in place of `zone`, where it has as many as it may and this is none of them.
    fn own_instead(&mut self, file: u32, zone: u32) -> Option<u32> {
        if self.own_limit == 0 || self.own.contains(&(file, zone)) || self.own.len() < self.own_limit {
            return None;
        }
        let files = &self.files;
        self.own
            .retain(|&(file, zone)| files[file as usize].table.is_open(zone));
        if self.own.len() < self.own_limit {
            return None;
        }
        let of_file = |own: &&(u32, u32)| own.0 == file;
        let count = self.own.iter().filter(of_file).count() as u64;
        // Those of another file make no difference here: it has to wait for its own.
        let at = self.rng.below(count.max(1)) as usize;
        self.own.iter().filter(of_file).nth(at).map(|own| own.1)
    }

    fn empties_next(&self, number: usize) -> bool {
        let file = &self.files[number];
        self.reset_every > 0
            && self.writes + 1 >= self.reset_every
            && file.table.written_bytes() >= file.reset_above
    }

    /// A write to a zone is sent next.
    fn wrote_to(&mut self, file: u32, zone: u32, emptied: bool) {
        self.next = Held::Write { file, zone };
        self.writes = if emptied { 0 } else { self.writes + 1 };
        if self.own_limit > 0 && !self.own.contains(&(file, zone)) && self.own.len() < self.own_limit {
            self.own.push((file, zone));
        }
    }

    fn command(&self, file: u32, zone: u32, action: Action) -> ZoneCommand {
        let table = &self.files[file as usize].table;
        ZoneCommand {
            file,
            zone,
            start_bytes: table.start_of(zone),
            len_bytes: table.len_of(zone),
            action,
        }
    }

    /// What was placed goes out.
    pub(crate) fn sent(&mut self, request: &Request) {
        if let Some(place) = self.held.get_mut(request.slot as usize) {
            *place = std::mem::take(&mut self.next);
        }
    }

    /// The I/O in a slot has ended.
    pub(crate) fn completed(&mut self, slot: u32, len: u32, outcome: Outcome) {
        let Some(held) = self.held.get_mut(slot as usize) else {
            return;
        };
        match std::mem::take(held) {
            Held::Nothing => {}
            Held::Read { file, zone } => self.files[file as usize].table.end_read(zone),
            Held::Write { file, zone } => {
                let written = (outcome == Ok(len)).then_some(u64::from(len));
                let table = &self.files[file as usize].table;
                if let Some(action) = table.end_write(zone, written, self.least[1]) {
                    let command = self.command(file, zone, action);
                    self.due.push(command);
                }
            }
        }
    }

    /// What has to be done to a zone before anything else is sent.
    #[inline]
    pub(crate) fn take_due(&mut self) -> Option<ZoneCommand> {
        self.due.pop()
    }

    /// Zones that it emptied.
    pub(crate) fn resets(&self) -> u64 {
        self.resets
    }

    /// A command was carried out.
    pub(crate) fn done(&mut self, command: &ZoneCommand, well: bool, look: Option<&zoned::Zone>) {
        self.resets += u64::from(well && command.action == Action::Reset);
        let table = &self.files[command.file as usize].table;
        table.done(command.zone, command.action, well, look);
    }

    /// Another pass begins.
    pub(crate) fn restart(&mut self) {
        for file in &mut self.files {
            file.cursors = [Cursor::before(file.first); 2];
        }
    }
}

impl Drop for WorkerZones {
    /// A worker that ended in the middle lets the others go on.
    fn drop(&mut self) {
        for command in &self.due {
            self.files[command.file as usize].table.let_go(command.zone);
        }
        for held in std::iter::once(&self.next).chain(&self.held) {
            match *held {
                Held::Nothing => {}
                Held::Read { file, zone } => self.files[file as usize].table.end_read(zone),
                Held::Write { file, zone } => self.files[file as usize].table.let_go(zone),
            }
        }
        for file in &self.files {
            file.table.claim(file.claim, false);
        }
    }
}

/// `len` bytes from `within` on, moved and cut so that they are within `valid`.
fn fit(within: u64, len: u64, valid: u64, least: u64) -> (u64, u64) {
    let len = cut(len, valid, least);
    if within + len <= valid {
        return (within, len);
    }
    let places = (valid - len) / least + 1;
    (within / least % places * least, len)
}

#[cfg(test)]
mod tests;
