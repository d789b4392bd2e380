//! Each call moves the bytes it says, at the place it says.

use super::*;
use crate::testing::{bytes, open, scratch, seed, skipped};
use fathom_core::rng::Rng;

type ReadCall = fn(&File, &mut [u8], u64) -> Outcome;
type WriteCall = fn(&File, &[u8], u64) -> Outcome;

type Calls = (&'static str, ReadCall, WriteCall);

const CALLS: [Calls; 4] = [
    ("pread", pread, pwrite),
    ("lseek", seek_read, seek_write),
    ("preadv", preadv, pwritev),
    (
        "preadv2",
        |file, buffer, offset| preadv2(file, buffer, offset, ReadWriteFlags::empty()),
        |file, buffer, offset| pwritev2(file, buffer, offset, ReadWriteFlags::DSYNC),
    ),
];

/// Those that the kernel has.
fn calls(test: &str) -> impl Iterator<Item = Calls> {
    let file = tempfile::tempfile().expect("a scratch file");
    CALLS.into_iter().filter(move |(name, read, _)| {
        let there = read(&file, &mut [0], 0) != Err(Errno(libc::ENOSYS));
        if !there {
            skipped(test, name);
        }
        there
    })
}

#[test]
fn round_trips() {
    let mut rng = Rng::new(seed());
    let (scratch, mut model) = scratch(&mut rng, 100_000);
    let file = open(&scratch, false).expect("open");
    for (name, read, write) in calls("sync_io::round_trips") {
        for _ in 0..200 {
            let len = 1 + (rng.next_u64() % 5_000) as usize;
            let offset = (rng.next_u64() % 95_000) as usize;
            let data = bytes(&mut rng, len);
            assert_eq!(write(&file, &data, offset as u64), Ok(len as u32), "{name}");
            model[offset..offset + len].copy_from_slice(&data);
            let offset = (rng.next_u64() % 95_000) as usize;
            let mut got = vec![0; len];
            assert_eq!(read(&file, &mut got, offset as u64), Ok(len as u32), "{name}");
            assert!(
                got == model[offset..offset + len],
                "{name}: {len} bytes at {offset}"
            );
        }
        assert_eq!(sync(&file, false), Ok(0));
        assert_eq!(sync(&file, true), Ok(0));
    }
}

#[test]
fn a_short_read_and_an_error_are_told() {
    let (scratch, _) = scratch(&mut Rng::new(1), 1000);
    let file = open(&scratch, false).expect("open");
    let read_only = File::open(scratch.path()).expect("open");
    for (name, read, write) in calls("a_short_read_and_an_error_are_told") {
        let mut buffer = [0; 600];
        assert_eq!(read(&file, &mut buffer, 900), Ok(100), "{name}");
        assert_eq!(read(&file, &mut buffer, 1000), Ok(0), "{name}");
        assert_eq!(write(&read_only, &buffer, 0), Err(Errno(libc::EBADF)), "{name}");
        assert_eq!(
            read(&file, &mut buffer, u64::MAX),
            Err(Errno(libc::EINVAL)),
            "{name}"
        );
    }
}

#[test]
fn a_trim_leaves_a_hole_of_zeros() {
    let (scratch, model) = scratch(&mut Rng::new(2), 64 << 10);
    let file = open(&scratch, false).expect("open");
    match trim(&file, 8192, 16384) {
        Err(Errno(libc::EOPNOTSUPP)) => skipped("a_trim_leaves_a_hole", "a file system that punches holes"),
        trimmed => {
            assert_eq!(trimmed, Ok(16384));
            let after = std::fs::read(scratch.path()).expect("read");
            assert_eq!(after.len(), model.len());
            assert!(after[8192..8192 + 16384].iter().all(|&byte| byte == 0));
            assert!(after[..8192] == model[..8192] && after[24576..] == model[24576..]);
        }
    }
}
