//! The parts of the XML that are more than a few values.
//!
//! Data in: facts and figures. Data out: elements. It must not know in which order they come.

use crate::diskspd::results::cpu::CpuUse;
use crate::diskspd::results::input::{Bucket, System};
use crate::diskspd::results::latency::{Latency, iops_stddev, merged};
use crate::diskspd::results::ranges::EffectiveRange;
use crate::diskspd::results::text::start_time;
use crate::diskspd::xml::writer::{Writer, quoted};
use std::collections::BTreeMap;

pub(super) fn system(w: &mut Writer, system: &System) {
    w.within("System", |w| {
        // Not an element: readers of these results know the names that diskspd writes.
        let made_by = quoted(&system.made_by).replace("--", "- -");
        w.line(&format!("<!-- {made_by} -->"));
        w.value("ComputerName", &system.computer_name);
        w.within("Tool", |w| {
            w.value("Version", &system.tool_version);
            w.value("VersionDate", &system.tool_date);
        });
        w.value("RunTime", start_time(system.started));
        let scheme = quoted(system.power_scheme.as_deref().unwrap_or(""));
        w.line(&format!("<PowerScheme Name=\"{scheme}\" Guid=\"\"/>"));
        w.open(
            "ProcessorTopology Heterogeneous=\"false\"",
            "ProcessorTopology",
            |w| topology(w, system),
        );
    });
}

/// A set of processors as a mask of bits; more than 128 do not fit and are left out.
fn mask(cpus: impl IntoIterator<Item = u32>) -> String {
    let bits = cpus.into_iter().filter_map(|cpu| 1u128.checked_shl(cpu));
    format!("{:#x}", bits.fold(0, |mask, bit| mask | bit))
}

/// One group, which Linux has; nodes, sockets and cores where they are known.
fn topology(w: &mut Writer, system: &System) {
    let n = system.processors;
    let all = mask(0..n);
    w.line(&format!(
        "<Group Group=\"0\" MaximumProcessors=\"{n}\" ActiveProcessors=\"{n}\" ActiveProcessorMask=\"{all}\"/>"
    ));
    let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut sockets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for place in &system.places {
        nodes.entry(place.node).or_default().push(place.cpu);
        sockets.entry(place.socket).or_default().push(place.cpu);
        cores
            .entry((place.socket, place.core))
            .or_default()
            .push(place.cpu);
    }
    for (name, sets) in [("Node", nodes), ("Socket", sockets)] {
        for (number, cpus) in sets {
            w.open(&format!("{name} {name}=\"{number}\""), name, |w| {
                w.line(&format!("<Group Group=\"0\" Mask=\"{}\"/>", mask(cpus)));
            });
        }
    }
    for ((_, core), cpus) in cores {
        let mask = mask(cpus);
        w.line(&format!(
            "<Core Group=\"0\" Core=\"{core}\" Mask=\"{mask}\" EfficiencyClass=\"0\"/>"
        ));
    }
}

pub(super) fn cpus(w: &mut Writer, system: &System, cpus: &[CpuUse]) {
    w.within("CpuUtilization", |w| {
        for cpu in cpus {
            w.within("CPU", |w| {
                let place = system.places.iter().find(|place| place.cpu == cpu.cpu);
                if let Some(place) = place {
                    w.value("Socket", place.socket);
                    w.value("Node", place.node);
                }
                w.value("Group", 0);
                if let Some(place) = place {
                    w.value("Core", place.core);
                }
                w.value("EfficiencyClass", 0);
                w.value("Id", cpu.cpu);
                shares(w, cpu);
            });
        }
        if let Some(mean) = CpuUse::mean(cpus) {
            w.within("Average", |w| shares(w, &mean));
        }
    });
}

fn shares(w: &mut Writer, cpu: &CpuUse) {
    w.value("UsagePercent", format_args!("{:.2}", cpu.usage_percent()));
    w.value("UserPercent", format_args!("{:.2}", cpu.user_percent));
    w.value("KernelPercent", format_args!("{:.2}", cpu.kernel_percent));
    w.value("IdlePercent", format_args!("{:.2}", cpu.idle_percent));
}

fn milliseconds(w: &mut Writer, name: &str, ns: Option<f64>) {
    if let Some(ns) = ns {
        w.value(name, format_args!("{:.3}", ns / 1e6));
    }
}

