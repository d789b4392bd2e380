//! The search against brute force that reads the catalogue's files for itself.

mod brute;
mod clouds;

use super::{cheapest, cheapest_of};
use crate::layout::{Cache, GIB, MB};
use crate::need::{Ask, Choice, MachineNeed, Need};
use fathom_core::rng::Rng;
use fathom_model::catalog::Catalog;
use fathom_testkit::seed;

/// A need as somebody may have it: from a small log to a large database, half of them with a machine in mind.
fn drawn(rng: &mut Rng) -> Need {
    let pick = |rng: &mut Rng, values: &[u64]| values[rng.below(values.len() as u64) as usize];
    let maybe = |rng: &mut Rng, value: u64| (rng.below(3) > 0).then_some(value);
    let block_bytes = pick(rng, &[4, 8, 16, 64, 128, 256, 512, 1024]) << 10;
    let iops = pick(rng, &[100, 480, 1_100, 3_000, 5_000, 12_000, 30_000, 80_000]) + rng.below(500);
    let mbps = pick(rng, &[5, 25, 100, 180, 250, 600, 1_500]) + rng.below(40);
    let size = pick(rng, &[8, 64, 200, 512, 1_500, 4_000, 20_000]) + rng.below(100);
    let mut ask = Ask {
        iops: maybe(rng, iops),
        bytes_per_second: maybe(rng, mbps * MB),
        size_bytes: maybe(rng, size * GIB),
        read_percent: maybe(rng, rng.clone().below(101)),
        working_set_bytes: (rng.below(3) == 0).then(|| (1 + rng.clone().below(size)) * GIB),
        lasts_seconds: (rng.below(4) == 0).then(|| pick(&mut rng.clone(), &[60, 1_200, 1_800, 7_200])),
        ..Ask::default()
    };
    // IOPS of blocks, or both and what follows from them.
    if ask.iops.is_none() || ask.bytes_per_second.is_none() {
        ask.block_bytes = Some(block_bytes);
    }
    if ask.iops.is_none() && ask.bytes_per_second.is_none() && ask.size_bytes.is_none() {
        ask.iops = Some(iops);
    }
    if let (Some(iops), Some(bytes)) = (ask.iops, ask.bytes_per_second)
        && bytes / iops < 512
    {
        ask.bytes_per_second = Some(iops * 4096);
    }
    ask.choice = Choice {
        machine: MachineNeed {
            name: None,
            vcpus: pick(rng, &[0, 0, 2, 8, 16]) as u32,
            memory_bytes: pick(rng, &[0, 0, 16, 64]) * GIB,
        },
        caches: match rng.below(3) {
            0 => vec![Cache::None],
            1 => vec![Cache::None, Cache::ReadOnly],
            _ => vec![Cache::None, Cache::ReadOnly, Cache::ReadWrite],
        },
        stripe_max: pick(rng, &[1, 4, 64, 64]) as u32,
        ..Choice::default()
    };
    ask.need().expect("a possible need").0
}

#[test]
fn nothing_is_cheaper_than_what_is_found() {
    let catalog = Catalog::azure();
    let market = brute::Market::read();
    let seed = seed();
    let mut rng = Rng::new(seed);
    let mut met = 0;
    for number in 0..500 {
        let need = drawn(&mut rng);
        let found = cheapest(catalog, &need, 10);
        let least = market.least(&need);
        let first = found.answers.first().map(|answer| answer.cost.microusd_month());
        assert_eq!(first, least, "need {number} of seed {seed}: {need:#?}");
        met += usize::from(least.is_some());
    }
    assert!(
        (300..500).contains(&met),
        "{met} of 500 could be met: too few or too many to tell"
    );
}

/// How many needs are put to all clouds, unless `FATHOM_NEEDS` says otherwise.
const NEEDS: u32 = 500;

