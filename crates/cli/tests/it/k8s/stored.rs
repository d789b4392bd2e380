//! Runs of many in one place: a directory, and object storage.

use super::stand_in::StandIn;
use crate::bounded::measured;
use crate::harness::{Outcome, Place, at, count, finish, start};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Runs a side, each on a modelled disk of its own.
const RUNS: u64 = 3;
const CLASSES: [&str; 2] = ["P10", "P20"];

/// Runs on two classes, as directories `p10/1` and so on.
fn runs(place: &Place) {
    for class in CLASSES {
        std::fs::create_dir(place.path(class)).expect("made");
        for seed in 1..=RUNS {
            place
                .fathom(&format!(
                    "run --on model:azure/{class},seed={seed} --name load --rw randrw --bs 4k --iodepth 8 --size 1g --runtime 12s \
                     --time_based --record=io -o {class}/{seed} -q"
                ))
                .expect(0);
        }
    }
}

/// Puts them to a prefix, with more variables.
fn store(place: &Place, prefix: &str, vars: &[(&str, String)]) {
    for class in CLASSES {
        for seed in 1..=RUNS {
            let line = format!(
                "k8s store {class}/{seed} --to {prefix} --cluster c --class {class} --node node-{seed} -q"
            );
            with(place, &line, vars).expect(0);
        }
    }
}

fn with(place: &Place, line: &str, vars: &[(&str, String)]) -> Outcome {
    let mut command = place.command(line);
    for (key, value) in vars {
        command.env(key, value);
    }
    finish(start(&mut command))
}

/// What the runs' own documents say, put together by hand.
fn ios(place: &Place, class: &str, op: &str) -> u64 {
    let of = |seed: u64| {
        let text = std::fs::read(place.path(format!("{class}/{seed}/run.json"))).expect("kept");
        let run: Value = serde_json::from_slice(&text).expect("JSON");
        count(&run, &format!("summary.jobs.0.{op}.ios"))
    };
    (1..=RUNS).map(of).sum()
}

#[test]
fn a_prefix_says_what_the_runs_in_it_say_together() {
    let place = Place::new();
    runs(&place);
    store(&place, "fleet", &[]);
    let explained = place.fathom("explain fleet --json").expect(0).json();
    let fleets = at(&explained, "fleets").as_array().expect("fleets");
    assert_eq!(fleets.len(), 2, "{explained:#}");
    for (fleet, class) in fleets.iter().zip(CLASSES) {
        assert_eq!(at(fleet, "on"), &format!("class {class} of c: load"));
        assert_eq!(at(fleet, "members").as_array().map(Vec::len), Some(3));
        for (place_of, op) in ["read", "write"].into_iter().enumerate() {
            let total = at(fleet, &format!("total.{place_of}"));
            assert_eq!(count(total, "ios"), ios(&place, class, op), "{class} {op}");
            assert_eq!(count(total, "lat_ns.n"), ios(&place, class, op), "{class} {op}");
        }
        assert!(at(fleet, "limited.0.by").is_string(), "{fleet:#}");
    }
    let text = place
        .fathom("explain fleet/class=P20/node=node-2")
        .expect(0)
        .stdout;
    assert!(text.starts_with("1 run on class P20 of c: load"), "{text}");
    // Sides of a comparison are the same figures, wherever they are read.
    let of_directories = place.json("compare P10 --with P20");
    let of_prefix = place.json("compare fleet/class=P10 --with fleet/class=P20");
    assert_eq!(at(&of_prefix, "figures"), at(&of_directories, "figures"));
    // What is to be carried is what each asked for.
    let need = |from: &str| {
        let plan = place.json(&format!("plan --from {from} --cloud azure"));
        at(&plan, "need").clone()
    };
    assert_eq!(need("fleet/class=P10"), need("P10/1 P10/2 P10/3"));
    // The same again changes nothing, and a run of another name is one more.
    store(&place, "fleet", &[]);
    let again = place.fathom("explain fleet --json").expect(0).json();
    assert_eq!(again, explained);
}

