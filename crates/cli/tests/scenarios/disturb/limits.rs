//! Limits: some hold the load back, some are only there.

use super::bench::{Bench, FAST, SINGLE};
use super::cpu::during;
use super::device::{NEIGHBOUR, SHIFT, changed, device_did};
use super::neighbours::blows;
use super::truth::{Recorded, Truth};
use crate::culprits::{Group, Throttle};
use std::fs;

const READ_IOPS: &str = "blkio.throttle.read_iops_device";

/// 100 reads a second, for two seconds.
pub(super) fn throttle_switched_on(bench: &Bench) -> Result<Recorded, String> {
    let disk = bench.disk(FAST)?;
    let id = fs::read_to_string(format!("/sys/class/block/{}/dev", disk.name()));
    let id = id.map_err(|error| error.to_string())?;
    let group = Group::of("blkio")?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(group.around(&load), |_| {
        let set = |iops: u32| {
            let limit = format!("{} {iops}", id.trim());
            group.set(READ_IOPS, &limit).expect("a limit");
        };
        Ok(Truth {
            windows: vec![during(2_000, || set(100), || set(0))],
            causes: &["cgroup_throttle"],
            slower: 4.0,
            ..Truth::default()
        })
    })
}

/// Ten times as many as the load asks for, while the device is slow.
pub(super) fn throttle_that_does_not_bind(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let throttle = Throttle::reads(disk.name(), 10_000)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(throttle.around(&load), |_| {
        Ok(device_did(changed(bench, &mut disk, SHIFT, None), 2.5))
    })
}

/// Four requests may be on their way, and a crowd has them.
pub(super) fn tags_taken(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk("--size-mib 2048 --latency-us 3000 --slice-ms 0")?;
    disk.set("nr_requests", "4")?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(Truth {
            windows: blows(bench, &disk, (24, 4096), (1, 2_500)),
            causes: &["kernel_queue", "competing_io"],
            guilty: &[NEIGHBOUR],
            slower: 3.0,
            ..Truth::default()
        })
    })
}
