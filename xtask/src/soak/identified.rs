//! Files with limits that were drawn, identified: what comes out is compared with what was drawn, and with what fio sees.
//!
//! Data in: how many, and a seed. Data out: a row for each, and an error where one of them is further off than it may be. FUSE and the
//! server of `limited-disk` add to each I/O, what any program sees of such a file: the truth of a service time is fio's, one I/O at a
//! time on the same file.

use super::mix;
use crate::ci::target_directory;
use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Settings, where nothing else is said.
const SETTINGS: u64 = 10;
/// How far a limit may be off.
const LIMIT_OFF: f64 = 0.03;
/// How far a median may be.
const MEDIAN_OFF: f64 = 0.05;
/// The largest I/O that is measured: a limit on bytes beyond what the limit on I/Os lets through of these does not show.
const LARGEST_BYTES: f64 = 1_900_544.0;
/// Of the limits, what fio asks for.
const BELOW_LIMITS: f64 = 0.4;

/// A disk, as it was drawn.
#[derive(Debug)]
struct Drawn {
    iops: u64,
    bytes_per_second: u64,
    latency_us: u64,
    slice_ms: u64,
}

/// `[SETTINGS [SEED]]`.
pub(super) fn run(options: &[&str]) -> Result<()> {
    let (settings, seed) = match options {
        [] => (SETTINGS, None),
        [settings] => (settings.parse().context("how many settings?")?, None),
        [settings, seed] => (
            settings.parse().context("how many settings?")?,
            Some(seed.parse().context("which seed?")?),
        ),
        _ => bail!("soak identify: how many settings, and a seed"),
    };
    let seed = match seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64,
    };
    ensure!(
        Command::new("fio")
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success()),
        "fio, which says how long an I/O takes, does not run: install it"
    );
    let packages = [
        "build",
        "--release",
        "--locked",
        "-p",
        "fathom",
        "-p",
        "limited-disk",
    ];
    shell::run(&mut shell::cargo(&packages))?;
    let programs = target_directory()?.join("release");
    println!("{settings} settings, seed {seed}");
    let mut off = Vec::new();
    for number in 0..settings {
        let drawn = Drawn::new(mix(seed ^ mix(number)));
        let told = once(&programs, &drawn).with_context(|| format!("{drawn:?}"))?;
        println!("{}: {drawn:?}: {}", number + 1, told.line);
        off.extend(told.off.iter().map(|what| format!("{drawn:?}: {what}")));
    }
    ensure!(off.is_empty(), "seed {seed}: {}", off.join("\n"));
    println!("{settings} settings, each within {LIMIT_OFF} of its limits and {MEDIAN_OFF} of fio's medians");
    Ok(())
}

impl Drawn {
    fn new(seed: u64) -> Self {
        // Evenly on a logarithmic scale.
        let between = |which: u64, from: f64, to: f64| {
            let unit = (mix(seed ^ which) >> 11) as f64 / (1u64 << 53) as f64;
            (from.ln() + (to / from).ln() * unit).exp().round() as u64
        };
        Self {
            iops: between(1, 300.0, 4_000.0),
            bytes_per_second: between(2, 20e6, 300e6),
            latency_us: between(3, 1_000.0, 6_000.0),
            slice_ms: [0, 20, 50, 100][(mix(seed ^ 4) % 4) as usize],
        }
    }
}

/// What was seen of one.
struct Told {
    line: String,
    /// What is further off than it may be.
    off: Vec<String>,
}

impl Told {
    fn figure(&mut self, name: &str, found: f64, truth: f64, allowed: f64) {
        let off = found / truth - 1.0;
        let text = format!("{name} {found:.0} of {truth:.0} ({:+.2} %)", off * 100.0);
        if off.abs() > allowed || !off.is_finite() {
            self.off.push(text.clone());
        }
        let _ = write!(
            self.line,
            "{}{text}",
            if self.line.is_empty() { "" } else { ", " }
        );
    }
}

