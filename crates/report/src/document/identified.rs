//! What a disk is, for people: the product, what was promised, limits, service, and how far the model is off.
//!
//! Data in: an [`IdentifiedReport`]. Data out: a document. It must not know how anything was measured, nor judge it.

use super::content::{Block, Document, Table};
use super::explained::percent;
use crate::identified::IdentifiedReport;
use crate::words::{plural, with_commas};
use fathom_core::units::{Bytes, Nanos, decimal_rate};
use fathom_identify::claim::{Claim, Kept};
use fathom_identify::fit::{Counted, Credit, Direction, Fit, Handling, Occupied, Rate, Release};
use fathom_identify::held_out::{HeldOut, Pair};
use fathom_identify::nearest::Group;

/// Members of a group that are named.
const NAMED: usize = 8;
/// A product whose limits are further off is not what was measured.
const OFF_MAX: f64 = 0.03;
/// A full credit lasts no longer than this at most clouds, in minutes.
const CREDIT_MINUTES: u64 = 40;

pub(crate) fn document(report: &IdentifiedReport<'_>) -> Document {
    let fit = report.fit;
    let mut document = Document::titled(format!("fathom identify {}", report.target));
    let answer = product(report);
    let claim = report.claim.map(verdict);
    document.add("", answer.into_iter().chain(claim).map(Block::Text));
    document.add(
        "Limits",
        [Block::Table(limits(fit)), Block::List(about_limits(report))],
    );
    document.add(
        "Service",
        [Block::Table(service(fit)), Block::List(about_service(fit))],
    );
    if let Some(claim) = report.claim {
        document.add("The claim", [Block::Table(kept(claim))]);
    }
    if report.groups.len() > 1 {
        document.add(
            "Nearest in the catalogues",
            [Block::Table(nearest(report.groups))],
        );
    }
    document.add("A load that nothing was fitted to", held_out(report.held_out));
    document.add("", [Block::Text(measured(report))]);
    document
}

/// The product, in a sentence.
fn product(report: &IdentifiedReport<'_>) -> Option<String> {
    let best = report.groups.first()?;
    let name = &best.best().words;
    let off = percent(best.off);
    if best.off > OFF_MAX {
        return Some(format!(
            "No product of the catalogues has these limits; {name} is nearest, its limits up to {off} off."
        ));
    }
    let equal: Vec<&str> = best
        .members
        .iter()
        .skip(1)
        .map(|one| one.words.as_str())
        .collect();
    let named = equal.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = equal.len().saturating_sub(NAMED);
    let equal = match (equal.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(" Equal limits, as far as was measured: {named}."),
        (false, _) => format!(" Equal limits, as far as was measured: {named} and {more} more."),
    };
    Some(format!(
        "It is {name} (likelihood {}), limits within {off}.{equal}",
        percent(best.likelihood)
    ))
}

/// Whether it delivers what was promised, in a sentence.
fn verdict(claim: &Claim) -> String {
    let writes = claim.limits.iter().any(|kept| kept.is_write);
    let spent = claim.limits.iter().any(|kept| kept.spent);
    let told = claim.limits.iter();
    let told: Vec<&Kept> = told
        .filter(|kept| kept.is_write == writes && kept.spent == spent)
        .collect();
    let short: Vec<String> = claim
        .limits
        .iter()
        .filter(|kept| !kept.is_kept)
        .map(|kept| format!("{}: {}", direction_word(kept.is_write), of_promised(kept)))
        .collect();
    let bound = claim.limits.iter().filter_map(|kept| {
        let limit = kept.machine_limit?;
        Some(format!(
            "the machine's limit of {} binds first",
            amount(limit, kept.bytes)
        ))
    });
    let mut bound: Vec<String> = bound.collect();
    bound.dedup();
    bound.sort();
    bound.dedup();
    let machine = if bound.is_empty() {
        String::new()
    } else {
        format!("; {}", bound.join(", "))
    };
    if short.is_empty() {
        let free = told.iter().filter(|kept| kept.machine_limit.is_none());
        let free: Vec<String> = free.map(|kept| of_promised(kept)).collect();
        let figures = if free.is_empty() {
            String::new()
        } else {
            format!(": {}", free.join(", "))
        };
        return format!("Delivers what a {} promises{figures}{machine}.", claim.disk);
    }
    format!(
        "Does not deliver what a {} promises: {}{machine}.",
        claim.disk,
        short.join(", ")
    )
}

