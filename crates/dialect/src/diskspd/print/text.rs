//! A profile as text: the head of diskspd's results (`ResultParser::_PrintProfile` of v2.2), which `-Rptext` prints alone.
//!
//! Data in: a profile. Data out: lines in diskspd's layout, tabs included. It must not know results.

use crate::diskspd::profile::{
    CacheMode, Distribution, FlushMode, Profile, Range, Target, Throughput, TimeSpan,
};
use std::fmt::Write as _;

pub fn profile_as_text(profile: &Profile) -> String {
    let mut text = format!("\nCommand Line: {}\n\n", profile.command_line);
    if profile.experiment_flags != 0 {
        let bits = profile.experiment_flags;
        let _ = write!(text, "Experiment Flags: {bits:#x} ({bits})\n\n");
    }
    text.push_str("Input parameters:\n\n");
    if profile.verbose {
        text.push_str("\tusing verbose mode\n");
    }
    for (number, span) in (1..).zip(&profile.time_spans) {
        let _ = writeln!(text, "\ttimespan: {number:3}\n\t-------------");
        time_span(&mut text, span);
        text.push('\n');
    }
    text
}

fn time_span(text: &mut String, span: &TimeSpan) {
    let mut line = |line: String| {
        text.push('\t');
        text.push_str(&line);
        text.push('\n');
    };
    line(format!("duration: {}s", span.duration_s));
    line(format!("warm up time: {}s", span.warmup_s));
    line(format!("cool down time: {}s", span.cooldown_s));
    if span.disable_affinity {
        line(String::from("affinity disabled"));
    }
    if span.measure_latency {
        line(String::from("measuring latency"));
    }
    if span.iops_std_dev {
        line(format!("gathering IOPS at intervals of {}ms", span.io_bucket_ms));
    }
    line(format!("random seed: {}", span.random_seed));
    if span.thread_count != 0 {
        line(format!("thread pool with {} threads", span.thread_count));
        line(format!(
            "number of outstanding I/O operations per thread: {}",
            span.request_count
        ));
    }
    if !span.affinity.is_empty() {
        let list = span.affinity.iter().map(|at| format!("{}/{}", at.group, at.cpu));
        let list: Vec<String> = list.collect();
        line(format!(
            "advanced affinity round robin (group/core): {}",
            list.join(", ")
        ));
    }
    if span.random_write_data {
        line(String::from("generating random data for each write IO"));
        line(String::from(
            "  WARNING: this increases the CPU cost of issuing writes and should only",
        ));
        line(String::from(
            "           be compared to other results using the -Zr flag",
        ));
    }
    for one in &span.targets {
        for shown in target(span, one) {
            text.push_str(&shown);
            text.push('\n');
        }
    }
}

fn target(span: &TimeSpan, target: &Target) -> Vec<String> {
    let mut lines = vec![match target.path.strip_prefix('*') {
        Some(slot) => format!("\tpath: template target '{slot}'"),
        None => format!("\tpath: '{}'", target.path),
    }];
    let mut line = |line: String| lines.push(format!("\t\t{line}"));
    line(format!("think time: {}ms", target.think_ms.unwrap_or(0)));
    line(format!("burst size: {}", target.burst.unwrap_or(0)));
    for words in caches(target) {
        line(words);
    }
    for words in contents(target) {
        line(words);
    }
    if target.parallel_async {
        line(String::from("using parallel async I/O"));
    }
    line(match target.write_percent {
        0 => String::from("performing read test"),
        100 => String::from("performing write test"),
        write => format!(
            "performing mix test (read/write ratio: {}/{write})",
            100 - write.min(100)
        ),
    });
    line(format!("block size: {}", size(u64::from(target.block_size))));
    line(order(target));
    if span.is_pool() {
        line(format!("relative IO weight in thread pool: {}", target.weight));
    } else {
        line(format!(
            "number of outstanding I/O operations per thread: {}",
            target.request_count
        ));
    }
    for (what, bytes) in [
        ("base file offset", target.base_offset),
        ("max file size", target.max_offset),
        ("thread stride size", target.thread_stride),
    ] {
        if bytes != 0 {
            line(format!("{what}: {}", size(bytes)));
        }
    }
    for words in hints_and_threads(span, target) {
        line(words);
    }
    lines.extend(distribution(target));
    lines
}

