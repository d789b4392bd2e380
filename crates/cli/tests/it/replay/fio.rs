//! fio's own logs play here, and ours there.

use crate::harness::{Place, count, skipped, tool};
use serde_json::Value;

/// Runs fio, and gives what it moved: I/Os of read, write, sync.
fn fio(place: &Place, flags: &str) -> [u64; 3] {
    let output = std::process::Command::new("fio")
        .args(["--name=j", "--output-format=json", "--eta=never", "--thread"])
        .args(flags.split_whitespace())
        .current_dir(place.path(""))
        .output()
        .expect("fio");
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text
        .find('{')
        .unwrap_or_else(|| panic!("{flags}: {}", String::from_utf8_lossy(&output.stderr)));
    let document: Value = serde_json::from_str(&text[start..]).expect("JSON");
    ["read", "write", "sync"].map(|op| count(&document, &format!("jobs.0.{op}.total_ios")))
}

fn played(run: &Value) -> [u64; 3] {
    ["read", "write", "sync"].map(|op| count(run, &format!("jobs.0.{op}.ios")))
}

#[test]
fn what_fio_wrote_plays_here() {
    if let Err(missing) = tool("fio --version") {
        return skipped("what_fio_wrote_plays_here", &missing);
    }
    let place = Place::new();
    let theirs = fio(
        &place,
        "--rw=randrw --bs=4k --size=8m --filename=A:B --nrfiles=2 --ioengine=psync --fsync=20 --rate_iops=1000 \
         --number_ios=400 --write_iolog=theirs.log",
    );
    assert!(theirs.iter().all(|&ios| ios > 0), "{theirs:?}");
    let ours = place.json("replay theirs.log --on F -o run --buffered --engine psync");
    assert_eq!(played(&ours), theirs, "on a file");
    let modelled = place.json("replay theirs.log --on model:azure/P30 -o none");
    assert_eq!(played(&modelled), theirs, "on a modelled disk");
    assert_eq!(modelled["jobs"][0]["replay"]["start_error_ns"]["max"], 0);
    // Both files lie on the target, one behind the other.
    let size = std::fs::metadata(place.path("F")).expect("the file").len();
    assert!((4 << 20..=8 << 20).contains(&size), "{size}");
}

#[test]
fn what_we_export_plays_in_fio() {
    if let Err(missing) = tool("fio --version") {
        return skipped("what_we_export_plays_in_fio", &missing);
    }
    let place = Place::new();
    place.write("data", vec![7; 4 << 20]);
    let path = place.path("data").display().to_string();
    let load = format!(
        "[mix]\nrw=randrw\nbs=4k\nioengine=libaio\niodepth=4\ndirect=1\nrate_iops=200\nfsync=16\ntime_based\nruntime=1s\n\
         filename={path}\nsize=4m\n"
    );
    place.write("mix.fio", &load);
    let run = place.json(&format!(
        "run --record=io -o run mix.fio --allow-overwrite {path}"
    ));
    let counted = played(&run);
    assert!(
        counted[0] > 100 && counted[1] > 100 && counted[2] > 5,
        "{counted:?}"
    );
    for version in ["3", "2"] {
        let log = format!("ours{version}.log");
        place
            .fathom(&format!("export run --iolog {log} --iolog-version {version}"))
            .expect(0);
        let theirs = fio(&place, &format!("--read_iolog={log} --ioengine=psync"));
        assert_eq!(theirs, counted, "version {version} in fio");
        let again = place.json(&format!(
            "replay {log} --on F{version} -o none --buffered --engine psync"
        ));
        assert_eq!(played(&again), counted, "version {version} here");
    }
    place
        .fathom("export run --iolog ours3.log")
        .expect(3)
        .saying("--force");
    let text = place.fathom("export run --iolog -").expect(0).stdout;
    assert_eq!(
        text,
        std::fs::read_to_string(place.path("ours3.log")).expect("a log")
    );
}

/// A run of several workers with a file each: each file keeps its own I/Os.
#[test]
fn each_file_keeps_its_own() {
    let place = Place::new();
    let load = "[two]\nrw=read\nbs=64k\niodepth=1\nnumjobs=2\nnrfiles=2\n";
    place.write("two.fio", format!("{load}size=1m\ndirect=1\n"));
    place
        .fathom("run -q --record -o two --on model:azure/P10 two.fio")
        .expect(0);
    let text = place.fathom("export two --iolog -").expect(0).stdout;
    for file in ["two.0.0", "two.0.1", "two.1.0", "two.1.1"] {
        let ios = text
            .lines()
            .filter(|line| line.contains(&format!("{file} read")))
            .count();
        assert_eq!(ios, 8, "{file} of\n{text}");
    }
    let replay = place.json("replay two --on model:azure/P10 -o none");
    assert_eq!(replay["target"]["files"][0]["size_bytes"], 2 << 20);
}
