//! Whether a device, or a machine, serves only so much, and of what.
//!
//! That I/Os in flight = rate × latency is true of any closed loop, so it proves no limit. What does: latencies that are
//! far above the fastest ones while the rate stays the same from second to second, completions let go one by one, another
//! section of another depth that gets the same rate, a limit that the model says it applied.

use super::super::answer::LimitKind;
use super::super::facts::LimitScope;
use super::super::words::time;
use super::known::{self, Match};
use super::{Found, Other, Question};
use fathom_core::units::{binary_rate, count};

/// How much slower than the fastest the middle I/O must be to be called queued.
const QUEUED_MIN: f64 = 2.5;
/// How near two rates must be to be the same.
const SAME_RATE: f64 = 0.04;
/// Depths that are this far apart are different.
const OTHER_DEPTH: f64 = 1.5;
/// Completions that are this even are let go one by one.
const EVEN_MAX: f64 = 0.3;
/// A rate that varies by less than this part of what chance would do is held.
const HELD_MAX: f64 = 0.35;
/// How much longer the last of I/Os that were sent at once take than the first, if they stand in a queue.
const FIRST_ONES: f64 = 1.7;
/// Full seconds that are enough to see that.
const SECONDS_MIN: usize = 8;
/// Where nothing else tells: sizes from which on bandwidth, and up to which IOPS, is the likelier limit. Disks on sale allow
/// 16 to 128 KiB for each of their I/Os a second.
const LARGE_BYTES: f64 = 131_072.0;
const SMALL_BYTES: f64 = 16_384.0;

#[derive(Default)]
struct Signs {
    because: Vec<String>,
    weight: f64,
}

impl Signs {
    fn add(&mut self, weight: f64, because: String) {
        // Evidence adds up as that of independent witnesses.
        self.weight = 1.0 - (1.0 - self.weight) * (1.0 - weight);
        self.because.push(because);
    }
}

/// A limit of the device or of the machine, if there is enough evidence for one.
pub(super) fn judge(question: &Question<'_, '_>) -> Option<Found> {
    let measures = &question.measures;
    if measures.in_flight < measures.depth * 0.5 && !open_and_behind(question) {
        return None;
    }
    let mut signs = Signs::default();
    queued(question, &mut signs);
    steady(question, &mut signs);
    let same = same_rate(question, &mut signs);
    let held = held(question, &mut signs);
    let matched = known::best(question);
    // The limits of disks on sale are some twenty steps: a rate is at one of them by chance one time in five. Those of machines
    // are everywhere.
    let fits = |found: &&Match| found.candidate.own || found.scope == LimitScope::Disk;
    if let Some(Match { candidate, .. }) = matched.iter().find(fits)
        && signs.weight > 0.0
    {
        signs.add(
            if candidate.own { 0.5 } else { 0.3 },
            format!(
                "it is at {:.1} % of what {} allows",
                candidate.ratio * 100.0,
                candidate.name
            ),
        );
    }
    if signs.weight < 0.5 {
        return None;
    }
    let kind = held.or(same).unwrap_or_else(|| by_size(question, &matched));
    let mut found = Found::new(
        kind,
        signs.weight.min(0.97),
        String::new(),
        change(question, kind),
    );
    found.because = signs.because;
    found.because.extend(littles_law(question));
    found.candidates = known::of_kind(&matched, kind);
    if held.is_none()
        && same.is_none()
        && matched.is_empty()
        && (SMALL_BYTES..LARGE_BYTES).contains(&measures.mean_bytes())
    {
        found.confidence *= 0.75;
        found.lacks("the same load with another block size: which of IOPS and bandwidth stays the same tells which of them is limited");
    }
    Some(found)
}

/// An open loop that falls behind is held back by something, whatever it has in flight.
fn open_and_behind(question: &Question<'_, '_>) -> bool {
    question.section.load.is_some_and(|load| load.job.is_open_loop()) && question.measures.unsent_ns >= 100e6
}

