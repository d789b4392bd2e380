//! Runs on a modelled disk: reported and recorded as real ones, and the same each time.

use crate::harness::{Place, at, count, number};
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

/// One line, wherever it was broken.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// AWS: a run is explained by the limit that its documentation states.
#[test]
fn a_volume_of_aws_is_run_and_explained() {
    let place = Place::new();
    let flags = "run --name j --rw randread --bs 4k --iodepth 32 --ioengine libaio --direct 1 --size 1g --time_based --runtime 20";
    let told = place
        .fathom(&format!("{flags} --record --on model:aws/gp3:500GiB -o r"))
        .expect(0);
    assert!(
        unwrapped(&told.stdout).contains("on model:aws/gp3:500GiB"),
        "{}",
        told.stdout
    );
    let run = place.fathom("show r --json").expect(0).json();
    // 3,000 IOPS, of which 1.023 are let through.
    let iops = number(&run, "jobs.0.read.iops");
    assert!((3_060.0..3_080.0).contains(&iops), "{iops}");
    let told = unwrapped(&place.fathom("explain r").expect(0).stdout);
    assert!(
        told.contains("the limit of: gp3 (3000 IOPS, measured 102 % of it)"),
        "{told}"
    );
    let shared = place
        .fathom(&format!("{flags} --on model:aws/gp3:500GiB,vm=m5.large -o none"))
        .expect(0);
    let said = unwrapped(&shared.stdout);
    assert!(
        said.contains("m5.large: network interfaces and local disks take of its places"),
        "{said}"
    );
}

/// Google: a sweep over sizes and depths, on a disk whose limits are those of all of its kind on the machine.
#[test]
fn a_disk_of_google_is_swept() {
    let place = Place::new();
    let flags = "sweep --rw randread --bs 4k,64k --iodepth 1,8 --ioengine libaio --duration 5s --size 1g";
    let target = "model:gcp/pd-ssd:200GiB,vm=n2-standard-8";
    place.fathom(&format!("{flags} --on {target} -o s")).expect(0);
    let sweep = place.fathom("show s --json").expect(0).json();
    assert_eq!(
        sweep["plan"]["points"].as_array().map(Vec::len),
        Some(4),
        "{sweep}"
    );
    // 6,000 IOPS and 30 a GiB; 240 MiB/s and 0.48 a GiB.
    let matrix = place.fathom("show s").expect(0).stdout;
    let row = |name: &str| {
        let found = matrix.lines().find(|line| line.trim_start().starts_with(name));
        let row = found.unwrap_or_else(|| panic!("{name}:\n{matrix}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(row("4 KiB ").contains(&String::from("11.9k")), "{matrix}");
    assert!(row("64 KiB ").contains(&String::from("336")), "{matrix}");
    // What is not known of a small disk is said with its figures.
    let small = "run --rw randread --bs 4k --size 1g --runtime 1 --time_based --on model:gcp/pd-standard:50GiB -o none";
    let said = unwrapped(&place.fathom(small).expect(0).stdout);
    assert!(said.contains("below 100 GiB its limits are fixed"), "{said}");
}

/// The worked example of docs/clouds.md: three files make a cloud, which is run on, explained, listed and planned with.
#[test]
fn a_cloud_of_ones_own_is_run_on() {
    const PAGE: &str = include_str!("../../../../docs/clouds.md");
    let place = Place::new();
    std::fs::create_dir(place.path("moon")).expect("a directory");
    for file in ["cloud.toml", "flex-disks.csv", "vms.csv"] {
        let heading = format!("`{file}`:\n```");
        let at = PAGE.find(&heading).expect(file) + heading.len();
        let (_, block) = PAGE[at..].split_once('\n').expect("a block");
        let (block, _) = block.split_once("\n```").expect("an end");
        place.write(&format!("moon/{file}"), format!("{block}\n"));
    }
    let flags = "run --name j --rw randread --bs 4k --iodepth 32 --ioengine libaio --size 1g --direct 1 --time_based --runtime 5";
    let target = "model:moon/2xdust:200GiB,vm=crater-2";
    let told = place
        .fathom(&format!("{flags} --record --on {target} --catalog moon -o r"))
        .expect(0);
    assert!(
        unwrapped(&told.stdout).contains(&format!("on {target}")),
        "{}",
        told.stdout
    );
    // 8 IOPS a GiB of both, or a little less where one of them has more to do than the other.
    let iops = number(
        &place.fathom("show r --json").expect(0).json(),
        "jobs.0.read.iops",
    );
    assert!((2_900.0..3_210.0).contains(&iops), "{iops}");
    let told = place.fathom("explain r --catalog moon").expect(0).stdout;
    assert!(
        told.contains("an IOPS limit") && told.contains("2xdust"),
        "{told}"
    );
    let listed = place.fathom("catalog disks --catalog moon").expect(0).stdout;
    assert!(
        listed.contains("dust") && listed.contains("tranquility"),
        "{listed}"
    );
    let plan = place
        .fathom("plan --iops 3000 --gib 300 --catalog moon --json")
        .expect(0)
        .json();
    let target = at(&plan, "layouts.0.target")
        .as_str()
        .expect("a target")
        .to_owned();
    assert!(target.starts_with("moon/"), "{target}");
}
