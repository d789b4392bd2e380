use super::*;
use crate::testing::family;
use expect_test::expect;
use proptest::prelude::*;

#[test]
fn the_embedded_catalogue_is_whole() {
    let azure = Catalog::azure();
    assert_eq!(azure.disks().len(), 39);
    assert_eq!(azure.flex_disks().len(), 2);
    assert_eq!(azure.vms().len(), 1433);
    for disk in azure.disks() {
        assert!(disk.price_microusd_month.is_some(), "{}", disk.sku);
        if let Some(burst) = disk.burst {
            assert!(burst.iops >= disk.iops && burst.bytes_per_second >= disk.bytes_per_second);
        }
    }
    for vm in azure.vms() {
        assert!(
            vm.burst_uncached_iops
                .is_none_or(|burst| Some(burst) >= vm.uncached_iops),
            "{}",
            vm.name
        );
        assert_eq!(
            vm.price_microusd_hour.is_some(),
            !vm.price_date.is_empty(),
            "{}",
            vm.name
        );
    }
}

#[test]
fn cells_are_what_the_files_say() {
    let azure = Catalog::azure();
    let p15 = azure.disk("p15").expect("P15");
    assert_eq!(
        (p15.family, p15.size_bytes, p15.iops),
        (family("premium"), 256 * GIB, 1100)
    );
    assert_eq!(
        (p15.bytes_per_second, p15.price_microusd_month),
        (125 * MB, Some(38_012_142))
    );
    let credit = Burst {
        iops: 3500,
        bytes_per_second: 170 * MB,
        credit_seconds: Some(1800),
    };
    assert_eq!(p15.burst, Some(credit));
    let p30 = azure.disk("P30").and_then(|disk| disk.burst).expect("bursts");
    assert_eq!((p30.iops, p30.credit_seconds), (30_000, None));
    let vm = azure.vm("Standard_DS3_v2").expect("there");
    assert_eq!(
        (vm.vcpus, vm.memory_bytes, vm.max_data_disks),
        (4, Some(14 * GIB), 16)
    );
    assert_eq!(
        (vm.uncached_iops, vm.uncached_bytes_per_second),
        (Some(12_800), Some(192 * MB))
    );
    assert_eq!(
        azure.vm("m8-2ms").expect("there").memory_bytes,
        Some(GIB * 875 / 4)
    );
    assert_eq!(azure.vm("D8s_v6").expect("there").cached_iops, None);
    assert_eq!(azure.vm("L8s_v3").expect("there").host_cache, Some(false));
}

#[test]
fn caps_of_freely_sized_disks_are_the_documented_ones() {
    let v2 = Catalog::azure().flex_disk(family("premium-v2")).expect("there");
    let caps = [1, 6, 7, 160, 161, 65_536].map(|gib| v2.iops_cap(gib * GIB));
    assert_eq!(caps, [3_000, 3_000, 3_500, 80_000, 80_000, 80_000]);
    assert_eq!(v2.bytes_per_second_cap(3_000), 750 * MB);
    assert_eq!(v2.bytes_per_second_cap(80_000), 2_000 * MB);
    let ultra = Catalog::azure().flex_disk(family("ultra")).expect("there");
    assert_eq!(
        [4, 400, 401].map(|gib| ultra.iops_cap(gib * GIB)),
        [4_000, 400_000, 400_000]
    );
    assert_eq!(ultra.bytes_per_second_cap(400_000), 10_000 * MB);
}

#[test]
fn names_are_found_however_they_are_written() {
    let azure = Catalog::azure();
    for name in ["Standard_D4s_v5", "standard_d4s_v5", "D4s_v5", "d4sv5"] {
        assert_eq!(
            azure.vm(name).map(|vm| vm.name.as_str()),
            Some("Standard_D4s_v5"),
            "{name}"
        );
    }
    assert!(azure.vm("Basic_A0").is_some() && azure.vm("").is_none());
    assert_eq!(azure.vms_near("D4s_v55")[0], "Standard_D4s_v5");
    assert!(azure.vms_near("zzzzzzzzzzzzzz").is_empty());
    assert_eq!(
        azure.vms_near("D4s"),
        ["Standard_D4s_v3", "Standard_D4s_v4", "Standard_D4s_v5"]
    );
}

