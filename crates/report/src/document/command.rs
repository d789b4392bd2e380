//! What a recorded command did: how it ended, what it spent its time on, what it read and wrote, whose I/O was whose.
//!
//! Data in: [`CommandSummary`]s. Data out: blocks. It must not judge.

use super::content::{Block, Table};
use super::explained::percent;
use crate::words::{joined, plural, when};
use fathom_analysis::explain::answer::{CommandTime, Unit};
use fathom_core::run::{CommandDevice, CommandExit, CommandSummary, CommandWaits, Moved, Run, TimeSplit};
use fathom_core::units::{Bytes, Nanos, binary_rate, count};

/// Letters of a command that are told.
const WORDS_MAX: usize = 200;
/// The share of what a command wrote from which on it is said that the disk does not have it yet.
const LEFT_MIN: f64 = 0.01;

/// All that is known of the commands of a run.
pub(crate) fn blocks(run: &Run) -> Vec<Block> {
    run.summary.commands.iter().flat_map(of).collect()
}

/// A command as it was typed, about.
pub(crate) fn words(argv: &[String]) -> String {
    let plain = |word: &String| {
        let harmless = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%".contains(letter);
        !word.is_empty() && word.chars().all(harmless)
    };
    let quoted = |word: &String| {
        if plain(word) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let line = argv.iter().map(quoted).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS_MAX) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// How a command ended, as the end of a sentence.
pub fn exit(exit: CommandExit) -> String {
    match exit {
        CommandExit::Code(code) => format!("ended with exit code {code}"),
        CommandExit::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

fn of(command: &CommandSummary) -> Vec<Block> {
    let mut facts = vec![
        ("command", words(&command.argv)),
        (
            "took",
            format!("{}, and {}", Nanos(command.duration_ns()), exit(command.exit)),
        ),
    ];
    facts.extend(spent(command).map(|text| ("spent", text)));
    facts.extend(threads(command).map(|text| ("its threads", text)));
    if !command.cpu.is_not_known() {
        facts.push(("CPU", cpu(command)));
    }
    facts.extend(asked_for(command).map(|text| ("I/O", text)));
    facts.extend(left(command).map(|text| ("left over", text)));
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(command.devices.iter().map(|device| Block::Table(whose(device))));
    if !command.missing.is_empty() {
        let missing = command.missing.iter().map(|text| format!("not known: {text}"));
        blocks.push(Block::List(missing.collect()));
    }
    blocks
}

/// What became of its time: at limits of disks, and on what.
pub(crate) fn time(command: &CommandTime) -> String {
    let took = Nanos(command.duration_ns);
    let limits = command.limits.iter().map(|limit| {
        let rate = match limit.unit {
            Unit::BytesPerSecond => binary_rate(limit.rate),
            _ => format!("{} IOPS", count(limit.rate.round())),
        };
        let share = percent(limit.ns as f64 / command.duration_ns.max(1) as f64);
        format!(
            "{} ({share}) at the limit of {}, {rate}",
            Nanos(limit.ns),
            limit.device
        )
    });
    let limits = joined(limits, "; ");
    if let Some(outside) = command.outside_limits.filter(|_| !limits.is_empty())
        && let Some(rest) = parts_of(&outside.spent, outside.ns, command.duration_ns)
    {
        return format!("of {took}, {limits}; of the rest, {rest}");
    }
    let waits = command.waits.as_ref();
    let spent = waits.and_then(|waits| spent_of(waits, command.duration_ns));
    let spent = spent.unwrap_or_else(|| {
        let share = percent(command.cpu_ns as f64 / command.duration_ns.max(1) as f64);
        format!(
            "{} ({share}) of CPU; what it waited for was not recorded",
            Nanos(command.cpu_ns)
        )
    });
    if limits.is_empty() {
        format!("of {took}, {spent}; no disk was at a limit that can be told")
    } else {
        format!("of {took}, {limits}; over all of it, {spent}")
    }
}

/// What its duration was spent on.
pub(crate) fn spent(command: &CommandSummary) -> Option<String> {
    spent_of(&command.waits?, command.duration_ns())
}

fn spent_of(waits: &CommandWaits, whole: u64) -> Option<String> {
    parts_of(&waits.elapsed, whole, whole)
}

/// Of a time of `ns`, what it was spent on, in shares of the whole.
fn parts_of(spent: &TimeSplit, ns: u64, whole: u64) -> Option<String> {
    let mut parts = split(spent, whole);
    let unknown = ns.saturating_sub(spent.total_ns());
    if unknown as f64 >= whole as f64 * LEFT_MIN {
        parts.push(share(unknown, whole, "not known"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The same of all its threads; nothing new where only one was at a time.
fn threads(command: &CommandSummary) -> Option<String> {
    let waits = command.waits?;
    let all = waits.threads.total_ns();
    let parts = split(&waits.threads, all);
    let tasks = plural(command.tasks.unwrap_or(0), "process or thread")
        .replace("process or threads", "processes and threads");
    let outliving = when(command.outliving > 0, || {
        format!(", {} of them still there at the end", command.outliving)
    });
    Some(format!(
        "{tasks}{outliving}, {} of them all: {}",
        Nanos(all),
        parts.join(", ")
    ))
}

fn split(split: &TimeSplit, whole: u64) -> Vec<String> {
    let parts = [
        (split.cpu_ns, "on a CPU"),
        (split.ready_ns, "had no CPU"),
        (split.disk_ns, "waited for I/O"),
        (split.other_ns, "slept otherwise"),
    ];
    let told = parts.into_iter().filter(|(ns, _)| *ns > 0);
    told.map(|(ns, what)| share(ns, whole, what)).collect()
}

fn share(ns: u64, whole: u64, what: &str) -> String {
    format!(
        "{} ({}) {what}",
        Nanos(ns),
        percent(ns as f64 / whole.max(1) as f64)
    )
}

fn cpu(command: &CommandSummary) -> String {
    let cpu = command.cpu;
    format!(
        "{} user, {} system; {} major page faults",
        Nanos(cpu.user_ns),
        Nanos(cpu.system_ns),
        count(cpu.major_faults as f64)
    )
}

/// By the kernel's account.
fn asked_for(command: &CommandSummary) -> Option<String> {
    let io = command.io?;
    let cancelled = when(io.cancelled_bytes > 0, || {
        format!(", {} of it never to be written", Bytes(io.cancelled_bytes))
    });
    Some(format!(
        "read {} from storage ({} by {} calls), wrote {} to it ({} by {} calls){cancelled}",
        Bytes(io.read_bytes),
        Bytes(io.read_call_bytes),
        count(io.read_calls as f64),
        Bytes(io.written_bytes),
        Bytes(io.write_call_bytes),
        count(io.write_calls as f64)
    ))
}

/// What it wrote that the disk had not got when it ended.
fn left(command: &CommandSummary) -> Option<String> {
    let io = command.io?;
    let first = command.devices.first()?;
    let reached: u64 = command
        .devices
        .iter()
        .map(|device| {
            device
                .tree
                .write_bytes
                .saturating_sub(device.tree_after.write_bytes)
        })
        .sum();
    let wrote = io.written_bytes.saturating_sub(io.cancelled_bytes);
    let left = wrote.saturating_sub(reached);
    if wrote == 0 || (left as f64) < wrote as f64 * LEFT_MIN {
        return None;
    }
    let after: u64 = command
        .devices
        .iter()
        .map(|device| device.tree_after.write_bytes)
        .sum();
    let then = match command.sync_ns {
        Some(sync_ns) => format!(
            "; {} went there in {} of syncing, which its time does not have",
            Bytes(after),
            Nanos(sync_ns)
        ),
        None => String::from(": in the page cache, or elsewhere (--sync writes it out, and counts it)"),
    };
    Some(format!(
        "{} of {} that it wrote had not reached {} when it ended{then}",
        Bytes(left),
        Bytes(wrote),
        first.name
    ))
}

fn whose(device: &CommandDevice) -> Table {
    let all = device.tree.bytes() + device.others.bytes() + device.unattributed.bytes();
    let row = |whose: &str, moved: &Moved| {
        vec![
            whose.to_owned(),
            Bytes(moved.read_bytes).to_string(),
            Bytes(moved.write_bytes).to_string(),
            count(moved.ios() as f64),
            percent(moved.bytes() as f64 / all.max(1) as f64),
        ]
    };
    let rows = [
        ("the command's", &device.tree),
        ("… by the kernel for it", &device.tree_by_kernel),
        ("… after its end", &device.tree_after),
        ("others'", &device.others),
        ("not attributable", &device.unattributed),
    ];
    let always = |whose: &str| !whose.starts_with('…');
    let rows = rows
        .into_iter()
        .filter(|(whose, moved)| always(whose) || moved.ios() > 0);
    let head = ["whose", "read", "written", "requests", "of all bytes"];
    let table = Table::new(1, head, rows.map(|(whose, moved)| row(whose, moved)));
    table.captioned(format!("At {}, while it ran", device.name))
}

#[cfg(test)]
mod tests;
