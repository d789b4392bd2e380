//! SCSI commands to a disk by its generic device (`/dev/sg0`; scsi/sg.h, version 3): what the disk is, and a queue of commands.
//!
//! Data in: I/Os in numbered slots. Data out: completions of slots. Each command is a `write(2)` of a header to the device and
//! a `read(2)` of it when it is done; what is read is copied to the buffer by the latter. It must not know what the I/Os are
//! for, nor whether they may be done.

use crate::arena::Arena;
use crate::deadline::Deadline;
use crate::last_errno;
use crate::queue::Queue;
use crate::slots::{InFlight, PushError};
use crate::source::{self, Source};
use abi::{Direction, Header};
use fathom_core::backend::{Errno, Op, Outcome};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno as SysErrno;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

mod abi;
mod cdb;

use cdb::{CDB_BYTES, Cdb, SENSE_BYTES, Sense};

/// How a disk is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    pub blocks: u64,
    pub block_bytes: u32,
}

impl Capacity {
    /// What it holds.
    pub fn size_bytes(&self) -> u64 {
        self.blocks.saturating_mul(u64::from(self.block_bytes))
    }
}

/// How a queue is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SgConfig {
    /// The most commands in flight; the arena has at least as many slots.
    pub iodepth: u32,
    /// Whether the load may write: where it may not, no command that writes is sent.
    pub writes: bool,
    /// Reads come from the medium (FUA).
    pub reads_medium: bool,
    /// Writes are on the medium when they are done (FUA).
    pub writes_medium: bool,
    /// The driver is asked to poll, where it can.
    pub polls: bool,
}

/// Commands to disks, with the buffers of their data.
#[derive(Debug)]
pub struct Sg {
    config: SgConfig,
    slots: InFlight,
    capacities: Box<[Capacity]>,
    /// One a slot; the kernel has copied it once the command is under way.
    commands: Box<[Slot]>,
    /// Slots that were pushed and not yet handed to the kernel.
    queued: VecDeque<u32>,
    /// Commands that the kernel has, of each file.
    under_way: Box<[u32]>,
    /// Commands that were refused, with the negative errno; the next reap reports them.
    refused: Vec<(u32, i32)>,
    files: Vec<File>,
    arena: Arena,
    /// What writes may be taken from in place of the arena.
    source: Option<Arc<Source>>,
}

/// A command and where its sense goes.
#[derive(Debug, Clone, Copy)]
struct Slot {
    cdb: Cdb,
    sense: [u8; SENSE_BYTES],
    file: u32,
    direction: Direction,
    /// Its data; null where it has none.
    data: *mut u8,
    len: u32,
}

// SAFETY: the pointers of the slots are into `arena` or `source`, which move with it.
unsafe impl Send for Sg {}

