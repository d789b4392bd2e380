//! The block layer: a cgroup's throttle above it, tags, a scheduler, and times in which the queue is frozen.

use super::Window;
use super::draws::{Of, draws};
use super::machine::{Event, MS, Machine, Owner, inside};
use crate::make;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};
use std::collections::VecDeque;

/// The throttle lets go in slices of this length.
const SLICE_NS: u64 = 100 * MS;
/// Bytes that one request carries at most.
pub(super) const REQUEST_BYTES: u32 = 512 << 10;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub owner: Owner,
    pub slot: u32,
    /// What its service time is drawn with.
    pub luck: u64,
    pub op: BlockOp,
    pub flags: u8,
    pub sector: u64,
    pub len: u32,
    pub pid: u32,
    pub comm: Comm,
    /// On whose behalf it was sent, where the kernel sent it for somebody.
    pub by: Option<(u32, Comm)>,
    pub queued_ns: u64,
    pub allocated_ns: u64,
    pub issued_ns: u64,
}

impl Request {
    pub(super) fn new(
        owner: Owner,
        (pid, comm): (u32, Comm),
        op: BlockOp,
        (sector, len): (u64, u32),
        luck: u64,
    ) -> Self {
        Self {
            owner,
            slot: 0,
            luck,
            op,
            flags: 0,
            sector,
            len,
            pid,
            comm,
            by: None,
            queued_ns: 0,
            allocated_ns: 0,
            issued_ns: 0,
        }
    }

    pub(super) fn record(&self, completed_ns: u64) -> BlockRequest {
        BlockRequest {
            allocated_ns: Some(self.allocated_ns),
            issued_ns: Some(self.issued_ns),
            sector: if self.op == BlockOp::Flush {
                u64::MAX
            } else {
                self.sector
            },
            len_bytes: self.len,
            op: self.op,
            flags: BlockFlags(self.flags),
            pid: self.pid,
            comm: self.comm,
            owner_pid: self.by.map_or(0, |(pid, _)| pid),
            owner_comm: self.by.map(|(_, comm)| comm).unwrap_or_default(),
            ..make::request(self.queued_ns, completed_ns)
        }
    }
}

/// A cgroup's limit on the load's IOPS.
#[derive(Debug, Clone, Default)]
pub(super) struct Throttle {
    /// When it is in force, and how many I/Os a second it lets through.
    pub windows: Vec<(Window, f64)>,
    used: f64,
    slices: u64,
    held: VecDeque<Request>,
}

impl Throttle {
    fn limit(&self, now: u64) -> Option<f64> {
        let (_, limit) = self
            .windows
            .iter()
            .find(|(window, _)| inside(&[*window], now).is_some())?;
        Some(*limit)
    }
}

#[derive(Debug, Clone)]
pub(super) struct BlockLayer {
    pub tags: usize,
    pub tags_used: usize,
    pub throttle: Throttle,
    /// Times in which nothing gets a tag, and in which nothing is issued.
    pub no_tags: Vec<Window>,
    pub no_issue: Vec<Window>,
    wait_tag: VecDeque<Request>,
    scheduled: VecDeque<Request>,
}

impl BlockLayer {
    pub(super) fn new(tags: usize) -> Self {
        Self {
            tags,
            tags_used: 0,
            throttle: Throttle::default(),
            no_tags: Vec::new(),
            no_issue: Vec::new(),
            wait_tag: VecDeque::new(),
            scheduled: VecDeque::new(),
        }
    }
}

impl Machine {
    /// The load sends a request: it may be held by its cgroup.
    pub(super) fn submit_throttled(&mut self, request: Request) {
        let now = self.now;
        let throttle = &mut self.block.throttle;
        if let Some(limit) = throttle.limit(now) {
            let budget = limit * SLICE_NS as f64 / 1e9;
            if !throttle.held.is_empty() || throttle.used + 1.0 > budget.max(1.0) {
                throttle.held.push_back(request);
                return;
            }
            throttle.used += 1.0;
        }
        self.submit(request);
    }

    pub(super) fn throttle_slice(&mut self) {
        let now = self.now;
        let budget = self
            .block
            .throttle
            .limit(now)
            .map(|limit| limit * SLICE_NS as f64 / 1e9);
        self.block.throttle.used = 0.0;
        while let Some(mut request) = self.block.throttle.held.pop_front() {
            // Sent from the context of a bound worker of the kernel.
            request.comm = Comm::from("kworker/1:1");
            request.pid = 77;
            self.submit(request);
            self.block.throttle.used += 1.0;
            if budget.is_some_and(|budget| self.block.throttle.used + 1.0 > budget.max(1.0)) {
                break;
            }
        }
        self.block.throttle.slices += 1;
        let jitter = draws(self.seed, Of::Throttle, self.block.throttle.slices).below(4 * MS);
        self.at(now + SLICE_NS + jitter, Event::Slice);
    }

    /// A request enters the block layer.
    pub(super) fn submit(&mut self, mut request: Request) {
        request.queued_ns = self.now;
        self.block.wait_tag.push_back(request);
        self.give_tags();
        self.run_queue();
    }

    pub(super) fn give_tags(&mut self) {
        if let Some(end) = inside(&self.block.no_tags, self.now) {
            self.at(end, Event::Unfreeze);
            return;
        }
        while self.block.tags_used < self.block.tags {
            let Some(mut request) = self.block.wait_tag.pop_front() else {
                return;
            };
            request.allocated_ns = self.now;
            self.block.tags_used += 1;
            self.block.scheduled.push_back(request);
        }
    }

    /// Issues what the device takes.
    pub(super) fn run_queue(&mut self) {
        self.give_tags();
        if let Some(end) = inside(&self.block.no_issue, self.now) {
            self.at(end, Event::Unfreeze);
            return;
        }
        while self.device.has_room() {
            let Some(mut request) = self.block.scheduled.pop_front() else {
                return;
            };
            request.issued_ns = self.now + 300;
            self.device.queue(request);
            self.device_start();
        }
    }
}
