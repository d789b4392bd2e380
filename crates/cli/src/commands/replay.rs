//! `fathom replay`: a recorded load on another disk.
//!
//! Data in: arguments as typed. Data out: what `fathom run` leaves. The record is looked through first, all of it, so that what is
//! wrong with it is said before anything is touched.

mod record;

use crate::args::replay::{FoldTo, FoldWord, ReplayArgs};
use crate::commands::run;
use crate::exit::Exit;
use crate::request;
use crate::target::{self, Target};
use crate::terminal::{self, signals};
use anyhow::{Context as _, bail};
use fathom_core::backend::Op;
use fathom_core::units::{Bytes, Nanos};
use fathom_core::workload::{
    Amount, BlockSize, Depth, EngineKind, Fold, FoldKind, Job, LeftOut, Mix, RandomMap, Replay, ReplayLayout,
    ReplayOrder, Workload, Written, WrittenSection,
};
use fathom_engine::plan::{Kind, Plan, PlanError};
use fathom_session::replay::Recording;
use fathom_session::{Conduct, Machine, Request};
use record::{Looked, Record};
use std::path::PathBuf;
use std::sync::Arc;

/// I/Os in flight, and memory for their buffers, a worker.
const DEPTH: u32 = 256;
const BUFFERS_BYTES: u64 = 256 << 20;
/// No fewer, however large they are.
const DEPTH_LEAST: u32 = 16;
/// Threads where each I/O takes one for itself.
const BLOCKING_WORKERS: u32 = 16;
/// The name of what is made in a directory, and of the whole of a modelled disk.
const FILE_NAME: &str = "replay";

/// Carries `fathom replay` out.
pub(crate) fn replay(args: &ReplayArgs) -> anyhow::Result<Exit> {
    let target = target::resolve(&args.on)?;
    let machine = request::machine_of(Some(&target), args.catalog.as_deref())?;
    let record = Record::open(args)?;
    record.is_not(&target)?;
    let stop = signals::stop_flag()?;
    let Some(looked) = record.look(args, &stop)? else {
        terminal::say("interrupted while the record was looked through: nothing was touched");
        return Ok(Exit::Interrupted);
    };
    if !args.settings.quiet {
        looked.notes.iter().for_each(|note| terminal::note(note));
    }
    let replay = resolve(args, &looked, &record)?;
    let mut job = job(args, &looked, replay, &target, &record);
    let have = target_bytes(&job, &machine)?;
    place(args, &mut job, &looked, have, &target)?;
    let replay = job.replay.as_ref().context("a replay has a record")?;
    let source = record.source(args, &looked)?;
    let recording = Recording::new(source, replay, looked.survey.first_ns);
    let conduct = Conduct {
        recordings: vec![(0, Arc::new(recording))],
        ..Conduct::default()
    };
    let request = Request {
        written: written(args),
        workload: Workload { jobs: vec![job] },
        warnings: Vec::new(),
        environment: request::machine(),
        machine,
    };
    run::conduct(&request, &args.settings, &conduct)
}

