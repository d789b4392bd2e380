//! Collects intervals: rows a second, totals a job and a group, and what the live line shows.
//!
//! Data in: the intervals that workers hand over. Data out: [`SeriesRow`]s in order, [`JobSummary`]s and
//! histograms at the end. Runs outside the measured threads. It must not know backends or files.

use crate::interval::{Derived, Exchange, Interval, Metrics, OpCounts, Phase};
use crate::worker_tally::WorkerTally;
use fathom_core::backend::Op;
use fathom_core::run::{
    HistogramRow, IntervalLatency, JobSummary, Latency, LatencySummary, OpSummary, SERIES_PERCENTILES,
    SeriesRow,
};
use fathom_core::units::{MonoTime, Nanos};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;
const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// How long the rows of a job wait for a worker that hands nothing over, behind the one that is furthest. Each interval
/// that waits takes memory; a worker whose disk hangs may be silent for hours.
const PATIENCE_NS: u64 = 10 * SECOND;
/// However long intervals are, the rows wait for so many; however short, for no more than so many.
const PATIENCE_LEAST: u64 = 2;
const PATIENCE_MOST: u64 = 256;

/// One worker as the collector sees it.
#[derive(Debug)]
struct Source {
    /// `None`: it has ended, and its boxes are nobody's any more.
    exchange: Option<Arc<Exchange>>,
    /// All intervals before this one are complete for this worker.
    complete_to: u64,
    ended: bool,
}

/// How far the slowest running workers are, and how many of them are there; so that nobody has to ask all.
#[derive(Debug, Clone, Copy)]
struct Slowest {
    complete_to: u64,
    workers: usize,
}

/// An interval under way: its number, and its part of the job's time (what comes first comes first).
type Key = (u64, Phase);

/// What is counted for an interval that is not reported yet.
#[derive(Debug)]
struct Pending {
    interval: Box<Interval>,
    /// Of each direction, the I/Os of earlier intervals.
    late_ios: [u64; 4],
}

/// What one job section did, all its workers together.
#[derive(Debug)]
pub struct JobCollector {
    job: u32,
    epoch: u64,
    /// How long the interval of a row is, in nanoseconds.
    interval: u64,
    metrics: Metrics,
    used: [bool; 4],
    percentiles: Vec<f64>,
    sources: Vec<Source>,
    slowest: Slowest,
    /// How far the fastest is.
    furthest: u64,
    pending: BTreeMap<Key, Pending>,
    /// The last one reported.
    reported: Option<Key>,
    /// The next interval to report.
    next: u64,
    totals: Interval,
    /// What each worker did by itself, where that is asked for.
    tallies: Option<Vec<WorkerTally>>,
    /// The last interval reported, for the live line.
    last: Live,
    /// All latencies of the intervals reported since they were last taken; `None`: nobody asked for them.
    latencies: Option<Vec<IntervalLatency>>,
}

/// What the live line says of the last second, or of the last interval where those have another length.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Live {
    /// The second that it is about.
    pub second: u64,
    /// I/Os a second: read, write, trim.
    pub ios: [u64; 3],
    /// Bytes a second.
    pub bytes: [u64; 3],
    /// The 99th percentile of total latency over all directions, in nanoseconds; 0 without I/O.
    pub lat_ns_p99: u64,
}

impl JobCollector {
    /// For job section `job`, whose workers start at `start` in a run that started at `epoch`.
    pub fn new(job: u32, used: [bool; 4], metrics: Metrics, percentiles: &[f64]) -> Self {
        Self {
            job,
            epoch: 0,
            interval: SECOND,
            metrics,
            used,
            percentiles: percentiles.to_vec(),
            sources: Vec::new(),
            slowest: Slowest {
                complete_to: u64::MAX,
                workers: 0,
            },
            furthest: 0,
            pending: BTreeMap::new(),
            reported: None,
            next: 0,
            totals: Interval::new(),
            tallies: None,
            last: Live::default(),
            latencies: None,
        }
    }

    /// Keeps all latencies of each interval, for [`JobCollector::take_latencies`].
    pub fn keep_latencies(&mut self) {
        self.latencies = Some(Vec::new());
    }

    /// Moves to `out` the latencies of the intervals whose rows were appended since the last call.
    pub fn take_latencies(&mut self, out: &mut Vec<IntervalLatency>) {
        if let Some(latencies) = &mut self.latencies {
            out.append(latencies);
        }
    }

    /// Rows of intervals of this length, in place of 1 s.
    #[must_use]
    pub fn with_interval(mut self, interval: Nanos) -> Self {
        self.interval = interval.0.max(1);
        self
    }

