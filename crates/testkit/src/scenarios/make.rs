//! Which scenarios there are, and how each is made from its seed.

mod inject;
mod innocents;
mod more;
mod size;
mod steady;
mod truth;

pub use innocents::Innocent;
pub use steady::steady;

use super::block::BlockLayer;
use super::counters;
use super::cpu::{Body, Task};
use super::device::Device;
use super::load::{Worker, as_recorded};
use super::machine::{BOOT_NS, Event, MS, Machine, SECOND, comm};
use super::others::Stream;
use super::told::{self, Told};
use super::{Cause, Injected, Scenario, Window};
use crate::make;
use fathom_core::record::{BlockOp, BlockRequest, Comm, KernelSpan};
use fathom_core::rng::{Rng, split_mix};
use fathom_core::run::{JobSummary, LoadStop, Run, Warning};
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::workload::{EngineKind, Job, Rate};
use size::Size;

/// Seeds to work with, and seeds to report: the rules have not been looked at on the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// To find out how the rules do.
    Development,
    /// To report how they do.
    HeldOut,
}

/// What is done to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Nothing,
    Outage,
    Outages,
    CgroupLimit,
    CpuQuota,
    NoTags,
    NoIssue,
    SlowFlush,
    CpuHog,
    CpuCrowd,
    Competitor,
    OthersWriteback,
    OwnWriteback,
    Surge,
    LargeIos,
    SecondSection,
    OutageAndHog,
    CompetitorAndHog,
    OutageBesideSteadyIo,
    OutageBesideNewIo,
    OutageBesideHog,
    OutageInOpenLoop,
    LevelShift,
    ShiftBesideNeighbour,
    SlowDrift,
    LongShift,
    Bursts,
    OverlappingCauses,
    Stopped,
    Frozen,
    CommitOfAnother,
}

impl Doing {
    const ALL: [Self; 31] = [
        Self::Nothing,
        Self::Outage,
        Self::Outages,
        Self::CgroupLimit,
        Self::CpuQuota,
        Self::NoTags,
        Self::NoIssue,
        Self::SlowFlush,
        Self::CpuHog,
        Self::CpuCrowd,
        Self::Competitor,
        Self::OthersWriteback,
        Self::OwnWriteback,
        Self::Surge,
        Self::LargeIos,
        Self::SecondSection,
        Self::OutageAndHog,
        Self::CompetitorAndHog,
        Self::OutageBesideSteadyIo,
        Self::OutageBesideNewIo,
        Self::OutageBesideHog,
        Self::OutageInOpenLoop,
        Self::LevelShift,
        Self::ShiftBesideNeighbour,
        Self::SlowDrift,
        Self::LongShift,
        Self::Bursts,
        Self::OverlappingCauses,
        Self::Stopped,
        Self::Frozen,
        Self::CommitOfAnother,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Outage => "device outage",
            Self::Outages => "regular device outages",
            Self::CgroupLimit => "cgroup I/O limit",
            Self::CpuQuota => "cgroup CPU quota",
            Self::NoTags => "no tags",
            Self::NoIssue => "scheduler holds requests",
            Self::SlowFlush => "slow journal flush",
            Self::CpuHog => "CPU hog",
            Self::CpuCrowd => "many equal CPU users",
            Self::Competitor => "competing process",
            Self::OthersWriteback => "another process's pages written back",
            Self::OwnWriteback => "own pages written back",
            Self::Surge => "surge of the load above the disk's limit",
            Self::LargeIos => "large I/Os of the load",
            Self::SecondSection => "second section of the load",
            Self::OutageAndHog => "device outage and CPU hog",
            Self::CompetitorAndHog => "competing process and CPU hog",
            Self::OutageBesideSteadyIo => "device outage beside steady I/O of another process",
            Self::OutageBesideNewIo => "device outage just after another process began I/O",
            Self::OutageBesideHog => "device outage while another CPU is busy",
            Self::OutageInOpenLoop => "device outage under a load that keeps its rate",
            Self::LevelShift => "slower device for a second or two",
            Self::ShiftBesideNeighbour => "slower device, and a neighbour slow with the load",
            Self::SlowDrift => "device that slows down slowly",
            Self::LongShift => "slower device for 60 % of the run",
            Self::Bursts => "competing process in bursts",
            Self::OverlappingCauses => "slower device, and a CPU hog in its second half",
            Self::Stopped => "stopped by a signal",
            Self::Frozen => "frozen",
            Self::CommitOfAnother => "commit that another process asked for",
        }
    }
}

/// A scenario that has not been simulated yet.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    doing: Doing,
    size: Size,
    seed: u64,
    beside: Option<Innocent>,
}

/// How often each is done to each load.
const ROUNDS: usize = 2;