/// Latencies far above the fastest.
fn queued(question: &Question<'_, '_>, signs: &mut Signs) {
    let latencies = &question.measures.latencies;
    let n_enough = latencies.n >= 1000;
    // The very fastest are those that met no queue, as at the start; a stray one among a thousand.
    let fastest = if n_enough {
        latencies.min_ns
    } else {
        latencies.p5_ns
    };
    let mean = question.measures.latency_ns;
    if fastest > 0.0 && mean / latencies.p5_ns.max(1.0) >= QUEUED_MIN {
        signs.add(
            0.3,
            format!(
                "I/Os take {} on average, and one in twenty less than {}: most of the time they wait",
                time(mean),
                time(latencies.p5_ns)
            ),
        );
    } else if fastest > 0.0
        && latencies.p50_ns / fastest >= QUEUED_MIN * 2.0
        && question.measures.in_flight >= 4.0
    {
        signs.add(
            0.2,
            format!(
                "the middle I/O takes {}, the fastest {}",
                time(latencies.p50_ns),
                time(fastest)
            ),
        );
    }
    if let Some(ones) = question.sample.first_ones
        && ones.sent >= 4
        && ones.last_ns >= ones.first_ns * FIRST_ONES
        && ones.last_ns <= mean * FIRST_ONES
    {
        signs.add(
            0.55,
            format!(
                "of its first {} I/Os, sent at once, the first ones took {} and the last ones {}: they stood in a queue",
                ones.sent,
                time(ones.first_ns),
                time(ones.last_ns)
            ),
        );
    }
}

/// The rate is held: it varies less than by chance, or completions come one by one.
fn steady(question: &Question<'_, '_>, signs: &mut Signs) {
    let measures = &question.measures;
    let by_chance = measures.latencies.varies / (measures.iops.max(1.0)).sqrt();
    // Where others share the limit, all together are steady.
    let all = measures.block.map_or(1.0, |block| block.rate_varies);
    let varies = measures.rate_varies.min(all);
    let whole = varies < by_chance * HELD_MAX && measures.rates.len() >= SECONDS_MIN;
    if let Some(held) = question.sample.held.filter(|held| *held < HELD_MAX.powi(2))
        && !whole
    {
        signs.add(
            0.5,
            format!(
                "what the device completes in equal times varies {:.0} % as much as with latencies like these where each I/O \
                 goes on for itself",
                held.sqrt() * 100.0
            ),
        );
    }
    if whole {
        signs.add(
            0.5,
            format!(
                "its rate is the same each second to {:.2} %, while chance would make it vary by {:.1} %",
                varies * 100.0,
                by_chance * 100.0
            ),
        );
    }
    if let Some(evenness) = question.sample.evenness.filter(|evenness| *evenness < EVEN_MAX)
        && measures.in_flight >= 2.0
    {
        signs.add(
            0.6,
            format!(
                "I/Os complete one by one, at equal distances, though {:.0} are in flight (their number in equal times varies \
                 {:.0} % as much as chance would make it)",
                measures.in_flight,
                evenness * 100.0
            ),
        );
    }
}

