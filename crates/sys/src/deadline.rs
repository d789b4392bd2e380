//! How long a wait still may last, when signals cut it into pieces.
//!
//! Data in: a timeout. Data out: what is left of it. It must not know what is waited for.

use crate::clock::monotonic_ns;
use std::time::Duration;

/// The end of a wait, on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// `None`: no end.
    end_ns: Option<u64>,
}

impl Deadline {
    /// The end of a wait of `timeout` from now; `None` waits without end (and reads no clock).
    #[inline]
    pub(crate) fn after(timeout: Option<Duration>) -> Self {
        Self {
            end_ns: timeout.map(|t| monotonic_ns().saturating_add(saturated_ns(t))),
        }
    }

    /// What is left: `None` without an end, zero when it has passed.
    #[inline]
    pub(crate) fn left(self) -> Option<Duration> {
        self.end_ns
            .map(|end| Duration::from_nanos(end.saturating_sub(monotonic_ns())))
    }
}

fn saturated_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
