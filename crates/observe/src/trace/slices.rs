//! Who had which CPU.
//!
//! Duty: make stays on a CPU of the scheduler's events: those of some tasks throughout, those of all others lately, and who
//! had each CPU in short. Data in: [`SchedEvent`]s in the order of time, whose stays are given throughout. Data out:
//! [`SchedSlice`]s, [`CpuShare`]s. It must not know why it is asked. Memory is bounded: of each CPU the oldest stays of
//! others are forgotten; what is given throughout is to be fetched.
//!
//! Some virtual machines do not tell when a CPU goes from idle to a task (nothing that the idle task does outside
//! interrupts is told there). On such a CPU the task came when it was last woken or moved there: no other moment is known,
//! and it is early by some microseconds. What lies before was nobody's. Where several were sent there, who it was is known
//! when one of them leaves. A task that waits beside a CPU that goes idle is kept from it (by its quota): when it comes is
//! not known, and its stay is given without length.

mod shares;
mod subjects;

use super::decode::{SchedEvent, SchedKind};
use super::sched::Load;
use super::tids::TidMap;
use fathom_core::record::{BlockedOn, Comm, CpuShare, SchedSlice, TaskState};
use shares::Shares;
use std::collections::VecDeque;
use subjects::Subjects;

/// Stays kept, of all CPUs together (30 MB) and of one.
const KEPT_ALL: usize = 262_144;
const KEPT_MAX: usize = 32_768;
const KEPT_MIN: usize = 1_024;
/// More tasks than this do not wait at a time; if it seems so, events were lost.
const WAITING_MAX: usize = 16_384;
/// A task that was sent to an idle CPU so long ago has it, whether that was told or not.
const SURELY_THERE_NS: u64 = 1_000_000;
/// So long after its end a stay's stack has come, if one comes.
const STACK_NS: u64 = 1_000_000;
/// A stay that goes on is cut after this, so that a record that breaks off has it.
const CUT_NS: u64 = 1_000_000_000;
/// Who has a CPU that has not switched for so long, since the beginning or since several were sent there, is given up asking.
const UNTOUCHED_NS: u64 = 2_000_000_000;

/// Who woke a task; number 0 for an interrupt or nobody.
#[derive(Debug, Clone, Copy, Default)]
struct Waker {
    tid: u32,
    comm: Comm,
}

/// A task that has a CPU.
#[derive(Debug, Clone, Copy)]
struct Open {
    tid: u32,
    comm: Comm,
    ready_ns: Option<u64>,
    start_ns: u64,
    waker: Waker,
    /// It was woken, by this one, while it was on its way off the CPU.
    woken: Option<Waker>,
}

/// A task that could run and has no CPU.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// Since when; `None` where it was only seen to be moved.
    since_ns: Option<u64>,
    comm: Comm,
    waker: Waker,
    /// Where it was sent last, and when.
    cpu: u32,
    placed_ns: u64,
    /// Whether it was woken; else it left a CPU.
    woken: bool,
}

/// Who has a CPU.
#[derive(Debug, Clone, Copy)]
enum Has {
    /// It is not known.
    Unknown,
    /// Nothing is known of it yet: who leaves it first had it from the beginning.
    Untouched,
    /// Nobody, from here on.
    Idle {
        since_ns: u64,
    },
    Task(Open),
}

#[derive(Debug)]
struct Cpu {
    number: u32,
    has: Has,
    /// Whether a switch from the idle task was ever seen: where it was, the next one is seen as well.
    tells_idle: bool,
    /// Stays of tasks that are not given throughout, in the order of their ends.
    kept: VecDeque<(SchedSlice, Given)>,
    last: Last,
}

/// Where the last stay is, whose stack may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    None,
    Kept,
    /// Counted from the beginning.
    Done(u64),
}

/// Whether a stay was given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    No,
    Yes,
}

/// The stays on each CPU.
#[derive(Debug)]
pub struct Slices {
    cpus: Vec<Cpu>,
    /// Which task each CPU has, for a quick look; 0 for none.
    running: Vec<u32>,
    waiting: TidMap<Waiting>,
    subjects: Subjects,
    /// Stays of the subjects that were not fetched, in the order of their ends, and how many were.
    done: VecDeque<SchedSlice>,
    fetched: u64,
    shares: Shares,
    keep: usize,
    begun_ns: u64,
    seen_to_ns: u64,
}

