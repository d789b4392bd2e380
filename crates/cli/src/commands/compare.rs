//! `fathom compare`: two sides, what differs, how sure that is.
//!
//! Data in: directories and files as typed. Data out: verdicts on stdout, files, an exit. It only brings what is stored to where it is
//! compared and put into words.

mod columns;
mod inputs;
mod runs;
mod sides;
mod sweeps;

pub(crate) use runs::measured_of;

use crate::args::compare::CompareArgs;
use crate::commands::report;
use crate::exit::Exit;
use crate::terminal;
use anyhow::bail;
use fathom_analysis::compare::{Condition, Field, Grade, Judged, Rule, Settings, cautions, judge, rule};
use fathom_door::output;
use fathom_report::Format;
use fathom_report::compared::{CompareFormat, CompareReport, Kind, SideReport};
use fathom_session::behind;
use inputs::Inputs;
use serde_json::Value;
use sides::Read;
use std::path::{Path, PathBuf};

/// Carries `fathom compare` out.
pub(crate) fn compare(args: &CompareArgs) -> anyhow::Result<Exit> {
    let outputs = formats(args)?;
    compared(args, &outputs, |report| tell(args, &outputs, report))?
}

/// The comparison as a part of a document; its files are written.
pub(crate) fn document(args: &CompareArgs) -> anyhow::Result<Value> {
    let outputs = formats(args)?;
    compared(args, &outputs, |report| {
        write(args, &outputs, report)?;
        Ok(report.value())
    })?
}

/// The comparison of two sides as a page.
pub(crate) fn page(a: &[PathBuf], b: &[PathBuf]) -> anyhow::Result<String> {
    let args = CompareArgs::of(a.to_vec(), b.to_vec());
    compared(&args, &[], |report| {
        report.render(CompareFormat::Report(Format::Html))
    })
}

