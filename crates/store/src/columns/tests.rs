use super::*;
use crate::fixtures;
use expect_test::expect;
use proptest::prelude::*;

fn any_op() -> impl Strategy<Value = Op> {
    prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Sync, Op::DataSync])
}

prop_compose! {
    fn any_latency()(
        n in 0..=u64::MAX, min in any::<u64>(), max in any::<u64>(), mean in 0u64..1 << 53, stddev in 0u64..1 << 53,
        values in any::<[u64; 5]>(), kept in any::<[bool; 5]>(),
    ) -> LatencySummary {
        if n % 4 == 0 {
            return LatencySummary::default();
        }
        let all = SERIES_PERCENTILES.into_iter().zip(values).zip(kept);
        let percentiles = all.filter(|&(_, kept)| kept).map(|(entry, _)| entry).collect();
        LatencySummary { n, min, mean: mean as f64, stddev: stddev as f64, max, percentiles }
    }
}

prop_compose! {
    fn any_row()(
        second in any::<u32>(), end in any::<u64>(), duration_ns in any::<u64>(), job in any::<u32>(),
        ramp in any::<bool>(), op in any_op(), counts in any::<[u64; 5]>(), lat in any_latency(),
        response in any_latency(),
    ) -> SeriesRow {
        let [ios, bytes, errors, backlog, late_ios] = counts;
        SeriesRow { second, end: MonoTime(end), duration_ns, job, ramp, op, ios, bytes, errors, lat, response, backlog, late_ios }
    }
}

proptest! {
    #[test]
    fn rows_come_back(rows in prop::collection::vec(any_row(), 0..20)) {
        let batch = batch_of(&schema(), &rows).expect("columns match the schema");
        let mut back = Vec::new();
        rows_of(&batch, Path::new("series"), &mut back).expect("columns are as written");
        prop_assert_eq!(back, rows);
    }
}

#[test]
fn columns_have_units_in_their_names() {
    let schema = schema();
    let names: Vec<&str> = schema
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    expect![[r#"
        second
        end_monotonic_ns
        duration_ns
        job
        ramp
        op
        ios
        bytes
        errors
        lat_ns_n
        lat_ns_min
        lat_ns_mean
        lat_ns_stddev
        lat_ns_p50
        lat_ns_p90
        lat_ns_p95
        lat_ns_p99
        lat_ns_p99_9
        lat_ns_max
        response_ns_n
        response_ns_min
        response_ns_mean
        response_ns_stddev
        response_ns_p50
        response_ns_p90
        response_ns_p95
        response_ns_p99
        response_ns_p99_9
        response_ns_max
        backlog
        late_ios"#]]
    .assert_eq(&names.join("\n"));
}

#[test]
fn means_are_rounded() {
    let mut rows = fixtures::second(&mut fathom_core::rng::Rng::new(1), 1);
    rows.truncate(1);
    rows[0].lat = LatencySummary {
        n: 2,
        mean: 1.5,
        stddev: 0.4,
        ..LatencySummary::default()
    };
    let batch = batch_of(&schema(), &rows).expect("columns match the schema");
    let mut back = Vec::new();
    rows_of(&batch, Path::new("series"), &mut back).expect("columns are as written");
    assert!((back[0].lat.mean - 2.0).abs() < 1e-9 && back[0].lat.stddev.abs() < 1e-9);
}

/// Each column missing, of another type or with nulls: an error that names it.
#[test]
fn wrong_columns_are_named() {
    let rows = fixtures::second(&mut fathom_core::rng::Rng::new(1), 1);
    let batch = batch_of(&schema(), &rows).expect("columns match the schema");
    let read = |batch: &RecordBatch| {
        let mut rows = Vec::new();
        rows_of(batch, Path::new("series.parquet"), &mut rows)
            .expect_err("a wrong column")
            .to_string()
    };
    for index in 0..batch.num_columns() {
        let name = batch.schema().field(index).name().clone();
        let mut without = batch.clone();
        without.remove_column(index);
        if name == "late_ios" {
            // Of runs recorded before there was such a column.
            let mut rows = Vec::new();
            rows_of(&without, Path::new("series.parquet"), &mut rows).expect("an older run");
            assert!(rows.iter().all(|row| row.late_ios == 0));
        } else {
            assert!(read(&without).contains(&format!("`{name}` is missing")), "{name}");
        }

        let mut fields: Vec<Field> = batch.schema().fields().iter().map(|f| Field::clone(f)).collect();
        fields[index] = Field::new(&name, DataType::Int8, true);
        let mut columns = batch.columns().to_vec();
        columns[index] = Arc::new(arrow_array::Int8Array::from(vec![None; rows.len()]));
        let changed = RecordBatch::try_new(Arc::new(Schema::new(fields.clone())), columns.clone());
        let message = read(&changed.expect("a batch"));
        assert!(message.contains(&format!("`{name}` is Int8, not ")), "{message}");
    }
    let mut columns = batch.columns().to_vec();
    columns[5] = Arc::new(StringArray::from(vec!["read", "chew", "write"]));
    let changed = RecordBatch::try_new(schema(), columns).expect("a batch");
    expect!["series.parquet: column `op` has the unknown operation `chew`. The file was not made by this version of fathom, or was changed: restore it from a copy"].assert_eq(&read(&changed));
    let mut fields: Vec<Field> = schema().fields().iter().map(|f| Field::clone(f)).collect();
    fields[6] = Field::new("ios", DataType::UInt64, true);
    let mut columns = batch.columns().to_vec();
    columns[6] = Arc::new(UInt64Array::from(vec![Some(1), None, Some(2)]));
    let changed = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a batch");
    expect!["series.parquet: column `ios` has empty values. The file was not made by this version of fathom, or was changed: restore it from a copy"].assert_eq(&read(&changed));
}
