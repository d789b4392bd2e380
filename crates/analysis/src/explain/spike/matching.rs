//! Which request of the device an I/O of the load became.
//!
//! Data in: I/Os and requests of the same time. Data out: an I/O with the parts of its time. Where the place of the file on
//! the device can be learned (the same difference between sector and offset again and again), the sector tells; elsewhere
//! time, size and kind do, and where several requests fit, that is said.

use super::super::Facts;
use super::super::block_scan::{is_bound_worker, is_kernel};
use super::scene::SlowIo;
use fathom_core::backend::Op;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, IoRecord};
use std::collections::HashMap;

/// How far stamps of different clocks readings may be apart: a request may seem to begin before its I/O.
const SLACK_NS: u64 = 200_000;
/// I/Os from which the file's place is learned, and requests that are tried for each.
const LEARN_IOS: usize = 512;
const LEARN_REQUESTS: usize = 256;
/// Pieces of a file that are told apart.
const PIECES_MAX: usize = 64;
/// Requests that are tried for one I/O.
const TRIED_MAX: usize = 1024;

/// Finds the requests of I/Os.
pub(super) struct Matcher<'s> {
    requests: &'s [BlockRequest],
    /// Sectors and numbers of requests, ascending.
    by_sector: Vec<(u64, u32)>,
    /// Differences between place on the device and offset in the file, in bytes, the most frequent first.
    places: Vec<i64>,
    own: Vec<bool>,
    taken: Vec<bool>,
    facts: Facts<'s>,
}

fn op_of(op: Op) -> BlockOp {
    match op {
        Op::Read => BlockOp::Read,
        Op::Write => BlockOp::Write,
        Op::Trim => BlockOp::Discard,
        Op::Sync | Op::DataSync => BlockOp::Flush,
    }
}

/// Whether a request may be a part of an I/O, by its kind and its time.
fn fits(request: &BlockRequest, io: &IoRecord) -> bool {
    request.op == op_of(io.op)
        && !request.flags.has(BlockFlags::UNFINISHED)
        && request.begun_ns().saturating_add(SLACK_NS) >= io.created_ns
        && request.completed_ns <= io.completed_ns.saturating_add(SLACK_NS)
}

impl<'s> Matcher<'s> {
    pub(super) fn new(facts: &Facts<'s>, ios: &[IoRecord], requests: &'s [BlockRequest]) -> Self {
        let numbered = requests.iter().enumerate();
        let mut by_sector: Vec<(u64, u32)> = numbered
            .filter(|(_, request)| request.op != BlockOp::Flush)
            .map(|(index, request)| (request.sector, index as u32))
            .collect();
        by_sector.sort_unstable();
        let own = requests
            .iter()
            .map(|request| facts.owns(request.pid, &request.comm));
        let mut matcher = Self {
            requests,
            by_sector,
            places: Vec::new(),
            own: own.collect(),
            taken: vec![false; requests.len()],
            facts: *facts,
        };
        matcher.learn(ios);
        matcher
    }

    /// Requests that ended while an I/O was under way, from the last on.
    fn ending_within(&self, io: &IoRecord) -> impl Iterator<Item = usize> + use<'_, 's> {
        let from = io.created_ns;
        let to = io.completed_ns.saturating_add(SLACK_NS);
        let begin = self
            .requests
            .partition_point(|request| request.completed_ns < from);
        let end = self
            .requests
            .partition_point(|request| request.completed_ns <= to);
        (begin..end.max(begin)).rev()
    }

    fn learn(&mut self, ios: &[IoRecord]) {
        let mut counts: HashMap<i64, u32> = HashMap::new();
        let step = ios.len().div_ceil(LEARN_IOS).max(1);
        let mut learned = 0u32;
        for io in ios.iter().step_by(step).filter(|io| io.len_bytes > 0) {
            learned += 1;
            for index in self.ending_within(io).take(LEARN_REQUESTS) {
                let request = &self.requests[index];
                if request.len_bytes == io.len_bytes && fits(request, io) {
                    let place = (request.sector as i64)
                        .wrapping_mul(512)
                        .wrapping_sub(io.offset_bytes as i64);
                    *counts.entry(place).or_default() += 1;
                }
            }
        }
        // A random other request gives a difference once; a piece of the file again and again.
        let enough = 3.max(learned / 50);
        let mut places: Vec<(i64, u32)> = counts.into_iter().filter(|(_, n)| *n >= enough).collect();
        places.sort_unstable_by_key(|&(place, n)| (std::cmp::Reverse(n), place));
        places.truncate(PIECES_MAX);
        self.places = places.into_iter().map(|(place, _)| place).collect();
    }

