//! What excludes what: the rules of diskspd's own check (`Profile::Validate`), and what no Linux can do.
//!
//! Data in: a profile as read. Data out: findings. It must not know whether flags or XML said it; its messages name the
//! flags, which the documentation ties to XML's elements.

mod distribution;

use super::draft::MAPPED_AND_UNCACHED;
use super::profile::{CacheMode, FlushMode, Profile, Target, Throughput, TimeSpan};
use crate::diagnostic::Findings;

/// Checks all of `profile`; `single`: all targets have the same settings, so that one is looked at.
pub(super) fn validate(profile: &Profile, single: bool, findings: &mut Findings) {
    findings.error_if(
        profile.time_spans.is_empty(),
        "there is no time span",
        "give the profile a <TimeSpan>",
    );
    for span in &profile.time_spans {
        time_span(span, findings);
        for (index, target) in span.targets.iter().enumerate() {
            path(target, profile.profile_only, findings);
            if index == 0 || !single {
                threads(span, target, findings);
                pace(span, target, findings);
                pattern(span, target, findings);
                distribution::check(target, findings);
                buffers(span, target, findings);
            }
        }
    }
}

const LEAVE_ONE_OUT: &str = "leave one of them out";

fn time_span(span: &TimeSpan, findings: &mut Findings) {
    findings.error_if(
        span.disable_affinity && !span.affinity.is_empty(),
        "-n leaves threads to the scheduler and -a puts them on processors",
        LEAVE_ONE_OUT,
    );
    findings.error_if(
        span.affinity.iter().any(|at| at.group > 0),
        "-a names a processor group other than 0, and Linux has no groups",
        "name processors by their numbers alone: -a0,1,64",
    );
    findings.error_if(
        span.duration_s == 0,
        "a duration of 0 measures nothing",
        "give at least one second: -d1",
    );
    findings.error_if(
        span.interval_ms() == Some(0),
        "an interval of 0 holds nothing",
        "write -D1000",
    );
}

/// What a target is called: Linux has neither drive letters nor numbered drives.
fn path(target: &Target, profile_only: bool, findings: &mut Findings) {
    let path = target.path.as_str();
    let letters = || path.starts_with(|letter: char| letter.is_ascii_alphabetic());
    findings.error_if(
        path.is_empty(),
        "a target without a name",
        "name a file or a device",
    );
    findings.error_if(
        path.starts_with('*') && !profile_only,
        &format!("the template target `{path}` has no path"),
        "name a path for each template behind the flags: the first is *1",
    );
    findings.error_if(
        path.starts_with('#'),
        &format!("the target `{path}` is a physical drive of Windows"),
        "name the device: `lsblk` lists them, for example /dev/sdb",
    );
    findings.error_if(
        letters() && path.len() == 2 && path.ends_with(':'),
        &format!("the target `{path}` is a drive of Windows"),
        "name the device: `lsblk` lists them, for example /dev/sdb1",
    );
    findings.warning_if(
        letters() && path[1..].starts_with(":\\"),
        &format!(
            "the target `{path}` looks like a path of Windows; it is taken for a file of that name in this directory"
        ),
        "name a path of this system, if that is meant",
    );
    findings.error_if(
        path.contains('\0'),
        "a target's name holds a zero byte",
        "name a file or a device",
    );
}

fn threads(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    findings.error_if(
        span.thread_count > 0 && target.threads_per_file > 1,
        "-F counts threads in all and -t those of each target",
        LEAVE_ONE_OUT,
    );
    findings.error_if(
        target.threads_per_file == 0 || target.request_count == 0,
        "no threads, or nothing in flight",
        "give at least one thread (-t1) and depth 1 (-o1)",
    );
    findings.warning_if(
        span.request_count > 0 && span.thread_count == 0,
        "-O counts for threads of all targets, and there are none",
        "write -F<threads> beside it, or -o",
    );
    let mut listed = target.thread_targets.iter();
    findings.error_if(
        !span.is_pool() && listed.len() > 0,
        "<ThreadTargets> belong to a time span with a ThreadCount and a RequestCount",
        "give it both, or leave them out",
    );
    findings.error_if(
        span.is_pool() && target.weight == 0,
        "a target of weight 0 gets no I/O",
        "give it a weight, or leave it out",
    );
    findings.error_if(
        span.is_pool() && listed.any(|at| at.thread >= span.thread_count),
        "a <ThreadTarget> names a thread that there is not",
        "count threads from 0",
    );
}

