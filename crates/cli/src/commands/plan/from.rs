//! What there is to plan from: recordings, records of many runs, a server's counters.

mod recorded;
mod replay;
mod server;
mod stored;

pub(super) use recorded::Recorded;
pub(super) use replay::Replays;
pub(crate) use stored::seen_of;
