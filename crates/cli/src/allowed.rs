//! What a script may overwrite without a flag for it: `FATHOM_ALLOW_OVERWRITE`.
//!
//! Data in: the environment, what is to be written to. Data out: the same permissions that `--allow-overwrite` gives: of what
//! the variable names, and of what lies in directories that it names. What is in use stays refused. It must not decide more
//! than that.

use crate::terminal;
use fathom_engine::plan::Plan;
use fathom_session::How;
use std::path::{Path, PathBuf};

/// Files, directories and devices that may be overwritten, with colons between them.
pub(crate) const OVERWRITE: &str = "FATHOM_ALLOW_OVERWRITE";
/// The same of those that carry a file system or a partition table.
pub(crate) const SIGNATURE: &str = "FATHOM_ALLOW_OVERWRITE_SIGNATURE";

/// What the environment allows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Allowed {
    overwrite: Vec<PathBuf>,
    signature: Vec<PathBuf>,
}

impl Allowed {
    /// As the environment has it.
    pub(crate) fn from_env() -> Self {
        let paths = |name| paths(&terminal::env(name).unwrap_or_default());
        Self {
            overwrite: paths(OVERWRITE),
            signature: paths(SIGNATURE),
        }
    }

    /// Whether what is at `path` may be replaced.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        covers(&self.overwrite, path)
    }

    /// `how`, with what the environment allows of the files of `plan`.
    pub(crate) fn widen(&self, how: &How, plan: &Plan) -> How {
        let mut how = how.clone();
        for path in plan.files.iter().map(|action| &action.path) {
            if covers(&self.overwrite, path) {
                how.allow_overwrite.push(path.clone());
            }
            // Whoever confirms that a file system may go has allowed to overwrite it.
            if covers(&self.signature, path) {
                how.allow_overwrite.push(path.clone());
                how.allow_signature.push(path.clone());
            }
        }
        how
    }
}

fn paths(list: &str) -> Vec<PathBuf> {
    std::env::split_paths(list)
        .filter(|path| !path.as_os_str().is_empty())
        .collect()
}

/// Whether one of `named` is `path`, or a directory that it lies in.
fn covers(named: &[PathBuf], path: &Path) -> bool {
    let whole = |path: &Path| std::fs::canonicalize(path).ok();
    // What is not there yet needs no leave.
    let Some(path) = whole(path) else { return false };
    named.iter().filter_map(|name| whole(name)).any(|name| {
        if name.is_dir() {
            path.starts_with(&name)
        } else {
            path == name
        }
    })
}

#[cfg(test)]
mod tests;