/// All scenarios of a set: each doing with each size of load, twice.
pub fn plans(set: Set) -> Vec<Plan> {
    let base: u64 = match set {
        Set::Development => 1,
        Set::HeldOut => 0x000f_a7d0,
    };
    let mut plans = Vec::new();
    for (doing_number, doing) in Doing::ALL.into_iter().enumerate() {
        for (size_number, size) in size::ALL.into_iter().enumerate() {
            for round in 0..ROUNDS {
                let number = (doing_number * 100 + size_number * 10 + round) as u64;
                plans.push(Plan {
                    doing,
                    size,
                    seed: split_mix(base.wrapping_mul(0x9e37_79b9) ^ number),
                    beside: None,
                });
            }
        }
    }
    plans
}

/// A scenario while it is made.
struct Making {
    machine: Machine,
    rng: Rng,
    size: Size,
    run_ns: u64,
    /// When something is done.
    window: Window,
    injected: Vec<Injected>,
    limits: Vec<(Window, f64)>,
    /// Times in which a quota was used up.
    throttled: Vec<Window>,
    kernel: Vec<KernelSpan>,
    /// Requests of another disk.
    foreign: Vec<BlockRequest>,
    stops: Vec<LoadStop>,
    dirtied: Vec<(u32, &'static str, u64, u64)>,
    jobs: Vec<Job>,
    /// Causes so far, and a bit for each that is left out.
    causes: u32,
    left_out: u32,
}

impl Making {
    /// The next cause: whether it does what it does. What it needs on the machine is there in either case.
    fn next_cause(&mut self) -> bool {
        self.causes += 1;
        self.left_out & (1 << (self.causes - 1)) == 0
    }

    fn inject(&mut self, cause: Cause, process: Option<&str>) {
        self.injected.push(Injected {
            window: self.window,
            cause,
            process: process.map(String::from),
        });
    }

    /// Uniform between two numbers.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.unit()
    }
}

impl Plan {
    /// What is done, in words.
    pub fn doing(&self) -> &'static str {
        self.doing.name()
    }

    /// Runs it.
    pub fn simulate(&self) -> Scenario {
        self.finish(self.run(0))
    }

    /// Runs it without the causes whose bits are set.
    fn run(&self, left_out: u32) -> Making {
        let mut making = self.begin();
        making.left_out = left_out;
        inject::inject(&mut making, self.doing);
        if let Some(innocent) = self.beside {
            innocents::add(&mut making, innocent);
        }
        let end = BOOT_NS + making.run_ns;
        making.machine.run(end);
        making
    }

    fn begin(&self) -> Making {
        let mut rng = Rng::new(self.seed);
        let size = self.size;
        let device = Device::new(size.channels, 1024, size.service_ns, size.sigma);
        let block = BlockLayer::new(256);
        let cpus = 2 + rng.below(3) as usize;
        let mut machine = Machine::new(self.seed, cpus, device, block);
        let mut load = Task::new(4001, "fathom", Body::Worker(0));
        load.pinned = (rng.below(2) == 0).then_some(0);
        machine.tasks.push(load);
        let mut worker = Worker::new(0, size.depth, size.bytes);
        worker.ends_ns = BOOT_NS + size.run_ns;
        worker.file_at = (1 << 30) + rng.below(1 << 20) * 4096;
        worker.sequential = rng.below(5) == 0;
        machine.workers.push(worker);
        machine.at(BOOT_NS + MS, Event::Wake(0));
        let begin = BOOT_NS + (size.run_ns as f64 * (0.45 + 0.2 * rng.unit())) as u64;
        let long = (size.run_ns / 8).min(800 * MS);
        let lasts = 120 * MS + rng.below(long.saturating_sub(120 * MS).max(1));
        let mut making = Making {
            machine,
            rng,
            size,
            run_ns: size.run_ns,
            window: Window {
                start_ns: begin,
                end_ns: begin + lasts,
            },
            injected: Vec::new(),
            limits: Vec::new(),
            throttled: Vec::new(),
            kernel: Vec::new(),
            foreign: Vec::new(),
            stops: Vec::new(),
            dirtied: Vec::new(),
            jobs: vec![size.job()],
            causes: 0,
            left_out: 0,
        };
        noise(&mut making);
        making
    }

    fn finish(&self, making: Making) -> Scenario {
        let mut machine = making.machine;
        let end = machine.now.max(BOOT_NS + making.run_ns);
        machine.end_stays();
        machine.requests.extend(making.foreign);
        machine.requests.sort_by_key(|request| request.completed_ns);
        let counters = counters::rows(&machine, end, &making.limits, &making.throttled);
        let processes = counters::processes(&machine, end, &making.dirtied);
        let ios = as_recorded(machine.ios);
        let load: Vec<u32> = machine
            .workers
            .iter()
            .map(|worker| machine.tasks[worker.task].tid)
            .collect();
        let told = Told::new(self.seed, machine.cpus.len());
        let (stays, cpus) = told::cpus(machine.slices, told, machine.cpus.len(), (BOOT_NS, end));
        let mut kernel = machine.kernel;
        kernel.extend(making.kernel);
        kernel.sort_by_key(|span| span.end_ns);
        if !told.kernel {
            kernel.clear();
            for request in &mut machine.requests {
                (request.owner_pid, request.owner_comm) = (0, Comm::default());
            }
        }
        let mut run = run(making.jobs);
        if !making.stops.is_empty() {
            run.summary.warnings.push(Warning::LoadStopped {
                number: making.stops.len() as u64,
                total_ns: making.stops.iter().map(|stop| stop.length_ns).sum(),
                stops: making.stops,
            });
        }
        Scenario {
            label: format!("{}, {}, seed {:#x}", self.doing.name(), self.size.name, self.seed),
            run,
            injected: making.injected,
            slices: told::ring(stays, &ios, &load),
            cpus,
            kernel,
            ios,
            requests: machine.requests,
            counters,
            processes,
        }
    }
}

