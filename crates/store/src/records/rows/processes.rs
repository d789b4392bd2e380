//! What processes used, as columns.

use super::text::{comm_of, comm_text};
use super::{Columnar, StreamRow, Table};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, words};
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{ProcessRow, StreamKind};
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("at_ns", DataType::UInt64, Packing::Delta),
    Column::new("duration_ns", DataType::UInt64, Packing::Delta),
    Column::new("pid", DataType::UInt32, Packing::Delta),
    Column::words("comm"),
    Column::new("cpu_ns", DataType::UInt64, Packing::Delta),
    Column::new("run_delay_ns", DataType::UInt64, Packing::Delta),
    Column::new("read_bytes", DataType::UInt64, Packing::Split),
    Column::new("written_bytes", DataType::UInt64, Packing::Split),
]);

impl StreamRow for ProcessRow {
    const KIND: StreamKind = StreamKind::Processes;

    fn time_ns(&self) -> u64 {
        self.at_ns
    }
}

impl Columnar for ProcessRow {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let comms: Vec<_> = rows.iter().map(|row| comm_text(&row.comm)).collect();
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.at_ns),
            numbers::<UInt64Type, _>(rows, |row| row.duration_ns),
            numbers::<UInt32Type, _>(rows, |row| row.pid),
            words(comms.iter().map(AsRef::as_ref)),
            numbers::<UInt64Type, _>(rows, |row| row.cpu_ns),
            numbers::<UInt64Type, _>(rows, |row| row.run_delay_ns),
            numbers::<UInt64Type, _>(rows, |row| row.read_bytes),
            numbers::<UInt64Type, _>(rows, |row| row.written_bytes),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let at = columns.u64s("at_ns")?;
        let duration = columns.u64s("duration_ns")?;
        let pid = columns.u32s("pid")?;
        let comm = Words::read(&columns, "comm", |text| Ok(comm_of(text)))?;
        let cpu = columns.u64s("cpu_ns")?;
        let run_delay = columns.u64s("run_delay_ns")?;
        let read = columns.u64s("read_bytes")?;
        let written = columns.u64s("written_bytes")?;
        rows.extend((0..batch.num_rows()).map(|index| Self {
            at_ns: at[index],
            duration_ns: duration[index],
            pid: pid[index],
            comm: *comm.value(index),
            cpu_ns: cpu[index],
            run_delay_ns: run_delay[index],
            read_bytes: read[index],
            written_bytes: written[index],
        }));
        Ok(())
    }
}
