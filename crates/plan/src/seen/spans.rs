//! From counters to amounts of stretches of time, and I/Os that stand for them.
//!
//! Data in: counters of devices as the node exporter names them, or rows of a run's series. Data out: [`Span`]s, and
//! [`Arrival`]s evenly spaced within each: sizes are the mean, places are drawn, nobody waits. What happens within a second, which
//! sizes there are and who waits, counters do not say. It must not know files.

use super::{Amounts, Arrival, SECOND_NS, Seen, UNIT_BYTES};
use fathom_core::backend::Op;
use fathom_core::record::CounterRow;
use fathom_core::rng::Rng;
use fathom_core::run::SeriesRow;
use std::collections::BTreeMap;

/// Sectors are the least that is read or written.
const SECTOR_BYTES: u64 = 512;
/// What was counted in a longer stretch than this is taken for not known: nothing was read meanwhile.
const SPAN_NS_MAX: u64 = 3_600 * SECOND_NS;
/// An I/O of a series is taken to be no larger.
const LEN_MAX: u64 = 16 << 20;

/// Amounts of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from_ns: u64,
    pub to_ns: u64,
    pub amounts: Amounts,
    /// All the time that its I/Os took together.
    pub in_flight_ns: u64,
}

/// Stretches of time, put together from counters.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    all: Vec<Span>,
    /// By device and counter: what it was at the last reading.
    before: BTreeMap<(String, Counter), f64>,
    now: Reading,
}

#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    at_ns: u64,
    from_ns: u64,
    /// By [`Counter`].
    more: [f64; 5],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counter {
    Reads,
    Writes,
    ReadBytes,
    WriteBytes,
    InFlight,
}

impl Counter {
    fn named(metric: &str) -> Option<Self> {
        Some(match metric {
            "node_disk_reads_completed_total" => Self::Reads,
            "node_disk_writes_completed_total" => Self::Writes,
            "node_disk_read_bytes_total" => Self::ReadBytes,
            "node_disk_written_bytes_total" => Self::WriteBytes,
            "node_disk_io_time_weighted_seconds_total" => Self::InFlight,
            _ => return None,
        })
    }
}

/// The device of labels as `device="vda"`.
fn device(labels: &str) -> Option<&str> {
    let (_, rest) = labels.split_once("device=\"")?;
    rest.split_once('"').map(|(device, _)| device)
}

impl Spans {
    /// Takes rows in the order of time, of the devices that `of` names.
    pub fn counters(&mut self, rows: &[CounterRow], of: impl Fn(&str) -> bool) {
        for row in rows {
            let Some(counter) = Counter::named(&row.metric) else {
                continue;
            };
            let Some(device) = device(&row.labels).filter(|device| of(device)) else {
                continue;
            };
            if row.at_ns != self.now.at_ns {
                self.close();
                self.now.from_ns = self.now.at_ns;
                self.now.at_ns = row.at_ns;
            }
            let before = self.before.insert((device.to_owned(), counter), row.value);
            // A counter that goes back began anew.
            if let Some(before) = before.filter(|&before| row.value >= before && row.value.is_finite()) {
                self.now.more[counter as usize] += row.value - before;
            }
        }
    }

    fn close(&mut self) {
        let more = std::mem::take(&mut self.now.more);
        let (from_ns, to_ns) = (self.now.from_ns, self.now.at_ns);
        if from_ns == 0 || to_ns <= from_ns {
            return;
        }
        let whole = |counter: Counter| more[counter as usize].max(0.0).round() as u64;
        let mut amounts = Amounts {
            reads: whole(Counter::Reads),
            writes: whole(Counter::Writes),
            units: 0,
            read_bytes: whole(Counter::ReadBytes),
            write_bytes: whole(Counter::WriteBytes),
        };
        amounts.units = units(&amounts);
        self.add(Span {
            from_ns,
            to_ns,
            amounts,
            in_flight_ns: (more[Counter::InFlight as usize].max(0.0) * 1e9) as u64,
        });
    }

