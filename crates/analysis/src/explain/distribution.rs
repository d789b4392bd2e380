//! What 1-second averages say, and what the I/Os say.
//!
//! Data in: a section's sums. Data out: distributions, and the seconds whose averages hide slow I/Os.

use super::answer::{
    AVERAGE_ABOVE_MS, Averages, Distribution, HiddenSeconds, HourDistribution, SECTION_PERCENTILES,
    SectionDistribution,
};
use super::section::Section;
use super::timeline::{Hour, Second};
use crate::warnings::is_supported;
use fathom_core::histogram::Histogram;

pub(super) fn of(section: &Section<'_>) -> SectionDistribution {
    let hours = section.timeline.hours();
    let apart = by_the_hour(hours);
    SectionDistribution {
        name: section.name.clone(),
        whole: distribution(hours),
        hours: match apart.as_slice() {
            [_] => Vec::new(),
            several => several.iter().map(|hour| of_hour(hour)).collect(),
        },
        averages: averages(hours),
    }
}

/// The hours. What was in flight when the last whole hour ended is complete a little later: it belongs to that hour and makes
/// none of its own.
fn by_the_hour(hours: &[Hour]) -> Vec<&[Hour]> {
    let mut apart: Vec<&[Hour]> = hours.chunks(1).collect();
    if let [.., before, last] = hours
        && last.number == before.number + 1
        && last.seconds[1..].iter().all(|second| second.ios == 0)
    {
        apart.truncate(hours.len() - 2);
        apart.push(&hours[hours.len() - 2..]);
    }
    apart
}

/// One hour, with what of the next belongs to it.
fn of_hour(parts: &[Hour]) -> HourDistribution {
    let averages = parts
        .iter()
        .flat_map(|part| part.seconds.iter())
        .filter_map(average_ns);
    let (low, high) = averages.fold((f64::INFINITY, 0.0_f64), |(low, high), average| {
        (low.min(average), high.max(average))
    });
    HourDistribution {
        hour: parts.first().map_or(0, |first| first.number),
        ios: distribution(parts),
        average_ns: (low, high),
    }
}

fn distribution(hours: &[Hour]) -> Distribution {
    let mut latencies = Histogram::new();
    let mut above = [0; AVERAGE_ABOVE_MS.len()];
    for hour in hours {
        latencies.merge(&hour.latencies);
        for (sum, part) in above.iter_mut().zip(hour.above) {
            *sum += part;
        }
    }
    let n = latencies.n();
    let supported: Vec<f64> = SECTION_PERCENTILES
        .into_iter()
        .filter(|&percentile| is_supported(n, percentile))
        .collect();
    let summary = latencies.summary(&supported);
    Distribution {
        n,
        mean_ns: summary.mean,
        stddev_ns: summary.stddev,
        min_ns: summary.min,
        max_ns: summary.max,
        percentiles: summary.percentiles,
        above,
    }
}

fn average_ns(second: &Second) -> Option<f64> {
    (second.ios > 0).then(|| second.lat_sum_ns as f64 / f64::from(second.ios))
}

fn averages(hours: &[Hour]) -> Averages {
    let seconds = || hours.iter().flat_map(|hour| hour.seconds.iter());
    let mut all: Vec<f64> = seconds().filter_map(average_ns).collect();
    all.sort_unstable_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else {
        return Averages::default();
    };
    let at = |share: f64| all[(share * last as f64).round() as usize];
    let hidden = AVERAGE_ABOVE_MS.into_iter().filter_map(|above_ms| {
        let limit = above_ms * 1_000_000;
        let slow = seconds().filter(|second| second.lat_max_ns > limit);
        let (mut with_slow_io, mut hidden) = (0, 0);
        for average in slow.filter_map(average_ns) {
            with_slow_io += 1;
            hidden += u64::from(average <= limit as f64);
        }
        (with_slow_io > 0).then_some(HiddenSeconds {
            above_ms,
            with_slow_io,
            hidden,
        })
    });
    Averages {
        seconds: all.len() as u64,
        min_ns: all[0],
        p5_ns: at(0.05),
        p50_ns: at(0.5),
        p95_ns: at(0.95),
        max_ns: all[last],
        hidden: hidden.collect(),
    }
}

#[cfg(test)]
mod tests;
