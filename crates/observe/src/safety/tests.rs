mod generic;
mod several;

use super::*;
use crate::fixture::{Tree, dev};
use expect_test::{Expect, expect};

const VDB: &str = "/dev/vdb";

/// A system with a blank disk that has two partitions, and some files.
fn system() -> Tree {
    let mut tree = Tree::new();
    tree.disk("vda", dev(254, 0));
    tree.disk("vdb", dev(254, 16));
    tree.partition("vdb", "vdb1", dev(254, 17));
    tree.partition("vdb", "vdb2", dev(254, 18));
    tree.link("/dev/disk/by-id/virtio-data", VDB);
    tree.mounts(&["254:0 / ext4 /dev/vda rw", "0:6 /dev devtmpfs devtmpfs rw"]);
    tree.directory("/data", dev(254, 0));
    tree
}

fn ask(tree: &Tree, path: &str, overwrite: &[&str], allow_signature: bool) -> Result<Permission, Refusal> {
    asked_by(false, tree, path, overwrite, allow_signature)
}

/// By a load that sends commands, or bytes.
fn asked_by(
    commands: bool,
    tree: &Tree,
    path: &str,
    overwrite: &[&str],
    allow_signature: bool,
) -> Result<Permission, Refusal> {
    let allow_overwrite: Vec<PathBuf> = overwrite.iter().map(PathBuf::from).collect();
    let request = WriteRequest {
        path: Path::new(path),
        allow_overwrite: &allow_overwrite,
        allow_signature,
        change: Change::default(),
        commands,
    };
    foreseen(foresee(&tree.root, request), check(&tree.root, request))
}

/// What was foreseen is what came.
#[track_caller]
fn foreseen(
    before: Result<Basis, Refusal>,
    answer: Result<Permission, Refusal>,
) -> Result<Permission, Refusal> {
    let in_words = |refusal: Refusal| refusal.to_string();
    let came = answer.as_ref().map(|permission| permission.basis.clone());
    assert_eq!(
        before.map_err(in_words),
        came.map_err(ToString::to_string),
        "foreseen, and come"
    );
    answer
}

#[track_caller]
fn refused(answer: Result<Permission, Refusal>, expected: &Expect) {
    expected.assert_eq(&answer.expect_err("a refusal").to_string());
}

fn write_at(tree: &Tree, path: &str, offset: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file = File::options()
        .write(true)
        .open(tree.real(path))
        .expect("the node");
    file.write_all_at(bytes, offset).expect("written");
}

#[test]
fn a_device_must_be_named() {
    let tree = system();
    refused(
        ask(&tree, VDB, &[], true),
        &expect![
            "/dev/vdb is a block device (8 MiB); writing to it destroys what is on it. To allow that, add --allow-overwrite /dev/vdb"
        ],
    );
    tree.attribute("vdb", "device/model", "Amazon Elastic Block Store");
    tree.attribute("vdb", "device/serial", "vol0123456789");
    // Naming another device, or a partition, is not naming it.
    refused(
        ask(&tree, VDB, &["/dev/vda", "/dev/vdb1", "/dev/no"], true),
        &expect![
            "/dev/vdb is a block device (Amazon Elastic Block Store, 8 MiB, serial vol0123456789); writing to it destroys what is on it. To allow that, add --allow-overwrite /dev/vdb"
        ],
    );
}

#[test]
fn a_named_blank_device_is_allowed_by_any_of_its_names() {
    let tree = system();
    for (path, named) in [
        (VDB, VDB),
        (VDB, "/dev/disk/by-id/virtio-data"),
        ("/dev/disk/by-id/virtio-data", VDB),
        ("/dev/vdb1", "/dev/vdb1"),
    ] {
        let permission = ask(&tree, path, &[named], false).expect("allowed");
        assert_eq!(permission.basis, Basis::NamedDevice(vec![]));
        assert!(permission.permit.holds_device());
    }
}