/// The same of all clouds, each alone and together, by formulas written down a second time: the prices equal to the cent, and where
/// there is no layout there is none.
#[test]
fn nothing_is_cheaper_on_any_cloud() {
    let seed = seed();
    let mut rng = Rng::new(seed);
    let needs = std::env::var("FATHOM_NEEDS").map_or(NEEDS, |text| text.parse().expect("a number"));
    let market = brute::Market::read();
    let catalogs = ["azure", "aws", "gcp"].map(|cloud| Catalog::named(cloud).expect(cloud));
    let mut possible = [0, 0, 0];
    let mut chosen = [0, 0, 0];
    for number in 0..needs {
        let mut need = drawn(&mut rng);
        // I/Os of at most a unit, which no chunk cuts.
        let block_bytes = (4 << 10) << rng.below(6);
        need.load.bytes = need.load.ios * block_bytes;
        need.choice.stripe_max = need.choice.stripe_max.min(12);
        let usd = |found: &super::Found<'_>| {
            let first = found.answers.first();
            first.map(|one| one.cost.microusd_month() as f64 / 1e6)
        };
        let same = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => (one - other).abs() < 0.005,
            (one, other) => one == other,
        };
        let mut least_of_all: Option<f64> = None;
        for (place, catalog) in catalogs.iter().enumerate() {
            let least = match catalog.cloud() {
                "azure" => market.least(&need).map(|microusd| microusd as f64 / 1e6),
                _ => clouds::cheapest_usd(catalog, &need),
            };
            let found = cheapest(catalog, &need, 1);
            let target = found.answers.first().map(|one| one.layout.target());
            assert!(
                same(usd(&found), least),
                "seed {seed}, {}, need {number}: {target:?} {:?}, least {least:?}: {need:?}",
                catalog.cloud(),
                usd(&found)
            );
            possible[place] += u32::from(least.is_some());
            least_of_all = least.into_iter().chain(least_of_all).reduce(f64::min);
        }
        let found = cheapest_of(&catalogs, &need, 1);
        assert!(
            same(usd(&found), least_of_all),
            "seed {seed}, all clouds, need {number}: {:?}, least {least_of_all:?}: {need:?}",
            usd(&found)
        );
        if let Some(first) = found.answers.first() {
            let place = catalogs
                .iter()
                .position(|catalog| catalog.cloud() == first.layout.cloud);
            chosen[place.expect("one of them")] += 1;
        }
    }
    println!("possible on azure, aws, gcp: {possible:?}; the cheapest of all: {chosen:?}");
    assert!(possible.iter().all(|&count| count > needs / 5), "{possible:?}");
    assert!(
        chosen.iter().filter(|&&count| count > 0).count() > 1,
        "{chosen:?}"
    );
}

