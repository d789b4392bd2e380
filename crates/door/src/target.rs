//! What a load writes to: files and devices, each permitted by what it is and not by its name.
//!
//! Data in: a judgement on a path, with the handle that it was made on. Data out: handles to write through, each of the
//! very thing that was judged. A [`Permit`] is kept for as long as is written: it holds a device exclusively and a file
//! locked, so that another fathom is told. It must not judge.

mod permits;

pub use permits::Permits;

use crate::identity::{self, Held, Identity};
use crate::mark::{self, Shape, Writing};
use rustix::fs::{AtFlags, FallocateFlags, OFlags, RenameFlags, fallocate, renameat_with, unlinkat};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Marks are prolonged so often …
const PERIOD: Duration = Duration::from_millis(500);
/// … for so many files, and less often for more: it must not become a load of its own.
const FILES_A_PERIOD: u32 = 20;
/// How much later than that it may come to it on a busy machine. What somebody writes to a killed run's file within that
/// time cannot be told from what the run wrote.
const SLACK: Duration = Duration::from_millis(500);

/// Why there is no permit.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Somebody has it locked: another fathom, as a rule.
    #[error("it is locked by another process")]
    Locked,
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Leave to write to one file or device.
#[derive(Debug)]
pub struct Permit {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What it is; `None`: nothing is there yet.
    identity: Option<Identity>,
    /// Whether it was made through this permit.
    created: bool,
    /// A device, exclusively; a file, locked.
    hold: Option<File>,
    /// Whether that keeps everybody else away.
    exclusive: bool,
    /// Whether all that is in it is fathom's, so that the mark is kept true.
    ours: bool,
    /// The size that fathom gives it.
    size_bytes: u64,
    /// Loads that have it open for writing.
    writers: u32,
    /// How it was left when nobody wrote to it any more; `None`: somebody does, or nobody did yet.
    rest: Option<Shape>,
    /// Since when is written to it.
    writing: Option<Writing>,
    /// Whether the file system has no place for a mark.
    unmarkable: bool,
}

impl Permit {
    /// For a file that is not there yet: only a new one, made by [`Permit::create`], is ever written to.
    pub fn new_file(path: &Path) -> Self {
        Self::with(path, State::default())
    }

    /// For the regular file that `judged` is open on. `ours`: fathom made it, and nobody else has written to it.
    ///
    /// # Errors
    /// It is locked, or may not be opened for writing.
    pub fn file(path: &Path, judged: &File, ours: bool) -> Result<Self, Refused> {
        let hold = identity::reopen(judged, OFlags::RDWR | OFlags::NONBLOCK)?;
        lock(&hold)?;
        let state = State {
            identity: Some(Identity::of(&hold)?),
            size_bytes: hold.metadata()?.len(),
            hold: Some(hold),
            ours,
            ..State::default()
        };
        Ok(Self::with(path, state))
    }

    /// For the device that `hold` is open on; `exclusive`: as its only user.
    ///
    /// # Errors
    /// The system does not say what it is.
    pub fn device(path: &Path, hold: File, exclusive: bool) -> Result<Self, Refused> {
        let state = State {
            identity: Some(Identity::of(&hold)?),
            hold: Some(hold),
            exclusive,
            ..State::default()
        };
        Ok(Self::with(path, state))
    }

    /// For the generic device that `judged` is open on, of a disk whose block device `hold` is open on, exclusively or as
    /// nobody's: who sends commands to the one writes to the other.
    ///
    /// # Errors
    /// The system does not say what it is.
    pub fn generic_device(path: &Path, judged: &File, hold: File) -> Result<Self, Refused> {
        let state = State {
            identity: Some(Identity::of(judged)?),
            hold: Some(hold),
            exclusive: true,
            ..State::default()
        };
        Ok(Self::with(path, state))
    }

    fn with(path: &Path, state: State) -> Self {
        Self {
            path: path.to_path_buf(),
            state: Mutex::new(state),
        }
    }

