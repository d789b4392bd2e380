//! One small measurement, and what came back.
//!
//! Data in: what to send, for how long; completions. Data out: rates, latencies, how the rate changed. It must not know which
//! measurement follows.

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;
/// I/Os whose times are kept at most: the first ones.
pub const IOS_MAX: usize = 1 << 18;
/// Seconds at either end that tell whether a rate fell.
const ENDS: usize = 4;
/// A rate below this share of the first one fell for good: a limit on credit is at most nine tenths of its ceiling.
pub(crate) const FELL: f64 = 0.93;

/// Which direction is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mix {
    Read,
    Write,
    /// Half of each, drawn I/O by I/O.
    Both,
}

/// In which order offsets come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    Random,
    Sequential,
}

/// What a measurement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// One at a time, as fast as they come: how long one takes, unless a limit holds it.
    Alone,
    /// So many at once that a limit on I/Os holds them.
    Small,
    /// So many bytes at once that a limit on bytes holds them.
    Large,
    /// At a size between two units: which of both limits holds large ones.
    Unit,
    /// At one larger still, where limits on I/Os hold all others: whether that is several I/Os, or a limit on bytes.
    Beyond,
    /// At the size at which both limits hold alike: whether they are two limits, or time for an I/O and for its bytes adds up.
    Even,
    /// Several small ones at once that no limit holds: how they slow each other down.
    Several,
    /// Slower than any limit: how long a small I/O takes.
    Service,
    /// The same, of a larger one.
    Slope,
    /// The same, one behind the other.
    InOrder,
    /// Reads of an area that was just read, slower than any limit.
    Again,
    /// As fast as both limits allow, until a credit is spent.
    Drain,
    /// Small ones, after that.
    SpentSmall,
    /// Large ones, after that.
    SpentLarge,
    /// A load that nothing is fitted to.
    HeldOut,
}

/// A measurement: a closed loop of `depth` I/Os, ended by whatever comes first of what is said.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    pub purpose: Purpose,
    pub mix: Mix,
    pub pattern: Pattern,
    pub block_bytes: u32,
    pub depth: u32,
    /// The part of the disk that it goes to, from its beginning; 0: all of it.
    pub span_bytes: u64,
    /// At most so many I/Os a second; `None`: as many as there can be.
    pub pace_per_second: Option<f64>,
    /// It ends with so many I/Os, if this time is over as well.
    pub ios: u64,
    pub duration_ns_min: u64,
    pub duration_ns_max: u64,
    /// It ends as soon as its rate has fallen for good.
    pub until_fall: bool,
}

impl Probe {
    /// Whether enough is known: `seconds` are the I/Os of each whole second so far.
    pub fn is_enough(&self, elapsed_ns: u64, ios: u64, seconds: &[u64]) -> bool {
        if elapsed_ns >= self.duration_ns_max {
            return true;
        }
        if self.until_fall {
            // The second under way is not over.
            let whole = &seconds[..seconds.len().saturating_sub(1)];
            return fall(whole).is_some_and(|at| whole.len() >= at + ENDS);
        }
        ios >= self.ios && elapsed_ns >= self.duration_ns_min
    }
}

/// The second in which a rate fell and did not come back; `None`: it held.
pub fn fall(seconds: &[u64]) -> Option<usize> {
    if seconds.len() < 2 * ENDS + 1 {
        return None;
    }
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len() as f64;
    // The first second also has what a limit lets through at once.
    let first = mean(&seconds[1..=ENDS]);
    let last = mean(&seconds[seconds.len() - ENDS..]);
    if last >= first * FELL {
        return None;
    }
    let middle = f64::midpoint(first, last);
    seconds
        .iter()
        .rposition(|&ios| ios as f64 > middle)
        .map(|at| at + 1)
}

/// One I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Io {
    /// From the start of the measurement.
    pub submitted_ns: u64,
    pub completed_ns: u64,
    pub is_write: bool,
}

/// What came back of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub probe: Probe,
    /// In the order of their completions; the first [`IOS_MAX`].
    pub ios: Vec<Io>,
    /// How many there were in all.
    pub count: u64,
    /// I/Os complete in each whole second.
    pub seconds: Vec<u64>,
    pub elapsed_ns: u64,
}

impl Outcome {
    /// I/Os a second, once the first ones are through: the slope of completions over time.
    pub fn rate(&self) -> f64 {
        self.rate_where(|_| true)
    }

    /// The same of one direction.
    pub fn rate_of(&self, write: bool) -> f64 {
        self.rate_where(|io| io.is_write == write)
    }

    fn rate_where(&self, counts: impl Fn(&Io) -> bool) -> f64 {
        let times: Vec<f64> = self
            .ios
            .iter()
            .filter(|io| counts(io))
            .map(|io| io.completed_ns as f64 / 1e9)
            .collect();
        // What came at once, and what a closed loop takes to fill, are no rate.
        weighed(&times[times.len() / 5..])
    }

    /// Latencies in nanoseconds, ascending.
    pub fn latencies_ns(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self
            .ios
            .iter()
            .map(|io| io.completed_ns - io.submitted_ns)
            .collect();
        all.sort_unstable();
        all
    }

    /// The latency that `percent` of I/Os do not exceed, in nanoseconds; 0 without I/Os.
    pub fn latency_ns(&self, percent: f64) -> u64 {
        quantile(&self.latencies_ns(), percent)
    }

    /// Mean latency in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        let sum: u64 = self.ios.iter().map(|io| io.completed_ns - io.submitted_ns).sum();
        sum as f64 / self.ios.len().max(1) as f64
    }
}

/// The value that `percent` of `sorted` do not exceed; 0 of none.
pub fn quantile(sorted: &[u64], percent: f64) -> u64 {
    let place = (sorted.len().saturating_sub(1)) as f64 * percent / 100.0;
    sorted.get(place.round() as usize).copied().unwrap_or(0)
}

/// Events a second, weighed by a Hann window from the first to the last: of what comes in bursts it does not matter where in one
/// the window begins and ends.
fn weighed(times: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return 0.0;
    };
    let span = last - first;
    if span <= 0.0 {
        return 0.0;
    }
    let weights = times
        .iter()
        .map(|time| (std::f64::consts::PI * (time - first) / span).sin().powi(2));
    weights.sum::<f64>() / (span / 2.0)
}
