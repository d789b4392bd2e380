//! Histograms as columns: a row a bucket.
//!
//! Data in: [`HistogramRow`]s. Data out: Arrow record batches, and back. It must not know files.

use crate::StoreError;
use crate::columns::{Columns, op_column, u64_column};
use arrow_array::{RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use fathom_core::run::{HistogramRow, Latency};
use std::path::Path;
use std::sync::Arc;

/// The columns, in order.
pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("job", DataType::UInt32, false),
        Field::new("op", DataType::Utf8, false),
        Field::new("metric", DataType::Utf8, false),
        Field::new("low_ns", DataType::UInt64, false),
        Field::new("high_ns", DataType::UInt64, false),
        Field::new("count", DataType::UInt64, false),
    ]))
}

pub(crate) fn batch_of(schema: &SchemaRef, rows: &[HistogramRow]) -> Result<RecordBatch, ArrowError> {
    let metrics: StringArray = rows.iter().map(|row| Some(row.metric.name())).collect();
    RecordBatch::try_new(
        Arc::clone(schema),
        vec![
            Arc::new(rows.iter().map(|row| row.job).collect::<UInt32Array>()),
            op_column(rows.iter().map(|row| row.op)),
            Arc::new(metrics),
            u64_column(rows, |row| row.low_ns),
            u64_column(rows, |row| row.high_ns),
            u64_column(rows, |row| row.count),
        ],
    )
}

/// The rows of a batch from outside, appended to `rows`.
///
/// # Errors
/// A column is missing, of another type, has nulls, or an unknown operation or metric.
pub(crate) fn rows_of(
    batch: &RecordBatch,
    path: &Path,
    rows: &mut Vec<HistogramRow>,
) -> Result<(), StoreError> {
    let columns = Columns::new(batch, path);
    let job = columns.u32s("job")?;
    let op = columns.ops()?;
    let metric = columns.texts("metric")?;
    let low_ns = columns.u64s("low_ns")?;
    let high_ns = columns.u64s("high_ns")?;
    let count = columns.u64s("count")?;
    for index in 0..batch.num_rows() {
        let name = metric.value(index);
        let metric = Latency::from_name(name)
            .ok_or_else(|| StoreError::column(path, "metric", format!("has the unknown metric `{name}`")))?;
        rows.push(HistogramRow {
            job: job[index],
            op: op[index],
            metric,
            low_ns: low_ns[index],
            high_ns: high_ns[index],
            count: count[index],
        });
    }
    Ok(())
}
