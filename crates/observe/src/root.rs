//! Where `/proc`, `/sys` and `/dev` are: the running system, or a tree that looks like one.
//!
//! Duty: read small files and look at paths below a prefix. Data in: absolute paths as the system has them.
//! Data out: contents and [`FileStat`]. It must not know what the files mean.

use fathom_core::units::DevId;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How many symbolic links the kernel follows (`MAXSYMLINKS` of linux/namei.h).
const LINKS_MAX: usize = 40;

/// The system that is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRoot {
    /// Put before every absolute path. `/` is the running system.
    pub root: PathBuf,
    /// What a look at a path finds, where the tree cannot hold it (device numbers of a recorded system).
    stats: BTreeMap<PathBuf, FileStat>,
}

impl Default for SystemRoot {
    /// The running system.
    fn default() -> Self {
        Self::new("/")
    }
}

/// What `stat` says of a path, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    pub kind: FileKind,
    /// The device that it is stored on; major 0 where the file system has none.
    pub device: DevId,
    /// Its inode on that device.
    pub inode: u64,
    /// For device nodes: the device that it stands for.
    pub node: DevId,
    /// Its size; 0 for devices.
    pub size_bytes: u64,
}

impl FileStat {
    /// Whether both are the same file, or nodes of the same device wherever they are stored.
    pub fn same_as(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        match self.kind {
            FileKind::BlockDevice | FileKind::CharacterDevice => self.node == other.node,
            _ => self.device == other.device && self.inode == other.inode,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    Regular,
    Directory,
    /// A block device node.
    BlockDevice,
    /// A character device node.
    CharacterDevice,
    /// A named pipe.
    Fifo,
    Socket,
}

impl FileKind {
    /// `a directory`, `a block device`, …
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Regular => "a regular file",
            Self::Directory => "a directory",
            Self::BlockDevice => "a block device",
            Self::CharacterDevice => "a character device",
            Self::Fifo => "a named pipe (FIFO)",
            Self::Socket => "a socket",
        }
    }
}

impl From<&fs::Metadata> for FileStat {
    fn from(metadata: &fs::Metadata) -> Self {
        let file_type = metadata.file_type();
        let kind = if file_type.is_dir() {
            FileKind::Directory
        } else if file_type.is_block_device() {
            FileKind::BlockDevice
        } else if file_type.is_char_device() {
            FileKind::CharacterDevice
        } else if file_type.is_fifo() {
            FileKind::Fifo
        } else if file_type.is_socket() {
            FileKind::Socket
        } else {
            FileKind::Regular
        };
        Self {
            kind,
            device: dev_id(metadata.dev()),
            inode: metadata.ino(),
            node: dev_id(metadata.rdev()),
            size_bytes: metadata.size(),
        }
    }
}

/// Splits the kernel's device number.
fn dev_id(dev: u64) -> DevId {
    DevId {
        major: rustix::fs::major(dev),
        minor: rustix::fs::minor(dev),
    }
}

impl SystemRoot {
    /// The tree at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            stats: BTreeMap::new(),
        }
    }

    /// The same, where a look at `path` (absolute, as the system has it) finds `stat`: the numbers of a
    /// recorded system, which no tree of files can hold.
    #[must_use]
    pub fn with_stat(mut self, path: impl Into<PathBuf>, stat: FileStat) -> Self {
        self.stats.insert(path.into(), stat);
        self
    }

    /// Where the system's `path` really is. A relative path is left alone on the running system.
    pub fn at(&self, path: &Path) -> PathBuf {
        if self.is_running_system() {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether this is the running system and not a recorded one.
    pub fn is_running_system(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        fs::read(self.at(path.as_ref()))
    }

    /// The contents of a file as text without white space around it; `None` where it is missing, empty or
    /// cannot be read. For facts that may be absent.
    pub fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.read(path).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Whether something is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.stats.contains_key(path.as_ref()) || self.at(path.as_ref()).exists()
    }

    /// The names in a directory, in order.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn list(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(path.as_ref()))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// The absolute path after all symbolic links, as the system has it.
    ///
    /// # Errors
    /// Some part of it does not exist or cannot be looked at.
    pub fn canonical(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = path.as_ref();
        if self.stats.contains_key(path) && !self.at(path).exists() {
            return Ok(path.to_path_buf());
        }
        let real = fs::canonicalize(self.at(path))?;
        if self.is_running_system() {
            return Ok(real);
        }
        // The prefix itself may lie behind a link (/tmp on some systems).
        let root = fs::canonicalize(&self.root)?;
        Ok(real
            .strip_prefix(&root)
            .map_or(real.clone(), |rest| Path::new("/").join(rest)))
    }

    /// Where a file made at `path` would be: the end of a chain of symbolic links, absolute, whether or not
    /// anything is there. The directories on the way may be links still.
    ///
    /// # Errors
    /// The current directory is not known, or the links go in a circle.
    pub fn destination(&self, path: &Path) -> io::Result<PathBuf> {
        let mut place = std::path::absolute(path)?;
        for _ in 0..LINKS_MAX {
            let Ok(link) = fs::read_link(self.at(&place)) else {
                return Ok(place);
            };
            place = place.parent().unwrap_or(Path::new("/")).join(link);
        }
        Err(rustix::io::Errno::LOOP.into())
    }

    /// What a path is, after following symbolic links.
    ///
    /// # Errors
    /// It does not exist or cannot be looked at.
    pub fn stat(&self, path: impl AsRef<Path>) -> io::Result<FileStat> {
        let path = path.as_ref();
        if let Some(stat) = self.stats.get(path) {
            return Ok(*stat);
        }
        if !self.stats.is_empty()
            && let Some(stat) = self.canonical(path).ok().and_then(|real| self.stats.get(&real))
        {
            return Ok(*stat);
        }
        fs::metadata(self.at(path)).map(|metadata| FileStat::from(&metadata))
    }
}

#[cfg(test)]
mod tests;
