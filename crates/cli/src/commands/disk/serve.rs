//! `fathom disk serve`: disks, put up, watched, taken down in order.
//!
//! Data in: arguments as typed. Data out: on stdout a line for each way to the disks, then `ready`; a record where one is asked
//! for. All that may refuse comes before anything is touched.

mod disks;

use super::place;
use crate::args::disk::{FileSystemArg, NbdAddress, ServeArgs};
use crate::exit::Exit;
use crate::request;
use crate::terminal::signals::Bell;
use crate::terminal::{self, live, signals, tell};
use crate::text_file::{self, Expected};
use anyhow::{Context, bail, ensure};
use disks::Chosen;
use fathom_core::run::Run;
use fathom_core::virtual_disk::Trace;
use fathom_disk::bench::Running;
use fathom_disk::control::Control;
use fathom_disk::fault::{self, Scheduled};
use fathom_disk::fuse::{FuseOptions, Mounted};
use fathom_disk::nbd::{Address, Server};
use fathom_disk::record::{About, Record};
use fathom_disk::stack::{FileSystem, Stack, Wanted};
use fathom_disk::status::{Meter, lateness};
use fathom_disk::{Bench, Options, leftover};
use fathom_observe::{SystemRoot, busy};
use fathom_session::{AfterTouching as _, Output, Reserved, reserve_directory};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No schedule of faults is larger.
const SCHEDULE: Expected = Expected::of("schedule of faults", 4);
/// How often the disks are looked at.
const SECOND: Duration = Duration::from_secs(1);
/// The way back of an answer takes no longer on a machine that is quiet enough.
const EARLY_NS_MAX: u64 = 100_000;

/// Everything that stands, in the order in which it is taken down.
struct Stand {
    stacks: Vec<Stack>,
    mounted: Option<Mounted>,
    servers: Vec<Server>,
    control: Control,
    running: Running,
}

/// Carries `fathom disk serve` out.
pub(super) fn serve(args: &ServeArgs) -> anyhow::Result<Exit> {
    let chosen = disks::chosen(args)?;
    let schedule = schedule(args, &chosen)?;
    let mounts = mounts(args, &chosen)?;
    refuse_remote(args)?;
    let stop = signals::stop_flag()?;
    let mut bell = signals::bell()?;
    clean_up(args.quiet)?;
    let dir = record_dir(args, &mounts)?;
    let files = disks::backings(args, &chosen)?;
    let options = Options {
        real_time: !args.no_real_time
            && std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1),
        keep: Trace {
            requests: dir.is_some(),
            counters: dir.is_some(),
        },
    };
    let (running, real_time) = Bench::start(chosen.specs.as_deref(), files, options)?;
    if let (Err(error), false) = (real_time, args.quiet) {
        terminal::note(&format!(
            "answers are given by an ordinary thread ({error}): on a busy machine they come late"
        ));
    }
    let mut stand = put_up(args, running, &chosen, &mounts)?;
    let served = watch(
        args,
        &mut stand,
        &chosen,
        schedule,
        dir.as_deref(),
        (&stop, &mut bell),
    );
    let record = match served {
        Ok(record) => record,
        Err(error) => {
            // What went wrong first is what is told.
            let _taken = stand.take_down(args.quiet);
            return Err(error);
        }
    };
    end(args, stand, record, dir.as_deref())
}

/// Takes everything down, and tells how it went.
fn end(args: &ServeArgs, stand: Stand, record: Option<Record>, dir: Option<&Path>) -> anyhow::Result<Exit> {
    let bench = std::sync::Arc::clone(&stand.running.bench);
    let taken = stand.take_down(args.quiet);
    let late = lateness(&bench);
    if !args.quiet && late.n > 0 {
        let nanos = fathom_core::units::Nanos;
        terminal::say(&format!(
            "{} answers, late by p50 {}, p99 {}, at most {}: {}",
            late.n,
            nanos(late.p50),
            nanos(late.p99),
            nanos(late.max),
            if late.valid == Some(false) {
                "not valid, that is more than a tenth of the median service time"
            } else {
                "valid"
            }
        ));
    }
    let mut exit = Exit::Done;
    if let Some(record) = record {
        let judge = |run: &mut Run| {
            let found = fathom_analysis::warnings::judge(run);
            run.summary.warnings.extend(found);
        };
        let run = record.end(&bench, false, judge);
        let run = run
            .map_err(anyhow::Error::from)
            .after_touching(|| tell::kept(dir))?;
        tell::warnings(&run.summary.warnings);
        tell::place(dir, args.quiet, "what it shows", "explain");
    }
    if let Err(error) = taken {
        tell::error(&error);
        exit = Exit::Errors;
    }
    Ok(exit)
}