impl Slices {
    /// For the CPUs with these numbers, watched from `begun_ns` on; the stays of `load` are given throughout.
    pub fn new(cpus: &[u32], load: &Load, begun_ns: u64) -> Self {
        let cpu = |&number: &u32| Cpu {
            number,
            has: Has::Untouched,
            tells_idle: false,
            kept: VecDeque::new(),
            last: Last::None,
        };
        Self {
            cpus: cpus.iter().map(cpu).collect(),
            running: vec![0; cpus.len()],
            waiting: TidMap::default(),
            subjects: Subjects::new(load),
            done: VecDeque::new(),
            fetched: 0,
            shares: Shares::new(cpus, begun_ns),
            keep: (KEPT_ALL / cpus.len().max(1)).clamp(KEPT_MIN, KEPT_MAX),
            begun_ns,
            seen_to_ns: begun_ns,
        }
    }

    /// From here on the stays of this task are given throughout as well.
    pub fn follow(&mut self, tid: u32) {
        self.subjects.add(tid);
    }

    /// The subjects that are known by number and not by name.
    pub fn unnamed(&self) -> &[u32] {
        self.subjects.unnamed()
    }

    /// The next event.
    pub fn apply(&mut self, event: &SchedEvent) {
        self.seen_to_ns = self.seen_to_ns.max(event.time_ns);
        let at_ns = event.time_ns;
        match event.kind {
            SchedKind::Switch {
                from,
                from_comm,
                state,
                to,
                to_comm,
            } => {
                if let Some(index) = self.index(event.cpu) {
                    self.leave(index, at_ns, (from, from_comm), state);
                    self.enter(index, at_ns, (to, to_comm));
                }
            }
            SchedKind::Wake {
                tid,
                comm,
                target_cpu,
                waker,
            } => {
                let waker = self.waker(event.cpu, waker);
                self.wake(at_ns, (tid, comm), target_cpu, waker);
            }
            SchedKind::Migrate { tid, to_cpu } => self.migrate(at_ns, tid, to_cpu),
            SchedKind::Rename { tid, comm } => self.rename(tid, comm),
            SchedKind::Fork { parent, child } => self.subjects.made(parent, child),
            SchedKind::Stack { tid, on } => {
                if let Some(index) = self.index(event.cpu) {
                    self.stack(index, tid, on);
                }
            }
            SchedKind::Gap => {
                // Whoever was seen waiting may have run meanwhile.
                self.waiting.clear();
                if let Some(index) = self.index(event.cpu) {
                    self.shares.unknown(index, at_ns);
                    self.cpus[index].has = Has::Unknown;
                    self.cpus[index].last = Last::None;
                    self.running[index] = 0;
                }
            }
        }
    }

    fn index(&self, number: u32) -> Option<usize> {
        // They are numbered in order, but for those that are missing.
        let guess = self.cpus.get(number as usize);
        if guess.is_some_and(|cpu| cpu.number == number) {
            return Some(number as usize);
        }
        self.cpus.iter().position(|cpu| cpu.number == number)
    }

    /// All that happened up to `at_ns` was given.
    pub fn seen_to(&mut self, at_ns: u64) {
        self.seen_to_ns = self.seen_to_ns.max(at_ns);
        let now_ns = self.seen_to_ns;
        for index in 0..self.cpus.len() {
            match self.cpus[index].has {
                Has::Unknown => self.shares.unknown(index, now_ns),
                Has::Untouched => {
                    let given_up = now_ns > self.begun_ns.saturating_add(UNTOUCHED_NS);
                    if given_up {
                        self.shares.unknown(index, now_ns);
                    }
                }
                Has::Task(open) => self.shares.had(index, (open.tid, open.comm), now_ns),
                Has::Idle { since_ns } => self.idle_goes_on(index, since_ns, now_ns),
            }
        }
    }