#[test]
fn object_storage_has_what_a_directory_has() {
    let place = Place::new();
    runs(&place);
    store(&place, "fleet", &[]);
    let s3 = StandIn::new();
    let vars = |allow: &str| {
        [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", s3.port)),
            ("AWS_ALLOW_HTTP", allow.to_owned()),
            ("AWS_ACCESS_KEY_ID", String::from("key")),
            ("AWS_SECRET_ACCESS_KEY", String::from("secret")),
            ("AWS_REGION", String::from("here")),
        ]
    };
    let allowed = vars("true");
    // Larger than what is sent at once: in parts.
    std::fs::write(place.path("P10/1/notes.txt"), vec![7; 9 << 20]).expect("written");
    store(&place, "s3://bucket/a/fleet", &allowed);
    assert_eq!(s3.uploads(), 1);
    let keys = s3.keys();
    assert!(
        keys.iter()
            .any(|key| key == "/bucket/a/fleet/series/cluster=c/class=P10/node=node-1/run=1/series.parquet"),
        "{keys:#?}"
    );
    let fleets = |outcome: Outcome| at(&outcome.expect(0).json(), "fleets").clone();
    assert_eq!(
        fleets(with(&place, "explain s3://bucket/a/fleet --json", &allowed)),
        fleets(place.fathom("explain fleet --json"))
    );
    let line = "explain s3://bucket/a/fleet/class=P20/node=node-3 --json";
    let one = fleets(with(&place, line, &allowed));
    assert_eq!(at(&one, "0.members").as_array().map(Vec::len), Some(1));
    // What is wrong is one message, and nothing is touched.
    let keyless = [
        allowed[0].clone(),
        allowed[1].clone(),
        allowed[4].clone(),
        ("AWS_SKIP_SIGNATURE", String::from("true")),
    ];
    for (line, vars, expected) in [
        (
            "explain s3://bucket/a/fleet",
            vars("false").to_vec(),
            "is plain HTTP",
        ),
        (
            "explain s3://bucket/b",
            allowed.to_vec(),
            "there are no runs in it",
        ),
        (
            "explain s3://bucket/a/fleet/class=P30",
            allowed.to_vec(),
            "none of its 6 runs is class=P30",
        ),
        (
            "explain s3://bucket/a/fleet",
            keyless.to_vec(),
            "s3://bucket/a/fleet: it cannot be listed",
        ),
        ("explain ftp://bucket", Vec::new(), "give s3://BUCKET/PATH"),
        (
            "k8s store P10/1 --to s3://bucket/x",
            keyless.to_vec(),
            "it cannot be looked at",
        ),
        ("k8s store fleet --to elsewhere", Vec::new(), "fleet"),
        (
            "compare fleet/class=P30 --with fleet",
            Vec::new(),
            "none of its 6 runs",
        ),
        (
            "plan --from fleet --device sda",
            Vec::new(),
            "--device: fleet has sums of all devices",
        ),
        (
            "explain fleet --evidence all",
            Vec::new(),
            "--evidence and --catalog are about the directory",
        ),
    ] {
        let found = with(&place, line, &vars);
        assert_eq!(found.code, Some(2), "{line}: {}", found.stderr);
        assert!(found.stderr.contains(expected), "{line}: {}", found.stderr);
        assert_eq!(found.stdout, "", "{line}");
    }
    assert!(!place.path("elsewhere").exists());
}

#[test]
fn damaged_parts_are_named() {
    let place = Place::new();
    place
        .fathom("run --on model:azure/P10 --rw randread --size 1g --number_ios 1000 -o r -q")
        .expect(0);
    place.fathom("k8s store r --to fleet --node n -q").expect(0);
    let part = "fleet/runs/cluster=none/class=none/node=n/run=r/part.json";
    let text = std::fs::read_to_string(place.path(part)).expect("kept");
    for (damaged, expected) in [
        (
            text.replace("fathom.part/1", "fathom.part/9"),
            "a part of schema fathom.part/9",
        ),
        (text[..text.len() / 2].to_owned(), "no part of a run"),
        (
            text.replacen("\"buckets\":[[", "\"buckets\":[[1,1],[", 1),
            "no histogram can have had these",
        ),
        (
            text.replace("\"ios\":1000,\"bytes\"", "\"ios\":18446744073709551615,\"bytes\""),
            "no run can have had such amounts",
        ),
        (String::new(), "no part of a run"),
    ] {
        place.write(part, damaged);
        for line in ["explain fleet", "compare fleet --with r", "plan --from fleet"] {
            let found = place.fathom(line);
            assert_eq!(found.code, Some(2), "{line}: {}", found.stderr);
            assert!(
                found.stderr.contains(expected) && found.stderr.contains("node=n/run=r"),
                "{line}: {expected}: {}",
                found.stderr
            );
        }
    }
}

/// Nodes of a fleet, where nothing else is said (`cargo xtask soak fleet` has a thousand).
const NODES: u64 = 24;
/// Recordings that stand for all of theirs.
const RECORDED: u64 = 4;
const RESULT_MAX: Duration = Duration::from_mins(1);
const RESULT_KIB_MAX: u64 = 500 << 10;

