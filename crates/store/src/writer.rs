//! Makes a run directory.
//!
//! Data in: a run at its start, rows each second, the run and its histograms at its end. Data out: the
//! directory, readable after every step, whatever kills the process or fills the disk. It must not know how
//! anything is read back.

use crate::document::{self, FileRecord};
use crate::error::RECOVER;
use crate::records::StreamEnd;
use crate::stream::{ArrowStream, StreamReader, Tail};
use crate::table::{self, TableWriter};
use crate::{HISTOGRAMS_FILE, HISTOGRAMS_SO_FAR_FILE, RUN_FILE, SERIES_FILE, SERIES_STREAM_FILE, StoreError};
use crate::{columns, histograms};
use arrow_schema::SchemaRef;
use fathom_core::run::{HistogramRow, Run, SeriesRow, SeriesSink};
use fathom_door::own;
use std::io;
use std::path::{Path, PathBuf};

/// Histogram rows to a batch.
const BATCH_ROWS: usize = 8192;

/// A run directory being made. Holds a lock on its stream as long as it lives.
pub struct RunWriter {
    dir: PathBuf,
    schema: SchemaRef,
    stream: ArrowStream,
    /// The files of the streams of a record that have ended.
    records: Vec<FileRecord>,
}

impl RunWriter {
    /// Makes the directory, where it is missing, and begins the record: `run` with the status `running`.
    ///
    /// # Errors
    /// The directory holds a run or anything else (nothing is changed then), or the system refused.
    pub fn create(dir: &Path, run: &Run) -> Result<Self, StoreError> {
        make_directory(dir)?;
        document::write(dir, run, &[])?;
        let schema = columns::schema();
        let stream = ArrowStream::create(&dir.join(SERIES_STREAM_FILE), &schema)?;
        Ok(Self {
            dir: dir.to_owned(),
            schema,
            stream,
            records: Vec::new(),
        })
    }

    /// Where the run is kept.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps the histograms of the run so far in place of those kept before. Whatever happens meanwhile, either the
    /// old ones or the new ones are there.
    ///
    /// # Errors
    /// The system refused; those kept before are still there.
    pub fn checkpoint(&mut self, histograms: &[HistogramRow]) -> Result<(), StoreError> {
        write_histograms(&self.dir, HISTOGRAMS_SO_FAR_FILE, histograms.iter().copied()).map(drop)
    }

    /// Notes the files of a stream of the record that has ended, so that [`RunWriter::finish`] lists them.
    pub fn stream_ended(&mut self, end: &StreamEnd) {
        self.records.extend_from_slice(&end.files);
    }

    /// Ends the record: `run` with its final status and summary, and all histograms. Series and histograms
    /// become Parquet; the stream is removed last.
    ///
    /// # Errors
    /// The system refused. The summary and the series up to then are kept and `read` accepts the directory.
    pub fn finish(
        mut self,
        run: &Run,
        histograms: impl Iterator<Item = HistogramRow>,
    ) -> Result<(), StoreError> {
        self.stream.end()?;
        // The summary first: should the conversion below fail, it is safe, and the series is in the stream.
        document::write(&self.dir, run, &[])?;
        let (series, converted) = convert_series(&self.dir)?;
        if converted.tail != Tail::Ended {
            let detail = format!("it does not read back as it was written ({:?})", converted.tail);
            return Err(StoreError::corrupt(
                &self.dir.join(SERIES_STREAM_FILE),
                detail,
                RECOVER,
            ));
        }
        let mut files = vec![series, write_histograms(&self.dir, HISTOGRAMS_FILE, histograms)?];
        files.append(&mut self.records);
        document::write(&self.dir, run, &files)?;
        remove_temporaries(&self.dir)
    }
}

impl SeriesSink for RunWriter {
    fn rows(&mut self, rows: &[SeriesRow]) -> io::Result<()> {
        let batch =
            columns::batch_of(&self.schema, rows).map_err(|error| io::Error::other(error.to_string()))?;
        self.stream.write(&batch)
    }
}

/// Makes sure that `dir` is there and empty.
fn make_directory(dir: &Path) -> Result<(), StoreError> {
    own::make_directories(dir).map_err(|source| StoreError::io("create", dir, source))?;
    let mut entries = std::fs::read_dir(dir).map_err(|source| StoreError::io("read", dir, source))?;
    let dir = || dir.to_owned();
    if dir().join(RUN_FILE).exists() {
        return Err(StoreError::RunExists { dir: dir() });
    }
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(StoreError::NotEmpty { dir: dir() }),
    }
}

/// Begins a table of statistics.
fn series_table(dir: &Path, name: &str, schema: &SchemaRef) -> Result<TableWriter, StoreError> {
    let properties = table::properties(schema)
        .map_err(|error| StoreError::io("create", &dir.join(name), io::Error::other(error.to_string())))?;
    TableWriter::create(dir, name, schema, properties)
}

/// What a conversion kept.
pub(crate) struct Converted {
    pub(crate) rows: u64,
    pub(crate) tail: Tail,
}

/// The stream's whole batches as Parquet. The stream stays.
pub(crate) fn convert_series(dir: &Path) -> Result<(FileRecord, Converted), StoreError> {
    let path = dir.join(SERIES_STREAM_FILE);
    let schema = columns::schema();
    let mut reader = StreamReader::open(&path, &schema)?;
    let mut table = series_table(dir, SERIES_FILE, &schema)?;
    let mut converted = 0;
    let mut rows = Vec::new();
    while let Some(batch) = reader.next()? {
        // By way of rows: a stream of an older version may have its columns in another order.
        rows.clear();
        columns::rows_of(&batch, &path, &mut rows)?;
        let batch = columns::batch_of(&schema, &rows)
            .map_err(|error| StoreError::io("convert", &path, io::Error::other(error.to_string())))?;
        table.write(&batch)?;
        converted += rows.len() as u64;
    }
    let tail = reader.tail();
    let record = table.finish()?;
    Ok((
        record,
        Converted {
            rows: converted,
            tail,
        },
    ))
}

fn write_histograms(
    dir: &Path,
    name: &str,
    mut rows: impl Iterator<Item = HistogramRow>,
) -> Result<FileRecord, StoreError> {
    let schema = histograms::schema();
    let mut table = series_table(dir, name, &schema)?;
    loop {
        let some: Vec<HistogramRow> = rows.by_ref().take(BATCH_ROWS).collect();
        if some.is_empty() {
            return table.finish();
        }
        let batch = histograms::batch_of(&schema, &some).map_err(|error| {
            StoreError::io("encode", &dir.join(name), io::Error::other(error.to_string()))
        })?;
        table.write(&batch)?;
    }
}

/// Removes what is kept while a run goes on, once everything in it is elsewhere.
pub(crate) fn remove_temporaries(dir: &Path) -> Result<(), StoreError> {
    // The half-written one, where it was killed at that.
    let half_written = format!(".{HISTOGRAMS_SO_FAR_FILE}.tmp");
    for name in [&half_written, HISTOGRAMS_SO_FAR_FILE, SERIES_STREAM_FILE] {
        let path = dir.join(name);
        own::remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
    }
    document::sync_directory(dir).map_err(|source| StoreError::io("sync", dir, source))
}

#[cfg(test)]
mod tests;
