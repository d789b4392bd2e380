//! `fathom catalog`: what it lists, in each form, and what it says of mistakes.

use crate::harness::Place;

#[test]
fn disks_are_a_table_of_80_columns_with_prices_and_sources() {
    let place = Place::new();
    let text = place.fathom("catalog disks").expect(0).stdout;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let p15 = text.lines().find(|line| line.starts_with("P15 ")).expect("P15");
    let words: Vec<&str> = p15.split_whitespace().collect();
    assert_eq!(
        words,
        ["P15", "256", "1100", "125", "3500", "170", "credit", "38.01"]
    );
    for known in [
        "Premium SSD v2",
        "1–65536",
        "USD, eastus",
        "2026-09-23",
        "fathom catalog sources",
    ] {
        assert!(text.contains(known), "`{known}` is missing:\n{text}");
    }
}

#[test]
fn all_virtual_machines_fit_80_columns_and_blanks_are_not_known() {
    let place = Place::new();
    let text = place.fathom("catalog vms").expect(0).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80));
    assert!(text.lines().count() > 1433);
    let line = text.lines().find(|line| line.starts_with("A2 ")).expect("A2");
    assert!(line.contains("not known"), "{line}");
}

#[test]
fn filters_join_and_may_be_repeated() {
    let place = Place::new();
    let listed = |words: &[&str]| -> Vec<String> {
        let words = ["catalog"].iter().chain(words).chain(&["--csv"]);
        let outcome = crate::harness::finish(crate::harness::start(&mut place.command_of(words)));
        let text = outcome.expect(0).stdout;
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').next().unwrap_or_default().to_owned())
            .collect()
    };
    let fast = listed(&["disks", "--filter", "family=Premium SSD,iops>=16000"]);
    assert_eq!(fast, ["P60", "P70", "P80"]);
    let fast = listed(&[
        "disks",
        "--filter",
        "family=Premium SSD",
        "--filter",
        "iops>=16000",
    ]);
    assert_eq!(fast, ["P60", "P70", "P80"]);
    let vms = listed(&["vms", "--filter", "premium=true,mbps>=200,name~D16s_v5"]);
    assert_eq!(vms, ["Standard_D16s_v5"]);
}

#[test]
fn json_has_numbers_nulls_and_no_more_than_there_is() {
    let place = Place::new();
    let outcome = place
        .fathom("catalog vms --filter name=Standard_A2 --json")
        .expect(0);
    let document = outcome.json();
    assert_eq!(document["schema"], "fathom.catalog/1");
    let vm = &document["vms"][0];
    assert_eq!(vm["uncached_iops"], 2000);
    assert!(vm["uncached_mbps"].is_null() && vm.get("uncached_mbps").is_some());
    assert_eq!(vm["memory_gib"], 3.5);
    let disks = place
        .fathom("catalog disks --filter name=P40 --json")
        .expect(0)
        .json();
    assert!(disks["disks"][0].get("burst_minutes").is_none());
    assert_eq!(disks["disks"][0]["price_usd_month"], 259.0457);
}

#[test]
fn limits_by_family_are_listed_where_a_cloud_has_them() {
    let place = Place::new();
    let text = place
        .fathom("catalog limits n2-standard-8 --cloud gcp")
        .expect(0)
        .stdout;
    for said in ["Balanced Persistent Disk", "n2-standard-8", "15000", "rows."] {
        assert!(text.contains(said), "`{said}` is missing:\n{text}");
    }
    let of_machine = place
        .fathom("catalog limits --cloud gcp --filter name=n2-standard-8,family~ssd --json")
        .expect(0)
        .json();
    let limit = &of_machine["limits"][0];
    assert_eq!(limit["series"], "n2");
    assert!(
        limit["read_iops"].as_u64().is_some_and(|iops| iops > 0),
        "{limit}"
    );
    let vms = place.fathom("catalog vms n2-standard-8 --cloud gcp").expect(0);
    assert!(
        vms.stdout.contains("fathom catalog limits --cloud gcp"),
        "{}",
        vms.stdout
    );
    assert!(
        vms.stdout.contains("fathom catalog sources --cloud gcp"),
        "{}",
        vms.stdout
    );
    place
        .fathom("catalog limits")
        .expect(2)
        .saying("the same limits for disks of every family");
}

