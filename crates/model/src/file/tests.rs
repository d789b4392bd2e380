use super::*;
use crate::spec::{Limit, OutageSpec};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn read(text: &str) -> Spec {
    parse("m.toml", text, Catalog::azure()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn target(text: &str) -> Spec {
    crate::target::parse(text, Catalog::azure()).expect("a target")
}

/// The answer to each of `texts`, one below the other.
fn check(texts: &[&str], wanted: &Expect) {
    let answer = |text: &&str| match parse("m.toml", text, Catalog::azure()) {
        Ok(spec) => format!("accepted: {}\n", spec.name),
        Err(error) => format!("{error}\n"),
    };
    wanted.assert_eq(&texts.iter().map(answer).collect::<String>());
}

#[test]
fn a_base_alone_is_the_target() {
    assert_eq!(
        read("base = 'azure/2xP15,vm=DS3_v2,cache=ro'"),
        target("azure/2xP15,vm=DS3_v2,cache=ro")
    );
    assert_eq!(read("base = 'model:azure/P15'"), target("azure/P15"));
}

#[test]
fn a_changed_base_has_a_name_of_its_own() {
    assert_eq!(read("base = 'azure/P15'\nseed = 7").name, "m.toml (azure/P15)");
    assert_eq!(read("base = 'azure/P15'\nname = 'old'\nseed = 7").name, "old");
}

#[test]
fn a_whole_specification_needs_no_base() {
    let spec = target("azure/2xS10,vm=DS3_v2,cache=rw");
    assert_eq!(read(&to_toml(&spec).expect("prints")), spec);
}

#[test]
fn changes_reach_every_disk_field_by_field() {
    let spec = read(
        "base = 'azure/2xP15'
         seed = 7
         [disk.read]
         quantiles_us = [[0, 2000], [50, 2400], [100, 48000]]
         [disk.limits]
         iops = 1000
         [guest]
         submit_ns = 4000
         [[disk.outages]]
         when = 'once'
         at_ns = 60_000_000_000
         duration_ns = 3_000_000_000",
    );
    let base = target("azure/2xP15");
    assert_eq!((spec.seed, spec.guest.submit_ns), (7, 4000));
    assert_eq!(spec.guest.page_cache, base.guest.page_cache);
    for (disk, before) in spec.disks.iter().zip(&base.disks) {
        assert_eq!(
            disk.read.quantiles_us,
            [(0.0, 2000.0), (50.0, 2400.0), (100.0, 48_000.0)]
        );
        assert_eq!(disk.read.ns_per_kib, before.read.ns_per_kib);
        assert_eq!(disk.write, before.write);
        assert_eq!(disk.limits.iops, Limit::At(1000));
        assert_eq!(disk.limits.bytes_per_second, before.limits.bytes_per_second);
        let once = OutageSpec::Once {
            at_ns: 60_000_000_000,
            duration_ns: 3_000_000_000,
        };
        assert_eq!(disk.outages, [once]);
    }
}

#[test]
fn off_takes_a_mechanism_away() {
    let spec = read(
        "base = 'azure/P15,vm=DS3_v2,cache=ro'
         vm = 'off'
         host_cache = 'off'
         [disk.limits]
         burst = 'off'
         bytes_per_second = 'off'
         iops = 'not known'",
    );
    assert!(spec.vm.is_none() && spec.host_cache.is_none());
    let limits = &spec.disks[0].limits;
    assert!(limits.burst.is_none());
    assert_eq!(
        (limits.iops, limits.bytes_per_second),
        (Limit::NotKnown, Limit::Off)
    );
    assert_eq!(spec.not_known(), ["P15: IOPS limit"]);
    assert!(
        read("base = 'azure/S10'\n[disk]\nseek = 'off'").disks[0]
            .seek
            .is_none()
    );
}

#[test]
fn one_disk_may_stand_for_several() {
    let spec = target("azure/P15");
    let text = to_toml(&spec)
        .expect("prints")
        .replace("[[disks]]", "[disk]")
        .replace("[disks.", "[disk.");
    assert_eq!(read(&text), spec);
    let three = read(&format!("disk_count = 3\n{text}"));
    assert_eq!(three.disks, vec![spec.disks[0].clone(); 3]);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let whole = to_toml(&target("azure/P15")).expect("prints");
    let without_guest = whole.split("[guest]").next().unwrap_or_default();
    let texts = [
        "base = ",
        "base = 3",
        "base = 'azure/P16'",
        "base = 'azure/P15'\nsede = 3",
        "base = 'azure/P15'\n[guest]\nsubmit_s = 3",
        "base = 'azure/P15'\n[disk.read]\nquantile_us = [[0, 1], [100, 1]]",
        "base = 'azure/P15'\n[disk.read]\nquantiles_us = [[0, 1], [99, 1]]",
        "base = 'azure/P15'\n[disk.read]\nquantiles_us = [[0, 5], [100, 1]]",
        "base = 'azure/P15'\n[disk.read]\nquantiles_us = [[0, nan], [100, 1]]",
        "base = 'azure/P15'\nseed = -1",
        "base = 'azure/P15'\nseed = 'x'",
        "base = 'azure/P15'\n[disk.limits]\niops = 0",
        "base = 'azure/P15'\n[disk.limits]\niops = 'none'",
        "base = 'azure/P15'\n[disk.limits.burst]\niops = 5",
        "base = 'azure/P15'\n[[disk.outages]]\nwhen = 'twice'",
        "base = 'azure/P15'\n[[disk.outages]]\nwhen = 'once'\nat_ns = 1\nlength = 1",
        "base = 'azure/P15'\n[host_cache]\nmode = 'read_only'",
        "base = 'azure/P15'\ndisk = 3",
        "base = 'azure/P15'\ndisks = []",
        "base = 'azure/P15'\ndisks = []\ndisk = {}",
        "base = 'azure/P15'\ndisk_count = 3",
        "disk_count = 3",
        "disk_count = 65\n[disk]",
        "name = 'x'\nname = 'y'",
        "name = 'x'",
        without_guest,
        "",
    ];
    check(
        &texts,
        &expect![[r#"
            m.toml: string values must be quoted, expected literal string
            m.toml:1:8: base: a target in words goes here, as in "azure/P15"
            m.toml:1:8: base: no disk is called `P16` (did you mean P10?): `fathom catalog disks` lists all
            m.toml:2:1: unknown field `sede`, expected one of `name`, `seed`, `disks`, `stripe_chunk_bytes`, `slices`, `vm`, `shared`, `assumed`, `host_cache`, `guest` (did you mean `seed`?)
            m.toml:3:1: unknown field `submit_s`, expected `submit_ns` or `page_cache` (did you mean `submit_ns`?)
            m.toml:3:1: unknown field `quantile_us`, expected one of `quantiles_us`, `reference_bytes`, `ns_per_kib`, `origin` (did you mean `quantiles_us`?)
            m.toml:3:16: disks[0].read.quantiles_us: they go from 0 to 99, not from 0 to 100
            m.toml:3:16: disks[0].read.quantiles_us: [100, 1] after [0, 5]: percentiles and times ascend
            m.toml:3:16: disks[0].read.quantiles_us: [0, NaN]: a time goes here that is more than nothing and at most an hour, in microseconds
            m.toml:2:8: invalid value: integer `-1`, expected a whole number
            m.toml:2:8: invalid type: string "x", expected a whole number
            m.toml:3:8: invalid value: integer `0`, expected a whole number a second (at least 1), "not known" or "off"
            m.toml:3:8: invalid value: string "none", expected a whole number a second (at least 1), "not known" or "off"
            m.toml:3:8: disks[0].limits.burst.iops: 5 is less than without burst (1100)
            m.toml:3:8: unknown variant `twice`, expected one of `once`, `every`, `random`
            m.toml:2:1: unknown field `length`, expected `at_ns` or `duration_ns`
            m.toml:2:1: missing field `capacity_bytes`
            m.toml:2:8: disk: a table goes here ([disk]); a list is written [[disks]]
            m.toml:2:9: disks: 0 disks: there must be 1 to 64
            m.toml:3:8: disk and disks: give the one table or the list, not both
            m.toml:2:14: disk_count is for a file without base: say it there, as in azure/3xP15
            m.toml:1:14: disk_count without [disk]: it says how many of that there are
            m.toml:1:14: disk_count: a whole number from 1 to 64 goes here
            m.toml:2:1: duplicate key
            m.toml:1:1: missing field `seed`
            m.toml:1:1: missing field `guest`
            m.toml: missing field `name`
        "#]],
    );
}

proptest! {
    /// What is printed is read back as it was.
    #[test]
    fn printed_and_read_is_the_same(
        disk in "(4x)?(P1|P15|P30|P80|E4|E80|S4|S80|PremiumV2|Ultra)",
        vm in "(,vm=(DS3_v2|D16s_v5|D8s_v6|M128s))?",
        seed in 0..=i64::MAX,
        quantiles in proptest::collection::vec(0.001f64..1e9, 2..12),
        submit_ns in 0u64..1_000_000,
        iops in prop_oneof![Just(Limit::Off), Just(Limit::NotKnown), (1u64..1_000_000_000_000_000).prop_map(Limit::At)],
        every in proptest::option::of((1u64..1_000_000, 0u64..1_000_000_000)),
    ) {
        let mut spec = target(&format!("azure/{disk}{vm},seed={seed}"));
        let mut quantiles = quantiles;
        quantiles.sort_by(f64::total_cmp);
        let last = (quantiles.len() - 1) as f64;
        let tables = quantiles.iter().enumerate().map(|(index, &us)| (100.0 * (index as f64 / last), us)).collect();
        spec.disks[0].read.quantiles_us = tables;
        spec.guest.submit_ns = submit_ns;
        spec.disks[0].limits.iops = iops;
        spec.disks[0].limits.burst = None;
        spec.disks[0].outages = every.map(|(duration_ns, first_ns)| OutageSpec::Every {
            period_ns: 1_000_000, first_ns, duration_ns: duration_ns.min(999_999),
        }).into_iter().collect();
        prop_assert_eq!(spec.validate(), Ok(()));
        let text = to_toml(&spec).expect("prints");
        prop_assert_eq!(&read(&text), &spec, "{}", text);
    }

    /// No text makes it panic, and what it accepts can be run.
    #[test]
    fn any_text_is_judged(text in "(base = 'azure/P15'\n)?(\\[(disk|guest|vm|disk.limits)\\]\n)?[a-z_]{0,6} ?= ?[0-9'\\[\\]{}.a-z]{0,12}") {
        if let Ok(spec) = parse("m.toml", &text, Catalog::azure()) {
            prop_assert_eq!(spec.validate(), Ok(()));
        }
    }
}
