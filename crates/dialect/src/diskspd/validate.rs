//! What excludes what: the rules of diskspd's own check (`Profile::Validate`), and what no Linux can do.
//!
//! Data in: a profile as read. Data out: findings. It must not know whether flags or XML said it; its messages name the
//! flags, which the documentation ties to XML's elements.

mod distribution;

use super::profile::{CacheMode, FlushMode, Profile, Target, Throughput, TimeSpan};
use crate::diagnostic::{Fault, Findings};

/// Checks all of `profile`; `single`: all targets have the same settings, so that one is looked at.
pub(super) fn validate(profile: &Profile, single: bool, findings: &mut Findings) {
    if profile.time_spans.is_empty() {
        let fault = Fault::new("there is no time span").remedy("give the profile a <TimeSpan>");
        findings.error(None, fault);
    }
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

fn refuse(findings: &mut Findings, wrong: &str, remedy: &str) {
    findings.error(None, Fault::new(wrong).remedy(remedy));
}

fn time_span(span: &TimeSpan, findings: &mut Findings) {
    if span.disable_affinity && !span.affinity.is_empty() {
        refuse(
            findings,
            "-n leaves threads to the scheduler and -a puts them on processors",
            "leave one of them out",
        );
    }
    if span.affinity.iter().any(|at| at.group > 0) {
        refuse(
            findings,
            "-a names a processor group other than 0, and Linux has no groups",
            "name processors by their numbers alone: -a0,1,64",
        );
    }
    if span.duration_s == 0 {
        refuse(
            findings,
            "a duration of 0 measures nothing",
            "give at least one second: -d1",
        );
    }
    if span.iops_std_dev && span.io_bucket_ms == 0 {
        refuse(findings, "an interval of 0 holds nothing", "write -D1000");
    }
}

/// What a target is called: Linux has neither drive letters nor numbered drives.
fn path(target: &Target, profile_only: bool, findings: &mut Findings) {
    let path = target.path.as_str();
    let mut letters = path.chars();
    let first = letters.next();
    match first {
        None => refuse(findings, "a target without a name", "name a file or a device"),
        Some('*') if !profile_only => refuse(
            findings,
            &format!("the template target `{path}` has no path"),
            "name a path for each template behind the flags: the first is *1",
        ),
        Some('#') => refuse(
            findings,
            &format!("the target `{path}` is a physical drive of Windows"),
            "name the device: `lsblk` lists them, for example /dev/sdb",
        ),
        Some(letter) if letter.is_ascii_alphabetic() && path.len() == 2 && path.ends_with(':') => refuse(
            findings,
            &format!("the target `{path}` is a drive of Windows"),
            "name the device: `lsblk` lists them, for example /dev/sdb1",
        ),
        Some(letter) if letter.is_ascii_alphabetic() && path[1..].starts_with(":\\") => {
            let fault = Fault::new(format!(
                "the target `{path}` looks like a path of Windows; it is taken for a file of that name in this directory"
            ));
            findings.warning(None, fault.remedy("name a path of this system, if that is meant"));
        }
        Some(_) => {}
    }
    if path.contains('\0') {
        refuse(
            findings,
            "a target's name holds a zero byte",
            "name a file or a device",
        );
    }
}

fn threads(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    if span.thread_count > 0 && target.threads_per_file > 1 {
        refuse(
            findings,
            "-F counts threads in all and -t those of each target",
            "leave one of them out",
        );
    }
    if target.threads_per_file == 0 || target.request_count == 0 {
        refuse(
            findings,
            "no threads, or nothing in flight",
            "give at least one thread (-t1) and depth 1 (-o1)",
        );
    }
    if span.request_count > 0 && span.thread_count == 0 {
        let fault = Fault::new("-O counts for threads of all targets, and there are none");
        findings.warning(None, fault.remedy("write -F<threads> beside it, or -o"));
    }
    if !span.is_pool() && !target.thread_targets.is_empty() {
        refuse(
            findings,
            "<ThreadTargets> belong to a time span with a ThreadCount and a RequestCount",
            "give it both, or leave them out",
        );
    }
    if span.is_pool() {
        if target.weight == 0 {
            refuse(
                findings,
                "a target of weight 0 gets no I/O",
                "give it a weight, or leave it out",
            );
        }
        let beyond = target
            .thread_targets
            .iter()
            .any(|at| at.thread >= span.thread_count);
        if beyond {
            refuse(
                findings,
                "a <ThreadTarget> names a thread that there is not",
                "count threads from 0",
            );
        }
    }
}

fn pace(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let is_limited = target.throughput != Throughput::None;
    if is_limited && span.completion_routines {
        refuse(findings, "-g limits what -x cannot", "leave one of them out");
    }
    let (burst, think) = (target.burst.unwrap_or(0), target.think_ms.unwrap_or(0));
    if (burst > 0) != (think > 0) {
        refuse(
            findings,
            "a burst (-i) and a pause (-j) need each other",
            "write both, such as -i10 -j100",
        );
    }
    if span.is_pool() {
        if is_limited {
            refuse(
                findings,
                "-g limits each target, and -O shares threads among them",
                "leave one of them out",
            );
        }
        if think > 0 {
            refuse(
                findings,
                "-j pauses each target, and -O shares threads among them",
                "leave one of them out",
            );
        }
        if target.parallel_async {
            refuse(
                findings,
                "-p steps through each target, and -O shares threads among them",
                "leave one of them out",
            );
        }
    }
}

fn pattern(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    if target.max_offset > 0 && target.max_offset <= target.base_offset {
        refuse(
            findings,
            "the region ends (-f) before it begins (-B)",
            "make -f larger than -B",
        );
    }
    if target.random_percent > 0 {
        random(target, findings);
        return;
    }
    if target.distribution.is_some() {
        refuse(
            findings,
            "-rd distributes random I/O, and there is none",
            "write -r beside it",
        );
    }
    if target.parallel_async && target.request_count == 1 {
        let fault = Fault::new("-p has no effect with one I/O in flight");
        findings.warning(None, fault.remedy("write -o2 or more"));
    }
    shared_and_apart(span, target, findings);
    if target.alignment_bytes() < u64::from(target.block_size) {
        refuse(
            findings,
            "a stride (-s) shorter than the block makes neighbours overlap, which is not carried out",
            "write a stride of at least the block size, or random access (-r<align>), where overlaps are",
        );
    }
}

fn random(target: &Target, findings: &mut Findings) {
    let conflicts = [
        (
            target.thread_stride > 0,
            "-T sets sequential threads apart and -r is random",
        ),
        (
            target.interlocked,
            "-si shares a sequential pointer and -r is random",
        ),
        (target.parallel_async, "-p goes in sequence and -r is random"),
    ];
    for (_, wrong) in conflicts.iter().filter(|(is_so, _)| *is_so) {
        refuse(findings, wrong, "leave one of them out");
    }
}

/// How several threads of a target go through it in sequence.
fn shared_and_apart(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let several = span.thread_count > 1 || target.threads_per_file > 1;
    if target.interlocked {
        if target.thread_stride > 0 {
            refuse(
                findings,
                "-si shares one pointer and -T sets threads apart",
                "leave one of them out",
            );
        }
        if target.parallel_async {
            refuse(
                findings,
                "-si shares one pointer and -p gives each I/O its own",
                "leave one of them out",
            );
        }
        if !several {
            let fault = Fault::new("-si shares a pointer, and there is one thread");
            findings.warning(None, fault.remedy("write -t2 or more, or -s"));
        }
    } else if several && target.thread_stride == 0 {
        let fault = Fault::new(
            "threads go through the target each for itself: taken together, access is not sequential",
        );
        findings.warning(
            None,
            fault.remedy("write -si to share a pointer, or -T<size> to set them apart"),
        );
    } else if !several && target.thread_stride > 0 {
        refuse(
            findings,
            "-T sets threads apart, and there is one",
            "write -t2 or more, or leave -T out",
        );
    }
}

fn buffers(span: &TimeSpan, target: &Target, findings: &mut Findings) {
    let block = u64::from(target.block_size);
    if target
        .write_source
        .as_ref()
        .is_some_and(|source| source.size_bytes < block)
    {
        refuse(
            findings,
            "the buffer that writes are taken from (-Z) is smaller than a block",
            "make it at least one block",
        );
    }
    if target.memory_mapped {
        if span.completion_routines {
            refuse(
                findings,
                "-Sm copies from and to a mapping, which completes nothing for -x",
                "leave one of them out",
            );
        }
        if target.cache == CacheMode::DisableOsCache {
            refuse(
                findings,
                "a mapping (-Sm) goes through the page cache, which -Su and -Sh leave out",
                "leave one of them out",
            );
        }
        if target.write_through {
            let fault =
                Fault::new("-Sw makes writes to a mapping non-temporal on Windows; here it changes nothing");
            findings.warning(None, fault.remedy("write -Nv to flush after each write"));
        }
    } else if target.flush.is_some() {
        refuse(
            findings,
            "-N flushes a mapping, and there is none",
            "write -Sm beside it",
        );
    }
    if matches!(
        target.flush,
        Some(FlushMode::NonVolatileMemory | FlushMode::NonVolatileMemoryNoDrain)
    ) {
        refuse(
            findings,
            "-Nn and -Ni flush the processor's caches towards persistent memory, which is not carried out",
            "write -Nv, which flushes through the file system",
        );
    }
}
