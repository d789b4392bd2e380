//! What recording costs the load, how large a record is, and how fast it is explained.
//!
//! Data in: the release build, a zram device, a file. Data out: rows of the table. The other side of each pair is the
//! same load without a record.

use super::measure::{Sample, finished, measured, measured_in_part, sample};
use super::{Row, Settings, median, millions, pairs, row, thousands};
use crate::shell;
use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A record, and what it came to.
struct Recorded {
    sample: Sample,
    run: Value,
    dir: PathBuf,
}

/// How long counters are watched, in seconds: what they cost is the difference, without start and end.
const COUNTERS_SECONDS: (u32, u32) = (5, 35);
const KIB: f64 = 1024.0;
/// Reads of a disk, many at a time.
const READS: [&str; 7] = [
    "--rw=randread",
    "--bs=4k",
    "--ioengine=libaio",
    "--iodepth=32",
    "--direct=1",
    "--size=1g",
    "--time_based",
];

/// Each I/O of a load on a RAM disk, the most a second that this machine does.
pub(super) fn ios(settings: &Settings, device: &Path, rows: &mut Vec<Row>) -> Result<()> {
    let target = device.display().to_string();
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--ioengine=psync",
        "--direct=1",
        "--size=4g",
        "--norandommap=1",
        "--time_based",
    ];
    let (mut kept, mut dropped, mut bytes) = (0, 0, 0.0);
    let samples = pairs(
        settings,
        || {
            let recorded = recorded(settings, &args, Some(&target), Some("io"))?;
            let (rows, lost) = stream(&recorded.run, "io")?;
            (kept, dropped) = (kept + rows, dropped + lost);
            // Now: the next run takes the place of this one.
            bytes += folder_bytes(&recorded.dir.join("io"))?;
            Ok(recorded.sample)
        },
        || Ok(recorded(settings, &args, Some(&target), None)?.sample),
    )?;
    rows.push(row(
        "--record=io, psync 4k randread on zram: IOPS, against no record",
        &samples,
        |s| s.iops,
        millions,
        "≥ 0.97",
    ));
    let peak: Vec<f64> = samples.iter().map(|(ours, _)| ours.peak_rss_bytes).collect();
    rows.push(alone(
        "the same: I/Os that were not kept",
        format!("{dropped} of {}", kept + dropped),
        "0",
    ));
    rows.push(alone(
        "the same: bytes an I/O on disk",
        format!("{:.1}", bytes / kept as f64),
        "≤ 12",
    ));
    rows.push(alone(
        "the same: peak memory",
        format!("{:.1} MiB", peak.iter().copied().fold(0.0, f64::max) / KIB / KIB),
        "≤ 64 MB",
    ));
    Ok(())
}

/// Every request of a real disk.
pub(super) fn block(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let file = settings.scratch.join("data").display().to_string();
    let mut lost = 0;
    let mut seen = 0;
    // A file's rounds differ by more than what is asked for: their median needs more of them.
    let settings = &Settings {
        rounds: settings.rounds * 3,
        ..settings.clone()
    };
    let samples = pairs(
        settings,
        || {
            let recorded = recorded(settings, &READS, Some(&file), Some("block"))?;
            let (kept, dropped) = stream(&recorded.run, "block")?;
            (seen, lost) = (seen + kept, lost + dropped);
            Ok(recorded.sample)
        },
        || Ok(recorded(settings, &READS, Some(&file), None)?.sample),
    )?;
    rows.push(row(
        "--record=block, libaio 4k randread QD32 on a file: IOPS, against no record",
        &samples,
        |s| s.iops,
        thousands,
        "≥ 0.96",
    ));
    rows.push(alone(
        "the same: events lost, of so many requests",
        format!("{lost} of {seen}"),
        "0",
    ));
    Ok(())
}

