//! Plans as JSON and as a table of values.

use super::{PairReport, PlanReport, SeenReport};
use crate::document::plan::{binding_words, command};
use fathom_core::histogram::Histogram;
use fathom_plan::explain::Explained;
use fathom_plan::judge::{Binding, Rates, Share};
use fathom_plan::layout::GIB;
use fathom_plan::need::{MILLION, Need};
use fathom_plan::plan::Proven;
use fathom_plan::replay::Replayed;
use fathom_plan::search::Answer;
use fathom_plan::seen::{Amounts, Recording, Source};
use fathom_plan::setup::Lasts;
use serde_json::{Value, json};

/// The documents' schema, raised when a field changes its meaning or goes away.
const SCHEMA: &str = "fathom.plan/1";

/// Percentiles of seconds that are told.
const BUSIEST: [(f64, &str); 5] = [
    (50.0, "p50"),
    (90.0, "p90"),
    (99.0, "p99"),
    (99.9, "p99_9"),
    (100.0, "max"),
];

/// Percentiles of latency that are told.
const PERCENTILES: [(f64, &str); 4] = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99"), (99.9, "p99_9")];

pub(super) fn plan(report: &PlanReport<'_>) -> String {
    let plan = report.plan;
    let layouts = |layouts: &[Proven<'_>]| -> Vec<Value> {
        layouts.iter().map(|one| proven(one, &plan.need)).collect()
    };
    let document = json!({
        "schema": SCHEMA,
        "need": need(&plan.need),
        "recorded": report.seen.as_ref().map(recorded),
        "present": report.present.map(|one| proven(one, &plan.need)),
        "layouts": layouts(&plan.layouts),
        "on_credit": layouts(&plan.on_credit),
        "front": plan.front.iter().map(|one| answer(one, &plan.need)).collect::<Vec<_>>(),
        "why_none": report.why_none(),
        "left_out": {
            "machines_without_price": plan.without_price,
            "machines_without_limit": plan.without_limit,
            "layouts_too_slow": plan.too_slow,
            "families_without_limit": plan.not_stated.iter().map(|family| family.key()).collect::<Vec<_>>(),
        },
        "prices": report.prices,
    });
    format!("{document:#}\n")
}

pub(super) fn pairs(report: &PairReport<'_>) -> String {
    let document = json!({
        "schema": SCHEMA,
        "need": need(report.need),
        "layouts": report.layouts.iter().map(|one| explained(one, report.need)).collect::<Vec<_>>(),
        "prices": report.prices,
    });
    format!("{document:#}\n")
}

fn usd(microusd: u64) -> f64 {
    microusd as f64 / 1e6
}

fn need(need: &Need) -> Value {
    let load = &need.load;
    json!({
        "iops": load.ios,
        "bytes_per_second": load.bytes,
        "block_bytes": match load.ios {
            0 => load.otherwise_block_bytes,
            _ => load.block_bytes(),
        },
        "read_percent": load.read_ppm as f64 * 100.0 / MILLION as f64,
        "size_bytes": need.size_bytes,
        "working_set_bytes": (load.working_set_bytes != u64::MAX).then_some(load.working_set_bytes),
        "lasts_seconds": match load.lasts {
            Lasts::Always | Lasts::AsSeen(_) => None,
            Lasts::Seconds(seconds) => Some(seconds),
        },
        "latency": need.latency.iter().map(|bound| json!({
            "percentile": bound.percentile,
            "below_ns": bound.below_ns,
        })).collect::<Vec<_>>(),
    })
}

fn answer(answer: &Answer<'_>, need: &Need) -> Value {
    let (layout, cost, judged) = (&answer.layout, &answer.cost, &answer.judged);
    let parts = cost.parts.iter().map(|part| {
        json!({
            "what": part.what.words(),
            "usd_month": part.microusd_month.map(usd),
        })
    });
    let mut value = json!({
        "target": layout.target(),
        "machine": layout.machine.map(|vm| &vm.name),
        "family": layout.disk.family().name(),
        "disk": layout.disk.sku(),
        "count": layout.count,
        "cache": layout.cache.word(),
        "usd_month": usd(cost.microusd_month()),
        "disks_usd_month": usd(cost.disks_microusd_month()),
        "vm_usd_month": cost.machine_microusd_month().map(usd),
        "cost": parts.collect::<Vec<_>>(),
        "iops": judged.sustained.iops,
        "bytes_per_second": judged.sustained.bytes_per_second,
        "gib": layout.size_bytes() as f64 / GIB as f64,
        "burst": judged.burst.as_ref().map(|burst| {
            let Rates { iops, bytes_per_second } = burst.rates;
            json!({
                "iops": iops,
                "bytes_per_second": bytes_per_second,
                "full_seconds": burst.full_seconds,
            })
        }),
        "lasts_seconds": judged.lasts_seconds,
        "binding": judged.binding().map(share),
        "headroom": judged.headroom(),
        "limits": judged.shares.iter().map(share).collect::<Vec<_>>(),
        "iodepth": judged.in_flight,
    });
    if need.load.ios > 0 {
        value["verify"] = json!(command(layout, &need.load));
    }
    value
}

