//! Whether a [`Spec`] can be run, and what it leaves open.
//!
//! Data in: a spec from anywhere, which is outside input. Data out: the first thing that is wrong with it, by the
//! name of its field; or that a machine made of it neither overflows nor stands still. It must not know where the
//! spec is from.

use crate::spec::{
    BurstSpec, DiskSpec, HostCacheSpec, KIB, Limit, OutageSpec, PageCacheSpec, PathLimits, ServiceSpec,
    SliceSpec, Spec,
};
use std::ops::RangeInclusive;

/// The most disks.
pub const DISKS_MAX: usize = 64;
/// The highest limit, in I/O units or bytes a second.
pub const LIMIT_MAX: u64 = 1_000_000_000_000_000;
/// The lowest limit on bytes a second: one page. What waits then ends within the 64 bits of nanoseconds.
pub const BYTES_PER_SECOND_MIN: u64 = 4 * KIB;
/// The largest disk: 1 PiB.
pub const SIZE_MAX_BYTES: u64 = 1 << 50;
/// The largest chunk of a stripe: 1 GiB.
pub const CHUNK_MAX_BYTES: u64 = 1 << 30;
/// The most memory: 64 TiB.
pub const MEMORY_MAX_BYTES: u64 = 1 << 46;
/// The highest seed: what TOML's integers hold.
pub const SEED_MAX: u64 = i64::MAX as u64;
/// The most blocks that the host's cache may have: each takes 8 bytes of the simulation's memory.
pub const CACHE_BLOCKS_MAX: u64 = 1 << 26;

const HOUR_NS: u64 = 3_600_000_000_000;
const YEAR_NS: u64 = 366 * 24 * HOUR_NS;

/// What is wrong with a spec: the field, as in a model file, and what goes there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct Invalid {
    /// The field: `disks[0].read.quantiles_us`.
    pub field: String,
    /// What is wrong, and what goes there.
    pub problem: String,
}

fn ensure(holds: bool, field: impl Into<String>, problem: impl FnOnce() -> String) -> Result<(), Invalid> {
    if holds {
        return Ok(());
    }
    Err(Invalid {
        field: field.into(),
        problem: problem(),
    })
}

fn within(value: u64, range: RangeInclusive<u64>, field: impl Into<String>) -> Result<(), Invalid> {
    ensure(range.contains(&value), field, || {
        format!("{value} is not from {} to {}", range.start(), range.end())
    })
}

impl SliceSpec {
    /// Whether limits can be released so.
    pub(crate) fn validate(self) -> Result<(), Invalid> {
        if self.slice_ns != 0 {
            within(self.slice_ns, 1_000_000..=1_000_000_000, "slices.slice_ns")?;
        }
        within(self.factor_permille, 1..=10_000, "slices.factor_permille")
    }
}

impl ServiceSpec {
    /// Whether times can be drawn from it, which is called `field`.
    pub(crate) fn validate(&self, field: &str) -> Result<(), Invalid> {
        service(self, field)
    }
}

