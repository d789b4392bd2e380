//! Numbers become rows of the table: figure, limit, verdict.

use super::scan::{Quantity, Track, Tracks};
use super::{Aspect, Resource, UseLimit, UseRow, UseUnit, UseVerdict};
use crate::explain::{KnownDisk, LimitScope};

/// Shares of the time, or of a whole, from which on a resource is busy or short.
const BUSY: f64 = 0.6;
const SHORT: f64 = 0.9;
/// The same of what waits, which should be nothing.
const WAITS_BUSY: f64 = 0.1;
const WAITS_SHORT: f64 = 0.4;
/// Without memory nothing goes on: of it far less is much.
const STALLED_SHORT: f64 = 0.05;
/// The same of a volume's space: what fills up stops all at once.
const FULL_BUSY: f64 = 0.85;
const FULL_SHORT: f64 = 0.97;
/// From this share of a limit on a reading is at it, and from this share of the readings on that is what limits.
const AT_LIMIT: f64 = 0.95;
const OFTEN: f64 = 0.3;
/// Readings that it takes to see that a rate stays where it is, and what must be in flight meanwhile: who sends one I/O at a time
/// keeps a rate too.
const PLATEAU_READINGS: usize = 10;
const PLATEAU_QUEUE: f64 = 1.5;
/// How far a stated limit may be from where a rate stays.
const NEAR: f64 = 0.05;
/// From this mean size on I/Os meet a limit on bytes first.
const LARGE_BYTES: f64 = 65_536.0;
const UNKNOWN: &str = "where it stayed; no stated limit is near";
/// Below this rate a disk is idle, whatever it does.
const IDLE_IOS: f64 = 20.0;

/// The rows, resource by resource.
pub(super) fn rows(tracks: &Tracks, known: &[KnownDisk]) -> Vec<UseRow> {
    let of = |resource: &Resource, quantity| tracks.get(&(resource.clone(), quantity));
    let mut resources: Vec<&Resource> = tracks.keys().map(|(resource, _)| resource).collect();
    resources.dedup();
    let mut rows = Vec::new();
    for resource in resources {
        let get = |quantity| of(resource, quantity);
        // A machine has many disks and interfaces that nobody uses.
        let used = |quantity: Quantity| get(quantity).and_then(Track::peak).is_some_and(|peak| peak > 0.0);
        let is_used = match resource {
            Resource::Disk(_) => used(Quantity::DiskIos),
            Resource::Network(_) => used(Quantity::NetworkBytes),
            Resource::Volume(_) => used(Quantity::VolumeSize),
            Resource::Cpu | Resource::Memory | Resource::Machine => true,
        };
        if !is_used {
            continue;
        }
        match resource {
            Resource::Cpu => rows.extend(cpu(get)),
            Resource::Memory => rows.extend(memory(get)),
            Resource::Disk(_) => rows.extend(disk(resource, get, known)),
            Resource::Machine => rows.extend(machine(get)),
            Resource::Network(_) => rows.extend(network(resource, get)),
            Resource::Volume(_) => rows.extend(volume(resource, get)),
        }
    }
    rows
}

/// A row without a limit.
fn row(
    resource: &Resource,
    aspect: Aspect,
    what: &'static str,
    unit: UseUnit,
    track: Option<&Track>,
) -> UseRow {
    UseRow {
        resource: resource.clone(),
        aspect,
        what,
        unit,
        mean: track.and_then(Track::mean),
        peak: track.and_then(Track::peak),
        limit: None,
        at_limit: 0.0,
        verdict: UseVerdict::NotCounted,
    }
}

/// A verdict by a mean and a peak.
fn by(mean: Option<f64>, peak: Option<f64>, busy: f64, short: f64) -> UseVerdict {
    match (mean, peak) {
        (Some(mean), _) if mean >= short => UseVerdict::Short,
        (Some(mean), Some(peak)) if mean >= busy || peak >= short => UseVerdict::Busy,
        (Some(_), _) => UseVerdict::Fine,
        (None, _) => UseVerdict::NotCounted,
    }
}

impl UseRow {
    fn judged(mut self, busy: f64, short: f64) -> Self {
        self.verdict = by(self.mean, self.peak, busy, short);
        self
    }

    fn limited(mut self, value: f64, whose: &str) -> Self {
        self.limit = Some(UseLimit {
            value,
            whose: whose.to_owned(),
            is_stated: true,
        });
        self
    }

