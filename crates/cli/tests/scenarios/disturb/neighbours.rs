//! Others use the same disk, or another one.

use super::bench::{Bench, DirtyLimit, FAST, PIPE, SINGLE, ext4};
use super::device::{NEIGHBOUR, SHIFT, changed, device_did};
use super::truth::{Recorded, Truth};
use crate::culprits::Crowd;
use crate::disk::LimitedDisk;
use crate::harness::Place;
use crate::{Window, pause};
use std::fs;

pub(super) fn neighbour_did(windows: Vec<Window>, slower: f64) -> Truth {
    Truth {
        windows,
        causes: &["competing_io"],
        guilty: &[NEIGHBOUR],
        slower,
        ..Truth::default()
    }
}

/// `count` read blocks of `bytes`, `times` times for `length_ms`.
pub(super) fn blows(
    bench: &Bench,
    disk: &LimitedDisk,
    (count, bytes): (usize, u64),
    (times, length_ms): (u32, u64),
) -> Vec<Window> {
    let blow = |_| {
        let crowd = Crowd::readers(&bench.path(), NEIGHBOUR, count, &disk.device, bytes);
        pause(length_ms);
        let window = crowd.end();
        pause(800);
        window
    };
    (0..times).map(blow).collect()
}

pub(super) fn big_reads(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(PIPE)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(neighbour_did(blows(bench, &disk, (8, 1 << 20), (2, 700)), 10.0))
    })
}

pub(super) fn bursts_of_256k(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(PIPE)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(neighbour_did(blows(bench, &disk, (4, 1 << 18), (4, 200)), 3.0))
    })
}

/// The disk is limited in I/Os a second.
pub(super) fn many_4k(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk("--size-mib 2048 --latency-us 1000 --slice-ms 0 --iops 1000")?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(neighbour_did(blows(bench, &disk, (8, 4096), (1, 3_000)), 3.0))
    })
}

/// Reads of a file of its own on a file system.
const OF_A_FILE: &str = "--rw randread --bs 4k --ioengine psync --direct 1 --size 32m --on mnt/own";

/// Somebody writes another file of the same file system, and kernel workers carry that to the disk.
pub(super) fn writeback(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(PIPE)?;
    let mounted = ext4(bench, &disk.device)?;
    let limit = DirtyLimit::of(disk.name(), 16 << 20)?;
    let recorded = bench.run(bench.load(OF_A_FILE), |_| {
        let words = |_| dd(bench, "other", &["bs=1M", "count=1500"]);
        let writer = Crowd::start(&bench.path(), "writer", "/bin/dd", 1, words);
        pause(2_500);
        Ok(Truth {
            windows: vec![writer.end()],
            causes: &["competing_io"],
            guilty: &["writer"],
            slower: 3.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    drop(limit);
    recorded
}

fn dd(bench: &Bench, file: &str, more: &[&str]) -> Vec<String> {
    let to = bench.place().path("mnt").join(file);
    let mut words = vec!["if=/dev/zero".to_owned(), format!("of={}", to.display())];
    words.extend(more.iter().map(|&word| word.to_owned()));
    words
}

/// Four others append to files and have each 4 KiB on the disk before the next.
pub(super) fn fsync_storm(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk("--size-mib 1024 --latency-us 500 --slice-ms 0 --iops 1500")?;
    let mounted = ext4(bench, &disk.device)?;
    let line = "--rw randwrite --bs 4k --ioengine psync --fsync 1 --size 16m --on mnt/own";
    let recorded = bench.run(bench.load(line), |_| {
        let words = |number: usize| {
            dd(
                bench,
                &format!("log{number}"),
                &["bs=4k", "count=100000", "oflag=sync"],
            )
        };
        let storm = Crowd::start(&bench.path(), "syncer", "/bin/dd", 6, words);
        pause(2_500);
        Ok(Truth {
            windows: vec![storm.end()],
            causes: &["competing_io", "flush_or_journal"],
            guilty: &["syncer"],
            slower: 2.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    recorded
}

/// Somebody discards 400 MB, twice, on a disk that passes 1 GB/s of that and nothing else meanwhile.
pub(super) fn discard(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(&format!("{PIPE} --discard-bytes-per-second 1000000000"))?;
    let most = fs::read_to_string(format!("/sys/block/{}/queue/discard_max_bytes", disk.name()));
    if !most.is_ok_and(|most| most.trim() != "0") {
        return Err("a loop device that discards".to_owned());
    }
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        let blow = |number: u64| {
            let words = |_| {
                [
                    "-f",
                    "-o",
                    &format!("{}", (1 + number) << 29),
                    "-l",
                    "419430400",
                    &disk.device,
                ]
                .map(str::to_owned)
                .to_vec()
            };
            let crowd = Crowd::start(&bench.path(), "blkdiscard", BLKDISCARD, 1, words);
            let window = crowd.wait();
            pause(900);
            window
        };
        Ok(Truth {
            windows: (0..2).map(blow).collect(),
            causes: &["competing_io"],
            guilty: &["blkdiscard"],
            slower: 20.0,
            ..Truth::default()
        })
    })
}

const BLKDISCARD: &str = "/usr/sbin/blkdiscard";

/// One who was there before the load, and all along.
pub(super) fn all_along(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    let there = Crowd::readers(&bench.path(), NEIGHBOUR, 1, &disk.device, 4096);
    let recorded = bench.run(load, |_| {
        Ok(device_did(changed(bench, &mut disk, SHIFT, None), 2.5))
    });
    drop(there);
    recorded
}

/// One who reads another disk from the moment on at which this one is slow.
pub(super) fn on_another_disk(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let elsewhere = Place::below(bench.place().path("elsewhere"));
    let other = LimitedDisk::start(&elsewhere, FAST)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        let start_ns = disk.change(SHIFT[0]);
        let there = Crowd::readers(&bench.path(), NEIGHBOUR, 4, &other.device, 65_536);
        pause(3_000);
        let end_ns = disk.change(SHIFT[1]);
        drop(there);
        Ok(device_did(vec![Window { start_ns, end_ns }], 2.5))
    })
}
