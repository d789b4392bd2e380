//! A recorded load, and its explanation against the truth.

use crate::Window;
use crate::harness::{Place, at, count, finish, start};
use serde_json::Value;
use std::process::Command;

/// How far a spike may lie from the time of its cause: what was in flight began before, what waited ends after.
const NEAR_NS: u64 = 300_000_000;

/// Shorter spikes happen on any machine by itself. Their causes are as real as ours, but nobody knows them: they are not
/// judged.
const SMALL_NS: u64 = 20_000_000;

/// What `fathom explain` said of a load.
pub(crate) struct Explained {
    pub(crate) document: Value,
    /// The start of the run, on the clock of the truth.
    started_ns: u64,
    ended_ns: u64,
}

/// A spike, as far as it matters here.
#[derive(Debug)]
struct Spike {
    window: Window,
    cause: String,
    process: Option<String>,
}

/// A command that records a load into `d`.
pub(crate) fn load(place: &Place, line: &str) -> Command {
    place.command(&format!("run --name load {line} --record -o d -q"))
}

/// Runs `command` to its end while `inject` does what it does, and has the run explained.
pub(crate) fn explain(
    place: &Place,
    command: &mut Command,
    inject: impl FnOnce() -> Vec<Window>,
) -> (Explained, Vec<Window>) {
    let child = start(command);
    let windows = inject();
    finish(child).expect(0);
    let text = std::fs::read_to_string(place.path("d/run.json")).expect("the run");
    let run: Value = serde_json::from_str(&text).expect("JSON");
    let started_ns = count(&run, "started_monotonic_ns");
    let explained = Explained {
        document: place.fathom("explain d --json").expect(0).json(),
        started_ns,
        ended_ns: started_ns + count(&run, "summary.jobs.0.runtime_ns"),
    };
    (explained, windows)
}

impl Explained {
    /// Expects that the section is limited so.
    #[track_caller]
    pub(crate) fn is_limited_by(&self, limit: &str) {
        let found = at(&self.document, "limits.0.limit").as_str();
        assert_eq!(found, Some(limit), "{:#}", self.document["limits"]);
    }

    /// Expects a spike with this cause at each of `windows` that lies within the run, and no spike near any of them with
    /// another one; at least one window.
    #[track_caller]
    pub(crate) fn blames(&self, windows: &[Window], cause: &str, process: Option<&str>) {
        let spikes = self.spikes();
        // What begins before the load runs, or is cut off by its end, may go unnoticed.
        let whole = |window: &&Window| {
            window.start_ns > self.started_ns + NEAR_NS && window.end_ns + NEAR_NS < self.ended_ns
        };
        let within: Vec<&Window> = windows.iter().filter(whole).collect();
        assert!(
            !within.is_empty(),
            "nothing was done to the load: {windows:?} in {}..{}",
            self.started_ns,
            self.ended_ns
        );
        for window in within {
            let here: Vec<&Spike> = spikes
                .iter()
                .filter(|spike| overlap(&spike.window, window, 0))
                .collect();
            let right = |spike: &&&Spike| spike.cause == cause && spike.process.as_deref() == process;
            assert!(
                here.iter().any(|spike| right(&spike)),
                "{cause} by {process:?} at {window:?}, found {here:#?}; all: {}",
                self.shown()
            );
        }
        for spike in &spikes {
            let near = windows
                .iter()
                .any(|window| overlap(&spike.window, window, NEAR_NS));
            let right = spike.cause == cause && spike.process.as_deref() == process;
            assert!(
                !near || right || spike.cause == "unknown",
                "{spike:?} is due to {cause} by {process:?}; all: {}",
                self.shown()
            );
        }
    }

    /// Expects that no process is blamed for anything but those of that name.
    #[track_caller]
    pub(crate) fn accuses_nobody_but(&self, process: Option<&str>) {
        for spike in self.spikes() {
            assert!(
                spike.process.is_none() || spike.process.as_deref() == process,
                "{spike:?}; all: {}",
                self.shown()
            );
        }
    }

    /// Expects that all spikes have one of these causes.
    #[track_caller]
    pub(crate) fn causes_are_among(&self, causes: &[&str]) {
        for spike in self.spikes() {
            assert!(
                causes.contains(&spike.cause.as_str()),
                "{spike:?}; all: {}",
                self.shown()
            );
        }
    }

    /// The spikes, one a line.
    fn shown(&self) -> String {
        let line = |spike: &Value| {
            let verdict = at(spike, "verdict");
            let ms = |name: &str| count(spike, name) / 1_000_000;
            format!(
                "\n{} ms for {} ms, {} I/Os: {} by {}: {}; served {}; split {}",
                ms("start_ns"),
                ms("duration_ns"),
                count(spike, "slow_ios"),
                at(verdict, "cause"),
                at(verdict, "process"),
                at(verdict, "because"),
                at(spike, "served"),
                at(spike, "split")
            )
        };
        let kept = at(&self.document, "spikes.kept")
            .as_array()
            .expect("a list of spikes");
        kept.iter().map(line).collect()
    }

    /// Those that are judged.
    fn spikes(&self) -> Vec<Spike> {
        let kept = at(&self.document, "spikes.kept")
            .as_array()
            .expect("a list of spikes");
        let judged = kept
            .iter()
            .filter(|spike| count(spike, "worst.response_ns") >= SMALL_NS);
        let spike = |spike: &Value| {
            let start_ns = self.started_ns + count(spike, "start_ns");
            let process = at(spike, "verdict.process").get("comm").and_then(Value::as_str);
            Spike {
                window: Window {
                    start_ns,
                    end_ns: start_ns + count(spike, "duration_ns"),
                },
                cause: at(spike, "verdict.cause").as_str().expect("a cause").to_owned(),
                process: process.map(str::to_owned),
            }
        };
        judged.map(spike).collect()
    }
}

/// Whether two times have a moment in common, or lie within `apart_ns` of each other.
fn overlap(a: &Window, b: &Window, apart_ns: u64) -> bool {
    a.start_ns <= b.end_ns + apart_ns && b.start_ns <= a.end_ns + apart_ns
}
