//! The run directory: one run on disk, readable at every moment of its making.
//!
//! Duty: keep what a run records, so that a kill loses at most its last second, and give it back. Data in: a
//! [`Run`](fathom_core::run::Run), rows of its series each second, its histograms at the end. Data out: a
//! directory; the same values read back; errors that name the file and what to do.
//!
//! | file                 | what                                                                 |
//! |----------------------|----------------------------------------------------------------------|
//! | `run.json`           | the run, and from the end on the list of the files below with checksums |
//! | `series.arrows`      | the series while running: an Arrow IPC stream, a batch a second       |
//! | `series.parquet`     | the series when done                                                  |
//! | `histograms.parquet` | every latency bucket when done                                        |
//! | `histograms.so-far.parquet` | the same while running, rewritten now and then                 |
//! | `io/`, `block/`, `counters/`, `processes/`, `sched/` | the streams of a record, in segments: see `records.rs` |
//!
//! A sweep has a directory of such directories: see `sweep.rs`.
//!
//! The only crate that names arrow and parquet. It must not know how a run is made, judged or printed. All that
//! it reads is taken for untrusted.
#![forbid(unsafe_code)]

mod columns;
mod document;
mod error;
#[cfg(test)]
mod fixtures;
mod histograms;
mod note;
mod open;
mod reader;
mod records;
mod remove;
mod repeats;
mod stream;
mod sweep;
mod table;
mod writer;

pub use document::FileRecord;
pub use error::StoreError;
pub use note::{
    NAME_MAX as NOTE_NAME_MAX, NOTE_FILE, Note, TEXT_MAX as NOTE_TEXT_MAX, read_note, write_note,
};
pub use reader::{
    Recovered, StoredRun, read, read_histograms, read_run, read_run_of_whole_files, recover, recover_with,
};
pub use records::{RecordReader, StreamEnd, StreamRow, StreamWriter, export_parquet, stored_streams};
pub use remove::{remove_record, remove_run};
pub use repeats::{REPEATS_FILE, is_repeats, read_repeats, write_repeats};
pub use sweep::{
    Origin, RESULTS_FILE, SWEEP_FILE, SweepDir, is_sweep, measured_in, read_sweep_plan, read_sweep_results,
};
pub use writer::RunWriter;

/// The run itself.
pub const RUN_FILE: &str = "run.json";
/// The series of a run under way or killed.
pub const SERIES_STREAM_FILE: &str = "series.arrows";
/// The series of a finished run.
pub const SERIES_FILE: &str = "series.parquet";
/// The histograms of a finished run.
pub const HISTOGRAMS_FILE: &str = "histograms.parquet";
/// The histograms of a run under way or killed, as they were when last written.
pub const HISTOGRAMS_SO_FAR_FILE: &str = "histograms.so-far.parquet";