    /// The path as it was judged.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a block device is held exclusively.
    pub fn holds_device(&self) -> bool {
        self.state().exclusive
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens what the permit is for, for reading and writing and with `more` flags. Where the path leads to something
    /// else by now, that is not opened.
    ///
    /// # Errors
    /// Something else is there, nothing is there any more, or the system refused.
    pub fn open(&self, more: OFlags) -> io::Result<File> {
        let mut state = self.state();
        let expected = state.identity.ok_or_else(|| self.changed("it was to be made"))?;
        let held = self.hold(&expected)?;
        if state.is_spoilt()? {
            return Err(self.changed("something else has written to it during the run"));
        }
        Self::begin(&mut state)?;
        let file = held.open(more | OFlags::RDWR)?;
        let opened = Identity::of(&file)?;
        // A file of a lower layer becomes another one when it is opened for writing: that one was opened by the handle
        // that was compared above.
        state.identity = Some(opened);
        Ok(file)
    }

    fn hold(&self, expected: &Identity) -> io::Result<Held> {
        match identity::hold(&self.path, true)? {
            Some(held) if held.identity.same_as(expected) => Ok(held),
            Some(_) => Err(self.changed("it was replaced after it was checked")),
            None => Err(self.changed("it was removed after it was checked")),
        }
    }

    fn changed(&self, what: &str) -> io::Error {
        io::Error::other(format!(
            "{}: {what}: what is there now is left alone. Find out by whom, then run again",
            self.path.display()
        ))
    }

    /// Makes the file, open for reading and writing, and marks it. Where it was made through this permit already, that one
    /// is opened.
    ///
    /// # Errors
    /// Something is there by now, or the system refused.
    pub fn create(&self) -> io::Result<File> {
        let mut state = self.state();
        if state.created {
            drop(state);
            return self.open(OFlags::empty());
        }
        if state.identity.is_some() {
            return Err(self.changed("it is there already"));
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = File::from(rustix::fs::open(
            &self.path,
            flags,
            rustix::fs::Mode::from_raw_mode(0o666),
        )?);
        lock(&made).map_err(io::Error::other)?;
        state.identity = Some(Identity::of(&made)?);
        state.hold = Some(made.try_clone()?);
        (state.created, state.ours) = (true, true);
        Self::begin(&mut state)?;
        Ok(made)
    }

    /// Makes the file, or opens it where it is there already, as a load does that is about names.
    ///
    /// # Errors
    /// As [`Permit::create`] and [`Permit::open`].
    pub fn make(&self) -> io::Result<File> {
        let there = self.state().identity.is_some();
        if there {
            self.open(OFlags::empty())
        } else {
            self.create()
        }
    }

    /// As [`Permit::open`], for a load, until the [`Writer`] is dropped.
    ///
    /// # Errors
    /// As [`Permit::open`].
    pub fn open_for_load(self: &Arc<Self>, more: OFlags) -> io::Result<(File, Writer)> {
        let file = self.open(more)?;
        let mut state = self.state();
        state.writers += 1;
        state.rest = None;
        Ok((file, Writer(Arc::clone(self))))
    }

    /// Says how large the file will be made: the mark of a run that is killed meanwhile holds up to that size.
    pub fn grows_to(&self, size_bytes: u64) {
        let mut state = self.state();
        state.size_bytes = state.size_bytes.max(size_bytes);
    }

    /// It is laid out: from here on until a load opens it, nobody writes to it.
    ///
    /// # Errors
    /// It cannot be marked so.
    pub fn laid_out(&self) -> io::Result<()> {
        let mut state = self.state();
        state.come_to_rest();
        if let (Some(_), Some(hold)) = (state.writing.take(), &state.hold) {
            mark::seal(hold)?;
        }
        Ok(())
    }

    /// From here on it is written to.
    fn begin(state: &mut State) -> io::Result<()> {
        if !state.ours || state.writing.is_some() || state.unmarkable {
            return Ok(());
        }
        let Some(hold) = &state.hold else { return Ok(()) };
        state.writing = mark::begin(hold, state.size_bytes, PERIOD + SLACK)?;
        state.unmarkable = state.writing.is_none();
        Ok(())
    }

    fn prolong(&self, until: Duration) {
        let state = self.state();
        // What nobody writes to needs no more time.
        if state.rest.is_some() {
            return;
        }
        if let (Some(writing), Some(hold)) = (state.writing, &state.hold) {
            // Where it cannot be, the mark ends earlier, and a killed run's file has to be named.
            let _prolonged = mark::prolong(hold, writing, until);
        }
    }

    /// Nobody writes to it any more: the mark says what it is now.
    fn seal(&self) -> io::Result<()> {
        let mut state = self.state();
        let spoilt = state.is_spoilt()?;
        let was_written = state.writing.take().is_some();
        match &state.hold {
            Some(hold) if spoilt => {
                mark::spoil(hold)?;
                Err(self.changed("something else has written to it during the run"))
            }
            Some(hold) if was_written => mark::seal(hold),
            _ => Ok(()),
        }
    }

    /// Removes the file, where it is fathom's: made through this permit, or by an earlier run. `false`: it is not.
    ///
    /// # Errors
    /// As [`Permit::remove_created`].
    pub fn remove_own(&self) -> io::Result<bool> {
        let mut state = self.state();
        let (true, Some(identity)) = (state.ours, state.identity) else {
            return Ok(false);
        };
        if state.is_spoilt()? {
            return Err(self.changed("something else has written to it during the run, and it stays"));
        }
        remove(&self.path, &identity)?;
        *state = State::default();
        Ok(true)
    }

    /// Removes the file again, where it was made through this permit and is still what its path leads to. `false`: it
    /// was there before.
    ///
    /// # Errors
    /// Something else is there by now, which is left alone, or the system refused.
    pub fn remove_created(&self) -> io::Result<bool> {
        let mut state = self.state();
        let (true, Some(identity)) = (state.created, state.identity) else {
            return Ok(false);
        };
        if state.is_spoilt()? {
            return Err(self.changed("something else has written to it during the run, and it stays"));
        }
        remove(&self.path, &identity)?;
        // It may be made again.
        *state = State::default();
        Ok(true)
    }
}

impl State {
    /// Whether something else has written to a file of fathom's: it is larger than fathom made it, or is not as it was when
    /// the last of those who write to it was done.
    fn is_spoilt(&self) -> io::Result<bool> {
        let (true, Some(hold)) = (self.ours, &self.hold) else {
            return Ok(false);
        };
        let now = Shape::of(hold)?;
        Ok(now.size_bytes > self.size_bytes || self.rest.is_some_and(|rest| rest != now))
    }

    fn come_to_rest(&mut self) {
        // Where it cannot be looked at, it cannot be sealed later either.
        self.rest = self.hold.as_ref().and_then(|hold| Shape::of(hold).ok());
    }
}

/// A load that has a target open for writing.
#[derive(Debug)]
pub struct Writer(Arc<Permit>);

impl Drop for Writer {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.writers -= 1;
        if state.writers == 0 {
            state.come_to_rest();
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Where a mark cannot be put, the file has to be named the next time: nothing is lost.
        let _sealed = self.seal();
    }
}

/// Locks a file that is written to. Some network file systems have no locks: two fathoms on one file are then not told.
fn lock(file: &File) -> Result<(), Refused> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Refused::Locked),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            let no_locks = error.raw_os_error() == Some(Errno::NOLCK.raw_os_error());
            if no_locks { Ok(()) } else { Err(error.into()) }
        }
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Opens a block device as its only user, to be judged and then given to [`Permit::device`]: `O_EXCL` without `O_CREAT`
/// fails while the device, its disk or a partition of it is mounted or held in any namespace, and keeps others from doing so
/// (open(2)).
///
/// # Errors
/// [`Errno::BUSY`]: it is held; or the system refused otherwise.
pub fn claim(path: &Path) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map(File::from)
}

