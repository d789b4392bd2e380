//! The access pattern: which file, offset and length comes next.
//!
//! Data in: the regions of a worker's files and the job's pattern, frozen before the loop. Data out: one
//! [`Draw`] after another, from seeded random numbers alone: a clone replays the same sequence, which is how
//! verification finds what was written. It must not know time, depth or backend.

mod distribution;
mod map;
mod order;
mod permutation;
mod sizes;
mod walk;

pub use distribution::Sampler;
pub use map::BlockMap;
pub(crate) use order::map_bytes;
pub use order::{FilePattern, Order};
pub use permutation::Permutation;
pub use sizes::Sizes;
pub use walk::Walk;

use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::{FileChoice, Job, Mix};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Where one file's region lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// The next I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Read, write or trim.
    pub op: Op,
    /// Index of the file.
    pub file: u32,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
}

/// Draws the I/Os of one worker.
#[derive(Debug, Clone)]
pub struct Generator {
    rng: Rng,
    mix: Mix,
    choice: FileChoice,
    keeps_direction: bool,
    files: Vec<FilePattern>,
    current: usize,
    unfinished: usize,
    repeats: bool,
    amount: u64,
    issued: u64,
    /// The random numbers at the beginning of the first pass: what [`Generator::rewind`] goes back to.
    first: Rng,
    /// Each whole pass writes the same blocks.
    same_blocks: bool,
    to_write: Option<Draw>,
}

/// How the direction of an I/O is found.
#[derive(Debug, Clone, Copy)]
enum Turn {
    /// It is this one.
    Given(Op),
    /// That of the run under way in its file; where one begins, reads have this share.
    InRun(u8),
}

impl Turn {
    #[inline]
    fn draw(self, file: &mut FilePattern, number: u32, rng: &mut Rng) -> Option<Draw> {
        let (op, offset, len) = match self {
            Self::Given(op) => {
                let (offset, len) = file.next(op, rng)?;
                (op, offset, len)
            }
            Self::InRun(read_percent) => file.next_in_run(rng, |rng| {
                if rng.percent(read_percent) {
                    Op::Read
                } else {
                    Op::Write
                }
            })?,
        };
        Some(Draw {
            op,
            file: number,
            offset,
            len,
        })
    }
}

/// Whether runs in sequence have one direction each: only where offsets have no memory, and some go on.
fn keeps_direction(job: &Job) -> bool {
    let pattern = &job.pattern;
    pattern.keeps_direction && pattern.random && !FilePattern::visits_each_block(job)
}

impl Generator {
    /// A generator for one worker of `job` over `spans`. `amount` is how many bytes one pass moves;
    /// `repeats` whether offsets wrap around when a region is used up (`io_size`, `time_based`).
    pub fn new(job: &Job, spans: &[Span], amount: u64, repeats: bool, seed: u64) -> Self {
        let first = Rng::new(seed);
        let mut rng = first.clone();
        // Of several files none wraps alone: all are used up before any begins again.
        let wraps = repeats && spans.len() == 1;
        let files: Vec<FilePattern> = spans
            .iter()
            .map(|&span| FilePattern::new(job, span, wraps, rng.next_u64()))
            .collect();
        Self {
            rng,
            mix: job.pattern.mix,
            choice: job.files.choice,
            keeps_direction: keeps_direction(job),
            unfinished: files.len(),
            files,
            current: 0,
            repeats,
            amount,
            issued: 0,
            first,
            same_blocks: crate::verify::writes_same_blocks(job, spans, amount),
            to_write: None,
        }
    }

    /// Takes the sequence of each file from a pointer that others hold too, where the job's workers share theirs.
    pub fn share(&mut self, pointers: &[Arc<AtomicU64>]) {
        for (file, pointer) in self.files.iter_mut().zip(pointers) {
            file.share(pointer);
        }
    }

    /// What is drawn next is for this slot: to be said where each slot has a sequence of its own.
    pub fn turn_to(&mut self, slot: u32) {
        for file in &mut self.files {
            file.turn_to(slot);
        }
    }

