//! fio's text: what it prints before a run, and of its results.
//!
//! Data in: jobs, entries. Data out: text. Its widths and decimals are fio's: scripts cut it by columns and patterns.

use super::bins::{BOUNDS, Distribution};
use super::entry::{Direction, Entry, group_bandwidth};
use super::json::{steady_name, utilisation_percent};
use super::scale::{self, Scaled, Unit, in_words};
use super::{Entries, FioRun, Idleness, VERSION};
use fathom_core::workload::{EngineKind, Job, Mix, Reporting};
use std::fmt::Write as _;

/// What is printed before a run.
#[derive(Debug, Clone, Copy)]
pub struct HeaderJob<'a> {
    pub job: &'a Job,
    /// Whether its workers were asked for as threads (`thread`), and not as processes.
    pub threads: bool,
}

/// The lines that fio prints before it starts: each job, the version, how many start.
pub fn start_lines(jobs: &[HeaderJob<'_>]) -> String {
    let mut text = String::new();
    for HeaderJob { job, .. } in jobs {
        let figures = usize::from(job.reporting.significant_figures);
        let size = |bytes: u64| in_words(bytes, figures, main_unit(&job.reporting));
        let [read, write, trim] = [0, 1, 2].map(|op: usize| {
            format!(
                "{}-{}",
                size(job.block_size[op].min()),
                size(job.block_size[op].max())
            )
        });
        let _ = writeln!(
            text,
            "{}: (g={}): rw={}, bs=(R) {read}, (W) {write}, (T) {trim}, ioengine={}, iodepth={}",
            job.name,
            job.group,
            mix_name(job),
            job.engine.kind.name(),
            job.depth.iodepth
        );
        if job.numjobs > 1 {
            text += "...\n";
        }
    }
    let _ = writeln!(text, "{VERSION}");
    let count = |threads: bool| -> u32 {
        let those = jobs.iter().filter(|job| job.threads == threads);
        those.map(|job| job.job.numjobs).sum()
    };
    let some = |count: u32, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    };
    let parts = [
        some(count(true), "thread", "threads"),
        some(count(false), "process", "processes"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let _ = writeln!(text, "Starting {}", parts.join(" and "));
    text
}

/// The line that fio prints when a job makes so many files of so many bytes in all.
pub fn laying_out(job: &str, files: usize, bytes: u64) -> String {
    let mib = bytes >> 20;
    if files > 1 {
        format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n")
    } else {
        format!("{job}: Laying out IO file (1 file / {mib}MiB)\n")
    }
}

/// What fio says of a worker whose depth its engine does not keep; `None`: it does.
pub fn capped(job: &Job) -> Option<&'static str> {
    let kind = job.engine.kind;
    // Of sg fio says so, and keeps it all the same.
    let kept = kind.is_asynchronous() && kind != EngineKind::Sg || kind == EngineKind::Null;
    (!kept && job.depth.iodepth > 1).then_some(
        "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
    )
}

fn mix_name(job: &Job) -> &'static str {
    let random = job.pattern.random;
    match (job.pattern.mix, random) {
        (Mix::Read, false) => "read",
        (Mix::Read, true) => "randread",
        (Mix::Write, false) => "write",
        (Mix::Write, true) => "randwrite",
        (Mix::Trim, false) => "trim",
        (Mix::Trim, true) => "randtrim",
        (Mix::ReadWrite { .. } | Mix::Recorded { .. }, false) => "rw",
        (Mix::ReadWrite { .. } | Mix::Recorded { .. }, true) => "randrw",
        (Mix::TrimWrite, false) => "trimwrite",
        (Mix::TrimWrite, true) => "randtrimwrite",
    }
}

/// The unit that stands first, and the one in parentheses behind it.
fn main_unit(reporting: &Reporting) -> Scaled {
    match (reporting.kb_base, reporting.bits) {
        (1000, false) => Scaled::Decimal,
        (1000, true) => Scaled::DecimalBits,
        (_, false) => Scaled::Binary,
        (_, true) => Scaled::BinaryBits,
    }
}

