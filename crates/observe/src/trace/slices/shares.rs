//! Who had each CPU, a hundredth of a second at a time.
//!
//! Duty: add up what each task had of a CPU in a slot of time. Data in: of each CPU, in the order of time, who had it up to
//! when. Data out: [`CpuShare`]s in the order of their ends. It must not know the scheduler's events.
//!
//! What tasks had of a slot adds up to its length exactly, the idle task's part among it; to less only where it is not
//! known who had the CPU: where events were lost, and before the first switch of a CPU that was seen late.

use fathom_core::record::{Comm, CpuShare};

/// How long a slot is.
const SLOT_NS: u64 = 10_000_000;
/// Slots in which one task had all are joined up to this.
const JOINED_NS: u64 = 1_000_000_000;
/// Nobody is taken to have had a CPU for longer with no sign of it: either nobody looked, or a clock jumped.
const SEEN_NS: u64 = 600_000_000_000;
/// Nobody's: the time in which a CPU had nothing to do is nobody else's, however many there are.
const IDLE: u32 = 0;
/// So many tasks of a slot are named.
const NAMED: usize = 8;
/// So many are told apart while a slot goes on; of more, those of one name are one, as of a shell that starts a program again and again.
const APART: usize = 64;

#[derive(Debug)]
struct Cpu {
    number: u32,
    /// Up to when it is known who had it, or known that it is not.
    to_ns: u64,
    slot_end_ns: u64,
    slot_begin_ns: u64,
    had: Vec<(u32, Comm, u64)>,
    others_ns: u64,
    /// Slots that one task had, joined so far.
    run: Option<CpuShare>,
}

/// The shares of all CPUs.
#[derive(Debug)]
pub(super) struct Shares {
    cpus: Vec<Cpu>,
    done: Vec<CpuShare>,
}

impl Shares {
    pub(super) fn new(cpus: &[u32], begun_ns: u64) -> Self {
        let cpu = |&number: &u32| Cpu {
            number,
            to_ns: begun_ns,
            slot_begin_ns: begun_ns,
            slot_end_ns: (begun_ns / SLOT_NS + 1) * SLOT_NS,
            had: Vec::with_capacity(APART + 1),
            others_ns: 0,
            run: None,
        };
        Self {
            cpus: cpus.iter().map(cpu).collect(),
            done: Vec::new(),
        }
    }

    /// `task` had the CPU `index` from where it is known on up to `to_ns`.
    #[inline]
    pub(super) fn had(&mut self, index: usize, task: (u32, Comm), to_ns: u64) {
        self.go(index, Some(task), to_ns);
    }

    /// Who had it up to `to_ns` is not known.
    pub(super) fn unknown(&mut self, index: usize, to_ns: u64) {
        self.go(index, None, to_ns);
    }

    fn go(&mut self, index: usize, task: Option<(u32, Comm)>, to_ns: u64) {
        let cpu = &mut self.cpus[index];
        let task = task.filter(|_| to_ns.saturating_sub(cpu.to_ns) <= SEEN_NS);
        if task.is_none() && to_ns > cpu.slot_end_ns {
            cpu.skip(to_ns, &mut self.done);
        }
        while cpu.to_ns < to_ns {
            let end_ns = to_ns.min(cpu.slot_end_ns);
            if let Some(task) = task {
                cpu.add(task, end_ns - cpu.to_ns);
            }
            cpu.to_ns = end_ns;
            if end_ns == cpu.slot_end_ns {
                cpu.close(&mut self.done);
            }
        }
    }

    /// Appends what is complete; none that comes later ends before.
    pub(super) fn take(&mut self, out: &mut Vec<CpuShare>) {
        let pending = |cpu: &Cpu| cpu.run.map_or(cpu.slot_begin_ns, |run| run.end_ns);
        let safe_ns = self.cpus.iter().map(pending).min().unwrap_or(u64::MAX);
        self.done.sort_by_key(|share| (share.end_ns, share.cpu));
        let count = self.done.partition_point(|share| share.end_ns <= safe_ns);
        out.extend(self.done.drain(..count));
    }

