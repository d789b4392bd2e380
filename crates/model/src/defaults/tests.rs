use super::*;
use crate::catalog::{Catalog, Services};
use crate::testing::family;

fn median(service: &crate::spec::ServiceSpec) -> f64 {
    let at = service
        .quantiles_us
        .iter()
        .find(|&&(percentile, _)| (percentile - 50.0).abs() < 1e-9);
    at.expect("a median").1
}

/// Services of a family as of a year.
fn of(key: &str, year: u16) -> &'static Services {
    let mut all = family(key).services().iter();
    all.find(|services| services.year == year)
        .unwrap_or_else(|| panic!("{key} {year}"))
}

#[test]
fn premium_reads_of_256k_have_the_published_median() {
    let read = &of("premium", 2019).read;
    let at_256k_us = median(read) + (256.0 - 4.0) * read.ns_per_kib as f64 / 1000.0;
    assert!((at_256k_us - 4_080.0).abs() < 20.0, "{at_256k_us}");
}

#[test]
fn premium_writes_of_128k_have_the_published_median() {
    let write = &of("premium", 2019).write;
    let at_128k_us = median(write) + (128.0 - 4.0) * write.ns_per_kib as f64 / 1000.0;
    assert!((at_128k_us - 4_948.0).abs() < 20.0, "{at_128k_us}");
}

#[test]
fn a_node_of_28_gib_is_held_near_the_published_4_gb() {
    let guest = guest(RAM_BYTES);
    let held_gb = guest.page_cache.throttle_bytes as f64 / 1e9;
    assert!((3.7..4.3).contains(&held_gb), "{held_gb}");
}

#[test]
fn families_keep_the_words_of_the_documentation() {
    let at = |service: &crate::spec::ServiceSpec, wanted: f64| {
        let found = service
            .quantiles_us
            .iter()
            .find(|&&(p, _)| (p - wanted).abs() < 1e-9);
        found.expect("a quantile").1
    };
    assert!(at(&read_service(family("standard-ssd")), 99.0) < 10_000.0);
    assert!(at(&write_service(family("standard-hdd")), 99.0) < 10_000.0);
    assert!(at(&of("premium-v2", 2019).read, 99.0) < 1_000.0);
    assert!(at(&of("ultra", 2019).read, 99.9) < 1_000.0);
    let hdd = read_service(family("standard-hdd"));
    let seek = of("standard-hdd", 2019).seek.expect("heads");
    let mean_seek_us = (seek.read_min_ns + seek.read_max_ns) as f64 / 2e3;
    // One or two at a time are well below 500 a second; one at a time without seeks nearly reaches it.
    assert!(2e6 / (at(&hdd, 50.0) + mean_seek_us) < 250.0);
    assert!(1e6 / at(&hdd, 50.0) >= 500.0);
    assert!(at(&hdd, 90.0) + mean_seek_us < 20_000.0);
}

#[test]
fn each_table_names_its_origin() {
    let clouds = Catalog::names().filter_map(Catalog::named);
    let families = clouds.flat_map(|catalog| catalog.families().iter());
    let services = families.flat_map(|family| family.services());
    let of_disks = services.flat_map(|services| [services.read.clone(), services.write.clone()]);
    for service in of_disks.chain([read_hit(), write_hit()]) {
        let origin = &service.origin;
        assert!(
            origin.starts_with("fitted to ") || origin.starts_with("assumed"),
            "{origin}"
        );
    }
}

#[test]
fn a_host_cache_has_a_bounded_number_of_blocks() {
    for gib in [1, 64, 65, 172, 14_080] {
        let cache = host_cache(CacheMode::ReadWrite, gib * GIB);
        assert!(cache.capacity_bytes / cache.block_bytes <= HOST_CACHE_BLOCKS);
        assert!(cache.block_bytes.is_power_of_two() && cache.dirty_resume_bytes < cache.dirty_limit_bytes);
    }
    assert_eq!(host_cache(CacheMode::ReadOnly, 64 * GIB).block_bytes, 4096);
}
