//! `fathom replay`: a recorded load on another disk, and what is wrong with a record.

mod fio;
mod refused;

use crate::harness::{LoopDevice, Place, count, number, skipped};
use serde_json::Value;
use std::fmt::Write as _;

/// A load with a schedule, one that waits for its disk, and one that flushes.
const PACED: &str =
    "[db]\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=64\nrate_iops=420,180\nrate_process=poisson\n";
const WAITING: &str = "[scan]\nrw=randread\nbs=8k\niodepth=4\nnumjobs=3\n";
const LOG: &str = "[log]\nrw=write\nbs=4k\nfdatasync=4\nthinktime=300\n";

/// Records `load` on a modelled disk, and gives its results.
fn recorded(place: &Place, name: &str, load: &str, disk: &str) -> Value {
    let job =
        format!("{load}size=1g\nioengine=libaio\ndirect=1\ntime_based\nruntime=10s\nfilename=/data/f\n");
    place.write(&format!("{name}.fio"), &job);
    place.json(&format!(
        "run --record -o {name} --on model:azure/{disk} {name}.fio"
    ))
}

/// Counts alike, and the latencies within a twentieth.
fn alike(what: &str, original: &Value, replay: &Value) {
    for op in ["read", "write", "sync"] {
        let [was, is] = [original, replay].map(|run| &run["jobs"][0][op]);
        assert_eq!(was["ios"], is["ios"], "{what}: {op}");
        assert_eq!(was["bytes"], is["bytes"], "{what}: {op}");
        if was["ios"] == 0 {
            continue;
        }
        for percentile in ["p50", "p99"] {
            let ratio =
                number(is, &format!("lat_ns.{percentile}")) / number(was, &format!("lat_ns.{percentile}"));
            assert!(
                (0.95..=1.05).contains(&ratio),
                "{what}: {op} {percentile} is {ratio} of the original"
            );
        }
    }
}

/// What was recorded of a device is played on a device, which has to be named as what may be written over.
#[test]
fn a_recorded_run_of_a_device_is_played_on_a_device() {
    let place = Place::new();
    let device = match LoopDevice::new(&place, 16 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped("a_recorded_run_of_a_device_is_played_on_a_device", &missing),
    };
    let path = &device.path;
    let load = "--rw randrw --bs 4k --rate_iops 150,150 --runtime 2s --time_based --direct 1 --ioengine io_uring --iodepth 16";
    let original = place.json(&format!(
        "run {load} --filename {path} --allow-overwrite {path} --record=io -o recorded"
    ));
    let before = device.checksum();
    place
        .fathom(&format!("replay recorded --on {path} -o none -q"))
        .expect(3)
        .saying(path);
    assert_eq!(device.checksum(), before);
    let again = place.json(&format!(
        "replay recorded --on {path} --allow-overwrite {path} -o none"
    ));
    for op in ["read", "write"] {
        let [was, is] = [&original, &again].map(|run| &run["jobs"][0][op]);
        assert!(was["ios"].as_u64() > Some(0), "{was}");
        assert_eq!((&was["ios"], &was["bytes"]), (&is["ios"], &is["bytes"]), "{op}");
    }
    assert_eq!(count(&again, "jobs.0.replay.unsent_ios"), 0);
    assert_ne!(device.checksum(), before, "it writes");
}

#[test]
fn a_recorded_run_is_the_same_again_on_the_same_disk() {
    let place = Place::new();
    for (name, load, disk) in [
        ("paced", PACED, "P30"),
        ("waiting", WAITING, "P20"),
        ("log", LOG, "P15"),
    ] {
        let original = recorded(&place, name, load, disk);
        for how in ["", "--dependent", "--stream block"] {
            if how == "--stream block" && name == "log" {
                // Flushes of a modelled disk are no requests of their own.
                continue;
            }
            let again = place.json(&format!("replay {name} --on model:azure/{disk} -o none {how}"));
            alike(&format!("{name} {how}"), &original, &again);
            let replay = &again["jobs"][0]["replay"];
            assert_eq!(
                (&replay["late_ios"], &replay["unsent_ios"]),
                (&Value::from(0), &Value::from(0))
            );
        }
    }
}

