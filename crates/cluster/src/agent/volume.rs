//! Where a node has a volume that its pods use.
//!
//! Source: the layout of the kubelet's directory, `pods/UID/volumes/kubernetes.io~PLUGIN/VOLUME` and `…/volumeDevices/…/VOLUME/…`
//! (`pkg/volume/util` and `pkg/kubelet/kubelet_getters.go` of Kubernetes 1.34).

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

const PROCESSES: &str = "/proc";

/// The device that the volume is, or lies on, on this node, as one of the node's processes sees it: the first one that has it
/// mounted and may be looked through, which is its init as a rule and its kubelet elsewhere.
pub(super) fn find(volume: &str) -> Result<PathBuf, String> {
    let processes = std::fs::read_dir(PROCESSES).map_err(|error| format!("{PROCESSES}: {error}"))?;
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let mut refused = None;
    for number in numbers {
        // A process may be gone by now.
        let Ok(mounts) = std::fs::read_to_string(format!("{PROCESSES}/{number}/mountinfo")) else {
            continue;
        };
        let Some(at) = mounted_at(&mounts, volume) else {
            continue;
        };
        let path = format!("{PROCESSES}/{number}/root{at}");
        match std::fs::metadata(&path) {
            Ok(found) => return device_of(volume, &found),
            Err(error) => refused = Some(format!("{path}: {error}")),
        }
    }
    Err(match refused {
        Some(why) => format!("volume {volume} is on this node and cannot be looked at: {why}"),
        None => format!(
            "volume {volume} is mounted nowhere that can be seen from here: no pod of this node uses it any more, or the recorder does \
             not see the node's processes (hostPID)"
        ),
    })
}

/// The node in `/dev` of what a volume is mounted from.
fn device_of(volume: &str, found: &Metadata) -> Result<PathBuf, String> {
    let number = if found.file_type().is_block_device() {
        found.rdev()
    } else {
        found.dev()
    };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let about = format!("/sys/dev/block/{major}:{minor}/uevent");
    let text = std::fs::read_to_string(&about).map_err(|error| {
        format!("volume {volume} lies on no block device that this node knows ({about}: {error}): a network file system has none")
    })?;
    let name = text.lines().find_map(|line| line.strip_prefix("DEVNAME="));
    let name = name.ok_or_else(|| format!("{about} names no device"))?;
    let node = Path::new("/dev").join(name);
    if node.exists() {
        Ok(node)
    } else {
        Err(format!(
            "volume {volume} is {}, which this container does not have: it needs all privileges",
            node.display()
        ))
    }
}

/// The mount point of a volume in the text of `mountinfo`: for a pod, or as a device for one.
pub(super) fn mounted_at(mounts: &str, volume: &str) -> Option<String> {
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    let mut points = points.map(unescaped);
    points.find(|point| {
        let of_volume = point.split('/').any(|part| part == volume);
        of_volume && (point.contains("/volumes/kubernetes.io~") || point.contains("/volumeDevices/"))
    })
}

/// A path as `mountinfo` writes it: blanks, tabs, newlines and backslashes are octal.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests;
