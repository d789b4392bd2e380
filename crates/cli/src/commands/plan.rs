//! `fathom plan`: the cheapest disks and machine that meet a need, and what limits a layout.
//!
//! Data in: a need as typed, the catalogue. Data out: the plan as text, JSON and files. It only brings the need to the planner and
//! the answer to where it is put into words.

mod ask;
mod from;

use crate::args::plan::{EmitWord, PlanArgs};
use crate::commands::{catalog, report};
use crate::exit::Exit;
use crate::stored;
use crate::terminal;
use anyhow::bail;
use fathom_door::output;
use fathom_model::Catalog;
use fathom_plan::explain;
use fathom_plan::layout::{Layout, LayoutError};
use fathom_plan::need::{Assumed, Load, Need};
use fathom_plan::plan::{Plan, Proven, Wanted};
use fathom_plan::prove::{Proof, prove};
use fathom_plan::{plan, search};
use fathom_report::Format;
use fathom_report::emit::{Tool, emit};
use fathom_report::planned::{Currency, PairReport, PlanReport, SeenReport};
pub(crate) use from::seen_of;
use from::{Recorded, Replays};
use std::cell::RefCell;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Layouts on which a recording is replayed, at most.
const REPLAYED: usize = 40;

/// Carries `fathom plan` out.
pub(crate) fn plan(args: &PlanArgs) -> anyhow::Result<Exit> {
    let outputs = report::formats(&args.outputs)?;
    for (path, _) in &outputs {
        output::check(path, args.force)?;
    }
    let own = &*catalog::open(args.catalog.as_deref())?;
    let priced = ask::priced(args, &ask::catalogs(args, own)?);
    let catalogs: &[&Catalog] = &priced.iter().map(|catalog| &**catalog).collect::<Vec<_>>();
    let catalog = catalogs[0];
    let layouts = args.explain.iter().chain(&args.compare);
    let layouts: Vec<&String> = layouts.collect();
    if layouts.is_empty() {
        return answer(args, catalogs, &outputs);
    }
    if let (Some(word), Some(text)) = (args.emit, &args.explain) {
        return emitted(&named("--explain", text, catalog)?, word);
    }
    if args.explain.is_none() && layouts.len() < 2 {
        bail!(
            "--compare {}: with what? Give a second layout; --explain tells of one alone",
            layouts[0]
        );
    }
    if !outputs.is_empty() {
        bail!("-o: --explain and --compare are told on stdout only: leave -o out");
    }
    pairs(args, catalogs, &layouts)
}

