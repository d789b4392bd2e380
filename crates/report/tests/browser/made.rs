//! Made-up runs and sweeps of full size: numbers follow simple rules and a seed, so that pages are the same each time.
//!
//! Data in: how large. Data out: all that a report is made from. It must not know what a report looks like.

mod sweep;

pub(crate) use sweep::Sweep;

use fathom_analysis::explain::answer::{
    Averages, Cause, Depths, Distribution, Figure, LimitKind, SectionDistribution, SectionLimit, Smaller,
    Spike, SpikeReport, Split, Unit, Verdict, WorstIo, in_words,
};
use fathom_analysis::explain::{self, Explanation};
use fathom_core::backend::Op;
use fathom_core::histogram::Histogram;
use fathom_core::record::IoRecord;
use fathom_core::rng::Rng;
use fathom_core::run::{
    Environment, HistogramRow, JobSummary, Latency, OpSummary, Requirement, SERIES_PERCENTILES, SeriesRow,
    Warning,
};
use fathom_core::units::{MonoTime, Nanos, WallTime};
use fathom_core::workload::{DEFAULT_PERCENTILES, Job, Mix};
use fathom_report::document::{LatencyHeat, RunReport, SpikeWindow};
use fathom_testkit::make;

const SECOND: u64 = 1_000_000_000;

/// A run and what its report is made from.
pub(crate) struct Run {
    document: fathom_core::run::Run,
    series: Vec<SeriesRow>,
    histograms: Vec<HistogramRow>,
    heat: Option<LatencyHeat>,
    explanation: Option<Explanation>,
    windows: Vec<SpikeWindow>,
}

impl Run {
    /// A mixed load of so many seconds.
    pub(crate) fn of(seconds: u32) -> Self {
        Self::made("oltp", seconds)
    }

    /// Two jobs of a name, the second of which reads only.
    pub(crate) fn named(name: &str) -> Self {
        let mut made = Self::made(name, 30);
        let second = made.series.iter().filter(|row| row.op == Op::Read).cloned();
        let second: Vec<SeriesRow> = second.map(|row| SeriesRow { job: 1, ..row }).collect();
        made.series.extend(second);
        let job = made.document.workload.jobs[0].clone();
        made.document.workload.jobs.push(job);
        name.clone_into(&mut made.document.summary.target.description);
        made.document.command.push(name.to_owned());
        made.document.summary.warnings.push(Warning::Dialect {
            message: name.to_owned(),
        });
        made
    }

    fn made(name: &str, seconds: u32) -> Self {
        let mut rng = Rng::new(11);
        let mut whole = [Histogram::new(), Histogram::new()];
        let mut series = Vec::new();
        for second in 0..seconds {
            for (op, whole) in [Op::Read, Op::Write].into_iter().zip(&mut whole) {
                series.push(row(&mut rng, op, second, whole));
            }
        }
        let mut result = JobSummary {
            name: name.to_owned(),
            workers: 4,
            runtime_ns: u64::from(seconds) * SECOND,
            ..JobSummary::default()
        };
        let mut histograms = Vec::new();
        for (op, histogram) in [Op::Read, Op::Write].into_iter().zip(&whole) {
            let ios: u64 = series.iter().filter(|row| row.op == op).map(|row| row.ios).sum();
            *result.op_mut(op) = summary(ios, seconds, histogram);
            histograms.extend(make::buckets(0, op, Latency::Lat, histogram));
        }
        Self {
            document: document(name, result),
            series,
            histograms,
            heat: None,
            explanation: None,
            windows: Vec::new(),
        }
    }

