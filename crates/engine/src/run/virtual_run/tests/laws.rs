//! What holds for any machine and any workload.

use super::{MS, SECOND, direct, for_ms, limits, named, probed, service, spec};
use fathom_core::backend::Op;
use fathom_core::rng::Rng;
use fathom_core::run::Status;
use fathom_core::workload::{BlockSize, Job, Mix, SplitEntry};
use fathom_model::spec::{Limit, OutageSpec, PathLimits, ServiceSpec, Spec, VmSpec};
use fathom_testkit::seed;

const UNIT: u64 = 256 << 10;

/// Blocks of several sizes that never lie across two chunks.
fn some_job(rng: &mut Rng) -> Job {
    let mix = [Mix::Read, Mix::Write, Mix::ReadWrite { read_percent: 60 }][rng.below(3) as usize];
    let mut job = for_ms(direct(mix, 1 + rng.below(64) as u32), 4500);
    let size = |rng: &mut Rng| 4096 << rng.below(9);
    let split = |percent, bytes| SplitEntry { bytes, percent };
    job.block_size = [0, 1, 2].map(|_| match rng.below(2) {
        0 => BlockSize::Fixed(size(rng)),
        _ => BlockSize::Split(vec![split(90, 4096), split(10, size(rng).max(8192))]),
    });
    job.block_align = [1 << 20; 3];
    job
}

fn vm(uncached: PathLimits) -> VmSpec {
    VmSpec {
        cards: 1,
        name: String::from("vm"),
        vcpus: None,
        uncached,
        cached: PathLimits::default(),
    }
}

/// With one service time for all, the moment of release is known: no whole second has more I/O units or bytes than the
/// cap, but for what was left over from one I/O, a disk. In the rows seconds begin elsewhere: a slice's share more.
#[test]
fn no_second_has_more_than_the_caps() {
    let seed = seed();
    for case in 0..60 {
        let mut rng = Rng::stream(seed, case);
        let disks = 1 + rng.below(3);
        let mut spec = spec(disks as usize);
        let (iops, rate) = (50 + rng.below(3000), (1 + rng.below(200)) << 20);
        let shared = rng.percent(50);
        if shared {
            spec.vm = Some(vm(limits(iops, rate)));
        } else {
            spec.disks
                .iter_mut()
                .for_each(|disk| disk.limits = limits(iops, rate));
        }
        let ways = if shared { 1 } else { disks };
        let jobs = [named(some_job(&mut rng), "a"), named(some_job(&mut rng), "b")];
        let (results, rows, probe) = probed(&jobs, &spec);
        assert_eq!(results.status, Status::Complete);
        let largest = probe.ios.iter().map(|io| io.len).max().unwrap_or(0);
        let cap = |rate: u64, carried: u64| ways * (rate * 1020 / 1000 + carried);
        let most = (cap(iops, largest.div_ceil(UNIT)), cap(rate, largest));
        let mut sums = vec![(0, 0); 4000];
        for io in &probe.ios {
            let sum = &mut sums[((io.end - MS) / SECOND) as usize];
            *sum = (sum.0 + io.len.div_ceil(UNIT), sum.1 + io.len);
        }
        for (second, sum) in sums.iter().enumerate() {
            assert!(
                sum.0 <= most.0 && sum.1 <= most.1,
                "seed {seed}, case {case}: {sum:?} of {most:?} in {second}"
            );
        }
        let most = (
            most.0 + ways * (iops * 51 / 1000 + 1),
            most.1 + ways * rate * 51 / 1000,
        );
        for second in 0..=rows.iter().map(|row| row.second).max().unwrap_or(0) {
            let of_second = || rows.iter().filter(|row| row.second == second);
            let (ios, bytes) = (
                of_second().map(|row| row.ios).sum::<u64>(),
                of_second().map(|row| row.bytes).sum::<u64>(),
            );
            assert!(
                ios <= most.0 && bytes <= most.1,
                "seed {seed}, case {case}: {ios}, {bytes} of {most:?}"
            );
        }
    }
}

/// Little's law: what is in flight on average is the rate times the mean latency; measured at the disk on one side,
/// by the run's own statistics on the other. In a closed loop it is the depth.
#[test]
fn what_is_in_flight_is_rate_times_latency() {
    let seed = seed();
    for (case, iodepth) in [1, 3, 16, 64, 200].into_iter().enumerate() {
        let mut spec = spec(1 + case % 2);
        spec.seed = seed >> 1;
        for disk in &mut spec.disks {
            disk.read = service(300.0, 9000.0);
            disk.limits = limits(4000, 1 << 40);
        }
        let (results, _, probe) = probed(&[for_ms(direct(Mix::Read, iodepth), 20_000)], &spec);
        let read = &results.jobs[0].read;
        let in_flight: u64 = probe.ios.iter().map(|io| io.end - io.at).sum();
        let in_flight = in_flight as f64 / results.end.0 as f64;
        let law = read.iops * read.lat_ns.mean / 1e9;
        assert!(
            (law / in_flight - 1.0).abs() < 0.01,
            "seed {seed}: {law}, at the disk {in_flight}"
        );
        let depth = f64::from(iodepth);
        assert!(
            (law / depth - 1.0).abs() < 0.01,
            "seed {seed}: {law} of {iodepth}"
        );
        assert_eq!(read.ios, probe.ios.len() as u64);
    }
}

