use super::*;
use std::fs;

#[test]
fn what_no_run_leaves_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let dir = directory.path().join("run");
    fs::create_dir_all(dir.join("io")).expect("made");
    for name in [
        "run.json",
        ".run.json.tmp",
        "series.arrows",
        "io/000000.arrows",
        "io/.000000.parquet.tmp",
    ] {
        fs::write(dir.join(name), "x").expect("a file");
    }
    fs::write(dir.join("io/mine"), "dear").expect("a file");
    let outside = directory.path().join("outside");
    fs::create_dir(&outside).expect("made");
    fs::write(outside.join("000000.arrows"), "dear").expect("a file");
    std::os::unix::fs::symlink(&outside, dir.join("block")).expect("a link");
    let error = remove_run(&dir).expect_err("not only ours");
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read(dir.join("io/mine")).expect("read"), b"dear");
    assert_eq!(fs::read(outside.join("000000.arrows")).expect("read"), b"dear");
    assert!(!dir.join("run.json").exists() && !dir.join("io/000000.arrows").exists());
    fs::remove_file(dir.join("io/mine")).expect("removed");
    fs::remove_file(dir.join("block")).expect("removed");
    remove_run(&dir).expect("removed");
    assert!(!dir.exists());
    remove_run(&dir).expect("gone already");
    // A link in its place leads to somebody else's run.
    fs::write(outside.join("run.json"), "dear").expect("a file");
    std::os::unix::fs::symlink(&outside, &dir).expect("a link");
    assert!(matches!(remove_run(&dir), Err(StoreError::NotOurs { .. })));
    assert_eq!(fs::read(outside.join("run.json")).expect("read"), b"dear");
}
