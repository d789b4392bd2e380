//! `fathom sweep`: from the command line to the conclusions.
//!
//! Data in: arguments as typed. Data out: a directory with a run a point, conclusions on stdout, an exit. All that may refuse
//! comes before anything is touched; what is under way is told by [`display`].

mod asked;
mod display;
mod outline;
mod points;
mod turns;

use crate::args::sweep::SweepArgs;
use crate::commands::serve::{self, Serving};
use crate::exit::Exit;
use crate::model_target;
use crate::request;
use crate::target::{self, Target};
use crate::terminal::Colour;
use crate::terminal::live::Live;
use crate::terminal::{self, signals, tell};
use crate::text_file::{self, Expected};
use anyhow::{Context, bail};
use asked::Asked;
use display::Display;
use fathom_analysis::sweep::conclude;
use fathom_core::run::{Environment, Status, TargetFile};
use fathom_core::sweep::{SCHEMA, SweepPlan, SweepResults};
use fathom_core::units::{Bytes, WallTime};
use fathom_dialect::{Override, Source, SweepSpec, parse_sweep};
use fathom_observe::SystemRoot;
use fathom_report::{json, text};
use fathom_session::sweep::{Points, Sweep, Swept, results_of};
use fathom_session::{
    AfterTouching as _, Machine, Output, Session, build, reserve_directory, without_output,
};
use fathom_store::{Origin, SweepDir};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const SWEEP_FILE: Expected = Expected::of("sweep", 1);

/// Carries `fathom sweep` out.
pub(crate) fn sweep(args: &SweepArgs) -> anyhow::Result<Exit> {
    if let Some(dir) = &args.resume {
        return resume(dir, args);
    }
    if args.on.len() > 1 {
        return turns::sweep(args);
    }
    let Some(mut asked) = ask(args, args.on.first().map(OsString::as_os_str), &args.flags.0)? else {
        return Ok(Exit::Wrong);
    };
    let Some(mut points) = points_of(&asked)? else {
        return Ok(Exit::Wrong);
    };
    let system = SystemRoot::default();
    asked.plan.target = points.target(&system);
    if asked.settings.dry_run {
        return outline::dry_run(&system, &asked, &mut points);
    }
    if asked.settings.output == Output::None {
        bail!(
            "a sweep is kept in its directory, by which it can go on after a kill: give one with -o, not none"
        );
    }
    carry_out(&system, &asked, &mut points, |points| {
        let dir = reserve_directory(&asked.settings.output, &asked.plan.name)?
            .context("a sweep needs a directory")?;
        let taken = SweepDir::create(&dir, &asked.plan, &asked.origin)?;
        if !asked.settings.quiet {
            terminal::say(outline::outline(&asked, points).trim_end());
            tell::warnings(points.warnings());
        }
        Ok(taken)
    })
}

/// Goes on where a sweep stopped.
fn resume(dir: &Path, args: &SweepArgs) -> anyhow::Result<Exit> {
    if let Some(flag) = args.flags.0.first() {
        bail!(
            "--{}: the sweep in {} is planned already, in its sweep.json: leave it out, or begin another sweep with -o",
            flag.name.replace('_', "-"),
            dir.display()
        );
    }
    let (taken, plan, origin) = SweepDir::open(dir)?;
    let known = results_of(dir, &plan)?;
    if known.status == Status::Complete {
        print(&plan, &known, args.settings.json, args.settings.colour)?;
        terminal::note(&format!(
            "the sweep in {} is complete: there was nothing to do",
            dir.display()
        ));
        return Ok(Exit::Done);
    }
    let target = target::resolve(origin.on.as_ref())?;
    let model = match &origin.model_toml {
        None => None,
        Some(toml) => {
            let catalog = &*crate::commands::catalog::open(None)?;
            Some(fathom_model::file::parse("sweep.json", toml, catalog)?)
        }
    };
    let mut settings = args.settings.clone();
    // Its points are parts of one sweep, whoever carried them out.
    settings.how.command.clone_from(&plan.command);
    let asked = Asked {
        origin,
        target,
        machine: Machine::from_model(model),
        environment: request::machine(),
        settings,
        plan,
    };
    tell_other_machine(&asked);
    let Some(mut points) = points_of(&asked)? else {
        return Ok(Exit::Wrong);
    };
    let system = SystemRoot::default();
    same_target(&asked, &points.target(&system))?;
    carry_out(&system, &asked, &mut points, |_| Ok(taken))
}

/// The points as requests; `None` where an option is wrong, which is on stderr.
fn points_of(asked: &Asked) -> anyhow::Result<Option<Points>> {
    let Some(requests) = points::requests(asked) else {
        return Ok(None);
    };
    let mut precondition = None;
    if asked.plan.precondition && !asked.machine.is_modelled() {
        precondition = points::precondition(asked);
        if precondition.is_none() {
            return Ok(None);
        }
    }
    Points::new(&asked.plan, &asked.machine, requests, precondition).map(Some)
}

