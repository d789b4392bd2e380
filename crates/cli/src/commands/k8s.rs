//! `fathom k8s`: loads on volumes of a cluster.
//!
//! Data in: arguments as typed. Data out: a directory with what each pod left, what came of it on stdout. It only brings what was
//! asked for to `cluster`, and what came back to where it is compared.

mod agent;
mod compared;
mod experiment;
mod fleet;
mod part;
mod plan;
mod record;
mod store;
mod told;

use crate::args::k8s::{CleanupArgs, K8sArgs, K8sCommand, K8sRunArgs, ManifestArgs, RbacArgs, WhatArgs};
use crate::exit::Exit;
use crate::stored::{self, wait};
use crate::terminal::{self, signals};
use anyhow::bail;
use fathom_cluster::cleanup::Removal;
use fathom_cluster::conduct::{self, Outcome, TestDone};
use fathom_cluster::plan::{Plan, Records, Side, Test};
use fathom_cluster::{Cluster, ClusterError, carry_out, cleanup, objects, rights, yaml};
use fathom_session::{AfterTouching as _, Output, reserve_directory};
use std::fmt::Write as _;
use std::path::Path;

/// Carries `fathom k8s …` out.
pub(crate) fn k8s(args: &K8sArgs) -> anyhow::Result<Exit> {
    match &args.command {
        K8sCommand::Run(args) => run(args),
        K8sCommand::Record(args) => record::record(args),
        K8sCommand::Store(args) => store::store(args),
        K8sCommand::Rbac(args) => rbac(args),
        K8sCommand::Manifest(args) => manifest(args),
        K8sCommand::Cleanup(args) => clean(args),
        K8sCommand::Agent(args) => agent::agent(&args.command),
    }
}

fn manifest(args: &ManifestArgs) -> anyhow::Result<Exit> {
    let plan = plan::plan(&args.what)?;
    print_manifest(&plan)
}

fn print_manifest(plan: &Plan) -> anyhow::Result<Exit> {
    let first = (0..plan.sides.len()).map(|side| Test {
        side,
        repeat: 1,
        member: 1,
    });
    let objects: Vec<_> = first.flat_map(|test| objects::all(plan, test)).collect();
    terminal::print(&yaml::documents(&objects)?)?;
    Ok(Exit::Done)
}

fn run(args: &K8sRunArgs) -> anyhow::Result<Exit> {
    if let Some(path) = experiment::asked_for(args) {
        return experiment::run(args, path);
    }
    if let Some(dir) = &args.resume {
        return go_on(args, dir);
    }
    let mut plan = plan::plan(&args.what)?;
    if args.dry_run {
        return print_manifest(&plan);
    }
    let output = args.output.clone().map_or(Output::Default, Output::Directory);
    // What the cluster says of it is asked before a directory is made.
    let (classes, nodes) = wait(async {
        let cluster = pin(&mut plan).await?;
        let classes = check(&cluster, &plan).await?;
        let nodes = match args.what.nodes.as_slice() {
            [] => Vec::new(),
            _ => nodes(&args.what, &cluster).await?,
        };
        Ok::<_, anyhow::Error>((classes, nodes))
    })??;
    plan.records = store::records(&args.records, plan.context.as_deref(), classes)?;
    if !nodes.is_empty() {
        plan.nodes = nodes;
        plan.members = u32::try_from(plan.nodes.len())?;
        plan.check()?;
    }
    let Some(dir) = reserve_directory(&output, "k8s")? else {
        bail!("-o none: what comes of it is fetched to be compared: give a directory");
    };
    conduct::write_plan(&dir, &plan)?;
    measure(args, &plan, &dir, Vec::new())
}

/// Goes on with the run in `dir`, as it was begun and where.
fn go_on(args: &K8sRunArgs, dir: &Path) -> anyhow::Result<Exit> {
    let mut plan = conduct::read_plan(dir)?;
    plan.check()?;
    // A context may be called otherwise by now.
    if let Some(context) = &args.what.at.context {
        plan.context = Some(context.clone());
    }
    let done = conduct::read_done(dir, &plan)?;
    if !args.quiet {
        terminal::note(&format!(
            "{} of {} tests are done",
            done.len(),
            plan.tests().len()
        ));
    }
    measure(args, &plan, dir, done)
}

