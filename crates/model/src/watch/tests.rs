//! What is seen, against lists kept beside.

use super::DEVICE;
use crate::Machine;
use crate::spec::{CacheMode, Spec};
use crate::testing::{MS, SECOND, between, flat, host_cache, limits, seed, spec};
use fathom_core::backend::{Op, Request};
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, CounterRow};
use fathom_core::rng::Rng;
use fathom_core::units::MonoTime;
use fathom_core::virtual_disk::{Submitter, Trace, VirtualDisk};
use std::collections::BTreeMap;

const BOTH: Trace = Trace {
    requests: true,
    counters: true,
};

fn machine(spec: &Spec, direct: bool, what: Trace) -> Machine {
    let mut machine = Machine::new(spec);
    machine.trace(what);
    machine.attach(Submitter {
        direct,
        sync_writes: false,
        file_base_bytes: vec![0],
    });
    machine
}

fn request(op: Op, offset: u64, len: u32) -> Request {
    Request {
        slot: 0,
        op,
        file: 0,
        offset,
        len,
    }
}

/// The value of each metric.
fn values(rows: &[CounterRow]) -> BTreeMap<&str, f64> {
    let values: BTreeMap<&str, f64> = rows.iter().map(|row| (row.metric.as_ref(), row.value)).collect();
    assert_eq!(values.len(), rows.len(), "each once");
    values
}

/// From, to; `None`: not known yet.
type Seen = (u64, Option<u64>, Op, u32);

