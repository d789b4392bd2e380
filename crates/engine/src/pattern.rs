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
mod strided;
mod walk;

pub use distribution::Sampler;
pub use map::BlockMap;
pub(crate) use order::map_bytes;
pub use order::{FilePattern, Order};
pub use permutation::Permutation;
pub use sizes::Sizes;
pub use strided::Strided;
pub use walk::Walk;

use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::{Distribution, FileChoice, Job, Mix};
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
    choice: Choice,
    /// So many I/Os go to a file before another may be chosen.
    stay: u32,
    stay_left: u32,
    /// Only so many files are used at a time, until each is through.
    used_at_once: usize,
    keeps_direction: bool,
    files: Vec<FilePattern>,
    current: usize,
    unfinished: usize,
    repeats: bool,
    amount: u64,
    /// That of a pass that writes.
    full_amount: u64,
    /// All files' parts together, in bytes.
    region: u64,
    issued: u64,
    /// The random numbers at the beginning of the first pass: what [`Generator::rewind`] goes back to.
    first: Rng,
    /// Each whole pass writes the same blocks.
    same_blocks: bool,
    to_write: Option<Draw>,
}

/// How a file is chosen.
#[derive(Debug, Clone)]
enum Choice {
    RoundRobin,
    Sequential,
    Random,
    /// Some more often than others; each begins again by itself.
    Skewed(Box<Sampler>),
}

impl Choice {
    fn new(choice: FileChoice, files: usize, seed: u64) -> Self {
        let distribution = match choice {
            FileChoice::RoundRobin => return Self::RoundRobin,
            FileChoice::Sequential => return Self::Sequential,
            FileChoice::Random => return Self::Random,
            FileChoice::Zipf { theta } => Distribution::Zipf { theta, center: None },
            FileChoice::Pareto { h } => Distribution::Pareto { h, center: None },
            FileChoice::Normal { deviation_percent } => Distribution::Normal {
                deviation_percent,
                center: None,
            },
        };
        Self::Skewed(Box::new(Sampler::new(&distribution, (files as u64, 1), seed)))
    }
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
        let skewed = matches!(
            job.files.choice,
            FileChoice::Zipf { .. } | FileChoice::Pareto { .. } | FileChoice::Normal { .. }
        );
        let wraps = repeats && spans.len() == 1 || skewed;
        let files: Vec<FilePattern> = spans
            .iter()
            .map(|&span| FilePattern::new(job, span, wraps, rng.next_u64()))
            .collect();
        Self {
            rng,
            mix: job.pattern.mix,
            choice: Choice::new(job.files.choice, spans.len(), seed),
            stay: job.files.stay_ios,
            stay_left: 0,
            used_at_once: match job.files.used_at_once {
                0 => usize::MAX,
                files => files as usize,
            },
            keeps_direction: keeps_direction(job),
            unfinished: files.len(),
            files,
            current: 0,
            repeats,
            amount,
            full_amount: amount,
            region: spans.iter().fold(0, |sum, span| sum.saturating_add(span.bytes)),
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
            let at = self.chosen();
            let found = if self.files[at].is_done() {
                None
            } else {
                turn.draw(&mut self.files[at], at as u32, &mut self.rng)
            };
            self.after_choice(at, found.is_some());
            if found.is_some() {
                return found;
            }
            if self.files[at].finish() {
                self.unfinished -= 1;
            }
        }
        None
    }

    /// The file of the next I/O.
    fn chosen(&mut self) -> usize {
        let files = self.files.len();
        if self.stay_left > 0 {
            return self.current % files;
        }
        match &mut self.choice {
            Choice::RoundRobin | Choice::Sequential => self.current % files,
            Choice::Random => self.rng.below(files as u64) as usize,
            Choice::Skewed(sampler) => sampler.draw(&mut self.rng) as usize % files,
        }
    }

    /// The file at `at` gave an I/O, or has none left.
    fn after_choice(&mut self, at: usize, found: bool) {
        let in_turn = matches!(self.choice, Choice::RoundRobin);
        if found && self.stay > 1 {
            self.stay_left = match self.stay_left {
                0 => self.stay - 1,
                left => left - 1,
            };
            self.current = at;
            if self.stay_left > 0 {
                return;
            }
        }
        if !found {
            self.stay_left = 0;
        }
        if in_turn || !found {
            self.current = self.next_used(at);
        }
    }

    /// The file behind `at` in turn: of those used at a time, if that is not all.
    fn next_used(&self, at: usize) -> usize {
        let files = self.files.len();
        if self.used_at_once >= files {
            return (at + 1) % files;
        }
        let used = || {
            (0..files)
                .filter(|&file| !self.files[file].is_done())
                .take(self.used_at_once)
        };
        let next = used().find(|&file| file > at).or_else(|| used().next());
        next.unwrap_or((at + 1) % files)
    }

    /// Begins the next pass over the same regions: sequential positions start over, random maps are empty
    /// again and come in another order.
    pub fn restart(&mut self) {
        self.restart_files();
        self.issued = 0;
        self.to_write = None;
    }

    /// Begins the next pass, and goes back to its beginning from here on ([`Generator::rewind`]).
    pub fn begin_pass(&mut self) {
        self.first = self.rng.clone();
        self.amount = self.full_amount;
        self.restart();
    }
    /// Goes back to the beginning of the first pass: the same draws come again, pass for pass. Allocates nothing.
    pub fn rewind(&mut self) {
        self.rng = self.first.clone();
        self.restart();
    }

    /// From here on a pass is one time round the region, whatever its amount.
    pub fn once_round(&mut self) {
        self.amount = self.amount.min(self.region);
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
        self.stay_left = 0;
    }
}

#[cfg(test)]
mod tests;
