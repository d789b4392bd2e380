//! Generic devices: judged as the disks that they send commands to.

use super::*;

const NG: &str = "/dev/ng0n1";
const SG: &str = "/dev/sg1";

/// A namespace and a SCSI disk, each with its generic device, and a tape.
fn disks() -> Tree {
    let mut tree = system();
    tree.disk("nvme0n1", dev(259, 0));
    tree.generic("/sys/devices/virtual/block/ng0n1", "nvme-generic", dev(240, 0));
    tree.disk("sdb", dev(8, 16));
    tree.generic("/sys/devices/scsi/1/scsi_generic/sg1", "scsi_generic", dev(21, 1));
    tree.link(
        "/sys/devices/scsi/1/scsi_generic/sg1/device/block/sdb",
        "/sys/devices/virtual/block/sdb",
    );
    tree.generic("/sys/devices/scsi/2/scsi_generic/sg2", "scsi_generic", dev(21, 2));
    tree.generic("/sys/devices/virtual/tty/tty9", "tty", dev(4, 9));
    tree
}

fn send(tree: &Tree, path: &str, overwrite: &[&str], allow_signature: bool) -> Result<Permission, Refusal> {
    asked_by(true, tree, path, overwrite, allow_signature)
}

#[test]
fn a_generic_device_must_be_named_itself() {
    let tree = disks();
    tree.attribute("nvme0n1", "device/model", "QEMU NVMe Ctrl");
    refused(
        send(&tree, NG, &["/dev/nvme0n1"], true),
        &expect![
            "/dev/ng0n1 sends commands to /dev/nvme0n1 (QEMU NVMe Ctrl, 8 MiB); writing by them destroys what is on it. To allow that, add --allow-overwrite /dev/ng0n1"
        ],
    );
    refused(
        send(&tree, SG, &[NG], true),
        &expect![
            "/dev/sg1 sends commands to /dev/sdb (8 MiB); writing by them destroys what is on it. To allow that, add --allow-overwrite /dev/sg1"
        ],
    );
    for path in [NG, SG] {
        let permission = send(&tree, path, &[path], false).expect("allowed");
        assert_eq!(permission.basis, Basis::NamedDevice(vec![]));
        assert!(permission.permit.holds_device());
    }
}

#[test]
fn its_disk_must_not_be_in_use() {
    let tree = disks();
    let root = "254:0 / ext4 /dev/vda rw";
    tree.mounts(&[
        root,
        "259:0 /data ext4 /dev/nvme0n1 rw",
        "8:16 /more xfs /dev/sdb rw",
    ]);
    refused(
        send(&tree, NG, &[NG], true),
        &expect![
            "/dev/ng0n1 is in use: /dev/nvme0n1 is mounted on /data. Unmount it (umount /data), or choose another device"
        ],
    );
    refused(
        send(&tree, SG, &[SG], true),
        &expect![
            "/dev/sg1 is in use: /dev/sdb is mounted on /more. Unmount it (umount /more), or choose another device"
        ],
    );
    tree.mounts(&[root]);
    tree.swap_on("/dev/sdb");
    refused(
        send(&tree, SG, &[SG], true),
        &expect![
            "/dev/sg1 is in use: /dev/sdb is swap space. Switch it off (swapoff /dev/sdb), or choose another target"
        ],
    );
}

#[test]
fn what_its_disk_carries_must_be_confirmed() {
    let tree = disks();
    // An ext4 superblock's magic.
    write_at(&tree, "/dev/nvme0n1", 1024 + 0x38, &[0x53, 0xef]);
    refused(
        send(&tree, NG, &[NG], false),
        &expect![
            "/dev/ng0n1 carries an ext2/ext3/ext4 file system. If that may be destroyed, add --allow-overwrite-signature /dev/ng0n1 (with --allow-overwrite /dev/ng0n1)"
        ],
    );
    let permission = send(&tree, NG, &[NG], true).expect("allowed");
    assert!(matches!(&permission.basis, Basis::NamedDevice(found) if found.len() == 1));
}

#[test]
fn what_sends_commands_to_no_disk_is_refused() {
    let tree = disks();
    for path in ["/dev/sg2", "/dev/tty9"] {
        let refusal = send(&tree, path, &[path], true).expect_err("no disk behind it");
        assert!(matches!(refusal, Refusal::CannotTell { .. }), "{refusal}");
    }
    // The node of another disk under the name of its own.
    let mut tree = disks();
    tree.disk("vdc", dev(254, 32));
    let other = tree.root.stat("/dev/vdc").expect("a disk");
    tree.root = tree.root.clone().with_stat("/dev/sdb", other);
    let refusal = send(&tree, SG, &[SG], true).expect_err("not its disk");
    assert!(matches!(refusal, Refusal::CannotTell { .. }), "{refusal}");
}

#[test]
fn bytes_are_not_written_to_a_generic_device() {
    // To its driver they would be commands.
    let tree = disks();
    for path in [NG, SG] {
        let refusal = ask(&tree, path, &[path], true).expect_err("no bytes");
        assert!(matches!(refusal, Refusal::WrongKind { .. }), "{refusal}");
    }
}
