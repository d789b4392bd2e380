//! How the disks stand: what the model decides, what comes of it, and how late the server itself is.
//!
//! Data in: a bench, looked at once a second. Data out: [`Status`], plain data. It must not know who shows it.

use crate::bench::{Bench, Counts};
use fathom_core::histogram::Histogram;
use fathom_core::served::{
    Credit, DiskStatus, Interval, LATE_SHARE_MAX, Lateness, LimitStatus, SCHEMA, Status,
};
use fathom_core::units::Nanos;
use fathom_model::LimitState;
use fathom_sys::clock::monotonic_ns;
use std::borrow::Cow;

/// Looks at a bench again and again.
#[derive(Debug)]
pub struct Meter {
    at_ns: u64,
    shared: Vec<LimitState>,
    disks: Vec<(Counts, Vec<LimitState>)>,
}

impl Meter {
    /// From now on.
    pub fn new(bench: &Bench) -> Self {
        Self {
            at_ns: monotonic_ns(),
            shared: bench.limits(None),
            disks: (0..bench.disks())
                .map(|disk| (bench.counts(disk), bench.limits(Some(disk))))
                .collect(),
        }
    }

    /// How the disks stand, with the rates since the last look.
    pub fn look(&mut self, bench: &Bench) -> Status {
        let next = Self::new(bench);
        let seconds = (next.at_ns - self.at_ns).max(1) as f64 / 1e9;
        let disks = (0..bench.disks()).map(|number| {
            let (before, now) = (&self.disks[number], &next.disks[number]);
            disk(bench, number, (before, now), seconds)
        });
        let status = Status {
            schema: SCHEMA,
            uptime_ns: next.at_ns - bench.origin_ns(),
            lateness_ns: lateness(bench),
            early_ns: bench.early_ns(),
            limits: limits(&self.shared, &next.shared, seconds),
            disks: disks.collect(),
        };
        *self = next;
        status
    }
}

/// A moment, from which on lateness is counted apart: what came before is no part of what comes after.
#[derive(Debug, Clone, Default)]
pub struct Mark {
    at_ns: u64,
    late: Histogram,
    service: Histogram,
}

impl Mark {
    /// The moment at which `bench` began.
    pub fn start(bench: &Bench) -> Self {
        Self {
            at_ns: bench.origin_ns(),
            ..Self::default()
        }
    }

    /// This moment.
    pub fn now(bench: &Bench) -> Self {
        Self {
            at_ns: monotonic_ns(),
            late: bench.lateness(),
            service: service(bench),
        }
    }

    /// From this mark to a later one.
    pub fn until(&self, later: &Self) -> Interval {
        Interval {
            duration_ns: later.at_ns.saturating_sub(self.at_ns),
            lateness_ns: judged(&later.late.since(&self.late), &later.service.since(&self.service)),
        }
    }
}

/// How late a bench's answers were.
pub fn lateness(bench: &Bench) -> Lateness {
    judged(&bench.lateness(), &service(bench))
}

/// How long I/Os of all disks take.
fn service(bench: &Bench) -> Histogram {
    let mut service = Histogram::new();
    for disk in 0..bench.disks() {
        service.merge(&bench.counts(disk).service_ns);
    }
    service
}

fn judged(late: &Histogram, service: &Histogram) -> Lateness {
    let values = late.percentiles(&[50.0, 99.0]);
    let bound = service.percentile(50.0) as f64 * LATE_SHARE_MAX;
    Lateness {
        n: late.n(),
        p50: values[0],
        p99: values[1],
        max: late.max().unwrap_or(0),
        valid: (late.n() > 0).then_some(values[1] as f64 <= bound),
    }
}

type Look = (Counts, Vec<LimitState>);

fn disk(bench: &Bench, number: usize, (before, now): (&Look, &Look), seconds: f64) -> DiskStatus {
    let (attached, faults) = bench.condition(number);
    let since = |of: fn(&Counts) -> u64| of(&now.0).saturating_sub(of(&before.0)) as f64;
    let rate = |of: fn(&Counts) -> u64| since(of) / seconds;
    let ios = since(|counts| counts.ops.iter().map(|op| op.ios).sum());
    let time_ns = since(|counts| counts.ops.iter().map(|op| op.time_ns).sum());
    let limits = limits(&before.1, &now.1, seconds);
    let held_ns: u64 = limits.iter().map(|limit| limit.held_ns).sum();
    DiskStatus {
        name: bench.name(number).to_owned(),
        size_bytes: bench.store(number).size_bytes(),
        attached,
        faults,
        in_flight: now.0.in_flight,
        read_iops: rate(|counts| counts.ops[0].ios),
        write_iops: rate(|counts| counts.ops[1].ios),
        read_bytes_per_second: rate(|counts| counts.ops[0].bytes),
        written_bytes_per_second: rate(|counts| counts.ops[1].bytes),
        flushes_per_second: rate(|counts| counts.ops[3].ios),
        lat_ns_mean: (ios > 0.0).then(|| time_ns / ios),
        throttled_percent: if time_ns > 0.0 {
            (held_ns as f64 / time_ns * 100.0).min(100.0)
        } else {
            0.0
        },
        errors: now.0.errors(),
        unflushed_bytes: bench.store(number).unflushed_bytes(),
        limits,
    }
}

