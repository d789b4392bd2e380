//! `fathom plan --from`: what was recorded is planned for, and its replay shows what a run of the same load does.

use crate::harness::Place;
use serde_json::Value;
use std::fs;

/// A database's load with a schedule, and one that waits for its disk.
const PACED: &str =
    "[db]\nrw=randrw\nrwmixread=70\nbs=16k\niodepth=64\nrate_iops=420,180\nrate_process=poisson\n";
const WAITING: &str = "[scan]\nrw=randread\nbs=8k\niodepth=4\n";

/// Records `load` for so many seconds on a modelled disk.
fn recorded(place: &Place, name: &str, load: &str, disk: &str) {
    let job =
        format!("{load}size=20g\nioengine=libaio\ndirect=1\ntime_based\nruntime=40s\nfilename=/data/f\n");
    place.write(&format!("{name}.fio"), &job);
    place
        .fathom(&format!(
            "run -q --record -o {name} --on model:azure/{disk} {name}.fio"
        ))
        .expect(0);
}

fn planned(place: &Place, words: &str) -> Value {
    let text = place.fathom(&format!("plan {words} --json -q")).expect(0).stdout;
    serde_json::from_str(&text).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number: {value}"))
}

/// The oracle: the same load, run on the disk that the replay was about.
#[test]
fn a_replay_shows_what_a_run_on_that_disk_does() {
    let place = Place::new();
    recorded(&place, "paced", PACED, "P30");
    recorded(&place, "waiting", WAITING, "P30");
    for (name, other) in [("paced", "P15"), ("waiting", "P20"), ("waiting", "E20")] {
        let plan = planned(&place, &format!("--from {name} --current azure/{other} --top 1"));
        let text = place
            .fathom(&format!(
                "run -q -o none --json --on model:azure/{other} {name}.fio"
            ))
            .expect(0)
            .stdout;
        let run: Value = serde_json::from_str(&text).expect("JSON");
        // Of a load with a schedule what counts is from when it was due.
        let of_run = |percentile: &str| {
            let read = &run["groups"][0]["read"];
            let metric = if name == "paced" { "response_ns" } else { "lat_ns" };
            number(&read[metric][percentile])
        };
        let replay = &plan["present"]["model"]["replay"];
        for percentile in ["p50", "p99"] {
            let [run, replay] = [of_run(percentile), number(&replay["read_latency_ns"][percentile])];
            assert!(
                (0.95..=1.05).contains(&(replay / run)),
                "{name} on {other}: {percentile} {replay} in the replay, {run} in a run"
            );
        }
    }
}

