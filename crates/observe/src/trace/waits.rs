//! What a set of threads spent a time on.
//!
//! Duty: make of stays on CPUs how long any of the threads ran, or else could have run, or else waited for a disk, or else
//! slept; and the same of each thread, added up. Data in: [`SchedSlice`]s, roughly in the order of their ends, those of one
//! thread in order. Data out: [`CommandWaits`], [`CommandCourse`]. Memory is what happened since the last [`Waits::settle`], and a
//! thousand parts.

use super::tids::TidMap;
use fathom_core::record::{BlockedOn, SchedSlice, TaskState};
use fathom_core::run::{CommandCourse, CommandWaits, TimeSplit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Parts of a time that are told apart, at most: beyond that they become twice as long.
const PARTS_MAX: usize = 1024;
const PART_NS: u64 = 1_000_000_000;

/// What a thread is at; of several threads the first of these counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Cpu = 0,
    Ready = 1,
    Disk = 2,
    Other = 3,
    /// It is not there any more.
    Gone = 4,
}

/// From a moment on, a thread is at something. Of equal moments the first that was told comes first.
type Change = (u64, u64, u32, At);

/// Adds up.
#[derive(Debug, Default)]
pub(super) struct Waits {
    changes: BinaryHeap<Reverse<Change>>,
    told: u64,
    threads: TidMap<At>,
    /// Threads that are at each.
    at: [u64; 4],
    now_ns: u64,
    from_ns: u64,
    /// 0: not known yet.
    to_ns: u64,
    elapsed: [u64; 4],
    sums: [u64; 4],
    course: Course,
}

/// The time that passed, part by part.
#[derive(Debug)]
struct Course {
    part_ns: u64,
    parts: Vec<[u64; 4]>,
}

impl Default for Course {
    fn default() -> Self {
        Self {
            part_ns: PART_NS,
            parts: Vec::new(),
        }
    }
}

impl Course {
    /// From then to then, after the beginning, it was at the one of that number.
    fn add(&mut self, mut from_ns: u64, to_ns: u64, at: usize) {
        while to_ns > self.part_ns.saturating_mul(PARTS_MAX as u64) {
            let pairs = self.parts.chunks(2);
            let joined = pairs.map(|pair| std::array::from_fn(|at| pair.iter().map(|part| part[at]).sum()));
            self.parts = joined.collect();
            self.part_ns *= 2;
        }
        while from_ns < to_ns {
            let part = (from_ns / self.part_ns) as usize;
            let until_ns = to_ns.min((part as u64 + 1) * self.part_ns);
            if self.parts.len() <= part {
                self.parts.resize(part + 1, [0; 4]);
            }
            self.parts[part][at] += until_ns - from_ns;
            from_ns = until_ns;
        }
    }
}

impl Waits {
    /// Only this time counts; its end may come later.
    pub(super) fn within(&mut self, from_ns: u64, to_ns: u64) {
        (self.from_ns, self.to_ns) = (from_ns, to_ns);
    }

    /// One more stay, which is the thread's last where it has `ended`.
    pub(super) fn stay(&mut self, stay: &SchedSlice, ended: bool) {
        if let Some(ready_ns) = stay.ready_ns {
            self.change(ready_ns.min(stay.start_ns), stay.tid, At::Ready);
        }
        self.change(stay.start_ns, stay.tid, At::Cpu);
        let then = match (stay.state, stay.blocked_on) {
            // Given in parts, it goes on with the next at the same moment.
            (TaskState::Other, _) if ended => At::Gone,
            (TaskState::Other, _) => At::Cpu,
            (TaskState::Preempted, _) | (_, BlockedOn::Quota) => At::Ready,
            (
                _,
                BlockedOn::Io
                | BlockedOn::Tag
                | BlockedOn::WritebackThrottle
                | BlockedOn::Journal
                | BlockedOn::DirtyLimit
                | BlockedOn::Writeback
                | BlockedOn::Fault,
            )
            | (TaskState::Uninterruptible, BlockedOn::Unknown) => At::Disk,
            (TaskState::Uninterruptible | TaskState::Sleeping | TaskState::Stopped, _) => At::Other,
        };
        self.change(stay.end_ns, stay.tid, then);
    }

    /// A thread has ended.
    pub(super) fn gone(&mut self, at_ns: u64, tid: u32) {
        self.change(at_ns, tid, At::Gone);
    }

    fn change(&mut self, at_ns: u64, tid: u32, at: At) {
        self.told += 1;
        self.changes.push(Reverse((at_ns, self.told, tid, at)));
    }

    /// Nothing comes any more that happened before `to_ns`; what does counts from there.
    pub(super) fn settle(&mut self, to_ns: u64) {
        while let Some(&Reverse((at_ns, _, tid, at))) = self.changes.peek() {
            if at_ns > to_ns {
                return;
            }
            self.changes.pop();
            self.advance(at_ns);
            let before = match at {
                At::Gone => self.threads.remove(&tid),
                _ => self.threads.insert(tid, at),
            };
            if let Some(before) = before {
                self.at[before as usize] -= 1;
            }
            if at != At::Gone {
                self.at[at as usize] += 1;
            }
        }
        if self.to_ns != 0 {
            self.advance(to_ns.min(self.to_ns));
        }
    }

    fn advance(&mut self, at_ns: u64) {
        let end_ns = if self.to_ns == 0 { u64::MAX } else { self.to_ns };
        let (from_ns, to_ns) = (self.now_ns.max(self.from_ns), at_ns.min(end_ns));
        self.now_ns = self.now_ns.max(at_ns);
        let Some(passed_ns) = to_ns.checked_sub(from_ns) else {
            return;
        };
        if let Some(first) = self.at.iter().position(|threads| *threads > 0) {
            self.elapsed[first] += passed_ns;
            self.course
                .add(from_ns - self.from_ns, to_ns - self.from_ns, first);
        }
        for (sum, threads) in self.sums.iter_mut().zip(self.at) {
            *sum = sum.saturating_add(passed_ns.saturating_mul(threads));
        }
    }

    /// The sums, up to what was settled.
    pub(super) fn sums(&self) -> CommandWaits {
        CommandWaits {
            elapsed: split(self.elapsed),
            threads: split(self.sums),
        }
    }

    /// What the time was spent on part by part, up to what was settled.
    pub(super) fn course(&self) -> CommandCourse {
        CommandCourse {
            part_ns: self.course.part_ns,
            parts: self.course.parts.iter().copied().map(split).collect(),
        }
    }
}

fn split([cpu_ns, ready_ns, disk_ns, other_ns]: [u64; 4]) -> TimeSplit {
    TimeSplit {
        cpu_ns,
        ready_ns,
        disk_ns,
        other_ns,
    }
}

#[cfg(test)]
mod tests;
