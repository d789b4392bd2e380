//! All layouts, one after another, by the documented rules, from the text of the catalogue's files.

use crate::layout::{Cache, GIB, MB};
use crate::need::Need;
use crate::search::Answer;
use crate::setup::Lasts;
use fathom_model::catalog::Offer;
use std::collections::BTreeMap;

const DISKS: &str = include_str!("../../../../model/data/azure/disks.csv");
const FLEX: &str = include_str!("../../../../model/data/azure/flex-disks.csv");
const VMS: &str = include_str!("../../../../model/data/azure/vms.csv");

type Row = BTreeMap<&'static str, &'static str>;

fn rows(text: &'static str) -> Vec<Row> {
    let mut lines = text.lines();
    let heading: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    lines
        .map(|line| heading.iter().copied().zip(line.split(',')).collect())
        .collect()
}

fn number(row: &Row, name: &str) -> Option<f64> {
    row[name].parse().ok()
}

fn micro(row: &Row, name: &str) -> Option<u64> {
    number(row, name).map(|usd| (usd * 1e6).round() as u64)
}

#[derive(Debug, Clone)]
struct Fixed {
    family: String,
    sku: String,
    gib: u64,
    iops: Limit,
    rate: Limit,
    microusd: u64,
}

#[derive(Debug, Clone)]
struct Vm {
    name: String,
    series: String,
    vcpus: u64,
    memory: f64,
    places: u64,
    premium: bool,
    caches: bool,
    uncached: [(Option<u64>, Option<u64>); 2],
    cached: [Option<u64>; 2],
    cache_gib: Option<u64>,
    microusd: u64,
}

/// What is on sale.
pub(super) struct Market {
    disks: Vec<Fixed>,
    flex: Vec<Flex>,
    vms: Vec<Vm>,
}

/// A layout.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bought {
    pub(super) vm: String,
    pub(super) series: String,
    pub(super) sku: String,
    pub(super) family: String,
    pub(super) count: u64,
    pub(super) cache: Cache,
    /// Of a freely sized one: size in GiB, IOPS, MB/s.
    pub(super) chosen: Option<[u64; 3]>,
    pub(super) disk_microusd: u64,
    pub(super) microusd: u64,
}

impl Bought {
    pub(super) fn of(answer: &Answer<'_>) -> Self {
        let layout = &answer.layout;
        let vm = layout.machine.expect("searched with a machine");
        let disk = &layout.disk;
        Self {
            vm: vm.name.clone(),
            series: vm.series.clone(),
            sku: disk.sku().to_owned(),
            family: disk.family().name().to_owned(),
            count: u64::from(layout.count),
            cache: layout.cache,
            chosen: matches!(disk.offer, Offer::Flex(_))
                .then(|| [disk.size_bytes / GIB, disk.iops, disk.bytes_per_second / MB]),
            disk_microusd: answer.cost.disks_microusd_month() / u64::from(layout.count),
            microusd: answer.cost.microusd_month(),
        }
    }

    /// Whether `other` is the same and more, or as much for no less: as many disks of the family or more of a price no lower, in a
    /// machine of the series.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let fewer =
            self.family == other.family && self.count <= other.count && self.microusd <= other.microusd;
        fewer
            && (self.disk_microusd <= other.disk_microusd || self.chosen.is_some())
            && self.cache <= other.cache
    }
}

/// A limit and what it bursts to.
type Limit = (u64, Option<u64>);

/// What a limit lets through for so long, by the words: full credit lasts 30 minutes at full burst.
fn held((base, burst): (u64, Option<u64>), lasts: &Lasts) -> u64 {
    match (burst, lasts) {
        (Some(burst), Lasts::Seconds(seconds)) if burst > base => {
            base + (u128::from(burst - base) * 1800 / u128::from((*seconds).max(1800))) as u64
        }
        _ => base,
    }
}

