//! Runs and recordings as a side.
//!
//! Data in: run directories. Data out: their figures and conditions. It must not judge.

use super::inputs::RunInput;
use super::sides::{Read, ReadSide};
use crate::recorded::run_dir::{self, device_infos, is_below};
use anyhow::bail;
use fathom_analysis::compare::commands::command_of;
use fathom_analysis::compare::conditions::{conditions, twins};
use fathom_analysis::compare::{Measured, Requests, observe, observe_commands};
use fathom_core::record::{BlockRequest, StreamKind};
use fathom_core::run::{CommandExit, Run, Status};
use fathom_report::compared::Kind;
use fathom_store::{RecordReader, stored_streams};
use std::path::Path;

pub(super) fn read(sides: [&[RunInput]; 2]) -> anyhow::Result<Read> {
    let mut runs: [Vec<Run>; 2] = Default::default();
    for (side, inputs) in sides.iter().enumerate() {
        runs[side] = inputs.iter().map(run_of).collect::<anyhow::Result<_>>()?;
        not_the_same(inputs, &runs[side])?;
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
                .filter_map(|(input, run)| note_of_command(&input.name(), run))
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
        for (input, run) in sides[side].iter().zip(&runs[side]) {
            read[side].measured.push(measured(input, run, kind)?);
            read[side].notes.extend(note(&input.name(), run));
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
fn not_the_same(inputs: &[RunInput], runs: &[Run]) -> anyhow::Result<()> {
    let runs: Vec<&Run> = runs.iter().collect();
    if let Some((one, other)) = twins(&runs) {
        bail!(
            "{} and {} are one and the same run, measured twice on a modelled disk with the same seed: they are no repeats; give \
             each a seed of its own (--on 'model:…,seed=N'), or let fathom sweep --repeat do it",
            inputs[one].name(),
            inputs[other].name()
        );
    }
    Ok(())
}

fn run_of(input: &RunInput) -> anyhow::Result<Run> {
    match input {
        RunInput::Directory(dir) => run_dir::run_of(dir),
        RunInput::Stored { part, .. } => Ok(part.run.clone()),
    }
}

fn measured(input: &RunInput, run: &Run, kind: Kind) -> anyhow::Result<Measured> {
    let measured = match input {
        RunInput::Directory(dir) if kind == Kind::Recordings => {
            recorded(dir, dir.display().to_string(), run)?
        }
        RunInput::Directory(dir) => of_load(dir, run)?,
        RunInput::Stored { name, part } => match &part.measured {
            Some(measured) => Measured {
                name: name.clone(),
                ..measured.clone()
            },
            None => bail!("{name}: nothing of it can be compared: leave it out"),
        },
    };
    if measured.loads.iter().all(|load| load.directions.is_empty()) {
        bail!("{}: no I/O was completed in it: leave it out", input.name());
    }
    Ok(measured)
}

fn of_load(dir: &Path, run: &Run) -> anyhow::Result<Measured> {
    let series = fathom_store::read(dir)?.series;
    let histograms = fathom_store::read_histograms(dir)?;
    Ok(Measured::of_run(
        dir.display().to_string(),
        run,
        &series,
        &histograms,
    ))
}

/// The figures of a run, whatever it is of; `None`: a command's are in its document, and a recording without requests has none.
pub(crate) fn measured_of(dir: &Path, run: &Run) -> anyhow::Result<Option<Measured>> {
    if !is_recording(run) {
        return of_load(dir, run).map(Some);
    }
    if command_of(run).is_some() {
        return Ok(None);
    }
    requests(dir, dir.display().to_string(), run)
}

/// The requests of a recording.
fn recorded(dir: &Path, name: String, run: &Run) -> anyhow::Result<Measured> {
    if !stored_streams(dir).contains(&StreamKind::Block) {
        bail!(
            "{}: it has no requests of a device, by which recordings are compared: record it with fathom record --device",
            dir.display()
        );
    }
    let Some(measured) = requests(dir, name, run)? else {
        bail!(
            "{}: no read or write is in it: there is nothing to compare",
            dir.display()
        );
    };
    Ok(measured)
}

/// The requests of the devices at the top: what goes through one to another is counted once. `None`: there are none.
fn requests(dir: &Path, name: String, run: &Run) -> anyhow::Result<Option<Measured>> {
    if !stored_streams(dir).contains(&StreamKind::Block) {
        return Ok(None);
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
    Ok(requests.finish(name, run.started_unix_ns.0))
}

/// What to know of a command before its time is believed.
fn note_of_command(name: &str, run: &Run) -> Option<String> {
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
fn note(name: &str, run: &Run) -> Vec<String> {
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
