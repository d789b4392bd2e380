//! Why nothing meets a need, in words.

use super::need::bound;
use super::{mbps, thousands};
use crate::document::content::{Block, Notice};
use crate::planned::PlanReport;
use crate::words::plural;
use fathom_core::units::{Bytes, Nanos};
use fathom_plan::impossible::{Impossible, Nearest, Requirement};
use fathom_plan::plan::{Fastest, Nothing};

pub(super) fn blocks(report: &PlanReport<'_>, nothing: &Nothing) -> Vec<Block> {
    let lines: Vec<String> = lines(report, nothing);
    let mut lines = lines.into_iter();
    let first = lines.next().map(|line| Block::Notice(Notice::Failure, line));
    first.into_iter().chain([Block::List(lines.collect())]).collect()
}

/// What cannot be met, and the nearest that can: the first line says it, the others say how.
pub(crate) fn lines(report: &PlanReport<'_>, nothing: &Nothing) -> Vec<String> {
    match nothing {
        Nothing::Impossible(Impossible::Any(nearest)) => {
            let mut lines = vec![String::from(
                "No layout of the catalogue meets this need. Any one of these would make it possible:",
            )];
            lines.extend(nearest.iter().map(|one| instead(report, one)));
            lines
        }
        Nothing::Impossible(Impossible::Together(asked)) => {
            let names: Vec<&str> = asked.iter().map(|&one| flag(one)).collect();
            vec![format!(
                "No layout of the catalogue meets this need, and giving up any one requirement alone does not help: {} stand against \
                 each other, or each is more than there is.",
                names.join(", ")
            )]
        }
        Nothing::Held(tried) => vec![format!(
            "The {} cheapest layouts that carry this load by their limits were held by them in more seconds than may be when it was \
             replayed: the load comes in bursts within its seconds, or had to wait for its own disk. --growth 1.5x plans for more \
             than was seen, --percentile 99 spares more of the seconds.",
            thousands(*tried as u64)
        )],
        Nothing::TooSlow(fastest) => {
            let mut lines = vec![String::from(
                "Layouts carry this load, but on the model none is as fast. Without any queue, disks alone take:",
            )];
            lines.extend(fastest.iter().map(too_slow));
            lines
        }
    }
}

fn too_slow(fastest: &Fastest) -> String {
    let Fastest {
        family,
        bound: asked,
        latency_ns,
    } = fastest;
    format!(
        "{family}: {} where {} is asked for",
        Nanos(*latency_ns),
        bound(asked)
    )
}

const fn flag(one: Requirement) -> &'static str {
    match one {
        Requirement::Iops => "--iops",
        Requirement::Throughput => "--mbps",
        Requirement::Size => "--gib",
        Requirement::Budget => "--budget",
        Requirement::Machine => "--vm",
        Requirement::Vcpus => "--vcpus",
        Requirement::Memory => "--memory",
        Requirement::Families => "--family",
        Requirement::Caches => "--cache",
        Requirement::Stripe => "--raid0-max",
        Requirement::Region => "--region",
    }
}

fn instead(report: &PlanReport<'_>, nearest: &Nearest) -> String {
    let need = &report.plan.need;
    let money = &report.money;
    let amount = nearest.amount;
    let at_most = |asked: String, nearest: Option<String>| match nearest {
        Some(nearest) => format!("{asked} is too much: up to {nearest} can be had"),
        None => format!("{asked} cannot be met"),
    };
    match nearest.requirement {
        Requirement::Iops => at_most(
            format!("{} IOPS", thousands(need.load.ios)),
            amount.map(|ios| format!("{} IOPS", thousands(ios))),
        ),
        Requirement::Throughput => at_most(
            format!("{} MB/s", mbps(need.load.bytes)),
            amount.map(|bytes| format!("{} MB/s", mbps(bytes))),
        ),
        Requirement::Size => at_most(
            Bytes(need.size_bytes).to_string(),
            amount.map(|bytes| format!("{} GiB", thousands(bytes >> 30))),
        ),
        Requirement::Vcpus => at_most(
            plural(need.choice.machine.vcpus, "processor"),
            amount.map(|count| plural(count, "processor")),
        ),
        Requirement::Memory => at_most(
            format!("{} of memory", Bytes(need.choice.machine.memory_bytes)),
            amount.map(|bytes| format!("{} GiB", thousands(bytes >> 30))),
        ),
        Requirement::Budget => format!(
            "a budget of {0} {1} is too little: the cheapest costs {0} {2}",
            money.code,
            money.of(need.choice.budget_microusd.unwrap_or(0)),
            money.of(amount.unwrap_or(0))
        ),
        Requirement::Stripe => format!(
            "--raid0-max {} is too few{}",
            need.choice.stripe_max,
            amount.map_or_else(String::new, |count| format!(": {count} would do"))
        ),
        Requirement::Machine => format!(
            "{} lets no such load through: another machine does (leave --vm out)",
            need.choice.machine.name.as_deref().unwrap_or("the machine")
        ),
        Requirement::Families => String::from("no disk of --family does: others do (leave it out)"),
        Requirement::Caches => {
            String::from("no layout with a host's cache does: one without does (--cache none)")
        }
        Requirement::Region => String::from("nothing that is priced for --region does: leave it out"),
    }
}
