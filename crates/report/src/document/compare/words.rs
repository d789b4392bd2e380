//! Figures, differences and verdicts in words.
//!
//! Data in: judged figures. Data out: texts. It must not judge.

use crate::compared::CompareReport;
use crate::words::from_to;
use fathom_analysis::compare::{Better, Few, Judged, Quantity, Scale, SpreadVerdict, Tail, Verdict};
use fathom_core::backend::Op;
use fathom_core::units::{Bytes, Nanos, count, decimal_rate};

/// From such a ratio on, percentages are hard to read.
const TIMES_FROM: f64 = 3.0;

/// `read p99`, with the load where there are several.
pub(crate) fn figure(judged: &Judged) -> String {
    match judged.figure.load.as_str() {
        "" => figure_alone(judged),
        load => format!("{load}, {}", figure_alone(judged)),
    }
}

/// The same without the load.
pub(crate) fn figure_alone(judged: &Judged) -> String {
    let quantity = match judged.figure.quantity {
        Quantity::Iops => "IOPS",
        Quantity::BytesPerSecond => "throughput",
        Quantity::LatencyMean => "mean latency",
        Quantity::Latency(Tail::P50) => "p50",
        Quantity::Latency(Tail::P99) => "p99",
        Quantity::Latency(Tail::P99_9) => "p99.9",
        Quantity::Number => "mean",
        Quantity::Duration => "time",
        Quantity::IoWait => "waited for I/O",
        Quantity::CpuTime => "CPU time",
        Quantity::StorageRead => "read from storage",
        Quantity::StorageWritten => "sent to storage",
    };
    match judged.figure.op.map(Op::name) {
        None => quantity.to_owned(),
        Some(op) => format!("{op} {quantity}"),
    }
}

/// A value in the figure's unit.
pub(crate) fn value(report: &CompareReport<'_>, judged: &Judged, value: f64) -> String {
    match judged.figure.quantity {
        Quantity::Iops => count(value),
        Quantity::BytesPerSecond => decimal_rate(value),
        Quantity::LatencyMean
        | Quantity::Latency(_)
        | Quantity::Duration
        | Quantity::IoWait
        | Quantity::CpuTime => Nanos(value.round().max(0.0) as u64).to_string(),
        Quantity::StorageRead | Quantity::StorageWritten => Bytes(value.round().max(0.0) as u64).to_string(),
        Quantity::Number => match report.unit {
            Some(unit) => format!("{} {unit}", number(value)),
            None => number(value),
        },
    }
}

/// Five digits that count.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        x if x >= 1e4 || x == 0.0 => 0,
        x => (4 - x.log10().floor() as i32).clamp(0, 12) as usize,
    };
    format!("{value:.digits$}")
}

/// A side's mean.
pub(crate) fn side(report: &CompareReport<'_>, judged: &Judged, side: usize) -> String {
    value(report, judged, judged.sides[side].mean)
}

/// Repeats' deviation from each other: in percent of their mean, of numbers around 0 as it is.
pub(crate) fn deviation(report: &CompareReport<'_>, judged: &Judged, side: usize) -> String {
    let numbers = &judged.sides[side];
    let Some(deviation) = numbers.deviation else {
        return String::from("–");
    };
    match judged.difference.map(|found| found.scale) {
        Some(Scale::Absolute) => value(report, judged, deviation),
        _ => format!("{} %", digits(100.0 * deviation / numbers.mean)),
    }
}

/// Percent with as many digits as are read: 3.1, 0.25, 120.
fn digits(percent: f64) -> String {
    match percent.abs() {
        x if x >= 99.95 => format!("{percent:.0}"),
        x if x >= 0.995 || x == 0.0 => format!("{percent:.1}"),
        x if x >= 0.0995 => format!("{percent:.2}"),
        _ => format!("{percent:.3}"),
    }
}

/// A ratio: 2.1, 0.60, 12.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        x if x >= 9.95 => format!("{x:.0}"),
        x if x >= 0.995 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// `p`: 0.68, 0.003, < 0.001.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p < 0.001 => String::from("< 0.001"),
        p if p < 0.0995 => format!("{p:.3}"),
        p => format!("{p:.2}"),
    }
}