    /// A recorded run in which three spikes were found.
    pub(crate) fn with_spikes(seconds: u32) -> Self {
        let mut made = Self::made("oltp", seconds);
        let starts = [20, 55, 90].map(|second| second * SECOND + SECOND / 3);
        let spikes = SpikeReport {
            found: 3,
            kept: starts
                .iter()
                .enumerate()
                .map(|(index, &at)| spike(index, at))
                .collect(),
            lost_ns: 0,
            covered: 1.0,
            smaller: Smaller::default(),
            causes: vec![
                (Cause::Device, 1),
                (Cause::CompetingIo, 1),
                (Cause::FlushOrJournal, 1),
            ],
            kinds: Vec::new(),
            periods: Vec::new(),
        };
        let mut heat = LatencyHeat::new(77);
        let mut windows = SpikeWindow::worst(&spikes);
        let rows = ios(seconds, &starts);
        for batch in rows.chunks(1000) {
            heat.feed(batch);
            for window in &mut windows {
                window.feed_ios(batch, 77);
            }
        }
        made.heat = Some(heat);
        made.windows = windows;
        made.explanation = Some(explanation(spikes));
        made
    }

    pub(crate) fn report(&self) -> RunReport<'_> {
        RunReport {
            run: &self.document,
            series: &self.series,
            histograms: &self.histograms,
            heat: self.heat.as_ref(),
            explanation: self.explanation.as_ref(),
            outline: None,
            windows: &self.windows,
            published: None,
        }
    }
}

fn latency_ns(rng: &mut Rng, op: Op) -> u64 {
    let base = if op == Op::Read { 400_000 } else { 1_500_000 };
    let slow = match rng.below(1000) {
        0 => 60,
        1..=20 => 8,
        _ => 1,
    };
    (base / 2 + rng.below(base)) * slow
}

fn row(rng: &mut Rng, op: Op, second: u32, whole: &mut Histogram) -> SeriesRow {
    let mut histogram = Histogram::new();
    for _ in 0..40 {
        let ns = latency_ns(rng, op);
        histogram.record(ns);
        whole.record(ns);
    }
    let wave = f64::from(second % 7200) / 7200.0 * std::f64::consts::TAU;
    let ios = (if op == Op::Read { 7000.0 } else { 3000.0 } + 900.0 * wave.sin()) as u64 + rng.below(400);
    let mut lat = histogram.summary(&SERIES_PERCENTILES);
    lat.n = ios;
    SeriesRow {
        ramp: second < 5,
        op,
        ios,
        bytes: ios * 8192,
        lat,
        ..make::second(second)
    }
}

fn summary(ios: u64, seconds: u32, histogram: &Histogram) -> OpSummary {
    let lat_ns = histogram.summary(&DEFAULT_PERCENTILES);
    make::direction(ios, 8192, f64::from(seconds), lat_ns)
}

/// The machine that it all was made up on.
fn environment() -> Environment {
    Environment {
        host: String::from("vm1"),
        kernel: String::from("6.8.0-1017-azure"),
        arch: String::from("x86_64"),
        cpu_model: String::from("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz"),
        cpus: 4,
        memory_bytes: 14 << 30,
        clock_source: String::from("tsc"),
        load_1min: 0.2,
        virtualization: Some(String::from("microsoft")),
        machine: None,
    }
}

fn document(name: &str, result: JobSummary) -> fathom_core::run::Run {
    let mut job = Job {
        name: name.to_owned(),
        direct: true,
        ..Job::default()
    };
    job.pattern.mix = Mix::ReadWrite { read_percent: 70 };
    job.pattern.random = true;
    job.limit.runtime = Some(Nanos(result.runtime_ns));
    job.limit.time_based = true;
    job.numjobs = 4;
    let mut run = make::run(vec![job], vec![result]);
    run.command = ["fathom", "run", "oltp.fio", "--on", "/mnt/data"]
        .map(String::from)
        .into();
    run.started_unix_ns = WallTime(1_790_000_000_123_456_789);
    run.started_monotonic_ns = MonoTime(77);
    run.environment = environment();
    run.requirements = vec![Requirement {
        name: String::from("quiet_host"),
        met: Some(true),
        detail: String::from("load 0.2 on 4 CPUs"),
    }];
    run.summary.target = make::target("/mnt/data (ext4 on /dev/sdc, Msft Virtual Disk)", false);
    run.summary.warnings = vec![Warning::BusyHost {
        load_1min: 2.7,
        cpus: 4,
    }];
    run
}

