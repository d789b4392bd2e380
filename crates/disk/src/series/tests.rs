use super::Series;
use crate::{Bench, DiskOptions, Io, IoKind, Options};
use fathom_core::backend::Op;
use fathom_core::record::Comm;
use fathom_core::rng::Rng;
use fathom_door::backing;
use fathom_model::{Catalog, target};
use std::sync::mpsc::channel;
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Does an I/O and waits for its answer; whether it was done.
fn ask(bench: &Bench, disk: usize, offset_bytes: u64, kind: IoKind<'_>) -> bool {
    let (tell, told) = channel();
    let io = Io {
        disk,
        offset_bytes,
        kind,
        pid: 0,
        comm: Comm::default(),
    };
    let answer = move |outcome: Result<Vec<u8>, _>| {
        let _gone = tell.send(outcome.is_ok());
    };
    bench.submit(io, Box::new(answer));
    told.recv_timeout(Duration::from_mins(1)).expect("an answer")
}

/// Whatever the looks, no I/O is lost and none counted twice: the intervals add up to what the bench counted.
#[test]
fn intervals_add_up_to_what_was_counted() {
    let seed = fathom_testkit::seed();
    let mut rng = Rng::new(seed);
    let spec = target::parse("azure/P80,vm=Standard_D4s_v5", Catalog::azure()).expect("a model");
    let disks = ["data", "log"].map(|name| DiskOptions {
        name: name.to_owned(),
        file: backing::memory(name, MIB).expect("memory"),
        size_bytes: MIB,
        cache_bytes: 0,
    });
    let options = Options {
        intervals: true,
        ..Options::default()
    };
    let (running, _) = Bench::start(Some(&[spec.clone(), spec]), disks.into(), options).expect("a bench");
    let bench = &running.bench;
    bench.set_fixed_ns(20_000);
    let mut series = Series::new(bench);
    let mut rows = Vec::new();
    for _ in 0..300 {
        let disk = rng.below(2) as usize;
        let offset = rng.below(200) * 4096;
        match rng.below(if disk == 0 { 4 } else { 2 }) {
            0 => ask(
                bench,
                disk,
                offset,
                IoKind::Read {
                    len_bytes: 4096,
                    headroom: 0,
                },
            ),
            1 => ask(
                bench,
                disk,
                offset,
                IoKind::Write {
                    data: &[7; 512],
                    forced: false,
                },
            ),
            2 => ask(bench, disk, 0, IoKind::Flush),
            // Beyond its end nothing is taken, and nothing counted.
            _ => !ask(
                bench,
                disk,
                MIB,
                IoKind::Read {
                    len_bytes: 4096,
                    headroom: 0,
                },
            ),
        };
        if rng.below(20) == 0 {
            let seen = series.look(bench);
            for (row, latencies) in seen.rows.iter().zip(&seen.latencies) {
                assert_eq!((row.job, row.op), (latencies.job, latencies.op));
                assert_eq!((row.ios, row.lat.n), (latencies.lat.n(), latencies.lat.n()));
            }
            rows.extend(seen.rows);
        }
    }
    rows.extend(series.look(bench).rows);
    for disk in 0..2 {
        let counts = bench.counts(disk);
        for (index, op) in super::OPS.into_iter().enumerate() {
            let own = rows.iter().filter(|row| row.job == disk as u32 && row.op == op);
            let sum = own.fold((0, 0, 0), |sum, row| {
                (sum.0 + row.ios, sum.1 + row.bytes, sum.2 + row.errors)
            });
            let counted = counts.ops[index];
            assert_eq!(
                sum,
                (counted.ios, counted.bytes, counted.errors),
                "{disk} {op:?}, seed {seed}"
            );
        }
    }
    // The log was never flushed: it has no row of syncs.
    assert!(!rows.iter().any(|row| row.job == 1 && row.op == Op::Sync));
}

#[test]
fn nothing_is_kept_where_nobody_looks() {
    let disk = DiskOptions {
        name: String::from("disk"),
        file: backing::memory("disk", MIB).expect("memory"),
        size_bytes: MIB,
        cache_bytes: 0,
    };
    let (running, _) = Bench::start(None, vec![disk], Options::default()).expect("a bench");
    ask(&running.bench, 0, 0, IoKind::Flush);
    assert!(running.bench.take_interval(0).is_none());
    assert!(Series::new(&running.bench).look(&running.bench).rows.is_empty());
}
