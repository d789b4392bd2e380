//! Disks that are served live: how they stand, as metrics and as an event a second.
//!
//! Data in: a server's status. Data out: families, events. What whoever uses the disks asks of them comes as rows, as a load's does.

use super::{Credit, Hub, Served, unit};
use crate::exposition::{Family, Value};
use crate::metric::{self, Metric};
use fathom_core::histogram::Histogram;
use fathom_core::served::{DiskStatus, LimitStatus, Status};
use fathom_core::units::Nanos;
use serde::Serialize;
use std::borrow::Cow;

/// What a disk's limits are called that all of them share: no disk has a space in its name.
const ALL: &str = "all disks";
/// From this share of the time of I/Os on, limits are what held them.
const THROTTLED_PERCENT: f64 = 10.0;
/// What a fault held comes out some time after its end.
const FAULT_LASTS_NS: u64 = 2_000_000_000;

/// How the disks stand, for who looks.
#[derive(Debug, Serialize)]
struct ServedEvent<'a> {
    /// Seconds since the disks are served.
    t: f64,
    status: &'a Status,
}

impl Hub {
    /// Takes how disks stand that are served live, and how late all answers were so far, in nanoseconds.
    pub fn served(&self, status: Status, lateness_ns: Histogram) {
        let mut state = self.state();
        let several = status.disks.len() > 1;
        state.credit = limits(&status)
            .filter_map(|(disk, limit)| credit(disk, limit, several))
            .collect();
        state.elapsed = Nanos(status.uptime_ns);
        let has_fault = status
            .disks
            .iter()
            .any(|disk| !disk.attached || !disk.faults.is_empty());
        let before = state.served.as_ref().and_then(|served| served.fault_at_ns);
        self.feed.push(
            "served",
            &ServedEvent {
                t: status.uptime_ns as f64 / 1e9,
                status: &status,
            },
        );
        state.served = Some(Served {
            fault_at_ns: if has_fault { Some(status.uptime_ns) } else { before },
            status,
            lateness_ns,
        });
    }
}

impl Served {
    /// How near a limit the disks were in the last second: 1 where limits held what was asked for.
    pub(super) fn of_limit(&self) -> f64 {
        let throttled = |disk: &DiskStatus| disk.throttled_percent >= THROTTLED_PERCENT;
        let shared: u64 = self.status.limits.iter().map(|limit| limit.held_ns).sum();
        f64::from(u8::from(shared > 0 || self.status.disks.iter().any(throttled)))
    }

    /// Whether an I/O that ended now, and took so long, was under way while a fault went on.
    pub(super) fn had_fault(&self, lat_ns: u64) -> bool {
        let since_ns = self.status.uptime_ns.saturating_sub(lat_ns);
        self.fault_at_ns
            .is_some_and(|at_ns| at_ns.saturating_add(FAULT_LASTS_NS) >= since_ns)
    }
}

/// All limits, with the name of the disk that each is of.
fn limits(status: &Status) -> impl Iterator<Item = (&str, &LimitStatus)> {
    let shared = status.limits.iter().map(|limit| (ALL, limit));
    let own = status.disks.iter().flat_map(|disk| {
        let named = |limit| (disk.name.as_str(), limit);
        disk.limits.iter().map(named)
    });
    shared.chain(own)
}

fn credit(disk: &str, limit: &LimitStatus, several: bool) -> Option<Credit> {
    let credit = limit.credit?;
    Some(Credit {
        limit: if several {
            Cow::Owned(format!("{disk}: {}", limit.limit))
        } else {
            limit.limit.clone()
        },
        counts: limit.counts,
        left: credit.left as f64,
        full: credit.full as f64,
    })
}

/// A figure of a disk.
type OfDisk = fn(&DiskStatus) -> f64;

/// What is exported of them.
pub(super) fn families(served: &Served) -> Vec<Family> {
    let status = &served.status;
    let by_disk: [(&'static Metric, OfDisk); 6] = [
        (metric::SERVED_ATTACHED, |disk| f64::from(u8::from(disk.attached))),
        (metric::SERVED_SIZE, |disk| disk.size_bytes as f64),
        (metric::SERVED_IN_FLIGHT, |disk| f64::from(disk.in_flight)),
        (metric::SERVED_THROTTLED, |disk| disk.throttled_percent / 100.0),
        (metric::SERVED_UNFLUSHED, |disk| disk.unflushed_bytes as f64),
        (metric::SERVED_FAULTS, |disk| disk.faults.len() as f64),
    ];
    let mut families: Vec<Family> = Vec::new();
    for (metric, of) in by_disk {
        let disks = status.disks.iter();
        families.push(disks.fold(Family::new(metric), |family, disk| {
            family.with(&[&disk.name], of(disk))
        }));
    }
    let [mut rate, mut used, mut held, mut ends] = [
        metric::SERVED_LIMIT,
        metric::SERVED_TAKEN,
        metric::SERVED_HELD,
        metric::SERVED_CREDIT_END,
    ]
    .map(Family::new);
    for (disk, limit) in limits(status) {
        let labels = [disk, &*limit.limit, unit(limit.counts)];
        rate.push(&labels, Value::Number(limit.rate_per_second as f64));
        used.push(&labels, Value::Number(limit.used_total as f64));
        held.push(&labels[..2], Value::Number(limit.held_ns_total as f64 / 1e9));
        if let Some(seconds) = limit.credit.and_then(|credit| credit.ends_in_s) {
            ends.push(&labels[..2], Value::Number(seconds));
        }
    }
    families.extend([rate, used, held, ends]);
    let mut late = Family::new(metric::SERVED_LATENESS);
    late.push(&[], Value::Latencies(served.lateness_ns.clone()));
    families.push(late);
    if let Some(valid) = status.lateness_ns.valid {
        families.push(Family::new(metric::SERVED_VALID).with(&[], f64::from(u8::from(valid))));
    }
    families.push(Family::new(metric::SERVED_EARLY).with(&[], status.early_ns as f64 / 1e9));
    families
}
