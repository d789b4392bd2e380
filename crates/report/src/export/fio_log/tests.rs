use super::*;
use expect_test::expect;
use fathom_testkit::make;
use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

const START_NS: u64 = 5_000_000_000;

type Files = Rc<RefCell<BTreeMap<String, Vec<u8>>>>;

/// A file in memory.
struct Memory(Files, String);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .borrow_mut()
            .entry(self.1.clone())
            .or_default()
            .write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logs(jobs: &[LoggedJob], ios: &[IoRecord]) -> io::Result<BTreeMap<String, String>> {
    let files = Files::default();
    let kept = Rc::clone(&files);
    let open = move |name: &str| -> io::Result<Box<dyn Write>> {
        Ok(Box::new(Memory(Rc::clone(&kept), String::from(name))))
    };
    let mut logs = FioLogs::new("run", jobs.to_vec(), open);
    logs.rows(ios)?;
    let opened = logs.finish()?;
    let files = files.take();
    assert_eq!(files.len(), opened);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ok(files
        .into_iter()
        .map(|(name, bytes)| (name, text(bytes)))
        .collect())
}

fn io(job: u32, worker: u32, op: Op) -> IoRecord {
    IoRecord {
        submitted_ns: START_NS + 1_000_300,
        offset_bytes: 8192,
        job,
        worker,
        op,
        ..make::io(START_NS + 1_000_000, START_NS + 2_999_999)
    }
}

const fn job(workers: u32, asynchronous: bool) -> LoggedJob {
    LoggedJob {
        workers,
        start_ns: START_NS,
        asynchronous,
    }
}

#[test]
fn a_file_a_worker_and_latency() {
    let failed = IoRecord {
        errno: 5,
        ..io(0, 0, Op::Read)
    };
    let ios = [
        io(0, 1, Op::Read),
        io(1, 0, Op::Write),
        io(1, 0, Op::Sync),
        failed,
        io(0, 1, Op::Trim),
    ];
    let logs = logs(&[job(2, true), job(1, false)], &ios).expect("written");
    let parts = logs
        .into_iter()
        .flat_map(|(name, lines)| [name, String::from("\n"), lines]);
    let text: String = parts.collect();
    expect![[r#"
        run_clat.2.log
        2, 1999699, 0, 4096, 8192, 0
        2, 1999699, 2, 4096, 8192, 0
        run_clat.3.log
        2, 1999699, 1, 4096, 8192, 0
        run_lat.2.log
        2, 1999999, 0, 4096, 8192, 0
        2, 1999999, 2, 4096, 8192, 0
        run_lat.3.log
        2, 1999999, 1, 4096, 8192, 0
        run_slat.2.log
        2, 300, 0, 4096, 8192, 0
        2, 300, 2, 4096, 8192, 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_worker_that_the_run_has_not_is_an_error() {
    for (job_number, worker) in [(1, 0), (0, 2), (u32::MAX, u32::MAX)] {
        let error = logs(&[job(2, true)], &[io(job_number, worker, Op::Read)]).expect_err("no such worker");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    }
}

/// What fio itself logs, read as what each line says of an I/O, is logged here byte by byte as fio did.
#[test]
fn logs_are_those_of_fio() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = Command::new("fio")
        .current_dir(dir.path())
        .args(
            "--name=x --filename=f --size=1m --bs=4k --rw=randrw --ioengine=libaio --iodepth=4 --numjobs=2"
                .split(' '),
        )
        .args(["--write_lat_log=run", "--log_offset=1", "--output=out"])
        .output();
    if !run.is_ok_and(|run| run.status.success()) {
        fathom_testkit::skipped("logs_are_those_of_fio", "no fio with libaio");
        return;
    }
    let mut compared = 0;
    for worker in [0, 1] {
        for latency in LOGGED {
            let name = format!("run_{}.{}.log", latency.name(), worker + 1);
            let theirs = std::fs::read_to_string(Path::new(dir.path()).join(&name)).expect("fio's log");
            let ios: Vec<IoRecord> = theirs
                .lines()
                .map(|line| of_line(line, latency, worker))
                .collect();
            let ours = logs(&[job(2, true)], &ios).expect("written");
            assert_eq!(ours.get(&name), Some(&theirs), "{name}");
            compared += ios.len();
        }
    }
    assert_eq!(compared, 2 * 3 * 256, "a line an I/O");
}

/// An I/O of which fio would say this.
fn of_line(line: &str, latency: Latency, worker: u32) -> IoRecord {
    let fields: Vec<u64> = line
        .split(", ")
        .map(|field| field.parse().expect("a number"))
        .collect();
    let [time_ms, value_ns, direction, length, offset, _priority] = fields[..] else {
        panic!("six fields, not `{line}`");
    };
    let completed_ns = START_NS + time_ms * 1_000_000;
    let created_ns = completed_ns - value_ns;
    IoRecord {
        created_ns,
        submitted_ns: match latency {
            Latency::Slat => completed_ns,
            _ => created_ns,
        },
        completed_ns,
        offset_bytes: offset,
        len_bytes: u32::try_from(length).expect("a length"),
        op: Op::DATA[direction as usize],
        ..io(0, worker, Op::Read)
    }
}
