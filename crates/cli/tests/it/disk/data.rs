//! What is read is what was written last, by the file and by a loop device over it. `FATHOM_DISK_ROUNDS` says how many I/Os each.

use super::served::{Served, or_skip};
use crate::harness::{Place, tool};
use fathom_testkit::{Needs, telling};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::ReadWriteFlags;
use std::fs::File;
use std::io::IoSlice;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::time::{Duration, Instant};

const SIZE: usize = 16 << 20;
const BLOCK: usize = 4096;

fn rounds() -> u64 {
    let given = std::env::var("FATHOM_DISK_ROUNDS").ok();
    given.map_or(6000, |text| text.parse().expect("FATHOM_DISK_ROUNDS: a number"))
}

/// Aligned memory for direct I/O.
struct Buffer {
    raw: Vec<u8>,
    from: usize,
}

impl Buffer {
    fn new(len: usize) -> Self {
        let raw = vec![0u8; len + BLOCK];
        let from = raw.as_ptr().align_offset(BLOCK);
        Self { raw, from }
    }

    fn bytes(&mut self, len: usize) -> &mut [u8] {
        &mut self.raw[self.from..self.from + len]
    }
}

fn open(path: &str, direct: bool) -> std::io::Result<File> {
    open_with(path, if direct { OFlags::DIRECT } else { OFlags::empty() })
}

