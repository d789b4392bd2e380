//! Linux AIO's system calls, structures and completion ring (`linux/aio_abi.h`, `fs/aio.c`).
//!
//! The structures are laid out for little-endian machines.

use crate::last_errno;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[cfg(target_endian = "big")]
compile_error!("struct iocb and struct io_event are laid out for little-endian machines here");

/// `IOCB_CMD_PREAD`.
pub(super) const PREAD: u16 = 0;
/// `IOCB_CMD_PWRITE`.
pub(super) const PWRITE: u16 = 1;

/// `struct iocb`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Iocb {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_descriptor: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// `struct aio_ring`, the head of the mapping whose address is the context's number. `count` events follow,
/// aligned as they need.
#[repr(C, align(8))]
struct Ring {
    id: u32,
    count: u32,
    /// The next event to take; the consumer's to move.
    head: AtomicU32,
    /// Where the kernel puts the next event; it stores this after the event.
    tail: AtomicU32,
    magic: u32,
    compatible_features: u32,
    incompatible_features: u32,
    header_bytes: u32,
}

const _: () = assert!(size_of::<Iocb>() == 64 && size_of::<Event>() == 32 && size_of::<Ring>() == 32);

/// `AIO_RING_MAGIC`.
const RING_MAGIC: u32 = 0xa10a_10a1;

impl Iocb {
    /// Gives it a priority of its own (`IOCB_FLAG_IOPRIO`).
    pub(super) fn prioritise(&mut self, priority: u16) {
        const HAS_PRIORITY: u32 = 1 << 1;
        self.priority = priority as i16;
        self.flags |= HAS_PRIORITY;
    }

    #[inline]
    pub(super) fn new(
        slot: u32,
        opcode: u16,
        descriptor: i32,
        buffer: *mut u8,
        bytes: u32,
        offset: u64,
        rw_flags: i32,
    ) -> Self {
        Self {
            data: u64::from(slot),
            opcode,
            descriptor: descriptor as u32,
            buffer: buffer.expose_provenance() as u64,
            bytes: u64::from(bytes),
            offset: offset as i64,
            rw_flags,
            ..Self::default()
        }
    }

    pub(super) fn slot(&self) -> u32 {
        self.data as u32
    }
}

impl Event {
    /// The slot and the result. A result fits `i32`: bytes up to 2 GiB − 4 KiB, or a negative errno.
    #[inline]
    pub(super) fn completion(&self) -> (u32, i32) {
        (self.data as u32, self.result as i32)
    }
}

/// `struct __kernel_old_timespec`, which these calls take on 64-bit machines.
#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

/// An AIO context.
#[derive(Debug)]
pub(super) struct Context {
    /// `aio_context_t`; 0 once destroyed.
    id: usize,
    /// The mapped ring, where its layout is the one known here. It lives as long as the context.
    ring: Option<ptr::NonNull<Ring>>,
}

impl Context {
    /// A context for `depth` I/Os.
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        let mut id = 0usize;
        // SAFETY: io_setup writes one aio_context_t, a long, into `id`, which must be 0 before.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut id) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            id,
            ring: known_ring(id),
        })
    }

    /// Whether completions can be taken without a system call.
    #[inline]
    pub(super) fn has_ring(&self) -> bool {
        self.ring.is_some()
    }

    /// Leaves the ring alone, as on a kernel whose layout is unknown.
    #[cfg(test)]
    pub(super) fn forget_ring(&mut self) {
        self.ring = None;
    }

    /// Submits; the number of blocks taken, or the errno if none was.
    ///
    /// # Safety
    /// Each pointer is to a valid block; the buffer and the file that it names stay, and the buffer is left
    /// alone, until its event was taken or the context was destroyed.
    pub(super) unsafe fn submit(&mut self, blocks: &mut [*mut Iocb]) -> Result<usize, i32> {
        // SAFETY: the caller keeps the contract; `blocks` has as many pointers as is said.
        let result =
            unsafe { libc::syscall(libc::SYS_io_submit, self.id, blocks.len(), blocks.as_mut_ptr()) };
        usize::try_from(result).map_err(|_| last_errno())
    }

    /// Takes one event from the ring.
    #[inline]
    pub(super) fn pop_event(&mut self) -> Option<(u32, i32)> {
        let ring = self.ring?;
        // SAFETY: the ring stays mapped until `destroy`, which clears `ring`; what the kernel changes in it
        // is atomic here.
        let header = unsafe { ring.as_ref() };
        let head = header.head.load(Ordering::Relaxed);
        // The kernel wrote the event before it moved the tail.
        if head == header.tail.load(Ordering::Acquire) || head >= header.count {
            return None;
        }
        let event = ring
            .as_ptr()
            .wrapping_add(1)
            .cast::<Event>()
            .wrapping_add(head as usize);
        // SAFETY: the mapping holds the header and `count` events, and `head < count`; the kernel leaves the
        // event alone until the head has moved past it.
        let event = unsafe { event.read() };
        let next = if head + 1 == header.count { 0 } else { head + 1 };
        header.head.store(next, Ordering::Release);
        Some(event.completion())
    }

    /// Waits for `min` events, but not longer than `timeout`; fills `events` from the front and returns how
    /// many came. A signal ends the wait with those that had come.
    pub(super) fn wait_events(
        &mut self,
        min: u32,
        events: &mut [Event],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let timespec = timeout.map(|timeout| Timespec {
            seconds: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: i64::from(timeout.subsec_nanos()),
        });
        let timespec = timespec.as_ref().map_or(ptr::null(), ptr::from_ref);
        let min = (min as usize).min(events.len());
        let (id, room) = (self.id, events.len());
        // SAFETY: the kernel writes at most `room` events into `events` and reads one timespec or none.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                id,
                min,
                room,
                events.as_mut_ptr(),
                timespec,
            )
        };
        match usize::try_from(result) {
            Ok(count) => Ok(count),
            Err(_) => match last_errno() {
                libc::EINTR => Ok(0),
                errno => Err(io::Error::from_raw_os_error(errno)),
            },
        }
    }

    /// Ends the context: waits for what is in flight. `false`: the kernel refused.
    pub(super) fn destroy(&mut self) -> bool {
        self.ring = None;
        // SAFETY: `id` is a context of this process, made in `new` and destroyed once: `Aio` calls this when
        // it is dropped.
        let result = unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
        result == 0
    }
}

/// The ring behind a context's number, if it has the layout known here.
fn known_ring(id: usize) -> Option<ptr::NonNull<Ring>> {
    let ring = ptr::NonNull::new(ptr::with_exposed_provenance_mut::<Ring>(id))?;
    // SAFETY: io_setup gives the address of the ring's mapping as the context's number (fs/aio.c,
    // `ctx->user_id = ctx->mmap_base`), and every kernel since 2.6 begins it with this header.
    let header = unsafe { ring.as_ref() };
    let known = header.magic == RING_MAGIC
        && header.incompatible_features == 0
        && header.header_bytes as usize == size_of::<Ring>();
    known.then_some(ring)
}
