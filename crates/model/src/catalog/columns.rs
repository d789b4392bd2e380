//! The rows as they are listed and filtered: named columns with units.
//!
//! Data in: rows of the catalogue. Data out: their values in the order of the columns. It must not know how they
//! are printed.

use super::{Catalog, Family, FlexDisk, GIB, MB, Offer, Vm, VmLimit};

/// A column of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name, as filters write it.
    pub name: &'static str,
    /// The same with its unit, as stored.
    pub key: &'static str,
    /// The unit of its numbers; empty for text.
    pub unit: Unit,
    /// What it says, in a few words.
    pub about: &'static str,
}

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Text,
    /// `true` or `false`.
    Flag,
    /// A plain number.
    Count,
    /// 2^30 bytes.
    Gib,
    /// I/O units a second.
    Iops,
    /// 10^6 bytes a second.
    Mbps,
    Minutes,
    /// US dollars.
    Usd,
}

/// A value in a listing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    Text(&'a str),
    /// A number in the unit of the column.
    Number(f64),
    /// A yes or no.
    Flag(bool),
    /// No source states it.
    NotKnown,
    /// It has none: a disk that does not burst has no burst limit.
    None,
}

/// A row of a listing: values in the order of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<'a> {
    pub values: Vec<Value<'a>>,
}

const fn column(name: &'static str, key: &'static str, unit: Unit, about: &'static str) -> Column {
    Column {
        name,
        key,
        unit,
        about,
    }
}

const DISK_COLUMNS: [Column; 21] = [
    column("name", "name", Unit::Text, "product name"),
    column("family", "family", Unit::Text, "family, as its cloud writes it"),
    column(
        "size",
        "size_gib",
        Unit::Gib,
        "size; of freely sized disks the largest",
    ),
    column("size_min", "size_gib_min", Unit::Gib, "smallest size"),
    column(
        "iops",
        "iops",
        Unit::Iops,
        "limit without burst; of freely sized disks the highest",
    ),
    column(
        "mbps",
        "mbps",
        Unit::Mbps,
        "limit without burst; of freely sized disks the highest",
    ),
    column("burst_iops", "burst_iops", Unit::Iops, "burst ceiling"),
    column("burst_mbps", "burst_mbps", Unit::Mbps, "burst ceiling"),
    column(
        "burst_minutes",
        "burst_minutes",
        Unit::Minutes,
        "how long full credit lasts",
    ),
    column("burst", "burst_model", Unit::Text, "credit, on-demand or none"),
    column(
        "caching",
        "host_caching",
        Unit::Flag,
        "whether a host may cache it",
    ),
    column("unit", "io_unit_bytes", Unit::Count, "bytes of an I/O unit"),
    column(
        "iops_free",
        "iops_free",
        Unit::Iops,
        "of freely sized disks: costs nothing",
    ),
    column(
        "mbps_free",
        "mbps_free",
        Unit::Mbps,
        "of freely sized disks: costs nothing",
    ),
    column("price", "price_usd_month", Unit::Usd, "a month, capacity alone"),
    column(
        "price_gib",
        "price_usd_gib_month",
        Unit::Usd,
        "of freely sized disks: a GiB and month",
    ),
    column(
        "price_iops",
        "price_usd_iops_month",
        Unit::Usd,
        "of freely sized disks: an IOPS and month",
    ),
    column(
        "price_mbps",
        "price_usd_mbps_month",
        Unit::Usd,
        "of freely sized disks: a MB/s (10^6 bytes) and month",
    ),
    column(
        "price_region",
        "price_region",
        Unit::Text,
        "where the prices hold",
    ),
    column("price_date", "price_date", Unit::Text, "when the prices held"),
    column("source", "source", Unit::Text, "keys of the list of sources"),
];