/// Mean I/O units of an I/O: one for each 256 KiB begun, of each piece that a stripe's 512 KiB chunks cut.
fn units(block: u64, striped: bool) -> f64 {
    const UNIT: u64 = 256 << 10;
    const CHUNK: u64 = 512 << 10;
    if !striped || block <= CHUNK / 2 || CHUNK.is_multiple_of(block) {
        return block.div_ceil(UNIT) as f64;
    }
    let block = block.next_multiple_of(512);
    let places = 1024;
    let of = |place: u64| {
        let (mut at, end) = (place * block, (place + 1) * block);
        let mut units = 0;
        while at < end {
            let next = (at / CHUNK + 1) * CHUNK;
            units += (end.min(next) - at).div_ceil(UNIT);
            at = next;
        }
        units
    };
    (0..places).map(of).sum::<u64>() as f64 / places as f64
}

/// What a load takes, a second: of all, and below the host's cache.
struct Takes {
    units: u64,
    disk_units: u64,
    disk_bytes: u64,
}

fn takes(need: &Need, striped: bool, cache: Cache, cache_gib: u64) -> Takes {
    let load = &need.load;
    let block = if load.ios == 0 {
        512
    } else {
        load.bytes.div_ceil(load.ios)
    };
    let units = (load.ios as f64 * units(block, striped)).ceil() as u64;
    let reads = load.read_ppm;
    let set = load.working_set_bytes.max(1);
    let missed = (u128::from(set.saturating_sub(cache_gib * GIB)) * u128::from(reads))
        .div_ceil(u128::from(set)) as u64;
    let ppm = match cache {
        Cache::None => 1_000_000,
        Cache::ReadOnly | Cache::ReadWrite => missed + (1_000_000 - reads),
    };
    let part = |amount: u64| (u128::from(amount) * u128::from(ppm)).div_ceil(1_000_000) as u64;
    Takes {
        units,
        disk_units: part(units),
        disk_bytes: part(load.bytes),
    }
}

impl Market {
    pub(super) fn read() -> Self {
        let fixed = |row: &Row| {
            let credit = row["burst_model"] == "credit";
            let burst = |name| number(row, name).filter(|_| credit);
            Some(Fixed {
                family: row["family"].to_owned(),
                sku: row["sku"].to_owned(),
                gib: number(row, "size_gib")? as u64,
                iops: (
                    number(row, "base_iops")? as u64,
                    burst("burst_iops").map(|iops| iops as u64),
                ),
                rate: (
                    (number(row, "base_mbps")? * 1e6) as u64,
                    burst("burst_mbps").map(|mbps| (mbps * 1e6) as u64),
                ),
                microusd: micro(row, "price_usd_month")?,
            })
        };
        let vm = |row: &Row| {
            let rate = |name| number(row, name).map(|mbps| (mbps * 1e6).round() as u64);
            let iops = |name| number(row, name).map(|iops| iops as u64);
            Some(Vm {
                name: row["name"].to_owned(),
                series: row["series"].to_owned(),
                vcpus: number(row, "vcpus")? as u64,
                memory: number(row, "memory_gib").unwrap_or(0.0),
                places: number(row, "max_data_disks")? as u64,
                premium: row["premium_io"] == "true",
                caches: row["host_cache"] != "false",
                uncached: [
                    (iops("uncached_iops"), iops("burst_uncached_iops")),
                    (rate("uncached_mbps"), rate("burst_uncached_mbps")),
                ],
                cached: [iops("cached_iops"), rate("cached_mbps")],
                cache_gib: number(row, "cache_gib").map(|gib| gib as u64),
                microusd: micro(row, "price_usd_hour")? * 730,
            })
        };
        let mut vms: Vec<Vm> = rows(VMS).iter().filter_map(vm).collect();
        vms.sort_by_key(|vm| vm.microusd);
        Self {
            disks: rows(DISKS).iter().filter_map(fixed).collect(),
            flex: rows(FLEX).iter().map(Flex::read).collect(),
            vms,
        }
    }

    /// What the cheapest layout costs.
    pub(super) fn least(&self, need: &Need) -> Option<u64> {
        let mut least = u64::MAX;
        // A bound that shrinks: machines come cheapest first.
        for vm in self.wanted(need) {
            if vm.microusd >= least {
                break;
            }
            let bound = least;
            self.on(vm, need, bound, &mut |bought| least = least.min(bought.microusd));
        }
        (least < u64::MAX).then_some(least)
    }

