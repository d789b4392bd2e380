//! The key that both sides have.

use crate::args::FioArgs;
use crate::terminal;
use anyhow::{Context, bail};
use fathom_remote::Key;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Where the key is, where no flag says so.
const KEY: &str = "FATHOM_FIO_KEY";
/// A key is a line; what is longer is something else.
const KEY_BYTES_MAX: u64 = 4096;

/// The key that the command line or the environment names.
pub(super) fn key(args: &FioArgs) -> anyhow::Result<Key> {
    let named = args.key.clone().or_else(|| terminal::env(KEY).map(PathBuf::from));
    let Some(path) = named else {
        bail!(
            "--client and --server need a key that both sides have: make one with `openssl rand -hex 32 > FILE && chmod 600 \
             FILE`, copy it to the other side, and give it with --key FILE or {KEY}=FILE"
        );
    };
    let name = path.display();
    let metadata = std::fs::metadata(&path).with_context(|| format!("cannot read the key {name}"))?;
    if !metadata.is_file() || metadata.len() > KEY_BYTES_MAX {
        bail!("{name} is no file with a key");
    }
    if metadata.mode() & 0o077 != 0 {
        bail!("the key {name} can be read by others than its owner: chmod 600 {name}");
    }
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read the key {name}"))?;
    Key::from_text(&text).with_context(|| name.to_string())
}