fn limits(before: &[LimitState], now: &[LimitState], seconds: f64) -> Vec<LimitStatus> {
    let status = |((before, now), limit): ((&LimitState, &LimitState), Cow<'static, str>)| {
        let used = now.taken.saturating_sub(before.taken) as f64 / seconds;
        let credit = now.credit_full.zip(now.credit_left).map(|(full, left)| {
            let falls = before.credit_left.unwrap_or(left).saturating_sub(left) as f64 / seconds;
            Credit {
                left,
                full,
                ends_in_s: (falls > 0.0).then(|| left as f64 / falls),
            }
        });
        LimitStatus {
            limit,
            counts: now.counts,
            rate_per_second: now.rate_per_second,
            used_per_second: used,
            held_ns: now.held_ns.saturating_sub(before.held_ns),
            used_total: now.taken,
            held_ns_total: now.held_ns,
            credit,
        }
    };
    before.iter().zip(now).zip(names(now)).map(status).collect()
}

/// What limits are called, each by a name of its own: a rate and the higher one while credit lasts have one name in the model.
fn names(limits: &[LimitState]) -> Vec<Cow<'static, str>> {
    let mut names: Vec<Cow<'static, str>> = Vec::new();
    for limit in limits {
        let has_credit = |other: &LimitState| other.name == limit.name && other.credit_full.is_some();
        let mut name = Cow::Borrowed(limit.name);
        if limit.credit_full.is_none() && limits.iter().any(has_credit) {
            name = format!("{name}, in a burst").into();
        }
        let same = names
            .iter()
            .filter(|known| **known == name || known.starts_with(&format!("{name} (")));
        match same.count() {
            0 => names.push(name),
            before => names.push(format!("{name} ({})", before + 1).into()),
        }
    }
    names
}

/// Brings what is no rate up to now.
pub fn refresh(status: &mut Status, bench: &Bench) {
    status.uptime_ns = monotonic_ns() - bench.origin_ns();
    status.lateness_ns = lateness(bench);
    for (number, disk) in status.disks.iter_mut().enumerate() {
        (disk.attached, disk.faults) = bench.condition(number);
        let counts = bench.counts(number);
        disk.in_flight = counts.in_flight;
        disk.errors = counts.errors();
        disk.unflushed_bytes = bench.store(number).unflushed_bytes();
    }
}

/// One line, for who looks on.
pub fn line(status: &Status) -> String {
    let mut parts: Vec<String> = status.disks.iter().map(words).collect();
    parts.extend(holds(&status.limits).map(|limit| format!("held by {}", limit.limit)));
    let late = &status.lateness_ns;
    let judged = if late.valid == Some(false) {
        " (not valid)"
    } else {
        ""
    };
    let (p50, p99, max) = (micros(late.p50), micros(late.p99), micros(late.max));
    parts.push(format!("late p50 {p50} p99 {p99} max {max}{judged}"));
    parts.join(" | ")
}

/// The limit that held I/Os for longest, if any did.
fn holds(limits: &[LimitStatus]) -> Option<&LimitStatus> {
    let longest = limits.iter().max_by_key(|limit| limit.held_ns);
    longest.filter(|limit| limit.held_ns > 0)
}

fn micros(ns: u64) -> Nanos {
    Nanos(ns / 1000 * 1000)
}

fn words(disk: &DiskStatus) -> String {
    let mut parts = vec![format!(
        "{}: r {:.0} w {:.0} IOPS, {:.1}+{:.1} MB/s, {} in flight",
        disk.name,
        disk.read_iops,
        disk.write_iops,
        disk.read_bytes_per_second / 1e6,
        disk.written_bytes_per_second / 1e6,
        disk.in_flight
    )];
    parts.extend(disk.lat_ns_mean.map(|lat| format!("lat {}", micros(lat as u64))));
    let throttled = disk.throttled_percent;
    parts.extend(holds(&disk.limits).map(|limit| format!("{throttled:.0} % held by {}", limit.limit)));
    for limit in &disk.limits {
        let Some(credit) = limit.credit else { continue };
        let percent = credit.left as f64 * 100.0 / credit.full.max(1) as f64;
        let ends = credit.ends_in_s.map(|seconds| format!(" for {seconds:.0} s"));
        let ends = ends.unwrap_or_default();
        parts.push(format!("{} credit {percent:.0} %{ends}", limit.limit));
    }
    if !disk.attached {
        parts.push(String::from("detached"));
    }
    parts.extend(disk.faults.iter().cloned());
    parts.join(", ")
}

#[cfg(test)]
mod tests;