#[test]
fn sizes_round_up_to_the_next_disk() {
    let sku = |family: Family, gib: u64| {
        let disk = Catalog::azure().smallest_holding(family, gib * GIB);
        disk.map(|disk| disk.sku.as_str())
    };
    assert_eq!(sku(family("premium"), 1), Some("P1"));
    assert_eq!(sku(family("premium"), 257), Some("P20"));
    assert_eq!(sku(family("standard-hdd"), 1), Some("S4"));
    assert_eq!(sku(family("standard-ssd"), 32_768), None);
}

#[test]
fn the_vm_most_like_another_has_as_many_processors() {
    let azure = Catalog::azure();
    let vm = azure.vm("D4_v3").expect("there");
    let like = azure.vm_like(vm, |vm| vm.premium_io == Some(true)).expect("one");
    assert_eq!(like.name, "Standard_D4s_v3");
    assert!(azure.vm_like(vm, |_| false).is_none());
}

const DISKS: &str = include_str!("../../data/azure/disks.csv");
const FLEX: &str = include_str!("../../data/azure/flex-disks.csv");
const VMS: &str = include_str!("../../data/azure/vms.csv");

fn read(disks: &str, flex_disks: &str, vms: &str) -> Result<Catalog, CatalogError> {
    Catalog::read(Texts {
        from: "mine/",
        cloud: None,
        disks: Some(disks),
        flex_disks: Some(flex_disks),
        vms: Some(vms),
        vm_limits: None,
        prices: None,
    })
}

