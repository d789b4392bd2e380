//! The record that is replayed: what it is, what is in it, its I/Os.

use crate::args::replay::ReplayArgs;
use crate::recorded::outside::{Bases, Outside, OutsideIos, Seen};
use crate::recorded::run_dir::run_of;
use crate::recorded::run_dir::{self, RunIos, Volumes};
use crate::target::Target;
use crate::terminal::live;
use anyhow::bail;
use fathom_core::record::StreamKind;
use fathom_core::run::{DeviceInfo, Run};
use fathom_core::units::count;
use fathom_core::workload::{Job, LeftOut, RecordFormat, SyncMode};
use fathom_session::replay::{ArrivalSource, Survey};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A record.
pub(super) enum Record {
    Run(Box<OfRun>),
    Outside(Outside),
}

/// The I/Os of a run directory.
pub(super) struct OfRun {
    dir: PathBuf,
    run: Run,
    kind: StreamKind,
    volumes: Volumes,
    /// Rows that the record lost.
    dropped: u64,
}

/// A record that was looked through.
pub(super) struct Looked {
    pub(super) survey: Survey,
    pub(super) has_times: bool,
    pub(super) has_ends: bool,
    /// How far its volumes reach, one behind the other.
    pub(super) extent_bytes: u64,
    pub(super) left_out: Vec<LeftOut>,
    /// What else is to be known of it.
    pub(super) notes: Vec<String>,
    /// Of others' records.
    seen: Option<Seen>,
}

impl Record {
    /// The record that is asked for.
    ///
    /// # Errors
    /// There is none, or none with I/Os.
    pub(super) fn open(args: &ReplayArgs) -> anyhow::Result<Self> {
        if args.record.is_dir() {
            return Ok(Self::Run(Box::new(OfRun::open(args)?)));
        }
        if args.stream.is_some() {
            bail!(
                "--stream is for run directories, and {} is none",
                args.record.display()
            );
        }
        Ok(Self::Outside(Outside::open(&args.record, args.format)?))
    }

    pub(super) fn format(&self) -> RecordFormat {
        match self {
            Self::Run(run) if run.kind == StreamKind::Io => RecordFormat::FathomIos,
            Self::Run(_) => RecordFormat::FathomRequests,
            Self::Outside(outside) => outside.format,
        }
    }

    /// Whether it is to go past the page cache: as the load of a run did, and as what was below one did.
    pub(super) fn direct(&self) -> bool {
        match self {
            Self::Run(of) if of.kind == StreamKind::Io => run_dir::direct(&of.run),
            Self::Run(_) | Self::Outside(_) => true,
        }
    }

    /// As all jobs of a run had it.
    pub(super) fn sync_mode(&self) -> SyncMode {
        let Self::Run(of) = self else {
            return SyncMode::None;
        };
        let mut modes = of.run.workload.jobs.iter().map(|job: &Job| job.sync.mode);
        let first = modes.next().filter(|_| of.kind == StreamKind::Io);
        first
            .filter(|first| modes.all(|mode| mode == *first))
            .unwrap_or_default()
    }

    /// Refuses to play a record onto itself.
    pub(super) fn is_not(&self, target: &Target) -> anyhow::Result<()> {
        let Target::File(on) = target else { return Ok(()) };
        let inside = match self {
            Self::Run(of) => {
                let on = std::fs::canonicalize(on).unwrap_or_default();
                std::fs::canonicalize(&of.dir).is_ok_and(|dir| on.starts_with(dir))
            }
            Self::Outside(outside) => outside.paths.iter().any(|path| is_same(path, on)),
        };
        if inside {
            bail!("--on {} is the record itself: give another target", on.display());
        }
        Ok(())
    }

    /// Looks through all of it. `None`: `stop` was set.
    ///
    /// # Errors
    /// It is not what it should be: with the file and the place.
    pub(super) fn look(&self, args: &ReplayArgs, stop: &AtomicBool) -> anyhow::Result<Option<Looked>> {
        match self {
            Self::Run(of) => of.look(args, stop),
            Self::Outside(outside) => look_outside(outside, args, stop),
        }
    }

