//! A load that is stopped and goes on: nobody is to read that as latency of the disk.

use crate::harness::{Place, at, count, finish, signal, skipped, start};
use fathom_testkit::{Needs, telling};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LOAD: &str = "run --name load --rw randread --bs 4k --size 16m --ioengine psync --direct 1 --time_based --runtime 6s \
                    --record=io,counters -q -o d F";

fn wait_ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// The stops that the run in `d` tells of.
fn stops(place: &Place) -> Vec<Value> {
    let run = place.fathom("show d --json").expect(0).json();
    let warnings = at(&run, "warnings").as_array().expect("warnings");
    let stopped = warnings
        .iter()
        .filter(|warning| at(warning, "kind") == "load_stopped");
    stopped
        .flat_map(|warning| at(warning, "stops").as_array().expect("stops").clone())
        .collect()
}

#[test]
fn a_stopped_load_is_told_with_its_length_and_nobody_is_accused() {
    let needs = Needs::cpus().timely();
    telling(
        "a_stopped_load_is_told_with_its_length_and_nobody_is_accused",
        &needs,
        a_stopped_load,
    );
}

fn a_stopped_load() {
    let place = Place::new();
    let child = start(&mut place.command(LOAD));
    wait_ms(2000);
    let begun = Instant::now();
    signal(&child, "STOP");
    wait_ms(2000);
    signal(&child, "CONT");
    let length_ms = begun.elapsed().as_millis() as u64;
    finish(child).expect(0);
    let stops = stops(&place);
    assert_eq!(stops.len(), 1, "{stops:?}");
    let told_ns = count(&stops[0], "length_ns");
    let told_ms = told_ns / 1_000_000;
    assert!(
        told_ms.abs_diff(length_ms) <= 40,
        "{told_ms} of {length_ms} ms: {stops:?}"
    );
    assert_eq!(at(&stops[0], "by"), "signal");
    let shown = place.fathom("show d").expect(0).stdout.replace("\n  ", " ");
    let said = format!("the load was stopped for {:.2} s", told_ns as f64 / 1e9);
    assert!(shown.contains(&said), "{shown}");
    is_not_accused(&place, &stops[0]);
}

/// The spike of a stop is put down to it, and to nobody.
fn is_not_accused(place: &Place, stop: &Value) {
    let explained = place.fathom("explain d --json").expect(0).json();
    let (from_ns, length_ns) = (count(stop, "at_ns"), count(stop, "length_ns"));
    let spikes = at(&explained, "spikes.kept").as_array().expect("spikes");
    let met: Vec<&Value> = spikes
        .iter()
        .filter(|spike| count(spike, "worst.response_ns") >= length_ns / 2)
        .collect();
    assert_eq!(met.len(), 1, "from {from_ns} for {length_ns}: {spikes:?}");
    assert_eq!(at(met[0], "verdict.cause"), "load_stopped", "{:?}", met[0]);
    assert!(at(met[0], "verdict.process").is_null(), "{:?}", met[0]);
    assert_eq!(at(met[0], "verdict.also"), &Value::Array(Vec::new()));
    let text = place.fathom("explain d --evidence all").expect(0).stdout;
    assert!(text.contains("the load was stopped"), "{text}");
}

#[test]
fn a_load_that_was_only_told_to_go_on_was_not_stopped() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --size 1m --ioengine null --runtime 2s --time_based -q -o d F";
    let child = start(&mut place.command(line));
    for _ in 0..5 {
        wait_ms(200);
        signal(&child, "CONT");
    }
    finish(child).expect(0);
    assert_eq!(stops(&place), Vec::<Value>::new());
}

/// A control group that freezes what is in it; gone when it is dropped.
struct Freezer {
    dir: PathBuf,
    file: &'static str,
    words: [&'static str; 2],
}

impl Freezer {
    fn new() -> Result<Self, String> {
        let table = std::fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
        let mut missing = String::from("no control groups are mounted");
        for line in table.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let (file, words_of, point) = match words.as_slice() {
                [_, point, "cgroup", options, ..] if options.split(',').any(|option| option == "freezer") => {
                    ("freezer.state", ["FROZEN", "THAWED"], point)
                }
                [_, point, "cgroup2", ..] => ("cgroup.freeze", ["1", "0"], point),
                _ => continue,
            };
            let dir = Path::new(point).join(format!("fathom-test-freezer-{}", std::process::id()));
            match std::fs::create_dir(&dir) {
                Ok(()) => {
                    return Ok(Self {
                        dir,
                        file,
                        words: words_of,
                    });
                }
                Err(error) => missing = format!("{}: {error}", dir.display()),
            }
        }
        Err(missing)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.dir.join(file), text).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        let _thawed = std::fs::write(self.dir.join(self.file), self.words[1]);
        for _ in 0..100 {
            if std::fs::remove_dir(&self.dir).is_ok() {
                return;
            }
            wait_ms(10);
        }
        eprintln!("{} cannot be removed", self.dir.display());
    }
}

#[test]
fn a_frozen_load_is_told_too() {
    let test = "a_frozen_load_is_told_too";
    let freezer = match Freezer::new() {
        Ok(freezer) => freezer,
        Err(missing) => return skipped(test, &missing),
    };
    telling(test, &Needs::cpus().timely(), || {
        let place = Place::new();
        let child = start(&mut place.command(LOAD));
        freezer.write("cgroup.procs", &child.id().to_string());
        wait_ms(2000);
        freezer.write(freezer.file, freezer.words[0]);
        wait_ms(1500);
        freezer.write(freezer.file, freezer.words[1]);
        finish(child).expect(0);
        let stops = stops(&place);
        assert_eq!(stops.len(), 1, "{stops:?}");
        let told_ms = count(&stops[0], "length_ns") / 1_000_000;
        assert!(told_ms.abs_diff(1500) <= 100, "{stops:?}");
        assert_eq!(at(&stops[0], "by"), "frozen");
        is_not_accused(&place, &stops[0]);
    });
}
