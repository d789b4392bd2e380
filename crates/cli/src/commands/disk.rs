//! `fathom disk`: modelled disks, live.
//!
//! Data in: arguments as typed. Data out: disks that are served until they are not wanted any more; what a server says, printed.

mod place;
mod serve;

use crate::args::disk::{DiskArgs, DiskCommand, FaultArgs};
use crate::exit::Exit;
use crate::terminal;
use anyhow::{Context, bail};
use fathom_disk::{control, fault, leftover};
use serde_json::Value;
use std::path::Path;

/// Carries `fathom disk` out.
pub(crate) fn disk(args: &DiskArgs) -> anyhow::Result<Exit> {
    match &args.command {
        DiskCommand::Serve(args) => serve::serve(args),
        DiskCommand::Fault(args) => fault(args),
        DiskCommand::Status { of, mark } => status(of.as_deref(), *mark),
        DiskCommand::Cleanup => cleanup(),
    }
}

fn ask(of: Option<&Path>, request: &str) -> anyhow::Result<Value> {
    let socket = place::socket_of(of)?;
    let answer = control::ask(&socket, request);
    answer.with_context(|| format!("{}: the server does not answer", socket.display()))
}

fn fault(args: &FaultArgs) -> anyhow::Result<Exit> {
    let words = args.words.join(" ");
    // What is misspelt is said before anybody is asked.
    fault::parse(&words)?;
    let answer = ask(args.of.as_deref(), &format!("fault {words}"))?;
    if let Some(error) = answer["error"].as_str() {
        bail!("{error}");
    }
    for line in answer["done"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        terminal::print(&format!("{line}\n"))?;
    }
    Ok(Exit::Done)
}

fn status(of: Option<&Path>, mark: bool) -> anyhow::Result<Exit> {
    let answer = ask(of, if mark { "mark" } else { "status" })?;
    if let Some(error) = answer["error"].as_str() {
        bail!("{error}");
    }
    terminal::print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?;
    Ok(Exit::Done)
}

fn cleanup() -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    let left = leftover::find().context("cannot read the table of mounts")?;
    if left.is_empty() {
        terminal::say("nothing is left of servers that were killed");
    }
    for left in left {
        let (done, failed) = left.take_down();
        for line in done {
            terminal::print(&format!("{line}\n"))?;
        }
        for line in failed {
            terminal::error(&line);
            exit = Exit::Errors;
        }
    }
    Ok(exit)
}
