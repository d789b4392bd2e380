//! `fathom explain --prometheus`: a machine in production, by what a server kept of its counters.
//!
//! Data in: a server's address, an instance, a span of time. Data out: what was short, on stdout. It only brings the server's rows to the
//! analysis.

use super::disks;
use crate::args::evidence::{ExplainArgs, HistoryArgs, Moment};
use crate::commands::catalog;
use crate::exit::Exit;
use crate::terminal;
use crate::text_file::{self, Expected};
use anyhow::{Context as _, bail};
use fathom_analysis::explain::KnownDisk;
use fathom_analysis::usage::UseScan;
use fathom_core::units::Nanos;
use fathom_model::Catalog;
use fathom_report::explanation;
use fathom_web::prometheus::{Prometheus, Span};
use jiff::Timestamp;
use std::path::Path;

/// How far it is looked back, unless something is said.
const BACK: Nanos = Nanos::from_secs(3600);
/// Two readings tell nothing yet.
const SPAN_LEAST_S: u64 = 60;
const TOKEN: Expected = Expected::of("file with a token", 1);

/// Carries it out.
pub(super) fn explain(args: &ExplainArgs, url: &str, instance: &str) -> anyhow::Result<Exit> {
    let span = span_of((args.history.from, args.history.to), BACK, Timestamp::now());
    let span = span.context("--from, --to")?;
    let catalog = catalog::open(args.catalog.as_deref())?;
    let known = known(&args.history, &catalog, args.catalog.is_some())?;
    let history = server(url, args.history.prometheus_token.as_deref())?.history(instance, span)?;
    let mut scan = UseScan::default();
    scan.feed(&history.rows);
    let usage = scan.finish(&known);
    if args.json {
        terminal::print(&explanation::history_json(&usage))?;
    } else {
        let moment =
            |at_s: u64| Timestamp::from_second(i64::try_from(at_s).unwrap_or(i64::MAX)).unwrap_or_default();
        let title = format!(
            "fathom {} on {instance}, {} to {}, as {url} has it",
            env!("CARGO_PKG_VERSION"),
            moment(span.from_s),
            moment(span.to_s)
        );
        terminal::print(&explanation::history(
            &title,
            &usage,
            terminal::stdout_style(args.colour),
        ))?;
    }
    Ok(if usage.is_empty() {
        Exit::Errors
    } else {
        Exit::Done
    })
}

/// A server, and the token for it in the file that is named.
pub(crate) fn server(url: &str, token: Option<&Path>) -> anyhow::Result<Prometheus> {
    let token = token.map(|path| text_file::read(path, TOKEN)).transpose()?;
    let token = token.map(|text| text.trim().to_owned());
    if token
        .as_ref()
        .is_some_and(|token| token.is_empty() || token.chars().any(|c| !c.is_ascii_graphic()))
    {
        bail!("--prometheus-token: a token is one word of printable characters, alone in its file");
    }
    let server = Prometheus::new(url, token)?;
    // Some thirty questions, of which a busy server may take seconds for each.
    if terminal::stderr_redraws() {
        terminal::say(&format!("asking {url} (Ctrl-C ends it)"));
    }
    Ok(server)
}

/// From when to when; since `back` before now where nothing is said.
///
/// # Errors
/// It is shorter than a minute.
pub(crate) fn span_of(
    (from, to): (Option<Moment>, Option<Moment>),
    back: Nanos,
    now: Timestamp,
) -> anyhow::Result<Span> {
    let second = |moment: Moment| -> u64 {
        let at = match moment {
            Moment::At(at) => at.as_second(),
            Moment::Ago(ago) => now.as_second() - (ago.0 / 1_000_000_000) as i64,
        };
        // Before 1970 nobody scraped.
        u64::try_from(at).unwrap_or(0)
    };
    let span = Span {
        from_s: second(from.unwrap_or(Moment::Ago(back))),
        to_s: second(to.unwrap_or(Moment::Ago(Nanos::ZERO))),
    };
    if span.to_s < span.from_s + SPAN_LEAST_S {
        bail!("give a span of at least a minute, the earlier time first");
    }
    Ok(span)
}

/// The limits of the machine and the disk that were named; else those of all disks on sale, which a rate may turn out to be at.
fn known(args: &HistoryArgs, catalog: &Catalog, chose: bool) -> anyhow::Result<Vec<KnownDisk>> {
    let mut clouds: Vec<&Catalog> = vec![catalog];
    if !chose {
        let others = Catalog::names().filter_map(Catalog::named);
        for other in others.filter(|other| other.cloud() != catalog.cloud()) {
            clouds.push(other);
        }
    }
    let mut known: Vec<KnownDisk> = Vec::new();
    if let Some(name) = &args.machine {
        let vm = clouds.iter().find_map(|cloud| cloud.vm(name));
        let vm = vm.with_context(|| format!("--machine {name}: no cloud has it: see fathom catalog vms"))?;
        known.extend(disks::machine(vm, true));
    }
    let all = || clouds.iter().flat_map(|cloud| disks::disks(cloud));
    match &args.disk {
        Some(name) => {
            let own = |disk: &KnownDisk| {
                disk.name
                    .split(' ')
                    .next()
                    .is_some_and(|sku| sku.eq_ignore_ascii_case(name))
            };
            let mut own: Vec<KnownDisk> = all().filter(own).collect();
            if own.is_empty() {
                bail!(
                    "--disk {name}: no cloud has a disk of that name with fixed limits: see fathom catalog disks"
                );
            }
            own.truncate(1);
            known.extend(own.into_iter().map(|disk| KnownDisk { own: true, ..disk }));
        }
        None => known.extend(all()),
    }
    Ok(known)
}

#[cfg(test)]
mod tests;
