//! From words on the command line to a plan.

use crate::args::k8s::{AccessWord, K8sRecordArgs, WhatArgs};
use crate::text_file::{self, Expected};
use anyhow::bail;
use fathom_cluster::plan::{AccessMode, ClaimSpec, JobFile, Patience, Plan, PodSpec, Side, Watched, Work};
use fathom_core::units::Nanos;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long objects may take to be gone.
pub(super) const REMOVAL: Duration = Duration::from_mins(2);

const JOB_FILE: Expected = Expected::of("job file", 1);

pub(super) fn plan(args: &WhatArgs) -> anyhow::Result<Plan> {
    let classes = args.class.iter().cloned().map(Side::Class);
    let claims = args.claim.iter().cloned().map(Side::Claim);
    let work = match (&args.command, &args.command_image) {
        (Some(command), Some(image)) => Work::Command {
            image: image.clone(),
            prepare: args.prepare.clone(),
            command: command.clone(),
            cleanup: args.cleanup.clone(),
            options: args.option.clone(),
        },
        _ if args.jobs.is_empty() => bail!("give job files, or a command for each pod (--command LINE)"),
        _ => Work::Load {
            files: args
                .jobs
                .iter()
                .map(|path| job_file(path))
                .collect::<anyhow::Result<_>>()?,
            options: args.option.clone(),
        },
    };
    if args.alone && args.parallel.is_none() && args.nodes.is_empty() {
        bail!("--alone: it is one of several that is measured by itself: give --parallel N or --nodes");
    }
    let patience = Patience::default();
    let or =
        |given: Option<Nanos>, usual: Duration| given.map_or(usual, |given| Duration::from_nanos(given.0));
    let plan = Plan {
        id: id(),
        context: args.at.context.clone(),
        namespace: args.at.namespace.clone(),
        sides: classes.chain(claims).collect(),
        repeat: args.repeat,
        claim: ClaimSpec {
            size: args.size.clone(),
            access: match args.access {
                AccessWord::Once => AccessMode::ReadWriteOnce,
                AccessWord::Pod => AccessMode::ReadWriteOncePod,
                AccessWord::Many => AccessMode::ReadWriteMany,
            },
            block: args.block,
        },
        pod: PodSpec {
            image: args.program.image.clone(),
            pull: args.program.pull.clone(),
            node_selector: args.node_selector.iter().cloned().collect(),
            spread: args.spread,
            cpu: args.cpu.clone(),
            memory: args.memory.clone(),
            user: args.user,
            privileged: args.privileged,
        },
        work,
        patience: Patience {
            start: or(args.start_timeout, patience.start),
            hindered: or(args.hindered_timeout, patience.hindered),
            work: or(args.work_timeout, patience.work),
            removal: or(args.removal_timeout, REMOVAL),
        },
        together: args.together,
        members: args.parallel.unwrap_or(1),
        alone: args.alone,
        nodes: Vec::new(),
        records: None,
    };
    plan.check()?;
    Ok(plan)
}

fn job_file(path: &Path) -> anyhow::Result<JobFile> {
    let text = text_file::read(path, JOB_FILE)?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) || name.starts_with('.') {
        bail!(
            "{}: it names a directory and an entry of a config map: letters, digits, - and _ only",
            path.display()
        );
    }
    Ok(JobFile { name, text })
}

/// Recorders for volumes that others use, as they were found.
pub(super) fn watching(args: &K8sRecordArgs, volumes: Vec<Watched>) -> anyhow::Result<Plan> {
    let mut options = args.option.clone();
    options.push(String::from("--quiet"));
    let plan = Plan {
        id: id(),
        context: args.at.context.clone(),
        namespace: args.at.namespace.clone(),
        sides: args.claims.iter().cloned().map(Side::Claim).collect(),
        repeat: 1,
        claim: ClaimSpec {
            size: String::from("1Gi"),
            access: AccessMode::ReadWriteOnce,
            block: false,
        },
        pod: PodSpec {
            image: args.program.image.clone(),
            pull: args.program.pull.clone(),
            node_selector: BTreeMap::new(),
            spread: false,
            cpu: None,
            memory: None,
            user: None,
            privileged: true,
        },
        work: Work::Watch {
            volumes,
            duration: args.duration.map(|duration| Duration::from_nanos(duration.0)),
            options,
        },
        patience: Patience::default(),
        together: true,
        members: 1,
        alone: false,
        nodes: Vec::new(),
        records: None,
    };
    plan.check()?;
    Ok(plan)
}

/// A name that no other run has: the time, and some of this process.
fn id() -> String {
    let now = jiff::Timestamp::now();
    let time = now.strftime("%y%m%d-%H%M%S");
    format!("{time}-{:x}", std::process::id() & 0xffff)
}
