//! A disk served for long: the server's memory must not grow with what it has answered.
//!
//! Data in: how many hours, and how many I/Os a second. Data out: a table of its memory, and an error where it was not flat. What
//! counts is how many I/Os there were: a day at 2,000 a second has as many as an hour at 48,000, which takes a twenty-fourth of it.

use crate::ci::target_directory;
use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Hours and I/Os a second, where nothing else is said.
const HOURS: f64 = 24.0;
const IOPS: u64 = 2000;
/// A disk that may do more than this machine can; without limits of a machine.
const DISK: &str = "model:azure/PremiumV2:256GiB,iops=80000,mbps=1200";
/// Reads and writes in equal shares, a flush each hundred writes, by depth 32.
const LOAD: &str =
    "run --rw randrw --bs 4k --direct 1 --ioengine libaio --iodepth 32 --fsync 100 --time_based -o none -q";
const MINUTE: Duration = Duration::from_mins(1);
/// Short runs are looked at more often: so many samples at least.
const SAMPLES_MIN: u32 = 24;
/// What is flat: the last third is larger than the second by no more.
const GROWTH_KIB_MAX: u64 = 2048;

/// A look at the server.
#[derive(Debug, Clone, Copy)]
struct Sample {
    seconds: u64,
    ios: u64,
    rss_kib: u64,
}

/// `[HOURS [IOPS]]`.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let hours: f64 = match options.first() {
        Some(text) => text.parse().context("how many hours?")?,
        None => HOURS,
    };
    let iops: u64 = match options.get(1) {
        Some(text) => text.parse().context("how many I/Os a second?")?,
        None => IOPS,
    };
    ensure!(options.len() <= 2, "soak served takes hours, and I/Os a second");
    let time = Duration::try_from_secs_f64(hours * 3600.0).context("how many hours?")?;
    ensure!(time >= Duration::from_secs(24), "24 s at least: 24 samples");
    shell::run(&mut shell::cargo(&["build", "--release", "--locked"]))?;
    let program = target_directory()?.join("release/fathom");
    let dir = tempfile::tempdir()?;
    let samples = soaked(&program, dir.path(), time, iops)?;
    let (before, after) = thirds(&samples)?;
    println!("median of the second third {before} KiB, of the last {after} KiB");
    ensure!(
        after <= before + GROWTH_KIB_MAX,
        "the server's memory is not flat: it grew by {} KiB",
        after - before
    );
    println!("flat");
    Ok(())
}

/// Ended whatever happens. A server takes down what it has put up.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        let told = Command::new("kill").args(["-TERM", &pid]).status();
        if told.is_ok_and(|status| status.success()) {
            // It has been told to end, and does.
            let _reaped = self.0.wait();
        }
    }
}

fn soaked(program: &Path, dir: &Path, time: Duration, iops: u64) -> Result<Vec<Sample>> {
    let at = dir.join("at");
    std::fs::create_dir(&at)?;
    let control = dir.join("ctl");
    let mut serve = Command::new(program);
    serve.args(["disk", "serve", DISK, "--size", "1GiB", "-q", "--at"]);
    serve.arg(&at).arg("--control").arg(&control);
    let mut server = Ended(serve.stdout(Stdio::null()).spawn()?);
    let begun = Instant::now();
    while ios(program, &control).is_err() {
        if let Some(status) = server.0.try_wait()? {
            bail!("the server ended: {status}");
        }
        ensure!(begun.elapsed() < MINUTE, "the server did not begin");
        std::thread::sleep(Duration::from_millis(200));
    }
    let file = at.join("disk");
    let mut load = Command::new(program);
    load.args(LOAD.split(' '))
        .arg(format!("--runtime={}s", time.as_secs()))
        .arg(format!("--rate_iops={},{}", iops - iops / 2, iops / 2))
        .arg("--on")
        .arg(&file)
        .arg("--allow-overwrite")
        .arg(&file);
    let mut load = Ended(load.stdout(Stdio::null()).spawn()?);
    let every = MINUTE.min(time / SAMPLES_MIN);
    let (begun, mut samples) = (Instant::now(), Vec::new());
    println!("{:>8} {:>14} {:>10}", "s", "I/Os", "KiB");
    loop {
        let due = begun + every * (samples.len() as u32 + 1);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let sample = Sample {
            seconds: begun.elapsed().as_secs(),
            ios: ios(program, &control)?,
            rss_kib: rss_kib(server.0.id())?,
        };
        println!("{:>8} {:>14} {:>10}", sample.seconds, sample.ios, sample.rss_kib);
        samples.push(sample);
        if let Some(status) = load.0.try_wait()? {
            ensure!(status.success(), "the load failed: {status}");
            break;
        }
    }
    let late = samples.last().map_or(0, |sample| sample.ios);
    let asked = iops * time.as_secs();
    println!("{late} I/Os of {asked} that were asked for");
    ensure!(late >= asked / 10 * 9, "this machine does not do {iops} a second");
    Ok(samples)
}

/// How many answers the server has given.
fn ios(program: &Path, control: &Path) -> Result<u64> {
    let mut status = Command::new(program);
    status.args(["disk", "status", "--of"]).arg(control);
    let output = status.stderr(Stdio::null()).output()?;
    ensure!(output.status.success(), "the server does not answer");
    let standing: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    standing["lateness_ns"]["n"]
        .as_u64()
        .context("it does not say how many answers it has given")
}

/// What of a process is in memory; the disk's data, which it does not map, is not.
fn rss_kib(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.context("no VmRSS")?.parse().context("VmRSS is a number")
}

/// The medians of the second and of the last third; the first fills what is bounded: the write cache, histograms, the allocator's own.
fn thirds(samples: &[Sample]) -> Result<(u64, u64)> {
    let third = samples.len() / 3;
    ensure!(third >= 3, "{} samples are too few to tell", samples.len());
    let median = |samples: &[Sample]| {
        let mut sizes: Vec<u64> = samples.iter().map(|sample| sample.rss_kib).collect();
        sizes.sort_unstable();
        sizes[sizes.len() / 2]
    };
    let last = samples.len() - third;
    Ok((median(&samples[last - third..last]), median(&samples[last..])))
}

#[cfg(test)]
mod tests;
