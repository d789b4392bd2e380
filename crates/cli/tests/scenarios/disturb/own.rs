//! The load disturbs itself: a second section of the same run begins.

use super::bench::{Bench, PIPE};
use super::truth::{Recorded, Truth};
use crate::Window;

/// When the second section begins, and how long it runs, in seconds.
const SECOND: (u64, u64) = (3, 2);
const S: u64 = 1_000_000_000;

/// Two sections on a disk with `flags`.
fn sections(bench: &Bench, flags: &str, first: &str, second: &str, slower: f64) -> Result<Recorded, String> {
    let disk = bench.disk(flags)?;
    let (start_s, length_s) = SECOND;
    let device = &disk.device;
    let job = format!(
        "[global]\nfilename={device}\nrw=randread\ndirect=1\ntime_based=1\nioengine=libaio\n\
         [load]\nruntime=7\n{first}\n[second]\nruntime={length_s}\nstartdelay={start_s}\n{second}\n"
    );
    bench.place().write("two.fio", job);
    let command = bench.place().command("run two.fio --record -o d -q");
    let mut recorded = bench.run(command, |_| Ok(Truth::default()))?;
    let start_ns = bench.started_ns() + start_s * S;
    recorded.truth = Truth {
        windows: vec![Window {
            start_ns,
            end_ns: start_ns + length_s * S,
        }],
        causes: &["load_itself"],
        slower,
        ..Truth::default()
    };
    Ok(recorded)
}

const IOPS: &str = "--size-mib 1024 --latency-us 1000 --slice-ms 0 --iops 1000";

/// As many small reads as the disk has, beside those that were there.
pub(super) fn second_section(bench: &Bench) -> Result<Recorded, String> {
    let (first, second) = ("bs=4k\niodepth=1", "bs=4k\niodepth=16");
    sections(bench, IOPS, first, second, 5.0)
}

/// Large reads among the small ones.
pub(super) fn large_reads(bench: &Bench) -> Result<Recorded, String> {
    let (first, second) = ("bs=4k\niodepth=1", "bs=1m\niodepth=2");
    sections(bench, PIPE, first, second, 5.0)
}

/// Arrivals at set times, of which there are suddenly more than the disk takes.
pub(super) fn surge(bench: &Bench) -> Result<Recorded, String> {
    let first = "bs=4k\niodepth=8\nrate_iops=300";
    let second = "bs=4k\niodepth=32\nrate_iops=2000";
    sections(bench, IOPS, first, second, 5.0)
}
