use super::*;
use fathom_testkit::make;

fn facts(min_block_bytes: u64, alignment_bytes: u64, start: u64) -> IoFacts {
    IoFacts {
        reads: true,
        writes: true,
        direct: true,
        region: start..start + (1 << 20),
        min_block_bytes,
        alignment_bytes,
    }
}

#[test]
fn blocks_offsets_and_start_must_all_fit() {
    assert_eq!(misfit(&facts(4096, 4096, 0), 512), None);
    assert_eq!(misfit(&facts(1000, 4096, 0), 512), Some(1000));
    assert_eq!(misfit(&facts(4096, 100, 0), 512), Some(100));
    assert_eq!(misfit(&facts(4096, 4096, 511), 512), Some(511));
    assert_eq!(misfit(&facts(512, 512, 0), 4096), Some(512));
    assert_eq!(misfit(&facts(1, 1, 1), 1), None);
}

fn on(filesystem: &str) -> TargetFile {
    TargetFile {
        filesystem: Some(filesystem.to_owned()),
        device_missing: Some("none".to_owned()),
        ..make::file("x")
    }
}

#[test]
fn taking_the_flag_is_not_honouring_it() {
    assert_eq!(judged(&on("ext4"), Support::Aligned(512), 512).0, Some(true));
    assert_eq!(judged(&on("ext4"), Support::Accepted, 512).0, Some(true));
    assert_eq!(judged(&on("nfs4"), Support::Accepted, 1).0, None);
    for filesystem in ["zfs", "fuse.sshfs", "fuse", "9p", "virtiofs"] {
        assert_eq!(
            judged(&on(filesystem), Support::Accepted, 512).0,
            None,
            "{filesystem}"
        );
    }
}
