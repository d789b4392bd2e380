//! Long series made short enough to draw, without hiding their extremes.
//!
//! Data in: a value a second. Data out: for each span of seconds the lowest, the mean and the highest. It must not know what the
//! values are.

use fathom_core::units::Nanos;

/// Points that are drawn of a line at most: about as many as a wide screen has columns of pixels for it.
const POINTS_MAX: u32 = 900;

/// Spans that people think in, in seconds.
const SPANS: [u32; 14] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

/// How many seconds become one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thinning {
    seconds: u32,
}

/// A thinned line. Where seconds are missing there is a point without values, so that the line breaks.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Envelope {
    /// The middle of each span, in seconds since the start.
    pub(crate) at_s: Vec<f64>,
    /// The mean of its seconds.
    pub(crate) mean: Vec<f64>,
    /// The lowest of its seconds.
    pub(crate) min: Vec<f64>,
    /// The highest of its seconds.
    pub(crate) max: Vec<f64>,
}

impl Thinning {
    /// For a run of so many seconds.
    pub(crate) fn of(seconds: u32) -> Self {
        let fits = |span: &u32| seconds.div_ceil(*span) <= POINTS_MAX;
        let longest = seconds.div_ceil(POINTS_MAX).next_multiple_of(3600);
        Self {
            seconds: SPANS.into_iter().find(fits).unwrap_or(longest).max(1),
        }
    }

    /// Whether each second is a point of its own.
    pub(crate) fn is_none(self) -> bool {
        self.seconds == 1
    }

    /// What a point stands for; nothing where each second has one.
    pub(crate) fn point(self) -> Option<String> {
        (!self.is_none()).then(|| crate::words::duration(Nanos::from_secs(u64::from(self.seconds))))
    }

    /// Thins a line. Seconds ascend.
    pub(crate) fn apply(self, points: impl IntoIterator<Item = (u32, f64)>) -> Envelope {
        let mut line = Envelope::default();
        let mut open: Option<(u32, u32, f64, f64, f64)> = None;
        for (second, value) in points {
            let span = second / self.seconds;
            open = match open {
                Some((at, n, sum, min, max)) if at == span => {
                    Some((at, n + 1, sum + value, min.min(value), max.max(value)))
                }
                before => {
                    if let Some(done) = before {
                        self.push(&mut line, done);
                        if span > done.0 + 1 {
                            self.gap(&mut line, done.0 + 1);
                        }
                    }
                    Some((span, 1, value, value, value))
                }
            };
        }
        if let Some(done) = open {
            self.push(&mut line, done);
        }
        line
    }

    fn push(self, line: &mut Envelope, (span, n, sum, min, max): (u32, u32, f64, f64, f64)) {
        line.at_s.push(self.middle(span));
        line.mean.push(sum / f64::from(n));
        line.min.push(min);
        line.max.push(max);
    }

    fn gap(self, line: &mut Envelope, span: u32) {
        line.at_s.push(self.middle(span));
        for values in [&mut line.mean, &mut line.min, &mut line.max] {
            values.push(f64::NAN);
        }
    }

    /// Where a span is drawn. Second 0 is drawn at 1, when its row was written.
    fn middle(self, span: u32) -> f64 {
        if self.is_none() {
            f64::from(span) + 1.0
        } else {
            (f64::from(span) + 0.5) * f64::from(self.seconds)
        }
    }
}

#[cfg(test)]
mod tests;