/// What is under an open `/dev/sgN`: it is asked for its capacity, which clears what it has to say of its start.
///
/// # Errors
/// `ENOTTY` where it is none; `InvalidData` where it has no blocks of a size that disks have; an errno for what it answers.
pub fn capacity(device: &File) -> io::Result<Capacity> {
    version(device)?;
    let mut short = [0; 8];
    ask(device, cdb::read_capacity_10(), &mut short)?;
    let mut found = cdb::capacity_10(short);
    if found.is_none() {
        let mut long = [0; 32];
        ask(device, cdb::read_capacity_16(), &mut long)?;
        found = cdb::capacity_16(&long);
    }
    let (blocks, block_bytes) = found.unwrap_or_default();
    if !block_bytes.is_power_of_two() || !(512..=1 << 20).contains(&block_bytes) {
        let message = format!("the device names blocks of {block_bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(Capacity { blocks, block_bytes })
}

/// The version of the driver's interface, in tens of thousands.
fn version(device: &File) -> io::Result<i32> {
    let mut version = 0;
    // SAFETY: SG_GET_VERSION_NUM writes an int at its argument.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), abi::IOCTL_VERSION, &raw mut version) };
    if result == 0 {
        Ok(version)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// One command that reads, to its end. A disk that has something to say of itself first (UNIT ATTENTION) is asked again.
fn ask(device: &File, cdb: Cdb, answer: &mut [u8]) -> io::Result<()> {
    const ATTEMPTS: u32 = 4;
    for attempt in 1.. {
        let ended = carry_out(
            device,
            cdb,
            Direction::From,
            answer.as_mut_ptr(),
            answer.len() as u32,
        );
        match ended {
            Ok(_) => return Ok(()),
            Err((_, true)) if attempt < ATTEMPTS => {}
            Err((Errno(errno), _)) => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
    Ok(())
}

/// One command by `SG_IO`: the bytes moved, or the errno and whether it is worth another attempt.
fn carry_out(
    device: &File,
    cdb: Cdb,
    direction: Direction,
    data: *mut u8,
    len: u32,
) -> Result<u32, (Errno, bool)> {
    let mut sense = [0; SENSE_BYTES];
    let mut cdb = cdb;
    let mut header = Header::new(&mut cdb, &mut sense, direction, (data, len));
    // SAFETY: SG_IO reads and writes a `struct sg_io_hdr` at its argument, and the command, sense and data that it names,
    // which are the caller's until it returns.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), abi::IOCTL_IO, &raw mut header) };
    if result != 0 {
        return Err((Errno(last_errno()), false));
    }
    let sense = Sense::of(&sense[..usize::from(header.sense_written())]);
    match header.errno(sense) {
        None => Ok(header.moved()),
        Some(errno) => Err((Errno(errno), sense.is_attention())),
    }
}

impl Sg {
    /// Asks the disks what they are. Nothing is allocated after it returns.
    ///
    /// # Errors
    /// `InvalidInput` if the arena has fewer slots than `iodepth` or that is 0; `Unsupported` for a driver before version 3; and
    /// as [`capacity`].
    pub fn new(config: SgConfig, files: Vec<File>, arena: Arena) -> io::Result<Self> {
        let depth = config.iodepth;
        let slots = InFlight::new(&arena, depth)?;
        let mut capacities = Vec::with_capacity(files.len());
        for file in &files {
            if version(file)? < 30_000 {
                return Err(io::Error::from(io::ErrorKind::Unsupported));
            }
            capacities.push(capacity(file)?);
            // A read of what is not done yet must not wait: there may be other disks, and a timeout.
            let flags = rustix::fs::fcntl_getfl(file)?;
            rustix::fs::fcntl_setfl(file, flags | OFlags::NONBLOCK)?;
        }
        let none = Slot {
            cdb: [0; CDB_BYTES],
            sense: [0; SENSE_BYTES],
            file: 0,
            direction: Direction::None,
            data: ptr::null_mut(),
            len: 0,
        };
        Ok(Self {
            config,
            slots,
            capacities: capacities.into_boxed_slice(),
            commands: vec![none; arena.slots() as usize].into_boxed_slice(),
            queued: VecDeque::with_capacity(depth as usize),
            under_way: vec![0; files.len()].into_boxed_slice(),
            refused: Vec::with_capacity(depth as usize),
            files,
            arena,
            source: None,
        })
    }

    /// Queues a command from or to `buffer`, which is at least `len` bytes of the arena's slot, or, where it writes, of the
    /// source.
    #[inline]
    fn push_with(
        &mut self,
        slot: u32,
        op: Op,
        file: u32,
        offset: u64,
        (buffer, len): (*mut u8, u32),
    ) -> Result<(), PushError> {
        if self.slots.is_full() {
            return Err(PushError::Full);
        }
        let capacity = self.capacities[file as usize];
        let (direction, to_medium) = match op {
            Op::Write => (Direction::To, self.config.writes_medium),
            _ => (Direction::From, self.config.reads_medium),
        };
        let writes = direction == Direction::To;
        let cdb = cdb::transfer(writes, to_medium, (offset, len), capacity.block_bytes);
        let cdb = cdb.ok_or(PushError::Invalid)?;
        self.slots.start(slot);
        let command = &mut self.commands[slot as usize];
        (command.cdb, command.file, command.direction) = (cdb, file, direction);
        (command.data, command.len) = (buffer, len);
        self.queued.push_back(slot);
        Ok(())
    }

    /// Hands one command over; `false`: the kernel has no room for now.
    fn begin(&mut self, slot: u32) -> io::Result<bool> {
        let command = &mut self.commands[slot as usize];
        let file = &self.files[command.file as usize];
        let mut header = Header::new(
            &mut command.cdb,
            &mut command.sense,
            command.direction,
            (command.data, command.len),
        );
        header.identify(slot, self.config.polls);
        loop {
            // SAFETY: the kernel reads the header now, and what it writes of it comes by a read; of the data it takes a copy now
            // (a write), or gives one by that read. The command's buffer (at least `len` bytes of the slot's, or to be
            // read of the source, which never changes) and its sense belong to `self`; while the slot is in flight,
            // `buffer` lends it to nobody.
            let written =
                unsafe { libc::write(file.as_raw_fd(), (&raw const header).cast(), size_of::<Header>()) };
            if written == size_of::<Header>() as isize {
                self.under_way[command.file as usize] += 1;
                return Ok(true);
            }
            match last_errno() {
                libc::EINTR => {}
                // A device has at most 16 commands of one opener (`SG_MAX_QUEUE`): no room is EDOM.
                libc::EDOM | libc::EAGAIN | libc::EBUSY if self.under_way[command.file as usize] > 0 => {
                    return Ok(false);
                }
                errno @ (libc::EFAULT | libc::EBADF) => return Err(io::Error::from_raw_os_error(errno)),
                errno => {
                    self.refused.push((slot, -errno));
                    return Ok(true);
                }
            }
        }
    }

    /// Takes one command of `file` that is done, where there is one.
    fn take(&mut self, file: usize) -> io::Result<Option<(u32, i32)>> {
        let mut header = Header::default();
        loop {
            // SAFETY: the kernel writes a header, and by it the sense and the data of a command that was begun: to buffers that
            // belong to `self` and that nobody has been lent since.
            let read = unsafe {
                libc::read(
                    self.files[file].as_raw_fd(),
                    (&raw mut header).cast(),
                    size_of::<Header>(),
                )
            };
            if read == size_of::<Header>() as isize {
                break;
            }
            match last_errno() {
                libc::EINTR => {}
                libc::EAGAIN => return Ok(None),
                errno => return Err(io::Error::from_raw_os_error(errno)),
            }
        }
        let slot = header.slot();
        let command = &self.commands[slot as usize];
        let sense = Sense::of(&command.sense[..usize::from(header.sense_written())]);
        let result = match header.errno(sense) {
            None => i32::try_from(header.moved()).unwrap_or(i32::MAX),
            Some(errno) => -errno,
        };
        self.under_way[file] -= 1;
        Ok(Some((slot, result)))
    }

    /// Reports what is done, up to `max` in all.
    fn take_all(&mut self, mut reaped: u32, max: u32, done: &mut impl FnMut(u32, i32)) -> io::Result<u32> {
        for file in 0..self.files.len() {
            while reaped < max && self.under_way[file] > 0 {
                let Some((slot, result)) = self.take(file)? else {
                    break;
                };
                self.slots.finish(slot);
                reaped += 1;
                done(slot, result);
            }
        }
        Ok(reaped)
    }

    /// Waits until a command is done, or the time has passed.
    fn await_one(&self, timeout: Option<Duration>) -> io::Result<()> {
        // Nearly always one; what does not fit is looked at in turn.
        const AT_ONCE: usize = 16;
        let timeout = timeout.map(|left| Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let busy = self.files.iter().zip(&self.under_way).filter(|(_, n)| **n > 0);
        let mut polled: [Option<PollFd<'_>>; AT_ONCE] = [const { None }; AT_ONCE];
        let mut count = 0;
        for ((file, _), place) in busy.zip(&mut polled) {
            *place = Some(PollFd::new(file, PollFlags::IN));
            count += 1;
        }
        let nobody = &self.files[0];
        let mut polled = polled.map(|one| one.unwrap_or_else(|| PollFd::new(nobody, PollFlags::empty())));
        match poll(&mut polled[..count], timeout.as_ref()) {
            Ok(_) | Err(SysErrno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Queue for Sg {
    const SUBMIT_CALL: &'static str = "write";
    const REAP_CALL: &'static str = "read";

    /// Synchronous here: syncs and trims.
    #[inline]
    fn push(&mut self, slot: u32, op: Op, file: u32, offset: u64, len: u32) -> Result<(), PushError> {
        if matches!(op, Op::Write | Op::Trim) && !self.config.writes {
            return Err(PushError::Invalid);
        }
        if !matches!(op, Op::Read | Op::Write) {
            return Err(PushError::Synchronous);
        }
        assert!(
            len as usize <= self.arena.slot_bytes(),
            "{len} bytes do not fit the buffer"
        );
        self.push_with(slot, op, file, offset, (self.arena.slot_ptr(slot), len))
    }

    /// Commands have none.
    #[inline]
    fn prioritise(&mut self, _priority: u16) {}

    fn use_source(&mut self, source: Arc<Source>) {
        self.source = Some(source);
    }

    #[inline]
    fn push_from(&mut self, slot: u32, file: u32, offset: u64, len: u32, at: usize) -> Result<(), PushError> {
        if !self.config.writes {
            return Err(PushError::Invalid);
        }
        let place = source::place(self.source.as_deref(), at, len);
        self.push_with(slot, Op::Write, file, offset, (place, len))
    }

    /// With a `write` a command.
    fn commit(&mut self) -> io::Result<u32> {
        let mut taken = 0;
        while let Some(&slot) = self.queued.front() {
            if !self.begin(slot)? {
                break;
            }
            self.queued.pop_front();
            taken += 1;
        }
        Ok(taken)
    }

    #[inline]
    fn in_flight(&self) -> u32 {
        self.slots.count()
    }

    /// Nobody makes a device anew.
    fn take_files(&mut self, _files: Vec<File>) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    fn files(&self) -> &[File] {
        &self.files
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.slots.lend(&mut self.arena, slot)
    }

    #[inline]
    fn drain(&mut self, max: u32, done: &mut impl FnMut(u32, i32)) -> u32 {
        let mut reaped = 0;
        while reaped < max {
            let Some((slot, result)) = self.refused.pop() else {
                break;
            };
            self.slots.finish(slot);
            reaped += 1;
            done(slot, result);
        }
        reaped
    }

    #[inline]
    fn hides_completions(&mut self) -> bool {
        self.slots.count() > 0
    }

    fn wait(
        &mut self,
        mut reaped: u32,
        want: u32,
        max: u32,
        timeout: Option<Duration>,
        done: &mut impl FnMut(u32, i32),
    ) -> io::Result<u32> {
        let deadline = Deadline::after(timeout);
        let mut left = timeout;
        loop {
            self.commit()?;
            reaped += self.drain(max - reaped, done);
            reaped = self.take_all(reaped, max, done)?;
            if reaped >= want || left.is_some_and(|left| left.is_zero()) {
                // What was taken made room.
                if !self.queued.is_empty() {
                    self.commit()?;
                }
                return Ok(reaped);
            }
            if timeout.is_none() && self.slots.count() == 0 {
                return Ok(reaped);
            }
            self.await_one(left)?;
            left = deadline.left();
        }
    }

    fn trim_sync(&self, file: u32, offset: u64, len: u32) -> Outcome {
        let file = file as usize;
        let unmap = cdb::unmap((offset, len), self.capacities[file].block_bytes);
        let (cdb, mut range) = unmap.ok_or(Errno(libc::EINVAL))?;
        let (data, bytes) = (range.as_mut_ptr(), range.len() as u32);
        let done = carry_out(&self.files[file], cdb, Direction::To, data, bytes);
        done.map(|_| len).map_err(|(errno, _)| errno)
    }

    fn sync_now(&self, file: u32, _data_only: bool) -> Outcome {
        let device = &self.files[file as usize];
        let done = carry_out(
            device,
            cdb::synchronize_cache(),
            Direction::None,
            ptr::null_mut(),
            0,
        );
        done.map(|_| 0).map_err(|(errno, _)| errno)
    }
}

impl Drop for Sg {
    /// Waits for what the kernel was given: a read that it still carries out is not written to memory before it is taken,
    /// but a write is done.
    fn drop(&mut self) {
        self.queued.clear();
        let mut ignore = |_, _| ();
        while self.under_way.iter().any(|&n| n > 0) {
            let waited = self
                .await_one(None)
                .and_then(|()| self.take_all(0, u32::MAX, &mut ignore));
            if waited.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
