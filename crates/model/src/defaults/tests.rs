use super::*;
use crate::catalog::Family;

fn median(service: &crate::spec::ServiceSpec) -> f64 {
    let at = service
        .quantiles_us
        .iter()
        .find(|&&(percentile, _)| (percentile - 50.0).abs() < 1e-9);
    at.expect("a median").1
}

#[test]
fn premium_reads_of_256k_have_the_published_median() {
    let read = read_service(Family::PremiumSsd);
    let at_256k_us = median(&read) + (256.0 - 4.0) * read.ns_per_kib as f64 / 1000.0;
    assert!((at_256k_us - 4_080.0).abs() < 20.0, "{at_256k_us}");
}

#[test]
fn premium_writes_of_128k_have_the_published_median() {
    let write = write_service(Family::PremiumSsd);
    let at_128k_us = median(&write) + (128.0 - 4.0) * write.ns_per_kib as f64 / 1000.0;
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
    assert!(at(&read_service(Family::StandardSsd), 99.0) < 10_000.0);
    assert!(at(&write_service(Family::StandardHdd), 99.0) < 10_000.0);
    assert!(at(&read_service(Family::PremiumSsdV2), 99.0) < 1_000.0);
    assert!(at(&read_service(Family::UltraDisk), 99.9) < 1_000.0);
    let hdd = read_service(Family::StandardHdd);
    let seek = seek(Family::StandardHdd).expect("heads");
    let mean_seek_us = (seek.read_min_ns + seek.read_max_ns) as f64 / 2e3;
    // One or two at a time are well below 500 a second; one at a time without seeks nearly reaches it.
    assert!(2e6 / (at(&hdd, 50.0) + mean_seek_us) < 250.0);
    assert!(1e6 / at(&hdd, 50.0) >= 500.0);
    assert!(at(&hdd, 90.0) + mean_seek_us < 20_000.0);
}

#[test]
fn each_table_names_its_origin() {
    for family in Family::ALL {
        for service in [
            read_service(family),
            write_service(family),
            read_hit(),
            write_hit(),
        ] {
            let origin = &service.origin;
            assert!(
                origin.starts_with("fitted to ") || origin.starts_with("assumed"),
                "{origin}"
            );
        }
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