    /// Of what should be none.
    fn none_allowed(mut self) -> Self {
        self.verdict = match self.mean {
            None => UseVerdict::NotCounted,
            Some(0.0) => UseVerdict::Fine,
            Some(_) => UseVerdict::Busy,
        };
        self
    }
}

/// One track as a share of another, reading by reading.
fn share(of: &Track, whole: &Track) -> Track {
    let values = of.values.iter().zip(&whole.values);
    let shares = values.filter(|(_, whole)| **whole > 0.0);
    Track::of(shares.map(|(part, whole)| part / whole).collect())
}

fn cpu<'a>(get: impl Fn(Quantity) -> Option<&'a Track>) -> Vec<UseRow> {
    let resource = &Resource::Cpu;
    let all = get(Quantity::CpuAll);
    let of_all = |quantity| Some(share(get(quantity)?, all?));
    let cpus = all.and_then(Track::mean).unwrap_or(0.0).round();
    let busy = of_all(Quantity::CpuBusy);
    let steal = of_all(Quantity::CpuSteal);
    vec![
        row(
            resource,
            Aspect::Utilization,
            "busy",
            UseUnit::Share,
            busy.as_ref(),
        )
        .limited(1.0, &format!("{cpus} CPUs"))
        .judged(BUSY, SHORT),
        row(
            resource,
            Aspect::Saturation,
            "processes waited for a CPU",
            UseUnit::Share,
            get(Quantity::CpuWaiting),
        )
        .judged(WAITS_BUSY, WAITS_SHORT),
        row(
            resource,
            Aspect::Saturation,
            "taken by the hypervisor",
            UseUnit::Share,
            steal.as_ref(),
        )
        .judged(0.02, WAITS_BUSY),
        row(resource, Aspect::Errors, "machine checks", UseUnit::Count, None),
    ]
}

fn memory<'a>(get: impl Fn(Quantity) -> Option<&'a Track>) -> Vec<UseRow> {
    let resource = &Resource::Memory;
    let used = || {
        let free = share(get(Quantity::MemoryAvailable)?, get(Quantity::MemoryTotal)?);
        Some(Track::of(free.values.iter().map(|free| 1.0 - free).collect()))
    };
    let used = used();
    vec![
        row(
            resource,
            Aspect::Utilization,
            "not available to processes",
            UseUnit::Share,
            used.as_ref(),
        )
        .limited(1.0, "all memory")
        .judged(0.9, 0.97),
        row(
            resource,
            Aspect::Saturation,
            "processes waited for memory",
            UseUnit::Share,
            get(Quantity::MemoryWaiting),
        )
        .judged(0.02, WAITS_BUSY),
        row(
            resource,
            Aspect::Saturation,
            "nothing went on for lack of memory",
            UseUnit::Share,
            get(Quantity::MemoryStalled),
        )
        .judged(0.01, STALLED_SHORT),
        row(
            resource,
            Aspect::Errors,
            "processes killed for lack of memory",
            UseUnit::PerSecond,
            get(Quantity::OomKills),
        )
        .none_allowed(),
    ]
}

fn machine<'a>(get: impl Fn(Quantity) -> Option<&'a Track>) -> Vec<UseRow> {
    let resource = &Resource::Machine;
    vec![
        row(
            resource,
            Aspect::Saturation,
            "processes waited for I/O",
            UseUnit::Share,
            get(Quantity::IoWaiting),
        )
        .judged(WAITS_BUSY, f64::INFINITY),
        row(
            resource,
            Aspect::Saturation,
            "nothing went on but I/O",
            UseUnit::Share,
            get(Quantity::IoStalled),
        )
        .judged(WAITS_BUSY, f64::INFINITY),
    ]
}

fn network<'a>(resource: &Resource, get: impl Fn(Quantity) -> Option<&'a Track>) -> Vec<UseRow> {
    let mut bytes = row(
        resource,
        Aspect::Utilization,
        "received and sent",
        UseUnit::BytesPerSecond,
        get(Quantity::NetworkBytes),
    );
    bytes.verdict = UseVerdict::Fine;
    if let Some(speed) = get(Quantity::NetworkSpeed).and_then(Track::peak) {
        bytes = bytes
            .limited(speed, "the link, each way")
            .judged(speed * BUSY, speed * SHORT);
    }
    vec![
        bytes,
        row(
            resource,
            Aspect::Saturation,
            "packets dropped",
            UseUnit::PerSecond,
            get(Quantity::NetworkDrops),
        )
        .none_allowed(),
        row(
            resource,
            Aspect::Errors,
            "packets with errors",
            UseUnit::PerSecond,
            get(Quantity::NetworkErrors),
        )
        .none_allowed(),
    ]
}