impl Spec {
    /// Whether a machine can be made of it.
    ///
    /// # Errors
    /// The first field that is out of bounds or at odds with another.
    pub fn validate(&self) -> Result<(), Invalid> {
        within(self.seed, 0..=SEED_MAX, "seed")?;
        ensure(
            !self.disks.is_empty() && self.disks.len() <= DISKS_MAX,
            "disks",
            || format!("{} disks: there must be 1 to {DISKS_MAX}", self.disks.len()),
        )?;
        within(
            self.stripe_chunk_bytes,
            512..=CHUNK_MAX_BYTES,
            "stripe_chunk_bytes",
        )?;
        ensure(
            self.stripe_chunk_bytes.is_multiple_of(512),
            "stripe_chunk_bytes",
            || format!("{} is not a multiple of 512", self.stripe_chunk_bytes),
        )?;
        self.slices.validate()?;
        let factor = self.slices.factor_permille;
        for (index, each) in self.disks.iter().enumerate() {
            let field = format!("disks[{index}]");
            disk(each, factor, &field)?;
            ensure(
                !each.burst_bytes_need_io_credit || self.slices.slice_ns == 0,
                format!("{field}.burst_bytes_need_io_credit"),
                || String::from("this goes with limits that are released evenly: slices.slice_ns = 0"),
            )?;
            let first = self.disks[0].size_bytes;
            ensure(each.size_bytes == first, format!("{field}.size_bytes"), || {
                format!(
                    "{} is not the size of the first disk ({first}): striped disks are of equal size",
                    each.size_bytes
                )
            })?;
            ensure(
                each.size_bytes >= self.stripe_chunk_bytes,
                "stripe_chunk_bytes",
                || format!("{} is more than a whole disk ({first})", self.stripe_chunk_bytes),
            )?;
        }
        if let Some(vm) = &self.vm {
            path(&vm.uncached, factor, "vm.uncached")?;
            path(&vm.cached, factor, "vm.cached")?;
            within(u64::from(vm.cards), 1..=16, "vm.cards")?;
        }
        within(self.shared.len() as u64, 0..=16, "shared")?;
        for (index, shared) in self.shared.iter().enumerate() {
            path(&shared.limits, factor, &format!("shared[{index}].limits"))?;
        }
        if let Some(cache) = &self.host_cache {
            host_cache(cache, factor)?;
        }
        within(self.guest.submit_ns, 0..=HOUR_NS, "guest.submit_ns")?;
        page_cache(&self.guest.page_cache)
    }

    /// The limits that there are, but that no source states: they are not applied.
    pub fn not_known(&self) -> Vec<String> {
        let mut open = Vec::new();
        let mut note = |owner: &str, limit: Limit, what: &str| {
            let text = format!("{owner}: {what}");
            if limit == Limit::NotKnown && !open.contains(&text) {
                open.push(text);
            }
        };
        let mut path = |owner: &str, path: &PathLimits, way: &str| {
            note(owner, path.iops, &format!("{way}IOPS limit"));
            note(owner, path.bytes_per_second, &format!("{way}MB/s limit"));
            if let Some(burst) = &path.burst {
                note(owner, burst.iops, &format!("{way}burst IOPS limit"));
                note(owner, burst.bytes_per_second, &format!("{way}burst MB/s limit"));
            }
        };
        for disk in &self.disks {
            path(&disk.name, &disk.limits, "");
        }
        for shared in &self.shared {
            path(&shared.owner, &shared.limits, shared.counts.words());
        }
        if let Some(vm) = &self.vm {
            path(&vm.name, &vm.uncached, "uncached ");
            // Without a host cache, nothing takes that way.
            if self.host_cache.is_some() {
                path(&vm.name, &vm.cached, "cached ");
            }
        }
        for disk in &self.disks {
            note(&disk.name, disk.write_bytes_per_second, "MB/s limit of writes");
        }
        if let Some(cache) = &self.host_cache {
            note(
                "host cache",
                cache.flush_bytes_per_second,
                "MB/s limit of flushing",
            );
        }
        open
    }
}

