//! What is no generic device is refused with words, and not opened. Devices that are: `cargo xtask guest`.

use super::*;
use crate::plan::Plan;
use expect_test::{Expect, expect};
use fathom_core::workload::Workload;
use std::path::PathBuf;

#[track_caller]
fn refused(kind: EngineKind, path: &Path, expected: &Expect) {
    let mut job = Job {
        name: String::from("j"),
        ..Job::default()
    };
    job.engine.kind = kind;
    job.files.names = vec![PathBuf::from(path)];
    let workload = Workload { jobs: vec![job] };
    let error = Plan::new(&workload).expect_err("a refusal");
    expected.assert_eq(&error.to_string());
}

#[test]
fn what_is_no_generic_device_is_refused() {
    refused(
        EngineKind::IoUringCmd,
        Path::new("/dev/null"),
        &expect![
            "j: ioengine=io_uring_cmd sends commands to a disk's generic device, such as /dev/ng0n1, and /dev/null is a character device of another kind (mem): give such a device, or use ioengine=io_uring"
        ],
    );
    refused(
        EngineKind::Sg,
        Path::new("/dev/zero"),
        &expect![
            "j: ioengine=sg sends commands to a disk's generic device, such as /dev/sg0, and /dev/zero is a character device of another kind (mem): give such a device, or use ioengine=io_uring"
        ],
    );
    refused(
        EngineKind::Sg,
        Path::new("/proc/version"),
        &expect![
            "j: ioengine=sg sends commands to a disk's generic device, such as /dev/sg0, and /proc/version is no device: give such a device, or use ioengine=io_uring"
        ],
    );
    refused(
        EngineKind::IoUringCmd,
        Path::new("/dev/ng99n99"),
        &expect![
            "j: ioengine=io_uring_cmd sends commands to a disk's generic device, such as /dev/ng0n1, and /dev/ng99n99 is not there: give such a device, or use ioengine=io_uring"
        ],
    );
}