    /// Appends all, slots that are not over as well.
    pub(super) fn finish(&mut self, out: &mut Vec<CpuShare>) {
        for cpu in &mut self.cpus {
            cpu.slot_end_ns = cpu.to_ns;
            cpu.close(&mut self.done);
            self.done.extend(cpu.run.take());
        }
        self.take(out);
        out.append(&mut self.done);
    }
}

impl Cpu {
    #[inline]
    fn add(&mut self, (tid, comm): (u32, Comm), ns: u64) {
        if let Some(had) = self.had.iter_mut().find(|had| had.0 == tid) {
            had.1 = comm;
            had.2 += ns;
        } else if self.had.len() < APART || tid == IDLE {
            self.had.push((tid, comm, ns));
        } else if let Some(had) = self.had.iter_mut().find(|had| had.1 == comm) {
            had.2 += ns;
        } else {
            self.others_ns += ns;
        }
    }

    /// Makes one of all that have the same name, under the number of the one that had most; all are in the order of what they had.
    fn join_names(&mut self) {
        let mut joined: Vec<(u32, Comm, u64)> = Vec::with_capacity(self.had.len());
        for &(tid, comm, ns) in &self.had {
            match joined
                .iter_mut()
                .find(|had| had.1 == comm && tid != IDLE && had.0 != IDLE)
            {
                Some(had) => had.2 += ns,
                None => joined.push((tid, comm, ns)),
            }
        }
        joined.sort_by_key(|&(_, _, ns)| std::cmp::Reverse(ns));
        self.had.clear();
        self.had.extend(joined);
    }

    fn share(&self, tid: u32, comm: Comm, ran_ns: u64) -> CpuShare {
        CpuShare {
            end_ns: self.slot_end_ns,
            duration_ns: self.slot_end_ns - self.slot_begin_ns,
            cpu: self.number,
            tid,
            comm,
            ran_ns,
        }
    }

    /// The slot is over.
    fn close(&mut self, done: &mut Vec<CpuShare>) {
        let length_ns = self.slot_end_ns - self.slot_begin_ns;
        match *self.had {
            [] => done.extend(self.run.take()),
            [(tid, comm, ran_ns)] if ran_ns == length_ns => {
                let share = self.share(tid, comm, ran_ns);
                self.join(share, done);
            }
            _ => {
                done.extend(self.run.take());
                // Nothing of it is left out: what is not named is under `OTHERS`.
                self.had
                    .sort_unstable_by_key(|&(tid, _, ns)| (std::cmp::Reverse(ns), tid));
                if self.had.len() > NAMED {
                    self.join_names();
                }
                let rest: u64 = self.had.iter().skip(NAMED).map(|had| had.2).sum();
                for &(tid, comm, ns) in self.had.iter().take(NAMED).filter(|had| had.2 > 0) {
                    done.push(self.share(tid, comm, ns));
                }
                if rest + self.others_ns > 0 {
                    done.push(self.share(CpuShare::OTHERS, Comm::default(), rest + self.others_ns));
                }
            }
        }
        self.had.clear();
        self.others_ns = 0;
        self.slot_begin_ns = self.slot_end_ns;
        self.slot_end_ns = self.slot_end_ns.saturating_add(SLOT_NS);
    }

    /// Nothing is known up to `to_ns`, which is beyond this slot: what is known of the slot is kept, and others have nothing.
    fn skip(&mut self, to_ns: u64, done: &mut Vec<CpuShare>) {
        self.close(done);
        done.extend(self.run.take());
        self.to_ns = to_ns;
        self.slot_begin_ns = to_ns / SLOT_NS * SLOT_NS;
        self.slot_end_ns = self.slot_begin_ns.saturating_add(SLOT_NS);
    }

    fn join(&mut self, share: CpuShare, done: &mut Vec<CpuShare>) {
        let joins = |run: &&mut CpuShare| {
            run.tid == share.tid
                && run.comm == share.comm
                && run.end_ns + share.duration_ns == share.end_ns
                && run.duration_ns + share.duration_ns <= JOINED_NS
        };
        if let Some(run) = self.run.as_mut().filter(joins) {
            run.end_ns = share.end_ns;
            run.duration_ns += share.duration_ns;
            run.ran_ns += share.ran_ns;
        } else {
            done.extend(self.run.replace(share));
        }
    }
}

#[cfg(test)]
mod tests;
