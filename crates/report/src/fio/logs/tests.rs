//! Logs in fio's formats.

use super::{LogFile, LogJob, LogSet, Opening, push_number};
use fathom_core::backend::Op;
use fathom_core::record::{IoRecord, RowSink};
use fathom_core::workload::{IoPriority, LogValue, Logs};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

type Files = Arc<Mutex<BTreeMap<String, String>>>;

struct Kept(String, Files);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.1.lock().expect("files");
        let text = files.entry(self.0.clone()).or_default();
        text.push_str(std::str::from_utf8(bytes).expect("text"));
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for Kept {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

fn job(name: &str, logs: Logs) -> LogJob {
    LogJob {
        name: String::from(name),
        logs,
        workers: 1,
        asynchronous: true,
        priority: Some(IoPriority { class: 2, level: 3 }),
        rate_windows_ms: [500, 500],
        files: vec![vec![String::from("F")]],
        clock_offset_ns: 0,
    }
}

/// An I/O that was made `at_us` after the start, submitted 1 us later, and took `clat_us`.
fn io(at_us: u64, clat_us: u64, op: Op, offset: u64) -> IoRecord {
    let created = 1_000_000_000 + at_us * 1_000;
    IoRecord {
        intended_ns: created,
        created_ns: created,
        submitted_ns: created + 1_000,
        completed_ns: created + 1_000 + clat_us * 1_000,
        offset_bytes: offset,
        len_bytes: if op.index() == 3 { 0 } else { 4096 },
        file: 0,
        job: 0,
        worker: 0,
        depth: 1,
        errno: 0,
        op,
        priority: 0,
    }
}

fn written(jobs: Vec<LogJob>, ios: &[IoRecord]) -> BTreeMap<String, String> {
    let files = Files::default();
    let open = |name: &str, opening: Opening| -> io::Result<Box<dyn LogFile>> {
        assert!(!opening.compressed);
        files
            .lock()
            .expect("files")
            .insert(name.to_owned(), String::new());
        Ok(Box::new(Kept(name.to_owned(), Arc::clone(&files))))
    };
    let mut set = LogSet::open(jobs, open).expect("open").expect("logs");
    set.rows(ios).expect("rows");
    set.finish().expect("finish");
    files.lock().expect("files").clone()
}

fn prefix() -> String {
    String::from("x")
}

#[test]
fn each_io_has_a_row_as_fio_writes_it() {
    let logs = Logs {
        lat: Some(prefix()),
        bw: Some(prefix()),
        iops: Some(String::new()),
        offset: true,
        priority: true,
        issue_time: true,
        ..Logs::default()
    };
    let ios = [
        io(0, 100, Op::Read, 0),
        io(2_500, 200, Op::Write, 8192),
        io(3_000, 5, Op::Sync, 0),
    ];
    let files = written(vec![job("j", logs)], &ios);
    let of = |name: &str| files[name].as_str();
    assert_eq!(
        of("x_slat.1.log"),
        "0, 1000, 0, 4096, 0, 0x4003, 0\n2, 1000, 1, 4096, 8192, 0x4003, 2500000\n"
    );
    assert_eq!(
        of("x_clat.1.log"),
        "0, 100000, 0, 4096, 0, 0x4003, 0\n2, 200000, 1, 4096, 8192, 0x4003, 2500000\n"
    );
    assert_eq!(
        of("x_lat.1.log"),
        "0, 101000, 0, 4096, 0, 0x4003, 0\n2, 201000, 1, 4096, 8192, 0x4003, 0\n"
    );
    // 4096 bytes in 100 us are 40,960 kB/s.
    assert_eq!(
        of("x_bw.1.log"),
        "0, 40960, 0, 4096, 0, 0x4003, 0\n2, 20480, 1, 4096, 8192, 0x4003, 2500000\n"
    );
    assert_eq!(
        of("j_iops.1.log"),
        "0, 1, 0, 4096, 0, 0x4003, 0\n2, 1, 1, 4096, 8192, 0x4003, 2500000\n"
    );
    assert_eq!(files.len(), 5);
}

#[test]
fn a_window_has_a_row_for_each_direction() {
    let logs = |value| Logs {
        lat: Some(prefix()),
        iops: Some(prefix()),
        bw: Some(prefix()),
        window_ms: 500,
        value,
        ..Logs::default()
    };
    // 1000 I/Os a second, each one a microsecond longer than the last; a fifth of them writes.
    let ios: Vec<IoRecord> = (0..1_600)
        .map(|at| {
            let op = if at % 5 == 0 { Op::Write } else { Op::Read };
            io(at * 1_000, 10 + at % 100, op, 0)
        })
        .collect();
    let files = written(vec![job("j", logs(LogValue::Mean))], &ios);
    let rows: Vec<&str> = files["x_iops.1.log"].lines().collect();
    assert_eq!(
        rows[..4],
        [
            "500, 800, 0, 0, 0",
            "500, 200, 1, 0, 0",
            "1000, 800, 0, 0, 0",
            "1000, 200, 1, 0, 0"
        ]
    );
    // What is left at the end: 100 ms.
    assert_eq!(rows.len(), 8);
    assert!(
        rows[6].starts_with("1599, ") || rows[6].starts_with("1600, "),
        "{rows:?}"
    );
    assert_eq!(files["x_bw.1.log"].lines().next(), Some("500, 3200, 0, 0, 0"));
    let max = written(vec![job("j", logs(LogValue::Max))], &ios);
    assert_eq!(max["x_clat.1.log"].lines().next(), Some("500, 109000, 0, 0, 0"));
    let both = written(vec![job("j", logs(LogValue::Both))], &ios);
    let first = both["x_clat.1.log"].lines().next().expect("a row");
    let columns: Vec<&str> = first.split(", ").collect();
    assert_eq!((columns.len(), columns[2]), (6, "109000"), "{first}");
}

#[test]
fn a_histogram_row_is_what_came_since_the_last() {
    let logs = Logs {
        hist: Some(prefix()),
        hist_window_ms: 10,
        hist_coarseness: 4,
        ..Logs::default()
    };
    let ios: Vec<IoRecord> = (0..100).map(|at| io(at * 1_000, 50, Op::Read, 0)).collect();
    let files = written(vec![job("j", logs)], &ios);
    let rows: Vec<Vec<u64>> = files["x_clat_hist.1.log"]
        .lines()
        .map(|line| {
            line.split(", ")
                .map(|number| number.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert!(rows.len() >= 9, "{}", rows.len());
    for row in &rows {
        assert_eq!(row.len(), 3 + 1856 / 16);
        assert_eq!(row[1..3], [0, 4096]);
    }
    let counted: u64 = rows.iter().flat_map(|row| &row[3..]).sum();
    assert!((90..=100).contains(&counted), "{counted}");
    assert_eq!(rows[1][3..].iter().sum::<u64>(), 10);
}

#[test]
fn jobs_share_a_log_where_that_is_asked_for() {
    let logs = Logs {
        iops: Some(prefix()),
        per_job: false,
        ..Logs::default()
    };
    let mut second = io(10, 5, Op::Read, 0);
    second.job = 1;
    let files = written(
        vec![job("a", logs.clone()), job("b", logs)],
        &[io(0, 5, Op::Read, 0), second],
    );
    assert_eq!(files.keys().collect::<Vec<_>>(), ["x_iops.log"]);
    assert_eq!(files["x_iops.log"].lines().count(), 2);
}

#[test]
fn times_may_be_those_of_a_clock() {
    let logs = Logs {
        iops: Some(prefix()),
        epoch_clock: Some(0),
        ..Logs::default()
    };
    let mut one = job("a", logs);
    one.clock_offset_ns = 1_795_411_202_000_000_000;
    let files = written(vec![one], &[io(0, 100, Op::Read, 0)]);
    assert_eq!(files["x_iops.1.log"], "1795411203000, 1, 0, 4096, 0\n");
}

#[test]
fn a_trace_is_in_the_order_of_creation() {
    let logs = Logs {
        iolog: Some(String::from("io.log")),
        ..Logs::default()
    };
    // The first takes longer than the second.
    let ios = [
        io(20, 10, Op::Write, 4096),
        io(0, 500, Op::Read, 0),
        io(600, 5, Op::Sync, 0),
    ];
    let files = written(vec![job("a", logs)], &ios);
    let lines: Vec<&str> = files["io.log"].lines().collect();
    assert_eq!(
        lines,
        [
            "fio version 3 iolog",
            "1 F add",
            "1 F open",
            "1 F read 0 4096",
            "21 F write 4096 4096",
            "601 F sync 0 0",
            "601 F close",
        ]
    );
}

#[test]
fn no_log_is_no_set() {
    let open = |_: &str, _: Opening| -> io::Result<Box<dyn LogFile>> { unreachable!("nothing is opened") };
    assert!(
        LogSet::open(vec![job("a", Logs::default())], open)
            .expect("none")
            .is_none()
    );
}

#[test]
fn numbers_are_written_in_full() {
    for number in [0, 7, 10, 1_000_001, u64::MAX] {
        let mut row = Vec::new();
        push_number(&mut row, number);
        assert_eq!(String::from_utf8(row).expect("digits"), number.to_string());
    }
}