/// A change with its sign: `+3.1 %`, in the figure's unit where it is no share, `× 62` where it is large.
pub(crate) fn signed(report: &CompareReport<'_>, judged: &Judged, change: f64) -> String {
    match scale(judged) {
        Scale::Absolute => {
            let sign = if change < 0.0 { "-" } else { "+" };
            format!("{sign}{}", value(report, judged, change.abs()))
        }
        Scale::Ratio if change + 1.0 >= TIMES_FROM => format!("× {}", ratio(change + 1.0)),
        Scale::Ratio => format!("{} %", Signed(100.0 * change)),
    }
}

/// Both ends.
pub(crate) fn interval(report: &CompareReport<'_>, judged: &Judged, low: f64, high: f64) -> String {
    match scale(judged) {
        Scale::Ratio if low + 1.0 < TIMES_FROM && high + 1.0 < TIMES_FROM => {
            format!("{} %", from_to(Signed(100.0 * low), Signed(100.0 * high)))
        }
        Scale::Ratio => format!("× {}", from_to(ratio(low + 1.0), ratio(high + 1.0))),
        Scale::Absolute => from_to(signed(report, judged, low), signed(report, judged, high)),
    }
}

fn scale(judged: &Judged) -> Scale {
    judged.difference.map_or(Scale::Ratio, |found| found.scale)
}

/// Percent with its sign.
struct Signed(f64);

impl std::fmt::Display for Signed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = digits(self.0);
        let sign = if self.0 > 0.0 { "+" } else { "" };
        write!(f, "{sign}{text}")
    }
}

/// Which way is better.
pub(crate) fn better(report: &CompareReport<'_>, judged: &Judged) -> Better {
    match judged.figure.quantity {
        Quantity::Number => report.better,
        quantity => quantity.better(),
    }
}

/// The same for words of speed: more CPU time is worse, but nobody is slower by it.
fn way(report: &CompareReport<'_>, judged: &Judged) -> Better {
    match judged.figure.quantity {
        Quantity::CpuTime | Quantity::IoWait => Better::Unknown,
        _ => better(report, judged),
    }
}

/// The verdict as a sentence's end: `B is faster by 3.1 % to 4.4 %`.
pub(crate) fn verdict(report: &CompareReport<'_>, judged: &Judged) -> String {
    match judged.verdict {
        Verdict::Differs => differs(report, judged),
        Verdict::NoneShown => {
            let seen = judged.difference.map_or(0.0, |found| found.seen_from);
            let seen = match scale(judged) {
                Scale::Ratio => format!("{} %", digits(100.0 * seen)),
                Scale::Absolute => value(report, judged, seen),
            };
            let text = format!("no difference shown (anything beyond ±{seen} would have been seen)");
            format!("{text}{}", alone(judged))
        }
        Verdict::TooFew { more, why } => {
            let more_words = in_words(more);
            match why {
                Few::One => format!(
                    "too few repeats: of one alone nobody knows how much repeats differ; {more_words} more on each side would tell"
                ),
                Few::BelowLeast => {
                    let would = would(report);
                    format!("too few repeats: {more_words} more on each side would {would}")
                }
                Few::TooVague => {
                    let would = would(report);
                    format!(
                        "too few repeats for how much they differ: {more_words} more on each side would {would}{}",
                        alone(judged)
                    )
                }
            }
        }
    }
}

/// The difference that matters, in percent.
pub(crate) fn margin(report: &CompareReport<'_>) -> String {
    // A share of what was typed in percent: what rounding adds is not told.
    ((report.settings.margin * 1e8).round() / 1e6).to_string()
}

fn would(report: &CompareReport<'_>) -> String {
    format!("decide (show ±{} %)", margin(report))
}

/// What is added where one figure alone would be a difference, and among all is none.
fn alone(judged: &Judged) -> String {
    match judged.difference {
        Some(found) if found.p <= 0.05 => {
            String::from("; by itself it would be one, among so many figures it is not")
        }
        _ => String::new(),
    }
}

