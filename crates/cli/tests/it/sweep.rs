//! `fathom sweep`: a matrix from its outline to its conclusions, and on after whatever ended it.

use crate::harness::{Mount, Outcome, Place, finish, signal, skipped, start, tool, until};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A matrix of 16 points on a modelled disk: seconds of real time in a build for tests.
const MODELLED: &str = "sweep --rw randread,write --bs 4k,64k --iodepth 1,4 --threads 1,2 --warmup 20s --duration 100s --size 1g \
                        --on model:azure/P10";

fn results(dir: &Path) -> String {
    std::fs::read_to_string(dir.join("results.json")).expect("results")
}

fn parsed(dir: &Path) -> Value {
    serde_json::from_str(&results(dir)).expect("JSON")
}

/// How often each outcome is in the results.
fn outcomes(results: &Value, outcome: &str) -> usize {
    let points = results["points"].as_array().expect("points");
    points.iter().filter(|point| point["outcome"] == outcome).count()
}

/// Waits until the sweep in `d` has measured so many of its points.
#[track_caller]
fn has_measured(place: &Place, points: usize) {
    until("points are measured", || {
        let text = std::fs::read_to_string(place.path("d/results.json")).unwrap_or_default();
        let results: Value = serde_json::from_str(&text).unwrap_or_default();
        results["points"].is_array() && outcomes(&results, "measured") >= points
    });
}

#[test]
fn a_matrix_on_a_modelled_disk_is_measured_whole() {
    let place = Place::new();
    let outcome = place.fathom(&format!("{MODELLED} -o d")).expect(0);
    for words in [
        "Conclusions",
        "Limit on IOPS",
        "The matrix",
        "random reads",
        "sequential writes",
    ] {
        assert!(outcome.stdout.contains(words), "{words}:\n{}", outcome.stdout);
    }
    let outcome = outcome.saying("32 points of 120 s").saying("fathom show d");
    let shown = place.fathom("show d").expect(0).stdout;
    assert_eq!(shown, outcome.stdout);
    let results = parsed(&place.path("d"));
    assert_eq!(outcomes(&results, "measured"), 32);
    let run = results["points"][0]["repeats"][0]["run"].as_str().expect("a run");
    place.fathom(&format!("show d/{run}")).expect(0);
    for command in ["explain d", "recover d", "export d --csv -o out"] {
        place
            .fathom(command)
            .expect(2)
            .saying("give one of the runs in d/points");
    }
    let json: Value = place.fathom("show d --json").expect(0).json();
    assert_eq!(json["schema"], "fathom.sweep/1");
    assert_eq!(json["plan"]["points"].as_array().map(Vec::len), Some(32));
}

/// How many sweeps are killed; `FATHOM_KILLS` says another number.
const KILLS: u64 = 3;

#[test]
fn a_killed_sweep_goes_on_and_ends_as_an_undisturbed_one() {
    let place = Place::new();
    for line in [
        "",
        " --order shuffled --repeat 2 --seed 3",
        " --adaptive",
        " --stop-when-steady=5%",
    ] {
        let line = format!("{MODELLED}{line}");
        place.fathom(&format!("{line} -q -o whole")).expect(0);
        let whole = results(&place.path("whole"));
        let kills = std::env::var("FATHOM_KILLS").ok().and_then(|n| n.parse().ok());
        for kill in 0..kills.unwrap_or(KILLS) {
            let mut child = start(&mut place.command(&format!("{line} -q -o killed")));
            let ms = 20 + kill * 7919 % 700;
            std::thread::sleep(Duration::from_millis(ms));
            child.kill().expect("killed");
            child.wait().expect("gone");
            if place.path("killed").join("sweep.json").exists() {
                // Once more on the way.
                let mut child = start(&mut place.command("sweep --resume killed -q"));
                std::thread::sleep(Duration::from_millis(ms));
                child.kill().expect("killed");
                child.wait().expect("gone");
                place.fathom("sweep --resume killed -q").expect(0);
            } else {
                // Killed before it had begun.
                let _left = std::fs::remove_dir_all(place.path("killed"));
                place.fathom(&format!("{line} -q -o killed")).expect(0);
            }
            assert!(
                results(&place.path("killed")) == whole,
                "killed after {ms} ms: other results, {line}"
            );
            std::fs::remove_dir_all(place.path("killed")).expect("removed");
        }
        std::fs::remove_dir_all(place.path("whole")).expect("removed");
    }
}

