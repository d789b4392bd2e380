//! CPUs and the tasks that compete for them: priorities, turns of 4 ms among equals, preemption on waking.

use super::Window;
use super::draws::{Of, draws, exponential, log_normal};
use super::machine::{Event, MS, Machine, inside};
use fathom_core::record::{BlockedOn, Comm, SchedSlice, TaskState};
use fathom_core::rng::Rng;

/// The longest turn while another one waits.
const TURN_NS: u64 = 4 * MS;
/// The CPU time that a task takes to stop.
const TO_STOP_NS: u64 = 4_000;
/// A task that wakes takes the CPU from an equal that has had it this long.
const GRANULARITY_NS: u64 = MS;

#[derive(Debug, Clone, Default)]
pub(super) struct Cpu {
    current: Option<Stay>,
    waiting: Vec<usize>,
    stays: u64,
}

#[derive(Debug, Clone, Copy)]
struct Stay {
    task: usize,
    waker: Option<(u32, Comm)>,
    ready_ns: u64,
    start_ns: u64,
    /// When it was last accounted.
    since_ns: u64,
}

/// What a task does once it has had the CPU time that it wanted.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// A worker of the load.
    Worker(usize),
    /// Burns CPU in bursts within its windows: burst and mean pause.
    Burner {
        windows: Vec<Window>,
        burst_ns: u64,
        pause_ns: u64,
    },
}

/// What keeps a task from running though it could.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Its cgroup's quota is used up.
    Quota,
    /// A signal stopped it; who sent it lets it go on.
    Stopped { by: (u32, Comm) },
    /// The freezer of version 2 has it.
    Frozen { by: (u32, Comm) },
}

#[derive(Debug, Clone)]
pub(super) struct Task {
    pub tid: u32,
    pub comm: Comm,
    pub body: Body,
    /// The higher one runs first.
    pub priority: u8,
    pub pinned: Option<usize>,
    /// Times in which it may not run, and why.
    pub held: Vec<(Window, Hold)>,
    /// Who wakes it, where that is no interrupt.
    pub waker: Option<(u32, Comm)>,
    /// Bursts and pauses that were drawn.
    drawn: u64,
    pub cpu_ns: u64,
    pub last_cpu: usize,
    /// Since when its quota keeps it waiting.
    ready_since_ns: Option<u64>,
    state: State,
    left_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Sleeping,
    Ready { since_ns: u64 },
    Running,
}

impl Task {
    pub(super) fn new(tid: u32, name: &str, body: Body) -> Self {
        Self {
            tid,
            comm: Comm::from(name),
            body,
            priority: 1,
            pinned: None,
            held: Vec::new(),
            waker: None,
            drawn: 0,
            cpu_ns: 0,
            last_cpu: 0,
            ready_since_ns: None,
            state: State::Sleeping,
            left_ns: 0,
        }
    }
}

impl Task {
    /// Whether it may not run, until when and why.
    fn hold(&self, now: u64) -> Option<(u64, Hold)> {
        let mut held = self.held.iter();
        let (window, hold) = held.find(|(window, _)| inside(&[*window], now).is_some())?;
        Some((window.end_ns, *hold))
    }
}

impl Machine {
    /// Makes a task ready, if it sleeps and has something to do.
    pub(super) fn wake(&mut self, task: usize) {
        if self.tasks[task].state != State::Sleeping {
            return;
        }
        let now = self.now;
        if let Some((end_ns, hold)) = self.tasks[task].hold(now) {
            // By a quota it is ready from now on, and only put on a CPU when that is there again.
            if hold == Hold::Quota {
                self.tasks[task].ready_since_ns.get_or_insert(now);
            }
            self.at(end_ns, Event::Wake(task));
            return;
        }
        let let_go = self.tasks[task]
            .held
            .iter()
            .find(|(window, _)| window.end_ns == now);
        if let Some((_, Hold::Stopped { by } | Hold::Frozen { by })) = let_go {
            self.tasks[task].waker = Some(*by);
        }
        let Some(work_ns) = self.wanted(task) else { return };
        self.tasks[task].left_ns = work_ns;
        let cpu = self.choose_cpu(task);
        self.enqueue(task, cpu);
    }

