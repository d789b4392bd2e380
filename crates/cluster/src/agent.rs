//! What runs in the pod: the program's own command lines one after the other, and what they left handed out until it was fetched.
//!
//! Data in: a file of [`Steps`]. Data out: lines on stdout, each [`MARK`] and a [`Said`]; files, piece by piece, to whoever asks by
//! `exec`. There is no shell and no tar in the image: this is all that is needed of either. It must not know Kubernetes.

mod volume;

use fathom_door::own;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Begins a line that is the agent's own; others are what its steps said.
pub const MARK: &str = "fathom-agent ";
/// The largest file of steps that is read.
const STEPS_BYTES_MAX: u64 = 4 << 20;
const PIECE: usize = 1 << 20;
/// How often it looks whether something is to happen.
const LOOK: Duration = Duration::from_millis(20);
/// In the directory of results, and no part of them: when to begin, and that it is to end.
const RELEASE_FILE: &str = ".fathom-release";
const END_FILE: &str = ".fathom-end";

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Where it leaves what came of it.
    pub out: String,
    /// Carried out first, and then waited for whoever says when the others begin ([`release`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Step>,
    pub steps: Vec<Step>,
}

/// One command line of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Names its directory.
    pub name: String,
    /// Without the program itself.
    pub words: Vec<String>,
    /// A persistent volume of this node: where it is found is the word behind these two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// It looks at what others left, and so also goes on where these were ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub afterwards: bool,
}

impl Steps {
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// What the agent says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "said")]
pub enum Said {
    /// A step begins.
    Begun { step: String },
    /// It ended: by itself with a code, or by a signal (`None`).
    Ended {
        step: String,
        exit: Option<i32>,
        /// How long it went on.
        #[serde(default)]
        took_ms: Option<u64>,
    },
    /// It could not be started.
    Failed { step: String, why: String },
    /// All is prepared: it waits for the moment at which all members begin.
    Ready,
    /// It begins, by this machine's clock, and was to begin then.
    Released { due_unix_ns: u64, at_unix_ns: u64 },
    /// All that will be done is done: it waits to be fetched.
    Done,
}

impl Said {
    /// The agent's own line, if it is one.
    pub fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line.strip_prefix(MARK)?).ok()
    }

    fn say(&self, to: &mut impl Write) -> io::Result<()> {
        writeln!(to, "{MARK}{}", serde_json::to_string(self)?)?;
        to.flush()
    }
}

/// A file that a step left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Below the directory of results, with `/`.
    pub path: String,
    pub size_bytes: u64,
    /// Hexadecimal SHA-256 of its content.
    pub sha256: String,
}

/// Reads the steps in `path`.
///
/// # Errors
/// It cannot be read, or is none of steps.
pub fn read_steps(path: &Path) -> anyhow::Result<Steps> {
    use anyhow::Context as _;
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    file.take(STEPS_BYTES_MAX)
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}: not the steps of an agent", path.display()))
}

/// Carries all steps out with `program`; one that fails does not keep the next ones from being tried. Tells `to`. `stop` ends
/// waiting.
///
/// # Errors
/// Nothing can be said any more.
pub fn work(program: &Path, steps: &Steps, stop: &AtomicBool, to: &mut impl Write) -> io::Result<()> {
    let agent = Agent {
        program,
        out: Path::new(&steps.out),
        stop,
    };
    if let Some(prepare) = &steps.prepare {
        let ended = agent.carry_out(prepare, to)?;
        Said::Ready.say(to)?;
        match agent.wait_for_release()? {
            Some(due) => until(due),
            None => return Ok(()),
        }
        .say(to)?;
        // What it is to measure is not there.
        if ended != Some(0) {
            return Said::Done.say(to);
        }
    }
    for step in &steps.steps {
        agent.carry_out(step, to)?;
    }
    Said::Done.say(to)
}

/// Lets a waiting agent begin at that time of this machine's clock.
///
/// # Errors
/// Its directory cannot be written to.
pub fn release(out: &Path, at_unix_ns: u64) -> io::Result<()> {
    let part = out.join(format!("{RELEASE_FILE}.part"));
    let mut file = own::create_temporary(&part)?;
    write!(file, "{at_unix_ns}")?;
    own::rename(&part, &out.join(RELEASE_FILE))
}

/// Ends the step under way, as Ctrl-C would.
///
/// # Errors
/// Its directory cannot be written to.
pub fn end(out: &Path) -> io::Result<()> {
    own::create_temporary(&out.join(END_FILE)).map(drop)
}

