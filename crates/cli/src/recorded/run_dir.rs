//! The I/Os of a run directory: those of its load, or the requests of its devices.
//!
//! Data in: a run directory. Data out: arrivals, all volumes as if they lay one behind the other. It must not know what is
//! done with them.

use anyhow::Context as _;
use fathom_analysis::partial;
use fathom_core::arrival::{Arrival, Arrivals};
use fathom_core::record::{BlockRequest, IoRecord, StreamKind};
use fathom_core::run::{DeviceInfo, Run, Status};
use fathom_core::workload::Job;
use fathom_engine::plan::paths_of;
use fathom_session::replay::ArrivalSource;
use fathom_store::{RecordReader, StoredRun, stored_streams};
use std::collections::BTreeMap;
use std::path::Path;

/// Where one volume of a recording begins behind another whose size is not known.
const VOLUME_BYTES: u64 = 1 << 44;

/// The run's document; of a killed run, with what its series says.
pub(crate) fn run_of(dir: &Path) -> anyhow::Result<Run> {
    if fathom_store::is_repeats(dir) {
        let repeats = fathom_store::read_repeats(dir)?;
        let middle = repeats.nearest_to_median().map_or("1", |run| &run.dir);
        anyhow::bail!(
            "{}: holds {} runs of a command: give one of them, such as {}, which is nearest to the median",
            dir.display(),
            repeats.runs.len(),
            dir.join(middle).display()
        );
    }
    let StoredRun { mut run, series, .. } = fathom_store::read(dir)?;
    if run.status == Status::Running {
        let histograms = fathom_store::read_histograms(dir)?;
        partial::fill(&mut run, &series, &histograms);
    }
    Ok(run)
}

/// Whether a run kept rows of a stream.
pub(crate) fn has_rows(dir: &Path, run: &Run, kind: StreamKind) -> bool {
    let summary = run.summary.streams.iter().find(|stream| stream.kind == kind);
    // A record that was killed has no summary: its rows are there all the same.
    stored_streams(dir).contains(&kind) && summary.is_none_or(|summary| summary.rows > 0)
}

/// Which stream of a run has the I/Os that its disk was asked for: of a load that went past the page cache its own, which say
/// when each was meant to be sent, unless a device is named; else the requests of its devices; else the load's all the same.
pub(crate) fn ios_of(dir: &Path, run: &Run, names_device: bool) -> Option<StreamKind> {
    let rows = |kind: StreamKind| has_rows(dir, run, kind);
    match (rows(StreamKind::Block), rows(StreamKind::Io)) {
        (_, true) if direct(run) && !names_device => Some(StreamKind::Io),
        (true, _) => Some(StreamKind::Block),
        (false, true) => Some(StreamKind::Io),
        (false, false) => None,
    }
}

/// Reads a run's I/Os.
pub(crate) struct RunIos {
    rows: Rows,
    volumes: Volumes,
    /// Of each job, whether it had a schedule.
    paced: Vec<bool>,
    arrivals: Arrivals,
    ended: bool,
    /// I/Os that failed when they were recorded.
    pub(crate) failed: u64,
    /// Rows read.
    pub(crate) read: u64,
}

enum Rows {
    Requests(Box<RecordReader<BlockRequest>>),
    Ios(Box<RecordReader<IoRecord>>),
}

impl RunIos {
    /// Opens the stream of the I/Os of a load, or of the requests of devices.
    ///
    /// # Errors
    /// It has no such stream.
    pub(crate) fn open(dir: &Path, run: &Run, kind: StreamKind, volumes: Volumes) -> anyhow::Result<Self> {
        let rows = match kind {
            StreamKind::Io => Rows::Ios(Box::new(RecordReader::open(dir)?)),
            StreamKind::Block => Rows::Requests(Box::new(RecordReader::open(dir)?)),
            other => anyhow::bail!("{}: the stream {} has no I/Os", dir.display(), other.name()),
        };
        Ok(Self {
            rows,
            volumes,
            paced: run.workload.jobs.iter().map(Job::is_open_loop).collect(),
            arrivals: Arrivals::default(),
            ended: false,
            failed: 0,
            read: 0,
        })
    }

    /// I/Os whose start was known too late to be put in order.
    pub(crate) fn late(&self) -> u64 {
        self.arrivals.late
    }

    /// Whether the stream ended where its writer ended it.
    pub(crate) fn complete(&self) -> bool {
        match &self.rows {
            Rows::Requests(rows) => rows.complete(),
            Rows::Ios(rows) => rows.complete(),
        }
    }