/// Mean and deviation, where there are any I/Os.
pub(super) fn moments(w: &mut Writer, mean: &str, deviation: &str, latency: &Latency) {
    if latency.n > 0 {
        milliseconds(w, mean, Some(latency.mean_ns));
        milliseconds(w, deviation, Some(latency.stddev_ns));
    }
}

/// Each whole percent from 0 to 99, then down to nine nines, then 100.
fn percentiles_of_the_table() -> Vec<(String, f64)> {
    let mut list: Vec<(String, f64)> = (0..100).map(|p| (p.to_string(), f64::from(p) / 100.0)).collect();
    for nines in 1..=7 {
        let name = format!("99.{}", "9".repeat(nines));
        let percent: f64 = name.parse().unwrap_or(100.0);
        list.push((name, percent / 100.0));
    }
    list.push((String::from("100"), 1.0));
    list
}

pub(super) fn percentiles(w: &mut Writer, read: &Latency, write: &Latency) {
    let total = read.and(write);
    let buckets = |latency: &Latency| latency.histogram.len();
    let tag = format!(
        "Latency ReadHistoBuckets=\"{}\" WriteHistoBuckets=\"{}\" TotalHistoBuckets=\"{}\"",
        buckets(read),
        buckets(write),
        buckets(&total)
    );
    w.open(&tag, "Latency", |w| {
        moments(w, "AverageReadMilliseconds", "ReadLatencyStdev", read);
        moments(w, "AverageWriteMilliseconds", "WriteLatencyStdev", write);
        moments(w, "AverageTotalMilliseconds", "LatencyStdev", &total);
        for (name, share) in percentiles_of_the_table() {
            w.within("Bucket", |w| {
                w.value("Percentile", name);
                milliseconds(w, "ReadMilliseconds", read.at(share));
                milliseconds(w, "WriteMilliseconds", write.at(share));
                milliseconds(w, "TotalMilliseconds", total.at(share));
            });
        }
    });
}

/// Deviations and the series of intervals.
pub(super) fn iops(w: &mut Writer, read: &[Bucket], write: &[Bucket], bucket_ms: u32) {
    let total = merged(read, write);
    w.within("Iops", |w| {
        for (name, buckets) in [
            ("ReadIopsStdDev", read),
            ("WriteIopsStdDev", write),
            ("IopsStdDev", &total),
        ] {
            if !buckets.is_empty() {
                w.value(name, format_args!("{:.3}", iops_stddev(buckets, bucket_ms)));
            }
        }
        for index in 0..total.len() {
            let of = |list: &[Bucket]| list.get(index).copied().unwrap_or_default();
            bucket(
                w,
                (index as u64 + 1) * u64::from(bucket_ms),
                of(read),
                of(write),
                bucket_ms,
            );
        }
    });
}

fn bucket(w: &mut Writer, end_ms: u64, read: Bucket, write: Bucket, bucket_ms: u32) {
    let seconds = f64::from(bucket_ms) / 1000.0;
    let rate = |bucket: Bucket| bucket.ios as f64 / seconds;
    let latencies = |name: &str, bucket: Bucket| {
        format!(
            "{name}MinLatencyMilliseconds=\"{:.3}\" {name}MaxLatencyMilliseconds=\"{:.3}\" \
             {name}AvgLatencyMilliseconds=\"{:.3}\" {name}LatencyStdDev=\"{:.3}\"",
            bucket.min_ns / 1e6,
            bucket.max_ns / 1e6,
            bucket.mean_ns / 1e6,
            bucket.stddev_ns / 1e6
        )
    };
    w.line(&format!(
        "<Bucket SampleMillisecond=\"{end_ms}\" Read=\"{:.0}\" Write=\"{:.0}\" Total=\"{:.0}\" {} {}/>",
        rate(read),
        rate(write),
        rate(read) + rate(write),
        latencies("Read", read),
        latencies("Write", write)
    ));
}

/// Where random I/O went, gaps included.
pub(super) fn ranges(w: &mut Writer, ranges: &[EffectiveRange]) {
    if ranges.is_empty() {
        return;
    }
    w.within("Distribution", |w| {
        w.within("Absolute", |w| {
            let mut expected = 0;
            for range in ranges {
                if range.begin > expected {
                    w.line(&format!("<Range IO=\"0\">{}</Range>", range.begin - expected));
                }
                let length = range.end.saturating_sub(range.begin);
                w.line(&format!(
                    "<Range IO=\"{:.0}\">{length}</Range>",
                    range.stated_percent
                ));
                expected = range.end;
            }
        });
    });
}
