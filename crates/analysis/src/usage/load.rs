//! The table of what a load itself measured: its rates at the disk, what was in flight, what failed.
//!
//! Data in: readings, the limits that are known. Data out: a [`Usage`]. A rate that stays where it is is no limit here: a load that sends
//! as it is answered keeps its rate anyway.

use super::scan::Track;
use super::{Resource, Usage, verdict};
use crate::explain::KnownDisk;

/// What a load did in a second, or at a point of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LoadReading {
    pub ios_per_second: f64,
    pub bytes_per_second: f64,
    /// On average.
    pub in_flight: f64,
    /// I/Os that failed.
    pub errors: u64,
}

impl Usage {
    /// Of a load on a disk, a reading each `step_ns`; what else there is of the machine, unless it is a modelled one, is said not to be
    /// counted.
    pub fn of_load(
        disk: &str,
        readings: &[LoadReading],
        step_ns: u64,
        known: &[KnownDisk],
        modelled: bool,
    ) -> Self {
        let track =
            |of: fn(&LoadReading) -> f64| Track::of(readings.iter().map(|one| of(one) as f32).collect());
        let own: Vec<KnownDisk> = known.iter().filter(|known| known.own).cloned().collect();
        let load = verdict::Load {
            ios: track(|one| one.ios_per_second),
            bytes: track(|one| one.bytes_per_second),
            in_flight: track(|one| one.in_flight),
            errors: track(|one| one.errors as f64),
        };
        let mut rows = verdict::load(&Resource::Disk(disk.to_owned()), &load, &own);
        if !modelled {
            rows.extend(verdict::not_counted());
        }
        Self {
            rows,
            readings: readings.len() as u64,
            step_ns,
            ..Self::default()
        }
    }
}
