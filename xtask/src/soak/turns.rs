//! A real device compared with itself: whatever the machine does meanwhile, it must not differ.
//!
//! Data in: how often. Data out: an error where more comparisons than chance explains call it a difference. The device is a zram of
//! its own, filled with what does not compress; where the kernel has none, or it is not root's to make, that is said and nothing is done.

use crate::ci::target_directory;
use crate::shell;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Comparisons, where nothing else is said.
const TIMES: u32 = 20;
/// One of twenty is chance.
const FALSE_MAX: usize = 1;
const CONTROL: &str = "/sys/class/zram-control";
const BYTES: u64 = 64 << 20;
/// What verdicts of a difference say.
const DIFFERS: [&str; 4] = ["is faster by", "is slower by", "times as fast", "times as slow"];

/// A zram device, removed at the end.
pub(super) struct Zram {
    number: u32,
}

impl Zram {
    /// `Err`: why there is none.
    pub(super) fn new() -> Result<Self, String> {
        let read = fs::read_to_string(Path::new(CONTROL).join("hot_add"));
        let text = read.map_err(|error| format!("{CONTROL}/hot_add: {error}"))?;
        let number = text
            .trim()
            .parse()
            .map_err(|_| format!("{CONTROL}/hot_add says {text}"))?;
        let zram = Self { number };
        let size = format!("/sys/block/zram{number}/disksize");
        fs::write(&size, BYTES.to_string()).map_err(|error| format!("{size}: {error}"))?;
        Ok(zram)
    }

    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }

    /// With random bytes.
    pub(super) fn fill(&self) -> Result<()> {
        let mut random = fs::File::open("/dev/urandom")?.take(BYTES);
        let mut device = OpenOptions::new().write(true).open(self.path())?;
        std::io::copy(&mut random, &mut device)?;
        device.flush()?;
        device.sync_all().context("fill the zram device")
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Err(error) = fs::write(Path::new(CONTROL).join("hot_remove"), self.number.to_string()) {
            eprintln!("zram{} is left: {error}", self.number);
        }
    }
}

pub(super) fn run(options: &[&str]) -> Result<()> {
    let times = match options {
        [] => TIMES,
        [text] => text.parse().context("how many comparisons?")?,
        _ => bail!("soak compare: how many comparisons is all that it takes"),
    };
    let zram = match Zram::new() {
        Ok(zram) => zram,
        Err(why) => {
            println!("SKIPPED: soak compare: no zram device can be made ({why})");
            return Ok(());
        }
    };
    zram.fill()?;
    shell::run(&mut shell::cargo(&["build", "--release", "--locked"]))?;
    let program = target_directory()?.join("release/fathom");
    let place = target_directory()?.join(format!("soak-compare-{}", std::process::id()));
    let mut alarms = Vec::new();
    for time in 0..times {
        let found = once(&program, &zram.path(), &place)?;
        println!("{}: {}", time + 1, found.as_deref().unwrap_or("no difference"));
        alarms.extend(found);
    }
    let allowed = FALSE_MAX * (times as usize).div_ceil(TIMES as usize);
    ensure!(
        alarms.len() <= allowed,
        "{} of {times} comparisons of a device with itself called a difference: {alarms:#?}",
        alarms.len()
    );
    println!(
        "{times} comparisons of {} with itself, {} false",
        zram.path().display(),
        alarms.len()
    );
    Ok(())
}

/// Five runs a side of a second each; what was called a difference.
fn once(program: &Path, device: &Path, place: &Path) -> Result<Option<String>> {
    let device = device.display().to_string();
    let words = "--rw randread --bs 4k --iodepth 1 --duration 1s --repeat 5 --order interleaved --json -q";
    let mut command = Command::new(program);
    command.args(["sweep", "--on", &device, "--on", &device]);
    command.args(words.split(' ')).arg("-o").arg(place);
    let output = command.output().context("run fathom sweep")?;
    fs::remove_dir_all(place).context("remove the sweeps")?;
    ensure!(
        output.status.success(),
        "fathom sweep: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    // The first figure that differs, by the text of its verdict: `xtask` has no use for a parser of JSON.
    let text = String::from_utf8(output.stdout)?;
    let differs =
        |line: &&str| line.starts_with("\"text\"") && DIFFERS.iter().any(|words| line.contains(words));
    let told = text.lines().map(str::trim).find(differs);
    Ok(told.map(ToOwned::to_owned))
}
