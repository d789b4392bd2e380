//! How well the mean of a series is known whose seconds hang together.
//!
//! Data in: a value a second, in order. Data out: the mean, its interval, how long the series remembers. It must not know what is
//! measured. Of how much runs differ from each other one run says nothing: an interval here is that of this run alone.
//!
//! Batch means whose number adapts: 60 batches, halved until neighbours do not hang together any more. Simulated coverage at
//! 300 s is 90 to 95 % up to a correlation of 0.95 from second to second, where a plain t interval holds in 24 of 100
//! (`docs/compare.md`).

use super::groups::{deviation, mean, squares};
use super::student;

/// Batches to begin with, and at least.
const BATCHES: usize = 60;
const BATCHES_MIN: usize = 6;
/// Neighbouring batches may hang together so much, with what so few batches cannot tell added.
const CORRELATION_MAX: f64 = 0.1;
/// A series says something of its mean once it is so many times as long as it remembers.
const MEMORIES: f64 = 16.0;

/// A mean and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    pub mean: f64,
    /// Half of its 95 % interval.
    pub half: f64,
    /// Into how many batches the series was cut.
    pub batches: usize,
    /// For how many values it remembers: its long-run variance over its variance.
    pub memory: f64,
    /// Whether it is long enough for that.
    pub is_long_enough: bool,
}

/// The means of batches that hardly hang together, in order. `None` below six values. What is left over is left
/// out at the beginning.
pub fn batches(values: &[f64]) -> Option<Vec<f64>> {
    let mut number = BATCHES.min(values.len());
    if number < BATCHES_MIN {
        return None;
    }
    loop {
        let length = values.len() / number;
        let skipped = values.len() - length * number;
        let means: Vec<f64> = values[skipped..].chunks_exact(length).map(mean).collect();
        let together = correlation(&means) + 1.0 / number as f64;
        if together < CORRELATION_MAX || number / 2 < BATCHES_MIN {
            return Some(means);
        }
        number /= 2;
    }
}

/// The mean of a series; `None` where it is too short to say anything.
pub fn known(values: &[f64]) -> Option<Known> {
    let means = batches(values)?;
    let error = deviation(&means)? / (means.len() as f64).sqrt();
    let variance = squares(values) / (values.len() - 1) as f64;
    let memory = if variance > 0.0 {
        (values.len() as f64 * error * error / variance).max(1.0)
    } else {
        1.0
    };
    let freedom = (means.len() - 1) as f64;
    Some(Known {
        mean: mean(values),
        half: if error == 0.0 {
            0.0
        } else {
            student::critical(0.05, freedom) * error
        },
        batches: means.len(),
        memory,
        is_long_enough: values.len() as f64 >= MEMORIES * memory,
    })
}

/// The correlation of each value with the next; 0 where all are equal.
pub fn correlation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares = squares(values);
    let products: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests;
