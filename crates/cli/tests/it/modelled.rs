//! Runs on a modelled disk: reported and recorded as real ones, and the same each time.

use crate::harness::{Place, at, count};
use serde_json::Value;
use std::path::Path;

/// The published job file, as it is in the repository.
fn jobs() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/aks-2019/jobs.fio").to_owned()
}

#[test]
fn a_five_minute_test_is_reported_as_a_real_run() {
    let place = Place::new();
    let line = format!("run {} --section test3 --on model:azure/P15,service=2019", jobs());
    let outcome = place.fathom(&format!("{line} -o d")).expect(0);
    for words in [
        "on model:azure/P15",
        "the time virtual",
        "write clat",
        "disk P15:",
        "300 s",
    ] {
        assert!(outcome.stdout.contains(words), "{words}:\n{}", outcome.stdout);
    }
    let shown = place.fathom("show d").expect(0).stdout;
    assert_eq!(shown, outcome.stdout);
    let run = place.json(&line);
    let iops = at(&run, "jobs.0.write.iops").as_f64().unwrap_or(0.0);
    assert!((360.0..400.0).contains(&iops), "{iops}");
    assert_eq!(at(&run, "target.modelled"), &Value::Bool(true));
    assert_eq!(at(&run, "model.name"), "azure/P15,service=2019");
    assert_eq!(place.names(), ["d", "fathom-runs"]);
}

#[test]
fn nine_tests_run_as_written_and_the_buffered_ones_drain() {
    let place = Place::new();
    for number in 1..=9 {
        let line = format!(
            "run {} --section test{number} --on model:azure/P15,burst=empty",
            jobs()
        );
        let run = place.json(&line);
        assert!(count(&run, "jobs.0.write.ios") > 0, "test{number}");
        let buffered = [2, 6, 7, 8].contains(&number);
        assert_eq!(count(&run, "model.drain_ns") > 0, buffered, "test{number}");
        let written = count(&run, "disks.0.write_bytes") as f64;
        // A slice's share at once, and what writeback has in flight: 64 requests of 512 KiB.
        let ahead = 6_375_000.0 + f64::from(64 << 19);
        let limit = 127.5e6 * count(&run, "disks.0.duration_ns") as f64 / 1e9 + ahead;
        assert!(written <= limit, "test{number}: {written} of {limit}");
    }
}

#[test]
fn equal_seeds_give_equal_directories() {
    let place = Place::new();
    let run = |dir: &str, seed: u32| {
        let line = "run --rw randrw --bs 4k --iodepth 8 --ioengine libaio --direct 1 --size 1g --runtime 5 --time_based";
        let target = format!("--on model:azure/2xP15,vm=Standard_DS3_v2,seed={seed}");
        place
            .fathom(&format!("{line} --randseed 7 {target} -o {dir}"))
            .expect(0);
    };
    run("a", 1);
    run("b", 1);
    run("c", 2);
    let path = |dir: &str| place.path(dir);
    for file in ["series.parquet", "histograms.parquet"] {
        let bytes = |dir: &str| std::fs::read(path(dir).join(file)).expect("a file");
        assert_eq!(bytes("a"), bytes("b"), "{file}");
        assert_ne!(bytes("a"), bytes("c"), "{file}");
    }
    assert_eq!(without_wall_clock(&path("a")), without_wall_clock(&path("b")));
}

fn without_wall_clock(dir: &Path) -> Value {
    let text = std::fs::read_to_string(dir.join("run.json")).expect("run.json");
    let mut run: Value = serde_json::from_str(&text).expect("JSON");
    let map = run.as_object_mut().expect("an object");
    assert!(map.remove("started_unix_ns").is_some());
    run
}

#[test]
fn a_model_file_is_taken_and_what_is_wrong_with_it_is_told_with_its_line() {
    let place = Place::new();
    place.write(
        "mine.toml",
        "base = \"azure/P15\"\n[disk.limits]\niops = 500\nbytes_per_second = 100000000\nburst = \"off\"\n",
    );
    let flags =
        "run --rw randread --bs 4k --iodepth 32 --ioengine libaio --direct 1 --runtime 10 --time_based";
    let run = place.json(&format!("{flags} --on model:mine.toml"));
    let iops = at(&run, "jobs.0.read.iops").as_f64().unwrap_or(0.0);
    assert!((505.0..511.0).contains(&iops), "{iops}");
    place.write("wrong.toml", "base = \"azure/P15\"\n[disk.limits]\niobs = 500\n");
    place
        .fathom(&format!("{flags} --on model:wrong.toml"))
        .expect(2)
        .saying("wrong.toml:3");
}

#[test]
fn what_no_source_states_is_said() {
    let place = Place::new();
    let flags = "run --rw randread --bs 4k --direct 1 --runtime 1 --time_based -o none";
    let outcome = place.fathom(&format!(
        "{flags} --on model:azure/P15,vm=Standard_D8s_v6,cache=ro,cache_size=10g"
    ));
    let outcome = outcome.expect(0);
    assert!(outcome.stdout.contains("no source states"), "{}", outcome.stdout);
}
