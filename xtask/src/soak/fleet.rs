//! A fleet of a thousand nodes, and runs on a cluster that are killed a hundred times.
//!
//! Data in: how many. Data out: an error for the first promise that was broken. The tests that do it are those of a check, which do
//! it on a small scale.

use crate::ci::TESTED;
use crate::{cluster, shell};
use anyhow::{Context, Result, bail};

const NODES: u32 = 1_000;
const ABORTS: u32 = 100;
/// What is fetched over a connection that is cut ten times.
const RECORD_MIB: u32 = 1_024;

/// `[NODES]`.
pub(super) fn many_nodes(options: &[&str]) -> Result<()> {
    let nodes: u32 = match options {
        [] => NODES,
        [text] => text.parse().context("how many nodes?")?,
        _ => bail!("soak fleet: how many nodes is all that it takes"),
    };
    shell::run(
        shell::cargo(&["test"])
            .args(TESTED)
            .args(["--", "--nocapture", "k8s::stored::many_nodes"])
            .env("FATHOM_FLEET_NODES", nodes.to_string()),
    )
}

/// `[TIMES [SEED]]`: killed runs on the real cluster, and a record of a GiB over a connection that is cut.
pub(super) fn aborted(options: &[&str]) -> Result<()> {
    let (times, seed) = match options {
        [] => (ABORTS, None),
        [times] => (times.parse().context("how many runs?")?, None),
        [times, seed] => (times.parse().context("how many runs?")?, Some(seed)),
        _ => bail!("soak k8s: how many runs, and a seed"),
    };
    let mut vars = vec![
        ("FATHOM_K8S_ABORTS", times.to_string()),
        ("FATHOM_K8S_RECORD_MIB", RECORD_MIB.to_string()),
    ];
    vars.extend(seed.map(|seed| ("FATHOM_TEST_SEED", (*seed).to_owned())));
    cluster::soak("k8s::cluster::soak::", &vars)
}