fn differs(report: &CompareReport<'_>, judged: &Judged) -> String {
    let Some(found) = judged.difference else {
        return String::new();
    };
    let b = &report.sides[1].name;
    let up = found.value > 0.0;
    let (near, far) = if up {
        (found.low, found.high)
    } else {
        (found.high, found.low)
    };
    let word = match (way(report, judged), up) {
        (Better::Higher, true) | (Better::Lower, false) => "faster",
        (Better::Higher, false) | (Better::Lower, true) => "slower",
        (Better::Unknown, true) => "higher",
        (Better::Unknown, false) => "lower",
    };
    match found.scale {
        Scale::Ratio if near + 1.0 >= TIMES_FROM => {
            let times = format!("{} times", from_to(ratio(near + 1.0), ratio(far + 1.0)));
            let base = match word {
                "faster" => "as fast",
                "slower" => "as slow",
                _ => "as high",
            };
            format!("{b} is {times} {base}")
        }
        Scale::Ratio => {
            let [near, far] = [near, far].map(|share| digits(100.0 * share.abs()));
            format!(
                "{b} is {word} by {}",
                from_to(format!("{near} %"), format!("{far} %"))
            )
        }
        Scale::Absolute => {
            let [near, far] = [near, far].map(|off| value(report, judged, off.abs()));
            format!("{b} is {word} by {}", from_to(near, far))
        }
    }
}

/// The verdict in a word or two, for tables.
pub(crate) fn short(report: &CompareReport<'_>, judged: &Judged) -> String {
    match judged.verdict {
        Verdict::Differs => {
            let up = judged.difference.is_some_and(|found| found.value > 0.0);
            let word = match (way(report, judged), up) {
                (Better::Higher, true) | (Better::Lower, false) => "faster",
                (Better::Higher, false) | (Better::Lower, true) => "slower",
                (Better::Unknown, true) => "higher",
                (Better::Unknown, false) => "lower",
            };
            format!("{} {word}", report.sides[1].name)
        }
        Verdict::NoneShown => String::from("none shown"),
        Verdict::TooFew { more, .. } => format!("{more} more each"),
    }
}

/// The spread as a sentence's end: `A varies 2.1 times as much`.
pub(crate) fn spread(report: &CompareReport<'_>, judged: &Judged) -> String {
    let Some(found) = judged.spread else {
        return String::from("nothing varies");
    };
    let [a, b] = &report.sides;
    let (name, times, low, high) = if found.ratio >= 1.0 {
        (&b.name, found.ratio, found.low, found.high)
    } else {
        (&a.name, 1.0 / found.ratio, 1.0 / found.high, 1.0 / found.low)
    };
    let [times, low, high] = [times, low, high].map(ratio);
    let seen = format!("{name} varies {times} times as much (anything from {low} to {high} times)");
    match judged.spread_verdict {
        SpreadVerdict::Differs => seen,
        SpreadVerdict::NoneShown { seen_from } => format!(
            "no difference shown; {seen}; from about {} times on it would have been seen",
            ratio(seen_from)
        ),
        SpreadVerdict::TooFew { more } => format!(
            "too few repeats: {seen}; {} more on each side are the least to judge it by",
            in_words(more)
        ),
        SpreadVerdict::Nothing => String::from("nothing varies"),
    }
}

pub(crate) fn spread_short(report: &CompareReport<'_>, judged: &Judged) -> String {
    match judged.spread_verdict {
        SpreadVerdict::Differs => {
            let up = judged.spread.is_some_and(|found| found.ratio >= 1.0);
            format!("{} varies more", report.sides[usize::from(up)].name)
        }
        SpreadVerdict::NoneShown { .. } => String::from("none shown"),
        SpreadVerdict::TooFew { more } => format!("{more} more each"),
        SpreadVerdict::Nothing => String::from("–"),
    }
}

/// Small numbers as words.
pub(crate) fn in_words(n: u32) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    WORDS
        .get(n as usize)
        .map_or_else(|| n.to_string(), |word| (*word).to_owned())
}