/// How full a volume is: what counts is how it stood last.
fn volume<'a>(resource: &Resource, get: impl Fn(Quantity) -> Option<&'a Track>) -> Vec<UseRow> {
    let filled = |what, part, whole| {
        let share = share(get(part)?, get(whole)?);
        let last = f64::from(*share.values.last()?);
        let mut row = row(resource, Aspect::Utilization, what, UseUnit::Share, Some(&share));
        row.verdict = by(Some(last), Some(last), FULL_BUSY, FULL_SHORT);
        Some(row.limited(1.0, "its size"))
    };
    let space = filled("space used", Quantity::VolumeUsed, Quantity::VolumeSize);
    let inodes = filled("inodes used", Quantity::InodesUsed, Quantity::Inodes);
    space.into_iter().chain(inodes).collect()
}

fn disk<'a>(
    resource: &Resource,
    get: impl Fn(Quantity) -> Option<&'a Track>,
    known: &[KnownDisk],
) -> Vec<UseRow> {
    let queue = get(Quantity::DiskQueue);
    let rate = |what, unit, quantity, limit: fn(&KnownDisk) -> Option<f64>| {
        let track = get(quantity);
        let mut row = row(resource, Aspect::Utilization, what, unit, track);
        row.verdict = UseVerdict::Fine;
        let found = track.and_then(|track| limit_of(track, queue, known, limit, quantity));
        if let Some((limit, at_limit)) = found {
            row.at_limit = at_limit;
            row.verdict = match at_limit {
                share if share >= OFTEN => UseVerdict::Short,
                _ if row.peak.is_some_and(|peak| peak >= limit.value * BUSY) => UseVerdict::Busy,
                _ => UseVerdict::Fine,
            };
            row.limit = Some(limit);
        }
        row
    };
    let ios = rate(
        "I/Os a second",
        UseUnit::IosPerSecond,
        Quantity::DiskIos,
        |known| known.iops,
    );
    let bytes = rate(
        "bytes a second",
        UseUnit::BytesPerSecond,
        Quantity::DiskBytes,
        |known| known.bytes_per_second,
    );
    let [ios, bytes] = one_limit(ios, bytes);
    let busy = row(
        resource,
        Aspect::Utilization,
        "time with I/O in flight",
        UseUnit::Share,
        get(Quantity::DiskBusy),
    );
    vec![
        ios,
        bytes,
        // Who serves many at once is busy with one in flight: it convicts nobody.
        busy.judged(BUSY, f64::INFINITY),
        in_flight(resource, queue),
        row(resource, Aspect::Errors, "failed requests", UseUnit::Count, None),
    ]
}

fn in_flight(resource: &Resource, queue: Option<&Track>) -> UseRow {
    let mut waiting = row(
        resource,
        Aspect::Saturation,
        "mean number in flight",
        UseUnit::InFlight,
        queue,
    );
    waiting.verdict = match (waiting.mean, waiting.peak) {
        (None, _) => UseVerdict::NotCounted,
        // Depth is what a load asks for as well as what a device makes of it: it convicts nobody alone.
        (Some(mean), Some(peak)) if mean >= 1.0 || peak >= 8.0 => UseVerdict::Busy,
        _ => UseVerdict::Fine,
    };
    waiting
}

/// What a load measured, a reading each.
pub(super) struct Load {
    pub ios: Track,
    pub bytes: Track,
    pub in_flight: Track,
    pub errors: Track,
}

/// The rows of the disk that a load was on.
pub(super) fn load(resource: &Resource, load: &Load, known: &[KnownDisk]) -> Vec<UseRow> {
    let get = |quantity| match quantity {
        Quantity::DiskIos => Some(&load.ios),
        Quantity::DiskBytes => Some(&load.bytes),
        // With it a steady rate would be taken for a limit.
        _ => None,
    };
    let rates = disk(resource, get, known).into_iter().take(2);
    let errors = row(
        resource,
        Aspect::Errors,
        "failed I/Os of a reading",
        UseUnit::Count,
        Some(&load.errors),
    );
    rates
        .chain([in_flight(resource, Some(&load.in_flight)), errors.none_allowed()])
        .collect()
}

/// What a machine has besides, where nobody counted it.
pub(super) fn not_counted() -> [UseRow; 2] {
    let none = |resource, what| row(&resource, Aspect::Utilization, what, UseUnit::Share, None);
    [
        none(Resource::Cpu, "busy"),
        none(Resource::Memory, "not available to processes"),
    ]
}

