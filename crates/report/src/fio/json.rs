//! fio's JSON: its keys, their order, types and units; numbers with six decimals where fio has a float.
//!
//! Data in: entries. Data out: text. Not through serde: a float of six decimals, keys that come twice (an option given twice) and
//! fio's layout, which some scripts cut by lines, are not to be had there.

use super::bins::{BOUNDS, Distribution, value_of};
use super::entry::{self, Direction, Entry, group_bandwidth};
use super::{ClientPart, Entries, FioRun, Idleness, VERSION, WrittenOption};
use fathom_core::run::{DiskSummary, SteadyAccount};
use fathom_core::workload::{Steady, SteadyOf};
use std::fmt::{Display, Write as _};

/// Writes nested objects and lists, two blanks a level.
#[derive(Default)]
struct Writer {
    text: String,
    level: usize,
    /// Whether something stands before at this level.
    begun: bool,
}

impl Writer {
    fn item(&mut self, key: Option<&str>) {
        if self.begun {
            self.text.push(',');
        }
        if self.level > 0 {
            self.text.push('\n');
        }
        self.text.push_str(&"  ".repeat(self.level));
        if let Some(key) = key {
            let _ = write!(self.text, "\"{}\" : ", escaped(key));
        }
        self.begun = true;
    }

    fn nested(&mut self, key: Option<&str>, ends: [char; 2], body: impl FnOnce(&mut Self)) {
        self.item(key);
        self.text.push(ends[0]);
        self.level += 1;
        self.begun = false;
        body(self);
        self.level -= 1;
        self.text.push('\n');
        if !self.begun && self.level > 0 {
            // What is empty has a blank line, as fio's has.
            self.text.push('\n');
        }
        self.text.push_str(&"  ".repeat(self.level));
        self.text.push(ends[1]);
        self.begun = true;
    }

    fn object(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.nested(Some(key), ['{', '}'], body);
    }

    fn element(&mut self, body: impl FnOnce(&mut Self)) {
        self.nested(None, ['{', '}'], body);
    }

    fn list(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.nested(Some(key), ['[', ']'], body);
    }

    fn int(&mut self, key: &str, value: impl Display) {
        self.item(Some(key));
        let _ = write!(self.text, "{value}");
    }

    /// An element of a list.
    fn number(&mut self, value: impl Display) {
        self.item(None);
        let _ = write!(self.text, "{value}");
    }

    fn float(&mut self, key: &str, value: f64) {
        self.item(Some(key));
        let _ = write!(self.text, "{:.6}", if value.is_finite() { value } else { 0.0 });
    }

    fn string(&mut self, key: &str, value: &str) {
        self.item(Some(key));
        let _ = write!(self.text, "\"{}\"", escaped(value));
    }
}

/// Quotes and backslashes; of the control characters that no JSON may hold, as numbers.
fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                result.push('\\');
                result.push(letter);
            }
            control if (control as u32) < 0x20 => {
                let _ = write!(result, "\\u{:04x}", control as u32);
            }
            other => result.push(other),
        }
    }
    result
}

/// The document of a run.
pub(super) fn document(run: &FioRun<'_>, entries: &Entries<'_>, bins: bool) -> String {
    let mut out = Writer::default();
    out.nested(None, ['{', '}'], |out| {
        head(out, run);
        if !run.global_options.is_empty() {
            out.object("global options", |out| options(out, run.global_options));
        }
        out.list("jobs", |out| {
            for entry in entries {
                out.element(|out| job(out, run, entries, entry, bins));
            }
        });
        disks(out, run);
        if let Some(idleness) = run.idleness {
            out.object("cpu_idleness", |out| idle(out, idleness));
        }
    });
    out.text.push('\n');
    out.text
}

fn head(out: &mut Writer, run: &FioRun<'_>) {
    out.string("fio version", VERSION);
    out.int("timestamp", run.now_unix_ms / 1000);
    out.int("timestamp_ms", run.now_unix_ms);
    out.string("time", run.now_in_words);
}

