//! What a pod left, brought here: file by file, taken up again where a connection was cut, compared by digest.
//!
//! Data in: a pod whose agent is done, a directory of this run's own. Data out: the same files. It must not know what they hold.

use crate::agent::{Kept, hex};
use crate::api::{Cluster, ClusterError, with_causes};
use crate::objects::{CONTAINER, OUT_DIR};
use crate::state::{Grade, Seen, hindrances};
use anyhow::{Context as _, bail};
use fathom_door::own;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// So many tries in a row that brought nothing are the end.
const TRIES_MAX: u32 = 12;
const PAUSE: Duration = Duration::from_millis(500);
/// Nothing came for so long: the connection is dead.
const SILENCE: Duration = Duration::from_secs(30);
/// How a command ended is said right behind its output, or never.
const STATUS: Duration = Duration::from_secs(2);
/// What had come when a connection was cut is there by then.
const REST: Duration = Duration::from_millis(50);
/// What the list of files may take.
const LIST_BYTES_MAX: usize = 64 << 20;
const PIECE: usize = 256 << 10;

/// Something to fetch from.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub cluster: &'a Cluster,
    pub pod: &'a str,
    /// Where the program lies in its container.
    pub program: &'a str,
}

/// How far it is: of all bytes so many.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64);

/// Fetches all that the pod left into `dir`, which is made; what is there and right is kept. How often a connection was cut
/// is returned.
///
/// # Errors
/// The pod cannot be asked any more, what came is not what was sent, or a file cannot be written.
pub async fn fetch(source: &Source<'_>, dir: &Path, progress: Progress<'_>) -> anyhow::Result<u32> {
    let mut cuts = 0;
    let kept = list(source, &mut cuts).await?;
    let all: u64 = kept.iter().map(|file| file.size_bytes).sum();
    let mut done = 0;
    own::make_directories(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    for file in &kept {
        let to = below(dir, &file.path)?;
        if let Some(parent) = to.parent() {
            own::make_directories(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        }
        if !is_whole(&to, file) {
            fetch_file(source, file, &to, &mut cuts).await?;
        }
        done += file.size_bytes;
        progress(done, all);
    }
    Ok(cuts)
}

/// A path of the pod's below `dir`: nothing else is taken.
fn below(dir: &Path, path: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(path);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || path.as_os_str().is_empty() {
        bail!(
            "the pod has a file called {}: that is no name of its results",
            path.display()
        );
    }
    Ok(dir.join(path))
}

fn is_whole(path: &Path, kept: &Kept) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut digest = Sha256::new();
    let mut buffer = vec![0; PIECE];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return hex(&digest.finalize()) == kept.sha256,
            Ok(read) => digest.update(&buffer[..read]),
            Err(_) => return false,
        }
    }
}

async fn list(source: &Source<'_>, cuts: &mut u32) -> anyhow::Result<Vec<Kept>> {
    let words = [source.program, "k8s", "agent", "list", OUT_DIR];
    let mut tries = 0;
    loop {
        let mut text = Vec::new();
        let ended = stream(source, &words, |bytes| {
            text.extend_from_slice(bytes);
            if text.len() > LIST_BYTES_MAX {
                bail!("the pod's list of files is longer than {LIST_BYTES_MAX} bytes");
            }
            Ok(())
        });
        let why = match ended.await? {
            Ended::Whole => match serde_json::from_slice(&text) {
                Ok(kept) => return Ok(kept),
                Err(error) => error.to_string(),
            },
            Ended::Cut(why) => why,
        };
        *cuts += 1;
        tries += 1;
        again(source, tries, &why).await?;
    }
}

async fn fetch_file(source: &Source<'_>, kept: &Kept, to: &Path, cuts: &mut u32) -> anyhow::Result<()> {
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let writing = || format!("cannot write {}", part.display());
    let mut file = own::create_temporary(&part).with_context(writing)?;
    let (mut have, mut digest, mut tries) = (0_u64, Sha256::new(), 0);
    let path = format!("{OUT_DIR}/{}", kept.path);
    while have < kept.size_bytes {
        let offset = have.to_string();
        let words = [source.program, "k8s", "agent", "send", &path, &offset];
        let before = have;
        let ended = stream(source, &words, |bytes| {
            // More than was listed is another file than that.
            let room = usize::try_from(kept.size_bytes - have).unwrap_or(usize::MAX);
            if bytes.len() > room {
                bail!("{path} in pod {} has grown since it was listed", source.pod);
            }
            file.write_all(bytes).with_context(writing)?;
            digest.update(bytes);
            have += bytes.len() as u64;
            Ok(())
        });
        let why = match ended.await? {
            _ if have == kept.size_bytes => break,
            Ended::Whole => String::from("it ended early"),
            Ended::Cut(why) => why,
        };
        *cuts += 1;
        tries = if have > before { 0 } else { tries + 1 };
        again(source, tries, &why).await?;
    }
    if hex(&digest.finalize()) != kept.sha256 {
        bail!(
            "{path} of pod {}: what came is not what the pod has (SHA-256)",
            source.pod
        );
    }
    file.sync_all().with_context(writing)?;
    own::rename(&part, to).with_context(|| format!("cannot name {}", to.display()))
}

