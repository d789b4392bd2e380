//! A profile as text: the head of diskspd's results (`ResultParser::_PrintProfile` of v2.2), which `-Rptext` prints alone.
//!
//! Data in: a profile. Data out: lines in diskspd's layout, tabs included. It must not know results.

use crate::diskspd::profile::{
    CacheMode, Distribution, FlushMode, Profile, Range, Target, Throughput, TimeSpan,
};
use std::fmt::{Display, Write as _};

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

/// Lines at the indentation of a time span's settings and of a target's.
struct Lines<'a>(&'a mut String);

impl Lines<'_> {
    fn span(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "\t{line}");
    }
    fn span_if(&mut self, shown: bool, line: impl Display) {
        if shown {
            self.span(line);
        }
    }
    fn target(&mut self, line: impl Display) {
        let _ = writeln!(self.0, "\t\t{line}");
    }
    fn target_if(&mut self, shown: bool, line: impl Display) {
        if shown {
            self.target(line);
        }
    }
    fn in_flight(&mut self, count: u32, line: fn(&mut Self, String)) {
        line(
            self,
            format!("number of outstanding I/O operations per thread: {count}"),
        );
    }
}

fn time_span(text: &mut String, span: &TimeSpan) {
    let mut lines = Lines(text);
    lines.span(format_args!("duration: {}s", span.duration_s));
    lines.span(format_args!("warm up time: {}s", span.warmup_s));
    lines.span(format_args!("cool down time: {}s", span.cooldown_s));
    lines.span_if(span.disable_affinity, "affinity disabled");
    lines.span_if(span.measure_latency, "measuring latency");
    let every = format_args!("gathering IOPS at intervals of {}ms", span.io_bucket_ms);
    lines.span_if(span.iops_std_dev, every);
    lines.span(format_args!("random seed: {}", span.random_seed));
    if span.thread_count != 0 {
        lines.span(format_args!("thread pool with {} threads", span.thread_count));
        lines.in_flight(span.request_count, Lines::span);
    }
    let list = span.affinity.iter().map(|at| format!("{}/{}", at.group, at.cpu));
    let list = list.collect::<Vec<_>>().join(", ");
    let affinity = format_args!("advanced affinity round robin (group/core): {list}");
    lines.span_if(!list.is_empty(), affinity);
    if span.random_write_data {
        lines.span("generating random data for each write IO");
        lines.span("  WARNING: this increases the CPU cost of issuing writes and should only");
        lines.span("           be compared to other results using the -Zr flag");
    }
    for one in &span.targets {
        target(&mut lines, span, one);
    }
}

fn target(lines: &mut Lines<'_>, span: &TimeSpan, target: &Target) {
    match target.path.strip_prefix('*') {
        Some(slot) => lines.span(format_args!("path: template target '{slot}'")),
        None => lines.span(format_args!("path: '{}'", target.path)),
    }
    lines.target(format_args!("think time: {}ms", target.think_ms.unwrap_or(0)));
    lines.target(format_args!("burst size: {}", target.burst.unwrap_or(0)));
    caches(lines, target);
    contents(lines, target);
    lines.target_if(target.parallel_async, "using parallel async I/O");
    match target.write_percent {
        0 => lines.target("performing read test"),
        100 => lines.target("performing write test"),
        write => lines.target(format_args!(
            "performing mix test (read/write ratio: {}/{write})",
            100 - write.min(100)
        )),
    }
    lines.target(format_args!("block size: {}", size(u64::from(target.block_size))));
    lines.target(order(target));
    if span.is_pool() {
        lines.target(format_args!(
            "relative IO weight in thread pool: {}",
            target.weight
        ));
    } else {
        lines.in_flight(target.request_count, Lines::target);
    }
    for (what, bytes) in [
        ("base file offset", target.base_offset),
        ("max file size", target.max_offset),
        ("thread stride size", target.thread_stride),
    ] {
        lines.target_if(bytes != 0, format_args!("{what}: {}", size(bytes)));
    }
    hints_and_threads(lines, span, target);
    distribution(lines, target);
}

