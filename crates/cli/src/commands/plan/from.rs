//! Recordings to plan from: what is in them, and their I/Os once more for the model.
//!
//! Data in: run directories. Data out: what was seen in each, and the same I/Os in order as often as they are asked for, never
//! all at once. It must not know what is planned.

mod replay;

pub(super) use replay::Replays;

use crate::commands::show::run_of;
use anyhow::bail;
use fathom_core::record::{BlockRequest, CounterRow, IoRecord, StreamKind};
use fathom_core::rng::Rng;
use fathom_core::run::{DeviceInfo, Run};
use fathom_core::workload::Job;
use fathom_plan::seen::arrivals::Arrivals;
use fathom_plan::seen::spans::{self, Span, Spans};
use fathom_plan::seen::{Arrival, Recording, Seen, Source};
use fathom_store::{RecordReader, stored_streams};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where one volume of a recording begins behind another whose size is not known.
const VOLUME_BYTES: u64 = 1 << 44;
/// I/Os that stand for counters are made of so many stretches at a time.
const SPANS: usize = 256;

/// A recording that can be asked for its I/Os again.
pub(super) struct Recorded {
    dir: PathBuf,
    run: Run,
    pub(super) recording: Recording,
    volumes: Volumes,
    /// What stands for I/Os where none were recorded.
    spans: Vec<Span>,
}

/// Where each volume begins, as if all lay one behind the other.
#[derive(Debug, Clone, Default)]
struct Volumes {
    /// By the number of the device as events have it; empty: all devices are taken.
    devices: BTreeMap<u32, u64>,
    /// By job and by file of it.
    files: Vec<Vec<u64>>,
    end_bytes: u64,
}

impl Recorded {
    /// Reads what is in `dir`; of its devices only `device`, if one is named.
    ///
    /// # Errors
    /// It is no recording, or there is nothing in it to plan from.
    pub(super) fn open(dir: &Path, device: Option<&str>) -> anyhow::Result<Self> {
        if fathom_store::is_sweep(dir) {
            bail!(
                "--from {}: this is a sweep, of many loads: give the directory of one of its runs",
                dir.display()
            );
        }
        let run = run_of(dir)?;
        let source = source(dir, &run, device);
        let infos = device_infos(&run);
        let chosen: Vec<&DeviceInfo> = match device {
            None => infos
                .iter()
                .filter(|info| !is_below(info, &infos))
                .copied()
                .collect(),
            Some(name) => infos.iter().filter(|info| info.name == name).copied().collect(),
        };
        if let (Some(name), true) = (device, chosen.is_empty()) {
            let names: Vec<&str> = infos.iter().map(|info| info.name.as_str()).collect();
            bail!(
                "--device {name}: {} is about {}",
                dir.display(),
                if names.is_empty() {
                    String::from("no device that has a name")
                } else {
                    names.join(", ")
                }
            );
        }
        let recording = Recording {
            name: dir.display().to_string(),
            seen: Seen::new(source, run.started_monotonic_ns.0),
            devices: chosen.iter().map(|info| info.name.clone()).collect(),
            aside: infos
                .iter()
                .filter(|info| !chosen.contains(info))
                .map(|info| info.name.clone())
                .collect(),
            dropped: dropped(&run, source),
            above_cache: source == Source::Ios && !direct(&run),
        };
        let volumes = Volumes::of(&run, &chosen);
        let mut recorded = Self {
            dir: dir.to_owned(),
            run,
            recording,
            volumes,
            spans: Vec::new(),
        };
        recorded.look()?;
        if recorded.recording.seen.total().ios() == 0 {
            bail!(
                "--from {}: no read or write is in it: there is nothing to plan from (fathom record, or fathom run --record, keeps \
                 them)",
                dir.display()
            );
        }
        Ok(recorded)
    }

    /// Sees all of it once.
    fn look(&mut self) -> anyhow::Result<()> {
        if self.recording.seen.source.has_ios() {
            let mut seen = self.recording.seen.clone();
            self.each(&mut |arrivals| {
                seen.take(arrivals);
                true
            })?;
            self.recording.seen = seen;
            return Ok(());
        }
        let mut spans = Spans::default();
        if self.recording.seen.source == Source::Counters {
            let names = &self.recording.devices;
            RecordReader::<CounterRow>::open(&self.dir)?.for_each_batch(|rows| {
                spans.counters(rows, |device| {
                    names.is_empty() || names.iter().any(|name| name == device)
                });
            })?;
        } else {
            let stored = fathom_store::read(&self.dir)?;
            stored.series.iter().for_each(|row| spans.series(row));
        }
        self.spans = spans.finish();
        self.recording.seen = spans::seen(&self.spans, self.recording.seen.clone());
        Ok(())
    }

    /// When it begins.
    pub(super) fn start_ns(&self) -> u64 {
        self.run.started_monotonic_ns.0
    }