#[test]
fn mounts_are_named_wherever_they_are() {
    let mut tree = system();
    let root = "254:0 / ext4 /dev/vda rw";
    tree.mounts(&[root, "254:16 /data ext4 /dev/vdb rw"]);
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    tree.mounts(&[root, "254:17 /data ext4 /dev/vdb1 rw"]);
    refused(
        ask(&tree, "/dev/disk/by-id/virtio-data", &[VDB], true),
        &expect![
            "/dev/disk/by-id/virtio-data is in use: /dev/vdb1 is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    refused(
        ask(&tree, "/dev/vdb1", &["/dev/vdb1"], true),
        &expect![
            "/dev/vdb1 is in use: /dev/vdb1 is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    // The partition beside it is free, unless the whole disk is mounted.
    ask(&tree, "/dev/vdb2", &["/dev/vdb2"], true).expect("allowed");
    tree.mounts(&[root, "254:16 /data ext4 /dev/vdb rw"]);
    refused(
        ask(&tree, "/dev/vdb2", &["/dev/vdb2"], true),
        &expect![
            "/dev/vdb2 is in use: /dev/vdb is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    // btrfs has a number of its own: the source tells.
    tree.mounts(&[root, "0:50 /srv btrfs /dev/vdb2 rw"]);
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb2 is mounted on /srv. Unmount it (umount /srv), or choose another device"
        ],
    );
    tree.mounts(&[root, "0:50 /srv bcachefs /dev/vda:/dev/vdb1 rw"]);
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb1 is mounted on /srv. Unmount it (umount /srv), or choose another device"
        ],
    );
    tree.disk("vdc", dev(254, 32));
    tree.mounts(&[root, "0:50 /srv btrfs /dev/vdc rw"]);
    tree.file("/sys/fs/btrfs/1234-5678/devices/vdb2", "");
    tree.file("/sys/fs/btrfs/1234-5678/devices/vdc", "");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb2 is part of a mounted btrfs (UUID 1234-5678). Take that apart first, or choose another device"
        ],
    );
}

#[test]
fn holders_are_followed_to_their_mounts() {
    let mut tree = system();
    tree.disk("md0", dev(9, 0));
    tree.disk("dm-0", dev(253, 0));
    tree.attribute("md0", "md/level", "raid1");
    tree.attribute("dm-0", "dm/name", "vg-data");
    tree.attribute("dm-0", "dm/uuid", "LVM-abcdef");
    tree.stack("md0", "vdb2");
    tree.stack("dm-0", "md0");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb2 is part of /dev/md0 (md raid1). Take that apart first, or choose another device"
        ],
    );
    refused(
        ask(&tree, "/dev/md0", &["/dev/md0"], true),
        &expect![
            "/dev/md0 is in use: /dev/md0 is part of /dev/dm-0 (LVM, vg-data). Take that apart first, or choose another device"
        ],
    );
    tree.mounts(&[
        "254:0 / ext4 /dev/vda rw",
        "253:0 /data xfs /dev/mapper/vg-data rw",
    ]);
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/dm-0 is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    refused(
        ask(&tree, "/dev/dm-0", &["/dev/dm-0"], true),
        &expect![
            "/dev/dm-0 is in use: /dev/dm-0 is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    // A holder of the whole disk holds its partitions too.
    tree.disk("bcache0", dev(252, 0));
    tree.stack("bcache0", "vda");
    tree.partition("vda", "vda1", dev(254, 1));
    tree.mounts(&["8:1 / ext4 /dev/root rw"]);
    refused(
        ask(&tree, "/dev/vda1", &["/dev/vda1"], true),
        &expect![
            "/dev/vda1 is in use: /dev/vda is part of /dev/bcache0. Take that apart first, or choose another device"
        ],
    );
}

#[test]
fn swap_and_loop_devices_are_seen() {
    let mut tree = system();
    tree.swap_on("/dev/vdb2");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb2 is swap space. Switch it off (swapoff /dev/vdb2), or choose another target"
        ],
    );
    tree.file("/proc/swaps", "Filename\n");
    tree.disk("loop3", dev(7, 3));
    tree.attribute("loop3", "loop/backing_file", "/dev/vdb1");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb is in use: /dev/vdb1 is the backing file of /dev/loop3. Detach that first (losetup -d /dev/loop3), or choose another target"
        ],
    );
    tree.data_file("/data/image", dev(254, 0), 50);
    tree.attribute("loop3", "loop/backing_file", "/data/image");
    refused(
        ask(&tree, "/data/image", &["/data/image"], true),
        &expect![
            "/data/image is in use: it is the backing file of /dev/loop3. Detach that first (losetup -d /dev/loop3), or choose another target"
        ],
    );
    tree.data_file("/data/swapfile", dev(254, 0), 51);
    tree.swap_on("/data/swapfile");
    refused(
        ask(&tree, "/data/swapfile", &["/data/swapfile"], true),
        &expect![
            "/data/swapfile is in use: it is swap space. Switch it off (swapoff /data/swapfile), or choose another target"
        ],
    );
}

