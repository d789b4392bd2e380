//! Nothing is done to the load, but others are busy.

use super::bench::{Bench, FAST, two_cpus};
use super::device::NEIGHBOUR;
use super::truth::{Recorded, Truth};
use crate::culprits::{Crowd, HOG};
use crate::disk::LimitedDisk;
use crate::harness::Place;
use crate::pause;
use std::env;

/// How long, in seconds, unless `FATHOM_DISTURB_QUIET_S` says otherwise: 600 is a soak.
const QUIET_S: u64 = 10;
/// What is before and after the busy times.
const IDLE_S: u64 = 4;

/// A hog has another CPU, in turns, and readers have another disk. The disk answers after 5 ms, beside which it does not show
/// that it is a process, which now and then waits for a CPU.
pub(super) fn busy_innocents(bench: &Bench) -> Result<Recorded, String> {
    two_cpus()?;
    let disk = bench.disk("--size-mib 512 --latency-us 5000 --slice-ms 0")?;
    let elsewhere = Place::below(bench.place().path("elsewhere"));
    let other = LimitedDisk::start(&elsewhere, FAST)?;
    let given = env::var("FATHOM_DISTURB_QUIET_S").ok();
    let seconds = given.map_or(QUIET_S, |text| {
        text.parse().expect("FATHOM_DISTURB_QUIET_S: seconds")
    });
    let line = format!(
        "--rw randread --bs 4k --iodepth 2 --ioengine libaio --direct 1 --cpus_allowed 1 --on {}",
        disk.device
    );
    bench.run(bench.load_for(seconds, &line), |_| {
        for _ in 0..seconds.saturating_sub(IDLE_S) / 2 {
            let hog = Crowd::busy(&bench.path(), HOG, 1, 0);
            let readers = Crowd::readers(&bench.path(), NEIGHBOUR, 2, &other.device, 65_536);
            pause(1_500);
            drop(hog);
            drop(readers);
            pause(500);
        }
        Ok(Truth {
            innocent: &[HOG, NEIGHBOUR],
            ..Truth::default()
        })
    })
}
