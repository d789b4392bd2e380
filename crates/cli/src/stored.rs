//! Runs in object storage or in a directory laid out like it: their parts, one after the other.
//!
//! Data in: a prefix as typed, the environment's credentials. Data out: [`Part`]s under their keys, in order, a few in memory at a
//! time. It must not know what is made of them.

use crate::part::Part;
use anyhow::Context as _;
use fathom_cluster::prefix::{Prefix, RunKey};
use std::future::Future;
use std::path::Path;

/// Whether a path is such a prefix.
pub(crate) fn is_prefix(path: &Path) -> bool {
    path.to_str().is_some_and(Prefix::is_one)
}

/// Opens one.
pub(crate) fn open(text: &str) -> anyhow::Result<Prefix> {
    // What is no text is no credential.
    let vars = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    Prefix::open(text, &vars.collect::<Vec<_>>())
}

/// Waits for what speaks to a cluster or to storage: one thread is enough for what it does.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot set up the connection's runtime")?;
    Ok(runtime.block_on(future))
}

/// Gives what each run of a prefix contributes to `take`; how many there are.
pub(crate) fn each(
    path: &Path,
    mut take: impl FnMut(&RunKey, Part) -> anyhow::Result<()>,
) -> anyhow::Result<usize> {
    let text = path.to_str().context("a prefix is text")?;
    let prefix = open(text)?;
    wait(async {
        let runs = prefix.runs().await?;
        prefix
            .parts(&runs, |key, part| take(key, Part::read(part)?))
            .await?;
        Ok(runs.len())
    })?
}

/// A run as it is named in reports.
pub(crate) fn named(key: &RunKey) -> String {
    format!("{} on {}", key.run, key.node)
}
