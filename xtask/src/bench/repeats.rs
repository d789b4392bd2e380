//! How well repeats of one command agree, against repeats with fio.
//!
//! Data in: the release build, fio, a disk with limits of our own: on a shared machine the spread of any real disk is that of
//! its neighbours. Data out: rows of the table.

use super::measure::{finished, measured};
use super::{Row, Settings};
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Limits that hold all the time: with time slices, where a run begins within one would be most of the spread.
const LIMITS: [&str; 10] = [
    "--size-mib",
    "1024",
    "--iops",
    "5000",
    "--bytes-per-second",
    "120000000",
    "--latency-us",
    "300",
    "--slice-ms",
    "1",
];
const RUNS: usize = 5;
const SECONDS: &str = "5";

/// A load as diskspd's flags and as fio's.
struct Load {
    what: &'static str,
    block: &'static str,
    depth: &'static str,
    threads: &'static str,
}

const LOADS: [Load; 2] = [
    Load {
        what: "8 KiB, 4 threads, depth 32, limit on IOPS",
        block: "8K",
        depth: "32",
        threads: "4",
    },
    Load {
        what: "64 KiB, 2 threads, depth 16, limit on bytes",
        block: "64K",
        depth: "16",
        threads: "2",
    },
];

pub(super) fn rows(settings: &Settings, rows: &mut Vec<Row>) -> Result<()> {
    let disk = match Disk::start(settings) {
        Ok(disk) => disk,
        Err(error) => {
            eprintln!("SKIPPED: repeats on a disk with limits: {error:#}");
            return Ok(());
        }
    };
    for load in LOADS {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            ours.push(diskspd(settings, &load, &disk.device)?);
            theirs.push(fio(&load, &disk.device)?);
        }
        let (ours, theirs) = (spread_percent(&ours), spread_percent(&theirs));
        rows.push(Row {
            what: format!(
                "`fathom diskspd`, {}, on a disk with limits: spread of the IOPS of {RUNS} runs of {SECONDS} s, against fio",
                load.what
            ),
            ours: format!("{ours:.3} %"),
            theirs: format!("{theirs:.3} %"),
            ratio: format!("{:.2}", ours / theirs),
            bar: "≤ 1",
        });
    }
    Ok(())
}

/// From the least to the most, as a share of the mean.
fn spread_percent(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (most - least) / mean * 100.0
}

fn diskspd(settings: &Settings, load: &Load, device: &str) -> Result<f64> {
    let mut command = Command::new(&settings.fathom);
    command.args(["diskspd", "--quiet", "-h", "-L", "-r", "-w0", "-W1"]);
    command.args([
        format!("-b{}", load.block),
        format!("-o{}", load.depth),
        format!("-t{}", load.threads),
        format!("-d{SECONDS}"),
    ]);
    let (text, _) = finished(command.arg(device).stderr(Stdio::null()))?;
    let text = String::from_utf8(text)?;
    let total = text.lines().find(|line| line.starts_with("total:"));
    let iops = total.and_then(|line| line.split('|').nth(3));
    iops.context("no total in diskspd's table")?
        .trim()
        .parse()
        .context("no rate in diskspd's table")
}

fn fio(load: &Load, device: &str) -> Result<f64> {
    let mut command = Command::new("fio");
    command.args([
        "--name=job",
        "--output-format=json",
        "--rw=randread",
        "--norandommap",
    ]);
    command.args(["--ioengine=libaio", "--direct=1", "--sync=1", "--group_reporting"]);
    command.args(["--time_based", "--ramp_time=1"]);
    command.args([
        format!("--runtime={SECONDS}"),
        format!("--bs={}", load.block),
        format!("--iodepth={}", load.depth),
        format!("--numjobs={}", load.threads),
        format!("--filename={device}"),
    ]);
    let (document, _) = measured(&mut command)?;
    document["jobs"][0]["read"]["iops"]
        .as_f64()
        .context("no IOPS in fio's result")
}

/// The test tool with a loop device over its file.
struct Disk {
    child: Child,
    device: String,
}

impl Disk {
    fn start(settings: &Settings) -> Result<Self> {
        let mountpoint = settings.scratch.join("limited");
        std::fs::create_dir_all(&mountpoint)?;
        // It ends when its standard input is closed.
        let child = Command::new(settings.fathom.with_file_name("limited-disk"))
            .arg(&mountpoint)
            .args(LIMITS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("limited-disk does not start")?;
        let mut disk = Self {
            child,
            device: String::new(),
        };
        let mut first = String::new();
        let said = disk.child.stdout.take().context("no pipe")?;
        BufReader::new(said).read_line(&mut first)?;
        let Some(file) = first.trim_end().strip_prefix("ready ") else {
            bail!("FUSE cannot be mounted here (it takes root)");
        };
        let made = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on", file])
            .output()?;
        if !made.status.success() {
            bail!("{}", String::from_utf8_lossy(&made.stderr).trim());
        }
        String::from_utf8(made.stdout)?
            .trim()
            .clone_into(&mut disk.device);
        Ok(disk)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let detached = match self.device.as_str() {
            "" => Ok(()),
            device => Command::new("losetup")
                .args(["--detach", device])
                .status()
                .map(drop),
        };
        drop(self.child.stdin.take());
        if let Err(error) = detached.and(self.child.wait().map(drop)) {
            eprintln!("the disk with limits is not taken down: {error}");
        }
    }
}
