use super::{BackingError, file, memory, punch, refuse_data, size_of};
use std::os::unix::fs::FileExt as _;

#[test]
fn a_new_one_is_sparse_and_found_again_with_what_was_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a directory");
    let path = dir.path().join("disk");
    assert_eq!(size_of(&path).expect("nothing there"), None);
    let made = file(&path, 1 << 30, false).expect("a new one");
    made.write_all_at(b"kept", 4096).expect("write");
    assert!(matches!(
        file(&path, 1 << 30, false),
        Err(BackingError::Locked { .. })
    ));
    drop(made);
    assert_eq!(size_of(&path).expect("there"), Some(1 << 30));
    let again = file(&path, 1 << 30, false).expect("the same");
    let mut back = [0; 4];
    again.read_exact_at(&mut back, 4096).expect("read");
    assert_eq!(&back, b"kept");
    punch(&again, 4096, 4096).expect("punch");
    again.read_exact_at(&mut back, 4096).expect("read");
    assert_eq!(back, [0; 4]);
    drop(again);
    assert!(matches!(
        file(&path, 1 << 20, false),
        Err(BackingError::Size { .. })
    ));
}

#[test]
fn what_was_not_made_here_is_only_taken_where_it_is_named() {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a directory");
    let path = dir.path().join("dear");
    std::fs::write(&path, [7; 4096]).expect("a file of somebody's");
    let refused = file(&path, 4096, false).expect_err("not ours");
    assert!(refused.is_refusal(), "{refused}");
    assert_eq!(std::fs::read(&path).expect("still there"), [7; 4096]);
    drop(file(&path, 4096, true).expect("named"));
    let refused = file(dir.path(), 4096, true).expect_err("a directory");
    assert!(refused.to_string().contains("is a directory"), "{refused}");
}

#[test]
fn memory_takes_what_was_written() {
    let memory = memory("test", 1 << 40).expect("address space");
    memory.write_all_at(&[1], (1 << 40) - 1).expect("write");
    assert_eq!(memory.metadata().expect("its size").len(), 1 << 40);
}

/// What was copied over one keeps its mark.
#[test]
fn one_that_holds_data_is_told() {
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a directory");
    let path = dir.path().join("disk");
    let made = file(&path, 1 << 20, false).expect("a new one");
    refuse_data(&made, &path).expect("nothing was written");
    drop(made);
    std::fs::write(&path, vec![7; 1 << 20]).expect("copied over");
    let again = file(&path, 1 << 20, false).expect("marked still");
    let refused = refuse_data(&again, &path).expect_err("it holds data");
    assert!(refused.is_refusal(), "{refused}");
}
