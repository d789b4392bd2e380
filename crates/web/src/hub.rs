//! What is known of a measurement under way: sums since it began, and the last intervals, one event each.
//!
//! Data in: a session's events ([`Watched`]), readings of counters. Data out: families of metrics, and events for those who look. It
//! holds no more than [`feed`] says, however long the measurement goes on. It must not know HTTP.

mod event;
pub(crate) mod feed;
mod node;
mod served;
mod watched;

pub use watched::Watched;

use crate::exposition::{Family, Labels, Series, Value, parse_labels};
use crate::metric;
use event::{HeatCell, IntervalEvent, LoadEvent};
use fathom_analysis::explain::{KnownDisk, LimitScope};
use fathom_analysis::live::{Evidence, LiveCause, Usual};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::CounterRow;
use fathom_core::run::{Counted, IntervalLatency, SeriesRow};
use fathom_core::served::Status;
use fathom_core::units::{MonoTime, Nanos};
use fathom_core::virtual_disk::CreditLeft;
use feed::Feed;
use node::Node;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An interval that is shorter is not shown, only counted: rates over so little time say nothing.
const SHORT_NS: u64 = 250_000_000;

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Sync];

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measured {
    /// Something on this machine.
    #[default]
    Here,
    /// A load on a modelled machine, in virtual time.
    Modelled,
    /// A modelled disk that is served live, and whoever uses it.
    Served,
}

/// What is measured, as it is known before it begins.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// In a few words.
    pub title: String,
    /// On what.
    pub target: String,
    /// The version of fathom.
    pub version: String,
    /// The names of the load's jobs, by their numbers; none where there is no load. Of what is served live, the disks'. Those that
    /// have a name in common are told apart in what is exported.
    pub jobs: Vec<String>,
    pub measured: Measured,
    /// The limits that are known to be those of this disk and this machine.
    pub limits: Vec<KnownDisk>,
    /// The kernel's names of the devices below the target.
    pub devices: Vec<String>,
    /// Of a sweep, how many measurements it consists of.
    pub sweep_steps: Option<u64>,
}

/// All that is known. Shared by who measures and who serves.
#[derive(Debug)]
pub struct Hub {
    about: About,
    state: Mutex<State>,
    feed: Feed,
}

/// A direction of a job.
type Key = (u32, usize);

#[derive(Debug, Default)]
struct State {
    loads: BTreeMap<Key, Load>,
    backlog: BTreeMap<u32, u64>,
    groups: BTreeMap<u32, Group>,
    elapsed: Nanos,
    /// What the rows cover, and until when; of a sweep, the sum of its points.
    measured: Nanos,
    measured_until: MonoTime,
    ended: bool,
    counters: BTreeMap<&'static str, BTreeMap<Cow<'static, str>, f64>>,
    node: Node,
    credit: Vec<Credit>,
    served: Option<Served>,
    usual: Usual,
    disturbances: BTreeMap<LiveCause, (u64, u64)>,
    points: BTreeMap<String, (f64, f64)>,
    steps_done: u64,
    /// Latencies whose rows are still to come, by second too.
    waiting: BTreeMap<(u32, Key), Histogram>,
}

/// Burst credit, and the limit that it lifts.
#[derive(Debug)]
struct Credit {
    limit: Cow<'static, str>,
    counts: Counted,
    left: f64,
    full: f64,
}

/// How disks that are served live stand.
#[derive(Debug)]
struct Served {
    status: Status,
    lateness_ns: Histogram,
    /// When a fault was last seen, since the disks are served.
    fault_at_ns: Option<u64>,
}

#[derive(Debug, Default)]
struct Load {
    ios: u64,
    bytes: u64,
    errors: u64,
    lat: Histogram,
    response: Histogram,
    lat_ns_max: u64,
}

#[derive(Debug, Default)]
struct Group {
    name: String,
    workers: u32,
    fraction: Option<f64>,
}

impl Hub {
    /// Nothing has happened yet.
    pub fn new(mut about: About) -> Self {
        about.jobs = apart(&about.jobs);
        let hub = Self {
            state: Mutex::default(),
            feed: Feed::default(),
            about,
        };
        hub.feed.push("about", &event::about(&hub.about));
        hub
    }

    /// What is measured.
    pub fn about(&self) -> &About {
        &self.about
    }

    pub(crate) fn feed(&self) -> &Feed {
        &self.feed
    }

