use super::*;
use crate::fixture::{DEVICE_BYTES, Tree, dev};
use fathom_core::run::DeviceInfo;

/// Inspects `path`; checks the device's name and what counts its I/O, or the reason why there is none.
#[track_caller]
fn check(tree: &Tree, path: &str, disks: &[&str], words: &str) -> TargetFile {
    let found = inspect(&tree.root, Path::new(path));
    assert_eq!(whole_disk(&found), disks);
    assert_eq!(found.device.is_none(), found.device_missing.is_some());
    assert_eq!(describe(std::slice::from_ref(&found)), words);
    found
}

#[test]
fn a_file_on_a_partition_counts_on_the_whole_disk() {
    let mut tree = Tree::new();
    tree.disk("sda", dev(8, 0));
    tree.partition("sda", "sda2", dev(8, 2));
    tree.mounts(&["8:2 / ext4 /dev/root rw"]);
    tree.data_file("/data/data.bin", dev(8, 2), 7);
    tree.attribute("sda", "device/model", "QEMU HARDDISK   ");
    let found = check(
        &tree,
        "/data/data.bin",
        &["sda"],
        "data.bin on ext4, /dev/sda (QEMU HARDDISK)",
    );
    let expected = DeviceInfo {
        name: "sda".to_owned(),
        id: dev(8, 0),
        model: Some("QEMU HARDDISK".to_owned()),
        rotational: Some(false),
        scheduler: Some("mq-deadline".to_owned()),
        nr_requests: Some(128),
        logical_block_bytes: Some(512),
        size_bytes: Some(DEVICE_BYTES),
        slaves: vec![],
        slave_ids: vec![],
    };
    assert_eq!(found.device, Some(expected));
    assert_eq!((found.kind, found.size_bytes), (TargetKind::File, 9));
}

#[test]
fn devices_and_partitions_by_any_link() {
    let mut tree = Tree::new();
    tree.disk("vdb", dev(254, 16));
    tree.partition("vdb", "vdb1", dev(254, 17));
    tree.link("/dev/disk/by-id/virtio-data", "/dev/vdb");
    let found = check(
        &tree,
        "/dev/disk/by-id/virtio-data",
        &["vdb"],
        "/dev/disk/by-id/virtio-data on /dev/vdb (virtio, 8 MiB)",
    );
    assert_eq!(
        (found.kind, found.size_bytes),
        (TargetKind::BlockDevice, DEVICE_BYTES)
    );
    check(
        &tree,
        "/dev/vdb1",
        &["vdb"],
        "/dev/vdb1 on /dev/vdb (virtio, 8 MiB)",
    );
    check(&tree, "/dev/vdb", &["vdb"], "/dev/vdb (virtio, 8 MiB)");
}

#[test]
fn dm_over_md_over_partitions() {
    let mut tree = Tree::new();
    for (name, minor) in [("vdb", 16), ("vdc", 32)] {
        tree.disk(name, dev(254, minor));
        tree.partition(name, &format!("{name}1"), dev(254, minor + 1));
    }
    tree.disk("md0", dev(9, 0));
    tree.disk("dm-0", dev(253, 0));
    tree.attribute("md0", "md/level", "raid0");
    tree.attribute("dm-0", "dm/name", "vg-data");
    tree.attribute("dm-0", "dm/uuid", "LVM-abcdef");
    tree.stack("md0", "vdb1");
    tree.stack("md0", "vdc1");
    tree.stack("dm-0", "md0");
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "253:0 /data xfs /dev/mapper/vg-data rw",
    ]);
    tree.data_file("/data/x", dev(253, 0), 7);
    check(
        &tree,
        "/data/x",
        &["dm-0", "md0", "vdb", "vdc"],
        "x on xfs, /dev/dm-0 (LVM vg-data over md0, vdb, vdc)",
    );
}

#[test]
fn a_loop_device_counts_on_the_disk_of_its_file_too() {
    let mut tree = Tree::new();
    tree.disk("nvme0n1", dev(259, 0));
    tree.partition("nvme0n1", "nvme0n1p1", dev(259, 1));
    tree.data_file("/data/image", dev(259, 1), 7);
    tree.disk("loop0", dev(7, 0));
    tree.attribute("loop0", "loop/backing_file", "/data/image");
    check(
        &tree,
        "/dev/loop0",
        &["loop0", "nvme0n1"],
        "/dev/loop0 (loop on /data/image over nvme0n1, 8 MiB)",
    );
    // In a container the file may be out of sight: the loop device alone is known.
    tree.disk("loop1", dev(7, 1));
    tree.attribute("loop1", "loop/backing_file", "/elsewhere/image (deleted)");
    check(
        &tree,
        "/dev/loop1",
        &["loop1"],
        "/dev/loop1 (loop on /elsewhere/image, 8 MiB)",
    );
}

