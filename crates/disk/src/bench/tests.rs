//! A bench without a door: what comes back, when, and what faults do.

use super::{Answer, Bench, DiskOptions, Io, IoKind, Options, Outcome, Running};
use crate::fault;
use fathom_core::backend::Errno;
use fathom_core::record::Comm;
use fathom_core::rng::Rng;
use fathom_door::backing;
use fathom_model::{Catalog, Spec, target};
use fathom_sys::clock::monotonic_ns;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

fn spec(words: &str) -> Spec {
    target::parse(words, Catalog::azure()).expect(words)
}

fn disk(name: &str, size_bytes: u64, cache_bytes: u64) -> DiskOptions {
    DiskOptions {
        name: name.to_owned(),
        file: backing::memory(name, size_bytes).expect("memory"),
        size_bytes,
        cache_bytes,
    }
}

fn bench(specs: Option<&[Spec]>) -> Running {
    let disks = vec![disk("data", 16 * MIB, MIB), disk("log", 16 * MIB, MIB)];
    let disks = disks.into_iter().take(specs.map_or(1, <[Spec]>::len)).collect();
    Bench::start(specs, disks, Options::default()).expect("a bench").0
}

/// Where an answer goes, with the time at which it came.
fn answer() -> (Answer, Receiver<(Outcome, u64)>) {
    let (tell, told) = channel();
    (
        Box::new(move |outcome| {
            let _gone = tell.send((outcome, monotonic_ns()));
        }),
        told,
    )
}

fn io(disk: usize, offset_bytes: u64, kind: IoKind<'_>) -> Io<'_> {
    Io {
        disk,
        offset_bytes,
        kind,
        pid: 0,
        comm: Comm::default(),
    }
}

fn submit(bench: &Bench, io: Io<'_>) -> Receiver<(Outcome, u64)> {
    let (answer, told) = answer();
    bench.submit(io, answer);
    told
}

fn wait(told: &Receiver<(Outcome, u64)>) -> (Outcome, u64) {
    told.recv_timeout(Duration::from_mins(1)).expect("an answer")
}

fn do_io(bench: &Bench, disk: usize, offset_bytes: u64, kind: IoKind<'_>) -> Outcome {
    wait(&submit(bench, io(disk, offset_bytes, kind))).0
}

const READ: IoKind<'static> = IoKind::Read {
    len_bytes: 4096,
    headroom: 0,
};

fn write(data: &[u8]) -> IoKind<'_> {
    IoKind::Write { data, forced: false }
}

#[test]
fn what_comes_back_is_what_was_written_last() {
    let seed = fathom_testkit::seed();
    let mut rng = Rng::new(seed);
    let running = bench(None);
    let mut oracle = vec![0u8; (16 * MIB) as usize];
    for round in 0..20_000u32 {
        let offset = rng.below(16 * MIB);
        let len = (1 + rng.below(20_000)).min(16 * MIB - offset);
        let range = offset as usize..(offset + len) as usize;
        match rng.below(10) {
            0 => {
                do_io(&running.bench, 0, offset, IoKind::Trim { len_bytes: len }).expect("trim");
                oracle[range].fill(0);
            }
            1 => drop(do_io(&running.bench, 0, 0, IoKind::Flush).expect("flush")),
            2..5 => {
                let mut data = vec![0; len as usize];
                rng.fill(&mut data);
                do_io(&running.bench, 0, offset, write(&data)).expect("write");
                oracle[range].copy_from_slice(&data);
            }
            _ => {
                let kind = IoKind::Read {
                    len_bytes: len as u32,
                    headroom: 3,
                };
                let data = do_io(&running.bench, 0, offset, kind).expect("read");
                assert!(data[3..] == oracle[range], "round {round} at {offset}+{len}");
            }
        }
    }
    assert_eq!(do_io(&running.bench, 0, 16 * MIB - 1, READ), Err(Errno(22)));
}

#[test]
fn answers_come_when_the_model_says_and_never_before() {
    let specs = [spec("azure/P30")];
    let running = bench(Some(&specs));
    let begun = monotonic_ns();
    let all: Vec<_> = (0..64)
        .map(|n| submit(&running.bench, io(0, n * 4096, READ)))
        .collect();
    let mut last = 0;
    for told in &all {
        let (outcome, at) = wait(told);
        assert_eq!(outcome.map(|data| data.len()), Ok(4096));
        last = last.max(at);
    }
    let counts = running.bench.counts(0);
    assert_eq!(
        (counts.ops[0].ios, counts.in_flight, counts.lat_ns.n()),
        (64, 0, 64)
    );
    let (service, lat) = (counts.service_ns, counts.lat_ns);
    assert!(service.min() > Some(500_000), "{:?}", service.min());
    assert!(
        lat.min() >= service.min().map(|ns| ns - ns / 500),
        "{:?} before {:?}",
        lat.min(),
        service.min()
    );
    assert!(last - begun >= service.max().expect("some") * 99 / 100);
}

#[test]
fn a_machines_limits_are_shared_and_its_cache_makes_writers_wait() {
    let words = "azure/P30,vm=Standard_DS3_v2,cache=rw";
    let specs = [spec(words), spec(words)];
    let running = bench(Some(&specs));
    let data = vec![1; MIB as usize];
    // More than the cache takes at once: some wait for its flushes, and all are answered.
    let writes: Vec<_> = (0..8)
        .map(|n| submit(&running.bench, io(n % 2, n as u64 / 2 * MIB, write(&data))))
        .collect();
    let flush = submit(&running.bench, io(0, 0, IoKind::Flush));
    for told in writes.iter().chain([&flush]) {
        wait(told).0.expect("complete");
    }
    let shared = running.bench.limits(None);
    assert!(
        shared
            .iter()
            .any(|limit| limit.name == "VM uncached MB/s" && limit.taken > 0),
        "{shared:?}"
    );
}