    /// Its I/Os, from the beginning.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn source(
        &self,
        args: &ReplayArgs,
        looked: &Looked,
    ) -> anyhow::Result<Box<dyn ArrivalSource>> {
        Ok(match self {
            Self::Run(of) => Box::new(of.ios()?),
            Self::Outside(outside) => {
                let bases = looked.seen.as_ref().map(|seen| seen.bases.clone());
                Box::new(outside.source(&args.volume, bases.unwrap_or_default())?)
            }
        })
    }
}

impl OfRun {
    fn open(args: &ReplayArgs) -> anyhow::Result<Self> {
        let dir = &args.record;
        let shown = dir.display();
        if args.format.is_some() {
            bail!("--format is for traces of others: {shown} is a directory");
        }
        if fathom_store::is_sweep(dir) {
            bail!("{shown} is a sweep, of many loads: give the directory of one of its runs");
        }
        let run = run_of(dir)?;
        let names_device = !args.volume.is_empty();
        let kind = match args.stream {
            Some(kind) if run_dir::has_rows(dir, &run, kind) => kind,
            Some(kind) => bail!(
                "{shown} has no stream {}: it is kept by --record={0}",
                kind.name()
            ),
            None => match run_dir::ios_of(dir, &run, names_device) {
                Some(kind) => kind,
                None => bail!(
                    "{shown} has no I/Os, only sums of them: fathom run --record, or fathom record, keeps them"
                ),
            },
        };
        let volumes = match kind {
            StreamKind::Block => Volumes::of(&run, &devices(&run, args)?),
            _ if names_device => bail!("--volume names a device: --stream block has the requests of devices"),
            _ => Volumes::of(&run, &[]),
        };
        let streams = run.summary.streams.iter().filter(|stream| stream.kind == kind);
        Ok(Self {
            dropped: streams.map(|stream| stream.dropped).sum(),
            dir: dir.clone(),
            run,
            kind,
            volumes,
        })
    }

    fn ios(&self) -> anyhow::Result<RunIos> {
        RunIos::open(&self.dir, &self.run, self.kind, self.volumes.clone())
    }

    fn look(&self, args: &ReplayArgs, stop: &AtomicBool) -> anyhow::Result<Option<Looked>> {
        let streams = self.run.summary.streams.iter();
        let rows: u64 = streams
            .filter(|stream| stream.kind == self.kind)
            .map(|stream| stream.rows)
            .sum();
        let bar = live::bar(
            Some(rows),
            "looking through the record {wide_bar} {percent} %",
            args.settings.quiet,
        );
        let mut ios = self.ios()?;
        let survey = Survey::of(&mut ios, &mut |survey| {
            bar.set_position(survey.total());
            !stop.load(Ordering::Relaxed)
        });
        bar.finish_and_clear();
        let Some(survey) = survey? else { return Ok(None) };
        let mut notes = Vec::new();
        if self.dropped > 0 {
            let dropped = count(self.dropped as f64);
            notes.push(format!(
                "the recording lost {dropped} of its rows: these are not played"
            ));
        }
        if ios.late() > 0 {
            let late = count(ios.late() as f64);
            notes.push(format!(
                "{late} I/Os took so long that they are in no order: they are played a little later than recorded"
            ));
        }
        if !ios.complete() {
            notes.push(String::from(
                "the run is under way or was killed: up to its last second is missing",
            ));
        }
        let extent_bytes = survey.extent_bytes;
        Ok(Some(Looked {
            survey,
            has_times: true,
            has_ends: true,
            extent_bytes,
            left_out: left_out([("that failed when they were recorded", ios.failed)]),
            notes,
            seen: None,
        }))
    }
}

