//! Every disk of the catalogues, identified in virtual time.
//!
//! Prints its seed, the rate of those that were found, and each miss.

use fathom_core::rng::Rng;
use fathom_identify::candidates::{Search, observed};
use fathom_identify::fit::{Counted, Credit, Fit, Release};
use fathom_identify::nearest::nearest;
use fathom_identify::predict::{self, Stage};
use fathom_identify::schedule::Options;
use fathom_identify::{Mix, drive};
use fathom_model::catalog::Catalog;
use fathom_model::spec::{Limit, PathLimits};
use fathom_model::{Spec, target};

const SEED: u64 = 20_261_123;
const SECOND_NS: u64 = 1_000_000_000;
const LIMIT_OFF: f64 = 0.02;
/// Of reads and writes at once, which wait for each other.
const BOTH_OFF: f64 = 0.05;

/// What is to be found out, and what it is.
struct Case {
    words: String,
    spec: Spec,
    on_credit: bool,
}

fn case(words: String) -> Option<Case> {
    let spec = target::parse(&words, Catalog::azure()).ok()?;
    let bursts = |limits: &fathom_model::spec::PathLimits| {
        limits.burst.as_ref().is_some_and(|burst| burst.level_percent > 0)
    };
    let on_credit = bursts(&spec.disks[0].limits) || spec.vm.as_ref().is_some_and(|vm| bursts(&vm.uncached));
    Some(Case {
        words,
        spec,
        on_credit,
    })
}

fn alone() -> Vec<Case> {
    let mut words = Vec::new();
    for cloud in Catalog::names() {
        let catalog = Catalog::named(cloud).expect("embedded");
        words.extend(catalog.disks().iter().map(|disk| format!("{cloud}/{}", disk.sku)));
        for disk in catalog.flex_disks() {
            words.extend([60, 700, 5_000].map(|gib| format!("{cloud}/{}:{gib}GiB", disk.sku)));
            words.push(format!("{cloud}/{}:2000GiB,iops=7000", disk.sku));
        }
    }
    words.into_iter().filter_map(case).collect()
}

fn on_machines() -> Vec<Case> {
    let words = [
        "azure/P30,vm=Standard_D4s_v5",
        "azure/P40,vm=Standard_D2s_v5",
        "azure/P60,vm=Standard_D8s_v3",
        "azure/E80,vm=Standard_D4s_v3",
        "azure/P80,vm=Standard_DS3_v2",
        "azure/PremiumV2:1000GiB,iops=20000,mbps=600,vm=Standard_D8s_v5",
        "aws/gp3:500GiB,iops=6000,mbps=250,vm=m6i.xlarge",
        "aws/io2:1000GiB,iops=30000,vm=m5.4xlarge",
        "gcp/pd-ssd:2000GiB,vm=n2-standard-8",
        "gcp/pd-balanced:1000GiB,vm=n2-standard-4",
        "gcp/hyperdisk-balanced:1000GiB,iops=10000,vm=c3-standard-8",
    ];
    words
        .into_iter()
        .filter_map(|words| case(words.to_owned()))
        .collect()
}