fn disk(disk: &DiskSpec, factor: u64, field: &str) -> Result<(), Invalid> {
    within(
        disk.size_bytes,
        1 << 20..=SIZE_MAX_BYTES,
        format!("{field}.size_bytes"),
    )?;
    ensure(
        disk.size_bytes.is_multiple_of(512),
        format!("{field}.size_bytes"),
        || format!("{} is not a multiple of 512", disk.size_bytes),
    )?;
    within(
        disk.io_unit_bytes,
        512..=(1 << 30),
        format!("{field}.io_unit_bytes"),
    )?;
    path(&disk.limits, factor, &format!("{field}.limits"))?;
    bytes_limit(
        disk.write_bytes_per_second,
        factor,
        &format!("{field}.write_bytes_per_second"),
    )?;
    service(&disk.read, &format!("{field}.read"))?;
    service(&disk.write, &format!("{field}.write"))?;
    if let Some(seek) = &disk.seek {
        let field = format!("{field}.seek");
        let spans = [
            ("read", seek.read_min_ns, seek.read_max_ns),
            ("write", seek.write_min_ns, seek.write_max_ns),
        ];
        for (side, min, max) in spans {
            span(min, max, HOUR_NS, &format!("{field}.{side}"))?;
        }
        within(
            seek.write_cost_bytes,
            0..=1 << 40,
            format!("{field}.write_cost_bytes"),
        )?;
        within(u64::from(seek.streams), 1..=4_096, format!("{field}.streams"))?;
    }
    if let Some(handling) = &disk.handling {
        let times = [
            ("read_ns", handling.read_ns),
            ("read_ns_per_kib", handling.read_ns_per_kib),
            ("write_ns", handling.write_ns),
            ("write_ns_per_kib", handling.write_ns_per_kib),
        ];
        for (name, ns) in times {
            within(ns, 0..=1_000_000_000, format!("{field}.handling.{name}"))?;
        }
    }
    if let Some(crowding) = &disk.crowding {
        let field = format!("{field}.crowding");
        within(
            crowding.ns_per_io,
            0..=1_000_000_000,
            format!("{field}.ns_per_io"),
        )?;
        within(u64::from(crowding.most), 1..=65_536, format!("{field}.most"))?;
    }
    within(
        u64::from(disk.merged_streams),
        0..=4_096,
        format!("{field}.merged_streams"),
    )?;
    if let Some(released) = disk.released {
        let field = format!("{field}.released");
        within(
            released.iops_permille,
            1..=10_000,
            format!("{field}.iops_permille"),
        )?;
        within(
            released.bytes_permille,
            1..=10_000,
            format!("{field}.bytes_permille"),
        )?;
    }
    check_outages(&disk.outages, &format!("{field}.outages"))
}

fn span(min: u64, max: u64, bound: u64, field: &str) -> Result<(), Invalid> {
    within(max, 0..=bound, format!("{field}_max_ns"))?;
    ensure(min <= max, format!("{field}_min_ns"), || {
        format!("{min} is more than {field}_max_ns ({max})")
    })
}

fn check_outages(outages: &[OutageSpec], field: &str) -> Result<(), Invalid> {
    ensure(outages.len() <= 1_000, field, || {
        format!("{} outages: 1000 at most", outages.len())
    })?;
    let mut each = outages.iter().enumerate();
    each.try_for_each(|(index, outage)| check_outage(outage, &format!("{field}[{index}]")))?;
    // Several that take turns must leave gaps: with less than all of the time between them, they do.
    let share: f64 = outages.iter().map(share_of_time).sum();
    ensure(outages.len() == 1 || share < 0.99, field, || {
        format!(
            "together they take {:.0} % of the time, and may take all of it: the disk would never answer. Less than 99 % goes here",
            share * 100.0
        )
    })
}

/// The share of all time that outages of this kind take, in the long run.
fn share_of_time(outage: &OutageSpec) -> f64 {
    match *outage {
        OutageSpec::Once { .. } => 0.0,
        OutageSpec::Every {
            period_ns,
            duration_ns,
            ..
        } => duration_ns as f64 / period_ns as f64,
        OutageSpec::Random {
            mean_gap_ns,
            duration_min_ns,
            duration_max_ns,
        } => {
            let duration = u64::midpoint(duration_min_ns, duration_max_ns) as f64;
            duration / (duration + mean_gap_ns as f64)
        }
    }
}