/// What a bucket's values are taken for: its middle, with 512 buckets to an octave.
fn middle(low: u64) -> u64 {
    let shift = (low | 512).ilog2() - 9;
    low + ((1 << shift) - 1) / 2
}

/// The percentile of buckets, by its definition.
fn percentile(buckets: &BTreeMap<u64, u64>, percent: f64) -> u64 {
    let n: u64 = buckets.values().sum();
    let rank = (percent / 100.0 * n as f64).ceil() as u64;
    let mut upto = 0;
    let found = buckets.iter().find(|(_, count)| {
        upto += **count;
        upto >= rank
    });
    *found.expect("a bucket").0
}

/// Fake nodes with recorded results: one result in time and within memory, its buckets the sum of all nodes'.
#[test]
fn many_nodes_are_the_sum_of_each() {
    let nodes = std::env::var("FATHOM_FLEET_NODES").map_or(NODES, |text| text.parse().expect("a number"));
    let place = Place::new();
    for number in 0..RECORDED {
        place
            .fathom(&format!(
                "run --on model:azure/P10,seed={} --name load --rw randrw --bs 4k --iodepth {} --size 1g --runtime 30s --time_based \
                 -o r{number} -q",
                number + 1,
                number + 1
            ))
            .expect(0);
    }
    // As if all had begun at one moment, however long it took here to record them.
    for number in 0..RECORDED {
        let path = place.path(format!("r{number}/run.json"));
        let mut run: Value = serde_json::from_slice(&std::fs::read(&path).expect("kept")).expect("JSON");
        run["started_unix_ns"] = (1_700_000_000_000_000_000 + number * 1_000_000).into();
        std::fs::write(&path, run.to_string()).expect("written");
    }
    for node in 0..nodes {
        let number = node % RECORDED;
        place
            .fathom(&format!(
                "k8s store r{number} --to fleet --cluster c --class pool --node node-{node} -q"
            ))
            .expect(0);
    }
    // What each has, summed by hand.
    let mut sums: BTreeMap<String, (u64, BTreeMap<u64, u64>)> = BTreeMap::new();
    for node in 0..nodes {
        let part = format!(
            "fleet/runs/cluster=c/class=pool/node=node-{node}/run=r{}/part.json",
            node % RECORDED
        );
        let part: Value =
            serde_json::from_slice(&std::fs::read(place.path(part)).expect("kept")).expect("JSON");
        for op in at(&part, "fleet.ops").as_array().expect("directions") {
            let name = at(op, "op").as_str().expect("its name").to_owned();
            let (ios, buckets) = sums.entry(name).or_default();
            *ios += count(op, "ios");
            for bucket in at(op, "lat_ns.buckets").as_array().expect("buckets") {
                *buckets.entry(count(bucket, "0")).or_default() += count(bucket, "1");
            }
        }
    }
    let begun = Instant::now();
    let (told, peak_kib) = measured(&place, "explain fleet --json");
    let took = begun.elapsed();
    println!(
        "{nodes} nodes: one result in {} ms, {} MiB",
        took.as_millis(),
        peak_kib >> 10
    );
    told.expect(0);
    let found = place.fathom("explain fleet --json").expect(0).json();
    let fleets = at(&found, "fleets").as_array().expect("fleets");
    let [fleet] = fleets.as_slice() else {
        panic!("one fleet: {fleets:#?}");
    };
    assert_eq!(
        at(fleet, "members").as_array().map(Vec::len),
        Some(nodes as usize)
    );
    for total in at(fleet, "total").as_array().expect("totals") {
        let (ios, buckets) = &sums[at(total, "op").as_str().expect("its name")];
        assert_eq!(count(total, "ios"), *ios);
        assert_eq!(count(total, "lat_ns.n"), buckets.values().sum::<u64>());
        for (key, percent) in [("p50", 50.0), ("p95", 95.0), ("p99", 99.0), ("p99_9", 99.9)] {
            let ours = count(total, &format!("lat_ns.{key}"));
            assert_eq!(ours, middle(percentile(buckets, percent)), "{key}");
        }
    }
    assert!(took < RESULT_MAX, "{took:?}");
    assert!(peak_kib < RESULT_KIB_MAX, "{peak_kib} KiB");
    let (planned, peak_kib) = measured(&place, "plan --from fleet --cloud azure --json -q");
    planned.expect(0);
    println!("and a plan of it: {} MiB", peak_kib >> 10);
    assert!(peak_kib < RESULT_KIB_MAX, "{peak_kib} KiB");
}
