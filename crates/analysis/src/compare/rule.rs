//! What a comparison must not show: `p99 > +5%`.
//!
//! Data in: a rule as written, judged figures. Data out: whether each figure it is about keeps it. It must not know who asks.

use super::figure::{Figure, Quantity, Tail};
use super::judge::{Judged, MISS, Scale};
use fathom_core::backend::Op;
use std::fmt;
use std::str::FromStr;

/// A change of a figure from A to B that is not wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// As written.
    pub text: String,
    /// `None`: of either direction.
    pub op: Option<Op>,
    pub quantity: Quantity,
    pub beyond: Beyond,
    /// The change as a share: 0.05 is +5 %.
    pub limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    Above,
    Below,
}

/// A rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError(String);

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: write FIGURE > +N% or FIGURE < -N%, as 'p99 > +5%', 'read.iops < -3%' (figures: iops, mbps, mean, p50, p99, \
             p99.9)",
            self.0
        )
    }
}

impl std::error::Error for RuleError {}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |what: String| RuleError(what);
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| wrong(String::from("there is no < or >")))?;
        let (figure, rest) = text.split_at(at);
        let beyond = if rest.starts_with('>') {
            Beyond::Above
        } else {
            Beyond::Below
        };
        let limit = rest[1..].trim_start_matches('=').trim();
        let Some(number) = limit.strip_suffix('%') else {
            return Err(wrong(format!("`{limit}` is no percentage")));
        };
        let percent: f64 = number
            .trim()
            .parse()
            .ok()
            .filter(|percent: &f64| percent.is_finite() && *percent > -100.0)
            .ok_or_else(|| wrong(format!("`{limit}` is no percentage above -100 %")))?;
        let figure = figure.trim().to_ascii_lowercase();
        let (op, name) = match figure.split_once('.') {
            Some(("read", name)) => (Some(Op::Read), name),
            Some(("write", name)) => (Some(Op::Write), name),
            Some(("trim", name)) => (Some(Op::Trim), name),
            _ => (None, figure.as_str()),
        };
        let quantity = match name {
            "iops" => Quantity::Iops,
            "mbps" | "bandwidth" => Quantity::BytesPerSecond,
            "mean" | "latency" => Quantity::LatencyMean,
            "p50" => Quantity::Latency(Tail::P50),
            "p99" => Quantity::Latency(Tail::P99),
            "p99.9" | "p99_9" => Quantity::Latency(Tail::P99_9),
            "value" => Quantity::Number,
            "time" | "duration" => Quantity::Duration,
            "io_wait" => Quantity::IoWait,
            "cpu" => Quantity::CpuTime,
            "read_bytes" => Quantity::StorageRead,
            "written_bytes" => Quantity::StorageWritten,
            other => return Err(wrong(format!("`{other}` is no figure"))),
        };
        Ok(Self {
            text: text.trim().to_owned(),
            op,
            quantity,
            beyond,
            limit: percent / 100.0,
        })
    }
}

/// How a figure stands to a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of the interval is beyond the limit.
    Broken,
    /// All of it is within.
    Kept,
    /// The limit is within it, or nothing is known.
    Undecided,
}

/// A rule and a figure that it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    pub rule: Rule,
    /// Its place among the judged figures.
    pub figure: usize,
    pub outcome: Outcome,
}

impl Rule {
    /// Whether it is about this figure: `mean` is also that of a column.
    fn is_about(&self, figure: &Figure) -> bool {
        let same = self.quantity == figure.quantity
            || (self.quantity == Quantity::LatencyMean && figure.quantity == Quantity::Number);
        same && (self.op.is_none() || self.op == figure.op)
    }

    fn outcome(&self, judged: &Judged, checks: usize) -> Outcome {
        let Some(found) = &judged.difference else {
            return Outcome::Undecided;
        };
        let (low, high) = found.interval(MISS / checks as f64);
        let share = |value: f64| match found.scale {
            Scale::Ratio => value,
            Scale::Absolute => value / judged.sides[0].mean.abs(),
        };
        let (low, high) = (share(low), share(high));
        if !low.is_finite() || !high.is_finite() {
            return Outcome::Undecided;
        }
        let (broken, kept) = match self.beyond {
            Beyond::Above => (low > self.limit, high <= self.limit),
            Beyond::Below => (high < self.limit, low >= self.limit),
        };
        match (broken, kept) {
            (true, _) => Outcome::Broken,
            (_, true) => Outcome::Kept,
            _ => Outcome::Undecided,
        }
    }
}

/// Each rule on each figure that it is about; `Err`: a rule that is about none. Intervals are as wide as so many looks ask for.
///
/// # Errors
/// The first rule that no figure fits.
pub fn ruled<'a>(rules: &'a [Rule], judged: &[Judged]) -> Result<Vec<Ruled>, &'a Rule> {
    let mut about: Vec<(&Rule, usize)> = Vec::new();
    for rule in rules {
        let before = about.len();
        let fitting = judged.iter().enumerate();
        let fitting = fitting.filter(|(_, one)| rule.is_about(&one.figure));
        about.extend(fitting.map(|(index, _)| (rule, index)));
        if about.len() == before {
            return Err(rule);
        }
    }
    let checks = about.len();
    let each = about.into_iter().map(|(rule, figure)| Ruled {
        rule: rule.clone(),
        figure,
        outcome: rule.outcome(&judged[figure], checks),
    });
    Ok(each.collect())
}

#[cfg(test)]
mod tests;