fn check_outage(outage: &OutageSpec, field: &str) -> Result<(), Invalid> {
    match *outage {
        OutageSpec::Once { at_ns, duration_ns } => {
            within(at_ns, 0..=YEAR_NS, format!("{field}.at_ns"))?;
            within(duration_ns, 1..=24 * HOUR_NS, format!("{field}.duration_ns"))
        }
        OutageSpec::Every {
            period_ns,
            first_ns,
            duration_ns,
        } => {
            within(first_ns, 0..=YEAR_NS, format!("{field}.first_ns"))?;
            within(duration_ns, 1..=24 * HOUR_NS, format!("{field}.duration_ns"))?;
            within(period_ns, 1_000_000..=YEAR_NS, format!("{field}.period_ns"))?;
            ensure(duration_ns < period_ns, format!("{field}.duration_ns"), || {
                format!("{duration_ns} is not less than period_ns ({period_ns}): the disk would never answer")
            })
        }
        OutageSpec::Random {
            mean_gap_ns,
            duration_min_ns,
            duration_max_ns,
        } => {
            within(mean_gap_ns, 1_000_000..=YEAR_NS, format!("{field}.mean_gap_ns"))?;
            within(
                duration_min_ns,
                1..=24 * HOUR_NS,
                format!("{field}.duration_min_ns"),
            )?;
            span(
                duration_min_ns,
                duration_max_ns,
                24 * HOUR_NS,
                &format!("{field}.duration"),
            )
        }
    }
}

/// A limit on I/O units.
fn iops_limit(limit: Limit, factor: u64, field: &str) -> Result<(), Invalid> {
    limit_from(limit, 1, factor, field)
}

fn bytes_limit(limit: Limit, factor: u64, field: &str) -> Result<(), Invalid> {
    limit_from(limit, BYTES_PER_SECOND_MIN, factor, field)
}

/// What is released must be at least `min`, not only what is named.
fn limit_from(limit: Limit, min: u64, factor: u64, field: &str) -> Result<(), Invalid> {
    match limit {
        Limit::At(rate) => within(rate, (min * 1000).div_ceil(factor).max(min)..=LIMIT_MAX, field),
        Limit::NotKnown | Limit::Off => Ok(()),
    }
}

fn path(path: &PathLimits, factor: u64, field: &str) -> Result<(), Invalid> {
    iops_limit(path.iops, factor, &format!("{field}.iops"))?;
    bytes_limit(
        path.bytes_per_second,
        factor,
        &format!("{field}.bytes_per_second"),
    )?;
    let Some(burst) = &path.burst else { return Ok(()) };
    let BurstSpec {
        full_seconds,
        level_percent,
        ..
    } = *burst;
    let field = format!("{field}.burst");
    iops_limit(burst.iops, factor, &format!("{field}.iops"))?;
    bytes_limit(
        burst.bytes_per_second,
        factor,
        &format!("{field}.bytes_per_second"),
    )?;
    let stated = burst.iops_credit.is_some() || burst.bytes_credit.is_some();
    if !stated {
        within(full_seconds, 1..=86_400, format!("{field}.full_seconds"))?;
    }
    for (side, credit) in [
        ("iops_credit", burst.iops_credit),
        ("bytes_credit", burst.bytes_credit),
    ] {
        within(credit.unwrap_or(0), 0..=1 << 52, format!("{field}.{side}"))?;
    }
    within(
        u64::from(level_percent),
        0..=100,
        format!("{field}.level_percent"),
    )?;
    let pairs = [
        ("iops", path.iops, burst.iops),
        ("bytes_per_second", path.bytes_per_second, burst.bytes_per_second),
    ];
    for (side, base, burst) in pairs {
        if let (Some(base), Some(burst)) = (base.rate(), burst.rate()) {
            ensure(burst >= base, format!("{field}.{side}"), || {
                format!("{burst} is less than without burst ({base})")
            })?;
        }
    }
    Ok(())
}

