//! Every interface, and the shape and the sense of what comes out.

use crate::harness::{Place, at, count, number, skipped};
use serde_json::Value;

const ENGINES: [(&str, bool); 8] = [
    ("sync", false),
    ("psync", false),
    ("pvsync", false),
    ("pvsync2", false),
    ("mmap", false),
    ("libaio", true),
    ("io_uring", true),
    ("null", true),
];

#[test]
fn every_engine_moves_exactly_what_was_asked() {
    let place = Place::new();
    for (engine, _) in ENGINES {
        for rw in ["read", "write", "randread", "randwrite"] {
            let line =
                format!("run --rw {rw} --bs 4k --size 1m --iodepth 8 --ioengine {engine} F-{engine} -o none");
            let outcome = place.fathom(&format!("{line} --json -q"));
            if outcome.code == Some(2) && outcome.stderr.contains("not allowed") {
                skipped("every_engine_moves_exactly_what_was_asked", outcome.stderr.trim());
                continue;
            }
            let run = outcome.expect(0).json();
            let op = if rw.ends_with("read") { "read" } else { "write" };
            assert_eq!(count(&run, &format!("jobs.0.{op}.ios")), 256, "{engine} {rw}");
            assert_eq!(
                count(&run, &format!("jobs.0.{op}.bytes")),
                1 << 20,
                "{engine} {rw}"
            );
        }
    }
}

#[test]
fn the_json_has_the_documented_keys() {
    let place = Place::new();
    let run =
        place.json("run --rw randrw --bs 4k --size 1m --iodepth 4 --ioengine libaio --direct 1 F -o none");
    keys(
        &run,
        "",
        &[
            "cpu", "disks", "floor", "groups", "jobs", "schema", "target", "warnings",
        ],
    );
    assert_eq!(at(&run, "schema"), "fathom.run/1");
    for part in ["jobs.0", "groups.0"] {
        let object = at(&run, part);
        for key in [
            "name",
            "read",
            "write",
            "trim",
            "sync",
            "workers",
            "runtime_ns",
            "cpu",
            "errors",
        ] {
            assert!(object.get(key).is_some(), "{part}: no {key}");
        }
        for op in ["read", "write", "trim"] {
            let expected = [
                "bytes",
                "bytes_per_second",
                "clat_ns",
                "errors",
                "iops",
                "ios",
                "lat_ns",
                "response_ns",
                "runtime_ns",
                "short_ios",
                "slat_ns",
            ];
            keys(&run, &format!("{part}.{op}"), &expected);
        }
        for key in [
            "n", "min", "mean", "stddev", "max", "p50", "p99", "p99_9", "p99_99",
        ] {
            at(&run, &format!("{part}.read.lat_ns.{key}"));
        }
    }
}

#[track_caller]
fn keys(document: &Value, path: &str, expected: &[&str]) {
    let object = if path.is_empty() {
        document
    } else {
        at(document, path)
    };
    let mut found: Vec<&str> = object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{path}");
}

#[test]
fn the_numbers_of_a_run_agree_with_each_other() {
    let place = Place::new();
    for (engine, split) in ENGINES {
        let line = format!(
            "run --rw randrw --bs 4k --size 4m --iodepth 4 --ioengine {engine} --numjobs 2 --runtime 1s --time_based F -o none"
        );
        let run = place.json(&line);
        let seconds = number(&run, "jobs.0.runtime_ns") / 1e9;
        for op in ["read", "write"] {
            let get = |key: &str| number(&run, &format!("jobs.0.{op}.{key}"));
            let whole = |key: &str| count(&run, &format!("jobs.0.{op}.{key}"));
            let ios = get("ios");
            assert!(ios > 0.0, "{engine} {op}");
            assert!((get("iops") * seconds - ios).abs() < 0.01, "{engine} {op}: iops");
            assert!(
                (get("bytes_per_second") * seconds - get("bytes")).abs() < 10.0,
                "{engine} {op}: rate"
            );
            assert_eq!(whole("bytes"), whole("ios") * 4096, "{engine} {op}: bytes");
            assert_eq!(whole("lat_ns.n"), whole("ios"), "{engine} {op}: lat.n");
            assert_eq!(whole("clat_ns.n"), whole("ios"), "{engine} {op}: clat.n");
            if split {
                let parts = get("slat_ns.mean") + get("clat_ns.mean");
                assert!((parts - get("lat_ns.mean")).abs() < 1.0, "{engine} {op}: {parts}");
            } else {
                assert_eq!(whole("slat_ns.n"), 0, "{engine} {op}: slat");
            }
            for (low, high) in [
                ("min", "p1"),
                ("p1", "p50"),
                ("p50", "p99"),
                ("p99", "p99_9"),
                ("p99_9", "max"),
            ] {
                assert!(
                    get(&format!("lat_ns.{low}")) <= get(&format!("lat_ns.{high}")),
                    "{engine} {op}: {low}"
                );
            }
        }
        let total =
            |part: &str| count(&run, &format!("{part}.read.ios")) + count(&run, &format!("{part}.write.ios"));
        assert_eq!(total("jobs.0"), total("groups.0"), "{engine}");
    }
}

#[test]
fn random_writes_visit_each_block_exactly_once() {
    let place = Place::new();
    let flags = "--bs 4k --size 4m --verify crc32c --ioengine libaio --iodepth 8 F -o none";
    let written = place.json(&format!("run --rw randwrite --do_verify=0 {flags}"));
    assert_eq!(count(&written, "jobs.0.write.ios"), 1024);
    // Each block carries the offset that it was written to: one left out would not pass.
    let checked = place.json(&format!("run --rw write --verify_only {flags}"));
    assert_eq!(count(&checked, "jobs.0.verified_ios"), 1024);
}