    /// A panic of another thread has been told; what it left is still sums.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all latencies of the rows that come next.
    pub fn latencies(&self, latencies: &[IntervalLatency]) {
        let mut state = self.state();
        for one in latencies {
            let key = (one.job, one.op.index());
            let load = state.loads.entry(key).or_default();
            load.lat.merge(&one.lat);
            load.response.merge(&one.response);
            // Those of a ramp's last part and of what follows it are of one second.
            state
                .waiting
                .entry((one.second, key))
                .or_default()
                .merge(&one.lat);
        }
    }

    /// Takes the rows of one or more intervals.
    pub fn rows(&self, rows: &[SeriesRow]) {
        let mut state = self.state();
        let of_limit = match &state.served {
            Some(served) => served.of_limit(),
            None => self.of_limit(rows),
        };
        self.measured(&mut state, rows);
        let mut events: Vec<IntervalEvent> = Vec::new();
        let mut told = Vec::new();
        for row in rows {
            let key = (row.job, row.op.index());
            let load = state.loads.entry(key).or_default();
            load.ios += row.ios;
            load.bytes += row.bytes;
            load.errors += row.errors;
            load.lat_ns_max = row.lat.max;
            state.backlog.insert(row.job, row.backlog);
            let fault = state
                .served
                .as_ref()
                .is_some_and(|served| served.had_fault(row.lat.max));
            let evidence = Evidence {
                of_limit,
                fault: f64::from(u8::from(fault)),
                ..state
                    .node
                    .evidence(&self.about.devices, ios_a_second(rows, row.end.0))
            };
            if let Some(found) = state.usual.judge(row.job, row.op, &row.lat, &evidence) {
                let known = state.disturbances.entry(found.cause).or_default();
                known.0 += 1;
                known.1 += found.lat_ns_max;
                told.push(event::disturbance(
                    row.second,
                    self.job_name(row.job),
                    row.op,
                    &found,
                ));
            }
            if row.duration_ns < SHORT_NS {
                continue;
            }
            let heat = state.waiting.remove(&(row.second, key)).unwrap_or_default();
            let part = LoadEvent::of(row, self.job_name(row.job), heat_of(&heat));
            match events.last_mut().filter(|event| event.second == row.second) {
                Some(event) => event.loads.push(part),
                None => events.push(IntervalEvent::new(row, part)),
            }
        }
        // What never found its row would stay for ever.
        let newest = rows.last().map_or(0, |row| row.second);
        state.waiting.retain(|(second, _), _| second + 60 > newest);
        for event in &mut events {
            event.set_credit(&state.credit);
            self.feed.push("interval", event);
        }
        for disturbance in told {
            self.feed.push("disturbance", &disturbance);
        }
    }

    /// Adds the time that rows cover. Rows of several jobs are of the same time; points of a sweep, of one job each, may be under way
    /// side by side, each in its own.
    fn measured(&self, state: &mut State, rows: &[SeriesRow]) {
        if self.about.sweep_steps.is_some() {
            state.measured_until = MonoTime(0);
        }
        let interval = |row: &SeriesRow| (row.end.0.saturating_sub(row.duration_ns), row.end.0);
        let mut intervals: Vec<(u64, u64)> = rows.iter().map(interval).collect();
        intervals.sort_unstable();
        for (begin_ns, end_ns) in intervals {
            let since_ns = begin_ns.max(state.measured_until.0);
            state.measured.0 += end_ns.saturating_sub(since_ns);
            state.measured_until.0 = state.measured_until.0.max(end_ns);
        }
    }

    fn job_name(&self, job: u32) -> &str {
        let name = self.about.jobs.get(job as usize).or(self.about.jobs.last());
        name.map_or("load", String::as_str)
    }

    /// The load's rate in the last of these intervals as a share of the nearest limit.
    fn of_limit(&self, rows: &[SeriesRow]) -> f64 {
        let Some(last) = rows.last() else { return 0.0 };
        let data = rows
            .iter()
            .filter(|row| row.end == last.end && row.op != Op::Sync);
        let sum = |of: fn(&SeriesRow) -> u64| -> f64 {
            let each = data
                .clone()
                .map(|row| of(row) as f64 * 1e9 / row.duration_ns.max(1) as f64);
            each.sum()
        };
        let (ios, bytes) = (sum(|row| row.ios), sum(|row| row.bytes));
        let shares = self.about.limits.iter().flat_map(|limit| {
            let of =
                |rate: f64, limit: Option<f64>| limit.filter(|limit| *limit > 0.0).map(|limit| rate / limit);
            [of(ios, limit.iops), of(bytes, limit.bytes_per_second)]
        });
        shares.flatten().fold(0.0, f64::max)
    }

