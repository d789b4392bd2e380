//! The real program behind a real loop device: what it promises is what a load meets.
//!
//! Needs root, `/dev/fuse`, loop devices and fio; prints SKIPPED with what is missing otherwise.
#![forbid(unsafe_code)]

use fathom_testkit::{LoopDevice, Needs, skipped, telling};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Two loads at once would measure each other.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The program, killed and unmounted whatever happens.
struct Disk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    mountpoint: tempfile::TempDir,
}

impl Disk {
    fn start(flags: &str) -> Result<Self, String> {
        if !Path::new("/dev/fuse").exists() {
            return Err("no /dev/fuse".to_owned());
        }
        let mountpoint = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let mut child = Command::new(env!("CARGO_BIN_EXE_limited-disk"))
            .arg(mountpoint.path())
            .args(flags.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the program");
        let stdin = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut first = String::new();
        lines.read_line(&mut first).expect("read its stdout");
        let disk = Self {
            child,
            stdin,
            lines,
            mountpoint,
        };
        let file = disk.mountpoint.path().join("disk");
        if first.trim_end() == format!("ready {}", file.display()) {
            Ok(disk)
        } else {
            Err("FUSE cannot be mounted here (it takes root)".to_owned())
        }
    }

    fn is_mounted(&self) -> bool {
        let table = std::fs::read_to_string("/proc/self/mounts").expect("the mount table");
        let point = self.mountpoint.path().to_string_lossy().into_owned();
        table.lines().any(|line| line.split(' ').nth(1) == Some(&*point))
    }

    /// Waits for its end; the exit code.
    fn wait(&mut self) -> Option<i32> {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(10) {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it did not end");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.stdin = None;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(5) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
        if self.is_mounted() {
            eprintln!(
                "{:?}",
                tool(&format!("umount -l {}", self.mountpoint.path().display()))
            );
        }
    }
}

/// A loop device over the disk's file, past the page cache.
fn over(disk: &Disk) -> Result<LoopDevice, String> {
    LoopDevice::over(&disk.mountpoint.path().join("disk"), &["--direct-io=on"])
}

/// What the device counted.
fn stat(device: &LoopDevice) -> Vec<u64> {
    let text = std::fs::read_to_string(format!("/sys/block/{}/stat", device.name())).expect("its counters");
    text.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

fn tool(line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{}: {error}", words[0]))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!(
        "{line}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// The value, or what is missing said and the test over.
macro_rules! or_skip {
    ($test:literal, $value:expr) => {
        match $value {
            Ok(value) => value,
            Err(missing) => {
                return skipped($test, missing);
            }
        }
    };
}

/// The disk is a process, and gives its answers when it gets a CPU.
fn needs() -> Needs {
    Needs::cpus().timely()
}

const P15: &str = "--size-mib 512 --iops 1100 --bytes-per-second 125000000 --latency-us 2000 --slice-ms 50";

#[test]
fn the_limits_hold_and_the_wait_is_in_the_device() {
    let _alone = alone();
    telling(
        "the_limits_hold_and_the_wait_is_in_the_device",
        &needs(),
        the_limits_hold_and_the_wait_is_in_the_device_once,
    );
}

fn the_limits_hold_and_the_wait_is_in_the_device_once() {
    let disk = or_skip!("the_limits_hold_and_the_wait_is_in_the_device", Disk::start(P15));
    let device = or_skip!("the_limits_hold_and_the_wait_is_in_the_device", over(&disk));
    let before = stat(&device);
    let fio = or_skip!(
        "the_limits_hold_and_the_wait_is_in_the_device",
        tool(&format!(
            "timeout 30 fio --name=x --filename={} --rw=randread --bs=4k --iodepth=32 --ioengine=libaio --direct=1 \
             --norandommap --size=512m --time_based --runtime=3 --minimal",
            device.path().display()
        ))
    );
    let after = stat(&device);
    // fio's terse format: 8 is the IOPS of reads, 40 the mean latency in microseconds.
    let field = |number: usize| -> f64 {
        let value = fio
            .split(';')
            .nth(number - 1)
            .and_then(|value| value.parse().ok());
        value.unwrap_or_else(|| panic!("field {number} of {fio}"))
    };
    let (iops, latency_ms) = (field(8), field(40) / 1e3);
    assert!((iops / 1100.0 - 1.0).abs() < 0.03, "{iops} IOPS");
    let reads = after[0] - before[0];
    let await_ms = (after[3] - before[3]) as f64 / reads as f64;
    assert!(
        (await_ms / latency_ms - 1.0).abs() < 0.1,
        "{await_ms} of {latency_ms} ms are the device's"
    );
}

#[test]
fn nothing_completes_in_a_stall_that_was_announced() {
    let _alone = alone();
    telling(
        "nothing_completes_in_a_stall_that_was_announced",
        &needs(),
        nothing_completes_in_a_stall_that_was_announced_once,
    );
}

fn nothing_completes_in_a_stall_that_was_announced_once() {
    let flags = "--size-mib 64 --latency-us 1000 --slice-ms 0 --stall every=700ms,for=200ms,from=300ms";
    let mut disk = or_skip!(
        "nothing_completes_in_a_stall_that_was_announced",
        Disk::start(flags)
    );
    // Past the page cache: each read is one of the disk.
    let mut open = File::options();
    open.read(true)
        .custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed());
    let file = open
        .open(disk.mountpoint.path().join("disk"))
        .expect("the disk's file");
    let now_ns = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let begin = now_ns();
    let mut done = Vec::new();
    let mut raw = vec![0; 8192];
    let aligned = raw.as_ptr().align_offset(4096);
    while now_ns() < begin + 2_000_000_000 {
        file.read_exact_at(&mut raw[aligned..aligned + 4096], 0)
            .expect("read");
        done.push(now_ns());
    }
    disk.stdin = None;
    assert_eq!(disk.wait(), Some(0));
    let mut stalls = Vec::new();
    for line in std::io::BufRead::lines(&mut disk.lines) {
        let line = line.expect("read its stdout");
        let number = |name: &str| -> u64 {
            let word = line.split(' ').find_map(|word| word.strip_prefix(name));
            word.and_then(|word| word.parse().ok())
                .unwrap_or_else(|| panic!("{name} in {line}"))
        };
        stalls.push((number("start_ns="), number("end_ns=")));
    }
    assert_eq!(stalls.len(), 3, "{stalls:?}");
    for (start, end) in stalls {
        assert_eq!(end - start, 200_000_000);
        // An answer on its way when the stall begins may be seen a little later.
        let during = done
            .iter()
            .filter(|&&at| start + 5_000_000 < at && at < end)
            .count();
        assert_eq!(during, 0, "between {start} and {end}");
        let spans = done
            .windows(2)
            .any(|pair| pair[0] < start + 5_000_000 && end <= pair[1]);
        assert!(spans, "no read waited from {start} to {end}");
    }
}

#[test]
fn it_ends_when_told_to_and_leaves_nothing() {
    let _alone = alone();
    for signal in ["TERM", "INT"] {
        let mut disk = or_skip!(
            "it_ends_when_told_to_and_leaves_nothing",
            Disk::start("--size-mib 16")
        );
        // Open all the while: it is unmounted nevertheless.
        let device = or_skip!("it_ends_when_told_to_and_leaves_nothing", over(&disk));
        assert!(disk.is_mounted());
        tool(&format!("kill -{signal} {}", disk.child.id())).expect("a signal");
        assert_eq!(disk.wait(), Some(0), "{signal}");
        assert!(!disk.is_mounted(), "{signal}");
        drop(device);
    }
    let mut disk = or_skip!(
        "it_ends_when_told_to_and_leaves_nothing",
        Disk::start("--size-mib 16")
    );
    disk.stdin = None;
    assert_eq!(disk.wait(), Some(0));
    assert!(!disk.is_mounted());
}

#[test]
fn data_comes_back_from_memory_and_from_a_file() {
    let _alone = alone();
    let backing = tempfile::tempdir().expect("a directory");
    let path: PathBuf = backing.path().join("image");
    for flags in [
        "--size-mib 4".to_owned(),
        format!("--size-mib 4 --backing {}", path.display()),
    ] {
        let disk = or_skip!("data_comes_back_from_memory_and_from_a_file", Disk::start(&flags));
        let open = |write| {
            File::options()
                .read(true)
                .write(write)
                .open(disk.mountpoint.path().join("disk"))
        };
        let file = open(true).expect("the disk's file");
        file.write_all_at(&[7; 10_000], 1_000_000).expect("write");
        file.sync_all().expect("sync");
        let mut back = [0; 10_002];
        open(false)
            .expect("again")
            .read_exact_at(&mut back, 999_999)
            .expect("read");
        assert_eq!((back[0], back[10_001]), (0, 0));
        assert!(back[1..10_001].iter().all(|&byte| byte == 7));
        assert!(file.write_all_at(&[1], 4 << 20).is_err(), "a disk does not grow");
    }
    assert_eq!(std::fs::metadata(path).expect("the backing file").len(), 4 << 20);
}
