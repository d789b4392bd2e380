//! Whole runs in virtual time, on the disk model.

mod early;
mod enough;
mod laws;
mod long;
mod phases;
mod real;
mod simpler;

use super::run;
use crate::plan::Plan;
use crate::run::{Hooks, Options, Results};
use crate::testing::{asynchronous, random_job};
use fathom_core::backend::{Op, Request};
use fathom_core::run::SeriesRow;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::{Accepted, Submitter, VirtualDisk};
use fathom_core::workload::{Amount, Job, Mix, Workload};
use fathom_model::Machine;
use fathom_model::spec::{
    DiskSpec, GuestSpec, KIB, Limit, PageCacheSpec, PathLimits, ServiceSpec, SliceSpec, Spec,
};
use fathom_sys::clock::HostClock;
use std::collections::BTreeMap;
use std::sync::Arc;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const GIB: u64 = 1 << 30;

fn options() -> Options {
    Options::new(Arc::default(), HostClock::new())
}

/// From one time to another, evenly.
fn service(low_us: f64, high_us: f64) -> ServiceSpec {
    ServiceSpec {
        quantiles_us: vec![(0.0, low_us), (100.0, high_us)],
        reference_bytes: 4096,
        ns_per_kib: 0,
        origin: String::new(),
    }
}

/// `disks` disks of 1 GiB without limits that take 1 ms, in chunks of 1 MiB.
fn spec(disks: usize) -> Spec {
    let disk = DiskSpec {
        handling: None,
        merged_streams: 0,
        whole_units: false,
        burst_bytes_need_io_credit: false,
        released: None,
        name: String::from("disk"),
        size_bytes: GIB,
        io_unit_bytes: 256 * KIB,
        limits: PathLimits::default(),
        write_bytes_per_second: Limit::Off,
        read: service(1000.0, 1000.0),
        write: service(1000.0, 1000.0),
        seek: None,
        crowding: None,
        outages: Vec::new(),
    };
    let spec = Spec {
        shared: Vec::new(),
        assumed: Vec::new(),
        name: String::from("test"),
        seed: 1,
        disks: vec![disk; disks],
        stripe_chunk_bytes: 1024 * KIB,
        slices: SliceSpec {
            slice_ns: 50 * MS,
            factor_permille: 1020,
        },
        vm: None,
        host_cache: None,
        guest: GuestSpec {
            submit_ns: 0,
            page_cache: PageCacheSpec {
                capacity_bytes: 512 << 20,
                background_bytes: 16 << 20,
                throttle_bytes: 32 << 20,
                expire_ns: 30 * SECOND,
                wake_ns: 5 * SECOND,
                merge_bytes: 512 * KIB,
                in_flight: 16,
                call_ns: 1000,
                copy_ns_per_kib: 250,
            },
        },
    };
    spec.validate().expect("a valid spec");
    spec
}

fn limits(iops: u64, bytes_per_second: u64) -> PathLimits {
    PathLimits {
        iops: Limit::At(iops),
        bytes_per_second: Limit::At(bytes_per_second),
        burst: None,
    }
}

/// Asynchronous random direct I/O of 4 KiB on 512 MiB.
fn direct(mix: Mix, iodepth: u32) -> Job {
    let mut job = asynchronous(random_job(mix, 4096), iodepth);
    job.direct = true;
    job.region.size = Some(Amount::Bytes(GIB / 2));
    job
}

fn for_ms(mut job: Job, ms: u64) -> Job {
    job.limit.runtime = Some(Nanos::from_millis(ms));
    job.limit.time_based = true;
    job
}

fn named(mut job: Job, name: &str) -> Job {
    name.clone_into(&mut job.name);
    job
}

/// One I/O as the disk saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Io {
    worker: u32,
    op: Op,
    offset: u64,
    len: u64,
    at: u64,
    end: u64,
}

/// A machine, and all that was sent to it.
struct Probe {
    machine: Machine,
    ios: Vec<Io>,
    /// Those whose end is not known yet, by ticket.
    waiting: BTreeMap<u32, usize>,
    now: u64,
}

impl Probe {
    fn new(spec: &Spec) -> Self {
        Self {
            machine: Machine::new(spec),
            ios: Vec::new(),
            waiting: BTreeMap::new(),
            now: 0,
        }
    }

    fn of(&self, worker: u32) -> impl Iterator<Item = &Io> {
        self.ios.iter().filter(move |io| io.worker == worker)
    }
}

impl VirtualDisk for Probe {
    fn capacity_bytes(&self) -> u64 {
        self.machine.capacity_bytes()
    }
    fn submission(&self) -> Nanos {
        self.machine.submission()
    }
    fn attach(&mut self, submitter: Submitter) {
        self.machine.attach(submitter);
    }
    fn submit(&mut self, worker: u32, ticket: u32, request: &Request, now: MonoTime) -> Accepted {
        assert!(now.0 >= self.now, "time only moves on");
        self.now = now.0;
        let accepted = self.machine.submit(worker, ticket, request, now);
        if accepted.completed == MonoTime::NEVER {
            assert_eq!(
                self.waiting.insert(ticket, self.ios.len()),
                None,
                "a ticket is used once at a time"
            );
        }
        self.ios.push(Io {
            worker,
            op: request.op,
            offset: request.offset,
            len: u64::from(request.len),
            at: now.0,
            end: accepted.completed.0,
        });
        accepted
    }
    fn next_event(&self) -> MonoTime {
        self.machine.next_event()
    }
    fn advance(&mut self, now: MonoTime, done: &mut dyn FnMut(u32, MonoTime)) {
        assert!(now.0 >= self.now, "time only moves on");
        self.now = now.0;
        let (ios, waiting) = (&mut self.ios, &mut self.waiting);
        self.machine.advance(now, &mut |ticket, completed| {
            let at = waiting.remove(&ticket).expect("told once");
            ios[at].end = completed.0;
            done(ticket, completed);
        });
    }
}

/// Takes the rows, and notes how many came at a time.
#[derive(Default)]
struct Rows {
    kept: Vec<SeriesRow>,
    largest: usize,
    keeps: bool,
}

impl Hooks for Rows {
    fn rows(&mut self, rows: &[SeriesRow]) {
        self.largest = self.largest.max(rows.len());
        if self.keeps {
            self.kept.extend_from_slice(rows);
        }
    }
}

fn run_on(jobs: &[Job], disk: &mut dyn VirtualDisk) -> (Results, Vec<SeriesRow>) {
    let plan = Plan::modelled(&Workload { jobs: jobs.to_vec() }, disk.capacity_bytes()).expect("a plan");
    let mut hooks = Rows {
        keeps: true,
        ..Rows::default()
    };
    let results = run(&plan, disk, &options(), &mut hooks);
    (results, hooks.kept)
}

/// A run, and all that the disk saw of it.
fn probed(jobs: &[Job], spec: &Spec) -> (Results, Vec<SeriesRow>, Probe) {
    spec.validate().expect("a valid spec");
    let mut probe = Probe::new(spec);
    let (results, rows) = run_on(jobs, &mut probe);
    assert!(probe.waiting.is_empty(), "all that was sent has ended");
    (results, rows, probe)
}