async fn again(source: &Source<'_>, tries: u32, why: &str) -> anyhow::Result<()> {
    // What cannot come back is not waited for.
    if tries > 1 {
        let pod = source.cluster.pod(source.pod).await?;
        let seen = Seen {
            pod: pod.as_ref(),
            claim: None,
            node: None,
            events: &[],
        };
        let over = hindrances(&seen).into_iter().find(|one| one.grade == Grade::Over);
        match (&pod, over) {
            (None, _) => bail!(
                "pod {}: somebody deleted it before its results were fetched",
                source.pod
            ),
            (Some(_), Some(over)) => bail!("{over}, before its results were fetched"),
            (Some(_), None) => {}
        }
    }
    if tries >= TRIES_MAX {
        bail!(
            "pod {}: nothing could be fetched from it in {TRIES_MAX} tries: {why}",
            source.pod
        );
    }
    tokio::time::sleep(PAUSE * tries.min(8)).await;
    Ok(())
}

/// How a stream ended.
enum Ended {
    /// The command did, well.
    Whole,
    /// Before that.
    Cut(String),
}

/// The stdout of a command in the pod, piece by piece.
async fn stream(
    source: &Source<'_>,
    words: &[&str],
    mut take: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<Ended> {
    let mut process = match source.cluster.exec(source.pod, CONTAINER, words).await {
        Ok(process) => process,
        Err(kube::Error::Api(status)) if matches!(status.code, 401 | 403) => {
            let refused = ClusterError::Refused {
                what: format!("running the agent in pod {}", source.pod),
                reason: status.reason.clone(),
                message: status.message.clone(),
            };
            return Err(refused.into());
        }
        Err(error) => return Ok(Ended::Cut(with_causes(&error))),
    };
    let (Some(mut stdout), Some(mut stderr), Some(status)) =
        (process.stdout(), process.stderr(), process.take_status())
    else {
        return Ok(Ended::Cut(String::from("it has no output")));
    };
    let mut status = std::pin::pin!(status);
    // How it ended, as soon as that is known; `Some(None)`: the connection was cut. Its stream does not say so by itself: it stays
    // open without anybody who could write to it.
    let mut ended: Option<Option<Status>> = None;
    let mut said = Vec::new();
    let mut buffer = vec![0; PIECE];
    loop {
        let is_cut = matches!(ended, Some(None));
        let patience = if is_cut { REST } else { SILENCE };
        let read = tokio::select! {
            status = &mut status, if ended.is_none() => {
                ended = Some(status);
                continue;
            }
            read = tokio::time::timeout(patience, stdout.read(&mut buffer)) => read,
        };
        match read {
            // All that had come is taken.
            Err(_) if is_cut => break,
            Err(_) => {
                process.abort();
                return Ok(Ended::Cut(format!("nothing came for {} s", SILENCE.as_secs())));
            }
            Ok(Err(error)) => return Ok(Ended::Cut(error.to_string())),
            Ok(Ok(0)) => break,
            Ok(Ok(read)) => take(&buffer[..read])?,
        }
    }
    let status = match ended {
        Some(status) => status,
        None => tokio::time::timeout(STATUS, status).await.unwrap_or(None),
    };
    if status.is_some() {
        read_some(&mut stderr, &mut said).await;
    }
    drop(process);
    Ok(how_it_ended(status, &said))
}

/// The end of what a command complained of.
async fn read_some(from: &mut (impl AsyncRead + Unpin), said: &mut Vec<u8>) {
    const MOST: u64 = 4 << 10;
    // What it complained of is told where it failed; that it cannot be read is no failure of its own.
    let _read = tokio::time::timeout(Duration::from_secs(1), from.take(MOST).read_to_end(said)).await;
}

fn how_it_ended(status: Option<Status>, said: &[u8]) -> Ended {
    match status {
        Some(status) if status.status.as_deref() == Some("Success") => Ended::Whole,
        Some(status) => Ended::Cut(format!(
            "{} {}",
            status.message.unwrap_or_default(),
            String::from_utf8_lossy(said).trim()
        )),
        None => Ended::Cut(String::from("the connection was cut")),
    }
}

#[cfg(test)]
mod tests;
