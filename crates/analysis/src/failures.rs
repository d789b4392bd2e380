//! What to do about what failed: I/O, or a job that could not start.
//!
//! Data in: a run and one of its errors, or the call and the number alone. Data out: a remedy, where one is known. The rules
//! are two tables, of calls before the first I/O (`start`) and of I/O; the first that fits counts. It must not look at
//! the system: what needs that (who blocks `io_uring`, what the limits are) is told by others.

mod start;

pub use start::start_remedy;

use fathom_core::run::{JobSummary, Run, RunError, StartStep, Warning};
use fathom_core::units::Bytes;
use fathom_core::workload::{EngineKind, Job};

// Linux, include/uapi/asm-generic/errno-base.h and errno.h: the same on x86-64 and AArch64.
const EIO: i32 = 5;
const ENXIO: i32 = 6;
const EAGAIN: i32 = 11;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const EFBIG: i32 = 27;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const ENODATA: i32 = 61;
const ETIMEDOUT: i32 = 110;
const EILSEQ: i32 = 84;
const EOPNOTSUPP: i32 = 95;
const ESTALE: i32 = 116;
const EREMOTEIO: i32 = 121;
const EDQUOT: i32 = 122;

/// What is known of a failure.
#[derive(Clone, Copy)]
struct Case<'a> {
    run: &'a Run,
    job: &'a Job,
    summary: &'a JobSummary,
    error: &'a RunError,
}

/// One rule: which errors, under which condition, and what to do.
struct Rule {
    errnos: &'static [i32],
    when: fn(&Case<'_>) -> bool,
    remedy: &'static str,
}

/// The table. An errno means different things to different interfaces, so that conditions come before the plain word.
const RULES: &[Rule] = &[
    Rule {
        // io_uring: a polled ring on a file without polled queues (fs/block_dev, drivers/nvme: `poll_queues`).
        errnos: &[EOPNOTSUPP, EINVAL],
        when: |case| case.job.engine.poll,
        remedy: "Polling (hipri) needs direct I/O on a device with poll queues: load the driver with them (NVMe: modprobe nvme \
         poll_queues=2, or nvme.poll_queues=2 on the kernel's command line), or leave hipri out",
    },
    Rule {
        errnos: &[EOPNOTSUPP],
        when: |case| case.error.what == "trim",
        remedy: "It takes no discards: trim a device that has them (lsblk --discard), or leave the trims out",
    },
    Rule {
        errnos: &[EOPNOTSUPP, EAGAIN],
        when: |case| case.job.engine.nowait,
        remedy: "With nowait an I/O fails rather than wait: leave nowait out, lower iodepth, or bear it (continue_on_error=io)",
    },
    Rule {
        errnos: &[EAGAIN],
        when: |_| true,
        remedy: "The kernel had no room for the request: lower iodepth or numjobs",
    },
    Rule {
        // What must be aligned is in a warning of its own, with the numbers.
        errnos: &[EINVAL],
        when: |case| case.job.direct && is_unaligned(case),
        remedy: "Direct I/O must be aligned; see the warning below",
    },
    Rule {
        // open(2), O_DIRECT: length, offset and buffer must be multiples of the logical block size.
        errnos: &[EINVAL],
        when: |case| case.job.direct,
        remedy: "Direct I/O wants blocks and offsets in multiples of the sector size (blockdev --getss DEVICE): change bs, offset or \
         blockalign, or use direct=0",
    },
    Rule {
        errnos: &[EINVAL],
        when: |case| case.job.engine.kind.sends_commands(),
        remedy: "A command moves whole blocks of the device (blockdev --getss of its block device), and no more at a time than that \
         takes (/sys/block/DEVICE/queue/max_hw_sectors_kb): change bs, offset or blockalign; trims need a device that has them",
    },
    Rule {
        errnos: &[EFBIG],
        when: |_| true,
        remedy: "The file may not become so large (the file system's limit, or ulimit -f): give a smaller size or offset, or more \
         files (nrfiles)",
    },
    Rule {
        errnos: &[EROFS],
        when: |_| true,
        remedy: "It is read-only, or became so after an error of the disk: see dmesg, then mount it again for writing",
    },
    Rule {
        // A mapping gets SIGBUS, which does not say why.
        errnos: &[EIO],
        when: |case| case.job.engine.kind == EngineKind::Mmap,
        remedy: "The file shrank while it was mapped, or the disk failed: look at the file's size, then for the device in dmesg",
    },
    Rule {
        // include/linux/blk_types.h: what the block layer makes of medium, transport and timeout errors.
        errnos: &[EIO, ENODATA, EILSEQ, EREMOTEIO, ETIMEDOUT],
        when: |_| true,
        remedy: "The disk or the path to it failed: look for the device in dmesg, and at its health (smartctl -a, nvme smart-log)",
    },
    Rule {
        errnos: &[ENODEV, ENXIO],
        when: |_| true,
        remedy: "The device is gone: look for it in dmesg and lsblk, attach it again, and repeat the run",
    },
    Rule {
        errnos: &[ESTALE],
        when: |_| true,
        remedy: "The server no longer knows the file: mount the file system again",
    },
];

/// What to do about `error`, an error of job `index` of the run; `None` where nothing is known that helps.
pub fn remedy(run: &Run, index: usize, error: &RunError) -> Option<String> {
    let case = Case {
        run,
        job: run.workload.jobs.get(index)?,
        summary: run.summary.jobs.get(index)?,
        error,
    };
    if let Some(remedy) = start_remedy(StartStep::from_name(&error.what), error.errno) {
        return Some(format!("{remedy}."));
    }
    match error.errno {
        ENOSPC => return Some(full(&case, "The file system is full")),
        EDQUOT => return Some(full(&case, "The quota is used up")),
        _ => {}
    }
    let fits = |rule: &&Rule| rule.errnos.contains(&error.errno) && (rule.when)(&case);
    Some(format!("{}.", RULES.iter().find(fits)?.remedy))
}

fn is_unaligned(case: &Case<'_>) -> bool {
    let unaligned = |warning: &Warning| matches!(warning, Warning::DirectUnaligned { .. });
    case.run.summary.warnings.iter().any(unaligned)
}

/// How far it came, and how not to come to the end again.
fn full(case: &Case<'_>, what: &str) -> String {
    format!(
        "{what} after {} written: give a smaller size or make room. fallocate=native reserves the space before the run, \
         and so fails at its start.",
        Bytes(case.summary.write.bytes)
    )
}

#[cfg(test)]
mod tests;