fn proven(one: &Proven<'_>, need: &Need) -> Value {
    let mut value = answer(&one.answer, need);
    if let Some(proof) = &one.proof {
        value["model"] = json!({
            "iops": proof.ios_per_second,
            "bytes_per_second": proof.bytes_per_second,
            "latency_ns": latency(&proof.latency),
            "replay": proof.replayed.as_deref().map(replayed),
        });
    }
    value
}

/// What was recorded.
fn recorded(report: &SeenReport<'_>) -> Value {
    let one = |recording: &Recording| {
        let seen = &recording.seen;
        let total = seen.total();
        let by = |of: fn(&Amounts) -> u64| -> Value {
            let each = BUSIEST.iter();
            each.map(|&(percent, name)| (name.to_owned(), json!(seen.percentile(percent, of))))
                .collect::<serde_json::Map<String, Value>>()
                .into()
        };
        json!({
            "name": recording.name,
            "from": match seen.source {
                Source::Requests => "requests",
                Source::Ios => "ios",
                Source::Counters => "counters",
                Source::Series => "series",
                Source::Sums => "sums",
            },
            "devices": recording.devices,
            "seconds": seen.seconds(),
            "reads": total.reads,
            "writes": total.writes,
            "read_bytes": total.read_bytes,
            "write_bytes": total.write_bytes,
            "flushes": seen.flushes,
            "discards": seen.discards,
            "waited": seen.source.has_ios().then_some(seen.waited),
            "in_flight": seen.in_flight(),
            "touched_bytes": seen.source.has_ios().then(|| seen.touched_bytes()),
            "end_bytes": seen.source.has_ios().then_some(seen.end_bytes),
            "dropped": recording.dropped,
            "iops": by(Amounts::ios),
            "bytes_per_second": by(Amounts::bytes),
            "latency_ns": seen.source.has_ios().then(|| latency(&seen.latency)),
        })
    };
    json!({
        "percentile": report.percent,
        "recordings": report.recordings.iter().map(|recording| one(recording)).collect::<Vec<_>>(),
    })
}

/// What a replay came to.
fn replayed(replayed: &Replayed) -> Value {
    json!({
        "seconds": replayed.seconds,
        "throttled_seconds": replayed.throttled_seconds,
        "given_up_seconds": replayed.given_up_seconds,
        "late_ns": replayed.late_ns,
        "read_latency_ns": latency(&replayed.reads),
        "write_latency_ns": latency(&replayed.writes),
        "held_ns": replayed
            .held
            .iter()
            .map(|held| (held.limit.clone(), json!(held.held_ns)))
            .collect::<serde_json::Map<String, Value>>(),
    })
}

fn latency(histogram: &Histogram) -> Value {
    let mut latency: serde_json::Map<String, Value> = PERCENTILES
        .iter()
        .map(|&(percentile, name)| (name.to_owned(), json!(histogram.percentile(percentile))))
        .collect();
    latency.insert(String::from("mean"), json!(histogram.mean()));
    latency.into()
}

fn share(share: &Share) -> Value {
    let kind = match share.of {
        Binding::Limit(_) => "limit",
        Binding::Credit(_) => "burst credit",
        Binding::Size => "size",
    };
    json!({
        "limit": binding_words(share.of),
        "kind": kind,
        "used": share.used,
        "allows": share.allows,
        "share": share.part(),
    })
}

fn explained(one: &Explained<'_>, need: &Need) -> Value {
    let mut value = answer(&one.answer, need);
    value["binds"] = json!({
        "iops": one.binds_iops.map(fathom_plan::rules::Limit::words),
        "bytes_per_second": one.binds_bytes.map(fathom_plan::rules::Limit::words),
    });
    let idle = one.idle.iter().map(|idle| {
        json!({
            "limit": idle.limit.words(),
            "has": idle.has,
            "passes": idle.passes,
            "held_by": idle.held_by.words(),
        })
    });
    value["never_used"] = idle.collect();
    let changes = one.changes.iter().map(|change| {
        json!({
            "to": answer(&change.answer, need),
            "usd_month_more": change.microusd_more as f64 / 1e6,
        })
    });
    value["changes"] = changes.collect();
    value["replaces"] = one.replaces.iter().map(|other| answer(other, need)).collect();
    value["replaces_smaller"] = one
        .replaces_smaller
        .iter()
        .map(|other| answer(other, need))
        .collect();
    value
}

/// A row a layout.
pub(super) fn csv(report: &PlanReport<'_>) -> String {
    let mut text = String::from(
        "target,usd_month,disks_usd_month,vm_usd_month,iops,bytes_per_second,size_gib,binding,headroom,latency_ns_p99\n",
    );
    let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    for one in &report.plan.layouts {
        let Answer { layout, cost, judged } = &one.answer;
        let p99 = one.proof.as_ref().map(|proof| proof.latency.percentile(99.0));
        let cells = [
            format!("\"{}\"", layout.target()),
            format!("{:.6}", usd(cost.microusd_month())),
            format!("{:.6}", usd(cost.disks_microusd_month())),
            cost.machine_microusd_month()
                .map_or_else(String::new, |machine| format!("{:.6}", usd(machine))),
            number(judged.sustained.iops),
            number(judged.sustained.bytes_per_second),
            (layout.size_bytes() / GIB).to_string(),
            judged
                .binding()
                .map_or_else(String::new, |share| binding_words(share.of)),
            judged
                .headroom()
                .map_or_else(String::new, |room| format!("{room:.4}")),
            number(p99),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}
