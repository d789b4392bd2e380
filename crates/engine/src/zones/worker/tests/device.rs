//! A zoned device that forgives nothing: it panics at the first write beside a write pointer, the second one under way in a zone,
//! a zone too many written in part, a read of what is not written, a zone emptied under a reader.

use crate::zones::{Action, ZoneCommand};
use fathom_core::backend::{Op, Request};
use fathom_core::rng::Rng;
use fathom_sys::zoned::{Zone, ZoneCondition, ZoneKind};

/// What the device knows of a zone.
#[derive(Debug, Clone, Copy)]
struct Model {
    zone: Zone,
    written: u64,
    finished: bool,
    /// The length of the write under way.
    writing: Option<u64>,
    readers: u32,
}

#[derive(Debug)]
pub(super) struct Device {
    zones: Vec<Model>,
    zone_bytes: u64,
    limit: usize,
    pub(super) reads_beyond: bool,
    pub(super) writes: u64,
    pub(super) resets: u64,
    pub(super) finishes: u64,
    pub(super) most_open: usize,
}

impl Device {
    /// `count` zones, the first ones conventional, some of the others written in part or full: no more in part than `limit`.
    pub(super) fn new(rng: &mut Rng, (zone_bytes, capacity): (u64, u64), count: u64, limit: usize) -> Self {
        let conventional = rng.below(3);
        let mut in_part = 0;
        let zones = (0..count).map(|number| {
            let is_conventional = number < conventional;
            let capacity = if is_conventional { zone_bytes } else { capacity };
            let written = match rng.below(4) {
                _ if is_conventional => 0,
                0 => capacity,
                1 if limit == 0 || in_part < limit => {
                    in_part += 1;
                    4096 * (1 + rng.below(capacity / 4096 - 1))
                }
                _ => 0,
            };
            let zone = Zone {
                start_bytes: number * zone_bytes,
                len_bytes: zone_bytes,
                capacity_bytes: capacity,
                written_bytes: written,
                kind: if is_conventional {
                    ZoneKind::Conventional
                } else {
                    ZoneKind::Sequential
                },
                condition: ZoneCondition::Closed,
            };
            Model {
                zone,
                written,
                finished: false,
                writing: None,
                readers: 0,
            }
        });
        Self {
            zones: zones.collect(),
            zone_bytes,
            limit,
            reads_beyond: false,
            writes: 0,
            resets: 0,
            finishes: 0,
            most_open: 0,
        }
    }

    /// What it reports.
    pub(super) fn report(&self) -> Vec<Zone> {
        (0..self.zones.len()).map(|at| self.look(at)).collect()
    }

    fn look(&self, at: usize) -> Zone {
        let model = &self.zones[at];
        let capacity = model.zone.capacity_bytes;
        let full = model.finished || model.written == capacity;
        let condition = match model.written {
            _ if model.zone.kind == ZoneKind::Conventional => ZoneCondition::Unwritten,
            _ if full => ZoneCondition::Full,
            0 => ZoneCondition::Empty,
            _ => ZoneCondition::Closed,
        };
        Zone {
            written_bytes: if full { capacity } else { model.written },
            condition,
            ..model.zone
        }
    }

    fn at(&mut self, request: &Request) -> (&mut Model, u64) {
        let number = request.offset / self.zone_bytes;
        let model = &mut self.zones[number as usize];
        let within = request.offset - model.zone.start_bytes;
        assert!(
            within + u64::from(request.len) <= model.zone.len_bytes,
            "across zones: {request:?}"
        );
        (model, within)
    }

    /// Takes an I/O.
    pub(super) fn submit(&mut self, request: &Request) {
        let (reads_beyond, limit) = (self.reads_beyond, self.limit);
        let len = u64::from(request.len);
        let (model, within) = self.at(request);
        if model.zone.kind == ZoneKind::Conventional {
            return;
        }
        match request.op {
            Op::Read => {
                let ready = if model.finished {
                    model.zone.capacity_bytes
                } else {
                    model.written
                };
                assert!(reads_beyond || within + len <= ready, "{request:?} of {model:?}");
                model.readers += 1;
            }
            Op::Write => {
                assert_eq!(model.writing, None, "two writes at a time: {request:?}");
                assert!(!model.finished, "a write to a full zone: {request:?}");
                assert_eq!(within, model.written, "beside the write pointer: {request:?}");
                assert!(within + len <= model.zone.capacity_bytes, "beyond: {request:?}");
                model.writing = Some(len);
                self.writes += 1;
            }
            op => panic!("{op:?} was not asked for"),
        }
        let in_part = |model: &&Model| {
            let capacity = model.zone.capacity_bytes;
            model.zone.kind == ZoneKind::Sequential
                && !model.finished
                && (model.writing.is_some() || model.written > 0 && model.written < capacity)
        };
        let open = self.zones.iter().filter(in_part).count();
        self.most_open = self.most_open.max(open);
        assert!(
            limit == 0 || open <= limit,
            "{open} zones are open, {limit} may be"
        );
    }

    /// An I/O has ended. `moved`: so much of a write is there.
    pub(super) fn complete(&mut self, request: &Request, moved: u64) {
        let (model, _) = self.at(request);
        if model.zone.kind == ZoneKind::Conventional {
            return;
        }
        if request.op == Op::Read {
            model.readers -= 1;
        } else {
            model.writing = None;
            model.written += moved;
        }
    }

    /// A call of its own.
    pub(super) fn command(&mut self, command: &ZoneCommand) -> Option<Zone> {
        let at = (command.start_bytes / self.zone_bytes) as usize;
        let (reads_beyond, model) = (self.reads_beyond, &mut self.zones[at]);
        assert_eq!(command.start_bytes, model.zone.start_bytes);
        assert_eq!(command.len_bytes, model.zone.len_bytes);
        assert_eq!(model.zone.kind, ZoneKind::Sequential);
        assert_eq!(model.writing, None, "{command:?} under a write");
        match command.action {
            Action::Reset => {
                assert!(reads_beyond || model.readers == 0, "emptied under a reader");
                (model.written, model.finished) = (0, false);
                self.resets += 1;
            }
            Action::Finish => {
                model.finished = true;
                self.finishes += 1;
            }
            Action::Look => return Some(self.look(at)),
        }
        None
    }
}