#[test]
fn a_loop_device_is_in_use_where_what_is_below_it_is() {
    let mut tree = system();
    for minor in [0, 1] {
        tree.disk(&format!("loop{minor}"), dev(7, minor));
    }
    let allowed = |tree: &Tree| ask(tree, "/dev/loop0", &["/dev/loop0"], true);
    tree.data_file("/data/image", dev(254, 0), 50);
    tree.attribute("loop0", "loop/backing_file", "/data/image");
    allowed(&tree).expect("nothing else uses the file");
    tree.attribute("loop1", "loop/backing_file", "/data/image");
    refused(
        allowed(&tree),
        &expect![
            "/dev/loop0 is in use: /data/image is the backing file of /dev/loop1. Detach that first (losetup -d /dev/loop1), or choose another target"
        ],
    );
    tree.attribute("loop1", "loop/backing_file", "/data/other");
    tree.attribute("loop0", "loop/backing_file", "/dev/vdb1");
    allowed(&tree).expect("nothing else uses the device");
    tree.mounts(&["254:17 /srv ext4 /dev/vdb1 rw"]);
    refused(
        allowed(&tree),
        &expect![
            "/dev/loop0 is in use: /dev/vdb1 is mounted on /srv. Unmount it (umount /srv), or choose another device"
        ],
    );
    // A broken tree does not hang.
    tree.mounts(&["8:1 / ext4 /dev/root rw"]);
    tree.attribute("loop0", "loop/backing_file", "/dev/loop1");
    tree.attribute("loop1", "loop/backing_file", "/dev/loop0");
    refused(
        allowed(&tree),
        &expect![
            "/dev/loop0 is in use: /dev/loop0 is the backing file of /dev/loop1. Detach that first (losetup -d /dev/loop1), or choose another target"
        ],
    );
}

#[test]
fn what_cannot_be_written_is_said() {
    let tree = system();
    tree.attribute("vdb", "ro", "1");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect!["/dev/vdb is read-only. Make it writable (blockdev --setrw /dev/vdb), or only read from it"],
    );
    refused(
        ask(&tree, "/dev/vdb1", &["/dev/vdb1"], true),
        &expect![
            "/dev/vdb1 is read-only. Make it writable (blockdev --setrw /dev/vdb1), or only read from it"
        ],
    );
    tree.attribute("vdb", "ro", "0");
    tree.attribute("vdb", "size", "0");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect!["/dev/vdb is empty: the device has no medium or was not set up. Choose another device"],
    );
}

#[test]
fn a_signature_needs_its_own_word() {
    let tree = system();
    write_at(&tree, VDB, 1080, &[0x53, 0xef]);
    write_at(&tree, VDB, 510, &[0x55, 0xaa]);
    write_at(&tree, VDB, 0, b"LUKS\xba\xbe");
    refused(
        ask(&tree, VDB, &[VDB], false),
        &expect![
            "/dev/vdb carries an ext2/ext3/ext4 file system, a LUKS encrypted volume and an MBR partition table or boot sector. If that may be destroyed, add --allow-overwrite-signature /dev/vdb (with --allow-overwrite /dev/vdb)"
        ],
    );
    let permission = ask(&tree, VDB, &[VDB], true).expect("allowed");
    let Basis::NamedDevice(found) = permission.basis else {
        panic!("{:?}", permission.basis);
    };
    assert_eq!(found.len(), 3);
    // The confirmation does not stand for the name.
    assert!(matches!(
        ask(&tree, VDB, &[], true),
        Err(Refusal::DeviceNotNamed { .. })
    ));
}