#[test]
fn hidden_multipath_devices_stop_nothing() {
    let mut tree = Tree::new();
    tree.disk("nvme0n1", dev(259, 0));
    tree.disk("nvme1n1", dev(259, 4));
    for hidden in ["nvme0c0n1", "nvme0c1n1", "nvme0c0n12", "nvme1c3n1"] {
        tree.hidden_disk(hidden);
    }
    check(
        &tree,
        "/dev/nvme0n1",
        &["nvme0n1", "nvme0c0n1", "nvme0c1n1"],
        "/dev/nvme0n1 (NVMe over nvme0c0n1, nvme0c1n1, 8 MiB)",
    );
}

#[test]
fn overlay_leads_to_the_upper_directory() {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.mounts(&[
        "0:40 / overlay overlay rw,lowerdir=/l1:/l2,upperdir=/up/diff,workdir=/up/work",
        "0:41 /other overlay overlay rw,lowerdir=/l1,upperdir=/host/diff,workdir=/host/work",
        "0:42 /ro overlay overlay ro,lowerdir=/l1:/l2",
    ]);
    tree.directory("/up/diff", dev(254, 0));
    tree.data_file("/x", dev(0, 40), 1);
    tree.data_file("/other/x", dev(0, 41), 1);
    tree.data_file("/ro/x", dev(0, 42), 1);
    check(&tree, "/x", &["vda"], "x on overlay, /dev/vda (virtio)");
    check(
        &tree,
        "/other/x",
        &[],
        "x on overlay (the overlay's upper directory /host/diff is not visible from here)",
    );
    check(
        &tree,
        "/ro/x",
        &[],
        "x on overlay (the overlay has no upper directory: it is read-only)",
    );
}

#[test]
fn overlay_over_btrfs_over_crypt() {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.disk("dm-0", dev(253, 0));
    tree.attribute("dm-0", "dm/name", "luks-root");
    tree.attribute("dm-0", "dm/uuid", "CRYPT-LUKS2-00ff-luks-root");
    tree.stack("dm-0", "vda");
    tree.mounts(&[
        "0:40 / overlay overlay rw,lowerdir=/l,upperdir=/up/diff,workdir=/up/work",
        "0:39 /up btrfs /dev/dm-0 rw,subvol=/",
    ]);
    tree.directory("/up/diff", dev(0, 39));
    tree.data_file("/x", dev(0, 40), 1);
    check(
        &tree,
        "/x",
        &["dm-0", "vda"],
        "x on overlay, /dev/dm-0 (dm-crypt luks-root over vda)",
    );
}

#[test]
fn an_endless_overlay_ends() {
    let mut tree = Tree::new();
    tree.mounts(&["0:40 / overlay overlay rw,upperdir=/up"]);
    tree.directory("/up", dev(0, 40));
    tree.data_file("/x", dev(0, 40), 1);
    check(
        &tree,
        "/x",
        &[],
        "x on overlay (the overlay's upper directory /up is not visible from here)",
    );
}

#[test]
fn btrfs_names_all_its_devices() {
    let mut tree = Tree::new();
    for (name, minor) in [("vdb", 16), ("vdc", 32), ("vdd", 48)] {
        tree.disk(name, dev(254, minor));
    }
    tree.file("/sys/fs/btrfs/features/raid1c34", "0\n");
    tree.file("/sys/fs/btrfs/0bad-uuid/devices/vdd", "");
    tree.file("/sys/fs/btrfs/1234-uuid/devices/vdb", "");
    tree.file("/sys/fs/btrfs/1234-uuid/devices/vdc", "");
    tree.mounts(&[
        "8:1 / ext4 /dev/root rw",
        "0:50 /data btrfs /dev/vdc rw,subvolid=5",
        "0:51 /lost btrfs /dev/gone rw",
    ]);
    tree.data_file("/data/x", dev(0, 50), 257);
    tree.data_file("/lost/x", dev(0, 51), 257);
    check(
        &tree,
        "/data/x",
        &["vdc", "vdb"],
        "x on btrfs, /dev/vdc (virtio over vdb)",
    );
    check(
        &tree,
        "/lost/x",
        &[],
        "x on btrfs (btrfs names /dev/gone as its source, which is no block device here)",
    );
}

