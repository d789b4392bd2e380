//! Recorded runs replayed where they were recorded, and the memory of replays of long records.
//!
//! Data in: nothing. Data out: a line for each, and an error where a replay is not what was recorded. The devices are a zram of its own
//! and a file beside the build; where the kernel has no zram, or it is not root's to make, that is said.

use super::turns::Zram;
use crate::ci::target_directory;
use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// I/Os a second, half of them reads.
const LOAD: &str = "--rw randrw --bs 4k --rate_iops 10000,10000 --iodepth 64 --ioengine io_uring --direct 1 --time_based --runtime 10s";
const BYTES: u64 = 64 << 20;
/// How far a percentile of a latency may be from the recorded one.
const OFF: f64 = 0.05;
/// How late an I/O may start.
const START_ERROR_NS_P99: f64 = 100_000.0;
/// A record of 24 h has ten million I/Os.
const LONG: &str = "--rw randread --bs 4k --rate_iops 116 --iodepth 32 --ioengine libaio --direct 1 --size 100g --time_based";
const LONG_ON: &str = "model:azure/P30";
/// What the longest may take more than the shortest, in bytes.
const GROWN_BYTES_MAX: u64 = 16 << 20;

pub(super) fn run(options: &[&str]) -> Result<()> {
    ensure!(options.is_empty(), "soak replay takes nothing");
    shell::run(&mut shell::cargo(&["build", "--release", "--locked"]))?;
    let program = target_directory()?.join("release/fathom");
    let place = tempfile::tempdir_in(target_directory()?)?;
    let mut wrong = Vec::new();
    match Zram::new() {
        Ok(zram) => {
            zram.fill()?;
            wrong.extend(twice(&program, place.path(), "zram", &zram.path())?);
        }
        Err(why) => println!("SKIPPED: soak replay: no zram device can be made ({why})"),
    }
    wrong.extend(twice(&program, place.path(), "file", &place.path().join("data"))?);
    wrong.extend(flat(&program, place.path())?);
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

fn fathom(program: &Path, words: &str) -> Command {
    let mut command = Command::new(program);
    command.args(words.split_whitespace());
    command
}

/// Records a run, and replays it in the same place; what is wrong.
fn twice(program: &Path, place: &Path, name: &str, target: &Path) -> Result<Vec<String>> {
    let record = place.join(name);
    let (target, record) = (target.display(), record.display());
    let run = format!(
        "run {LOAD} --size {BYTES} --filename {target} --allow-overwrite {target} --record=io --json -q -o {record}"
    );
    let recorded: Value = serde_json::from_slice(&shell::output(&mut fathom(program, &run))?)?;
    let replay = format!("replay {record} --on {target} --allow-overwrite {target} --json -q -o none");
    let replayed: Value = serde_json::from_slice(&shell::output(&mut fathom(program, &replay))?)?;
    let of = |document: &Value, path: &str| {
        let value = document.pointer(path).and_then(Value::as_f64);
        value.with_context(|| format!("{name}: nothing is said of {path}"))
    };
    let mut wrong = Vec::new();
    for direction in ["read", "write"] {
        let ios = format!("/groups/0/{direction}/ios");
        let (before, after) = (of(&recorded, &ios)?, of(&replayed, &ios)?);
        println!("{name} {direction}: {after} I/Os of {before}");
        if (before - after).abs() >= 0.5 {
            wrong.push(format!("{name} {direction}: {after} I/Os of {before}"));
        }
        for percentile in ["p50", "p99"] {
            let path = format!("/groups/0/{direction}/lat_ns/{percentile}");
            let (before, after) = (of(&recorded, &path)?, of(&replayed, &path)?);
            let off = after / before - 1.0;
            let line = format!(
                "{name} {direction} {percentile}: {after} ns, recorded {before} ns ({:+.1} %)",
                off * 100.0
            );
            println!("{line}");
            if off.abs() > OFF {
                wrong.push(line);
            }
        }
    }
    let late = of(&replayed, "/jobs/0/replay/start_error_ns/p99")?;
    println!("{name}: 99 of 100 start within {late} ns");
    if late > START_ERROR_NS_P99 {
        wrong.push(format!("{name}: 99 of 100 start within {late} ns only"));
    }
    Ok(wrong)
}

/// Replays records of 2, 6 and 24 hours of a modelled disk; what is wrong with the memory that they take.
fn flat(program: &Path, place: &Path) -> Result<Vec<String>> {
    let mut taken = Vec::new();
    for hours in [2, 6, 24] {
        let record = place.join(format!("hours-{hours}"));
        let record = record.display();
        let run = format!("run {LONG} --runtime {hours}h --on {LONG_ON} --record=io -q -o {record}");
        shell::output(&mut fathom(program, &run))?;
        let replay = format!("replay {record} --on {LONG_ON} -q -o none");
        let child = fathom(program, &replay).stdout(Stdio::null()).spawn()?;
        let ended = child.wait4()?;
        if !ended.status.success() {
            bail!("fathom {replay}: {}", ended.status);
        }
        let bytes = ended.rusage.maxrss;
        println!(
            "{hours} h: {} MiB at most, {:.1} s",
            bytes >> 20,
            (ended.rusage.utime + ended.rusage.stime).as_secs_f64()
        );
        taken.push(bytes);
    }
    let (Some(first), Some(last)) = (taken.first(), taken.last()) else {
        return Ok(Vec::new());
    };
    let grown = last.saturating_sub(*first);
    Ok(if grown > GROWN_BYTES_MAX {
        vec![format!(
            "a replay of 24 h takes {} MiB more than one of 2 h",
            grown >> 20
        )]
    } else {
        Vec::new()
    })
}
