//! Each kind of row as columns, and back.
//!
//! Data in: rows. Data out: Arrow record batches; rows again, exactly as they were. Times are kept as one stamp and
//! differences from it, which take a third of the room; differences are signed and wrap, so that any stamps come back.
//! What was not seen is null. It must not know files beyond the name that an error needs.

mod block;
mod counters;
mod cpus;
mod io;
mod kernel;
mod processes;
mod sched;
mod text;

use super::columns::{Column, schema_of};
use crate::StoreError;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};
use fathom_core::record::StreamKind;
use std::path::Path;
use std::sync::Arc;

/// A row of one of the streams: [`IoRecord`](fathom_core::record::IoRecord),
/// [`BlockRequest`](fathom_core::record::BlockRequest), [`CounterRow`](fathom_core::record::CounterRow),
/// [`ProcessRow`](fathom_core::record::ProcessRow), [`SchedSlice`](fathom_core::record::SchedSlice),
/// [`CpuShare`](fathom_core::record::CpuShare) or [`KernelSpan`](fathom_core::record::KernelSpan).
pub trait StreamRow: Columnar {
    /// The stream that has such rows.
    const KIND: StreamKind;

    /// When the row belongs to, in nanoseconds of the run's clock: when it was complete, or was read.
    fn time_ns(&self) -> u64;
}

/// How a row becomes columns. Not to be named outside this crate.
pub trait Columnar: Clone + Send + 'static {
    /// The columns, in order; the first holds [`StreamRow::time_ns`].
    #[doc(hidden)]
    fn table() -> &'static Table;

    /// Rows as columns, in the order of the table.
    #[doc(hidden)]
    fn arrays(rows: &[Self]) -> Vec<ArrayRef>;

    /// The rows of a batch from outside, appended to `rows`.
    #[doc(hidden)]
    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError>;
}

/// The columns of a stream.
#[derive(Debug)]
pub struct Table(pub(crate) &'static [Column]);

pub(crate) fn schema<R: StreamRow>() -> SchemaRef {
    schema_of(R::table().0)
}

pub(crate) fn batch_of<R: StreamRow>(schema: &SchemaRef, rows: &[R]) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_new(Arc::clone(schema), R::arrays(rows))
}

/// The signed difference `to - from`, whatever the two are.
fn difference(to: u64, from: u64) -> i64 {
    to.wrapping_sub(from) as i64
}

/// What was `difference_ns` before `to`.
fn before(to: u64, difference_ns: i64) -> u64 {
    to.wrapping_sub(difference_ns as u64)
}

#[cfg(test)]
mod tests;
