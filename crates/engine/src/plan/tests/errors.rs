//! Requests that cannot be planned.

use super::{KIB, kib, make, on, percent, plan};
use crate::plan::PlanError;
use expect_test::{Expect, expect};
use fathom_core::workload::{Amount, Job, Region};
use std::path::Path;

fn error(directory: &Path, job: &Job, expected: &Expect) {
    let error = plan(std::slice::from_ref(job)).expect_err("no plan").to_string();
    expected.assert_eq(&error.replace(&directory.display().to_string(), "DIR"));
}

#[test]
fn errors_say_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, "x", 40 * KIB);
    make(path, "empty", 0);
    let region = Region::default;
    let with = |size| Region {
        size,
        ..Region::default()
    };
    error(
        path,
        &on(path, &["none"], region()),
        &expect!["job: how large is DIR/none? It does not exist yet (or is empty): give size=, or filesize="],
    );
    error(
        path,
        &on(path, &["empty"], region()),
        &expect![
            "job: how large is DIR/empty? It does not exist yet (or is empty): give size=, or filesize="
        ],
    );
    error(
        path,
        &on(path, &["x"], with(kib(2))),
        &expect![
            "job: DIR/x has 2 KiB from offset 0 B on, less than one block of 4 KiB: give a smaller bs= or a larger size="
        ],
    );
    let beyond = Region {
        offset: kib(40),
        ..Region::default()
    };
    error(
        path,
        &on(path, &["x"], beyond),
        &expect![
            "job: DIR/x has 0 B from offset 40 KiB on, less than one block of 4 KiB: give a smaller bs= or a larger size="
        ],
    );
    error(
        path,
        &on(path, &["none"], with(percent(50))),
        &expect![
            "job: DIR/none does not exist yet, so a percentage of it means nothing: give size= in bytes"
        ],
    );
}

#[test]
fn paths_that_cannot_be_used_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    make(path, "x", 40 * KIB);
    let with = |size| Region {
        size,
        ..Region::default()
    };
    let mut job = on(path, &["none"], with(kib(40)));
    job.files.may_create = false;
    error(
        path,
        &job,
        &expect!["job: DIR/none does not exist, and allow_file_create=0 forbids making it"],
    );
    error(
        path,
        &on(&path.join("no"), &["none"], with(kib(40))),
        &expect![
            "job: the directory DIR/no does not exist: make it, or give another directory= or filename="
        ],
    );
    error(
        path,
        &on(path, &["."], with(kib(40))),
        &expect!["job: DIR/. is a directory: give a file or a block device"],
    );
    error(
        path,
        &on(path, &["x/y"], with(kib(40))),
        &expect!["job: cannot look at DIR/x/y"],
    );
    let mut job = on(path, &["x"], Region::default());
    job.block_size[0] = fathom_core::workload::BlockSize::Fixed(2 << 30);
    error(
        path,
        &job,
        &expect!["job: a block of 2 GiB is too large: bs= may be at most 1 GiB"],
    );
    let socket = std::os::unix::net::UnixListener::bind(path.join("socket")).expect("a socket");
    error(
        path,
        &on(path, &["socket"], with(kib(40))),
        &expect!["job: DIR/socket is a socket: give a file or a block device"],
    );
    drop(socket);
}

/// Numbers from outside may be absurd: never an overflow.
#[test]
fn absurd_offsets_are_errors_not_panics() {
    let directory = tempfile::tempdir().expect("a directory");
    make(directory.path(), "x", 40 * KIB);
    for offset in [u64::MAX, u64::MAX - 4096, 1 << 63] {
        for size in [None, Some(Amount::Bytes(u64::MAX)), kib(8), percent(100)] {
            for increment in [None, Some(Amount::Bytes(u64::MAX)), percent(100)] {
                let region = Region {
                    offset: Some(Amount::Bytes(offset)),
                    offset_increment: increment,
                    size,
                    ..Region::default()
                };
                let mut job = on(directory.path(), &["x"], region);
                job.numjobs = 3;
                let error = plan(&[job]).expect_err("beyond all files");
                assert!(matches!(error, PlanError::TooSmall { .. }), "{error}");
            }
        }
    }
}