/// What several machines did: each entry by itself, and all of them together.
pub(super) fn clients(all: &FioRun<'_>, parts: &[ClientPart<'_>], bins: bool) -> String {
    let mut out = Writer::default();
    out.nested(None, ['{', '}'], |out| {
        out.string("fio version", VERSION);
        out.int("timestamp", all.now_unix_ms / 1000);
        out.string("time", all.now_in_words);
        // Those of all clients in one object, as fio 3.33 has them.
        if parts.iter().any(|part| !part.run.global_options.is_empty()) {
            out.object("global options", |out| {
                for part in parts {
                    options(out, part.run.global_options);
                }
            });
        }
        out.list("client_stats", |out| {
            for part in parts {
                let entries = entry::entries(&part.run);
                for entry in &entries {
                    out.element(|out| {
                        job(out, &part.run, &entries, entry, bins);
                        of_client(out, part);
                    });
                }
            }
            let told: usize = parts.iter().map(|part| entry::entries(&part.run).len()).sum();
            if told > 1 {
                let entries = entry::entries(all);
                for entry in &entries {
                    out.element(|out| {
                        job(out, all, &entries, entry, bins);
                        if let Some(last) = parts.last() {
                            of_client(out, last);
                        }
                    });
                }
            }
        });
        out.list("disk_util", |out| {
            for part in parts.iter().filter(|part| part.run.tells_disks()) {
                for disk in part.run.disks {
                    out.element(|out| {
                        one_disk(out, disk);
                        of_client(out, part);
                    });
                }
            }
        });
    });
    out.text.push('\n');
    out.text
}

fn of_client(out: &mut Writer, part: &ClientPart<'_>) {
    out.string("hostname", part.hostname);
    out.int("port", part.port);
}

fn options(out: &mut Writer, options: &[WrittenOption]) {
    // fio 3.33 does not tell of options without a value.
    for (name, value) in options {
        if let Some(value) = value {
            out.string(name, value);
        }
    }
}

fn job(out: &mut Writer, run: &FioRun<'_>, entries: &Entries<'_>, entry: &Entry<'_>, bins: bool) {
    let whole = group_bandwidth(entries, entry.first.group);
    out.string("jobname", &entry.first.name);
    out.int("groupid", entry.first.group);
    out.int("error", entry.error);
    // A client does not know how long its servers have been there.
    if !run.of_client {
        out.int("eta", run.eta_s.unwrap_or(0));
        out.int("elapsed", run.elapsed_s());
    }
    if let Some(given) = run.job_options.get(entry.last_section) {
        out.object("job options", |out| options(out, given));
    }
    let names: &[&str] = if entry.is_mixed() {
        &["mixed"]
    } else {
        &["read", "write", "trim"]
    };
    for (op, name) in names.iter().enumerate() {
        out.object(name, |out| {
            direction(out, entry, &entry.data[op], whole[op], bins);
        });
    }
    if !entry.is_mixed() {
        out.object("sync", |out| {
            out.int("total_ios", entry.sync.n);
            let wanted = entry.first.percentiles.clat || entry.first.percentiles.lat;
            latency(out, "lat_ns", &entry.sync, wanted.then_some(entry), bins);
        });
    }
    if let Some(mixed) = &entry.mixed {
        out.object("mixed", |out| {
            direction(out, entry, mixed, whole.iter().sum(), bins);
        });
    }
    account(out, entry);
}

