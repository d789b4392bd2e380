//! Whether spikes come regularly.
//!
//! Data in: when spikes began. Data out: period, phase, how many kept to it. Spikes that fail to come, and others between,
//! are tolerated.

/// A regularity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Regular {
    pub period_ns: f64,
    /// When the first was due.
    pub phase_ns: f64,
    /// Spikes that came when they were due.
    pub hits: usize,
    /// Times at which one was due and none came.
    pub missed: usize,
    /// Mean distance from when they were due.
    pub jitter_ns: f64,
}

/// Fewer spikes may look regular by chance.
pub(super) const SPIKES_MIN: usize = 5;
/// How far from when it is due a spike may come, as a part of the period. With this, chance puts a spike on time one time
/// in ten.
const TOLERANCE: f64 = 0.05;
/// The share of the spikes that must come on time, and of the due times at which one must come.
const ON_TIME_MIN: f64 = 0.8;
const COME_MIN: f64 = 0.5;
/// Differences between spikes that are tried as periods.
const TRIED_MAX: usize = 64;

/// The regularity of these times (ascending), if there is one.
pub(super) fn find(starts_ns: &[u64]) -> Option<Regular> {
    if starts_ns.len() < SPIKES_MIN {
        return None;
    }
    let mut gaps: Vec<f64> = starts_ns
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64)
        .filter(|gap| *gap > 0.0)
        .collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let step = gaps.len().div_ceil(TRIED_MAX).max(1);
    let tried: Vec<f64> = gaps.iter().copied().step_by(step).collect();
    // Where one of two spikes fails to come, all gaps may be multiples of the period.
    let periods = tried
        .iter()
        .flat_map(|gap| [1.0, 2.0, 3.0].map(|parts| gap / parts));
    periods
        .filter_map(|period| fit(starts_ns, period))
        .max_by(|a, b| {
            let score = |regular: &Regular| regular.hits as f64 - regular.missed as f64 * 0.5;
            score(a)
                .total_cmp(&score(b))
                .then(a.period_ns.total_cmp(&b.period_ns))
        })
}

/// The period near `guess` that fits best, if it fits well.
fn fit(starts_ns: &[u64], guess: f64) -> Option<Regular> {
    let origin = starts_ns[0] as f64;
    let times: Vec<f64> = starts_ns.iter().map(|&start| start as f64 - origin).collect();
    // A small error of the guess adds up over many periods: walk along and correct it.
    let mut period = guess;
    let mut on_time: Vec<(f64, f64)> = vec![(0.0, times[0])];
    let mut phase = times[0];
    for &time in &times[1..] {
        let number = ((time - phase) / period).round();
        let off = time - phase - number * period;
        let (last, _) = on_time[on_time.len() - 1];
        if off.abs() <= TOLERANCE * period && number > last {
            on_time.push((number, time));
            (phase, period) = line(&on_time, period);
        }
    }
    let slots = ((times[times.len() - 1] - phase) / period).round() + 1.0;
    let hits = on_time.len();
    let come = hits as f64 / slots;
    let kept = hits as f64 / times.len() as f64;
    if hits < SPIKES_MIN || kept < ON_TIME_MIN || come < COME_MIN || period <= 0.0 {
        return None;
    }
    let off = on_time
        .iter()
        .map(|(number, time)| (time - phase - number * period).abs());
    Some(Regular {
        period_ns: period,
        phase_ns: origin + phase,
        hits,
        missed: (slots as usize).saturating_sub(hits),
        jitter_ns: off.sum::<f64>() / hits as f64,
    })
}

/// Least squares: time = phase + number × period.
fn line(points: &[(f64, f64)], guess: f64) -> (f64, f64) {
    let n = points.len() as f64;
    let mean_number = points.iter().map(|(number, _)| number).sum::<f64>() / n;
    let mean_time = points.iter().map(|(_, time)| time).sum::<f64>() / n;
    let (mut above, mut below) = (0.0, 0.0);
    for (number, time) in points {
        above += (number - mean_number) * (time - mean_time);
        below += (number - mean_number).powi(2);
    }
    let period = if below > 0.0 { above / below } else { guess };
    (mean_time - mean_number * period, period)
}

#[cfg(test)]
mod tests;
