//! Regions of whole zones: what a job that goes by zones can be carried out on, and which part of it.
//!
//! Data in: a job, what its file is, where its region would be. Data out: the region of whole zones, or what does not fit. It
//! opens devices to ask them, and changes nothing.

use super::{Kind, PlanError};
use crate::pattern::Span;
use crate::sysfs::request_queue;
use fathom_core::workload::{EngineKind, Job, ZoneRules};
use std::fs::File;
use std::io;
use std::path::Path;

/// No table of zones has more.
const ZONES_MAX: u64 = 1 << 24;
/// A zone's length is kept in so many bits.
const ZONE_BYTES_MAX: u64 = 1 << 43;

/// How many zones a device lets be written in part; 0: any number, or nobody says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DeviceLimits {
    pub max_open: u32,
    /// Open or closed.
    pub max_active: u32,
}

/// The size of the zones that a block device has itself; 0: none.
pub(crate) fn device_zone_bytes(path: &Path) -> io::Result<u64> {
    match fathom_sys::zoned::zone_bytes(&File::open(path)?) {
        // No block device, or a kernel without zones.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOTTY.raw_os_error()) => Ok(0),
        found => found,
    }
}

/// What the system says of a device's zones.
pub(crate) fn limits_of(path: &Path) -> DeviceLimits {
    let number = |name: &str| attribute(path, name)?.parse().ok();
    DeviceLimits {
        max_open: number("max_open_zones").unwrap_or(0),
        max_active: number("max_active_zones").unwrap_or(0),
    }
}

/// Whether a device refuses writes that are not at a write pointer.
fn is_host_managed(path: &Path) -> bool {
    attribute(path, "zoned").is_some_and(|kind| kind == "host-managed")
}

/// What the system says of a device's queue; `None`: nothing, as a kernel that knows no zones.
fn attribute(path: &Path, name: &str) -> Option<String> {
    let queue = request_queue(path).ok().flatten()?;
    let text = std::fs::read_to_string(queue.join(name)).ok()?;
    Some(text.trim().to_owned())
}

/// The zones that are made up: their size, and what of each can be written.
pub(crate) fn made_up_zone(rules: &ZoneRules) -> (u64, u64) {
    let capacity = match rules.capacity_bytes {
        0 => rules.size_bytes,
        given => given,
    };
    (rules.size_bytes, capacity)
}

/// What of a job cannot be with zones.
fn unfit(job: &Job) -> Option<&'static str> {
    let kind = job.engine.kind;
    let uses = job.pattern.mix.uses();
    if job.verify.is_some() {
        // What is read back is found by drawing it again, and where a write went the zones said at that time.
        Some("cannot be verified: leave verify= out")
    } else if job.read_iolog.is_some() || job.replay.is_some() {
        Some("cannot play a record, whose I/Os have their places: leave read_iolog= out")
    } else if uses[2] {
        Some("does not empty zones by trims: use rw=write or rw=randwrite, which empty full ones")
    } else if kind.needs_no_file() && kind != EngineKind::Null
        || kind.sends_commands()
        || kind.is_about_names()
        || kind.always_changes()
        || kind == EngineKind::Exec
    {
        Some(
            "needs an ioengine that reads and writes a block device or a file: use io_uring, libaio or psync",
        )
    } else {
        None
    }
}

/// The part of `span` that is whole zones, as fio rounds it: the beginning up, the end down.
pub(super) fn whole_zones(
    job: &Job,
    path: &Path,
    (kind, size): (Kind, Option<u64>),
    span: Span,
) -> Result<Span, PlanError> {
    let wrong = |what: String| PlanError::Zones {
        job: job.name.clone(),
        what,
    };
    let Some(rules) = &job.pattern.zones else {
        return ordinary(job, path, kind).map(|()| span);
    };
    if let Some(what) = unfit(job) {
        return Err(wrong(String::from(what)));
    }
    let shown = path.display();
    let own = match kind {
        Kind::Block => device_zone_bytes(path).map_err(|source| PlanError::Stat {
            job: job.name.clone(),
            path: path.to_owned(),
            source,
        })?,
        Kind::Regular | Kind::Modelled | Kind::Null => 0,
        _ => {
            return Err(wrong(format!(
                "needs a block device or a file, and {shown} is none"
            )));
        }
    };
    let zone_bytes = if own > 0 {
        check_own(job, rules, own).map_err(|what| wrong(format!("{shown} {what}")))?;
        own
    } else {
        check_made_up(rules).map_err(|what| wrong(what.replace("$path", &shown.to_string())))?;
        rules.size_bytes
    };
    let start = span.start.div_ceil(zone_bytes).saturating_mul(zone_bytes);
    let end = span.start.saturating_add(span.bytes);
    // A device's last zone may be shorter.
    let is_end = own > 0 && size == Some(end);
    let end = if is_end {
        end
    } else {
        end / zone_bytes * zone_bytes
    };
    if end <= start {
        return Err(wrong(format!(
            "the region of {shown} holds no whole zone of {zone_bytes} bytes: give offset= and size= in multiples of it"
        )));
    }
    if end / zone_bytes > ZONES_MAX {
        return Err(wrong(format!(
            "{shown} would have {} zones, more than {ZONES_MAX}: give a larger zonesize= or a smaller size=",
            end / zone_bytes
        )));
    }
    Ok(Span {
        start,
        bytes: end - start,
    })
}

/// Of a device with zones.
fn check_own(job: &Job, rules: &ZoneRules, own: u64) -> Result<(), String> {
    if rules.size_bytes != 0 && rules.size_bytes != own {
        return Err(format!(
            "has zones of {own} bytes, and zonesize= says {}: leave it out",
            rules.size_bytes
        ));
    }
    if own > ZONE_BYTES_MAX {
        return Err(format!("has zones of {own} bytes, more than {ZONE_BYTES_MAX}"));
    }
    if job.writes() && !job.direct {
        return Err(String::from(
            "is zoned, and the page cache writes back in any order: give direct=1",
        ));
    }
    if job.engine.kind == EngineKind::Mmap {
        return Err(String::from(
            "is zoned, and mapped memory is written back in any order: use another ioengine",
        ));
    }
    Ok(())
}

/// Of what has no zones.
fn check_made_up(rules: &ZoneRules) -> Result<(), String> {
    let (size, capacity) = made_up_zone(rules);
    if size == 0 {
        return Err(String::from(
            "$path has no zones of its own: give zonesize=, and they are made up",
        ));
    }
    if size > ZONE_BYTES_MAX {
        return Err(format!(
            "zones of {size} bytes are too large: at most {ZONE_BYTES_MAX}"
        ));
    }
    if capacity > size {
        return Err(format!(
            "a zone of {size} bytes cannot hold {capacity}: lower zonecapacity="
        ));
    }
    Ok(())
}

/// Of a job that knows no zones: writes at random would all fail on a disk that has them.
fn ordinary(job: &Job, path: &Path, kind: Kind) -> Result<(), PlanError> {
    let scatters = job.pattern.mix.uses()[1] && job.pattern.random && !job.files.create_only;
    if kind == Kind::Block && scatters && is_host_managed(path) {
        return Err(PlanError::HostManaged {
            job: job.name.clone(),
            path: path.to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
