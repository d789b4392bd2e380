//! The first pass over the devices' requests.
//!
//! Data in: batches of rows, roughly in the order of their ends. Data out: sums and events of each device, and who used
//! it how much.

use super::Facts;
use super::facts::is_worker_of;
use super::timeline::Timeline;
use super::victims::{Kind, Victims};
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm};

/// Devices that are told apart; rows of others are refused.
const DEVICES_MAX: usize = 64;
/// Names of tasks that are told apart on a device; others are counted together.
const USERS_MAX: usize = 1024;

/// Takes rows in.
#[derive(Debug)]
pub struct BlockScan {
    devices: Vec<DeviceScan>,
    /// The device and the user of the last row: those of the next one too, almost always.
    current: usize,
    owner: Owner,
    started_ns: u64,
    refused: u64,
}

/// What was found of the devices' requests.
#[derive(Debug)]
pub struct BlockScanned {
    pub(super) devices: Vec<DeviceScan>,
    refused: u64,
}

impl BlockScanned {
    /// Whether it saw no request.
    pub(super) fn is_empty(&self) -> bool {
        self.devices.iter().all(|device| device.requests.is_empty())
    }
}

/// Whose a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The load's.
    Own,
    /// A kernel thread's, for somebody else.
    Kernel,
    /// Another program's.
    Other,
}

/// Tells whose a request is.
#[derive(Debug, Clone)]
struct Owner {
    pid: Option<u32>,
    /// The names of the load's jobs.
    jobs: Vec<String>,
    is_own: fn(&Comm) -> bool,
    /// On a modelled machine there is nobody else.
    modelled: bool,
    started_ns: u64,
}

/// Whether a task is one of the kernel's threads that carry out I/O for others.
pub(super) fn is_kernel(comm: &Comm) -> bool {
    comm.is_kernel_worker()
}

/// A bound worker of the kernel, as a cgroup's throttle uses it to send what it let go: `kworker/1:0`, not `kworker/u8:0`.
pub(super) fn is_bound_worker(comm: &Comm) -> bool {
    let number = comm
        .as_bytes()
        .strip_prefix(b"kworker/")
        .and_then(|rest| rest.first());
    number.is_some_and(u8::is_ascii_digit)
}

impl Owner {
    fn whose(&self, pid: u32, comm: &Comm) -> Whose {
        let is_worker = self.jobs.iter().any(|job| is_worker_of(job, comm));
        if is_worker || (self.is_own)(comm) || self.pid == Some(pid) || comm.as_bytes().starts_with(b"iou-") {
            Whose::Own
        } else if is_kernel(comm) {
            Whose::Kernel
        } else if self.modelled {
            Whose::Own
        } else {
            Whose::Other
        }
    }
}

#[derive(Debug)]
pub(super) struct DeviceScan {
    /// `major << 20 | minor`.
    pub device: u32,
    /// Reads, writes, discards, others. A flush moves nothing and waits for all else, so it is not counted.
    pub requests: Timeline,
    pub users: Vec<User>,
    last_user: usize,
}

/// What one task, by name, did on a device.
#[derive(Debug)]
pub(super) struct User {
    pub comm: Comm,
    pub whose: Whose,
    pub ios: u64,
    pub bytes: u64,
    /// Its requests by kind; empty where there is a load, whose I/Os are looked at instead.
    pub victims: Victims,
}

impl DeviceScan {
    #[inline]
    fn user(&mut self, row: &BlockRequest, owner: &Owner) -> &mut User {
        if self
            .users
            .get(self.last_user)
            .is_none_or(|user| user.comm != row.comm)
        {
            let known = self.users.iter().position(|user| user.comm == row.comm);
            self.last_user = known.unwrap_or_else(|| {
                if self.users.len() < USERS_MAX {
                    self.users.push(User {
                        comm: row.comm,
                        whose: owner.whose(row.pid, &row.comm),
                        ios: 0,
                        bytes: 0,
                        victims: Victims::default(),
                    });
                }
                self.users.len() - 1
            });
        }
        &mut self.users[self.last_user]
    }

    #[inline]
    fn row(&mut self, row: &BlockRequest, owner: &Owner) -> Option<()> {
        // What was given up without an end has no latency.
        if row.flags.has(BlockFlags::UNFINISHED) || row.op == BlockOp::Flush {
            return Some(());
        }
        let user = self.user(row, owner);
        user.ios += 1;
        user.bytes += u64::from(row.len_bytes);
        let whose = user.whose;
        let begun_ns = row.begun_ns();
        if owner.jobs.is_empty() {
            let kind = Kind::of_request(row.op, row.len_bytes);
            user.victims
                .count(kind, owner.started_ns, begun_ns, row.completed_ns)?;
        }
        let latency_ns = row.completed_ns.saturating_sub(begun_ns);
        let second = self.requests.count(begun_ns, row.completed_ns, latency_ns)?;
        second.bytes += u64::from(row.len_bytes);
        second.errors += u32::from(row.errno != 0);
        second.device_sum_ns += row.device_ns().unwrap_or(0);
        if let (Some(queued), Some(allocated)) = (row.queued_ns, row.allocated_ns) {
            second.tag_sum_ns += allocated.saturating_sub(queued);
        }
        if whose == Whose::Other {
            second.other_ios += 1;
        }
        Some(())
    }
}

impl BlockScan {
    /// Ready for the rows of this run.
    pub fn new(facts: &Facts<'_>) -> Self {
        Self {
            devices: Vec::new(),
            current: 0,
            owner: Owner {
                pid: facts.own_pid,
                jobs: facts.jobs().iter().map(|job| job.name.clone()).collect(),
                is_own: facts.is_own,
                modelled: facts.modelled(),
                started_ns: facts.started_ns(),
            },
            started_ns: facts.started_ns(),
            refused: 0,
        }
    }

    /// Takes rows in.
    pub fn feed(&mut self, rows: &[BlockRequest]) {
        for row in rows {
            if self.row(row).is_none() {
                self.refused += 1;
            }
        }
    }

    #[inline]
    fn row(&mut self, row: &BlockRequest) -> Option<()> {
        if self
            .devices
            .get(self.current)
            .is_none_or(|device| device.device != row.device)
        {
            self.current = self.find_or_make(row.device)?;
        }
        self.devices[self.current].row(row, &self.owner)
    }

    fn find_or_make(&mut self, device: u32) -> Option<usize> {
        let known = self.devices.iter().position(|known| known.device == device);
        if known.is_some() || self.devices.len() >= DEVICES_MAX {
            return known;
        }
        self.devices.push(DeviceScan {
            device,
            requests: Timeline::new(self.started_ns),
            users: Vec::new(),
            last_user: 0,
        });
        Some(self.devices.len() - 1)
    }

    /// What was found.
    pub fn finish(self) -> BlockScanned {
        BlockScanned {
            devices: self.devices,
            refused: self.refused,
        }
    }
}

impl BlockScanned {
    /// Rows that no run can have: they were left out.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

#[cfg(test)]
mod tests;
