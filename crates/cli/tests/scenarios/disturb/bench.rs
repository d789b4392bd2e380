//! Where a kind is done: a place, a victim, and what `fathom` recorded of it.

use super::truth::{Recorded, Truth};
use crate::Window;
use crate::disk::LimitedDisk;
use crate::harness::{Mount, Place, count, finish, start, tool};
use crate::pause;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A victim begins with so much of peace, in milliseconds.
const PEACE_MS: u64 = 2_500;
/// How long a victim runs.
const RUN_S: u64 = 7;
/// How long `fathom record` may take to begin.
const BEGIN_MS: u64 = 1_000;
const MS: u64 = 1_000_000;

/// A disk with a latency of 1 ms whose bandwidth nobody needs.
pub(super) const FAST: &str = "--size-mib 2048 --latency-us 1000 --slice-ms 0 --bytes-per-second 400000000";
/// The same with 100 MB/s.
pub(super) const PIPE: &str = "--size-mib 2048 --latency-us 1000 --slice-ms 0 --bytes-per-second 100000000";
/// Single reads of 4 KiB.
pub(super) const SINGLE: &str = "--rw randread --bs 4k --ioengine psync --direct 1";

pub(super) struct Bench {
    place: Place,
}

/// An I/O of the victim's, from when it was due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Io {
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}

impl Io {
    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    pub(super) fn overlaps(&self, window: &Window) -> bool {
        self.start_ns < window.end_ns && window.start_ns < self.end_ns
    }
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { place: Place::new() }
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Where programs under other names lie.
    pub(super) fn path(&self) -> PathBuf {
        self.place.path("")
    }

    pub(super) fn disk(&self, flags: &str) -> Result<LimitedDisk, String> {
        LimitedDisk::start(&self.place, flags)
    }

    /// A load that is recorded, not yet started.
    pub(super) fn load(&self, line: &str) -> Command {
        self.load_for(RUN_S, line)
    }

    /// The same for `seconds`.
    pub(super) fn load_for(&self, seconds: u64, line: &str) -> Command {
        let line = format!("run --name load {line} --time_based --runtime {seconds}s --record -o d -q");
        self.place.command(&line)
    }

    /// Runs a load to its end while `inject` does what it does after the peace.
    pub(super) fn run(
        &self,
        mut command: Command,
        inject: impl FnOnce(&Child) -> Result<Truth, String>,
    ) -> Result<Recorded, String> {
        let child = start(&mut command);
        pause(PEACE_MS);
        let truth = inject(&child);
        finish(child).expect(0);
        Ok(Recorded {
            truth: truth?,
            ios: self.ios(),
        })
    }

    /// Has fio use `device` while `fathom record` watches that, and `inject` does what it does after the peace.
    pub(super) fn watch(
        &self,
        device: &str,
        line: &str,
        inject: impl FnOnce(&Child) -> Result<Truth, String>,
    ) -> Result<Recorded, String> {
        tool("fio --version")?;
        // Longer than the victim on both sides.
        let seconds = RUN_S + 3;
        let record = format!("record -q --device {device} --duration {seconds}s -o d");
        let recorder = start(&mut self.place.command(&record));
        pause(BEGIN_MS);
        let victim = Command::new("fio")
            .args(["--thread", "--name=victim", "--time_based"])
            .arg(format!("--runtime={RUN_S}"))
            .arg(format!("--filename={device}"))
            .args(line.split_whitespace())
            .args(["--log_alternate_epoch=1", "--log_alternate_epoch_clock_id=1"])
            .args(["--write_lat_log=v", "--output=/dev/null"])
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let done = victim.and_then(|mut victim| {
            pause(PEACE_MS);
            let truth = inject(&victim);
            Ok((truth, victim.wait()?))
        });
        finish(recorder).expect(0);
        let (truth, ended) = done.map_err(|error| format!("fio: {error}"))?;
        if !ended.success() {
            return Err(format!("a fio that works here ({ended})"));
        }
        Ok(Recorded {
            truth: truth?,
            ios: self.logged()?,
        })
    }