    /// Takes a row of a run's series.
    pub fn series(&mut self, row: &SeriesRow) {
        let mut amounts = Amounts::default();
        match row.op {
            Op::Read => (amounts.reads, amounts.read_bytes) = (row.ios, row.bytes),
            Op::Write => (amounts.writes, amounts.write_bytes) = (row.ios, row.bytes),
            Op::Trim | Op::Sync | Op::DataSync => return,
        }
        amounts.units = units(&amounts);
        self.add(Span {
            from_ns: row.end.0.saturating_sub(row.duration_ns),
            to_ns: row.end.0,
            amounts,
            in_flight_ns: (row.lat.mean * row.ios as f64) as u64,
        });
    }

    /// Adds to the last stretch where it is less than a second: memory grows with time only.
    fn add(&mut self, span: Span) {
        if span.to_ns <= span.from_ns || span.to_ns - span.from_ns > SPAN_NS_MAX {
            return;
        }
        if let Some(last) = self.all.last_mut()
            && span.to_ns.saturating_sub(last.from_ns) <= SECOND_NS
            && span.from_ns >= last.from_ns
        {
            last.to_ns = last.to_ns.max(span.to_ns);
            last.amounts.add(&span.amounts);
            last.in_flight_ns += span.in_flight_ns;
            return;
        }
        self.all.push(span);
    }

    /// All of them, at the end.
    pub fn finish(mut self) -> Vec<Span> {
        self.close();
        self.all.sort_by_key(|span| span.from_ns);
        self.all
    }
}

/// I/Os of a mean size, counted as several of 256 KiB where they are larger.
fn units(amounts: &Amounts) -> u64 {
    let each = |ios: u64, bytes: u64| {
        bytes
            .checked_div(ios)
            .map_or(0, |mean| ios * mean.div_ceil(UNIT_BYTES).max(1))
    };
    each(amounts.reads, amounts.read_bytes) + each(amounts.writes, amounts.write_bytes)
}

/// What `spans` say of a load.
pub fn seen(spans: &[Span], mut seen: Seen) -> Seen {
    for span in spans {
        seen.span((span.from_ns, span.to_ns), &span.amounts, span.in_flight_ns);
    }
    seen
}

/// I/Os that stand for `span`, on a volume of `volume_bytes`, evenly spaced.
pub fn arrivals(span: &Span, volume_bytes: u64, rng: &mut Rng, out: &mut Vec<Arrival>) {
    let amounts = &span.amounts;
    let ios = amounts.ios();
    let duration = span.to_ns - span.from_ns;
    let len = |ios: u64, bytes: u64| {
        let mean = bytes.checked_div(ios).unwrap_or(0) / SECTOR_BYTES * SECTOR_BYTES;
        mean.clamp(SECTOR_BYTES, LEN_MAX)
    };
    let lens = [
        len(amounts.reads, amounts.read_bytes),
        len(amounts.writes, amounts.write_bytes),
    ];
    let mut reads = 0;
    for number in 0..ios {
        // As many reads by now as their part is.
        let due = (u128::from(number + 1) * u128::from(amounts.reads) / u128::from(ios)) as u64;
        let read = due > reads;
        reads = due;
        let len_bytes = lens[usize::from(!read)];
        let places = (volume_bytes / len_bytes.next_power_of_two()).max(1);
        out.push(Arrival {
            due_ns: span.from_ns + (u128::from(number) * u128::from(duration) / u128::from(ios)) as u64,
            offset_bytes: rng.below(places) * len_bytes.next_power_of_two(),
            len_bytes: len_bytes as u32,
            op: if read { Op::Read } else { Op::Write },
            file: 0,
            worker: 0,
            depth: 0,
            think_ns: 0,
            took_ns: 0,
        });
    }
}

#[cfg(test)]
mod tests;