fn once(programs: &Path, drawn: &Drawn) -> Result<Told> {
    let place = tempfile::tempdir_in(programs)?;
    let disk = Limited::start(programs, place.path(), drawn)?;
    let mut told = Told {
        line: String::new(),
        off: Vec::new(),
    };
    let medians = ["read", "write"].map(|direction| fio_median_ns(&disk.file, drawn, direction));
    let file = disk.file.display().to_string();
    let mut identify = Command::new(programs.join("fathom"));
    identify.args([
        "identify",
        &file,
        "--allow-overwrite",
        &file,
        "--json",
        "-q",
        "--keep",
    ]);
    identify.arg(place.path().join("kept"));
    let found: Value = serde_json::from_slice(&shell::output(&mut identify)?)?;
    let number = |path: &str| {
        let value = found.pointer(path).and_then(Value::as_f64);
        value.with_context(|| format!("fathom identify says nothing of {path}"))
    };
    let shows = (drawn.iops as f64) * LARGEST_BYTES > drawn.bytes_per_second as f64;
    for (direction, median_ns) in ["read", "write"].into_iter().zip(medians) {
        let limits = format!("/limits/{direction}");
        let iops = number(&format!("{limits}/small/iops"))?;
        told.figure(&format!("{direction} IOPS"), iops, drawn.iops as f64, LIMIT_OFF);
        if shows {
            let bytes = number(&format!("{limits}/large/bytes_per_second"))?;
            let truth = drawn.bytes_per_second as f64;
            told.figure(&format!("{direction} bytes/s"), bytes, truth, LIMIT_OFF);
        }
        let found_ns = number(&format!("/service/{direction}/latency_ns_p50"))?;
        told.figure(
            &format!("{direction} median, ns"),
            found_ns,
            median_ns?,
            MEDIAN_OFF,
        );
    }
    for figure in ["iops", "latency_ns_p50", "latency_ns_p99"] {
        let off = number(&format!("/held_out/{figure}/off"))?;
        let _ = write!(told.line, ", held out {figure} {:+.1} %", off * 100.0);
    }
    Ok(told)
}

/// How long one at a time takes, slower than the limits, as fio sees it.
fn fio_median_ns(file: &Path, drawn: &Drawn, direction: &str) -> Result<f64> {
    let pace = (drawn.iops as f64).min(drawn.bytes_per_second as f64 / 4096.0) * BELOW_LIMITS;
    let mut fio = Command::new("fio");
    fio.args([
        "--name=alone",
        "--ioengine=psync",
        "--direct=1",
        "--bs=4k",
        "--iodepth=1",
    ]);
    fio.args([
        "--time_based",
        "--runtime=5",
        "--norandommap",
        "--output-format=json",
    ]);
    fio.arg(format!("--rw=rand{direction}"));
    fio.arg(format!("--rate_iops={}", pace.max(1.0) as u64));
    fio.arg(format!("--filename={}", file.display()));
    let output = String::from_utf8(shell::output(&mut fio)?)?;
    // Notes come before the document.
    let begin = output.find('{').context("fio prints no document")?;
    let document: Value = serde_json::from_str(&output[begin..])?;
    let median = document.pointer(&format!("/jobs/0/{direction}/clat_ns/percentile/50.000000"));
    median
        .and_then(Value::as_f64)
        .context("fio's document has no median")
}

/// The file; it ends when its standard input is closed.
struct Limited {
    child: Child,
    file: PathBuf,
}

impl Limited {
    fn start(programs: &Path, place: &Path, drawn: &Drawn) -> Result<Self> {
        let mountpoint = place.join("mounted");
        std::fs::create_dir(&mountpoint)?;
        let child = Command::new(programs.join("limited-disk"))
            .arg(&mountpoint)
            .args(["--size-mib", "256", "--iops", &drawn.iops.to_string()])
            .args(["--bytes-per-second", &drawn.bytes_per_second.to_string()])
            .args(["--latency-us", &drawn.latency_us.to_string()])
            .args(["--slice-ms", &drawn.slice_ms.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("limited-disk does not start")?;
        let mut disk = Self {
            child,
            file: PathBuf::new(),
        };
        let said = disk.child.stdout.take().context("no pipe")?;
        let mut first = String::new();
        BufReader::new(said).read_line(&mut first)?;
        let file = first.trim_end().strip_prefix("ready ");
        disk.file = file
            .context("FUSE cannot be mounted here (it takes root)")?
            .into();
        Ok(disk)
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("the disk with limits is not taken down: {error}");
        }
    }
}