fn service(service: &ServiceSpec, field: &str) -> Result<(), Invalid> {
    within(
        service.reference_bytes,
        1..=1 << 30,
        format!("{field}.reference_bytes"),
    )?;
    within(
        service.ns_per_kib,
        0..=1_000_000_000,
        format!("{field}.ns_per_kib"),
    )?;
    let quantiles = &service.quantiles_us;
    let field = format!("{field}.quantiles_us");
    ensure((2..=10_000).contains(&quantiles.len()), field.as_str(), || {
        format!(
            "{} quantiles: 2 to 10000 go here, from [0, …] to [100, …]",
            quantiles.len()
        )
    })?;
    let ends = (quantiles[0].0, quantiles[quantiles.len() - 1].0);
    let whole = ends == (0.0, 100.0);
    ensure(whole, field.as_str(), || {
        format!("they go from {} to {}, not from 0 to 100", ends.0, ends.1)
    })?;
    for &(percentile, us) in quantiles {
        ensure(us > 0.0 && us <= 3.6e9, field.as_str(), || {
            format!(
                "[{percentile}, {us}]: a time goes here that is more than nothing and at most an hour, in microseconds"
            )
        })?;
    }
    for pair in quantiles.windows(2) {
        let ((low, short), (high, long)) = (pair[0], pair[1]);
        ensure(low < high && short <= long, field.as_str(), || {
            format!("[{high}, {long}] after [{low}, {short}]: percentiles and times ascend")
        })?;
    }
    Ok(())
}

fn host_cache(cache: &HostCacheSpec, factor: u64) -> Result<(), Invalid> {
    let HostCacheSpec {
        capacity_bytes,
        block_bytes,
        dirty_limit_bytes,
        dirty_resume_bytes,
        ..
    } = *cache;
    within(
        capacity_bytes,
        1 << 20..=SIZE_MAX_BYTES,
        "host_cache.capacity_bytes",
    )?;
    within(block_bytes, 512..=1 << 30, "host_cache.block_bytes")?;
    ensure(block_bytes.is_power_of_two(), "host_cache.block_bytes", || {
        format!("{block_bytes} is not a power of two")
    })?;
    ensure(block_bytes <= capacity_bytes, "host_cache.block_bytes", || {
        format!("{block_bytes} is more than capacity_bytes ({capacity_bytes})")
    })?;
    ensure(
        capacity_bytes / block_bytes <= CACHE_BLOCKS_MAX,
        "host_cache.block_bytes",
        || {
            format!(
                "{} blocks in {capacity_bytes} bytes are too many to follow: {CACHE_BLOCKS_MAX} at most, so blocks of {} or more",
                capacity_bytes / block_bytes,
                capacity_bytes.div_ceil(CACHE_BLOCKS_MAX).next_power_of_two(),
            )
        },
    )?;
    service(&cache.read_hit, "host_cache.read_hit")?;
    service(&cache.write_hit, "host_cache.write_hit")?;
    within(
        dirty_limit_bytes,
        1..=capacity_bytes,
        "host_cache.dirty_limit_bytes",
    )?;
    within(
        dirty_resume_bytes,
        0..=dirty_limit_bytes,
        "host_cache.dirty_resume_bytes",
    )?;
    bytes_limit(
        cache.flush_bytes_per_second,
        factor,
        "host_cache.flush_bytes_per_second",
    )
}

fn page_cache(cache: &PageCacheSpec) -> Result<(), Invalid> {
    let name = |field: &str| format!("guest.page_cache.{field}");
    within(
        cache.capacity_bytes,
        1 << 20..=MEMORY_MAX_BYTES,
        name("capacity_bytes"),
    )?;
    within(
        cache.throttle_bytes,
        64 * KIB..=cache.capacity_bytes,
        name("throttle_bytes"),
    )?;
    within(
        cache.background_bytes,
        0..=cache.throttle_bytes,
        name("background_bytes"),
    )?;
    within(cache.expire_ns, 0..=24 * HOUR_NS, name("expire_ns"))?;
    within(cache.wake_ns, 1_000_000..=24 * HOUR_NS, name("wake_ns"))?;
    within(cache.merge_bytes, 4 * KIB..=1 << 30, name("merge_bytes"))?;
    within(u64::from(cache.in_flight), 1..=65_536, name("in_flight"))?;
    within(cache.call_ns, 0..=HOUR_NS, name("call_ns"))?;
    within(cache.copy_ns_per_kib, 0..=1_000_000_000, name("copy_ns_per_kib"))
}

#[cfg(test)]
mod tests;
