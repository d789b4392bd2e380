//! A few seconds of each section, row by row: where its I/Os spend their time when nothing special happens, who sends
//! them, and how evenly they complete.

use super::super::block_scan::is_kernel;
use super::super::evidence::{Evidence, Window};
use super::super::section::Section;
use super::super::timeline::SECOND_NS;
use super::super::{Facts, Scanned};
use super::measures::Measures;
use fathom_core::record::{BlockOp, BlockRequest, IoRecord};

/// I/Os of one section that are looked at.
const IOS: f64 = 20_000.0;
const LONGEST_NS: u64 = 8 * SECOND_NS;
/// Completions that a slot holds on average when their evenness is judged.
const A_SLOT: f64 = 6.0;
const SLOTS_MIN: usize = 30;
/// Latencies that a long slot holds, and long slots that are enough.
const LATENCIES_A_SLOT: f64 = 30.0;
const LONG_SLOTS_MIN: usize = 15;

/// What a few seconds show.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// The share of requests like the load's that a bound worker of the kernel sent.
    pub released: f64,
    /// Variance over mean of the completions in slots of a few each, shorter than a quarter of a latency: about 1 where
    /// completions come by chance, near 0 where something lets them go one by one; `None` where that cannot be told.
    pub evenness: Option<f64>,
    /// Variance over mean of what the device completed in far longer slots, over what latencies as varied as these make it
    /// where each I/O in flight goes on for itself: about 1 there, near 0 where a limit holds the rate; `None` where that
    /// cannot be told.
    pub held: Option<f64>,
    /// Mean latencies of the first and of the last quarter of the I/Os that were sent at once at the start.
    pub first_ones: Option<FirstOnes>,
}

/// I/Os sent at once to an idle device: where they stand in a queue, the last of them take longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstOnes {
    pub sent: usize,
    pub first_ns: f64,
    pub last_ns: f64,
}