/// Everything that can be recorded of a load, against no record; and no record against none, which is the noise that the
/// first is to be read with.
pub(super) fn everything(
    settings: &Settings,
    (what, bar): (&str, &'static str),
    target: &Path,
    rows: &mut Vec<Row>,
) -> Result<()> {
    const ROUNDS: usize = 20;
    let target = target.display().to_string();
    let settings = &Settings {
        rounds: ROUNDS,
        ..settings.clone()
    };
    let (mut kept, mut lost) = (0, 0);
    let none = || Ok(recorded(settings, &READS, Some(&target), None)?.sample);
    let samples = pairs(
        settings,
        || {
            let streams = Some("io,block,counters");
            let recorded = recorded_by(measured_in_part, settings, &READS, Some(&target), streams)?;
            for kind in ["io", "block"] {
                let (rows, dropped) = stream(&recorded.run, kind)?;
                (kept, lost) = (kept + rows, lost + dropped);
            }
            Ok(recorded.sample)
        },
        none,
    )?;
    rows.push(row(
        &format!("--record, libaio 4k randread QD32 {what}: IOPS, against no record"),
        &samples,
        |s| s.iops,
        thousands,
        bar,
    ));
    rows.push(alone(
        "the same: rows lost, of so many I/Os and requests",
        format!("{lost} of {}", kept + lost),
        "0 at 100 k/s",
    ));
    let samples = pairs(settings, none, none)?;
    rows.push(row(
        "the same: no record against no record, which is the noise",
        &samples,
        |s| s.iops,
        thousands,
        "",
    ));
    Ok(())
}

/// The counters alone, with nothing else to do.
pub(super) fn counters(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let cpu_seconds = |seconds: u32| {
        let dir = fresh(settings)?;
        let mut command = Command::new(&settings.fathom);
        command
            .args(["record", "--quiet", "--record=counters", "--device"])
            .arg(&settings.scratch)
            .args(["--duration", &format!("{seconds}s"), "-o"])
            .arg(&dir);
        let usage = finished(&mut command)?.1;
        anyhow::Ok((usage.utime + usage.stime).as_secs_f64())
    };
    let (short, long) = COUNTERS_SECONDS;
    let start_and_end = cpu_seconds(short)?;
    let share = (cpu_seconds(long)? - start_and_end) / f64::from(long - short);
    rows.push(alone(
        "--record=counters: share of a core, without start and end",
        format!("{:.2} %", share * 100.0),
        "≤ 0.2 %",
    ));
    Ok(())
}

/// Ten million I/Os and as many requests.
pub(super) fn explained(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let args = [
        "--rw=randread",
        "--bs=4k",
        "--iodepth=32",
        "--ioengine=libaio",
        "--direct=1",
        "--size=100g",
        "--time_based",
        "--on=model:azure/Ultra,size=1t,iops=400000,mbps=10000",
    ];
    let settings = Settings {
        seconds: 112,
        ..settings.clone()
    };
    let recorded = recorded(&settings, &args, None, Some("io,block,counters"))?;
    let (ios, _) = stream(&recorded.run, "io")?;
    let (requests, _) = stream(&recorded.run, "block")?;
    let mut times = Vec::new();
    let mut peak = 0.0f64;
    for _ in 0..settings.rounds {
        let mut command = Command::new(&settings.fathom);
        command.arg("explain").arg(&recorded.dir);
        let begin = std::time::Instant::now();
        let (_, usage) = finished(&mut command)?;
        times.push(begin.elapsed().as_secs_f64());
        peak = peak.max(usage.maxrss as f64);
    }
    let what = format!(
        "`fathom explain` of {:.1} M I/Os and {:.1} M requests",
        ios as f64 / 1e6,
        requests as f64 / 1e6
    );
    rows.push(alone(&what, format!("{:.2} s", median(&mut times)), "< 2 s"));
    rows.push(alone(
        "the same: peak memory",
        format!("{:.0} MiB", peak / KIB / KIB),
        "< 500 MB",
    ));
    Ok(())
}

/// A modelled day, recorded, read back and explained.
pub(super) fn day(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let dir = fresh(settings)?;
    let experiment = shell::root().join("experiments/premium-24h");
    let begin = std::time::Instant::now();
    finished(
        Command::new(&settings.fathom)
            .args(["run", "--quiet", "--record", "-o"])
            .arg(&dir)
            .arg(experiment.join("reads.fio"))
            .arg(format!("--on=model:{}", experiment.join("day.toml").display())),
    )?;
    finished(Command::new(&settings.fathom).arg("explain").arg(&dir))?;
    rows.push(alone(
        "modelled 24 hours at 120 I/O/s, every I/O and request recorded and explained",
        format!("{:.1} s", begin.elapsed().as_secs_f64()),
        "< 20 s",
    ));
    Ok(())
}

pub(super) fn alone(what: &str, ours: String, bar: &'static str) -> Row {
    Row {
        what: what.to_owned(),
        ours,
        theirs: String::from("-"),
        ratio: String::from("-"),
        bar,
    }
}

/// The place of a record; the one before is removed.
fn fresh(settings: &Settings) -> Result<PathBuf> {
    let dir = settings.scratch.join("recorded");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    Ok(dir)
}

/// Runs fathom with a record; without `streams`, with none beside the statistics.
fn recorded(
    settings: &Settings,
    args: &[&str],
    target: Option<&str>,
    streams: Option<&str>,
) -> Result<Recorded> {
    recorded_by(measured, settings, args, target, streams)
}

/// As [`recorded`], of a run that ends as `run` has it.
fn recorded_by(
    run: fn(&mut Command) -> Result<(Value, wait4::ResourceUsage)>,
    settings: &Settings,
    args: &[&str],
    target: Option<&str>,
    streams: Option<&str>,
) -> Result<Recorded> {
    let dir = fresh(settings)?;
    let mut command = Command::new(&settings.fathom);
    command
        .args(["run", "--json", "--quiet", "-o"])
        .arg(&dir)
        .args(args);
    command.arg(format!("--runtime={}s", settings.seconds));
    command.args(streams.map(|streams| format!("--record={streams}")));
    command.args(target);
    let (run, usage) = run(&mut command)?;
    let read = &run["jobs"][0]["read"];
    let sample = sample(&read["ios"], &read["iops"], usage)?;
    Ok(Recorded { sample, run, dir })
}

/// Rows kept and dropped of a stream.
fn stream(run: &Value, kind: &str) -> Result<(u64, u64)> {
    let streams = run["streams"].as_array().context("no streams in the result")?;
    let found = streams.iter().find(|stream| stream["kind"] == kind);
    let found = found.with_context(|| format!("no stream {kind}"))?;
    let number = |key: &str| found[key].as_u64().context("no number");
    Ok((number("rows")?, number("dropped")?))
}

fn folder_bytes(dir: &Path) -> Result<f64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes as f64)
}
