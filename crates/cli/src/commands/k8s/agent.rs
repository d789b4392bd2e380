//! The agent in a pod, as a command of this program: there is nothing else in its image.

use super::store;
use crate::args::k8s::AgentCommand;
use crate::exit::Exit;
use crate::terminal::signals;
use anyhow::Context as _;
use fathom_cluster::agent;
use fathom_door::own;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn agent(command: &AgentCommand) -> anyhow::Result<Exit> {
    match command {
        AgentCommand::Install { to } => install(to),
        AgentCommand::Work { steps } => work(steps),
        AgentCommand::List { dir } => {
            let kept = agent::list(dir).with_context(|| format!("cannot list {}", dir.display()))?;
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, &kept)?;
            out.flush()?;
            Ok(Exit::Done)
        }
        AgentCommand::Time => {
            agent::tell_time(&mut io::stdin().lock(), &mut io::stdout().lock())
                .context("nobody takes the time")?;
            Ok(Exit::Done)
        }
        AgentCommand::Release { dir, at_unix_ns } => {
            agent::release(dir, *at_unix_ns).with_context(|| format!("cannot write in {}", dir.display()))?;
            Ok(Exit::Done)
        }
        AgentCommand::End { dir } => {
            agent::end(dir).with_context(|| format!("cannot write in {}", dir.display()))?;
            Ok(Exit::Done)
        }
        AgentCommand::Part { dir } => {
            store::contribute(dir)?;
            Ok(Exit::Done)
        }
        AgentCommand::Send { path, offset_bytes } => {
            agent::send(path, *offset_bytes, &mut io::stdout().lock())
                .with_context(|| format!("cannot send {}", path.display()))?;
            Ok(Exit::Done)
        }
    }
}

fn install(to: &Path) -> anyhow::Result<Exit> {
    let writing = || format!("cannot write {}", to.display());
    let mut program = File::open("/proc/self/exe").context("cannot read the program itself")?;
    let mut copy = own::create(to).with_context(writing)?;
    io::copy(&mut program, &mut copy).with_context(writing)?;
    copy.set_permissions(Permissions::from_mode(0o755))
        .with_context(writing)?;
    Ok(Exit::Done)
}

/// Carries out all steps, and waits: what they left is fetched from the running container.
fn work(steps: &Path) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let steps = agent::read_steps(steps)?;
    agent::work(Path::new("/proc/self/exe"), &steps, &stop, &mut io::stdout())
        .context("nothing can be said on stdout")?;
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Done)
}