    /// An I/O with the parts of its time.
    pub(super) fn split(&mut self, io: &IoRecord) -> SlowIo {
        let due_ns = io.intended_ns.min(io.created_ns);
        let mut slow = SlowIo {
            due_ns,
            created_ns: io.created_ns,
            completed_ns: io.completed_ns,
            offset_bytes: io.offset_bytes,
            len_bytes: io.len_bytes,
            op: op_of(io.op),
            worker: Some((io.job, io.worker)),
            parts: [io.created_ns - due_ns, io.lat_ns(), 0, 0, 0, 0],
            at_device: None,
            device: None,
            ambiguous: false,
            part: 0,
            weight: 1.0,
            tid: None,
            let_go: false,
        };
        if let Some((index, ambiguous)) = self.by_place(io).or_else(|| self.by_time(io)) {
            self.taken[index] = true;
            slow.assign(&self.requests[index]);
            slow.ambiguous = ambiguous;
        }
        slow
    }

    /// By where it lies. Of an I/O that was split, the part that ended last is the one that it waited for.
    fn by_place(&self, io: &IoRecord) -> Option<(usize, bool)> {
        self.places.iter().find_map(|place| {
            let byte = u64::try_from((io.offset_bytes as i64).wrapping_add(*place)).ok()?;
            let mut sector = byte / 512;
            let mut left = io.len_bytes;
            let mut last: Option<usize> = None;
            while left > 0 {
                let Some(index) = self.at(sector, left, io) else {
                    break;
                };
                let request = &self.requests[index];
                if last.is_none_or(|last| self.requests[last].completed_ns < request.completed_ns) {
                    last = Some(index);
                }
                sector += u64::from(request.len_bytes / 512);
                left -= request.len_bytes;
            }
            last.map(|index| (index, false))
        })
    }

    /// The request that begins at a sector, is no longer than that, and fits an I/O.
    fn at(&self, sector: u64, left: u32, io: &IoRecord) -> Option<usize> {
        let first = self.by_sector.partition_point(|(other, _)| *other < sector);
        let there = self.by_sector[first..]
            .iter()
            .take_while(|(other, _)| *other == sector);
        let each = there.map(|&(_, index)| index as usize);
        each.filter(|&index| {
            let request = &self.requests[index];
            !self.taken[index] && (512..=left).contains(&request.len_bytes) && fits(request, io)
        })
        .max_by_key(|&index| self.requests[index].completed_ns)
    }

    /// By time, size and kind: the load's own requests first, then those that a kernel thread may have sent for it.
    fn by_time(&self, io: &IoRecord) -> Option<(usize, bool)> {
        let mut found: [Option<(usize, u32)>; 4] = [None; 4];
        for index in self.ending_within(io).take(TRIED_MAX) {
            let request = &self.requests[index];
            if self.taken[index] || !fits(request, io) {
                continue;
            }
            let own = self.own[index] || self.facts.modelled();
            if !own && !is_kernel(&request.comm) {
                continue;
            }
            let same_size = request.len_bytes == io.len_bytes;
            if !same_size && (request.len_bytes > io.len_bytes || request.op == BlockOp::Flush) {
                continue;
            }
            let class = usize::from(!own) * 2 + usize::from(!same_size);
            // They come from the last on, and the last one that fits is what an I/O waited for.
            let place = &mut found[class];
            *place = Some(place.map_or((index, 1), |(first, n)| (first, n + 1)));
        }
        let (index, n) = found.into_iter().flatten().next()?;
        Some((index, n > 1))
    }
}

impl SlowIo {
    /// Takes the parts of its time from its request.
    pub(super) fn assign(&mut self, request: &BlockRequest) {
        let queued = request.begun_ns().clamp(self.created_ns, self.completed_ns);
        let done = request.completed_ns.clamp(queued, self.completed_ns);
        // A step that the device does not have takes no time.
        let allocated = request.allocated_ns.unwrap_or(queued).clamp(queued, done);
        let issued = request.issued_ns.unwrap_or(allocated).clamp(allocated, done);
        self.parts = [
            self.created_ns - self.due_ns,
            queued - self.created_ns,
            allocated - queued,
            issued - allocated,
            done - issued,
            self.completed_ns - done,
        ];
        self.at_device = Some((issued, done));
        self.device = Some(request.device);
        self.let_go = is_bound_worker(&request.comm);
    }
}

#[cfg(test)]
mod tests;
