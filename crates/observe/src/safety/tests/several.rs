//! Several paths at once, and what becomes of what is there.

use super::*;

#[test]
fn two_names_of_a_device_share_one_hold() {
    let tree = system();
    let names = [VDB, "/dev/disk/by-id/virtio-data", "/dev/vda"].map(PathBuf::from);
    let request = |path| WriteRequest {
        path,
        allow_overwrite: &names[..1],
        allow_signature: false,
        change: Change::default(),
        commands: false,
    };
    let requests: Vec<_> = names.iter().map(|path| request(path)).collect();
    let both = check_all(&tree.root, &requests[..2]).expect("allowed");
    assert!(Arc::ptr_eq(&both[0].permit, &both[1].permit));
    assert!(both[0].permit.holds_device());
    assert_eq!(both[1].path, names[1]);
    let refusals = check_all(&tree.root, &requests).expect_err("vda is mounted and not named");
    assert!(
        matches!(refusals[..], [Refusal::DeviceNotNamed { .. }]),
        "{refusals:?}"
    );
}

#[test]
fn a_file_that_would_only_grow_is_refused_in_other_words() {
    let tree = system();
    tree.file("/data/short", "x");
    let request = WriteRequest {
        path: Path::new("/data/short"),
        allow_overwrite: &[],
        allow_signature: false,
        change: Change::Extend(1 << 20),
        commands: false,
    };
    refused(
        foreseen(foresee(&tree.root, request), check(&tree.root, request)),
        &expect![
            "/data/short was not made by fathom (it has no mark) and would have to grow from 1 B to 1 MiB. To use it as it is, give a size= of at most 1 B; to have it extended (what it holds stays), add --allow-overwrite /data/short; or choose another name"
        ],
    );
}
