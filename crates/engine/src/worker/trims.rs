//! Trims of what was written, while the load goes on (`trim_percentage`): after every so many writes, a share of them.
//!
//! Data in: a generator that trails behind the load's own. Data out: trims of what was written, and later which blocks were
//! trimmed. Both come from drawing the same again: nothing is kept of a block.

use super::{Stage, Step, Worker};
use crate::pattern::{Draw, Generator};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::workload::Verify;

/// What it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Writes come.
    Writing,
    /// Those in flight have to be done first.
    Draining,
    /// So many may still be trimmed.
    Trimming(u32),
}

/// The trims of one worker.
#[derive(Debug)]
pub(super) struct Trims {
    behind: Generator,
    percent: u8,
    every: u32,
    batch: u32,
    /// Which writes are trimmed: drawn as they are passed, and again as they are read back.
    chance: Rng,
    again: Rng,
    /// Writes since the last turn; of this pass: sent, passed by what trails, read back.
    since: u32,
    sent: u64,
    passed: u64,
    read: u64,
    turn: Turn,
    /// Whether what is sent next, and what is read into each slot, was trimmed.
    next: bool,
    slots: Box<[bool]>,
}

impl Trims {
    /// `None`: nothing is trimmed. Where blocks are read back as the load goes on none is, as with fio.
    pub(super) fn new(verify: Option<&Verify>, load: &Generator, depth: u32, seed: u64) -> Option<Box<Self>> {
        let verify = verify.filter(|verify| verify.trims())?;
        let chance = Rng::new(seed);
        Some(Box::new(Self {
            behind: load.clone(),
            percent: verify.trim_percent,
            every: verify.trim_every_ios,
            batch: match verify.trim_batch_ios {
                0 => verify.trim_every_ios,
                batch => batch,
            },
            again: chance.clone(),
            chance,
            since: 0,
            sent: 0,
            passed: 0,
            read: 0,
            turn: Turn::Writing,
            next: false,
            slots: vec![false; depth.max(1) as usize].into_boxed_slice(),
        }))
    }

    /// Another pass begins with `load`.
    pub(super) fn follow(&mut self, load: &Generator) {
        self.behind = load.clone();
        // What was not passed was not trimmed, and is not drawn again.
        self.again = self.chance.clone();
        (self.since, self.sent, self.passed, self.read) = (0, 0, 0, 0);
        self.turn = Turn::Writing;
    }

    /// A write was sent.
    pub(super) fn wrote(&mut self) {
        self.sent += 1;
        self.since += 1;
    }

    /// The next write that is to be trimmed; `None`: there is none yet.
    fn draw(&mut self) -> Option<Draw> {
        while self.passed < self.sent {
            let draw = self.behind.draw()?;
            if draw.op != Op::Write {
                continue;
            }
            self.passed += 1;
            if self.chance.percent(self.percent) {
                return Some(Draw { op: Op::Trim, ..draw });
            }
        }
        None
    }

    /// A write was drawn to be read back.
    pub(super) fn reads(&mut self) {
        let chosen = self.read < self.passed && self.again.percent(self.percent);
        self.read += 1;
        self.next = chosen;
    }

    /// What was drawn goes into `slot`.
    pub(super) fn sent_in(&mut self, slot: u32) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = std::mem::take(&mut self.next);
        }
    }
}

impl Worker {
    /// What trimming wants now; `None`: the load goes on.
    pub(super) fn step_of_trims(&mut self, now: MonoTime) -> Option<Step> {
        let in_flight = self.in_flight;
        let trims = self.trims.as_mut()?;
        if self.stage != Stage::Load || trims.turn == Turn::Writing && trims.since < trims.every {
            return None;
        }
        match trims.turn {
            Turn::Writing | Turn::Draining if in_flight > 0 => {
                trims.turn = Turn::Draining;
                Some(Step::Full)
            }
            Turn::Writing | Turn::Draining => {
                trims.turn = Turn::Trimming(trims.batch);
                self.step_of_trims(now)
            }
            Turn::Trimming(left) => {
                let draw = if left > 0 { trims.draw() } else { None };
                let Some(draw) = draw else {
                    // What comes next may be a write of the same place.
                    if in_flight > 0 {
                        trims.turn = Turn::Trimming(0);
                        return Some(Step::Full);
                    }
                    (trims.turn, trims.since) = (Turn::Writing, 0);
                    return None;
                };
                trims.turn = Turn::Trimming(left - 1);
                let step = self.issue(draw, now, now);
                // It is none of the pattern's own.
                self.ios_left = self.ios_left.saturating_add(1);
                self.issued_in_pass -= 1;
                Some(step)
            }
        }
    }

    /// Whether what is read into `slot` was trimmed.
    #[inline]
    pub fn reads_trimmed(&self, slot: u32) -> bool {
        self.trims
            .as_ref()
            .is_some_and(|trims| trims.slots[slot as usize])
    }

    /// Whether blocks are trimmed while the load goes on.
    pub fn trims_behind(&self) -> bool {
        self.trims.is_some()
    }
}

#[cfg(test)]
mod tests;
