//! Why a path may not be written to.

use super::signature::Signature;
use fathom_core::units::Bytes;
use std::io;
use std::path::PathBuf;

/// A refusal for safety: nothing was touched. Each message says what was found and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A device that the user did not name.
    #[error(
        "{path} is a block device{device}; writing to it destroys what is on it. To allow that, add \
         --allow-overwrite {path}", path = path.display()
    )]
    DeviceNotNamed { path: PathBuf, device: String },

    /// A disk's generic device that the user did not name.
    #[error(
        "{path} sends commands to {disk}; writing by them destroys what is on it. To allow that, add --allow-overwrite {path}",
        path = path.display()
    )]
    GenericNotNamed { path: PathBuf, disk: String },

    /// What a server has, which the user did not name.
    #[error(
        "{uri} is a server's; writing to it destroys what is there, and whether it is in use cannot be seen from here. To allow that, add --allow-overwrite '{uri}'"
    )]
    RemoteNotNamed { uri: String },

    /// It, or something on it, is mounted.
    #[error(
        "{path} is in use: {member} is mounted on {point}. Unmount it (umount {point}), or choose another device",
        path = path.display(), point = point.display()
    )]
    Mounted {
        path: PathBuf,
        member: String,
        point: PathBuf,
    },

    /// It, or something on it, is swap space.
    #[error(
        "{path} is in use: {member} is swap space. Switch it off (swapoff {area}), or choose another target",
        path = path.display(), area = area.display()
    )]
    Swap {
        path: PathBuf,
        member: String,
        area: PathBuf,
    },

    /// Another block device is built on it.
    #[error(
        "{path} is in use: {member} is part of {holder}. Take that apart first, or choose another device",
        path = path.display()
    )]
    Held {
        path: PathBuf,
        member: String,
        holder: String,
    },

    /// A loop device stands on it.
    #[error(
        "{path} is in use: {member} is the backing file of {loop_device}. Detach that first (losetup -d \
         {loop_device}), or choose another target", path = path.display()
    )]
    LoopBacking {
        path: PathBuf,
        member: String,
        loop_device: String,
    },

    /// The kernel says that somebody holds it.
    #[error(
        "{path} is in use: it cannot be opened exclusively ({source}). Something that is not visible here holds it: \
         a mount in another namespace, a volume manager, another benchmark. Stop that, or choose another device",
        path = path.display()
    )]
    Busy { path: PathBuf, source: io::Error },

    /// Somebody else has it open.
    #[error(
        "{path} is in use: {opener} has {member} open {how}. Stop that first, or choose another target",
        path = path.display()
    )]
    Opened {
        path: PathBuf,
        member: String,
        opener: String,
        how: &'static str,
    },

    /// Somebody else has it locked.
    #[error(
        "{path} is in use: another process has it locked, as a fathom does with what it writes to. Wait for that to end, \
         or choose another target",
        path = path.display()
    )]
    Locked { path: PathBuf },

    #[error(
        "{path} is read-only. Make it writable (blockdev --setrw {path}), or only read from it",
        path = path.display()
    )]
    ReadOnly { path: PathBuf },

    /// A drive without a medium, a loop device without a file.
    #[error(
        "{path} is empty: the device has no medium or was not set up. Choose another device",
        path = path.display()
    )]
    NoMedium { path: PathBuf },

    /// It carries a known signature.
    #[error(
        "{path} carries {found}. If that may be destroyed, add --allow-overwrite-signature {path} (with --allow-overwrite \
         {path})", path = path.display(), found = list(found)
    )]
    Signature { path: PathBuf, found: Vec<Signature> },

    /// A file that fathom did not make.
    #[error(
        "{path} exists ({size}) and was not made by fathom (it has no mark: made by another program, or \
         copied). To overwrite it, add --allow-overwrite {path}; to keep it, choose \
         another name",
        path = path.display(), size = Bytes(*size_bytes)
    )]
    NotMade { path: PathBuf, size_bytes: u64 },

    /// A file on a file system that keeps no marks.
    #[error(
        "{path} exists ({size}), and whether fathom made it cannot be told: its file system has no user attributes, where \
         the mark would be (tmpfs before Linux 6.6, NFS before 4.2, FAT). To overwrite it, add --allow-overwrite {path}; \
         to keep it, choose another name",
        path = path.display(), size = Bytes(*size_bytes)
    )]
    NoMarks { path: PathBuf, size_bytes: u64 },

    /// A file that fathom made, and that something else was done to.
    #[error(
        "{path} ({size}) was made by fathom, and something else has written to it since (or a run on it was killed by a \
         loss of power): what it holds now may be needed. To overwrite it, add --allow-overwrite {path}; to keep it, \
         choose another name",
        path = path.display(), size = Bytes(*size_bytes)
    )]
    NotOursAnyMore { path: PathBuf, size_bytes: u64 },

    /// A file that fathom did not make, and that would have to grow.
    #[error(
        "{path} was not made by fathom (it has no mark) and would have to grow from {size} to {need}. To use it as it is, \
         give a size= of at most {size}; to have it extended (what it holds stays), add --allow-overwrite {path}; or \
         choose another name",
        path = path.display(), size = Bytes(*size_bytes), need = Bytes(*need_bytes)
    )]
    NotMadeTooSmall {
        path: PathBuf,
        size_bytes: u64,
        need_bytes: u64,
    },

    /// Not something that a load can be written to.
    #[error(
        "{path} is {kind}: a load is written to a regular file or a block device. Choose one",
        path = path.display()
    )]
    WrongKind { path: PathBuf, kind: &'static str },

    /// A name in `/dev` that leads nowhere.
    #[error(
        "{path} does not exist, and a file made in /dev would be in memory. Check the device's name (lsblk), or \
         choose a file elsewhere", path = path.display()
    )]
    NoSuchDevice { path: PathBuf },

    /// It cannot be opened for writing at all.
    #[error(
        "{path} cannot be opened for writing: {source}. Run with the right to write to it, or choose another target",
        path = path.display()
    )]
    CannotOpen { path: PathBuf, source: io::Error },

    /// Not knowing means no.
    #[error(
        "{path}: it cannot be told {what}: {source}. Without knowing, nothing is written; run where /proc and /sys are \
         readable, or choose another target", path = path.display()
    )]
    CannotTell {
        path: PathBuf,
        what: String,
        source: io::Error,
    },

    /// Something else is there now.
    #[error(
        "{path} was replaced after it was checked. Find out by whom, then run again",
        path = path.display()
    )]
    Changed { path: PathBuf },
}

/// `an ext4 file system and an MBR partition table`.
fn list(found: &[Signature]) -> String {
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