fn caches(lines: &mut Lines<'_>, target: &Target) {
    lines.target(match target.cache {
        CacheMode::Cached => "using software cache",
        CacheMode::DisableLocalCache => "local software cache disabled, remote cache enabled",
        CacheMode::DisableOsCache => "software cache disabled",
    });
    lines.target(match (target.write_through, target.cache) {
        (false, _) => "using hardware write cache, writethrough off",
        (true, CacheMode::DisableOsCache) => "hardware write cache disabled, writethrough on",
        (true, _) => "hardware and software write caches disabled, writethrough on",
    });
    let flush = match target.flush {
        None => "",
        Some(FlushMode::ViewOfFile) => ", flush mode: FlushViewOfFile",
        Some(FlushMode::NonVolatileMemory) => ", flush mode: FlushNonVolatileMemory",
        Some(FlushMode::NonVolatileMemoryNoDrain) => ", flush mode: FlushNonVolatileMemory with no drain",
    };
    let mapped = format_args!("memory mapped I/O enabled{flush}");
    lines.target_if(target.memory_mapped, mapped);
}

fn contents(lines: &mut Lines<'_>, target: &Target) {
    lines.target_if(target.zero_buffers, "zeroing write buffers");
    if let Some(source) = &target.write_source {
        lines.target(format_args!("write buffer size: {}", size(source.size_bytes)));
        match &source.file {
            Some(file) => lines.target(format_args!("write buffer source: '{file}'")),
            None => lines.target("write buffer source: random fill"),
        }
    }
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

fn hints_and_threads(lines: &mut Lines<'_>, span: &TimeSpan, target: &Target) {
    for (given, name) in [
        (target.sequential_scan_hint, "FILE_FLAG_SEQUENTIAL_SCAN"),
        (target.random_access_hint, "FILE_FLAG_RANDOM_ACCESS"),
        (target.temporary_hint, "FILE_ATTRIBUTE_TEMPORARY"),
    ] {
        lines.target_if(given, format_args!("using {name} hint"));
    }
    if span.thread_count == 0 {
        lines.target(format_args!("threads per file: {}", target.threads_per_file));
        let interface = if span.completion_routines {
            "using completion routines (ReadFileEx/WriteFileEx)"
        } else {
            "using I/O Completion Ports"
        };
        lines.target_if(target.request_count > 1, interface);
    }
    let priority = match target.io_priority {
        1 => "very low",
        2 => "low",
        _ => "normal",
    };
    lines.target(format_args!("IO priority: {priority}"));
    let (limit, unit) = match target.throughput {
        Throughput::None => return,
        Throughput::Iops(iops) => (iops, "IOPS"),
        Throughput::BytesPerMs(bytes) => (bytes, "B/ms"),
    };
    lines.target(format_args!("throughput rate-limited to {limit} {unit}"));
}

fn distribution(lines: &mut Lines<'_>, target: &Target) {
    let Some(distribution) = &target.distribution else {
        return;
    };
    lines.target("IO Distribution:");
    let mut begin = 0u64;
    for &Range { io_percent, target } in distribution.ranges() {
        let end = begin.saturating_add(target);
        let part = match distribution {
            Distribution::Percent(_) => format!("{begin:2}% - {end:3}%) of target"),
            Distribution::Absolute(_) if target == 0 => format!("{} -       end)", aligned_size(begin)),
            Distribution::Absolute(_) => format!("{} - {})", aligned_size(begin), aligned_size(end)),
        };
        lines.target(format_args!("   {io_percent:3}% of IO => [{part}"));
        begin = end;
    }
}

/// A size as diskspd shows it: `4KiB`, `1.95MiB`, `512`.
pub(in crate::diskspd) fn size(bytes: u64) -> String {
    shown(bytes, 0)
}

/// The same, its number six characters wide.
pub(in crate::diskspd) fn aligned_size(bytes: u64) -> String {
    match bytes {
        0 => String::from("     0   "),
        bytes => shown(bytes, 6),
    }
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