    /// Reads the next rows. `false`: there are none.
    fn read_batch(&mut self) -> anyhow::Result<bool> {
        let Self {
            rows,
            volumes,
            paced,
            arrivals,
            failed,
            read,
            ..
        } = self;
        match rows {
            Rows::Requests(reader) => {
                let Some(rows) = reader.next_batch()? else {
                    return Ok(false);
                };
                for row in rows {
                    if let Some(base_bytes) = volumes.of_device(row.device) {
                        *read += 1;
                        arrivals.request(row, base_bytes);
                    }
                }
            }
            Rows::Ios(reader) => {
                let Some(rows) = reader.next_batch()? else {
                    return Ok(false);
                };
                for row in rows {
                    let paced = paced.get(row.job as usize).copied().unwrap_or(false);
                    *failed += u64::from(row.errno != 0);
                    *read += 1;
                    arrivals.io(row, volumes.of_file(row), paced);
                }
            }
        }
        Ok(true)
    }
}

impl ArrivalSource for RunIos {
    fn next(&mut self, arrivals: &mut Vec<Arrival>) -> anyhow::Result<bool> {
        if !self.ended {
            if self.read_batch().context("cannot read the record")? {
                arrivals.extend_from_slice(self.arrivals.ready());
                return Ok(true);
            }
            self.ended = true;
        }
        let rest = self.arrivals.rest();
        arrivals.extend_from_slice(rest.unwrap_or_default());
        Ok(rest.is_some())
    }
}

/// Where each volume begins, as if all lay one behind the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Volumes {
    /// By the number of the device as events have it; empty: all devices are taken.
    devices: BTreeMap<u32, u64>,
    /// By job, by worker and by file of it.
    files: Vec<Vec<Vec<u64>>>,
    /// Where each begins, and its name; in this order.
    names: Vec<(u64, String)>,
    pub(crate) end_bytes: u64,
}

impl Volumes {
    /// Of requests of `devices`; where there are none, or I/Os of the load are asked for, its files.
    pub(crate) fn of(run: &Run, devices: &[&DeviceInfo]) -> Self {
        let mut volumes = Self::default();
        for info in devices {
            volumes.devices.insert(info.id.number(), volumes.end_bytes);
            volumes
                .names
                .push((volumes.end_bytes, format!("/dev/{}", info.name)));
            volumes.end_bytes += info.size_bytes.unwrap_or(VOLUME_BYTES);
        }
        if !devices.is_empty() {
            return volumes;
        }
        let mut bases: BTreeMap<&str, u64> = BTreeMap::new();
        for file in &run.summary.target.files {
            bases.insert(&file.path, volumes.end_bytes);
            volumes.names.push((volumes.end_bytes, file.path.clone()));
            volumes.end_bytes += file.size_bytes;
        }
        let of_worker = |job: &Job, worker| -> Vec<u64> {
            let paths = paths_of(job, worker).into_iter();
            let base = |path: std::path::PathBuf| bases.get(path.to_str()?).copied();
            paths.map(|path| base(path).unwrap_or(0)).collect()
        };
        let of_job = |job: &Job| (0..job.numjobs).map(|worker| of_worker(job, worker)).collect();
        volumes.files = run.workload.jobs.iter().map(of_job).collect();
        if volumes.end_bytes == 0 {
            volumes.end_bytes = 1 << 30;
        }
        volumes
    }

    /// `None`: the device is left aside.
    pub(crate) fn of_device(&self, device: u32) -> Option<u64> {
        if self.devices.is_empty() {
            return Some(0);
        }
        self.devices.get(&device).copied()
    }

    fn of_file(&self, row: &IoRecord) -> u64 {
        let of_job = self.files.get(row.job as usize);
        let of_worker = of_job.and_then(|workers| workers.get(row.worker as usize));
        let base = of_worker.and_then(|files| files.get(row.file as usize).or(files.last()));
        base.copied().unwrap_or(0)
    }

    /// The name of the volume that `offset_bytes` lies in, and where it begins.
    pub(crate) fn name_at(&self, offset_bytes: u64) -> Option<(&str, u64)> {
        let after = self.names.partition_point(|(base, _)| *base <= offset_bytes);
        let (base, name) = self.names.get(after.checked_sub(1)?)?;
        Some((name, *base))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(_, name)| name.as_str())
    }
}

/// Whether all of the load went past the page cache.
pub(crate) fn direct(run: &Run) -> bool {
    !run.workload.jobs.is_empty()
        && run
            .workload
            .jobs
            .iter()
            .all(|job| job.direct || job.engine.kind.sends_commands())
}

/// The devices of a run's targets, each once.
pub(crate) fn device_infos(run: &Run) -> Vec<&DeviceInfo> {
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
pub(crate) fn is_below(info: &DeviceInfo, infos: &[&DeviceInfo]) -> bool {
    infos.iter().any(|other| other.slaves.contains(&info.name))
}

#[cfg(test)]
mod tests;