fn other_unit(reporting: &Reporting) -> Scaled {
    match main_unit(reporting) {
        Scaled::Decimal => Scaled::Binary,
        Scaled::DecimalBits => Scaled::BinaryBits,
        Scaled::BinaryBits => Scaled::DecimalBits,
        Scaled::Binary | Scaled::Plain => Scaled::Decimal,
    }
}

/// Amounts are in bytes whatever rates are in.
fn in_bytes(unit: Scaled) -> Scaled {
    match unit {
        Scaled::BinaryBits => Scaled::Binary,
        Scaled::DecimalBits => Scaled::Decimal,
        other => other,
    }
}

/// The results of a run.
pub(super) fn text(run: &FioRun<'_>, entries: &Entries<'_>) -> String {
    let mut text = String::from("\n");
    for entry in entries {
        if entry.total_ios() + entry.sync.n == 0 && entry.errors.is_empty() {
            continue;
        }
        block(&mut text, run, entries, entry);
    }
    let mut groups: Vec<u32> = run.workload.jobs.iter().map(|job| job.group).collect();
    groups.dedup();
    for group in groups {
        status(&mut text, entries, group);
    }
    if !run.disks.is_empty() && run.tells_disks() {
        disks(&mut text, run);
    }
    if let Some(idleness) = run.idleness {
        idle(&mut text, idleness);
    }
    text
}

fn idle(text: &mut String, idleness: &Idleness) {
    *text += "\nCPU idleness:\n";
    if let Some(percent) = idleness.system_percent {
        let _ = writeln!(text, "  system: {percent:.2}%");
    }
    if !idleness.cpus.is_empty() {
        let each = idleness.cpus.iter().map(|(_, percent)| format!("{percent:.2}%"));
        let _ = writeln!(text, "  percpu: {}", each.collect::<Vec<_>>().join(", "));
    }
    unit_line(text, idleness);
}

fn unit_line(text: &mut String, idleness: &Idleness) {
    let (mean, stddev) = (idleness.unit_us_mean, idleness.unit_us_stddev);
    let _ = writeln!(text, "  unit work: mean={mean:.2}us, stddev={stddev:.2}");
}

/// How long a fixed piece of work takes, alone.
pub(super) fn unit_work(idleness: &Idleness) -> String {
    let mut text = String::from("CPU idleness:\n");
    unit_line(&mut text, idleness);
    text
}

/// What several machines did together: their entry alone.
pub(super) fn total(run: &FioRun<'_>, entries: &Entries<'_>) -> String {
    let mut text = String::new();
    for entry in entries {
        block(&mut text, run, entries, entry);
    }
    text
}

fn block(text: &mut String, run: &FioRun<'_>, entries: &Entries<'_>, entry: &Entry<'_>) {
    let error = match entry.error {
        0 => String::from(" 0"),
        errno => format!("{errno:2} ({})", entry.error_in_words()),
    };
    let _ = writeln!(
        text,
        "{}: (groupid={}, jobs={}): err={error}: pid={}: {}",
        entry.first.name, entry.first.group, entry.members, entry.tid, run.now_in_words
    );
    if !entry.first.description.is_empty() {
        let _ = writeln!(text, "  Description  : [{}]", entry.first.description);
    }
    let whole = group_bandwidth(entries, entry.first.group);
    let names = if entry.is_mixed() {
        ["mixed", "", ""]
    } else {
        ["read", "write", "trim"]
    };
    for op in 0..3 {
        direction(text, entry, (names[op], &entry.data[op]), whole[op]);
    }
    if let Some(mixed) = &entry.mixed {
        direction(text, entry, ("mixed", mixed), whole.iter().sum());
    }
    shares(text, entry);
    sync(text, entry);
    account(text, entry);
}

