//! Another program is the victim, and `fathom record` watches its disk.

use super::bench::{Bench, FAST, PIPE, Zram, two_cpus};
use super::cpu::{bursts, stopped_for};
use super::device::{SHIFT, changed, device_did, stalling};
use super::neighbours::{blows, neighbour_did};
use super::truth::{Recorded, Truth};
use crate::culprits::{HOG, Hog};

const SINGLE: &str = "--rw=randread --bs=4k --ioengine=psync --direct=1 --size=512m --norandommap";
/// A part of CPU 1, on a disk that is CPU time of the victim's own.
const ON_CPU_1: &str = "--rw=randread --bs=256k --ioengine=psync --direct=1 --size=256m --norandommap \
                        --rate_iops=2000 --cpus_allowed=1";

pub(super) fn stalls(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(&stalling(FAST))?;
    let mut recorded = bench.watch(&disk.device, SINGLE, |_| Ok(Truth::default()))?;
    recorded.truth = device_did(disk.end(), 20.0);
    Ok(recorded)
}

pub(super) fn neighbour_guilty(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(PIPE)?;
    bench.watch(&disk.device, SINGLE, |_| {
        Ok(neighbour_did(blows(bench, &disk, (8, 1 << 20), (2, 700)), 10.0))
    })
}

pub(super) fn neighbour_innocent(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let device = disk.device.clone();
    bench.watch(&device, SINGLE, |_| {
        let windows = changed(bench, &mut disk, SHIFT, Some((2, 4096)));
        Ok(device_did(windows, 2.5))
    })
}

pub(super) fn realtime_hog(bench: &Bench) -> Result<Recorded, String> {
    two_cpus()?;
    let zram = Zram::new()?;
    let hog = Hog::on(1, &bench.path())?;
    bench.watch(&zram.device, ON_CPU_1, |_| {
        Ok(Truth {
            windows: bursts(&hog),
            causes: &["cpu_starvation"],
            guilty: &[HOG],
            slower: 5.0,
            ..Truth::default()
        })
    })
}

pub(super) fn stopped(bench: &Bench) -> Result<Recorded, String> {
    let zram = Zram::new()?;
    bench.watch(&zram.device, ON_CPU_1, |victim| {
        Ok(Truth {
            windows: vec![stopped_for(victim, 1_500)],
            causes: &["load_stopped"],
            // fio stamps in milliseconds: its I/Os at the edges seem to lie within.
            slower: 5.0,
            ..Truth::default()
        })
    })
}