/// Answers each line from `from` with the time in nanoseconds since the Unix epoch, until there are no more.
///
/// # Errors
/// Nobody takes it.
pub fn tell_time(from: &mut impl BufRead, to: &mut impl Write) -> io::Result<()> {
    let mut line = String::new();
    while from.read_line(&mut line)? > 0 {
        writeln!(to, "{}", now_unix_ns())?;
        to.flush()?;
        line.clear();
    }
    Ok(())
}

/// Nanoseconds since the Unix epoch.
pub fn now_unix_ns() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or_default()
}

/// Waits for that time; the last of it awake, for a thread that slept is late.
fn until(due_unix_ns: u64) -> Said {
    const AWAKE: Duration = Duration::from_millis(2);
    loop {
        let now = now_unix_ns();
        if now >= due_unix_ns {
            return Said::Released {
                due_unix_ns,
                at_unix_ns: now,
            };
        }
        let left = Duration::from_nanos(due_unix_ns - now);
        match left.checked_sub(AWAKE) {
            Some(sleep) => std::thread::sleep(sleep),
            None => std::hint::spin_loop(),
        }
    }
}

/// Carries steps out.
struct Agent<'a> {
    program: &'a Path,
    out: &'a Path,
    stop: &'a AtomicBool,
}

impl Agent<'_> {
    /// Carries one out, and gives its exit code.
    fn carry_out(&self, step: &Step, to: &mut impl Write) -> io::Result<Option<i32>> {
        let name = step.name.clone();
        Said::Begun { step: name.clone() }.say(to)?;
        let begun = Instant::now();
        let said = match self.run(step) {
            Ok(exit) => Said::Ended {
                step: name,
                exit,
                took_ms: u64::try_from(begun.elapsed().as_millis()).ok(),
            },
            Err(why) => Said::Failed { step: name, why },
        };
        said.say(to)?;
        Ok(match said {
            Said::Ended { exit, .. } => exit,
            _ => None,
        })
    }

    fn run(&self, step: &Step) -> Result<Option<i32>, String> {
        let mut words: Vec<OsString> = step.words.iter().map(OsString::from).collect();
        if let Some(volume) = &step.volume {
            // Behind the command's name and before its own words.
            let found = [OsString::from("--device"), volume::find(volume)?.into()];
            words.splice(1..1, found);
        }
        // What it has to say meanwhile becomes part of the pod's log.
        let report = self.out.join(format!("{}.txt", step.name));
        let report =
            own::create_temporary(&report).map_err(|error| format!("{}: {error}", report.display()))?;
        let mut child = Command::new(self.program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(report)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut ended = false;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status.code()),
                Ok(None) => {}
                Err(error) => return Err(error.to_string()),
            }
            if !ended && !step.afterwards && self.out.join(END_FILE).exists() {
                ended = true;
                let pid = rustix::process::Pid::from_child(&child);
                rustix::process::kill_process(pid, rustix::process::Signal::INT)
                    .map_err(|error| format!("it cannot be ended: {error}"))?;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The time at which all begin; `None`: it is not to go on.
    fn wait_for_release(&self) -> io::Result<Option<u64>> {
        let path = self.out.join(RELEASE_FILE);
        while !self.stop.load(Ordering::Relaxed) {
            match std::fs::read_to_string(&path) {
                Ok(text) => return text.trim().parse().map(Some).map_err(io::Error::other),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }
}

/// What lies below `dir`, in order of paths. Only regular files: nothing else is a step's own.
///
/// # Errors
/// Some of it cannot be read.
pub fn list(dir: &Path) -> io::Result<Vec<Kept>> {
    let mut kept = Vec::new();
    let mut open: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_ours = [RELEASE_FILE, END_FILE]
                .iter()
                .any(|name| entry.file_name() == *name);
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() && !is_ours {
                kept.push(kept_file(dir, &entry.path())?);
            }
        }
    }
    kept.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(kept)
}

fn kept_file(dir: &Path, path: &Path) -> io::Result<Kept> {
    let below = path.strip_prefix(dir).map_err(io::Error::other)?;
    let below = below
        .to_str()
        .ok_or_else(|| io::Error::other(format!("{}: no text", path.display())))?;
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; PIECE];
    let mut size_bytes = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        size_bytes += read as u64;
    }
    Ok(Kept {
        path: below.to_owned(),
        size_bytes,
        sha256: hex(&digest.finalize()),
    })
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        // A string takes all that is written to it.
        let _written = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the file at `path` from `offset_bytes` on to `to`.
///
/// # Errors
/// It cannot be read, or nobody takes it.
pub fn send(path: &Path, offset_bytes: u64, to: &mut impl Write) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset_bytes))?;
    io::copy(&mut file, to)?;
    to.flush()
}

#[cfg(test)]
mod tests;
