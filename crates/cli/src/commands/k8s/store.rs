//! `fathom k8s store`: runs that are there, put where the records of many are.
//!
//! Data in: run directories. Data out: the same below a prefix, each with what it contributes. It changes nothing in them but
//! `part.json`, which it makes.

use super::part;
use crate::args::k8s::{RecordsArgs, StoreArgs};
use crate::exit::Exit;
use crate::stored::{self, wait};
use crate::terminal;
use anyhow::{Context as _, bail};
use fathom_cluster::Cluster;
use fathom_cluster::plan::Records;
use fathom_cluster::prefix::{PART_FILE, RunKey};
use fathom_core::units::Bytes;
use fathom_door::own;
use std::io::Write as _;
use std::path::Path;

/// Carries `fathom k8s store` out.
pub(super) fn store(args: &StoreArgs) -> anyhow::Result<Exit> {
    let prefix = stored::open(&args.to)?;
    wait(prefix.check())??;
    let runs = args
        .runs
        .iter()
        .map(|dir| Ok((dir, fathom_store::read_run(dir)?, name_of(dir)?)));
    let runs = runs.collect::<anyhow::Result<Vec<_>>>()?;
    for (place, (dir, _, name)) in runs.iter().enumerate() {
        if let Some((other, ..)) = runs[..place].iter().find(|(_, _, other)| other == name) {
            bail!(
                "{} and {}: both would be called run={name}: give them names of their own",
                other.display(),
                dir.display()
            );
        }
    }
    for (dir, run, name) in &runs {
        contribute(dir)?;
        let host = run.environment.host.as_str();
        let key = RunKey::new(
            &args.cluster,
            &args.class,
            args.node.as_deref().unwrap_or(host),
            name,
        );
        let bytes = wait(prefix.put(&key, dir))??;
        if !args.quiet {
            terminal::say(&format!(
                "{}: {} put to {}",
                dir.display(),
                Bytes(bytes),
                prefix.text()
            ));
        }
    }
    Ok(Exit::Done)
}

/// The last name of a directory.
fn name_of(dir: &Path) -> anyhow::Result<String> {
    let whole = dir
        .canonicalize()
        .with_context(|| format!("cannot read {}", dir.display()))?;
    let name = whole.file_name().context("the root is no run directory")?;
    Ok(name.to_string_lossy().into_owned())
}

/// Computes what the run in `dir` contributes, into its directory.
pub(super) fn contribute(dir: &Path) -> anyhow::Result<()> {
    let part = part::of(dir)?.to_json()?;
    let to = dir.join(PART_FILE);
    let writing = || format!("cannot write {}", to.display());
    let temporary = to.with_extension("part");
    let mut file = own::create_temporary(&temporary).with_context(writing)?;
    file.write_all(part.as_bytes()).with_context(writing)?;
    own::rename(&temporary, &to).with_context(writing)
}

/// Where runs are put as well, if they are: it is looked at before anything is made.
pub(super) fn records(
    args: &RecordsArgs,
    context: Option<&str>,
    classes: Vec<String>,
) -> anyhow::Result<Option<Records>> {
    let Some(prefix) = &args.records else {
        return Ok(None);
    };
    let opened = stored::open(prefix)?;
    wait(opened.check())??;
    Ok(Some(Records {
        prefix: prefix.clone(),
        cluster: args
            .cluster_name
            .clone()
            .unwrap_or_else(|| Cluster::name_of(context)),
        classes,
    }))
}
