//! The counters of the guest's disk, as its kernel keeps them.
//!
//! Data in: when requests begin and end. Data out: rows, as of `/proc/diskstats` under the node exporter's names (its
//! collector `diskstats`). It must not know where requests come from.

use fathom_core::record::{BlockOp, BlockRequest, CounterRow};
use std::borrow::Cow;

/// What is counted of one kind of request.
#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    ios: u64,
    bytes: u64,
    time_ns: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Counters {
    /// `device="NAME"`.
    label: String,
    /// By the number of their [`BlockOp`].
    kinds: [Kind; BlockOp::ALL.len()],
    /// Time with anything in flight, up to `busy_to_ns`.
    busy_ns: u64,
    busy_to_ns: u64,
}

impl Counters {
    /// All zero, of the device called `name`.
    pub(super) fn new(name: &str) -> Self {
        // As Prometheus' text format wants it.
        let name = name
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        Self {
            label: format!("device=\"{name}\""),
            kinds: <[Kind; BlockOp::ALL.len()]>::default(),
            busy_ns: 0,
            busy_to_ns: 0,
        }
    }

    /// A request has ended.
    pub(super) fn ended(&mut self, request: &BlockRequest) {
        let kind = &mut self.kinds[request.op as usize];
        kind.ios += 1;
        kind.bytes += u64::from(request.len_bytes);
        kind.time_ns += request.completed_ns - request.begun_ns();
    }

    /// Time has passed up to `now_ns`. `spans` are the times in flight of all that was so since the last call, up to now.
    pub(super) fn busy(&mut self, mut spans: Vec<(u64, u64)>, now_ns: u64) {
        spans.sort_unstable();
        let mut to = self.busy_to_ns;
        for (from, end) in spans {
            self.busy_ns += end.saturating_sub(from.max(to));
            to = to.max(end);
        }
        self.busy_to_ns = now_ns;
    }

    /// The rows at `now_ns`, with so many in flight, for so long in all.
    pub(super) fn rows(&self, now_ns: u64, (io_now, in_flight_ns): (u64, u64), out: &mut Vec<CounterRow>) {
        let weighted_ns = self.kinds.iter().map(|kind| kind.time_ns).sum::<u64>() + in_flight_ns;
        let seconds = |ns: u64| ns as f64 / 1e9;
        let [read, write, discard, flush, _] = self.kinds;
        let rows = [
            ("node_disk_reads_completed_total", read.ios as f64),
            ("node_disk_reads_merged_total", 0.0),
            ("node_disk_read_bytes_total", read.bytes as f64),
            ("node_disk_read_time_seconds_total", seconds(read.time_ns)),
            ("node_disk_writes_completed_total", write.ios as f64),
            ("node_disk_writes_merged_total", 0.0),
            ("node_disk_written_bytes_total", write.bytes as f64),
            ("node_disk_write_time_seconds_total", seconds(write.time_ns)),
            ("node_disk_io_now", io_now as f64),
            ("node_disk_io_time_seconds_total", seconds(self.busy_ns)),
            ("node_disk_io_time_weighted_seconds_total", seconds(weighted_ns)),
            ("node_disk_discards_completed_total", discard.ios as f64),
            ("node_disk_discards_merged_total", 0.0),
            (
                "node_disk_discarded_sectors_total",
                (discard.bytes / super::SECTOR_BYTES) as f64,
            ),
            ("node_disk_discard_time_seconds_total", seconds(discard.time_ns)),
            ("node_disk_flush_requests_total", flush.ios as f64),
            (
                "node_disk_flush_requests_time_seconds_total",
                seconds(flush.time_ns),
            ),
        ];
        out.extend(rows.map(|(metric, value)| row(now_ns, metric, self.label.clone(), value)));
    }
}

pub(super) fn row(at_ns: u64, metric: &'static str, labels: String, value: f64) -> CounterRow {
    CounterRow {
        at_ns,
        metric: Cow::Borrowed(metric),
        labels: Cow::Owned(labels),
        value,
    }
}
