//! Loop devices in a known state, put back as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a loop device keeps when it is detached, and what tests rely on: the values that a new one has. The scheduler comes
/// first, because the number of requests depends on it.
const SET: [(&str, &str); 5] = [
    ("scheduler", "none"),
    ("nr_requests", "128"),
    ("read_ahead_kb", "128"),
    ("nomerges", "0"),
    ("iostats", "1"),
];

/// A loop device until this is dropped, also by a panic.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    /// What the attributes were that may have been changed, in the order in which they are put back.
    before: Vec<(PathBuf, String)>,
}

impl LoopDevice {
    /// One over `file`, attached with further options of losetup(8).
    ///
    /// # Errors
    /// What is missing.
    pub fn over(file: &Path, options: &[&str]) -> Result<Self, String> {
        let file = file.to_string_lossy();
        let mut words = vec!["--find", "--show"];
        words.extend_from_slice(options);
        words.push(&file);
        let path = losetup(&words)?;
        let mut device = Self {
            path: path.into(),
            before: Vec::new(),
        };
        device.set_up()?;
        Ok(device)
    }

    /// Its node in `/dev`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kernel's name of it.
    ///
    /// # Panics
    /// It has none: losetup names nodes.
    pub fn name(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str());
        name.expect("the name of a loop device")
    }

    /// Sets an attribute of its queue (`/sys/block/NAME/queue`) until it is detached.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set(&mut self, attribute: &str, value: &str) -> Result<(), String> {
        let path = self.attribute(attribute);
        let before = read(&path)?;
        if before == value {
            return Ok(());
        }
        if self.before.iter().all(|(known, _)| *known != path) {
            self.before.push((path.clone(), before));
        }
        write(&path, value)
    }

    fn attribute(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(self.name()).join("queue").join(name)
    }

    fn set_up(&mut self) -> Result<(), String> {
        // An older kernel may lack one, and then nobody can have set it.
        let there = SET.iter().filter(|(name, _)| self.attribute(name).exists());
        let there: Vec<_> = there.collect();
        // All are read before any is set: another scheduler has another number of requests.
        for (name, _) in &there {
            let path = self.attribute(name);
            let before = read(&path)?;
            self.before.push((path, before));
        }
        there.iter().try_for_each(|(name, value)| self.set(name, value))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        for (path, before) in &self.before {
            let now = read(path);
            let put_back = match &now {
                Ok(now) if now == before => Ok(()),
                _ => write(path, before),
            };
            if let Err(error) = put_back {
                eprintln!("{error}");
            }
        }
        if let Err(error) = losetup(&["--detach", &self.path.to_string_lossy()]) {
            eprintln!("left behind: {error}");
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| said(path, &error))?;
    Ok(chosen(&text))
}

fn write(path: &Path, value: &str) -> Result<(), String> {
    fs::write(path, value).map_err(|error| said(path, &error))
}

/// The value of an attribute: of several that are offered, the one in brackets.
fn chosen(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(chosen, _)| chosen).trim().to_owned()
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// Runs losetup(8); what it printed.
fn losetup(words: &[&str]) -> Result<String, String> {
    let output = Command::new("losetup")
        .args(words)
        .output()
        .map_err(|error| format!("losetup: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("losetup {}: {}", words.join(" "), error.trim()))
}

#[cfg(test)]
mod tests;
