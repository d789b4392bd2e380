//! Workloads in words.
//!
//! Data in: jobs. Data out: a line that a person reads: `randread 4 KiB, direct, io_uring, iodepth 32, 1 worker,
//! for 10 s`. It must not know results.

mod replay;
mod sweep;

pub(crate) use replay::{kept as kept_times, replay as replay_of};
pub(crate) use sweep::{load, threads};
pub use sweep::{paragraphs, point};

use fathom_core::backend::Op;
use fathom_core::units::{Bytes, Nanos, binary_rate, count};
use fathom_core::workload::{
    Amount, Arrival, BlockSize, Distribution, EngineKind, Job, Limit, Mix, PerOp, Rate, SyncMode, Zone,
    ZoneSize,
};
use std::fmt::Display;

/// A job in one line: what, how, how many, how fast, for how long.
pub fn describe(job: &Job) -> String {
    if job.engine.kind == EngineKind::Exec {
        let program = &job.program;
        let mut words = vec![program.path.clone()];
        words.extend(program.words(&job.name, job.limit.runtime));
        let limit = match (job.limit.runtime, job.limit.time_based) {
            (None, _) => String::from("until it ends"),
            (Some(runtime), true) => format!("for {}", duration(runtime)),
            (Some(runtime), false) => format!("until it ends, at most {}", duration(runtime)),
        };
        let workers = plural(job.numjobs, "worker");
        return format!("exec {}, {workers}, {limit}", words.join(" "));
    }
    let what = match &job.replay {
        Some(replay) => format!("{}, {}", replay::replay(replay), block_sizes(job)),
        None => format!("{} {}", pattern(job), block_sizes(job)),
    };
    let mut parts = vec![what];
    parts.extend(distribution(job));
    parts.extend(cache(job).map(String::from));
    parts.push(job.engine.kind.name().to_owned());
    parts.extend(depth(job));
    parts.extend(syncs(job));
    parts.extend(rates(job));
    if let Some(verify) = &job.verify {
        parts.push(format!("verify {:?}", verify.algorithm).to_lowercase());
    }
    parts.push(plural(job.numjobs, "worker"));
    parts.push(limit(job));
    parts.join(", ")
}

/// Whether the page cache takes part; `None`: what is measured is no file of this machine, or
/// sent commands.
pub(crate) fn cache(job: &Job) -> Option<&'static str> {
    match (job.engine.kind, job.direct) {
        (
            EngineKind::Nbd | EngineKind::Http | EngineKind::Net | EngineKind::IoUringCmd | EngineKind::Sg,
            _,
        ) => None,
        (_, true) => Some("direct"),
        (_, false) => Some("buffered"),
    }
}

/// The name that job files have for an order and a mix, with the share of reads: `randrw 70 % reads`.
pub fn pattern(job: &Job) -> String {
    let random = if job.pattern.random { "rand" } else { "" };
    match job.pattern.mix {
        Mix::Read => format!("{random}read"),
        Mix::Write => format!("{random}write"),
        Mix::Trim => format!("{random}trim"),
        Mix::ReadWrite { read_percent } => format!("{random}rw {read_percent} % reads,"),
        Mix::TrimWrite => format!("{random}trimwrite"),
        Mix::Recorded { .. } => String::from("replay"),
    }
}

/// One size of all directions, or each direction's.
pub(crate) fn block_sizes(job: &Job) -> String {
    let used: Vec<usize> = job.used_ops().collect();
    let all_same = used
        .windows(2)
        .all(|pair| job.block_size[pair[0]] == job.block_size[pair[1]]);
    if all_same {
        return used
            .first()
            .map_or_else(String::new, |&op| block_size(&job.block_size[op]));
    }
    let each = |op: usize| format!("{} {}", Op::DATA[op].name(), block_size(&job.block_size[op]));
    joined(used.into_iter().map(each), ", ")
}

fn block_size(size: &BlockSize) -> String {
    match size {
        BlockSize::Fixed(bytes) => Bytes(*bytes).to_string(),
        BlockSize::Range { min, max, unaligned } => {
            let any = if *unaligned { " of any length" } else { "" };
            format!("{} to {}{any}", Bytes(*min), Bytes(*max))
        }
        BlockSize::Split(entries) => {
            let each = entries.iter();
            joined(
                each.map(|e| format!("{} ({} %)", Bytes(e.bytes), e.percent)),
                " + ",
            )
        }
    }
}

