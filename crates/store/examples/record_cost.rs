//! What keeping and reading a record costs: bytes and time a row, memory.
//!
//! `cargo run --release -p fathom-store --example record_cost -- SHAPE ROWS DIR [FIO_LOGS]`
//!
//! SHAPE is `psync` (one I/O at a time, each made when the last one completes), `libaio` (32 in flight), `modelled` (120
//! I/Os a second, as a day on a modelled disk has), `block` (requests of a device) or `counters`. `FIO_LOGS` is what
//! `fio --write_lat_log` was given: latencies are then drawn from its logs, neighbours together, else made up. It
//! writes the rows to DIR, which must not be there, flushes each second of the record, and reads them back.

use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, CounterRow, IoRecord, RowSink};
use fathom_core::rng::Rng;
use fathom_core::run::Status;
use fathom_store::{RecordReader, RunWriter, StreamRow, StreamWriter};
use fathom_testkit::make;
use std::collections::BinaryHeap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Rows made before the clock starts, as a worker's ring hands them over.
const CHUNK_ROWS: usize = 16 << 10;

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [shape, rows, dir, logs @ ..] = args.as_slice() else {
        return Err("record_cost SHAPE ROWS DIR [FIO_LOGS]".into());
    };
    let (rows, dir) = (rows.parse()?, Path::new(dir));
    let latencies = |log: &str, made_up: fn(&mut Rng) -> u64| Latencies::new(logs.first(), log, made_up);
    match shape.as_str() {
        "psync" => measure(
            dir,
            rows,
            in_turn(latencies("clat", |rng| 2_400 + spread(rng, 9))?),
        ),
        "libaio" => measure(
            dir,
            rows,
            in_flight(
                latencies("slat", |rng| 2_500 + spread(rng, 10))?,
                latencies("clat", |rng| 250_000 + spread(rng, 16))?,
            ),
        ),
        "modelled" => measure(
            dir,
            rows,
            paced(latencies("clat", |rng| 3_000_000 + spread(rng, 21))?),
        ),
        "block" => measure(
            dir,
            rows,
            requests(latencies("clat", |rng| 150_000 + spread(rng, 16))?),
        ),
        "counters" => measure(dir, rows, counters()),
        _ => Err("no such SHAPE".into()),
    }
}

/// A number with a long tail: about `1 << bits`.
fn spread(rng: &mut Rng, bits: u32) -> u64 {
    let scale = (1u64 << bits) as f64;
    (-rng.unit_open_low().ln() * scale) as u64
}

/// Latencies of a log from a random place on, or made up.
struct Latencies {
    log: Vec<u64>,
    at: usize,
    made_up: fn(&mut Rng) -> u64,
}

impl Latencies {
    fn new(logs: Option<&String>, name: &str, made_up: fn(&mut Rng) -> u64) -> Fallible<Self> {
        let mut log = Vec::new();
        if let Some(logs) = logs {
            for line in std::fs::read_to_string(format!("{logs}_{name}.1.log"))?.lines() {
                let value = line.split(", ").nth(1).ok_or("no latency in a line of the log")?;
                log.push(value.parse()?);
            }
        }
        Ok(Self { log, at: 0, made_up })
    }

    fn next(&mut self, rng: &mut Rng) -> u64 {
        if self.log.is_empty() {
            return (self.made_up)(rng);
        }
        if self.at == 0 {
            self.at = rng.below(self.log.len() as u64) as usize + 1;
        }
        self.at -= 1;
        let value = self.log[self.log.len() - 1 - self.at];
        if rng.below(1000) == 0 {
            self.at = 0;
        }
        value
    }
}

fn io(rng: &mut Rng, stamps: [u64; 4], depth: u32) -> IoRecord {
    let [intended_ns, created_ns, submitted_ns, completed_ns] = stamps;
    IoRecord {
        intended_ns,
        submitted_ns,
        offset_bytes: rng.below(1 << 18) << 12,
        depth,
        ..make::io(created_ns, completed_ns)
    }
}

/// One at a time: a stamp serves for the end of one and the beginning of the next.
fn in_turn(mut clat: Latencies) -> impl FnMut(&mut Rng) -> IoRecord {
    let mut now = 5_000_000_000;
    move |rng| {
        let begun = now;
        now += clat.next(rng);
        io(rng, [begun, begun, begun, now], 1)
    }
}

/// 32 in flight, in the order of their completion.
fn in_flight(mut slat: Latencies, mut clat: Latencies) -> impl FnMut(&mut Rng) -> IoRecord {
    let (mut now, mut pending) = (5_000_000_000u64, BinaryHeap::new());
    move |rng| {
        while pending.len() < 32 {
            let created = now;
            now += slat.next(rng);
            pending.push(std::cmp::Reverse((now + clat.next(rng), created, now)));
        }
        let Some(std::cmp::Reverse((completed, created, submitted))) = pending.pop() else {
            return io(rng, [0; 4], 0);
        };
        now = now.max(completed) + 300;
        io(rng, [created, created, submitted, completed.max(now - 200)], 32)
    }
}

/// 120 a second, with a schedule.
fn paced(mut clat: Latencies) -> impl FnMut(&mut Rng) -> IoRecord {
    let (mut k, mut free) = (0u64, 0);
    move |rng| {
        k += 1;
        let intended = k * 1_000_000_000 / 120;
        let created = intended.max(free);
        free = created + clat.next(rng);
        io(rng, [intended, created, created, free], 1)
    }
}