    /// Gives all I/Os to `take`, in the order in which they were due, until it says that it wants no more.
    pub(super) fn each(&self, take: &mut dyn FnMut(&[Arrival]) -> bool) -> anyhow::Result<()> {
        match self.recording.seen.source {
            Source::Requests => self.in_order::<BlockRequest>(
                |arrivals, row| {
                    if let Some(base_bytes) = self.volumes.of_device(row.device) {
                        arrivals.request(row, base_bytes);
                    }
                },
                take,
            ),
            Source::Ios => {
                let paced = |job: &Job| job.pace.rate.iter().any(Option::is_some);
                let paced: Vec<bool> = self.run.workload.jobs.iter().map(paced).collect();
                self.in_order::<IoRecord>(
                    |arrivals, row| {
                        let paced = paced.get(row.job as usize).copied().unwrap_or(false);
                        arrivals.io(row, self.volumes.of_file(row.job, row.file), paced);
                    },
                    take,
                )
            }
            Source::Counters | Source::Series => {
                let volume_bytes = self.volumes.end_bytes.max(1 << 30);
                let mut rng = Rng::new(self.start_ns());
                let mut arrivals = Vec::new();
                for some in self.spans.chunks(SPANS) {
                    arrivals.clear();
                    for span in some {
                        spans::arrivals(span, volume_bytes, &mut rng, &mut arrivals);
                    }
                    if !take(&arrivals) {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    fn in_order<R: fathom_store::StreamRow>(
        &self,
        put: impl Fn(&mut Arrivals, &R),
        take: &mut dyn FnMut(&[Arrival]) -> bool,
    ) -> anyhow::Result<()> {
        let mut arrivals = Arrivals::default();
        let mut reader = RecordReader::<R>::open(&self.dir)?;
        while let Some(rows) = reader.next_batch()? {
            for row in rows {
                put(&mut arrivals, row);
            }
            if !take(arrivals.ready()) {
                return Ok(());
            }
        }
        while let Some(rest) = arrivals.rest() {
            if !take(rest) {
                break;
            }
        }
        Ok(())
    }
}

/// What of a record is planned from: the requests of its devices; of a load that went past the page cache its own I/Os, which
/// say when each was meant to be sent; else counters; else the series.
fn source(dir: &Path, run: &Run, device: Option<&str>) -> Source {
    let there = stored_streams(dir);
    let rows = |kind: StreamKind| {
        let summary = run.summary.streams.iter().find(|stream| stream.kind == kind);
        // A record that was killed has no summary: its rows are there all the same.
        there.contains(&kind) && summary.is_none_or(|summary| summary.rows > 0)
    };
    let (requests, ios) = (rows(StreamKind::Block), rows(StreamKind::Io));
    match (requests, ios) {
        (_, true) if direct(run) && device.is_none() => Source::Ios,
        (true, _) => Source::Requests,
        (false, true) => Source::Ios,
        (false, false) if rows(StreamKind::Counters) => Source::Counters,
        (false, false) => Source::Series,
    }
}

/// Whether all of the load went past the page cache.
fn direct(run: &Run) -> bool {
    !run.workload.jobs.is_empty() && run.workload.jobs.iter().all(|job| job.direct)
}

fn dropped(run: &Run, source: Source) -> u64 {
    let kind = match source {
        Source::Requests => StreamKind::Block,
        Source::Ios => StreamKind::Io,
        Source::Counters => StreamKind::Counters,
        Source::Series => return 0,
    };
    let streams = run.summary.streams.iter().filter(|stream| stream.kind == kind);
    streams.map(|stream| stream.dropped).sum()
}

/// The devices of a run's targets, each once.
fn device_infos(run: &Run) -> Vec<&DeviceInfo> {
    let mut infos: Vec<&DeviceInfo> = Vec::new();
    for info in run
        .summary
        .target
        .files
        .iter()
        .filter_map(|file| file.device.as_ref())
    {
        if !infos.iter().any(|other| other.id == info.id) {
            infos.push(info);
        }
    }
    infos
}

/// Whether another of `infos` lies on it: what goes through that one is counted there.
fn is_below(info: &DeviceInfo, infos: &[&DeviceInfo]) -> bool {
    infos.iter().any(|other| other.slaves.contains(&info.name))
}

impl Volumes {
    fn of(run: &Run, devices: &[&DeviceInfo]) -> Self {
        let mut volumes = Self::default();
        for info in devices {
            volumes.devices.insert(info.id.number(), volumes.end_bytes);
            volumes.end_bytes += info.size_bytes.unwrap_or(VOLUME_BYTES);
        }
        if !devices.is_empty() {
            return volumes;
        }
        let mut bases: BTreeMap<&str, u64> = BTreeMap::new();
        for file in &run.summary.target.files {
            bases.insert(&file.path, volumes.end_bytes);
            volumes.end_bytes += file.size_bytes;
        }
        volumes.files = of_files(run, &bases, &mut volumes.end_bytes);
        volumes
    }

    /// `None`: the device is left aside.
    fn of_device(&self, device: u32) -> Option<u64> {
        if self.devices.is_empty() {
            return Some(0);
        }
        self.devices.get(&device).copied()
    }

    fn of_file(&self, job: u32, file: u32) -> u64 {
        let of_job = self.files.get(job as usize);
        let base = of_job.and_then(|files| files.get(file as usize).or(files.last()));
        base.copied().unwrap_or(0)
    }
}

/// Where the files of each job begin.
fn of_files(run: &Run, bases: &BTreeMap<&str, u64>, end_bytes: &mut u64) -> Vec<Vec<u64>> {
    let mut of_job = |job: &Job| {
        let names = job.files.names.iter().filter_map(|name| name.to_str());
        let named: Vec<u64> = names.filter_map(|name| bases.get(name).copied()).collect();
        if !named.is_empty() {
            return named;
        }
        // Files that the job made, one behind the other.
        let all: Vec<u64> = bases.values().copied().collect();
        if all.is_empty() {
            *end_bytes += 1 << 30;
            return vec![*end_bytes - (1 << 30)];
        }
        all
    };
    run.workload.jobs.iter().map(&mut of_job).collect()
}

#[cfg(test)]
mod tests;
