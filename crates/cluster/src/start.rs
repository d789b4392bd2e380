//! One moment for all members: how far the clock of each is from this one, and when each is to begin by its own.
//!
//! Data in: pods whose agents wait. Data out: offsets of clocks, agents that begin. It must not know what they do then.

use crate::agent::now_unix_ns;
use crate::api::Cluster;
use crate::objects::{CONTAINER, OUT_DIR};
use anyhow::{Context as _, bail};
use kube::api::AttachedProcess;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// How often a clock is asked: the quickest answer says most.
const ROUNDS: u32 = 15;
const ANSWER: Duration = Duration::from_secs(5);
/// From the order to the beginning: for the order to reach all, and a little more for each.
const NOTICE: Duration = Duration::from_secs(2);
const NOTICE_EACH: Duration = Duration::from_millis(20);

/// How far another clock is ahead of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    pub offset_ns: i64,
    /// It is that, give or take so much: half of the way there and back.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// From when it was asked, what it said, and when that came, all in nanoseconds since the Unix epoch. Cristian's algorithm.
    pub fn of(asked: u64, said: u64, came: u64) -> Self {
        let way = came.saturating_sub(asked);
        let middle = asked + way / 2;
        Self {
            offset_ns: said.wrapping_sub(middle).cast_signed(),
            uncertainty_ns: way.div_ceil(2),
        }
    }

    /// The time there at a time here.
    pub fn there(&self, here_unix_ns: u64) -> u64 {
        here_unix_ns.wrapping_add_signed(self.offset_ns)
    }

    /// The time here at a time there.
    pub fn here(&self, there_unix_ns: u64) -> u64 {
        there_unix_ns.wrapping_sub(self.offset_ns.cast_unsigned())
    }
}

/// When a member began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub clock: ClockOffset,
    /// When all were to begin, by this machine's clock.
    pub due_unix_ns: u64,
    /// When it began, by this machine's clock.
    pub at_unix_ns: u64,
}

/// When `members` that are told now can all begin.
pub fn moment_for(members: usize) -> u64 {
    let notice = NOTICE + NOTICE_EACH * u32::try_from(members).unwrap_or(u32::MAX);
    now_unix_ns() + u64::try_from(notice.as_nanos()).unwrap_or(u64::MAX)
}

/// How far from the earliest to the latest beginning it was, in nanoseconds, with what the clocks leave open.
pub fn skew(releases: &[Release]) -> Option<(u64, u64)> {
    let first = releases.iter().map(|one| one.at_unix_ns).min()?;
    let last = releases.iter().map(|one| one.at_unix_ns).max()?;
    let open = releases.iter().map(|one| one.clock.uncertainty_ns).max()?;
    Some((last - first, 2 * open))
}

/// Asks the agent of a pod for its time.
///
/// # Errors
/// It cannot be asked, or says something else.
pub async fn clock_of(cluster: &Cluster, pod: &str, program: &str) -> anyhow::Result<ClockOffset> {
    let asking = || format!("asking pod {pod} for its time");
    let words = [program, "k8s", "agent", "time"];
    let mut process = cluster
        .exec_fed(pod, CONTAINER, &words)
        .await
        .with_context(asking)?;
    let best = ask_for_time(&mut process).await.with_context(asking);
    process.abort();
    best
}

async fn ask_for_time(process: &mut AttachedProcess) -> anyhow::Result<ClockOffset> {
    let (Some(mut to), Some(from)) = (process.stdin(), process.stdout()) else {
        bail!("it takes nothing, or says nothing");
    };
    let mut from = BufReader::new(from);
    let mut best: Option<ClockOffset> = None;
    for _ in 0..ROUNDS {
        let asked = now_unix_ns();
        to.write_all(b"\n").await?;
        to.flush().await?;
        let mut line = String::new();
        timeout(ANSWER, from.read_line(&mut line)).await??;
        let came = now_unix_ns();
        let said = line
            .trim()
            .parse()
            .with_context(|| format!("it says {:?}", line.trim()))?;
        let one = ClockOffset::of(asked, said, came);
        if best.is_none_or(|best| one.uncertainty_ns < best.uncertainty_ns) {
            best = Some(one);
        }
    }
    best.context("it said nothing")
}

/// Tells the agent of a pod when to begin, by its own clock.
///
/// # Errors
/// It cannot be told.
pub async fn release(cluster: &Cluster, pod: &str, program: &str, there_unix_ns: u64) -> anyhow::Result<()> {
    let at = there_unix_ns.to_string();
    order(cluster, pod, &[program, "k8s", "agent", "release", OUT_DIR, &at]).await
}

/// Tells the agent of a pod to end what it does, as Ctrl-C would.
///
/// # Errors
/// It cannot be told.
pub async fn end(cluster: &Cluster, pod: &str, program: &str) -> anyhow::Result<()> {
    order(cluster, pod, &[program, "k8s", "agent", "end", OUT_DIR]).await
}

async fn order(cluster: &Cluster, pod: &str, words: &[&str]) -> anyhow::Result<()> {
    let telling = || format!("telling pod {pod} to {}", words[3]);
    let mut process = cluster.exec(pod, CONTAINER, words).await.with_context(telling)?;
    let Some(status) = process.take_status() else {
        bail!("{}: it does not say how that ended", telling());
    };
    let status = timeout(ANSWER, status).await.with_context(telling)?;
    match status {
        Some(status) if status.status.as_deref() == Some("Success") => Ok(()),
        Some(status) => bail!("{}: {}", telling(), status.message.unwrap_or_default()),
        None => bail!("{}: the connection was cut", telling()),
    }
}

#[cfg(test)]
mod tests;
