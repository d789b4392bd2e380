//! Records of I/O, and the one place that turns them into arrivals: run directories, and what others recorded.
//!
//! Data in: the path of a record. Data out: [`ArrivalSource`](fathom_session::replay::ArrivalSource)s, as often as they are
//! asked for, each from the beginning; never all of it at once. It must not know what becomes of the arrivals.

pub(crate) mod iologs;
pub(crate) mod outside;
pub(crate) mod run_dir;
pub(crate) mod states;
