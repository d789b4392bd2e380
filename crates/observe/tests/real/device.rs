//! Block devices.

use crate::setup::{IMAGE_BYTES, Loop, Mount, Swap, ask, open, run, with};
use fathom_core::run::TargetKind;
use fathom_observe::SystemRoot;
use fathom_observe::disk::Snapshot;
use fathom_observe::safety::{Basis, Change, Refusal, WriteRequest, check_all};
use fathom_observe::target::{describe, inspect, whole_disk};
use fathom_testkit::LoopDevice;
use rustix::fs::OFlags;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[test]
fn a_blank_device_is_written_to_when_named() {
    with("a_blank_device_is_written_to_when_named", Loop::new(), |device| {
        let (path, link) = (device.path(), device.link());
        for name in [path, &link] {
            let refusal = ask(name, &[], true).expect_err("not named");
            assert!(matches!(refusal, Refusal::DeviceNotNamed { .. }), "{refusal}");
        }
        for (name, allowed) in [(path, &link), (link.as_path(), &path.to_path_buf())] {
            let permission = ask(name, std::slice::from_ref(allowed), false).expect("allowed");
            assert_eq!(permission.basis, Basis::NamedDevice(vec![]));
        }
    });
}

#[test]
fn a_permission_keeps_others_away() {
    let name = "a_permission_keeps_others_away";
    with(name, Loop::new().and_then(Loop::format), |device| {
        let names = [device.path().to_path_buf(), device.link()];
        let permission = ask(&names[0], &names, true).expect("allowed");
        // The load opens it again.
        let load = permission.permit.open(OFlags::empty()).expect("the same device");
        load.write_all_at(&[0; 512], IMAGE_BYTES - 512).expect("written");
        let refusal = ask(&names[1], &names, true).expect_err("held");
        assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
        let point = device.dir.path().join("point");
        std::fs::create_dir(&point).expect("a directory");
        assert!(
            run("mount", &[&device.device, &point.to_string_lossy()]).is_err(),
            "nobody can mount it"
        );
        drop(permission);
        drop(load);
        let requests = names.each_ref().map(|path| WriteRequest {
            path,
            allow_overwrite: &names,
            allow_signature: true,
            change: Change::default(),
            commands: false,
        });
        let both = check_all(&SystemRoot::default(), &requests).expect("allowed");
        assert_eq!(both.len(), 2);
        drop(both);
        with(name, device.mount(), drop);
    });
}

#[test]
fn a_file_system_is_named_and_its_mount_refused() {
    let name = "a_file_system_is_named_and_its_mount_refused";
    with(name, Loop::new().and_then(Loop::format), |device| {
        let names = [device.link()];
        let refusal = ask(device.path(), &names, false).expect_err("a file system");
        assert!(
            refusal
                .to_string()
                .contains("carries an ext2/ext3/ext4 file system"),
            "{refusal}"
        );
        ask(device.path(), &names, true).expect("allowed");
        with(name, device.mount(), |(mount, device)| {
            for path in [device.path(), &device.link()] {
                let refusal = ask(path, &names, true).expect_err("mounted");
                let Refusal::Mounted { member, point, .. } = &refusal else {
                    panic!("{refusal}");
                };
                assert_eq!((member, point.as_path()), (&device.device, mount.point.path()));
            }
            drop(mount);
            ask(device.path(), &names, true).expect("allowed again");
        });
    });
}

/// A process that has a device mounted where nobody else sees it, until it is dropped.
struct Elsewhere(Child);

