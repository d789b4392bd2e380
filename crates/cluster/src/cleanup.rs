//! Removes what runs made, and waits until it is gone.
//!
//! Data in: a run's name, or none for all of fathom's. Data out: what was removed, what is still there. It must not look at anything
//! that does not carry fathom's label.

use crate::api::{Cluster, ClusterError, Kind};
use crate::objects::{MANAGED_BY, MANAGED_LABEL, RUN_LABEL};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(250);

/// An object.
pub type Named = (Kind, String);

/// How objects are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// A pod is gone when its node says so.
    Graceful,
    /// From the cluster's books, whatever its node does: it may never answer again.
    Forced,
}

/// The label selector of a run's objects; of all runs' without one.
pub fn selector(run: Option<&str>) -> String {
    let all = format!("{MANAGED_LABEL}={MANAGED_BY}");
    match run {
        None => format!("{all},{RUN_LABEL}"),
        Some(run) => format!("{all},{RUN_LABEL}={run}"),
    }
}

/// What is there.
///
/// # Errors
/// The cluster refuses, or does not answer.
pub async fn there(cluster: &Cluster, run: Option<&str>) -> Result<Vec<Named>, ClusterError> {
    let selector = selector(run);
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let names = cluster.names(kind, &selector).await?;
        found.extend(names.into_iter().map(|name| (kind, name)));
    }
    Ok(found)
}

/// Removes all of a run's objects (of all runs' without a name) and waits until they are gone. Returned is what still is
/// there when `patience` ended.
///
/// # Errors
/// The cluster refuses, or does not answer.
pub async fn remove(
    cluster: &Cluster,
    run: Option<&str>,
    patience: Duration,
    how: Removal,
) -> Result<Vec<Named>, ClusterError> {
    let begun = Instant::now();
    let mut left = there(cluster, run).await?;
    for (kind, name) in &left {
        match how {
            Removal::Graceful => cluster.delete(*kind, name).await?,
            Removal::Forced => cluster.delete_by_force(*kind, name).await?,
        }
    }
    while !left.is_empty() && begun.elapsed() < patience {
        tokio::time::sleep(LOOK).await;
        left = there(cluster, run).await?;
    }
    Ok(left)
}

#[cfg(test)]
mod tests;
