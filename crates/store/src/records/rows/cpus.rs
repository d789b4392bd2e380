//! What tasks had of CPUs as columns.

use super::text::{comm_of, comm_text};
use super::{Columnar, StreamRow, Table};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, words};
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{CpuShare, StreamKind};
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("end_ns", DataType::UInt64, Packing::Delta),
    Column::new("duration_ns", DataType::UInt64, Packing::Delta),
    Column::new("cpu", DataType::UInt32, Packing::Delta),
    Column::new("tid", DataType::UInt32, Packing::Delta),
    Column::words("comm"),
    Column::new("ran_ns", DataType::UInt64, Packing::Delta),
]);

impl StreamRow for CpuShare {
    const KIND: StreamKind = StreamKind::Cpus;

    fn time_ns(&self) -> u64 {
        self.end_ns
    }
}

impl Columnar for CpuShare {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let comms: Vec<_> = rows.iter().map(|row| comm_text(&row.comm)).collect();
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.end_ns),
            numbers::<UInt64Type, _>(rows, |row| row.duration_ns),
            numbers::<UInt32Type, _>(rows, |row| row.cpu),
            numbers::<UInt32Type, _>(rows, |row| row.tid),
            words(comms.iter().map(AsRef::as_ref)),
            numbers::<UInt64Type, _>(rows, |row| row.ran_ns),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let end = columns.u64s("end_ns")?;
        let duration = columns.u64s("duration_ns")?;
        let cpu = columns.u32s("cpu")?;
        let tid = columns.u32s("tid")?;
        let comm = Words::read(&columns, "comm", |text| Ok(comm_of(text)))?;
        let ran = columns.u64s("ran_ns")?;
        rows.extend((0..batch.num_rows()).map(|index| Self {
            end_ns: end[index],
            duration_ns: duration[index],
            cpu: cpu[index],
            tid: tid[index],
            comm: *comm.value(index),
            ran_ns: ran[index],
        }));
        Ok(())
    }
}
