//! Rows of the files, drawn at random: what the model makes of them against the cells, read here by other means, and against the
//! words of the source, reckoned here anew.

use crate::rig::{GIB, MIB, catalog, seed, spec};
use fathom_core::rng::Rng;
use fathom_model::Catalog;
use fathom_model::spec::{Counts, Limit, PathLimits};
use std::collections::BTreeMap;

const DRAWN: usize = 50;

type Row = BTreeMap<String, String>;

/// The rows of a file, cells in quotes taken for what they are.
fn rows(text: &str) -> Vec<Row> {
    let cells = |line: &str| {
        let mut cells = vec![String::new()];
        let mut quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                other => cells.last_mut().expect("one").push(other),
            }
        }
        cells
    };
    let mut lines = text.lines();
    let names = cells(lines.next().expect("a heading"));
    let row = |line: &str| names.iter().cloned().zip(cells(line)).collect();
    lines.map(row).collect()
}

fn drawn(rng: &mut Rng, rows: &[Row]) -> Vec<Row> {
    let one = |_| rows[rng.below(rows.len() as u64) as usize].clone();
    (0..DRAWN).map(one).collect()
}

/// A cell in millions of a unit: exact, without floating point.
fn cell(row: &Row, name: &str, unit: u64) -> Limit {
    let text = row[name].as_str();
    if text.is_empty() {
        return Limit::NotKnown;
    }
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<6}");
    let micro =
        whole.parse::<u128>().expect("a number") * 1_000_000 + part.parse::<u128>().expect("a number");
    Limit::At((micro * u128::from(unit) / 1_000_000) as u64)
}

const AZURE_DISKS: &str = include_str!("../../data/azure/disks.csv");
const AZURE_VMS: &str = include_str!("../../data/azure/vms.csv");
const AWS_VMS: &str = include_str!("../../data/aws/vms.csv");
const GCP_VMS: &str = include_str!("../../data/gcp/vms.csv");
const PRICES: [(&str, &str); 2] = [
    ("aws", include_str!("../../data/aws/prices.csv")),
    ("gcp", include_str!("../../data/gcp/prices.csv")),
];
const GCP_LIMITS: &str = include_str!("../../data/gcp/vm-limits.csv");

#[test]
fn every_row_of_every_file_is_there() {
    for (cloud, vms, text) in [
        ("azure", 1_433, AZURE_VMS),
        ("aws", 1_373, AWS_VMS),
        ("gcp", 568, GCP_VMS),
    ] {
        assert_eq!(catalog(cloud).vms().len(), vms, "{cloud}");
        assert_eq!(rows(text).len(), vms, "{cloud}");
        for (row, vm) in rows(text).iter().zip(catalog(cloud).vms()) {
            assert_eq!(row["name"], vm.name);
        }
    }
    let counts = ["azure", "aws", "gcp"].map(|cloud| {
        let catalog = catalog(cloud);
        (
            catalog.disks().len(),
            catalog.flex_disks().len(),
            catalog.vm_limits().len(),
        )
    });
    assert_eq!(counts, [(39, 2, 0), (0, 7, 0), (0, 8, 326)]);
    assert_eq!(rows(GCP_LIMITS).len(), 326);
    // Each limit by family is some machine's, but for a bracket of processors that no machine has.
    let gcp = catalog("gcp");
    let no_machine = gcp
        .vm_limits()
        .iter()
        .filter(|row| !gcp.vms().iter().any(|vm| row.is_of(vm)));
    let no_machine: Vec<&str> = no_machine.map(|row| row.series.as_str()).collect();
    assert_eq!(no_machine, ["n2", "n2", "n2", "n2d", "n2d", "n2d"]);
}

