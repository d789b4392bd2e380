use super::*;
use crate::fixture::{Tree, dev};

/// Names, numbers, whether request-based, partitions.
type Found = Vec<(String, u32, bool, Vec<u32>)>;

fn find(tree: &Tree, path: &str) -> (Found, Vec<String>) {
    let target = inspect(&tree.root, Path::new(path));
    let (devices, reasons) = trace_devices(&tree.root, &target);
    let found = devices.into_iter().map(|device| {
        (
            device.name,
            device.dev,
            device.request_based,
            device.partition_devs,
        )
    });
    (found.collect(), reasons)
}

fn names(tree: &Tree, path: &str) -> (Vec<String>, Vec<String>) {
    let (found, reasons) = find(tree, path);
    (found.into_iter().map(|device| device.0).collect(), reasons)
}

/// A disk with requests: the fixture's disks have a scheduler; `mq` alone must do.
fn request_disk(tree: &mut Tree, name: &str, id: DevId) {
    tree.disk(name, id);
    tree.attribute(name, "queue/scheduler", "[none] mq-deadline");
    tree.attribute(name, "mq/0/nr_tags", "128");
}

fn bio_disk(tree: &mut Tree, name: &str, id: DevId) {
    tree.disk(name, id);
    tree.attribute(name, "queue/scheduler", "none");
}

#[test]
fn a_file_on_a_partition_is_traced_by_disk_and_partitions() {
    let mut tree = Tree::new();
    request_disk(&mut tree, "sda", dev(8, 0));
    tree.partition("sda", "sda1", dev(8, 1));
    tree.partition("sda", "sda2", dev(8, 2));
    tree.mounts(&["8:2 / ext4 /dev/root rw"]);
    tree.data_file("/data/x", dev(8, 2), 7);
    let sda = ("sda".to_owned(), 8 << 20, true, vec![8 << 20 | 1, 8 << 20 | 2]);
    assert_eq!(find(&tree, "/data/x"), (vec![sda.clone()], vec![]));
    assert_eq!(find(&tree, "/dev/sda1"), (vec![sda], vec![]));
}

#[test]
fn stacks_are_followed_to_their_disks() {
    let mut tree = Tree::new();
    bio_disk(&mut tree, "dm-0", dev(253, 0));
    bio_disk(&mut tree, "md0", dev(9, 0));
    request_disk(&mut tree, "vdb", dev(254, 16));
    request_disk(&mut tree, "vdc", dev(254, 32));
    tree.partition("vdb", "vdb1", dev(254, 17));
    tree.stack("md0", "vdb1");
    tree.stack("md0", "vdc");
    tree.stack("dm-0", "md0");
    let (found, reasons) = find(&tree, "/dev/dm-0");
    let brief: Vec<(&str, bool, usize)> = found
        .iter()
        .map(|(name, _, requests, parts)| (name.as_str(), *requests, parts.len()))
        .collect();
    assert_eq!(
        brief,
        [
            ("dm-0", false, 0),
            ("md0", false, 0),
            ("vdb", true, 1),
            ("vdc", true, 0)
        ]
    );
    assert_eq!(reasons, Vec::<String>::new());
}

#[test]
fn below_a_loop_device_is_what_holds_its_file() {
    let mut tree = Tree::new();
    request_disk(&mut tree, "vda", dev(254, 0));
    request_disk(&mut tree, "vdb", dev(254, 16));
    for (minor, file) in [
        (0, "/data/image"),
        (1, "/upper/image"),
        (2, "/fuse/disk"),
        (3, "/gone/image"),
    ] {
        let name = format!("loop{minor}");
        request_disk(&mut tree, &name, dev(7, minor));
        tree.attribute(&name, "loop/backing_file", file);
    }
    tree.mounts(&[
        "254:0 / ext4 /dev/vda rw",
        "0:40 /upper btrfs /dev/vdb rw",
        "0:41 /fuse fuse.limited-disk limited-disk rw",
    ]);
    tree.data_file("/data/image", dev(254, 0), 5);
    tree.data_file("/upper/image", dev(0, 40), 6);
    tree.data_file("/fuse/disk", dev(0, 41), 7);
    assert_eq!(
        names(&tree, "/dev/loop0"),
        (vec!["loop0".into(), "vda".into()], vec![])
    );
    assert_eq!(
        names(&tree, "/dev/loop1"),
        (vec!["loop1".into(), "vdb".into()], vec![])
    );
    let (devices, reasons) = names(&tree, "/dev/loop2");
    assert_eq!(devices, ["loop2"]);
    assert_eq!(
        reasons,
        [
            "block trace of what is below loop2 (/fuse/disk): not available, because fuse.limited-disk (limited-disk): \
          a process serves it, not a block device"
        ]
    );
    let (devices, reasons) = names(&tree, "/dev/loop3");
    assert_eq!(devices, ["loop3"]);
    assert!(
        reasons[0].contains("/gone/image is not visible from here"),
        "{reasons:?}"
    );
}

#[test]
fn targets_without_a_device_say_why() {
    let mut tree = Tree::new();
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:20 /shm tmpfs shm rw",
        "0:21 /net nfs4 server:/export rw",
    ]);
    tree.data_file("/shm/x", dev(0, 20), 3);
    tree.data_file("/net/x", dev(0, 21), 4);
    assert_eq!(
        names(&tree, "/shm/x"),
        (
            vec![],
            vec!["block trace of /shm/x: not available, because tmpfs keeps its data in memory".into()]
        )
    );
    let (devices, reasons) = names(&tree, "/net/x");
    assert_eq!(devices, Vec::<String>::new());
    assert!(reasons[0].contains("the disks are on the server"), "{reasons:?}");
    let null = TargetFile {
        kind: TargetKind::Null,
        device: None,
        device_missing: None,
        ..inspect(&tree.root, Path::new("/shm/x"))
    };
    assert_eq!(trace_devices(&tree.root, &null), (vec![], vec![]));
}

#[test]
fn a_hidden_path_cannot_be_told_apart() {
    let mut tree = Tree::new();
    bio_disk(&mut tree, "nvme0n1", dev(259, 0));
    tree.hidden_disk("nvme0c0n1");
    let (devices, reasons) = names(&tree, "/dev/nvme0n1");
    assert_eq!(devices, ["nvme0n1"]);
    assert!(
        reasons[0].starts_with("block trace of nvme0c0n1: not available"),
        "{reasons:?}"
    );
}

#[test]
fn a_circle_of_devices_ends() {
    let mut tree = Tree::new();
    request_disk(&mut tree, "loop0", dev(7, 0));
    tree.attribute("loop0", "loop/backing_file", "/data/image");
    tree.mounts(&["7:0 / ext4 /dev/loop0 rw"]);
    tree.data_file("/data/image", dev(7, 0), 5);
    assert_eq!(names(&tree, "/data/image"), (vec!["loop0".into()], vec![]));
}

/// Before Linux 5.0 a scheduler was the only sign.
#[test]
fn older_kernels_have_no_mq_directory() {
    let mut tree = Tree::new();
    tree.disk("sda", dev(8, 0));
    tree.attribute("sda", "queue/scheduler", "noop deadline [cfq]");
    assert!(find(&tree, "/dev/sda").0[0].2);
}