/// Opens a SCSI disk's generic device (`/dev/sg0`) for a load that only reads: its driver takes every command by `write(2)`, those
/// that read as well. Which commands are sent is what `sys::sg` sees to, by what it was told of the load.
///
/// # Errors
/// The system refused.
pub fn open_to_ask(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty());
    opened.map(File::from).map_err(Into::into)
}

/// Whether somebody has the file locked that `judged` is open on.
///
/// # Errors
/// As [`Permit::file`].
pub fn is_locked(judged: &File) -> Result<(), Refused> {
    lock(judged)?;
    judged.unlock().map_err(Refused::Io)
}

/// Removes `path`, if it is `expected`. A look and a removal are two steps, between which something else may take the
/// place: so it gets a name that nobody else uses first.
pub(crate) fn remove(path: &Path, expected: &Identity) -> io::Result<()> {
    let taken = beside(path, "removed");
    let cwd = rustix::fs::CWD;
    match renameat_with(cwd, path, cwd, &taken, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        // Removed by somebody else: so be it.
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::INVAL | Errno::NOSYS) => {
            // A file system that cannot rename without replacing: look, then remove.
            return match identity::hold(path, false)? {
                Some(held) if held.identity.same_as(expected) => Ok(unlinkat(cwd, path, AtFlags::empty())?),
                Some(_) => Err(replaced(path)),
                None => Ok(()),
            };
        }
        Err(error) => return Err(error.into()),
    }
    match identity::hold(&taken, false)? {
        Some(held) if held.identity.same_as(expected) => Ok(unlinkat(cwd, &taken, AtFlags::empty())?),
        _ => {
            renameat_with(cwd, &taken, cwd, path, RenameFlags::NOREPLACE)?;
            Err(replaced(path))
        }
    }
}

fn replaced(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is not the file that was made there: it was replaced, and is left alone",
        path.display()
    ))
}

/// A name in the same directory that nobody else uses.
pub(crate) fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = &name[..name.floor_char_boundary(100)];
    let pid = std::process::id();
    // A process before this one may have had its number, and may have been killed.
    let nanos = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .subsec_nanos();
    path.with_file_name(format!(".{start}.fathom-{pid}-{nanos:09}.{what}"))
}

/// Makes a file of a target as long as asked; shorter only to undo what was made longer.
///
/// # Errors
/// The system refused.
pub fn resize(file: &File, size_bytes: u64) -> io::Result<()> {
    file.set_len(size_bytes)
}

/// Reserves room for the first `size_bytes` of a file of a target.
///
/// # Errors
/// The system refused.
pub fn reserve(file: &File, flags: FallocateFlags, size_bytes: u64) -> Result<(), Errno> {
    fallocate(file, flags, 0, size_bytes)
}

#[cfg(test)]
mod tests;
