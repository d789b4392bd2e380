//! A workload given by flags, and what they are aimed at.

use crate::harness::{Place, at, count, number};

#[test]
fn flags_alone_measure_a_file() {
    let place = Place::new();
    let run = place.json(
        "run --rw randread --bs 4k --iodepth 32 --ioengine io_uring --direct 1 --size 16m --time_based --runtime 1s F \
         -o none",
    );
    assert!(number(&run, "jobs.0.read.ios") > 100.0);
    assert_eq!(std::fs::metadata(place.path("F")).expect("F").len(), 16 << 20);
    assert_eq!(at(&run, "target.files.0.path"), "F");
}

#[test]
fn a_bare_boolean_does_not_swallow_the_file_behind_it() {
    let place = Place::new();
    let run = place.json("run --size=64k --bs 4k --direct F -o none");
    assert_eq!(count(&run, "jobs.0.read.ios"), 16);
    assert_eq!(place.names(), ["F"]);
}

#[test]
fn boolean_flags_take_0_and_1_in_both_forms() {
    let place = Place::new();
    for (flag, direct) in [
        ("--direct 1", true),
        ("--direct=1", true),
        ("--direct", true),
        ("--direct=0", false),
        ("--direct 0", false),
    ] {
        let outcome = place
            .fathom(&format!("run --size 64k {flag} --dry-run --json F"))
            .expect(0);
        assert_eq!(at(&outcome.json(), "workload.jobs.0.direct"), direct, "{flag}");
    }
}

#[test]
fn flags_override_all_sections() {
    let place = Place::new();
    place.write(
        "two.fio",
        "[a]\nbs=8k\nsize=1m\n[b]\nbssplit=4k/50:16k/50\nsize=1m\nrw=write\n",
    );
    let outcome = place
        .fathom("run two.fio --bs=64k --ioengine=null --dry-run --json")
        .expect(0);
    for job in ["0", "1"] {
        let size = format!("workload.jobs.{job}.block_size_bytes.0.fixed");
        assert_eq!(count(&outcome.json(), &size), 65536);
    }
    assert_eq!(at(&outcome.json(), "workload.jobs.1.engine.kind"), "null");
}

#[test]
fn on_a_directory_files_are_made_in_it() {
    let place = Place::new();
    std::fs::create_dir(place.path("d")).expect("mkdir");
    place.write(
        "named.fio",
        "[a]\nfilename=/nowhere/at/all\nsize=64k\nrw=write\nnumjobs=2\n",
    );
    place.fathom("run named.fio --on d -o none -q").expect(0);
    for name in ["d/a.0.0", "d/a.1.0"] {
        assert_eq!(std::fs::metadata(place.path(name)).expect(name).len(), 64 << 10);
    }
}

#[test]
fn on_a_file_the_named_one_is_not_touched() {
    let place = Place::new();
    place.write("named.fio", "[a]\nfilename=N\nsize=64k\nrw=write\n");
    place.fathom("run named.fio --on F -o none -q").expect(0);
    assert_eq!(place.names(), ["F", "named.fio"]);
}

#[test]
fn on_nothing_no_file_is_made() {
    let place = Place::new();
    let run = place.json("run --rw randwrite --size 1m --bs 4k --on null: -o none");
    assert_eq!(count(&run, "jobs.0.write.ios"), 256);
    assert_eq!(at(&run, "target.description"), "nothing (the null engine)");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn a_dry_run_prints_the_workload_and_touches_nothing() {
    let place = Place::new();
    let outcome = place
        .fathom("run --rw randwrite --bs 8k --size 1g --rate_iops 100 F --dry-run")
        .expect(0);
    assert!(outcome.stdout.contains("randwrite 8 KiB"), "{}", outcome.stdout);
    assert_eq!(place.names(), Vec::<String>::new());
    let outcome = place
        .fathom("run --rw randwrite --bs 8k --size 1g F --dry-run --json")
        .expect(0);
    assert_eq!(at(&outcome.json(), "workload.jobs.0.pattern.mix"), "write");
    assert_eq!(at(&outcome.json(), "written.sections.0.name"), "command line");
    assert_eq!(place.names(), Vec::<String>::new());
}

#[test]
fn wrong_requests_are_told_and_nothing_is_touched() {
    let place = Place::new();
    for (line, expected) in [
        ("run", "nothing to do: give a job file"),
        ("run F", "nothing to do: give a job file"),
        ("run --rw randread F", "how large is F?"),
        ("run --size 1m --on model:azure/P16", "--on model:azure/P16"),
        (
            "run --size 1m --on model:m.toml",
            "cannot read the model file m.toml",
        ),
        ("run --size 1m --catalog d F", "--catalog is for modelled disks"),
        (
            "run --size 1t --on model:azure/P15 --filename a:b",
            "the modelled disk holds 256 GiB",
        ),
        ("run --size 1m --on A B", "two targets"),
        (
            "run --size 1m A B",
            "two targets: A and B (neither is named *.fio",
        ),
        (
            "run --iodeph 4 F",
            "--iodeph: error: unknown option `iodeph`; did you mean `--iodepth`?",
        ),
        ("run --dry_rum F", "did you mean `--dry-run`?"),
        ("run --rate_ 4 F", "`rate_` is the beginning of several options"),
        ("run --rw=sideways --size 1m F", "`sideways` is not a direction"),
        ("run --ioengine=rbd --size 1m F", "rbd"),
        (
            "run --size 1m --filename a F",
            "two targets: --filename a and F: give one",
        ),
        (
            "run --size 1m --rw write --filename a --on .",
            "two targets: --filename a and .: give one",
        ),
        (
            "run --size 1m --rw write --serve 9877",
            "--serve takes its value behind =",
        ),
        ("run --size 1m d/F", "the directory d does not exist"),
        (
            "run --size 1m --bs 1m --iodepth 65536 --numjobs 64 --ioengine null F",
            "64 workers need 4.00 TiB of memory = 64 × 256 KiB + 4 TiB of buffers",
        ),
        ("run --size 1m --verify crc32c --rw write --bs 16 F", "verif"),
        (
            "run --size 1m --ioengine null --cpus_allowed 999 F",
            "cpus_allowed: CPU 999 is not there",
        ),
        ("swept", "unrecognized subcommand"),
    ] {
        let outcome = place.fathom(line).expect(2).saying(expected);
        assert_eq!(outcome.stdout, "", "{line}");
        assert_eq!(place.names(), Vec::<String>::new(), "{line}");
    }
}