const VM_COLUMNS: [Column; 18] = [
    column("name", "name", Unit::Text, "product name"),
    column("series", "series", Unit::Text, "series"),
    column("vcpus", "vcpus", Unit::Count, "active processors"),
    column("memory", "memory_gib", Unit::Gib, "memory"),
    column("disks", "max_data_disks", Unit::Count, "most data disks"),
    column(
        "premium",
        "premium_io",
        Unit::Flag,
        "whether it takes Premium SSD",
    ),
    column(
        "caching",
        "host_cache",
        Unit::Flag,
        "whether its host caches disks",
    ),
    column("iops", "uncached_iops", Unit::Iops, "limit of the uncached path"),
    column("mbps", "uncached_mbps", Unit::Mbps, "limit of the uncached path"),
    column(
        "burst_iops",
        "burst_uncached_iops",
        Unit::Iops,
        "burst ceiling of the uncached path",
    ),
    column(
        "burst_mbps",
        "burst_uncached_mbps",
        Unit::Mbps,
        "burst ceiling of the uncached path",
    ),
    column(
        "cached_iops",
        "cached_iops",
        Unit::Iops,
        "limit of the cached path",
    ),
    column(
        "cached_mbps",
        "cached_mbps",
        Unit::Mbps,
        "limit of the cached path",
    ),
    column("cache", "cache_gib", Unit::Gib, "size of the host's cache"),
    column(
        "price",
        "price_usd_hour",
        Unit::Usd,
        "an hour, Linux, pay as you go",
    ),
    column(
        "price_region",
        "price_region",
        Unit::Text,
        "where the price holds",
    ),
    column("price_date", "price_date", Unit::Text, "when the price held"),
    column("source", "source", Unit::Text, "keys of the list of sources"),
];

const LIMIT_COLUMNS: [Column; 11] = [
    column("name", "name", Unit::Text, "the machine's product name"),
    column("series", "series", Unit::Text, "the machine's series"),
    column("family", "family", Unit::Text, "family, as its cloud writes it"),
    column("vcpus", "vcpus", Unit::Count, "active processors"),
    column(
        "read_iops",
        "read_iops",
        Unit::Iops,
        "limit of reads; of both where they count together",
    ),
    column(
        "write_iops",
        "write_iops",
        Unit::Iops,
        "limit of writes, where they have one of their own",
    ),
    column(
        "read_mbps",
        "read_mbps",
        Unit::Mbps,
        "limit of reads; of both where they count together",
    ),
    column(
        "write_mbps",
        "write_mbps",
        Unit::Mbps,
        "limit of writes, where they have one of their own",
    ),
    column(
        "together",
        "reads_and_writes_together",
        Unit::Flag,
        "whether reads and writes count together",
    ),
    column("note", "note", Unit::Text, "what is to be known of them"),
    column("source", "source", Unit::Text, "keys of the list of sources"),
];

/// The columns of a listing of disks.
pub const fn disk_columns() -> &'static [Column] {
    &DISK_COLUMNS
}

/// The columns of a listing of virtual machines.
pub const fn vm_columns() -> &'static [Column] {
    &VM_COLUMNS
}

/// The columns of a listing of machines' limits by family of disks.
pub const fn limit_columns() -> &'static [Column] {
    &LIMIT_COLUMNS
}

impl Catalog {
    /// What each machine lets through to disks of each family, as far as a source states it, in the order of
    /// [`limit_columns`]: none where machines have the same limits for disks of all families.
    pub fn listed_limits(&self) -> impl Iterator<Item = Listed<'_>> {
        let stated = move |family: Family| {
            self.vms()
                .iter()
                .filter_map(move |vm| Some((vm, self.vm_limit(vm, family)?)))
        };
        self.families()
            .iter()
            .copied()
            .flat_map(stated)
            .map(|(vm, limit)| Listed {
                values: limit_values(vm, limit).to_vec(),
            })
    }

    /// All disks, the freely sized ones last, in the order of [`disk_columns`].
    pub fn listed_disks(&self) -> impl Iterator<Item = (Offer<'_>, Listed<'_>)> {
        let fixed = self.disks().iter().map(Offer::Fixed);
        let flex = self.flex_disks().iter().map(Offer::Flex);
        fixed.chain(flex).map(|offer| {
            let values = disk_values(offer).to_vec();
            (offer, Listed { values })
        })
    }

    /// All virtual machines, in the order of [`vm_columns`].
    pub fn listed_vms(&self) -> impl Iterator<Item = Listed<'_>> {
        self.vms().iter().map(|vm| Listed {
            values: vm_values(vm).to_vec(),
        })
    }
}

fn number(value: Option<u64>, unit: u64) -> Value<'static> {
    value.map_or(Value::NotKnown, |value| Value::Number(value as f64 / unit as f64))
}

fn some(value: u64, unit: u64) -> Value<'static> {
    number(Some(value), unit)
}

fn text(value: &str) -> Value<'_> {
    if value.is_empty() {
        Value::NotKnown
    } else {
        Value::Text(value)
    }
}

const MICRO: u64 = 1_000_000;

