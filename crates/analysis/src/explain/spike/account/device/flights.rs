//! Requests in flight, for questions about moments; and a line through points.

use crate::explain::spike::served::Busy;

/// When a request began and ended, and its bytes.
pub(super) type Flight = (u64, u64, u64);

/// Requests of one party, for questions about moments.
#[derive(Debug, Default)]
pub(super) struct Flights {
    pub begun: Vec<u64>,
    /// How long each took, in the order of their begins.
    took: Vec<u64>,
    ended: Vec<u64>,
    /// Bytes of the first so many, in either order.
    begun_bytes: Vec<u64>,
    ended_bytes: Vec<u64>,
    /// Times with something in flight, ascending and apart.
    busy: Busy,
}

impl Flights {
    pub(super) fn of(mut flights: Vec<Flight>) -> Self {
        flights.sort_unstable();
        let sums = |bytes: &mut dyn Iterator<Item = u64>| {
            let mut sum = 0;
            let sums = bytes.map(|bytes| {
                sum += bytes;
                sum
            });
            std::iter::once(0).chain(sums).collect::<Vec<u64>>()
        };
        let begun = flights.iter().map(|flight| flight.0).collect();
        let took = flights
            .iter()
            .map(|flight| flight.1.saturating_sub(flight.0))
            .collect();
        let begun_bytes = sums(&mut flights.iter().map(|flight| flight.2));
        let busy = Busy::of(flights.iter().map(|flight| (flight.0, flight.1)));
        flights.sort_unstable_by_key(|flight| flight.1);
        Self {
            ended: flights.iter().map(|flight| flight.1).collect(),
            ended_bytes: sums(&mut flights.iter().map(|flight| flight.2)),
            begun,
            took,
            begun_bytes,
            busy,
        }
    }

    /// How many and how many bytes are in flight just before a moment.
    pub(super) fn ahead(&self, at_ns: u64) -> (f64, f64) {
        let begun = self.begun.partition_point(|begun| *begun < at_ns);
        let ended = self.ended.partition_point(|ended| *ended <= at_ns).min(begun);
        let bytes = self.begun_bytes[begun].saturating_sub(self.ended_bytes[ended]);
        ((begun - ended) as f64, bytes as f64)
    }

    /// Those that began in a span: how many were ahead of each, and how long it took.
    pub(super) fn queued(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = (usize, u64)> {
        let first = self.begun.partition_point(|begun| *begun < from_ns);
        let last = self.begun.partition_point(|begun| *begun < to_ns).max(first);
        (first..last).map(|number| {
            let ended = self.ended.partition_point(|ended| *ended <= self.begun[number]);
            (number.saturating_sub(ended), self.took[number])
        })
    }

    /// How many ended in a span.
    pub(super) fn ended_within(&self, from_ns: u64, to_ns: u64) -> usize {
        let first = self.ended.partition_point(|ended| *ended <= from_ns);
        let last = self.ended.partition_point(|ended| *ended < to_ns);
        last.saturating_sub(first)
    }

    /// How many, and how many bytes, began in a span.
    pub(super) fn begun_within(&self, from_ns: u64, to_ns: u64) -> (f64, f64) {
        let first = self.begun.partition_point(|begun| *begun <= from_ns);
        let last = self.begun.partition_point(|begun| *begun < to_ns).max(first);
        let bytes = self.begun_bytes[last] - self.begun_bytes[first];
        ((last - first) as f64, bytes as f64)
    }

    /// The usual time from one end to the next while there is always more in flight; `None`: there never is.
    pub(super) fn step_ns(&self) -> Option<f64> {
        let mut begun = 0;
        let pairs = self.ended.windows(2).enumerate();
        let steps = pairs.filter(|(number, pair)| {
            while self.begun.get(begun).is_some_and(|next| *next <= pair[0]) {
                begun += 1;
            }
            begun > number + 1
        });
        let mut steps: Vec<u64> = steps.map(|(_, pair)| pair[1] - pair[0]).collect();
        let middle = steps.len() / 2;
        (!steps.is_empty()).then(|| *steps.select_nth_unstable(middle).1 as f64)
    }

    /// How far a moment is from the nearest end.
    pub(super) fn nearest_end_ns(&self, at_ns: u64) -> f64 {
        let next = self.ended.partition_point(|ended| *ended < at_ns);
        let near = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let distances = near.filter_map(|place| Some(self.ended.get(place)?.abs_diff(at_ns)));
        distances.min().map_or(f64::INFINITY, |ns| ns as f64)
    }

    /// The last end up to a moment.
    pub(super) fn last_end(&self, at_ns: u64) -> Option<u64> {
        let next = self.ended.partition_point(|ended| *ended <= at_ns);
        self.ended.get(next.checked_sub(1)?).copied()
    }

    /// For how long something was in flight in a span.
    pub(super) fn busy_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.busy.within_ns(from_ns, to_ns)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    pub slope: f64,
    pub correlation: f64,
    pub mean_x: f64,
    pub mean_y: f64,
}

/// Least squares.
pub(super) fn line(x: &[f64], y: &[f64]) -> Line {
    let n = x.len().max(1) as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        xx += (x - mean_x).powi(2);
        yy += (y - mean_y).powi(2);
        xy += (x - mean_x) * (y - mean_y);
    }
    if xx <= 0.0 || yy <= 0.0 {
        return Line {
            mean_x,
            mean_y,
            ..Line::default()
        };
    }
    Line {
        slope: xy / xx,
        correlation: xy / (xx * yy).sqrt(),
        mean_x,
        mean_y,
    }
}
