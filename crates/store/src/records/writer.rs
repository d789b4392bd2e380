//! Keeps one stream of a record.
//!
//! Data in: rows, from the thread that owns the writer, and a tick of its each second. Data out: the stream's folder,
//! readable after every step. Memory does not grow with the run but for the list of its files. It must not know where
//! the rows come from, and reads no clock.

use super::folder::Folder;
use super::recover::convert;
use super::rows::{self, StreamRow};
use super::segment::{Closed, Segment, properties};
use crate::StoreError;
use crate::document::{FileRecord, sync_directory};
use arrow_schema::SchemaRef;
use fathom_core::record::{RowSink, StreamKind};
use fathom_door::own;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io;
use std::path::Path;

const BATCH_ROWS: usize = 8192;
/// Rows to a segment: at 300,000 I/Os a second seven seconds, so that a stream is mostly gone before the kernel has
/// written it to the disk.
const SEGMENT_ROWS: u64 = 1 << 21;

/// What a finished stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEnd {
    pub kind: StreamKind,
    /// Rows kept.
    pub rows: u64,
    /// Rows that were given and could not be written.
    pub lost_rows: u64,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Its files, as `run.json` is to list them.
    pub files: Vec<FileRecord>,
}

/// A stream being written.
pub struct StreamWriter<R: StreamRow> {
    folder: Folder,
    schema: SchemaRef,
    properties: WriterProperties,
    segment_rows: u64,
    /// Rows that wait for a batch to be full, or for the tick.
    pending: Vec<R>,
    segment: Option<Segment>,
    next_number: u32,
    rows: u64,
    lost_rows: u64,
    files: Vec<FileRecord>,
    /// Segments that are not yet Parquet.
    unconverted: Vec<u32>,
}

impl<R: StreamRow> StreamWriter<R> {
    /// Makes the stream's folder in the run directory `dir`, and its first segment.
    ///
    /// # Errors
    /// There is such a folder already, or the system refused.
    pub fn create(dir: &Path) -> Result<Self, StoreError> {
        Self::with_segments(dir, SEGMENT_ROWS)
    }

    /// As [`StreamWriter::create`], with so many rows to a segment.
    pub(crate) fn with_segments(dir: &Path, segment_rows: u64) -> Result<Self, StoreError> {
        let folder = Folder::new(dir, R::KIND);
        own::make_directory(&folder.path).map_err(|source| StoreError::io("create", &folder.path, source))?;
        let properties = properties(R::table().0)
            .map_err(|error| StoreError::io("write", &folder.path, io::Error::other(error.to_string())))?;
        let mut writer = Self {
            folder,
            schema: rows::schema::<R>(),
            properties,
            segment_rows,
            pending: Vec::with_capacity(BATCH_ROWS),
            segment: None,
            next_number: 0,
            rows: 0,
            lost_rows: 0,
            files: Vec::new(),
            unconverted: Vec::new(),
        };
        writer.segment()?;
        Ok(writer)
    }

    /// Rows kept so far; those that wait for a batch are not among them.
    pub fn rows_kept(&self) -> u64 {
        self.rows
    }

    /// Rows that were given and could not be written.
    pub fn lost_rows(&self) -> u64 {
        self.lost_rows
    }

    /// Hands all rows given so far to the kernel. To be called each second; [`RowSink::rows`] with no rows does the
    /// same.
    ///
    /// # Errors
    /// They could not be written and are lost; the stream goes on with the next ones.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        let pending = std::mem::take(&mut self.pending);
        let written = self.write(&pending);
        self.pending = pending;
        self.pending.clear();
        written
    }

    /// Ends the stream: its last segment becomes Parquet, and all of it is on the disk.
    ///
    /// # Errors
    /// The system refused. All rows that were written stay readable.
    pub fn finish(mut self) -> Result<StreamEnd, StoreError> {
        let flushed = self.flush();
        self.close_segment()?;
        for number in std::mem::take(&mut self.unconverted) {
            let record = convert::<R>(&self.folder, number)?.record;
            self.files.push(record);
        }
        flushed?;
        let io = |path: &Path, source| StoreError::io("sync", path, source);
        for file in &self.files {
            let path = self.folder.path.with_file_name(&file.name);
            File::open(&path)
                .and_then(|file| file.sync_all())
                .map_err(|source| io(&path, source))?;
        }
        sync_directory(&self.folder.path).map_err(|source| io(&self.folder.path, source))?;
        Ok(StreamEnd {
            kind: R::KIND,
            rows: self.rows,
            lost_rows: self.lost_rows,
            bytes: self.files.iter().map(|file| file.size_bytes).sum(),
            files: self.files,
        })
    }

    /// The segment under way, a new one where there is none.
    fn segment(&mut self) -> Result<&mut Segment, StoreError> {
        let segment = if let Some(segment) = self.segment.take() {
            segment
        } else {
            // A number is used once, whatever became of it.
            let number = self.next_number;
            self.next_number += 1;
            Segment::create(&self.folder, number, &self.schema, &self.properties)?
        };
        Ok(self.segment.insert(segment))
    }

    /// Writes rows as one batch.
    fn write(&mut self, rows: &[R]) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let written = self.write_batch(rows);
        if written.is_err() {
            self.lost_rows += rows.len() as u64;
            return written;
        }
        self.rows += rows.len() as u64;
        if self
            .segment
            .as_ref()
            .is_some_and(|segment| segment.rows >= self.segment_rows)
        {
            self.close_segment()?;
        }
        Ok(())
    }

    fn write_batch(&mut self, rows: &[R]) -> Result<(), StoreError> {
        let batch = rows::batch_of(&self.schema, rows).map_err(|error| {
            StoreError::io("encode", &self.folder.path, io::Error::other(error.to_string()))
        })?;
        let path = self.folder.path.clone();
        let segment = self.segment()?;
        segment
            .write(&batch)
            .map_err(|source| StoreError::io("write", &path, source))
    }

    fn close_segment(&mut self) -> Result<(), StoreError> {
        let Some(segment) = self.segment.take() else {
            return Ok(());
        };
        // A stream without any row has one file, so that its columns can be seen.
        let only = self.files.is_empty() && self.unconverted.is_empty();
        match segment.close(only)? {
            Closed::Whole(record) => self.files.push(record),
            Closed::Unconverted(number) => self.unconverted.push(number),
            Closed::Nothing => {}
        }
        Ok(())
    }
}

impl<R: StreamRow> RowSink<R> for StreamWriter<R> {
    /// Takes rows; with none, hands those given so far to the kernel.
    fn rows(&mut self, mut rows: &[R]) -> io::Result<()> {
        let mut first_error = None;
        let mut note = |result: Result<(), StoreError>| {
            if let Err(error) = result {
                first_error.get_or_insert(error);
            }
        };
        if rows.is_empty() {
            note(self.flush());
        }
        while !rows.is_empty() {
            let (some, rest) = rows.split_at(rows.len().min(BATCH_ROWS - self.pending.len()));
            rows = rest;
            if some.len() == BATCH_ROWS {
                note(self.write(some));
                continue;
            }
            self.pending.extend_from_slice(some);
            if self.pending.len() == BATCH_ROWS {
                note(self.flush());
            }
        }
        first_error.map_or(Ok(()), |error| Err(io::Error::other(error)))
    }
}

#[cfg(test)]
mod tests;