#[test]
fn not_knowing_means_no() {
    let tree = system();
    std::fs::remove_file(tree.real("/proc/self/mountinfo")).expect("removed");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb: it cannot be told whether it is mounted (/proc/self/mountinfo): No such file or directory (os error 2). Without knowing, nothing is written; run where /proc and /sys are readable, or choose another target"
        ],
    );
    refused(
        ask(&tree, "/data/new", &[], true),
        &expect![
            "/data/new: it cannot be told what it is on (/proc/self/mountinfo): No such file or directory (os error 2). Without knowing, nothing is written; run where /proc and /sys are readable, or choose another target"
        ],
    );
    let mut tree = system();
    let node = FileStat {
        kind: FileKind::BlockDevice,
        device: dev(0, 6),
        inode: 5,
        node: DevId { major: 8, minor: 64 },
        size_bytes: 0,
    };
    tree.root = tree.root.clone().with_stat("/dev/sde", node);
    refused(
        ask(&tree, "/dev/sde", &["/dev/sde"], true),
        &expect![
            "/dev/sde: it cannot be told whether it is in use (/sys does not show device 8:64): entity not found. Without knowing, nothing is written; run where /proc and /sys are readable, or choose another target"
        ],
    );
    // A device that reads shorter than /sys says.
    let tree = system();
    File::options()
        .write(true)
        .open(tree.real(VDB))
        .and_then(|image| image.set_len(600))
        .expect("cut");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb: it cannot be told what is on it (reading failed): failed to fill whole buffer. Without knowing, nothing is written; run where /proc and /sys are readable, or choose another target"
        ],
    );
    std::fs::remove_file(tree.real(VDB)).expect("removed");
    refused(
        ask(&tree, VDB, &[VDB], true),
        &expect![
            "/dev/vdb cannot be opened for writing: No such file or directory (os error 2). Run with the right to write to it, or choose another target"
        ],
    );
}

#[test]
fn errors_of_the_system_in_words() {
    let path = PathBuf::from(VDB);
    let source = io::Error::from(rustix::io::Errno::BUSY);
    expect!["/dev/vdb is in use: it cannot be opened exclusively (Device or resource busy (os error 16)). Something that is not visible here holds it: a mount in another namespace, a volume manager, another benchmark. Stop that, or choose another device"].assert_eq(
        &Refusal::Busy {
            path: path.clone(),
            source,
        }
        .to_string(),
    );
    expect!["/dev/vdb was replaced after it was checked. Find out by whom, then run again"]
        .assert_eq(&Refusal::Changed { path }.to_string());
}

#[test]
fn only_files_and_devices_are_written_to() {
    let mut tree = system();
    refused(
        ask(&tree, "/data", &["/data"], true),
        &expect!["/data is a directory: a load is written to a regular file or a block device. Choose one"],
    );
    let mut node = |path: &str, kind, minor| {
        let stat = FileStat {
            kind,
            device: dev(0, 6),
            inode: 7,
            node: dev(1, minor),
            size_bytes: 0,
        };
        tree.root = tree.root.clone().with_stat(path, stat);
    };
    node("/dev/null", FileKind::CharacterDevice, 3);
    node("/dev/mem", FileKind::CharacterDevice, 1);
    node("/data/pipe", FileKind::Fifo, 0);
    node("/data/socket", FileKind::Socket, 0);
    assert_eq!(
        ask(&tree, "/dev/null", &[], false).expect("allowed").basis,
        Basis::Sink
    );
    refused(
        ask(&tree, "/dev/mem", &["/dev/mem"], true),
        &expect![
            "/dev/mem is a character device: a load is written to a regular file or a block device. Choose one"
        ],
    );
    refused(
        ask(&tree, "/data/pipe", &["/data/pipe"], true),
        &expect![
            "/data/pipe is a named pipe (FIFO): a load is written to a regular file or a block device. Choose one"
        ],
    );
    refused(
        ask(&tree, "/data/socket", &["/data/socket"], true),
        &expect![
            "/data/socket is a socket: a load is written to a regular file or a block device. Choose one"
        ],
    );
}

#[test]
fn a_new_file_is_free_but_not_in_dev() {
    let tree = system();
    assert_eq!(
        ask(&tree, "/data/new", &[], false).expect("allowed").basis,
        Basis::New
    );
    refused(
        ask(&tree, "/dev/vdz", &["/dev/vdz"], true),
        &expect![
            "/dev/vdz does not exist, and a file made in /dev would be in memory. Check the device's name (lsblk), or choose a file elsewhere"
        ],
    );
    refused(
        ask(&tree, "/dev/disk/by-id/typo", &[], true),
        &expect![
            "/dev/disk/by-id/typo does not exist, and a file made in /dev would be in memory. Check the device's name (lsblk), or choose a file elsewhere"
        ],
    );
}