fn direction(out: &mut Writer, entry: &Entry<'_>, direction: &Direction, whole: u64, bins: bool) {
    let bw = direction.bytes_a_second();
    out.int("io_bytes", direction.bytes);
    out.int("io_kbytes", direction.bytes / 1024);
    out.int("bw_bytes", bw);
    out.int("bw", bw / 1024);
    out.float("iops", direction.ios_a_second());
    out.int("runtime", direction.runtime_ms);
    out.int("total_ios", direction.ios);
    out.int("short_ios", direction.short);
    out.int("drop_ios", direction.dropped);
    let asked = &entry.first.percentiles;
    for (name, latencies, wanted) in [
        ("slat_ns", &direction.slat, asked.slat),
        ("clat_ns", &direction.clat, asked.clat),
        ("lat_ns", &direction.lat, asked.lat),
    ] {
        latency(out, name, latencies, wanted.then_some(entry), bins);
    }
    if !direction.priorities.is_empty() {
        out.list("prios", |out| {
            for of in &direction.priorities {
                out.element(|out| {
                    out.int("prioclass", of.priority.class);
                    out.int("prio", of.priority.level);
                    let (name, latencies, wanted) = if asked.lat {
                        ("lat_ns", &of.lat, true)
                    } else {
                        ("clat_ns", &of.clat, asked.clat)
                    };
                    latency(out, name, latencies, wanted.then_some(entry), bins);
                });
            }
        });
    }
    let (rate, iops) = (&direction.bw, &direction.iops);
    out.int("bw_min", rate.min);
    out.int("bw_max", rate.max);
    out.float("bw_agg", direction.share_of(whole));
    out.float("bw_mean", rate.mean);
    out.float("bw_dev", rate.deviation());
    out.int("bw_samples", rate.n);
    out.int("iops_min", iops.min);
    out.int("iops_max", iops.max);
    out.float("iops_mean", iops.mean);
    out.float("iops_stddev", iops.deviation());
    out.int("iops_samples", iops.n);
}

/// A distribution; with the percentiles that an entry has, where they are wanted.
fn latency(
    out: &mut Writer,
    name: &str,
    latencies: &Distribution,
    percentiles_of: Option<&Entry<'_>>,
    bins: bool,
) {
    out.object(name, |out| {
        out.int("min", latencies.min);
        out.int("max", latencies.max);
        out.float("mean", latencies.mean);
        out.float("stddev", latencies.deviation);
        out.int("N", latencies.n);
        let Some(entry) = percentiles_of.filter(|_| latencies.n > 0) else {
            return;
        };
        out.object("percentile", |out| {
            let values = latencies.percentiles(&entry.percentiles);
            for (percentile, value) in entry.percentiles.iter().zip(values) {
                out.int(&format!("{percentile:.6}"), value);
            }
        });
        if bins {
            out.object("bins", |out| {
                for &(index, count) in &latencies.bins {
                    out.int(&value_of(index).to_string(), count);
                }
            });
        }
    });
}

/// What an entry has beside its directions.
fn account(out: &mut Writer, entry: &Entry<'_>) {
    let (user, system) = entry.cpu_percent();
    out.int("job_runtime", entry.job_runtime_ms);
    out.float("usr_cpu", user);
    out.float("sys_cpu", system);
    out.int("ctx", entry.switches());
    out.int("majf", entry.cpu.major_faults);
    out.int("minf", entry.cpu.minor_faults);
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    floats(
        out,
        "iodepth_level",
        ["1", "2", "4", "8", "16", "32", ">=64"],
        &entry.level_percent(),
    );
    floats(out, "iodepth_submit", batches, &entry.submit_percent());
    floats(out, "iodepth_complete", batches, &entry.complete_percent());
    let (ns, us, ms) = entry.share_percent();
    let bounds = BOUNDS.map(|bound| bound.to_string());
    let bounds: Vec<&str> = bounds.iter().map(String::as_str).collect();
    floats(out, "latency_ns", bounds.iter().copied(), &ns);
    floats(out, "latency_us", bounds.iter().copied(), &us);
    let more = ["2000", ">=2000"];
    floats(out, "latency_ms", bounds.iter().copied().chain(more), &ms);
    if entry.goes_on_after_errors() {
        out.int("total_err", entry.errors_total());
        out.int("first_error", entry.error);
    }
    let (target_ns, window_us, percentile) = entry.target();
    out.int("latency_depth", entry.depth);
    out.int("latency_target", target_ns);
    out.float("latency_percentile", percentile);
    out.int("latency_window", window_us);
    if !entry.first.description.is_empty() {
        out.string("desc", &entry.first.description);
    }
    if let (Some(wanted), Some(steady)) = (&entry.first.stops.steady, entry.steady) {
        out.object("steadystate", |out| steady_state(out, wanted, steady));
    }
}