/// Reads the samples of all sections.
pub(super) fn read<E: Evidence>(
    facts: &Facts<'_>,
    scanned: &Scanned,
    sections: &[Section<'_>],
    measures: &[Measures],
    evidence: &mut E,
) -> Result<Vec<Sample>, E::Error> {
    let wanted = sections.iter().zip(measures).map(|(section, measures)| {
        let both = || (window(facts, measures), start(section, measures));
        section.load.map(|_| both())
    });
    let wanted: Vec<Option<(Window, Window)>> = wanted.collect();
    let all = wanted
        .iter()
        .flatten()
        .flat_map(|(window, start)| [*window, *start]);
    let windows = Window::apart(all);
    if windows.is_empty() {
        return Ok(vec![Sample::default(); sections.len()]);
    }
    let within = |at_ns: u64| Window::any_holds(&windows, at_ns);
    let mut ios: Vec<IoRecord> = Vec::new();
    evidence.io(&windows, &mut |batch| {
        ios.extend(batch.iter().filter(|io| within(io.completed_ns)));
    })?;
    let mut requests: Vec<BlockRequest> = Vec::new();
    if scanned.block.is_some() {
        evidence.block(&windows, &mut |batch| {
            requests.extend(batch.iter().filter(|request| within(request.completed_ns)));
        })?;
    }
    ios.sort_by_key(|io| io.completed_ns);
    requests.sort_by_key(|request| request.completed_ns);
    let each = sections.iter().zip(measures).zip(wanted);
    let sample = |((section, measures), windows): ((&Section<'_>, &Measures), Option<(Window, Window)>)| {
        windows.map_or_else(Sample::default, |(window, start)| Sample {
            first_ones: first_ones(section, start, &ios),
            ..of(section, measures, window, &ios, &requests)
        })
    };
    Ok(each.map(sample).collect())
}

/// About the middle of the section, long enough for its I/Os to be seen and short enough to be read at once.
fn window(facts: &Facts<'_>, measures: &Measures) -> Window {
    let middle = facts.started_ns() + (measures.from + measures.to + 1) * SECOND_NS / 2;
    let enough_ns = (IOS / measures.iops.max(1.0) * 1e9) as u64;
    let half_ns = enough_ns.min(LONGEST_NS) / 2;
    Window {
        start_ns: middle.saturating_sub(half_ns),
        end_ns: middle + half_ns,
    }
}

/// The section's begin, until its first I/Os are complete.
fn start(section: &Section<'_>, measures: &Measures) -> Window {
    let start_ns = section.timeline.first_ns;
    let first_ns = (measures.latency_ns * 3.0) as u64 + 10_000_000;
    // No more I/Os than are looked at anyway.
    let most_ns = (IOS / measures.iops.max(1.0) * 1e9) as u64;
    Window {
        start_ns,
        end_ns: start_ns + first_ns.min(most_ns),
    }
}

fn first_ones(section: &Section<'_>, start: Window, ios: &[IoRecord]) -> Option<FirstOnes> {
    let mut first: Vec<&IoRecord> = ios
        .iter()
        .filter(|io| io.job as usize == section.index && start.holds(io.completed_ns) && io.len_bytes > 0)
        .collect();
    first.sort_by_key(|io| (io.created_ns, io.depth));
    // Those that were sent before the first was complete.
    let ended_ns = first.iter().map(|io| io.completed_ns).min()?;
    first.retain(|io| io.created_ns < ended_ns);
    let quarter = first.len() / 4;
    if quarter == 0 {
        return None;
    }
    let mean = |ios: &[&IoRecord]| {
        let sum: u64 = ios.iter().map(|io| io.lat_ns()).sum();
        sum as f64 / ios.len() as f64
    };
    Some(FirstOnes {
        sent: first.len(),
        first_ns: mean(&first[..quarter]),
        last_ns: mean(&first[first.len() - quarter..]),
    })
}

fn of(
    section: &Section<'_>,
    measures: &Measures,
    window: Window,
    ios: &[IoRecord],
    requests: &[BlockRequest],
) -> Sample {
    let own: Vec<IoRecord> = ios
        .iter()
        .filter(|io| io.job as usize == section.index && window.holds(io.completed_ns) && io.len_bytes > 0)
        .copied()
        .collect();
    let below: Vec<BlockRequest> = requests
        .iter()
        .filter(|request| {
            let mut devices = section.devices.iter();
            devices.any(|device| device.device == request.device)
                && request.op != BlockOp::Flush
                && window.holds(request.completed_ns)
        })
        .copied()
        .collect();
    let completions: Vec<u64> = own.iter().map(|io| io.completed_ns).collect();
    // Others share what a limit gives.
    let all = if below.is_empty() {
        completions.clone()
    } else {
        below.iter().map(|request| request.completed_ns).collect()
    };
    Sample {
        released: released(&below),
        evenness: evenness(&completions, measures),
        held: held(&all, measures),
        first_ones: None,
    }
}

/// Variance over mean of the number of completions in slots of a length; `None` with too few slots.
fn dispersion(completions: &[u64], slot_ns: f64, slots_min: usize) -> Option<f64> {
    let (first, last) = (*completions.first()?, *completions.last()?);
    let slots = ((last - first) as f64 / slot_ns) as usize;
    if slots < slots_min {
        return None;
    }
    let mut counts = vec![0.0_f64; slots];
    for completed_ns in completions {
        let slot = ((completed_ns - first) as f64 / slot_ns) as usize;
        if let Some(count) = counts.get_mut(slot) {
            *count += 1.0;
        }
    }
    let mean = counts.iter().sum::<f64>() / slots as f64;
    let squares: f64 = counts.iter().map(|count| (count - mean).powi(2)).sum();
    (mean > 0.0).then(|| squares / slots as f64 / mean)
}

/// In slots of many latencies, each place in flight completes a number whose variance is that of a renewal process: mean ×
/// (deviation / mean of a latency)². Independent places add up to the same ratio (Cox, Renewal Theory, 1962).
fn held(completions: &[u64], measures: &Measures) -> Option<f64> {
    let by_chance = measures.latencies.varies.powi(2);
    let found = dispersion(
        completions,
        measures.latency_ns * LATENCIES_A_SLOT,
        LONG_SLOTS_MIN,
    )?;
    (by_chance > 1e-6).then(|| found / by_chance)
}

/// The share of requests that a bound worker (`kworker/N:M`) sent.
fn released(requests: &[BlockRequest]) -> f64 {
    let bound = requests.iter().filter(|request| {
        let name = request.comm.as_bytes();
        is_kernel(&request.comm) && name.get(8).is_some_and(u8::is_ascii_digit)
    });
    bound.count() as f64 / requests.len().max(1) as f64
}

fn evenness(completions: &[u64], measures: &Measures) -> Option<f64> {
    let (first, last) = (*completions.first()?, *completions.last()?);
    let gap_ns = (last - first) as f64 / completions.len() as f64;
    let slot_ns = gap_ns * A_SLOT;
    // In a slot longer than that, what completed must have been sent before: any server looks even.
    if slot_ns > measures.latencies.p50_ns / 4.0 || gap_ns <= 0.0 {
        return None;
    }
    dispersion(completions, slot_ns, SLOTS_MIN)
}
