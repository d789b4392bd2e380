//! The disk under test: `limited-disk` behind a loop device. All of it is gone when it is dropped, also after a panic.

use crate::Window;
use crate::harness::{Place, tool};
use fathom_testkit::LoopDevice;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the program may take to start and to end.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct LimitedDisk {
    /// The loop device.
    pub(crate) device: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Option<BufReader<ChildStdout>>,
    /// The stalls that were read so far.
    stalls: Vec<Window>,
    mountpoint: PathBuf,
    attached: Option<LoopDevice>,
}

impl LimitedDisk {
    /// Starts it with `flags`; or what is missing.
    pub(crate) fn start(place: &Place, flags: &str) -> Result<Self, String> {
        if !Path::new("/dev/fuse").exists() {
            return Err("no /dev/fuse".to_owned());
        }
        let mountpoint = place.path("limited");
        std::fs::create_dir_all(&mountpoint).map_err(|error| error.to_string())?;
        let mut child = command(program()?)
            .arg(&mountpoint)
            .args(flags.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .map_err(|error| format!("limited-disk does not start: {error}"))?;
        let stdin = child.stdin.take();
        let lines = child.stdout.take().map(BufReader::new);
        let mut disk = Self {
            device: String::new(),
            child,
            stdin,
            lines,
            stalls: Vec::new(),
            mountpoint,
            attached: None,
        };
        let mut first = String::new();
        if let Some(lines) = &mut disk.lines {
            lines.read_line(&mut first).map_err(|error| error.to_string())?;
        }
        let Some(file) = first.trim_end().strip_prefix("ready ") else {
            return Err("FUSE cannot be mounted here (it takes root)".to_owned());
        };
        let device = LoopDevice::over(Path::new(file), &["--direct-io=on"])?;
        disk.device = device.path().to_string_lossy().into_owned();
        disk.attached = Some(device);
        Ok(disk)
    }

    /// Kernel name of the loop device.
    pub(crate) fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }

    /// Sets an attribute of the loop device's queue.
    pub(crate) fn set(&mut self, attribute: &str, value: &str) -> Result<(), String> {
        let attached = self.attached.as_mut().ok_or("it has ended")?;
        attached.set(attribute, value)
    }

    /// Makes it another disk, as `latency-us 4000`; when that was.
    pub(crate) fn change(&mut self, line: &str) -> u64 {
        let stdin = self.stdin.as_mut().expect("it runs");
        writeln!(stdin, "{line}").expect("it listens");
        loop {
            let said = self.said();
            if said.starts_with("change ") {
                return number(&said, "at_ns=");
            }
            self.stalls.push(stall(&said));
        }
    }

    /// Waits until it begins to stand still.
    pub(crate) fn next_stall(&mut self) -> Window {
        let window = stall(&self.said());
        self.stalls.push(window);
        window
    }

    fn said(&mut self) -> String {
        let mut line = String::new();
        let lines = self.lines.as_mut().expect("it runs");
        lines.read_line(&mut line).expect("what it said");
        line.trim_end().to_owned()
    }

    /// Ends it; the stalls that it had.
    pub(crate) fn end(mut self) -> Vec<Window> {
        self.take_down();
        let mut text = String::new();
        if let Some(mut lines) = self.lines.take() {
            lines.read_to_string(&mut text).expect("what it said");
        }
        let mut stalls = std::mem::take(&mut self.stalls);
        stalls.extend(text.lines().map(stall));
        stalls
    }

    fn take_down(&mut self) {
        // A device before the file that it is over.
        self.attached = None;
        self.stdin = None;
        let begin = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if begin.elapsed() > PATIENCE {
                eprintln!("limited-disk does not end: it is killed");
                let _gone = self.child.kill();
                let _reaped = self.child.wait();
                let _left = tool(&format!("umount -l {}", self.mountpoint.display()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for LimitedDisk {
    fn drop(&mut self) {
        self.take_down();
    }
}

/// The program, before everything else that wants a CPU where that is allowed: a disk is not slow because a machine is busy.
fn command(program: PathBuf) -> Command {
    if tool("chrt -f 10 true").is_err() {
        return Command::new(program);
    }
    let mut command = Command::new("chrt");
    command.args(["-f", "10"]).arg(program);
    command
}

/// `stall start_ns=1 end_ns=2`.
fn stall(line: &str) -> Window {
    Window {
        start_ns: number(line, "start_ns="),
        end_ns: number(line, "end_ns="),
    }
}

/// The number behind `name` in what the program said.
fn number(line: &str, name: &str) -> u64 {
    let word = line.split(' ').find_map(|word| word.strip_prefix(name));
    let number = word.and_then(|word| word.parse().ok());
    number.unwrap_or_else(|| panic!("no {name} in {line:?}"))
}

/// The program: cargo puts it beside this one's. Built where only this package was.
fn program() -> Result<PathBuf, String> {
    let path = Path::new(env!("CARGO_BIN_EXE_fathom")).with_file_name("limited-disk");
    if path.exists() {
        return Ok(path);
    }
    let directory = path.ancestors().nth(2).unwrap_or(Path::new("."));
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "-p",
            "limited-disk",
            "--target-dir",
        ])
        .arg(directory)
        .status();
    match status {
        Ok(status) if status.success() && path.exists() => Ok(path),
        _ => Err("limited-disk is not built: cargo build -p limited-disk".to_owned()),
    }
}
