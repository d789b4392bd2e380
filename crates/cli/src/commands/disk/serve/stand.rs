//! What stands while disks are served: put up in order, taken down in the opposite one.
//!
//! Data in: arguments, a bench. Data out: the ways to the disks. It must not know what is recorded or shown.

use super::disks::Chosen;
use crate::args::disk::{FileSystemArg, NbdAddress, ServeArgs};
use crate::commands::disk::place;
use crate::terminal;
use anyhow::{Context, ensure};
use fathom_disk::bench::Running;
use fathom_disk::control::Control;
use fathom_disk::fault;
use fathom_disk::fuse::{FuseOptions, Mounted};
use fathom_disk::nbd::{Address, Server};
use fathom_disk::stack::{FileSystem, Stack, Wanted};
use rustls::ServerConfig;
use std::path::PathBuf;
use std::sync::Arc;

/// The way back of an answer takes no longer on a machine that is quiet enough.
const EARLY_NS_MAX: u64 = 100_000;

/// Everything that stands, in the order in which it is taken down.
pub(super) struct Stand {
    stacks: Vec<Stack>,
    mounted: Option<Mounted>,
    servers: Vec<Server>,
    pub(super) control: Control,
    pub(super) running: Running,
}

/// Puts everything up. What was put up before something failed is taken down again.
pub(super) fn put_up(
    args: &ServeArgs,
    running: Running,
    chosen: &Chosen,
    mounts: &[Option<PathBuf>],
    tls: Option<&Arc<ServerConfig>>,
) -> anyhow::Result<Stand> {
    let bench = &running.bench;
    let socket = args
        .control
        .clone()
        .unwrap_or_else(|| place::socket_for(std::process::id()));
    let control = Control::start(bench, &socket).context("the control socket")?;
    let mut servers = Vec::new();
    for address in &args.nbd {
        let (address, tls) = match address {
            // What does not leave this machine is the kernel's to keep.
            NbdAddress::Unix(path) => (Address::Unix(std::path::absolute(path)?), None),
            NbdAddress::Tcp(at) => (Address::Tcp(*at), tls.cloned()),
        };
        servers.push(Server::start(bench, &address, tls).context("--nbd")?);
    }
    let mounted = match &args.at {
        None => None,
        Some(at) => {
            let options = FuseOptions {
                writeback: args.writeback,
                allow_other: args.allow_other,
            };
            Some(Mounted::new(bench, &std::path::absolute(at)?, options)?)
        }
    };
    let mut stand = Stand {
        stacks: Vec::new(),
        mounted,
        servers,
        control,
        running,
    };
    let built = stand
        .calibrate(args, chosen.specs.is_some())
        .and_then(|()| stand.stack(args, chosen, mounts));
    if let Err(error) = built {
        // What went wrong first is what is told.
        let _taken = stand.take_down(args.quiet);
        return Err(error);
    }
    Ok(stand)
}

impl Stand {
    fn calibrate(&self, args: &ServeArgs, takes_time: bool) -> anyhow::Result<()> {
        let bench = &self.running.bench;
        if let Some(early) = args.early {
            bench.set_early_ns(early.0);
            return Ok(());
        }
        let Some(mounted) = self.mounted.as_ref().filter(|_| takes_time && !args.writeback) else {
            return Ok(());
        };
        let found_ns = mounted
            .calibrate(bench, EARLY_NS_MAX)
            .context("cannot read the served file")?;
        if found_ns > EARLY_NS_MAX && !args.quiet {
            terminal::note(&format!(
                "an answer takes {} to arrive: this machine is busy, and latencies will be too long",
                fathom_core::units::Nanos(found_ns)
            ));
        }
        Ok(())
    }

    fn stack(&mut self, args: &ServeArgs, chosen: &Chosen, mounts: &[Option<PathBuf>]) -> anyhow::Result<()> {
        let Some(mounted) = self.mounted.as_ref().filter(|_| args.loop_device) else {
            return Ok(());
        };
        for (name, mount) in chosen.names.iter().zip(mounts) {
            let wanted = Wanted {
                make: args.mkfs.map(|kind| match kind {
                    FileSystemArg::Ext4 => FileSystem::Ext4,
                    FileSystemArg::Xfs => FileSystem::Xfs,
                }),
                mount: mount.clone(),
            };
            let stack = Stack::put_up(&mounted.file(name), &wanted);
            self.stacks.push(
                stack.with_context(|| format!("--loop ({name}): without root, the file itself or --nbd"))?,
            );
        }
        Ok(())
    }

    /// The ways to the disks, a line each.
    pub(super) fn ways(&self, names: &[String]) -> String {
        let mut lines: Vec<String> = Vec::new();
        if let Some(mounted) = &self.mounted {
            lines.extend(
                names
                    .iter()
                    .map(|name| format!("file {}", mounted.file(name).display())),
            );
        }
        for stack in &self.stacks {
            lines.push(format!("device {}", stack.device().display()));
            lines.extend(stack.mounted().map(|at| format!("mount {}", at.display())));
        }
        lines.extend(self.servers.iter().map(|server| format!("nbd {}", server.uri())));
        lines.push(format!("control {}", self.control.path().display()));
        lines.push(String::from("ready\n"));
        lines.join("\n")
    }

    /// Where each disk is to be found, for the record.
    pub(super) fn places(&self, names: &[String]) -> Vec<String> {
        let place = |name: &String| match (&self.mounted, self.servers.first()) {
            (Some(mounted), _) => mounted.file(name).display().to_string(),
            (None, Some(server)) => format!("{} ({name})", server.uri()),
            (None, None) => name.clone(),
        };
        names.iter().map(place).collect()
    }

    /// Whether somebody else has unmounted it.
    pub(super) fn is_gone(&self) -> bool {
        self.mounted.as_ref().is_some_and(Mounted::is_gone)
    }

    /// Takes everything down in order; goes on where something cannot be.
    pub(super) fn take_down(self, quiet: bool) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        // A disk that is stalled would hold up what flushes to it. One that is gone stays gone: what a file system still has to write
        // after a power cut must not reach the data.
        if let Err(error) = self.running.bench.apply(None, &fault::Fault::Heal) {
            failed.push(error.to_string());
        }
        for mut stack in self.stacks.into_iter().rev() {
            match stack.take_down() {
                Ok(Some(said)) if !quiet => terminal::note(&said),
                Ok(_) => {}
                Err(error) => failed.push(error.to_string()),
            }
        }
        if let Some(mounted) = self.mounted
            && let Err(error) = mounted.unmount()
        {
            failed.push(format!("cannot unmount: {error}"));
        }
        drop(self.servers);
        ensure!(
            failed.is_empty(),
            "not all could be taken down: {}; fathom disk cleanup takes down what is left",
            failed.join("; ")
        );
        Ok(())
    }
}
