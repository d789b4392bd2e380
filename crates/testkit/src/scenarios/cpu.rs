//! CPUs and the tasks that compete for them: priorities, turns of 4 ms among equals, preemption on waking.

use super::Window;
use super::machine::{Event, MS, Machine, inside};
use fathom_core::record::{BlockedOn, Comm, SchedSlice, TaskState};

/// The longest turn while another one waits.
const TURN_NS: u64 = 4 * MS;
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

#[derive(Debug, Clone)]
pub(super) struct Task {
    pub tid: u32,
    pub comm: Comm,
    pub body: Body,
    /// The higher one runs first.
    pub priority: u8,
    pub pinned: Option<usize>,
    /// Times in which its cgroup's quota lets it not run.
    pub frozen: Vec<Window>,
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
            frozen: Vec::new(),
            cpu_ns: 0,
            last_cpu: 0,
            ready_since_ns: None,
            state: State::Sleeping,
            left_ns: 0,
        }
    }
}

impl Machine {
    /// Makes a task ready, if it sleeps and has something to do.
    pub(super) fn wake(&mut self, task: usize) {
        if self.tasks[task].state != State::Sleeping {
            return;
        }
        if let Some(end) = inside(&self.tasks[task].frozen, self.now) {
            // It is ready from now on, but is only put on a CPU when the quota is there again.
            let now = self.now;
            self.tasks[task].ready_since_ns.get_or_insert(now);
            self.at(end, Event::Wake(task));
            return;
        }
        let Some(work_ns) = self.wanted(task) else { return };
        self.tasks[task].left_ns = work_ns;
        let cpu = self.choose_cpu(task);
        self.enqueue(task, cpu);
    }

    /// The CPU time that a task wants now; `None`: it goes on sleeping.
    fn wanted(&mut self, task: usize) -> Option<u64> {
        match self.tasks[task].body.clone() {
            Body::Worker(worker) => self.load_work_ns(worker),
            Body::Burner {
                windows, burst_ns, ..
            } => {
                inside(&windows, self.now)?;
                let burst = self.log_normal(burst_ns as f64, 0.2);
                Some(burst as u64)
            }
        }
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
                    self.leave(cpu, TaskState::Preempted);
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
    fn leave(&mut self, cpu: usize, state: TaskState) {
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
            blocked_on: BlockedOn::Unknown,
            waker_tid: 0,
            waker_comm: Comm::default(),
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
        if let Some(end) = inside(&self.tasks[task].frozen, self.now) {
            self.leave(cpu, TaskState::Preempted);
            self.cpus[cpu].waiting.retain(|waiting| *waiting != task);
            self.tasks[task].state = State::Sleeping;
            self.tasks[task].ready_since_ns = Some(self.now);
            self.at(end, Event::Wake(task));
            self.switch(cpu);
            return;
        }
        if self.tasks[task].left_ns == 0 {
            self.worked(task);
            let Some(work_ns) = self.wanted_again(task) else {
                self.leave(cpu, TaskState::Sleeping);
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
            self.leave(cpu, TaskState::Preempted);
            self.switch(cpu);
        } else {
            self.schedule_tick(cpu);
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
                    self.exponential(pause_ns as f64)
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