#[test]
fn faults_do_what_they_say() {
    let running = bench(None);
    let bench = &running.bench;
    let apply = |words: &str| {
        let (disk, fault) = fault::parse(words).expect(words);
        bench.apply(disk.as_deref(), &fault).expect(words).join("\n")
    };
    let told = apply("stall 200ms");
    assert!(told.starts_with("data: stalled for "), "{told}");
    let begun = monotonic_ns();
    let (outcome, at) = wait(&submit(bench, io(0, 0, READ)));
    assert!(outcome.is_ok() && at - begun > 190 * MS, "{}", at - begun);
    apply("errors reads at 1MiB+4KiB");
    assert_eq!(do_io(bench, 0, MIB, READ), Err(Errno(5)));
    assert!(do_io(bench, 0, 2 * MIB, READ).is_ok());
    assert!(do_io(bench, 0, MIB, write(&[1; 512])).is_ok());
    apply("heal");
    assert!(do_io(bench, 0, MIB, READ).is_ok());
    apply("errors writes 20% seed 3");
    let failed = (0..1000)
        .filter(|_| do_io(bench, 0, 0, write(&[1; 512])).is_err())
        .count();
    assert!((130..270).contains(&failed), "{failed}");
    apply("heal");
    bench.set_fixed_ns(10 * MS);
    apply("slow 10x for 1h");
    let begun = monotonic_ns();
    let (_, at) = wait(&submit(bench, io(0, 0, READ)));
    assert!(at - begun >= 100 * MS, "{}", at - begun);
    apply("heal");
    // What is under way when the disk goes fails, though the disk is back by then.
    let told = submit(bench, io(0, 0, READ));
    assert!(apply("detach").contains("detached"));
    assert_eq!(do_io(bench, 0, 0, READ), Err(Errno(5)));
    apply("attach");
    assert_eq!(wait(&told).0, Err(Errno(5)));
    assert!(do_io(bench, 0, 0, READ).is_ok());
    assert_eq!(bench.counts(0).refused, 1);
    let unknown = bench
        .apply(Some("log"), &fault::Fault::Heal)
        .expect_err("no such disk");
    assert_eq!(unknown.to_string(), "there is no disk `log` here: data");
}

#[test]
fn a_power_cut_takes_what_was_not_flushed_and_nothing_else() {
    let mut lost = 0;
    for seed in 0..40 {
        let running = bench(None);
        let bench = &running.bench;
        do_io(bench, 0, 0, write(&[1; 4096])).expect("write");
        do_io(bench, 0, 0, IoKind::Flush).expect("flush");
        do_io(bench, 0, 4096, write(&[2; 4096])).expect("write");
        let forced = IoKind::Write {
            data: &[3; 4096],
            forced: true,
        };
        do_io(bench, 0, 8192, forced).expect("write");
        bench.apply(None, &fault::Fault::PowerCut { seed }).expect("cut");
        assert_eq!(do_io(bench, 0, 0, READ), Err(Errno(5)));
        bench.apply(None, &fault::Fault::Attach).expect("attach");
        assert_eq!(do_io(bench, 0, 0, READ), Ok(vec![1; 4096]));
        assert_eq!(do_io(bench, 0, 8192, READ), Ok(vec![3; 4096]));
        lost += u32::from(do_io(bench, 0, 4096, READ) != Ok(vec![2; 4096]));
    }
    assert!((15..40).contains(&lost), "{lost} of 40");
}

#[test]
fn a_write_under_way_when_the_disk_goes_holds_up_no_later_one() {
    for (words, forced) in [("detach", false), ("detach", true), ("power-cut seed 3", false)] {
        let running = bench(None);
        let bench = &running.bench;
        let apply = |words: &str| {
            let (disk, fault) = fault::parse(words).expect(words);
            bench.apply(disk.as_deref(), &fault).expect(words);
        };
        bench.set_fixed_ns(50 * MS);
        let kind = IoKind::Write {
            data: &[1; 4096],
            forced,
        };
        let told = submit(bench, io(0, 0, kind));
        apply(words);
        apply("attach");
        assert_eq!(wait(&told).0, Err(Errno(5)));
        bench.set_fixed_ns(0);
        // Four times what the cache holds.
        for at in 0..1024 {
            do_io(bench, 0, at * 4096, write(&[2; 4096])).expect("write");
        }
        let held = bench.store(0).unflushed_bytes();
        assert!(held <= MIB, "{words}: {held} bytes in a cache of 1 MiB");
        do_io(bench, 0, 0, IoKind::Flush).expect("flush");
        assert_eq!(bench.store(0).unflushed_bytes(), 0, "{words}");
    }
}

#[test]
fn a_schedule_is_followed() {
    let running = bench(None);
    let schedule = fault::parse_schedule("50ms errors\n150ms heal\n").expect("a schedule");
    running.bench.follow(schedule).expect("its disks are there");
    let mut seen = Vec::new();
    while monotonic_ns() - running.bench.origin_ns() < 250 * MS {
        let failed = do_io(&running.bench, 0, 0, READ).is_err();
        if seen.last() != Some(&failed) {
            seen.push(failed);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(seen, [false, true, false]);
    let unknown = fault::parse_schedule("1s disk log heal").expect("a schedule");
    assert!(running.bench.follow(unknown).is_err());
}
