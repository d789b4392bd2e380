//! I/Os of the load as columns.

use super::{Columnar, StreamRow, Table, before, difference};
use crate::StoreError;
use crate::columns::{Columns, op_name, op_of};
use crate::records::columns::{Column, Packing, Words, numbers, words};
use arrow_array::types::{Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{IoRecord, StreamKind};
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("completed_ns", DataType::UInt64, Packing::Delta),
    // Created after it was intended.
    Column::new("wait_ns", DataType::Int64, Packing::Delta),
    // Created to submitted, submitted to completed.
    Column::new("slat_ns", DataType::Int64, Packing::Delta),
    Column::new("clat_ns", DataType::Int64, Packing::Split),
    // Random multiples of a block: differences would keep their zeros.
    Column::new("offset_bytes", DataType::UInt64, Packing::Split),
    Column::new("len_bytes", DataType::UInt32, Packing::Delta),
    Column::words("op"),
    Column::new("job", DataType::UInt32, Packing::Delta),
    Column::new("worker", DataType::UInt32, Packing::Delta),
    Column::new("file", DataType::UInt32, Packing::Delta),
    Column::new("depth", DataType::UInt32, Packing::Delta),
    Column::new("errno", DataType::UInt16, Packing::Delta),
]);

impl StreamRow for IoRecord {
    const KIND: StreamKind = StreamKind::Io;

    fn time_ns(&self) -> u64 {
        self.completed_ns
    }
}

impl Columnar for IoRecord {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.completed_ns),
            numbers::<Int64Type, _>(rows, |row| difference(row.created_ns, row.intended_ns)),
            numbers::<Int64Type, _>(rows, |row| difference(row.submitted_ns, row.created_ns)),
            numbers::<Int64Type, _>(rows, |row| difference(row.completed_ns, row.submitted_ns)),
            numbers::<UInt64Type, _>(rows, |row| row.offset_bytes),
            numbers::<UInt32Type, _>(rows, |row| row.len_bytes),
            words(rows.iter().map(|row| op_name(row.op))),
            numbers::<UInt32Type, _>(rows, |row| row.job),
            numbers::<UInt32Type, _>(rows, |row| row.worker),
            numbers::<UInt32Type, _>(rows, |row| row.file),
            numbers::<UInt32Type, _>(rows, |row| row.depth),
            numbers::<UInt16Type, _>(rows, |row| row.errno),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let completed = columns.u64s("completed_ns")?;
        let wait = columns.i64s("wait_ns")?;
        let slat = columns.i64s("slat_ns")?;
        let clat = columns.i64s("clat_ns")?;
        let offset = columns.u64s("offset_bytes")?;
        let len = columns.u32s("len_bytes")?;
        let op = Words::read(&columns, "op", |name| {
            op_of(name).ok_or_else(|| format!("has the unknown operation `{name}`"))
        })?;
        let job = columns.u32s("job")?;
        let worker = columns.u32s("worker")?;
        let file = columns.u32s("file")?;
        let depth = columns.u32s("depth")?;
        let errno = columns.u16s("errno")?;
        rows.extend((0..batch.num_rows()).map(|index| {
            let completed_ns = completed[index];
            let submitted_ns = before(completed_ns, clat[index]);
            let created_ns = before(submitted_ns, slat[index]);
            Self {
                intended_ns: before(created_ns, wait[index]),
                created_ns,
                submitted_ns,
                completed_ns,
                offset_bytes: offset[index],
                len_bytes: len[index],
                file: file[index],
                job: job[index],
                worker: worker[index],
                depth: depth[index],
                errno: errno[index],
                op: *op.value(index),
                priority: 0,
            }
        }));
        Ok(())
    }
}
