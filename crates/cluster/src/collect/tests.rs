use super::{below, is_whole};
use crate::agent::Kept;
use std::path::Path;

#[test]
fn a_pod_cannot_name_a_file_outside_of_its_directory() {
    let dir = Path::new("/runs/a");
    assert_eq!(
        below(dir, "run/series.parquet").ok().as_deref(),
        Some(Path::new("/runs/a/run/series.parquet"))
    );
    for path in ["../x", "/etc/passwd", "a/../../x", "", "./a/../b", ".."] {
        assert!(below(dir, path).is_err(), "{path}");
    }
}

#[test]
fn what_is_here_and_right_is_not_fetched_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a");
    std::fs::write(&path, b"0123456789").expect("written");
    let mut kept = Kept {
        path: String::from("a"),
        size_bytes: 10,
        sha256: String::from("84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882"),
    };
    assert!(is_whole(&path, &kept));
    kept.sha256.replace_range(..1, "9");
    assert!(!is_whole(&path, &kept));
    assert!(!is_whole(&dir.path().join("b"), &kept));
}
