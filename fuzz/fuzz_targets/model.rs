//! Any bytes as a modelled disk: a target in words (one line) or a model file, over the embedded catalogue, and as one
//! of a catalogue's files. No panic; what is accepted is valid, and prints as a model file that means the same.
//!
//! The first line chooses: `#file` a model file, `#disks`, `#flex`, `#vms`, `#limits` or `#cloud` a file of a catalogue, `#filter`
//! a filter;
//! anything else is a target in words.
#![no_main]

use fathom_model::catalog::{Filter, Texts, check_cloud, disk_columns, vm_columns};
use fathom_model::{Catalog, Spec, file, target};
use libfuzzer_sys::fuzz_target;

const DISKS: &str = include_str!("../../crates/model/data/azure/disks.csv");
const FLEX: &str = include_str!("../../crates/model/data/azure/flex-disks.csv");
/// A few rows of the real file: all of it each time would leave no time to look around.
const VMS: &str = "name,series,vcpus,memory_gib,max_data_disks,premium_io,host_cache,uncached_iops,uncached_mbps,\
    cached_iops,cached_mbps,burst_uncached_iops,burst_uncached_mbps,cache_gib,price_usd_hour,price_region,price_date,\
    source\nStandard_DS3_v2,DSv2,4,14,16,true,true,12800,192,16000,128,,,172,0.229,eastus,2026-06-18,docs\n";

fn accepted(spec: &Spec) {
    assert_eq!(spec.validate(), Ok(()));
    let text = file::to_toml(spec).expect("a valid specification prints");
    let again = file::parse("printed.toml", &text, Catalog::azure());
    assert_eq!(again.as_ref(), Ok(spec), "{text}");
    let _ = spec.not_known();
}

fn catalogue(disks: &str, flex_disks: &str, vms: &str, vm_limits: Option<&str>) {
    let texts = Texts {
        from: "fuzz",
        // Families are kept for as long as the program runs: any others would fill memory.
        cloud: None,
        disks: Some(disks),
        flex_disks: Some(flex_disks),
        vms: Some(vms),
        vm_limits,
        prices: None,
    };
    let Ok(catalog) = Catalog::read(texts) else { return };
    // Every row can be listed and looked up, and no row makes a target that is accepted and invalid.
    assert!(catalog.listed_disks().count() >= catalog.disks().len());
    for disk in catalog.disks() {
        assert!(catalog.disk(&disk.sku).is_some());
        let _ = target::parse(&format!("azure/{}", disk.sku), &catalog);
    }
    for vm in catalog.vms() {
        assert!(catalog.vm(&vm.name).is_some(), "{}", vm.name);
        let _ = target::parse(&format!("azure/P15,vm={},cache=ro", vm.name), &catalog);
    }
    let _ = target::parse("azure/Ultra,size=7g", &catalog);
    let _ = target::parse("azure/PremiumV2", &catalog);
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first {
        "#file" => {
            if let Ok(spec) = file::parse("fuzz.toml", rest, Catalog::azure()) {
                accepted(&spec);
            }
        }
        "#disks" => catalogue(rest, FLEX, VMS, None),
        "#flex" => catalogue(DISKS, rest, VMS, None),
        "#vms" => catalogue(DISKS, FLEX, rest, None),
        "#limits" => catalogue(DISKS, FLEX, VMS, Some(rest)),
        "#cloud" => {
            if let Err(error) = check_cloud("cloud.toml", rest) {
                assert!((1..=rest.lines().count() + 1).contains(&error.line), "{error}");
            }
        }
        "#filter" => {
            for columns in [disk_columns(), vm_columns()] {
                if let Ok(filter) = Filter::parse(rest, columns) {
                    let rows = Catalog::azure().listed_disks();
                    assert!(rows.filter(|(_, row)| filter.wants(&row.values)).count() <= 41);
                }
            }
        }
        words => {
            if let Ok(spec) = target::parse(words, Catalog::azure()) {
                accepted(&spec);
            }
        }
    }
});
