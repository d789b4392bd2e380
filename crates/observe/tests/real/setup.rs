//! Loop devices, mounts and swap areas that go away by themselves.

use fathom_observe::SystemRoot;
use fathom_observe::safety::{Change, Permission, Refusal, WriteRequest, check, foresee};
use fathom_testkit::LoopDevice;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The size of the image below each loop device.
pub(crate) const IMAGE_BYTES: u64 = 16 << 20;

/// Why a test cannot run here.
pub(crate) type Missing = String;

/// Runs a program; its standard output, or what went wrong in words.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<String, Missing> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", arguments.join(" "), error.trim()))
}

/// Runs a test body, or says why it is skipped.
pub(crate) fn with<T>(test: &str, setup: Result<T, Missing>, body: impl FnOnce(T)) {
    match setup {
        Ok(value) => body(value),
        Err(missing) => fathom_testkit::skipped(test, missing),
    }
}

/// Lets one test at a time have devices, or files that others open. A process that another test forks has copies of all descriptors for
/// a moment, and a new mount namespace has copies of all mounts for longer: either keeps a device busy.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed has cleaned up all the same.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A loop device over a file in a directory of its own, with a link to the device beside it.
pub(crate) struct Loop {
    _attached: LoopDevice,
    pub(crate) dir: TempDir,
    pub(crate) device: String,
    _alone: MutexGuard<'static, ()>,
}

impl Loop {
    pub(crate) fn new() -> Result<Self, Missing> {
        Self::with_options(&[])
    }

    pub(crate) fn with_options(options: &[&str]) -> Result<Self, Missing> {
        let alone = alone();
        let dir = TempDir::new().map_err(|error| error.to_string())?;
        let image = dir.path().join("image");
        // Written in full: swap does not take a file with holes.
        fs::write(&image, vec![0; IMAGE_BYTES as usize]).map_err(|error| error.to_string())?;
        let attached = LoopDevice::over(&image, options)?;
        let this = Self {
            device: attached.path().to_string_lossy().into_owned(),
            _attached: attached,
            dir,
            _alone: alone,
        };
        std::os::unix::fs::symlink(&this.device, this.link()).map_err(|error| error.to_string())?;
        Ok(this)
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.device)
    }

    pub(crate) fn image(&self) -> PathBuf {
        self.dir.path().join("image")
    }

    /// A symbolic link to the device, as `/dev/disk/by-id` has them.
    pub(crate) fn link(&self) -> PathBuf {
        self.dir.path().join("link")
    }

    pub(crate) fn format(self) -> Result<Self, Missing> {
        run("mkfs.ext4", &["-q", "-F", &self.device])?;
        Ok(self)
    }

    pub(crate) fn mount(self) -> Result<(Mount, Self), Missing> {
        let point = TempDir::new().map_err(|error| error.to_string())?;
        run("mount", &[&self.device, &point.path().to_string_lossy()])?;
        Ok((Mount { point }, self))
    }
}

/// A mount, to be dropped before its device.
pub(crate) struct Mount {
    pub(crate) point: TempDir,
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Err(error) = run("umount", &[&self.point.path().to_string_lossy()]) {
            eprintln!("left behind: {error}");
        }
    }
}

/// A swap area in use.
pub(crate) struct Swap(pub(crate) String);

impl Swap {
    pub(crate) fn on(path: &str) -> Result<Self, Missing> {
        run("mkswap", &[path])?;
        run("swapon", &[path])?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        if let Err(error) = run("swapoff", &[&self.0]) {
            eprintln!("left behind: {error}");
        }
    }
}

/// Asks for the running system's permission.
pub(crate) fn ask(path: &Path, overwrite: &[PathBuf], allow_signature: bool) -> Result<Permission, Refusal> {
    let request = WriteRequest {
        path,
        allow_overwrite: overwrite,
        allow_signature,
        change: Change::default(),
        commands: false,
    };
    let before = foresee(&SystemRoot::default(), request);
    let answer = check(&SystemRoot::default(), request);
    assert_eq!(
        before.is_ok(),
        answer.is_ok(),
        "{before:?} was foreseen, {answer:?} came"
    );
    answer
}

/// Opens for writing as a load would.
pub(crate) fn open(path: &Path) -> File {
    File::options()
        .read(true)
        .write(true)
        .open(path)
        .expect("openable")
}
