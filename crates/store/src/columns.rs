//! The series as columns: which there are, rows to a batch, a batch to rows.
//!
//! Data in: rows. Data out: an Arrow record batch, and back. Columns are integers with the unit in the name;
//! what has no value (the latencies of a second without I/O) is null, never 0. It must not know files beyond the
//! name that an error needs.

use crate::StoreError;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, RecordBatch, StringArray};
use arrow_array::{Int64Array, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fathom_core::backend::Op;
use fathom_core::run::{LatencySummary, SERIES_PERCENTILES, SeriesRow};
use fathom_core::units::MonoTime;
use std::path::Path;
use std::sync::Arc;

/// The two latencies of a row, by the name that starts their columns.
const LATENCIES: [&str; 2] = ["lat_ns", "response_ns"];

/// `lat_ns_p99_9` for 99.9.
fn percentile_column(latency: &str, percentile: f64) -> String {
    format!("{latency}_p{percentile}").replace('.', "_")
}

/// The columns of the series, in order.
pub(crate) fn schema() -> SchemaRef {
    let mut fields = vec![
        Field::new("second", DataType::UInt32, false),
        Field::new("end_monotonic_ns", DataType::UInt64, false),
        Field::new("duration_ns", DataType::UInt64, false),
        Field::new("job", DataType::UInt32, false),
        Field::new("ramp", DataType::Boolean, false),
        Field::new("op", DataType::Utf8, false),
        Field::new("ios", DataType::UInt64, false),
        Field::new("bytes", DataType::UInt64, false),
        Field::new("errors", DataType::UInt64, false),
    ];
    for latency in LATENCIES {
        fields.push(Field::new(format!("{latency}_n"), DataType::UInt64, false));
        for part in ["min", "mean", "stddev"] {
            fields.push(Field::new(format!("{latency}_{part}"), DataType::UInt64, true));
        }
        for percentile in SERIES_PERCENTILES {
            let name = percentile_column(latency, percentile);
            fields.push(Field::new(name, DataType::UInt64, true));
        }
        fields.push(Field::new(format!("{latency}_max"), DataType::UInt64, true));
    }
    fields.push(Field::new("backlog", DataType::UInt64, false));
    fields.push(Field::new("late_ios", DataType::UInt64, false));
    Arc::new(Schema::new(fields))
}

/// The name that the `op` column has for an operation.
pub(crate) fn op_name(op: Op) -> &'static str {
    match op {
        Op::DataSync => "datasync",
        other => other.name(),
    }
}

/// The operation of a name in an `op` column.
pub(crate) fn op_of(name: &str) -> Option<Op> {
    [Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync]
        .into_iter()
        .find(|&op| op_name(op) == name)
}

/// The `op` column of any table.
pub(crate) fn op_column(ops: impl Iterator<Item = Op>) -> ArrayRef {
    Arc::new(ops.map(|op| Some(op_name(op))).collect::<StringArray>())
}

/// A column of numbers, one of each row.
pub(crate) fn u64_column<R>(rows: &[R], value: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<UInt64Array>())
}

fn optional_column(rows: &[SeriesRow], value: impl Fn(&SeriesRow) -> Option<u64>) -> ArrayRef {
    Arc::new(rows.iter().map(value).collect::<UInt64Array>())
}

/// Rows as one batch.
pub(crate) fn batch_of(
    schema: &SchemaRef,
    rows: &[SeriesRow],
) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(rows.iter().map(|row| row.second).collect::<UInt32Array>()),
        u64_column(rows, |row| row.end.0),
        u64_column(rows, |row| row.duration_ns),
        Arc::new(rows.iter().map(|row| row.job).collect::<UInt32Array>()),
        Arc::new(rows.iter().map(|row| Some(row.ramp)).collect::<BooleanArray>()),
        op_column(rows.iter().map(|row| row.op)),
        u64_column(rows, |row| row.ios),
        u64_column(rows, |row| row.bytes),
        u64_column(rows, |row| row.errors),
    ];
    push_latency(&mut columns, rows, |row| &row.lat);
    push_latency(&mut columns, rows, |row| &row.response);
    columns.push(u64_column(rows, |row| row.backlog));
    columns.push(u64_column(rows, |row| row.late_ios));
    RecordBatch::try_new(Arc::clone(schema), columns)
}