#[test]
fn nothing_is_served_faster_than_the_medium() {
    let seed = seed();
    for case in 0..20 {
        let mut rng = Rng::stream(seed, case);
        let mut spec = spec(1);
        let disk = &mut spec.disks[0];
        disk.read = ServiceSpec {
            ns_per_kib: 20_000,
            ..service(2043.0, 47_000.0)
        };
        disk.write = ServiceSpec {
            ns_per_kib: 5000,
            ..service(500.0, 3000.0)
        };
        disk.limits = limits(1100, 125_000_000);
        let (_, _, probe) = probed(&[some_job(&mut rng)], &spec);
        for io in &probe.ios {
            let (least, slope) = if io.op == Op::Read {
                (2_043_000, 20_000)
            } else {
                (500_000, 5000)
            };
            let least = least + (io.len / 1024 - 4) * slope;
            assert!(
                io.end - io.at >= least,
                "seed {seed}, case {case}: {io:?}, at least {least}"
            );
        }
    }
}

/// I/Os done in the same time, same seed.
fn total(spec: &Spec, job: &Job) -> u64 {
    let (results, ..) = probed(std::slice::from_ref(job), spec);
    results.jobs[0].total_ios()
}

/// More disks, a higher limit, a deeper queue: never slower, but for what chance decides (1 % allowed).
#[test]
fn more_is_never_slower() {
    let seed = seed();
    let mut base = spec(1);
    base.seed = seed >> 1;
    base.disks[0].read = service(500.0, 5000.0);
    base.disks[0].limits = limits(700, 50 << 20);
    let mut job = for_ms(direct(Mix::Read, 32), 20_000);
    job.block_size[0] = BlockSize::Fixed(64 << 10);
    let ascends = |what: &str, specs: &[Spec]| {
        let totals: Vec<u64> = specs.iter().map(|spec| total(spec, &job)).collect();
        let never = totals
            .windows(2)
            .all(|pair| pair[1] as f64 >= pair[0] as f64 * 0.99);
        assert!(never, "seed {seed}, {what}: {totals:?}");
        assert!(totals.last() > totals.first(), "seed {seed}, {what}: {totals:?}");
    };
    let with = |change: &dyn Fn(&mut Spec)| {
        let mut spec = base.clone();
        change(&mut spec);
        spec
    };
    let disks = [1, 2, 3, 4, 8].map(|count| with(&|spec| spec.disks = vec![spec.disks[0].clone(); count]));
    ascends("disks", &disks);
    let iops =
        [100, 200, 699, 700, 701, 1500].map(|iops| with(&|spec| spec.disks[0].limits.iops = Limit::At(iops)));
    ascends("IOPS", &iops);
    let bytes = [5, 10, 20, 50, 100]
        .map(|mib| with(&|spec| spec.disks[0].limits.bytes_per_second = Limit::At(mib << 20)));
    ascends("MB/s", &bytes);
    let vms = [50, 300, 600, 10_000].map(|iops| with(&|spec| spec.vm = Some(vm(limits(iops, 1 << 40)))));
    ascends("the machine's IOPS", &vms);
    let depths =
        [1u32, 2, 4, 16, 64].map(|iodepth| total(&base, &for_ms(direct(Mix::Read, iodepth), 20_000)));
    assert!(
        depths
            .windows(2)
            .all(|pair| pair[1] as f64 >= pair[0] as f64 * 0.99),
        "seed {seed}: {depths:?}"
    );
}

/// A machine with everything switched on.
fn everything(seed: u64) -> Spec {
    let mut spec = spec(2);
    spec.seed = seed;
    for disk in &mut spec.disks {
        disk.read = service(500.0, 5000.0);
        disk.limits = limits(2000, 100 << 20);
        disk.outages = vec![OutageSpec::Random {
            mean_gap_ns: SECOND,
            duration_min_ns: MS,
            duration_max_ns: 100 * MS,
        }];
    }
    spec.vm = Some(vm(limits(3000, 150 << 20)));
    spec
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let seed = seed() >> 1;
    let jobs = |random_seed| {
        let mut buffered = named(some_job(&mut Rng::new(1)), "buffered");
        buffered.direct = false;
        buffered.sync.fsync_every = 20;
        [
            named(
                for_ms(direct(Mix::ReadWrite { read_percent: 50 }, 16), 6000),
                "direct",
            ),
            buffered,
        ]
        .map(|mut job| {
            job.random_seed = random_seed;
            job
        })
    };
    let all = |model_seed, job_seed| {
        let (results, rows, probe) = probed(&jobs(job_seed), &everything(model_seed));
        (format!("{results:?}"), rows, probe.ios)
    };
    let (first, second) = (all(seed, 1), all(seed, 1));
    assert!(first == second, "seed {seed}: two runs differ");
    for (other, what) in [(all(seed ^ 1, 1), "the machine's"), (all(seed, 2), "the jobs'")] {
        assert!(
            first.0 != other.0 && first.2 != other.2,
            "seed {seed}: {what} seed changes nothing"
        );
    }
    assert!(first.1.len() > 10);
}

/// All that was sent is in the machine's counters; a run with nothing to fail has no errors.
#[test]
fn the_disks_have_seen_what_the_jobs_did() {
    let (results, rows, probe) = probed(
        &[for_ms(direct(Mix::ReadWrite { read_percent: 30 }, 8), 3000)],
        &everything(7),
    );
    let disks = probe.machine.disks(results.end.0);
    let [read, write] = [&results.jobs[0].read, &results.jobs[0].write];
    assert_eq!(disks.iter().map(|disk| disk.read_bytes).sum::<u64>(), read.bytes);
    assert_eq!(disks.iter().map(|disk| disk.write_ios).sum::<u64>(), write.ios);
    let of_rows = |op| {
        rows.iter()
            .filter(|row| row.op == op)
            .map(|row| row.ios)
            .sum::<u64>()
    };
    assert_eq!((of_rows(Op::Read), of_rows(Op::Write)), (read.ios, write.ios));
    assert!(results.jobs[0].errors.is_empty());
    assert!(disks.iter().all(|disk| disk.busy_ns <= results.end.0));
}