/// The devices of a run that are asked for.
fn devices<'r>(run: &'r Run, args: &ReplayArgs) -> anyhow::Result<Vec<&'r DeviceInfo>> {
    let infos = run_dir::device_infos(run);
    let shown = args.record.display();
    let names = || {
        let names: Vec<&str> = infos.iter().map(|info| info.name.as_str()).collect();
        names.join(", ")
    };
    if args.volume.is_empty() {
        let upper: Vec<&DeviceInfo> = infos
            .iter()
            .filter(|info| !run_dir::is_below(info, &infos))
            .copied()
            .collect();
        if upper.len() > 1 {
            bail!(
                "{shown} is about several devices ({}): choose with --volume",
                names()
            );
        }
        return Ok(upper);
    }
    let mut chosen = Vec::new();
    for name in &args.volume {
        match infos.iter().find(|info| info.name == *name) {
            Some(info) => chosen.push(*info),
            None if infos.is_empty() => bail!("--volume {name}: {shown} is about no device that has a name"),
            None => bail!("--volume {name}: {shown} is about {}", names()),
        }
    }
    Ok(chosen)
}

fn look_outside(outside: &Outside, args: &ReplayArgs, stop: &AtomicBool) -> anyhow::Result<Option<Looked>> {
    let mut ios: OutsideIos = outside.source(&args.volume, Bases::new())?;
    let bar = live::bar(
        Some(outside.bytes),
        "looking through the record {wide_bar} {bytes} of {total_bytes}",
        args.settings.quiet,
    );
    let done = ios.done_bytes();
    let survey = Survey::of(&mut ios, &mut |_| {
        bar.set_position(done.load(Ordering::Relaxed));
        !stop.load(Ordering::Relaxed)
    });
    bar.finish_and_clear();
    let Some(survey) = survey? else { return Ok(None) };
    let seen = ios.seen();
    let shown = args.record.display();
    for name in &args.volume {
        if !seen.volumes.iter().any(|(known, _)| known == name) {
            bail!("--volume {name}: {shown} has {}", list(&seen.volumes));
        }
    }
    if args.volume.is_empty() && seen.volumes.len() > 1 && !seen.known.files {
        bail!(
            "{shown} is about several volumes ({}): choose with --volume",
            list(&seen.volumes)
        );
    }
    let skipped = seen.skipped.iter().copied();
    let mut notes = Vec::new();
    match outside.format {
        RecordFormat::Tencent => notes.push(String::from(
            "the trace has whole seconds: within each its I/Os are spread evenly, in the order of the file",
        )),
        RecordFormat::MsrCambridge if args.dependent => notes.push(String::from(
            "the trace does not say who sent an I/O: one that came within a millisecond of another's end is taken to have \
             waited for that",
        )),
        _ => {}
    }
    Ok(Some(Looked {
        has_times: seen.known.times,
        has_ends: seen.known.ends,
        extent_bytes: seen.extent_bytes,
        left_out: left_out(skipped.chain([("of other volumes", seen.others)])),
        notes,
        survey,
        seen: Some(seen),
    }))
}

fn left_out<'a>(kinds: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<LeftOut> {
    let kinds = kinds.into_iter().filter(|&(_, ios)| ios > 0);
    kinds
        .map(|(what, ios)| LeftOut {
            what: format!("I/Os {what}"),
            ios,
        })
        .collect()
}

/// Volumes, the busiest first.
fn list(volumes: &[(String, u64)]) -> String {
    const SHOWN: usize = 8;
    let mut volumes: Vec<&(String, u64)> = volumes.iter().collect();
    volumes.sort_by_key(|(_, ios)| std::cmp::Reverse(*ios));
    let shown = volumes.iter().take(SHOWN);
    let shown: Vec<String> = shown
        .map(|(name, ios)| format!("{name} with {} I/Os", count(*ios as f64)))
        .collect();
    match volumes.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more", shown.join(", ")),
    }
}

/// Whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    id(one).is_some_and(|one| Some(one) == id(other))
}