impl Elsewhere {
    fn mount(device: &str, point: &Path) -> Result<Self, String> {
        let script = "mount \"$0\" \"$1\" && echo ready && read -r line";
        let mut child = Command::new("unshare")
            .args(["--mount", "sh", "-c", script, device])
            .arg(point)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare: {error}"))?;
        let mut line = String::new();
        let output = child.stdout.take().ok_or("no output")?;
        let read = BufReader::new(output).read_line(&mut line);
        let this = Self(child);
        match read {
            Ok(_) if line.trim() == "ready" => Ok(this),
            _ => Err("a mount in a namespace of its own".to_owned()),
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            // A process that is gone already cannot be told to go.
            let _ = input.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}

#[test]
fn a_mount_in_another_namespace_is_noticed() {
    let name = "a_mount_in_another_namespace_is_noticed";
    with(name, Loop::new().and_then(Loop::format), |device| {
        let point = tempfile::TempDir::new().expect("a directory");
        with(
            name,
            Elsewhere::mount(&device.device, point.path()),
            |elsewhere| {
                let refusal = ask(device.path(), &[device.link()], true).expect_err("mounted elsewhere");
                assert!(matches!(refusal, Refusal::Busy { .. }), "{refusal}");
                drop(elsewhere);
            },
        );
    });
}

#[test]
fn swap_space_is_refused() {
    let name = "swap_space_is_refused";
    with(name, Loop::new(), |device| {
        with(name, Swap::on(&device.device), |swap| {
            let refusal = ask(device.path(), &[device.link()], true).expect_err("swap");
            assert!(matches!(refusal, Refusal::Swap { .. }), "{refusal}");
            drop(swap);
            let refusal = ask(device.path(), &[device.link()], false).expect_err("a signature");
            assert!(refusal.to_string().contains("carries swap space"), "{refusal}");
        });
    });
}

#[test]
fn partition_tables_are_named() {
    let name = "partition_tables_are_named";
    with(name, Loop::new(), |device| {
        let node = open(device.path());
        let refusal = || ask(device.path(), &[device.link()], false).expect_err("a partition table");
        // One partition of type 0x83, sectors 2048 to 4095.
        let entry = [0, 0x20, 0x21, 0, 0x83, 0x41, 1, 0, 0, 8, 0, 0, 0, 8, 0, 0];
        node.write_all_at(&entry, 446).expect("written");
        node.write_all_at(&[0x55, 0xaa], 510).expect("written");
        assert!(
            refusal().to_string().contains("carries an MBR partition table"),
            "{}",
            refusal()
        );
        node.write_all_at(b"EFI PART", 512).expect("written");
        assert!(
            refusal().to_string().contains("carries a GPT partition table"),
            "{}",
            refusal()
        );
        // Someone cleared the start, and the second table at the end is still there.
        node.write_all_at(&[0; 4096], 0).expect("written");
        assert!(ask(device.path(), &[device.link()], false).is_ok());
        node.write_all_at(b"EFI PART", IMAGE_BYTES - 512)
            .expect("written");
        assert!(
            refusal().to_string().contains("carries a GPT partition table"),
            "{}",
            refusal()
        );
    });
}

#[test]
fn a_read_only_device_is_refused() {
    with(
        "a_read_only_device_is_refused",
        Loop::with_options(&["--read-only"]),
        |device| {
            let refusal = ask(device.path(), &[device.link()], true).expect_err("read-only");
            assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
        },
    );
}

#[test]
fn the_image_of_a_loop_device_is_refused() {
    with("the_image_of_a_loop_device_is_refused", Loop::new(), |device| {
        let image = device.image();
        let refusal = ask(&image, std::slice::from_ref(&image), true).expect_err("in use");
        assert!(refusal.to_string().contains(&device.device), "{refusal}");
        // A loop device over a loop device.
        with(
            "the_image_of_a_loop_device_is_refused",
            LoopDevice::over(device.path(), &[]),
            |upper| {
                let refusal = ask(device.path(), &[device.link()], true).expect_err("in use");
                assert!(
                    matches!(&refusal, Refusal::LoopBacking { loop_device, .. } if *loop_device == upper.path().to_string_lossy()),
                    "{refusal}"
                );
            },
        );
    });
}

#[test]
fn a_mounted_loop_device_is_described_down_to_the_disk() {
    let name = "a_mounted_loop_device_is_described_down_to_the_disk";
    let mounted = Loop::new().and_then(Loop::format).and_then(Loop::mount);
    with(name, mounted, |(mount, device)| {
        let root = SystemRoot::default();
        let short = device.device.trim_start_matches("/dev/").to_owned();
        let file = inspect(&root, &mount.point.path().join("new"));
        assert_eq!(file.filesystem.as_deref(), Some("ext4"));
        let disks = whole_disk(&file);
        assert_eq!(disks[0], short, "{file:?}");
        let below = inspect(&root, &device.image());
        assert_eq!(disks[1..], whole_disk(&below), "{file:?}");
        let node = inspect(&root, &device.link());
        assert_eq!(
            (node.kind, node.size_bytes),
            (TargetKind::BlockDevice, IMAGE_BYTES)
        );
        assert!(describe(&[node]).contains("loop on "));
        count_writes(&root, &mount, &short);
    });
}

/// What is written and flushed below a mount is counted on its device.
fn count_writes(root: &SystemRoot, mount: &Mount, disk: &str) {
    let names = [disk.to_owned()];
    let before = Snapshot::take(root, &names).expect("a table");
    let mut file = std::fs::File::create(mount.point.path().join("data")).expect("created");
    file.write_all(&vec![7; 1 << 20]).expect("written");
    file.sync_all().expect("flushed");
    let after = Snapshot::take(root, &names).expect("a table");
    let disks = before.until(&after, 1);
    assert_eq!(disks.len(), 1);
    assert!(disks[0].write_bytes >= 1 << 20, "{disks:?}");
}

#[test]
fn the_disk_of_this_system_is_safe() {
    let root = SystemRoot::default();
    let disks = whole_disk(&inspect(&root, Path::new("/")));
    let Some(path) = disks.first().map(|name| PathBuf::from(format!("/dev/{name}"))) else {
        fathom_testkit::skipped("the_disk_of_this_system_is_safe", "a device below /");
        return;
    };
    if !path.exists() {
        fathom_testkit::skipped(
            "the_disk_of_this_system_is_safe",
            format!("{} is not there", path.display()),
        );
        return;
    }
    let refusal = ask(&path, std::slice::from_ref(&path), true).expect_err("in use");
    // In a container it is mounted where it cannot be seen.
    assert!(
        matches!(
            refusal,
            Refusal::Mounted { .. }
                | Refusal::Held { .. }
                | Refusal::Busy { .. }
                | Refusal::CannotOpen { .. }
        ),
        "{refusal}"
    );
}
