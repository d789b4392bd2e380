//! Counters as columns.

use super::{Columnar, StreamRow, Table};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, words};
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{CounterRow, StreamKind};
use std::borrow::Cow;
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("at_ns", DataType::UInt64, Packing::Delta),
    Column::words("metric"),
    Column::words("labels"),
    // The metric's name carries the unit. As they are: most have the bytes that they had a second ago.
    Column::new("value", DataType::Float64, Packing::Plain),
]);

impl StreamRow for CounterRow {
    const KIND: StreamKind = StreamKind::Counters;

    fn time_ns(&self) -> u64 {
        self.at_ns
    }
}

impl Columnar for CounterRow {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.at_ns),
            words(rows.iter().map(|row| row.metric.as_ref())),
            words(rows.iter().map(|row| row.labels.as_ref())),
            numbers::<Float64Type, _>(rows, |row| row.value),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let at = columns.u64s("at_ns")?;
        let metric = Words::read(&columns, "metric", |word| Ok(String::from(word)))?;
        let labels = Words::read(&columns, "labels", |word| Ok(String::from(word)))?;
        let value = columns.f64s("value")?;
        rows.extend((0..batch.num_rows()).map(|index| Self {
            at_ns: at[index],
            metric: Cow::Owned(metric.value(index).clone()),
            labels: Cow::Owned(labels.value(index).clone()),
            value: value[index],
        }));
        Ok(())
    }
}
