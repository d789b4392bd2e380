//! `fathom disk serve`: disks, put up, watched, taken down in order.
//!
//! Data in: arguments as typed. Data out: on stdout a line for each way to the disks, then `ready`; a record where one is asked
//! for. All that may refuse comes before anything is touched.

mod disks;
mod stand;
mod watched;

use crate::args::disk::{NbdAddress, ServeArgs};
use crate::exit::Exit;
use crate::request;
use crate::terminal::signals::Bell;
use crate::terminal::{self, live, signals, tell};
use crate::text_file::{self, Expected};
use crate::tls;
use anyhow::{Context, bail, ensure};
use disks::Chosen;
use fathom_core::run::Run;
use fathom_core::virtual_disk::Trace;
use fathom_disk::fault::{self, Scheduled};
use fathom_disk::record::{About, Record};
use fathom_disk::status::{self, Meter, lateness};
use fathom_disk::{Bench, Options, leftover};
use fathom_observe::{SystemRoot, busy};
use fathom_session::{AfterTouching as _, Output, Reserved, reserve_directory};
use fathom_web::Secured;
use stand::{Stand, put_up};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use watched::Watching;

/// No schedule of faults is larger.
const SCHEDULE: Expected = Expected::of("schedule of faults", 4);
/// How often the disks are looked at.
const SECOND: Duration = Duration::from_secs(1);

/// Carries `fathom disk serve` out.
pub(super) fn serve(args: &ServeArgs) -> anyhow::Result<Exit> {
    let chosen = disks::chosen(args)?;
    let schedule = schedule(args, &chosen)?;
    let mounts = mounts(args, &chosen)?;
    let secured = tls::secured(&args.watching.tls)?;
    refuse_remote(args, secured.as_ref())?;
    let watching = Watching::begin(args, &chosen)?;
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
            counters: dir.is_some() || watching.hub().is_some(),
        },
        intervals: watching.hub().is_some(),
    };
    let (running, real_time) = Bench::start(chosen.specs.as_deref(), files, options)?;
    if let (Err(error), false) = (real_time, args.quiet) {
        terminal::note(&format!(
            "answers are given by an ordinary thread ({error}): on a busy machine they come late"
        ));
    }
    let config = secured.as_ref().map(|secured| &secured.config);
    let mut stand = put_up(args, running, &chosen, &mounts, config)?;
    let served = watch(
        args,
        &mut stand,
        &chosen,
        schedule,
        (dir.as_deref(), &watching),
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
    let exit = end(args, stand, record, dir.as_deref());
    watching.end(&stop);
    exit
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

/// Who reaches an address beyond this machine must show who they are, unless all may come.
fn refuse_remote(args: &ServeArgs, secured: Option<&Secured>) -> anyhow::Result<()> {
    let tcp = args.nbd.iter().filter_map(|address| match address {
        NbdAddress::Tcp(at) => Some(at),
        NbdAddress::Unix(_) => None,
    });
    if secured.is_some() && tcp.clone().next().is_none() && args.watching.serve.is_none() {
        bail!("--tls-cert: there is nothing to be sealed: it is for --nbd ADDRESS:PORT and for --serve");
    }
    let knows_clients = secured.is_some_and(|secured| secured.knows_clients);
    for at in tcp {
        if !at.ip().is_loopback() && !knows_clients && !args.allow_remote {
            bail!(
                "--nbd {at}: whoever reaches that address could read and write the disk: let clients show certificates (--tls-cert, \
                 --tls-key, --tls-ca), or serve unix:PATH and forward it with ssh -L, or add --allow-remote"
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

/// Watches until nobody wants the disks any more; the record, not yet ended.
fn watch(
    args: &ServeArgs,
    stand: &mut Stand,
    chosen: &Chosen,
    schedule: Vec<Scheduled>,
    (dir, watching): (Option<&Path>, &Watching),
    (stop, bell): (&AtomicBool, &mut Bell),
) -> anyhow::Result<Option<Record>> {
    let bench = std::sync::Arc::clone(&stand.running.bench);
    let mut record = match dir {
        None => None,
        Some(dir) => Some(Record::begin(dir, &bench, about(args, stand, chosen))?),
    };
    let mut meter = Meter::new(&bench);
    stand.control.show(meter.look(&bench));
    let mut seconds = watching.seconds(&bench);
    bench.follow(schedule)?;
    terminal::print(&stand.ways(&chosen.names))?;
    let hidden = args.quiet || !terminal::stderr_redraws();
    let bar = live::bar(None, "{wide_msg}", hidden);
    let begun = Instant::now();
    let over = || {
        args.duration
            .is_some_and(|time| begun.elapsed() >= Duration::from_nanos(time.0))
    };
    while !stop.load(Ordering::Relaxed) && !over() && !stand.is_gone() {
        bell.sleep(SECOND).context("cannot wait for the end")?;
        let status = meter.look(&bench);
        bar.set_message(status::line(&status));
        stand.control.show(status.clone());
        if record.is_none() && seconds.is_none() {
            continue;
        }
        let (requests, counters) = bench.take_seen();
        if let Some(record) = &mut record {
            record.second(&requests, &counters);
        }
        if let Some(seconds) = &mut seconds {
            seconds.tell(&bench, status, counters);
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