/// What goes on on any machine: a journal, a logger, short tasks, and something that starts by chance when something is
/// done.
fn noise(making: &mut Making) {
    let always = vec![Window {
        start_ns: BOOT_NS,
        end_ns: u64::MAX,
    }];
    let machine = &mut making.machine;
    machine.journal.on = making.rng.below(10) < 6;
    machine.journal.every_ns = SECOND + making.rng.below(4 * SECOND);
    let streams = [("systemd-journal", 210, 300 * MS), ("postgres", 900, 40 * MS)];
    for (name, pid, pause_ns) in streams {
        machine.streams.push(Stream {
            pid,
            comm: comm(name),
            op: BlockOp::Write,
            depth: 1,
            size: 8 << 10,
            windows: always.clone(),
            pause_ns,
            in_flight: 0,
            drawn: 0,
            bytes: Vec::new(),
        });
    }
    for (tid, name, burst_ns, pause_ns) in [
        (500, "sshd", 200_000, 20 * MS),
        (501, "node_exporter", 2 * MS, 100 * MS),
        (502, "kubelet", MS, 30 * MS),
    ] {
        let body = Body::Burner {
            windows: always.clone(),
            burst_ns,
            pause_ns,
        };
        let mut task = Task::new(tid, name, body);
        task.priority = 0;
        machine.tasks.push(task);
    }
    bystanders(making);
    let machine = &mut making.machine;
    for index in 0..2 {
        machine.at(BOOT_NS + making.rng.below(50 * MS), Event::Stream(index));
    }
    for index in 1..4 {
        machine.at(BOOT_NS + making.rng.below(50 * MS), Event::Wake(index));
    }
    machine.writeback.limit = u64::MAX;
    machine.writeback.depth = 32;
}

/// One may begin to compute on another CPU just then, one may send a few small I/Os.
fn bystanders(making: &mut Making) {
    let machine = &mut making.machine;
    if making.rng.below(2) == 0 {
        let mut task = Task::new(
            600,
            "cron",
            Body::Burner {
                windows: vec![making.window],
                burst_ns: 5 * MS,
                pause_ns: 0,
            },
        );
        task.priority = 0;
        task.pinned = Some(machine.cpus.len() - 1);
        machine.tasks.push(task);
        let index = machine.tasks.len() - 1;
        machine.at(making.window.start_ns, Event::Wake(index));
    }
    if making.rng.below(2) == 0 {
        machine.streams.push(Stream {
            pid: 601,
            comm: comm("logrotate"),
            op: BlockOp::Write,
            depth: 1,
            size: 4 << 10,
            windows: vec![making.window],
            pause_ns: 25 * MS,
            in_flight: 0,
            drawn: 0,
            bytes: Vec::new(),
        });
        let index = machine.streams.len() - 1;
        machine.at(making.window.start_ns, Event::Stream(index));
    }
}

/// The document of a run of one section that is told nothing special.
pub fn empty_run() -> Run {
    run(vec![size::ALL[3].job()])
}

/// The document of such a run.
fn run(jobs: Vec<Job>) -> Run {
    let results = jobs.iter().map(|job| JobSummary {
        name: job.name.clone(),
        workers: job.numjobs,
        ..JobSummary::default()
    });
    let results = results.collect();
    let mut run = make::run(jobs, results);
    run.started_monotonic_ns = MonoTime(BOOT_NS);
    run.summary.target = make::target("data.bin", false);
    run
}

impl Size {
    /// The section that the load is.
    fn job(&self) -> Job {
        let mut job = Job {
            name: String::from("load"),
            direct: true,
            ..Job::default()
        };
        job.engine.kind = EngineKind::Libaio;
        job.pattern.random = true;
        job.depth.iodepth = self.depth as u32;
        job.limit.runtime = Some(Nanos(self.run_ns));
        job
    }
}

/// Makes a section an open loop in its document.
fn open_loop(job: &mut Job, rate: f64) {
    job.pace.rate[0] = Some(Rate::Iops(rate as u64));
}
