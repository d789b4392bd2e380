//! The mount: put up with what a disk needs, measured, taken down.
//!
//! Data in: a bench, a directory. Data out: files that behave as its disks. It must not know what the kernel asks of them.

use super::Disks;
use crate::bench::Bench;
use crate::leftover::Server;
use fathom_sys::clock::monotonic_ns;
use fuser::{BackgroundSession, Config, MountOption};
use rustix::fs::{Mode, OFlags};
use rustix::mount::{UnmountFlags, unmount};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the file system is mounted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FuseOptions {
    /// Whether the page cache takes writes, as it does over a disk. Needs root.
    pub writeback: bool,
    /// Whether others than the user who mounts may use it.
    pub allow_other: bool,
}

/// A file system, mounted.
#[derive(Debug)]
pub struct Mounted {
    at: PathBuf,
    session: BackgroundSession,
}

/// Why there is no mount.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    #[error("{}: it has to be a directory that is there, and empty: {reason}", at.display())]
    Place { at: PathBuf, reason: String },
    /// The system has no FUSE.
    #[error(
        "there is no /dev/fuse here (modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN): --nbd serves without it"
    )]
    NoFuse,
    /// Not allowed.
    #[error(
        "cannot mount on {}: {source}. It takes root, or fusermount3 and leave to open /dev/fuse{}: --nbd serves without either",
        at.display(), if *others { " (and user_allow_other in /etc/fuse.conf)" } else { "" }
    )]
    Refused {
        at: PathBuf,
        source: io::Error,
        /// Whether others were to use it.
        others: bool,
    },
    /// A setting that a disk needs.
    #[error("{what}: {source}")]
    Setting { what: String, source: io::Error },
}

impl Mounted {
    /// Mounts the disks of `bench` on the directory `at`.
    ///
    /// # Errors
    /// See [`MountError`].
    pub fn new(bench: &Arc<Bench>, at: &Path, options: FuseOptions) -> Result<Self, MountError> {
        check_place(at)?;
        if !Path::new("/dev/fuse").exists() {
            return Err(MountError::NoFuse);
        }
        let server = Server::this().map_err(|source| MountError::Setting {
            what: String::from("/proc does not tell this process from others"),
            source,
        })?;
        let disks = Disks::new(bench, options.writeback);
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(server.mount_name()),
            MountOption::Subtype(String::from("fathom")),
            MountOption::RW,
            MountOption::NoAtime,
        ];
        if options.allow_other {
            config.acl = fuser::SessionACL::All;
            config.mount_options.push(MountOption::DefaultPermissions);
        }
        let session = fuser::spawn_mount(disks, at, &config).map_err(|source| MountError::Refused {
            at: at.to_owned(),
            source,
            others: options.allow_other,
        })?;
        let mounted = Self {
            at: at.to_owned(),
            session,
        };
        if options.writeback {
            mounted.behave_as_a_disk()?;
        }
        Ok(mounted)
    }

    /// The file of the disk called `name`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    /// A FUSE mount may have 1 % of the page cache, strictly; a disk has all of it.
    fn behave_as_a_disk(&self) -> Result<(), MountError> {
        let device = std::os::unix::fs::MetadataExt::dev(&std::fs::metadata(&self.at).map_err(|source| {
            MountError::Setting {
                what: format!("cannot look at {}", self.at.display()),
                source,
            }
        })?);
        let minor = rustix::fs::minor(device);
        for (name, value) in [("strict_limit", "0"), ("max_ratio", "100")] {
            let path = PathBuf::from(format!("/sys/class/bdi/0:{minor}/{name}"));
            fathom_door::own::set_in_sysfs(&path, value).map_err(|source| MountError::Setting {
                what: format!(
                    "--writeback: cannot set {} to {value} (it takes root)",
                    path.display()
                ),
                source,
            })?;
        }
        Ok(())
    }

    /// Whether somebody else has unmounted it.
    pub fn is_gone(&self) -> bool {
        self.session.guard.is_finished()
    }

    /// Unmounts it, though it may be in use: whoever has a file open gets errors from then on.
    ///
    /// # Errors
    /// The system refused.
    pub fn unmount(self) -> io::Result<()> {
        if self.is_gone() {
            return Ok(());
        }
        match unmount(&self.at, UnmountFlags::DETACH) {
            Ok(()) => Ok(()),
            // Who is not root has it done by fusermount.
            Err(rustix::io::Errno::PERM) => self.session.umount_and_join(),
            Err(error) => Err(error.into()),
        }
    }

    /// Measures by how much I/O on the mount takes longer than the bench gives it, and has answers given that much earlier, up to
    /// `most_ns`. What was counted meanwhile is forgotten. Returns what was found, in nanoseconds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn calibrate(&self, bench: &Bench, most_ns: u64) -> io::Result<u64> {
        const TIMES: usize = 41;
        const FIXED_NS: u64 = 1_000_000;
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(self.file(bench.name(0)), flags, Mode::empty())?);
        let mut raw = vec![0u8; 8192];
        let aligned = raw.as_ptr().align_offset(4096);
        let mut took: Vec<u64> = Vec::with_capacity(TIMES);
        bench.set_fixed_ns(FIXED_NS);
        let mut read = || -> io::Result<()> {
            for _ in 0..TIMES {
                let begun = monotonic_ns();
                file.read_exact_at(&mut raw[aligned..aligned + 4096], 0)?;
                took.push(monotonic_ns() - begun);
            }
            Ok(())
        };
        let done = read();
        bench.set_fixed_ns(0);
        done?;
        took.sort_unstable();
        // The quarter that was disturbed least: others' work on the machine is no part of the way.
        let found_ns = took[TIMES / 4].saturating_sub(FIXED_NS);
        bench.set_early_ns(found_ns.min(most_ns));
        bench.forget();
        Ok(found_ns)
    }
}

fn check_place(at: &Path) -> Result<(), MountError> {
    let wrong = |reason: String| MountError::Place {
        at: at.to_owned(),
        reason,
    };
    let mut entries = std::fs::read_dir(at).map_err(|error| wrong(error.to_string()))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(wrong(String::from("something is in it"))),
    }
}
