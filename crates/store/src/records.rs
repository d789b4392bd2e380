//! The streams of a record: every I/O, every request of the devices, counters, processes, who ran.
//!
//! Duty: keep rows by the million as they come, in bounded memory, and give them back. Data in: rows of
//! [`fathom_core::record`]. Data out: a folder a stream, of segments; the same rows read back, batch by batch, all or
//! those of a time window. It must not know who makes the rows or what is made of them.
//!
//! | file in `io/`, `block/`, … | what                                                                     |
//! |----------------------------|--------------------------------------------------------------------------|
//! | `NNNNNN.parquet`           | a segment that is whole: some two million rows                           |
//! | `NNNNNN.arrows`            | the segment under way: an Arrow IPC stream, whole after each batch       |
//! | `.NNNNNN.parquet.tmp`      | the same rows on their way to Parquet: worth nothing before it is renamed |
//!
//! A segment's rows go to both files at once, so that closing it costs a footer and a new name, and nothing is ever
//! read again or converted at the end. Where a number has both files, the Parquet one is whole.

mod columns;
mod export;
#[cfg(test)]
mod fixtures;
mod folder;
mod reader;
mod recover;
mod rows;
mod segment;
mod writer;

pub use export::export_parquet;
pub use folder::stored_streams;
pub use reader::RecordReader;
pub(crate) use recover::{RecoveredStream, recover_streams};
pub use rows::StreamRow;
pub use writer::{StreamEnd, StreamWriter};