/// On a slower disk a load that waited goes slower where it may wait, and falls behind where it may not; on a faster one it is done
/// sooner, or at its times.
#[test]
fn who_waited_waits_for_a_slower_disk_where_that_is_asked_for() {
    let place = Place::new();
    recorded(&place, "waiting", WAITING, "P40");
    let on = |disk: &str, how: &str| {
        place.json(&format!(
            "replay waiting --on model:azure/{disk} -o none --depth 64 {how}"
        ))
    };
    let late = |run: &Value| count(run, "jobs.0.replay.late_ios");
    let runtime = |run: &Value| number(run, "jobs.0.runtime_ns") / 1e9;
    let (timed, dependent) = (on("P10,burst=empty", ""), on("P10,burst=empty", "--dependent"));
    assert_eq!(
        timed["jobs"][0]["read"]["ios"],
        dependent["jobs"][0]["read"]["ios"]
    );
    assert_eq!(late(&dependent), 0);
    let ios = count(&timed, "jobs.0.read.ios");
    assert!(late(&timed) > ios / 2, "{} of {ios} late", late(&timed));
    assert_eq!(
        timed["jobs"][0]["replay"]["late_ios"],
        timed["jobs"][0]["replay"]["late_no_room_ios"]
    );
    let warned = timed["warnings"].to_string();
    assert!(warned.contains("replay_late"), "{warned}");
    assert!(
        number(&dependent, "jobs.0.read.lat_ns.p99") < number(&timed, "jobs.0.read.response_ns.p99") / 10.0
    );
    assert!(runtime(&dependent) > 20.0, "{} s", runtime(&dependent));
    let (half, fast) = (on("P40", "--speed 0.5x"), on("P40", "--speed 1.25x"));
    assert!((19.9..20.1).contains(&runtime(&half)), "{} s", runtime(&half));
    assert!((7.9..8.1).contains(&runtime(&fast)), "{} s", runtime(&fast));
}

/// The directory of a replay is one of a run: it can be shown, reported, explained, and played again.
#[test]
fn a_replay_leaves_a_run() {
    let place = Place::new();
    let original = recorded(&place, "first", PACED, "P30");
    place
        .fathom("replay first --on model:azure/P20 --record -o second -q")
        .expect(0);
    let shown = place.fathom("show second").expect(0).stdout;
    for said in [
        "replay of first (the I/Os of a run), at its recorded times",
        "timing error (start less intended start): p50",
        "none started 1.00 ms or more late",
    ] {
        assert!(
            shown.replace("\n  ", " ").contains(said),
            "`{said}` is not in\n{shown}"
        );
    }
    place
        .fathom("report second -o second.html -o second.md -q")
        .expect(0);
    let page = std::fs::read_to_string(place.path("second.md")).expect("a page");
    assert!(page.contains("timing error"), "{page}");
    assert!(place.fathom("explain second").code.is_some_and(|code| code < 2));
    let third = place.json("replay second --on model:azure/P30 -o none");
    alike("played twice", &original, &third);
    place.fathom("plan --from second --top 1 -q").expect(0);
}

/// Blkparse's text of a run's requests says what the requests say.
#[test]
fn blkparse_text_of_a_run_plays_as_the_run_does() {
    let place = Place::new();
    recorded(&place, "run", PACED, "P30");
    place.fathom("export run --blkparse -o run.txt").expect(0);
    let ours = place.json("replay run --stream block --on model:azure/P30 -o none");
    let text = place.json("replay run.txt --on model:azure/P30 -o none");
    alike("blkparse", &ours, &text);
    let dependent = place.json("replay run.txt --dependent --on model:azure/P30 -o none");
    assert_eq!(
        text["jobs"][0]["read"]["ios"],
        dependent["jobs"][0]["read"]["ios"]
    );
}