/// Whether the run in `dir` was begun as it is asked for now: it goes on as it was begun, and what is typed is not passed over.
fn begun_alike(args: &K8sRunArgs, dir: &Path) -> anyhow::Result<()> {
    let begun = conduct::read_plan(dir)?;
    let mut asked = plan::plan(&args.what)?;
    match args.what.nodes.as_slice() {
        [] => {}
        [all] if all == "all" && !begun.nodes.is_empty() => {
            asked.nodes.clone_from(&begun.nodes);
            asked.members = begun.members;
        }
        names => {
            asked.nodes = names.to_vec();
            asked.members = u32::try_from(names.len())?;
        }
    }
    asked.records = args.records.records.as_ref().map(|prefix| {
        let kept = begun.records.clone().unwrap_or_default();
        Records {
            prefix: prefix.clone(),
            cluster: args.records.cluster_name.clone().unwrap_or(kept.cluster),
            classes: kept.classes,
        }
    });
    let otherwise = begun.otherwise(&asked);
    if !otherwise.is_empty() {
        bail!(
            "{}: this run was begun otherwise ({}): ask for it as it was begun, or give another -o",
            dir.display(),
            otherwise.join("; ")
        );
    }
    Ok(())
}

/// Has the plan name the cluster and the namespace that it is carried out in, whatever a kubeconfig says later.
async fn pin(plan: &mut Plan) -> Result<Cluster, ClusterError> {
    plan.context = plan.context.take().or_else(Cluster::current_context);
    let cluster = Cluster::connect(plan.context.as_deref(), plan.namespace.as_deref()).await?;
    plan.namespace = Some(cluster.namespace().to_owned());
    Ok(cluster)
}

/// Whether the cluster answers, and has what is asked for; the storage class of each side.
async fn check(cluster: &Cluster, plan: &Plan) -> anyhow::Result<Vec<String>> {
    cluster.version().await?;
    let classes = cluster.classes().await?;
    let mut of_sides = Vec::new();
    for side in &plan.sides {
        match (side, &classes) {
            (Side::Class(name), Some(classes)) => {
                let names: Vec<&str> = classes
                    .iter()
                    .filter_map(|class| class.metadata.name.as_deref())
                    .collect();
                if !names.contains(&name.as_str()) {
                    let there = match names.as_slice() {
                        [] => String::from("it has none"),
                        some => format!("it has {}", some.join(", ")),
                    };
                    bail!("--class {name}: the cluster has no such storage class: {there}");
                }
                of_sides.push(name.clone());
            }
            (Side::Class(name), None) => of_sides.push(name.clone()),
            (Side::Claim(name), _) => {
                let Some(claim) = cluster.claim(name).await? else {
                    bail!(
                        "--claim {name}: there is no such claim in namespace {}",
                        cluster.namespace()
                    );
                };
                let spec = claim.spec.unwrap_or_default();
                of_sides.push(spec.storage_class_name.unwrap_or_default());
                let mode = spec.volume_mode;
                let is_block = mode.as_deref() == Some("Block");
                if is_block != plan.claim.block {
                    let remedy = if is_block {
                        "give --block"
                    } else {
                        "leave --block out"
                    };
                    bail!(
                        "--claim {name}: its volume mode is {}: {remedy}",
                        mode.as_deref().unwrap_or("Filesystem")
                    );
                }
            }
        }
    }
    Ok(of_sides)
}

/// The nodes that `--nodes` names.
async fn nodes(args: &WhatArgs, cluster: &Cluster) -> anyhow::Result<Vec<String>> {
    if args.nodes.iter().any(|name| name != "all") {
        return Ok(args.nodes.clone());
    }
    let labels: Vec<String> = args
        .node_selector
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let mut nodes = cluster.nodes(&labels.join(",")).await?;
    nodes.sort_unstable();
    if nodes.is_empty() {
        bail!(
            "--nodes all: no node takes pods (cordoned, tainted, or none has the labels of --node-selector)"
        );
    }
    Ok(nodes)
}

fn rbac(args: &RbacArgs) -> anyhow::Result<Exit> {
    let to = match (&args.user, &args.service_account) {
        (Some(name), _) => Some(rights::Subject::User(name.clone())),
        (None, Some(name)) => Some(rights::Subject::ServiceAccount(name.clone())),
        (None, None) => None,
    };
    let objects = rights::roles(&args.namespace, to.as_ref());
    terminal::print(&yaml::documents(&objects)?)?;
    Ok(Exit::Done)
}