/// What is wrong with what was found; empty: nothing.
fn misses(case: &Case) -> Vec<String> {
    let options = Options {
        credit: case.on_credit,
        time_ns: match (case.on_credit, case.spec.vm.is_some()) {
            (true, false) => 40_000,
            // That of machines may last for hours.
            (true, true) => 4_000,
            (false, _) => 600,
        } * SECOND_NS,
        ..Options::default()
    };
    let schedule = drive::identify(&case.spec, options, SEED);
    let fit = Fit::new(&schedule, Some(case.spec.volume_bytes())).expect("all is measured");
    let mut misses = Vec::new();
    if !case.on_credit && fit.spent_ns > 600 * SECOND_NS {
        misses.push(format!("took {} s", fit.spent_ns / SECOND_NS));
    }
    for seen in observed(&fit) {
        let limit = predict::rate(&case.spec, seen.mix, seen.block_bytes, seen.stage);
        let off = if seen.mix == Mix::Both {
            BOTH_OFF
        } else {
            LIMIT_OFF
        };
        if seen.is_limit && (seen.per_second / limit - 1.0).abs() > off {
            misses.push(format!("{seen:?}: the limit is {limit:.1}"));
        }
    }
    let fell = matches!(fit.credit, Credit::Spent { .. });
    let would = observed(&fit).iter().any(|seen| {
        let rate = |stage| predict::rate(&case.spec, seen.mix, seen.block_bytes, stage);
        rate(Stage::Spent) < rate(Stage::First) * 0.9
    });
    if case.on_credit && fell != would && (fell || case.spec.vm.is_none()) {
        misses.push(format!("credit: {:?}, would fall: {would}", fit.credit));
    }
    let slice_ns = case.spec.slices.slice_ns;
    match fit.release {
        Release::Slices { slice_ns: seen } if seen.abs_diff(slice_ns) > 500_000 => {
            misses.push(format!("slices of {seen} ns, not of {slice_ns}"));
        }
        Release::Even if slice_ns != 0 => misses.push(String::from("evenly, not in slices")),
        _ => {}
    }
    if let Counted::Unit(bytes) = fit.unit
        && bytes.abs_diff(case.spec.disks[0].io_unit_bytes) > bytes / 20
    {
        misses.push(format!("a unit of {bytes} bytes"));
    }
    let catalogs: Vec<&Catalog> = Catalog::names().filter_map(Catalog::named).collect();
    let search = Search {
        catalogs: &catalogs,
        vm: None,
        machines: true,
    };
    let groups = nearest(&fit, search);
    let told = |spec: &Spec, seen: &fathom_identify::candidates::Observed| {
        let rate = predict::rate(spec, seen.mix, seen.block_bytes, seen.stage);
        if seen.is_limit {
            rate
        } else {
            rate.min(seen.per_second)
        }
    };
    let right = groups.first().is_some_and(|group| {
        let same_cloud = group
            .members
            .iter()
            .any(|one| case.words.starts_with(&format!("{}/", one.cloud)));
        let of_limits = observed(&fit);
        let equal = of_limits
            .iter()
            .filter(|seen| seen.is_limit)
            .all(|seen| (told(&group.best().spec, seen) / told(&case.spec, seen) - 1.0).abs() < 0.01);
        same_cloud && equal
    });
    if !right {
        let nearest = groups.iter().take(3).map(|group| {
            format!(
                "{} {:.3} ({:.1})",
                group.best().words,
                group.likelihood,
                group.score
            )
        });
        let limits: Vec<String> = observed(&fit)
            .iter()
            .map(|seen| {
                format!(
                    "{:?} {} {:.0}/{:.0}",
                    seen.mix,
                    seen.block_bytes,
                    seen.per_second,
                    told(&case.spec, seen)
                )
            })
            .collect();
        misses.push(limits.join(", "));
        misses.push(format!("SKU: {}", nearest.collect::<Vec<_>>().join("; ")));
    }
    misses
}

fn check(cases: &[Case]) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let missed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let begin = std::time::Instant::now();
                    let misses = misses(case);
                    let took = begin.elapsed();
                    if took.as_secs() > 1 {
                        println!("{}: {took:?}", case.words);
                    }
                    if !misses.is_empty() {
                        missed.lock().expect("no panic").push(format!(
                            "{}: {}",
                            case.words,
                            misses.join("\n    ")
                        ));
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no panic");
    let right = cases.len() - missed.len();
    println!("seed {SEED}: {right} of {} found", cases.len());
    for miss in &missed {
        println!("  {miss}");
    }
    assert!(
        right * 100 >= cases.len() * 98,
        "{} of {} missed",
        missed.len(),
        cases.len()
    );
}

#[test]
fn every_disk_is_found() {
    check(&alone());
}

#[test]
fn disks_behind_machines_are_found() {
    check(&on_machines());
}

/// Limits that no product has: an I/O costs the same whatever its size, and the limit on bytes may show with large ones only.
#[test]
fn limits_that_somebody_chose_are_found() {
    let mut rng = Rng::new(SEED);
    let mut with_bytes = 0;
    for number in 0..30 {
        let mut between =
            |from: f64, to: f64| (from.ln() + (to / from).ln() * rng.unit()).exp().round() as u64;
        let (iops, bytes_per_second) = (between(300.0, 4_000.0), between(20e6, 300e6));
        let mut case = case(String::from("azure/P30")).expect("a disk");
        case.spec.slices.factor_permille = 1_000;
        case.spec.slices.slice_ns = [0, 20_000_000, 50_000_000, 100_000_000][number as usize % 4];
        case.spec.disks[0].released = None;
        case.spec.disks[0].io_unit_bytes = 64 << 20;
        case.spec.disks[0].limits = PathLimits {
            iops: Limit::At(iops),
            bytes_per_second: Limit::At(bytes_per_second),
            burst: None,
        };
        let schedule = drive::identify(&case.spec, Options::default(), SEED + number);
        let fit = Fit::new(&schedule, Some(case.spec.volume_bytes())).expect("all is measured");
        let found = fathom_identify::spec::spec(&fit, "found", case.spec.volume_bytes())
            .disks
            .remove(0);
        let told = format!(
            "{number}: {iops} IOPS, {bytes_per_second} B/s: {:?}",
            found.limits
        );
        let near = |limit: Limit, truth: u64| match limit {
            Limit::At(rate) => (rate as f64 / truth as f64 - 1.0).abs() <= LIMIT_OFF,
            _ => false,
        };
        assert!(near(found.limits.iops, iops), "{told}");
        // Beyond the largest measured size nothing is claimed.
        if bytes_per_second <= iops * (1 << 20) {
            assert!(near(found.limits.bytes_per_second, bytes_per_second), "{told}");
            with_bytes += 1;
        }
    }
    assert!(with_bytes > 15);
}
