//! What is laid out.

use super::placed_file;
use fathom_core::workload::Fallocate;
use fathom_engine::plan::{FileAction, Kind};

fn check(size_now: Option<u64>, fill: bool, kind: Kind, expected: (Option<u64>, u64, u64)) {
    let file = placed_file(&FileAction {
        path: "F".into(),
        kind,
        size_now,
        size_needed: 100,
        reads: true,
        writes: true,
        fill,
        fallocate: Fallocate::Native,
        fsync: true,
        made_by_load: false,
        at_once: false,
    });
    let got = (file.size_bytes, file.filled_bytes, file.reserved_bytes);
    assert_eq!(got, expected, "{size_now:?} {fill} {kind:?}");
}

#[test]
fn what_is_laid_out_is_what_the_layout_does() {
    check(None, true, Kind::Regular, (None, 100, 0));
    check(None, false, Kind::Regular, (None, 0, 100));
    check(Some(30), true, Kind::Regular, (Some(30), 70, 0));
    check(Some(30), false, Kind::Regular, (Some(30), 0, 70));
    check(Some(200), true, Kind::Regular, (Some(200), 200, 0));
    check(Some(200), false, Kind::Regular, (Some(200), 0, 0));
    check(None, true, Kind::Block, (Some(100), 0, 0));
}
