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

/// Processes that do the same under one name.
pub(crate) struct Crowd {
    children: Vec<Child>,
    start_ns: u64,
}

impl Crowd {
    /// `count` of them: `program`, called `name`, with the words for each.
    pub(crate) fn start(
        dir: &Path,
        name: &str,
        program: &str,
        count: usize,
        words: impl Fn(usize) -> Vec<String>,
    ) -> Self {
        let start_ns = monotonic_ns();
        let start = |number| start_as(dir, name, program, &[], &words(number));
        Self {
            children: (0..count).map(start).collect(),
            start_ns,
        }
    }

    /// `count` that read `device` past the cache in blocks of `block_bytes`, each from a place of its own.
    pub(crate) fn readers(dir: &Path, name: &str, count: usize, device: &str, block_bytes: u64) -> Self {
        let words = |number: usize| {
            vec![
                format!("if={device}"),
                "of=/dev/null".to_owned(),
                format!("bs={block_bytes}"),
                format!("skip={}", (number as u64 * APART_BYTES) / block_bytes),
                "iflag=direct".to_owned(),
            ]
        };
        Self::start(dir, name, "/bin/dd", count, words)
    }

    /// `count` that take all of CPU `cpu` that they are given, at no special priority.
    pub(crate) fn busy(dir: &Path, name: &str, count: usize, cpu: usize) -> Self {
        let start_ns = monotonic_ns();
        let words = ["-c", "while :; do :; done"].map(str::to_owned);
        let cpu = cpu.to_string();
        let start = |_| start_as(dir, name, "/bin/sh", &["taskset", "-c", &cpu], &words);
        Self {
            children: (0..count).map(start).collect(),
            start_ns,
        }
    }

    /// Waits until they end by themselves.
    pub(crate) fn wait(mut self) -> Window {
        for child in &mut self.children {
            child.wait().expect("wait for it");
        }
        self.end()
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

impl Drop for Crowd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How far apart readers begin.
const APART_BYTES: u64 = 32 << 20;

/// Starts `program` so that the kernel calls it `name`: a process is called by the name that it was started under.
fn start_as(dir: &Path, name: &str, program: &str, before: &[&str], words: &[String]) -> Child {
    let link = dir.join(name);
    if !link.exists() {
        symlink(fs::canonicalize(program).expect("the program"), &link).expect("a link");
    }
    let mut command = match before.split_first() {
        Some((first, more)) => {
            let mut command = Command::new(first);
            command.args(more).arg(&link);
            command
        }
        None => Command::new(&link),
    };
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start it")
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
        inside(&self.dir, command)
    }
}

/// A command that starts in the control group `dir`.
fn inside(dir: &Path, command: &Command) -> Command {
    let mut inside = Command::new("/bin/sh");
    inside
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(dir.join("cgroup.procs"))
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

/// Removes the group of control `dir`.
fn remove(dir: &Path) {
    // A group is empty a moment after its last process was waited for.
    for _ in 0..100 {
        match fs::remove_dir(dir) {
            Ok(()) => return,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    eprintln!("{} cannot be removed", dir.display());
}

/// A control group of one controller of version 1.
pub(crate) struct Group {
    dir: PathBuf,
}

impl Group {
    /// A new one; or what is missing.
    pub(crate) fn of(controller: &str) -> Result<Self, String> {
        let table = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
        let mut points = table.lines().filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let options = right.strip_prefix("cgroup ")?.rsplit(' ').next()?;
            let found = options.split(',').any(|option| option == controller);
            found.then(|| left.split(' ').nth(4)).flatten()
        });
        let missing = format!("no control groups of version 1 with the controller {controller}");
        let point = Path::new(points.next_back().ok_or(missing)?);
        let dir = point.join(format!("fathom-test-{}", std::process::id()));
        fs::create_dir(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
        Ok(Self { dir })
    }

    /// Writes one of its files.
    pub(crate) fn set(&self, file: &str, value: &str) -> Result<(), String> {
        fs::write(self.dir.join(file), value).map_err(|error| format!("{file}: {error}"))
    }

    /// A number of one of its files, by the word before it.
    pub(crate) fn number(&self, file: &str, name: &str) -> Option<u64> {
        let text = fs::read_to_string(self.dir.join(file)).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    }

    /// The same command, in the group from its start.
    pub(crate) fn around(&self, command: &Command) -> Command {
        inside(&self.dir, command)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Whatever it held goes on, so that it can end.
        let _not_a_freezer = self.set("freezer.state", "THAWED");
        remove(&self.dir);
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}
