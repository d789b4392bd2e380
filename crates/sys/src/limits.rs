//! The limits that the system puts on this process, as far as it may move them itself.
//!
//! Data in: how many open files are needed. Data out: how many there may be. It must not know what for.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many files as may be open; at most `max` may be asked for without privileges. `None`: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    /// What holds now.
    pub now: Option<u64>,
    /// What it can be raised to.
    pub max: Option<u64>,
}

/// `RLIMIT_NOFILE` as it stands.
pub fn open_files() -> OpenFiles {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    OpenFiles {
        now: current,
        max: maximum,
    }
}

/// Lets this process have at least `need` files open: raises its limit, and with the privilege (`CAP_SYS_RESOURCE`) that of
/// the limit. What holds then, which may be less.
pub fn raise_open_files(need: u64) -> OpenFiles {
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= need);
    let OpenFiles { now, max } = open_files();
    if enough(now) {
        return OpenFiles { now, max };
    }
    let wanted = [
        // As far as it goes without asking for anything.
        enough(max).then_some((max, max)),
        Some((Some(need), Some(need))),
        Some((max, max)),
    ];
    for (current, maximum) in wanted.into_iter().flatten() {
        if setrlimit(Resource::Nofile, Rlimit { current, maximum }).is_ok() {
            break;
        }
    }
    open_files()
}
