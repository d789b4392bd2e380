//! The record of what was asked of the disks, in the format of a run directory.
//!
//! Data in: a bench, each second; at the end, how it went. Data out: a directory that `fathom explain` and `fathom report` read:
//! each request with its times, the disks' counters, what the model tells, how late the server was. It must not judge.

use crate::bench::Bench;
use crate::status::lateness;
use fathom_core::record::{BlockRequest, CounterRow, RowSink as _, StreamKind, StreamSummary};
use fathom_core::run::{
    Build, CpuUsage, DeviceInfo, DiskSummary, Environment, ModelSummary, Requirement, Run, SCHEMA, Status,
    Summary, Target, TargetFile, TargetKind, Warning,
};
use fathom_core::served::{LATE_SHARE_MAX, Lateness};
use fathom_core::units::{DevId, MonoTime, Nanos, WallTime};
use fathom_core::workload::{Workload, Written};
use fathom_model::{DEVICE, Spec};
use fathom_store::{RunWriter, StoreError, StreamWriter};
use fathom_sys::clock::monotonic_ns;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the requirement that answers came at their time.
pub const TIMELY: &str = "timely_answers";

/// What is known before the first I/O.
#[derive(Debug, Clone)]
pub struct About {
    pub build: Build,
    /// The command line, word by word.
    pub command: Vec<String>,
    pub environment: Environment,
    /// What sound numbers need, as it was at the start.
    pub requirements: Vec<Requirement>,
    /// Each disk's, in their order; none: nothing takes any time.
    pub specs: Vec<Spec>,
    /// What to know of them.
    pub warnings: Vec<Warning>,
    /// Where each disk is to be found: its file, or its address.
    pub places: Vec<String>,
}

/// A record under way.
pub struct Record {
    writer: RunWriter,
    block: StreamWriter<BlockRequest>,
    counters: StreamWriter<CounterRow>,
    run: Run,
    specs: Vec<Spec>,
    lost: Option<String>,
}

impl Record {
    /// Begins it in `dir`, which is empty or not there.
    ///
    /// # Errors
    /// The directory cannot be used.
    pub fn begin(dir: &Path, bench: &Bench, about: About) -> Result<Self, StoreError> {
        let run = before(bench, &about);
        let writer = RunWriter::create(dir, &run)?;
        Ok(Self {
            block: StreamWriter::create(dir)?,
            counters: StreamWriter::create(dir)?,
            writer,
            run,
            specs: about.specs,
            lost: None,
        })
    }

    /// Keeps what went on since the last call, as [`Bench::take_seen`] tells it. To be called each second.
    pub fn second(&mut self, requests: &[BlockRequest], counters: &[CounterRow]) {
        let kept = [
            self.block.rows(requests),
            self.counters.rows(counters),
            self.block.rows(&[]),
            self.counters.rows(&[]),
        ];
        for error in kept.into_iter().filter_map(Result::err) {
            self.lost.get_or_insert_with(|| error.to_string());
        }
    }

    /// Ends it; the run as it is recorded, with what `judge` has to say of it.
    ///
    /// # Errors
    /// It could not be completed; what was kept stays readable.
    pub fn end(
        mut self,
        bench: &Bench,
        interrupted: bool,
        judge: impl FnOnce(&mut Run),
    ) -> Result<Run, StoreError> {
        let (requests, counters) = bench.take_seen();
        self.second(&requests, &counters);
        let mut streams = Vec::new();
        for end in [self.block.finish()?, self.counters.finish()?] {
            self.writer.stream_ended(&end);
            streams.push(StreamSummary {
                kind: end.kind,
                rows: end.rows,
                dropped: end.lost_rows,
                missing: Vec::new(),
            });
        }
        streams.sort_by_key(|stream| stream.kind != StreamKind::Block);
        let run = &mut self.run;
        run.status = if interrupted {
            Status::Interrupted
        } else {
            Status::Complete
        };
        let summary = &mut run.summary;
        summary.streams = streams;
        let duration_ns = monotonic_ns() - bench.origin_ns();
        summary.disks = (0..bench.disks())
            .map(|disk| counted(bench, disk, duration_ns))
            .collect();
        summary.model = model(bench, &self.specs);
        let late = lateness(bench);
        run.requirements.push(timely(&late));
        if late.valid == Some(false) {
            summary.warnings.push(Warning::ServedLate {
                late_ns_p99: late.p99,
                share_max_percent: LATE_SHARE_MAX * 100.0,
            });
        }
        if let Some(detail) = self.lost {
            summary.warnings.push(Warning::RecordIncomplete { detail });
        }
        let mut run = self.run;
        judge(&mut run);
        self.writer.finish(&run, std::iter::empty())?;
        Ok(run)
    }
}

