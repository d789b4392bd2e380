//! One stream as one Parquet file.
//!
//! Data in: a reader of the stream. Data out: Parquet, with the columns and the packing of the segments. It must not
//! know where it goes.

use super::reader::RecordReader;
use super::rows::{self, StreamRow};
use super::segment::properties;
use crate::StoreError;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use std::io::Write;
use std::path::Path;

/// Writes all that `reader` gives as one Parquet file to `out`, which is called `name` in errors; the rows written.
///
/// # Errors
/// The stream cannot be read, or `out` not be written.
pub fn export_parquet<R: StreamRow>(
    reader: &mut RecordReader<R>,
    name: &Path,
    out: impl Write + Send,
) -> Result<u64, StoreError> {
    let failed = |error: ParquetError| crate::table::failed(name, error);
    let schema = rows::schema::<R>();
    let properties = properties(R::table().0).map_err(failed)?;
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?;
    let mut written = 0;
    while let Some(some) = reader.next_batch()? {
        let batch = rows::batch_of(&schema, some).map_err(|error| failed(error.into()))?;
        writer.write(&batch).map_err(failed)?;
        written += some.len() as u64;
    }
    writer.close().map_err(failed)?;
    Ok(written)
}

#[cfg(test)]
mod tests;