fn schedule(args: &ServeArgs, chosen: &Chosen) -> anyhow::Result<Vec<Scheduled>> {
    let Some(path) = &args.faults else {
        return Ok(Vec::new());
    };
    let text = text_file::read(path, SCHEDULE)?;
    let schedule = fault::parse_schedule(&text).with_context(|| format!("--faults {}", path.display()))?;
    for named in schedule.iter().filter_map(|scheduled| scheduled.disk.as_ref()) {
        ensure!(
            chosen.names.contains(named),
            "--faults {}: there is no disk `{named}`: {}",
            path.display(),
            chosen.names.join(", ")
        );
    }
    Ok(schedule)
}

/// Where each disk's file system is to be mounted; `None`: nowhere.
fn mounts(args: &ServeArgs, chosen: &Chosen) -> anyhow::Result<Vec<Option<PathBuf>>> {
    let mut mounts = vec![None; chosen.names.len()];
    for given in &args.mount {
        let named = given.split_once('=').and_then(|(name, dir)| {
            let disk = chosen.names.iter().position(|known| known == name)?;
            Some((disk, dir))
        });
        let (disk, dir) = match named {
            Some(named) => named,
            None if chosen.names.len() == 1 => (0, given.as_str()),
            None => bail!(
                "--mount {given}: say of which disk, as {}={given}",
                chosen.names[0]
            ),
        };
        ensure!(
            Path::new(dir).is_dir(),
            "--mount {given}: {dir} has to be a directory that is there"
        );
        ensure!(
            mounts[disk].is_none(),
            "--mount {given}: that disk is mounted elsewhere already"
        );
        mounts[disk] = Some(std::path::absolute(dir)?);
    }
    Ok(mounts)
}

fn refuse_remote(args: &ServeArgs) -> anyhow::Result<()> {
    for address in &args.nbd {
        if let NbdAddress::Tcp(at) = address
            && !at.ip().is_loopback()
            && !args.allow_remote
        {
            bail!(
                "--nbd {at}: whoever reaches that address could read and write the disk, unseen: serve unix:PATH and forward it \
                 with ssh -L, or add --allow-remote"
            );
        }
    }
    Ok(())
}

/// Takes down what killed servers left.
fn clean_up(quiet: bool) -> anyhow::Result<()> {
    for left in leftover::find().context("cannot read the table of mounts")? {
        let (done, failed) = left.take_down();
        for line in done.iter().filter(|_| !quiet) {
            terminal::note(line);
        }
        for line in failed {
            terminal::warning(&line);
        }
    }
    Ok(())
}

fn record_dir(args: &ServeArgs, mounts: &[Option<PathBuf>]) -> anyhow::Result<Option<Reserved>> {
    let Some(dir) = &args.output else {
        return Ok(None);
    };
    let place = std::path::absolute(dir)?;
    for mount in mounts.iter().flatten().chain(args.at.as_ref()) {
        ensure!(
            !place.starts_with(std::path::absolute(mount)?),
            "-o {}: the record would be on the disk that is recorded: choose another place",
            dir.display()
        );
    }
    reserve_directory(&Output::Directory(dir.clone()), "disk")
}

/// Puts everything up. What was put up before something failed is taken down again.
fn put_up(
    args: &ServeArgs,
    running: Running,
    chosen: &Chosen,
    mounts: &[Option<PathBuf>],
) -> anyhow::Result<Stand> {
    let bench = &running.bench;
    let socket = args
        .control
        .clone()
        .unwrap_or_else(|| place::socket_for(std::process::id()));
    let control = Control::start(bench, &socket).context("the control socket")?;
    let mut servers = Vec::new();
    for address in &args.nbd {
        let address = match address {
            NbdAddress::Unix(path) => Address::Unix(std::path::absolute(path)?),
            NbdAddress::Tcp(at) => Address::Tcp(*at),
        };
        servers.push(Server::start(bench, &address).context("--nbd")?);
    }
    let mounted = match &args.at {
        None => None,
        Some(at) => {
            let options = FuseOptions {
                writeback: args.writeback,
                allow_other: args.allow_other,
            };
            Some(Mounted::new(bench, &std::path::absolute(at)?, options)?)
        }
    };
    let mut stand = Stand {
        stacks: Vec::new(),
        mounted,
        servers,
        control,
        running,
    };
    let built = stand
        .calibrate(args, chosen.specs.is_some())
        .and_then(|()| stand.stack(args, chosen, mounts));
    if let Err(error) = built {
        // What went wrong first is what is told.
        let _taken = stand.take_down(args.quiet);
        return Err(error);
    }
    Ok(stand)
}

impl Stand {
    fn calibrate(&self, args: &ServeArgs, takes_time: bool) -> anyhow::Result<()> {
        let bench = &self.running.bench;
        if let Some(early) = args.early {
            bench.set_early_ns(early.0);
            return Ok(());
        }
        let Some(mounted) = self.mounted.as_ref().filter(|_| takes_time && !args.writeback) else {
            return Ok(());
        };
        let found_ns = mounted
            .calibrate(bench, EARLY_NS_MAX)
            .context("cannot read the served file")?;
        if found_ns > EARLY_NS_MAX && !args.quiet {
            terminal::note(&format!(
                "an answer takes {} to arrive: this machine is busy, and latencies will be too long",
                fathom_core::units::Nanos(found_ns)
            ));
        }
        Ok(())
    }