    /// Keeps what each of so many workers does by itself; samples of rates are taken over these times.
    #[must_use]
    pub fn with_tallies(mut self, workers: usize, (bw, iops): (Nanos, Nanos)) -> Self {
        self.tallies = Some((0..workers).map(|_| WorkerTally::new(bw, iops)).collect());
        self
    }

    /// What each worker did by itself; empty where nobody asked.
    pub(crate) fn tallies(&self) -> &[WorkerTally] {
        self.tallies.as_deref().unwrap_or_default()
    }

    /// The job starts at `start`; the run started at `epoch`. One exchange a worker.
    pub fn start(&mut self, epoch: MonoTime, start: MonoTime, exchanges: Vec<Arc<Exchange>>) {
        self.epoch = epoch.0;
        self.next = start.since(epoch).0 / self.interval;
        let source = |exchange| Source {
            exchange: Some(exchange),
            complete_to: self.next,
            ended: false,
        };
        self.sources = exchanges.into_iter().map(source).collect();
        self.furthest = self.next;
        self.find_slowest();
    }

    /// Takes what the workers handed over, and appends the rows of all intervals that are now complete.
    pub fn poll(&mut self, rows: &mut Vec<SeriesRow>) {
        for at in 0..self.sources.len() {
            self.take_from(at);
        }
        self.flush(rows);
    }

    /// As [`JobCollector::poll`], where no worker but `at` can have handed anything over.
    pub fn poll_one(&mut self, at: usize, rows: &mut Vec<SeriesRow>) {
        self.take_from(at);
        self.flush(rows);
    }

    /// Worker `at` has ended and leaves its last interval. Appends the rows that waited for it.
    pub fn ended(&mut self, at: usize, last: &Interval, rows: &mut Vec<SeriesRow>) {
        self.leave(at, last);
        self.flush(rows);
    }

    /// Worker `at` has ended and leaves its last interval. The rows that waited for it come with the next call of
    /// [`JobCollector::poll`].
    pub fn leave(&mut self, at: usize, last: &Interval) {
        self.take_from(at);
        let counted = last.ops.iter().any(|op| op.lat.n() + op.errors > 0);
        if counted || last.end > last.start {
            self.add(at, last);
        }
        let source = &mut self.sources[at];
        source.exchange = None;
        if !source.ended {
            source.ended = true;
            let was = source.complete_to;
            self.moved_on(was);
        }
    }

    /// Takes what worker `at` handed over.
    fn take_from(&mut self, at: usize) {
        let Some(exchange) = self.sources[at].exchange.clone() else {
            return;
        };
        while let Some(interval) = exchange.take() {
            let number = self.add(at, &interval);
            let whole = u64::from(interval.end.0 >= self.end_of(number));
            let source = &mut self.sources[at];
            exchange.give_back(interval);
            let was = std::mem::replace(&mut source.complete_to, number + whole);
            self.furthest = self.furthest.max(number + whole);
            match was.cmp(&(number + whole)) {
                Ordering::Less if !self.sources[at].ended => self.moved_on(was),
                Ordering::Greater => self.find_slowest(),
                _ => {}
            }
        }
    }

    /// A worker that was at `was` is there no more.
    fn moved_on(&mut self, was: u64) {
        if was == self.slowest.complete_to {
            self.slowest.workers -= 1;
            if self.slowest.workers == 0 {
                self.find_slowest();
            }
        }
    }

    fn find_slowest(&mut self) {
        let mut slowest = Slowest {
            complete_to: u64::MAX,
            workers: 0,
        };
        for source in self.sources.iter().filter(|source| !source.ended) {
            match source.complete_to.cmp(&slowest.complete_to) {
                Ordering::Less => {
                    slowest = Slowest {
                        complete_to: source.complete_to,
                        workers: 1,
                    };
                }
                Ordering::Equal => slowest.workers += 1,
                Ordering::Greater => {}
            }
        }
        self.slowest = slowest;
    }

    /// The number of the row that an interval belongs to.
    fn number_of(&self, interval: &Interval) -> u64 {
        // An interval without length belongs to the row that it begins.
        let last_ns = interval.end.0.saturating_sub(1).max(interval.start.0);
        last_ns.saturating_sub(self.epoch) / self.interval
    }

