//! The order of offsets within one file: sequential, independent, or each block once.

use super::Span;
use super::distribution::Sampler;
use super::map::BlockMap;
use super::permutation::Permutation;
use super::sizes::Sizes;
use super::strided::Strided;
use super::walk::{Stride, Walk};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::workload::{Distribution, Job, PerOp, RandomMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How random offsets are found.
#[derive(Debug, Clone)]
pub enum Order {
    /// There are none.
    Sequential,
    /// There are none, and the sequence is shared by workers, or there is one for each slot.
    Walk(Walk),
    /// Zone after zone.
    Strided(Box<Strided>),
    /// Each drawn from a distribution, with no memory; per direction.
    Independent(Box<PerOp<Sampler>>),
    /// Each block once, in a permuted order: one block size for all directions.
    Permuted(Permutation),
    /// Each block once, found in a bitmap: mixed sizes, partly sequential access, or where the next free one is asked for.
    Mapped(BlockMap),
}

/// The state of one file's pattern.
#[derive(Debug, Clone)]
pub struct FilePattern {
    span: Span,
    sizes: PerOp<Sizes>,
    align: PerOp<u64>,
    /// Where a block may begin, per direction: a count of multiples of `align`.
    positions: PerOp<u64>,
    order: Order,
    random_percent: PerOp<u8>,
    run_length: u32,
    /// The I/Os of a run all have its offset.
    repeats_offset: bool,
    /// Where the last run began, per direction, from the start of the region.
    run_start: PerOp<u64>,
    /// No I/O goes on in sequence, and each direction has room.
    always_random: bool,
    run_left: PerOp<u32>,
    skip: i64,
    /// Where a sequence begins, in bytes from the start of the region.
    first: u64,
    /// What the run under way does; `None` before the first.
    run_op: Option<Op>,
    wraps: bool,
    next_offset: PerOp<u64>,
    done: bool,
}

/// Whether the blocks that a job visits, each once a pass, have to be noted: the keyed permutation knows one size only.
fn needs_map(job: &Job, smallest: u64) -> bool {
    let pattern = &job.pattern;
    let one_size = job.used_ops().all(|op| {
        job.block_size[op].min() == job.block_size[op].max() && job.block_size[op].min() == smallest
    });
    let always_random = job.used_ops().all(|op| pattern.random_percent[op] == 100) && pattern.run_length <= 1;
    let any_order = pattern.random_map == RandomMap::EachOnce;
    !(one_size && always_random && any_order)
}

/// Memory for the map of visited blocks of one file, in bytes: a bit a block, where there is a map.
pub(crate) fn map_bytes(job: &Job, span: Span) -> u64 {
    let smallest = job.min_block_bytes().max(1);
    let mapped = job.pattern.random && FilePattern::visits_each_block(job) && needs_map(job, smallest);
    if mapped { span.bytes / smallest / 8 } else { 0 }
}

impl FilePattern {
    /// The pattern of `job` over `span`; `repeats`: offsets wrap when the region is used up.
    pub fn new(job: &Job, span: Span, repeats: bool, seed: u64) -> Self {
        let pattern = &job.pattern;
        let smallest = job.min_block_bytes().max(1);
        let sizes = [0, 1, 2].map(|op| Sizes::new(&job.block_size[op]));
        let align = [0, 1, 2].map(|op| job.block_align_bytes(op));
        let positions = [0, 1, 2].map(
            |op| match span.bytes.checked_sub(job.block_size[op].min().max(1)) {
                Some(room) => room / align[op] + 1,
                None => 0,
            },
        );
        let order = if let Some(strides) = pattern.strides {
            let random = (pattern.random, Self::visits_each_block(job));
            Order::Strided(Box::new(Strided::new(
                strides, span.bytes, smallest, random, seed,
            )))
        } else if pattern.random {
            Self::random_order(job, span, smallest, positions, seed)
        } else if pattern.shared_sequence {
            Order::Walk(Walk::shared(job.limit.time_based || job.region.io_size.is_some()))
        } else if pattern.same_offset {
            Order::Walk(Walk::each_slot(job.depth.iodepth, pattern.first_offset_bytes))
        } else {
            Order::Sequential
        };
        let first = if pattern.random {
            0
        } else {
            pattern.first_offset_bytes
        };
        Self {
            span,
            sizes,
            align,
            positions,
            order,
            random_percent: pattern.random_percent,
            run_length: pattern.run_length.max(1),
            repeats_offset: pattern.repeats_offset && pattern.random,
            run_start: [0; 3],
            always_random: pattern.run_length <= 1
                && job
                    .used_ops()
                    .all(|op| pattern.random_percent[op] == 100 && positions[op] > 0),
            run_left: [0; 3],
            skip: if pattern.random && !pattern.keeps_direction {
                0
            } else {
                pattern.skip_bytes
            },
            first,
            run_op: None,
            wraps: repeats,
            next_offset: [first; 3],
            done: false,
        }
    }

    /// Whether random offsets of this job visit each block once a pass.
    pub fn visits_each_block(job: &Job) -> bool {
        let uniform = job
            .pattern
            .distribution
            .iter()
            .all(|d| *d == Distribution::Uniform);
        // As in fio, an alignment of its own leaves blocks out and so turns the map off.
        let realigned = job
            .used_ops()
            .any(|op| job.block_align[op] != 0 && job.block_align[op] != job.block_size[op].min());
        job.pattern.random_map != RandomMap::Independent && uniform && !realigned
    }

    fn random_order(job: &Job, span: Span, smallest: u64, positions: PerOp<u64>, seed: u64) -> Order {
        let pattern = &job.pattern;
        if !Self::visits_each_block(job) {
            let sampler = |op: usize| {
                let distribution = &pattern.distribution[op];
                Sampler::new(
                    distribution,
                    (positions[op], job.block_align_bytes(op)),
                    seed ^ op as u64,
                )
            };
            return Order::Independent(Box::new([sampler(0), sampler(1), sampler(2)]));
        }
        if needs_map(job, smallest) {
            Order::Mapped(BlockMap::new(span.bytes / smallest, smallest))
        } else {
            Order::Permuted(Permutation::new(span.bytes / smallest, seed))
        }
    }

    /// The next offset (from the start of the file) and length; `None` when this pass over the file is over.
    #[inline]
    pub fn next(&mut self, op: Op, rng: &mut Rng) -> Option<(u64, u32)> {
        let index = op.index();
        let len = self.sizes[index].draw(rng);
        match &mut self.order {
            Order::Sequential => self.sequential(index, len),
            Order::Walk(_) => self.walk(index, len),
            Order::Strided(strided) => {
                let (at, len) = strided.take(len, rng)?;
                Some((self.span.start + at, len))
            }
            Order::Independent(samplers) => {
                if self.random_percent[index] < 100 || self.run_length > 1 {
                    return self.independent_with_runs(index, len, rng);
                }
                if self.positions[index] == 0 {
                    return None;
                }
                let at = samplers[index].draw(rng) * self.align[index];
                let len = self.sizes[index].fit(len, self.span.bytes - at);
                Some((self.span.start + at, len))
            }
            Order::Permuted(permutation) => {
                let block = match permutation.next() {
                    Some(block) => block,
                    None if self.wraps => {
                        permutation.restart(rng.next_u64());
                        permutation.next()?
                    }
                    None => return None,
                };
                Some((self.span.start + block * u64::from(len), len))
            }
            Order::Mapped(_) => self.mapped(index, len, rng),
        }
    }

    /// As [`FilePattern::next`], for the orders that have nothing else to look after, with the direction as `op` draws it;
    /// `None`: this is none of them, or has come to an end, and nothing was drawn.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "as of `Generator::draw_here`, which calls it"
    )]
    pub(super) fn next_near(
        &mut self,
        rng: &mut Rng,
        op: impl FnOnce(&mut Rng) -> Op,
    ) -> Option<(Op, u64, u32)> {
        match &mut self.order {
            Order::Independent(samplers) if self.always_random => {
                let op = op(rng);
                let index = op.index();
                let len = self.sizes[index].draw(rng);
                let at = samplers[index].draw(rng) * self.align[index];
                let len = self.sizes[index].fit(len, self.span.bytes - at);
                Some((op, self.span.start + at, len))
            }
            Order::Permuted(permutation) if !permutation.is_done() => {
                let op = op(rng);
                let len = self.sizes[op.index()].draw(rng);
                let block = permutation.advance();
                Some((op, self.span.start + block * u64::from(len), len))
            }
            _ => None,
        }
    }

    /// Whether the next I/O of this direction goes on where the last one ended.
    fn goes_on(&mut self, op: usize, rng: &mut Rng) -> bool {
        if self.run_left[op] > 0 {
            self.run_left[op] -= 1;
            return true;
        }
        if self.random_percent[op] < 100 && !rng.percent(self.random_percent[op]) {
            return true;
        }
        self.run_left[op] = self.run_length - 1;
        false
    }

    /// As [`FilePattern::next`], but an I/O that goes on in sequence keeps the direction of the one before; `draw_op` draws
    /// that of each random one.
    pub(super) fn next_in_run(
        &mut self,
        rng: &mut Rng,
        draw_op: impl FnOnce(&mut Rng) -> Op,
    ) -> Option<(Op, u64, u32)> {
        let under_way = self
            .run_op
            .filter(|op| !rng.percent(self.random_percent[op.index()]));
        let op = under_way.unwrap_or_else(|| draw_op(rng));
        self.run_op = Some(op);
        let len = self.sizes[op.index()].draw(rng);
        let (offset, len) = self.independent(op.index(), len, under_way.is_some(), rng)?;
        Some((op, offset, len))
    }

    fn independent_with_runs(&mut self, op: usize, len: u32, rng: &mut Rng) -> Option<(u64, u32)> {
        let goes_on = self.goes_on(op, rng);
        self.independent(op, len, goes_on, rng)
    }

    fn independent(&mut self, op: usize, len: u32, goes_on: bool, rng: &mut Rng) -> Option<(u64, u32)> {
        if goes_on && self.repeats_offset {
            return Some(self.again(op, len));
        }
        if goes_on {
            let found = self.sequential_from(op, len, true);
            if found.is_some() {
                return found;
            }
        }
        let Order::Independent(samplers) = &mut self.order else {
            return None;
        };
        if self.positions[op] == 0 {
            return None;
        }
        let at = samplers[op].draw(rng) * self.align[op];
        let len = self.sizes[op].fit(len, self.span.bytes - at);
        self.next_offset[op] = (at + u64::from(len)).saturating_add_signed(self.skip);
        self.run_start[op] = at;
        Some((self.span.start + at, len))
    }

    /// The offset of the run once more.
    fn again(&self, op: usize, len: u32) -> (u64, u32) {
        let at = self.run_start[op];
        let len = self.sizes[op].fit(len, self.span.bytes - at);
        (self.span.start + at, len)
    }

    fn mapped(&mut self, op: usize, len: u32, rng: &mut Rng) -> Option<(u64, u32)> {
        let goes_on = self.goes_on(op, rng);
        if goes_on && self.repeats_offset {
            return Some(self.again(op, len));
        }
        let Order::Mapped(map) = &mut self.order else {
            return None;
        };
        let granule = map.granule_bytes();
        if map.is_full() {
            if !self.wraps {
                return None;
            }
            map.clear();
        }
        let start = if goes_on {
            self.next_offset[op] / granule % map.blocks()
        } else {
            let step = (self.align[op] / granule).max(1);
            rng.below(map.blocks().div_ceil(step)) * step
        };
        let wanted = u64::from(len).div_ceil(granule);
        let (block, blocks) = map.take(start, wanted)?;
        let at = block * granule;
        // Cut only where its neighbour was visited before.
        let len = if blocks == wanted {
            len
        } else {
            (blocks * granule) as u32
        };
        self.next_offset[op] = at + u64::from(len);
        self.run_start[op] = at;
        Some((self.span.start + at, len))
    }

    /// Takes the sequence's place from a pointer that others hold too.
    pub(super) fn share(&mut self, pointer: &Arc<AtomicU64>) {
        if let Order::Walk(walk) = &mut self.order {
            walk.share(pointer);
        }
    }

    /// The next I/O is that of `slot`.
    pub(super) fn turn_to(&mut self, slot: u32) {
        if let Order::Walk(walk) = &mut self.order {
            walk.turn_to(slot);
        }
    }

    fn walk(&mut self, op: usize, len: u32) -> Option<(u64, u32)> {
        let Order::Walk(walk) = &mut self.order else {
            return None;
        };
        if self.positions[op] == 0 {
            return None;
        }
        let stride = Stride {
            region: self.span.bytes,
            smallest: u64::from(self.sizes[op].smallest()),
            // One that goes back is refused before the run.
            bytes: u64::from(len).saturating_add_signed(self.skip).max(1),
            wraps: self.wraps,
        };
        let at = walk.take(stride)?;
        let len = self.sizes[op].fit(len, self.span.bytes - at);
        Some((self.span.start + at, len))
    }

    fn sequential(&mut self, op: usize, len: u32) -> Option<(u64, u32)> {
        self.sequential_from(op, len, self.wraps)
    }

    fn sequential_from(&mut self, op: usize, len: u32, wraps: bool) -> Option<(u64, u32)> {
        if self.positions[op] == 0 {
            return None;
        }
        let mut at = self.next_offset[op];
        let mut room = self.span.bytes.saturating_sub(at);
        if room < u64::from(self.sizes[op].smallest()) {
            // As fio: a pass with holes goes round once more where a hole reaches over the end, but not where an
            // I/O ended right there or where the next one would not fit.
            let last_end = at.saturating_sub_signed(self.skip);
            // A run within random I/O always goes on from the beginning.
            let goes_back = self.skip < 0 && self.run_op.is_none();
            let goes_round = goes_back || (last_end < self.span.bytes && at >= self.span.bytes);
            if !wraps && !goes_round {
                return None;
            }
            at = if goes_back {
                (self.positions[op] - 1) * self.align[op]
            } else {
                self.first % u64::from(len).saturating_add_signed(self.skip).max(1)
            };
            room = self.span.bytes - at;
        }
        let len = self.sizes[op].fit(len, room);
        let next = at as i64 + i64::from(len) + self.skip;
        // Before the start: beyond the end, so that the next one wraps.
        self.next_offset[op] = u64::try_from(next).unwrap_or(u64::MAX);
        Some((self.span.start + at, len))
    }

    /// Whether this file was used up.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Marks it used up; `true` the first time.
    pub fn finish(&mut self) -> bool {
        !std::mem::replace(&mut self.done, true)
    }

    /// Begins a new pass.
    pub fn restart(&mut self, seed: u64) {
        match &mut self.order {
            Order::Sequential => {}
            Order::Independent(samplers) => samplers.iter_mut().for_each(Sampler::restart),
            Order::Walk(walk) => walk.restart(self.span.bytes),
            Order::Strided(strided) => strided.restart(seed),
            Order::Permuted(permutation) => permutation.restart(seed),
            Order::Mapped(map) => map.clear(),
        }
        self.next_offset = [self.first; 3];
        self.run_op = None;
        self.run_left = [0; 3];
        self.done = false;
    }
}
