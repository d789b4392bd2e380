//! Locks that another program has: nothing of it shows at the device.

use super::bench::{Bench, Zram, ext4};
use super::cpu::during;
use super::truth::{Recorded, Truth};
use crate::harness::tool;
use crate::monotonic_ns;

/// Single writes past the page cache, at times that were set beforehand, into a file of its own.
const OWN: &str =
    "--rw randwrite --bs 4k --ioengine psync --direct 1 --rate_iops 500 --size 64m --on mnt/own";
/// How long the lock is somebody else's.
const HELD_MS: u64 = 800;

/// A copy writes over the load's own file, 32 MB a call: meanwhile nobody else may write to it.
pub(super) fn same_file(bench: &Bench) -> Result<Recorded, String> {
    let zram = Zram::new()?;
    let mounted = ext4(bench, &zram.device)?;
    let copy = format!(
        "dd if=/dev/zero of={}/own bs=32M count=1 conv=notrunc",
        mounted.path.display()
    );
    let recorded = bench.run(bench.load(OWN), |_| {
        let begun_ns = monotonic_ns();
        let copies = || {
            while monotonic_ns() < begun_ns + HELD_MS * 1_000_000 {
                tool(&copy).expect("a copy");
            }
        };
        let window = during(0, copies, || ());
        Ok(Truth {
            windows: vec![window],
            // What it wrote goes to the disk beside the load's writes.
            causes: &["lock", "competing_io"],
            guilty: &["dd"],
            slower: 10.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    recorded
}

/// The file system is frozen, as for a snapshot.
pub(super) fn frozen_file_system(bench: &Bench) -> Result<Recorded, String> {
    let zram = Zram::new()?;
    let mounted = ext4(bench, &zram.device)?;
    let freeze = |how: &str| {
        let line = format!("fsfreeze {how} {}", mounted.path.display());
        tool(&line).map(drop)
    };
    let recorded = bench.run(bench.load(OWN), |_| {
        let mut frozen = Ok(());
        let window = during(
            HELD_MS,
            || frozen = freeze("-f"),
            || freeze("-u").expect("thawed"),
        );
        frozen?;
        Ok(Truth {
            windows: vec![window],
            causes: &["lock"],
            guilty: &["fsfreeze"],
            slower: 20.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    recorded
}
