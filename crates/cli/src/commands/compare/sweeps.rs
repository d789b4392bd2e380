//! Sweeps as a side, point by point.
//!
//! Data in: directories of sweeps. Data out: the figures of the points that both sides measured. It must not judge.

use super::sides::{Read, ReadSide};
use anyhow::bail;
use fathom_analysis::compare::{Condition, Measured, conditions, observe};
use fathom_core::run::Run;
use fathom_core::sweep::Coordinates;
use fathom_report::compared::Kind;
use fathom_report::words;
use fathom_store::read_run;
use std::path::PathBuf;

/// A point of one side: each measurement with its run.
struct Point {
    at: Coordinates,
    measured: Vec<(Measured, Run)>,
}

pub(super) fn read(sides: [&[PathBuf]; 2]) -> anyhow::Result<Read> {
    let [(a, mut side_a), (b, mut side_b)] = [side(sides[0])?, side(sides[1])?];
    let mut conditions: Vec<Condition> = Vec::new();
    let mut observed = Vec::new();
    for of_a in &a {
        let Some(of_b) = b.iter().find(|other| other.at == of_a.at) else {
            side_a.alone.push(words::point(of_a.at));
            continue;
        };
        let [runs_a, runs_b] = [of_a, of_b].map(Point::runs);
        merge(&mut conditions, self::conditions(&runs_a, &runs_b));
        let [measured_a, measured_b] = [of_a, of_b].map(Point::measurements);
        let load = words::point(of_a.at);
        observed.extend(observe([&measured_a, &measured_b]).into_iter().map(|mut one| {
            one.figure.load.clone_from(&load);
            one
        }));
    }
    let lonely = b.iter().filter(|of_b| !a.iter().any(|of_a| of_a.at == of_b.at));
    side_b.alone.extend(lonely.map(|of_b| words::point(of_b.at)));
    if observed.is_empty() {
        bail!(
            "no point was measured on both sides: compare sweeps that share points (order, mix, block size, depth, threads)"
        );
    }
    Ok(Read {
        kind: Kind::Sweeps,
        sides: [side_a, side_b],
        observed,
        conditions,
    })
}

impl Point {
    fn runs(&self) -> Vec<&Run> {
        self.measured.iter().map(|(_, run)| run).collect()
    }

    fn measurements(&self) -> Vec<Measured> {
        self.measured
            .iter()
            .map(|(measured, _)| measured.clone())
            .collect()
    }
}

/// All measured points of a side's sweeps, in the order of the first.
fn side(dirs: &[PathBuf]) -> anyhow::Result<(Vec<Point>, ReadSide)> {
    let mut points: Vec<Point> = Vec::new();
    let mut read = ReadSide::default();
    for dir in dirs {
        let plan = fathom_store::read_sweep_plan(dir)?;
        let results = fathom_session::sweep::results_of(dir, &plan)?;
        let mut errors = 0;
        for result in &results.points {
            for figures in result.repeats() {
                let run_dir = dir.join(&figures.run);
                let run = read_run(&run_dir)?;
                let started = (!run.summary.target.modelled).then_some(run.started_unix_ns.0);
                let measured = Measured::of_point(run_dir.display().to_string(), started, figures);
                errors += figures.errors;
                match points.iter_mut().find(|point| point.at == result.coordinates) {
                    Some(point) => point.measured.push((measured, run)),
                    None => points.push(Point {
                        at: result.coordinates,
                        measured: vec![(measured, run)],
                    }),
                }
            }
        }
        if errors > 0 {
            read.notes.push(format!(
                "{errors} I/Os failed in {}: they are not in its figures",
                dir.display()
            ));
        }
    }
    if points.is_empty() {
        bail!(
            "{}: no point of it was measured: there is nothing to compare",
            dirs.first()
                .map(|dir| dir.display().to_string())
                .unwrap_or_default()
        );
    }
    Ok((points, read))
}

/// What differs at one point differs, whatever it is at others.
fn merge(all: &mut Vec<Condition>, some: Vec<Condition>) {
    for one in some {
        let Some(known) = all.iter_mut().find(|known| known.field == one.field) else {
            all.push(one);
            continue;
        };
        for (known, values) in known.sides.iter_mut().zip(one.sides) {
            for value in values {
                if !known.contains(&value) {
                    known.push(value);
                }
            }
        }
    }
}
