//! What must not be overwritten is not.

use crate::harness::{LoopDevice, Mount, Place, skipped, tool};
use std::os::unix::fs::OpenOptionsExt;

const WRITE: &str = "run --rw write --bs 4k --size 256k --direct 1 -o none -q --on";
/// `O_EXCL`: on a block device, nobody else may have it open so.
const EXCLUSIVE: i32 = 0o200;

/// Expects a refusal that says `expected`, and that the device is as it was.
#[track_caller]
fn refused(place: &Place, device: &LoopDevice, line: &str, expected: &str) {
    let before = device.checksum();
    let outcome = place.fathom(line).expect(3).saying(expected);
    assert_eq!(outcome.stdout, "");
    assert_eq!(device.checksum(), before, "{line}");
}

fn device(test: &str, place: &Place) -> Option<LoopDevice> {
    LoopDevice::new(place, 16 << 20)
        .map_err(|missing| skipped(test, &missing))
        .ok()
}

#[test]
fn a_device_is_written_to_only_if_it_is_named() {
    let place = Place::new();
    let Some(device) = device("a_device_is_written_to_only_if_it_is_named", &place) else {
        return;
    };
    let path = &device.path;
    refused(
        &place,
        &device,
        &format!("{WRITE} {path}"),
        &format!("--allow-overwrite {path}"),
    );
    refused(
        &place,
        &device,
        &format!("{WRITE} {path} --allow-overwrite /dev/null"),
        "is a block device",
    );
    std::os::unix::fs::symlink(path, place.path("link")).expect("symlink");
    refused(&place, &device, &format!("{WRITE} link"), "is a block device");
    let before = device.checksum();
    place
        .fathom(&format!("{WRITE} {path} --allow-overwrite {path}"))
        .expect(0);
    assert_ne!(device.checksum(), before);
    // Reading needs no permission.
    place
        .fathom(&format!(
            "run --rw read --bs 4k --size 256k -o none -q --on {path}"
        ))
        .expect(0);
}

#[test]
fn a_signature_needs_a_confirmation_of_its_own() {
    let place = Place::new();
    let Some(device) = device("a_signature_needs_a_confirmation_of_its_own", &place) else {
        return;
    };
    let path = &device.path;
    tool(&format!("mkfs.ext4 -q -F {path}")).expect("mkfs");
    refused(
        &place,
        &device,
        &format!("{WRITE} {path} --allow-overwrite {path}"),
        "ext4",
    );
    place
        .fathom(&format!(
            "{WRITE} {path} --allow-overwrite {path} --allow-overwrite-signature {path}"
        ))
        .expect(0);
}

#[test]
fn a_mounted_device_is_refused_whatever_is_allowed() {
    let place = Place::new();
    let Some(device) = device("a_mounted_device_is_refused_whatever_is_allowed", &place) else {
        return;
    };
    let path = device.path.clone();
    tool(&format!("mkfs.ext4 -q -F {path}")).expect("mkfs");
    let all = format!("--allow-overwrite {path} --allow-overwrite-signature {path}");
    // Read-only: a file system that can be written to writes to itself in the background.
    let mount = match Mount::new(&place, &format!("-o ro {path}")) {
        Ok(mount) => mount,
        Err(missing) => return skipped("a_mounted_device_is_refused_whatever_is_allowed", &missing),
    };
    refused(&place, &device, &format!("{WRITE} {path} {all}"), "is mounted on");
    let image = device.image.display();
    let outcome = place
        .fathom(&format!("{WRITE} {image} --allow-overwrite {image}"))
        .expect(3);
    outcome.saying("is the backing file of");
    drop(mount);
}

#[test]
fn a_swap_device_is_refused() {
    let place = Place::new();
    let Some(device) = device("a_swap_device_is_refused", &place) else {
        return;
    };
    let path = device.path.clone();
    tool(&format!("mkswap -q {path}")).expect("mkswap");
    if let Err(missing) = tool(&format!("swapon {path}")) {
        return skipped("a_swap_device_is_refused", &missing);
    }
    let all = format!("--allow-overwrite {path} --allow-overwrite-signature {path}");
    let outcome = place.fathom(&format!("{WRITE} {path} {all}"));
    tool(&format!("swapoff {path}")).expect("swapoff");
    outcome.expect(3).saying("swap space");
}

#[test]
fn a_device_that_somebody_holds_is_refused() {
    let place = Place::new();
    let Some(device) = device("a_device_that_somebody_holds_is_refused", &place) else {
        return;
    };
    let path = &device.path;
    let holder = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(EXCLUSIVE)
        .open(path)
        .expect("hold");
    let outcome = place
        .fathom(&format!("{WRITE} {path} --allow-overwrite {path}"))
        .expect(3);
    outcome.saying("is in use");
    drop(holder);
    place
        .fathom(&format!("{WRITE} {path} --allow-overwrite {path}"))
        .expect(0);
}

#[test]
fn a_file_of_somebody_else_is_not_overwritten_and_our_own_is() {
    let place = Place::new();
    let foreign = place.write("foreign", vec![7; 1 << 20]);
    let outcome = place.fathom(&format!("{WRITE} foreign")).expect(3);
    outcome
        .saying("was not made by fathom")
        .saying("--allow-overwrite foreign");
    assert_eq!(std::fs::read(&foreign).expect("foreign"), vec![7; 1 << 20]);
    std::os::unix::fs::symlink("foreign", place.path("link")).expect("symlink");
    place.fathom(&format!("{WRITE} link")).expect(3);
    assert_eq!(std::fs::read(&foreign).expect("foreign"), vec![7; 1 << 20]);

    place.fathom(&format!("{WRITE} own")).expect(0);
    place.fathom(&format!("{WRITE} own")).expect(0);
    std::fs::copy(place.path("own"), place.path("copy")).expect("copy");
    place.fathom(&format!("{WRITE} copy")).expect(3);
    place
        .fathom(&format!("{WRITE} foreign --allow-overwrite foreign"))
        .expect(0);
    assert_ne!(std::fs::read(&foreign).expect("foreign"), vec![7; 1 << 20]);
}

#[test]
fn a_file_that_would_have_to_grow_is_touched_as_little_as_one_that_is_written() {
    let place = Place::new();
    place.write("short", "x");
    place
        .fathom("run --rw read --bs 4k --size 1m -o none -q short")
        .expect(3)
        .saying("was not made by fathom");
    assert_eq!(std::fs::read(place.path("short")).expect("short"), b"x");
}

#[test]
fn all_refusals_are_told_at_once_and_nothing_is_made() {
    let place = Place::new();
    place.write("a", "x");
    place.write("b", "x");
    place.write(
        "j.fio",
        "[j]\nrw=write\nbs=4k\nsize=64k\n[one]\nfilename=a\n[two]\nfilename=b\n[three]\nfilename=c\n",
    );
    place.write(
        "j.fio",
        "[global]\nrw=write\nsize=64k\n[one]\nfilename=a\n[two]\nfilename=b\n[three]\nfilename=c\n",
    );
    let outcome = place.fathom("run j.fio").expect(3);
    outcome.saying("refused: a exists").saying("refused: b exists");
    assert_eq!(place.names(), ["a", "b", "j.fio"]);
}

#[test]
fn a_mistyped_device_does_not_become_a_file() {
    let place = Place::new();
    let outcome = place.fathom(&format!(
        "{WRITE} /dev/fathom-no-such-device --allow-overwrite /dev/fathom-no-such-device"
    ));
    outcome.expect(3).saying("does not exist");
    assert!(!std::path::Path::new("/dev/fathom-no-such-device").exists());
}
