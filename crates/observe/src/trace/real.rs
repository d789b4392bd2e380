//! What the tests on the running kernel share: devices of their own, and I/O to them.

use super::TraceUnavailable;
use crate::disk::Snapshot;
use crate::root::SystemRoot;
use fathom_core::run::DiskSummary;
use fathom_testkit::LoopDevice;
pub(super) use fathom_testkit::skipped;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What `start` gave; `None`, and a line that says so, where this machine cannot be traced.
pub(super) fn started<T>(test: &str, outcome: Result<T, TraceUnavailable>) -> Option<T> {
    match outcome {
        Ok(tracer) => Some(tracer),
        Err(error @ (TraceUnavailable::NotUnderstood { .. } | TraceUnavailable::NoDevice)) => {
            panic!("{test}: {error}")
        }
        Err(error) => {
            skipped(test, error);
            None
        }
    }
}

/// A loop device over a file of its own.
pub(super) struct Loop {
    pub(super) path: PathBuf,
    device: LoopDevice,
    _dir: TempDir,
}

impl Loop {
    pub(super) fn new(test: &str, bytes: u64) -> Option<Self> {
        let dir = TempDir::new().expect("a temporary directory");
        let file = dir.path().join("disk");
        let disk = File::create(&file).expect("a file");
        // Written and not sparse, so that reads reach the disk below.
        let block = vec![7; 1 << 20];
        for at in 0..bytes >> 20 {
            disk.write_all_at(&block, at << 20).expect("a written file");
        }
        disk.sync_all().expect("a file on the disk");
        let device = match LoopDevice::over(&file, &[]) {
            Ok(device) => device,
            Err(missing) => {
                skipped(test, missing);
                return None;
            }
        };
        disk_is_known();
        Some(Self {
            path: device.path().to_path_buf(),
            device,
            _dir: dir,
        })
    }

    pub(super) fn name(&self) -> &str {
        self.device.name()
    }
}

/// A zram device of its own.
pub(super) struct Zram {
    pub(super) path: PathBuf,
    number: String,
}

impl Zram {
    pub(super) fn new(test: &str, bytes: u64) -> Option<Self> {
        let number = match std::fs::read_to_string("/sys/class/zram-control/hot_add") {
            Ok(number) => number.trim().to_owned(),
            Err(error) => {
                skipped(test, format_args!("/sys/class/zram-control/hot_add: {error}"));
                return None;
            }
        };
        let zram = Self {
            path: format!("/dev/zram{number}").into(),
            number,
        };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        std::fs::write(size, bytes.to_string()).expect("a size");
        disk_is_known();
        if !zram.path.exists() {
            skipped(test, format_args!("{} does not appear", zram.path.display()));
            return None;
        }
        Some(zram)
    }

    pub(super) fn name(&self) -> &str {
        name_of(&self.path)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // udev may have it open for a moment.
        for _ in 0..50 {
            if std::fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        eprintln!("{} stays", self.path.display());
    }
}

/// Waits until udev, where there is one, has looked at a new device: its reads would be counted.
fn disk_is_known() {
    let _ = Command::new("udevadm").args(["settle", "--timeout=5"]).output();
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("a name")
}

/// A file or device, past the page cache.
pub(super) fn open_direct(path: &Path) -> File {
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(direct);
    options
        .open(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A buffer that direct I/O takes.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    pub(super) fn new(len: usize) -> Self {
        let bytes = vec![1; len + 4096];
        let start = bytes.as_ptr().align_offset(4096);
        Self { bytes, start, len }
    }

    pub(super) fn read(&mut self, file: &File, at: u64) -> io::Result<()> {
        file.read_exact_at(&mut self.bytes[self.start..self.start + self.len], at)
    }

    pub(super) fn write(&self, file: &File, at: u64) -> io::Result<()> {
        file.write_all_at(&self.bytes[self.start..self.start + self.len], at)
    }
}

/// The counters of one disk.
pub(super) fn counters(name: &str) -> Snapshot {
    Snapshot::take(&SystemRoot::default(), &[name.to_owned()]).expect("/proc/diskstats")
}

/// What a disk counted between two moments.
pub(super) fn counted(before: &Snapshot, after: &Snapshot) -> DiskSummary {
    before.until(after, 1).pop().expect("a row of the disk")
}

/// Whether this kernel holds the tasks of a control group whose CPU quota is used up one by one (since Linux 6.18), which
/// their stacks say.
pub(super) fn kernel_throttles_tasks() -> bool {
    let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    symbols
        .lines()
        .any(|line| line.ends_with(" throttle_cfs_rq_work"))
}
