//! `fathom identify`: what a disk is.
//!
//! Data in: arguments as typed. Data out: the answer on stdout, a model file, on this machine a directory with each measurement.
//! All that may refuse comes before anything is touched. It only brings the target to who measures, and what came out to who
//! judges it and puts it into words.

mod load;

use crate::args::identify::IdentifyArgs;
use crate::commands::catalog;
use crate::exit::Exit;
use crate::model_target;
use crate::target::{self, Target};
use crate::terminal::live::Live;
use crate::terminal::{self, signals};
use anyhow::{Context, bail};
use fathom_core::units::{Bytes, Nanos};
use fathom_door::output;
use fathom_engine::plan::Kind;
use fathom_identify::candidates::Search;
use fathom_identify::probe::SECOND_NS;
use fathom_identify::{Fit, Mix, Options, Probe, Purpose, Schedule, claim, held_out, nearest, spec};
use fathom_model::{Catalog, Spec};
use fathom_observe::SystemRoot;
use fathom_report::identified::IdentifiedReport;
use fathom_session::identify::{Identification, modelled};
use fathom_session::{AfterTouching as _, Output, Planned, Session, Streams, reserve_directory};
use std::path::Path;

/// The most I/Os in flight on this machine: more take memory and processors, and no disk that is sold needs them.
const DEPTH_MAX: u32 = 256;
/// On this machine a rate takes so long to tell.
const RATE_NS_MIN: u64 = 2 * SECOND_NS;
/// Time for all measurements.
const TIME: Nanos = Nanos::from_secs(300);

/// What was measured.
struct Measured {
    schedule: Schedule,
    /// What a model of it holds.
    capacity_bytes: u64,
    /// Where the disk itself has a size.
    size_bytes: Option<u64>,
}

/// Carries `fathom identify` out.
pub(crate) fn identify(args: &IdentifyArgs) -> anyhow::Result<Exit> {
    if let Some(path) = &args.output {
        let toml = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        if !toml {
            let path = path.display();
            bail!(
                "-o {path}: a model file ends in .toml, so that --on model:FILE.toml knows it: -o {path}.toml"
            );
        }
        output::check(path, args.force)?;
    }
    let own = &*catalog::open(args.catalog.as_deref())?;
    let catalogs: Vec<&Catalog> = Catalog::names().filter_map(|cloud| own.of_cloud(cloud)).collect();
    let mut catalogs = catalogs;
    if !catalogs.iter().any(|known| known.cloud() == own.cloud()) {
        catalogs.push(own);
    }
    let claimed = claimed(args, own)?;
    let vm = args.vm.clone().or_else(|| {
        claimed
            .as_ref()
            .and_then(|(_, spec)| Some(spec.vm.as_ref()?.name.clone()))
    });
    if let Some(name) = &vm
        && catalogs.iter().all(|catalog| catalog.vm(name).is_none())
    {
        bail!("--vm {name}: no catalogue has such a machine: fathom catalog vms lists them");
    }
    let target = target::resolve(&args.target).context("identify")?;
    let words = args.target.to_string_lossy().into_owned();
    let measured = match &target {
        Target::Null => bail!("null: is no disk: give a file, a directory, a device or model:NAME"),
        Target::Model(model) => in_virtual_time(args, model)?,
        Target::File(_) | Target::Directory(_) => here(args, &target)?,
    };
    let Some(measured) = measured else {
        return Ok(Exit::Interrupted);
    };
    let search = Search {
        catalogs: &catalogs,
        vm: vm.as_deref(),
        machines: true,
    };
    told(args, &words, &measured, claimed.as_ref(), search).after_touching(Vec::new)
}

/// What was promised: in words, and as a specification.
fn claimed(args: &IdentifyArgs, own: &Catalog) -> anyhow::Result<Option<(String, Spec)>> {
    let Some(words) = &args.claims else {
        return Ok(None);
    };
    let mut words = words.trim().trim_start_matches("model:").to_owned();
    if let Some(vm) = &args.vm
        && !words.contains("vm=")
    {
        words = format!("{words},vm={vm}");
    }
    let spec = fathom_model::target::parse(&words, own);
    let spec = spec.with_context(|| format!("--claims {words}"))?;
    Ok(Some((words, spec)))
}

fn options(args: &IdentifyArgs, depth_max: u32, rate_ns_min: u64) -> Options {
    Options {
        readonly: args.readonly,
        credit: args.credit,
        time_ns: args.time.unwrap_or(TIME).0,
        depth_max,
        rate_ns_min,
    }
}

fn in_virtual_time(args: &IdentifyArgs, words: &str) -> anyhow::Result<Option<Measured>> {
    for (flag, given) in [("--size", args.size.is_some()), ("--keep", args.keep.is_some())] {
        if given {
            bail!("{flag} is for files: a modelled disk touches nothing");
        }
    }
    let spec = model_target::load(words, args.catalog.as_deref())?;
    let stop = signals::stop_flag()?;
    let default = Options::default();
    let mut schedule = Schedule::new(options(args, default.depth_max, default.rate_ns_min));
    let whole = modelled(&mut schedule, &spec, &stop, &mut progress(args.shown.quiet));
    Ok(whole.then(|| Measured {
        schedule,
        capacity_bytes: spec.volume_bytes(),
        size_bytes: Some(spec.volume_bytes()),
    }))
}