    /// Takes a reading of the machine's counters, made at `at_ns`.
    pub fn counters(&self, at_ns: u64, rows: &[CounterRow]) {
        let mut state = self.state();
        for row in rows {
            // What is not in the table is not exported.
            let Some(metric) = metric::find(&row.metric) else {
                continue;
            };
            let of_metric = state.counters.entry(metric.name).or_default();
            match of_metric.get_mut(&row.labels) {
                Some(value) => *value = row.value,
                None => drop(of_metric.insert(row.labels.clone(), row.value)),
            }
        }
        let seen = state.node.read(at_ns, rows);
        if let Some(seen) = seen {
            self.feed.push("node", &seen);
        }
    }

    /// Takes what is left of a modelled machine's burst credit.
    pub fn credit(&self, credit: &[CreditLeft]) {
        let one = |credit: &CreditLeft| Credit {
            limit: Cow::Borrowed(credit.limit),
            counts: credit.counts,
            left: credit.left,
            full: credit.full,
        };
        self.state().credit = credit.iter().map(one).collect();
    }

    /// A measurement of a sweep has ended; `found`: the name of the point, I/Os and bytes a second.
    pub(crate) fn step_done(&self, found: Option<(String, f64, f64)>, point: Option<event::PointEvent>) {
        let mut state = self.state();
        state.steps_done += 1;
        if let Some((name, iops, bytes)) = found {
            state.points.insert(name, (iops, bytes));
        }
        if let Some(point) = point {
            self.feed.push("point", &point);
        }
    }

    /// The measurement has ended; what it came to stays as it is.
    pub fn end(&self) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.ended, true) {
            self.feed.end("end", &event::Ended::default());
        }
    }

    /// All metrics as they are now.
    pub fn families(&self) -> Vec<Family> {
        let state = self.state();
        let about = &self.about;
        let mut families = vec![
            Family::new(metric::BUILD_INFO).with(&[&about.version], 1.0),
            Family::new(metric::TARGET_INFO).with(&[&about.title, &about.target], 1.0),
            Family::new(metric::RUNNING).with(&[], f64::from(u8::from(!state.ended))),
        ];
        families.extend(self.of_load(&state));
        families.extend(self.of_sweep(&state));
        families.extend(self.of_limits(&state));
        families.extend(of_disturbances(&state));
        families.extend(state.served.iter().flat_map(served::families));
        for (name, series) in &state.counters {
            let Some(metric) = metric::find(name) else {
                continue;
            };
            let series = series.iter().filter_map(|(labels, &value)| {
                let labels = parse_labels(labels)?.into_iter();
                Some(Series {
                    labels: labels
                        .map(|(name, value)| (Cow::Owned(name), value))
                        .collect::<Labels>(),
                    value: Value::Number(value),
                })
            });
            families.push(Family {
                metric,
                series: series.collect(),
            });
        }
        families
    }

    fn of_load(&self, state: &State) -> Vec<Family> {
        if self.about.jobs.is_empty() {
            return Vec::new();
        }
        let mut progress = [metric::DONE, metric::WORKERS].map(Family::new);
        for group in state.groups.values() {
            if let Some(fraction) = group.fraction {
                progress[0].push(&[&group.name], Value::Number(fraction));
            }
            progress[1].push(&[&group.name], Value::Number(f64::from(group.workers)));
        }
        let rows = [
            metric::LOAD_IOS,
            metric::LOAD_BYTES,
            metric::LOAD_ERRORS,
            metric::LOAD_LATENCY_MAX,
            metric::LOAD_LATENCY,
            metric::LOAD_RESPONSE,
        ];
        let mut sums = rows.map(Family::new);
        for (&(job, op), load) in &state.loads {
            let labels = [self.job_name(job), OPS[op].name()];
            let numbers = [
                load.ios as f64,
                load.bytes as f64,
                load.errors as f64,
                load.lat_ns_max as f64 / 1e9,
            ];
            for (family, number) in sums.iter_mut().zip(numbers) {
                family.push(&labels, Value::Number(number));
            }
            sums[4].push(&labels, Value::Latencies(load.lat.clone()));
            if load.response.n() > 0 {
                sums[5].push(&labels, Value::Latencies(load.response.clone()));
            }
        }
        let mut backlog = Family::new(metric::LOAD_BACKLOG);
        for (&job, &ios) in &state.backlog {
            backlog.push(&[self.job_name(job)], Value::Number(ios as f64));
        }
        let elapsed = Family::new(metric::ELAPSED).with(&[], state.elapsed.0 as f64 / 1e9);
        let measured = Family::new(metric::MEASURED).with(&[], state.measured.0 as f64 / 1e9);
        [elapsed, measured]
            .into_iter()
            .chain(progress)
            .chain(sums)
            .chain([backlog])
            .collect()
    }

    fn of_sweep(&self, state: &State) -> Vec<Family> {
        let Some(steps) = self.about.sweep_steps else {
            return Vec::new();
        };
        let mut rates = [metric::SWEEP_IOPS, metric::SWEEP_BYTES].map(Family::new);
        for (name, &(iops, bytes)) in &state.points {
            rates[0].push(&[name], Value::Number(iops));
            rates[1].push(&[name], Value::Number(bytes));
        }
        let counts = [
            Family::new(metric::SWEEP_POINTS).with(&[], steps as f64),
            Family::new(metric::SWEEP_DONE).with(&[], state.steps_done as f64),
        ];
        counts.into_iter().chain(rates).collect()
    }

    fn of_limits(&self, state: &State) -> Vec<Family> {
        let mut families = [
            metric::LIMIT_IOPS,
            metric::LIMIT_BYTES,
            metric::CREDIT_LEFT,
            metric::CREDIT_LEFT_AMOUNT,
        ]
        .map(Family::new);
        for limit in &self.about.limits {
            let labels = [limit.name.as_str(), scope(limit.scope)];
            for (family, rate) in families.iter_mut().zip([limit.iops, limit.bytes_per_second]) {
                if let Some(rate) = rate {
                    family.push(&labels, Value::Number(rate));
                }
            }
        }
        for credit in &state.credit {
            let share = credit.left / credit.full.max(1.0);
            families[2].push(&[&credit.limit], Value::Number(share));
            families[3].push(&[&credit.limit, unit(credit.counts)], Value::Number(credit.left));
        }
        families.into()
    }
}

