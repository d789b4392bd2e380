//! Requests of block devices as columns.

use super::text::{comm_of, comm_text};
use super::{Columnar, StreamRow, Table, before, difference};
use crate::StoreError;
use crate::columns::Columns;
use crate::records::columns::{Column, Packing, Words, numbers, optional, words};
use arrow_array::types::{Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::DataType;
use fathom_core::record::{BlockFlags, BlockOp, BlockRequest, Comm, StreamKind};
use std::path::Path;

/// The place of a request that has none: a flush.
const NO_SECTOR: u64 = u64::MAX;

static TABLE: Table = Table(&[
    Column::new("completed_ns", DataType::UInt64, Packing::Delta),
    Column::optional("issued_to_completed_ns", DataType::Int64, Packing::Split),
    // To `issued`; where it never was, to `completed`.
    Column::optional("queued_to_issued_ns", DataType::Int64, Packing::Delta),
    Column::optional("allocated_to_issued_ns", DataType::Int64, Packing::Delta),
    Column::optional("inserted_to_issued_ns", DataType::Int64, Packing::Delta),
    Column::new("device", DataType::UInt32, Packing::Delta),
    Column::optional("sector", DataType::UInt64, Packing::Split),
    Column::new("len_bytes", DataType::UInt32, Packing::Delta),
    Column::words("op"),
    Column::new("flags", DataType::UInt8, Packing::Delta),
    Column::new("requeues", DataType::UInt16, Packing::Delta),
    Column::new("merges", DataType::UInt16, Packing::Delta),
    Column::new("errno", DataType::UInt16, Packing::Delta),
    Column::new("pid", DataType::UInt32, Packing::Delta),
    Column::words("comm"),
    Column::new("owner_pid", DataType::UInt32, Packing::Delta),
    Column::words("owner_comm"),
]);

/// What the steps before the device are counted to.
fn sent(row: &BlockRequest) -> u64 {
    row.issued_ns.unwrap_or(row.completed_ns)
}

impl StreamRow for BlockRequest {
    const KIND: StreamKind = StreamKind::Block;

    fn time_ns(&self) -> u64 {
        self.completed_ns
    }
}

impl Columnar for BlockRequest {
    fn table() -> &'static Table {
        &TABLE
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let to_sent = |row: &Self, step: Option<u64>| step.map(|step| difference(sent(row), step));
        let comms: Vec<_> = rows.iter().map(|row| comm_text(&row.comm)).collect();
        let owners: Vec<_> = rows.iter().map(|row| comm_text(&row.owner_comm)).collect();
        vec![
            numbers::<UInt64Type, _>(rows, |row| row.completed_ns),
            optional::<Int64Type, _>(rows, |row| {
                row.issued_ns.map(|issued| difference(row.completed_ns, issued))
            }),
            optional::<Int64Type, _>(rows, |row| to_sent(row, row.queued_ns)),
            optional::<Int64Type, _>(rows, |row| to_sent(row, row.allocated_ns)),
            optional::<Int64Type, _>(rows, |row| to_sent(row, row.inserted_ns)),
            numbers::<UInt32Type, _>(rows, |row| row.device),
            optional::<UInt64Type, _>(rows, |row| Some(row.sector).filter(|&at| at != NO_SECTOR)),
            numbers::<UInt32Type, _>(rows, |row| row.len_bytes),
            words(rows.iter().map(|row| row.op.name())),
            numbers::<UInt8Type, _>(rows, |row| row.flags.0),
            numbers::<UInt16Type, _>(rows, |row| row.requeues),
            numbers::<UInt16Type, _>(rows, |row| row.merges),
            numbers::<UInt16Type, _>(rows, |row| row.errno),
            numbers::<UInt32Type, _>(rows, |row| row.pid),
            words(comms.iter().map(AsRef::as_ref)),
            numbers::<UInt32Type, _>(rows, |row| row.owner_pid),
            words(owners.iter().map(AsRef::as_ref)),
        ]
    }

    fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<Self>) -> Result<(), StoreError> {
        let columns = Columns::new(batch, path);
        let completed = columns.u64s("completed_ns")?;
        let issued = columns.optional_i64s("issued_to_completed_ns")?;
        let queued = columns.optional_i64s("queued_to_issued_ns")?;
        let allocated = columns.optional_i64s("allocated_to_issued_ns")?;
        let inserted = columns.optional_i64s("inserted_to_issued_ns")?;
        let device = columns.u32s("device")?;
        let sector = columns.optional_u64s("sector")?;
        let len = columns.u32s("len_bytes")?;
        let op = Words::read(&columns, "op", op_of)?;
        let flags = columns.u8s("flags")?;
        let requeues = columns.u16s("requeues")?;
        let merges = columns.u16s("merges")?;
        let errno = columns.u16s("errno")?;
        let pid = columns.u32s("pid")?;
        let comm = Words::read(&columns, "comm", |text| Ok(comm_of(text)))?;
        let owner_pid = columns.later("owner_pid", Columns::u32s)?;
        let owner_comm = columns.later("owner_comm", |columns, name| {
            Words::read(columns, name, |text| Ok(comm_of(text)))
        })?;
        rows.extend((0..batch.num_rows()).map(|index| {
            let step =
                |array: &Int64Array, to: u64| array.is_valid(index).then(|| before(to, array.value(index)));
            let completed_ns = completed[index];
            let issued_ns = step(issued, completed_ns);
            let sent = issued_ns.unwrap_or(completed_ns);
            Self {
                device: device[index],
                queued_ns: step(queued, sent),
                allocated_ns: step(allocated, sent),
                inserted_ns: step(inserted, sent),
                issued_ns,
                completed_ns,
                sector: if sector.is_valid(index) {
                    sector.value(index)
                } else {
                    NO_SECTOR
                },
                len_bytes: len[index],
                op: *op.value(index),
                flags: BlockFlags(flags[index]),
                requeues: requeues[index],
                merges: merges[index],
                errno: errno[index],
                pid: pid[index],
                comm: *comm.value(index),
                owner_pid: owner_pid.map_or(0, |pids| pids[index]),
                owner_comm: owner_comm
                    .as_ref()
                    .map_or(Comm::default(), |comms| *comms.value(index)),
            }
        }));
        Ok(())
    }
}

fn op_of(name: &str) -> Result<BlockOp, String> {
    let known = BlockOp::ALL.into_iter().find(|op| op.name() == name);
    known.ok_or_else(|| format!("has the unknown operation `{name}`"))
}