fn here(args: &IdentifyArgs, target: &Target) -> anyhow::Result<Option<Measured>> {
    let loads = load::Loads::new(args, target)?;
    let system = SystemRoot::default();
    let whole = loads.whole()?;
    let mut planned = Planned::new(&whole)?;
    let Some(file) = planned.plan.files.first() else {
        bail!("{}: nothing to measure", args.target.display());
    };
    let capacity_bytes = file.size_needed;
    let is_device = file.kind != Kind::Regular;
    let path = file.path.display().to_string();
    if args.readonly && file.changes_size() {
        bail!("{path}: there is nothing to read: without --readonly, fathom makes a file there");
    }
    whole.machine.check(&planned.plan)?;
    let stop = signals::stop_flag()?;
    let mut live = Live::new(args.shown.quiet);
    let how = args.permissions.how(
        Streams {
            io: true,
            ..Streams::default()
        },
        args.words.clone(),
    );
    let session = Session::open(&system, &how, &stop, &planned.plan, &mut live)?;
    let keep = args.keep.clone().map_or(Output::Default, Output::Directory);
    let Some(dir) = reserve_directory(&keep, "identify")? else {
        bail!("there is no place to keep measurements: give one with --keep DIR");
    };
    if !args.shown.quiet {
        let size = Bytes(capacity_bytes);
        let writes = if args.readonly {
            "reads"
        } else {
            "reads and writes"
        };
        terminal::say(&format!(
            "{writes} {path} ({size}); keeps each measurement in {}",
            dir.display()
        ));
    }
    let Some(laid_out) = session.lay_out(&mut planned.plan, &mut live)? else {
        return Ok(None);
    };
    let make = |probe: &Probe| loads.of(probe);
    let identification = Identification {
        session: &session,
        make: &make,
        dir: &dir,
    };
    let mut schedule = Schedule::new(options(args, DEPTH_MAX, RATE_NS_MIN));
    let carried = identification.carry_out(&mut schedule, &mut live, &mut progress(args.shown.quiet));
    let whole = fathom_session::behind(&laid_out, carried)?;
    Ok(whole.then_some(Measured {
        schedule,
        capacity_bytes,
        size_bytes: is_device.then_some(capacity_bytes),
    }))
}

/// Tells each measurement where somebody may be waiting.
fn progress(quiet: bool) -> impl FnMut(usize, &Probe) {
    let shown = !quiet && terminal::stderr_redraws();
    move |number, probe| {
        if shown {
            terminal::say(&format!("{number:2}  {}", in_words(probe)));
        }
    }
}

fn in_words(probe: &Probe) -> String {
    let what = match probe.purpose {
        Purpose::Alone => "one at a time",
        Purpose::Small => "limit on IOPS",
        Purpose::Large => "limit on bytes",
        Purpose::Unit => "what counts as one I/O",
        Purpose::Beyond => "whether bytes are limited",
        Purpose::Service => "how long one takes",
        Purpose::Slope => "how long a larger one takes",
        Purpose::InOrder => "in order",
        Purpose::Again => "a cache",
        Purpose::Drain => "credit, until it is spent",
        Purpose::SpentSmall => "limit on IOPS without credit",
        Purpose::SpentLarge => "limit on bytes without credit",
        Purpose::Even => "both limits at once",
        Purpose::Several => "several at a time",
        Purpose::HeldOut => "a load that nothing is fitted to",
    };
    let mix = match probe.mix {
        Mix::Read => "reads",
        Mix::Write => "writes",
        Mix::Both => "both",
    };
    let size = Bytes(u64::from(probe.block_bytes));
    format!("{what}: {mix} of {size}, {} at a time", probe.depth)
}

/// Judges what was measured, writes the model, prints the answer.
fn told(
    args: &IdentifyArgs,
    words: &str,
    measured: &Measured,
    claimed: Option<&(String, Spec)>,
    search: Search<'_>,
) -> anyhow::Result<Exit> {
    let schedule = &measured.schedule;
    let fit = Fit::new(schedule, measured.size_bytes).context("the measurements are not complete")?;
    let model = spec::spec(&fit, &format!("identified ({words})"), measured.capacity_bytes);
    model
        .validate()
        .context("what was measured makes no model that can be run")?;
    let held = schedule
        .outcomes()
        .iter()
        .rfind(|outcome| outcome.probe.purpose == Purpose::HeldOut)
        .context("no load was held out")?;
    let held_out = held_out::compare(held, &model);
    let groups = nearest::nearest(&fit, search);
    let claim = claimed.map(|(words, spec)| claim::judge(words, spec, &fit));
    let file = args
        .output
        .as_deref()
        .map(|path| write(args, path, &model))
        .transpose()?;
    let report = IdentifiedReport {
        target: words,
        options: *schedule.options(),
        fit: &fit,
        groups: &groups,
        claim: claim.as_ref(),
        held_out: &held_out,
        model_file: file.as_deref(),
    };
    if args.json {
        terminal::print(&report.json())?;
    } else {
        terminal::print(&report.text(terminal::stdout_style(args.shown.colour)))?;
    }
    Ok(Exit::Done)
}

/// Writes the model file.
fn write(args: &IdentifyArgs, path: &Path, model: &Spec) -> anyhow::Result<String> {
    let text = fathom_model::file::to_toml(model)?;
    output::leave(path, text.as_bytes(), args.force)?;
    Ok(path.display().to_string())
}
