use super::{OnPiece, Permits, lay_out};
use crate::plan::{FileAction, Kind};
use crate::testing::{count_byte, skipped};
use fathom_core::workload::Fallocate;
use fathom_door::Permit;
use fathom_door::mark::{self, Standing};
use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn action(path: &Path, size_now: Option<u64>, size_needed: u64, fill: bool) -> FileAction {
    FileAction {
        path: path.to_owned(),
        kind: Kind::Regular,
        size_now,
        size_needed,
        reads: fill,
        writes: !fill,
        fill,
        fallocate: Fallocate::Native,
        made_by_load: false,
        at_once: false,
        fsync: true,
    }
}

fn make(action: &FileAction) -> Result<()> {
    make_watched(action, &mut |_, _| Ok(()))
}

fn make_watched(action: &FileAction, on_piece: &mut OnPiece<'_>) -> Result<()> {
    let permit = Permit::new_file(&action.path);
    if action.size_now.is_none() {
        // What is there by now is not looked at: that is what is tested.
        return lay_out(action, &permit, on_piece);
    }
    let permits = Permits::unasked([action.path.as_path()]).expect("a permit");
    lay_out(action, permits.of(&action.path)?, on_piece)
}

/// What is read is on the disk: written, not only reserved, without holes.
#[test]
fn a_file_to_be_read_holds_real_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let bytes = 3 * MIB + 12_345;
    make(&action(&path, None, bytes, true)).expect("laid out");
    let contents = std::fs::read(&path).expect("the file");
    assert_eq!(contents.len() as u64, bytes);
    // Random, and no two sectors alike: neither compression nor deduplication answers for the disk.
    let mut sectors: Vec<&[u8]> = contents.chunks_exact(512).collect();
    for sector in &sectors {
        assert!(count_byte(sector, 0) < 30);
    }
    let count = sectors.len();
    sectors.sort_unstable();
    sectors.dedup();
    let distinct = sectors.len();
    assert_eq!(distinct, count);
    let file = File::open(&path).expect("the file");
    match fathom_sys::file::fiemap(&file, 0, bytes, 1000) {
        Ok(extents) => {
            assert!(!extents.is_empty());
            let mut end = 0;
            for extent in extents {
                assert!(!extent.is_unwritten(), "{extent:?}");
                assert!(!extent.is_delalloc(), "after fsync: {extent:?}");
                assert_eq!(extent.logical_bytes, end, "a hole");
                end += extent.length_bytes;
            }
            assert!(end >= bytes);
        }
        Err(error) => skipped(
            "a_file_to_be_read_holds_real_data",
            format!("FS_IOC_FIEMAP: {error}"),
        ),
    }
}

#[test]
fn a_file_to_be_written_is_reserved() {
    let directory = tempfile::tempdir().expect("a directory");
    for how in [
        Fallocate::None,
        Fallocate::Native,
        Fallocate::Posix,
        Fallocate::Keep,
        Fallocate::Truncate,
    ] {
        let path = directory.path().join(format!("{how:?}"));
        let action = FileAction {
            fallocate: how,
            ..action(&path, None, 2 * MIB, false)
        };
        make(&action).expect("laid out");
        let metadata = std::fs::metadata(&path).expect("the file");
        assert_eq!(metadata.len(), 2 * MIB, "{how:?}");
        let reserved = metadata.blocks() * 512;
        match how {
            Fallocate::None | Fallocate::Truncate => assert_eq!(reserved, 0, "{how:?}"),
            _ if reserved == 0 => skipped("a_file_to_be_written_is_reserved", "fallocate"),
            _ => assert!(reserved >= 2 * MIB, "{how:?}: {reserved}"),
        }
    }
}

/// What was there stays; only what is missing is written.
#[test]
fn an_existing_file_grows_and_keeps_its_contents() {
    for fill in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        std::fs::write(&path, vec![b'a'; 10_000]).expect("a file");
        make(&action(&path, Some(10_000), 2 * MIB, fill)).expect("laid out");
        let contents = std::fs::read(&path).expect("the file");
        assert_eq!(contents.len() as u64, 2 * MIB);
        assert!(contents[..10_000].iter().all(|byte| *byte == b'a'));
        assert_eq!(
            fill,
            contents[10_000..].iter().filter(|byte| **byte != 0).count() > 1 << 20
        );
    }
}

