//! How the disks stand: what the model decides, what comes of it, and how late the server itself is.
//!
//! Data in: a bench, looked at once a second. Data out: [`Status`], plain data. It must not know who shows it.

use crate::bench::{Bench, Counts};
use fathom_core::run::Counted;
use fathom_core::units::Nanos;
use fathom_model::LimitState;
use fathom_sys::clock::monotonic_ns;
use serde::Serialize;

pub const SCHEMA: &str = "fathom.disk/1";

/// A run whose answers are late by more than this share of the median service time is not valid.
pub const LATE_SHARE_MAX: f64 = 0.1;

/// All disks at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Since the disks are served.
    pub uptime_ns: u64,
    pub lateness_ns: Lateness,
    /// What each answer is given earlier, which it takes to arrive.
    pub early_ns: u64,
    /// The limits that all disks share; none where there is one disk.
    pub limits: Vec<LimitStatus>,
    pub disks: Vec<DiskStatus>,
}

/// How late answers were since the disks are served, by the server's own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Lateness {
    pub n: u64,
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
    /// Whether the 99th percentile is within [`LATE_SHARE_MAX`] of the median service time; `None`: there was no I/O.
    pub valid: Option<bool>,
}

/// A disk; rates are those of the last second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiskStatus {
    pub name: String,
    pub size_bytes: u64,
    pub attached: bool,
    /// Faults that go on, in words.
    pub faults: Vec<String>,
    pub in_flight: u32,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_bytes_per_second: f64,
    pub written_bytes_per_second: f64,
    pub flushes_per_second: f64,
    /// Mean time of an I/O, flushes among them; `None`: there was none.
    pub lat_ns_mean: Option<f64>,
    /// What of the time of I/Os the limits were to blame for.
    pub throttled_percent: f64,
    /// I/Os that failed since the disk is served.
    pub errors: u64,
    /// What a power cut could take.
    pub unflushed_bytes: u64,
    /// Its own limits, and its machine's where it has that for itself.
    pub limits: Vec<LimitStatus>,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitStatus {
    /// Which: `disk IOPS`, `VM uncached MB/s`, …
    pub limit: &'static str,
    pub counts: Counted,
    /// Its nominal rate.
    pub rate_per_second: u64,
    /// What it let through in the last second.
    pub used_per_second: f64,
    /// For how long it held I/Os in the last second, summed over all of them.
    pub held_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit: Option<Credit>,
}

/// A burst credit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Credit {
    /// What is left, in what the limit counts.
    pub left: u64,
    pub full: u64,
    /// When it is spent, at the last second's rate; `None`: not at that rate.
    pub ends_in_s: Option<f64>,
}

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

/// How late a bench's answers were.
pub fn lateness(bench: &Bench) -> Lateness {
    let late = bench.lateness();
    let values = late.percentiles(&[50.0, 99.0]);
    let mut service = fathom_core::histogram::Histogram::new();
    for disk in 0..bench.disks() {
        service.merge(&bench.counts(disk).service_ns);
    }
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
    let status = |(before, now): (&LimitState, &LimitState)| {
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
            limit: now.name,
            counts: now.counts,
            rate_per_second: now.rate_per_second,
            used_per_second: used,
            held_ns: now.held_ns.saturating_sub(before.held_ns),
            credit,
        }
    };
    before.iter().zip(now).map(status).collect()
}

impl Status {
    /// Brings what is no rate up to now.
    pub fn refresh(&mut self, bench: &Bench) {
        self.uptime_ns = monotonic_ns() - bench.origin_ns();
        self.lateness_ns = lateness(bench);
        for (number, disk) in self.disks.iter_mut().enumerate() {
            (disk.attached, disk.faults) = bench.condition(number);
            let counts = bench.counts(number);
            disk.in_flight = counts.in_flight;
            disk.errors = counts.errors();
            disk.unflushed_bytes = bench.store(number).unflushed_bytes();
        }
    }

    /// One line, for who looks on.
    pub fn line(&self) -> String {
        let mut parts: Vec<String> = self.disks.iter().map(DiskStatus::words).collect();
        parts.extend(holds(&self.limits).map(|limit| format!("held by {}", limit.limit)));
        let late = &self.lateness_ns;
        let judged = if late.valid == Some(false) {
            " (not valid)"
        } else {
            ""
        };
        let (p50, p99, max) = (micros(late.p50), micros(late.p99), micros(late.max));
        parts.push(format!("late p50 {p50} p99 {p99} max {max}{judged}"));
        parts.join(" | ")
    }
}

/// The limit that held I/Os for longest, if any did.
fn holds(limits: &[LimitStatus]) -> Option<&LimitStatus> {
    let longest = limits.iter().max_by_key(|limit| limit.held_ns);
    longest.filter(|limit| limit.held_ns > 0)
}

fn micros(ns: u64) -> Nanos {
    Nanos(ns / 1000 * 1000)
}

impl DiskStatus {
    fn words(&self) -> String {
        let mut parts = vec![format!(
            "{}: r {:.0} w {:.0} IOPS, {:.1}+{:.1} MB/s, {} in flight",
            self.name,
            self.read_iops,
            self.write_iops,
            self.read_bytes_per_second / 1e6,
            self.written_bytes_per_second / 1e6,
            self.in_flight
        )];
        parts.extend(self.lat_ns_mean.map(|lat| format!("lat {}", micros(lat as u64))));
        let throttled = self.throttled_percent;
        parts.extend(holds(&self.limits).map(|limit| format!("{throttled:.0} % held by {}", limit.limit)));
        for limit in &self.limits {
            let Some(credit) = limit.credit else { continue };
            let percent = credit.left as f64 * 100.0 / credit.full.max(1) as f64;
            let ends = credit.ends_in_s.map(|seconds| format!(" for {seconds:.0} s"));
            let ends = ends.unwrap_or_default();
            parts.push(format!("{} credit {percent:.0} %{ends}", limit.limit));
        }
        if !self.attached {
            parts.push(String::from("detached"));
        }
        parts.extend(self.faults.iter().cloned());
        parts.join(", ")
    }
}