    /// All layouts of less than `bound`.
    pub(super) fn each(&self, need: &Need, bound: u64, see: &mut impl FnMut(Bought)) {
        for vm in self.wanted(need).filter(|vm| vm.microusd < bound) {
            self.on(vm, need, bound, see);
        }
    }

    fn wanted<'m>(&'m self, need: &'m Need) -> impl Iterator<Item = &'m Vm> {
        let machine = &need.choice.machine;
        self.vms.iter().filter(|vm| {
            vm.vcpus >= u64::from(machine.vcpus) && vm.memory * GIB as f64 >= machine.memory_bytes as f64
        })
    }

    /// Whether the layout meets the need.
    pub(super) fn meets(&self, bought: &Bought, need: &Need) -> bool {
        let vm = self
            .vms
            .iter()
            .find(|vm| vm.name == bought.vm)
            .expect("a machine");
        let takes = |cache| takes(need, bought.count > 1, cache, vm.cache_gib.unwrap_or(0));
        let (size, iops, rate) = match (
            bought.chosen,
            self.disks.iter().find(|disk| disk.sku == bought.sku),
        ) {
            (Some([gib, iops, mbps]), _) => (gib, (iops, None), (mbps * MB, None)),
            (None, disk) => {
                let disk = disk.expect("a disk");
                (disk.gib, disk.iops, disk.rate)
            }
        };
        Self::carries(
            vm,
            need,
            bought.cache,
            &takes(bought.cache),
            (bought.count, iops, rate),
        ) && size * GIB * bought.count >= need.size_bytes
    }

    fn carries(
        vm: &Vm,
        need: &Need,
        cache: Cache,
        takes: &Takes,
        (count, iops, rate): (u64, Limit, Limit),
    ) -> bool {
        let lasts = &need.load.lasts;
        let passes = |used: u64, (base, burst): (Option<u64>, Option<u64>)| match base {
            _ if used == 0 => true,
            Some(base) => used <= held((base, burst), lasts),
            None => false,
        };
        let all = |(base, burst): (u64, Option<u64>)| (base * count, burst.map(|burst| burst * count));
        let cached = cache == Cache::None
            || (passes(takes.units, (vm.cached[0], None)) && passes(need.load.bytes, (vm.cached[1], None)));
        count <= vm.places
            && cached
            && takes.disk_units <= held(all(iops), lasts)
            && takes.disk_bytes <= held(all(rate), lasts)
            && passes(takes.disk_units, vm.uncached[0])
            && passes(takes.disk_bytes, vm.uncached[1])
    }

    /// Those on one machine, of less than `bound`.
    fn on(&self, vm: &Vm, need: &Need, bound: u64, see: &mut impl FnMut(Bought)) {
        let most = u64::from(need.choice.stripe_max).min(vm.places);
        for &cache in &need.choice.caches {
            if cache != Cache::None && (!vm.caches || vm.cache_gib.is_none()) {
                continue;
            }
            let takes = [false, true].map(|striped| takes(need, striped, cache, vm.cache_gib.unwrap_or(0)));
            for disk in &self.disks {
                let refused =
                    disk.family == "Premium SSD" && !vm.premium || cache != Cache::None && disk.gib >= 4096;
                if refused {
                    continue;
                }
                for count in 1..=most {
                    let microusd = vm.microusd + disk.microusd * count;
                    if microusd >= bound {
                        break;
                    }
                    let enough = disk.gib * GIB * count >= need.size_bytes;
                    let takes = &takes[usize::from(count > 1)];
                    if enough && Self::carries(vm, need, cache, takes, (count, disk.iops, disk.rate)) {
                        see(Bought {
                            vm: vm.name.clone(),
                            series: vm.series.clone(),
                            sku: disk.sku.clone(),
                            family: disk.family.clone(),
                            count,
                            cache,
                            chosen: None,
                            disk_microusd: disk.microusd,
                            microusd,
                        });
                    }
                }
            }
            if cache == Cache::None {
                for flex in &self.flex {
                    let mut cheaper = |bought: Bought| {
                        if bought.microusd < bound {
                            see(bought);
                        }
                    };
                    Self::flexible(vm, need, &takes, flex, most, &mut cheaper);
                }
            }
        }
    }

