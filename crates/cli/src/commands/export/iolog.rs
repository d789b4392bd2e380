//! `fathom export --iolog`: the I/Os of a run as fio's trace.

use super::{CANNOT_WRITE, check, fill};
use crate::args::evidence::ExportArgs;
use crate::recorded::run_dir::{self, RunIos, Volumes};
use crate::terminal;
use anyhow::{Context as _, bail};
use fathom_core::record::StreamKind;
use fathom_core::run::{DeviceInfo, Run};
use fathom_report::export::iolog::{Iolog, Version, can_name};
use fathom_session::replay::ArrivalSource as _;
use std::collections::BTreeMap;

/// Writes the log.
pub(super) fn write(args: &ExportArgs, run: &Run) -> anyhow::Result<()> {
    let kind = match args.stream {
        Some(kind @ (StreamKind::Io | StreamKind::Block)) => kind,
        Some(other) => bail!(
            "--stream {}: an iolog has the I/Os of io or of block",
            other.name()
        ),
        None => run_dir::ios_of(&args.dir, run, false).unwrap_or(StreamKind::Io),
    };
    check(args, kind)?;
    let volumes = match kind {
        StreamKind::Block => {
            let infos = run_dir::device_infos(run);
            let upper = infos.iter().filter(|info| !run_dir::is_below(info, &infos));
            let upper: Vec<&DeviceInfo> = upper.copied().collect();
            if upper.is_empty() {
                bail!(
                    "{}: its requests are those of no device that has a name",
                    args.dir.display()
                );
            }
            Volumes::of(run, &upper)
        }
        _ => Volumes::of(run, &[]),
    };
    let names: Vec<String> = volumes.names().map(str::to_owned).collect();
    if let Some(name) = names.iter().find(|name| !can_name(name)) {
        bail!("fio reads no name with blanks or of more than 255 bytes back: `{name}`");
    }
    let places: BTreeMap<String, usize> = names.iter().cloned().zip(0..).collect();
    let version = match args.iolog_version {
        Some(2) => Version::Two,
        _ => Version::Three,
    };
    let mut ios = RunIos::open(&args.dir, run, kind, volumes.clone())?;
    let whole = fill(args, |out| {
        let mut log = Iolog::begin(version, names.clone(), out).context(CANNOT_WRITE)?;
        let mut arrivals = Vec::new();
        while ios.next(&mut arrivals)? {
            for arrival in arrivals.drain(..) {
                let Some((name, base_bytes)) = volumes.name_at(arrival.offset_bytes) else {
                    continue;
                };
                let file = places.get(name).copied().unwrap_or(0);
                log.io(&arrival, file, arrival.offset_bytes - base_bytes, out)
                    .context(CANNOT_WRITE)?;
            }
        }
        log.finish(out).context(CANNOT_WRITE)
    })?;
    if whole {
        if ios.failed > 0 {
            terminal::note(&format!("{} I/Os that failed are not in it", ios.failed));
        }
        if !ios.complete() {
            terminal::note("the run is under way or was killed: up to the last second is missing");
        }
    }
    Ok(())
}
