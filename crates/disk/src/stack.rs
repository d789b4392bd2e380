//! What stands on a served disk: a loop device, a file system, a mount; put up in order, taken down in the opposite one.
//!
//! Data in: the disk's file, what is wanted. Data out: the paths to use. It runs the system's own tools (`losetup`, `mkfs`,
//! `mount`, `umount`): it must not know the formats of file systems.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The largest request of the loop device, in KiB: Azure's disks take 512 KiB at a time.
const REQUEST_KIB: &str = "512";

/// A file system to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    Ext4,
    Xfs,
}

impl FileSystem {
    const fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }
}

/// What is wanted on a disk's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Make a file system, on a disk that has none.
    pub make: Option<FileSystem>,
    /// Mount it here.
    pub mount: Option<PathBuf>,
}

/// A tool that failed, with what it said.
#[derive(Debug, thiserror::Error)]
pub enum StackError {
    #[error("{tool} is not installed, or not in PATH: {source}")]
    Missing { tool: String, source: io::Error },
    #[error("`{line}` failed: {said}")]
    Failed { line: String, said: String },
    /// A value of the kernel's.
    #[error("cannot set {}: {source}", path.display())]
    Setting { path: PathBuf, source: io::Error },
    /// Making a file system would lose what is there.
    #[error(
        "--mkfs: {device} has a signature of {what} already: leave --mkfs out to mount what is there, or serve another backing file"
    )]
    Signature { device: String, what: String },
}

/// What stands. Dropped, it is left as it is: [`Stack::take_down`] tells what could not be taken down.
#[derive(Debug)]
pub struct Stack {
    device: PathBuf,
    mounted: Option<PathBuf>,
}

impl Stack {
    /// Puts up a loop device over `file`, and what is wanted on it. What was put up before something failed is taken down again.
    ///
    /// # Errors
    /// See [`StackError`].
    pub fn put_up(file: &Path, wanted: &Wanted) -> Result<Self, StackError> {
        let words = ["--direct-io=on", "--find", "--show"].map(OsStr::new);
        let device = tool("losetup", words.into_iter().chain([file.as_os_str()]))?;
        let mut stack = Self {
            device: PathBuf::from(device),
            mounted: None,
        };
        match stack.build(wanted) {
            Ok(()) => Ok(stack),
            Err(error) => {
                // The first failure is the one to tell.
                let _left = stack.take_down();
                Err(error)
            }
        }
    }

    fn build(&mut self, wanted: &Wanted) -> Result<(), StackError> {
        let name = self.device.file_name().unwrap_or_default();
        let setting = Path::new("/sys/block").join(name).join("queue/max_sectors_kb");
        fathom_door::own::set_in_sysfs(&setting, REQUEST_KIB).map_err(|source| StackError::Setting {
            path: setting,
            source,
        })?;
        let device = self.device.clone();
        if let Some(kind) = wanted.make {
            refuse_signature(&device)?;
            tool(&format!("mkfs.{}", kind.name()), words(&["-q"], &device))?;
        }
        if let Some(at) = &wanted.mount {
            tool("mount", [device.as_os_str(), at.as_os_str()])?;
            self.mounted = Some(at.clone());
        }
        Ok(())
    }

    /// The loop device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Where the file system is mounted.
    pub fn mounted(&self) -> Option<&Path> {
        self.mounted.as_deref()
    }

    /// Takes it down in order. A file system that is in use is unmounted lazily, which is said.
    ///
    /// # Errors
    /// What could not be taken down.
    pub fn take_down(&mut self) -> Result<Option<String>, StackError> {
        let mut said = None;
        if let Some(at) = self.mounted.take()
            && let Err(error) = tool("umount", [at.as_os_str()])
        {
            tool("umount", [OsStr::new("--lazy"), at.as_os_str()])?;
            said = Some(format!(
                "{} was in use, and is unmounted when it no longer is ({error})",
                at.display()
            ));
        }
        tool("losetup", [OsStr::new("--detach"), self.device.as_os_str()])?;
        Ok(said)
    }
}

/// Making a file system would lose what is there. What `blkid` cannot tell is taken for something.
fn refuse_signature(device: &Path) -> Result<(), StackError> {
    match tool("blkid", words(&["-p", "-o", "value", "-s", "TYPE"], device)) {
        // It fails without a word where there is nothing.
        Err(StackError::Failed { said, .. }) if said.is_empty() => Ok(()),
        Ok(what) => Err(StackError::Signature {
            device: device.display().to_string(),
            what: if what.is_empty() {
                String::from("a partition table, or the like,")
            } else {
                what
            },
        }),
        Err(error) => Err(error),
    }
}

fn words<'a>(flags: &[&'a str], device: &'a Path) -> Vec<&'a OsStr> {
    let flags = flags.iter().map(|flag| OsStr::new(*flag));
    flags.chain([device.as_os_str()]).collect()
}

/// Runs a tool of the system's; its stdout.
pub(crate) fn tool<'a>(name: &str, words: impl IntoIterator<Item = &'a OsStr>) -> Result<String, StackError> {
    let mut command = Command::new(name);
    command.args(words).stdin(Stdio::null());
    let output = command.output().map_err(|source| StackError::Missing {
        tool: name.to_owned(),
        source,
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    let words: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    Err(StackError::Failed {
        line: format!("{name} {}", words.join(" ")),
        said: text(&output.stderr),
    })
}
