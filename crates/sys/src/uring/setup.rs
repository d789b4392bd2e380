//! How a ring comes to be and how it ends: which of the kernel's modes it accepts, what is registered, and
//! the wait for the last I/O.

use super::{Target, Uring, UringConfig};
use crate::arena::Arena;
use crate::queue::Queue;
use crate::slots::InFlight;
use io_uring::{IoUring, cqueue, squeue};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`.
const ENTER_GETEVENTS: u32 = 1;
/// `IORING_MAX_REG_BUFFERS` of the kernel.
const REGISTERED_BUFFERS_MAX: u32 = 1 << 14;

/// How the kernel is told of each file.
pub(super) fn targets_of(files: &[File]) -> io::Result<Box<[Target]>> {
    let target = |file: &File| {
        let block_device = file.metadata()?.file_type().is_block_device();
        Ok(Target {
            fd: file.as_raw_fd(),
            block_device,
        })
    };
    files.iter().map(target).collect()
}

pub(super) fn build(config: &UringConfig, files: Vec<File>, arena: Arena) -> io::Result<Uring> {
    check(config, &arena)?;
    let ring = make_ring(config)?;
    if !ring.params().is_feature_ext_arg() {
        let message = "io_uring of this kernel cannot wait with a timeout: Linux 5.11 or later is needed";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let targets = targets_of(&files)?;
    if config.registered_files {
        let descriptors: Vec<i32> = targets.iter().map(|target| target.fd).collect();
        ring.submitter().register_files(&descriptors)?;
    }
    let vectors = (0..arena.slots())
        .map(|slot| libc::iovec {
            iov_base: arena.slot_ptr(slot).cast(),
            iov_len: arena.slot_bytes(),
        })
        .collect::<Box<[libc::iovec]>>();
    if config.fixed_buffers {
        // SAFETY: the arena's mapping outlives the ring: `Uring` owns both and drops the arena after the ring
        // (the order of its fields).
        unsafe { ring.submitter().register_buffers(&vectors) }?;
    }
    Ok(Uring {
        ring,
        slots: InFlight::new(arena.slots(), config.iodepth),
        queued: 0,
        sqpoll: config.sqpoll_idle_ms.is_some(),
        iopoll: config.iopoll,
        fixed_buffers: config.fixed_buffers,
        registered_files: config.registered_files,
        nonvectored: config.nonvectored,
        kernel_threads_every: config.kernel_threads_every,
        until_kernel_thread: config.kernel_threads_every,
        priority: 0,
        rw_flags: if config.nowait { libc::RWF_NOWAIT } else { 0 },
        targets,
        vectors,
        files,
        arena,
        source: None,
        thread_bound: PhantomData,
    })
}

fn check(config: &UringConfig, arena: &Arena) -> io::Result<()> {
    let invalid = |message: String| Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    if config.iodepth == 0 || arena.slots() < config.iodepth {
        return invalid(format!(
            "iodepth {} with {} buffers",
            config.iodepth,
            arena.slots()
        ));
    }
    if config.fixed_buffers && arena.slots() > REGISTERED_BUFFERS_MAX {
        return invalid(format!(
            "the kernel registers at most {REGISTERED_BUFFERS_MAX} buffers"
        ));
    }
    Ok(())
}

/// The best ring that the kernel accepts: it answers `EINVAL` to a mode that it does not know.
fn make_ring(config: &UringConfig) -> io::Result<IoUring> {
    // The polling thread frees the entries of a batch when it has issued all of them. Some may have completed
    // and been pushed again by then, so the old ones and the new ones must both fit.
    let entries = if config.sqpoll_idle_ms.is_some() {
        config.iodepth.saturating_mul(2)
    } else {
        config.iodepth
    };
    let mut refusal = None;
    for mode in modes(config) {
        let mut builder = IoUring::<squeue::Entry, cqueue::Entry>::builder();
        if let Some(idle_ms) = config.sqpoll_idle_ms {
            builder.setup_sqpoll(idle_ms);
            if let Some(cpu) = config.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        }
        if config.iopoll {
            builder.setup_iopoll();
        }
        mode(&mut builder);
        match builder.build(entries) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = Some(error),
            made => return made,
        }
    }
    Err(refusal.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL)))
}

type Mode = fn(&mut io_uring::Builder);

/// From the best to the oldest. They change the cost, never the meaning: which of them is in force need not
/// be told. Deferred task work (6.1) runs completions where we wait, not where they interrupt us; it makes no
/// sense with SQPOLL, and the kernel refuses the pair.
fn modes(config: &UringConfig) -> &'static [Mode] {
    if config.sqpoll_idle_ms.is_some() {
        &[
            |builder| {
                builder.setup_single_issuer().setup_submit_all();
            },
            |_| {},
        ]
    } else {
        &[
            |builder| {
                builder
                    .setup_single_issuer()
                    .setup_defer_taskrun()
                    .setup_coop_taskrun();
                builder.setup_taskrun_flag().setup_submit_all();
            },
            |builder| {
                builder
                    .setup_coop_taskrun()
                    .setup_taskrun_flag()
                    .setup_submit_all();
            },
            |_| {},
        ]
    }
}

impl Uring {
    /// Waits until the kernel has completed all that it was given. `false`: it could not be learned.
    pub(super) fn settle(&mut self) -> bool {
        let pending = self.slots.count() - self.queued;
        let mut reaped = self.drain(pending, &mut |_, _| ());
        if reaped < pending && self.sqpoll && self.ring.submit().is_err() {
            // The polling thread sleeps and cannot be woken.
            return false;
        }
        while reaped < pending {
            // SAFETY: without EXT_ARG there is no argument to read; nothing is submitted (0), so the entries
            // that were only pushed stay unseen and vanish with the ring.
            let entered = unsafe { self.ring.submitter().enter::<()>(0, 1, ENTER_GETEVENTS, None) };
            match entered {
                Ok(_) => {}
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(_) => return false,
            }
            reaped += self.drain(pending - reaped, &mut |_, _| ());
        }
        true
    }
}
