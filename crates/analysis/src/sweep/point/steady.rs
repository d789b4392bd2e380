//! How well a mean is known from values of one second each that may hang together.
//!
//! Data in: IOPS of the seconds counted so far. Data out: half the width of the 95 % confidence interval of their mean. It
//! must not know whose they are.
//!
//! Seconds of a disk are not independent: credit, caches and neighbours reach over many of them, and an interval from
//! single seconds would be too narrow. So they are averaged in batches (the method of nonoverlapping batch means; Law,
//! *Simulation Modeling and Analysis*, "The method of batch means"; 10 to 30 batches after Schmeiser, "Batch Size Effects in
//! the Analysis of Simulation Output", Operations Research 30, 1982), and batches are made longer until neighbouring ones
//! no longer hang together, or only [`BATCHES_MIN`] are left.

use fathom_core::sweep::SteadyRule;

/// Nothing is said of fewer seconds.
pub const SECONDS_MIN: usize = 10;
/// The fewest batches.
pub const BATCHES_MIN: usize = 10;
/// The most: with more, batches only get shorter and hang together more.
const BATCHES_MAX: usize = 30;
/// Neighbouring batches count as independent below this correlation.
const CORRELATION_MAX: f64 = 0.25;

/// Half the width of the 95 % confidence interval of the mean of `seconds`, as a share of that mean. `None` below
/// [`SECONDS_MIN`] seconds and where nothing was done.
pub fn half_width(seconds: &[f64]) -> Option<f64> {
    if seconds.len() < SECONDS_MIN {
        return None;
    }
    let mut length = seconds.len().div_ceil(BATCHES_MAX);
    loop {
        let batches = batch_means(seconds, length);
        let longer = length + length.div_ceil(2);
        if correlation(&batches) <= CORRELATION_MAX || seconds.len() / longer < BATCHES_MIN {
            return of_independent(&batches);
        }
        length = longer;
    }
}

/// Whether a point that has counted `seconds` so far may end by `rule`: half the width of its interval if so.
///
/// The same seconds always get the same answer. Looking again each second and ending at the first narrow interval makes
/// intervals hold somewhat less often than 95 %; the rule's least number of seconds keeps that small.
pub fn steady(rule: SteadyRule, seconds: &[f64]) -> Option<f64> {
    if seconds.len() < rule.least_seconds as usize {
        return None;
    }
    half_width(seconds).filter(|half| *half <= rule.half_width)
}

/// Means of `length` values each; what is too short for one more at the beginning is left out, as it is nearest to the
/// warm-up.
fn batch_means(values: &[f64], length: usize) -> Vec<f64> {
    let skipped = values.len() % length;
    values[skipped..].chunks_exact(length).map(mean).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The correlation of each value with the next; 0 where all are equal.
fn correlation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let off = |value: &f64| value - mean;
    let squares: f64 = values.iter().map(|value| off(value) * off(value)).sum();
    let products: f64 = values.windows(2).map(|pair| off(&pair[0]) * off(&pair[1])).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The same of values that do not hang together; `None` where nothing was done.
pub(in crate::sweep) fn of_independent(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    if mean <= 0.0 {
        return None;
    }
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    Some(t_975(values.len() - 1) * error / mean)
}

/// The 97.5th percentile of Student's t distribution (any table of it; between two entries the wider one).
fn t_975(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        freedom => TABLE.get(freedom - 1).copied().unwrap_or(2.042),
    }
}

#[cfg(test)]
mod tests;
