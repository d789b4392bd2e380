//! The disk itself is slow, alone or beside somebody who is there from that moment on and does no harm.

use super::bench::{Bench, FAST, PIPE, SINGLE};
use super::truth::{Recorded, Truth};
use crate::culprits::Crowd;
use crate::disk::LimitedDisk;
use crate::{Window, pause};

/// What the neighbours are called.
pub(super) const NEIGHBOUR: &str = "neighbour";

/// Neighbours: how many, and the bytes that each reads at once.
type Beside = Option<(usize, u64)>;

const ALONE: Beside = None;
const SMALL: Beside = Some((2, 4096));
const LARGE: Beside = Some((4, 65_536));

pub(super) fn device_did(windows: Vec<Window>, slower: f64) -> Truth {
    Truth {
        windows,
        causes: &["device"],
        innocent: &[NEIGHBOUR],
        slower,
        ..Truth::default()
    }
}

fn begin(bench: &Bench, disk: &LimitedDisk, beside: Beside) -> Option<Crowd> {
    let start = |(count, bytes)| Crowd::readers(&bench.path(), NEIGHBOUR, count, &disk.device, bytes);
    beside.map(start)
}

/// Stalls of 300 ms every two seconds.
pub(super) fn stalling(flags: &str) -> String {
    format!("{flags} --stall every=2s,for=300ms")
}

fn stalls_beside(bench: &Bench, beside: Beside) -> Result<Recorded, String> {
    let mut disk = bench.disk(&stalling(FAST))?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    let mut stalls = Vec::new();
    let mut recorded = bench.run(load, |_| {
        for _ in 0..3 {
            let stall = disk.next_stall();
            let there = begin(bench, &disk, beside);
            pause((stall.end_ns - stall.start_ns) / 1_000_000 + 200);
            drop(there);
        }
        Ok(Truth::default())
    })?;
    stalls.extend(disk.end());
    recorded.truth = device_did(stalls, 20.0);
    Ok(recorded)
}

pub(super) fn stalls(bench: &Bench) -> Result<Recorded, String> {
    stalls_beside(bench, ALONE)
}

pub(super) fn stalls_beside_4k(bench: &Bench) -> Result<Recorded, String> {
    stalls_beside(bench, SMALL)
}

pub(super) fn stalls_beside_64k(bench: &Bench) -> Result<Recorded, String> {
    stalls_beside(bench, LARGE)
}

/// One line changes the disk, another one puts it back, and there is somebody meanwhile.
pub(super) fn changed(
    bench: &Bench,
    disk: &mut LimitedDisk,
    [to, back]: [&str; 2],
    beside: Beside,
) -> Vec<Window> {
    let start_ns = disk.change(to);
    let there = begin(bench, disk, beside);
    pause(3_000);
    let end_ns = disk.change(back);
    drop(there);
    vec![Window { start_ns, end_ns }]
}

/// Latency from 1 to 4 ms.
pub(super) const SHIFT: [&str; 2] = ["latency-us 4000", "latency-us 1000"];

fn shift_beside(bench: &Bench, beside: Beside) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(device_did(changed(bench, &mut disk, SHIFT, beside), 2.5))
    })
}

pub(super) fn shift(bench: &Bench) -> Result<Recorded, String> {
    shift_beside(bench, ALONE)
}

pub(super) fn shift_beside_4k(bench: &Bench) -> Result<Recorded, String> {
    shift_beside(bench, SMALL)
}

pub(super) fn shift_beside_64k(bench: &Bench) -> Result<Recorded, String> {
    shift_beside(bench, LARGE)
}

/// Bandwidth from 100 to 1 MB/s.
const FALL: [&str; 2] = ["bytes-per-second 1000000", "bytes-per-second 100000000"];

pub(super) fn slow_pipe(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(PIPE)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        Ok(device_did(changed(bench, &mut disk, FALL, ALONE), 3.0))
    })
}

/// One neighbour's reads take as much of what is left of the pipe as the victim's: he may be named for his part, but the
/// larger part is the device's.
pub(super) fn slow_pipe_beside_4k(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(PIPE)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    bench.run(load, |_| {
        let windows = changed(bench, &mut disk, FALL, Some((1, 4096)));
        Ok(Truth {
            guilty: &[NEIGHBOUR],
            innocent: &[],
            ..device_did(windows, 3.0)
        })
    })
}

/// The victim's own large reads fill the pipe; small ones beside them are nothing.
pub(super) fn slow_pipe_under_large_reads(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(PIPE)?;
    let load = bench.load(&format!(
        "--rw randread --bs 64k --ioengine libaio --iodepth 8 --direct 1 --on {}",
        disk.device
    ));
    bench.run(load, |_| {
        let fall = ["bytes-per-second 10000000", FALL[1]];
        let windows = changed(bench, &mut disk, fall, Some((1, 4096)));
        Ok(device_did(windows, 3.0))
    })
}

/// Latency grows by 0.1 ms each tenth of a second, from 1 to 4 ms; it counts from 2 ms on.
pub(super) fn drift(bench: &Bench) -> Result<Recorded, String> {
    let mut disk = bench.disk(FAST)?;
    let load = bench.load(&format!("{SINGLE} --on {}", disk.device));
    let mut start_ns = 0;
    let mut recorded = bench.run(load, |_| {
        for step in 1..=30 {
            let now_ns = disk.change(&format!("latency-us {}", 1_000 + step * 100));
            if step == 10 {
                start_ns = now_ns;
            }
            pause(100);
        }
        Ok(Truth::default())
    })?;
    let end_ns = recorded.ios.iter().map(|io| io.end_ns).max().unwrap_or(start_ns);
    recorded.truth = device_did(vec![Window { start_ns, end_ns }], 2.0);
    Ok(recorded)
}