fn open_with(path: &str, flags: OFlags) -> std::io::Result<File> {
    let mut options = File::options();
    options
        .read(true)
        .write(true)
        .custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Random reads, writes, flushes and trims of whole blocks, against an oracle.
fn against_an_oracle(path: &str, direct: bool, rounds: u64) {
    let seed = fathom_testkit::seed();
    let mut rng = fathom_core::rng::Rng::new(seed);
    let file = open(path, direct).expect("open");
    let mut oracle = vec![0u8; SIZE];
    let mut buffer = Buffer::new(16 * BLOCK);
    for round in 0..rounds {
        let blocks = 1 + rng.below(16) as usize;
        let at = rng.below((SIZE / BLOCK - blocks + 1) as u64) as usize * BLOCK;
        let len = blocks * BLOCK;
        match rng.below(20) {
            0 => file.sync_data().expect("flush"),
            1 => {
                let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                rustix::fs::fallocate(&file, punch, at as u64, len as u64).expect("trim");
                oracle[at..at + len].fill(0);
            }
            2..9 => {
                rng.fill(buffer.bytes(len));
                oracle[at..at + len].copy_from_slice(buffer.bytes(len));
                file.write_all_at(buffer.bytes(len), at as u64).expect("write");
            }
            _ => {
                file.read_exact_at(buffer.bytes(len), at as u64).expect("read");
                assert!(
                    buffer.bytes(len) == &oracle[at..at + len],
                    "seed {seed}, round {round}: {at}+{len}"
                );
            }
        }
    }
}

#[test]
fn random_io_on_the_file_agrees_with_an_oracle() {
    let test = "random_io_on_the_file_agrees_with_an_oracle";
    let place = Place::new();
    for (line, direct) in [
        ("null: --size 16MiB --at at", true),
        ("null: --size 16MiB --at at", false),
        ("null: --size 16MiB --at at --writeback", false),
        ("null: --size 16MiB --at at --backing image", true),
    ] {
        let served = or_skip!(test, Served::start(&place, line));
        against_an_oracle(served.way("file"), direct, rounds());
        served.end(0);
    }
    let image = std::fs::read(place.path("image")).expect("the backing file");
    assert!(
        image.len() == SIZE && image.iter().any(|byte| *byte != 0),
        "it keeps the data"
    );
}

#[test]
fn random_io_on_a_loop_device_agrees_with_an_oracle() {
    let test = "random_io_on_a_loop_device_agrees_with_an_oracle";
    let place = Place::new();
    let served = or_skip!(test, Served::start(&place, "null: --size 16MiB --at at --loop"));
    against_an_oracle(served.way("device"), true, rounds());
    let device = served.way("device").to_owned();
    served.end(0);
    assert!(
        tool(&format!("losetup {device}")).is_err(),
        "{device} is still there"
    );
}

#[test]
fn a_file_system_on_it_keeps_files_from_one_server_to_the_next() {
    let test = "a_file_system_on_it_keeps_files_from_one_server_to_the_next";
    let place = Place::new();
    std::fs::create_dir(place.path("mnt")).expect("a directory");
    let mount = place.path("mnt").display().to_string();
    let line =
        |more: &str| format!("null: --size 64MiB --at at --backing image --loop {more} --mount {mount}");
    let served = or_skip!(test, Served::start(&place, &line("--mkfs ext4")));
    assert_eq!(served.way("mount"), mount);
    place.write("mnt/kept", vec![5; 100_000]);
    served.end(0);
    assert!(!place.path("mnt/kept").exists(), "it is unmounted");
    let outcome = place.fathom(&format!("disk serve {}", line("--mkfs ext4")));
    outcome.expect(3).saying("image holds data");
    let allowed = line("--mkfs ext4 --allow-overwrite image");
    let outcome = place.fathom(&format!("disk serve {allowed}"));
    outcome.expect(2).saying("has a signature of ext4 already");
    let served = or_skip!(test, Served::start(&place, &line("")));
    assert_eq!(
        std::fs::read(place.path("mnt/kept")).expect("kept"),
        vec![5; 100_000]
    );
    served.end(0);
}

/// A file system that this kernel has, by its module too.
fn kernel_has(kind: &str) -> Result<(), String> {
    let _loaded = tool(&format!("modprobe {kind}"));
    let known = std::fs::read_to_string("/proc/filesystems").expect("the kernel's table");
    let found = known
        .lines()
        .any(|line| line.trim_start() == kind || line.ends_with(&format!("\t{kind}")));
    found.then_some(()).ok_or_else(|| format!("a kernel with {kind}"))
}

#[test]
fn xfs_is_made_and_keeps_files_too() {
    let test = "xfs_is_made_and_keeps_files_too";
    or_skip!(test, kernel_has("xfs"));
    let place = Place::new();
    std::fs::create_dir(place.path("mnt")).expect("a directory");
    let mount = place.path("mnt").display().to_string();
    let line = format!("null: --size 512MiB --at at --loop --mkfs xfs --mount {mount}");
    let served = or_skip!(test, Served::start(&place, &line));
    let kind = tool(&format!("findmnt -n -o FSTYPE {mount}")).expect("it is mounted");
    assert_eq!(kind, "xfs");
    place.write("mnt/kept", vec![5; 100_000]);
    tool(&format!("umount {mount}")).expect("unmount");
    tool(&format!("mount {} {mount}", served.way("device"))).expect("mount it again");
    assert_eq!(
        std::fs::read(place.path("mnt/kept")).expect("kept"),
        vec![5; 100_000]
    );
    served.end(0);
}

/// How a write asks to be on the medium when it is complete.
#[derive(Debug, Clone, Copy)]
enum Promise {
    None,
    File(OFlags),
    Call,
}

/// Writes each block once, cuts the power, and counts the blocks that are not as they were written.
fn lost_at_a_cut(served: &Served<'_>, seed: u64, flags: OFlags, promise: Promise) -> usize {
    const BLOCKS: usize = 64;
    let path = served.way("file");
    let extra = match promise {
        Promise::File(flags) => flags,
        Promise::None | Promise::Call => OFlags::empty(),
    };
    let file = open_with(path, flags | extra).expect("open");
    let mut buffer = Buffer::new(BLOCK);
    let mut rng = fathom_core::rng::Rng::new(seed);
    let mut written = vec![0; BLOCKS * BLOCK];
    rng.fill(&mut written);
    for (block, data) in written.chunks(BLOCK).enumerate() {
        let at = (block * BLOCK) as u64;
        buffer.bytes(BLOCK).copy_from_slice(data);
        if let Promise::Call = promise {
            let parts = [IoSlice::new(buffer.bytes(BLOCK))];
            let sent = rustix::io::pwritev2(&file, &parts, at, ReadWriteFlags::DSYNC);
            assert_eq!(sent, Ok(BLOCK));
        } else {
            file.write_all_at(buffer.bytes(BLOCK), at).expect("write");
        }
    }
    served.fault(&format!("power-cut seed {seed}")).expect(0);
    served.fault("attach").expect(0);
    let file = open(path, true).expect("open it again");
    let differs = |(block, data): &(usize, &[u8])| {
        file.read_exact_at(buffer.bytes(BLOCK), (*block * BLOCK) as u64)
            .expect("read");
        buffer.bytes(BLOCK) != *data
    };
    written.chunks(BLOCK).enumerate().filter(differs).count()
}

#[test]
fn a_synchronous_write_that_was_acknowledged_survives_a_power_cut() {
    let test = "a_synchronous_write_that_was_acknowledged_survives_a_power_cut";
    let place = Place::new();
    let served = or_skip!(test, Served::start(&place, "null: --size 16MiB --at at"));
    let seed = fathom_testkit::seed() % 1_000_000;
    for flags in [OFlags::DIRECT, OFlags::empty()] {
        for promise in [
            Promise::File(OFlags::DSYNC),
            Promise::File(OFlags::SYNC),
            Promise::Call,
        ] {
            let lost = lost_at_a_cut(&served, seed, flags, promise);
            assert_eq!(lost, 0, "seed {seed}, {flags:?}, {promise:?}");
        }
    }
    // A write that promises nothing is at the seed's mercy: the test can fail.
    let lost = lost_at_a_cut(&served, seed + 1, OFlags::DIRECT, Promise::None);
    assert!(lost > 10, "{lost} of 64 lost");
    served.end(0);
}

#[test]
fn a_thousand_requests_are_in_flight_at_once() {
    let test = "a_thousand_requests_are_in_flight_at_once";
    let place = Place::new();
    let served = or_skip!(test, Served::start(&place, "null: --size 16MiB --at at"));
    served.fault("stall 1h").expect(0);
    let file = served.way("file");
    let line = format!(
        "run --rw randread --bs 4k --iodepth 1000 --ioengine libaio --direct 1 --number_ios 2000 -o none -q --on {file}"
    );
    let load = crate::harness::start(&mut place.command(&line));
    let begun = Instant::now();
    let mut most = 0;
    while most < 1000 && begun.elapsed() < Duration::from_mins(1) {
        let standing = served.status();
        most = standing["disks"][0]["in_flight"].as_u64().expect("how many");
        std::thread::sleep(Duration::from_millis(50));
    }
    served.fault("heal").expect(0);
    crate::harness::finish(load).expect(0);
    assert_eq!(most, 1000);
    served.end(0);
}

#[test]
fn under_the_page_cache_writes_are_quick_and_flushing_them_takes_the_disks_time() {
    // More than a FUSE mount's own share of the page cache, but on the largest machines.
    const BYTES: usize = 96 << 20;
    let test = "under_the_page_cache_writes_are_quick_and_flushing_them_takes_the_disks_time";
    telling(test, &Needs::cpus(), || {
        let place = Place::new();
        // 25 MB a second, without credit.
        let line = "model:azure/P4,burst=empty --size 256MiB --at at --writeback";
        let served = or_skip!(test, Served::start(&place, line));
        let file = open(served.way("file"), false).expect("open");
        let data = vec![7; 1 << 20];
        let disks_time = Duration::from_secs_f64(BYTES as f64 / 25e6);
        let begun = Instant::now();
        for at in (0..BYTES).step_by(data.len()) {
            file.write_all_at(&data, at as u64).expect("write");
        }
        let written = begun.elapsed();
        file.sync_data().expect("flush");
        let flushed = begun.elapsed();
        // Whatever the machine does, the disk takes no more than its limit, and what credit it has gained since it began.
        assert!(
            flushed > disks_time.mul_f64(0.8),
            "{BYTES} bytes in {flushed:?}, the disk takes {disks_time:?}"
        );
        assert!(
            written < disks_time / 2,
            "the page cache took {BYTES} bytes in {written:?}, the disk takes {disks_time:?}"
        );
        served.end(0);
    });
}
