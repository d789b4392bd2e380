//! Reads one stream of a record, batch by batch.
//!
//! Data in: a run directory from anywhere, finished, killed or under way. Data out: rows in the order of their files,
//! all or those of a time window; an error that names the file and what to do. Memory is that of one batch, however
//! long the stream. It must not know what the rows mean.

use super::folder::{Folder, Forms};
use super::rows::{self, StreamRow};
use super::segment::reading_schema;
use crate::StoreError;
use crate::document::{self, Document};
use crate::error::{RECOVER, RESTORE, guarded};
use crate::open;
use crate::stream::{StreamReader, Tail};
use crate::table;
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Rows decoded at once.
const BATCH_ROWS: usize = 1 << 14;
/// More rows in one row group than this are never written.
const ROW_GROUP_ROWS_MAX: i64 = 1 << 24;

/// Reads one stream.
pub struct RecordReader<R: StreamRow> {
    folder: Folder,
    listed: Document,
    window: Range<u64>,
    segments: BTreeMap<u32, Forms>,
    left: VecDeque<(u32, Forms)>,
    /// Segments whose checksum was compared already.
    checked: BTreeSet<u32>,
    /// The first and the last time of each table that was looked into, where it says them.
    spans: BTreeMap<u32, (u64, u64)>,
    /// What the table that was read last says of itself: the next window is often in the same one.
    metadata: Option<(u32, ArrowReaderMetadata)>,
    source: Source,
    rows: Vec<R>,
    complete: bool,
}

/// The segment being read.
enum Source {
    None,
    Table(Box<ParquetRecordBatchReader>, PathBuf),
    Stream(Box<StreamReader>, PathBuf),
}

/// What a source gave.
enum Given {
    Batch(RecordBatch, PathBuf),
    End,
}

impl<R: StreamRow> RecordReader<R> {
    /// Opens the stream of the run directory `dir`.
    ///
    /// # Errors
    /// There is no run or it has no such stream, or `run.json` cannot be read.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let listed = document::read(dir)?;
        let folder = Folder::new(dir, R::KIND);
        let segments = folder.segments(&listed.files)?;
        if segments.is_empty() && !folder.path.is_dir() {
            return Err(StoreError::NoStream {
                dir: dir.to_owned(),
                stream: R::KIND.name(),
            });
        }
        Ok(Self {
            folder,
            listed,
            window: 0..u64::MAX,
            left: segments.iter().map(|(&number, &forms)| (number, forms)).collect(),
            segments,
            checked: BTreeSet::new(),
            spans: BTreeMap::new(),
            metadata: None,
            source: Source::None,
            rows: Vec::new(),
            complete: true,
        })
    }

    /// Gives only rows whose [`StreamRow::time_ns`] lies in `window`: of I/Os and requests, those that completed in it.
    /// Row groups that have none are skipped; a window that ends at `u64::MAX` has no end.
    #[must_use]
    pub fn within(mut self, window: Range<u64>) -> Self {
        self.seek(window);
        self
    }

    /// Begins anew with another window, as [`RecordReader::within`]. Cheaper than another reader: a file is compared with
    /// its checksum once, and one that has nothing of the window is not opened again.
    pub fn seek(&mut self, window: Range<u64>) {
        self.window = window;
        self.left = self
            .segments
            .iter()
            .map(|(&number, &forms)| (number, forms))
            .collect();
        self.source = Source::None;
        self.complete = true;
    }

    /// The next rows; `None` at the end of the stream. They are in the order in which they were given to the writer: of
    /// I/Os, those of one worker are in order, and those of different workers about a second apart at most.
    ///
    /// # Errors
    /// A file cannot be read, is damaged or was changed. What came before is good.
    pub fn next_batch(&mut self) -> Result<Option<&[R]>, StoreError> {
        loop {
            match self.source.next()? {
                Some(Given::Batch(batch, path)) => {
                    self.rows.clear();
                    R::rows_of(&batch, &path, &mut self.rows)?;
                    let window = self.window.clone();
                    if window != (0..u64::MAX) {
                        self.rows.retain(|row| in_window(&window, row.time_ns()));
                    }
                    if !self.rows.is_empty() {
                        return Ok(Some(&self.rows));
                    }
                }
                Some(Given::End) => self.end_of_segment()?,
                None => match self.left.pop_front() {
                    Some((number, forms)) => self.source = self.segment(number, forms)?,
                    None => return Ok(None),
                },
            }
        }
    }

    /// Gives all rows, batch by batch, to `take`.
    ///
    /// # Errors
    /// As [`RecordReader::next_batch`].
    pub fn for_each_batch(&mut self, mut take: impl FnMut(&[R])) -> Result<(), StoreError> {
        while let Some(rows) = self.next_batch()? {
            take(rows);
        }
        Ok(())
    }

    /// Whether the stream ended where its writer ended it, as far as it was read. `false`: the run was killed or is
    /// under way, and up to a second of it is missing.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Opens a segment. One under way may have become Parquet since the folder was looked at.
    fn segment(&mut self, number: u32, forms: Forms) -> Result<Source, StoreError> {
        let (parquet, arrows) = (self.folder.parquet(number), self.folder.arrows(number));
        if forms.parquet {
            return self.table(number, parquet);
        }
        let expected = rows::schema::<R>();
        match StreamReader::open(&arrows, &expected) {
            Ok(reader) => Ok(Source::Stream(Box::new(reader), arrows)),
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.table(number, parquet)
            }
            Err(error) => Err(error),
        }
    }

    fn table(&mut self, number: u32, path: PathBuf) -> Result<Source, StoreError> {
        let name = self.folder.listed_name(number);
        if !self.checked.contains(&number)
            && let Some(record) = self.listed.record_of(&name, &path)?
        {
            table::check(&path, record)?;
            self.checked.insert(number);
        }
        if let Some(&span) = self.spans.get(&number)
            && misses(&self.window, span)
        {
            return Ok(Source::None);
        }
        let reader = guarded(&path, RESTORE, || self.open_table(number, &path))?;
        Ok(Source::Table(Box::new(reader), path))
    }

    /// Opens a Parquet segment for the row groups that may have rows in the window.
    fn open_table(&mut self, number: u32, path: &Path) -> Result<ParquetRecordBatchReader, StoreError> {
        let bad = |error: ParquetError| StoreError::corrupt(path, error.to_string(), RESTORE);
        let file = open::regular(path).map_err(|source| StoreError::io("open", path, source))?;
        let known = self.metadata.take().filter(|(known, _)| *known == number);
        let metadata = match known {
            Some((_, metadata)) => metadata,
            None => read_metadata::<R>(&file).map_err(bad)?,
        };
        let time = R::table().0[0].name;
        let groups = wanted(metadata.metadata(), time, &self.window)
            .map_err(|detail| StoreError::corrupt(path, detail, RESTORE))?;
        if let Some(span) = span(metadata.metadata(), time) {
            self.spans.insert(number, span);
        }
        self.metadata = Some((number, metadata.clone()));
        ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_batch_size(BATCH_ROWS)
            .with_row_groups(groups)
            .build()
            .map_err(bad)
    }

    /// Notes how a segment ended.
    fn end_of_segment(&mut self) -> Result<(), StoreError> {
        let Source::Stream(reader, path) = std::mem::replace(&mut self.source, Source::None) else {
            return Ok(());
        };
        match reader.tail() {
            Tail::Ended => Ok(()),
            Tail::Torn { .. } => {
                self.complete = false;
                Ok(())
            }
            Tail::Damaged { detail, .. } => Err(StoreError::corrupt(&path, detail, RECOVER)),
        }
    }
}

