//! A simulated kernel: it describes and writes events as a real one does.
//!
//! Duty: turn requests and stays on a CPU into the pages that `trace_pipe_raw` would give. Data in: rows, a seed. Data
//! out: descriptions and pages. It must not know how they are read: nothing here is shared with a decoder but the kernel's
//! own words. The seed chooses what differs between kernels: numbers of events, places of fields, sizes of pages, which CPU
//! writes what, padding, times in full or in part.

mod encode;
mod events;
mod formats;

use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, TaskState};
use fathom_core::rng::Rng;
use formats::{EventText, Kernel};

/// A task: its number (0 is the idle one) and its name.
pub type Task = (u32, Comm);

/// What the scheduler does.
#[derive(Debug, Clone, Copy)]
pub enum SchedEvent {
    /// The CPU goes from one task to the next.
    Switch {
        from: Task,
        /// Why it left.
        state: TaskState,
        to: Task,
    },
    /// A task may run from here on.
    Wake {
        task: Task,
        target_cpu: u32,
        /// The task that wakes it, or that an interrupt does it in.
        waker: u32,
        in_interrupt: bool,
    },
    /// A task that may run goes to another CPU.
    Migrate { task: Task, to_cpu: u32 },
    /// A task makes another one.
    Fork { parent: Task, child: Task },
    /// The stack of the task that left, innermost first.
    Stack { task: Task, frames: &'static [u64] },
}

/// What the block layer does with an I/O or a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Queue,
    Allocate,
    Merge,
    Insert,
    Issue,
    Requeue,
    Complete,
    CompleteBio,
}

#[derive(Debug, Clone, Copy)]
struct BlockEvent {
    time_ns: u64,
    step: Step,
    device: u32,
    sector: u64,
    sectors: u32,
    op: BlockOp,
    flags: BlockFlags,
    errno: u16,
    pid: u32,
    comm: Comm,
}

/// One event to be written.
#[derive(Debug, Clone, Copy)]
enum Event {
    Block(BlockEvent),
    Sched(SchedEvent),
}

/// The simulated kernel.
#[derive(Debug)]
pub struct Peer {
    seed: u64,
    rng: Rng,
    kernel: Kernel,
    /// What each CPU writes and when, in the order in which it was asked for.
    cpus: Vec<Vec<(u64, Event)>>,
}

impl Peer {
    /// A kernel with so many CPUs; the same seed gives the same pages.
    pub fn new(seed: u64, cpus: usize) -> Self {
        let mut rng = Rng::stream(seed, 1);
        Self {
            seed,
            kernel: Kernel::new(&mut rng),
            rng,
            cpus: vec![Vec::new(); cpus.max(1)],
        }
    }

    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// Has a CPU write an event of the scheduler. Events may come in any order.
    pub fn sched(&mut self, cpu: usize, time_ns: u64, event: SchedEvent) {
        self.write(cpu, time_ns, Event::Sched(event));
    }

    /// Has a request happen: all the events that a kernel writes of it, sent on one CPU and completed on another one,
    /// which the seed chooses. It can be read back as the same row where its times are in order, and some nanoseconds
    /// apart for a request that was given back or has a flush before it. The device takes FUA itself.
    pub fn request(&mut self, row: &BlockRequest) {
        let cpus = self.cpus.len() as u64;
        let (sender, receiver) = (self.rng.below(cpus), self.rng.below(cpus));
        for event in events::of(row) {
            let completed = matches!(event.step, Step::Complete | Step::CompleteBio);
            let cpu = if completed { receiver } else { sender };
            self.write(cpu as usize, event.time_ns, Event::Block(event));
        }
    }

    fn write(&mut self, cpu: usize, time_ns: u64, event: Event) {
        let cpu = cpu % self.cpus.len();
        self.cpus[cpu].push((time_ns, event));
    }

    /// The text of `events/header_page`.
    pub fn header_page(&self) -> String {
        self.kernel.header_page()
    }

    /// The texts of the events' `format` files.
    pub fn formats(&self) -> Vec<String> {
        self.kernel.formats().iter().map(EventText::text).collect()
    }

    /// The pages that a CPU's `trace_pipe_raw` gives.
    pub fn pages(&self, cpu: usize) -> Vec<Vec<u8>> {
        let mut events = self.cpus[cpu].clone();
        events.sort_by_key(|(time_ns, _)| *time_ns);
        let mut rng = Rng::stream(self.seed, 100 + cpu as u64);
        encode::pages(&self.kernel, &events, &mut rng)
    }
}
