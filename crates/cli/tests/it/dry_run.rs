//! What is foretold is what comes.

use crate::harness::{LoopDevice, Outcome, Place, at, count, skipped, tool};

/// What a dry run says that a real run would do, before that is done.
#[track_caller]
fn foretold(place: &Place, line: &str) -> (u64, u64) {
    let dry = place.json(&format!("{line} --dry-run"));
    let run = place.json(line);
    let sum = |key: &str| {
        let ops = ["read", "write", "trim"];
        ops.iter()
            .map(|op| count(&run, &format!("jobs.0.{op}.{key}")))
            .sum::<u64>()
    };
    for key in ["ios", "bytes"] {
        let bound = at(&dry, &format!("totals.{key}.bound"));
        assert_eq!(bound, "exactly", "{line}: {key}");
        assert_eq!(count(&dry, &format!("totals.{key}.n")), sum(key), "{line}: {key}");
    }
    (sum("ios"), sum("bytes"))
}

#[test]
fn the_amounts_of_work_that_has_an_end_are_exact() {
    for (flags, ios) in [
        ("--rw randread --bs 4k --size 1m", 256),
        ("--rw randread --bs 3k --size 1m", 341),
        ("--rw randread --bs 3k --size 1m --norandommap", 342),
        ("--rw write --bs 64k --size 1m --io_size 3m", 48),
        ("--rw write --bs 100k --size 1m --loops 3", 30),
        ("--rw randrw --bs 4k --size 1m --number_ios 100", 100),
        ("--rw read --bs 4k --size 1m --numjobs 3 --nrfiles 2", 768),
        ("--rw randwrite --bs 4k --size 1m --verify crc32c", 512),
        ("--rw trimwrite --bs 4k --size 1m --ioengine null", 512),
    ] {
        let place = Place::new();
        std::fs::create_dir(place.path("d")).expect("mkdir");
        let (done, _) = foretold(&place, &format!("run {flags} --on d --name j -o none"));
        assert_eq!(done, ios, "{flags}");
    }
}

#[test]
fn layout_is_foretold() {
    let place = Place::new();
    let line = "run --rw randread --bs 4k --size 1m --dry-run --json F";
    let dry = place.fathom(line).expect(0).json();
    assert_eq!(at(&dry, "schema"), "fathom.workload/1");
    assert_eq!(count(&dry, "totals.files"), 1);
    assert_eq!(count(&dry, "totals.filled_bytes"), 1 << 20);
    assert!(at(&dry, "files.0.size_bytes").is_null());
    assert_eq!(place.names(), Vec::<String>::new());
    place.json("run --rw randread --bs 4k --size 1m F -o none");
    let dry = place.fathom(line).expect(0).json();
    assert_eq!(count(&dry, "totals.filled_bytes"), 0);
}

#[test]
fn time_is_foretold_and_what_only_time_ends_has_no_amount() {
    let dry = Place::new().json("run --rw read --size 1m --runtime 90 --time_based --dry-run F");
    assert_eq!(at(&dry, "totals.time_ns.bound"), "exactly");
    assert_eq!(count(&dry, "totals.time_ns.n"), 90_000_000_000);
    assert_eq!(at(&dry, "totals.ios.bound"), "unbounded");
}

#[test]
fn shares_of_what_is_there_are_shown_in_bytes() {
    let place = Place::new();
    place.write("F", vec![7; 4 << 20]);
    let line = "run --rw read --bs 4k --size 50% --offset 25% --dry-run F";
    let outcome = place.fathom(line).expect(0);
    for expected in [
        "size 2 MiB (50 %)",
        "from offset 1 MiB (25 %)",
        "stop: 2 MiB a worker",
    ] {
        assert!(
            outcome.stdout.contains(expected),
            "{expected}:\n{}",
            outcome.stdout
        );
    }
}

/// The lines that say why a run is refused.
fn refusals(outcome: &Outcome) -> Vec<String> {
    let lines = outcome.stderr.lines().filter(|line| line.starts_with("error:"));
    lines.map(str::to_owned).collect()
}

/// Both end alike, in the same words.
#[track_caller]
fn alike(place: &Place, line: &str, code: i32) {
    let dry = place.fathom(&format!("{line} --dry-run")).expect(code);
    let run = place.fathom(line).expect(code);
    assert_eq!(refusals(&dry), refusals(&run), "{line}");
    assert!(!refusals(&run).is_empty(), "{line}");
}

#[test]
fn a_run_that_would_be_refused_is_refused_in_the_same_words() {
    let place = Place::new();
    place.write("a", "x");
    place.write("b", "x");
    place.write(
        "j.fio",
        "[global]\nsize=64k\n[one]\nrw=write\nfilename=a\n[two]\nrw=read\nfilename=b\n",
    );
    alike(&place, "run j.fio", 3);
    alike(
        &place,
        "run --rw write --size 1m --on /dev/fathom-no-such-device",
        3,
    );
    std::fs::create_dir(place.path("full")).expect("mkdir");
    place.write("full/x", "x");
    alike(&place, "run --size 1m --ioengine null F -o full", 2);
    alike(&place, "run --size 1m --ioengine null F -o a", 2);
    alike(&place, "run --size 1m --ioengine null --cpus_allowed 999 F", 2);
    alike(&place, "run --rw randread F", 2);
    assert_eq!(std::fs::read(place.path("a")).expect("a"), b"x");
    assert_eq!(place.names(), ["a", "b", "full", "j.fio"]);
}

#[test]
fn a_read_job_that_must_extend_a_file_does_not_speak_of_overwriting() {
    let place = Place::new();
    place.write("short", "x");
    let outcome = place.fathom("run --rw read --size 1m --dry-run short").expect(3);
    assert!(!outcome.stderr.contains("overwrite it"), "{}", outcome.stderr);
    outcome.saying("would have to grow from 1 B to 1 MiB");
}

#[test]
fn devices_are_judged_and_not_touched() {
    let test = "devices_are_judged_and_not_touched";
    let place = Place::new();
    let device = match LoopDevice::new(&place, 16 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped(test, &missing),
    };
    let path = device.path.clone();
    let write = format!("run --rw write --bs 4k --size 1g --direct 1 -o none -q --on {path}");
    alike(&place, &write, 3);
    let allowed = format!("{write} --allow-overwrite {path}");
    let before = device.checksum();
    let dry = place.fathom(&format!("{allowed} --dry-run")).expect(0);
    assert_eq!(device.checksum(), before);
    let clipped = format!("size=1 GiB is larger than {path} (16 MiB): clipped to 16 MiB");
    let once = |outcome: &Outcome| {
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        // Lines are wrapped.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.matches(&clipped).count(), 1, "{text}");
    };
    once(&dry);
    assert!(
        dry.stdout.contains("size 16 MiB (1 GiB was asked for)"),
        "{}",
        dry.stdout
    );
    assert!(dry.stdout.contains("4096 I/Os, 16 MiB"), "{}", dry.stdout);
    once(&place.fathom(&allowed).expect(0));
    once(
        &place
            .fathom(&format!("{allowed} --numjobs 2 --stonewall"))
            .expect(0),
    );
    tool(&format!("mkfs.ext4 -q -F {path}")).expect("mkfs");
    alike(&place, &allowed, 3);
}
