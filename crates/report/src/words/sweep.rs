//! What a sweep says of its disk, in words a colleague can read.
//!
//! Data in: a plan, its results, the [`Conclusions`] drawn from them. Data out: [`Paragraph`]s: a title, what was concluded
//! and how sure that is, and the evidence. It must not judge, nor know how a paragraph is printed.

mod cautions;
mod limits;
mod series;

use super::{joined, plural};
use crate::document::Paragraph;
use fathom_analysis::explain::answer::in_words;
use fathom_analysis::sweep::findings::{Conclusions, Line, Quantity};
use fathom_core::sweep::{Coordinates, SweepPlan, SweepResults};
use fathom_core::units::{Bytes, bandwidth, count, three_digits};

/// Points that are named one by one; of more, the number is said.
const NAMED: usize = 3;

/// What words need to name points.
#[derive(Debug, Clone, Copy)]
struct Context<'a> {
    plan: &'a SweepPlan,
    results: &'a SweepResults,
    conclusions: &'a Conclusions,
}

/// All conclusions, in the order in which they are to be read.
pub fn paragraphs(plan: &SweepPlan, results: &SweepResults, conclusions: &Conclusions) -> Vec<Paragraph> {
    let context = Context {
        plan,
        results,
        conclusions,
    };
    let [iops, bytes] = limits::limits(context);
    let all = [
        limits::maxima(context),
        iops,
        bytes,
        limits::native_size(context),
        limits::slice(context),
        series::depths(context),
        series::growth(context),
        series::read_write(context),
        series::random_sequential(context),
        series::shortfalls(context),
        cautions::cautions(context),
    ];
    all.into_iter().flatten().collect()
}

impl Context<'_> {
    /// A point as people name it: `random, 100 % reads, 256 KiB, depth 16 on each of 2 threads`.
    fn point(self, number: u32) -> String {
        self.plan
            .points
            .get(number as usize)
            .map_or_else(|| format!("point {number}"), |at| point(*at))
    }

    /// A few points by name, of more the number.
    fn points(self, numbers: &[u32]) -> String {
        named(numbers, NAMED, |&number| self.point(number))
    }

    /// A line as people name it: `random, 80 % reads, 4 KiB`.
    fn line(self, line: Line) -> String {
        let load = load(line.random, line.read_percent);
        let threads = threads(self.plan, line.threads);
        format!("{load}, {}{threads}", Bytes(line.block_size_bytes))
    }
}

/// The first of a list; of more, the number.
fn named<T>(all: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let names = joined(all.iter().take(most).map(name), "; ");
    match all.len().saturating_sub(most) {
        0 => names,
        more => format!("{names}; and {more} more"),
    }
}

/// `, 2 threads`, where the plan has more than one number of them.
pub(crate) fn threads(plan: &SweepPlan, threads: u32) -> String {
    match plan.axes.threads.len() {
        ..=1 => String::new(),
        _ => format!(", {}", plural(threads, "thread")),
    }
}

/// A point in words.
pub fn point(at: Coordinates) -> String {
    let depth = match at.threads {
        1 => format!("depth {}", at.iodepth),
        threads => format!("depth {} on each of {threads} threads", at.iodepth),
    };
    let load = load(at.random, at.read_percent);
    format!("{load}, {}, {depth}", Bytes(at.block_size_bytes))
}

/// An order and a mix in words: `random reads`, `sequential, 80 % reads`.
pub(crate) fn load(random: bool, read_percent: u8) -> String {
    let order = if random { "random" } else { "sequential" };
    match read_percent {
        100 => format!("{order} reads"),
        0 => format!("{order} writes"),
        percent => format!("{order}, {percent} % reads"),
    }
}

/// A rate in the unit of what is counted.
fn rate(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Iops => format!("{} IOPS", count(value.round())),
        Quantity::BytesPerSecond => bandwidth(value),
    }
}

/// `almost certain (94 %)`: how sure, on a scale.
fn sure(confidence: f64) -> String {
    format!("{} ({:.0} %)", in_words(confidence), confidence * 100.0)
}

/// A share with a sign that tells it from a rate: `2.0 %`.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        value if value >= 9.95 => format!("{value:.0} %"),
        value if value >= 0.05 => format!("{value:.1} %"),
        _ => String::from("0.1 %"),
    }
}

/// `4 KiB`, `4 and 8 KiB`, `4 KiB to 1 MiB`.
fn sizes(sizes: &[u64]) -> String {
    match sizes {
        [] => String::from("no size"),
        [one] => Bytes(*one).to_string(),
        [one, other] => format!("{} and {}", Bytes(*one), Bytes(*other)),
        [first, .., last] => format!("{} to {}", Bytes(*first), Bytes(*last)),
    }
}

/// How many times, with three digits: `1.54 times`.
fn times(ratio: f64) -> String {
    format!("{} times", three_digits(ratio))
}

#[cfg(test)]
mod tests;