    /// Of freely sized disks, all that stand at a corner: as large, as many IOPS and MB/s as one requirement or cap asks for.
    fn flexible(
        vm: &Vm,
        need: &Need,
        takes: &[Takes; 2],
        flex: &Flex,
        most: u64,
        see: &mut impl FnMut(Bought),
    ) {
        for count in 1..=most {
            let takes = &takes[usize::from(count > 1)];
            let each = |amount: u64| amount.div_ceil(count);
            let needed = [
                each(need.size_bytes).div_ceil(GIB),
                each(takes.disk_units),
                each(takes.disk_bytes).div_ceil(MB),
            ];
            for chosen in flex.corners(needed) {
                let [_, iops, mbps] = chosen;
                let limits = (count, (iops, None), (mbps * MB, None));
                if Self::carries(vm, need, Cache::None, takes, limits) {
                    let disk_microusd = flex.price(chosen);
                    see(Bought {
                        vm: vm.name.clone(),
                        series: vm.series.clone(),
                        sku: flex.sku.clone(),
                        family: flex.family.clone(),
                        count,
                        cache: Cache::None,
                        chosen: Some(chosen),
                        disk_microusd,
                        microusd: vm.microusd + disk_microusd * count,
                    });
                }
            }
        }
    }
}

/// A freely sized disk. Triples are GiB, IOPS and MB/s.
struct Flex {
    sku: String,
    family: String,
    gib: (u64, u64),
    min: [u64; 2],
    max: [u64; 2],
    free: [u64; 2],
    iops_floor: u64,
    iops_per_gib: u64,
    scales_above_gib: u64,
    microusd: [u64; 3],
}

impl Flex {
    fn read(row: &Row) -> Self {
        let get = |name: &str| number(row, name).unwrap_or(0.0) as u64;
        let price = |name: &str| micro(row, name).expect("a price");
        assert_eq!(row["mbps_cap_per_iops"], "0.25");
        Self {
            sku: row["sku"].to_owned(),
            family: row["family"].to_owned(),
            gib: (get("min_gib"), get("max_gib")),
            min: [get("iops_min"), get("mbps_min")],
            max: [get("iops_cap_max"), get("mbps_cap_max")],
            free: [get("iops_baseline_free"), get("mbps_baseline_free")],
            iops_floor: get("iops_cap_floor"),
            iops_per_gib: get("iops_cap_per_gib"),
            scales_above_gib: get("iops_cap_scales_above_gib"),
            microusd: [
                price("price_usd_gib_month"),
                price("price_usd_iops_month"),
                price("price_usd_mbps_month"),
            ],
        }
    }

    fn iops_cap(&self, gib: u64) -> u64 {
        let scaled = if gib <= self.scales_above_gib {
            0
        } else {
            gib * self.iops_per_gib
        };
        scaled.max(self.iops_floor).min(self.max[0])
    }

    fn corners(&self, needed: [u64; 3]) -> Vec<[u64; 3]> {
        let [gib_needed, iops_needed, mbps_needed] = needed;
        let mut corners = Vec::new();
        for iops in [
            iops_needed,
            self.free[0],
            self.min[0],
            mbps_needed * 4,
            self.free[1] * 4,
        ] {
            for gib in [gib_needed, self.gib.0, iops.div_ceil(self.iops_per_gib)] {
                for mbps in [mbps_needed, self.free[1], self.min[1]] {
                    let chosen = [gib, iops, mbps];
                    let enough = chosen
                        .iter()
                        .zip(&needed)
                        .all(|(chosen, needed)| chosen >= needed);
                    let possible = (self.gib.0..=self.gib.1).contains(&gib)
                        && (self.min[0]..=self.iops_cap(gib)).contains(&iops)
                        && mbps >= self.min[1]
                        && mbps <= (iops / 4).max(self.min[1]).min(self.max[1]);
                    if enough && possible {
                        corners.push(chosen);
                    }
                }
            }
        }
        corners
    }

    fn price(&self, [gib, iops, mbps]: [u64; 3]) -> u64 {
        let above = [
            gib,
            iops.saturating_sub(self.free[0]),
            mbps.saturating_sub(self.free[1]),
        ];
        above
            .iter()
            .zip(&self.microusd)
            .map(|(amount, price)| amount * price)
            .sum()
    }
}
