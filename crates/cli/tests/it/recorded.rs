//! `--record`: every I/O kept, at the end and after a kill; exported; the same each time on a modelled disk.

use crate::harness::{Place, at, count, finish, signal, start};
use fathom_testkit::{Needs, telling};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

const LOAD: &str = "run --name load --rw randrw --bs 4k --size 16m --ioengine psync --direct 1 --time_based";

/// The rows of an exported stream: each a map from the names of the first line.
pub(crate) fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().expect("a line of names").split(',').collect();
    let row = |line: &str| {
        let values = line.split(',').map(str::to_owned);
        names.iter().map(|name| (*name).to_owned()).zip(values).collect()
    };
    lines.map(row).collect()
}

pub(crate) fn number(row: &BTreeMap<String, String>, name: &str) -> u64 {
    let text = row
        .get(name)
        .unwrap_or_else(|| panic!("no column {name}: {row:?}"));
    text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}"))
}

/// What the summary says of a stream.
pub(crate) fn stream<'a>(run: &'a Value, kind: &str) -> &'a Value {
    let streams = at(run, "streams").as_array().expect("a list of streams");
    let found = streams.iter().find(|stream| at(stream, "kind") == kind);
    found.unwrap_or_else(|| panic!("no stream {kind}: {streams:?}"))
}

#[test]
fn every_io_is_kept_with_its_stamps() {
    let place = Place::new();
    let line = format!("{LOAD} --runtime 2s --numjobs 2 --group_reporting --record=io,counters F -o d");
    let run = place.json(&line);
    let ios = count(&run, "jobs.0.read.ios") + count(&run, "jobs.0.write.ios");
    let io = stream(&run, "io");
    assert_eq!((count(io, "rows"), count(io, "dropped")), (ios, 0));
    let csv = place.fathom("export d --csv").expect(0).stdout;
    let rows = rows(&csv);
    assert_eq!(rows.len() as u64, ios);
    let reads = rows.iter().filter(|row| row["op"] == "read").count();
    assert_eq!(reads as u64, count(&run, "jobs.0.read.ios"));
    for row in &rows {
        let stamps = ["intended_ns", "created_ns", "submitted_ns", "completed_ns"];
        let stamps = stamps.map(|name| number(row, name));
        assert!(stamps.is_sorted(), "{row:?}");
        assert_eq!((number(row, "len_bytes"), number(row, "depth")), (4096, 1));
        assert!(number(row, "offset_bytes").is_multiple_of(4096) && number(row, "worker") < 2);
    }
    let longest = rows
        .iter()
        .map(|row| number(row, "completed_ns") - number(row, "created_ns"));
    let most = count(&run, "jobs.0.read.lat_ns.max").max(count(&run, "jobs.0.write.lat_ns.max"));
    assert_eq!(longest.max(), Some(most));
    let counters = place.fathom("export d --csv --stream counters").expect(0).stdout;
    for name in [
        "node_cpu_seconds_total",
        "node_memory_Dirty_bytes",
        "fathom_worker_thread_id",
    ] {
        assert!(counters.contains(name), "{name}");
    }
    let shown = place.fathom("show d").expect(0).stdout;
    assert!(shown.contains("recorded, in rows: io "), "{shown}");
}

#[test]
fn a_run_without_a_record_has_no_streams() {
    let place = Place::new();
    place.fathom(&format!("{LOAD} --runtime 1s F -o d")).expect(0);
    assert!(!place.path("d/io").exists());
    let nothing = place.fathom("export d --csv").expect(2);
    nothing.saying("--record");
    let refused = place
        .fathom(&format!("{LOAD} --runtime 1s --record F -o none"))
        .expect(2);
    refused.saying("--record");
    let refused = place
        .fathom(&format!("{LOAD} --runtime 1s --record=disk F"))
        .expect(2);
    refused.saying("none of io, block, counters");
}

/// How many recordings are killed; `FATHOM_KILLS` says another number.
const KILLS: u64 = 4;

#[test]
fn a_killed_recording_has_all_but_its_last_second() {
    let place = Place::new();
    let needs = Needs::cpus().timely().disk(&place.path(""));
    telling(
        "a_killed_recording_has_all_but_its_last_second",
        &needs,
        a_killed_recording_has_all_but_its_last_second_once,
    );
}

