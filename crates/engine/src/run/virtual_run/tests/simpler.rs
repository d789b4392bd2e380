//! Taking a mechanism away gives the simpler model exactly: to the last I/O.

use super::{Io, MS, direct, for_ms, limits, probed, service, spec};
use fathom_core::workload::{Job, Mix};
use fathom_model::spec::{
    BurstSpec, CacheMode, CrowdingSpec, HostCacheSpec, Limit, OutageSpec, PathLimits, SeekSpec, Spec, VmSpec,
};
use fathom_testkit::seed;

const FAR: u64 = 1_000_000_000_000;

/// Two disks with limits, read and written; the work is the same for all.
fn base(seed: u64) -> Spec {
    let mut spec = spec(2);
    spec.seed = seed >> 1;
    for disk in &mut spec.disks {
        disk.read = service(500.0, 5000.0);
        disk.write = service(800.0, 2000.0);
        disk.limits = limits(1000, 60 << 20);
    }
    spec
}

fn job() -> Job {
    for_ms(direct(Mix::ReadWrite { read_percent: 50 }, 24), 5000)
}

/// All that came out, in words, and all that the disk saw.
fn all(spec: &Spec, job: &Job) -> (String, Vec<Io>) {
    let (results, rows, probe) = probed(std::slice::from_ref(job), spec);
    (format!("{results:?} {rows:?}"), probe.ios)
}

fn same(what: &str, seed: u64, job: &Job, change: impl Fn(&mut Spec)) {
    let plain = base(seed);
    let mut changed = plain.clone();
    change(&mut changed);
    assert_ne!(plain, changed, "{what}");
    assert!(
        all(&plain, job) == all(&changed, job),
        "seed {seed}: {what} changes something"
    );
}

fn vm(uncached: PathLimits, cached: PathLimits) -> VmSpec {
    VmSpec {
        cards: 1,
        name: String::from("vm"),
        vcpus: Some(4),
        uncached,
        cached,
    }
}

fn each_disk(spec: &mut Spec, change: impl Fn(&mut fathom_model::spec::DiskSpec)) {
    spec.disks.iter_mut().for_each(change);
}

#[test]
fn limits_that_do_not_bind() {
    let seed = seed();
    let same = |what, change: &dyn Fn(&mut Spec)| same(what, seed, &job(), change);
    same("a machine far faster", &|spec| {
        spec.vm = Some(vm(limits(FAR, FAR), PathLimits::default()));
    });
    same("a machine of which nothing is known", &|spec| {
        spec.vm = Some(vm(PathLimits::default(), PathLimits::default()));
    });
    same("cached limits without a cache", &|spec| {
        spec.vm = Some(vm(PathLimits::default(), limits(1, 4096)));
    });
    same("a ceiling for writes far above", &|spec| {
        each_disk(spec, |disk| disk.write_bytes_per_second = Limit::At(FAR));
    });
    same("a limit on bytes far above", &|spec| {
        each_disk(spec, |disk| disk.limits.bytes_per_second = Limit::At(FAR));
    });
}

#[test]
fn bursts_that_are_none() {
    let seed = seed();
    for (level_percent, bytes) in [(0, Limit::NotKnown), (100, Limit::At(60 << 20)), (0, Limit::Off)] {
        same("a burst to the base rate", seed, &job(), |spec| {
            each_disk(spec, |disk| {
                disk.limits.burst = Some(BurstSpec {
                    iops_credit: None,
                    bytes_credit: None,
                    iops: Limit::At(1000),
                    bytes_per_second: bytes,
                    full_seconds: 1800,
                    level_percent,
                });
            });
        });
    }
    // An empty bucket under a load that never rests gives the base rate.
    let mut one = base(seed);
    one.disks.truncate(1);
    let expected = all(&one, &job());
    one.disks[0].limits.burst = Some(BurstSpec {
        iops_credit: None,
        bytes_credit: None,
        iops: Limit::At(FAR),
        bytes_per_second: Limit::NotKnown,
        full_seconds: 1,
        level_percent: 0,
    });
    assert!(
        all(&one, &job()) == expected,
        "seed {seed}: an empty bucket changes something"
    );
}

#[test]
fn what_costs_nothing() {
    let seed = seed();
    let same = |what, change: &dyn Fn(&mut Spec)| same(what, seed, &job(), change);
    same("crowding at no cost", &|spec| {
        each_disk(spec, |disk| {
            disk.crowding = Some(CrowdingSpec {
                ns_per_io: 0,
                most: 64,
            });
        });
    });
    same("seeks at no cost", &|spec| {
        each_disk(spec, |disk| {
            disk.seek = Some(SeekSpec {
                read_min_ns: 0,
                read_max_ns: 0,
                write_min_ns: 0,
                write_max_ns: 0,
                write_cost_bytes: 0,
                streams: 4,
            });
        });
    });
    same("outages after the end", &|spec| {
        each_disk(spec, |disk| {
            disk.outages = vec![OutageSpec::Once {
                at_ns: 3600 * 1000 * MS,
                duration_ns: MS,
            }];
        });
    });
    same("a page cache that nothing uses", &|spec| {
        spec.guest.page_cache.call_ns = 99;
    });
}

/// One disk in chunks is one disk.
#[test]
fn a_stripe_of_one() {
    let seed = seed();
    let mut one = base(seed);
    one.disks.truncate(1);
    let expected = all(&one, &job());
    for chunk in [4096, 64 << 10, 1 << 30] {
        one.stripe_chunk_bytes = chunk;
        assert!(all(&one, &job()) == expected, "seed {seed}, chunks of {chunk}");
    }
}

fn cache(mode: CacheMode) -> HostCacheSpec {
    HostCacheSpec {
        mode,
        capacity_bytes: 1 << 20,
        block_bytes: 4096,
        read_hit: service(50.0, 60.0),
        write_hit: service(50.0, 60.0),
        dirty_limit_bytes: 1 << 19,
        dirty_resume_bytes: 1 << 18,
        flush_bytes_per_second: Limit::Off,
    }
}

/// A host cache that has nothing: each block is used once.
#[test]
fn a_cache_without_hits() {
    let seed = seed();
    for mix in [Mix::Read, Mix::Write] {
        let mut job = for_ms(direct(mix, 24), 5000);
        job.limit.time_based = false;
        same("a cache without hits", seed, &job, |spec| {
            spec.host_cache = Some(cache(CacheMode::ReadOnly));
        });
    }
    // The counter-test: with hits it does make a difference.
    let mut cached = base(seed);
    cached.host_cache = Some(cache(CacheMode::ReadWrite));
    assert!(all(&base(seed), &job()) != all(&cached, &job()));
}