fn push_latency(columns: &mut Vec<ArrayRef>, rows: &[SeriesRow], of: impl Fn(&SeriesRow) -> &LatencySummary) {
    let some = |row: &SeriesRow, value: u64| (of(row).n > 0).then_some(value);
    columns.push(u64_column(rows, |row| of(row).n));
    columns.push(optional_column(rows, |row| some(row, of(row).min)));
    // A float cast to an integer saturates; means of nanoseconds are far from there.
    columns.push(optional_column(rows, |row| {
        some(row, of(row).mean.round() as u64)
    }));
    columns.push(optional_column(rows, |row| {
        some(row, of(row).stddev.round() as u64)
    }));
    for percentile in SERIES_PERCENTILES {
        columns.push(optional_column(rows, |row| {
            of(row).percentile(percentile).filter(|_| of(row).n > 0)
        }));
    }
    columns.push(optional_column(rows, |row| some(row, of(row).max)));
}

/// Looks columns up by name in a batch from outside.
pub(crate) struct Columns<'a> {
    batch: &'a RecordBatch,
    path: &'a Path,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(batch: &'a RecordBatch, path: &'a Path) -> Self {
        Self { batch, path }
    }

    pub(crate) fn error(&self, column: &str, problem: impl Into<String>) -> StoreError {
        StoreError::column(self.path, column, problem)
    }

    /// A column of unsigned integers; `optional` where nulls may be.
    fn numbers<T: ArrowPrimitiveType>(
        &self,
        name: &str,
        optional: bool,
    ) -> Result<&'a arrow_array::PrimitiveArray<T>, StoreError> {
        let array = self.any(name)?;
        let numbers = array
            .as_primitive_opt::<T>()
            .ok_or_else(|| self.error(name, format!("is {}, not {}", array.data_type(), T::DATA_TYPE)))?;
        if !optional && numbers.null_count() > 0 {
            return Err(self.error(name, "has empty values"));
        }
        Ok(numbers)
    }

    pub(crate) fn any(&self, name: &str) -> Result<&'a ArrayRef, StoreError> {
        self.batch
            .column_by_name(name)
            .ok_or_else(|| self.error(name, "is missing"))
    }

    /// A column that records of earlier versions lack: `None` there.
    pub(crate) fn later<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Self, &str) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let there = self.batch.column_by_name(name).is_some();
        there.then(|| read(self, name)).transpose()
    }

    pub(crate) fn u32s(&self, name: &str) -> Result<&'a [u32], StoreError> {
        Ok(self.numbers::<UInt32Type>(name, false)?.values())
    }

    pub(crate) fn u64s(&self, name: &str) -> Result<&'a [u64], StoreError> {
        Ok(self.numbers::<UInt64Type>(name, false)?.values())
    }

    pub(crate) fn u8s(&self, name: &str) -> Result<&'a [u8], StoreError> {
        Ok(self.numbers::<UInt8Type>(name, false)?.values())
    }

    pub(crate) fn u16s(&self, name: &str) -> Result<&'a [u16], StoreError> {
        Ok(self.numbers::<UInt16Type>(name, false)?.values())
    }

    pub(crate) fn i64s(&self, name: &str) -> Result<&'a [i64], StoreError> {
        Ok(self.numbers::<Int64Type>(name, false)?.values())
    }

    pub(crate) fn f64s(&self, name: &str) -> Result<&'a [f64], StoreError> {
        Ok(self.numbers::<Float64Type>(name, false)?.values())
    }

    pub(crate) fn optional_i64s(&self, name: &str) -> Result<&'a Int64Array, StoreError> {
        self.numbers::<Int64Type>(name, true)
    }

    pub(crate) fn optional_u64s(&self, name: &str) -> Result<&'a UInt64Array, StoreError> {
        self.numbers::<UInt64Type>(name, true)
    }

    pub(crate) fn texts(&self, name: &str) -> Result<&'a StringArray, StoreError> {
        let array = self.any(name)?;
        let texts = array
            .as_string_opt::<i32>()
            .ok_or_else(|| self.error(name, format!("is {}, not Utf8", array.data_type())))?;
        if texts.null_count() > 0 {
            return Err(self.error(name, "has empty values"));
        }
        Ok(texts)
    }

    fn bools(&self, name: &str) -> Result<&'a BooleanArray, StoreError> {
        let array = self.any(name)?;
        let bools = array
            .as_boolean_opt()
            .ok_or_else(|| self.error(name, format!("is {}, not Boolean", array.data_type())))?;
        if bools.null_count() > 0 {
            return Err(self.error(name, "has empty values"));
        }
        Ok(bools)
    }

    pub(crate) fn ops(&self) -> Result<Vec<Op>, StoreError> {
        self.texts("op")?
            .iter()
            .map(|name| {
                let name = name.unwrap_or_default();
                op_of(name).ok_or_else(|| self.error("op", format!("has the unknown operation `{name}`")))
            })
            .collect()
    }
}

