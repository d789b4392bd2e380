//! A segment of a stream under way: its rows go to an Arrow stream and to Parquet at once.
//!
//! Data in: batches. Data out: at its end one Parquet file. Killed at any moment, either the Arrow stream or the whole
//! Parquet file is there. It must not know what the rows are.

use super::columns::{Column, Packing};
use super::folder::Folder;
use crate::StoreError;
use crate::document::FileRecord;
use crate::stream::ArrowStream;
use crate::table::{self, TableWriter};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fathom_door::own;
use parquet::basic::{Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows of a row group. What is written of it is held in memory until it is whole, and a reader that wants a time
/// window skips all of it or nothing.
pub(crate) const ROW_GROUP_ROWS: usize = 1 << 15;
/// Rows of a page: what a reader decodes at once, a column at a time.
const PAGE_ROWS: usize = 1 << 12;
/// A dictionary that becomes larger than this is given up for the plain words.
const DICTIONARY_BYTES: usize = 64 << 10;

/// How the columns of a stream are kept in Parquet.
pub(crate) fn properties(columns: &[Column]) -> Result<WriterProperties, ParquetError> {
    let mut builder = table::base_properties(ZstdLevel::try_new(1)?)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for column in columns {
        let path = ColumnPath::from(column.name);
        if column.data_type != DataType::Utf8 {
            builder = builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Chunk);
        }
        builder = match column.packing {
            Packing::Delta => builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            Packing::Split => builder.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Packing::Plain => builder,
            Packing::Words => builder
                .set_column_dictionary_enabled(path.clone(), true)
                .set_column_dictionary_page_size_limit(path, DICTIONARY_BYTES),
        };
    }
    Ok(builder.build())
}

/// A segment being written. Holds the lock of its Arrow stream as long as it lives.
pub(crate) struct Segment {
    folder: Folder,
    number: u32,
    stream: ArrowStream,
    /// `None` once Parquet could not be written; the rows are in the stream.
    table: Option<TableWriter>,
    pub(crate) rows: u64,
}

/// What became of a segment.
pub(crate) enum Closed {
    /// It is a Parquet file.
    Whole(FileRecord),
    /// It is an Arrow stream, because Parquet could not be written.
    Unconverted(u32),
    /// It had no rows and is gone.
    Nothing,
}

impl Segment {
    pub(crate) fn create(
        folder: &Folder,
        number: u32,
        schema: &SchemaRef,
        properties: &WriterProperties,
    ) -> Result<Self, StoreError> {
        let stream = ArrowStream::create(&folder.arrows(number), schema)?;
        let name = Folder::parquet_name(number);
        let table = TableWriter::create(&folder.path, &name, schema, properties.clone())?;
        Ok(Self {
            folder: folder.clone(),
            number,
            stream,
            table: Some(table),
            rows: 0,
        })
    }

    /// Keeps a batch: when this returns, the kernel has it.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.stream.write(batch)?;
        self.rows += batch.num_rows() as u64;
        if let Some(table) = &mut self.table
            && table.write(batch).is_err()
        {
            // Its rows are in the stream: they are converted at the end of the run, or by `recover`.
            self.give_up_table();
        }
        Ok(())
    }

    /// Frees what the half-written table takes; whatever cannot be removed now, `recover` removes.
    pub(crate) fn give_up_table(&mut self) {
        if let Some(table) = self.table.take() {
            table.abandon();
        }
    }

    /// Puts a device that is always full in place of the stream's file.
    #[cfg(test)]
    pub(crate) fn fill_disk(&mut self) {
        self.stream.fill_disk();
    }

    /// Ends the segment. Where it has no rows it is kept only if `keep_empty`.
    ///
    /// # Errors
    /// The stream could not be ended or removed; its rows are in the one or the other form.
    pub(crate) fn close(mut self, keep_empty: bool) -> Result<Closed, StoreError> {
        let arrows = self.folder.arrows(self.number);
        if self.rows == 0 && !keep_empty {
            self.give_up_table();
            remove(&arrows)?;
            return Ok(Closed::Nothing);
        }
        let Some(record) = self.table.take().and_then(|table| table.close().ok()) else {
            self.stream.end()?;
            return Ok(Closed::Unconverted(self.number));
        };
        // The table has its name: from here on it is the segment.
        remove(&arrows)?;
        Ok(Closed::Whole(listed(&self.folder, self.number, record)))
    }
}

/// A record of a file under the name that `run.json` lists it by.
pub(crate) fn listed(folder: &Folder, number: u32, record: FileRecord) -> FileRecord {
    FileRecord {
        name: folder.listed_name(number),
        ..record
    }
}

/// Removes a file that may be gone already.
pub(crate) fn remove(path: &Path) -> Result<(), StoreError> {
    own::remove(path).map_err(|error| StoreError::io("remove", path, error))
}

/// The schema of a file, but with words as numbers of a dictionary: what a reader wants them as.
pub(crate) fn reading_schema(columns: &[Column], found: &Schema) -> SchemaRef {
    let words = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = found.fields().iter().map(|field| {
        let of_words = columns
            .iter()
            .any(|column| column.packing == Packing::Words && column.name == field.name());
        let field = Field::clone(field);
        if of_words && *field.data_type() == DataType::Utf8 {
            field.with_data_type(words())
        } else {
            field
        }
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
