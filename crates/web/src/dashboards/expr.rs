//! Expressions of `PromQL`, made from rows of the table.

use crate::metric::{Kind, Metric};
use std::fmt;

/// The instances that a dashboard is of.
const INSTANCE: &str = "instance=~\"$instance\"";

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expr(String);

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What of a metric: with matchers, and over which time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Of<'a> {
    metric: &'static Metric,
    matchers: &'a [(&'static str, &'a str)],
    /// Of a dashboard, whose instances are chosen; else all.
    chosen: bool,
    window: &'a str,
}

/// A metric on a dashboard.
pub(super) const fn of(metric: &'static Metric) -> Of<'static> {
    Of {
        metric,
        matchers: &[],
        chosen: true,
        window: "$__rate_interval",
    }
}

/// A metric in a rule.
pub(super) const fn all(metric: &'static Metric) -> Of<'static> {
    Of {
        metric,
        matchers: &[],
        chosen: false,
        window: "1m",
    }
}

impl<'a> Of<'a> {
    /// Only with these labels: each a label of the metric, `=` with a value or `!=` behind an exclamation mark.
    pub(super) const fn with(self, matchers: &'a [(&'static str, &'a str)]) -> Self {
        Self { matchers, ..self }
    }

    pub(super) const fn over(self, window: &'a str) -> Self {
        Self { window, ..self }
    }

    fn selector(self, ending: &str) -> String {
        let own = self.matchers.iter().map(|(label, value)| {
            let (label, sign) = match label.strip_prefix('!') {
                Some(label) => (label, "!="),
                None => (*label, "="),
            };
            debug_assert!(
                self.metric.labels.contains(&label),
                "{label} of {}",
                self.metric.name
            );
            format!("{label}{sign}\"{value}\"")
        });
        let matchers: Vec<String> = own.chain(self.chosen.then(|| INSTANCE.to_owned())).collect();
        let name = self.metric.name;
        if matchers.is_empty() {
            format!("{name}{ending}")
        } else {
            format!("{name}{ending}{{{}}}", matchers.join(","))
        }
    }

    /// As it is.
    pub(super) fn now(self) -> Expr {
        Expr(self.selector(""))
    }

    /// Its growth a second.
    pub(super) fn rate(self) -> Expr {
        debug_assert!(self.metric.kind != Kind::Gauge, "{}", self.metric.name);
        Expr(format!("rate({}[{}])", self.selector(""), self.window))
    }

    /// Its growth.
    pub(super) fn increase(self) -> Expr {
        debug_assert_eq!(self.metric.kind, Kind::Counter, "{}", self.metric.name);
        Expr(format!("increase({}[{}])", self.selector(""), self.window))
    }

    /// Its change a second, of a gauge.
    pub(super) fn slope(self) -> Expr {
        Expr(format!("deriv({}[{}])", self.selector(""), self.window))
    }

    /// A quantile of a histogram, by these labels: of its native buckets where the server keeps them, else of the classic ones.
    pub(super) fn quantile(self, quantile: f64, by: &str) -> Expr {
        debug_assert_eq!(self.metric.kind, Kind::Histogram, "{}", self.metric.name);
        let window = self.window;
        let (native, classic) = (self.selector(""), self.selector("_bucket"));
        let comma = if by.is_empty() { "" } else { ", " };
        Expr(format!(
            "histogram_quantile({quantile}, sum by ({by}) (rate({native}[{window}]))) or histogram_quantile({quantile}, sum by \
             (le{comma}{by}) (rate({classic}[{window}])))"
        ))
    }

    /// The growth of each bucket, as a heat map takes it: of the native ones where the server keeps them, else of the classic ones.
    pub(super) fn buckets(self) -> Expr {
        let window = self.window;
        let (native, classic) = (self.selector(""), self.selector("_bucket"));
        Expr(format!(
            "sum(increase({native}[{window}])) or sum by (le) (increase({classic}[{window}]))"
        ))
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "an expression is put together from parts that nothing else needs"
)]
impl Expr {
    pub(super) fn sum_by(self, labels: &str) -> Self {
        Self(format!("sum by ({labels}) ({})", self.0))
    }
    pub(super) fn max_by(self, labels: &str) -> Self {
        Self(format!("max by ({labels}) ({})", self.0))
    }
    pub(super) fn min_by(self, labels: &str) -> Self {
        Self(format!("min by ({labels}) ({})", self.0))
    }
    pub(super) fn avg_by(self, labels: &str) -> Self {
        Self(format!("avg by ({labels}) ({})", self.0))
    }
    pub(super) fn grouped(self) -> Self {
        Self(format!("({})", self.0))
    }
    pub(super) fn over(self, divisor: Self) -> Self {
        Self(format!("{} / {}", self.0, divisor.0))
    }
    /// Divided by what has these labels alone in common.
    pub(super) fn over_on(self, labels: &str, divisor: Self) -> Self {
        Self(format!("{} / on ({labels}) {}", self.0, divisor.0))
    }
    /// Divided by what is one for all that have these labels in common; what is divided keeps its own.
    pub(super) fn over_one(self, labels: &str, divisor: Self) -> Self {
        Self(format!(
            "{} / on ({labels}) group_left () ({})",
            self.0, divisor.0
        ))
    }
    pub(super) fn plus(self, other: Self) -> Self {
        Self(format!("({} + {})", self.0, other.0))
    }
    pub(super) fn times(self, factor: f64) -> Self {
        Self(format!("{factor} * ({})", self.0))
    }
    pub(super) fn one_minus(self) -> Self {
        Self(format!("1 - ({})", self.0))
    }
    /// Only where it is so: `> 0.95`.
    pub(super) fn is(self, comparison: &str) -> Self {
        Self(format!("{} {comparison}", self.0))
    }
    /// Where there is something else with these labels.
    pub(super) fn and_on(self, labels: &str, other: Self) -> Self {
        Self(format!("{} and on ({labels}) {}", self.0, other.0))
    }
    /// Where there is nothing else with these labels.
    pub(super) fn unless_on(self, labels: &str, other: Self) -> Self {
        Self(format!("{} unless on ({labels}) {}", self.0, other.0))
    }
    pub(super) fn and(self, other: Self) -> Self {
        Self(format!("{} and {}", self.0, other.0))
    }
    /// What is not there is taken from another.
    pub(super) fn or(self, other: Self) -> Self {
        Self(format!("{} or {}", self.0, other.0))
    }
    pub(super) fn top(self, count: u32) -> Self {
        Self(format!("topk({count}, {})", self.0))
    }
}