    /// A CPU has been idle for all that is known. Where the end of that is not told, somebody may have been sent there.
    fn idle_goes_on(&mut self, index: usize, since_ns: u64, now_ns: u64) {
        let cpu = &self.cpus[index];
        let here = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.cpu == cpu.number && !cpu.tells_idle);
        let mut here = here.map(|(&tid, waiting)| (tid, *waiting));
        let Some((tid, waiting)) = here.next() else {
            return self.shares.had(index, IDLE, now_ns);
        };
        let alone = here.next().is_none();
        let Some(start_ns) = waiting.comes_to_idle(since_ns).filter(|_| alone) else {
            // Who leaves it next will tell.
            if since_ns.max(waiting.placed_ns).saturating_add(UNTOUCHED_NS) < now_ns {
                self.shares.unknown(index, now_ns);
            }
            return;
        };
        self.shares.had(index, IDLE, start_ns.min(now_ns));
        if start_ns.saturating_add(SURELY_THERE_NS) <= now_ns {
            self.waiting.remove(&tid);
            self.cpus[index].has = Has::Task(waiting.comes(tid, waiting.comm, start_ns));
            self.running[index] = tid;
            self.shares.had(index, (tid, waiting.comm), now_ns);
        }
    }

    fn leave(&mut self, index: usize, at_ns: u64, (tid, comm): (u32, Comm), state: TaskState) {
        let cpu = &mut self.cpus[index];
        let waiting = if tid == 0 {
            None
        } else {
            // It has had a CPU: what was known of its waiting is over.
            self.waiting.remove(&tid)
        };
        let sent_here = waiting.filter(|waiting| waiting.cpu == cpu.number);
        cpu.last = Last::None;
        let came = |since_ns| {
            let sent = sent_here?;
            Some((sent, sent.comes_to_idle(since_ns)?))
        };
        let idle_since_ns = match std::mem::replace(&mut cpu.has, Has::Unknown) {
            Has::Idle { since_ns } => Some(since_ns),
            Has::Untouched if tid == 0 || sent_here.is_some() => Some(self.begun_ns),
            Has::Untouched => {
                let nobody = Waiting::moved(comm, cpu.number, at_ns);
                let open = nobody.comes(tid, comm, self.begun_ns);
                return self.left(index, at_ns, open, comm, state);
            }
            Has::Task(open) if open.tid == tid => return self.left(index, at_ns, open, comm, state),
            Has::Unknown | Has::Task(_) => None,
        };
        if tid == 0 {
            match idle_since_ns {
                Some(_) => {
                    cpu.tells_idle = true;
                    self.shares.had(index, IDLE, at_ns);
                }
                None => self.shares.unknown(index, at_ns),
            }
        } else if let Some((sent, start_ns)) = idle_since_ns.and_then(came) {
            self.shares.had(index, IDLE, start_ns);
            let open = sent.comes(tid, comm, start_ns);
            self.left(index, at_ns, open, comm, state);
        } else {
            // When it came is not known.
            self.shares.unknown(index, at_ns);
            let open = Waiting::moved(comm, cpu.number, at_ns).comes(tid, comm, at_ns);
            self.left(index, at_ns, open, comm, state);
        }
    }

    /// The stay `open` of a task ends.
    fn left(&mut self, index: usize, at_ns: u64, open: Open, comm: Comm, state: TaskState) {
        self.shares.had(index, (open.tid, comm), at_ns);
        let slice = open.until(at_ns, self.cpus[index].number, comm, state);
        self.cpus[index].last = if self.subjects.is(open.tid, &comm) {
            self.done.push_back(slice);
            Last::Done(self.fetched + self.done.len() as u64 - 1)
        } else {
            let kept = &mut self.cpus[index].kept;
            if kept.len() >= self.keep {
                kept.pop_front();
            }
            kept.push_back((slice, Given::No));
            Last::Kept
        };
        self.waits_again(index, at_ns, (open.tid, comm), state, open.woken);
    }

    /// A task that left could go on at once, or has ended.
    fn waits_again(
        &mut self,
        index: usize,
        at_ns: u64,
        (tid, comm): (u32, Comm),
        state: TaskState,
        woken: Option<Waker>,
    ) {
        if state == TaskState::Other {
            self.subjects.ended(tid);
        }
        if state == TaskState::Preempted || woken.is_some() {
            let waiting = Waiting {
                since_ns: Some(at_ns),
                waker: woken.unwrap_or_default(),
                woken: woken.is_some(),
                ..Waiting::moved(comm, self.cpus[index].number, at_ns)
            };
            self.wait(tid, waiting);
        }
    }

    fn enter(&mut self, index: usize, at_ns: u64, (tid, comm): (u32, Comm)) {
        self.running[index] = tid;
        if tid == 0 {
            self.cpus[index].has = Has::Idle { since_ns: at_ns };
            return;
        }
        let waited = self.waiting.remove(&tid);
        let waited = waited.unwrap_or_else(|| Waiting::moved(comm, self.cpus[index].number, at_ns));
        self.cpus[index].has = Has::Task(waited.comes(tid, comm, at_ns));
    }

    /// Who wrote an event on this CPU, with its name where that is known.
    fn waker(&self, cpu: u32, tid: u32) -> Waker {
        if tid == 0 {
            return Waker::default();
        }
        let here = self.index(cpu).and_then(|index| match self.cpus[index].has {
            Has::Task(open) if open.tid == tid => Some(open.comm),
            _ => None,
        });
        let comm = here.or_else(|| Some(self.waiting.get(&tid)?.comm));
        Waker {
            tid,
            comm: comm.unwrap_or_default(),
        }
    }

    fn wake(&mut self, at_ns: u64, (tid, comm): (u32, Comm), cpu: u32, waker: Waker) {
        if let Some(index) = self.running.iter().position(|&running| running == tid)
            && let Has::Task(open) = &mut self.cpus[index].has
        {
            open.woken.get_or_insert(waker);
            return;
        }
        if let Some(waiting) = self.waiting.get_mut(&tid) {
            // Woken twice, it waits since the first; where it goes, the last says.
            (waiting.cpu, waiting.placed_ns, waiting.woken) = (cpu, at_ns, true);
            if waiting.since_ns.is_none() {
                (waiting.since_ns, waiting.waker) = (Some(at_ns), waker);
            }
            return;
        }
        let waiting = Waiting {
            since_ns: Some(at_ns),
            waker,
            woken: true,
            ..Waiting::moved(comm, cpu, at_ns)
        };
        self.wait(tid, waiting);
    }

    fn migrate(&mut self, at_ns: u64, tid: u32, cpu: u32) {
        if let Some(waiting) = self.waiting.get_mut(&tid) {
            (waiting.cpu, waiting.placed_ns) = (cpu, at_ns);
        } else if !self.running.contains(&tid) {
            self.wait(tid, Waiting::moved(Comm::default(), cpu, at_ns));
        }
    }

    /// Its switches and wakings give its new name from here on; what goes on has it as well.
    fn rename(&mut self, tid: u32, comm: Comm) {
        let running = self.running.iter().position(|&running| running == tid);
        if let Some(index) = running
            && let Has::Task(open) = &mut self.cpus[index].has
        {
            open.comm = comm;
        } else if let Some(waiting) = self.waiting.get_mut(&tid) {
            waiting.comm = comm;
        }
    }

    fn wait(&mut self, tid: u32, waiting: Waiting) {
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.clear();
        }
        self.waiting.insert(tid, waiting);
    }

    /// The stack of the task that left last.
    fn stack(&mut self, index: usize, tid: u32, on: BlockedOn) {
        let cpu = &mut self.cpus[index];
        let slice = match std::mem::replace(&mut cpu.last, Last::None) {
            Last::None => None,
            Last::Kept => cpu.kept.back_mut().map(|(slice, _)| slice),
            Last::Done(number) => number
                .checked_sub(self.fetched)
                .and_then(|index| self.done.get_mut(index as usize)),
        };
        if let Some(slice) = slice.filter(|slice| slice.tid == tid) {
            slice.blocked_on = match slice.state {
                // One that could go on waits for nothing, but for what the quota keeps from it.
                TaskState::Preempted if on != BlockedOn::Quota => BlockedOn::Unknown,
                TaskState::Stopped => BlockedOn::Stopped,
                TaskState::Sleeping | TaskState::Uninterruptible if on == BlockedOn::Quota => {
                    BlockedOn::Unknown
                }
                _ => on,
            };
        }
    }

    /// Appends the stays of the subjects that ended, in the order of their ends, each once; the last millisecond's come with
    /// the next call. A stay that goes on for a second is given in parts: all but the last end with [`TaskState::Other`].
    pub fn take_stays(&mut self, out: &mut Vec<SchedSlice>) {
        self.cut(CUT_NS);
        let to_ns = self.seen_to_ns.saturating_sub(STACK_NS);
        let count = self.done.partition_point(|slice| slice.end_ns <= to_ns);
        self.fetched += count as u64;
        out.extend(self.done.drain(..count));
    }

    /// Appends who had each CPU as far as it is known, in the order of the ends; the last two seconds may come with the next
    /// call.
    pub fn take_shares(&mut self, out: &mut Vec<CpuShare>) {
        self.shares.take(out);
    }

    /// Appends the rest of both: nothing comes after this.
    pub fn finish(&mut self, stays: &mut Vec<SchedSlice>, shares: &mut Vec<CpuShare>) {
        self.seen_to(self.seen_to_ns);
        self.cut(0);
        self.fetched += self.done.len() as u64;
        stays.extend(self.done.drain(..));
        self.shares.finish(shares);
    }

    /// Gives the part up to now of those subjects' stays that have gone on for `after_ns`.
    fn cut(&mut self, after_ns: u64) {
        let now_ns = self.seen_to_ns;
        for cpu in &mut self.cpus {
            let Has::Task(open) = &mut cpu.has else { continue };
            let long = now_ns.saturating_sub(open.start_ns) > after_ns;
            if long && self.subjects.is(open.tid, &open.comm) {
                self.done.push_back(open.part(now_ns, cpu.number));
            }
        }
    }

    /// Appends the stays of those that are not subjects that overlap `from_ns..to_ns`, in the order of their starts, each at
    /// most once whatever is asked.
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
            let Has::Task(open) = &mut cpu.has else { continue };
            let meant = open.start_ns < to_ns.min(now_ns) && now_ns > from_ns;
            if meant && !self.subjects.is(open.tid, &open.comm) {
                out.push(open.part(now_ns, cpu.number));
            }
        }
        for (&tid, waiting) in &mut self.waiting {
            let Some(since_ns) = waiting.since_ns else {
                continue;
            };
            if now_ns > from_ns && since_ns < to_ns.min(now_ns) && !self.subjects.knows(tid) {
                let open = waiting.comes(tid, waiting.comm, now_ns);
                out.push(open.until(now_ns, waiting.cpu, waiting.comm, TaskState::Other));
                waiting.since_ns = Some(now_ns);
            }
        }
        out[first..].sort_unstable_by_key(|slice| (slice.start_ns, slice.cpu, slice.tid));
    }
}