fn direction(text: &mut String, entry: &Entry<'_>, (name, data): (&str, &Direction), whole: u64) {
    if data.ios == data.left_out {
        return;
    }
    let reporting = &entry.first.reporting;
    let figures = usize::from(reporting.significant_figures);
    let (main, other) = (main_unit(reporting), other_unit(reporting));
    let bw = data.bytes_a_second();
    let zones = match name {
        "write" => format!("; {} zone resets", entry.zone_resets),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "  {name}: IOPS={}, BW={}/s ({}/s)({}/{}msec){zones}",
        in_words(data.ios_a_second() as u64, figures, Scaled::Plain),
        in_words(bw, figures, main),
        in_words(bw, figures, other),
        in_words(data.bytes, figures, in_bytes(main)),
        data.runtime_ms
    );
    latency(text, "    slat", &data.slat);
    latency(text, "    clat", &data.clat);
    latency(text, "     lat", &data.lat);
    let asked = &entry.first.percentiles;
    let by_priority = data.priorities.iter().map(|of| {
        let (kind, latencies) = if asked.lat {
            ("lat", &of.lat)
        } else {
            ("clat", &of.clat)
        };
        let name = format!("{kind} prio {}/{}", of.priority.class, of.priority.level);
        (name, latencies)
    });
    let by_priority: Vec<(String, &Distribution)> = by_priority.collect();
    for (name, latencies) in &by_priority {
        latency(text, &format!("    {name}"), latencies);
    }
    for (name, latencies, wanted) in [
        ("slat", &data.slat, asked.slat),
        ("clat", &data.clat, asked.clat),
        ("lat", &data.lat, asked.lat),
    ] {
        if wanted && latencies.n > 0 {
            percentiles(text, name, latencies, &entry.percentiles);
        }
    }
    if asked.lat || asked.clat {
        for (name, latencies) in &by_priority {
            let share = 100.0 * latencies.n as f64 / data.ios.max(1) as f64;
            let name = format!("{name} ({share:.2}% of IOs)");
            percentiles(text, &name, latencies, &entry.percentiles);
        }
    }
    samples(text, reporting, data, whole);
}

fn samples(text: &mut String, reporting: &Reporting, data: &Direction, whole: u64) {
    if data.bw.n > 0 {
        let base = f64::from(reporting.kb_base);
        let (kilo, mega) = if reporting.kb_base == 1000 {
            ("kB", "MB")
        } else {
            ("KiB", "MiB")
        };
        let (unit, by) = if data.bw.mean > base * base {
            (mega, base)
        } else {
            (kilo, 1.0)
        };
        let _ = writeln!(
            text,
            "   bw ({unit:>5}/s): min={:>5}, max={:>5}, per={:.2}%, avg={:>5.2}, stdev={:>5.2}, samples={}",
            data.bw.min / by as u64,
            data.bw.max / by as u64,
            data.share_of(whole),
            data.bw.mean / by,
            data.bw.deviation() / by,
            data.bw.n
        );
    }
    if data.iops.n > 0 {
        let _ = writeln!(
            text,
            "   iops        : min={:>5}, max={:>5}, avg={:>5.2}, stdev={:>5.2}, samples={}",
            data.iops.min,
            data.iops.max,
            data.iops.mean,
            data.iops.deviation(),
            data.iops.n
        );
    }
}

fn latency(text: &mut String, label: &str, latencies: &Distribution) {
    if latencies.n == 0 {
        return;
    }
    let Unit { name, ns } = scale::unit_of(latencies.min, latencies.max, Some(latencies.deviation));
    let _ = writeln!(
        text,
        "{label} ({name}): min={}, max={}, avg={:>5.2}, stdev={:>5.2}",
        in_words(latencies.min / ns, 6, Scaled::Plain),
        in_words(latencies.max / ns, 6, Scaled::Plain),
        latencies.mean / ns as f64,
        latencies.deviation / ns as f64
    );
}