#[test]
fn what_was_seen_is_the_need_and_the_present_layout_is_compared() {
    let place = Place::new();
    recorded(&place, "day", PACED, "P30");
    let words = "--from day --slo p99<20ms --current azure/P30,vm=Standard_D8s_v3";
    let plan = planned(&place, words);
    let seen = &plan["recorded"]["recordings"][0];
    assert_eq!(
        (&seen["from"], &seen["waited"]),
        (&Value::from("ios"), &Value::from(0))
    );
    assert!(
        (590.0..760.0).contains(&number(&plan["need"]["iops"])),
        "{}",
        plan["need"]
    );
    assert!((68.0..72.0).contains(&number(&plan["need"]["read_percent"])));
    assert!((19.0..=20.0).contains(&(number(&plan["need"]["size_bytes"]) / f64::from(1 << 30))));
    let present = &plan["present"];
    assert!(number(&plan["layouts"][0]["usd_month"]) < number(&present["usd_month"]));
    for layout in plan["layouts"].as_array().expect("layouts") {
        let model = &layout["model"];
        assert!(number(&model["latency_ns"]["p99"]) < 20e6, "{layout:#}");
        assert!(number(&model["replay"]["throttled_seconds"]) <= 1.0, "{layout:#}");
        let done = number(&model["iops"]) * number(&model["replay"]["seconds"]);
        let recorded = number(&seen["reads"]) + number(&seen["writes"]);
        assert!((done / recorded - 1.0).abs() < 1e-9, "{done} of {recorded}");
    }
    let text = place.fathom(&format!("plan {words}")).expect(0).stdout;
    for said in ["saves USD", "now  P30", "open loop", "What was recorded"] {
        assert!(text.contains(said), "`{said}` is missing:\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    place
        .fathom(&format!("plan {words} -q -o seen.html -o seen.md"))
        .expect(0);
    let page = fs::read_to_string(place.path("seen.html")).expect("a page");
    assert!(page.contains("each I/O of the load") && page.contains("behind"));
}

/// Three minutes at 1,500 IOPS in half an hour: a disk of 240 IOPS lives on its credit, where one that is asked for 1,500 without
/// end does not.
#[test]
fn credit_counts_as_far_as_the_series_shows() {
    let place = Place::new();
    let quiet = "[quiet]\nrw=randread\nbs=8k\niodepth=256\nrate_iops=20\n";
    let busy = "[busy]\nstonewall\nrw=randread\nbs=8k\niodepth=256\nrate_iops=1500\nruntime=180s\nsize=20g\nioengine=libaio\ndirect=1\n\
                time_based\nfilename=/data/f\n";
    let job = format!(
        "{quiet}size=20g\nioengine=libaio\ndirect=1\ntime_based\nruntime=1800s\nfilename=/data/f\n{busy}"
    );
    place.write("burst.fio", &job);
    place
        .fathom("run -q --record -o burst --on model:azure/P30 burst.fio")
        .expect(0);
    let choice = "--vm Standard_D8s_v3 --family premium --raid0-max 1 --no-cache --gib 20 --top 1";
    let plan = planned(&place, &format!("--from burst {choice}"));
    let first = &plan["layouts"][0];
    assert_eq!(first["disk"], "P6", "{first:#}");
    assert_eq!(first["binding"]["kind"], "burst credit", "{first:#}");
    assert_eq!(first["model"]["replay"]["throttled_seconds"], 0, "{first:#}");
    let steady = planned(&place, &format!("--iops 1500 --bs 8k --read 100 {choice}"));
    assert_eq!(steady["layouts"][0]["disk"], "P20");
}

#[test]
fn recordings_without_ios_are_planned_from_sums_and_say_so() {
    let place = Place::new();
    recorded(&place, "whole", PACED, "P30");
    let whole = planned(&place, "--from whole --gib 20 --top 1");
    for (gone, from) in [(&["io", "block"][..], "counters"), (&["counters"][..], "series")] {
        for stream in gone {
            fs::remove_dir_all(place.path("whole").join(stream)).expect(stream);
        }
        let plan = planned(&place, "--from whole --gib 20 --top 1");
        assert_eq!(plan["recorded"]["recordings"][0]["from"], from);
        let [sums, ios] = [&plan, &whole].map(|plan| number(&plan["need"]["iops"]));
        assert!(
            (0.9..1.1).contains(&(sums / ios)),
            "{from}: {sums} and {ios} IOPS"
        );
        let text = place.fathom("plan --from whole --gib 20").expect(0).stdout;
        assert!(
            text.contains("left out, since single I/Os were not recorded"),
            "{text}"
        );
    }
}

/// Through the page cache the disk sees other I/Os than the load sent.
#[test]
fn of_a_buffered_load_the_requests_count() {
    let place = Place::new();
    place.write(
        "buffered.fio",
        "[log]\nrw=write\nbs=4k\nsize=1g\nfsync=8\nrate_iops=400\ntime_based\nruntime=20s\nfilename=/data/f\n",
    );
    place
        .fathom("run -q --record -o buffered --on model:azure/P30 buffered.fio")
        .expect(0);
    let plan = planned(&place, "--from buffered --gib 10 --top 1");
    let seen = &plan["recorded"]["recordings"][0];
    assert_eq!(seen["from"], "requests");
    let [writes, flushes] = ["writes", "flushes"].map(|name| number(&seen[name]));
    assert!(writes > 0.0 && writes < 8_000.0 && flushes > 0.0, "{seen:#}");
}

#[test]
fn one_layout_carries_each_of_several_recordings() {
    let place = Place::new();
    recorded(&place, "one", PACED, "P30");
    recorded(&place, "two", WAITING, "P20");
    let need = |words: &str| number(&planned(&place, words)["need"]["iops"]);
    let [one, two, both] = [
        "--from one --top 1",
        "--from two --top 1",
        "--from one two --top 1",
    ]
    .map(need);
    assert!((both - one.max(two)).abs() < 1.0, "{one} {two} {both}");
    let grown = planned(&place, "--from one --growth 2x --top 1");
    assert!((number(&grown["need"]["iops"]) / one - 2.0).abs() < 0.01);
    let model = &grown["layouts"][0]["model"];
    let done = number(&model["iops"]) * number(&model["replay"]["seconds"]);
    let seen = &grown["recorded"]["recordings"][0];
    let recorded = number(&seen["reads"]) + number(&seen["writes"]);
    assert!((done / recorded - 2.0).abs() < 0.001, "{done} of {recorded}");
}

#[test]
fn what_cannot_be_planned_from_is_said() {
    let place = Place::new();
    recorded(&place, "there", WAITING, "P30");
    for (words, said) in [
        ("--from nowhere", "Check the path"),
        ("--from there --iops 5", "cannot be used with"),
        ("--from there --percentile 101", "1 to 100 percent"),
        ("--from there --device sdq", "no device that has a name"),
        ("--from there --growth 17x", "16 times at most"),
        ("--gib 5 --percentile 99", "give one with --from"),
        ("--from there --slo p99<9us", "none is as fast"),
        ("--from there --budget 1", "a budget of USD 1.00 is too little"),
    ] {
        place.fathom(&format!("plan {words}")).expect(2).saying(said);
    }
}
