//! Rows of a record.

use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, CounterRow, IoRecord};
use fathom_core::run::{HistogramRow, Latency, LatencySummary, SeriesRow};
use fathom_core::units::MonoTime;
use std::borrow::Cow;

/// A read of 4 KiB, alone in flight.
pub fn io(created_ns: u64, completed_ns: u64) -> IoRecord {
    IoRecord {
        intended_ns: created_ns,
        created_ns,
        submitted_ns: created_ns,
        completed_ns,
        offset_bytes: 0,
        len_bytes: 4096,
        file: 0,
        job: 0,
        worker: 0,
        depth: 1,
        errno: 0,
        op: Op::Read,
        priority: 0,
    }
}

/// A read of 4 KiB of the load, on the device 254:0, which had it at once.
pub fn request(queued_ns: u64, completed_ns: u64) -> BlockRequest {
    BlockRequest {
        device: 254 << 20,
        queued_ns: Some(queued_ns),
        allocated_ns: Some(queued_ns),
        inserted_ns: None,
        issued_ns: Some(queued_ns),
        completed_ns,
        sector: 0,
        len_bytes: 4096,
        op: BlockOp::Read,
        flags: BlockFlags::default(),
        requeues: 0,
        merges: 0,
        errno: 0,
        pid: 1,
        comm: Comm::from("fathom"),
        owner_pid: 0,
        owner_comm: Comm::default(),
    }
}

/// A reading of a counter.
pub fn counter(at_ns: u64, metric: &'static str, labels: &'static str, value: f64) -> CounterRow {
    CounterRow {
        at_ns,
        metric: Cow::Borrowed(metric),
        labels: Cow::Borrowed(labels),
        value,
    }
}

/// A second in which a job read nothing.
pub fn second(second: u32) -> SeriesRow {
    SeriesRow {
        second,
        end: MonoTime(u64::from(second + 1) * 1_000_000_000),
        duration_ns: 1_000_000_000,
        job: 0,
        ramp: false,
        op: Op::Read,
        ios: 0,
        bytes: 0,
        errors: 0,
        lat: LatencySummary::default(),
        response: LatencySummary::default(),
        backlog: 0,
        late_ios: 0,
    }
}

/// A histogram of these latencies.
pub fn histogram(latencies_ns: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::new();
    for latency_ns in latencies_ns {
        histogram.record(latency_ns);
    }
    histogram
}

/// A histogram as a run directory holds it.
pub fn buckets(job: u32, op: Op, metric: Latency, histogram: &Histogram) -> Vec<HistogramRow> {
    let row = |(low_ns, high_ns, count)| HistogramRow {
        job,
        op,
        metric,
        low_ns,
        high_ns,
        count,
    };
    histogram.occupied().map(row).collect()
}
