//! One measurement, from a request to a finished record, on this machine or on a modelled one.
//!
//! Duty: the way of a measurement, once, for whoever asks: runs, points of sweeps, time spans of diskspd's profiles, recordings
//! without a load. Data in: a [`Request`] and [`How`] to carry it out. Data out: a [`Run`](fathom_core::run::Run), its
//! directory, and on the way [`Event`]s. It must not parse, print or exit. The way is [`session`]'s: read that first.
#![forbid(unsafe_code)]

mod blocked;
mod checks;
mod clip;
mod command;
mod conditions;
mod directory;
mod event;
mod facts;
mod guard;
pub mod identify;
mod layout;
mod machine;
mod measure;
mod merge;
mod outcome;
mod permit;
mod planned;
mod recorder;
pub mod recording;
pub mod replay;
mod request;
pub mod session;
mod start_error;
mod stops;
mod streams;
pub mod sweep;
mod tap;
#[cfg(test)]
mod testing;
mod touched;
pub mod virtual_run;
mod writer;

pub use blocked::libaio_where_blocked;
pub use command::{CommandLine, CommandOutput, Wait, shell};
pub use directory::{Reserved, check as check_directory, reserve as reserve_directory};
pub use event::{Event, Observer, Silent, Standing, SweepEvent};
pub use machine::{Machine, warnings_of_model, without_output};
pub use measure::{Conduct, End, Measured};
pub use permit::Refused;
pub use planned::{Planned, build, files_of_all, foresee};
pub use request::{How, Output, Request, Streams};
pub use session::Session;
pub use tap::IoTap;
pub use touched::{AfterTouching, Touched, behind, reworded, touched, with_causes};
