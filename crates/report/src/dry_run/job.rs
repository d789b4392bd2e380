//! One job of a dry run: every setting that matters, a line for each kind of them.
//!
//! Data in: a job as resolved, and where known what its files hold. Data out: blocks. It must not know sums.

use super::placement::PlacedJob;
use crate::document::content::Block;
use crate::words::{
    amount, block_sizes, cache, depth, distribution, duration, from_to, joined, limit, pattern, plural,
    rates, replay_of, syncs,
};
use fathom_core::units::{Bytes, Nanos};
use fathom_core::workload::{Amount, FileChoice, Files, Job, RandomMap, ThinkTimeBasis, ZoneRules};
use std::path::PathBuf;

/// A job; `placed` as far as its files are known.
pub(super) fn blocks(job: &Job, placed: Option<&PlacedJob>) -> Vec<Block> {
    let about = Some(job.description.clone()).filter(|about| !about.is_empty());
    let facts = [
        ("what", what(job)),
        ("where", place(job, placed)),
        ("how", how(job)),
        ("pace", pace(job)),
        ("start", start(job)),
        ("stop", stop(&settled(job, placed))),
        ("data", data(job)),
    ];
    let facts = facts.into_iter().filter(|(_, parts)| !parts.is_empty());
    let facts = facts.map(|(name, parts)| (name, parts.join(", "))).collect();
    about
        .map(Block::Text)
        .into_iter()
        .chain([Block::Facts(facts)])
        .collect()
}

fn what(job: &Job) -> Vec<String> {
    if let Some(replay) = &job.replay {
        return vec![replay_of(replay), block_sizes(job)];
    }
    let mut parts = vec![format!("{} {}", pattern(job), block_sizes(job))];
    let shape = &job.pattern;
    if shape.random {
        parts.extend(match shape.random_map {
            RandomMap::Independent => {
                let skew = distribution(job).map_or_else(String::new, |skew| format!(", {skew}"));
                Some(format!("blocks drawn independently{skew}"))
            }
            RandomMap::NextFree => Some(String::from(
                "a block drawn again gives its turn to the next free one",
            )),
            RandomMap::EachOnce => None,
        });
        parts.extend((shape.run_length > 1).then(|| format!("runs of {} I/Os", shape.run_length)));
        let percents = job.used_ops().map(|op| shape.random_percent[op]);
        let mixed = percents.into_iter().find(|percent| *percent < 100);
        parts.extend(mixed.map(|percent| format!("{percent} % of them random")));
    } else if shape.skip_bytes != 0 {
        let sign = if shape.skip_bytes < 0 { "-" } else { "" };
        let skipped = Bytes(shape.skip_bytes.unsigned_abs());
        parts.push(format!("skipping {sign}{skipped}"));
    }
    parts.extend(shape.zones.map(|rules| zones(job, &rules)));
    parts
}

/// How zones are used. What is written is lost when its zone is emptied, which is to be said before.
fn zones(job: &Job, rules: &ZoneRules) -> String {
    let [reads, writes, _] = job.pattern.mix.uses();
    let mut parts = Vec::new();
    if writes {
        parts.push(String::from("written at their write pointers"));
        parts.push(if rules.reset_above_share > 0.0 && rules.reset_share > 0.0 {
            format!(
                "emptied when full, and by {} % of writes once {} % of the region is written",
                rules.reset_share * 100.0,
                rules.reset_above_share * 100.0
            )
        } else {
            String::from("emptied when full")
        });
        let limits = [
            (rules.max_open, "in all"),
            (rules.max_open_per_worker, "by each worker"),
        ];
        let limits = limits.iter().filter(|(most, _)| *most > 0);
        parts.extend(limits.map(|(most, whose)| format!("at most {most} written in part {whose}")));
        parts.extend(
            rules
                .ignores_limits
                .then(|| String::from("whatever the device's limits are")),
        );
    }
    parts.extend(reads.then(|| {
        String::from(if rules.reads_beyond {
            "read beyond write pointers, too"
        } else {
            "read below write pointers"
        })
    }));
    let size = match rules.size_bytes {
        0 => String::from("the device's zones"),
        bytes => format!("zones of {}", Bytes(bytes)),
    };
    format!("{size}: {}", parts.join("; "))
}