fn caches(target: &Target) -> Vec<String> {
    let software = match target.cache {
        CacheMode::Cached => "using software cache",
        CacheMode::DisableLocalCache => "local software cache disabled, remote cache enabled",
        CacheMode::DisableOsCache => "software cache disabled",
    };
    let hardware = match (target.write_through, target.cache) {
        (false, _) => "using hardware write cache, writethrough off",
        (true, CacheMode::DisableOsCache) => "hardware write cache disabled, writethrough on",
        (true, _) => "hardware and software write caches disabled, writethrough on",
    };
    let mut lines = vec![software.to_owned(), hardware.to_owned()];
    if target.memory_mapped {
        let flush = match target.flush {
            None => "",
            Some(FlushMode::ViewOfFile) => ", flush mode: FlushViewOfFile",
            Some(FlushMode::NonVolatileMemory) => ", flush mode: FlushNonVolatileMemory",
            Some(FlushMode::NonVolatileMemoryNoDrain) => ", flush mode: FlushNonVolatileMemory with no drain",
        };
        lines.push(format!("memory mapped I/O enabled{flush}"));
    }
    lines
}

fn contents(target: &Target) -> Vec<String> {
    let mut lines = Vec::new();
    if target.zero_buffers {
        lines.push(String::from("zeroing write buffers"));
    }
    if let Some(source) = &target.write_source {
        lines.push(format!("write buffer size: {}", size(source.size_bytes)));
        lines.push(match &source.file {
            Some(file) => format!("write buffer source: '{file}'"),
            None => String::from("write buffer source: random fill"),
        });
    }
    lines
}

fn order(target: &Target) -> String {
    let align = size(target.alignment_bytes());
    match (target.random_percent, target.interlocked) {
        (100, _) => format!("using random I/O (alignment: {align})"),
        (0, true) => format!("using interlocked sequential I/O (stride: {align})"),
        (0, false) => format!("using sequential I/O (stride: {align})"),
        (percent, _) => {
            format!("using mixed random/sequential I/O ({percent}% random) (alignment/stride: {align})")
        }
    }
}

fn hints_and_threads(span: &TimeSpan, target: &Target) -> Vec<String> {
    let mut lines = Vec::new();
    let hints = [
        (target.sequential_scan_hint, "FILE_FLAG_SEQUENTIAL_SCAN"),
        (target.random_access_hint, "FILE_FLAG_RANDOM_ACCESS"),
        (target.temporary_hint, "FILE_ATTRIBUTE_TEMPORARY"),
    ];
    for (_, name) in hints.iter().filter(|(given, _)| *given) {
        lines.push(format!("using {name} hint"));
    }
    if span.thread_count == 0 {
        lines.push(format!("threads per file: {}", target.threads_per_file));
        if target.request_count > 1 {
            lines.push(String::from(if span.completion_routines {
                "using completion routines (ReadFileEx/WriteFileEx)"
            } else {
                "using I/O Completion Ports"
            }));
        }
    }
    let priority = match target.io_priority {
        1 => "very low",
        2 => "low",
        _ => "normal",
    };
    lines.push(format!("IO priority: {priority}"));
    match target.throughput {
        Throughput::None => {}
        Throughput::Iops(iops) => lines.push(format!("throughput rate-limited to {iops} IOPS")),
        Throughput::BytesPerMs(bytes) => lines.push(format!("throughput rate-limited to {bytes} B/ms")),
    }
    lines
}

fn distribution(target: &Target) -> Vec<String> {
    let Some(distribution) = &target.distribution else {
        return Vec::new();
    };
    let mut lines = vec![String::from("\t\tIO Distribution:")];
    let mut begin = 0u64;
    for &Range { io_percent, target } in distribution.ranges() {
        let end = begin.saturating_add(target);
        lines.push(match distribution {
            Distribution::Percent(_) => {
                format!("\t\t   {io_percent:3}% of IO => [{begin:2}% - {end:3}%) of target")
            }
            Distribution::Absolute(_) => {
                let from = if begin == 0 {
                    String::from("     0   ")
                } else {
                    aligned_size(begin)
                };
                let to = if target == 0 {
                    String::from("      end")
                } else {
                    aligned_size(end)
                };
                format!("\t\t   {io_percent:3}% of IO => [{from} - {to})")
            }
        });
        begin = end;
    }
    lines
}

/// A size as diskspd shows it: `4KiB`, `1.95MiB`, `512`.
fn size(bytes: u64) -> String {
    shown(bytes, 0)
}

/// The same, its number six characters wide.
fn aligned_size(bytes: u64) -> String {
    shown(bytes, 6)
}

fn shown(bytes: u64, width: usize) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >= 1 << shift) {
        None => bytes.to_string(),
        Some(&(shift, unit)) if bytes.is_multiple_of(1 << shift) => {
            format!("{:width$}{unit}", bytes >> shift)
        }
        Some(&(shift, unit)) => format!("{:width$.2}{unit}", bytes as f64 / (1u64 << shift) as f64),
    }
}