/// Refuses to go on with another disk under the same name: after a reboot, before something is mounted, with devices in
/// another order.
fn same_target(asked: &Asked, now: &fathom_core::run::Target) -> anyhow::Result<()> {
    let then = &asked.plan.target;
    let on = |target: &fathom_core::run::Target| -> Vec<String> {
        let disk = |file: &TargetFile| {
            let device = file.device.as_ref();
            let size = device
                .and_then(|device| device.size_bytes)
                .map(|bytes| Bytes(bytes).to_string());
            let model = device.and_then(|device| device.model.clone());
            let name = Path::new(&file.path).file_name();
            let parts = [
                name.map(|name| name.to_string_lossy().into_owned()),
                file.filesystem.as_ref().map(|name| format!("on {name}")),
                model,
                size,
            ];
            parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
        };
        target.files.iter().map(disk).collect()
    };
    let (was, is) = (on(then), on(now));
    if !asked.machine.is_modelled() && was != is {
        bail!(
            "the sweep began on {}, and that name now leads to {}: nothing was touched. Mount or attach the first one again, or begin \
             another sweep",
            was.join("; "),
            is.join("; ")
        );
    }
    Ok(())
}

/// Points of two machines in one matrix are compared as if they were of one.
fn tell_other_machine(asked: &Asked) {
    let (then, now) = (&asked.plan.environment, &asked.environment);
    if asked.machine.is_modelled() {
        return;
    }
    let differs = |what: &str, then: &str, now: &str| {
        if then != now {
            terminal::warning(&format!(
                "the sweep began with {what} {then}, and goes on with {now}: its points may not be comparable"
            ));
        }
    };
    differs("the host", &then.host, &now.host);
    differs("the kernel", &then.kernel, &now.kernel);
    differs("the CPU", &then.cpu_model, &now.cpu_model);
    let build = build();
    if asked.plan.build != build {
        differs("fathom", &asked.plan.build.version, &build.version);
    }
}

/// The points that are left, then what all of them say. `place`: takes the sweep's directory, once all is permitted.
fn carry_out(
    system: &SystemRoot,
    asked: &Asked,
    points: &mut Points,
    place: impl FnOnce(&Points) -> anyhow::Result<SweepDir>,
) -> anyhow::Result<Exit> {
    let Asked { plan, settings, .. } = asked;
    points.check()?;
    let stop = signals::stop_flag()?;
    let serving = Serving::begin(&settings.serve, system, &subject(asked))?;
    let mut live = Live::new(settings.quiet);
    let session = Session::open(system, &settings.how, &stop, points.files(), &mut live)?;
    let dir = place(points)?;
    let sweep = Sweep {
        passes: plan.repeats,
        plan,
        points,
        make_probe: &|probe| points::probe(asked, probe),
        session: &session,
        dir: &dir,
    };
    let mut display = Display::new(plan, settings.quiet, asked.machine.is_modelled());
    let Swept {
        results,
        stopped,
        end,
    } = sweep.carry_out(&mut serving.watched(&mut display));
    let kept = || vec![format!("the sweep in {}", dir.path().display())];
    print(plan, &results, settings.json, settings.colour).after_touching(kept)?;
    let place = dir.path().display();
    match stopped {
        Some(why) => {
            let permission = |flag: &str, paths: &[PathBuf]| -> String {
                let each = paths.iter().map(|path| format!(" {flag} {}", path.display()));
                each.collect::<Vec<String>>().concat()
            };
            terminal::say(&format!(
                "{why}; to go on:\n  fathom sweep --resume {place}{}{}",
                permission("--allow-overwrite", &settings.how.allow_overwrite),
                permission("--allow-overwrite-signature", &settings.how.allow_signature)
            ));
        }
        None if settings.quiet => {}
        None => terminal::say(&format!(
            "recorded in {place}; to print this again, or as a page with charts:\n  fathom show {place}\n  fathom report {place} -o \
             report.html"
        )),
    }
    serving.end(&stop);
    Ok(end.into())
}

/// What is measured, for who looks.
fn subject(asked: &Asked) -> serve::Subject<'_> {
    let plan = &asked.plan;
    serve::Subject {
        title: plan.name.clone(),
        jobs: vec![plan.name.clone()],
        machine: &asked.machine,
        environment: &asked.environment,
        target: &plan.target,
        sweep_steps: Some(plan.points.len() as u64 * u64::from(plan.repeats)),
    }
}

/// Prints a sweep, whole or as far as it is.
pub(crate) fn print(
    plan: &SweepPlan,
    results: &SweepResults,
    as_json: bool,
    colour: Colour,
) -> anyhow::Result<()> {
    let conclusions = conclude(plan, results);
    if as_json {
        return terminal::print(&json::sweep(plan, results, &conclusions));
    }
    let style = terminal::stdout_style(colour);
    terminal::print(&text::sweep(plan, results, &conclusions, style))
}