    /// Adds an interval of worker `at` to its row, whose number is returned; or, where that was reported without it, to the
    /// first that was not.
    fn add(&mut self, at: usize, interval: &Interval) -> u64 {
        if let Some(tallies) = &mut self.tallies {
            tallies[at].add(interval);
        }
        let number = self.number_of(interval);
        let mut key = (number, interval.phase);
        let (mut start, mut end) = (interval.start, interval.end);
        let late = self.reported.filter(|&reported| key <= reported);
        if let Some((reported, _)) = late {
            key.0 = reported + 1;
            (start, end) = (MonoTime(self.end_of(reported)), MonoTime(self.end_of(key.0)));
        }
        let late_ios = [0, 1, 2, 3].map(|op| late.map_or(0, |_| interval.ops[op].lat.n()));
        let entry = match self.pending.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            // The first of a row needs no adding.
            Entry::Vacant(entry) => {
                let mut first = Box::new(interval.clone());
                (first.start, first.end) = (start, end);
                entry.insert(Pending {
                    interval: first,
                    late_ios,
                });
                return number;
            }
        };
        for (late, more) in entry.late_ios.iter_mut().zip(late_ios) {
            *late += more;
        }
        let entry = &mut *entry.interval;
        entry.start = entry.start.min(start);
        entry.end = entry.end.max(end);
        entry.backlog += interval.backlog;
        entry.backlog_max += interval.backlog_max;
        entry.lateness_max_ns = entry.lateness_max_ns.max(interval.lateness_max_ns);
        entry.verified += interval.verified;
        for (sum, part) in entry.ops.iter_mut().zip(&interval.ops) {
            sum.merge(part);
        }
        number
    }

    fn end_of(&self, number: u64) -> u64 {
        self.epoch + (number + 1) * self.interval
    }

    /// Reports the intervals that no worker will add to, and those that have waited long enough for one.
    fn flush(&mut self, rows: &mut Vec<SeriesRow>) {
        let patience = (PATIENCE_NS / self.interval).clamp(PATIENCE_LEAST, PATIENCE_MOST);
        let limit = self
            .slowest
            .complete_to
            .max(self.furthest.saturating_sub(patience));
        while let Some(entry) = self.pending.first_entry() {
            let key = *entry.key();
            let (number, _) = key;
            if number >= limit {
                break;
            }
            let Pending { interval, late_ios } = entry.remove();
            self.reported = Some(key);
            // Silence is an interval that ended before this one began; one that a longer interval covers is not.
            while self.next < number {
                if self.end_of(self.next) <= interval.start.0 {
                    self.empty_rows(self.next, &interval, rows);
                }
                self.next += 1;
            }
            self.report(number, &interval, late_ios, rows);
            self.next = number + 1;
        }
    }

    /// An interval in which nothing completed has rows of zeros, and is not a hole. `then` follows it.
    fn empty_rows(&mut self, number: u64, then: &Interval, rows: &mut Vec<SeriesRow>) {
        let mut nothing = Interval::new();
        nothing.start = MonoTime(self.end_of(number) - self.interval);
        nothing.end = MonoTime(self.end_of(number));
        nothing.phase = match then.phase {
            // Silence at the end of the counted time counts.
            Phase::Cooldown if nothing.end <= then.counted_until => Phase::Counted,
            phase => phase,
        };
        self.report(number, &nothing, [0; 4], rows);
    }

    fn report(&mut self, number: u64, interval: &Interval, late_ios: [u64; 4], rows: &mut Vec<SeriesRow>) {
        let second = number * self.interval / SECOND;
        let a_second =
            |count: u64| (u128::from(count) * u128::from(SECOND) / u128::from(self.interval)) as u64;
        let mut live = Live {
            second,
            ..Live::default()
        };
        for op in OPS {
            let counts = &interval.ops[op.index()];
            if op != Op::Sync {
                live.ios[op.index()] = a_second(counts.lat.n());
                live.bytes[op.index()] = a_second(counts.bytes);
            }
            if self.used[op.index()] || counts.lat.n() > 0 {
                rows.push(self.row(second, interval, op, late_ios[op.index()]));
                if let Some(latencies) = &mut self.latencies {
                    latencies.push(IntervalLatency {
                        second: second as u32,
                        job: self.job,
                        op,
                        lat: counts.lat.clone(),
                        response: counts.response.clone(),
                    });
                }
            }
        }
        live.lat_ns_p99 = p99_of_data(interval);
        self.last = live;
        if interval.phase == Phase::Counted {
            self.totals.backlog_max = self.totals.backlog_max.max(interval.backlog_max);
            self.totals.lateness_max_ns = self.totals.lateness_max_ns.max(interval.lateness_max_ns);
            self.totals.verified += interval.verified;
            for (total, part) in self.totals.ops.iter_mut().zip(&interval.ops) {
                total.merge(part);
            }
        }
    }

    fn row(&self, second: u64, interval: &Interval, op: Op, late_ios: u64) -> SeriesRow {
        let counts = &interval.ops[op.index()];
        SeriesRow {
            second: second as u32,
            end: interval.end,
            duration_ns: interval.end.since(interval.start).0,
            job: self.job,
            ramp: interval.phase != Phase::Counted,
            op,
            ios: counts.lat.n(),
            bytes: counts.bytes,
            errors: counts.errors,
            lat: counts.lat.summary(&SERIES_PERCENTILES),
            response: counts.response.summary(&SERIES_PERCENTILES),
            backlog: interval.backlog,
            late_ios,
        }
    }

    /// The last interval reported.
    pub fn live(&self) -> Live {
        self.last
    }

    /// Bytes counted so far, over read, write and trim.
    pub fn bytes(&self) -> u64 {
        self.totals.ops[..3].iter().map(|op| op.bytes).sum()
    }

    /// Fills in slat and clat of all that was counted without them. To be called once, at the end.
    pub fn derive(&mut self, derived: Derived) {
        self.totals
            .ops
            .iter_mut()
            .for_each(|counts| counts.derive(derived));
        for tally in self.tallies.iter_mut().flatten() {
            tally.derive(derived);
        }
    }

    /// Adds this job's totals to `sum`.
    pub fn add_to(&self, sum: &mut Interval) {
        sum.backlog_max += self.totals.backlog_max;
        sum.verified += self.totals.verified;
        for (sum, part) in sum.ops.iter_mut().zip(&self.totals.ops) {
            sum.merge(part);
        }
    }

    pub fn totals(&self) -> &Interval {
        &self.totals
    }
    /// Which latencies are kept apart.
    pub fn metrics(&self) -> Metrics {
        self.metrics
    }
    /// The percentiles asked for.
    pub fn percentiles(&self) -> &[f64] {
        &self.percentiles
    }

    /// All its histograms, bucket by bucket.
    pub fn histograms(&self, rows: &mut Vec<HistogramRow>) {
        for op in OPS {
            let counts = &self.totals.ops[op.index()];
            let metrics = [
                (Latency::Slat, &counts.slat),
                (Latency::Clat, &counts.clat),
                (Latency::Lat, &counts.lat),
                (Latency::Response, &counts.response),
            ];
            for (metric, histogram) in metrics {
                rows.extend(histogram.occupied().map(|(low_ns, high_ns, count)| HistogramRow {
                    job: self.job,
                    op,
                    metric,
                    low_ns,
                    high_ns,
                    count,
                }));
            }
        }
    }
}

