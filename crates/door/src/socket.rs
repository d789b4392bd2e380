//! Sockets among files: where a server can be reached by who is on this machine.
//!
//! Data in: a path. Data out: a listener, and its name, which goes when it is dropped. Something that is there is left alone, but for
//! a socket that a killed fathom left: what is known of such a one stands in a record beside it, which its server has locked for as
//! long as it lives. It must not know what is said through it.
//!
//! A socket takes no attributes of a user's, and to look whether somebody answers there does not tell whose it is.

use crate::identity::{self, Identity};
use crate::target;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Why nobody can listen there. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Somebody does.
    #[error("{}: another server listens there", path.display())]
    InUse { path: PathBuf },
    /// Something is there that fathom did not make.
    #[error(
        "{} is there, {kind} that fathom did not make: name another place, or remove it if nobody needs it", path.display()
    )]
    Taken {
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// The system refused.
    #[error("cannot listen at {}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

impl SocketError {
    /// Whether it was refused for safety, and not by the system or by who listens there.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Taken { .. })
    }
}

/// A socket's name among files. Dropped, it is gone, unless something else has it by then.
#[derive(Debug)]
pub struct SocketName {
    path: PathBuf,
    identity: Identity,
    record: Record,
}

/// Listens at `path`, where nothing is, or only what a killed fathom left.
///
/// # Errors
/// See [`SocketError`].
pub fn listen(path: &Path) -> Result<(UnixListener, SocketName), SocketError> {
    let io = |source| SocketError::Io {
        path: path.to_owned(),
        source,
    };
    let record = Record::take(path)?;
    let bound = record
        .clear(path)
        // Binding never replaces anything.
        .and_then(|()| UnixListener::bind(path).map_err(|error| refusal(path, error)));
    let listener = match bound {
        Ok(listener) => listener,
        Err(error) => {
            record.remove();
            return Err(error);
        }
    };
    let identity = identity::hold(path, false).map_err(io)?.map(|held| held.identity);
    let identity = identity.filter(Identity::is_socket);
    let identity = identity.ok_or_else(|| io(io::Error::other("it was replaced as soon as it was there")))?;
    record.note(&identity).map_err(io)?;
    let name = SocketName {
        path: path.to_owned(),
        identity,
        record,
    };
    Ok((listener, name))
}

fn refusal(path: &Path, error: io::Error) -> SocketError {
    let path = path.to_owned();
    if error.kind() != ErrorKind::AddrInUse {
        return SocketError::Io { path, source: error };
    }
    match identity::hold(&path, false) {
        Ok(Some(held)) if held.identity.is_socket() && answers(&path) => SocketError::InUse { path },
        Ok(Some(held)) => SocketError::Taken {
            kind: held.identity.in_words(),
            path,
        },
        // It went meanwhile.
        _ => SocketError::Io { path, source: error },
    }
}

/// Whether somebody listens there. What cannot be asked (another kind of socket, one that may not be connected to) is in use.
fn answers(path: &Path) -> bool {
    !matches!(UnixStream::connect(path), Err(error) if error.kind() == ErrorKind::ConnectionRefused)
}

impl Drop for SocketName {
    fn drop(&mut self) {
        // What took its place is left alone; what is left of it is found by the next one.
        if target::remove(&self.path, &self.identity).is_ok() {
            self.record.remove();
        }
    }
}

/// What is known of a socket, in a file beside it.
#[derive(Debug)]
struct Record {
    path: PathBuf,
    /// Locked.
    file: File,
    identity: Identity,
}

/// What every record begins with.
const HEAD: &str = "fathom.socket/1 ";
/// Records have one length, so that one takes the place of another in one write.
const RECORD_BYTES: usize = 96;
/// How often another one may take or leave a record while this one looks at it.
const TRIES: u32 = 5;

