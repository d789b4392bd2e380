//! What the kernel did for a while as columns.

use super::text::{comm_of, comm_text};
use super::{Columnar, StreamRow, Table, before, difference};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, words};
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{KernelSpan, SpanKind, StreamKind};
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("end_ns", DataType::UInt64, Packing::Delta),
    Column::new("duration_ns", DataType::Int64, Packing::Delta),
    Column::words("kind"),
    Column::new("device", DataType::UInt32, Packing::Delta),
    Column::new("tid", DataType::UInt32, Packing::Delta),
    Column::words("comm"),
    Column::new("about", DataType::UInt64, Packing::Delta),
    Column::new("by_tid", DataType::UInt32, Packing::Delta),
    Column::words("by_comm"),
]);

impl StreamRow for KernelSpan {
    const KIND: StreamKind = StreamKind::Kernel;

    fn time_ns(&self) -> u64 {
        self.end_ns
    }
}

impl Columnar for KernelSpan {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let comms: Vec<_> = rows.iter().map(|row| comm_text(&row.comm)).collect();
        let bys: Vec<_> = rows.iter().map(|row| comm_text(&row.by_comm)).collect();
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.end_ns),
            numbers::<Int64Type, _>(rows, |row| difference(row.end_ns, row.start_ns)),
            words(rows.iter().map(|row| row.kind.name())),
            numbers::<UInt32Type, _>(rows, |row| row.device),
            numbers::<UInt32Type, _>(rows, |row| row.tid),
            words(comms.iter().map(AsRef::as_ref)),
            numbers::<UInt64Type, _>(rows, |row| row.about),
            numbers::<UInt32Type, _>(rows, |row| row.by_tid),
            words(bys.iter().map(AsRef::as_ref)),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let end = columns.u64s("end_ns")?;
        let duration = columns.i64s("duration_ns")?;
        let kind = Words::read(&columns, "kind", |name| {
            let known = SpanKind::ALL.into_iter().find(|kind| kind.name() == name);
            known.ok_or_else(|| format!("has the unknown kind `{name}`"))
        })?;
        let device = columns.u32s("device")?;
        let tid = columns.u32s("tid")?;
        let comm = Words::read(&columns, "comm", |text| Ok(comm_of(text)))?;
        let about = columns.u64s("about")?;
        let by_tid = columns.u32s("by_tid")?;
        let by_comm = Words::read(&columns, "by_comm", |text| Ok(comm_of(text)))?;
        rows.extend((0..batch.num_rows()).map(|index| Self {
            kind: *kind.value(index),
            start_ns: before(end[index], duration[index]),
            end_ns: end[index],
            device: device[index],
            tid: tid[index],
            comm: *comm.value(index),
            about: about[index],
            by_tid: by_tid[index],
            by_comm: *by_comm.value(index),
        }));
        Ok(())
    }
}