/// What is played and how, but for addresses.
fn resolve(args: &ReplayArgs, looked: &Looked, record: &Record) -> anyhow::Result<Replay> {
    let shown = args.record.display();
    let survey = &looked.survey;
    if survey.total() == 0 {
        bail!("{shown}: no I/O is in it{}", of_volumes(args));
    }
    let order = match (looked.has_times, args.dependent) {
        (true, false) => ReplayOrder::Timed,
        (true, true) if looked.has_ends => ReplayOrder::Dependent,
        (true, true) => bail!(
            "--dependent: {shown} ({}) does not say when I/Os ended, so that nobody knows who waited: leave it out",
            record.format().in_words()
        ),
        (false, true) => {
            bail!("--dependent: {shown} has no times, so that nobody knows who waited: leave it out")
        }
        (false, false) => ReplayOrder::AsFast,
    };
    if order == ReplayOrder::AsFast && args.speed.is_some() {
        bail!("--speed: {shown} has no times: its I/Os are sent as fast as they go");
    }
    let mut left_out = looked.left_out.clone();
    let mut ios = survey.ios;
    let mut bytes = survey.bytes;
    if args.readonly {
        for (op, name) in [(Op::Write, "writes"), (Op::Trim, "trims"), (Op::Sync, "syncs")] {
            let ios = std::mem::take(&mut ios[op.index()]);
            if ios > 0 {
                let what = format!("{name}, by --readonly");
                left_out.push(LeftOut { what, ios });
            }
        }
        bytes = [bytes[0], 0, 0];
        if ios[0] == 0 {
            bail!("--readonly: {shown} has no reads");
        }
    }
    if ios[..3].iter().sum::<u64>() == 0 {
        bail!("{shown}: only syncs are in it: there is nothing to play");
    }
    Ok(Replay {
        record: shown.to_string(),
        format: record.format(),
        order,
        speed_permille: args.speed.unwrap_or(1_000),
        ios,
        bytes,
        length: Nanos(survey.last_ns.saturating_sub(survey.first_ns)),
        extent_bytes: looked.extent_bytes,
        fold: None,
        left_out,
        layout: ReplayLayout::default(),
    })
}

fn of_volumes(args: &ReplayArgs) -> String {
    match args.volume.as_slice() {
        [] => String::new(),
        names => format!(" of --volume {}", names.join(", ")),
    }
}

/// The one job of a replay. Its region is settled by [`place`].
fn job(args: &ReplayArgs, looked: &Looked, replay: Replay, target: &Target, record: &Record) -> Job {
    let survey = &looked.survey;
    let align = survey.align_bytes.max(1);
    let used = [0, 1, 2].map(|op| replay.ios[op] > 0);
    let largest = (0..3).filter(|&op| used[op]).map(|op| survey.largest[op]);
    let largest = largest.max().unwrap_or(align);
    let block_size = [0, 1, 2].map(|op| match (survey.smallest[op], survey.largest[op]) {
        (0, _) => BlockSize::Fixed(largest),
        (min, max) if min == max => BlockSize::Fixed(min),
        (_, max) => BlockSize::Range {
            min: align,
            max,
            unaligned: false,
        },
    });
    let null = *target == Target::Null;
    let direct = !args.buffered && record.direct();
    let kind = if null {
        EngineKind::Null
    } else {
        args.engine.unwrap_or(EngineKind::IoUring)
    };
    let as_fast = replay.order == ReplayOrder::AsFast;
    let fits = (BUFFERS_BYTES / largest.max(1)).clamp(DEPTH_LEAST.into(), DEPTH.into()) as u32;
    let iodepth = args.depth.unwrap_or(if as_fast { 1 } else { fits });
    // Where calls block, each I/O in flight needs a thread.
    let blocking = !kind.is_asynchronous() && !null || matches!(target, Target::Model(_)) && !direct;
    let workers = if blocking && !as_fast { BLOCKING_WORKERS } else { 1 };
    let mut job = Job {
        name: String::from("replay"),
        numjobs: args.workers.unwrap_or(workers),
        group_reporting: true,
        replay: Some(replay),
        block_size,
        block_align: [align; 3],
        depth: Depth {
            iodepth,
            low: iodepth,
            ..Job::default().depth
        },
        direct,
        random_seed: 1,
        ..Job::default()
    };
    let [reads, writes, trims] = used;
    job.pattern.mix = Mix::Recorded { reads, writes, trims };
    // No order of offsets is known: nothing is to be read ahead, and no map of what was visited is kept.
    job.pattern.random = true;
    job.pattern.random_map = RandomMap::Independent;
    // How far it is, is told by what was moved.
    let bytes = job.replay.as_ref().map_or(0, |replay| replay.bytes.iter().sum());
    job.region.io_size = Some(Amount::Bytes(u64::div_ceil(bytes, job.numjobs.into())));
    job.engine.kind = kind;
    job.sync.mode = record.sync_mode();
    job.files.names = vec![match target {
        Target::File(path) => path.clone(),
        Target::Directory(path) => path.join(FILE_NAME),
        Target::Null | Target::Model(_) => PathBuf::from(FILE_NAME),
    }];
    job
}