/// Finds layouts and tells them.
fn answer(args: &PlanArgs, catalogs: &[&Catalog], outputs: &[(&Path, Format)]) -> anyhow::Result<Exit> {
    let catalog = catalogs[0];
    let present = args
        .current
        .as_deref()
        .map(|text| named("--current", text, catalog))
        .transpose()?;
    let wanted = Wanted {
        layouts: ask::listed(args)?,
        tried: plan::TRIED,
        on_credit: !args.no_burst,
        front: args.emit.is_none() || !outputs.is_empty(),
    };
    if args.from.is_empty() && args.prometheus.is_none() {
        for (flag, given) in [
            ("--percentile", args.percentile.is_some()),
            ("--device", args.device.is_some()),
        ] {
            if given {
                bail!(
                    "{flag} is about a recording: give one with --from RUN, or a server's with --prometheus URL"
                );
            }
        }
        let asked = beside(ask::need(args, catalogs)?, present.as_ref());
        let proofs = |layouts: &[Layout<'_>], load: &Load| proofs(layouts, load, catalog);
        let plan = plan::plan(catalogs, asked, wanted, &proofs)?;
        let present = present
            .map(|layout| stands(layout, &plan.need, catalog))
            .transpose()?;
        return told(args, catalogs, outputs, &plan, present.as_ref(), None);
    }
    let recorded = if let Some(url) = &args.prometheus {
        vec![Recorded::of_server(args, url)?]
    } else {
        let mut opened = Vec::new();
        for path in &args.from {
            if stored::is_prefix(path) {
                opened.extend(Recorded::of_prefix(path, args.device.as_deref())?);
            } else {
                opened.push(Recorded::open(path, args.device.as_deref())?);
            }
        }
        opened
    };
    let asked = beside(ask::need_of_seen(args, catalogs, &recorded)?, present.as_ref());
    let replays = Replays {
        recorded: &recorded,
        catalog,
        growth_permille: args.growth.unwrap_or(1_000),
        present,
        present_proof: RefCell::new(None),
        quiet: args.quiet,
    };
    let wanted = Wanted {
        tried: REPLAYED.max(wanted.layouts),
        ..wanted
    };
    let prove = |layouts: &[Layout<'_>], _: &Load| replays.prove(layouts);
    let plan = plan::plan(catalogs, asked, wanted, &prove)?;
    let present = present
        .map(|layout| replays.stands(layout, &plan.need))
        .transpose()?;
    let seen = SeenReport {
        recordings: recorded
            .iter()
            .filter(|one| one.replayed)
            .map(|one| &one.recording)
            .collect(),
        percent: ask::percentile(args),
    };
    told(args, catalogs, outputs, &plan, present.as_ref(), Some(seen))
}

/// A need beside what stands: on no smaller a machine, unless one is asked for.
fn beside(
    (mut need, mut assumed): (Need, Vec<Assumed>),
    present: Option<&Layout<'_>>,
) -> (Need, Vec<Assumed>) {
    let machine = present.and_then(|layout| layout.machine);
    assumed.extend(machine.and_then(|vm| need.at_least(vm)));
    (need, assumed)
}

/// Tells a plan on stdout and in files.
fn told(
    args: &PlanArgs,
    catalogs: &[&Catalog],
    outputs: &[(&Path, Format)],
    plan: &Plan<'_>,
    present: Option<&Proven<'_>>,
    seen: Option<SeenReport<'_>>,
) -> anyhow::Result<Exit> {
    let report = PlanReport {
        plan,
        present,
        seen,
        prices: prices(catalogs, plan),
        money: money(args),
        version: env!("CARGO_PKG_VERSION"),
    };
    for (path, format) in outputs {
        output::leave(path, report.render(*format).as_bytes(), args.force)?;
        if !args.quiet {
            terminal::say(&format!("wrote {}", path.display()));
        }
    }
    if args.json {
        terminal::print(&report.json())?;
    } else if let (Some(word), false) = (args.emit, plan.layouts.is_empty()) {
        let number = args.pick.unwrap_or(1);
        let there = plan.layouts.len();
        let picked = usize::try_from(number)
            .ok()
            .and_then(|number| plan.layouts.get(number.checked_sub(1)?));
        let Some(picked) = picked else {
            bail!("--pick {number}: there are {there} layouts in the list: 1 to {there} can be picked");
        };
        return emitted(&picked.answer.layout, word);
    } else if let Some(why) = report.why_none() {
        bail!("{why}");
    } else {
        terminal::print(&report.text(terminal::stdout_style(args.colour)))?;
    }
    // Whoever asks in JSON is told there.
    Ok(if plan.layouts.is_empty() {
        Exit::Wrong
    } else {
        Exit::Done
    })
}

/// Prints what creates a layout, where its prices hold.
fn emitted(layout: &Layout<'_>, word: EmitWord) -> anyhow::Result<Exit> {
    let tool = match word {
        EmitWord::Az => Tool::CommandLine,
        EmitWord::Terraform => Tool::Terraform,
        EmitWord::StorageClass => Tool::StorageClass,
        EmitWord::Mdadm => Tool::Mdadm,
    };
    let (region, _) = layout.disk.offer.priced();
    terminal::print(&emit(layout, tool, region)?)?;
    Ok(Exit::Done)
}

/// A layout of the command line.
fn named<'a>(flag: &str, text: &str, catalog: &'a Catalog) -> anyhow::Result<Layout<'a>> {
    let words = text.trim().strip_prefix("model:").unwrap_or(text.trim());
    if crate::model_target::is_model_file(words) {
        bail!(
            "{flag} {text}: a layout is what can be rented, as azure/P15,vm=Standard_D4s_v5; a model file is not"
        );
    }
    Layout::named(words, catalog).map_err(|error| anyhow::anyhow!("{flag} {text}: {error}"))
}