fn timely(late: &Lateness) -> Requirement {
    Requirement {
        name: TIMELY.to_owned(),
        met: late.valid,
        detail: format!(
            "{} answers, late by p50 {}, p99 {}, at most {}",
            late.n,
            Nanos(late.p50),
            Nanos(late.p99),
            Nanos(late.max)
        ),
    }
}

fn before(bench: &Bench, about: &About) -> Run {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock set before 1970 is shown as 1970.
    let now_ns = now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
    let since_ns = monotonic_ns() - bench.origin_ns();
    let names: Vec<String> = about
        .specs
        .iter()
        .map(|spec| format!("model:{}", spec.name))
        .collect();
    let description = if names.is_empty() {
        String::from("a disk that takes no time, served live")
    } else {
        format!("{}, served live", names.join(" and "))
    };
    Run {
        schema: SCHEMA.to_owned(),
        build: about.build.clone(),
        command: about.command.clone(),
        started_unix_ns: WallTime(now_ns.saturating_sub(since_ns)),
        started_monotonic_ns: MonoTime(bench.origin_ns()),
        status: Status::Running,
        written: Written {
            source: String::from("fathom disk serve"),
            sections: Vec::new(),
        },
        workload: Workload { jobs: Vec::new() },
        environment: about.environment.clone(),
        requirements: about.requirements.clone(),
        summary: Summary {
            schema: SCHEMA.to_owned(),
            target: Target {
                description,
                called: None,
                modelled: false,
                files: (0..bench.disks())
                    .map(|disk| file(bench, disk, &about.places))
                    .collect(),
            },
            jobs: Vec::new(),
            groups: Vec::new(),
            total: None,
            disks: Vec::new(),
            cpu: CpuUsage::default(),
            warnings: about.warnings.clone(),
            floor: None,
            model: None,
            streams: Vec::new(),
            commands: Vec::new(),
        },
    }
}

fn file(bench: &Bench, disk: usize, places: &[String]) -> TargetFile {
    let size_bytes = bench.store(disk).size_bytes();
    TargetFile {
        path: places.get(disk).cloned().unwrap_or_default(),
        kind: TargetKind::Modelled,
        size_bytes,
        filesystem: None,
        device: Some(DeviceInfo {
            name: bench.name(disk).to_owned(),
            id: DevId {
                major: 0,
                minor: DEVICE + disk as u32,
            },
            model: None,
            rotational: None,
            scheduler: None,
            nr_requests: None,
            logical_block_bytes: Some(512),
            size_bytes: Some(size_bytes),
            slaves: Vec::new(),
            slave_ids: Vec::new(),
        }),
        device_missing: None,
    }
}

fn counted(bench: &Bench, disk: usize, duration_ns: u64) -> DiskSummary {
    let counts = bench.counts(disk);
    let [read, write, trim, flush] = counts.ops;
    DiskSummary {
        name: bench.name(disk).to_owned(),
        duration_ns,
        read_ios: read.ios,
        read_bytes: read.bytes,
        read_time_ns: read.time_ns,
        write_ios: write.ios,
        write_bytes: write.bytes,
        write_time_ns: write.time_ns,
        discard_ios: trim.ios,
        flush_ios: flush.ios,
        busy_ns: counts.busy_ns,
        weighted_busy_ns: counts.ops.iter().map(|op| op.time_ns).sum(),
        ..DiskSummary::default()
    }
}

/// What the model of the first disk tells; with several, what held each is added up.
fn model(bench: &Bench, specs: &[Spec]) -> Option<ModelSummary> {
    let spec = specs.first()?;
    let mut summary = ModelSummary {
        name: spec.name.clone(),
        seed: spec.seed,
        spec_toml: fathom_model::file::to_toml(spec).unwrap_or_default(),
        not_known: spec.not_known(),
        ..bench.account(0)?
    };
    for disk in 1..bench.disks() {
        let other = bench.account(disk)?;
        summary.name = format!("{} and {}", summary.name, specs.get(disk)?.name);
        for held in other.held {
            match summary.held.iter_mut().find(|known| known.limit == held.limit) {
                Some(known) => known.held_ns += held.held_ns,
                None => summary.held.push(held),
            }
        }
        summary.credits.extend(other.credits);
    }
    Some(summary)
}
