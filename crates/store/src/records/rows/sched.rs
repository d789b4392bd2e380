//! Stays of tasks on CPUs as columns.

use super::text::{comm_of, comm_text};
use super::{Columnar, StreamRow, Table, before, difference};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, optional, words};
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{BlockedOn, Comm, SchedSlice, StreamKind, TaskState};
use std::path::Path;

static TABLE: Table = Table(&[
    Column::new("end_ns", DataType::UInt64, Packing::Delta),
    Column::new("ran_ns", DataType::Int64, Packing::Delta),
    Column::optional("waited_ns", DataType::Int64, Packing::Delta),
    Column::new("cpu", DataType::UInt32, Packing::Delta),
    Column::new("tid", DataType::UInt32, Packing::Delta),
    Column::words("comm"),
    Column::words("state"),
    Column::words("blocked_on"),
    Column::new("waker_tid", DataType::UInt32, Packing::Delta),
    Column::words("waker_comm"),
]);

impl StreamRow for SchedSlice {
    const KIND: StreamKind = StreamKind::Sched;

    fn time_ns(&self) -> u64 {
        self.end_ns
    }
}

impl Columnar for SchedSlice {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let comms: Vec<_> = rows.iter().map(|row| comm_text(&row.comm)).collect();
        let wakers: Vec<_> = rows.iter().map(|row| comm_text(&row.waker_comm)).collect();
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.end_ns),
            numbers::<Int64Type, _>(rows, |row| difference(row.end_ns, row.start_ns)),
            optional::<Int64Type, _>(rows, |row| {
                row.ready_ns.map(|ready| difference(row.start_ns, ready))
            }),
            numbers::<UInt32Type, _>(rows, |row| row.cpu),
            numbers::<UInt32Type, _>(rows, |row| row.tid),
            words(comms.iter().map(AsRef::as_ref)),
            words(rows.iter().map(|row| row.state.name())),
            words(rows.iter().map(|row| row.blocked_on.name())),
            numbers::<UInt32Type, _>(rows, |row| row.waker_tid),
            words(wakers.iter().map(AsRef::as_ref)),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let end = columns.u64s("end_ns")?;
        let ran = columns.i64s("ran_ns")?;
        let waited = columns.optional_i64s("waited_ns")?;
        let cpu = columns.u32s("cpu")?;
        let tid = columns.u32s("tid")?;
        let comm = Words::read(&columns, "comm", |text| Ok(comm_of(text)))?;
        let state = Words::read(&columns, "state", |name| {
            let known = TaskState::ALL.into_iter().find(|state| state.name() == name);
            known.ok_or_else(|| format!("has the unknown state `{name}`"))
        })?;
        let blocked_on = columns.later("blocked_on", |columns, name| {
            Words::read(columns, name, |name| {
                let known = BlockedOn::ALL.into_iter().find(|on| on.name() == name);
                known.ok_or_else(|| format!("has the unknown reason `{name}`"))
            })
        })?;
        let waker_tid = columns.later("waker_tid", Columns::u32s)?;
        let waker_comm = columns.later("waker_comm", |columns, name| {
            Words::read(columns, name, |text| Ok(comm_of(text)))
        })?;
        rows.extend((0..batch.num_rows()).map(|index| {
            let start_ns = before(end[index], ran[index]);
            Self {
                cpu: cpu[index],
                tid: tid[index],
                comm: *comm.value(index),
                ready_ns: waited
                    .is_valid(index)
                    .then(|| before(start_ns, waited.value(index))),
                start_ns,
                end_ns: end[index],
                state: *state.value(index),
                blocked_on: blocked_on
                    .as_ref()
                    .map_or(BlockedOn::Unknown, |on| *on.value(index)),
                waker_tid: waker_tid.map_or(0, |tids| tids[index]),
                waker_comm: waker_comm
                    .as_ref()
                    .map_or(Comm::default(), |comms| *comms.value(index)),
            }
        }));
        Ok(())
    }
}
