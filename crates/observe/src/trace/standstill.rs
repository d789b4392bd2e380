//! When a CPU did not run, though somebody seemed to have it.
//!
//! Duty: find where timers came late. Data in: [`SchedEvent`]s in the order of time, among them those of a witness on each CPU,
//! a task that sleeps for [`PERIOD_NS`] again and again. Data out: [`KernelSpan`]s. It must not know why a CPU did not run.
//!
//! A machine that its hypervisor does not run sees nothing of that: no event is written, and whoever had a CPU seems to have it
//! all the time. What counts is when an interrupt woke the witness, and how long it then had the CPU for its few microseconds of
//! work, not when it got it: neither a task of higher priority nor one that does not leave the kernel makes those long. One that was stopped
//! or frozen is woken by a task, and says nothing.

use super::decode::{SchedEvent, SchedKind};
use fathom_core::record::{Comm, KernelSpan, SpanKind, TaskState};

/// For how long a witness sleeps: what is shorter than a standstill may be missed.
pub const PERIOD_NS: u64 = 2_000_000;
/// A timer that is later than this was held up, and so was a witness that had its CPU for so long. From idle a CPU takes some
/// 0.2 ms at most.
const LATE_NS: u64 = 1_000_000;

/// Finds standstills.
#[derive(Debug)]
pub struct Standstills {
    /// Of the witnesses.
    name: Comm,
    cpus: Vec<Witnessed>,
    done: Vec<KernelSpan>,
}

/// A CPU's witness.
#[derive(Debug, Clone, Copy)]
struct Witnessed {
    cpu: u32,
    tid: u32,
    /// Since when it sleeps.
    asleep_ns: Option<u64>,
    /// Since when it has the CPU; from idle, of which some machines do not tell, that is when it was woken.
    on_ns: Option<u64>,
}

impl Standstills {
    /// By witnesses of this name, one on each CPU: the first that is seen there.
    pub fn new(name: Comm) -> Self {
        Self {
            name,
            cpus: Vec::new(),
            done: Vec::new(),
        }
    }

    /// The next event.
    #[inline]
    pub fn apply(&mut self, event: &SchedEvent) {
        match event.kind {
            SchedKind::Switch {
                from,
                from_comm,
                state,
                to,
                to_comm,
            } => {
                if from_comm == self.name {
                    self.left(event, from, state);
                } else if to_comm == self.name {
                    self.came(event, to);
                }
            }
            SchedKind::Wake { tid, comm, waker, .. } if comm == self.name => self.woken(event, tid, waker),
            SchedKind::Gap => {
                for witnessed in &mut self.cpus {
                    (witnessed.asleep_ns, witnessed.on_ns) = (None, None);
                }
            }
            _ => {}
        }
    }

    fn came(&mut self, event: &SchedEvent, tid: u32) {
        if let Some(witnessed) = self.of(tid) {
            witnessed.on_ns = Some(event.time_ns);
        }
    }

    fn left(&mut self, event: &SchedEvent, tid: u32, state: TaskState) {
        let asleep_ns = (state == TaskState::Sleeping).then_some(event.time_ns);
        let there = |witnessed: &&mut Witnessed| witnessed.cpu == event.cpu || witnessed.tid == tid;
        match self.cpus.iter_mut().find(there) {
            Some(witnessed) if witnessed.cpu == event.cpu && witnessed.tid == tid => {
                witnessed.asleep_ns = asleep_ns;
                let (cpu, on_ns) = (witnessed.cpu, witnessed.on_ns.take());
                if let Some(on_ns) = on_ns.filter(|on_ns| on_ns + LATE_NS <= event.time_ns) {
                    self.stood(cpu, on_ns, event.time_ns);
                }
            }
            // Another one of that name, or one that is not where it belongs.
            Some(_) => {}
            None => self.cpus.push(Witnessed {
                cpu: event.cpu,
                tid,
                asleep_ns,
                on_ns: None,
            }),
        }
    }

    fn woken(&mut self, event: &SchedEvent, tid: u32, waker: u32) {
        let Some(witnessed) = self.of(tid) else {
            return;
        };
        let (Some(asleep_ns), 0) = (witnessed.asleep_ns.take(), waker) else {
            return;
        };
        witnessed.on_ns = Some(event.time_ns);
        let cpu = witnessed.cpu;
        // Its timer is set for the next whole period, which is no later.
        let due_ns = asleep_ns + PERIOD_NS;
        if event.time_ns >= due_ns + LATE_NS {
            self.stood(cpu, due_ns, event.time_ns);
        }
    }

    fn of(&mut self, tid: u32) -> Option<&mut Witnessed> {
        self.cpus.iter_mut().find(|witnessed| witnessed.tid == tid)
    }

    fn stood(&mut self, cpu: u32, start_ns: u64, end_ns: u64) {
        self.done.push(KernelSpan {
            kind: SpanKind::Standstill,
            start_ns,
            end_ns,
            device: 0,
            tid: 0,
            comm: Comm::NONE,
            about: cpu.into(),
            by_tid: 0,
            by_comm: Comm::NONE,
        });
    }

    /// Appends what was found since, in the order of the ends.
    pub fn take(&mut self, out: &mut Vec<KernelSpan>) {
        out.append(&mut self.done);
    }
}

#[cfg(test)]
mod tests;
