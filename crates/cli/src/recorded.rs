//! Records of I/O, and the one place that turns them into arrivals.
//!
//! Data in: the path of a record. Data out: [`ArrivalSource`](fathom_session::replay::ArrivalSource)s, as often as they are
//! asked for, each from the beginning; never all of it at once. It must not know what becomes of the arrivals.

pub(crate) mod run_dir;
