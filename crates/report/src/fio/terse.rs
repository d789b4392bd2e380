//! fio's terse lines: values between semicolons, a line an entry.
//!
//! Data in: entries. Data out: text. Columns are those of fio's HOWTO, "Terse output", versions 2 to 5: latencies in
//! microseconds, the smallest and the largest cut to whole ones, as are percentiles.

use super::bins::Distribution;
use super::entry::{Direction, Entry, group_bandwidth};
use super::json::utilisation_percent;
use super::{Entries, FioRun, VERSION};
use std::fmt::Write as _;

/// Places for percentiles, used or not.
const PERCENTILES: usize = 20;

pub(super) fn lines(run: &FioRun<'_>, entries: &Entries<'_>, version: u8) -> String {
    entries
        .iter()
        .map(|entry| line(run, entries, entry, version) + "\n")
        .collect()
}

fn line(run: &FioRun<'_>, entries: &Entries<'_>, entry: &Entry<'_>, version: u8) -> String {
    let whole = group_bandwidth(entries, entry.first.group);
    let mut text = if version == 2 {
        format!("2;{}", entry.first.name)
    } else {
        format!("{version};{VERSION};{}", entry.first.name)
    };
    let _ = write!(text, ";{};{}", entry.first.group, entry.error);
    // Version 3 knows no trims.
    let told = if entry.is_mixed() {
        1
    } else if version == 3 {
        2
    } else {
        3
    };
    for (data, whole) in entry.data.iter().zip(whole).take(told) {
        direction(&mut text, entry, data, whole, version);
    }
    if let Some(mixed) = &entry.mixed {
        direction(&mut text, entry, mixed, whole.iter().sum(), version);
    }
    let (user, system) = entry.cpu_percent();
    let _ = write!(
        text,
        ";{user:.6}%;{system:.6}%;{};{};{}",
        entry.switches(),
        entry.cpu.major_faults,
        entry.cpu.minor_faults
    );
    for percent in entry.level_percent() {
        let _ = write!(text, ";{percent:.1}%");
    }
    let (ns, us, ms) = entry.share_percent();
    // Nanoseconds belong to the first column, which is all below 2 us.
    let below: f64 = ns.iter().sum();
    for (at, percent) in us.into_iter().chain(ms).enumerate() {
        let _ = write!(text, ";{:.2}%", if at == 0 { percent + below } else { percent });
    }
    if version != 2 && run.tells_disks() {
        disks(&mut text, run);
    }
    if entry.goes_on_after_errors() {
        let _ = write!(text, ";{};{}", entry.errors_total(), entry.error);
    }
    if !entry.first.description.is_empty() {
        let new_line = if version == 2 { "\n" } else { "" };
        let _ = write!(text, "{new_line};{}", entry.first.description);
    }
    text
}

fn direction(text: &mut String, entry: &Entry<'_>, data: &Direction, whole: u64, version: u8) {
    let _ = write!(
        text,
        ";{};{};{};{}",
        data.bytes / 1024,
        data.bytes_a_second() / 1024,
        data.ios_a_second() as u64,
        data.runtime_ms
    );
    latency(text, &data.slat);
    latency(text, &data.clat);
    let asked = &entry.first.percentiles;
    let of = if asked.lat { &data.lat } else { &data.clat };
    let values = of.percentiles(&entry.percentiles);
    let told = entry.percentiles.iter().zip(values);
    let mut told = told.filter(|_| asked.lat || asked.clat);
    for _ in 0..PERCENTILES {
        let _ = match told.next() {
            Some((percentile, value)) => write!(text, ";{percentile:.6}%={}", value / 1000),
            None => write!(text, ";0%=0"),
        };
    }
    latency(text, &data.lat);
    let (bw, iops) = (&data.bw, &data.iops);
    let _ = write!(
        text,
        ";{};{};{:.6}%;{:.6};{:.6}",
        bw.min,
        bw.max,
        data.share_of(whole),
        bw.mean,
        bw.deviation()
    );
    if version == 5 {
        let _ = write!(
            text,
            ";{};{};{};{:.6};{:.6};{}",
            bw.n,
            iops.min,
            iops.max,
            iops.mean,
            iops.deviation(),
            iops.n
        );
    }
}

fn latency(text: &mut String, latencies: &Distribution) {
    let _ = write!(
        text,
        ";{};{};{:.6};{:.6}",
        latencies.min / 1000,
        latencies.max / 1000,
        latencies.mean / 1000.0,
        latencies.deviation / 1000.0
    );
}

fn disks(text: &mut String, run: &FioRun<'_>) {
    let ms = |ns: u64| ns / 1_000_000;
    for disk in run.disks {
        let _ = write!(
            text,
            ";{};{};{};{};{};{};{};{};{:.2}%",
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
