//! When the disk, the file or the data let the run down: a clear error, and the results are kept.

use crate::harness::{Mount, Place, at, count, finish, number, skipped, start, tool};
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

/// A small ext4 file system, or why there is none.
fn small_disk(place: &Place) -> Result<Mount, String> {
    let image = place.write("image", b"");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&image)
        .expect("the image");
    file.set_len(16 << 20).expect("its size");
    tool(&format!("mkfs.ext4 -q -F {}", image.display()))?;
    Mount::new(place, &format!("-o loop {}", image.display()))
}

#[test]
fn a_disk_that_fills_up_ends_the_job_and_keeps_its_results() {
    let place = Place::new();
    let _disk = match small_disk(&place) {
        Ok(disk) => disk,
        Err(missing) => {
            return skipped(
                "a_disk_that_fills_up_ends_the_job_and_keeps_its_results",
                &missing,
            );
        }
    };
    let line = "run --rw write --bs 64k --size 64m --fallocate none --on mnt --name j --end_fsync 1 -o d";
    let outcome = place.fathom(line).expect(1);
    assert!(
        outcome.stdout.contains("No space left on device"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("mnt/j.0.0"), "{}", outcome.stdout);
    let run = place.fathom("show d --json").expect(0).json();
    assert!(number(&run, "jobs.0.write.ios") > 10.0);
    assert_eq!(at(&run, "jobs.0.errors.0.errno"), 28);
    let remedy = at(&run, "remedies.0.remedy").to_string();
    assert!(
        remedy.contains("full after") && remedy.contains("fallocate"),
        "{remedy}"
    );
}

#[test]
fn a_file_that_does_not_fit_is_told_before_the_run_and_removed() {
    let place = Place::new();
    let disk = match small_disk(&place) {
        Ok(disk) => disk,
        Err(missing) => {
            return skipped(
                "a_file_that_does_not_fit_is_told_before_the_run_and_removed",
                &missing,
            );
        }
    };
    let outcome = place
        .fathom("run --rw read --bs 64k --size 64m --on mnt --name j -o none")
        .expect(1);
    outcome
        .saying("cannot make mnt/j.0.0 ready: No space left on device")
        .saying("Make room")
        .saying("What was begun of it was undone");
    assert!(!disk.path.join("j.0.0").exists());
    // The first file fits, and stays.
    let outcome = place
        .fathom("run --rw read --bs 64k --size 20m --nrfiles 2 --on mnt --name k -o none")
        .expect(1);
    let outcome = if disk.path.join("k.0.0").exists() {
        outcome.saying("What was written before stays: mnt/k.0.0 (10 MiB)")
    } else {
        outcome
    };
    outcome.saying("No space left on device");
}

#[test]
fn a_missing_directory_is_told() {
    let place = Place::new();
    place.write("a.fio", "[a]\ndirectory=/nowhere/at/all\nsize=1m\nrw=write\n");
    place
        .fathom("run a.fio")
        .expect(2)
        .saying("the directory /nowhere/at/all does not exist");
    assert_eq!(place.names(), ["a.fio"]);
}

#[test]
fn a_file_that_shrinks_under_the_run_ends_it_with_an_error() {
    for engine in ["psync", "io_uring", "mmap"] {
        let place = Place::new();
        let line = format!(
            "run --rw randread --bs 4k --size 8m --ioengine {engine} --runtime 20s --time_based F --json -q -o none"
        );
        let child = start(&mut place.command(&line));
        let file = place.path("F");
        // Wait for the whole file, then for the run to be under way.
        while std::fs::metadata(&file).map_or(0, |metadata| metadata.len()) < 8 << 20 {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(1));
        let open = std::fs::OpenOptions::new().write(true).open(&file).expect("F");
        open.set_len(4096).expect("shrink");
        let run = finish(child).expect(1).json();
        assert!(number(&run, "jobs.0.read.ios") > 0.0, "{engine}");
        let message = at(&run, "jobs.0.errors.0.message").to_string();
        // A mapping cannot tell a missing page from a broken disk.
        let expected = if engine == "mmap" {
            "Input/output error"
        } else {
            "it shrank while the run went on"
        };
        assert!(message.contains(expected), "{engine}: {message}");
        assert_eq!(at(&run, "jobs.0.errors.0.path"), "F");
    }
}

#[test]
fn verification_finds_a_flipped_bit() {
    let place = Place::new();
    let flags = "--rw write --bs 4k --size 256k --verify crc32c --direct 1 F -o none";
    place.fathom(&format!("run {flags} -q")).expect(0);
    let check = format!("run {flags} --verify_only --json -q");
    place.fathom(&check).expect(0);
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(place.path("F"))
        .expect("F");
    let at_byte = 17 * 4096 + 2000;
    let mut byte = [0];
    file.seek(SeekFrom::Start(at_byte)).expect("seek");
    file.read_exact(&mut byte).expect("read");
    file.seek(SeekFrom::Start(at_byte)).expect("seek");
    file.write_all(&[byte[0] ^ 1]).expect("write");
    file.sync_all().expect("sync");
    let run = place.fathom(&check).expect(1).json();
    assert_eq!(at(&run, "jobs.0.errors.0.what"), "verify");
    assert_eq!(count(&run, "jobs.0.errors.0.offset_bytes"), 69632);
}

#[test]
fn direct_io_where_there_is_none_is_told_with_a_remedy() {
    let place = Place::new();
    // A file system without direct I/O: proc has files, but none that can be written; ramfs has neither.
    let _ramfs = match Mount::new(&place, "-t ramfs ramfs") {
        Ok(mount) => mount,
        Err(missing) => return skipped("direct_io_where_there_is_none_is_told_with_a_remedy", &missing),
    };
    let outcome = place.fathom("run --rw read --bs 4k --size 1m --direct 1 --on mnt --name j -o d");
    if outcome.code == Some(0) {
        return skipped(
            "direct_io_where_there_is_none_is_told_with_a_remedy",
            "ramfs takes O_DIRECT here",
        );
    }
    // The file was laid out by then, and stays.
    outcome.expect(1).saying("open with O_DIRECT").saying("direct=0");
    assert!(
        !place.path("d").exists(),
        "a run that did not start leaves no record"
    );
}

#[test]
fn a_run_directory_that_cannot_be_made_is_told_before_the_run() {
    let place = Place::new();
    place.write("file", "x");
    place
        .fathom("run --size 1m --on null: -o file")
        .expect(2)
        .saying("cannot make the run directory file");
    std::fs::create_dir(place.path("full")).expect("mkdir");
    place.write("full/x", "x");
    place
        .fathom("run --size 1m F -o full")
        .expect(2)
        .saying("is not empty");
    assert_eq!(place.names(), ["file", "full"]);
}

#[test]
fn a_record_that_does_not_fit_is_told_and_the_report_comes_all_the_same() {
    let test = "a_record_that_does_not_fit_is_told_and_the_report_comes_all_the_same";
    let line = "run --rw randread --bs 4k --size 1m --ioengine null --runtime 1s --time_based F -q -o mnt/d";
    let place = Place::new();
    let disk = match Mount::new(&place, "-t tmpfs -o size=8k tmpfs") {
        Ok(disk) => disk,
        Err(missing) => return skipped(test, &missing),
    };
    place
        .fathom(line)
        .expect(2)
        .saying("No space left on device")
        .saying("-o");
    assert!(
        !disk.path.join("d").exists(),
        "nothing was measured: nothing is left"
    );
    drop(disk);
    let _disk = Mount::new(&place, "-t tmpfs -o size=24k tmpfs").expect("mount again");
    let outcome = place.fathom(line).expect(1).saying("No space left on device");
    assert!(
        outcome.stdout.contains("the record is incomplete"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("IOPS"), "{}", outcome.stdout);
}
