use super::*;
use crate::target::inspect;
use std::io::Write;
use tempfile::NamedTempFile;

const SIZE: u64 = 1 << 20;

fn facts(reads: bool, direct: bool) -> IoFacts {
    IoFacts {
        reads,
        writes: !reads,
        direct,
        region: 0..SIZE,
        min_block_bytes: 4096,
        alignment_bytes: 4096,
    }
}

fn look(path: &Path, facts: &IoFacts) -> (Vec<Warning>, Vec<Requirement>) {
    let root = SystemRoot::default();
    before(&root, &inspect(&root, path), facts)
}

#[track_caller]
fn met(requirements: &[Requirement], name: &str) -> Option<bool> {
    let found = requirements.iter().find(|requirement| requirement.name == name);
    found
        .unwrap_or_else(|| panic!("no {name} in {requirements:?}"))
        .met
}

/// A temporary file on a file system with extents and direct I/O, or `None` and the reason on stderr.
fn on_ext4(test: &str) -> Option<NamedTempFile> {
    let file = NamedTempFile::new_in(std::env::temp_dir()).expect("a temporary file");
    let filesystem = inspect(&SystemRoot::default(), file.path()).filesystem;
    if filesystem.as_deref() == Some("ext4") {
        return Some(file);
    }
    fathom_testkit::skipped(
        test,
        format!("ext4 for temporary files (they are on {filesystem:?})"),
    );
    None
}

#[test]
fn allocated_and_never_written_is_not_on_the_disk() {
    let Some(file) = on_ext4("allocated_and_never_written_is_not_on_the_disk") else {
        return;
    };
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, SIZE).expect("fallocate");
    let (warnings, requirements) = look(file.path(), &facts(true, true));
    assert_eq!(met(&requirements, "written_extents"), Some(false));
    let share = warnings.iter().find_map(|warning| match warning {
        Warning::UnwrittenExtents { share_percent, .. } => Some(*share_percent),
        _ => None,
    });
    assert_eq!(share.map(|percent| percent.round() as u32), Some(100));

    // A quarter of it is written, and not yet flushed: that is done on the way.
    file.as_file()
        .write_all(&vec![7; SIZE as usize / 4])
        .expect("written");
    let (warnings, _) = look(file.path(), &facts(true, true));
    let share = warnings.iter().find_map(|warning| match warning {
        Warning::UnwrittenExtents { share_percent, .. } => Some(*share_percent),
        _ => None,
    });
    assert_eq!(share.map(|percent| percent.round() as u32), Some(75));
    // A load that only writes does not care.
    let (warnings, requirements) = look(file.path(), &facts(false, true));
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(
        requirements
            .iter()
            .all(|requirement| requirement.name != "written_extents")
    );
}

#[test]
fn a_written_file_is_sound_and_warm() {
    let Some(file) = on_ext4("a_written_file_is_sound_and_warm") else {
        return;
    };
    file.as_file()
        .write_all(&vec![7; SIZE as usize])
        .expect("written");
    let (warnings, requirements) = look(file.path(), &facts(true, true));
    assert_eq!(met(&requirements, "written_extents"), Some(true));
    assert_eq!(met(&requirements, "direct_io"), Some(true), "{requirements:?}");
    assert!(
        warnings
            .iter()
            .all(|warning| matches!(warning, Warning::DeviceUnknown { .. })),
        "{warnings:?}"
    );
    let (warnings, requirements) = look(file.path(), &facts(true, false));
    assert_eq!(met(&requirements, "cold_cache"), Some(false));
    assert_eq!(met(&requirements, "direct_io"), Some(false));
    let resident = warnings.iter().find_map(|warning| match warning {
        Warning::PageCache { resident_percent, .. } => Some(*resident_percent),
        _ => None,
    });
    assert_eq!(resident.map(|percent| percent.round() as u32), Some(100));
}

#[test]
fn a_sparse_file_is_holes_by_either_way() {
    let Some(file) = on_ext4("a_sparse_file_is_holes_by_either_way") else {
        return;
    };
    file.as_file().set_len(SIZE).expect("its size");
    let (_, requirements) = look(file.path(), &facts(true, true));
    assert_eq!(met(&requirements, "written_extents"), Some(false));
}

#[test]
fn blocks_that_do_not_fit_are_told_before_the_run() {
    let Some(file) = on_ext4("blocks_that_do_not_fit_are_told_before_the_run") else {
        return;
    };
    file.as_file()
        .write_all(&vec![7; SIZE as usize])
        .expect("written");
    let odd = IoFacts {
        min_block_bytes: 1000,
        ..facts(true, true)
    };
    let (warnings, requirements) = look(file.path(), &odd);
    assert_eq!(met(&requirements, "direct_io"), Some(false));
    assert!(
        warnings.iter().any(|warning| matches!(
            warning,
            Warning::DirectUnaligned {
                block_bytes: 1000,
                ..
            }
        )),
        "{warnings:?}"
    );
}

#[test]
fn files_in_memory_are_told() {
    let shm = Path::new("/dev/shm");
    let on_tmpfs = inspect(&SystemRoot::default(), shm).filesystem.as_deref() == Some("tmpfs");
    let Some(file) = on_tmpfs.then(|| NamedTempFile::new_in(shm).ok()).flatten() else {
        fathom_testkit::skipped("files_in_memory_are_told", "a writable tmpfs in /dev/shm");
        return;
    };
    let (warnings, requirements) = look(file.path(), &facts(true, false));
    let filesystem = "tmpfs".to_owned();
    let path = file.path().to_string_lossy().into_owned();
    assert_eq!(warnings, [Warning::MemoryFilesystem { path, filesystem }]);
    assert_eq!(met(&requirements, "disk_below"), Some(false));
}

#[test]
fn a_file_that_is_gone_is_not_known() {
    let (_, requirements) = look(Path::new("/no/such/file"), &facts(true, true));
    for name in ["written_extents", "direct_io"] {
        assert_eq!(met(&requirements, name), None);
    }
}

#[test]
fn layers_are_told() {
    for filesystem in ["overlay", "fuse", "fuse.sshfs", "ecryptfs"] {
        assert!(stacked(filesystem));
    }
    for filesystem in ["ext4", "fuseblk", "xfs", "tmpfs"] {
        assert!(!stacked(filesystem));
    }
}