    /// The next I/O; `None` when the pass is over.
    #[inline]
    pub fn draw(&mut self) -> Option<Draw> {
        let op = match self.mix {
            // A record has its own: this stands for it where there is none.
            Mix::Read | Mix::Recorded { .. } => Op::Read,
            Mix::Write => Op::Write,
            Mix::Trim => Op::Trim,
            Mix::ReadWrite { read_percent } if self.keeps_direction => {
                return self.draw_turn(Turn::InRun(read_percent));
            }
            Mix::ReadWrite { read_percent } => {
                if self.rng.percent(read_percent) {
                    Op::Read
                } else {
                    Op::Write
                }
            }
            Mix::TrimWrite => return self.draw_trim_write(),
        };
        self.draw_op(op)
    }

    /// As [`Generator::draw`], where the next I/O takes a few steps; `None`: it does not, and nothing was drawn. All of it is
    /// where it is called, so that the I/O stays in registers: given back through memory, it would be read before its
    /// parts are there, which takes as long as drawing it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "measured: a tenth of an I/O in virtual time")]
    pub(crate) fn draw_here(&mut self) -> Option<Draw> {
        let [file] = self.files.as_mut_slice() else {
            return None;
        };
        let mix = self.mix;
        if self.issued >= self.amount || matches!(mix, Mix::Trim | Mix::TrimWrite) {
            return None;
        }
        let (op, offset, len) = file.next_near(&mut self.rng, |rng| match mix {
            Mix::ReadWrite { read_percent } if rng.percent(read_percent) => Op::Read,
            Mix::Read => Op::Read,
            _ => Op::Write,
        })?;
        self.issued += u64::from(len);
        Some(Draw {
            op,
            file: 0,
            offset,
            len,
        })
    }

    /// As [`Generator::draw`], in a given direction.
    #[inline]
    pub fn draw_op(&mut self, op: Op) -> Option<Draw> {
        self.draw_turn(Turn::Given(op))
    }

    #[inline]
    fn draw_turn(&mut self, turn: Turn) -> Option<Draw> {
        if self.issued >= self.amount {
            return None;
        }
        let draw = if self.files.len() == 1 {
            turn.draw(&mut self.files[0], 0, &mut self.rng)?
        } else {
            self.draw_from_many(turn)?
        };
        self.issued += u64::from(draw.len);
        Some(draw)
    }

    /// Each block is trimmed first, written next; the amount counts each block once.
    fn draw_trim_write(&mut self) -> Option<Draw> {
        if let Some(draw) = self.to_write.take() {
            return Some(draw);
        }
        let trim = self.draw_op(Op::Trim)?;
        self.to_write = Some(Draw {
            op: Op::Write,
            ..trim
        });
        Some(trim)
    }

    /// One of several files: when all are used up, the pass is over or all begin again.
    fn draw_from_many(&mut self, turn: Turn) -> Option<Draw> {
        let draw = self.draw_from_unfinished(turn);
        if draw.is_some() || !self.repeats {
            return draw;
        }
        self.restart_files();
        self.draw_from_unfinished(turn)
    }

    /// One of several files: those that are used up drop out.
    fn draw_from_unfinished(&mut self, turn: Turn) -> Option<Draw> {
        while self.unfinished > 0 {
            let at = match self.choice {
                FileChoice::RoundRobin | FileChoice::Sequential => self.current % self.files.len(),
                FileChoice::Random => self.rng.below(self.files.len() as u64) as usize,
            };
            let found = if self.files[at].is_done() {
                None
            } else {
                turn.draw(&mut self.files[at], at as u32, &mut self.rng)
            };
            if self.choice == FileChoice::RoundRobin || found.is_none() {
                self.current = (at + 1) % self.files.len();
            }
            if found.is_some() {
                return found;
            }
            if self.files[at].finish() {
                self.unfinished -= 1;
            }
        }
        None
    }

    /// Begins the next pass over the same regions: sequential positions start over, random maps are empty
    /// again and come in another order.
    pub fn restart(&mut self) {
        self.restart_files();
        self.issued = 0;
        self.to_write = None;
    }

    /// Goes back to the beginning of the first pass: the same draws come again, pass for pass. Allocates nothing.
    pub fn rewind(&mut self) {
        self.rng = self.first.clone();
        self.restart();
    }

    /// Whether each whole pass writes the same blocks, in whatever order: one pass then stands for all.
    pub fn writes_same_blocks(&self) -> bool {
        self.same_blocks
    }

    fn restart_files(&mut self) {
        let Self { files, rng, .. } = self;
        for file in files {
            file.restart(rng.next_u64());
        }
        self.unfinished = self.files.len();
        self.current = 0;
    }
}

#[cfg(test)]
mod tests;