/// What is asked for. `None` where it is wrong, which is on stderr.
fn ask(args: &SweepArgs, on: Option<&OsStr>, flags: &[Override]) -> anyhow::Result<Option<Asked>> {
    let (file, path) = sort(&args.paths)?;
    let text = file.map(|file| Ok::<_, anyhow::Error>((file, text_file::read(file, SWEEP_FILE)?)));
    let text = text.transpose()?;
    let name = text.as_ref().map(|(path, _)| path.display().to_string());
    let source = text
        .as_ref()
        .zip(name.as_ref())
        .map(|((_, text), name)| Source { name, text });
    let spec = match parse_sweep(source, flags) {
        Ok(spec) => spec,
        Err(found) => {
            tell::findings(&found, false);
            return Ok(None);
        }
    };
    let on = target::typed(on, path)?.map(ToOwned::to_owned);
    let on = on.or_else(|| spec.target.clone().map(|words| beside(file, words)));
    let on = on.context(
        "on what? Give a file, a directory, a device or model:NAME as the last argument or with --on",
    )?;
    let target = target::resolve(&on)?;
    let machine = request::machine_of(Some(&target), args.catalog.as_deref())?;
    let on = on.into_string().map_err(|on| {
        anyhow::anyhow!(
            "the target {} is not UTF-8, and could not be written down for --resume",
            on.display()
        )
    })?;
    let origin = Origin {
        on: absolute(&target, on)?,
        model_toml: machine.spec().map(fathom_model::file::to_toml).transpose()?,
    };
    let environment = request::machine();
    let name = file.and_then(name_of);
    let command = without_output(&args.settings.how.command);
    let mut settings = args.settings.clone();
    settings.how.command.clone_from(&command);
    Ok(Some(Asked {
        settings,
        plan: plan_of(spec, name, command, machine.environment(&environment)),
        origin,
        target,
        machine,
        environment,
    }))
}

/// The file of a sweep and the target.
fn sort(paths: &[PathBuf]) -> anyhow::Result<(Option<&Path>, Option<&Path>)> {
    let is_file = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    let files: Vec<&PathBuf> = paths.iter().filter(is_file).collect();
    let targets: Vec<&PathBuf> = paths.iter().filter(|path| !is_file(path)).collect();
    match (&files[..], &targets[..]) {
        ([] | [_], [] | [_]) => Ok((
            files.first().map(|path| path.as_path()),
            targets.first().map(|path| path.as_path()),
        )),
        ([first, second, ..], _) => bail!(
            "two sweeps, {} and {}: give one",
            first.display(),
            second.display()
        ),
        (_, [first, second, ..]) => bail!(target::two_targets(first.display(), second.display())),
    }
}

/// A model file that a sweep's file names is beside it.
fn beside(file: Option<&Path>, words: String) -> OsString {
    let folder = file.and_then(Path::parent);
    let model = words
        .strip_prefix("model:")
        .filter(|words| model_target::is_model_file(words));
    match (folder, model) {
        (Some(folder), Some(model)) => format!("model:{}", folder.join(model).display()).into(),
        _ => words.into(),
    }
}

/// The target so that it is found from another working directory, too.
fn absolute(target: &Target, on: String) -> anyhow::Result<String> {
    match target {
        Target::File(path) | Target::Directory(path) => {
            let path = std::path::absolute(path).with_context(|| format!("cannot tell where {on} is"))?;
            Ok(path.display().to_string())
        }
        Target::Null | Target::Model(_) => Ok(on),
    }
}

/// What a sweep's file is called, or its folder where the file is called `sweep` as all are.
fn name_of(file: &Path) -> Option<String> {
    let stem = file.file_stem().filter(|stem| *stem != "sweep");
    let folder = || {
        std::path::absolute(file)
            .ok()?
            .parent()?
            .file_name()
            .map(std::ffi::OsStr::to_owned)
    };
    let name = stem.map(std::ffi::OsStr::to_owned).or_else(folder)?;
    Some(name.to_string_lossy().into_owned())
}

fn plan_of(
    spec: SweepSpec,
    name: Option<String>,
    command: Vec<String>,
    environment: Environment,
) -> SweepPlan {
    SweepPlan {
        schema: SCHEMA.to_owned(),
        build: build(),
        command,
        name: name.unwrap_or_else(|| String::from("sweep")),
        started_unix_ns: WallTime(request::unix_ns()),
        target: fathom_core::run::Target::default(),
        environment,
        points: spec.axes.points(),
        about: spec.about,
        axes: spec.axes,
        timing: spec.timing,
        repeats: spec.repeats,
        order: spec.order,
        seed: spec.seed,
        precondition: spec.precondition,
        steady: spec.steady,
        adaptive: spec.adaptive,
        options: spec
            .options
            .into_iter()
            .map(|option| (option.name, option.value))
            .collect(),
    }
}