#[test]
fn an_interrupted_sweep_keeps_what_it_has_and_says_how_to_go_on() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 4k --iodepth 1,2,4 --warmup 0 --duration 1 --size 8m -o d data";
    let child = start(&mut place.command(line));
    has_measured(&place, 1);
    signal(&child, "INT");
    let outcome: Outcome = finish(child).expect(130);
    outcome
        .saying("interrupted; to go on")
        .saying("fathom sweep --resume d");
    let before = parsed(&place.path("d"));
    assert_eq!(before["status"], "interrupted");
    let done = outcomes(&before, "measured");
    assert!((1..3).contains(&done), "{done} points");
    let first = before["points"][0].clone();
    place.fathom("sweep --resume d").expect(0);
    let after = parsed(&place.path("d"));
    assert_eq!(outcomes(&after, "measured"), 3);
    assert_eq!(after["points"][0], first, "measured twice");
    place
        .fathom("sweep --resume d --iodepth 8")
        .expect(2)
        .saying("--iodepth: the sweep in d is planned already");
}

#[test]
fn an_adaptive_sweep_mixes_sizes_to_tell_how_large_io_is_counted() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 4k,64k,256k,1m --iodepth 1,8,16,32 --threads 2 --warmup 10s --duration 60s --size 1g \
                --on model:azure/P15,burst=empty --adaptive -o d";
    let said = place.fathom(line).expect(0).saying("one load of two block sizes");
    for words in [
        "I/O above 256 KiB counts as several",
        "% of 1 MiB among them: one of those counts as 4.",
    ] {
        let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let before = results(&place.path("d"));
    assert!(parsed(&place.path("d"))["probe"]["figures"]["total"]["iops"].as_f64() > Some(900.0));
    // Killed before that load was measured, or after: it goes on to the same end.
    let probe = parsed(&place.path("d"))["probe"]["figures"]["run"]
        .as_str()
        .expect("a run")
        .to_owned();
    place.fathom(&format!("show d/{probe}")).expect(0);
    for measured in [true, false] {
        if !measured {
            std::fs::remove_dir_all(place.path(format!("d/{probe}"))).expect("removed");
        }
        std::fs::remove_file(place.path("d/results.json")).expect("removed");
        place.fathom("sweep --resume d -q").expect(0);
        assert!(
            results(&place.path("d")) == before,
            "measured {measured}: other results"
        );
    }
}

#[test]
fn a_sweep_that_ran_out_of_space_goes_on_when_there_is_room() {
    let place = Place::new();
    let disk = match Mount::new(&place, "-t tmpfs -o size=300k tmpfs") {
        Ok(disk) => disk,
        Err(missing) => {
            return skipped(
                "a_sweep_that_ran_out_of_space_goes_on_when_there_is_room",
                &missing,
            );
        }
    };
    place.fathom(&format!("{MODELLED} -q -o whole")).expect(0);
    let outcome = place.fathom(&format!("{MODELLED} -q -o mnt/d")).expect(1);
    outcome
        .saying("No space left on device")
        .saying("fathom sweep --resume mnt/d");
    tool(&format!("mount -o remount,size=64m {}", disk.path.display())).expect("more room");
    place.fathom("sweep --resume mnt/d -q").expect(0);
    assert!(
        results(&place.path("mnt/d")) == results(&place.path("whole")),
        "other results"
    );
}

#[test]
fn a_sweep_does_not_go_on_with_another_disk() {
    let place = Place::new();
    let disk = match Mount::new(&place, "-t tmpfs -o size=64m tmpfs") {
        Ok(disk) => disk,
        Err(missing) => return skipped("a_sweep_does_not_go_on_with_another_disk", &missing),
    };
    let line = "sweep --rw randread --bs 4k --iodepth 1,2,4 --warmup 0 --duration 1 --size 8m --direct 0 -q -o d mnt/data";
    let child = start(&mut place.command(line));
    has_measured(&place, 1);
    signal(&child, "INT");
    finish(child).expect(130);
    drop(disk);
    let outcome = place.fathom("sweep --resume d").expect(2);
    outcome
        .saying("the sweep began on data, on tmpfs")
        .saying("nothing was touched");
    assert!(!place.path("mnt/data").exists());
}

#[test]
fn a_point_that_cannot_be_measured_is_kept_as_failed_and_the_others_go_on() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 100,4k --iodepth 1 --warmup 0 --duration 500ms --size 8m -o d data";
    let outcome = place.fathom(line).expect(1);
    assert!(outcome.stdout.contains("on data"), "{}", outcome.stdout);
    let results = parsed(&place.path("d"));
    assert_eq!(
        (outcomes(&results, "failed"), outcomes(&results, "measured")),
        (1, 1)
    );
    // Not for ever: another try is another chance.
    place.fathom("sweep --resume d").expect(1);
    // A disk that is gone is not 200 points that cannot be measured.
    let line = "sweep --rw randread --bs 100,200,300,400,4k --iodepth 1 --warmup 0 --duration 500ms --size 8m -o e data";
    place
        .fathom(line)
        .expect(1)
        .saying("3 points in a row could not be measured");
}