    fn stack(&mut self, args: &ServeArgs, chosen: &Chosen, mounts: &[Option<PathBuf>]) -> anyhow::Result<()> {
        let Some(mounted) = self.mounted.as_ref().filter(|_| args.loop_device) else {
            return Ok(());
        };
        for (name, mount) in chosen.names.iter().zip(mounts) {
            let wanted = Wanted {
                make: args.mkfs.map(|kind| match kind {
                    FileSystemArg::Ext4 => FileSystem::Ext4,
                    FileSystemArg::Xfs => FileSystem::Xfs,
                }),
                mount: mount.clone(),
            };
            let stack = Stack::put_up(&mounted.file(name), &wanted);
            self.stacks
                .push(stack.with_context(|| format!("--loop ({name})"))?);
        }
        Ok(())
    }

    /// The ways to the disks, a line each.
    fn ways(&self, names: &[String]) -> String {
        let mut lines: Vec<String> = Vec::new();
        if let Some(mounted) = &self.mounted {
            lines.extend(
                names
                    .iter()
                    .map(|name| format!("file {}", mounted.file(name).display())),
            );
        }
        for stack in &self.stacks {
            lines.push(format!("device {}", stack.device().display()));
            lines.extend(stack.mounted().map(|at| format!("mount {}", at.display())));
        }
        lines.extend(
            self.servers
                .iter()
                .map(|server| format!("nbd {}", server.address())),
        );
        lines.push(format!("control {}", self.control.path().display()));
        lines.push(String::from("ready\n"));
        lines.join("\n")
    }

    /// Where each disk is to be found, for the record.
    fn places(&self, names: &[String]) -> Vec<String> {
        let place = |name: &String| match (&self.mounted, self.servers.first()) {
            (Some(mounted), _) => mounted.file(name).display().to_string(),
            (None, Some(server)) => format!("{} ({name})", server.address()),
            (None, None) => name.clone(),
        };
        names.iter().map(place).collect()
    }

    /// Takes everything down in order; goes on where something cannot be.
    fn take_down(self, quiet: bool) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        // A disk that is stalled or gone would hold up what flushes to it.
        let heal = [fault::Fault::Heal, fault::Fault::Attach];
        for fault in heal {
            if let Err(error) = self.running.bench.apply(None, &fault) {
                failed.push(error.to_string());
            }
        }
        for mut stack in self.stacks.into_iter().rev() {
            match stack.take_down() {
                Ok(Some(said)) if !quiet => terminal::note(&said),
                Ok(_) => {}
                Err(error) => failed.push(error.to_string()),
            }
        }
        if let Some(mounted) = self.mounted
            && let Err(error) = mounted.unmount()
        {
            failed.push(format!("cannot unmount: {error}"));
        }
        drop(self.servers);
        ensure!(
            failed.is_empty(),
            "not all could be taken down: {}; fathom disk cleanup takes down what is left",
            failed.join("; ")
        );
        Ok(())
    }
}

/// Watches until nobody wants the disks any more; the record, not yet ended.
fn watch(
    args: &ServeArgs,
    stand: &mut Stand,
    chosen: &Chosen,
    schedule: Vec<Scheduled>,
    dir: Option<&Path>,
    (stop, bell): (&AtomicBool, &mut Bell),
) -> anyhow::Result<Option<Record>> {
    let bench = std::sync::Arc::clone(&stand.running.bench);
    let mut record = match dir {
        None => None,
        Some(dir) => Some(Record::begin(dir, &bench, about(args, stand, chosen))?),
    };
    let mut meter = Meter::new(&bench);
    stand.control.show(meter.look(&bench));
    bench.follow(schedule)?;
    terminal::print(&stand.ways(&chosen.names))?;
    let hidden = args.quiet || !terminal::stderr_redraws();
    let bar = live::bar(None, "{wide_msg}", hidden);
    let begun = Instant::now();
    let over = || {
        args.duration
            .is_some_and(|time| begun.elapsed() >= Duration::from_nanos(time.0))
    };
    let is_gone = || stand.mounted.as_ref().is_some_and(Mounted::is_gone);
    while !stop.load(Ordering::Relaxed) && !over() && !is_gone() {
        bell.sleep(SECOND).context("cannot wait for the end")?;
        let status = meter.look(&bench);
        bar.set_message(status.line());
        stand.control.show(status);
        if let Some(record) = &mut record {
            record.second(&bench);
        }
    }
    bar.finish_and_clear();
    Ok(record)
}

fn about(args: &ServeArgs, stand: &Stand, chosen: &Chosen) -> About {
    let specs = chosen.specs.clone().unwrap_or_default();
    About {
        build: fathom_session::build(),
        command: args.words.clone(),
        environment: request::machine(),
        requirements: vec![busy::quiet_host(&SystemRoot::default())],
        warnings: specs.iter().flat_map(fathom_session::warnings_of_model).collect(),
        specs,
        places: stand.places(&chosen.names),
    }
}
