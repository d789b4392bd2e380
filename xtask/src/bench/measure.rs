//! One measured run of a program: its result, its CPU time and its peak memory.

use super::Settings;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// What one run came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// I/Os a second.
    pub iops: f64,
    /// User time of the whole program over its I/Os.
    pub user_ns_per_io: f64,
    /// User and system time of the whole program over its I/Os.
    pub cpu_ns_per_io: f64,
    /// The most memory it had.
    pub peak_rss_bytes: f64,
}

/// Runs fathom with a job given as flags.
pub(super) fn fathom(settings: &Settings, args: &[&str], target: Option<&str>) -> Result<Sample> {
    let mut command = Command::new(&settings.fathom);
    command
        .args(["run", "--json", "--quiet", "--no-record"])
        .args(args);
    command
        .arg(format!("--runtime={}s", settings.seconds))
        .args(target);
    let (document, usage) = measured(&mut command)?;
    let read = &document["jobs"][0]["read"];
    sample(&read["ios"], &read["iops"], usage)
}

/// Runs fio with the same job.
pub(super) fn fio(settings: &Settings, args: &[&str], target: Option<&str>) -> Result<Sample> {
    let mut command = Command::new("fio");
    command
        .args(["--name=job", "--thread", "--output-format=json"])
        .args(args);
    command.arg(format!("--runtime={}s", settings.seconds));
    if let Some(target) = target {
        command.arg(format!("--filename={target}"));
    }
    let (document, usage) = measured(&mut command)?;
    let read = &document["jobs"][0]["read"];
    sample(&read["total_ios"], &read["iops"], usage)
}

pub(super) fn sample(ios: &Value, iops: &Value, usage: wait4::ResourceUsage) -> Result<Sample> {
    let ios = ios.as_f64().context("no I/O count in the result")?;
    Ok(Sample {
        iops: iops.as_f64().context("no IOPS in the result")?,
        user_ns_per_io: usage.utime.as_nanos() as f64 / ios,
        cpu_ns_per_io: (usage.utime + usage.stime).as_nanos() as f64 / ios,
        peak_rss_bytes: usage.maxrss as f64,
    })
}

/// Runs a command to its end: the JSON document it printed, and what it used.
pub(super) fn measured(command: &mut Command) -> Result<(Value, wait4::ResourceUsage)> {
    let (output, usage) = finished(command)?;
    let output = String::from_utf8(output)?;
    // fio puts notes before the document.
    let begin = output.find('{').context("no document printed")?;
    Ok((serde_json::from_str(&output[begin..])?, usage))
}

/// Runs a command to its end, which must be a good one: what it printed, and what it used.
pub(super) fn finished(command: &mut Command) -> Result<(Vec<u8>, wait4::ResourceUsage)> {
    ended(command, &[0])
}

/// As [`measured`], of a run whose record need not be complete: not every device says all.
pub(super) fn measured_in_part(command: &mut Command) -> Result<(Value, wait4::ResourceUsage)> {
    let (output, usage) = ended(command, &[0, 1])?;
    Ok((serde_json::from_slice(&output)?, usage))
}

fn ended(command: &mut Command, codes: &[i32]) -> Result<(Vec<u8>, wait4::ResourceUsage)> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().context("no pipe")?;
    stdout.read_to_end(&mut output)?;
    let result = child.wait4()?;
    if !result.status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output));
    }
    Ok((output, result.rusage))
}

/// Seconds from just before the program is started to its first I/O, as its own record says.
pub(super) fn start_to_first_io(settings: &Settings, file: &str) -> Result<f64> {
    let directory = tempfile::tempdir_in(&settings.scratch)?;
    let record = directory.path().join("run");
    let before = monotonic_seconds();
    let status = Command::new(&settings.fathom)
        .args([
            "run",
            "--quiet",
            "--rw=randread",
            "--bs=4k",
            "--direct=1",
            "--size=1g",
            "--number_ios=10",
            "-o",
        ])
        .arg(&record)
        .arg(file)
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        bail!("the run for the start time failed");
    }
    let document: Value = serde_json::from_str(&std::fs::read_to_string(record.join("run.json"))?)?;
    let started = document["started_monotonic_ns"]
        .as_f64()
        .context("no start in run.json")?
        / 1e9;
    Ok(started - before)
}

/// `CLOCK_MONOTONIC`, in seconds.
fn monotonic_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The version of fio, for the record.
pub(super) fn fio_version() -> String {
    let output = Command::new("fio").arg("--version").output();
    output.map_or_else(
        |_| String::from("no fio"),
        |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
    )
}
