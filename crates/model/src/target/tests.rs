use super::*;
use crate::catalog::GIB;
use crate::spec::{CacheMode, Limit};
use crate::testing::family;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn spec(text: &str) -> Spec {
    parse(text, Catalog::azure()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The answer to each of `texts`, one below the other.
fn check(texts: &[&str], wanted: &Expect) {
    let answer = |text: &&str| match parse(text, Catalog::azure()) {
        Ok(spec) => format!("{text}\n  accepted: {}\n", spec.name),
        Err(error) => format!("{text}\n  {error}\n"),
    };
    wanted.assert_eq(&texts.iter().map(answer).collect::<String>());
}

#[test]
fn a_disk_alone_has_the_limits_of_the_catalogue() {
    let spec = spec("azure/P15");
    assert_eq!(spec.disks.len(), 1);
    let disk = &spec.disks[0];
    assert_eq!((disk.name.as_str(), disk.size_bytes), ("P15", 256 * GIB));
    assert_eq!(disk.limits.iops, Limit::At(1100));
    assert_eq!(disk.limits.bytes_per_second, Limit::At(125_000_000));
    let burst = disk.limits.burst.as_ref().expect("P15 bursts");
    assert_eq!(
        (
            burst.iops,
            burst.bytes_per_second,
            burst.full_seconds,
            burst.level_percent
        ),
        (Limit::At(3500), Limit::At(170_000_000), 1800, 100)
    );
    assert!(spec.vm.is_none() && spec.host_cache.is_none() && disk.seek.is_none());
    assert_eq!(spec.stripe_chunk_bytes, 512 << 10);
    assert_eq!(spec.seed, 1);
    assert!(spec.not_known().is_empty());
}

#[test]
fn keys_are_carried_out() {
    let spec = spec("azure/2xp15, VM=ds3_v2 ,cache=rw,burst=empty,chunk=64k,ram=3.5g,seed=7,size=10g");
    assert_eq!(spec.disks.len(), 2);
    assert_eq!(spec.disks[0], spec.disks[1]);
    assert_eq!(spec.disks[0].size_bytes, 10 * GIB);
    let burst = spec.disks[0].limits.burst.as_ref().expect("P15 bursts");
    assert_eq!(burst.level_percent, 0);
    let vm = spec.vm.as_ref().expect("a virtual machine");
    assert_eq!(vm.name, "Standard_DS3_v2");
    assert_eq!(vm.uncached.bytes_per_second, Limit::At(192_000_000));
    let cache = spec.host_cache.as_ref().expect("a cache");
    assert_eq!(
        (cache.mode, cache.capacity_bytes),
        (CacheMode::ReadWrite, 172 * GIB)
    );
    assert_eq!((spec.stripe_chunk_bytes, spec.seed), (64 << 10, 7));
    assert_eq!(spec.guest.page_cache.capacity_bytes, (7 * GIB / 2) / 5 * 4);
}

#[test]
fn memory_is_the_virtual_machines() {
    assert_eq!(
        spec("azure/P15,vm=DS3_v2").guest.page_cache.capacity_bytes,
        14 * GIB / 5 * 4
    );
    assert_eq!(
        spec("azure/P15").guest.page_cache.capacity_bytes,
        28 * GIB / 5 * 4
    );
}

#[test]
fn on_demand_bursts_are_limits_without_credit() {
    let limits = &spec("azure/P30,burst=on-demand").disks[0].limits;
    assert_eq!(
        (limits.iops, limits.bytes_per_second),
        (Limit::At(30_000), Limit::At(1_000_000_000))
    );
    assert!(limits.burst.is_none());
    let limits = &spec("azure/P30").disks[0].limits;
    assert_eq!(limits.iops, Limit::At(5_000));
    assert!(limits.burst.is_none());
}

#[test]
fn a_virtual_machines_credit_follows_the_same_word() {
    let level = |text: &str| {
        let vm = spec(text).vm.expect("a virtual machine");
        vm.uncached.burst.expect("bursts").level_percent
    };
    assert_eq!(level("azure/P30,vm=D8s_v5"), 100);
    assert_eq!(level("azure/P30,vm=D8s_v5,burst=empty"), 0);
    assert_eq!(level("azure/P30,vm=D8s_v5,burst=on-demand"), 100);
}

#[test]
fn freely_sized_disks_have_caps_and_defaults() {
    let limits = |text: &str| {
        let limits = spec(text).disks.remove(0).limits;
        (
            limits.iops.rate().expect("known"),
            limits.bytes_per_second.rate().expect("known"),
        )
    };
    assert_eq!(limits("azure/PremiumV2"), (3_000, 125_000_000));
    assert_eq!(limits("azure/premium-v2,size=1g"), (3_000, 125_000_000));
    assert_eq!(
        limits("azure/PremiumV2_LRS,size=160g,iops=80000,mbps=2000"),
        (80_000, 2_000_000_000)
    );
    assert_eq!(
        limits("azure/Premium_SSD_v2,size=7g,iops=3500"),
        (3_500, 125_000_000)
    );
    // As P30, P1, and P80, within its own caps.
    assert_eq!(limits("azure/Ultra,size=1t"), (5_000, 200_000_000));
    assert_eq!(limits("azure/UltraSSD_LRS,size=4g"), (120, 25_000_000));
    assert_eq!(limits("azure/ultra-disk,size=64t"), (20_000, 900_000_000));
    assert_eq!(limits("azure/Ultra,size=1t,iops=100"), (100, 25_000_000));
    assert_eq!(
        limits("azure/Ultra,size=400g,iops=400000,mbps=10000"),
        (400_000, 10_000_000_000)
    );
}

#[test]
fn a_family_and_a_size_round_up() {
    let name = |text: &str| spec(text).disks.remove(0).name;
    assert_eq!(name("azure/premium,size=300g"), "P20");
    assert_eq!(name("azure/premium-ssd,size=256g"), "P15");
    assert_eq!(name("azure/standard-ssd,size=1g"), "E1");
    assert_eq!(name("azure/StandardHDD,size=1g"), "S4");
    assert_eq!(spec("azure/premium,size=300g").disks[0].size_bytes, 300 * GIB);
}

#[test]
fn a_blank_limit_is_not_known_and_said_so() {
    let unknown = spec("azure/S10,vm=Standard_A2");
    assert_eq!(unknown.not_known(), ["Standard_A2: uncached MB/s limit"],);
    assert_eq!(
        unknown.vm.expect("a virtual machine").uncached.bytes_per_second,
        Limit::NotKnown
    );
    let open = spec("azure/P15,vm=D8s_v6,cache=ro,cache_size=100g").not_known();
    assert_eq!(
        open,
        [
            "Standard_D8s_v6: cached IOPS limit",
            "Standard_D8s_v6: cached MB/s limit"
        ]
    );
}

#[test]
fn each_disk_of_the_catalogue_makes_a_valid_spec() {
    for disk in Catalog::azure().disks() {
        let whole = spec(&format!("azure/{}", disk.sku));
        assert_eq!(whole.disks[0].size_bytes, disk.size_bytes);
        assert_eq!(whole.disks[0].limits.iops, Limit::At(disk.iops));
        assert_eq!(
            whole.disks[0].seek.is_some(),
            disk.family == family("standard-hdd")
        );
        let cached = format!("azure/{},vm=DS3_v2,cache=ro", disk.sku);
        assert_eq!(
            parse(&cached, Catalog::azure()).is_ok(),
            disk.size_bytes < 4096 * GIB,
            "{cached}"
        );
    }
}

#[test]
fn each_virtual_machine_with_premium_storage_takes_a_p15() {
    for vm in Catalog::azure().vms() {
        let text = format!("azure/P15,vm={}", vm.name);
        let parsed = parse(&text, Catalog::azure());
        assert_eq!(parsed.is_ok(), vm.premium_io == Some(true), "{text}: {parsed:?}");
        let most = format!("azure/{}xPremiumV2,vm={}", vm.max_data_disks, vm.name);
        assert!(parse(&most, Catalog::azure()).is_ok(), "{most}");
    }
}

#[test]
fn each_cache_can_be_modelled() {
    for vm in Catalog::azure()
        .vms()
        .iter()
        .filter(|vm| vm.cache_bytes.is_some())
    {
        let text = format!("azure/S10,vm={},cache=rw", vm.name);
        let cache = spec(&text).host_cache.expect("a cache");
        assert!(cache.capacity_bytes / cache.block_bytes <= 1 << 24, "{text}");
    }
}

#[test]
fn misspelt_disks_and_machines_name_the_nearest() {
    let texts = [
        "P15",
        "ibm/gp3",
        "azure/",
        "azure/P16",
        "azure/premum,size=1g",
        "azure/standard,size=1g",
        "azure/premium",
        "azure/P15,vm=D4s_v9",
        "azure/P15,vm=nonsense-of-a-name",
    ];
    check(
        &texts,
        &expect![[r#"
            P15
              `P15` is no cloud: write one of azure/, aws/, gcp/ and a disk, as in azure/P15 (or a model file: FILE.toml)
            ibm/gp3
              `ibm` is no cloud: write one of azure/, aws/, gcp/ and a disk, as in azure/P15 (or a model file: FILE.toml)
            azure/
              no disk is called ``: `fathom catalog disks` lists all
            azure/P16
              no disk is called `P16` (did you mean P10?): `fathom catalog disks` lists all
            azure/premum,size=1g
              no disk is called `premum` (did you mean premium?): `fathom catalog disks` lists all
            azure/standard,size=1g
              `standard` may be Standard SSD or Standard HDD: write standard-ssd or standard-hdd
            azure/premium
              Premium SSD is a family of disks: name one (P80), or give a size: size=300g
            azure/P15,vm=D4s_v9
              no virtual machine is called `D4s_v9` (near: Standard_D4s_v3, Standard_D4s_v4, Standard_D4s_v5): `fathom catalog vms` lists all
            azure/P15,vm=nonsense-of-a-name
              no virtual machine is called `nonsense-of-a-name`: `fathom catalog vms` lists all
        "#]],
    );
}

#[test]
fn values_that_are_none_say_what_goes_there() {
    let texts = [
        "azure/P15,cahce=ro",
        "azure/P15,zzz=ro",
        "azure/P15,ro",
        "azure/P15,cache=on",
        "azure/P15,seed=1,seed=2",
        "azure/P15,seed=9223372036854775808",
        "azure/P15,size=100",
        "azure/P15,ram=99999999t",
        "azure/P15,ram=1k",
        "azure/0xP15",
        "azure/65xP15",
        "azure/99999999999999999999xP15",
        "azure/P15,chunk=1000k",
        "azure/P15,chunk=2g",
    ];
    check(
        &texts,
        &expect![[r#"
            azure/P15,cahce=ro
              no key `cahce` (did you mean cache?): the keys are vm, cache, cache_size, size, iops, mbps, mibps, burst, service, redundancy, zone, chunk, ram, seed
            azure/P15,zzz=ro
              no key `zzz`: the keys are vm, cache, cache_size, size, iops, mbps, mibps, burst, service, redundancy, zone, chunk, ram, seed
            azure/P15,ro
              `ro` has no value: write KEY=VALUE, as in vm=Standard_D4s_v5
            azure/P15,cache=on
              cache=on: none, ro or rw goes here
            azure/P15,seed=1,seed=2
              `seed=` is there twice: leave one of them out
            azure/P15,seed=9223372036854775808
              seed=9223372036854775808: a whole number below 2^63 goes here
            azure/P15,size=100
              size=100: a size with its unit goes here: 512k, 300g, 1.5t
            azure/P15,ram=99999999t
              ram=99999999t: a size from 64m to 64t goes here: 28g
            azure/P15,ram=1k
              ram=1k: a size from 64m to 64t goes here: 28g
            azure/0xP15
              0 disks: 1 to 64 can be striped, as in azure/2xP15
            azure/65xP15
              65 disks: 1 to 64 can be striped, as in azure/2xP15
            azure/99999999999999999999xP15
              99999999999999999999 disks: 1 to 64 can be striped, as in azure/2xP15
            azure/P15,chunk=1000k
              accepted: azure/P15,chunk=1000k
            azure/P15,chunk=2g
              chunk=2g: a multiple of 512 bytes up to 1g goes here: 64k
        "#]],
    );
}

#[test]
fn impossible_machines_and_caches_name_the_nearest_that_works() {
    let texts = [
        "azure/P15,vm=Standard_D4_v3",
        "azure/P15,vm=Standard_HB60-15rs",
        "azure/P50,vm=DS3_v2,cache=ro",
        "azure/PremiumV2,vm=DS3_v2,cache=ro",
        "azure/Ultra,cache=rw",
        "azure/P15,vm=L8s_v3,cache=ro",
        "azure/S10,vm=A4_v2,cache=ro",
        "azure/P15,vm=D8s_v6,cache=ro",
        "azure/P15,cache=ro",
        "azure/P15,cache_size=1g",
        "azure/9xP15,vm=D4s_v5",
    ];
    check(
        &texts,
        &expect![[r#"
            azure/P15,vm=Standard_D4_v3
              Standard_D4_v3 takes no premium storage, and P15 is Premium SSD: Standard_D4s_v3 does
            azure/P15,vm=Standard_HB60-15rs
              Standard_HB60-15rs may take no premium storage (no source states it), and P15 is Premium SSD: Standard_HC44-16rs does
            azure/P50,vm=DS3_v2,cache=ro
              cache=ro: P50 is 4 TiB, and disks of 4 TiB and more have no host cache: P40 is the largest that has
            azure/PremiumV2,vm=DS3_v2,cache=ro
              cache=ro: Premium SSD v2 has no host cache: leave cache= out, or take another disk (P40)
            azure/Ultra,cache=rw
              cache=rw: Ultra Disk has no host cache: leave cache= out, or take another disk (P40)
            azure/P15,vm=L8s_v3,cache=ro
              cache=ro: Standard_L8s_v3 has no host cache: Standard_D8s_v3 has one
            azure/S10,vm=A4_v2,cache=ro
              cache=ro: Standard_A4_v2 has no host cache: Standard_F4s_v2 has one
            azure/P15,vm=D8s_v6,cache=ro
              cache=ro: no source states the size of Standard_D8s_v6's host cache: give it, as in cache_size=100g
            azure/P15,cache=ro
              cache=ro needs vm=: the host's cache and its limits are those of the virtual machine
            azure/P15,cache_size=1g
              cache_size= without a cache: add cache=ro or cache=rw
            azure/9xP15,vm=D4s_v5
              Standard_D4s_v5 takes 8 data disks, not 9: Standard_D4s_v6 takes as many
        "#]],
    );
}

#[test]
fn impossible_bursts_say_why() {
    let texts = [
        "azure/P15,burst=on-demand",
        "azure/PremiumV2,burst=on-demand",
        "azure/E40,burst=on-demand",
        "azure/P30,burst=full",
        "azure/S10,burst=empty,vm=A4_v2",
    ];
    check(
        &texts,
        &expect![[r#"
            azure/P15,burst=on-demand
              burst=on-demand: P15 bursts on credit, always and for nothing; P30 is the smallest that bursts on demand
            azure/PremiumV2,burst=on-demand
              burst=on-demand: PremiumV2 does not burst; P30 is the smallest that bursts on demand
            azure/E40,burst=on-demand
              burst=on-demand: E40 does not burst; P30 is the smallest that bursts on demand
            azure/P30,burst=full
              burst=full: P30 does not burst on credit: leave burst= out, or write burst=on-demand, which costs extra
            azure/S10,burst=empty,vm=A4_v2
              burst=empty: S10 does not burst on credit, nor does Standard_A4_v2: leave burst= out
        "#]],
    );
}

#[test]
fn impossible_sizes_and_limits_name_the_nearest_that_works() {
    let texts = [
        "azure/P15,size=300g",
        "azure/P80,size=40t",
        "azure/premium,size=40t",
        "azure/P15,size=1000k",
        "azure/P15,iops=5000",
        "azure/P15,mbps=5000",
        "azure/PremiumV2,size=65t",
        "azure/PremiumV2,size=1.5g",
        "azure/PremiumV2,iops=100",
        "azure/PremiumV2,size=10g,iops=6000",
        "azure/PremiumV2,iops=99999999",
        "azure/PremiumV2,mbps=1000",
        "azure/PremiumV2,mbps=5000",
        "azure/Ultra,mbps=0.5",
    ];
    check(
        &texts,
        &expect![[r#"
        azure/P15,size=300g
          size=300 GiB is more than a P15 holds (256 GiB): P20 holds it
        azure/P80,size=40t
          size=40 TiB is more than a P80 holds (32.0 TiB): none of the catalogue holds it
        azure/premium,size=40t
          size=40 TiB is more than the largest Premium SSD holds (P80, 32.0 TiB): stripe several
        azure/P15,size=1000k
          size=1000 KiB is not a multiple of 1 MiB, as the size of a P15 must be
        azure/P15,iops=5000
          iops= is for PremiumV2 and Ultra: a P15 has 1100 IOPS and 125 MB/s
        azure/P15,mbps=5000
          mbps= is for PremiumV2 and Ultra: a P15 has 1100 IOPS and 125 MB/s
        azure/PremiumV2,size=65t
          size=65 TiB cannot be had: a PremiumV2 has 1 GiB to 64 TiB
        azure/PremiumV2,size=1.5g
          size=1.50 GiB is not a multiple of 1 GiB, as the size of a PremiumV2 must be
        azure/PremiumV2,iops=100
          iops=100 cannot be had: a PremiumV2 of 1 TiB has 3000 to 80000 IOPS
        azure/PremiumV2,size=10g,iops=6000
          iops=6000 cannot be had: a PremiumV2 of 10 GiB has 3000 to 5000 IOPS, 500 for each GiB
        azure/PremiumV2,iops=99999999
          iops=99999999 cannot be had: a PremiumV2 of 1 TiB has 3000 to 80000 IOPS
        azure/PremiumV2,mbps=1000
          mbps=1000 cannot be had: a PremiumV2 with 3000 IOPS has 125 to 750 MB/s: add iops=4000
        azure/PremiumV2,mbps=5000
          mbps=5000 cannot be had: a PremiumV2 with 3000 IOPS has 125 to 750 MB/s
        azure/Ultra,mbps=0.5
          mbps=0.5 cannot be had: a Ultra with 5000 IOPS has 1 to 1250 MB/s
    "#]],
    );
}

proptest! {
    /// Nothing that is written makes it panic, and what it accepts can be run.
    #[test]
    fn any_text_is_judged(text in "(azure/)?[0-9x]{0,3}(P15|P80|E30|S4|Ultra|PremiumV2|premium|.{0,4})(,(vm|cache|size|iops|mbps|burst|chunk|ram|seed|cache_size)=[a-z0-9._-]{0,8}){0,3}") {
        if let Ok(spec) = parse(&text, Catalog::azure()) {
            prop_assert_eq!(spec.validate(), Ok(()));
        }
    }

    /// A freely sized disk is accepted exactly within the documented caps.
    #[test]
    fn caps_are_the_documented_ones(gib in 1u64..70_000, iops in 1u64..500_000, mbps in 1u64..12_000) {
        let text = format!("size={gib}g,iops={iops},mbps={mbps}");
        let v2 = gib <= 65_536
            && (3_000..=80_000.min(3_000.max(500 * gib))).contains(&iops)
            && (125..=2_000).contains(&mbps) && mbps * 4 <= iops;
        prop_assert_eq!(parse(&format!("azure/PremiumV2,{text}"), Catalog::azure()).is_ok(), v2, "v2 {}", text);
        let ultra = (4..=65_536).contains(&gib)
            && (100..=400_000.min(1_000 * gib)).contains(&iops)
            && (1..=10_000).contains(&mbps) && mbps * 4 <= iops.max(4);
        prop_assert_eq!(parse(&format!("azure/Ultra,{text}"), Catalog::azure()).is_ok(), ultra, "ultra {}", text);
    }
}

#[test]
fn a_series_that_takes_none_of_a_family_is_an_error() {
    let gcp = Catalog::named("gcp").expect("built in");
    let error = parse("gcp/pd-ssd:100GiB,vm=c4d-standard-8", gcp).expect_err("refused");
    assert!(
        error
            .to_string()
            .starts_with("c4d-standard-8 takes no SSD Persistent Disk: "),
        "{error}"
    );
}

/// "no source states its size": what the model takes is told as assumed, with each run on such a machine.
#[test]
fn the_bucket_of_an_instance_is_told_as_inferred() {
    let aws = Catalog::named("aws").expect("built in");
    let told = |text: &str| {
        let spec = parse(text, aws).expect(text);
        spec.assumed.iter().any(|note| note.contains("is inferred"))
    };
    assert!(told("aws/io2:2000GiB,iops=64000,vm=m6i.large"));
    assert!(!told("aws/io2:2000GiB,iops=64000,vm=m6i.32xlarge"));
    assert!(!told("aws/gp3:100GiB"));
}
