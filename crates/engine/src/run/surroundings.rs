//! What a job asks of the system around it: an I/O scheduler for the device of its files, a control group for its workers.
//!
//! Data in: a job whose files are ready. Data out: settings of the kernel, through the door; as they were once the run has ended.
//! It must not know what the job does.

use crate::plan::{JobPlan, Kind};
use crate::sysfs::request_queue;
use crate::thread::StartFailure;
use fathom_core::run::StartStep;
use fathom_core::workload::ControlGroup;
use fathom_door::own;
use std::fs::read_to_string;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};

/// What was changed, and what it was before.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The files of schedulers, with those that were chosen.
    schedulers: Vec<(PathBuf, String)>,
    /// The directories of groups that were made here.
    groups: Vec<PathBuf>,
}

impl Surroundings {
    /// Makes the system what `plan` asks for.
    ///
    /// # Errors
    /// What could not be set.
    pub(super) fn enter(&mut self, plan: &JobPlan) -> std::result::Result<(), StartFailure> {
        if let Some(scheduler) = &plan.job.files.scheduler {
            self.switch(plan, scheduler)
                .map_err(|(path, source)| StartFailure {
                    what: StartStep::SetScheduler,
                    path: Some(path),
                    source,
                })?;
        }
        let group = &plan.job.control_group;
        if !group.name.is_empty() {
            self.make_group(group).map_err(|source| StartFailure {
                what: StartStep::SetControlGroup,
                path: Some(PathBuf::from(&group.name)),
                source,
            })?;
        }
        Ok(())
    }

    fn switch(&mut self, plan: &JobPlan, wanted: &str) -> std::result::Result<(), (PathBuf, Error)> {
        let files = plan.workers.iter().flat_map(|worker| &worker.files);
        for file in files.filter(|file| matches!(file.kind, Kind::Regular | Kind::Block)) {
            let at = |error| (file.path.clone(), error);
            // Of what is in memory or on a network there is none, and nothing to switch.
            let Some(path) = scheduler_of(&file.path).map_err(at)? else {
                continue;
            };
            if self.schedulers.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let before = chosen(&path).map_err(at)?;
            own::set_in_sysfs(&path, wanted).map_err(at)?;
            let now = chosen(&path).map_err(at)?;
            if now != wanted {
                return Err(at(Error::other(format!(
                    "it stays {now}, and does not become {wanted}"
                ))));
            }
            self.schedulers.push((path, before));
        }
        Ok(())
    }

    fn make_group(&mut self, group: &ControlGroup) -> Result<()> {
        let path = path_of(&group.name)?;
        if !path.is_dir() {
            own::make_directory(&path)?;
            if !group.stays {
                self.groups.push(path.clone());
            }
        }
        match group.weight {
            Some(weight) => own::set_in_control_group(&path.join("blkio.weight"), &weight.to_string()),
            None => Ok(()),
        }
    }

    /// Puts all back; what could not be, and why.
    pub(super) fn leave(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for (path, before) in self.schedulers.drain(..) {
            if let Err(error) = own::set_in_sysfs(&path, &before) {
                left.push(format!("{} cannot be {before} again: {error}", path.display()));
            }
        }
        for path in self.groups.drain(..) {
            if let Err(error) = own::remove_directory(&path) {
                left.push(format!("the control group {} stays: {error}", path.display()));
            }
        }
        left
    }
}

/// The file of the I/O scheduler of what a path is or lies on; `None`: there is none.
fn scheduler_of(path: &Path) -> Result<Option<PathBuf>> {
    let scheduler = request_queue(path)?.map(|queue| queue.join("scheduler"));
    Ok(scheduler.filter(|file| file.exists()))
}

/// The one that is chosen, of a list that has it in brackets.
fn chosen(path: &Path) -> Result<String> {
    let list = read_to_string(path)?;
    Ok(in_brackets(&list).to_owned())
}

fn in_brackets(list: &str) -> &str {
    let after = list.split_once('[').map_or(list, |(_, after)| after);
    after.split_once(']').map_or(after, |(name, _)| name).trim()
}

/// The directory of the group of this name.
///
/// # Errors
/// There is no controller for it, or the name leads elsewhere.
pub(crate) fn path_of(name: &str) -> Result<PathBuf> {
    let inside = Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !inside {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "a group is named without `/` in front and without `..`",
        ));
    }
    let mounts = read_to_string("/proc/mounts")?;
    let mount = mount_of(&mounts).ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            "no blkio controller of the first version is mounted: start fathom in a group with systemd-run(1)",
        )
    })?;
    Ok(Path::new(mount).join(name))
}

/// Where the controller of block I/O is mounted.
fn mount_of(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, at, kind, options) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let blkio = options.split(',').any(|option| option == "blkio");
        (kind == "cgroup" && blkio).then_some(at)
    })
}

/// Puts the thread with this number into the group.
///
/// # Errors
/// The system refused.
pub(crate) fn join(name: &str, tid: u32) -> Result<()> {
    own::set_in_control_group(&path_of(name)?.join("tasks"), &tid.to_string())
}

#[cfg(test)]
mod tests;