    /// A signal wakes a task that sleeps, to stop it.
    pub(super) fn hold(&mut self, task: usize) {
        if self.tasks[task].state == State::Sleeping {
            self.tasks[task].left_ns = TO_STOP_NS;
            let cpu = self.choose_cpu(task);
            self.enqueue(task, cpu);
        }
    }

    /// The CPU time that a task wants now; `None`: it goes on sleeping.
    fn wanted(&mut self, task: usize) -> Option<u64> {
        match self.tasks[task].body.clone() {
            Body::Worker(worker) => self.load_work_ns(worker),
            Body::Burner {
                windows, burst_ns, ..
            } => {
                inside(&windows, self.now)?;
                let burst = log_normal(&mut self.task_draws(task), burst_ns as f64, 0.2);
                Some(burst as u64)
            }
        }
    }

    fn task_draws(&mut self, task: usize) -> Rng {
        let task = &mut self.tasks[task];
        task.drawn += 1;
        draws(self.seed, Of::Task(task.tid), task.drawn)
    }

    fn choose_cpu(&self, task: usize) -> usize {
        let task = &self.tasks[task];
        if let Some(cpu) = task.pinned {
            return cpu;
        }
        let idle = |cpu: usize| self.cpus[cpu].current.is_none();
        if idle(task.last_cpu) {
            return task.last_cpu;
        }
        (0..self.cpus.len())
            .find(|&cpu| idle(cpu))
            .unwrap_or(task.last_cpu)
    }

    fn enqueue(&mut self, task: usize, cpu: usize) {
        let since_ns = self.tasks[task].ready_since_ns.take().unwrap_or(self.now);
        self.tasks[task].state = State::Ready { since_ns };
        self.cpus[cpu].waiting.push(task);
        match self.cpus[cpu].current {
            None => self.switch(cpu),
            Some(stay) => {
                let (mine, theirs) = (self.tasks[task].priority, self.tasks[stay.task].priority);
                let long_enough = self.now - stay.start_ns >= GRANULARITY_NS;
                if mine > theirs || (mine == theirs && long_enough) {
                    self.leave(cpu, TaskState::Preempted, BlockedOn::Unknown);
                    self.switch(cpu);
                }
            }
        }
    }

    /// Puts the most urgent one that waits on the CPU.
    fn switch(&mut self, cpu: usize) {
        let tasks = &self.tasks;
        let best = self.cpus[cpu]
            .waiting
            .iter()
            .enumerate()
            .max_by_key(|(place, task)| (tasks[**task].priority, std::cmp::Reverse(*place)));
        let Some((place, _)) = best else { return };
        let task = self.cpus[cpu].waiting.remove(place);
        let State::Ready { since_ns } = self.tasks[task].state else {
            return;
        };
        self.tasks[task].state = State::Running;
        self.tasks[task].last_cpu = cpu;
        self.cpus[cpu].current = Some(Stay {
            task,
            waker: self.tasks[task].waker.take(),
            ready_ns: since_ns,
            start_ns: self.now,
            since_ns: self.now,
        });
        self.cpus[cpu].stays += 1;
        self.schedule_tick(cpu);
    }

    fn schedule_tick(&mut self, cpu: usize) {
        let Some(stay) = self.cpus[cpu].current else {
            return;
        };
        let left_ns = self.tasks[stay.task].left_ns.clamp(1, TURN_NS);
        let number = self.cpus[cpu].stays;
        self.at(self.now + left_ns, Event::Tick(cpu, number));
    }

    fn account(&mut self, cpu: usize) -> Option<usize> {
        let now = self.now;
        let stay = self.cpus[cpu].current.as_mut()?;
        let ran_ns = now - stay.since_ns;
        stay.since_ns = now;
        let task = &mut self.tasks[stay.task];
        task.left_ns = task.left_ns.saturating_sub(ran_ns);
        task.cpu_ns += ran_ns;
        Some(stay.task)
    }

