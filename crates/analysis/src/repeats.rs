//! Several runs of one command: how long they took, and which of them stand out.
//!
//! Data in: what each did. Data out: [`Repeats`]. It must not know how they were run.

use fathom_core::run::{REPEATS_SCHEMA, RepeatedRun, Repeats, Spread};

/// Runs from which on one can stand out.
const RUNS_MIN: usize = 3;
/// How far from the median a run stands out, in standard deviations of the others: ten, so that seldom one does by chance
/// although only a few were made.
const FAR: f64 = 10.0;
/// Standard deviation of a normal distribution over the median of the deviations from its median (Iglewicz and Hoaglin, How to
/// Detect and Handle Outliers, 1993).
const DEVIATION_OVER_MEDIAN: f64 = 1.4826;
/// A deviation from the median that is never told, whatever the others': the clock of a start and an end.
const NEAR: f64 = 0.01;

/// What these runs come to.
pub fn of(runs: Vec<RepeatedRun>, warmups: u32, prepare: Option<String>, cleanup: Option<String>) -> Repeats {
    let durations: Vec<f64> = runs.iter().map(|run| run.command.duration_ns() as f64).collect();
    Repeats {
        schema: String::from(REPEATS_SCHEMA),
        argv: runs
            .first()
            .map(|run| run.command.argv.clone())
            .unwrap_or_default(),
        warmups,
        prepare,
        cleanup,
        duration_ns: spread(&durations),
        outliers: outliers(&durations),
        runs,
    }
}

/// `None` of nothing.
fn spread(values: &[f64]) -> Option<Spread> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let median = median(values)?;
    Some(Spread {
        n,
        mean,
        stddev: (squares / n.saturating_sub(1).max(1) as f64).sqrt(),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        median,
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = (
        sorted.get((sorted.len().checked_sub(1)?) / 2)?,
        sorted.get(sorted.len() / 2)?,
    );
    Some(f64::midpoint(*low, *high))
}

/// By the modified Z score.
fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(middle) = median(values).filter(|_| values.len() >= RUNS_MIN) else {
        return Vec::new();
    };
    let away: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let usual = median(&away).unwrap_or(0.0) * DEVIATION_OVER_MEDIAN;
    let far = (usual * FAR).max(middle * NEAR);
    let each = away.iter().enumerate();
    each.filter(|(_, away)| **away > far)
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests;
