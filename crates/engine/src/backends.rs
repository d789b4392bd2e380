//! Backends: the system interfaces that carry I/O out, each behind [`fathom_core::backend::Backend`].
//!
//! Data in: requests. Data out: completions. They must not know the worker, the pattern or the schedule.

mod http;
mod mmap;
mod names;
pub mod nbd;
pub mod net;
mod null;
mod queue;
mod source;
mod sync;

pub use http::HttpBackend;
pub use mmap::MmapBackend;
pub use names::{Name, NamesBackend};
pub use null::NullBackend;
pub use queue::QueueBackend;
pub use source::WriteSource;
pub use sync::SyncBackend;

use fathom_core::backend::{Errno, Outcome};
use fathom_core::units::MonoTime;
use std::time::Duration;

/// The time left until `until` as a timeout for the kernel; `None`: no limit.
fn timeout(until: MonoTime) -> Option<Duration> {
    (until != MonoTime::NEVER)
        .then(|| Duration::from_nanos(until.0.saturating_sub(fathom_sys::clock::monotonic_ns())))
}

/// A kernel result: the bytes moved, or a negative errno.
#[inline]
fn outcome(result: i32) -> Outcome {
    u32::try_from(result).map_err(|_| Errno(-result))
}