fn place(job: &Job, placed: Option<&PlacedJob>) -> Vec<String> {
    let mut parts = files(&job.files, &job.name);
    let region = &job.region;
    parts.extend(size(job, placed));
    if let Some(offset) = region.offset {
        let start = placed.and_then(PlacedJob::offset_bytes);
        parts.push(format!("from offset {}", share(offset, start)));
    }
    if let Some(step) = region.offset_increment {
        let step = share(step, placed.and_then(PlacedJob::increment_bytes));
        parts.push(format!("{step} further for each worker"));
    }
    let sizes = region.file_size;
    parts.extend(sizes.map(|(low, high)| format!("files of {}", from_to(Bytes(low), Bytes(high)))));
    parts
}

/// The size that is used, and the one asked for where that is another.
fn size(job: &Job, placed: Option<&PlacedJob>) -> Option<String> {
    let asked = job.region.size;
    let Some((least, most)) = placed.and_then(|placed| placed.size_bytes(job)) else {
        return asked.map(|asked| format!("size {}", amount(asked)));
    };
    let used = from_to(Bytes(least), Bytes(most));
    Some(match asked {
        // Several files may not share it without a rest.
        Some(Amount::Bytes(bytes)) if bytes.abs_diff(least) < u64::from(job.files.nrfiles.max(2)) => {
            format!("size {}", Bytes(bytes))
        }
        Some(Amount::Bytes(bytes)) => format!("size {used} ({} was asked for)", Bytes(bytes)),
        Some(Amount::Percent(percent)) => format!("size {used} ({percent} %)"),
        None => format!("size {used} (all of it)"),
    })
}

/// An amount; a share in bytes, where that is known.
fn share(asked: Amount, bytes: Option<u64>) -> String {
    match (asked, bytes) {
        (Amount::Percent(percent), Some(bytes)) => format!("{} ({percent} %)", Bytes(bytes)),
        (asked, _) => amount(asked),
    }
}

/// The job with the sizes that its files give it, as far as all its workers have the same.
fn settled(job: &Job, placed: Option<&PlacedJob>) -> Job {
    let mut job = job.clone();
    let Some(placed) = placed else { return job };
    let one = |bounds: Option<(u64, u64)>| {
        let (least, most) = bounds?;
        (least == most).then_some(Amount::Bytes(most))
    };
    if let Some(size) = one(placed.size_bytes(&job)) {
        job.region.size = Some(size);
    }
    if let (Some(Amount::Percent(_)), Some(amount)) = (job.region.io_size, one(placed.amount_bytes())) {
        job.region.io_size = Some(amount);
    }
    job
}

fn files(files: &Files, job: &str) -> Vec<String> {
    let join = |paths: &[PathBuf]| joined(paths.iter().map(|path| path.display()), ", ");
    let mut parts = Vec::new();
    if files.names.is_empty() {
        let name = files.name_format.replace("$jobname", job);
        parts.push(format!("{} a worker named {name}", plural(files.nrfiles, "file")));
    } else {
        parts.push(join(&files.names));
    }
    if !files.directories.is_empty() {
        parts.push(format!("in {}", join(&files.directories)));
    }
    if files.nrfiles > 1 || files.names.len() > 1 {
        parts.push(String::from(match files.choice {
            FileChoice::RoundRobin => "each in turn",
            FileChoice::Random => "one at random each time",
            FileChoice::Sequential => "one after the other",
            FileChoice::Zipf { .. } | FileChoice::Pareto { .. } | FileChoice::Normal { .. } => {
                "some more often than others"
            }
        }));
    }
    let flags = [
        (files.overwrite, "written in full before"),
        (files.pre_read, "read in full before"),
        (files.unlink, "removed after"),
        (!files.may_create, "never made"),
        (!files.invalidate, "page cache kept"),
    ];
    parts.extend(set(&flags).map(String::from));
    parts
}

/// The words of what is so.
fn set<'a>(flags: &'a [(bool, &str)]) -> impl Iterator<Item = &'a str> {
    flags.iter().filter(|(set, _)| *set).map(|(_, text)| *text)
}