#[test]
fn points_of_a_real_file_take_their_time_and_no_more() {
    let place = Place::new();
    let line = "sweep --rw randread,randwrite --bs 4k,64k --iodepth 2 --threads 2 --warmup 200ms --duration 800ms --cooldown 200ms --size 16m \
                -o d data";
    let outcome = place.fathom(line).expect(0);
    outcome.saying("4 points of 1.20 s").saying("2 points write");
    let results = parsed(&place.path("d"));
    for point in results["points"].as_array().expect("points") {
        let figures = &point["repeats"][0];
        let runtime = figures["runtime_ns"].as_f64().expect("a time") / 1e9;
        assert!((0.75..0.9).contains(&runtime), "{runtime} s");
        let ios = figures["total"]["ios"].as_f64().expect("I/Os");
        let iops = figures["total"]["iops"].as_f64().expect("IOPS");
        assert!(
            (ios / runtime / iops - 1.0).abs() < 0.01,
            "{ios} I/Os, {iops} IOPS"
        );
        let reads = figures["read"]["ios"].as_f64().expect("reads");
        let wanted = if point["coordinates"]["read_percent"] == 100 {
            ios
        } else {
            0.0
        };
        assert!((reads - wanted).abs() < 0.5, "{reads} of {ios} are reads");
    }
    assert_eq!(
        std::fs::metadata(place.path("data")).expect("there").len(),
        16 << 20
    );
}

#[test]
fn a_point_ends_when_enough_is_known_and_says_how_narrow() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 4k --iodepth 16 --warmup 10s --duration 1000s --size 1g --on model:azure/P10,burst=empty";
    place
        .fathom(&format!("{line} --stop-when-steady=2% -o d"))
        .expect(0);
    let results = parsed(&place.path("d"));
    let figures = &results["points"][0]["repeats"][0];
    assert_eq!(figures["ended_steady"], true);
    assert!(figures["runtime_ns"].as_u64().expect("a time") < 200_000_000_000);
    assert!(figures["iops_half_width"].as_f64().expect("a width") <= 0.02);
}

#[test]
fn what_follows_from_others_is_inferred_and_marked() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 4k,8k,16k,64k --iodepth 1,8,16,32,64 --warmup 20s --duration 60s --size 1g --on model:azure/P10,burst=empty";
    place.fathom(&format!("{line} -q -o whole")).expect(0);
    place.fathom(&format!("{line} -q --adaptive -o quick")).expect(0);
    let (whole, quick) = (parsed(&place.path("whole")), parsed(&place.path("quick")));
    let inferred = outcomes(&quick, "inferred");
    assert!(inferred >= 5, "{inferred} of 20 were inferred");
    let points = |results: &Value| results["points"].as_array().expect("points").clone();
    for (truth, told) in points(&whole).iter().zip(points(&quick)) {
        if told["outcome"] == "inferred" {
            let truth = truth["repeats"][0]["total"]["iops"].as_f64().expect("IOPS");
            let told = told["iops"].as_f64().expect("IOPS");
            assert!((told / truth - 1.0).abs() < 0.12, "{told} for {truth}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_before_anything_is_touched() {
    let place = Place::new();
    let wrong = |line: &str, saying: &str| {
        place.fathom(line).expect(2).saying(saying);
    };
    wrong("sweep --rw randread --size 1m", "on what?");
    wrong(
        "sweep --rw sideways --size 1m f",
        "--rw: error: `sideways` is not a direction",
    );
    wrong("sweep --bs 4k,0 --size 1m f", "--bs: error: a size of 0");
    wrong("sweep --time_based --size 1m f", "every point lasts its duration");
    wrong("sweep --size 1m f -o none", "give one with -o, not none");
    wrong("sweep --resume nowhere", "nowhere");
    wrong("sweep --size 1m --mix 101 f", "--mix: error");
    wrong("sweep --bs 4k f", "size");
    place.write("bad.toml", "rw = [\"read\"]\nbs = \"4q\"\n");
    wrong("sweep bad.toml f", "bad.toml:2:1: error:");
    assert_eq!(place.names(), ["bad.toml"]);
    // A file that is not fathom's is not written to.
    place.write("precious", vec![7u8; 1 << 20]);
    place
        .fathom("sweep --rw randwrite --duration 1 precious -o d")
        .expect(3);
    assert_eq!(
        std::fs::read(place.path("precious")).expect("there"),
        vec![7u8; 1 << 20]
    );
}

#[test]
fn a_dry_run_tells_points_time_and_bytes() {
    let place = Place::new();
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../experiments/azure-a2-2016/sweep.toml"
    );
    let outcome = place
        .fathom(&format!("sweep {file} --on data --dry-run"))
        .expect(0);
    for words in [
        "200 points of 420 s: 23 h 20 min",
        "writes 1 GiB to lay it out",
        "160 points write",
        "6.41 TiB",
    ] {
        assert!(outcome.stdout.contains(words), "{words}:\n{}", outcome.stdout);
    }
    assert!(place.names().is_empty());
}