fn percentiles(text: &mut String, name: &str, latencies: &Distribution, list: &[f64]) {
    let values = latencies.percentiles(list);
    let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else {
        return;
    };
    let Unit { name: unit, ns } = scale::unit_of(*least, *most, None);
    let _ = writeln!(text, "    {name} percentiles ({unit}):");
    let values: Vec<u64> = values.iter().map(|value| value.div_ceil(ns)).collect();
    let width = values.iter().map(|value| value.to_string().len()).max();
    let width = width.unwrap_or(0).max(5);
    let decimals = list.iter().map(|&percentile| decimals_of(percentile)).max();
    let decimals = decimals.unwrap_or(0).max(2);
    let in_row = (73 / (decimals + 10 + width)).max(1);
    let items: Vec<String> = (list.iter().zip(values))
        .map(|(percentile, value)| {
            let label = decimals + 3;
            format!("{percentile:>label$.decimals$}th=[{value:>width$}]")
        })
        .collect();
    let rows: Vec<String> = items
        .chunks(in_row)
        .map(|row| format!("     | {}", row.join(", ")))
        .collect();
    let _ = writeln!(text, "{}", rows.join(",\n"));
}

/// How many decimals a percentile was given with.
fn decimals_of(percentile: f64) -> usize {
    percentile
        .to_string()
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len().min(6))
}

/// How long I/Os took, five shares a line.
fn shares(text: &mut String, entry: &Entry<'_>) {
    let (ns, us, ms) = entry.share_percent();
    let mut ms_names: Vec<String> = BOUNDS.iter().map(ToString::to_string).collect();
    ms_names.extend([String::from("2000"), String::from(">=2000")]);
    for (unit, shares) in [("nsec", &ns[..]), ("usec", &us[..]), ("msec", &ms[..])] {
        let told: Vec<String> = (ms_names.iter().zip(shares))
            .filter(|(_, share)| **share > 0.0)
            .map(|(name, share)| format!("{name}={share:.2}%"))
            .collect();
        for line in told.chunks(5) {
            let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
        }
    }
}

fn sync(text: &mut String, entry: &Entry<'_>) {
    if entry.sync.n == 0 {
        return;
    }
    *text += "  fsync/fdatasync/sync_file_range:\n";
    latency(text, "    sync", &entry.sync);
    if entry.first.percentiles.clat || entry.first.percentiles.lat {
        percentiles(text, "sync", &entry.sync, &entry.percentiles);
    }
}

/// What an entry has beside its directions.
fn account(text: &mut String, entry: &Entry<'_>) {
    let (user, system) = entry.cpu_percent();
    let _ = writeln!(
        text,
        "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={}, majf={}, minf={}",
        entry.switches(),
        entry.cpu.major_faults,
        entry.cpu.minor_faults
    );
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    for (label, names, values) in [
        (
            "  IO depths    ",
            ["1", "2", "4", "8", "16", "32", ">=64"],
            entry.level_percent(),
        ),
        ("     submit    ", batches, entry.submit_percent()),
        ("     complete  ", batches, entry.complete_percent()),
    ] {
        let items = names.iter().zip(values);
        let items: Vec<String> = items.map(|(name, value)| format!("{name}={value:.1}%")).collect();
        let _ = writeln!(text, "{label}: {}", items.join(", "));
    }
    let [read, write, trim] = [0, 1, 2].map(|op: usize| (entry.data[op].ios, entry.data[op].short));
    let dropped = entry.data[0].dropped;
    let _ = writeln!(
        text,
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={dropped},0,0,0",
        read.0, write.0, trim.0, entry.sync.n, read.1, write.1, trim.1
    );
    if entry.goes_on_after_errors() {
        let words = match entry.error {
            0 => String::from("Success"),
            _ => entry.error_in_words(),
        };
        let _ = writeln!(
            text,
            "     errors    : total={}, first_error={}/<{words}>",
            entry.errors_total(),
            entry.error
        );
    }
    let (target_ns, window_us, percentile) = entry.target();
    let _ = writeln!(
        text,
        "     latency   : target={target_ns}, window={window_us}, percentile={percentile:.2}%, depth={}",
        entry.depth
    );
    if let (Some(wanted), Some(steady)) = (&entry.first.stops.steady, entry.steady) {
        let mean = |values: &[u64]| values.iter().sum::<u64>() / values.len().max(1) as u64;
        let reporting = &entry.first.reporting;
        let figures = usize::from(reporting.significant_figures);
        let (criterion, percent) = if wanted.in_percent {
            (steady.criterion_percent, "%")
        } else {
            (steady.criterion, "")
        };
        let _ = writeln!(
            text,
            "  steadystate  : attained={}, bw={}/s ({}/s), iops={}, {}{}={criterion:.3}{percent}",
            if steady.attained { "yes" } else { "no" },
            in_words(mean(&steady.bytes), figures, main_unit(reporting)),
            in_words(mean(&steady.bytes), figures, other_unit(reporting)),
            in_words(mean(&steady.ios), figures, Scaled::Plain),
            steady_name(wanted).trim_end_matches("_slope"),
            if wanted.slope { " slope" } else { " mean dev" },
        );
    }
}