#[test]
fn a_file_that_is_large_enough_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, b"contents").expect("a file");
    make(&action(&path, Some(8), 4, false)).expect("nothing to do");
    assert_eq!(std::fs::read(&path).expect("the file"), b"contents");
}

#[test]
fn overwrite_writes_all_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, vec![b'a'; 100_000]).expect("a file");
    make(&action(&path, Some(100_000), 50_000, true)).expect("laid out");
    let contents = std::fs::read(&path).expect("the file");
    assert_eq!(contents.len(), 100_000);
    assert!(count_byte(&contents, b'a') < 1000);
}

/// Whoever made the file since the plan was made keeps it.
#[test]
fn a_file_that_appeared_is_not_touched() {
    for fill in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        let action = action(&path, None, MIB, fill);
        std::fs::write(&path, b"precious").expect("a file");
        let error = make(&action).expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).expect("the file"), b"precious");
        std::fs::remove_file(&path).expect("removed");
        // A name that leads elsewhere is a file that appeared.
        let elsewhere = directory.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("a link");
        assert!(make(&action).is_err());
        assert!(!elsewhere.exists());
    }
}

/// Whoever appended to the file since the plan was made keeps what he wrote.
#[test]
fn a_file_that_grew_is_not_cut() {
    for fill in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        let action = action(&path, Some(1000), MIB, fill);
        std::fs::write(&path, vec![b'a'; 2 << 20]).expect("a file");
        let error = make(&action).expect_err("it is not as planned");
        assert!(error.to_string().contains("run again"), "{error}");
        let contents = std::fs::read(&path).expect("the file");
        assert_eq!(contents, vec![b'a'; 2 << 20]);
    }
}

fn stopping_after(pieces: u64) -> impl FnMut(u64, u64) -> Result<()> {
    let mut left = pieces;
    move |_, _| {
        left -= 1;
        if left == 0 {
            Err(ErrorKind::Interrupted.into())
        } else {
            Ok(())
        }
    }
}

#[test]
fn what_was_made_for_nothing_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let result = make_watched(&action(&path, None, 10 * MIB, true), &mut stopping_after(3));
    assert_eq!(result.expect_err("stopped").kind(), ErrorKind::Interrupted);
    assert!(!path.exists());
}

#[test]
fn what_was_extended_for_nothing_is_cut_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    std::fs::write(&path, vec![b'a'; 10_000]).expect("a file");
    let result = make_watched(
        &action(&path, Some(10_000), 10 * MIB, true),
        &mut stopping_after(3),
    );
    assert_eq!(result.expect_err("stopped").kind(), ErrorKind::Interrupted);
    assert_eq!(std::fs::read(&path).expect("the file"), vec![b'a'; 10_000]);
}

#[test]
fn progress_is_told_and_only_new_files_are_marked() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("x");
    let mut told = Vec::new();
    let total = 2 * MIB + 5;
    make_watched(&action(&path, None, total, true), &mut |done, total| {
        told.push((done, total));
        Ok(())
    })
    .expect("laid out");
    assert_eq!(told, [(MIB, total), (2 * MIB, total), (total, total)]);
    let standing = |path: &Path| mark::standing(&File::open(path).expect("open")).expect("a mark");
    let killed = standing(&path);
    if killed == Standing::NoMarks {
        return skipped(
            "progress_is_told_and_only_new_files_are_marked",
            "user attributes",
        );
    }
    assert_eq!(killed, Standing::Made, "also where nobody came to seal it");
    // A file that was there is not ours to mark.
    let other = directory.path().join("y");
    std::fs::write(&other, "x").expect("a file");
    make(&action(&other, Some(1), MIB, true)).expect("extended");
    assert_eq!(standing(&other), Standing::Unmarked);
}