fn of_promised(kept: &Kept) -> String {
    if kept.bytes {
        format!(
            "{} of {}",
            decimal_rate(kept.measured),
            decimal_rate(kept.promised)
        )
    } else {
        format!("{} of {} IOPS", whole(kept.measured), whole(kept.promised))
    }
}

fn amount(rate: f64, bytes: bool) -> String {
    if bytes {
        decimal_rate(rate)
    } else {
        format!("{} IOPS", whole(rate))
    }
}

fn whole(number: f64) -> String {
    with_commas(&format!("{number:.0}"))
}

const fn direction_word(is_write: bool) -> &'static str {
    if is_write { "writes" } else { "reads" }
}

fn directions(fit: &Fit) -> impl Iterator<Item = (&'static str, &Direction)> {
    let writes = fit.write.iter().map(|write| ("writes", write));
    [("reads", &fit.read)].into_iter().chain(writes)
}

fn at_most(rate: Rate, text: String) -> String {
    if rate.is_limit {
        text
    } else {
        format!("{text} or more")
    }
}

fn limits(fit: &Fit) -> Table {
    let row = |name: &str, small: Rate, large: Rate| {
        vec![
            name.to_owned(),
            at_most(small, whole(small.per_second)),
            at_most(large, decimal_rate(large.bytes_per_second())),
            small.depth.to_string(),
        ]
    };
    let mut rows: Vec<Vec<String>> = directions(fit)
        .map(|(name, direction)| row(name, direction.small, direction.bytes))
        .collect();
    if let Some((small, large)) = fit.together {
        rows.push(row("half of each", small, large));
    }
    if let Credit::Spent { small, large, .. } = fit.credit {
        rows.push(row("credit spent", small, large));
    }
    Table::new(1, ["", "IOPS", "bytes/s", "at depth"], rows)
}

fn about_limits(report: &IdentifiedReport<'_>) -> Vec<String> {
    let fit = report.fit;
    let mut lines = Vec::new();
    if let Some(handling) = fit.handling {
        lines.push(handled(handling));
    }
    match fit.release {
        Release::Slices { slice_ns } => {
            lines.push(format!("Released in time slices of {}.", Nanos(slice_ns)));
        }
        Release::Even => lines.push(String::from("Released evenly: each I/O at a time of its own.")),
        Release::NotShown => lines.push(String::from(
            "How limits are released does not show: none was reached with small I/Os.",
        )),
    }
    lines.push(match fit.unit {
        Counted::Unit(bytes) => format!("{} count as one I/O.", Bytes(bytes)),
        Counted::Any => String::from("An I/O costs the same whatever its size, up to 1 MiB."),
        Counted::NotShown => String::from(
            "What counts as one I/O does not show: bytes bind before large I/Os could count as several.",
        ),
    });
    match (fit.shared(false), fit.shared(true)) {
        (Some(true), Some(true)) => lines.push(String::from("Reads and writes share their limits.")),
        (Some(false), Some(false)) => lines.push(String::from("Reads and writes have limits of their own.")),
        (iops, bytes) => {
            for (what, shared) in [("on IOPS", iops), ("on bytes", bytes)] {
                lines.extend(shared.map(|shared| {
                    let how = if shared {
                        "share one limit"
                    } else {
                        "have limits of their own"
                    };
                    format!("Reads and writes {how} {what}.")
                }));
            }
        }
    }
    lines.push(credit(fit.credit));
    lines
}

fn handled(handling: Handling) -> String {
    let each = |name: &str, one: Occupied| {
        format!(
            "{name} {} and {} more for each KiB",
            Nanos(one.each_ns),
            Nanos(one.ns_per_kib)
        )
    };
    let write = handling.write.map(|write| each("writes", write));
    let times: Vec<String> = [each("reads", handling.read)].into_iter().chain(write).collect();
    format!(
        "These are no limits on I/Os and on bytes: I/Os are handled one after the other, and time for an I/O and for its bytes adds up \
         ({}).",
        times.join(", ")
    )
}

fn credit(credit: Credit) -> String {
    match credit {
        Credit::NotMeasured { held_ns } => format!(
            "Whether the rates are on credit was not measured: they held for {}. --credit --time {CREDIT_MINUTES}m measures it, at \
             full load until they fall.",
            seconds(held_ns)
        ),
        Credit::None { held_ns } => format!(
            "No credit shows: at full load the rates held for {}; one that lasts longer would take a longer --time.",
            seconds(held_ns)
        ),
        Credit::Spent {
            lasted_ns,
            ios,
            bytes,
            ..
        } => {
            let mut what = Vec::new();
            if ios > 0.0 {
                what.push(format!("{} I/Os", whole(ios)));
            }
            if bytes > 0.0 {
                what.push(format!("{:.1} GB", bytes / 1e9));
            }
            format!(
                "The rates are on credit: it lasted {} at full load, {} above the lower limits.",
                seconds(lasted_ns),
                what.join(" and ")
            )
        }
    }
}