fn pace(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let is_limited = target.throughput != Throughput::None;
    let (burst, think) = (target.burst.unwrap_or(0), target.think_ms.unwrap_or(0));
    findings.error_if(
        is_limited && span.completion_routines,
        "-g limits what -x cannot",
        LEAVE_ONE_OUT,
    );
    findings.error_if(
        (burst > 0) != (think > 0),
        "a burst (-i) and a pause (-j) need each other",
        "write both, such as -i10 -j100",
    );
    for (given, what) in [
        (is_limited, "-g limits"),
        (think > 0, "-j pauses"),
        (target.parallel_async, "-p steps through"),
    ] {
        findings.error_if(
            given && span.is_pool(),
            &format!("{what} each target, and -O shares threads among them"),
            LEAVE_ONE_OUT,
        );
    }
}

fn pattern(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    findings.error_if(
        target.max_offset > 0 && target.max_offset <= target.base_offset,
        "the region ends (-f) before it begins (-B)",
        "make -f larger than -B",
    );
    let mut conflict = |is_so, wrong| findings.error_if(is_so, wrong, LEAVE_ONE_OUT);
    let (apart, shared) = (target.thread_stride > 0, target.interlocked);
    if target.random_percent > 0 {
        conflict(apart, "-T sets sequential threads apart and -r is random");
        conflict(shared, "-si shares a sequential pointer and -r is random");
        conflict(target.parallel_async, "-p goes in sequence and -r is random");
        return;
    }
    findings.error_if(
        target.distribution.is_some(),
        "-rd distributes random I/O, and there is none",
        "write -r beside it",
    );
    findings.warning_if(
        target.parallel_async && target.request_count == 1,
        "-p has no effect with one I/O in flight",
        "write -o2 or more",
    );
    shared_and_apart(span, target, findings);
    findings.error_if(
        target.alignment_bytes() < u64::from(target.block_size),
        "a stride (-s) shorter than the block makes neighbours overlap, which is not carried out",
        "write a stride of at least the block size, or random access (-r<align>), where overlaps are",
    );
}

/// How several threads of a target go through it in sequence.
fn shared_and_apart(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let several = span.thread_count > 1 || target.threads_per_file > 1;
    let (apart, shared) = (target.thread_stride > 0, target.interlocked);
    findings.error_if(
        shared && apart,
        "-si shares one pointer and -T sets threads apart",
        LEAVE_ONE_OUT,
    );
    findings.error_if(
        shared && target.parallel_async,
        "-si shares one pointer and -p gives each I/O its own",
        LEAVE_ONE_OUT,
    );
    findings.warning_if(
        shared && !several,
        "-si shares a pointer, and there is one thread",
        "write -t2 or more, or -s",
    );
    findings.warning_if(
        !shared && several && !apart,
        "threads go through the target each for itself: taken together, access is not sequential",
        "write -si to share a pointer, or -T<size> to set them apart",
    );
    findings.error_if(
        !shared && !several && apart,
        "-T sets threads apart, and there is one",
        "write -t2 or more, or leave -T out",
    );
}

fn buffers(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let source_bytes = target.write_source.as_ref().map(|source| source.size_bytes);
    let mapped = target.memory_mapped;
    findings.error_if(
        source_bytes.is_some_and(|bytes| bytes < u64::from(target.block_size)),
        "the buffer that writes are taken from (-Z) is smaller than a block",
        "make it at least one block",
    );
    findings.error_if(
        mapped && span.completion_routines,
        "-Sm copies from and to a mapping, which completes nothing for -x",
        LEAVE_ONE_OUT,
    );
    findings.error_if(
        mapped && target.cache == CacheMode::DisableOsCache,
        MAPPED_AND_UNCACHED,
        LEAVE_ONE_OUT,
    );
    findings.warning_if(
        mapped && target.write_through,
        "-Sw makes writes to a mapping non-temporal on Windows; here it changes nothing",
        "write -Nv to flush after each write",
    );
    findings.error_if(
        !mapped && target.flush.is_some(),
        "-N flushes a mapping, and there is none",
        "write -Sm beside it",
    );
    findings.error_if(
        target.flush.is_some_and(|mode| mode != FlushMode::ViewOfFile),
        "-Nn and -Ni flush the processor's caches towards persistent memory, which is not carried out",
        "write -Nv, which flushes through the file system",
    );
}
