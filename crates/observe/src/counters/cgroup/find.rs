//! Where this process's groups are.
//!
//! Duty: from `/proc/self/cgroup` and the mount table to open files. Data in: both. Data out: [`Groups`]. It must not know
//! what the files say.

use super::super::Remarks;
use super::super::open_file::OpenFile;
use super::super::text::lines;
use super::limits::IoKind;
use crate::mounts::{Mount, mounts};
use crate::root::SystemRoot;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files of the groups that bind this process, nearest first; a file that a group does not have is left out.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Version 1, own group alone.
    pub(super) throttle: Vec<(IoKind, OpenFile)>,
    /// Version 2, each group up to the root.
    pub(super) io_max: Vec<OpenFile>,
    /// Version 1, quota and period of each group up to the root.
    pub(super) cfs: Vec<(OpenFile, OpenFile)>,
    /// Version 2, each group up to the root.
    pub(super) cpu_max: Vec<OpenFile>,
    /// Both versions, each group up to the root.
    pub(super) cpu_stat: Vec<OpenFile>,
    /// Version 2, own group.
    pub(super) io_pressure: Option<OpenFile>,
}

/// One line of `/proc/self/cgroup`: `8:cpu,cpuacct:/path`; version 2 is `0::/path`.
struct Membership<'a> {
    controllers: &'a [u8],
    path: &'a Path,
}

/// The groups that a `cgroup` file tells of: the controllers of each, none for version 2, and its path.
pub(super) fn memberships(text: &[u8]) -> impl Iterator<Item = (&[u8], &Path)> {
    let each = lines(text).filter_map(parse);
    each.map(|membership| (membership.controllers, membership.path))
}

/// Finds and opens the files.
pub(super) fn find(root: &SystemRoot, own: &[u8], remarks: &mut Remarks) -> Groups {
    let table = match mounts(root) {
        Ok(table) => table,
        Err(error) => {
            remarks.say(format!(
                "the limits of control groups: not available, because the mount table cannot be read: {error}"
            ));
            return Groups::default();
        }
    };
    let mut groups = Groups::default();
    for membership in lines(own).filter_map(parse) {
        let has = |controller: &[u8]| {
            let mut all = membership.controllers.split(|&byte| byte == b',');
            all.any(|one| one == controller)
        };
        let wanted = if membership.controllers.is_empty() {
            "version 2"
        } else if has(b"blkio") {
            "blkio"
        } else if has(b"cpu") {
            "cpu"
        } else {
            continue;
        };
        let Some(up) = directories(&table, &membership) else {
            remarks.say(format!(
                "the limits of control groups ({wanted}): not available, because the group {} is not visible \
                 from here; in a container they are those of its host",
                membership.path.display()
            ));
            continue;
        };
        open(root, &membership, &up, &mut groups);
    }
    groups
}

/// A control group that binds this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// Where its files are.
    pub(crate) directory: PathBuf,
    /// Whether it is of version 2.
    pub(crate) unified: bool,
}

/// The groups that this process is in as far as `controller` goes, nearest first; none where they are not visible.
pub(crate) fn groups(root: &SystemRoot, controller: &[u8]) -> Vec<Group> {
    let (Ok(own), Ok(table)) = (root.read("/proc/self/cgroup"), mounts(root)) else {
        return Vec::new();
    };
    let of_membership = |membership: Membership<'_>| {
        let unified = membership.controllers.is_empty();
        let mut all = membership.controllers.split(|&byte| byte == b',');
        let up = (unified || all.any(|one| one == controller))
            .then(|| directories(&table, &membership))
            .flatten();
        let group = move |directory| Group { directory, unified };
        up.unwrap_or_default().into_iter().map(group)
    };
    lines(&own).filter_map(parse).flat_map(of_membership).collect()
}

