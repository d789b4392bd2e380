//! What a sweep takes beside its points, and how long reports take.
//!
//! Data in: the release build, the experiment of 200 points, a file. Data out: rows of the table.

use super::measure::finished;
use super::record::alone;
use super::{Row, Settings};
use crate::shell;
use anyhow::Result;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Points of the real sweep, and how long each is measured.
const POINTS: [&str; 4] = ["1", "2", "4", "8"];
const POINT_SECONDS: u32 = 10;

pub(super) fn rows(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    matrix(settings, rows)?;
    day(settings, rows)?;
    overhead(settings, rows)
}

fn fathom(settings: &Settings, words: &[&str]) -> Result<f64> {
    let begin = Instant::now();
    finished(
        Command::new(&settings.fathom)
            .args(words)
            .current_dir(&settings.scratch),
    )?;
    Ok(begin.elapsed().as_secs_f64())
}

/// The 200 points of the experiment, and their report.
fn matrix(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let file = shell::root().join("experiments/azure-a2-2016/sweep.toml");
    let swept = fathom(
        settings,
        &["sweep", "-q", "-o", "matrix", &file.display().to_string()],
    )?;
    let reported = fathom(settings, &["report", "matrix", "-q", "-o", "matrix.html"])?;
    rows.push(alone(
        "modelled sweep of 200 points, 23 hours, and its report",
        format!("{:.2} s", swept + reported),
        "< 30 s",
    ));
    page(settings, "matrix.html", "its report alone", reported, rows)
}

/// A row a second of a day.
fn day(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let load = [
        "--rw=randread",
        "--bs=4k",
        "--direct=1",
        "--size=10g",
        "--time_based",
        "--runtime=24h",
        "--rate_iops=10",
    ];
    let run = ["run", "-q", "-o", "day", "--on=model:azure/P15"];
    fathom(settings, &[&run[..], &load[..]].concat())?;
    let reported = fathom(settings, &["report", "day", "-q", "-o", "day.html"])?;
    page(
        settings,
        "day.html",
        "report of a run of 86,400 seconds",
        reported,
        rows,
    )
}

fn page(settings: &Settings, name: &str, what: &str, seconds: f64, rows: &mut Vec<Row>) -> Result<()> {
    let bytes = std::fs::metadata(settings.scratch.join(Path::new(name)))?.len();
    rows.push(alone(
        what,
        format!("{seconds:.2} s, {:.1} MB", bytes as f64 / 1e6),
        "< 2 s, < 12 MB",
    ));
    Ok(())
}

/// A real sweep against the sum of its points' times.
fn overhead(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let depths = POINTS.join(",");
    let duration = format!("{POINT_SECONDS}s");
    let words = [
        "sweep",
        "-q",
        "--rw=randread",
        "--bs=4k",
        "--size=256m",
        "--warmup=0",
        "--iodepth",
        &depths,
        "--duration",
        &duration,
        "-o",
        "swept",
        "data",
    ];
    // The file is there afterwards: laying it out is not what is asked.
    fathom(
        settings,
        &[
            "run",
            "-q",
            "-o",
            "none",
            "--rw=read",
            "--bs=1m",
            "--size=256m",
            "data",
        ],
    )?;
    let wall = fathom(settings, &words)?;
    let points = f64::from(POINT_SECONDS) * POINTS.len() as f64;
    rows.push(alone(
        &format!(
            "real sweep of {} points of {POINT_SECONDS} s: time beside its points",
            POINTS.len()
        ),
        format!("{:.2} %", (wall / points - 1.0) * 100.0),
        "< 1 %",
    ));
    Ok(())
}