    /// Takes the running task off the CPU; one that could go on stays ready there.
    fn leave(&mut self, cpu: usize, state: TaskState, blocked_on: BlockedOn) {
        self.account(cpu);
        let Some(stay) = self.cpus[cpu].current.take() else {
            return;
        };
        let task = &mut self.tasks[stay.task];
        self.slices.push(SchedSlice {
            cpu: cpu as u32,
            tid: task.tid,
            comm: task.comm,
            ready_ns: Some(stay.ready_ns),
            start_ns: stay.start_ns,
            end_ns: self.now,
            state,
            blocked_on,
            waker_tid: stay.waker.map_or(0, |(tid, _)| tid),
            waker_comm: stay.waker.map(|(_, comm)| comm).unwrap_or_default(),
        });
        if state == TaskState::Preempted {
            task.state = State::Ready { since_ns: self.now };
            self.cpus[cpu].waiting.push(stay.task);
        } else {
            task.state = State::Sleeping;
        }
    }

    pub(super) fn tick(&mut self, cpu: usize, number: u64) {
        if self.cpus[cpu].stays != number {
            return;
        }
        let Some(task) = self.account(cpu) else { return };
        if let Some((end_ns, hold)) = self.tasks[task].hold(self.now) {
            let (state, blocked_on) = match hold {
                Hold::Quota => (TaskState::Preempted, BlockedOn::Quota),
                Hold::Stopped { .. } => (TaskState::Stopped, BlockedOn::Stopped),
                Hold::Frozen { .. } => (TaskState::Sleeping, BlockedOn::Frozen),
            };
            self.leave(cpu, state, blocked_on);
            self.cpus[cpu].waiting.retain(|waiting| *waiting != task);
            self.tasks[task].state = State::Sleeping;
            if hold == Hold::Quota {
                self.tasks[task].ready_since_ns = Some(self.now);
            }
            self.at(end_ns, Event::Wake(task));
            self.switch(cpu);
            return;
        }
        if self.tasks[task].left_ns == 0 {
            self.worked(task);
            let Some(work_ns) = self.wanted_again(task) else {
                let (state, blocked_on) = self.sleeps(task);
                self.leave(cpu, state, blocked_on);
                self.switch(cpu);
                return;
            };
            self.tasks[task].left_ns = work_ns;
        }
        let priority = self.tasks[task].priority;
        let rival = self.cpus[cpu]
            .waiting
            .iter()
            .any(|other| self.tasks[*other].priority >= priority);
        let had_turn = self.cpus[cpu]
            .current
            .is_some_and(|stay| self.now - stay.start_ns >= TURN_NS);
        if rival && had_turn {
            self.leave(cpu, TaskState::Preempted, BlockedOn::Unknown);
            self.switch(cpu);
        } else {
            self.schedule_tick(cpu);
        }
    }

    /// How a task sleeps that has nothing to do: of others than the load's the recorder knows no stack.
    fn sleeps(&self, task: usize) -> (TaskState, BlockedOn) {
        let Body::Worker(worker) = self.tasks[task].body else {
            return (TaskState::Sleeping, BlockedOn::Unknown);
        };
        match self.load_blocked_on(worker) {
            Some(on) => (TaskState::Uninterruptible, on),
            None => (TaskState::Sleeping, BlockedOn::Itself),
        }
    }

    /// Ends the stays that go on.
    pub(super) fn end_stays(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.leave(cpu, TaskState::Other, BlockedOn::Unknown);
        }
    }

    /// The task has had the CPU time that it wanted.
    fn worked(&mut self, task: usize) {
        match self.tasks[task].body.clone() {
            Body::Worker(worker) => self.load_turn(worker),
            Body::Burner {
                windows, pause_ns, ..
            } => {
                let pause = if pause_ns == 0 {
                    0.0
                } else {
                    exponential(&mut self.task_draws(task), pause_ns as f64)
                };
                let next = self.now + pause as u64;
                if inside(&windows, next).is_some() && pause_ns > 0 {
                    self.at(next, Event::Wake(task));
                }
            }
        }
    }

    /// Whether it goes on at once.
    fn wanted_again(&mut self, task: usize) -> Option<u64> {
        match &self.tasks[task].body {
            Body::Burner { pause_ns, .. } if *pause_ns > 0 => None,
            _ => self.wanted(task),
        }
    }
}
