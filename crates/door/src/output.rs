//! What a command leaves for its user: reports, exports, man pages.
//!
//! Data in: a path that the user gave. Data out: a file under that name, once it is whole. Only a new regular file is ever
//! made; one that exists is replaced if the user said so, or if it is the very one that was found to be an earlier output. A
//! device, a pipe, a link are never written to. It must not know what is written.

use crate::identity::{self, Held, Identity};
use crate::mark::{self, Shape, Standing};
use crate::target::beside;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a file cannot be left for the user. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There is such a file, and nobody said that it may go.
    #[error("{} exists: add --force to replace it, or choose another name", path.display())]
    Exists { path: PathBuf },
    /// Something is there that no file can replace.
    #[error("{} is {kind}: only a regular file is written. Choose another name", path.display())]
    WrongKind {
        path: PathBuf,
        /// What is there, with its article.
        kind: &'static str,
    },
    /// It would be a file among the devices.
    #[error("{} would be a file in /dev, which is in memory: choose another place", path.display())]
    InDev { path: PathBuf },
    /// The system refused.
    #[error("cannot write {}: {source}{}", path.display(), remedy(source))]
    Io {
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => ": make the directory first, or choose another name",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ": choose another place",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ": make room, or choose another place",
        _ => "",
    }
}

impl OutputError {
    /// Whether it was refused for safety, and not by the system.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }
}

/// A file that is being written, under a name of its own until [`Output::publish`]. Dropped before, it is gone.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    temporary: Option<PathBuf>,
    file: File,
    replaces: Replaces,
}

/// What a new file may take the place of.
#[derive(Debug, Clone, Copy)]
enum Replaces {
    Nothing,
    /// Any regular file: the user said so.
    Anything,
    This(Earlier),
}

impl Replaces {
    fn from_force(force: bool) -> Self {
        if force { Self::Anything } else { Self::Nothing }
    }
}

/// A regular file that was looked at, as it was then.
#[derive(Debug, Clone, Copy)]
pub struct Earlier {
    identity: Identity,
    shape: Shape,
}

impl Earlier {
    /// What is at `path`, with at most `bytes_max` of how it begins; `None`: no regular file is.
    ///
    /// # Errors
    /// The system refused.
    pub fn look(path: &Path, bytes_max: u64) -> io::Result<Option<(Self, Vec<u8>)>> {
        let Some(file) = Self::open(path)? else {
            return Ok(None);
        };
        // Looked at before it is read: what is written meanwhile makes it another one.
        let earlier = Self::of(&file)?;
        let mut head = Vec::new();
        file.take(bytes_max).read_to_end(&mut head)?;
        Ok(Some((earlier, head)))
    }

    /// What is at `path`, if fathom made it and nobody has changed it since.
    fn made(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = Self::open(path)? else {
            return Ok(None);
        };
        let earlier = Self::of(&file)?;
        Ok((mark::standing(&file)? == Standing::Made).then_some(earlier))
    }

    fn open(path: &Path) -> io::Result<Option<File>> {
        match identity::hold(path, false)? {
            Some(held) if held.identity.is_regular() => held.open(OFlags::RDONLY).map(Some),
            _ => Ok(None),
        }
    }

    fn of(file: &File) -> io::Result<Self> {
        Ok(Self {
            identity: Identity::of(file)?,
            shape: Shape::of(file)?,
        })
    }

    fn is(&self, held: &Held) -> io::Result<bool> {
        Ok(held.identity.same_as(&self.identity) && Shape::of(&held.open(OFlags::RDONLY)?)? == self.shape)
    }
}

/// Whether [`Output::create`] would be allowed, before the work that it is for. Changes nothing.
///
/// # Errors
/// See [`OutputError`].
pub fn check(path: &Path, force: bool) -> Result<(), OutputError> {
    let io = |source| OutputError::Io {
        path: path.to_path_buf(),
        source,
    };
    if let Some(held) = identity::hold(path, false).map_err(io)? {
        let path = path.to_path_buf();
        return match held.identity {
            identity if !identity.is_regular() => Err(OutputError::WrongKind {
                path,
                kind: identity.in_words(),
            }),
            _ if force => Ok(()),
            _ => Err(OutputError::Exists { path }),
        };
    }
    let directory = directory_of(path);
    // Memory for anybody's use is mounted below it (/dev/shm), with a number of its own.
    let devices = std::fs::metadata("/dev").map(|found| found.dev()).ok();
    match std::fs::metadata(directory) {
        Ok(found) if Some(found.dev()) == devices && in_dev(directory) => Err(OutputError::InDev {
            path: path.to_path_buf(),
        }),
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io(Errno::NOTDIR.into())),
        Err(error) => Err(io(error)),
    }
}

/// Where `/dev` is no file system of its own, its number tells nothing.
fn in_dev(directory: &Path) -> bool {
    std::fs::canonicalize(directory).is_ok_and(|place| place.starts_with("/dev"))
}

/// The directory that a file at `path` is in: the current one for a bare name.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

