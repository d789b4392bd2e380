//! What a sweep says of its disk, in words a colleague can read.
//!
//! Data in: a plan, its results, the [`Conclusions`] drawn from them. Data out: [`Paragraph`]s: a title, what was concluded
//! and how sure that is, and the evidence. It must not judge, nor know how a paragraph is printed.

mod cautions;
mod limits;
mod series;

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
    let mut paragraphs = Vec::new();
    paragraphs.extend(limits::maxima(context));
    paragraphs.extend(limits::limits(context));
    paragraphs.extend(limits::native_size(context));
    paragraphs.extend(limits::slice(context));
    paragraphs.extend(series::depths(context));
    paragraphs.extend(series::growth(context));
    paragraphs.extend(series::read_write(context));
    paragraphs.extend(series::random_sequential(context));
    paragraphs.extend(series::shortfalls(context));
    paragraphs.extend(cautions::cautions(context));
    paragraphs
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
        let named: Vec<String> = numbers
            .iter()
            .take(NAMED)
            .map(|&number| self.point(number))
            .collect();
        match numbers.len().saturating_sub(NAMED) {
            0 => named.join("; "),
            more => format!("{}; and {more} more", named.join("; ")),
        }
    }

    /// Whether the plan has more than one number of threads.
    fn several_threads(self) -> bool {
        self.plan.axes.threads.len() > 1
    }

    /// A line as people name it: `random, 80 % reads, 4 KiB`.
    fn line(self, line: Line) -> String {
        let threads = if self.several_threads() {
            format!(", {}", super::plural(u64::from(line.threads), "thread"))
        } else {
            String::new()
        };
        format!(
            "{}, {}{threads}",
            load(line.random, line.read_percent),
            Bytes(line.block_size_bytes)
        )
    }
}

/// A point in words.
pub fn point(at: Coordinates) -> String {
    let depth = match at.threads {
        1 => format!("depth {}", at.iodepth),
        threads => format!("depth {} on each of {threads} threads", at.iodepth),
    };
    format!(
        "{}, {}, {depth}",
        load(at.random, at.read_percent),
        Bytes(at.block_size_bytes)
    )
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

/// `depth 4`, `depth 4 to 64`.
fn depths(least: u64, most: u64) -> String {
    if least == most {
        format!("depth {least}")
    } else {
        format!("depth {least} to {most}")
    }
}

#[cfg(test)]
mod tests;
