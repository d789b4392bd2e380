use super::*;
use crate::pattern::Span;
use crate::plan::FilePlan;

fn files(path: &Path) -> WorkerFiles {
    WorkerFiles {
        files: vec![FilePlan {
            path: path.to_owned(),
            kind: Kind::Regular,
            span: Span {
                start: 0,
                bytes: 4096,
            },
        }],
        amount: 4096,
    }
}

/// A stop is seen between two pieces of a file: here, before the first.
#[test]
fn a_stop_ends_reading_ahead() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, vec![1; 3 << 20]).expect("a file");
    let mut job = crate::testing::job(fathom_core::workload::Mix::Read, 4096);
    job.files.pre_read = true;
    for stopped in [false, true] {
        let opened = open_all(
            &job,
            &files(&path),
            &Permits::default(),
            &mut Vec::new(),
            &AtomicBool::new(stopped),
        )
        .expect("it opens");
        assert_eq!(opened.is_none(), stopped);
    }
    job.files.pre_read = false;
    let opened = open_all(
        &job,
        &files(&path),
        &Permits::default(),
        &mut Vec::new(),
        &AtomicBool::new(true),
    )
    .expect("it opens");
    assert_eq!(
        opened.map(|files| files.len()),
        Some(1),
        "opening alone takes no time"
    );
}

/// A file without an end: only the stop ends it, and soon.
#[test]
fn a_stop_while_reading_ahead_takes_less_than_a_second() {
    let mut job = crate::testing::job(fathom_core::workload::Mix::Read, 4096);
    job.files.pre_read = true;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            open_all(
                &job,
                &files(Path::new("/dev/zero")),
                &Permits::default(),
                &mut Vec::new(),
                &stop,
            )
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!reader.is_finished());
        let begun = std::time::Instant::now();
        stop.store(true, Ordering::Relaxed);
        let opened = reader.join().expect("no panic").expect("it opens");
        assert!(opened.is_none());
        assert!(begun.elapsed() < std::time::Duration::from_secs(1));
    });
}
