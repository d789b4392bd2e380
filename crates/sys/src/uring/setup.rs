//! How a ring comes to be: which of the kernel's modes it accepts, and what is registered.

use super::ring::{KernelThreads, Ring};
use super::{Target, Uring, UringConfig};
use crate::arena::Arena;
use crate::slots::InFlight;
use io_uring::{IoUring, cqueue, squeue};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

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
    let Parts {
        ring,
        targets,
        vectors,
    } = parts(config, &files, &arena)?;
    Ok(Uring {
        ring,
        fixed_buffers: config.fixed_buffers,
        registered_files: config.registered_files,
        nonvectored: config.nonvectored,
        kernel_threads: KernelThreads::new(config.kernel_threads_every),
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

/// What any ring is made of.
pub(super) struct Parts<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    pub(super) ring: Ring<S, C>,
    pub(super) targets: Box<[Target]>,
    /// The buffers, one a slot.
    pub(super) vectors: Box<[libc::iovec]>,
}

/// Makes the ring and registers with it what the configuration says. Whoever has both drops the arena behind the ring.
pub(super) fn parts<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    config: &UringConfig,
    files: &[File],
    arena: &Arena,
) -> io::Result<Parts<S, C>> {
    let slots = InFlight::new(arena, config.iodepth)?;
    if config.fixed_buffers && arena.slots() > REGISTERED_BUFFERS_MAX {
        let message = format!("the kernel registers at most {REGISTERED_BUFFERS_MAX} buffers");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let ring: IoUring<S, C> = make_ring(config)?;
    if !ring.params().is_feature_ext_arg() {
        let message = "io_uring of this kernel cannot wait with a timeout: Linux 5.11 or later is needed";
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let targets = targets_of(files)?;
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
        // SAFETY: the arena's mapping outlives the ring: whoever gets the parts owns both and drops the arena after the ring
        // (the order of the fields).
        unsafe { ring.submitter().register_buffers(&vectors) }?;
    }
    Ok(Parts {
        ring: Ring::new(ring, slots),
        targets,
        vectors,
    })
}

/// The best ring that the kernel accepts: it answers `EINVAL` to a mode that it does not know.
fn make_ring<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    config: &UringConfig,
) -> io::Result<IoUring<S, C>> {
    // The polling thread frees the entries of a batch when it has issued all of them. Some may have completed
    // and been pushed again by then, so the old ones and the new ones must both fit.
    let entries = if config.sqpoll_idle_ms.is_some() {
        config.iodepth.saturating_mul(2)
    } else {
        config.iodepth
    };
    let mut refusal = None;
    for mode in Mode::all(config) {
        let mut builder = IoUring::<S, C>::builder();
        if let Some(idle_ms) = config.sqpoll_idle_ms {
            builder.setup_sqpoll(idle_ms);
            if let Some(cpu) = config.sqpoll_cpu {
                builder.setup_sqpoll_cpu(cpu);
            }
        }
        if config.iopoll {
            builder.setup_iopoll();
        }
        mode.ask(&mut builder);
        match builder.build(entries) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = Some(error),
            made => return made,
        }
    }
    Err(refusal.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL)))
}

/// How the kernel is asked to run completions. The modes change the cost, never the meaning: which of them is in force need not
/// be told.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// Completions run where we wait, not where they interrupt us (Linux 6.1). It makes no sense with SQPOLL, and the kernel
    /// refuses the pair.
    Deferred,
    /// They run when the thread enters the kernel anyway.
    Cooperative,
    /// The thread that polls is the only one that submits.
    SingleIssuer,
    Plain,
}

impl Mode {
    /// From the best to the oldest.
    fn all(config: &UringConfig) -> &'static [Self] {
        if config.sqpoll_idle_ms.is_some() {
            &[Self::SingleIssuer, Self::Plain]
        } else {
            &[Self::Deferred, Self::Cooperative, Self::Plain]
        }
    }

    fn ask<S: squeue::EntryMarker, C: cqueue::EntryMarker>(self, builder: &mut io_uring::Builder<S, C>) {
        match self {
            Self::Deferred => {
                builder
                    .setup_single_issuer()
                    .setup_defer_taskrun()
                    .setup_coop_taskrun();
                builder.setup_taskrun_flag().setup_submit_all();
            }
            Self::Cooperative => {
                builder
                    .setup_coop_taskrun()
                    .setup_taskrun_flag()
                    .setup_submit_all();
            }
            Self::SingleIssuer => {
                builder.setup_single_issuer().setup_submit_all();
            }
            Self::Plain => {}
        }
    }
}