fn disk_values(offer: Offer<'_>) -> [Value<'_>; DISK_COLUMNS.len()] {
    match offer {
        Offer::Fixed(disk) => {
            let burst = disk.burst;
            let model = match burst.map(|burst| burst.credit_seconds) {
                Some(Some(_)) => "credit",
                Some(None) => "on-demand",
                None => "none",
            };
            let of_burst = |value: Option<u64>, unit| value.map_or(Value::None, |value| some(value, unit));
            [
                text(&disk.sku),
                text(disk.family.name()),
                some(disk.size_bytes, GIB),
                some(disk.size_bytes, GIB),
                some(disk.iops, 1),
                some(disk.bytes_per_second, MB),
                of_burst(burst.map(|burst| burst.iops), 1),
                of_burst(burst.map(|burst| burst.bytes_per_second), MB),
                of_burst(burst.and_then(|burst| burst.credit_seconds), 60),
                text(model),
                Value::Flag(disk.cacheable()),
                some(disk.io_unit_bytes, 1),
                Value::None,
                Value::None,
                number(disk.price_microusd_month, MICRO),
                Value::None,
                Value::None,
                Value::None,
                text(&disk.price_region),
                text(&disk.price_date),
                text(&disk.source),
            ]
        }
        Offer::Flex(disk) => {
            // The largest has the most; what follows from the size is reckoned, never a bound of the reader.
            let most = disk.figures(
                disk.size_bytes_max,
                disk.iops_cap_max,
                disk.bytes_per_second_cap_max,
            );
            let bursts = disk.bucket_ios_rule.is_some() || disk.bucket_bytes_rule.is_some();
            let free = |free: u64, unit| {
                if free == u64::MAX {
                    Value::None
                } else {
                    some(free, unit)
                }
            };
            [
                text(&disk.sku),
                text(disk.family.name()),
                some(disk.size_bytes_max, GIB),
                some(disk.size_bytes_min, GIB),
                number(most.iops, 1),
                number(most.bytes_per_second, MB),
                Value::None,
                Value::None,
                Value::None,
                Value::Text(if bursts { "credit" } else { "none" }),
                Value::Flag(disk.host_caching),
                some(disk.io_unit_bytes, 1),
                free(disk.iops_free, 1),
                free(disk.bytes_per_second_free, MB),
                Value::None,
                number(disk.price_microusd_gib_month, MICRO),
                number(disk.price_microusd_iops_month, MICRO),
                price_of_mbps(disk),
                text(&disk.price_region),
                text(&disk.price_date),
                text(&disk.source),
            ]
        }
    }
}

/// The price of 10^6 bytes a second, as the other columns count: some rows have that of a MiB/s.
fn price_of_mbps(disk: &FlexDisk) -> Value<'static> {
    let price = |microusd: u64| {
        let of_a_byte = microusd as f64 / disk.throughput_unit_bytes as f64;
        // To a billionth of a dollar: what is left out comes to nothing on the largest disk.
        Value::Number((of_a_byte * MB as f64 * 1e3).round() / 1e9)
    };
    disk.price_microusd_mbps_month.map_or(Value::NotKnown, price)
}

fn vm_values(vm: &Vm) -> [Value<'_>; VM_COLUMNS.len()] {
    let flag = |value: Option<bool>| value.map_or(Value::NotKnown, Value::Flag);
    [
        text(&vm.name),
        text(&vm.series),
        some(u64::from(vm.vcpus), 1),
        number(vm.memory_bytes, GIB),
        some(u64::from(vm.max_data_disks), 1),
        flag(vm.premium_io),
        flag(vm.host_cache),
        number(vm.uncached_iops, 1),
        number(vm.uncached_bytes_per_second, MB),
        number(vm.burst_uncached_iops, 1),
        number(vm.burst_uncached_bytes_per_second, MB),
        number(vm.cached_iops, 1),
        number(vm.cached_bytes_per_second, MB),
        number(vm.cache_bytes, GIB),
        number(vm.price_microusd_hour, MICRO),
        text(&vm.price_region),
        text(&vm.price_date),
        text(&vm.source),
    ]
}

fn limit_values<'a>(vm: &'a Vm, limit: &'a VmLimit) -> [Value<'a>; LIMIT_COLUMNS.len()] {
    let of_writes = |value: Option<u64>, unit| match value {
        None if limit.together => Value::None,
        value => number(value, unit),
    };
    [
        text(&vm.name),
        text(&vm.series),
        text(limit.family.name()),
        some(u64::from(vm.vcpus), 1),
        number(limit.read_iops, 1),
        of_writes(limit.write_iops, 1),
        number(limit.read_bytes_per_second, MB),
        of_writes(limit.write_bytes_per_second, MB),
        Value::Flag(limit.together),
        if limit.note.is_empty() {
            Value::None
        } else {
            Value::Text(&limit.note)
        },
        text(&limit.source),
    ]
}