fn seconds(ns: u64) -> String {
    Nanos(ns / 1_000_000_000 * 1_000_000_000).to_string()
}

fn service(fit: &Fit) -> Table {
    let rows = directions(fit).map(|(name, direction)| {
        let service = &direction.service;
        let at = |percent: f64| {
            let found = service
                .quantiles_us
                .iter()
                .find(|one| (one.0 - percent).abs() < 0.01);
            found.map_or_else(String::new, |one| Nanos((one.1 * 1e3) as u64).to_string())
        };
        vec![
            name.to_owned(),
            at(5.0),
            at(50.0),
            at(95.0),
            Nanos(service.ns_per_kib).to_string(),
        ]
    });
    Table::new(
        1,
        ["4 KiB, one at a time", "p5", "p50", "p95", "each KiB more"],
        rows,
    )
}

fn about_service(fit: &Fit) -> Vec<String> {
    let mut lines: Vec<String> = directions(fit)
        .filter_map(|(name, direction)| {
            let in_order = direction.service.in_order_ns?;
            Some(format!(
                "In order {name} take {}: the rest is the way to the place.",
                Nanos(in_order)
            ))
        })
        .collect();
    for (name, direction) in directions(fit) {
        lines.extend(direction.service.crowding.map(|crowding| {
            format!(
                "Each other I/O in flight adds {} to {name}, at most {}.",
                Nanos(crowding.ns_per_io),
                plural(u64::from(crowding.most), "other")
            )
        }));
    }
    lines.push(match fit.again_ns {
        Some(again) => format!(
            "A cache is between: what was just read takes {} to read again.",
            Nanos(again)
        ),
        None => String::from("No cache of reads shows."),
    });
    lines
}

fn kept(claim: &Claim) -> Table {
    let rows = claim.limits.iter().map(|kept| {
        vec![
            format!(
                "{}{}",
                direction_word(kept.is_write),
                if kept.spent { ", credit spent" } else { "" }
            ),
            amount(kept.promised, kept.bytes),
            kept.machine_limit
                .map_or_else(|| String::from("–"), |limit| amount(limit, kept.bytes)),
            amount(kept.measured, kept.bytes),
            String::from(if kept.is_kept { "yes" } else { "no" }),
        ]
    });
    Table::new(1, ["", "promised", "machine", "measured", "kept"], rows)
}

fn nearest(groups: &[Group]) -> Table {
    let rows = groups.iter().map(|group| {
        let more = group.members.len() - 1;
        vec![
            group.best().words.clone(),
            if more == 0 {
                String::from("–")
            } else {
                more.to_string()
            },
            percent(group.off),
            percent(group.likelihood),
        ]
    });
    Table::new(1, ["product", "equals", "limits off", "likelihood"], rows)
}

fn held_out(held: &HeldOut) -> Vec<Block> {
    let what = if held.writes {
        "half reads, half writes"
    } else {
        "reads"
    };
    let load = format!(
        "Random {what} of {}, {} at a time:",
        Bytes(u64::from(held.block_bytes)),
        held.depth
    );
    let row = |name: &str, pair: Pair, write: &dyn Fn(f64) -> String| {
        vec![
            name.to_owned(),
            write(pair.measured),
            write(pair.modelled),
            format!("{:+.1} %", pair.off() * 100.0),
        ]
    };
    let time = |ns: f64| Nanos(ns as u64).to_string();
    let rows = [
        row("IOPS", held.iops, &whole),
        row("latency, median", held.latency_ns_p50, &time),
        row("latency, p99", held.latency_ns_p99, &time),
    ];
    vec![
        Block::Text(load),
        Block::Table(Table::new(1, ["", "disk", "model", "model off"], rows)),
    ]
}

/// What it took, and where the model is.
fn measured(report: &IdentifiedReport<'_>) -> String {
    let fit = report.fit;
    let took = format!(
        "{} in {}.",
        plural(fit.measurements as u64, "measurement"),
        seconds(fit.spent_ns)
    );
    match report.model_file {
        Some(path) => format!("{took} The model: --on model:{path}"),
        None => format!("{took} -o FILE.toml writes the model, for --on model:FILE.toml."),
    }
}