/// Requests of a device with a scheduler, 8 in flight, of one process and a kernel worker.
fn requests(mut latency: Latencies) -> impl FnMut(&mut Rng) -> BlockRequest {
    let mut now = 5_000_000_000;
    move |rng| {
        now += spread(rng, 13);
        let (queue, device) = (400 + spread(rng, 8), latency.next(rng));
        let issued = now - device;
        let worker = rng.below(50) == 0;
        BlockRequest {
            device: 254 << 20,
            queued_ns: Some(issued - queue),
            allocated_ns: Some(issued - queue + 150 + rng.below(60)),
            inserted_ns: worker.then_some(issued - 60),
            issued_ns: Some(issued),
            completed_ns: now,
            sector: rng.below(1 << 25) << 3,
            len_bytes: 4096,
            op: if worker { BlockOp::Write } else { BlockOp::Read },
            flags: BlockFlags(0),
            requeues: 0,
            merges: u16::from(worker),
            errno: 0,
            pid: if worker { 77 } else { 4711 },
            comm: Comm::from(if worker { "kworker/u8:1" } else { "fathom" }),
            owner_pid: 0,
            owner_comm: Comm::default(),
        }
    }
}

/// 200 counters a second, of which a quarter changes.
fn counters() -> impl FnMut(&mut Rng) -> CounterRow {
    let labels: Vec<String> = (0..200).map(|n| format!("device=\"vd{}\"", n % 20)).collect();
    let (mut index, mut second, mut values) = (0, 0u64, vec![0u64; 200]);
    let metrics = [
        "node_disk_reads_completed_total",
        "node_disk_io_time_seconds_total",
    ];
    move |rng| {
        index = (index + 1) % 200;
        second += u64::from(index == 0);
        values[index] += if index % 4 == 0 { rng.below(10_000) } else { 0 };
        CounterRow {
            at_ns: second * 1_000_000_000 + index as u64 / 10 * 7_000,
            metric: metrics[index % 2].into(),
            labels: labels[index].clone().into(),
            value: values[index] as f64 / 1000.0,
        }
    }
}

fn measure<R: StreamRow>(dir: &Path, rows: u64, mut next: impl FnMut(&mut Rng) -> R) -> Fallible<()> {
    let mut run = make::run(Vec::new(), Vec::new());
    run.status = Status::Running;
    let mut directory = RunWriter::create(dir, &run)?;
    let mut rng = Rng::new(1);
    let mut writer = StreamWriter::<R>::create(dir)?;
    let (mut left, mut spent, mut worst, mut flushed_ns) = (rows, Duration::ZERO, Duration::ZERO, 0);
    let mut cpu = Duration::ZERO;
    while left > 0 {
        let chunk: Vec<R> = (0..left.min(CHUNK_ROWS as u64)).map(|_| next(&mut rng)).collect();
        left -= chunk.len() as u64;
        let (begun, cpu_begun) = (Instant::now(), cpu_time()?);
        let mut rest = chunk.as_slice();
        while let Some(first) = rest.first() {
            // A record of few rows a second is flushed within a chunk.
            let second = first.time_ns() / 1_000_000_000;
            let count = rest.partition_point(|row| row.time_ns() / 1_000_000_000 <= second);
            let (some, later) = rest.split_at(count.max(1));
            let one = Instant::now();
            writer.rows(some)?;
            if second > flushed_ns {
                writer.flush()?;
                flushed_ns = second;
            }
            worst = worst.max(one.elapsed());
            rest = later;
        }
        spent += begun.elapsed();
        cpu += cpu_time()?.saturating_sub(cpu_begun);
    }
    let begun = Instant::now();
    let end = writer.finish()?;
    directory.stream_ended(&end);
    println!(
        "written: {rows} rows, {:.2} M rows/s ({:.0} ns a row, CPU {:.0} ns), longest call {worst:.1?}, finish {:.1?}",
        rows as f64 / spent.as_secs_f64() / 1e6,
        spent.as_secs_f64() * 1e9 / rows as f64,
        cpu.as_secs_f64() * 1e9 / rows as f64,
        begun.elapsed(),
    );
    println!(
        "kept: {:.2} bytes a row, {} files, peak memory {} MiB",
        end.bytes as f64 / rows as f64,
        end.files.len(),
        peak_kib()? / 1024
    );
    run.status = Status::Complete;
    directory.finish(&run, std::iter::empty())?;
    read_back::<R>(dir, rows)
}

fn read_back<R: StreamRow>(dir: &Path, rows: u64) -> Fallible<()> {
    let begun = Instant::now();
    let (mut found, mut last) = (0, 0);
    let mut reader = RecordReader::<R>::open(dir)?;
    reader.for_each_batch(|some| {
        found += some.len() as u64;
        last = last.max(some.last().map_or(0, StreamRow::time_ns));
    })?;
    let spent = begun.elapsed().as_secs_f64();
    println!(
        "read: {found} rows, {:.2} M rows/s ({:.0} ns a row), peak memory {} MiB",
        found as f64 / spent / 1e6,
        spent * 1e9 / found as f64,
        peak_kib()? / 1024
    );
    let begun = Instant::now();
    let window = last / 2..last / 2 + 1_000_000_000;
    let mut some = 0;
    RecordReader::<R>::open(dir)?
        .within(window)
        .for_each_batch(|rows| some += rows.len())?;
    println!("a second in the middle: {some} rows in {:.1?}", begun.elapsed());
    if found == rows {
        Ok(())
    } else {
        Err("rows are missing".into())
    }
}

/// CPU time of this process so far.
fn cpu_time() -> Fallible<Duration> {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat")?;
    let ns = schedstat.split(' ').next().ok_or("no CPU time")?.parse()?;
    Ok(Duration::from_nanos(ns))
}

fn peak_kib() -> Fallible<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("no VmHWM")?.trim().trim_end_matches(" kB").parse()?)
}
