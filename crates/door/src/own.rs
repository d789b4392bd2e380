//! Fathom's own: run and sweep directories and what is in them, and the kernel's switches for tracing.
//!
//! Data in: a path below a directory that fathom made. Data out: files, renamed and removed entries. Files are always new
//! and links are never followed, so that what somebody puts into such a directory is at worst in the way. It must not
//! know what the files hold.

use rustix::fs::{Mode, OFlags, open};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

/// Makes a directory and those above it, where they are missing.
///
/// # Errors
/// The system refused.
pub fn make_directories(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Makes one directory, which must not be there.
///
/// # Errors
/// The system refused.
pub fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Makes a directory that nobody else may look into, where it is missing.
///
/// # Errors
/// The system refused, or what is there is somebody else's or open to others.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(path)?;
    let own = found.is_dir()
        && found.uid() == rustix::process::geteuid().as_raw()
        && !Mode::from_raw_mode(found.mode()).intersects(Mode::RWXG | Mode::RWXO);
    if own {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it is not a directory of yours alone",
    ))
}

/// Makes a file, which must not be there.
///
/// # Errors
/// The system refused.
pub fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::from_raw_mode(0o666))?))
}

/// Makes a file under a temporary name of fathom's; what an earlier try left under that name goes.
///
/// # Errors
/// The system refused.
pub fn create_temporary(path: &Path) -> io::Result<File> {
    remove(path)?;
    create(path)
}

/// Gives a file of fathom's another name in its directory; what had it before goes.
///
/// # Errors
/// The system refused.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Gives what is under a name of fathom's another name, which nothing may have.
///
/// # Errors
/// Something has it, or the system refused.
pub fn set_aside(from: &Path, to: &Path) -> io::Result<()> {
    let cwd = rustix::fs::CWD;
    match rustix::fs::renameat_with(cwd, from, cwd, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if fs::symlink_metadata(to).is_err() => {
            fs::rename(from, to)
        }
        renamed => Ok(renamed?),
    }
}

/// Cuts a file of fathom's that is open back to the length that is whole.
///
/// # Errors
/// The system refused.
pub fn cut(file: &File, size_bytes: u64) -> io::Result<()> {
    file.set_len(size_bytes)
}

/// Removes a file of fathom's, or a link under its name; that it is gone already is no error.
///
/// # Errors
/// The system refused.
pub fn remove(path: &Path) -> io::Result<()> {
    gone(fs::remove_file(path))
}

/// Removes a directory of fathom's if nothing is in it; that it is gone already is no error.
///
/// # Errors
/// Something is in it, or the system refused.
pub fn remove_directory(path: &Path) -> io::Result<()> {
    gone(fs::remove_dir(path))
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Opens a switch of the kernel's (a file of tracefs) for writing, without following a link.
///
/// # Errors
/// It is not a file of tracefs, or the system refused.
pub fn kernel_switch(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    if rustix::fs::fstatfs(&file)?.f_type == TRACEFS_MAGIC {
        Ok(file)
    } else {
        Err(io::Error::other("it is not the kernel's: not on tracefs"))
    }
}

/// Sets a value of the kernel's in a file of sysfs: a queue's, a mount's.
///
/// # Errors
/// It is not a file of sysfs, or the system refused.
pub fn set_in_sysfs(path: &Path, value: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    if rustix::fs::fstatfs(&file)?.f_type != SYSFS_MAGIC {
        return Err(io::Error::other("it is not the kernel's: not on sysfs"));
    }
    file.write_all(value.as_bytes())
}

/// Writes to a file of a control group (of the kernel's first version): a weight, a thread that is to be in it.
///
/// # Errors
/// It is not such a file, or the system refused.
pub fn set_in_control_group(path: &Path, value: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    if rustix::fs::fstatfs(&file)?.f_type != CGROUP_MAGIC {
        return Err(io::Error::other("it is not the kernel's: no control group"));
    }
    file.write_all(value.as_bytes())
}

/// `CGROUP_SUPER_MAGIC` of linux/magic.h.
const CGROUP_MAGIC: rustix::fs::FsWord = 0x0027_e0eb;

/// `SYSFS_MAGIC` of linux/magic.h.
const SYSFS_MAGIC: rustix::fs::FsWord = 0x6265_6572;

/// `TRACEFS_MAGIC` of linux/magic.h.
const TRACEFS_MAGIC: rustix::fs::FsWord = 0x7472_6163;

#[cfg(test)]
mod tests;
