//! Who had which CPU lately.
//!
//! Duty: make stays on a CPU of the scheduler's events, keep the last ones, and give those of a window. Data in:
//! [`SchedEvent`]s in the order of time. Data out: [`SchedSlice`]s. It must not know why it is asked. Memory is bounded:
//! of each CPU the oldest stays are forgotten.

use super::decode::{SchedEvent, SchedKind};
use fathom_core::record::{BlockedOn, Comm, SchedSlice, TaskState};
use std::collections::{HashMap, VecDeque};

/// Stays kept, of all CPUs together (25 MB) and of one.
const KEPT_ALL: usize = 262_144;
const KEPT_MAX: usize = 32_768;
const KEPT_MIN: usize = 1_024;
/// More tasks than this do not wait at a time; if it seems so, events were lost.
const WAITING_MAX: usize = 16_384;

/// A task that has a CPU.
#[derive(Debug, Clone, Copy)]
struct Open {
    tid: u32,
    comm: Comm,
    ready_ns: Option<u64>,
    start_ns: u64,
    /// It was woken while it was on its way off the CPU.
    woken: bool,
}

/// A task that could run and has no CPU.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    since_ns: u64,
    cpu: u32,
    comm: Comm,
}

#[derive(Debug)]
struct Cpu {
    number: u32,
    /// `None`: the idle task has it, or it is not known who.
    open: Option<Open>,
    /// Whether nothing is known of it yet: who has it then had it from the beginning.
    untouched: bool,
    /// Since when the idle task has it, where that is known.
    idle_since_ns: Option<u64>,
    /// In the order of their ends.
    kept: VecDeque<(SchedSlice, Given)>,
}

/// Whether a stay was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    No,
    Yes,
}

/// The last stays on each CPU.
#[derive(Debug)]
pub struct Slices {
    cpus: Vec<Cpu>,
    waiting: HashMap<u32, Waiting>,
    keep: usize,
    begun_ns: u64,
    seen_to_ns: u64,
}

impl Slices {
    /// For the CPUs with these numbers, watched from `begun_ns` on.
    pub fn new(cpus: &[u32], begun_ns: u64) -> Self {
        let cpu = |&number: &u32| Cpu {
            number,
            open: None,
            untouched: true,
            idle_since_ns: None,
            kept: VecDeque::new(),
        };
        Self {
            cpus: cpus.iter().map(cpu).collect(),
            waiting: HashMap::new(),
            keep: (KEPT_ALL / cpus.len().max(1)).clamp(KEPT_MIN, KEPT_MAX),
            begun_ns,
            seen_to_ns: begun_ns,
        }
    }

    /// The next event.
    pub fn apply(&mut self, event: &SchedEvent) {
        self.seen_to(event.time_ns);
        match event.kind {
            SchedKind::Switch {
                from,
                from_comm,
                state,
                to,
                to_comm,
            } => {
                let Some(index) = self.cpus.iter().position(|cpu| cpu.number == event.cpu) else {
                    return;
                };
                self.leave(index, event.time_ns, (from, from_comm), state);
                self.enter(index, event.time_ns, (to, to_comm));
            }
            SchedKind::Wake {
                tid,
                comm,
                target_cpu,
            } => self.wake(event.time_ns, (tid, comm), target_cpu),
            SchedKind::Gap => {
                // Whoever was seen waiting may have run meanwhile.
                self.waiting.clear();
                for cpu in self.cpus.iter_mut().filter(|cpu| cpu.number == event.cpu) {
                    cpu.open = None;
                    cpu.untouched = false;
                    cpu.idle_since_ns = None;
                }
            }
        }
    }

    /// All that happened up to `at_ns` was given.
    pub fn seen_to(&mut self, at_ns: u64) {
        self.seen_to_ns = self.seen_to_ns.max(at_ns);
    }