/// The embedded files with one piece of text replaced.
fn with(file: usize, old: &str, new: &str) -> String {
    let mut texts = [DISKS, FLEX, VMS].map(str::to_owned);
    assert!(texts[file].contains(old), "{old}");
    texts[file] = texts[file].replacen(old, new, 1);
    match read(&texts[0], &texts[1], &texts[2]) {
        Ok(_) => String::from("accepted\n"),
        Err(error) => format!("{error}\n"),
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let answers = [
        with(0, "size_gib", "size_gb"),
        with(0, ",size_gib", ""),
        with(0, "size_gib", "sku"),
        with(0, "Premium SSD,P2,8", "Premium SSD,P1,8"),
        with(0, "Premium SSD,P2,8", "Premium SSD v2,P2,8"),
        with(0, "Premium SSD,P2,8", "Premium SSD,,8"),
        with(0, "Premium SSD,P2,8,", "Premium SSD,P2,8,8,"),
        with(0, "P2,8,120", "P2,eight,120"),
        with(0, "P2,8,120", "P2,-8,120"),
        with(0, "P2,8,120", "P2,0,120"),
        with(0, "P2,8,120", "P2,8,99999999999999999999"),
        with(0, "P2,8,120", "P2,,120"),
        with(0, "30,credit", ",credit"),
        with(0, "30,credit", "30,gift"),
        with(0, "P2,8,120", "P2,\"8,120"),
        with(0, "P2,8,120", "\"P\"2,8,120"),
        with(0, "P2,8,120", "\"P2\",\"8\",120"),
        with(0, DISKS, ""),
        with(0, DISKS, DISKS.lines().next().expect("a heading")),
        with(1, "Ultra Disk", "Premium SSD"),
        with(1, "Ultra Disk", "Premium SSD v2"),
        with(1, "false,none", "perhaps,none"),
        with(1, "false,none", "false,credit"),
        with(2, "Standard_A1,", "standard_a0,"),
        with(2, "1,0.75,1,false", "1,0.1234567,1,false"),
        with(2, "1,0.75,1,false", "1,1e3,1,false"),
        with(2, "1,0.75,1,false", "1,0.75,1,no"),
        with(2, "1,0.75,1,false", "1,,1,"),
    ];
    expect![[r#"
        mine/disks.csv:1:12: the column `size_gb` is not known: the columns are family, sku, size_gib, base_iops, base_mbps, burst_iops, burst_mbps, burst_max_minutes, burst_model, io_unit_kib, price_usd_month, price_region, price_date, source
        mine/disks.csv:1:1: the column `size_gib` is missing: the columns are family, sku, size_gib, base_iops, base_mbps, burst_iops, burst_mbps, burst_max_minutes, burst_model, io_unit_kib, price_usd_month, price_region, price_date, source
        mine/disks.csv:1:12: the column `sku` is there twice
        mine/disks.csv:3:1: `P1` is there already, in line 2
        mine/disks.csv:3:1: `family` is `Premium SSD v2`: one of these goes here: Premium SSD, Standard SSD, Standard HDD
        mine/disks.csv:3:13: `sku` is blank: it must be known
        mine/disks.csv:3:1: 15 cells, but the heading has 14
        mine/disks.csv:3:16: `size_gib` is `eight`: a number up to 1000000 with at most six decimals, or blank, goes here
        mine/disks.csv:3:16: `size_gib` is `-8`: a number up to 1000000 with at most six decimals, or blank, goes here
        mine/disks.csv:3:16: `size_gib` is `0`: it must be more than nothing, or blank
        mine/disks.csv:3:18: `base_iops` is `99999999999999999999`: a whole number from 1 to 1000000000, or blank, goes here
        mine/disks.csv:3:16: `size_gib` is blank: it must be known
        mine/disks.csv:2:35: `burst_model` is `credit`: `credit` (with burst_iops, burst_mbps and burst_max_minutes), `on-demand` (with burst_iops and burst_mbps alone) or `none` (without) goes here
        mine/disks.csv:2:37: `burst_model` is `gift`: `credit` (with burst_iops, burst_mbps and burst_max_minutes), `on-demand` (with burst_iops and burst_mbps alone) or `none` (without) goes here
        mine/disks.csv:3:16: the quote does not end on its line, or something follows it: write "" for a quote in quotes
        mine/disks.csv:3:13: the quote does not end on its line, or something follows it: write "" for a quote in quotes
        accepted
        mine/disks.csv:1:1: the file is empty: its first line names the columns (family, sku, size_gib, base_iops, base_mbps, burst_iops, burst_mbps, burst_max_minutes, burst_model, io_unit_kib, price_usd_month, price_region, price_date, source)
        mine/disks.csv:1:1: there are no rows below the heading
        mine/flex-disks.csv:3:1: `family` is `Premium SSD`: one of these goes here: Premium SSD v2, Ultra Disk
        mine/flex-disks.csv:3:1: `Premium SSD v2` is there already, in line 2
        mine/flex-disks.csv:2:83: `host_caching` is `perhaps`: `true`, `false` or blank goes here
        mine/flex-disks.csv:2:89: `bursting` is `credit`: `none`, or `credit` with a bucket (bucket_ios_rule or bucket_mb_rule), goes here
        mine/vms.csv:3:1: `standard_a0` is there already, in line 2
        mine/vms.csv:2:17: `memory_gib` is `0.1234567`: a number up to 1000000 with at most six decimals, or blank, goes here
        mine/vms.csv:2:17: `memory_gib` is `1e3`: a number up to 1000000 with at most six decimals, or blank, goes here
        mine/vms.csv:2:24: `premium_io` is `no`: `true`, `false` or blank goes here
        accepted
    "#]].assert_eq(&answers.concat());
}

#[test]
fn line_ends_and_a_byte_order_mark_do_not_matter() {
    let windows = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let read = read(&windows(DISKS), &windows(FLEX), &windows(VMS));
    assert_eq!(read.as_ref(), Ok(Catalog::azure()));
}

#[test]
fn columns_may_stand_in_any_order() {
    let turned = |text: &str| {
        let turn = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
        text.lines().map(turn).collect::<Vec<_>>().join("\n")
    };
    let read = read(&turned(DISKS), &turned(FLEX), &turned(VMS));
    assert_eq!(read.as_ref(), Ok(Catalog::azure()));
}

#[test]
fn it_is_read_fast() {
    let begin = std::time::Instant::now();
    let read = read(DISKS, FLEX, VMS);
    let took = begin.elapsed();
    assert!(read.is_ok());
    // A debug build on a busy machine; a release build takes about a millisecond.
    assert!(took.as_millis() < 500, "{took:?}");
}

proptest! {
    /// Any text in place of a file, or of a piece of one, is judged without a panic.
    #[test]
    fn any_text_is_judged(at in 0usize..4000, cut in 0usize..20, text in "[a-z0-9,\"\n.-]{0,20}") {
        let ends = |at: usize| DISKS.char_indices().map(|(at, _)| at).nth(at).unwrap_or(DISKS.len());
        let (from, to) = (ends(at), ends(at + cut));
        let changed = format!("{}{text}{}", &DISKS[..from], &DISKS[to..]);
        if let Ok(catalog) = read(&changed, FLEX, VMS) {
            prop_assert!(!catalog.disks().is_empty());
        }
        if let Err(error) = read(&text, FLEX, VMS) {
            prop_assert!(error.to_string().starts_with("mine/disks.csv:"));
        }
    }

    /// The decimal reader agrees with floating point.
    #[test]
    fn decimals_are_read_exactly(micro in 0u64..1_000_000_000_000) {
        let text = format!("{}.{:06}", micro / 1_000_000, micro % 1_000_000);
        prop_assert_eq!(decimal_micro(&text), Some(micro));
        prop_assert_eq!(decimal_micro(text.trim_end_matches('0').trim_end_matches('.')), Some(micro));
    }
}

/// Names go into targets, into commands and into files of other tools, and all of a table onto a terminal.
#[test]
fn names_that_a_shell_or_a_terminal_would_obey_are_refused() {
    let answers = [
        with(2, "\nStandard_A1,", "\nStandard_A1;$(touch pwned),"),
        with(2, "\nStandard_A1,", "\n--size,"),
        with(0, "Premium SSD,P2,8", "Premium SSD,P2 `id`,8"),
        with(0, "Premium SSD,P2,8", "Premium SSD,P2\u{1b}[2J,8"),
        with(0, "size_gib", "size\u{1b}_gib"),
    ];
    expect![[r#"
        mine/vms.csv:3:1: `name` is `Standard_A1;$(touch pwned)`: a name has letters, digits, `.`, `_`, `-` and `+` only, and begins with a letter or digit
        mine/vms.csv:3:1: `name` is `--size`: a name has letters, digits, `.`, `_`, `-` and `+` only, and begins with a letter or digit
        mine/disks.csv:3:13: `sku` is `P2 `id``: a name has letters, digits, `.`, `_`, `-` and `+` only, and begins with a letter or digit
        mine/disks.csv:3:15: the character \u{1b} stands here: tables have none that a terminal obeys
        mine/disks.csv:1:16: the character \u{1b} stands here: tables have none that a terminal obeys
    "#]]
    .assert_eq(&answers.concat());
    let cloud = |old: &str, new: &str| {
        let text = include_str!("../../data/aws/cloud.toml").replacen(old, new, 1);
        check_cloud("mine/cloud.toml", &text).expect_err(new).to_string()
    };
    let answers = [
        cloud("name = \"aws\"", "name = \"a\\u001b[31mws\""),
        cloud("name = \"gp3\"", "name = \"gp3;id\""),
        cloud("name = \"aws\"", "\"na\\u001bme\" = \"aws\""),
    ];
    expect![[r#"
        mine/cloud.toml:3:10: the character \u{1b} stands here: tables have none that a terminal obeys
        mine/cloud.toml:76:1: families: `gp3;id`: a name has letters, digits, `.`, `_`, `-` and `+` only, and begins with a letter or digit
        mine/cloud.toml:3:4: the character \u{1b} stands here: tables have none that a terminal obeys"#]].assert_eq(&answers.join("\n"));
}

/// 0.04 dollars a MiB/s are 0.038147 a MB/s, in which what is free is told too: 250 MiB/s come to 5 dollars.
#[test]
fn prices_of_throughput_are_in_the_unit_of_the_other_columns() {
    let aws = Catalog::named("aws").expect("built in");
    let place = |key: &str| {
        let at = disk_columns().iter().position(|column| column.key == key);
        at.expect(key)
    };
    let (_, gp3) = aws
        .listed_disks()
        .find(|(offer, _)| offer.sku() == "gp3")
        .expect("there");
    let number = |key: &str| match gp3.values[place(key)] {
        Value::Number(number) => number,
        other => panic!("{key}: {other:?}"),
    };
    let usd = (250.0 * 1.048_576 - number("mbps_free")) * number("price_usd_mbps_month");
    assert!((usd - 5.0).abs() < 1e-6, "{usd}");
}

#[test]
fn formulas_that_come_to_nothing_are_refused() {
    for (formula, nothing) in [
        ("0", true),
        ("1/0", true),
        ("gib - gib", true),
        ("gib/0", true),
        ("3*gib", false),
        ("max(0, gib - 500)", false),
    ] {
        let parsed = formula::Formula::parse(formula).expect(formula);
        assert_eq!(parsed.is_nothing(), nothing, "{formula}");
    }
}