/// The counters at `now`, from a list of all that was sent.
fn check(now: u64, all: &[Seen], rows: &[CounterRow]) {
    let got = values(rows);
    assert!(rows.iter().all(|row| row.at_ns == now));
    let over = |end: Option<u64>| end.is_some_and(|end| end <= now);
    let of = |op: Op| all.iter().filter(move |seen| over(seen.1) && seen.2 == op);
    let is = |metric: &str, expected: f64| {
        let got = got[metric];
        assert!(
            (got - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            "{metric} at {now}: {got}, not {expected}"
        );
    };
    is("node_disk_reads_completed_total", of(Op::Read).count() as f64);
    is("node_disk_writes_completed_total", of(Op::Write).count() as f64);
    is("node_disk_flush_requests_total", of(Op::Sync).count() as f64);
    is("node_disk_discards_completed_total", of(Op::Trim).count() as f64);
    let bytes = |op| of(op).map(|seen| u64::from(seen.3)).sum::<u64>() as f64;
    is("node_disk_read_bytes_total", bytes(Op::Read));
    is("node_disk_written_bytes_total", bytes(Op::Write));
    is("node_disk_discarded_sectors_total", bytes(Op::Trim) / 512.0);
    let time = |op| of(op).map(|seen| seen.1.unwrap_or(0) - seen.0).sum::<u64>() as f64 / 1e9;
    is("node_disk_read_time_seconds_total", time(Op::Read));
    is("node_disk_write_time_seconds_total", time(Op::Write));
    is("node_disk_flush_requests_time_seconds_total", time(Op::Sync));
    let under_way = all.iter().filter(|seen| seen.0 <= now && !over(seen.1));
    is("node_disk_io_now", under_way.count() as f64);
    let until = |seen: &Seen| seen.1.unwrap_or(u64::MAX).min(now).max(seen.0);
    let weighted: u64 = all.iter().map(|seen| until(seen) - seen.0).sum();
    is("node_disk_io_time_weighted_seconds_total", weighted as f64 / 1e9);
    let mut spans: Vec<(u64, u64)> = all.iter().map(|seen| (seen.0, until(seen))).collect();
    spans.sort_unstable();
    let (mut busy, mut to) = (0, 0);
    for (from, end) in spans {
        busy += end.saturating_sub(from.max(to));
        to = to.max(end);
    }
    is("node_disk_io_time_seconds_total", busy as f64 / 1e9);
}

fn all_ops(rng: &mut Rng) -> (Op, u32) {
    match rng.below(10) {
        0 => (Op::Sync, 0),
        1 => (Op::Trim, 4096 * (1 + rng.below(8) as u32)),
        2..=5 => (Op::Read, 4096 * (1 + rng.below(8) as u32)),
        _ => (Op::Write, 4096 * (1 + rng.below(8) as u32)),
    }
}

/// Direct I/O of all kinds: each request once, in the order of the ends, and counters as of a list; with a cache that fills
/// up, so that some ends are told late, and on stripes.
#[test]
fn direct_io_is_seen_as_it_is() {
    let seed = seed();
    for (disks, cache) in [
        (1, None),
        (3, None),
        (1, Some(CacheMode::ReadOnly)),
        (2, Some(CacheMode::ReadWrite)),
    ] {
        let mut rng = Rng::new(seed);
        let mut spec = Spec {
            host_cache: cache.map(host_cache),
            ..spec(disks)
        };
        for disk in &mut spec.disks {
            disk.read = between(300.0, 9000.0);
            disk.write = between(300.0, 9000.0);
            disk.limits = limits(400, 2 << 20);
        }
        let mut machine = machine(&spec, true, BOTH);
        let mut all: Vec<Seen> = Vec::new();
        let mut taken: Vec<BlockRequest> = Vec::new();
        let mut now = 0;
        for look in 1..=40 {
            let until = look * 250 * MS;
            loop {
                // Sometimes long enough for nothing to be in flight.
                let gap = if rng.percent(1) { SECOND } else { 8 * MS };
                now += rng.below(gap);
                if now > until {
                    break;
                }
                machine.advance(MonoTime(now), &mut |ticket, due| {
                    all[ticket as usize].1 = Some(due.0);
                });
                let (op, len) = all_ops(&mut rng);
                let ticket = all.len() as u32;
                let offset = rng.below(10_000) * 4096;
                let due = machine
                    .submit(0, ticket, &request(op, offset, len), MonoTime(now))
                    .completed;
                all.push((now, (due != MonoTime::NEVER).then_some(due.0), op, len));
            }
            now = until;
            machine.advance(MonoTime(now), &mut |ticket, due| {
                all[ticket as usize].1 = Some(due.0);
            });
            machine.take_requests(MonoTime(now), &mut taken);
            let mut rows = Vec::new();
            machine.counters(MonoTime(now), &mut rows);
            check(now, &all, &rows);
        }
        assert!(
            taken.is_sorted_by_key(|request| request.completed_ns),
            "seed {seed}"
        );
        let mut expected: Vec<Seen> = all
            .iter()
            .filter(|seen| seen.1.is_some_and(|end| end <= now))
            .copied()
            .collect();
        expected.sort_by_key(|seen| (seen.1, seen.0));
        let mut got: Vec<Seen> = taken.iter().map(seen).collect();
        got.sort_by_key(|seen| (seen.1, seen.0));
        assert!(expected.len() > 1000, "{}", expected.len());
        assert_eq!(got, expected, "seed {seed}, {disks} disks, {cache:?}");
        taken.iter().for_each(check_own);
    }
}

/// Of the load, and in no queue.
fn check_own(request: &BlockRequest) {
    assert_eq!((request.device, request.queue_ns()), (DEVICE, Some(0)));
    assert_eq!(request.comm.to_string(), "fathom");
    assert_eq!(request.sector == u64::MAX, request.op == BlockOp::Flush);
}

fn seen(request: &BlockRequest) -> Seen {
    let op = match request.op {
        BlockOp::Read => Op::Read,
        BlockOp::Write => Op::Write,
        BlockOp::Discard => Op::Trim,
        BlockOp::Flush | BlockOp::Other => Op::Sync,
    };
    let begun = request.queued_ns.expect("queued");
    (begun, Some(request.completed_ns), op, request.len_bytes)
}

/// Through the page cache: reads by the load itself, writes merged and by a kernel worker, a flush at the end of an fsync.
#[test]
fn buffered_io_is_seen_as_the_page_cache_sends_it() {
    let mut spec = spec(1);
    spec.disks[0].write = flat(5000.0);
    let mut machine = machine(&spec, false, BOTH);
    let mut now = 0;
    let mut dirtied = 0;
    for ticket in 0..2000 {
        now += 20_000;
        machine.advance(MonoTime(now), &mut |_, _| {});
        let offset = u64::from(ticket) * 4096;
        machine.submit(0, ticket, &request(Op::Write, offset, 4096), MonoTime(now));
        dirtied += 4096;
    }
    machine.submit(0, 2000, &request(Op::Read, 900 << 20, 8192), MonoTime(now));
    let mut rows = Vec::new();
    machine.counters(MonoTime(now), &mut rows);
    let before = values(&rows);
    let (dirty, writing) = (
        before["node_memory_Dirty_bytes"],
        before["node_memory_Writeback_bytes"],
    );
    assert!(dirty > 0.0 && writing > 0.0, "{before:?}");
    assert_eq!((dirty + writing) as u64, machine.unwritten_bytes());
    machine.submit(0, 2001, &request(Op::Sync, 0, 0), MonoTime(now));
    let end = machine.settle(MonoTime(now));
    let mut taken = Vec::new();
    machine.take_requests(MonoTime(end.0 + SECOND), &mut taken);
    let of = |op: BlockOp| taken.iter().filter(move |request| request.op == op);
    let writes: Vec<&BlockRequest> = of(BlockOp::Write).collect();
    assert_eq!(writes.iter().map(|write| write.len_bytes).sum::<u32>(), dirtied);
    assert!(writes.iter().all(|write| write.len_bytes <= 512 << 10));
    assert!(writes.iter().any(|write| write.len_bytes == 512 << 10));
    assert!(
        writes
            .iter()
            .all(|write| write.comm.to_string() == "kworker" && write.flags == BlockFlags(0))
    );
    let reads: Vec<(u64, u32)> = of(BlockOp::Read)
        .map(|read| (read.sector, read.len_bytes))
        .collect();
    assert_eq!(reads, [((900 << 20) / 512, 8192)]);
    let flushes: Vec<&BlockRequest> = of(BlockOp::Flush).collect();
    assert_eq!(flushes.len(), 1);
    assert!(flushes[0].flags.has(BlockFlags::SYNC));
    assert!(
        writes
            .iter()
            .all(|write| write.completed_ns <= flushes[0].begun_ns())
    );
    let mut rows = Vec::new();
    machine.counters(MonoTime(end.0 + 2 * SECOND), &mut rows);
    let after = values(&rows);
    assert_eq!(
        (
            after["node_memory_Dirty_bytes"],
            after["node_memory_Writeback_bytes"]
        ),
        (0.0, 0.0)
    );
    assert_eq!(after["node_disk_written_bytes_total"] as u32, dirtied);
}

/// Who looks changes nothing, and who does not ask gets nothing.
#[test]
fn looking_changes_nothing() {
    let seed = seed();
    let run = |what: Trace| {
        let mut rng = Rng::new(seed);
        let mut spec = spec(2);
        spec.host_cache = Some(host_cache(CacheMode::ReadWrite));
        let mut machine = machine(&spec, true, what);
        let (mut requests, mut rows, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for ticket in 0..3000 {
            let now = MonoTime(u64::from(ticket) * 100_000);
            machine.advance(now, &mut |ticket, due| ends.push((ticket, due)));
            let (op, len) = all_ops(&mut rng);
            let sent = request(op, rng.below(10_000) * 4096, len);
            ends.push((ticket, machine.submit(0, ticket, &sent, now).completed));
        }
        machine.take_requests(MonoTime(SECOND), &mut requests);
        machine.counters(MonoTime(SECOND), &mut rows);
        (ends, requests.len(), rows.len())
    };
    let nothing = run(Trace::default());
    let requests = run(Trace {
        requests: true,
        ..Trace::default()
    });
    let counters = run(Trace {
        counters: true,
        ..Trace::default()
    });
    assert_eq!((nothing.1, nothing.2), (0, 0));
    assert!(requests.1 > 1000 && requests.2 == 0, "seed {seed}");
    assert_eq!((counters.1, counters.2), (0, 19));
    assert!(nothing.0 == requests.0 && nothing.0 == counters.0, "seed {seed}");
}

#[test]
fn the_device_has_the_name_of_its_disks() {
    let label = |spec: &Spec| {
        let mut rows = Vec::new();
        machine(spec, true, BOTH).counters(MonoTime(0), &mut rows);
        rows[0].labels.to_string()
    };
    let mut spec = spec(1);
    assert_eq!(label(&spec), "device=\"disk\"");
    spec.disks = vec![spec.disks[0].clone(); 3];
    spec.disks[0].name = String::from("a\"b\\");
    assert_eq!(label(&spec), "device=\"3xa\\\"b\\\\\"");
}