/// A public trace: one of its volumes, folded onto a disk that is smaller, sped up.
#[test]
fn a_public_trace_is_chosen_from_folded_and_sped_up() {
    let place = Place::new();
    let mut rows = String::new();
    for number in 0..4_000u64 {
        let (volume, op) = (number % 3, if number % 2 == 0 { "R" } else { "W" });
        let offset = number * 7_919 % 1_000_000 * 4096;
        let _ = writeln!(
            rows,
            "{volume},{op},{offset},8192,{}",
            1_577_808_000_000_000 + number * 500
        );
    }
    place.write("io.csv", rows);
    let many = place
        .fathom("replay io.csv --on model:azure/P4 -o none")
        .expect(2);
    many.saying("several volumes").saying("--volume");
    let beyond = place
        .fathom("replay io.csv --volume 1 --on model:azure/P1 -o none --to 8GiB --fold scale")
        .expect(2);
    beyond.saying("model:azure/P1 has 4 GiB only");
    let whole = place.json("replay io.csv --volume 1 --on model:azure/P4 -o none --speed 2x");
    assert_eq!(
        count(&whole, "jobs.0.read.ios") + count(&whole, "jobs.0.write.ios"),
        1_333
    );
    assert!((0.9..1.1).contains(&(number(&whole, "jobs.0.runtime_ns") / 1e9)));
    let left = &whole["jobs"][0]["replay"]["left_out"][0];
    assert_eq!(
        (&left["what"], &left["ios"]),
        (&Value::from("I/Os of other volumes"), &Value::from(2_667))
    );
    for fold in ["wrap", "scale"] {
        let line = format!("replay io.csv --volume 1 --on model:azure/P4 -o none --to 1MiB --fold {fold}");
        let folded = place.json(&line);
        assert_eq!(folded["target"]["files"][0]["size_bytes"], 1 << 20, "{fold}");
        assert_eq!(
            count(&folded, "jobs.0.read.ios") + count(&folded, "jobs.0.write.ios"),
            1_333
        );
    }
    let waits = place
        .fathom("replay io.csv --volume 1 --on model:azure/P4 -o none --dependent")
        .expect(2);
    waits.saying("does not say when I/Os ended");
}

/// I/Os of all sizes over a large disk: nothing is kept of where they were.
#[test]
fn a_large_disk_takes_no_memory() {
    let place = Place::new();
    let mut log = String::from("fio version 3 iolog\n");
    for number in 0..2_000u64 {
        let offset = number * 7_919 % 16_000 * (1 << 30);
        let _ = writeln!(log, "{} a read {offset} {}", number * 100, 512 << (number % 8));
    }
    place.write("wide.log", log);
    place
        .fathom("replay wide.log --on model:azure/P80 -o wide -q")
        .expect(0);
    let run = std::fs::read_to_string(place.path("wide/run.json")).expect("run.json");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let job = &run["workload"]["jobs"][0];
    assert_eq!(job["pattern"]["random_map"], "independent");
    assert!(count(job, "replay.extent_bytes") > 14 << 40);
    let dry = place
        .fathom("replay wide.log --on model:azure/P80 --dry-run")
        .expect(0)
        .stdout;
    let dry = dry.replace("\n        ", " ");
    assert!(
        dry.contains("what: replay of wide.log (fio's iolog), at its recorded times"),
        "{dry}"
    );
}

/// On a real file: what is written is the record's, at its places; a read-only replay writes nothing and says what it left out.
#[test]
fn a_real_file_gets_what_was_recorded_and_nothing_by_readonly() {
    let place = Place::new();
    place.write(
        "w.log",
        "fio version 3 iolog\n1 a add\n1 a open\n1 a write 8192 4096\n500 a read 0 4096\n900 a write 65536 4096\n1000 a sync 0 0\n\
         1500 a close\n",
    );
    let run = place.json("replay w.log --on F -o none --buffered --engine psync");
    let counts = ["read", "write", "sync"].map(|op| count(&run, &format!("jobs.0.{op}.ios")));
    assert_eq!(counts, [1, 2, 1]);
    let data = std::fs::read(place.path("F")).expect("the file");
    assert_eq!(data.len(), 65536 + 4096, "as far as the record reaches");
    let before = data;
    let run = place.json("replay w.log --on F -o none --buffered --engine psync --readonly");
    let counts = ["read", "write", "sync"].map(|op| count(&run, &format!("jobs.0.{op}.ios")));
    assert_eq!(counts, [1, 0, 0]);
    let left: Vec<u64> = (0..2)
        .map(|at| count(&run, &format!("jobs.0.replay.left_out.{at}.ios")))
        .collect();
    assert_eq!(left, [2, 1]);
    assert_eq!(
        std::fs::read(place.path("F")).expect("the file"),
        before,
        "nothing was written"
    );
}