/// A volume that would have more IOPS than an instance without Nitro lets it have is two there, or is on another instance.
#[test]
fn volumes_are_held_to_what_the_machine_lets_them_have() {
    let aws = Catalog::named("aws").expect("a cloud");
    let most = |vm: &&fathom_model::catalog::Vm| vm.hypervisor == "xen" && vm.uncached_iops >= Some(50_000);
    let xen = aws.vms().iter().find(most).expect("a large one");
    let layouts = |name: &str| {
        let mut ask = Ask {
            iops: Some(40_000),
            size_bytes: Some(1_000 * GIB),
            block_bytes: Some(4 << 10),
            ..Ask::default()
        };
        ask.choice.machine.name = Some(name.to_owned());
        ask.choice.families = vec![aws.family("io2").expect("a family")];
        let found = cheapest(aws, &ask.need().expect("a need").0, 5);
        let of = |answer: &super::Answer<'_>| (answer.layout.count, answer.layout.disk.iops);
        found.answers.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(layouts("m6i.32xlarge"), [(1, 40_000)]);
    assert_eq!(layouts(&xen.name), [(2, 20_000)]);
}

/// Prices of another region are those of its rows; what has none there is not offered, and machines there have none.
#[test]
fn another_region_has_its_own_prices() {
    let aws = Catalog::named("aws").expect("a cloud");
    let tokyo = aws.of_region("AP-northeast-1").expect("prices");
    assert_eq!(aws.of_region("us-east-1"), None);
    assert_eq!(aws.of_region("nowhere"), None);
    let mut ask = Ask {
        iops: Some(40_000),
        size_bytes: Some(1_000 * GIB),
        block_bytes: Some(4 << 10),
        ..Ask::default()
    };
    ask.choice.machine.name = Some(String::from("m6i.32xlarge"));
    ask.choice.stripe_max = 1;
    ask.choice.region = Some(String::from("ap-northeast-1"));
    let need = ask.need().expect("a need").0;
    let answers = cheapest(&tokyo, &need, 10).answers;
    let prices = answers.iter().map(|answer| {
        assert_eq!(answer.cost.machine_microusd_month(), None);
        assert_eq!(answer.layout.disk.offer.priced().0, "ap-northeast-1");
        (
            answer.layout.disk.sku(),
            answer.layout.count,
            answer.cost.microusd_month(),
        )
    });
    let prices: Vec<_> = prices.collect();
    // 1,000 GiB x 0.096, 37,000 IOPS x 0.006 and, of 156.25 MiB/s, 32 beyond the 125 of each x 0.048; 1,000 x 0.142, 32,000 x 0.074 and
    // 8,000 x 0.0518.
    assert!(prices.contains(&("gp3", 1, 319_536_000)), "{prices:?}");
    assert!(prices.contains(&("io2", 1, 2_924_400_000)), "{prices:?}");
    assert!(
        prices.iter().all(|(sku, ..)| ["gp3", "io2"].contains(sku)),
        "{prices:?}"
    );
}

#[test]
fn what_is_not_listed_is_more_of_what_is_or_dearer() {
    let catalog = Catalog::azure();
    let market = brute::Market::read();
    let seed = seed();
    let mut rng = Rng::new(seed ^ 1);
    for number in 0..60 {
        let need = drawn(&mut rng);
        let found = cheapest(catalog, &need, 10);
        let told: Vec<brute::Bought> = found.answers.iter().map(brute::Bought::of).collect();
        let prices: Vec<u64> = told.iter().map(|bought| bought.microusd).collect();
        assert!(prices.is_sorted(), "{prices:?}");
        let Some(&dearest) = prices.last() else { continue };
        let bound = if told.len() < 10 { u64::MAX } else { dearest };
        market.each(&need, bound, &mut |bought| {
            let less = told.iter().any(|listed| listed.is_part_of(&bought));
            assert!(
                less || bought.microusd >= bound,
                "need {number} of seed {seed}: {bought:?} is not listed\n{need:#?}\n{told:#?}"
            );
        });
        for bought in &told {
            assert!(
                market.meets(bought, &need),
                "need {number} of seed {seed}: {bought:?}\n{need:#?}"
            );
        }
    }
}

#[test]
fn an_answer_is_the_target_that_it_names() {
    let catalog = Catalog::azure();
    let mut rng = Rng::new(seed() ^ 2);
    let mut looked_at = 0;
    for _ in 0..80 {
        for answer in cheapest(catalog, &drawn(&mut rng), 10).answers {
            let target = answer.layout.target();
            let spec = fathom_model::target::parse(&target, catalog).expect(&target);
            assert_eq!(
                crate::setup::Setup::of_spec(&spec),
                Some(crate::setup::Setup::of(&answer.layout)),
                "{target}"
            );
            let again = crate::layout::Layout::named(&target, catalog).expect(&target);
            assert_eq!(again, answer.layout, "{target}");
            looked_at += 1;
        }
    }
    assert!(looked_at > 300, "{looked_at}");
}

#[test]
fn a_named_machine_needs_no_price() {
    let catalog = Catalog::azure();
    let unpriced = catalog
        .vms()
        .iter()
        .find(|vm| {
            vm.price_microusd_hour.is_none() && vm.premium_io == Some(true) && vm.uncached_iops > Some(3_000)
        })
        .expect("some machine has no price");
    let ask = Ask {
        iops: Some(1_000),
        choice: Choice {
            machine: MachineNeed {
                name: Some(unpriced.name.clone()),
                ..MachineNeed::default()
            },
            ..Choice::default()
        },
        ..Ask::default()
    };
    let found = cheapest(catalog, &ask.need().expect("a need").0, 3);
    let first = &found.answers[0];
    assert_eq!(first.cost.machine_microusd_month(), None);
    assert!(first.cost.microusd_month() > 0);
}
