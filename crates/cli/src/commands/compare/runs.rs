//! Runs and recordings as a side.
//!
//! Data in: run directories. Data out: their figures and conditions. It must not judge.

use super::{Read, ReadSide};
use crate::commands::show;
use crate::recorded::run_dir::{device_infos, is_below};
use anyhow::bail;
use fathom_analysis::compare::commands::command_of;
use fathom_analysis::compare::conditions::{conditions, twins};
use fathom_analysis::compare::{Measured, Requests, observe, observe_commands};
use fathom_core::record::{BlockRequest, StreamKind};
use fathom_core::run::{CommandExit, Run, Status};
use fathom_report::compared::Kind;
use fathom_store::{RecordReader, stored_streams};
use std::path::{Path, PathBuf};

pub(super) fn read(sides: [&[PathBuf]; 2]) -> anyhow::Result<Read> {
    let mut runs: [Vec<Run>; 2] = Default::default();
    for (side, dirs) in sides.iter().enumerate() {
        runs[side] = dirs
            .iter()
            .map(|dir| show::run_of(dir))
            .collect::<anyhow::Result<_>>()?;
        not_the_same(dirs, &runs[side])?;
    }
    let recorded = runs
        .each_ref()
        .map(|side| side.iter().filter(|run| is_recording(run)).count());
    let commands = runs.iter().flatten().filter(|run| command_of(run).is_some());
    let all = runs[0].len() + runs[1].len();
    let kind = match (recorded[0] + recorded[1], commands.count()) {
        (0, _) => Kind::Runs,
        (_, n) if n == all => Kind::Commands,
        (n, 0) if n == all => Kind::Recordings,
        (n, _) if n == all => {
            bail!("some of these recorded a command and some watched a device: give one kind")
        }
        _ => bail!(
            "some of these are recordings of others' I/O and some are runs of fathom's own load: give one kind"
        ),
    };
    let of = |side: usize| -> Vec<&Run> { runs[side].iter().collect() };
    let conditions = conditions(&of(0), &of(1));
    if kind == Kind::Commands {
        let side = |side: usize| ReadSide {
            notes: sides[side]
                .iter()
                .zip(&runs[side])
                .filter_map(|(dir, run)| note_of_command(dir, run))
                .collect(),
            ..ReadSide::default()
        };
        return Ok(Read {
            kind,
            sides: [side(0), side(1)],
            observed: observe_commands([&of(0), &of(1)]),
            conditions,
        });
    }
    let mut read: [ReadSide; 2] = Default::default();
    for side in 0..2 {
        for (dir, run) in sides[side].iter().zip(&runs[side]) {
            read[side].measured.push(measured(dir, run, kind)?);
            read[side].notes.extend(note(dir, run));
        }
    }
    let observed = observe([&read[0].measured, &read[1].measured]);
    Ok(Read {
        kind,
        sides: read,
        observed,
        conditions,
    })
}

fn is_recording(run: &Run) -> bool {
    run.workload.jobs.is_empty()
}

/// What a modelled run does is all in its seeds: run again, it is the same run and no repeat.
fn not_the_same(dirs: &[PathBuf], runs: &[Run]) -> anyhow::Result<()> {
    let runs: Vec<&Run> = runs.iter().collect();
    if let Some((one, other)) = twins(&runs) {
        bail!(
            "{} and {} are one and the same run, measured twice on a modelled disk with the same seed: they are no repeats; give \
             each a seed of its own (--on 'model:…,seed=N'), or let fathom sweep --repeat do it",
            dirs[one].display(),
            dirs[other].display()
        );
    }
    Ok(())
}

fn measured(dir: &Path, run: &Run, kind: Kind) -> anyhow::Result<Measured> {
    let name = dir.display().to_string();
    if kind == Kind::Recordings {
        return recorded(dir, name, run);
    }
    let series = fathom_store::read(dir)?.series;
    let histograms = fathom_store::read_histograms(dir)?;
    let measured = Measured::of_run(name, run, &series, &histograms);
    if measured.loads.iter().all(|load| load.directions.is_empty()) {
        bail!("{}: no I/O was completed in it: leave it out", dir.display());
    }
    Ok(measured)
}

/// The requests of the devices at the top: what goes through one to another is counted once.
fn recorded(dir: &Path, name: String, run: &Run) -> anyhow::Result<Measured> {
    if !stored_streams(dir).contains(&StreamKind::Block) {
        bail!(
            "{}: it has no requests of a device, by which recordings are compared: record it with fathom record --device",
            dir.display()
        );
    }
    let infos = device_infos(run);
    let top: Vec<u32> = infos
        .iter()
        .filter(|info| !is_below(info, &infos))
        .map(|info| info.id.number())
        .collect();
    let mut requests = Requests::new(run.started_monotonic_ns.0);
    RecordReader::<BlockRequest>::open(dir)?.for_each_batch(|rows| {
        let wanted = rows
            .iter()
            .filter(|row| top.is_empty() || top.contains(&row.device));
        wanted.for_each(|row| requests.take(row));
    })?;
    let Some(measured) = requests.finish(name, run.started_unix_ns.0) else {
        bail!(
            "{}: no read or write is in it: there is nothing to compare",
            dir.display()
        );
    };
    Ok(measured)
}

/// What to know of a command before its time is believed.
fn note_of_command(dir: &Path, run: &Run) -> Option<String> {
    let name = dir.display();
    match command_of(run)?.exit {
        CommandExit::Code(0) => None,
        CommandExit::Code(code) => Some(format!(
            "the command of {name} ended with exit code {code}: its time is that up to then"
        )),
        CommandExit::Signal(signal) => Some(format!(
            "the command of {name} was ended by signal {signal}: its time is that up to then"
        )),
    }
}

/// What to know of a run before its figures are believed.
fn note(dir: &Path, run: &Run) -> Vec<String> {
    let name = dir.display();
    let mut notes = Vec::new();
    match run.status {
        Status::Complete => {}
        Status::Interrupted => notes.push(format!(
            "{name} was interrupted: its figures are those up to then"
        )),
        Status::Failed => notes.push(format!("{name} failed: its figures are those up to then")),
        Status::Running => notes.push(format!(
            "{name} is under way or was killed: its figures are those so far"
        )),
    }
    let errors: u64 = run
        .summary
        .jobs
        .iter()
        .map(|job| job.read.errors + job.write.errors + job.trim.errors)
        .sum();
    if errors > 0 {
        notes.push(format!(
            "{errors} I/Os failed in {name}: they are not in its figures"
        ));
    }
    notes
}
