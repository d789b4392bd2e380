use crate::spec::{BurstSpec, Limit, OutageSpec, SeekSpec, Spec};
use crate::{Catalog, target};
use expect_test::expect;

fn base() -> Spec {
    target::parse("azure/2xP15,vm=DS3_v2,cache=rw", Catalog::azure()).expect("a target")
}

/// What is wrong after each of `breaks`; every bound is crossed once.
fn answers(breaks: &[fn(&mut Spec)]) -> String {
    let answer = |change: &fn(&mut Spec)| {
        let mut spec = base();
        change(&mut spec);
        format!("{}\n", spec.validate().expect_err("out of bounds"))
    };
    breaks.iter().map(answer).collect()
}

#[test]
fn a_machine_out_of_bounds_is_named() {
    let breaks: [fn(&mut Spec); 13] = [
        |spec| spec.seed = u64::MAX,
        |spec| spec.disks.clear(),
        |spec| spec.disks = vec![spec.disks[0].clone(); 65],
        |spec| spec.disks[1].size_bytes /= 2,
        |spec| spec.disks[0].size_bytes = u64::MAX,
        |spec| spec.disks[0].io_unit_bytes = 0,
        |spec| spec.stripe_chunk_bytes = 1000,
        |spec| spec.stripe_chunk_bytes = 0,
        |spec| spec.slices.slice_ns = 1,
        |spec| spec.slices.factor_permille = 0,
        |spec| spec.disks[0].limits.iops = Limit::At(u64::MAX),
        |spec| {
            spec.slices.factor_permille = 1;
            spec.disks[0].limits.iops = Limit::At(999);
        },
        |spec| spec.disks[0].write_bytes_per_second = Limit::At(1),
    ];
    expect![[r#"
        seed: 18446744073709551615 is not from 0 to 9223372036854775807
        disks: 0 disks: there must be 1 to 64
        disks: 65 disks: there must be 1 to 64
        disks[1].size_bytes: 137438953472 is not the size of the first disk (274877906944): striped disks are of equal size
        disks[0].size_bytes: 18446744073709551615 is not from 1048576 to 1125899906842624
        disks[0].io_unit_bytes: 0 is not from 512 to 1073741824
        stripe_chunk_bytes: 1000 is not a multiple of 512
        stripe_chunk_bytes: 0 is not from 512 to 1073741824
        slices.slice_ns: 1 is not from 1000000 to 1000000000
        slices.factor_permille: 0 is not from 1 to 10000
        disks[0].limits.iops: 18446744073709551615 is not from 1 to 1000000000000000
        disks[0].limits.iops: 999 is not from 1000 to 1000000000000000
        disks[0].write_bytes_per_second: 1 is not from 4096 to 1000000000000000
    "#]].assert_eq(&answers(&breaks));
}

#[test]
fn services_and_outages_out_of_bounds_are_named() {
    let breaks: [fn(&mut Spec); 9] = [
        |spec| spec.disks[1].read.quantiles_us.clear(),
        |spec| spec.disks[1].read.quantiles_us[0].0 = 0.5,
        |spec| spec.disks[1].read.quantiles_us[3].1 = f64::INFINITY,
        |spec| spec.disks[1].read.quantiles_us[3].0 = f64::NAN,
        |spec| spec.disks[1].write.quantiles_us[3].1 = 1.0,
        |spec| spec.disks[1].write.ns_per_kib = u64::MAX,
        |spec| {
            spec.disks[0].seek = Some(SeekSpec {
                read_min_ns: 2,
                read_max_ns: 1,
                write_min_ns: 0,
                write_max_ns: 0,
                write_cost_bytes: 0,
                streams: 1,
            });
        },
        |spec| {
            spec.disks[0].outages = vec![OutageSpec::Every {
                period_ns: 1_000_000,
                first_ns: 0,
                duration_ns: 1_000_000,
            }];
        },
        |spec| {
            spec.disks[0].outages = vec![OutageSpec::Random {
                mean_gap_ns: 0,
                duration_min_ns: 1,
                duration_max_ns: 1,
            }];
        },
    ];
    expect![[r#"
        disks[1].read.quantiles_us: 0 quantiles: 2 to 10000 go here, from [0, …] to [100, …]
        disks[1].read.quantiles_us: they go from 0.5 to 100, not from 0 to 100
        disks[1].read.quantiles_us: [10, inf]: a time goes here that is more than nothing and at most an hour, in microseconds
        disks[1].read.quantiles_us: [NaN, 2033] after [5, 2004]: percentiles and times ascend
        disks[1].write.quantiles_us: [10, 1] after [5, 688]: percentiles and times ascend
        disks[1].write.ns_per_kib: 18446744073709551615 is not from 0 to 1000000000
        disks[0].seek.read_min_ns: 2 is more than disks[0].seek.read_max_ns (1)
        disks[0].outages[0].duration_ns: 1000000 is not less than period_ns (1000000): the disk would never answer
        disks[0].outages[0].mean_gap_ns: 0 is not from 1000000 to 31622400000000000
    "#]].assert_eq(&answers(&breaks));
}

#[test]
fn bursts_caches_and_the_guest_out_of_bounds_are_named() {
    let breaks: [fn(&mut Spec); 12] = [
        |spec| burst(spec).level_percent = 101,
        |spec| burst(spec).full_seconds = 0,
        |spec| burst(spec).iops = Limit::At(1),
        |spec| cache(spec).capacity_bytes = 0,
        |spec| cache(spec).block_bytes = 5000,
        |spec| cache(spec).block_bytes = 512,
        |spec| cache(spec).dirty_limit_bytes = u64::MAX,
        |spec| cache(spec).dirty_resume_bytes = u64::MAX,
        |spec| spec.guest.page_cache.throttle_bytes = 0,
        |spec| spec.guest.page_cache.background_bytes = u64::MAX,
        |spec| spec.guest.page_cache.in_flight = 0,
        |spec| spec.guest.submit_ns = u64::MAX,
    ];
    expect![[r#"
        disks[0].limits.burst.level_percent: 101 is not from 0 to 100
        disks[0].limits.burst.full_seconds: 0 is not from 1 to 86400
        disks[0].limits.burst.iops: 1 is less than without burst (1100)
        host_cache.capacity_bytes: 0 is not from 1048576 to 1125899906842624
        host_cache.block_bytes: 5000 is not a power of two
        host_cache.block_bytes: 360710144 blocks in 184683593728 bytes are too many to follow: 67108864 at most, so blocks of 4096 or more
        host_cache.dirty_limit_bytes: 18446744073709551615 is not from 1 to 184683593728
        host_cache.dirty_resume_bytes: 18446744073709551615 is not from 0 to 6442450944
        guest.page_cache.throttle_bytes: 0 is not from 65536 to 12025908428
        guest.page_cache.background_bytes: 18446744073709551615 is not from 0 to 2104533900
        guest.page_cache.in_flight: 0 is not from 1 to 65536
        guest.submit_ns: 18446744073709551615 is not from 0 to 3600000000000
    "#]].assert_eq(&answers(&breaks));
}

fn burst(spec: &mut Spec) -> &mut BurstSpec {
    spec.disks[0].limits.burst.as_mut().expect("P15 bursts")
}

fn cache(spec: &mut Spec) -> &mut crate::spec::HostCacheSpec {
    spec.host_cache.as_mut().expect("a cache")
}

#[test]
fn the_bounds_themselves_are_within() {
    let mut spec = base();
    spec.disks[0].limits.iops = Limit::At(1);
    spec.disks[0].limits.burst = None;
    spec.disks[0].limits.bytes_per_second = Limit::At(super::LIMIT_MAX);
    spec.seed = super::SEED_MAX;
    spec.slices.slice_ns = 1_000_000;
    cache(&mut spec).dirty_resume_bytes = cache(&mut spec).dirty_limit_bytes;
    assert_eq!(spec.validate(), Ok(()));
}

#[test]
fn a_burst_on_the_credit_of_ios_is_released_evenly() {
    let mut spec = base();
    spec.disks[0].burst_bytes_need_io_credit = true;
    let wrong = spec.validate().expect_err("slices").to_string();
    assert!(
        wrong.contains("disks[0].burst_bytes_need_io_credit: this goes with limits that are released evenly"),
        "{wrong}"
    );
    spec.slices.slice_ns = 0;
    assert_eq!(spec.validate(), Ok(()));
}

#[test]
fn what_is_not_known_is_listed_once() {
    let mut spec = base();
    assert!(spec.not_known().is_empty());
    for disk in &mut spec.disks {
        disk.limits.iops = Limit::NotKnown;
        disk.write_bytes_per_second = Limit::NotKnown;
    }
    burst(&mut spec).bytes_per_second = Limit::NotKnown;
    let vm = spec.vm.as_mut().expect("a virtual machine");
    vm.uncached.bytes_per_second = Limit::NotKnown;
    vm.cached.iops = Limit::NotKnown;
    cache(&mut spec).flush_bytes_per_second = Limit::NotKnown;
    expect![[r#"
        P15: IOPS limit
        P15: burst MB/s limit
        Standard_DS3_v2: uncached MB/s limit
        Standard_DS3_v2: cached IOPS limit
        P15: MB/s limit of writes
        host cache: MB/s limit of flushing"#]]
    .assert_eq(&spec.not_known().join("\n"));
    spec.host_cache = None;
    assert!(!spec.not_known().iter().any(|open| open.contains(": cached")));
}
