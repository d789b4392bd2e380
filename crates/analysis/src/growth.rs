//! What counters grew by between two readings.
//!
//! Data in: rows in the order of time. Data out: differences. It must not know what is counted.

use fathom_core::record::CounterRow;
use std::collections::HashMap;

/// The last value of each counter and when it was read.
#[derive(Debug)]
pub(crate) struct Growth {
    /// For each metric, by labels.
    last: HashMap<String, HashMap<String, (u64, f64)>>,
    series_max: usize,
}

impl Growth {
    /// Of no more than so many series of one metric; others have none.
    pub(crate) fn of(series_max: usize) -> Self {
        Self {
            last: HashMap::new(),
            series_max,
        }
    }

    /// What a counter grew by since it was last read, and how long ago that was in seconds; `None` where it was not read or was
    /// reset.
    pub(crate) fn since_last(&mut self, row: &CounterRow) -> Option<(f64, f64)> {
        // A name is only copied the first time.
        if !self.last.contains_key(&*row.metric) {
            self.last.insert(row.metric.to_string(), HashMap::new());
        }
        let last = self.last.get_mut(&*row.metric)?;
        let Some(known) = last.get_mut(&*row.labels) else {
            if last.len() < self.series_max {
                last.insert(row.labels.to_string(), (row.at_ns, row.value));
            }
            return None;
        };
        let (at_ns, value) = std::mem::replace(known, (row.at_ns, row.value));
        let seconds = row.at_ns.checked_sub(at_ns).filter(|&ns| ns > 0)? as f64 / 1e9;
        (row.value >= value).then_some((row.value - value, seconds))
    }
}