/// Carries a plan out that is kept in `dir`, and says what of it could not be removed in time.
fn conduct_plan(plan: &Plan, dir: &Path, done: Vec<TestDone>, quiet: bool) -> anyhow::Result<Outcome> {
    let stop = signals::stop_flag()?;
    let told = told::Told::new(plan, quiet);
    let records = plan.records.as_ref().map(|to| stored::open(&to.prefix));
    let records = records.transpose()?;
    let outcome = wait(async {
        let cluster = Cluster::connect(plan.context.as_deref(), plan.namespace.as_deref()).await?;
        let tell = |event: &conduct::Event<'_>| told.event(event);
        carry_out(&cluster, plan, dir, done, &tell, &stop, records.as_ref()).await
    })?
    .after_touching(|| vec![format!("{} has what came of it so far", dir.display())])?;
    for (kind, name) in &outcome.left {
        terminal::warning(&format!(
            "{} {name} is still being removed: fathom k8s cleanup --run {}{} looks again",
            kind.name(),
            plan.id,
            place_of(plan)
        ));
    }
    for one in &outcome.done {
        if let (Some(why), Some(to)) = (&one.unstored, &plan.records) {
            terminal::warning(&format!(
                "{}: it is not in {}: {why}. fathom k8s run --resume {} puts it there",
                told::named(plan, one.test),
                to.prefix,
                dir.display()
            ));
        }
    }
    Ok(outcome)
}

/// Where a plan is carried out, as flags.
fn place_of(plan: &Plan) -> String {
    let flags = [("--context", &plan.context), ("--namespace", &plan.namespace)];
    let given = flags
        .into_iter()
        .filter_map(|(flag, name)| Some((flag, name.as_ref()?)));
    given.fold(String::new(), |text, (flag, name)| {
        format!("{text} {flag} {name}")
    })
}

/// Whether all that was to be done is, and is where it belongs.
fn is_whole(plan: &Plan, done: &[TestDone]) -> bool {
    let all = done.len() == plan.tests().len();
    all && done.iter().all(|one| one.is_whole() && one.unstored.is_none())
}

fn measure(args: &K8sRunArgs, plan: &Plan, dir: &Path, done: Vec<TestDone>) -> anyhow::Result<Exit> {
    let outcome = conduct_plan(plan, dir, done, args.quiet)?;
    if args.json {
        terminal::print(&told::json(plan, &outcome.done, dir)?)?;
    } else {
        terminal::print(&told::text(plan, &outcome.done))?;
        told::attach(plan, &outcome.done, dir)?;
        for step in told::steps(plan) {
            if plan.sides.len() == 1 && !plan.begins_together() {
                terminal::print(&told::each(plan, &outcome.done, dir, &step)?)?;
            } else if plan.begins_together() {
                fleet::Fleets::read(plan, &outcome.done, dir, &step)?.tell(plan, dir)?;
            } else {
                told::compare(plan, &outcome.done, dir, &step, args.quiet)?;
            }
        }
    }
    for replaced in told::replaced(plan, &outcome.done, dir)? {
        terminal::warning(&replaced);
    }
    if outcome.interrupted {
        terminal::say(&format!(
            "interrupted: fathom k8s run --resume {} goes on",
            dir.display()
        ));
        return Ok(Exit::Interrupted);
    }
    let whole = is_whole(plan, &outcome.done);
    Ok(if whole && outcome.left.is_empty() {
        Exit::Done
    } else {
        Exit::Errors
    })
}

fn clean(args: &CleanupArgs) -> anyhow::Result<Exit> {
    let run = args.run.as_deref();
    let (there, left) = wait(async {
        let cluster = Cluster::connect(args.at.context.as_deref(), args.at.namespace.as_deref()).await?;
        let there = cleanup::there(&cluster, run).await?;
        let how = if args.force {
            Removal::Forced
        } else {
            Removal::Graceful
        };
        let left = if args.dry_run {
            Vec::new()
        } else {
            cleanup::remove(&cluster, run, plan::REMOVAL, how).await?
        };
        Ok::<_, ClusterError>((there, left))
    })??;
    let word = if args.dry_run { "there is" } else { "removed" };
    let mut text = String::new();
    for (kind, name) in there.iter().filter(|object| !left.contains(object)) {
        writeln!(text, "{word} {} {name}", kind.name())?;
    }
    if there.is_empty() {
        text.push_str("nothing of fathom's is there\n");
    }
    terminal::print(&text)?;
    for (kind, name) in &left {
        terminal::warning(&format!(
            "{} {name} was deleted and is still there: something holds it (kubectl describe {0} {name}); --force removes a pod \
             whose node does not answer",
            kind.name()
        ));
    }
    Ok(if left.is_empty() { Exit::Done } else { Exit::Errors })
}