/// The 99th percentile of total latency over read, write and trim.
fn p99_of_data(interval: &Interval) -> u64 {
    let mut used = interval.ops[..3].iter().filter(|op| op.lat.n() > 0);
    let Some(first) = used.next() else { return 0 };
    let mut rest = used.peekable();
    if rest.peek().is_none() {
        return first.lat.percentile(99.0);
    }
    let mut all = first.lat.clone();
    rest.for_each(|op| all.merge(&op.lat));
    all.percentile(99.0)
}

/// Puts totals into a summary: everything but the name, the workers and the errors.
pub fn summarize(
    totals: &Interval,
    metrics: Metrics,
    percentiles: &[f64],
    runtime_ns: u64,
    summary: &mut JobSummary,
) {
    summary.runtime_ns = runtime_ns;
    summary.backlog_max = totals.backlog_max;
    summary.verified_ios = totals.verified;
    for op in OPS {
        *summary.op_mut(op) = summarize_op(&totals.ops[op.index()], metrics, percentiles, runtime_ns);
    }
}

fn summarize_op(counts: &OpCounts, metrics: Metrics, percentiles: &[f64], runtime_ns: u64) -> OpSummary {
    let lat = counts.lat.summary(percentiles);
    let seconds = runtime_ns as f64 / 1e9;
    let rate = |n: u64| if runtime_ns == 0 { 0.0 } else { n as f64 / seconds };
    // A synchronous engine submits and completes in one call: all of its latency is completion latency.
    let (slat, clat) = if metrics.split {
        (counts.slat.summary(percentiles), counts.clat.summary(percentiles))
    } else {
        (LatencySummary::default(), lat.clone())
    };
    OpSummary {
        ios: counts.lat.n(),
        bytes: counts.bytes,
        short_ios: counts.short,
        lost_ios: counts.lost,
        errors: counts.errors,
        runtime_ns,
        iops: rate(counts.lat.n()),
        bytes_per_second: rate(counts.bytes),
        slat_ns: slat,
        clat_ns: clat,
        lat_ns: lat,
        response_ns: counts.response.summary(percentiles),
    }
}

#[cfg(test)]
mod tests;