struct LatencyColumns<'a> {
    n: &'a [u64],
    min: &'a UInt64Array,
    mean: &'a UInt64Array,
    stddev: &'a UInt64Array,
    max: &'a UInt64Array,
    percentiles: Vec<(f64, &'a UInt64Array)>,
}

impl<'a> LatencyColumns<'a> {
    fn new(columns: &Columns<'a>, latency: &str) -> Result<Self, StoreError> {
        let part = |name: &str| columns.optional_u64s(&format!("{latency}_{name}"));
        let percentiles = SERIES_PERCENTILES
            .into_iter()
            .map(|p| Ok((p, columns.optional_u64s(&percentile_column(latency, p))?)))
            .collect::<Result<_, StoreError>>()?;
        Ok(Self {
            n: columns.u64s(&format!("{latency}_n"))?,
            min: part("min")?,
            mean: part("mean")?,
            stddev: part("stddev")?,
            max: part("max")?,
            percentiles,
        })
    }

    fn row(&self, index: usize) -> LatencySummary {
        let value = |array: &UInt64Array| array.is_valid(index).then(|| array.value(index));
        LatencySummary {
            n: self.n[index],
            min: value(self.min).unwrap_or(0),
            mean: value(self.mean).unwrap_or(0) as f64,
            stddev: value(self.stddev).unwrap_or(0) as f64,
            max: value(self.max).unwrap_or(0),
            percentiles: self
                .percentiles
                .iter()
                .filter_map(|&(percentile, array)| Some((percentile, value(array)?)))
                .collect(),
        }
    }
}

/// The rows of a batch from outside, appended to `rows`.
///
/// # Errors
/// A column is missing, of another type, has nulls where none may be, or an unknown operation.
pub(crate) fn rows_of(batch: &RecordBatch, path: &Path, rows: &mut Vec<SeriesRow>) -> Result<(), StoreError> {
    let columns = Columns::new(batch, path);
    let second = columns.u32s("second")?;
    let end = columns.u64s("end_monotonic_ns")?;
    let duration = columns.u64s("duration_ns")?;
    let job = columns.u32s("job")?;
    let ramp = columns.bools("ramp")?;
    let op = columns.ops()?;
    let ios = columns.u64s("ios")?;
    let bytes = columns.u64s("bytes")?;
    let errors = columns.u64s("errors")?;
    let lat = LatencyColumns::new(&columns, LATENCIES[0])?;
    let response = LatencyColumns::new(&columns, LATENCIES[1])?;
    let backlog = columns.u64s("backlog")?;
    // Runs recorded before there was such a column have none.
    let late_ios = match batch.column_by_name("late_ios") {
        Some(_) => Some(columns.u64s("late_ios")?),
        None => None,
    };
    rows.extend((0..batch.num_rows()).map(|index| SeriesRow {
        second: second[index],
        end: MonoTime(end[index]),
        duration_ns: duration[index],
        job: job[index],
        ramp: ramp.value(index),
        op: op[index],
        ios: ios[index],
        bytes: bytes[index],
        errors: errors[index],
        lat: lat.row(index),
        response: response.row(index),
        backlog: backlog[index],
        late_ios: late_ios.map_or(0, |late_ios| late_ios[index]),
    }));
    Ok(())
}

#[cfg(test)]
mod tests;
