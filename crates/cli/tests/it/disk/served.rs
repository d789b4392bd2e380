//! A server of the test's own.

use crate::harness::{Outcome, Place, signal, start, tool};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

/// The value, or what is missing said and the test over.
macro_rules! or_skip {
    ($test:expr, $value:expr) => {
        match $value {
            Ok(value) => value,
            Err(missing) => return crate::harness::skipped($test, missing),
        }
    };
}

pub(super) use or_skip;

/// A server, killed and cleaned up after whatever happens.
pub(super) struct Served<'a> {
    place: &'a Place,
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    ways: Vec<(String, String)>,
}

/// What says that this machine cannot, not that the program is wrong.
const MISSING: [&str; 5] = [
    "there is no /dev/fuse",
    "cannot mount on",
    "losetup",
    "not installed",
    "unknown filesystem type",
];

impl<'a> Served<'a> {
    /// `fathom disk serve` with the words of `line`; why this machine cannot.
    pub(super) fn start(place: &'a Place, line: &str) -> Result<Self, String> {
        Self::start_of(place, env!("CARGO_BIN_EXE_fathom").as_ref(), line)
    }

    /// The same by `program`, whatever that is called.
    pub(super) fn start_of(place: &'a Place, program: &Path, line: &str) -> Result<Self, String> {
        if line.contains("--at at") {
            // A dead mount cannot even be looked at.
            let _there = std::fs::create_dir(place.path("at"));
        }
        let line = format!("disk serve {line} -q --control {}", socket(place));
        let mut child = start(&mut place.command_by(program, line.split_whitespace()));
        let mut stdout = BufReader::new(child.stdout.take().expect("its stdout"));
        let mut ways = Vec::new();
        let mut said = String::new();
        while stdout.read_line(&mut said).expect("read its stdout") > 0 {
            let (word, way) = said.trim_end().split_once(' ').unwrap_or((said.trim_end(), ""));
            if word == "ready" {
                return Ok(Self {
                    place,
                    child,
                    stdout: Some(stdout),
                    ways,
                });
            }
            ways.push((word.to_owned(), way.to_owned()));
            said.clear();
        }
        let mut errors = String::new();
        let stderr = child.stderr.take();
        stderr
            .expect("its stderr")
            .read_to_string(&mut errors)
            .expect("read its stderr");
        child.wait().expect("its end");
        assert!(
            MISSING.iter().any(|missing| errors.contains(missing)),
            "disk serve did not start:\n{errors}"
        );
        Err(errors.trim().to_owned())
    }

    /// The first way of that kind: `file`, `device`, `mount`, `nbd`.
    #[track_caller]
    pub(super) fn way(&self, kind: &str) -> &str {
        let found = self.ways.iter().find(|(known, _)| known == kind);
        &found.unwrap_or_else(|| panic!("no {kind}: {:?}", self.ways)).1
    }

    pub(super) fn listing(&self, directory: &str) -> Vec<String> {
        self.place.listing(directory)
    }

    pub(super) fn status(&self) -> Value {
        self.place
            .fathom(&format!("disk status --of {}", socket(self.place)))
            .expect(0)
            .json()
    }

    pub(super) fn fault(&self, words: &str) -> Outcome {
        self.place
            .fathom(&format!("disk fault --of {} {words}", socket(self.place)))
    }

    /// Has it end by a signal, and waits: its exit code is `code`, and its mount is gone.
    #[track_caller]
    pub(super) fn end(self, code: i32) {
        self.end_by("TERM", code);
    }

    #[track_caller]
    pub(super) fn end_by(mut self, name: &str, code: i32) {
        signal(&self.child, name);
        let status = self.wait();
        assert_eq!(status, Some(code), "{}", self.errors());
        assert!(!is_mounted(&self.place.path("at")), "it is still mounted");
        assert!(
            !Path::new(&socket(self.place)).exists(),
            "its socket is still there"
        );
    }

    pub(super) fn kill(mut self) {
        self.child.kill().expect("kill it");
        self.wait();
        self.stdout = None;
        self.ways.clear();
    }

    fn wait(&mut self) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_mins(1) {
            if let Some(status) = self.child.try_wait().expect("wait") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("it did not end");
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        if let Some(stderr) = &mut self.child.stderr {
            stderr.read_to_string(&mut errors).expect("read its stderr");
        }
        errors
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        if self.stdout.is_none() || matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        // A test that failed: what it left is taken down, loop devices and all.
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
        eprintln!("{:?}", self.place.fathom("disk cleanup"));
    }
}

pub(super) fn socket(place: &Place) -> String {
    place.path("ctl").display().to_string()
}

pub(super) fn is_mounted(at: &Path) -> bool {
    let table = std::fs::read_to_string("/proc/self/mounts").expect("the mount table");
    let at = at.to_string_lossy();
    table.lines().any(|line| line.split(' ').nth(1) == Some(&*at))
}

/// A tool of the system's, to be run in a shell; what it printed.
pub(super) fn shell(place: &Place, line: &str) -> Result<String, String> {
    let script = place.write("line.sh", line);
    tool(&format!("timeout 120 sh -eu {}", script.display()))
}
