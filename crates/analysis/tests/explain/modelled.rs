//! Whole runs on modelled disks that are recorded and explained, in virtual time.
//!
//! Data in: job sections, a model. Data out: the run and what is explained of it. It must not know what follows from that:
//! tests of several crates share it.
#![allow(dead_code, reason = "each crate's tests use a part of it")]

use fathom_analysis::explain::{Evidence, Explanation, Facts, IoScan, Scanned, Window, explain};
use fathom_core::record::{BlockRequest, CpuShare, IoRecord, KernelSpan, ProcessRow, SchedSlice};
use fathom_core::run::Run;
use fathom_core::units::Nanos;
use fathom_core::workload::{Amount, BlockSize, EngineKind, Job, Rate, Workload};
use fathom_engine::plan::Plan;
use fathom_engine::recording::IoRecording;
use fathom_engine::run::{NoHooks, Options, run_virtual};
use fathom_model::{Catalog, Machine, Spec, file};
use fathom_sys::clock::HostClock;
use fathom_testkit::make;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;

/// A disk that stalls for 300 ms each 40 s, first after 17 s.
pub(crate) fn stalling() -> Spec {
    let text = "\
base = \"azure/P30\"
[[disk.outages]]
when = \"every\"
period_ns = 40_000_000_000
first_ns = 17_000_000_000
duration_ns = 300_000_000
";
    file::parse("stalling.toml", text, Catalog::azure()).expect("a model")
}

/// Sections one after the other, each of `seconds`: reads of 256 KiB at 120 a second.
pub(crate) fn sections(names: &[&str], seconds: u64) -> Vec<Job> {
    let section = |name: &&str| {
        let mut job = Job {
            name: String::from(*name),
            direct: true,
            ..Job::default()
        };
        job.engine.kind = EngineKind::Libaio;
        job.files.names = vec!["/data/data.dat".into()];
        job.region.size = Some(Amount::Bytes(1 << 30));
        job.depth.iodepth = 32;
        job.depth.low = 32;
        let block = BlockSize::Fixed(256 << 10);
        job.block_size = [block.clone(), block.clone(), block];
        job.pace.rate[0] = Some(Rate::Iops(120));
        job.limit.time_based = true;
        job.limit.runtime = Some(Nanos::from_secs(seconds));
        job.start.stonewall = true;
        job
    };
    names.iter().map(section).collect()
}

/// Carries the sections out, records each I/O and explains the record.
pub(crate) fn explained(jobs: Vec<Job>, spec: &Spec) -> (Run, Explanation) {
    let workload = Workload { jobs };
    let plan = Plan::modelled(&workload, spec.volume_bytes()).expect("a plan");
    let (batches, received) = sync_channel(8);
    let recording = IoRecording::lossless(batches);
    let keeps = std::thread::spawn(move || received.into_iter().flatten().collect::<Vec<IoRecord>>());
    let mut options = Options::new(Arc::new(AtomicBool::new(false)), HostClock::new());
    options.recording = Some(Arc::new(recording));
    let results = run_virtual(&plan, &mut Machine::new(spec), &options, &mut NoHooks);
    // The last sender: without it the receiver knows that all has come.
    drop(options);
    let ios = keeps.join().expect("the rows");
    let mut run = make::run(workload.jobs, results.jobs);
    run.status = results.status;
    run.summary.target = make::target("model", true);
    run.summary.groups = results.groups;
    let facts = Facts::new(&run);
    let mut scan = IoScan::new(&facts);
    ios.chunks(4096).for_each(|rows| scan.feed(rows));
    let scanned = Scanned {
        io: Some(scan.finish()),
        ..Scanned::default()
    };
    let Ok(explanation) = explain(&facts, &scanned, &mut Rows(ios));
    (run, explanation)
}

/// All I/Os of a run, in memory.
struct Rows(Vec<IoRecord>);

impl Evidence for Rows {
    type Error = Infallible;

    fn io(&mut self, windows: &[Window], each: &mut dyn FnMut(&[IoRecord])) -> Result<(), Infallible> {
        let within = |io: &&IoRecord| windows.iter().any(|window| window.holds(io.completed_ns));
        each(&self.0.iter().filter(within).copied().collect::<Vec<_>>());
        Ok(())
    }
    fn block(&mut self, _: &[Window], _: &mut dyn FnMut(&[BlockRequest])) -> Result<(), Infallible> {
        Ok(())
    }
    fn sched(&mut self, _: &[Window], _: &mut dyn FnMut(&[SchedSlice])) -> Result<(), Infallible> {
        Ok(())
    }
    fn cpus(&mut self, _: &[Window], _: &mut dyn FnMut(&[CpuShare])) -> Result<(), Infallible> {
        Ok(())
    }
    fn kernel(&mut self, _: &[Window], _: &mut dyn FnMut(&[KernelSpan])) -> Result<(), Infallible> {
        Ok(())
    }
    fn processes(&mut self, _: &[Window], _: &mut dyn FnMut(&[ProcessRow])) -> Result<(), Infallible> {
        Ok(())
    }
}
