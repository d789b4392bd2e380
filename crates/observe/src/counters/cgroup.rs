//! The limits that this process's control groups put on it, and what holds up the tasks of those that are followed.
//!
//! Duty: what binds now and how often it did. Data in: `/proc/self/cgroup` and the hierarchies that are mounted
//! (cgroups(7), Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/blkio-controller.rst). Data out: rows. It must not know
//! who set the limits.
//!
//! All limits of version 2, and the CPU quota of version 1, hold for a group with all that is below it: the strictest on the
//! way up binds. The throttle of version 1's `blkio` does not: there only the group's own limit binds.

mod find;
mod followed;
mod limits;

use super::growing::Growing;
use super::open_file::OpenFile;
use super::system::pressure_us;
use super::{Remarks, Rows};
use crate::root::SystemRoot;
pub(crate) use find::{Group, groups};
use find::{Groups, find};
use followed::Followed;
use limits::Limits;

/// Which groups this process is in.
const OWN: &str = "/proc/self/cgroup";

/// The groups and what was read of them.
#[derive(Debug)]
pub(super) struct Cgroups {
    root: SystemRoot,
    own: Option<OpenFile>,
    /// What `own` said when the groups were looked up.
    known: Vec<u8>,
    groups: Groups,
    throttled_ns: Growing,
    waiting_us: Growing,
    stalled_us: Growing,
    limits: Limits,
    followed: Followed,
    buffer: Vec<u8>,
}

impl Cgroups {
    /// `disks` are those of which is told what was done for a group.
    pub(super) fn new(root: &SystemRoot, disks: &[String], remarks: &mut Remarks) -> Self {
        let own = OpenFile::open(root, OWN);
        if let Err(error) = &own {
            remarks.say(format!(
                "the limits of control groups: not available, because {OWN} cannot be read: {error}"
            ));
        }
        let mut cgroups = Self {
            root: root.clone(),
            own: own.ok(),
            known: Vec::new(),
            groups: Groups::default(),
            throttled_ns: Growing::default(),
            waiting_us: Growing::default(),
            stalled_us: Growing::default(),
            limits: Limits::default(),
            followed: Followed::new(root, disks),
            buffer: Vec::new(),
        };
        cgroups.look_up(remarks);
        cgroups
    }

    /// Finds the groups, again where the process was moved.
    fn look_up(&mut self, remarks: &mut Remarks) {
        let Some(own) = &self.own else {
            return;
        };
        match own.read(&mut self.buffer) {
            Ok(text) if text == self.known => {}
            Ok(text) => {
                text.clone_into(&mut self.known);
                self.groups = find(&self.root, text, remarks);
            }
            Err(error) => remarks.say(format!(
                "the limits of control groups: not available, because {OWN} cannot be read: {error}"
            )),
        }
    }

    pub(super) fn sample(&mut self, rows: &mut Rows<'_>, remarks: &mut Remarks) {
        self.look_up(remarks);
        self.read_limits();
        for ((device, kind), value) in self.limits.io() {
            let labels = format!("device=\"{device}\",kind=\"{}\"", kind.name());
            rows.push("fathom_cgroup_io_limit", labels, value as f64);
        }
        if let Some(cores) = self.limits.cores {
            rows.push("fathom_cgroup_cpu_quota_cores", "", cores);
        }
        if let Some(throttled_ns) = self.limits.throttled_ns {
            let total = self.throttled_ns.read(throttled_ns) as f64 / 1e9;
            rows.push("fathom_cgroup_cpu_throttled_seconds_total", "", total);
        }
        self.read_pressure(rows);
        self.followed.sample(rows);
    }

    /// From here on the groups of this process are told by their paths.
    pub(super) fn follow(&mut self, pid: u32, now_ns: u64, remarks: &mut Remarks) {
        self.followed.follow(pid, now_ns, remarks);
    }

    /// The groups of this task are told once, by their paths.
    pub(super) fn name(&mut self, tid: u32) {
        self.followed.name(tid);
    }

    fn read_limits(&mut self) {
        let Self {
            groups,
            limits,
            buffer,
            ..
        } = self;
        limits.clear();
        for (kind, file) in &groups.throttle {
            limits.take_throttle(text(file, buffer), *kind);
        }
        for file in &groups.io_max {
            limits.take_io_max(text(file, buffer));
        }
        for (quota, period) in &groups.cfs {
            let period_us = limits::only_number(text(period, buffer));
            limits.take_cfs(text(quota, buffer), period_us);
        }
        for file in &groups.cpu_max {
            limits.take_cpu_max(text(file, buffer));
        }
        for file in &groups.cpu_stat {
            limits.take_cpu_stat(text(file, buffer));
        }
    }

    fn read_pressure(&mut self, rows: &mut Rows<'_>) {
        let Some(file) = &self.groups.io_pressure else {
            return;
        };
        let Ok(text) = file.read(&mut self.buffer) else {
            return;
        };
        let mut push = |kind: &[u8], counter: &mut Growing, metric| {
            if let Some(us) = pressure_us(text, kind) {
                rows.push(metric, "", counter.read(us) as f64 / 1e6);
            }
        };
        push(
            b"some",
            &mut self.waiting_us,
            "fathom_cgroup_pressure_io_waiting_seconds_total",
        );
        push(
            b"full",
            &mut self.stalled_us,
            "fathom_cgroup_pressure_io_stalled_seconds_total",
        );
    }
}

/// A file that cannot be read (its group was removed) says nothing.
fn text<'b>(file: &OpenFile, buffer: &'b mut Vec<u8>) -> &'b [u8] {
    file.read(buffer).unwrap_or_default()
}

#[cfg(test)]
mod tests;
