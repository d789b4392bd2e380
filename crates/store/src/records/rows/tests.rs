use super::text::{comm_of, comm_text};
use super::*;
use crate::records::fixtures::{self, AnyRow};
use crate::records::writer::StreamWriter;
use expect_test::expect;
use fathom_core::record::{
    BlockRequest, Comm, CounterRow, CpuShare, IoRecord, KernelSpan, ProcessRow, RowSink, SchedSlice,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Rows come back as they were, from columns, from an Arrow stream and from Parquet.
fn round_trip<R: AnyRow>() {
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    runner
        .run(&prop::collection::vec(R::any(), 0..40), |rows| {
            let batch = batch_of(&schema::<R>(), &rows).expect("columns match the schema");
            let mut back = Vec::new();
            R::rows_of(&batch, Path::new("stream"), &mut back).expect("columns are as written");
            prop_assert_eq!(&back, &rows);
            let dir = tempfile::tempdir().expect("a directory");
            let directory = fixtures::directory(dir.path());
            let mut writer = StreamWriter::<R>::create(dir.path()).expect("created");
            writer.rows(&rows).expect("taken");
            writer.flush().expect("kept");
            prop_assert_eq!(
                &fixtures::read::<R>(dir.path()).expect("read"),
                &(rows.clone(), false)
            );
            let end = writer.finish().expect("finished");
            prop_assert_eq!(
                (end.kind, end.rows, end.lost_rows),
                (R::KIND, rows.len() as u64, 0)
            );
            prop_assert_eq!(fixtures::read::<R>(dir.path()).expect("read"), (rows, true));
            drop(directory);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn ios_come_back() {
    round_trip::<IoRecord>();
}

#[test]
fn requests_come_back() {
    round_trip::<BlockRequest>();
}

#[test]
fn counters_come_back() {
    round_trip::<CounterRow>();
}

#[test]
fn processes_come_back() {
    round_trip::<ProcessRow>();
}

#[test]
fn slices_come_back() {
    round_trip::<SchedSlice>();
    round_trip::<CpuShare>();
    round_trip::<KernelSpan>();
}

/// A value that is no number is one with the same bits again.
#[test]
fn no_number_comes_back() {
    let row = CounterRow {
        at_ns: 1,
        metric: "node_load1".into(),
        labels: "".into(),
        value: f64::from_bits(0x7ff8_dead_beef_0001),
    };
    let batch = batch_of(&schema::<CounterRow>(), std::slice::from_ref(&row)).expect("a batch");
    let mut back = Vec::new();
    CounterRow::rows_of(&batch, Path::new("stream"), &mut back).expect("as written");
    assert_eq!(back[0].value.to_bits(), row.value.to_bits());
}

fn names<R: StreamRow>() -> String {
    let described = |column: &Column| {
        let null = if column.nullable { ", or null" } else { "" };
        format!("{} {}{null}\n", column.name, column.data_type)
    };
    R::table().0.iter().map(described).collect::<Vec<_>>().concat()
}

#[test]
fn columns_have_units_in_their_names() {
    expect![[r#"
        completed_ns UInt64
        wait_ns Int64
        slat_ns Int64
        clat_ns Int64
        offset_bytes UInt64
        len_bytes UInt32
        op Utf8
        job UInt32
        worker UInt32
        file UInt32
        depth UInt32
        errno UInt16
    "#]]
    .assert_eq(&names::<IoRecord>());
    expect![[r#"
        completed_ns UInt64
        issued_to_completed_ns Int64, or null
        queued_to_issued_ns Int64, or null
        allocated_to_issued_ns Int64, or null
        inserted_to_issued_ns Int64, or null
        device UInt32
        sector UInt64, or null
        len_bytes UInt32
        op Utf8
        flags UInt8
        requeues UInt16
        merges UInt16
        errno UInt16
        pid UInt32
        comm Utf8
        owner_pid UInt32
        owner_comm Utf8
    "#]]
    .assert_eq(&names::<BlockRequest>());
    expect![[r#"
        at_ns UInt64
        metric Utf8
        labels Utf8
        value Float64
    "#]]
    .assert_eq(&names::<CounterRow>());
    expect![[r#"
        at_ns UInt64
        duration_ns UInt64
        pid UInt32
        comm Utf8
        cpu_ns UInt64
        run_delay_ns UInt64
        read_bytes UInt64
        written_bytes UInt64
    "#]]
    .assert_eq(&names::<ProcessRow>());
    expect![[r#"
        end_ns UInt64
        ran_ns Int64
        waited_ns Int64, or null
        cpu UInt32
        tid UInt32
        comm Utf8
        state Utf8
        blocked_on Utf8
        waker_tid UInt32
        waker_comm Utf8
    "#]]
    .assert_eq(&names::<SchedSlice>());
    expect![[r#"
        end_ns UInt64
        duration_ns UInt64
        cpu UInt32
        tid UInt32
        comm Utf8
        ran_ns UInt64
    "#]]
    .assert_eq(&names::<CpuShare>());
    expect![[r#"
        end_ns UInt64
        duration_ns Int64
        kind Utf8
        device UInt32
        tid UInt32
        comm Utf8
        about UInt64
        by_tid UInt32
        by_comm Utf8
    "#]]
    .assert_eq(&names::<KernelSpan>());
}

/// Columns that records of earlier versions lack.
const LATER: [&str; 5] = ["owner_pid", "owner_comm", "blocked_on", "waker_tid", "waker_comm"];

/// Each column missing, or of another type: an error that names it.
fn wrong_columns<R: AnyRow>() {
    let batch = batch_of::<R>(&schema::<R>(), &[]).expect("columns match the schema");
    let read = |batch: &RecordBatch| {
        let mut rows = Vec::new();
        let error = R::rows_of(batch, Path::new("f"), &mut rows).expect_err("a wrong column");
        error.to_string()
    };
    for index in 0..batch.num_columns() {
        let name = R::table().0[index].name;
        let mut without = batch.clone();
        without.remove_column(index);
        if !LATER.contains(&name) {
            assert!(read(&without).contains(&format!("`{name}` is missing")), "{name}");
        }
        let mut fields: Vec<_> = batch
            .schema()
            .fields()
            .iter()
            .map(|f| arrow_schema::Field::clone(f))
            .collect();
        fields[index] = arrow_schema::Field::new(name, arrow_schema::DataType::Int8, false);
        let mut columns = batch.columns().to_vec();
        columns[index] = Arc::new(arrow_array::Int8Array::from(Vec::<i8>::new()));
        let changed = RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), columns);
        let message = read(&changed.expect("a batch"));
        assert!(message.contains(&format!("`{name}` is Int8, not ")), "{message}");
    }
}

#[test]
fn wrong_columns_are_named() {
    wrong_columns::<IoRecord>();
    wrong_columns::<BlockRequest>();
    wrong_columns::<CounterRow>();
    wrong_columns::<ProcessRow>();
    wrong_columns::<SchedSlice>();
    wrong_columns::<CpuShare>();
    wrong_columns::<KernelSpan>();
}

#[test]
fn names_of_tasks_are_plain_text() {
    let text = |bytes: &[u8]| comm_text(&Comm::new(bytes)).into_owned();
    assert_eq!(text(b"kworker/u8:1"), "kworker/u8:1");
    assert_eq!(text("é".as_bytes()), "é");
    assert_eq!(text(b"a\xffb\\"), r"a\xffb\\");
    // What is cut within a letter.
    assert_eq!(text("aaaaaaaaaaaaaaé".as_bytes()), r"aaaaaaaaaaaaaa\xc3");
    assert_eq!(comm_of(r"a\qb"), Comm::new(br"a\qb"), "no escape of ours");
}

proptest! {
    #[test]
    fn names_of_tasks_come_back(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        let comm = Comm::new(&bytes);
        prop_assert_eq!(comm_of(&comm_text(&comm)), comm);
    }
}
