//! `fathom compare`: verdicts, refusals, files, exit codes, on modelled disks and on columns of numbers.

use crate::harness::{Place, at, finish, number, start};
use serde_json::Value;

/// Ten published times of restoring one database on two classes of storage, in seconds.
const RESTORES: &str = "run,acs,disk\n1,11456.505,11038.631\n2,11517.523,11140.838\n3,11651.333,12327.441\n\
                        4,11949.945,11313.670\n5,11696.491,11879.949\n";

const LOAD: &str = "--size 10g --direct 1 --ioengine libaio --runtime 10 --time_based -q";

/// Modelled runs of a machine, each with a seed of its own.
fn runs(place: &Place, name: &str, target: &str, load: &str, seeds: std::ops::Range<u32>) {
    for seed in seeds {
        let line = format!("run --on model:{target},seed={seed} {load} {LOAD} -o {name}/{seed}");
        place.fathom(&line).expect(0);
    }
}

const READS: &str = "--rw randread --bs 4k --iodepth 4";

#[test]
fn ten_published_restores_show_no_difference_and_a_spread_that_is_hardly_known() {
    let place = Place::new();
    place.write("times.csv", RESTORES);
    let line = "compare times.csv:acs --with times.csv:disk --names ACS,disk --unit s";
    let text = place.fathom(line).expect(0).stdout;
    assert!(
        text.contains("mean: no difference shown (anything beyond ±8.1 % would have been seen)"),
        "{text}"
    );
    assert!(
        text.contains("disk varies 2.9 times as much (anything from 0.62 to 11"),
        "{text}"
    );
    assert!(!text.contains("faster") && !text.contains("slower"), "{text}");
    let json = place.json(line);
    assert_eq!(json["schema"], "fathom.compare/1");
    assert_eq!(at(&json, "figures.0.verdict.is"), "none_shown");
    let near = |path: &str, expected: f64, off: f64| {
        let found = number(&json, path);
        assert!((found - expected).abs() < off, "{path}: {found}, not {expected}");
    };
    near("figures.0.a.mean", 11654.4, 0.05);
    near("figures.0.b.mean", 11540.1, 0.05);
    near("figures.0.difference.value", -0.0107, 0.0005);
    near("figures.0.difference.low", -0.066, 0.001);
    near("figures.0.difference.high", 0.048, 0.001);
    near("figures.0.difference.p_exact", 0.67, 0.02);
    near("figures.0.spread.ratio", 2.87, 0.05);
    near("figures.0.spread.p_permuted", 0.14, 0.01);
    assert_eq!(at(&json, "figures.0.spread.verdict.is"), "too_few");
    // What would matter less than that takes more of them.
    let strict = place.fathom(&format!("{line} --margin 5%")).expect(0).stdout;
    assert!(strict.contains("decide (show ±5 %)"), "{strict}");
}