/// What stands at present, under the load.
fn stands<'a>(layout: Layout<'a>, need: &Need, catalog: &Catalog) -> Result<Proven<'a>, LayoutError> {
    let proof = match need.load.ios {
        0 => None,
        _ => Some(prove(&layout, &need.load, catalog)?),
    };
    Ok(Proven {
        answer: search::answer(layout, need),
        proof,
    })
}

/// Carries the load out on each layout, as many at a time as there are processors.
fn proofs(layouts: &[Layout<'_>], load: &Load, catalog: &Catalog) -> Result<Vec<Proof>, LayoutError> {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(layouts.len().max(1));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Proof, LayoutError>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let number = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(layout) = layouts.get(number)
                {
                    let proof = prove(layout, load, catalog);
                    done.lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((number, proof));
                }
            });
        }
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, proof)| proof).collect()
}

/// Tells layouts one by one and side by side.
fn pairs(args: &PlanArgs, catalogs: &[&Catalog], texts: &[&String]) -> anyhow::Result<Exit> {
    let catalog = catalogs[0];
    let (need, _) = ask::need_or_kind(args, catalogs)?;
    let flag = if args.explain.is_some() {
        "--explain"
    } else {
        "--compare"
    };
    let layouts = texts.iter().map(|text| named(flag, text, catalog));
    let layouts = layouts.collect::<anyhow::Result<Vec<Layout<'_>>>>()?;
    let explained: Vec<_> = layouts
        .into_iter()
        .map(|layout| explain::explain(layout, &need, catalog.of_cloud(layout.cloud).unwrap_or(catalog)))
        .collect();
    let report = PairReport {
        layouts: &explained,
        need: &need,
        prices: from(explained.iter().map(|one| &one.answer)),
        money: money(args),
    };
    if args.json {
        terminal::print(&report.json())?;
    } else {
        terminal::print(&report.text(terminal::stdout_style(args.colour)))?;
    }
    Ok(Exit::Done)
}

fn money(args: &PlanArgs) -> Currency {
    match &args.currency {
        None => Currency::default(),
        Some((code, per_usd)) => Currency {
            code: code.clone(),
            per_usd: *per_usd,
        },
    }
}

/// Where the prices of a plan are from.
fn prices(catalogs: &[&Catalog], plan: &Plan<'_>) -> String {
    if plan.layouts.is_empty() {
        let clouds: Vec<&str> = catalogs.iter().map(|catalog| catalog.cloud()).collect();
        return format!(
            "Prices of {}: none (sources: fathom catalog sources).",
            clouds.join(", ")
        );
    }
    from(plan.layouts.iter().map(|one| &one.answer))
}

/// Regions and dates of prices, and what they are.
fn from<'a>(answers: impl Iterator<Item = &'a search::Answer<'a>>) -> String {
    let mut origins: Vec<(&str, &str, &str, &str)> = Vec::new();
    let mut add = |cloud, what, region, date| {
        if !origins.contains(&(cloud, what, region, date)) {
            origins.push((cloud, what, region, date));
        }
    };
    for answer in answers {
        let cloud = answer.layout.cloud;
        if let Some(vm) = answer.layout.machine {
            add(cloud, "machines", &*vm.price_region, &*vm.price_date);
        }
        let (region, date) = answer.layout.disk.offer.priced();
        add(cloud, "disks", region, date);
    }
    origins.sort_unstable();
    origins.retain(|(_, _, region, _)| !region.is_empty());
    let of_cloud = |some: &[(&str, &str, &str, &str)]| {
        let each = some.iter().map(|(_, what, region, date)| {
            let date = if date.is_empty() { "no stated date" } else { date };
            format!("{what} in {region} of {date}")
        });
        format!("{}: {}", some[0].0, each.collect::<Vec<_>>().join(", "))
    };
    let clouds = origins.chunk_by(|one, other| one.0 == other.0).map(of_cloud);
    let clouds: Vec<String> = clouds.collect();
    format!(
        "Prices in US dollars, Linux, before discounts; {} (sources: fathom catalog sources).",
        if clouds.is_empty() {
            String::from("none")
        } else {
            clouds.join("; ")
        }
    )
}
