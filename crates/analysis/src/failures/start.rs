//! Calls before the first I/O: opening, and setting a worker up.

use fathom_core::run::StartStep;

// Linux, include/uapi/asm-generic/errno-base.h.
const EPERM: i32 = 1;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EROFS: i32 = 30;

/// What to do where a step gave `errno`; where it is no step of a start, what helps whatever gave it. `None` where nothing is
/// known. Without a full stop.
pub fn start_remedy(step: Option<StartStep>, errno: i32) -> Option<&'static str> {
    let opens = matches!(step, Some(StartStep::Open | StartStep::OpenDirect));
    Some(match errno {
        EINVAL if step == Some(StartStep::OpenDirect) => {
            "The file system does no direct I/O (tmpfs and some FUSE and overlay file systems do not): use a file on a \
             disk, or direct=0, which measures the page cache too"
        }
        EROFS if opens => "Choose a target that can be written to, or only read (rw=read)",
        _ if step == Some(StartStep::SetAffinity) => {
            "Give CPUs that are online and allowed for this process (cpus_allowed=; see lscpu)"
        }
        _ if step == Some(StartStep::SetNice) => {
            "A higher priority needs the right to set it (root): leave nice= out"
        }
        _ if matches!(
            step,
            Some(StartStep::SetIoPriority | StartStep::SetIoPriorityRealTime)
        ) =>
        {
            "A higher priority of I/O needs the right to set it (root): leave prioclass= and prio= out"
        }
        _ if step == Some(StartStep::SetUser) => {
            "Only root may choose who workers are: leave uid= and gid= out"
        }
        EPERM | EACCES => "Run as a user who may open it, or choose another target",
        EINVAL if step == Some(StartStep::MapLargePages) => {
            "This kernel has no pages of 2 MiB: use the usual ones"
        }
        ENOMEM if step == Some(StartStep::MapLargePages) => {
            "Make room for large pages of 2 MiB: sysctl vm.nr_hugepages=N (where the system's own are of another size, as \
             on Arm with pages of 64 KiB: /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages); or use the usual ones"
        }
        ENOMEM => "Use a smaller iodepth, smaller blocks or fewer workers",
        ENFILE | EMFILE => "Raise the limit of open files (ulimit -n), or use fewer files or workers",
        _ => return None,
    })
}