#[test]
fn a_slower_disk_is_found_told_and_fails_where_that_is_asked() {
    let place = Place::new();
    let load = "--rw randread --bs 4k --iodepth 8";
    runs(&place, "a", "azure/P20", load, 1..5);
    runs(&place, "b", "azure/P10,burst=empty", load, 11..15);
    let line = "compare a --with b --fail-if 'p99 > +5%' --fail-if read.iops<-3% -o c.html -o c.md -o c.xml -o c.csv";
    let words = line.replace("'p99 > +5%'", "p99>+5%");
    let outcome = place
        .fathom(&words)
        .expect(1)
        .saying("--fail-if p99>+5% is shown");
    assert!(
        outcome.stdout.contains("read IOPS: B is slower by"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("target: model:azure/P20 in A"),
        "{}",
        outcome.stdout
    );
    let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("written");
    let page = read("c.html");
    for words in [
        "What changes from A to B",
        "IOPS over time",
        "Percentiles",
        "Each repeat",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(read("c.md").contains("| read IOPS |"), "{}", read("c.md"));
    assert!(read("c.xml").contains("failures=\"2\""), "{}", read("c.xml"));
    assert_eq!(read("c.csv").lines().count(), 6, "5,000 I/Os do not decide p99.9");
    // Nothing is replaced unasked, and the same is no reason to fail.
    place.fathom(&words).expect(3).saying("c.html");
    place.fathom("compare a --with a --fail-if p99>+5% -q").expect(0);
    // One run a side decides nothing, and fails only where that is asked for.
    let one = "compare a/1 --with b/11 --fail-if p99>+5%";
    place.fathom(one).expect(0).saying("not decided");
    place.fathom(&format!("{one} --strict")).expect(1);
    place
        .fathom("compare a --with b --fail-if trim.p99>+5%")
        .expect(2)
        .saying("no figure that is compared fits it");
}

#[test]
fn what_is_no_comparison_is_refused_with_what_differs() {
    let place = Place::new();
    runs(&place, "a", "azure/P20", READS, 1..3);
    runs(
        &place,
        "larger",
        "azure/P20",
        "--rw randread --bs 64k --iodepth 4",
        1..3,
    );
    runs(
        &place,
        "deeper",
        "azure/P20",
        "--rw randread --bs 4k --iodepth 16",
        1..3,
    );
    runs(
        &place,
        "writes",
        "azure/P20",
        "--rw randwrite --bs 4k --iodepth 4",
        1..3,
    );
    runs(
        &place,
        "cached",
        "azure/P20,vm=Standard_D4s_v5,cache=ro,cache_size=100g",
        READS,
        1..3,
    );
    runs(
        &place,
        "elsewhere",
        "azure/P20",
        &format!("{READS} --offset 5g"),
        1..3,
    );
    for (other, words) in [
        ("elsewhere", "size: 10 GiB in A, 10 GiB from 5 GiB on in B"),
        ("larger", "block-size: 4 KiB in A, 64 KiB in B"),
        ("deeper", "depth: 4 in A, 16 in B"),
        ("writes", "pattern: randread in A, randwrite in B"),
        ("cached", "host-cache: not in play in A, in play in B"),
    ] {
        let outcome = place
            .fathom(&format!("compare a --with {other} -o c.md"))
            .expect(2);
        assert!(outcome.stderr.contains(words), "{other}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("--despite"), "{}", outcome.stderr);
        assert!(!place.path("c.md").exists(), "nothing is written");
    }
    let allowed = place
        .fathom("compare a --with cached --despite host-cache")
        .expect(0)
        .stdout;
    assert!(
        allowed.contains("host cache differs, which --despite allows"),
        "{allowed}"
    );
    place
        .fathom("compare a/1 larger/1 --with a")
        .expect(2)
        .saying("are not repeats of one load");
    // A modelled run measured twice is no repeat.
    place
        .fathom(&format!(
            "run --on model:azure/P20,seed=1 {READS} {LOAD} -o again"
        ))
        .expect(0);
    place
        .fathom("compare a/1 again --with a/2")
        .expect(2)
        .saying("one and the same run");
    place
        .fathom("compare a/1 a/1 --with a/2")
        .expect(2)
        .saying("given twice");
    place.fathom("compare a --with again -o a/1/run.json").expect(2);
}

#[test]
fn what_cannot_be_read_is_said_with_its_place_and_nothing_is_touched() {
    let place = Place::new();
    place.write("fine", "1\n2\n3\n4\n");
    place.write("text", "1\n2\nabc\n");
    place.write("nan", "1\nNaN\n");
    place.write("one", "1\n");
    place.write("empty", "");
    place.write("cut.csv", "a,b\n1,2\n3\n");
    place.write("binary", [0xff, 0xfe, 0, 1]);
    std::fs::create_dir(place.path("nothing")).expect("a directory");
    std::fs::create_dir(place.path("half")).expect("a directory");
    place.write("half/run.json", "{\"schema\": \"fathom.run/1\", \"build\"");
    place
        .fathom(&format!("run --on model:azure/P10,seed=1 {READS} {LOAD} -o torn"))
        .expect(0);
    let series = std::fs::read(place.path("torn/series.parquet")).expect("a series");
    place.write("torn/series.parquet", &series[..series.len() / 2]);
    let before = place.names();
    for (b, words) in [
        ("text", "text:3: `abc` is not a number"),
        ("nan", "nan:2: `NaN` is no number that can be compared"),
        ("one", "one:1: there is one number only"),
        ("empty", "empty: it is empty"),
        ("cut.csv", "cut.csv:1: which column"),
        ("cut.csv:b", "cut.csv:3: 1 cell here and 2 cells in line 1"),
        ("cut.csv:c", "no column c: its columns are a, b"),
        ("binary", "not text (UTF-8)"),
        ("nowhere", "there is no such file or directory"),
        ("nothing", "neither a run nor a sweep"),
        ("half", "run.json"),
        ("torn", "series.parquet"),
    ] {
        let outcome = place
            .fathom(&format!("compare {b} --with {b} -o c.html"))
            .expect(2);
        assert!(outcome.stderr.contains(words), "{b}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    }
    place.fathom("compare fine --with half").expect(2);
    place.fathom("compare fine").expect(2).saying("--with");
    place
        .fathom("compare fine --with fine -o c.pdf")
        .expect(2)
        .saying(".xml");
    place
        .fathom("compare fine --with fine --fail-if p99>5")
        .expect(2)
        .saying("is no percentage");
    place
        .fathom("compare fine --with fine --despite kernel")
        .expect(2)
        .saying("host-cache");
    assert_eq!(place.names(), before, "nothing was touched");
}

/// Twenty comparisons of a disk with itself, four runs a side: one may be a false alarm, more than that is no chance.
/// A command takes what it sleeps: the sides differ by that, whatever the machine does beside it.
#[test]
fn repeated_commands_are_compared_by_their_times() {
    let place = Place::new();
    for (name, seconds) in [("quick", "0.2"), ("slow", "0.8")] {
        let words = format!("record -q --repeat 4 -o {name} -- sleep {seconds}");
        let mut command = place.command_of(words.split(' '));
        finish(start(&mut command)).expect(0);
    }
    let json = place.json("compare quick --with slow");
    assert_eq!(json["kind"], "commands");
    assert_eq!(at(&json, "figures.0.quantity"), "duration_ns");
    assert_eq!(at(&json, "figures.0.verdict.is"), "differs");
    assert!(number(&json, "figures.0.difference.low") > 1.0, "{json}");
    let text = place.fathom("compare quick --with slow").expect(0).stdout;
    assert!(text.contains("command: sleep 0.2 in A, sleep 0.8 in B"), "{text}");
    assert!(text.contains("as slow"), "{text}");
    let fails = place.fathom("compare quick --with slow -q --fail-if time>20%");
    assert_eq!(fails.code, Some(1), "{}", fails.stdout);
    place
        .fathom("compare quick --with slow -o c.html -o c.md -q")
        .expect(0);
    // Two commands on one side are no repeats of one.
    let mixed = place.fathom("compare quick/1 slow/1 --with slow/2 slow/3");
    assert_eq!(mixed.code, Some(2));
    assert!(
        mixed.stderr.contains("not repeats") && mixed.stderr.contains("--despite command"),
        "{}",
        mixed.stderr
    );
}

#[test]
fn a_disk_does_not_differ_from_itself() {
    let place = Place::new();
    let load = "--rw randrw --rwmixread 70 --bs 4k --iodepth 4";
    let mut alarms = Vec::new();
    for pair in 0..20 {
        let from = 1 + pair * 8;
        runs(
            &place,
            &format!("a{pair}"),
            "azure/P15,vm=Standard_D4s_v5",
            load,
            from..from + 4,
        );
        runs(
            &place,
            &format!("b{pair}"),
            "azure/P15,vm=Standard_D4s_v5",
            load,
            from + 4..from + 8,
        );
        let json = place.json(&format!("compare a{pair} --with b{pair}"));
        let figures = json["figures"].as_array().expect("figures");
        let differs = |figure: &&Value| figure["verdict"]["is"] == "differs";
        alarms.extend(
            figures
                .iter()
                .find(differs)
                .map(|figure| format!("{pair}: {figure}")),
        );
    }
    assert!(alarms.len() <= 1, "{alarms:#?}");
}

#[test]
fn sweeps_are_compared_point_by_point() {
    let place = Place::new();
    let sweep = |name: &str, target: &str, depths: &str, seed: u32| {
        let line = format!(
            "sweep --on model:{target} --rw randread --bs 4k,64k --iodepth {depths} --duration 3s --repeat 4 --seed {seed} --size 10g -q \
             -o {name}"
        );
        place.fathom(&line).expect(0);
    };
    sweep("a", "azure/P20", "1,8", 1);
    sweep("b", "azure/P10,burst=empty", "1,8,32", 2);
    let text = place.fathom("compare a --with b").expect(0).stdout;
    assert!(
        text.contains("Of 24 figures:") || text.contains("figures:"),
        "{text}"
    );
    assert!(text.contains("Only B has"), "{text}");
    let json = place.json("compare a --with b");
    assert_eq!(json["kind"], "sweeps");
    let loads: std::collections::BTreeSet<&str> = json["figures"]
        .as_array()
        .expect("figures")
        .iter()
        .filter_map(|figure| figure["load"].as_str())
        .collect();
    assert_eq!(loads.len(), 4, "{loads:?}");
    place
        .fathom("compare a --with b/points")
        .expect(2)
        .saying("give two sides of the same kind");
}

/// Two disks in turns: a directory with a sweep each, the comparison on stdout, which `fathom compare` gives again.
#[test]
fn targets_are_measured_in_turns_and_compared() {
    let place = Place::new();
    let sweep =
        "sweep --rw randread --bs 4k --iodepth 1,8 --duration 3s --size 1g --repeat 4 --order interleaved";
    let targets = "--on model:azure/P20 --on model:azure/P10,burst=empty";
    place.fathom(&format!("{sweep} {targets} --dry-run")).expect(0);
    let text = place
        .fathom(&format!("{sweep} {targets} -q -o both"))
        .expect(0)
        .stdout;
    assert!(
        text.contains("azure/P10,burst=empty compared with azure/P20"),
        "{text}"
    );
    assert!(text.contains("azure/P10,burst=empty is slower by"), "{text}");
    assert_eq!(place.listing("both"), ["a", "b"]);
    let again = place.json("compare both/a --with both/b");
    assert_eq!(
        again["figures"].as_array().map(Vec::len),
        Some(10),
        "two points of five figures: so few I/Os do not decide p99.9"
    );
    place.fathom("show both/b").expect(0);
    // A disk and itself, drawn anew for each.
    let same = place
        .fathom(&format!(
            "{sweep} --on model:azure/P20 --on model:azure/P20 -q -o same"
        ))
        .expect(0)
        .stdout;
    assert!(
        !same.contains("B is slower") && !same.contains("B is faster"),
        "{same}"
    );
    place
        .fathom(&format!("{sweep} --on model:azure/P20 -q -o one"))
        .expect(2)
        .saying("interleaved is for several targets");
    place
        .fathom(&format!("{sweep} {targets} --adaptive -o d"))
        .expect(2)
        .saying("leave it out");
}

/// On this machine: two files take turns, pass by pass, and their order is known.
#[test]
fn real_targets_take_turns_too() {
    let place = Place::new();
    let line = "sweep --rw randread --bs 4k --iodepth 1 --duration 1s --size 4m --repeat 4 --on one --on two -q -o both";
    place.fathom(line).expect(0);
    let json = place.json("compare both/a --with both/b");
    assert_eq!(at(&json, "figures.0.order"), "in_turns");
    assert_eq!(at(&json, "figures.0.difference.method"), "beside_drift");
}