impl Source {
    /// What comes next; `None` where there is no source.
    fn next(&mut self) -> Result<Option<Given>, StoreError> {
        Ok(match self {
            Self::None => None,
            Self::Table(reader, path) => {
                let next = guarded(path, RESTORE, || {
                    let batch = reader.next().transpose();
                    batch.map_err(|error| StoreError::corrupt(path, error.to_string(), RESTORE))
                })?;
                Some(next.map_or(Given::End, |batch| Given::Batch(batch, path.clone())))
            }
            Self::Stream(reader, path) => {
                let next = reader.next()?;
                Some(next.map_or(Given::End, |batch| Given::Batch(batch, path.clone())))
            }
        })
    }
}

fn in_window(window: &Range<u64>, at: u64) -> bool {
    window.start <= at && (at < window.end || window.end == u64::MAX)
}

/// What a table says of itself: its columns as they are there, but words as numbers of a dictionary.
fn read_metadata<R: StreamRow>(file: &File) -> Result<ArrowReaderMetadata, ParquetError> {
    let plain = ArrowReaderMetadata::load(file, ArrowReaderOptions::new().with_skip_arrow_metadata(true))?;
    let schema = reading_schema(R::table().0, plain.schema());
    let options = ArrowReaderOptions::new().with_schema(schema);
    ArrowReaderMetadata::try_new(plain.metadata().clone(), options)
}

/// The row groups that may have rows in the window, by the statistics of the column of time.
fn wanted(metadata: &ParquetMetaData, time: &str, window: &Range<u64>) -> Result<Vec<usize>, &'static str> {
    let mut wanted = Vec::new();
    for (index, group) in metadata.row_groups().iter().enumerate() {
        if !(0..=ROW_GROUP_ROWS_MAX).contains(&group.num_rows()) {
            return Err("a row group has an impossible number of rows");
        }
        let outside = bounds(group, time).is_some_and(|span| misses(window, span));
        if !outside {
            wanted.push(index);
        }
    }
    Ok(wanted)
}

/// Whether no time from `first` to `last` lies in the window.
fn misses(window: &Range<u64>, (first, last): (u64, u64)) -> bool {
    last < window.start || (first >= window.end && window.end != u64::MAX)
}

/// The smallest and the largest time of a table, where all its row groups say them.
fn span(metadata: &ParquetMetaData, time: &str) -> Option<(u64, u64)> {
    let mut spans = metadata.row_groups().iter().map(|group| bounds(group, time));
    let first = spans.next()??;
    spans.try_fold(first, |(min, max), span| {
        span.map(|(a, b)| (min.min(a), max.max(b)))
    })
}

/// The smallest and the largest time of a row group, where it says them.
fn bounds(group: &RowGroupMetaData, time: &str) -> Option<(u64, u64)> {
    let named =
        |column: &&parquet::file::metadata::ColumnChunkMetaData| column.column_path().string() == time;
    match group.columns().iter().find(named)?.statistics()? {
        // An unsigned column: its bits are those of the signed one, its order is its own.
        Statistics::Int64(stats) => Some((*stats.min_opt()? as u64, *stats.max_opt()? as u64)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