/// Each price of another region is that of a disk there.
#[test]
fn every_price_of_another_region_is_there() {
    let mut seen = 0;
    for (cloud, text) in PRICES {
        let catalog = catalog(cloud);
        assert_eq!(catalog.prices().len(), rows(text).len());
        for row in rows(text) {
            let there = catalog.of_region(&row["region"]).expect("a region");
            let mut disks = there.flex_disks().iter();
            let disk = disks.find(|disk| disk.sku == row["sku"]).expect("a disk");
            let micro = |name: &str| match cell(&row, name, 1_000_000) {
                Limit::At(price) => Some(price),
                _ => None,
            };
            assert_eq!(
                disk.price_microusd_gib_month,
                micro("price_usd_gib_month"),
                "{row:?}"
            );
            assert_eq!(
                disk.price_microusd_iops_month,
                micro("price_usd_iops_month"),
                "{row:?}"
            );
            assert_eq!(
                disk.price_microusd_mbps_month,
                micro("price_usd_mbps_month"),
                "{row:?}"
            );
            assert_eq!(
                (&disk.price_region, &disk.price_date),
                (&row["region"], &row["price_date"])
            );
            assert!(catalog.regions().contains(&row["region"].as_str()));
            let known = Catalog::sources(cloud).expect("sources");
            assert!(known.contains(&format!("| `{}` |", row["source"])), "{row:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 7);
    assert_eq!(catalog("azure").prices(), []);
}

/// Each machine of each cloud can be named in a target, with each disk that it takes.
#[test]
fn each_machine_takes_a_disk() {
    for (cloud, disk) in [
        ("aws", "gp3:100GiB"),
        ("gcp", "pd-balanced:100GiB"),
        ("azure", "E10"),
    ] {
        for vm in catalog(cloud).vms() {
            // "C4D: no Persistent Disk".
            let disk = if vm.name.starts_with("c4d-") {
                "hyperdisk-balanced:100GiB"
            } else {
                disk
            };
            let spec = spec(&format!("{cloud}/{disk},vm={}", vm.name));
            assert_eq!(spec.vm.expect("a machine").name, vm.name);
        }
    }
}

#[test]
fn azure() {
    let mut rng = Rng::new(seed());
    for row in drawn(&mut rng, &rows(AZURE_DISKS)) {
        let disk = spec(&format!("azure/{}", row["sku"])).disks.remove(0);
        assert_eq!(disk.limits.iops, cell(&row, "base_iops", 1));
        assert_eq!(disk.limits.bytes_per_second, cell(&row, "base_mbps", 1_000_000));
        let credit = disk.limits.burst.map(|burst| (burst.iops, burst.full_seconds));
        // "Credit model: 30 minutes at the maximum burst rate."
        let wanted = (row["burst_model"] == "credit").then(|| (cell(&row, "burst_iops", 1), 1_800));
        assert_eq!(credit, wanted, "{}", row["sku"]);
    }
    for row in drawn(&mut rng, &rows(AZURE_VMS)) {
        let vm = spec(&format!("azure/E10,vm={}", row["name"]))
            .vm
            .expect("a machine");
        of_machine(&row, &vm.uncached);
        assert_eq!(vm.cached.iops, cell(&row, "cached_iops", 1));
        assert_eq!(vm.cached.bytes_per_second, cell(&row, "cached_mbps", 1_000_000));
    }
}

/// Limits of a machine for all its disks.
fn of_machine(row: &Row, limits: &PathLimits) {
    let name = &row["name"];
    assert_eq!(limits.iops, cell(row, "uncached_iops", 1), "{name}");
    assert_eq!(
        limits.bytes_per_second,
        cell(row, "uncached_mbps", 1_000_000),
        "{name}"
    );
    let bursts = (
        cell(row, "burst_uncached_iops", 1),
        cell(row, "burst_uncached_mbps", 1_000_000),
    );
    let above = |burst: Limit, base: Limit| burst != Limit::NotKnown && burst != base;
    if above(bursts.0, limits.iops) || above(bursts.1, limits.bytes_per_second) {
        let burst = limits.burst.as_ref().expect(name);
        assert_eq!(
            (burst.iops, burst.bytes_per_second, burst.full_seconds),
            (bursts.0, bursts.1, 1_800)
        );
    } else {
        assert!(limits.burst.is_none(), "{name}");
    }
}

/// What the documentation's words make of a disk: IOPS and MiB/s, of writes too where they have others, in thousandths.
type Words = fn(gib: u64, iops: u64) -> [u64; 4];

fn both(iops: u64, milli_mib: u64) -> [u64; 4] {
    [iops, milli_mib, iops, milli_mib]
}

#[test]
fn aws() {
    let mut rng = Rng::new(seed());
    for row in drawn(&mut rng, &rows(AWS_VMS)) {
        let vm = spec(&format!("aws/gp3:100GiB,vm={}", row["name"]))
            .vm
            .expect("a machine");
        of_machine(&row, &vm.uncached);
        assert_eq!(vm.cards, if row["cards"].is_empty() { 1 } else { 2 });
    }
    let words: [(&str, u64, u64, Words); 6] = [
        // "3,000 IOPS and 125 MiB/s free"
        ("gp3", 6, 65_536, |_, iops| both(iops, 125_000)),
        // "3 IOPS/GiB, floor 100, cap 16,000"; "<=170 GiB: 128; >170 and <334 GiB: 128, burst to 250 with credits; >=334 GiB: 250"
        ("gp2", 1, 16_384, |gib, _| {
            both(
                (3 * gib).clamp(100, 16_000),
                if gib < 334 { 128_000 } else { 250_000 },
            )
        }),
        // "IOPS<=32000: min(500, 256 KiB*IOPS); IOPS>32000: 16 KiB*IOPS up to 1000"
        ("io1", 60, 16_384, |_, iops| {
            both(
                iops,
                if iops <= 32_000 {
                    (iops * 250).min(500_000)
                } else {
                    (iops * 1_000 / 64).min(1_000_000)
                },
            )
        }),
        // "min(4000, 0.256*provisioned IOPS)"
        ("io2", 4, 65_536, |_, iops| {
            both(iops, (iops * 256).min(4_000_000))
        }),
        // "base = min(500, 40*TiB)", "500 (1 MiB I/O)"
        ("st1", 125, 16_384, |gib, _| {
            both(500, (gib * 40_000 / 1_024).min(500_000))
        }),
        // "base = 12*TiB", "250 (1 MiB I/O)"
        ("sc1", 125, 16_384, |gib, _| both(250, gib * 12_000 / 1_024)),
    ];
    for _ in 0..DRAWN {
        let (name, least, most, words) = words[rng.below(6) as usize];
        let gib = least + rng.below(most - least + 1);
        let iops = 3_000;
        let chosen = if ["gp3", "io1", "io2"].contains(&name) {
            ",iops=3000"
        } else {
            ""
        };
        let limits = spec(&format!("aws/{name}:{gib}GiB{chosen}")).disks[0]
            .limits
            .clone();
        agrees(&limits, words(gib, iops), name, gib);
    }
}

/// Whether limits are those of the words, to a thousandth of a MiB a second.
fn agrees(limits: &PathLimits, words: [u64; 4], name: &str, gib: u64) {
    assert_eq!(limits.iops, Limit::At(words[0]), "{name} {gib}");
    let bytes = limits.bytes_per_second.rate().expect("known");
    let wanted = words[1] as f64 / 1_000.0 * MIB as f64;
    assert!(
        (bytes as f64 - wanted).abs() <= MIB as f64 / 500.0,
        "{name} {gib}: {bytes} {wanted}"
    );
}

#[test]
fn gcp() {
    let mut rng = Rng::new(seed());
    let gcp = catalog("gcp");
    let mut checked = 0;
    let all = rows(GCP_LIMITS);
    while checked < DRAWN {
        let row = &all[rng.below(all.len() as u64) as usize];
        checked += usize::from(machine_limit(gcp, row));
    }
    let words: [(&str, u64, Words); 3] = [
        // "0.75*GiB" read, "1.5*GiB" written, "0.12*GiB"
        ("pd-standard", 10, |gib, _| {
            [
                (gib * 3 / 4).min(7_500),
                (gib * 120).min(1_200_000),
                (gib * 3 / 2).min(15_000),
                (gib * 120).min(400_000),
            ]
        }),
        // "3000 + 6*GiB", "140 + 0.28*GiB"
        ("pd-balanced", 10, |gib, _| {
            both(
                (3_000 + 6 * gib).min(80_000),
                (140_000 + 280 * gib).min(1_200_000),
            )
        }),
        // "6000 + 30*GiB", "240 + 0.48*GiB"
        ("pd-ssd", 10, |gib, _| {
            both(
                (6_000 + 30 * gib).min(100_000),
                (240_000 + 480 * gib).min(1_200_000),
            )
        }),
    ];
    for _ in 0..DRAWN {
        let (name, least, words) = words[rng.below(3) as usize];
        let (gib, count) = (least + rng.below(8_000), 1 + rng.below(4));
        let spec = spec(&format!("gcp/{count}x{name}:{gib}GiB"));
        let words = words(gib * count, 0);
        let of = |counts| {
            let found = spec.shared.iter().find(|shared| shared.counts == counts);
            &found.expect("limits").limits
        };
        agrees(of(Counts::Reads), words, name, gib);
        agrees(of(Counts::Writes), [words[2], words[3], 0, 0], name, gib);
        // "It is not possible to reach the maximum IOPS limits for reads and writes simultaneously."
        assert_eq!(
            of(Counts::All).iops,
            Limit::At(words[0].max(words[2])),
            "{name} {gib}"
        );
        assert_eq!(spec.disks[0].size_bytes, gib * GIB);
    }
}

/// A row of limits by machine and family; whether there is a machine that has it, and no row that is closer.
fn machine_limit(gcp: &Catalog, row: &Row) -> bool {
    let family = gcp.family(&row["family"]).expect("a family");
    let bound = |name: &str, open: u32| row[name].parse().unwrap_or(open);
    let (least, most) = (bound("vcpus_min", 0), bound("vcpus_max", u32::MAX));
    let means = |vm: &&fathom_model::catalog::Vm| {
        let named = !row["name"].is_empty();
        let fits = if named {
            vm.name == row["name"]
        } else {
            vm.series == row["series"] && (least..=most).contains(&vm.vcpus)
        };
        fits && (named
            || gcp
                .vm_limit(vm, family)
                .is_some_and(|found| found.name.is_empty()))
    };
    let Some(vm) = gcp.vms().iter().find(means) else {
        return false;
    };
    let size = match row["family"].as_str() {
        "hyperdisk-throughput" => "2048GiB,mibps=100",
        "hyperdisk-extreme" | "pd-extreme" => "500GiB,iops=5000",
        // Of these volumes nothing is known: only what machines let through to them.
        "hyperdisk-ml" => {
            let limit = gcp.vm_limit(vm, family).expect("limits");
            assert_eq!(limit.read_iops.map(Limit::At), Some(cell(row, "read_iops", 1)));
            let bytes = limit.read_bytes_per_second.map(Limit::At);
            assert_eq!(bytes, Some(cell(row, "read_mbps", MIB)));
            assert!(limit.together && row["together"] == "true");
            return true;
        }
        _ => "500GiB",
    };
    let spec = spec(&format!("gcp/{}:{size},vm={}", row["family"], vm.name));
    let of_vm = |counts: &[Counts]| {
        let of = |counts: &Counts| {
            spec.shared
                .iter()
                .find(|shared| shared.of_vm && shared.counts == *counts)
        };
        counts.iter().find_map(of).expect("limits").limits.clone()
    };
    let reads = of_vm(&[Counts::Reads, Counts::All]);
    let writes = of_vm(&[Counts::Writes, Counts::All]);
    let name = &vm.name;
    assert_eq!(reads.iops, cell(row, "read_iops", 1), "{name} {row:?}");
    assert_eq!(writes.iops, cell(row, "write_iops", 1), "{name} {row:?}");
    assert_eq!(reads.bytes_per_second, cell(row, "read_mbps", MIB), "{name}");
    assert_eq!(writes.bytes_per_second, cell(row, "write_mbps", MIB), "{name}");
    assert!(reads == writes || row["together"] == "false", "{name}");
    true
}