impl Output {
    /// Begins a file that will be `path`. With `force`, a regular file that is there is replaced.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn create(path: &Path, force: bool) -> Result<Self, OutputError> {
        Self::begin(path, Replaces::from_force(force))
    }

    /// The same in place of `earlier`, if that is what is there when all is written, and as it was.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn create_over(path: &Path, earlier: Earlier) -> Result<Self, OutputError> {
        Self::begin(path, Replaces::This(earlier))
    }

    fn begin(path: &Path, replaces: Replaces) -> Result<Self, OutputError> {
        check(path, !matches!(replaces, Replaces::Nothing))?;
        let temporary = beside(path, "part");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::open(&temporary, flags, Mode::from_raw_mode(0o666));
        let file = file.map_err(|error| OutputError::Io {
            path: path.to_path_buf(),
            source: error.into(),
        })?;
        Ok(Self {
            path: path.to_path_buf(),
            temporary: Some(temporary),
            file: File::from(file),
            replaces,
        })
    }

    /// All is written: gives the file its name.
    ///
    /// # Errors
    /// See [`OutputError`]; what was written is gone then.
    pub fn publish(mut self) -> Result<(), OutputError> {
        // What came to be there meanwhile is judged as at the beginning.
        check(&self.path, !matches!(self.replaces, Replaces::Nothing))?;
        let Some(temporary) = self.temporary.as_deref() else {
            return Ok(());
        };
        let named = match &self.replaces {
            Replaces::Anything => renameat(CWD, temporary, CWD, &self.path),
            Replaces::Nothing => name_without_replacing(temporary, &self.path),
            Replaces::This(earlier) => name_in_place_of(temporary, &self.path, earlier),
        };
        match named {
            Ok(()) => {
                self.temporary = None;
                Ok(())
            }
            Err(Errno::EXIST) => Err(OutputError::Exists {
                path: self.path.clone(),
            }),
            Err(error) => Err(OutputError::Io {
                path: self.path.clone(),
                source: error.into(),
            }),
        }
    }
}

fn name_without_replacing(from: &Path, to: &Path) -> Result<(), Errno> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not every file system can: a second name fails as well where something is there.
        Err(Errno::INVAL | Errno::NOSYS) => {
            linkat(CWD, from, CWD, to, AtFlags::empty())?;
            unlinkat(CWD, from, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// Both change places, so that what is removed is what was compared.
fn name_in_place_of(from: &Path, to: &Path, earlier: &Earlier) -> Result<(), Errno> {
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    match renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return name_without_replacing(from, to),
        // Not every file system can: a look, then a name.
        Err(Errno::INVAL | Errno::NOSYS) => {
            return match identity::hold(to, false).map_err(errno)? {
                Some(held) if earlier.is(&held).map_err(errno)? => renameat(CWD, from, CWD, to),
                Some(_) => Err(Errno::EXIST),
                None => name_without_replacing(from, to),
            };
        }
        Err(error) => return Err(error),
    }
    let was = identity::hold(from, false).and_then(|held| held.map_or(Ok(false), |held| earlier.is(&held)));
    if let Ok(true) = was {
        return unlinkat(CWD, from, AtFlags::empty());
    }
    renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE)?;
    was.map_err(errno).and(Err(Errno::EXIST))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // It was made a moment ago under a name that nobody else uses; a leftover does no harm.
            let _removed = unlinkat(CWD, temporary, AtFlags::empty());
        }
    }
}

/// Leaves `contents` at `path`: all of it, or nothing.
///
/// # Errors
/// See [`OutputError`].
pub fn leave(path: &Path, contents: &[u8], force: bool) -> Result<(), OutputError> {
    fill(Output::create(path, force)?, contents)
}

/// The same in place of `earlier`, if that is what is there, and as it was.
///
/// # Errors
/// See [`OutputError`].
pub fn leave_over(path: &Path, contents: &[u8], earlier: Earlier) -> Result<(), OutputError> {
    fill(Output::create_over(path, earlier)?, contents)
}

fn fill(mut output: Output, contents: &[u8]) -> Result<(), OutputError> {
    output.write_all(contents).map_err(|source| OutputError::Io {
        path: output.path.clone(),
        source,
    })?;
    output.publish()
}

/// Names that are tried where others are taken.
const NAMES_MAX: u32 = 1000;

/// Leaves `contents` at `path`, marked as fathom's, in place of what an earlier run left so. Where something else is there, that
/// stays, and it is `path` with a number: `path.1`, `path.2`, ….
///
/// # Errors
/// See [`OutputError`].
pub fn leave_marked(path: &Path, contents: &[u8]) -> Result<(), OutputError> {
    let mut taken = None;
    for number in 0..NAMES_MAX {
        let mut name = path.as_os_str().to_owned();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        let name = PathBuf::from(name);
        let io = |source| OutputError::Io {
            path: name.clone(),
            source,
        };
        let output = match Earlier::made(&name).map_err(io)? {
            Some(earlier) => Output::create_over(&name, earlier),
            None => Output::create(&name, false),
        };
        let left = output.and_then(|output| {
            let file = output.file.try_clone().map_err(io)?;
            fill(output, contents)?;
            mark::seal(&file).map_err(io)
        });
        match left {
            Err(error @ (OutputError::Exists { .. } | OutputError::WrongKind { .. })) => taken = Some(error),
            left => return left,
        }
    }
    taken.map_or(Ok(()), Err)
}

/// Makes the directory that outputs go into, where it is missing.
///
/// # Errors
/// [`OutputError::Io`].
pub fn directory(path: &Path) -> Result<(), OutputError> {
    std::fs::create_dir_all(path).map_err(|source| OutputError::Io {
        path: path.to_path_buf(),
        source,
    })
}

#[cfg(test)]
mod tests;
