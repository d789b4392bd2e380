use super::*;
use crate::fixture::{Tree, dev};

#[test]
fn the_running_system_is_read_where_it_is() {
    let root = SystemRoot::default();
    assert_eq!(root.at(Path::new("/proc/x")), Path::new("/proc/x"));
    assert_eq!(root.at(Path::new("relative")), Path::new("relative"));
    assert!(
        root.text("/proc/self/status")
            .is_some_and(|text| text.contains("Pid:"))
    );
    assert_eq!(root.text("/proc/no-such-file"), None);
}

#[test]
fn another_tree_is_read_below_its_prefix() {
    let tree = Tree::new();
    tree.file("/proc/x", " y \n");
    tree.file("/proc/empty", "\n");
    assert_eq!(tree.root.text("/proc/x").as_deref(), Some("y"));
    assert_eq!(tree.root.text("/proc/empty"), None);
}

#[test]
fn links_are_followed_within_the_tree() {
    let mut tree = Tree::new();
    tree.disk("vdb", dev(254, 16));
    tree.link("/dev/disk/by-id/virtio-data", "/dev/vdb");
    let found = tree.root.stat("/dev/disk/by-id/virtio-data").expect("the node");
    assert_eq!(found.node, dev(254, 16));
    assert_eq!(
        tree.root
            .canonical("/dev/disk/by-id/virtio-data")
            .expect("a path"),
        Path::new("/dev/vdb")
    );
}

#[test]
fn nodes_are_the_same_by_number_and_files_by_inode() {
    let node = FileStat {
        kind: FileKind::BlockDevice,
        device: dev(0, 6),
        inode: 1,
        node: dev(8, 0),
        size_bytes: 0,
    };
    let elsewhere = FileStat {
        device: dev(0, 7),
        inode: 9,
        ..node
    };
    assert!(node.same_as(&elsewhere));
    assert!(!node.same_as(&FileStat {
        node: dev(8, 1),
        ..node
    }));
    // A character device may have the same number as a block device.
    assert!(!node.same_as(&FileStat {
        kind: FileKind::CharacterDevice,
        ..node
    }));
    let file = FileStat {
        kind: FileKind::Regular,
        ..node
    };
    assert!(!file.same_as(&FileStat { inode: 2, ..file }));
}

#[test]
fn a_chain_of_links_ends_where_a_file_would_be_made() {
    let tree = Tree::new();
    tree.link("/data/a", "/data/b");
    tree.link("/data/b", "/data/nothing");
    let end = tree.root.destination(Path::new("/data/a")).expect("an end");
    assert_eq!(tree.root.at(&end).file_name(), Some("nothing".as_ref()));
    tree.link("/data/c", "/data/d");
    tree.link("/data/d", "/data/c");
    assert!(tree.root.destination(Path::new("/data/c")).is_err());
}
