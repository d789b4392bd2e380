//! Reading back while the load goes on: after every so many writes, so many of them.
//!
//! Data in: a generator that trails behind the load's own. Data out: reads of what was written. What was written is found by
//! drawing it again, as at the end of a pass.

use super::{Stage, Step, Worker};
use crate::pattern::{Draw, Generator};
use fathom_core::backend::Op;
use fathom_core::units::MonoTime;

/// What it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Writes come.
    Writing,
    /// Those in flight have to be done first.
    Draining,
    /// So many are still to be read back.
    Reading(u32),
}

/// The writes of one worker that are still to be read back.
#[derive(Debug)]
pub(super) struct Backlog {
    behind: Generator,
    /// Of the pass that `behind` is in: I/Os still to be drawn, where their number is limited.
    ios_left: u64,
    number_ios: u64,
    /// Written, and not read back.
    pub(super) unread: u64,
    every: u64,
    batch: u32,
    turn: Turn,
}

impl Backlog {
    /// `every` so many writes, `batch` of them (0: all).
    pub(super) fn new(behind: Generator, number_ios: Option<u64>, every: u32, batch: u32) -> Box<Self> {
        let number_ios = number_ios.unwrap_or(u64::MAX);
        Box::new(Self {
            behind,
            ios_left: number_ios,
            number_ios,
            unread: 0,
            every: every.max(1).into(),
            batch: if batch == 0 { every } else { batch },
            turn: Turn::Writing,
        })
    }

    /// The next write that was not read back, as a read.
    pub(super) fn draw(&mut self) -> Option<Draw> {
        if self.unread == 0 {
            return None;
        }
        // A pass that has no write at all would be drawn for ever.
        let mut restarts = 0;
        while restarts < 2 {
            let drawn = if self.ios_left > 0 {
                self.behind.draw()
            } else {
                None
            };
            let Some(draw) = drawn else {
                self.behind.restart();
                self.ios_left = self.number_ios;
                restarts += 1;
                continue;
            };
            self.ios_left -= 1;
            if draw.op == Op::Write {
                self.unread -= 1;
                return Some(Draw { op: Op::Read, ..draw });
            }
        }
        None
    }

    /// The load begins another pass with `load`, and all before it was read back.
    pub(super) fn follow(&mut self, load: &Generator) {
        self.behind = load.clone();
        self.ios_left = self.number_ios;
        self.unread = 0;
        self.turn = Turn::Writing;
    }

    fn is_due(&self) -> bool {
        self.turn != Turn::Writing || self.unread >= self.every
    }
}

impl Worker {
    /// What reading back wants now; `None`: the load goes on.
    pub(super) fn step_of_backlog(&mut self, now: MonoTime) -> Option<Step> {
        let in_flight = self.in_flight;
        let backlog = self.backlog.as_mut()?;
        if self.stage != Stage::Load || !backlog.is_due() {
            return None;
        }
        match backlog.turn {
            Turn::Writing | Turn::Draining if in_flight > 0 => {
                backlog.turn = Turn::Draining;
                Some(Step::Full)
            }
            Turn::Writing | Turn::Draining => {
                backlog.turn = Turn::Reading(backlog.batch);
                self.checks = true;
                self.step_of_backlog(now)
            }
            Turn::Reading(left) => {
                let draw = if left > 0 { backlog.draw() } else { None };
                if let Some(draw) = draw {
                    backlog.turn = Turn::Reading(left - 1);
                    let step = self.issue(draw, now, now);
                    // It is none of the pattern's own.
                    self.ios_left = self.ios_left.saturating_add(1);
                    self.issued_in_pass -= 1;
                    return Some(step);
                }
                if in_flight > 0 {
                    backlog.turn = Turn::Reading(0);
                    return Some(Step::Full);
                }
                backlog.turn = Turn::Writing;
                self.checks = false;
                None
            }
        }
    }

    /// Whether what is read now is what was written, in the order in which it was sent.
    #[inline]
    pub fn reads_back(&self) -> bool {
        self.checks && (self.stage.reads_back() || self.backlog.is_some())
    }
}