impl Record {
    /// That of the socket at `path`, locked: a new one, or one that was left.
    fn take(path: &Path) -> Result<Self, SocketError> {
        let io = |source| SocketError::Io {
            path: path.to_owned(),
            source,
        };
        let Some(name) = path.file_name() else {
            return Err(io(ErrorKind::InvalidInput.into()));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".fathom");
        let at = path.with_file_name(hidden);
        for _ in 0..TRIES {
            let taken = match Self::of_left(path, &at)? {
                Some(left) => left,
                None => match Self::make(&at) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                    made => made.map_err(io)?,
                },
            };
            // Who had it may have removed it between a look and the lock.
            let there = identity::hold(&at, false).map_err(io)?;
            if there.is_some_and(|there| there.identity.same_as(&taken.identity)) {
                return Ok(taken);
            }
        }
        Err(SocketError::InUse {
            path: path.to_owned(),
        })
    }

    /// The one that is there; `None`: none is.
    fn of_left(path: &Path, at: &Path) -> Result<Option<Self>, SocketError> {
        let io = |source| SocketError::Io {
            path: at.to_owned(),
            source,
        };
        let Some(held) = identity::hold(at, false).map_err(io)? else {
            return Ok(None);
        };
        let taken = || SocketError::Taken {
            path: at.to_owned(),
            kind: held.identity.in_words(),
        };
        if !held.identity.is_regular() {
            return Err(taken());
        }
        let file = match held.open(OFlags::RDWR) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io)?,
        };
        let record = Self {
            path: at.to_owned(),
            identity: held.identity,
            file,
        };
        if record.read().map_err(io)?.is_none() {
            return Err(taken());
        }
        match record.file.try_lock() {
            Ok(()) => Ok(Some(record)),
            Err(TryLockError::WouldBlock) => Err(SocketError::InUse {
                path: path.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// A new one, which is locked before it has its name.
    fn make(at: &Path) -> io::Result<Self> {
        let temporary = target::beside(at, "part");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(&temporary, flags, Mode::from_raw_mode(0o600))?);
        let identity = Identity::of(&file)?;
        let mut made = Self {
            path: temporary,
            file,
            identity,
        };
        let named = made.file.try_lock().map_err(io::Error::from).and_then(|()| {
            made.write("")?;
            renameat_with(CWD, &made.path, CWD, at, RenameFlags::NOREPLACE).map_err(io::Error::from)
        });
        if let Err(error) = named {
            made.remove();
            return Err(error);
        }
        at.clone_into(&mut made.path);
        Ok(made)
    }

    /// Which socket it is of, in its words; `None`: it is no record.
    fn read(&self) -> io::Result<Option<String>> {
        let mut bytes = [0; RECORD_BYTES];
        match self.file.read_exact_at(&mut bytes, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let is_whole = self.file.metadata()?.len() == RECORD_BYTES as u64;
        let words = std::str::from_utf8(&bytes).ok().filter(|_| is_whole);
        let words = words.and_then(|words| words.strip_prefix(HEAD));
        Ok(words.map(|words| words.trim_end().to_owned()))
    }

    fn write(&self, words: &str) -> io::Result<()> {
        let room = RECORD_BYTES - HEAD.len() - 1;
        let line = format!("{HEAD}{words:<room$}\n");
        if line.len() != RECORD_BYTES {
            return Err(io::Error::other(
                "a record of a socket has no room for what it is",
            ));
        }
        self.file.write_all_at(line.as_bytes(), 0)
    }

    fn note(&self, socket: &Identity) -> io::Result<()> {
        self.write(&socket.on_its_file_system())
    }

    /// Removes the socket that this is the record of. Anything else at `path` stays.
    fn clear(&self, path: &Path) -> Result<(), SocketError> {
        let io = |source| SocketError::Io {
            path: path.to_owned(),
            source,
        };
        let Some(held) = identity::hold(path, false).map_err(io)? else {
            return Ok(());
        };
        let noted = self.read().map_err(io)?;
        let is_noted = held.identity.is_socket()
            && held.identity.is_beside(&self.identity)
            && noted.is_some_and(|noted| noted == held.identity.on_its_file_system());
        if !is_noted {
            return Err(refusal(path, Errno::ADDRINUSE.into()));
        }
        target::remove(path, &held.identity).map_err(io)
    }

    fn remove(&self) {
        // It holds nothing that anybody needs, and the next one takes it.
        let _removed = target::remove(&self.path, &self.identity);
    }
}

#[cfg(test)]
mod tests;
