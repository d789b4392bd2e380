//! Tables at rest: Parquet files written with every property set on purpose, read with suspicion.
//!
//! Data in: record batches. Data out: a file that `DuckDB`, Spark, Polars and their like read; record batches
//! again. It must not know what the columns mean.

use crate::StoreError;
use crate::document::FileRecord;
use crate::error::{RESTORE, guarded};
use crate::open;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use fathom_door::own;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh64::Xxh64;

/// Rows that the writer holds in memory before it writes them: three days of one job's seconds.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// What all tables have in common.
pub(crate) fn base_properties(level: ZstdLevel) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(concat!("fathom version ", env!("CARGO_PKG_VERSION")).to_owned())
        // Version 2 has the delta encodings (of the common readers Spark came last, with 3.3).
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
}

/// How columns are kept. Explicit, since the default is uncompressed and tries a dictionary on every column,
/// which costs memory and gains nothing on counters.
pub(crate) fn properties(schema: &SchemaRef) -> Result<WriterProperties, ParquetError> {
    let mut builder = base_properties(ZstdLevel::try_new(3)?)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for field in schema.fields() {
        let column = ColumnPath::from(field.name().as_str());
        builder = match field.data_type() {
            // Few different words (op, metric): a dictionary of at most a page.
            DataType::Utf8 => builder
                .set_column_dictionary_enabled(column.clone(), true)
                .set_column_dictionary_page_size_limit(column, 4096),
            // Numbers that grow or repeat: the differences are small.
            DataType::UInt32 | DataType::UInt64 => {
                builder.set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
            }
            DataType::Boolean => builder.set_column_encoding(column, Encoding::RLE),
            _ => builder,
        };
    }
    Ok(builder.build())
}

/// A file of which the checksum is known when it is written.
struct Summed {
    file: File,
    hash: Xxh64,
    size_bytes: u64,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.size_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A table being written: a temporary file until [`TableWriter::finish`].
pub(crate) struct TableWriter {
    writer: ArrowWriter<Summed>,
    path: PathBuf,
    temporary: PathBuf,
}

/// The name that a table has until it is whole.
pub(crate) fn temporary_name(name: &str) -> String {
    format!(".{name}.tmp")
}

impl TableWriter {
    pub(crate) fn create(
        dir: &Path,
        name: &str,
        schema: &SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, StoreError> {
        let path = dir.join(name);
        let temporary = dir.join(temporary_name(name));
        let file = own::create_temporary(&temporary)
            .map_err(|source| StoreError::io("create", &temporary, source))?;
        let summed = Summed {
            file,
            hash: Xxh64::new(0),
            size_bytes: 0,
        };
        let writer = ArrowWriter::try_new(summed, SchemaRef::clone(schema), Some(properties))
            .map_err(|error| failed(&path, error))?;
        Ok(Self {
            writer,
            path,
            temporary,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), StoreError> {
        self.writer
            .write(batch)
            .map_err(|error| failed(&self.path, error))
    }

    /// Completes the file, waits until it is on the disk and gives it its name.
    pub(crate) fn finish(mut self) -> Result<FileRecord, StoreError> {
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        let synced = self.writer.inner().file.sync_all();
        synced.map_err(|source| StoreError::io("write", &self.path, source))?;
        self.named()
    }

    /// As [`TableWriter::finish`], without waiting for the disk: it survives a kill of the process, not a loss of power.
    pub(crate) fn close(mut self) -> Result<FileRecord, StoreError> {
        self.writer.finish().map_err(|error| failed(&self.path, error))?;
        self.named()
    }

    fn named(self) -> Result<FileRecord, StoreError> {
        own::rename(&self.temporary, &self.path)
            .map_err(|source| StoreError::io("write", &self.path, source))?;
        let summed = self.writer.inner();
        Ok(FileRecord::new(
            &self.path,
            summed.size_bytes,
            summed.hash.digest(),
        ))
    }

    /// Gives the file up and, where that can be, removes it.
    pub(crate) fn abandon(self) {
        drop(self.writer);
        // A leftover is worth nothing, takes room, and does no harm.
        let _ = own::remove(&self.temporary);
    }
}

/// An error of writing: mostly the disk's.
pub(crate) fn failed(path: &Path, error: ParquetError) -> StoreError {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(inner) => io::Error::other(inner.to_string()),
        },
        other => io::Error::other(other.to_string()),
    };
    StoreError::io("write", path, source)
}

/// Size and checksum of a file that is to be called `path`.
pub(crate) fn record_of(file: &Path, path: &Path) -> Result<FileRecord, StoreError> {
    let io = |source| StoreError::io("read", file, source);
    let mut input = open::regular(file).map_err(io)?;
    let mut hash = Xxh64::new(0);
    let mut size_bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&buffer[..n]);
                size_bytes += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(io(source)),
        }
    }
    Ok(FileRecord::new(path, size_bytes, hash.digest()))
}

/// Compares a file's size with what `run.json` says of it.
///
/// # Errors
/// It is another.
pub(crate) fn check_size(path: &Path, record: &FileRecord, size_bytes: u64) -> Result<(), StoreError> {
    if size_bytes == record.size_bytes {
        return Ok(());
    }
    let detail = format!("it has {size_bytes} bytes, {} were written", record.size_bytes);
    Err(StoreError::corrupt(path, detail, RESTORE))
}

/// Compares a file with what `run.json` says of it.
///
/// # Errors
/// It cannot be read, or is not what was recorded.
pub(crate) fn check(path: &Path, record: &FileRecord) -> Result<(), StoreError> {
    let found = record_of(path, path)?;
    check_size(path, record, found.size_bytes)?;
    if found.xxh64 != record.xxh64 {
        let detail = "its checksum is not the one in run.json";
        return Err(StoreError::corrupt(path, detail, RESTORE));
    }
    Ok(())
}

/// Reads a table, batch by batch, after comparing it with its record.
///
/// # Errors
/// It cannot be read, is not what was recorded, or is no Parquet file; or an error of `take`.
pub(crate) fn read(
    path: &Path,
    record: Option<&FileRecord>,
    mut take: impl FnMut(&RecordBatch) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    if let Some(record) = record {
        check(path, record)?;
    }
    let file = open::regular(path).map_err(|source| StoreError::io("open", path, source))?;
    guarded(path, RESTORE, || {
        let bad = |error: ParquetError| StoreError::corrupt(path, error.to_string(), RESTORE);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .map_err(bad)?;
        for batch in reader {
            take(&batch.map_err(|error| StoreError::corrupt(path, error.to_string(), RESTORE))?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