/// The idle task.
const IDLE: (u32, Comm) = (0, Comm::NONE);

impl Waiting {
    /// One of which no more is known than where it went.
    fn moved(comm: Comm, cpu: u32, at_ns: u64) -> Self {
        Self {
            since_ns: None,
            comm,
            waker: Waker::default(),
            cpu,
            placed_ns: at_ns,
            woken: false,
        }
    }

    /// When it has come to a CPU that has been idle since `since_ns`; `None` where it waited there and was not let.
    fn comes_to_idle(&self, since_ns: u64) -> Option<u64> {
        // One that was woken may be on its way.
        let way_ns = if self.woken { SURELY_THERE_NS } else { 0 };
        let sent = self.placed_ns.saturating_add(way_ns) > since_ns;
        sent.then(|| self.placed_ns.max(since_ns))
    }

    /// It gets a CPU.
    fn comes(&self, tid: u32, comm: Comm, start_ns: u64) -> Open {
        Open {
            tid,
            comm,
            ready_ns: self.since_ns,
            start_ns,
            waker: self.waker,
            woken: None,
        }
    }
}

impl Open {
    /// The stay, ended.
    fn until(&self, end_ns: u64, cpu: u32, comm: Comm, state: TaskState) -> SchedSlice {
        SchedSlice {
            cpu,
            tid: self.tid,
            comm,
            ready_ns: self.ready_ns,
            start_ns: self.start_ns,
            end_ns: end_ns.max(self.start_ns),
            state,
            blocked_on: match state {
                TaskState::Stopped => BlockedOn::Stopped,
                _ => BlockedOn::Unknown,
            },
            waker_tid: self.waker.tid,
            waker_comm: self.waker.comm,
        }
    }

    /// The part up to now; the rest goes on from here.
    fn part(&mut self, now_ns: u64, cpu: u32) -> SchedSlice {
        let slice = self.until(now_ns, cpu, self.comm, TaskState::Other);
        (self.ready_ns, self.start_ns, self.waker) = (None, now_ns, Waker::default());
        slice
    }
}

#[cfg(test)]
mod tests;