#[test]
fn file_systems_without_a_device_say_why() {
    let mut tree = Tree::new();
    let cases = [
        ("tmpfs", "tmpfs", "tmpfs keeps its data in memory"),
        (
            "fuse.sshfs",
            "host:/dir",
            "fuse.sshfs (host:/dir): a process serves it, not a block device",
        ),
        (
            "nfs4",
            "server:/export",
            "nfs4 from server:/export: the disks are on the server",
        ),
        (
            "9p",
            "drvfs",
            "9p from drvfs: the disks are on the host of this machine",
        ),
        (
            "zfs",
            "tank/data",
            "zfs does not tell which devices hold tank/data",
        ),
        (
            "novelfs",
            "what",
            "novelfs names what as its source, which is no block device here",
        ),
    ];
    for (kind, source, reason) in cases {
        tree.mounts(&[
            "8:1 / ext4 /dev/root rw",
            &format!("0:37 /mnt {kind} {source} rw"),
        ]);
        tree.data_file("/mnt/x", dev(0, 37), 3);
        let found = check(&tree, "/mnt/x", &[], &format!("x on {kind} ({reason})"));
        assert_eq!(found.filesystem.as_deref(), Some(kind));
    }
}

#[test]
fn unknown_numbers_stop_nothing() {
    let mut tree = Tree::new();
    tree.data_file("/data/x", dev(8, 1), 3);
    check(
        &tree,
        "/data/x",
        &[],
        "x on ext4 (/sys does not show block device 8:1)",
    );
    tree.file("/proc/self/mountinfo", "");
    tree.data_file("/data/x", dev(0, 37), 3);
    check(
        &tree,
        "/data/x",
        &[],
        "x on an unknown file system (it is on device 0:37, which /proc/self/mountinfo does not list)",
    );
}

#[test]
fn a_path_that_is_not_there_yet_is_on_its_directory() {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.mounts(&["254:0 / ext4 /dev/vda rw"]);
    tree.directory("/data", dev(254, 0));
    check(
        &tree,
        "/data/new/deep/x.0.0",
        &["vda"],
        "x.0.0 on ext4, /dev/vda (virtio)",
    );
    check(&tree, "/data", &["vda"], "data on ext4, /dev/vda (virtio)");
}

#[test]
fn many_files_are_named_in_short() {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.mounts(&["254:0 / ext4 /dev/vda rw", "0:20 /shm tmpfs shm rw"]);
    tree.directory("/data", dev(254, 0));
    tree.data_file("/shm/x", dev(0, 20), 1);
    let files = |n: usize| -> Vec<TargetFile> {
        let paths = (0..n).map(|i| format!("/data/job.{i}.0"));
        paths.map(|path| inspect(&tree.root, Path::new(&path))).collect()
    };
    let mut some = files(2);
    some.push(inspect(&tree.root, Path::new("/shm/x")));
    some.extend(files(2));
    assert_eq!(
        describe(&some),
        "job.0.0, job.1.0 on ext4, /dev/vda (virtio); x on tmpfs (tmpfs keeps its data in memory)"
    );
    assert_eq!(
        describe(&files(16)),
        "16 files (job.0.0 … job.15.0) on ext4, /dev/vda (virtio)"
    );
    assert_eq!(describe(&[]), "");
}

#[test]
fn the_running_system_is_described() {
    let here = inspect(&SystemRoot::default(), Path::new("Cargo.toml"));
    assert_eq!(here.kind, TargetKind::File);
    assert!(here.size_bytes > 0);
    assert!(here.filesystem.is_some(), "{here:?}");
    let null = inspect(&SystemRoot::default(), Path::new("/dev/null"));
    assert_eq!(null.kind, TargetKind::CharacterDevice);
    let odd = inspect(&SystemRoot::default(), Path::new("Cargo.toml/below/a/file"));
    assert!(odd.device.is_none() && odd.device_missing.is_some(), "{odd:?}");
}