/// A group of a process, or one above it.
#[derive(Debug)]
pub(super) struct Place {
    /// What it is a group of: `cpu`, `memory`; empty for version 2.
    pub(super) controllers: Vec<u8>,
    /// Its path in the hierarchy.
    pub(super) path: PathBuf,
    /// Where its files are.
    pub(super) directory: PathBuf,
    /// Whether the process is in it itself.
    pub(super) own: bool,
}

/// The groups of a process and those above them, as far as they are visible; `text` is its `cgroup` file.
pub(super) fn places(root: &SystemRoot, text: &[u8]) -> Vec<Place> {
    let table = mounts(root).unwrap_or_default();
    let mut places = Vec::new();
    for membership in lines(text).filter_map(parse) {
        let up = directories(&table, &membership).unwrap_or_default();
        let paths = membership.path.ancestors();
        for (index, (directory, path)) in up.into_iter().zip(paths).enumerate() {
            places.push(Place {
                controllers: membership.controllers.to_vec(),
                path: path.to_owned(),
                directory,
                own: index == 0,
            });
        }
    }
    places
}

fn parse(line: &[u8]) -> Option<Membership<'_>> {
    let mut fields = line.splitn(3, |&byte| byte == b':');
    let _hierarchy = fields.next()?;
    let controllers = fields.next()?;
    let path = Path::new(OsStr::from_bytes(fields.next()?));
    path.is_absolute().then_some(Membership { controllers, path })
}

/// The directories of the group and of those above it as far as they are mounted; `None` where its own is not.
fn directories(table: &[Mount], membership: &Membership<'_>) -> Option<Vec<PathBuf>> {
    let is_one = |mount: &&Mount| {
        if membership.controllers.is_empty() {
            return mount.filesystem == "cgroup2";
        }
        // A hierarchy of version 1 is known by its controllers, which are options of its super block.
        let wanted = membership.controllers.split(|&byte| byte == b',').next();
        let mut options = mount.options.split(|&byte| byte == b',');
        mount.filesystem == "cgroup" && options.any(|option| Some(option) == wanted)
    };
    // A container without a namespace of its own sees a part of the hierarchy mounted, and paths of the whole.
    let (mount, inside) = table.iter().filter(is_one).find_map(|mount| {
        let inside = membership.path.strip_prefix(&mount.root).ok()?;
        let goes_up = inside.components().any(|part| part.as_os_str() == "..");
        (!goes_up).then_some((mount, inside))
    })?;
    Some(inside.ancestors().map(|part| mount.point.join(part)).collect())
}

fn open(root: &SystemRoot, membership: &Membership<'_>, up: &[PathBuf], groups: &mut Groups) {
    let in_each = |name: &str| {
        let files = up
            .iter()
            .map(|directory| OpenFile::open_readable(root, directory.join(name)));
        files.filter_map(Result::ok).collect::<Vec<_>>()
    };
    let own = &up[..1.min(up.len())];
    if membership.controllers.is_empty() {
        groups.io_max.extend(in_each("io.max"));
        groups.cpu_max.extend(in_each("cpu.max"));
        groups.cpu_stat.extend(in_each("cpu.stat"));
        groups.io_pressure = own
            .iter()
            .find_map(|directory| OpenFile::open_readable(root, directory.join("io.pressure")).ok());
        return;
    }
    for controller in membership.controllers.split(|&byte| byte == b',') {
        match controller {
            b"blkio" => {
                for (kind, directory) in IoKind::ALL
                    .iter()
                    .flat_map(|kind| own.iter().map(move |own| (*kind, own)))
                {
                    let file = OpenFile::open_readable(root, directory.join(kind.throttle_file()));
                    groups.throttle.extend(file.ok().map(|file| (kind, file)));
                }
            }
            b"cpu" => {
                for directory in up {
                    let open = |name| OpenFile::open_readable(root, directory.join(name)).ok();
                    let pair = open("cpu.cfs_quota_us").zip(open("cpu.cfs_period_us"));
                    groups.cfs.extend(pair);
                }
                groups.cpu_stat.extend(in_each("cpu.stat"));
            }
            _ => {}
        }
    }
}
