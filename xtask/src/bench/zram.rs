//! A zram device of our own: the fastest block device there is, so that what is left is the tool.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// A zram device, given back when dropped.
pub(super) struct Zram {
    name: String,
    path: PathBuf,
}

impl Zram {
    /// A device of `bytes`, none of them written: reads of it come back at memory speed.
    pub(super) fn new(bytes: u64) -> Result<Self> {
        let control = Path::new("/sys/class/zram-control/hot_add");
        // Reading this file makes a new device and says its number; an idle one will do where it is missing.
        let number = match std::fs::read_to_string(control) {
            Ok(number) => number.trim().to_owned(),
            Err(_) => String::from("0"),
        };
        let name = format!("zram{number}");
        let zram = Self {
            path: PathBuf::from(format!("/dev/{name}")),
            name,
        };
        let size = std::fs::read_to_string(zram.attribute("disksize")).context("no zram here")?;
        if size.trim() != "0" {
            bail!("/dev/{} is in use", zram.name);
        }
        std::fs::write(zram.attribute("disksize"), bytes.to_string()).context("zram needs root")?;
        Ok(zram)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn attribute(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/{}/{name}", self.name))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        if let Err(error) = std::fs::write(self.attribute("reset"), "1") {
            eprintln!("cannot give {} back: {error}", self.path.display());
        }
        let number = self.name.trim_start_matches("zram");
        if number != "0" {
            // Without hot_remove the device stays, empty.
            drop(std::fs::write("/sys/class/zram-control/hot_remove", number));
        }
    }
}