#[test]
fn another_catalogue_is_read_and_its_mistakes_are_placed() {
    let place = Place::new();
    let heads = [
        (
            "disks.csv",
            "family,sku,size_gib,base_iops,base_mbps,burst_iops,burst_mbps,burst_max_minutes,burst_model,io_unit_kib,\
             price_usd_month,price_region,price_date,source\nPremium SSD,P15,256,2200,250,,,,none,256,,,,mine\n",
        ),
        (
            "flex-disks.csv",
            "family,sku,min_gib,max_gib,increment_gib,iops_baseline_free,iops_min,iops_cap_floor,iops_cap_per_gib,\
             iops_cap_scales_above_gib,iops_cap_max,mbps_baseline_free,mbps_min,mbps_cap_per_iops,mbps_cap_max,\
             perf_changes_per_24h,host_caching,bursting,io_unit_kib,price_usd_gib_month,price_usd_iops_month,\
             price_usd_mbps_month,price_region,price_date,source\n\
             Ultra Disk,Ultra,4,65536,1,0,100,,1000,0,400000,0,1,0.25,10000,4,false,none,256,,,,,,mine\n",
        ),
        (
            "vms.csv",
            "name,series,vcpus,memory_gib,max_data_disks,premium_io,host_cache,uncached_iops,uncached_mbps,cached_iops,\
             cached_mbps,burst_uncached_iops,burst_uncached_mbps,cache_gib,price_usd_hour,price_region,price_date,source\n\
             Mine_1,M,1,many,1,true,,,,,,,,,,,,mine\n",
        ),
    ];
    let missing = place.fathom("catalog disks --catalog .").expect(2);
    missing
        .saying("./vms.csv:1:1: this file must be there")
        .saying("a catalogue has cloud.toml, disks.csv, flex-disks.csv, vms.csv, vm-limits.csv");
    for (name, text) in heads {
        place.write(name, text);
    }
    let wrong = place.fathom("catalog disks --catalog .").expect(2);
    wrong.saying("./vms.csv:2:12: `memory_gib` is `many`");
    place.write("vms.csv", heads[2].1.replace("many", "4"));
    let text = place.fathom("catalog disks --catalog .").expect(0).stdout;
    assert!(
        text.contains("2200") && text.contains("not known") && !text.contains("USD, "),
        "{text}"
    );
    place.write("vms.csv", [0xff, 0xfe]);
    place
        .fathom("catalog vms --catalog .")
        .expect(2)
        .saying("not text (UTF-8)");
}

#[test]
fn mistakes_exit_with_2_and_name_what_there_is() {
    let place = Place::new();
    place
        .fathom("catalog disks --filter iop>=5")
        .expect(2)
        .saying("did you mean `iops`?");
    place.fathom("catalog tapes").expect(2).saying("disks");
    place.fathom("catalog disks --json --csv").expect(2);
    place.fathom("catalog sources --json").expect(2).saying("as text");
    let none = place.fathom("catalog disks --filter iops>=999999999").expect(0);
    none.saying("no row meets the filter");
    let sources = place.fathom("catalog sources").expect(0).stdout;
    assert!(sources.contains("| `disks-2026` |"), "{sources}");
}

#[test]
fn each_key_of_a_row_is_in_the_list_of_sources() {
    let place = Place::new();
    let sources = place.fathom("catalog sources").expect(0).stdout;
    let known: Vec<&str> = sources
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    for listing in ["disks", "vms"] {
        let text = place.fathom(&format!("catalog {listing} --csv")).expect(0).stdout;
        for row in text.lines().skip(1) {
            let keys = row.rsplit(',').next().unwrap_or_default();
            for key in keys.split(' ') {
                let key = key.split_once('=').map_or(key, |(_, key)| key);
                assert!(known.contains(&key), "`{key}` of {row}");
            }
        }
    }
}
