//! Starts the program, in a directory of its own, and reads what it says.

use fathom_testkit::{Turn, beside_others};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Longer than any test may take; a hang is a failure.
const PATIENCE: Duration = Duration::from_mins(4);

/// A directory on a real disk, where the program runs.
pub(crate) struct Place {
    path: PathBuf,
    /// Removed at the end; `None`: a part of another place.
    _dir: Option<tempfile::TempDir>,
    /// Tests that must have the machine alone wait for those that have a place.
    _turn: Turn,
}

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::at(env!("CARGO_TARGET_TMPDIR"))
    }

    /// A directory of another place.
    pub(crate) fn below(path: PathBuf) -> Self {
        Self {
            path,
            _dir: None,
            _turn: beside_others(),
        }
    }

    /// A directory below `parent`, whatever that lies on.
    pub(crate) fn at(parent: impl AsRef<Path>) -> Self {
        let dir = tempfile::tempdir_in(parent).expect("a directory for the test");
        Self {
            path: dir.path().to_owned(),
            _dir: Some(dir),
            _turn: beside_others(),
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("write a file of the test");
        path
    }

    /// The program with the words of `line`, not yet started.
    pub(crate) fn command(&self, line: &str) -> Command {
        self.command_of(line.split_whitespace())
    }

    pub(crate) fn command_of(&self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        self.command_by(env!("CARGO_BIN_EXE_fathom").as_ref(), words)
    }

    /// The same by `program`: another name of it, or what starts it.
    pub(crate) fn command_by(
        &self,
        program: &Path,
        words: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        hear_hangups();
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.path)
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the program with the words of `line` to its end.
    ///
    /// A `losetup --find` of another test opens for a moment the loop device that it would have taken, and this one has: whoever
    /// refuses it then is right, has touched nothing, and is asked again.
    pub(crate) fn fathom(&self, line: &str) -> Outcome {
        for _ in 0..20 {
            let outcome = finish(start(&mut self.command(line)));
            if !outcome.stderr.contains("(losetup) has /dev/loop") {
                return outcome;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        finish(start(&mut self.command(line)))
    }

    /// Runs it, expects exit 0, and reads its JSON.
    pub(crate) fn json(&self, line: &str) -> Value {
        let outcome = self.fathom(&format!("{line} --json -q"));
        outcome.expect(0).json()
    }

    /// Waits until the run in `dir` has kept `seconds` of its load: on a busy machine it begins when it is let.
    #[track_caller]
    pub(crate) fn has_run(&self, dir: &str, seconds: f64) {
        until("the load is under way", || {
            let shown = self.fathom(&format!("show {dir} --json"));
            let run: Value = serde_json::from_str(&shown.stdout).unwrap_or_default();
            run["jobs"][0]["runtime_ns"].as_f64() >= Some(seconds * 1e9)
        });
    }

    /// Names in the directory, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.listing("")
    }

    /// Names in one directory below it, in order.
    pub(crate) fn listing(&self, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(directory)).expect("read a directory of the test");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

/// Waits until it `is` so, however busy the machine is.
#[track_caller]
pub(crate) fn until(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "not so after {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Outcome {
    /// The same, if the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// The same, if stderr has `text`.
    #[track_caller]
    pub(crate) fn saying(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "`{text}` is not in stderr:\n{}",
            self.stderr
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout))
    }
}

pub(crate) fn start(command: &mut Command) -> Child {
    command.spawn().expect("start the program")
}

/// Waits for the end and collects what was printed.
#[track_caller]
pub(crate) fn finish(mut child: Child) -> Outcome {
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let status = wait(&mut child);
    Outcome {
        code: status.code(),
        stdout: out.join().expect("read stdout"),
        stderr: err.join().expect("read stderr"),
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut stream) = stream {
            stream.read_to_end(&mut text).expect("read");
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

#[track_caller]
fn wait(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("wait for the program") {
            return status;
        }
        if begin.elapsed() > PATIENCE {
            let _gone = child.kill();
            panic!("the program did not end within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal by number.
pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status();
    assert!(status.expect("run kill").success(), "kill -{name}");
}

/// Runs a tool of the system; what it printed, or why it could not.
pub(crate) fn tool(line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = Command::new(words[0])
        .args(&words[1..])
        .output()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!(
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// A program inherits that hangups are ignored, as under `nohup`, and fathom heeds that; it does not inherit a handler. With
/// one here the programs of the tests start as from a terminal.
fn hear_hangups() {
    static HEARD: OnceLock<()> = OnceLock::new();
    HEARD.get_or_init(|| {
        let heard = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGHUP, heard).expect("a handler of hangups");
    });
}

pub(crate) use fathom_testkit::skipped;

/// A loop device over an image in `place`, or why there is none.
pub(crate) struct LoopDevice {
    pub(crate) path: String,
    pub(crate) image: PathBuf,
    _device: fathom_testkit::LoopDevice,
}

impl LoopDevice {
    pub(crate) fn new(place: &Place, bytes: u64) -> Result<Self, String> {
        let image = place.write("image", b"");
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(&image)
            .map_err(|error| error.to_string())?;
        file.set_len(bytes).map_err(|error| error.to_string())?;
        let device = fathom_testkit::LoopDevice::over(&image, &[])?;
        Ok(Self {
            path: device.path().to_string_lossy().into_owned(),
            image,
            _device: device,
        })
    }

    /// A checksum of all that is on it.
    pub(crate) fn checksum(&self) -> String {
        tool(&format!("sha256sum {}", self.path)).expect("read the loop device")
    }
}

/// A file system mounted in `place`, unmounted at the end.
pub(crate) struct Mount {
    pub(crate) path: PathBuf,
}

impl Mount {
    /// `what`: the words for mount(8) before the mount point.
    pub(crate) fn new(place: &Place, what: &str) -> Result<Self, String> {
        let path = place.path("mnt");
        std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        tool(&format!("mount {what} {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(error) = tool(&format!("umount {}", self.path.display())) {
            eprintln!("{error}");
        }
    }
}

/// The whole number at a path such as `jobs.0.read.ios`.
#[track_caller]
pub(crate) fn count(document: &Value, path: &str) -> u64 {
    at(document, path)
        .as_u64()
        .unwrap_or_else(|| panic!("{path} is no whole number"))
}

/// The number at a path such as `jobs.0.read.ios`.
#[track_caller]
pub(crate) fn number(document: &Value, path: &str) -> f64 {
    at(document, path)
        .as_f64()
        .unwrap_or_else(|| panic!("{path} is no number"))
}

/// The value at a path such as `jobs.0.name`.
#[track_caller]
pub(crate) fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    let mut value = document;
    for key in path.split('.') {
        let next = match key.parse::<usize>() {
            Ok(index) => value.get(index),
            Err(_) => value.get(key),
        };
        value = next.unwrap_or_else(|| panic!("{path}: no {key} in {value}"));
    }
    value
}
