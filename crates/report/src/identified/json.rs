//! What a disk is, as JSON.

use super::IdentifiedReport;
use fathom_identify::claim::Claim;
use fathom_identify::fit::{Counted, Credit, Direction, Handling, Occupied, Rate, Release};
use fathom_identify::held_out::{HeldOut, Pair};
use fathom_identify::nearest::Group;
use serde_json::{Value, json};

/// The document's schema, raised when a field changes its meaning or goes away.
const SCHEMA: &str = "fathom.identify/1";

pub(super) fn identified(report: &IdentifiedReport<'_>) -> String {
    let fit = report.fit;
    let best = report.groups.first();
    let document = json!({
        "schema": SCHEMA,
        "target": report.target,
        "sku": best.map(group),
        "likelihood": best.map(|best| rounded(best.likelihood)),
        "runners_up": report.groups.iter().skip(1).map(group).collect::<Vec<_>>(),
        "limits": {
            "read": direction(&fit.read),
            "write": fit.write.as_ref().map(direction),
            "together": fit.together.map(|(small, large)| json!({"small": rate(small), "large": rate(large)})),
            "shared_iops": fit.shared(false),
            "shared_bytes": fit.shared(true),
            "io_unit_bytes": match fit.unit { Counted::Unit(bytes) => Some(bytes), _ => None },
            "release": match fit.release {
                Release::Slices { .. } => "slices",
                Release::Even => "even",
                Release::NotShown => "not shown",
            },
            "slice_ns": match fit.release { Release::Slices { slice_ns } => Some(slice_ns), _ => None },
            "credit": credit(fit.credit),
        },
        "service": {
            "read": service(&fit.read),
            "write": fit.write.as_ref().map(service),
            "again_ns": fit.again_ns,
            "handling": fit.handling.map(handling),
        },
        "claim": report.claim.map(claim),
        "held_out": held_out(report.held_out),
        "measurements": fit.measurements,
        "measured_ns": fit.spent_ns,
        "model_file": report.model_file,
    });
    format!("{document:#}\n")
}

/// Further digits say nothing of a disk, and sines and logarithms differ in the last one from machine to machine.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

fn group(group: &Group) -> Value {
    json!({
        "target": group.best().words,
        "name": group.best().sku,
        "machine": group.best().machine,
        "likelihood": rounded(group.likelihood),
        "off": rounded(group.off),
        "equal": group.members.iter().skip(1).map(|one| &one.words).collect::<Vec<_>>(),
    })
}

fn rate(rate: Rate) -> Value {
    json!({
        "iops": rounded(rate.per_second),
        "bytes_per_second": rate.bytes_per_second().round(),
        "block_bytes": rate.block_bytes,
        "depth": rate.depth,
        "is_limit": rate.is_limit,
    })
}

fn direction(direction: &Direction) -> Value {
    json!({ "small": rate(direction.small), "large": rate(direction.bytes) })
}

fn service(direction: &Direction) -> Value {
    let service = &direction.service;
    json!({
        "latency_ns_p50": service.median_ns,
        "ns_per_kib": service.ns_per_kib,
        "in_order_ns_p50": service.in_order_ns,
        "quantiles_us": service.quantiles_us,
        "crowding": service.crowding.map(|crowding| json!({ "ns_per_io": crowding.ns_per_io, "most": crowding.most })),
    })
}

fn handling(handling: Handling) -> Value {
    let each = |one: Occupied| json!({ "each_ns": one.each_ns, "ns_per_kib": one.ns_per_kib });
    json!({ "read": each(handling.read), "write": handling.write.map(each) })
}

fn credit(credit: Credit) -> Value {
    match credit {
        Credit::NotMeasured { held_ns } => json!({ "seen": null, "held_ns": held_ns }),
        Credit::None { held_ns } => json!({ "seen": false, "held_ns": held_ns }),
        Credit::Spent {
            lasted_ns,
            ios,
            bytes,
            small,
            large,
        } => json!({
            "seen": true,
            "lasted_ns": lasted_ns,
            "ios": ios.round(),
            "bytes": bytes.round(),
            "small": rate(small),
            "large": rate(large),
        }),
    }
}

fn claim(claim: &Claim) -> Value {
    let limits = claim.limits.iter().map(|kept| {
        json!({
            "direction": if kept.is_write { "write" } else { "read" },
            "unit": if kept.bytes { "bytes_per_second" } else { "iops" },
            "promised": rounded(kept.promised),
            "measured": rounded(kept.measured),
            "machine_limit": kept.machine_limit.map(rounded),
            "credit_spent": kept.spent,
            "kept": kept.is_kept,
        })
    });
    json!({
        "target": claim.words,
        "kept": claim.is_kept(),
        "limits": limits.collect::<Vec<_>>(),
    })
}

fn held_out(held_out: &HeldOut) -> Value {
    let pair = |pair: Pair| json!({ "measured": rounded(pair.measured), "model": rounded(pair.modelled), "off": rounded(pair.off()) });
    json!({
        "block_bytes": held_out.block_bytes,
        "depth": held_out.depth,
        "writes": held_out.writes,
        "iops": pair(held_out.iops),
        "latency_ns_p50": pair(held_out.latency_ns_p50),
        "latency_ns_p99": pair(held_out.latency_ns_p99),
    })
}
