//! `fathom k8s record`: volumes that others use, watched from their nodes.
//!
//! Data in: claims. Data out: a recording of each. It changes nothing that the claims' users have.

use super::{conduct_plan, is_whole, pin, plan, store, told};
use crate::args::k8s::K8sRecordArgs;
use crate::exit::Exit;
use crate::stored::wait;
use crate::terminal;
use anyhow::bail;
use fathom_cluster::Cluster;
use fathom_cluster::conduct::{self, TestDone, test_dir};
use fathom_cluster::objects::RECORD_STEP;
use fathom_cluster::plan::{Plan, Watched};
use fathom_session::{Output, reserve_directory};
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn record(args: &K8sRecordArgs) -> anyhow::Result<Exit> {
    if !args.privileged {
        bail!(
            "a recorder on a node needs to be root with all privileges there, and to see the node's processes: give --privileged \
             to let it (fathom k8s record --help says what for)"
        );
    }
    let (volumes, classes): (Vec<Watched>, Vec<String>) = wait(find(args))??.into_iter().unzip();
    let mut plan = plan::watching(args, volumes)?;
    wait(pin(&mut plan))??;
    plan.records = store::records(&args.records, plan.context.as_deref(), classes)?;
    let output = args.output.clone().map_or(Output::Default, Output::Directory);
    let Some(dir) = reserve_directory(&output, "k8s")? else {
        bail!("-o none: a recording that is kept nowhere has no use");
    };
    conduct::write_plan(&dir, &plan)?;
    let outcome = conduct_plan(&plan, &dir, Vec::new(), args.quiet)?;
    if args.json {
        terminal::print(&told::json(&plan, &outcome.done, &dir)?)?;
    } else {
        terminal::print(&text(&plan, &outcome.done, &dir))?;
    }
    let whole = is_whole(&plan, &outcome.done);
    Ok(match (whole, outcome.done.is_empty()) {
        (true, _) if outcome.left.is_empty() => Exit::Done,
        // Ctrl-C ends a recording; twice, it is given up.
        (false, true) if outcome.interrupted => Exit::Interrupted,
        _ => Exit::Errors,
    })
}

/// What was recorded, and how to read it.
fn text(plan: &Plan, done: &[TestDone], dir: &Path) -> String {
    let mut text = told::text(plan, done);
    for one in done.iter().filter(|one| one.is_whole()) {
        let _written = writeln!(
            text,
            "{} on {}: fathom explain {}",
            one.side,
            one.node.as_deref().unwrap_or("?"),
            test_dir(dir, plan, one.test).join(RECORD_STEP).display()
        );
    }
    text
}

/// Where each claim is in use, and of which class it is.
async fn find(args: &K8sRecordArgs) -> anyhow::Result<Vec<(Watched, String)>> {
    let cluster = Cluster::connect(args.at.context.as_deref(), args.at.namespace.as_deref()).await?;
    let mut found = Vec::new();
    for name in &args.claims {
        let Some(claim) = cluster.claim(name).await? else {
            bail!(
                "{name}: there is no such claim in namespace {}",
                cluster.namespace()
            );
        };
        let spec = claim.spec.unwrap_or_default();
        let Some(volume) = spec.volume_name else {
            bail!("{name}: the claim is bound to no volume yet: nothing can use it");
        };
        let pods = cluster.users_of(name).await?;
        let named: Vec<String> = pods.iter().filter_map(|pod| pod.metadata.name.clone()).collect();
        let mut nodes = pods
            .into_iter()
            .filter_map(|pod| pod.spec.and_then(|spec| spec.node_name));
        let Some(node) = nodes.next() else {
            let why = match named.as_slice() {
                [] => String::from("no pod uses the claim"),
                some => format!("{} waits for a node", some.join(", ")),
            };
            bail!("{name}: {why}: its volume is at no node, and nothing is sent to it");
        };
        if let Some(other) = nodes.find(|other| *other != node) {
            terminal::warning(&format!(
                "{name}: pods use it on {node} and on {other}: what is sent to it from {node} is recorded"
            ));
        }
        let class = spec.storage_class_name.unwrap_or_default();
        let of_class = if class.is_empty() {
            String::new()
        } else {
            format!(", class {class}")
        };
        let watched = Watched {
            called: format!(
                "claim {}/{name} of pod {} on node {node}{of_class}",
                cluster.namespace(),
                named.join(", ")
            ),
            volume,
            node,
        };
        found.push((watched, class));
    }
    Ok(found)
}
