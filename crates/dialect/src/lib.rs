//! The dialect of job files: text in, [`fathom_core::workload::Workload`] out.
//!
//! Duty: read fio job files, fio command lines and fathom's own flags, which share one table of options
//! ([`table`]); say with file, line and column what is wrong or has no effect; print a workload again.
//! Data in: text, and through closures of the caller the texts of included files and the environment.
//! Data out: a [`Parsed`]: the workload (unless there is an error), the workload as written, diagnostics.
//! It must not know files, clocks, backends or how a workload is carried out: it does no I/O, reads no clock
//! and no environment.
//!
//! The stages, one module each: `scan` (text to sections of raw options), `table` (what each option means),
//! `draft` (a job while its options are applied), `resolve` (defaults, fix-ups, contradictions), `assemble`
//! (sections, globals, overrides, groups), `print` (the way back).
#![forbid(unsafe_code)]

mod args;
mod assemble;
pub mod column;
mod diagnostic;
pub mod diskspd;
mod draft;
mod input;
mod print;
pub mod prometheus;
mod resolve;
mod scan;
pub mod state;
mod sweep;
mod table;
#[cfg(test)]
mod testing;
pub mod trace;
mod value;

pub use args::{FioClient, FioCommand, read_fio_args, unknown_flag};
pub use assemble::{parse, parse_fio};
pub use diagnostic::{Diagnostic, Place, Severity};
pub use input::{Context, Environment, Include, Override, Parsed, Source};
pub use print::{PrintError, print};
pub use sweep::{SweepSpec, SweepWord, parse_sweep, words as sweep_words};
pub use table::{ChoiceRow, Kind, OptionRow, Support, Topic, find, find_exact, is_secret, nearest, table};
pub use value::duration;