/// Another section of another depth, or another size, at the same rate.
fn same_rate(question: &Question<'_, '_>, signs: &mut Signs) -> Option<LimitKind> {
    let measures = &question.measures;
    let near = |a: f64, b: f64| (a / b.max(1e-9) - 1.0).abs() <= SAME_RATE;
    let differs = |a: f64, b: f64| a.max(b) / a.min(b).max(1e-9) >= OTHER_DEPTH;
    let mut kind = None;
    for Other {
        name,
        measures: other,
        ..
    } in &question.others
    {
        // Two at the same time share a device.
        let apart = other.to < measures.from || measures.to < other.from;
        if !apart || other.iops <= 0.0 {
            continue;
        }
        let other_depth = differs(other.in_flight, measures.in_flight);
        let other_size = differs(other.mean_bytes(), measures.mean_bytes());
        if !(other_depth || other_size) || other.in_flight.min(measures.in_flight) < 0.5 {
            continue;
        }
        let slower = differs(other.latency_ns, measures.latency_ns);
        let (iops, bytes) = (
            near(other.iops, measures.iops),
            near(other.bytes_per_second, measures.bytes_per_second),
        );
        if other_depth && slower && iops && !other_size {
            signs.add(
                0.75,
                format!(
                    "section `{name}` reaches the same rate ({} IOPS) with {:.0} in flight: depth changes only the latency",
                    count(other.iops.round()),
                    other.in_flight
                ),
            );
        } else if other_size && iops && !bytes {
            signs.add(
                0.7,
                format!("section `{name}` reaches the same IOPS with another size"),
            );
            kind = Some(LimitKind::Iops);
        } else if other_size && bytes && !iops {
            signs.add(
                0.7,
                format!("section `{name}` reaches the same bandwidth with another size"),
            );
            kind = Some(LimitKind::Bandwidth);
        }
    }
    kind
}

/// What the model says that it held back, over the whole run.
fn held(question: &Question<'_, '_>, signs: &mut Signs) -> Option<LimitKind> {
    let model = question.facts.run.summary.model.as_ref()?;
    let most = model.held.iter().max_by_key(|held| held.held_ns)?;
    // Summed over all I/Os of the run: it must be a good part of their time.
    let all_ns: f64 = question
        .facts
        .run
        .summary
        .jobs
        .iter()
        .flat_map(|job| [&job.read, &job.write])
        .map(|op| op.lat_ns.mean * op.lat_ns.n as f64)
        .sum();
    let share = most.held_ns as f64 / all_ns.max(1.0);
    if share < 0.2 {
        return None;
    }
    let name = most.limit.to_lowercase();
    let kind = if name.contains("vm") {
        LimitKind::Machine
    } else if name.contains("iops") {
        LimitKind::Iops
    } else {
        LimitKind::Bandwidth
    };
    signs.add(
        0.6,
        format!(
            "the model held its I/Os back for {} % of their time by the limit `{}`",
            (share * 100.0).min(100.0).round(),
            most.limit
        ),
    );
    // Of several sections each may have met another limit.
    (question.facts.jobs().len() == 1 || kind == LimitKind::Machine).then_some(kind)
}

fn by_size(question: &Question<'_, '_>, matched: &[Match]) -> LimitKind {
    let bytes = question.measures.mean_bytes();
    if bytes > SMALL_BYTES
        && bytes < LARGE_BYTES
        && let Some(best) = matched.first()
    {
        return best.kind;
    }
    if matched
        .first()
        .is_some_and(|found| found.kind == LimitKind::Machine)
    {
        LimitKind::Machine
    } else if bytes >= LARGE_BYTES / 2.0 {
        LimitKind::Bandwidth
    } else {
        LimitKind::Iops
    }
}

fn change(question: &Question<'_, '_>, kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Iops if question.measures.in_flight >= 2.0 => {
            "a disk with more IOPS, or larger and fewer I/Os; more depth adds latency and no rate"
        }
        LimitKind::Iops => "a disk with more IOPS, or larger and fewer I/Os",
        LimitKind::Machine => "a larger virtual machine; a faster disk changes nothing",
        _ => "a disk with more bandwidth; smaller I/Os or more depth change nothing",
    }
}

fn littles_law(question: &Question<'_, '_>) -> Vec<String> {
    let measures = &question.measures;
    let mut lines = vec![format!(
        "{:.1} in flight / {} each = {} IOPS, {}",
        measures.in_flight,
        time(measures.latency_ns),
        count(measures.iops.round()),
        binary_rate(measures.bytes_per_second)
    )];
    if let Some(block) = measures.block
        && block.tag_ns > block.latency_ns * 0.2
    {
        lines.push(format!(
            "of that, {} is the wait for a tag: the kernel's queue is full, the device has {:.0}",
            time(block.tag_ns),
            block.in_flight
        ));
    }
    lines
}
