//! The steps of a worker before its first I/O: what can fail there, by name.

/// What a worker does before its first I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartStep {
    Open,
    /// With `O_DIRECT`.
    OpenDirect,
    /// Reads a file to have it in the page cache.
    PreRead,
    SetAffinity,
    SetNice,
    SetIoPriority,
    /// The class that needs a right of its own.
    SetIoPriorityRealTime,
    SetTimerSlack,
    SetUser,
    /// NUMA nodes of the memory.
    SetMemoryPolicy,
    LockMemory,
    /// How long written data will live.
    SetWriteLife,
    /// The I/O scheduler of a device.
    SetScheduler,
    SetControlGroup,
    SetUpUring,
    SetUpAio,
    /// A queue of SCSI commands.
    SetUpSg,
    /// A mapped file, or buffers.
    Map,
    MapLargePages,
    /// What all writes are taken from.
    MapWriteSource,
    /// Of a server.
    Connect,
    /// For who connects, or for what is sent.
    Listen,
}

impl StartStep {
    const ALL: [Self; 22] = [
        Self::Open,
        Self::OpenDirect,
        Self::PreRead,
        Self::SetAffinity,
        Self::SetNice,
        Self::SetIoPriority,
        Self::SetIoPriorityRealTime,
        Self::SetTimerSlack,
        Self::SetUser,
        Self::SetMemoryPolicy,
        Self::LockMemory,
        Self::SetWriteLife,
        Self::SetScheduler,
        Self::SetControlGroup,
        Self::SetUpUring,
        Self::SetUpAio,
        Self::SetUpSg,
        Self::Map,
        Self::MapLargePages,
        Self::MapWriteSource,
        Self::Connect,
        Self::Listen,
    ];

    /// As errors and records call it: the system call, as a rule.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::OpenDirect => "open with O_DIRECT",
            Self::PreRead => "read",
            Self::SetAffinity => "sched_setaffinity",
            Self::SetNice => "setpriority",
            Self::SetIoPriority => "ioprio_set",
            Self::SetIoPriorityRealTime => "ioprio_set (the real-time class needs CAP_SYS_NICE)",
            Self::SetTimerSlack => "prctl",
            Self::SetUser => "setresuid",
            Self::SetMemoryPolicy => "set_mempolicy",
            Self::LockMemory => "mlock",
            Self::SetWriteLife => "fcntl F_SET_RW_HINT",
            Self::SetScheduler => "ioscheduler",
            Self::SetControlGroup => "cgroup",
            Self::SetUpUring => "io_uring_setup",
            Self::SetUpAio => "io_setup",
            Self::SetUpSg => "ioctl SG_IO",
            Self::Map => "mmap",
            Self::MapLargePages => "mmap of large pages",
            Self::MapWriteSource => "mmap of the write source",
            Self::Connect => "connect",
            Self::Listen => "listen",
        }
    }

    /// The one of that name; `None`: no step of a start.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|step| step.name() == name)
    }
}
