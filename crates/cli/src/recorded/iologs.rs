//! Records that job files name (`read_iolog`), made ready to be played.
//!
//! Data in: jobs as resolved. Data out: the same jobs with what the records need (files, sizes, directions), and the records
//! themselves. All of each record is looked through, so that what is wrong with it is said before anything is touched.

use super::outside::{Bases, Outside, OutsideIos};
use anyhow::bail;
use fathom_core::arrival::Arrival;
use fathom_core::workload::{
    Amount, BlockSize, Job, LeftOut, Mix, RandomMap, ReadIolog, Replay, ReplayFile, ReplayLayout,
    ReplayOrder, Workload,
};
use fathom_session::replay::{ArrivalSource, Recording, Survey};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Trims move no data: their buffers are no larger than a sector.
const TRIM_BYTES: u64 = 512;

/// The records of a workload, each with the number of the job that plays it.
pub(crate) type Recordings = Vec<(u32, Arc<Recording>)>;

/// Gives each job that plays a record what it needs for that. `aimed`: its files are settled already. `None`: `stop` was set.
///
/// # Errors
/// A record cannot be read, is not what it should be, or has nothing to play.
pub(crate) fn attach(
    workload: &mut Workload,
    aimed: bool,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Recordings>> {
    let mut recordings = Vec::new();
    for (number, job) in (0..).zip(&mut workload.jobs) {
        let Some(words) = job.read_iolog.clone() else {
            continue;
        };
        match attach_one(job, &words, aimed, stop)? {
            Some(recording) => recordings.push((number, Arc::new(recording))),
            None => return Ok(None),
        }
    }
    Ok(Some(recordings))
}

fn attach_one(
    job: &mut Job,
    words: &ReadIolog,
    aimed: bool,
    stop: &AtomicBool,
) -> anyhow::Result<Option<Recording>> {
    let shown = words.path.display();
    let outside = Outside::open(&words.path, None)?;
    let one_file = aimed || words.redirect.is_some();
    let mut layout = ReplayLayout {
        by_each_worker: true,
        divisor: words.divisor,
        align_bytes: words.align_bytes,
        files: Vec::new(),
    };
    let mut ios = Placed {
        ios: outside.source(&[], Bases::new())?,
        layout: layout.clone(),
    };
    let survey = Survey::of(&mut ios, &mut |_| !stop.load(Ordering::Relaxed))?;
    let Some(survey) = survey else { return Ok(None) };
    let seen = ios.ios.seen();
    let mut counts = survey.ios;
    let mut bytes = survey.bytes;
    let mut left_out: Vec<LeftOut> = Vec::new();
    for (op, name) in ["reads", "writes", "trims", "syncs"].into_iter().enumerate() {
        let ios = if words.skips[op] {
            std::mem::take(&mut counts[op])
        } else {
            0
        };
        if ios > 0 {
            if let Some(bytes) = bytes.get_mut(op) {
                *bytes = 0;
            }
            left_out.push(LeftOut {
                what: format!("{name}, by replay_skip"),
                ios,
            });
        }
    }
    if counts[..3].iter().sum::<u64>() == 0 {
        bail!(
            "{}: read_iolog: {shown} has nothing to play but {} syncs",
            job.name,
            counts[3]
        );
    }
    let reach = |end_bytes: u64| layout.offset(end_bytes).saturating_add(slack(&survey, words));
    let bases = if one_file {
        let end_bytes = seen.ends_bytes.iter().copied().max().unwrap_or(0);
        layout.files = vec![ReplayFile {
            base_bytes: 0,
            extent_bytes: reach(end_bytes),
        }];
        Bases::new()
    } else {
        let names = seen.volumes.iter().map(|(name, _)| name);
        let files = names.zip(&seen.ends_bytes).map(|(name, &end_bytes)| ReplayFile {
            base_bytes: seen.bases.get(name).copied().unwrap_or(0),
            extent_bytes: reach(end_bytes),
        });
        layout.files = files.collect();
        job.files.names = seen.volumes.iter().map(|(name, _)| PathBuf::from(name)).collect();
        seen.bases.clone()
    };
    if let (Some(path), false) = (&words.redirect, aimed) {
        job.files.names = vec![path.clone()];
    }
    let replay = Replay {
        record: shown.to_string(),
        format: outside.format,
        order: if seen.known.times && !words.no_stall {
            ReplayOrder::Timed
        } else {
            ReplayOrder::AsFast
        },
        speed_permille: words.speed_percent.saturating_mul(10),
        ios: counts,
        bytes,
        length: fathom_core::units::Nanos(survey.last_ns.saturating_sub(survey.first_ns)),
        extent_bytes: seen.extent_bytes,
        fold: None,
        left_out,
        layout,
    };
    let recording = Recording::new(Box::new(outside.source(&[], bases)?), &replay, survey.first_ns);
    fit(job, &survey, replay);
    Ok(Some(recording))
}

/// How far the last I/O of a file may reach behind where its end comes to lie, once offsets are changed.
fn slack(survey: &Survey, words: &ReadIolog) -> u64 {
    if words.divisor == 1 && words.align_bytes == 0 {
        return 0;
    }
    survey.largest.iter().copied().max().unwrap_or(0)
}

/// The job's directions and sizes are those of what it plays.
fn fit(job: &mut Job, survey: &Survey, replay: Replay) {
    let align = survey.align_bytes.max(1);
    let used = [0, 1, 2].map(|op| replay.ios[op] > 0);
    let largest = (0..2).filter(|&op| used[op]).map(|op| survey.largest[op]).max();
    let largest = largest.unwrap_or(TRIM_BYTES);
    job.block_size = [0, 1, 2].map(|op| match (survey.smallest[op], survey.largest[op]) {
        _ if op == 2 => BlockSize::Fixed(TRIM_BYTES),
        (0, _) => BlockSize::Fixed(largest),
        (min, max) if min == max => BlockSize::Fixed(min),
        (_, max) => BlockSize::Range {
            min: align,
            max,
            unaligned: false,
        },
    });
    job.block_align = [align; 3];
    let [reads, writes, trims] = used;
    job.pattern.mix = Mix::Recorded { reads, writes, trims };
    // No order of offsets is known: nothing is to be read ahead, and no map of what was visited is kept.
    job.pattern.random = true;
    job.pattern.random_map = RandomMap::Independent;
    job.region.size = None;
    job.region.file_size = None;
    job.region.io_size = Some(Amount::Bytes(replay.bytes.iter().sum()));
    job.replay = Some(replay);
}

/// A record whose offsets are where they will be.
struct Placed {
    ios: OutsideIos,
    layout: ReplayLayout,
}

impl ArrivalSource for Placed {
    fn next(&mut self, arrivals: &mut Vec<Arrival>) -> anyhow::Result<bool> {
        let from = arrivals.len();
        let more = self.ios.next(arrivals)?;
        for arrival in arrivals.iter_mut().skip(from) {
            arrival.offset_bytes = self.layout.offset(arrival.offset_bytes);
        }
        Ok(more)
    }
}
