//! Fewer warnings.

use super::merge;
use fathom_core::run::Warning;

fn cached(path: &str, resident_percent: f64) -> Warning {
    Warning::PageCache {
        path: path.to_owned(),
        resident_percent,
    }
}

#[test]
fn two_files_are_named_and_three_are_counted() {
    let two = vec![cached("a", 1.0), cached("b", 2.0)];
    assert_eq!(merge(two.clone()), two);
    let three = vec![cached("a", 1.0), cached("b", 5.0), cached("c", 2.0)];
    assert_eq!(merge(three), vec![cached("a and 2 more files", 5.0)]);
}

#[test]
fn different_troubles_stay_apart_and_repetitions_go() {
    let tmpfs = |path: &str| Warning::MemoryFilesystem {
        path: path.to_owned(),
        filesystem: String::from("tmpfs"),
    };
    let list = vec![tmpfs("a"), cached("a", 1.0), tmpfs("a"), Warning::DebugBuild];
    assert_eq!(
        merge(list),
        vec![tmpfs("a"), cached("a", 1.0), Warning::DebugBuild]
    );
}

#[test]
fn other_file_systems_are_other_troubles() {
    let on = |path: &str, filesystem: &str| Warning::MemoryFilesystem {
        path: path.to_owned(),
        filesystem: filesystem.to_owned(),
    };
    let list = vec![
        on("a", "tmpfs"),
        on("b", "ramfs"),
        on("c", "tmpfs"),
        on("d", "tmpfs"),
    ];
    assert_eq!(
        merge(list),
        vec![on("a and 2 more files", "tmpfs"), on("b", "ramfs")]
    );
}

#[test]
fn devices_of_one_size_are_clipped_together() {
    let clipped = |path: &str, bytes: u64| Warning::SizeClipped {
        path: path.to_owned(),
        size_bytes: 1 << 40,
        path_bytes: bytes,
        offset_bytes: 0,
        used_bytes: bytes,
    };
    let list = vec![clipped("a", 8), clipped("b", 8), clipped("c", 4), clipped("d", 8)];
    assert_eq!(
        merge(list),
        vec![clipped("a and 2 more files", 8), clipped("c", 4)]
    );
}