fn steady_state(out: &mut Writer, wanted: &Steady, steady: &SteadyAccount) {
    let (percent, criterion) = if wanted.in_percent {
        ("%", steady.criterion_percent)
    } else {
        ("", steady.criterion)
    };
    let (slope, deviation) = if wanted.slope {
        (criterion, 0.0)
    } else {
        (0.0, steady.criterion)
    };
    let mean = |values: &[u64]| values.iter().sum::<u64>() / values.len().max(1) as u64;
    out.string(
        "ss",
        &format!("{}:{:.6}{percent}", steady_name(wanted), wanted.limit),
    );
    out.int("duration", wanted.duration.0 / 1_000_000_000);
    out.int("attained", u8::from(steady.attained));
    out.string("criterion", &format!("{criterion:.6}{percent}"));
    out.float("max_deviation", deviation);
    out.float("slope", slope);
    out.object("data", |out| {
        out.int("bw_mean", mean(&steady.bytes));
        out.int("iops_mean", mean(&steady.ios));
        for (name, values) in [("iops", &steady.ios), ("bw", &steady.bytes)] {
            out.list(name, |out| values.iter().for_each(|value| out.number(value)));
        }
    });
}

/// What has to be steady, as fio's option calls it.
pub(super) fn steady_name(wanted: &Steady) -> String {
    let of = match wanted.of {
        SteadyOf::Iops => "iops",
        SteadyOf::Bandwidth => "bw",
        SteadyOf::Latency => "lat",
    };
    format!("{of}{}", if wanted.slope { "_slope" } else { "" })
}

fn floats<'k>(out: &mut Writer, name: &str, keys: impl IntoIterator<Item = &'k str>, values: &[f64]) {
    out.object(name, |out| {
        for (key, value) in keys.into_iter().zip(values) {
            out.float(key, *value);
        }
    });
}

fn disks(out: &mut Writer, run: &FioRun<'_>) {
    if run.disks.is_empty() || !run.tells_disks() {
        return;
    }
    out.list("disk_util", |out| {
        for disk in run.disks {
            out.element(|out| one_disk(out, disk));
        }
    });
}

fn idle(out: &mut Writer, idleness: &Idleness) {
    if let Some(percent) = idleness.system_percent {
        out.float("system", percent);
    }
    for (cpu, percent) in &idleness.cpus {
        out.float(&format!("cpu-{cpu}"), *percent);
    }
    out.float("unit_mean", idleness.unit_us_mean);
    out.float("unit_stddev", idleness.unit_us_stddev);
}

fn one_disk(out: &mut Writer, disk: &DiskSummary) {
    let ms = |ns: u64| ns / 1_000_000;
    out.string("name", &disk.name);
    out.int("read_ios", disk.read_ios);
    out.int("write_ios", disk.write_ios);
    out.int("read_merges", disk.read_merges);
    out.int("write_merges", disk.write_merges);
    out.int("read_ticks", ms(disk.read_time_ns));
    out.int("write_ticks", ms(disk.write_time_ns));
    out.int("in_queue", ms(disk.weighted_busy_ns));
    out.float("util", utilisation_percent(disk));
}

/// How much of the time anything was in flight, at most 100.
pub(super) fn utilisation_percent(disk: &DiskSummary) -> f64 {
    if disk.duration_ns == 0 {
        return 0.0;
    }
    (100.0 * disk.busy_ns as f64 / disk.duration_ns as f64).min(100.0)
}