fn a_killed_recording_has_all_but_its_last_second_once() {
    let place = Place::new();
    let kills = std::env::var("FATHOM_KILLS")
        .ok()
        .and_then(|text| text.parse().ok());
    for kill in 0..kills.unwrap_or(KILLS) {
        // Spread over 0.6 s to 3.4 s after the start, each time elsewhere within its second.
        let ms = 600 + (kill * 1237) % 2800;
        let dir = format!("d{kill}");
        let line = format!("{LOAD} --runtime 50s --rate_iops 2000,2000 --record=io,counters F -o {dir}");
        let child = start(&mut place.command(&line));
        std::thread::sleep(Duration::from_millis(ms));
        let killed_ns = monotonic_ns();
        signal(&child, "KILL");
        finish(child);
        let csv = place.fathom(&format!("export {dir} --csv")).expect(0).stdout;
        let before = rows(&csv);
        let last_ns = before.iter().map(|row| number(row, "completed_ns")).max();
        if let Some(last_ns) = last_ns {
            let lost_ns = killed_ns.saturating_sub(last_ns);
            assert!(
                lost_ns <= 1_000_000_000,
                "killed after {ms} ms: {lost_ns} ns are lost"
            );
        } else {
            assert!(ms < 2_000, "killed after {ms} ms: nothing is kept");
        }
        place.fathom(&format!("recover {dir}")).expect(0);
        let csv = place.fathom(&format!("export {dir} --csv")).expect(0).stdout;
        assert_eq!(rows(&csv), before, "recovering loses nothing");
        assert!(
            parquet_files(&place.path(&dir).join("io")) > 0,
            "a recovered stream is Parquet"
        );
    }
}

/// `CLOCK_MONOTONIC`, to 10 ms: the machine was not asleep since it was started.
fn monotonic_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").expect("the uptime");
    let seconds = text
        .split_whitespace()
        .next()
        .and_then(|word| word.parse::<f64>().ok());
    (seconds.expect("a number") * 1e9) as u64
}

fn parquet_files(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let of_parquet = names.filter(|name| name.to_string_lossy().ends_with(".parquet"));
    of_parquet.count()
}

#[test]
fn a_modelled_run_is_recorded_to_the_last_io_and_the_same_each_time() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --iodepth 8 --ioengine libaio --direct 1 --size 1g --runtime 60 --time_based \
                --on model:azure/P15,burst=empty --record";
    let run = place.json(&format!("{line} -o a"));
    place.fathom(&format!("{line} -o b -q")).expect(0);
    let ios = count(&run, "jobs.0.read.ios");
    for kind in ["io", "block"] {
        assert_eq!(count(stream(&run, kind), "rows"), ios, "{kind}");
    }
    assert!(count(stream(&run, "counters"), "rows") > 600);
    for kind in ["io", "block", "counters"] {
        let bytes = |dir: &str| {
            let path = place.path(dir).join(kind).join("000000.parquet");
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        assert_eq!(bytes("a"), bytes("b"), "{kind}");
    }
    let io_bytes = std::fs::metadata(place.path("a/io/000000.parquet"))
        .expect("a file")
        .len();
    assert!(io_bytes <= 12 * ios + 8192, "{io_bytes} bytes for {ios} I/Os");
}

#[test]
fn what_owners_call_a_device_is_what_reports_call_it() {
    let place = Place::new();
    let called = "claim db/pgdata of pod pg-0";
    let words = ["record", "--device", ".", "--record=counters", "--called", called];
    let more = [
        "-o",
        "d",
        "-q",
        "--",
        "dd",
        "if=/dev/zero",
        "of=f",
        "bs=1M",
        "count=4",
    ];
    let mut command = place.command_of(words.iter().chain(&more));
    finish(start(&mut command)).expect(0);
    let run: Value =
        serde_json::from_slice(&std::fs::read(place.path("d/run.json")).expect("kept")).expect("JSON");
    assert_eq!(at(&run, "summary.target.called"), called);
    let explained = place.fathom("explain d").stdout;
    assert!(explained.contains(called), "{explained}");
}