/// The limit of a rate, and the share of the readings at it: the lowest of the disk's or the machine's own; else where it stayed, with
/// the name of what is sold with that limit.
fn limit_of(
    track: &Track,
    queue: Option<&Track>,
    known: &[KnownDisk],
    limit: fn(&KnownDisk) -> Option<f64>,
    quantity: Quantity,
) -> Option<(UseLimit, f64)> {
    let at = |value: f64| {
        let reached = track
            .values
            .iter()
            .filter(|&&rate| f64::from(rate) >= value * AT_LIMIT);
        reached.count() as f64 / track.values.len().max(1) as f64
    };
    let own = known.iter().filter(|known| known.own);
    let own = own.filter_map(|known| Some((known, limit(known)?)));
    let own = own.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(known, value)| {
        let limit = UseLimit {
            value,
            whose: known.name.clone(),
            is_stated: true,
        };
        (limit, at(value))
    });
    if own.as_ref().is_some_and(|(_, at_limit)| *at_limit >= OFTEN) {
        return own;
    }
    let Some(stays) = queue.and_then(|queue| plateau(track, queue, quantity)) else {
        return own;
    };
    let near = known.iter().filter_map(|known| Some((known, limit(known)?)));
    let near = near.filter(|(_, stated)| (stays / stated - 1.0).abs() <= NEAR);
    // A disk rather than a machine, which would be the limit of all disks together.
    let nearest = near.min_by(|a, b| {
        let off = |stated: f64| (stays / stated - 1.0).abs();
        let machine = |known: &KnownDisk| known.scope == LimitScope::Machine;
        machine(a.0)
            .cmp(&machine(b.0))
            .then(off(a.1).total_cmp(&off(b.1)))
    });
    let limit = UseLimit {
        value: stays,
        whose: nearest.map_or_else(
            || UNKNOWN.to_owned(),
            |(known, _)| format!("where it stayed, near the limit of {}", known.name),
        ),
        is_stated: false,
    };
    Some((limit, at(stays)))
}

/// Of I/Os of one size both rates stay where they are: the one with a stated limit is what limits, else the one that such sizes
/// meet.
fn one_limit(mut ios: UseRow, mut bytes: UseRow) -> [UseRow; 2] {
    let is_short = |row: &UseRow| row.verdict == UseVerdict::Short;
    if is_short(&ios) && is_short(&bytes) {
        let (of_ios, of_bytes) = (Known::of(&ios), Known::of(&bytes));
        let large = bytes.mean.unwrap_or(0.0) >= LARGE_BYTES * ios.mean.unwrap_or(0.0);
        let bytes_limit = of_bytes > of_ios || (of_bytes == of_ios && large);
        let (other, known) = if bytes_limit {
            (&mut ios, of_ios)
        } else {
            (&mut bytes, of_bytes)
        };
        // Both may be stated, and both reached.
        if known < Known::Stated {
            other.verdict = UseVerdict::Busy;
            other.limit = None;
            other.at_limit = 0.0;
        }
    }
    [ios, bytes]
}

/// What is known of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    Nothing,
    /// Something on sale has it.
    Sold,
    Stated,
}

impl Known {
    fn of(row: &UseRow) -> Self {
        match &row.limit {
            Some(limit) if limit.is_stated => Self::Stated,
            Some(limit) if limit.whose != UNKNOWN => Self::Sold,
            _ => Self::Nothing,
        }
    }
}

/// Where a rate stays although more waits: its highest readings lie close together, and are many.
fn plateau(track: &Track, queue: &Track, quantity: Quantity) -> Option<f64> {
    let mut sorted: Vec<f32> = track.values.clone();
    sorted.sort_by(f32::total_cmp);
    let high = f64::from(*sorted.get((sorted.len() * 98 / 100).min(sorted.len().checked_sub(1)?))?);
    if quantity == Quantity::DiskIos && high < IDLE_IOS {
        return None;
    }
    let at: Vec<usize> = (0..track.values.len())
        .filter(|&reading| f64::from(track.values[reading]) >= high * AT_LIMIT)
        .collect();
    let enough = at.len() >= PLATEAU_READINGS && at.len() as f64 >= OFTEN * track.values.len() as f64;
    let waiting = at
        .iter()
        .filter_map(|&reading| queue.values.get(reading))
        .map(|&depth| f64::from(depth));
    let (count, sum) = waiting.fold((0, 0.0), |(count, sum), depth| (count + 1, sum + depth));
    (enough && count > 0 && sum / f64::from(count) >= PLATEAU_QUEUE).then_some(high)
}