fn how(job: &Job) -> Vec<String> {
    let engine = &job.engine;
    let mut parts = vec![engine.kind.name().to_owned()];
    parts.extend(cache(job).map(String::from));
    parts.push(depth(job).unwrap_or_else(|| String::from("iodepth 1")));
    parts.push(plural(job.numjobs, "worker"));
    let flags = [
        (engine.poll, "polled"),
        (engine.fixed_buffers, "fixed buffers"),
        (engine.registered_files, "registered files"),
        (engine.submission_thread, "kernel submission thread"),
        (engine.vectored, "vectored"),
        (engine.nowait, "nowait"),
    ];
    parts.extend(set(&flags).map(String::from));
    let depth = &job.depth;
    match depth.batch_submit {
        0 => parts.push(String::from("all that are ready submitted at once")),
        1 => {}
        n => parts.push(format!("submitted by {n}")),
    }
    if depth.batch_complete_min != 1 || depth.batch_complete_max > 0 {
        let max = match depth.batch_complete_max {
            0 => String::from("all"),
            n => n.to_string(),
        };
        parts.push(format!("reaped by {} to {max}", depth.batch_complete_min));
    }
    let refilled = || format!("refilled from {} in flight", depth.low);
    parts.extend((depth.low < depth.iodepth).then(refilled));
    parts.extend(syncs(job));
    if !job.cpus_allowed.is_empty() {
        let split = if job.cpus_split { ", one a worker" } else { "" };
        parts.push(format!("CPUs {}{split}", joined(&job.cpus_allowed, " ")));
    }
    parts.extend((job.nice != 0).then(|| format!("nice {}", job.nice)));
    parts
}

fn pace(job: &Job) -> Vec<String> {
    if job.replay.is_some() {
        return Vec::new();
    }
    let mut parts = rates(job);
    if parts.is_empty() {
        parts.push(String::from("as fast as there is room (closed loop)"));
    }
    if let Some(think) = job.pace.think {
        let basis = match think.basis {
            ThinkTimeBasis::Complete => "completed",
            ThinkTimeBasis::Issue => "sent",
        };
        let what = plural(think.blocks, "I/O");
        parts.push(format!(
            "a pause of {} after {what} {basis}",
            duration(think.pause)
        ));
    }
    parts
}

fn start(job: &Job) -> Vec<String> {
    let mut parts = Vec::new();
    if job.start.stonewall {
        parts.push(String::from("after all jobs before it"));
    }
    if let Some(name) = &job.start.wait_for {
        parts.push(format!("after {name}"));
    }
    match job.start.delay {
        (Nanos(0), Nanos(0)) => {}
        (Nanos(0), to) => parts.push(format!("up to {} later", duration(to))),
        (from, to) => parts.push(format!("{} later", from_to(duration(from), duration(to)))),
    }
    parts
}

fn stop(job: &Job) -> Vec<String> {
    let mut parts = vec![limit(job)];
    let rule = job.on_error;
    let borne = [
        (rule.read, "read"),
        (rule.write, "write"),
        (rule.verify, "verify"),
    ];
    let borne = joined(set(&borne), " and ");
    parts.extend((!borne.is_empty()).then(|| format!("going on after {borne} errors")));
    parts
}

fn data(job: &Job) -> Vec<String> {
    let mut parts = Vec::new();
    if job.writes() {
        let buffers = &job.buffers;
        parts.push(match (buffers.zero, buffers.pattern.len()) {
            (true, _) => String::from("zeros"),
            (false, 0) => String::from("random bytes"),
            (false, length) => format!("a pattern of {}", Bytes(length as u64)),
        });
        if let Some(compression) = buffers.compression {
            parts.push(format!("{} % compressible", compression.percent));
        }
        if buffers.refill {
            parts.push(String::from("new for each write"));
        } else if buffers.scramble && !buffers.zero && buffers.pattern.is_empty() {
            parts.push(String::from("no two blocks alike"));
        }
        parts.push(format!("seed {}", job.random_seed));
    }
    if let Some(verify) = &job.verify {
        let only = if verify.only { " of what is there" } else { "" };
        parts.push(format!("verification{only} by {:?}", verify.algorithm).to_lowercase());
    }
    parts
}
