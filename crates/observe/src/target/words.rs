//! A target in a line of text.

use fathom_core::run::{DeviceInfo, TargetFile, TargetKind};
use fathom_core::units::Bytes;
use std::collections::HashSet;
use std::path::Path;

/// How many files are named one by one.
const NAMED_MAX: usize = 3;

/// `data.bin on ext4, /dev/vda (virtio)`; files of the same file system and device are named together,
/// different ones apart with `; `. Empty for no files.
pub fn describe(files: &[TargetFile]) -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    let mut seen = HashSet::new();
    // Files that follow each other mostly lie in the same place.
    let mut last: Option<(&TargetFile, usize)> = None;
    for file in files {
        let group = match last {
            Some((last, group)) if same_place(last, file) => group,
            _ => group_of(place(file), &mut groups),
        };
        last = Some((file, group));
        let name = name(file);
        if seen.insert((group, name.clone())) {
            groups[group].1.push(name);
        }
    }
    let parts = groups.into_iter().map(|(place, names)| match names.as_slice() {
        [first, .., last] if names.len() > NAMED_MAX => {
            format!("{} files ({first} … {last}){place}", names.len())
        }
        _ => format!("{}{place}", names.join(", ")),
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// The number of the group at this place.
fn group_of(place: String, groups: &mut Vec<(String, Vec<String>)>) -> usize {
    let known = groups.iter().position(|(known, _)| *known == place);
    known.unwrap_or_else(|| {
        groups.push((place, Vec::new()));
        groups.len() - 1
    })
}

/// Whether two files are sure to be in the same place, in words too.
fn same_place(a: &TargetFile, b: &TargetFile) -> bool {
    (a.kind, b.kind) == (TargetKind::File, TargetKind::File)
        && a.filesystem == b.filesystem
        && a.device == b.device
        && a.device_missing == b.device_missing
}

fn name(file: &TargetFile) -> String {
    match file.kind {
        TargetKind::File => {
            let path = Path::new(&file.path);
            path.file_name()
                .map_or(file.path.clone(), |name| name.to_string_lossy().into_owned())
        }
        _ => file.path.clone(),
    }
}

fn place(file: &TargetFile) -> String {
    match (file.kind, &file.device) {
        (TargetKind::Null | TargetKind::Modelled, _) => String::new(),
        // Somebody on a network has no size.
        (TargetKind::Remote, _) if file.size_bytes == 0 => String::new(),
        (TargetKind::Remote, _) => format!(" (served, {})", Bytes(file.size_bytes)),
        (TargetKind::CharacterDevice, _) => " (a character device)".to_owned(),
        (TargetKind::BlockDevice, Some(device)) => {
            let size = Bytes(file.size_bytes);
            let whole = Path::new(&file.path).file_name() == Path::new(&device.name).file_name();
            let on = if whole {
                String::new()
            } else {
                format!(" on /dev/{}", device.name)
            };
            format!("{on} ({}, {size})", kind(device))
        }
        (TargetKind::BlockDevice, None) => format!(" ({})", missing(file)),
        (TargetKind::File, device) => {
            let filesystem = file.filesystem.as_deref().unwrap_or("an unknown file system");
            match device {
                Some(device) => format!(" on {filesystem}, /dev/{} ({})", device.name, kind(device)),
                None => format!(" on {filesystem} ({})", missing(file)),
            }
        }
    }
}

fn missing(file: &TargetFile) -> &str {
    file.device_missing.as_deref().unwrap_or("no device known")
}

/// Its model, else the driver that its name tells; with what is below it.
fn kind(device: &DeviceInfo) -> String {
    let own = device
        .model
        .clone()
        .unwrap_or_else(|| driver(&device.name).to_owned());
    if device.slaves.is_empty() {
        own
    } else {
        format!("{own} over {}", device.slaves.join(", "))
    }
}

/// The driver behind a kernel name (Documentation/admin-guide/devices.txt and the drivers' own names).
fn driver(name: &str) -> &'static str {
    const DRIVERS: [(&str, &str); 14] = [
        ("vd", "virtio"),
        ("nvme", "NVMe"),
        ("sd", "SCSI"),
        ("xvd", "Xen"),
        ("dm-", "device mapper"),
        ("md", "md RAID"),
        ("loop", "loop"),
        ("zram", "zram"),
        ("ram", "RAM disk"),
        ("nbd", "network block device"),
        ("rbd", "Ceph RBD"),
        ("mmcblk", "MMC"),
        ("pmem", "persistent memory"),
        ("ublkb", "ublk"),
    ];
    let known = DRIVERS.iter().find(|(prefix, _)| name.starts_with(prefix));
    known.map_or("block device", |(_, driver)| driver)
}
