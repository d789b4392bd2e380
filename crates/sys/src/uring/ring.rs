//! A ring whatever its entries are: what is handed over, what comes back, the wait between them.
//!
//! Data in: entries that others have made, each with its [`Tag`]. Data out: completions of slots. It must not know what is in
//! an entry.

use crate::deadline::Deadline;
use crate::slots::{InFlight, PushError};
use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, squeue};
use std::io;
use std::time::Duration;

/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;

/// What goes with an entry and comes back with its completion: the slot in the low half, and in the high half
/// what a success adds to the result. The kernel answers a trim with 0 though it discarded `len` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tag(pub(super) u64);

impl Tag {
    #[inline]
    pub(super) fn new(slot: u32, success_adds: u32) -> Self {
        Self(u64::from(slot) | u64::from(success_adds) << 32)
    }

    #[inline]
    pub(super) fn unpack(self, result: i32) -> (u32, i32) {
        // The result's type holds 2 GiB at most, as much as any transfer moves.
        let adds = (self.0 >> 32).min(i32::MAX as u64) as i32;
        (
            self.0 as u32,
            if result < 0 {
                result
            } else {
                result.saturating_add(adds)
            },
        )
    }
}

/// Which I/Os are carried out by threads of the kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct KernelThreads {
    /// Every so many; 0: none is made to.
    every: u32,
    until: u32,
}

impl KernelThreads {
    pub(super) fn new(every: u32) -> Self {
        Self { every, until: every }
    }

    /// Whether the next one is.
    #[inline]
    pub(super) fn take_next(&mut self) -> bool {
        self.every > 0 && self.is_due()
    }

    fn is_due(&mut self) -> bool {
        self.until -= 1;
        if self.until > 0 {
            return false;
        }
        self.until = self.every;
        true
    }
}

/// How one `io_uring_enter` ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// It did what it could.
    Done,
    /// The timeout passed.
    TimedOut,
    /// The kernel has no room for now (`EAGAIN`, `EBUSY`): what is left stays queued.
    Busy,
}

/// A ring with the slots that are in flight in it.
pub(super) struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    kernel: IoUring<S, C>,
    pub(super) slots: InFlight,
    /// Pushed but not yet handed to the kernel; not counted with SQPOLL, where pushing is handing over.
    queued: u32,
    sqpoll: bool,
    pub(super) iopoll: bool,
}

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    pub(super) fn new(ring: IoUring<S, C>, slots: InFlight) -> Self {
        Self {
            queued: 0,
            sqpoll: ring.params().is_setup_sqpoll(),
            iopoll: ring.params().is_setup_iopoll(),
            kernel: ring,
            slots,
        }
    }

    /// Queues an entry, whose tag is of `slot`.
    ///
    /// # Safety
    /// All that the entry names (files, memory) stays until its completion, is written by nobody meanwhile, and, where the
    /// kernel writes it, read by nobody.
    ///
    /// # Panics
    /// The slot is in flight.
    #[inline]
    pub(super) unsafe fn push(&mut self, slot: u32, entry: &S) -> Result<(), PushError> {
        // SAFETY: as the caller says.
        let pushed = unsafe { self.kernel.submission().push(entry) };
        if pushed.is_err() {
            return Err(PushError::Full);
        }
        self.slots.start(slot);
        if !self.sqpoll {
            self.queued += 1;
        }
        Ok(())
    }

    /// How many completions lie in the ring.
    #[inline]
    fn ready(&mut self) -> u32 {
        self.kernel.completion().len() as u32
    }

    /// Enters the kernel until `min` completions are ready, the timeout has passed, or the kernel has no room.
    fn enter_until(&mut self, min: u32, timeout: Option<Duration>) -> io::Result<()> {
        let deadline = Deadline::after(timeout);
        let mut left = timeout;
        loop {
            let entered = self.enter(min, left)?;
            if entered != Entered::Done || self.ready() >= min {
                return Ok(());
            }
            // A signal, or only a part was taken: on with what is left of the time.
            left = deadline.left();
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
        }
    }

    /// One `io_uring_enter`: submits what is queued and waits for `min` completions in the ring.
    #[inline]
    fn enter(&mut self, min: u32, timeout: Option<Duration>) -> io::Result<Entered> {
        let submitted = match timeout {
            None => self.kernel.submit_and_wait(min as usize),
            Some(timeout) => {
                let timespec = Timespec::from(timeout);
                let args = SubmitArgs::new().timespec(&timespec);
                self.kernel.submitter().submit_with_args(min as usize, &args)
            }
        };
        match submitted {
            Ok(taken) => {
                let none_taken = taken == 0 && self.queued > 0;
                self.queued = self.queued.saturating_sub(taken as u32);
                Ok(if none_taken { Entered::Busy } else { Entered::Done })
            }
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => Ok(Entered::Done),
                Some(libc::ETIME) => Ok(Entered::TimedOut),
                Some(libc::EAGAIN | libc::EBUSY) => Ok(Entered::Busy),
                _ => Err(error),
            },
        }
    }

    /// With one `io_uring_enter`; with SQPOLL only to wake its thread: there pushing is handing over, and the
    /// count is always 0.
    #[inline]
    pub(super) fn commit(&mut self) -> io::Result<u32> {
        if self.sqpoll {
            self.enter(0, None)?;
            return Ok(0);
        }
        let before = self.queued;
        while self.queued > 0 {
            if self.enter(0, None)? == Entered::Busy {
                break;
            }
        }
        Ok(before - self.queued)
    }

    /// Reports what has arrived, up to `max`; `read` is what a result says, in the kernel's way of it.
    #[inline]
    pub(super) fn drain(
        &mut self,
        max: u32,
        read: impl Fn(i32) -> i32,
        done: &mut impl FnMut(u32, i32),
    ) -> u32 {
        let mut reaped = 0;
        for completion in self.kernel.completion().take(max as usize) {
            let completion: cqueue::Entry = completion.into();
            let (slot, result) = Tag(completion.user_data()).unpack(read(completion.result()));
            self.slots.finish(slot);
            reaped += 1;
            done(slot, result);
        }
        reaped
    }

    /// Deferred task work waits for an enter, and a polled device is polled by it.
    #[inline]
    pub(super) fn hides_completions(&mut self) -> bool {
        self.slots.count() > 0 && ((self.iopoll && !self.sqpoll) || self.kernel.submission().taskrun())
    }

    /// Asks the kernel for so many more completions; with none wanted it looks without waiting.
    #[inline]
    pub(super) fn wait(&mut self, more: u32, timeout: Option<Duration>) -> io::Result<()> {
        if more > 0 {
            self.enter_until(more, timeout)
        } else {
            self.enter(0, None).map(drop)
        }
    }

    /// Waits until the kernel has completed all that it was given. `false`: it could not be learned.
    pub(super) fn settle(&mut self) -> bool {
        let pending = self.slots.count() - self.queued;
        let mut ignore = |_, _| ();
        let mut reaped = self.drain(pending, |result| result, &mut ignore);
        if reaped < pending && self.sqpoll && self.kernel.submit().is_err() {
            // The polling thread sleeps and cannot be woken.
            return false;
        }
        while reaped < pending {
            // SAFETY: without EXT_ARG there is no argument to read; nothing is submitted (0), so the entries
            // that were only pushed stay unseen and vanish with the ring.
            let entered = unsafe { self.kernel.submitter().enter::<()>(0, 1, ENTER_GETEVENTS, None) };
            match entered {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(_) => return false,
            }
            reaped += self.drain(pending - reaped, |result| result, &mut ignore);
        }
        true
    }
}
