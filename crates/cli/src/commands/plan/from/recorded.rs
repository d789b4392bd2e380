//! A recording: what is in it, and its I/Os once more for the model.
//!
//! Data in: run directories. Data out: what was seen in each, and the same I/Os in order as often as they are asked for, never all at
//! once. It must not know what is planned.

use crate::recorded::run_dir::{self, RunIos, Volumes, device_infos, direct, is_below, run_of};
use anyhow::bail;
use fathom_core::record::{CounterRow, StreamKind};
use fathom_core::rng::Rng;
use fathom_core::run::{DeviceInfo, Run};
use fathom_plan::seen::spans::{self, Span, Spans};
use fathom_plan::seen::{Arrival, Recording, Seen, Source};
use fathom_session::replay::ArrivalSource as _;
use fathom_store::RecordReader;
use std::path::{Path, PathBuf};

/// I/Os that stand for counters are made of so many stretches at a time.
const SPANS: usize = 256;

/// A recording that can be asked for its I/Os again.
pub(in crate::commands::plan) struct Recorded {
    pub(super) origin: Origin,
    pub(super) start_ns: u64,
    pub(in crate::commands::plan) recording: Recording,
    /// What stands for I/Os where none were recorded.
    pub(super) spans: Vec<Span>,
    /// Of many that are alike not all are carried out on the model.
    pub(in crate::commands::plan) replayed: bool,
}

/// Where it is.
pub(super) enum Origin {
    Directory {
        dir: PathBuf,
        run: Box<Run>,
        volumes: Volumes,
    },
    /// Nothing but sums are known here, of a disk of this size.
    Sums { volume_bytes: u64 },
}

impl Recorded {
    /// Reads what is in `dir`; of its devices only `device`, if one is named.
    ///
    /// # Errors
    /// It is no recording, or there is nothing in it to plan from.
    pub(in crate::commands::plan) fn open(dir: &Path, device: Option<&str>) -> anyhow::Result<Self> {
        let recorded = Self::opened(dir, device)?;
        if recorded.recording.seen.total().ios() == 0 {
            bail!(
                "--from {}: no read or write is in it: there is nothing to plan from (fathom record, or fathom run --record, keeps \
                 them)",
                dir.display()
            );
        }
        Ok(recorded)
    }

    /// The same, whether there is anything in it or not.
    pub(super) fn opened(dir: &Path, device: Option<&str>) -> anyhow::Result<Self> {
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
            name: match &run.summary.target.called {
                Some(called) => format!("{} ({called})", dir.display()),
                None => dir.display().to_string(),
            },
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
            start_ns: run.started_monotonic_ns.0,
            origin: Origin::Directory {
                dir: dir.to_owned(),
                run: Box::new(run),
                volumes,
            },
            recording,
            spans: Vec::new(),
            replayed: true,
        };
        recorded.look(dir)?;
        Ok(recorded)
    }

    /// Sees all of it once.
    fn look(&mut self, dir: &Path) -> anyhow::Result<()> {
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
            RecordReader::<CounterRow>::open(dir)?.for_each_batch(|rows| {
                spans.counters(rows, |device| {
                    names.is_empty() || names.iter().any(|name| name == device)
                });
            })?;
        } else {
            let stored = fathom_store::read(dir)?;
            stored.series.iter().for_each(|row| spans.series(row));
        }
        self.spans = spans.finish();
        self.recording.seen = spans::seen(&self.spans, self.recording.seen.clone());
        Ok(())
    }

    /// When it begins.
    pub(in crate::commands::plan) fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Gives all I/Os to `take`, in the order in which they were due, until it says that it wants no more.
    pub(in crate::commands::plan) fn each(
        &self,
        take: &mut dyn FnMut(&[Arrival]) -> bool,
    ) -> anyhow::Result<()> {
        let kind = match self.recording.seen.source {
            Source::Requests => StreamKind::Block,
            Source::Ios => StreamKind::Io,
            Source::Counters | Source::Series | Source::Sums => {
                self.each_of_spans(take);
                return Ok(());
            }
        };
        let Origin::Directory { dir, run, volumes } = &self.origin else {
            return Ok(());
        };
        let mut source = RunIos::open(dir, run, kind, volumes.clone())?;
        let mut arrivals = Vec::new();
        while source.next(&mut arrivals)? {
            if !take(&arrivals) {
                break;
            }
            arrivals.clear();
        }
        Ok(())
    }
}

impl Recorded {
    /// Gives I/Os that stand for sums.
    fn each_of_spans(&self, take: &mut dyn FnMut(&[Arrival]) -> bool) {
        let volume_bytes = match &self.origin {
            Origin::Directory { volumes, .. } => volumes.end_bytes,
            Origin::Sums { volume_bytes } => *volume_bytes,
        };
        let mut rng = Rng::new(self.start_ns());
        let mut arrivals = Vec::new();
        for some in self.spans.chunks(SPANS) {
            arrivals.clear();
            for span in some {
                spans::arrivals(span, volume_bytes.max(1 << 30), &mut rng, &mut arrivals);
            }
            if !take(&arrivals) {
                break;
            }
        }
    }
}

/// What of a record is planned from: its I/Os or requests, else counters, else the series.
fn source(dir: &Path, run: &Run, device: Option<&str>) -> Source {
    match run_dir::ios_of(dir, run, device.is_some()) {
        Some(StreamKind::Io) => Source::Ios,
        Some(_) => Source::Requests,
        None if run_dir::has_rows(dir, run, StreamKind::Counters) => Source::Counters,
        None => Source::Series,
    }
}

fn dropped(run: &Run, source: Source) -> u64 {
    let kind = match source {
        Source::Requests => StreamKind::Block,
        Source::Ios => StreamKind::Io,
        Source::Counters => StreamKind::Counters,
        Source::Series | Source::Sums => return 0,
    };
    let streams = run.summary.streams.iter().filter(|stream| stream.kind == kind);
    streams.map(|stream| stream.dropped).sum()
}