/// The names, each of its own: sections of a job file may share one, and two series may not. The first keeps it, the others have their
/// number among those of that name behind it.
fn apart(names: &[String]) -> Vec<String> {
    let mut told: Vec<String> = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        told.push(if names[..at].contains(name) {
            numbered(name, |own| names.contains(own) || told.contains(own))
        } else {
            name.clone()
        });
    }
    told
}

/// The name with a number that nobody has behind it.
fn numbered(name: &str, is_taken: impl Fn(&String) -> bool) -> String {
    let mut own = name.to_owned();
    let mut number = 1u32;
    while is_taken(&own) {
        number += 1;
        own = format!("{name} ({number})");
    }
    own
}

/// The scope of a limit as a label.
pub(crate) const fn scope(scope: LimitScope) -> &'static str {
    match scope {
        LimitScope::Disk => "disk",
        LimitScope::Machine => "machine",
    }
}

/// What a limit counts, as a label.
const fn unit(counts: Counted) -> &'static str {
    match counts {
        Counted::IoUnits => "ios",
        Counted::Bytes => "bytes",
    }
}

/// All causes from the beginning, so that the first disturbance is a step and not a series that begins with it.
fn of_disturbances(state: &State) -> [Family; 2] {
    let mut families = [metric::DISTURBANCES, metric::DISTURBED].map(Family::new);
    for cause in LiveCause::ALL {
        let (times, ns) = state.disturbances.get(&cause).copied().unwrap_or_default();
        families[0].push(&[cause.name()], Value::Number(times as f64));
        families[1].push(&[cause.name()], Value::Number(ns as f64 / 1e9));
    }
    families
}

/// The load's I/Os a second in the intervals that end there, without syncs, which the device counts apart.
fn ios_a_second(rows: &[SeriesRow], end_ns: u64) -> f64 {
    let ended = rows
        .iter()
        .filter(|row| row.end.0 == end_ns && row.op != Op::Sync);
    ended
        .map(|row| row.ios as f64 * 1e9 / row.duration_ns.max(1) as f64)
        .sum()
}

/// Where an interval's latencies lie: four buckets an octave, from 1 µs on.
fn heat_of(histogram: &Histogram) -> Vec<HeatCell> {
    let mut cells: Vec<HeatCell> = Vec::new();
    for (low, high, count) in histogram.occupied() {
        let middle = low + (high - low) / 2;
        let octaves = (middle.max(1) as f64 / 1e3).log2() * 4.0;
        let bucket = octaves.floor().max(0.0) as u32;
        match cells.last_mut().filter(|cell| cell.0 == bucket) {
            Some(cell) => cell.1 += count,
            None => cells.push(HeatCell(bucket, count)),
        }
    }
    cells
}

#[cfg(test)]
mod tests;
