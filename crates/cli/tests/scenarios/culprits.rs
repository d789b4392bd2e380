//! Those who do it: a CPU hog, a process that hammers the disk, a control group that throttles. All of them are gone when
//! they are dropped, also after a panic.

use crate::{Window, monotonic_ns};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::CpuSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The priority of the hog: above everything that is not real-time.
const PRIORITY: &str = "50";

/// A process that takes a whole CPU while it is let.
pub(crate) struct Hog {
    child: Child,
}

/// What the kernel calls the hog.
pub(crate) const HOG: &str = "hog";

/// What the kernel calls each hammer.
pub(crate) const HAMMER: &str = "hammer";

impl Hog {
    /// One on CPU `cpu`, stopped; or what is missing.
    pub(crate) fn on(cpu: usize, dir: &Path) -> Result<Self, String> {
        // A process is called by the name that it was started under.
        let name = dir.join(HOG);
        symlink("/bin/sh", &name).map_err(|error| error.to_string())?;
        let child = Command::new("chrt")
            .args(["-f", PRIORITY, "taskset", "-c", &cpu.to_string()])
            .arg(&name)
            .args(["-c", "kill -STOP $$; while :; do :; done"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("chrt: {error}"))?;
        let mut hog = Self { child };
        std::thread::sleep(Duration::from_millis(200));
        match hog.child.try_wait() {
            Ok(None) => Ok(hog),
            _ => Err("real-time scheduling is not allowed (CAP_SYS_NICE)".to_owned()),
        }
    }

    /// Lets it run for `length`; call from another CPU.
    pub(crate) fn burst(&self, length: Duration) -> Window {
        let start_ns = monotonic_ns();
        self.signal(Signal::CONT);
        std::thread::sleep(length);
        self.signal(Signal::STOP);
        Window {
            start_ns,
            end_ns: monotonic_ns(),
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the hog is there");
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Keeps this thread on one CPU.
pub(crate) fn stay_on(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).expect("a CPU that is there");
}

/// Processes that read a device as fast as it goes.
pub(crate) struct Hammers {
    children: Vec<Child>,
    start_ns: u64,
}

impl Hammers {
    /// Starts `count` of them on `device`.
    pub(crate) fn start(count: usize, device: &str, dir: &Path) -> Self {
        let name = dir.join(HAMMER);
        if !name.exists() {
            symlink(fs::canonicalize("/bin/dd").expect("dd"), &name).expect("a link");
        }
        let start_ns = monotonic_ns();
        let start = |number: usize| {
            Command::new(&name)
                .arg(format!("if={device}"))
                .args([
                    "of=/dev/null",
                    "bs=1M",
                    "iflag=direct",
                    &format!("skip={}", number * 8),
                ])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("start dd")
        };
        Self {
            children: (0..count).map(start).collect(),
            start_ns,
        }
    }

    /// Ends them.
    pub(crate) fn end(mut self) -> Window {
        self.kill();
        Window {
            start_ns: self.start_ns,
            end_ns: monotonic_ns(),
        }
    }

    fn kill(&mut self) {
        for child in &mut self.children {
            let _gone = child.kill();
        }
        for child in &mut self.children {
            let _reaped = child.wait();
        }
        self.children.clear();
    }
}

impl Drop for Hammers {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A control group of its own that limits reads of one device.
pub(crate) struct Throttle {
    dir: PathBuf,
}

impl Throttle {
    /// `iops` reads a second of block device `name`; or what is missing. Version 1 or 2, whichever has the controller.
    pub(crate) fn reads(name: &str, iops: u64) -> Result<Self, String> {
        let id =
            fs::read_to_string(format!("/sys/class/block/{name}/dev")).map_err(|error| error.to_string())?;
        let id = id.trim();
        let table = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
        let mut missing = "no control groups are mounted".to_owned();
        for line in table.lines() {
            let Some((left, right)) = line.split_once(" - ") else {
                continue;
            };
            let point = Path::new(left.split(' ').nth(4).unwrap_or_default());
            let made = if right.starts_with("cgroup2 ") {
                Self::version_2(point, &format!("{id} riops={iops}"))
            } else if right.starts_with("cgroup ") && right.ends_with("blkio") {
                Self::with(point, "blkio.throttle.read_iops_device", &format!("{id} {iops}"))
            } else {
                continue;
            };
            match made {
                Ok(throttle) => return Ok(throttle),
                Err(reason) => missing = reason,
            }
        }
        Err(missing)
    }

    fn version_2(point: &Path, limit: &str) -> Result<Self, String> {
        let offered = fs::read_to_string(point.join("cgroup.controllers")).unwrap_or_default();
        if !offered.split_whitespace().any(|controller| controller == "io") {
            return Err("control groups of version 2 have no controller io here".to_owned());
        }
        fs::write(point.join("cgroup.subtree_control"), "+io").map_err(|error| format!("+io: {error}"))?;
        Self::with(point, "io.max", limit)
    }

    fn with(point: &Path, file: &str, limit: &str) -> Result<Self, String> {
        let dir = point.join(format!("fathom-test-{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        let throttle = Self { dir };
        let set = fs::write(throttle.dir.join(file), limit);
        set.map_err(|error| format!("{file}: {error}"))?;
        Ok(throttle)
    }

    /// The same command, in the group from its start.
    pub(crate) fn around(&self, command: &Command) -> Command {
        let mut inside = Command::new("/bin/sh");
        inside
            .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
            .arg(self.dir.join("cgroup.procs"))
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(dir) = command.get_current_dir() {
            inside.current_dir(dir);
        }
        inside
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // A group is empty a moment after its last process was waited for.
        for _ in 0..100 {
            match fs::remove_dir(&self.dir) {
                Ok(()) => return,
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        eprintln!("{} cannot be removed", self.dir.display());
    }
}
