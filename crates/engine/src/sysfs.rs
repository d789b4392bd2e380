//! Where the system says what a disk's request queue is like.

use rustix::fs::{major, minor};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The directory of the request queue of the disk that a path is or lies on (Documentation/ABI/stable/sysfs-block); `None`: what
/// is in memory or on a network has none.
///
/// # Errors
/// Nothing is known of the path.
pub(crate) fn request_queue(path: &Path) -> io::Result<Option<PathBuf>> {
    let found = std::fs::metadata(path)?;
    let device = if found.rdev() == 0 {
        found.dev()
    } else {
        found.rdev()
    };
    let name = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let Ok(device) = std::fs::canonicalize(&name) else {
        return Ok(None);
    };
    // A partition has none of its own: its disk has.
    let disk = if device.join("partition").exists() {
        device.parent().unwrap_or(&device).to_owned()
    } else {
        device
    };
    Ok(Some(disk.join("queue")))
}