    /// What fio logged: when each was complete, in milliseconds of the clock of all stamps, and how long it took.
    fn logged(&self) -> Result<Vec<Io>, String> {
        let text = fs::read_to_string(self.place.path("v_lat.1.log"));
        let text = text.map_err(|error| format!("fio: {error}"))?;
        let ios = text.lines().filter_map(|line| {
            let mut numbers = line.split(',').map(|word| word.trim().parse::<u64>().ok());
            let end_ns = numbers.next()?? * MS;
            let length_ns = numbers.next()??;
            Some(Io {
                start_ns: end_ns.saturating_sub(length_ns),
                end_ns,
            })
        });
        Ok(ios.collect())
    }

    /// The I/Os of the load's first section.
    fn ios(&self) -> Vec<Io> {
        let csv = self.place.fathom("export d --csv --stream io").expect(0).stdout;
        let mut lines = csv.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let column = |name| names.iter().position(|known| *known == name).expect("a column");
        let (intended, completed, job) = (column("intended_ns"), column("completed_ns"), column("job"));
        let io = |line: &str| {
            let words: Vec<&str> = line.split(',').collect();
            let number = |column: usize| words[column].parse::<u64>().ok();
            let io = Io {
                start_ns: number(intended)?,
                end_ns: number(completed)?,
            };
            (words[job] == "0").then_some(io)
        };
        lines.filter_map(io).collect()
    }

    /// What `fathom explain` says; nothing where it says that it cannot.
    pub(super) fn explained(&self) -> Value {
        let outcome = self.place.fathom("explain d --json");
        serde_json::from_str(&outcome.stdout).unwrap_or_default()
    }

    /// The start of the run, on the clock of all stamps.
    pub(super) fn started_ns(&self) -> u64 {
        let text = fs::read_to_string(self.place.path("d/run.json")).expect("the run");
        let run: Value = serde_json::from_str(&text).expect("JSON");
        count(&run, "started_monotonic_ns")
    }

    /// Keeps the recording, with what the judge says, in a new directory below `dir`.
    pub(super) fn keep(&self, dir: &Path, name: &str, judgement: &str) -> Result<(), String> {
        let to = dir.join(name);
        fs::create_dir_all(&to).map_err(|error| error.to_string())?;
        fs::write(to.join("judgement.txt"), judgement).map_err(|error| error.to_string())?;
        let from = self.place.path("d");
        tool(&format!("cp -a {} {}", from.display(), to.display())).map(drop)
    }
}

/// A zram device.
pub(super) struct Zram {
    pub(super) device: String,
    number: String,
}

impl Zram {
    pub(super) fn new() -> Result<Self, String> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add");
        let number = number.map_err(|error| format!("zram: {error}"))?;
        let number = number.trim().to_owned();
        let zram = Self {
            device: format!("/dev/zram{number}"),
            number,
        };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        fs::write(size, "256M").map_err(|error| format!("zram: {error}"))?;
        Ok(zram)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Busy a moment after the last close.
        for _ in 0..100 {
            if fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok() {
                return;
            }
            pause(10);
        }
        eprintln!("{} is left behind", self.device);
    }
}

/// A file system on a device, mounted at `mnt`.
pub(super) fn ext4(bench: &Bench, device: &str) -> Result<Mount, String> {
    tool(&format!("mkfs.ext4 -q -E nodiscard,lazy_itable_init=1 {device}"))?;
    Mount::new(bench.place(), &format!("-o noinit_itable {device}"))
}

/// How much a block device may have dirty before who writes to it waits; as before when this is dropped.
pub(super) struct DirtyLimit {
    dir: PathBuf,
}

impl DirtyLimit {
    pub(super) fn of(name: &str, bytes: u64) -> Result<Self, String> {
        let dir = PathBuf::from(format!("/sys/class/block/{name}/bdi"));
        let limit = Self { dir };
        limit.set("strict_limit", "1")?;
        limit.set("max_bytes", &bytes.to_string())?;
        Ok(limit)
    }

    fn set(&self, file: &str, value: &str) -> Result<(), String> {
        fs::write(self.dir.join(file), value).map_err(|error| format!("bdi/{file}: {error}"))
    }
}

impl Drop for DirtyLimit {
    fn drop(&mut self) {
        for (file, value) in [("max_ratio", "100"), ("strict_limit", "0")] {
            if let Err(error) = self.set(file, value) {
                eprintln!("{error}");
            }
        }
    }
}

/// A second CPU, or that it is missing.
pub(super) fn two_cpus() -> Result<(), String> {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => Err("a second CPU".to_owned()),
        _ => Ok(()),
    }
}
