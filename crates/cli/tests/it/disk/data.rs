//! What is read is what was written last, by the file and by a loop device over it. `FATHOM_DISK_ROUNDS` says how many I/Os each.

use super::served::{Served, or_skip};
use crate::harness::{Place, tool};
use rustix::fs::{FallocateFlags, OFlags};
use std::fs::File;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

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
    let flags = if direct { OFlags::DIRECT } else { OFlags::empty() };
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
    outcome.expect(2).saying("has a signature of ext4 already");
    let served = or_skip!(test, Served::start(&place, &line("")));
    assert_eq!(
        std::fs::read(place.path("mnt/kept")).expect("kept"),
        vec![5; 100_000]
    );
    served.end(0);
}
