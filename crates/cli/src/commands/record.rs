//! `fathom record`: watches a device without a load of its own, or a command.
//!
//! Data in: arguments as typed. Data out: a run directory with streams and no jobs. It changes nothing on the device.

mod command;

use crate::args::record::RecordArgs;
use crate::commands::serve::{self, Serving};
use crate::exit::Exit;
use crate::request;
use crate::terminal::Colour;
use crate::terminal::live::{self, Live};
use crate::terminal::signals::Bell;
use crate::terminal::{self, signals, tell};
use anyhow::{Context, bail};
use fathom_core::clock::Clock;
use fathom_core::run::{Environment, Status, Target, TargetFile};
use fathom_core::units::{MonoTime, Nanos};
use fathom_observe::{SystemRoot, target};
use fathom_report::text;
use fathom_session::recording::Recording;
use fathom_session::{AfterTouching as _, How, Machine, Output, reserve_directory};
use fathom_sys::clock::HostClock;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the line on a terminal is drawn anew.
const REDRAW: Duration = Duration::from_millis(500);
/// The longest sleep where nobody watches.
const LONG: Duration = Duration::from_mins(1);

/// Carries `fathom record` out.
pub(crate) fn record(args: &RecordArgs) -> anyhow::Result<Exit> {
    let system = SystemRoot::default();
    if !args.line.is_empty() {
        return command::record(args, &system);
    }
    let Some(named) = &args.device else {
        bail!("give a device (--device), or a command after --");
    };
    let file = on_device(&system, named)?;
    can_be_kept(args)?;
    let Some(device) = &file.device else {
        bail!("--device {}: no block device is known below it", file.path);
    };
    let name = device.name.clone();
    let output = args.output.clone().map_or(Output::Default, Output::Directory);
    let stop = signals::stop_flag()?;
    let mut bell = signals::bell()?;
    let environment = request::machine();
    let target = Target {
        description: file.path.clone(),
        called: None,
        modelled: false,
        files: vec![file.clone()],
    };
    let how = How {
        streams: args.streams,
        command: args.words.clone(),
        called: args.called.clone(),
        ..How::default()
    };
    let serving = Serving::begin(&args.serve, &system, &subject(&name, &environment, &target))?;
    let Some(dir) = reserve_directory(&output, &name)? else {
        bail!("--output none: a recording that is kept nowhere has no use");
    };
    let mut live = Live::new(args.quiet);
    let mut live = serving.watched(&mut live);
    let recording = Recording::begin(&system, &how, file, environment, &dir, &mut live)?;
    let waited = wait(args, &name, recording.clock(), &stop, &mut bell);
    let interrupted = waited.after_touching(|| tell::kept(Some(&dir)))?;
    let status = match args.duration {
        Some(_) if interrupted => Status::Interrupted,
        _ => Status::Complete,
    };
    let (run, end) = recording.end(status, &mut live);
    terminal::print(&text::render(&run, terminal::stdout_style(Colour::Auto)))
        .after_touching(|| tell::kept(Some(&dir)))?;
    tell::place(Some(&dir), args.quiet, "what it shows", "explain");
    serving.end(&stop);
    Ok(end.into())
}

/// What is watched, for who looks: there is no load.
fn subject<'a>(name: &str, environment: &'a Environment, target: &'a Target) -> serve::Subject<'a> {
    serve::Subject {
        title: format!("recording {name}"),
        jobs: Vec::new(),
        machine: &Machine::This,
        environment,
        target,
        sweep_steps: None,
    }
}

/// What was named, on a device.
fn on_device(system: &SystemRoot, named: &Path) -> anyhow::Result<TargetFile> {
    let file = target::inspect(system, &device_path(named)?);
    if file.device.is_none() {
        bail!(
            "--device {}: no block device is known below it: {}",
            file.path,
            file.device_missing
                .as_deref()
                .unwrap_or("the system does not say which")
        );
    }
    Ok(file)
}

fn can_be_kept(args: &RecordArgs) -> anyhow::Result<()> {
    if args.streams.io {
        bail!("--record=io: there is no load whose I/Os could be kept: give block, counters or both");
    }
    Ok(())
}

/// The path of what was named: a bare kernel name is a node in `/dev`.
fn device_path(named: &Path) -> anyhow::Result<PathBuf> {
    if named.exists() {
        return Ok(named.to_owned());
    }
    let node = Path::new("/dev").join(named);
    if node.exists() {
        return Ok(node);
    }
    bail!(
        "--device {}: there is no such device, file or directory (lsblk lists the devices)",
        named.display()
    )
}

/// Waits for the end: the time is over, or (`true`) somebody does not want to wait any longer.
fn wait(
    args: &RecordArgs,
    name: &str,
    clock: &HostClock,
    stop: &AtomicBool,
    bell: &mut Bell,
) -> anyhow::Result<bool> {
    let start = clock.now();
    let end = args
        .duration
        .map_or(MonoTime::NEVER, |duration| start.after(duration));
    let hidden = args.quiet || !terminal::stderr_redraws();
    let bar = live::bar(None, "{msg}", hidden);
    loop {
        let now = clock.now();
        if now >= end {
            bar.finish_and_clear();
            return Ok(false);
        }
        if stop.load(Ordering::Relaxed) {
            bar.finish_and_clear();
            return Ok(true);
        }
        let elapsed = whole_seconds(now.since(start));
        bar.set_message(match args.duration {
            Some(duration) => format!(
                "recording {name}: {elapsed} of {}, {} left (Ctrl-C ends it)",
                whole_seconds(duration),
                whole_seconds(end.since(now))
            ),
            None => format!("recording {name}: {elapsed} (Ctrl-C ends it)"),
        });
        let pause = if bar.is_hidden() { LONG } else { REDRAW };
        let left = Duration::from_nanos(end.since(now).0);
        // A read that waits for no time at all would wait for ever.
        bell.sleep(pause.min(left).max(Duration::from_micros(1)))
            .context("cannot wait for the end")?;
    }
}

fn whole_seconds(time: Nanos) -> Nanos {
    Nanos::from_secs(time.0 / 1_000_000_000)
}