/// Digits with commas between thousands: `3,570`.
pub(crate) fn with_commas(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How random offsets are distributed, where not evenly.
pub(crate) fn distribution(job: &Job) -> Option<String> {
    let op = job.used_ops().next()?;
    if !job.pattern.random {
        return None;
    }
    match &job.pattern.distribution[op] {
        Distribution::Uniform => None,
        Distribution::Zipf { theta, .. } => Some(format!("zipf {theta}")),
        Distribution::Pareto { h, .. } => Some(format!("pareto {h}")),
        Distribution::Normal {
            deviation_percent, ..
        } => Some(format!("normal, deviation {deviation_percent} %")),
        Distribution::Zones(zones) => Some(self::zones(zones)),
        Distribution::Sequence { blocks, .. } => Some(format!("{} blocks in turn", blocks.len())),
    }
}

fn zones(zones: &[Zone]) -> String {
    let each = zones.iter().map(|zone| {
        let part = match zone.size {
            ZoneSize::Bytes(bytes) => Bytes(bytes).to_string(),
            ZoneSize::Percent(percent) => format!("{percent} %"),
            ZoneSize::Rest => String::from("the rest"),
        };
        format!("{} % of I/O to {part}", zone.io_percent)
    });
    format!("zones: {}", joined(each, ", "))
}

/// How many in flight, where that is not one as a matter of course. Synchronous engines keep one, whatever was asked for.
pub(crate) fn depth(job: &Job) -> Option<String> {
    let iodepth = job.depth.iodepth;
    if job.is_asynchronous() || (job.engine.kind == EngineKind::Null && iodepth > 1) {
        Some(format!("iodepth {iodepth}"))
    } else {
        (iodepth > 1).then(|| format!("iodepth 1 (not {iodepth})"))
    }
}

/// How writes become durable.
pub(crate) fn syncs(job: &Job) -> Vec<String> {
    let sync = &job.sync;
    let mode = match sync.mode {
        SyncMode::None => None,
        SyncMode::Sync => Some(String::from("O_SYNC")),
        SyncMode::DataSync => Some(String::from("O_DSYNC")),
    };
    let every = |n: u32, call: &str| match n {
        0 => None,
        1 => Some(format!("{call} after each write")),
        n => Some(format!("{call} after every {n} writes")),
    };
    let parts = [
        mode,
        every(sync.fsync_every, "fsync"),
        every(sync.fdatasync_every, "fdatasync"),
        sync.fsync_at_end.then(|| String::from("fsync at the end")),
        sync.fsync_on_close.then(|| String::from("fsync on close")),
    ];
    parts.into_iter().flatten().collect()
}

/// The schedule, where there is one.
pub(crate) fn rates(job: &Job) -> Vec<String> {
    let rates: PerOp<Option<Rate>> = job.pace.rate;
    let used: Vec<usize> = job.used_ops().filter(|&op| rates[op].is_some()).collect();
    let arrival = match job.pace.arrival {
        Arrival::Constant => "",
        Arrival::Poisson => ", Poisson",
    };
    let each = |op: usize| {
        let text = match rates[op]? {
            Rate::Iops(iops) => format!("{} IOPS", count(iops as f64)),
            Rate::BytesPerSecond(bytes) => binary_rate(bytes as f64),
        };
        let name = Op::DATA[op].name();
        Some(format!("{name}s at {text} a worker{arrival}"))
    };
    used.into_iter().filter_map(each).collect()
}

/// How long or how much.
pub(crate) fn limit(job: &Job) -> String {
    let Limit {
        runtime,
        time_based,
        ramp_time,
        cooldown_time,
    } = job.limit;
    let work = match &job.replay {
        Some(replay) => {
            let ios = replay.ios.iter().sum::<u64>() as f64;
            format!("{} I/Os of {}", count(ios), duration(replay.length))
        }
        None => amount_of_work(job),
    };
    let mut text = match (runtime, time_based) {
        (Some(runtime), true) => format!("for {}", duration(runtime)),
        (Some(runtime), false) => format!("{work}, at most {}", duration(runtime)),
        (None, _) => work,
    };
    if !ramp_time.is_zero() {
        text = format!("{text} after a ramp of {}", duration(ramp_time));
    }
    if !cooldown_time.is_zero() {
        text = format!("{text}, then {} not counted", duration(cooldown_time));
    }
    text
}

/// What a worker does unless time ends it.
fn amount_of_work(job: &Job) -> String {
    let region = &job.region;
    let mut text = match (region.number_ios, region.io_size.or(region.size)) {
        (Some(ios), _) => format!("{} a worker", plural(ios, "I/O")),
        (None, Some(amount)) => format!("{} a worker", self::amount(amount)),
        (None, None) => String::from("all that the files hold"),
    };
    if region.loops > 1 {
        text = format!("{text}, {} times", region.loops);
    }
    text
}

/// A number of bytes or a share.
pub(crate) fn amount(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => Bytes(bytes).to_string(),
        Amount::Percent(percent) => format!("{percent} %"),
    }
}

/// A duration as people set it: whole seconds, minutes and hours stay whole (`90 s`, `24 h`), others have three
/// digits.
pub(crate) fn duration(duration: Nanos) -> String {
    const SECOND: u64 = 1_000_000_000;
    match duration.get() {
        ns if ns == 0 || ns % SECOND != 0 => duration.to_string(),
        ns if ns % (3600 * SECOND) == 0 => format!("{} h", ns / (3600 * SECOND)),
        ns if ns % (60 * SECOND) == 0 => format!("{} min", ns / (60 * SECOND)),
        ns => format!("{} s", ns / SECOND),
    }
}

/// `1 worker`, `2 workers`.
pub(crate) fn plural<N: TryInto<u64>>(n: N, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Each with that between them.
pub(crate) fn joined<T: Display>(each: impl IntoIterator<Item = T>, between: &str) -> String {
    let texts: Vec<String> = each.into_iter().map(|one| one.to_string()).collect();
    texts.join(between)
}

/// A value; what stands for one where there is none.
pub(crate) fn or<T: Display>(value: Option<T>, none: &str) -> String {
    value.map_or_else(|| none.to_owned(), |value| value.to_string())
}

/// Amounts and what they are of, but those of nothing.
pub(crate) fn told_if_any<const N: usize>(parts: [(u64, &str); N], write: impl Fn(u64) -> String) -> String {
    let parts = parts.into_iter().filter(|(amount, _)| *amount > 0);
    joined(
        parts.map(|(amount, what)| format!("{} {what}", write(amount))),
        ", ",
    )
}

/// A text, where it is so.
pub(crate) fn when(so: bool, text: impl FnOnce() -> String) -> String {
    if so { text() } else { String::new() }
}

/// `4`, `4 to 64`.
pub(crate) fn from_to<T: Display>(least: T, most: T) -> String {
    let (least, most) = (least.to_string(), most.to_string());
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// A word of a command line, in quotes where a shell would take it for more than one word.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+=,:/@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The same text with its first letter as a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

#[cfg(test)]
mod tests;