    fn leave(&mut self, index: usize, at_ns: u64, (tid, comm): (u32, Comm), state: TaskState) {
        let begun_ns = self.begun_ns;
        let cpu = &mut self.cpus[index];
        let unseen = std::mem::replace(&mut cpu.untouched, false);
        let from_the_beginning = Open {
            tid,
            comm,
            ready_ns: None,
            start_ns: begun_ns,
            woken: false,
        };
        let open = cpu.open.take().or(unseen.then_some(from_the_beginning));
        let idle_since_ns = cpu.idle_since_ns.take();
        if tid == 0 {
            return;
        }
        // It has had a CPU: what was known of its waiting is over.
        let woken_ns = self.waiting.remove(&tid).map(|waiting| waiting.since_ns);
        // Some virtual machines do not tell when a CPU goes from idle to a task. It came after the CPU was idle, and nobody
        // between: its stay is given from when it was woken or, that not seen, from when the CPU was idle. Whoever waited
        // for this CPU meanwhile waited for this task all the same, because an idle CPU keeps nobody waiting.
        let after_idle = |idle_ns: u64| Open {
            ready_ns: woken_ns,
            start_ns: woken_ns.map_or(idle_ns, |woken_ns| woken_ns.max(idle_ns)),
            ..from_the_beginning
        };
        let open = open.or(idle_since_ns.map(after_idle));
        let open = open.filter(|open| open.tid == tid);
        if let Some(open) = open {
            let slice = SchedSlice {
                cpu: cpu.number,
                tid,
                comm,
                ready_ns: open.ready_ns,
                start_ns: open.start_ns,
                end_ns: at_ns.max(open.start_ns),
                state,
                blocked_on: BlockedOn::Unknown,
                waker_tid: 0,
                waker_comm: Comm::default(),
            };
            if cpu.kept.len() >= self.keep {
                cpu.kept.pop_front();
            }
            cpu.kept.push_back((slice, Given::No));
        }
        if state == TaskState::Preempted || open.is_some_and(|open| open.woken) {
            let waiting = Waiting {
                since_ns: at_ns,
                cpu: cpu.number,
                comm,
            };
            self.wait(tid, waiting);
        }
    }

    fn enter(&mut self, index: usize, at_ns: u64, (tid, comm): (u32, Comm)) {
        let waited = self.waiting.remove(&tid);
        self.cpus[index].idle_since_ns = (tid == 0).then_some(at_ns);
        self.cpus[index].open = (tid != 0).then_some(Open {
            tid,
            comm,
            ready_ns: waited.map(|waited| waited.since_ns),
            start_ns: at_ns,
            woken: false,
        });
    }

    fn wake(&mut self, at_ns: u64, (tid, comm): (u32, Comm), cpu: u32) {
        let open = self.cpus.iter_mut().filter_map(|cpu| cpu.open.as_mut());
        for open in open {
            if open.tid == tid {
                open.woken = true;
                return;
            }
        }
        if !self.waiting.contains_key(&tid) {
            let since_ns = at_ns;
            self.wait(tid, Waiting { since_ns, cpu, comm });
        }
    }

    fn wait(&mut self, tid: u32, waiting: Waiting) {
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.clear();
        }
        self.waiting.insert(tid, waiting);
    }

    /// Appends the stays that overlap `from_ns..to_ns`, in the order of their starts, each at most once whatever is asked.
    ///
    /// Of a task that has a CPU still, the part up to now is given, as a stay that ends with [`TaskState::Other`]; the
    /// rest is a stay of its own. A task that waits for a CPU still is given as a stay without length that begins and
    /// ends now; its waiting goes on from there. So the parts add up, and never overlap.
    pub fn consult(&mut self, from_ns: u64, to_ns: u64, out: &mut Vec<SchedSlice>) {
        let now_ns = self.seen_to_ns;
        let first = out.len();
        for cpu in &mut self.cpus {
            let past = cpu.kept.partition_point(|(slice, _)| slice.end_ns <= from_ns);
            for (slice, given) in cpu.kept.range_mut(past..) {
                if slice.start_ns >= to_ns {
                    break;
                }
                if std::mem::replace(given, Given::Yes) == Given::No {
                    out.push(*slice);
                }
            }
            let open = cpu.open.as_mut().filter(|open| open.start_ns < to_ns.min(now_ns));
            if let Some(open) = open.filter(|_| now_ns > from_ns) {
                out.push(SchedSlice {
                    cpu: cpu.number,
                    tid: open.tid,
                    comm: open.comm,
                    ready_ns: open.ready_ns.take(),
                    start_ns: open.start_ns,
                    end_ns: now_ns,
                    state: TaskState::Other,
                    blocked_on: BlockedOn::Unknown,
                    waker_tid: 0,
                    waker_comm: Comm::default(),
                });
                open.start_ns = now_ns;
            }
        }
        for (&tid, waiting) in &mut self.waiting {
            if now_ns > from_ns && waiting.since_ns < to_ns.min(now_ns) {
                out.push(SchedSlice {
                    cpu: waiting.cpu,
                    tid,
                    comm: waiting.comm,
                    ready_ns: Some(waiting.since_ns),
                    start_ns: now_ns,
                    end_ns: now_ns,
                    state: TaskState::Other,
                    blocked_on: BlockedOn::Unknown,
                    waker_tid: 0,
                    waker_comm: Comm::default(),
                });
                waiting.since_ns = now_ns;
            }
        }
        out[first..].sort_unstable_by_key(|slice| (slice.start_ns, slice.cpu, slice.tid));
    }
}

#[cfg(test)]
mod tests;
