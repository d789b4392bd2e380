//! Memory that is not there for what the load writes.

use super::bench::{Bench, DirtyLimit, ext4};
use super::cpu::during;
use super::truth::{Recorded, Truth};
use crate::culprits::Group;
use crate::harness::tool;
use crate::{Window, pause};

/// Writes through the page cache, at times that were set beforehand: 25 MB/s.
const BUFFERED: &str = "--rw write --bs 64k --ioengine psync --rate_iops 400 --size 256m --on mnt/own";
/// A disk that is slower than that.
const SLOW: &str = "--size-mib 1024 --latency-us 500 --slice-ms 0 --bytes-per-second 12000000";

/// Room beyond what the load's own pages take, so that it is not killed.
const ROOM_BYTES: u64 = 16 << 20;

/// The load's control group gets a limit that leaves its pages of the file no room.
pub(super) fn reclaim(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(SLOW)?;
    disk.change("bytes-per-second 400000000");
    let mounted = ext4(bench, &disk.device)?;
    let group = Group::of("memory")?;
    let recorded = bench.run(group.around(&bench.load(BUFFERED)), |_| {
        let own = group.number("memory.stat", "total_rss ").ok_or("memory.stat")?;
        let limit = (own + ROOM_BYTES).to_string();
        // What is dirty cannot be taken away, and leaves only as fast as the disk takes it.
        for _ in 0..20 {
            tool(&format!("sync -f {}", mounted.path.display()))?;
            if group.set("memory.limit_in_bytes", &limit).is_ok() {
                break;
            }
        }
        let start_ns = disk.change("bytes-per-second 12000000");
        pause(2_500);
        group.set("memory.limit_in_bytes", "-1")?;
        let end_ns = disk.change("bytes-per-second 400000000");
        Ok(Truth {
            windows: vec![Window { start_ns, end_ns }],
            causes: &["memory"],
            // What prepares it: a commit that may still be under way, and the disk's own server, which has a CPU for it.
            guilty: &["sync", "fuser-0"],
            slower: 20.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    recorded
}

/// The disk's share of dirty pages is used up by the load itself, which waits for its own writeback.
pub(super) fn own_dirty_limit(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(SLOW)?;
    disk.change("bytes-per-second 400000000");
    let mounted = ext4(bench, &disk.device)?;
    disk.change("bytes-per-second 12000000");
    let mut limit = None;
    let recorded = bench.run(bench.load(BUFFERED), |_| {
        let window = during(
            2_500,
            || limit = Some(DirtyLimit::of(disk.name(), 8 << 20)),
            || (),
        );
        limit.take().ok_or("a limit")??;
        Ok(Truth {
            windows: vec![window],
            causes: &["load_itself", "memory"],
            slower: 20.0,
            ..Truth::default()
        })
    });
    drop(mounted);
    recorded
}