/// Reads and judges both sides; `make`: what is made of it.
fn compared<T>(
    args: &CompareArgs,
    outputs: &[(&Path, CompareFormat)],
    make: impl FnOnce(&CompareReport<'_>) -> T,
) -> anyhow::Result<T> {
    let names = match &args.names {
        None => [String::from("A"), String::from("B")],
        Some((a, b)) => [a.clone(), b.clone()],
    };
    let inputs = [Inputs::of(&args.a)?, Inputs::of(&args.b)?];
    for (path, _) in outputs {
        for dir in inputs.iter().flat_map(Inputs::directories) {
            report::not_of_the_record(dir, path)?;
        }
    }
    let Read {
        kind,
        sides,
        observed,
        conditions,
    } = read(&inputs)?;
    if kind != Kind::Columns && (args.unit.is_some() || args.better.is_some()) {
        bail!("--unit and --better are for files of numbers: figures of runs have their own");
    }
    refuse(&conditions, &args.despite, &names)?;
    let settings = Settings { margin: args.margin };
    let judged = judge(observed, settings);
    let ruled = rule::ruled(&args.fail_if, &judged).map_err(|rule| fits_nothing(rule, &judged))?;
    let allowed: Vec<Field> = refused(&conditions).map(|one| one.field).collect();
    let side = |index: usize| {
        let read = &sides[index];
        SideReport {
            name: names[index].clone(),
            from: inputs[index].names(),
            measured: &read.measured,
            alone: read.alone.clone(),
            notes: read.notes.clone(),
        }
    };
    let report = CompareReport {
        kind,
        sides: [side(0), side(1)],
        judged: &judged,
        conditions: &conditions,
        allowed: &allowed,
        cautions: &cautions(&judged),
        ruled: &ruled,
        strict: args.strict,
        settings,
        unit: args.unit.as_deref(),
        better: args.better(),
        version: env!("CARGO_PKG_VERSION"),
    };
    Ok(make(&report))
}

fn fits_nothing(rule: &Rule, judged: &[Judged]) -> anyhow::Error {
    let mut there: Vec<&str> = judged.iter().map(|one| one.figure.quantity.name()).collect();
    there.sort_unstable();
    there.dedup();
    anyhow::anyhow!(
        "--fail-if '{}': no figure that is compared fits it (compared are {})",
        rule.text,
        there.join(", ")
    )
}

/// Prints it, writes it, and says how it ends.
fn tell(
    args: &CompareArgs,
    outputs: &[(&Path, CompareFormat)],
    report: &CompareReport<'_>,
) -> anyhow::Result<Exit> {
    write(args, outputs, report)?;
    if args.json {
        terminal::print(&report.json())?;
    } else {
        terminal::print(&report.text(terminal::stdout_style(args.colour)))?;
    }
    let broken = report.broken();
    let undecided = report.undecided();
    if !args.quiet {
        for line in &broken {
            terminal::say(&format!("--fail-if {line}"));
        }
        let fails = if args.strict {
            "fails (--strict)"
        } else {
            "does not fail"
        };
        for line in &undecided {
            terminal::say(&format!("--fail-if {line}: {fails}"));
        }
    }
    let fails = !broken.is_empty() || (args.strict && !undecided.is_empty());
    Ok(if fails { Exit::Errors } else { Exit::Done })
}

fn write(
    args: &CompareArgs,
    outputs: &[(&Path, CompareFormat)],
    report: &CompareReport<'_>,
) -> anyhow::Result<()> {
    let mut written = Vec::new();
    for (path, format) in outputs {
        let left = output::leave(path, report.render(*format).as_bytes(), args.force);
        behind(&written, left.map_err(Into::into))?;
        written.push(path.display().to_string());
        if !args.quiet {
            terminal::say(&format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// What each file is to be, and that each can be written.
fn formats(args: &CompareArgs) -> anyhow::Result<Vec<(&Path, CompareFormat)>> {
    let mut formats: Vec<(&Path, CompareFormat)> = Vec::new();
    for path in &args.outputs {
        let Some(format) = CompareFormat::of(path) else {
            bail!(
                "-o {}: what kind of file? End its name in .html, .md, .csv or .xml",
                path.display()
            );
        };
        output::check(path, args.force)?;
        if formats.iter().any(|(other, _)| other == path) {
            bail!("-o {}: it is given twice: leave one out", path.display());
        }
        formats.push((path, format));
    }
    Ok(formats)
}

/// Reads both sides, which are of one kind.
fn read(inputs: &[Inputs; 2]) -> anyhow::Result<Read> {
    match inputs {
        [Inputs::Runs(a), Inputs::Runs(b)] => runs::read([a, b]),
        [Inputs::Sweeps(a), Inputs::Sweeps(b)] => sweeps::read([a, b]),
        [Inputs::Columns(a), Inputs::Columns(b)] => columns::read([a, b]),
        [a, b] => bail!(
            "A is {} and B is {}: give two sides of the same kind",
            a.kind(),
            b.kind()
        ),
    }
}

fn refused(conditions: &[Condition]) -> impl Iterator<Item = &Condition> {
    conditions.iter().filter(|one| one.grade() == Grade::Refused)
}

/// What cannot be compared, unless that is the question.
fn refuse(conditions: &[Condition], despite: &[Field], names: &[String; 2]) -> anyhow::Result<()> {
    let all: Vec<&Condition> = refused(conditions)
        .filter(|one| !despite.contains(&one.field))
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let each = all.iter().map(|one| {
        let [a, b] = [0, 1].map(|side| one.sides[side].join(" | "));
        format!("{}: {a} in {}, {b} in {}", one.field.name(), names[0], names[1])
    });
    let each: Vec<String> = each.collect();
    let fields: Vec<&str> = all.iter().map(|one| one.field.name()).collect();
    let fields = fields.join(",");
    if all.iter().any(|one| one.within_a_side()) {
        bail!(
            "the runs of a side are not repeats of one load ({}): give runs that are, or, if that may differ, --despite {fields}",
            each.join("; ")
        );
    }
    bail!(
        "this cannot be compared ({}): measure both alike, or, if that is the question, give --despite {fields}",
        each.join("; ")
    );
}