/// What a reporting group did in all.
fn status(text: &mut String, entries: &Entries<'_>, group: u32) {
    let members: Vec<&Entry<'_>> = entries
        .iter()
        .filter(|entry| entry.first.group == group)
        .collect();
    let _ = writeln!(text, "\nRun status group {group} (all jobs):");
    let Some(first) = members.first() else { return };
    let each = |op: usize| members.iter().map(|entry| &entry.data[op]).collect::<Vec<_>>();
    let names = if first.is_mixed() {
        ["MIXED", "", ""]
    } else {
        ["READ", "WRITE", "TRIM"]
    };
    for (op, name) in names.into_iter().enumerate() {
        status_line(text, name, &first.first.reporting, &each(op));
    }
    if first.mixed.is_some() {
        let mixed: Vec<&Direction> = members.iter().filter_map(|entry| entry.mixed.as_ref()).collect();
        status_line(text, "MIXED", &first.first.reporting, &mixed);
    }
}

fn status_line(text: &mut String, name: &str, reporting: &Reporting, members: &[&Direction]) {
    let moving = || {
        members
            .iter()
            .filter(|data| data.bytes > 0 && data.ios > data.left_out)
    };
    let bytes: u64 = moving().map(|data| data.bytes).sum();
    let (Some(shortest), Some(longest)) = (
        moving().map(|data| data.runtime_ms).min(),
        moving().map(|data| data.runtime_ms).max(),
    ) else {
        return;
    };
    let rates = || moving().map(|data| data.bytes_a_second());
    let (least, most) = (rates().min().unwrap_or(0), rates().max().unwrap_or(0));
    let whole = (u128::from(bytes) * 1000)
        .checked_div(u128::from(longest))
        .unwrap_or(0) as u64;
    let figures = usize::from(reporting.significant_figures);
    let (main, other) = (main_unit(reporting), other_unit(reporting));
    let words = |number, unit| in_words(number, figures, unit);
    let _ = writeln!(
        text,
        "{name:>7}: bw={}/s ({}/s), {}/s-{}/s ({}/s-{}/s), io={} ({}), run={shortest}-{longest}msec",
        words(whole, main),
        words(whole, other),
        words(least, main),
        words(most, main),
        words(least, other),
        words(most, other),
        words(bytes, in_bytes(main)),
        words(bytes, in_bytes(other)),
    );
}

fn disks(text: &mut String, run: &FioRun<'_>) {
    *text += "\nDisk stats (read/write):\n";
    let ms = |ns: u64| ns / 1_000_000;
    for disk in run.disks {
        let _ = writeln!(
            text,
            "  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
            disk.name,
            disk.read_ios,
            disk.write_ios,
            disk.read_merges,
            disk.write_merges,
            ms(disk.read_time_ns),
            ms(disk.write_time_ns),
            ms(disk.weighted_busy_ns),
            utilisation_percent(disk)
        );
    }
}