/// How large the target is; `None`: it is made as large as it has to be.
fn target_bytes(job: &Job, machine: &Machine) -> anyhow::Result<Option<u64>> {
    if let Some(spec) = machine.spec() {
        return Ok(Some(spec.volume_bytes()));
    }
    if job.engine.kind == EngineKind::Null {
        return Ok(None);
    }
    // A job without a size has all that there is.
    let whole = Workload {
        jobs: vec![job.clone()],
    };
    match Plan::new(&whole) {
        Ok(plan) => {
            let file = plan
                .jobs
                .first()
                .and_then(|job| job.workers.first()?.files.first());
            let file = file.context("a replay has a file")?;
            Ok((file.kind != Kind::Character).then_some(file.span.bytes))
        }
        Err(PlanError::NoSize { .. }) => Ok(None),
        Err(PlanError::TooSmall { path, region, .. }) => bail!(
            "{} has {region} only: no I/O of the record fits into it",
            path.display()
        ),
        Err(error) => Err(error.into()),
    }
}

/// Settles where on the target the addresses of the record lie.
fn place(
    args: &ReplayArgs,
    job: &mut Job,
    looked: &Looked,
    have: Option<u64>,
    target: &Target,
) -> anyhow::Result<()> {
    let shown = args.record.display();
    let name = match target {
        Target::Model(words) => format!("model:{words}"),
        Target::Null => String::from("null:"),
        Target::File(_) | Target::Directory(_) => job.files.names[0].display().to_string(),
    };
    let extent = looked.extent_bytes;
    let to_bytes = match args.to {
        None => None,
        Some(FoldTo::Bytes(bytes)) => Some(bytes),
        Some(FoldTo::Target) => Some(have.with_context(|| {
            format!("--to target: {name} has no size of its own: give the size, as --to 100GiB")
        })?),
    };
    let how = match args.fold.unwrap_or_default() {
        FoldWord::Wrap => FoldKind::Wrap,
        FoldWord::Scale => FoldKind::Scale {
            align_bytes: looked.survey.align_bytes.max(1),
        },
    };
    let align = looked.survey.align_bytes.max(1);
    // Whole blocks: what wraps in the middle of one would not be aligned any more.
    let asked = to_bytes;
    let to_bytes = to_bytes.map(|bytes| bytes / align * align);
    let folds = |&to: &u64| to < extent || how != FoldKind::Wrap && to != extent;
    let fold = to_bytes.filter(folds).map(|to_bytes| Fold { to_bytes, how });
    let need = fold.map_or(extent, |fold| fold.to_bytes);
    let largest = job.max_block_bytes();
    if need < largest {
        bail!(
            "--to {}: the largest I/O of {shown} has {}: give as much at least",
            Bytes(asked.unwrap_or(need)),
            Bytes(largest)
        );
    }
    if let Some(have) = have
        && need > have
    {
        let reaches = format!("{shown} reaches to {} ({extent} bytes)", Bytes(extent));
        match fold {
            Some(_) => bail!("--to {}: {name} has {} only", Bytes(need), Bytes(have)),
            None => bail!(
                "{reaches}, {name} has {} ({have} bytes): fold it with --to target, or give a larger target",
                Bytes(have)
            ),
        }
    }
    job.region.size = match job.engine.kind {
        EngineKind::Null => None,
        _ => Some(Amount::Bytes(need)),
    };
    if let Some(replay) = &mut job.replay {
        replay.fold = fold;
    }
    Ok(())
}

/// The command line in the place of a job file.
fn written(args: &ReplayArgs) -> Written {
    Written {
        source: String::from("command line"),
        sections: vec![WrittenSection {
            name: String::from("replay"),
            options: vec![(String::from("record"), Some(args.record.display().to_string()))],
        }],
    }
}