/// 200 I/Os a second of each direction; a hundred times slower in the spikes.
fn ios(seconds: u32, spikes: &[u64]) -> Vec<IoRecord> {
    let mut rng = Rng::new(5);
    let mut rows = Vec::new();
    for index in 0..u64::from(seconds) * 400 {
        let at = index * (SECOND / 400);
        let op = if index % 3 == 0 { Op::Write } else { Op::Read };
        let in_spike = spikes
            .iter()
            .any(|&start| (start..start + SECOND / 2).contains(&at));
        let latency = latency_ns(&mut rng, op) * if in_spike { 60 } else { 1 };
        rows.push(IoRecord {
            offset_bytes: rng.below(1 << 30),
            len_bytes: 8192,
            depth: 8,
            op,
            ..make::io(77 + at, 77 + at + latency)
        });
    }
    rows.sort_by_key(|row| row.completed_ns);
    rows
}

fn spike(index: usize, start_ns: u64) -> Spike {
    let cause = [Cause::Device, Cause::CompetingIo, Cause::FlushOrJournal][index];
    Spike {
        start_ns,
        duration_ns: SECOND / 2 + 120_000_000,
        sections: vec![String::from("oltp")],
        slow_ios: 200,
        threshold_ns: 12_000_000,
        usual_ns: 610_000,
        worst: WorstIo {
            latency_ns: 140_000_000 + index as u64 * 17_000_000,
            response_ns: 140_000_000 + index as u64 * 17_000_000,
            at_ns: start_ns + 200_000_000,
            offset_bytes: 8192 * 77,
            length_bytes: 8192,
            op: String::from("write"),
        },
        split: Some(Split {
            above_ns: 1.1e6,
            tag_ns: 4.0e6 * index as f64,
            scheduler_ns: 0.6e6,
            device_ns: 38.0e6,
            reap_ns: 0.1e6,
            ..Split::default()
        }),
        depth: Depths {
            before: 3.9,
            during: 31.0,
            after: 4.2,
            device_during: Some(29.0),
        },
        served: Vec::new(),
        newcomers: Vec::new(),
        shift: false,
        lost_ns: 0,
        owners: Vec::new(),
        verdict: Verdict {
            cause,
            process: None,
            confidence: 0.93,
            confidence_words: String::from(in_words(0.93)),
            because: vec![String::from(
                "92 % of the slow I/Os' time was spent at the device",
            )],
            also: Vec::new(),
            missing: Vec::new(),
        },
    }
}

fn explanation(spikes: SpikeReport) -> Explanation {
    Explanation {
        usage: fathom_analysis::usage::Usage::default(),
        commands: Vec::new(),
        schema: String::from(explain::SCHEMA),
        limits: vec![SectionLimit {
            name: String::from("oltp"),
            limit: LimitKind::Latency,
            confidence: 0.84,
            because: vec![String::from(
                "8 in flight at 0.8 ms each make the 9,870 IOPS that were measured",
            )],
            change: String::from("more in flight, or a disk that answers sooner"),
            figures: vec![Figure {
                what: String::from("rate"),
                value: 9870.0,
                unit: Unit::Iops,
            }],
            candidates: Vec::new(),
            misleading: Vec::new(),
            missing: Vec::new(),
        }],
        spikes: Some(spikes),
        distributions: vec![SectionDistribution {
            name: String::from("oltp"),
            whole: Distribution {
                n: 48_000,
                mean_ns: 1.1e6,
                stddev_ns: 4.2e6,
                min_ns: 200_000,
                max_ns: 174_000_000,
                percentiles: vec![(50.0, 610_000), (99.0, 12_000_000)],
                above: [900, 700, 300, 200, 100, 40],
            },
            hours: Vec::new(),
            averages: Averages::default(),
        }],
        missing: vec![String::from("no stream `sched`")],
    }
}
