//! Size-bound jobs move exactly what fio moves.
//!
//! The same flags are given to fio and to fathom, each in its own directory; I/Os and bytes of each direction must
//! be the same. Of a mix the total must be, and the split lie within five standard deviations.

use crate::harness::{Place, number, skipped, tool};
use serde_json::Value;

/// I/Os and bytes: read, write, trim.
type Totals = [(u64, u64); 3];

const OPS: [&str; 3] = ["read", "write", "trim"];

fn fathom(place: &Place, flags: &str) -> Totals {
    let run = place.json(&format!("run --name=j {flags} -o none"));
    totals(&run, "ios", "bytes")
}

fn fio(place: &Place, flags: &str) -> Result<Totals, String> {
    let words = flags.split_whitespace();
    let output = std::process::Command::new("fio")
        .args(["--name=j", "--output-format=json", "--thread", "--eta=never"])
        .args(words)
        .current_dir(place.path(""))
        .output()
        .map_err(|error| format!("fio: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // fio puts its notes before the document.
    let start = text
        .find('{')
        .ok_or_else(|| format!("{flags}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let document: Value =
        serde_json::from_str(&text[start..]).map_err(|error| format!("{flags}: {error}"))?;
    Ok(totals(&document, "total_ios", "io_bytes"))
}

fn totals(document: &Value, ios: &str, bytes: &str) -> Totals {
    let jobs = document["jobs"].as_array().expect("jobs").len();
    OPS.map(|op| {
        let sum = |key: &str| {
            let of = |job| number(document, &format!("jobs.{job}.{op}.{key}")) as u64;
            (0..jobs).map(of).sum()
        };
        (sum(ios), sum(bytes))
    })
}

fn check(test: &str, table: &[&str]) {
    if let Err(missing) = tool("fio --version") {
        return skipped(test, &missing);
    }
    let mut wrong = Vec::new();
    for flags in table {
        let (ours, theirs) = (Place::new(), Place::new());
        let expected = fio(&theirs, flags).expect("fio");
        let found = fathom(&ours, flags);
        if found != expected {
            wrong.push(format!("{flags}\n  fathom {found:?}\n  fio    {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sizes_offsets_and_amounts_are_as_with_fio() {
    check(
        "sizes_offsets_and_amounts_are_as_with_fio",
        &[
            "--rw=read --bs=4k --size=1m --filename=F",
            "--rw=write --bs=64k --size=1000k --filename=F",
            "--rw=randread --bs=4k --size=1m --filename=F --norandommap",
            "--rw=randwrite --bs=7k --size=1m --filename=F",
            "--rw=read --bs=4k --size=1m --io_size=300k --filename=F",
            "--rw=write --bs=4k --size=256k --io_size=1m --filename=F",
            "--rw=randread --bs=4k --size=256k --io_size=1m --filename=F",
            "--rw=write --bs=4k --size=1m --offset=128k --filename=F",
            "--rw=write:8k --bs=4k --size=256k --filename=F",
            "--rw=write:4k --bs=4k --size=1m --filename=F",
            "--rw=read:12k --bs=8k --size=1m --filename=F",
        ],
    );
}

#[test]
fn loops_counts_and_files_are_as_with_fio() {
    check(
        "loops_counts_and_files_are_as_with_fio",
        &[
            "--rw=read --bs=4k --size=256k --loops=3 --filename=F",
            "--rw=write --bs=4k --size=1m --number_ios=37 --filename=F",
            "--rw=randwrite --bs=8k --size=1m --number_ios=1000 --filename=F",
            "--rw=write --bs=4k --size=1m --nrfiles=4",
            "--rw=randread --bs=4k --size=1m --nrfiles=3",
            "--rw=write --bs=4k --size=512k --numjobs=3",
            "--rw=write --bs=16k --size=512k --numjobs=2 --offset_increment=512k --filename=F",
            "--rw=write --bs=4k --filesize=64k --nrfiles=2",
        ],
    );
}

#[test]
fn engines_depths_syncs_and_verification_are_as_with_fio() {
    check(
        "engines_depths_syncs_and_verification_are_as_with_fio",
        &[
            "--rw=randwrite --bs=4k --size=1m --ioengine=libaio --iodepth=16 --direct=1 --filename=F",
            "--rw=read --bs=128k --size=4m --ioengine=mmap --filename=F",
            "--rw=write --bs=4k --size=256k --fsync=8 --filename=F",
            "--rw=write --bs=4k --size=256k --verify=crc32c --filename=F",
            "--rw=randwrite --bs=8k --size=256k --verify=md5 --ioengine=libaio --iodepth=4 --filename=F",
            "--rw=read --bs=4k --size=1m --zero_buffers --invalidate=0 --filename=F",
            "--rw=randwrite --bs=4k --size=256k --fdatasync=4 --sync=dsync --filename=F",
            "--rw=write --bs=4k --size=1m --end_fsync=1 --ioengine=pvsync2 --filename=F",
        ],
    );
}

#[test]
fn trims_of_a_file_are_as_with_fio() {
    // fio trims block devices only; a loop device stands for one.
    let place = Place::new();
    let device = match crate::harness::LoopDevice::new(&place, 8 << 20) {
        Ok(device) => device,
        Err(missing) => return skipped("trims_of_a_file_are_as_with_fio", &missing),
    };
    let flags = format!("--rw=trim --bs=64k --size=4m --filename={}", device.path);
    let expected = match fio(&place, &flags) {
        Ok(expected) => expected,
        Err(missing) => return skipped("trims_of_a_file_are_as_with_fio", &missing),
    };
    let found = fathom(&place, &format!("{flags} --allow-overwrite {}", device.path));
    assert_eq!(found, expected);
}

/// A mix of sizes ends when the bytes are done: how many I/Os that takes is chance.
#[test]
fn mixes_of_sizes_move_the_same_bytes() {
    if let Err(missing) = tool("fio --version") {
        return skipped("mixes_of_sizes_move_the_same_bytes", &missing);
    }
    for flags in [
        "--rw=write --bssplit=4k/50:16k/50 --size=4m --filename=F",
        "--rw=write --bsrange=4k-64k --size=4m --filename=F",
    ] {
        let expected = fio(&Place::new(), flags).expect("fio");
        let found = fathom(&Place::new(), flags);
        // The last blocks of the region may not fit any more.
        let slack = 64 << 10;
        assert!(
            found[1].1.abs_diff(expected[1].1) <= slack,
            "{flags}: {found:?} {expected:?}"
        );
        let (ours, theirs) = (found[1].0 as f64, expected[1].0 as f64);
        assert!(
            (ours / theirs - 1.0).abs() < 0.35,
            "{flags}: {found:?} {expected:?}"
        );
    }
}

#[test]
fn mixes_of_directions_have_the_same_total_and_the_share_asked_for() {
    if let Err(missing) = tool("fio --version") {
        return skipped(
            "mixes_of_directions_have_the_same_total_and_the_share_asked_for",
            &missing,
        );
    }
    for (percent, flags) in [
        (50.0, "--rw=randrw --bs=4k --size=4m --filename=F"),
        (70.0, "--rw=rw --bs=4k --size=4m --rwmixread=70 --filename=F"),
        (
            90.0,
            "--rw=randrw --bs=4k --size=4m --rwmixwrite=10 --filename=F --ioengine=libaio --iodepth=8",
        ),
    ] {
        let expected = fio(&Place::new(), flags).expect("fio");
        let found = fathom(&Place::new(), flags);
        let ios = |totals: &Totals| totals[0].0 + totals[1].0;
        let bytes = |totals: &Totals| totals[0].1 + totals[1].1;
        assert_eq!(
            (ios(&found), bytes(&found)),
            (ios(&expected), bytes(&expected)),
            "{flags}"
        );
        let n = ios(&found) as f64;
        let share: f64 = percent / 100.0;
        let deviation = (n * share * (1.0 - share)).sqrt();
        let off = (found[0].0 as f64 - n * share).abs();
        assert!(off <= 5.0 * deviation, "{flags}: {} reads of {n}", found[0].0);
    }
}
