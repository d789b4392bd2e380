//! One job: what a thread does to a target.
//!
//! Data in: a target and the thread's numbers. Data out: a [`Job`]. It must not know the other threads.

use super::{Builder, Share};
use crate::diagnostic::Fault;
use crate::diskspd::profile::{
    CacheMode, Distribution as Ranges, FlushMode, LinuxEngine, Target, Throughput, WriteSource,
};
use crate::diskspd::results::PERCENTILES;
use fathom_core::rng::split_mix;
use fathom_core::units::Nanos;
use fathom_core::workload::{
    Amount, BlockSize, Buffers, Depth, Distribution, EngineKind, IoPriority, Job, Limit, Mix, Pace, Pattern,
    Percentiles, RandomMap, Rate, SyncMode, ThinkTime, ThinkTimeBasis, Zone, ZoneSize,
};

/// The longest file that write buffers are filled from, in bytes: its contents are part of the record.
const SOURCE_FILE_BYTES_MAX: u64 = 1 << 20;

impl Builder<'_> {
    /// The job of `share` on `target`; `None`: an error was found.
    pub(super) fn job(&mut self, target: &Target, share: Share) -> Option<Job> {
        let mut job = Job {
            name: name(share, self.span.targets.len() > 1, target),
            group_reporting: true,
            limit: Limit {
                runtime: Some(Nanos::from_secs(u64::from(self.span.duration_s))),
                time_based: true,
                ramp_time: Nanos::from_secs(u64::from(self.span.warmup_s)),
                cooldown_time: Nanos::from_secs(u64::from(self.span.cooldown_s)),
            },
            pattern: pattern(target, share),
            block_size: [(); 3].map(|()| BlockSize::Fixed(u64::from(target.block_size))),
            direct: target.cache != CacheMode::Cached,
            pace: pace(target),
            io_priority: priority(target),
            random_seed: split_mix(u64::from(self.span.random_seed) ^ split_mix(self.jobs.len() as u64 + 1)),
            percentiles: Percentiles {
                list: PERCENTILES.map(|(percent, _)| percent).to_vec(),
                slat: false,
                clat: true,
                lat: true,
            },
            ..Job::default()
        };
        if target.random_percent > 0 {
            job.block_align = [target.alignment_bytes(); 3];
        }
        if target.write_through {
            job.sync.mode = SyncMode::Sync;
        }
        if target.flush == Some(FlushMode::ViewOfFile) {
            job.sync.fdatasync_every = 1;
        }
        self.interface(&mut job, target);
        self.processors(&mut job, share);
        self.hints(&mut job, target);
        job.buffers = self.buffers(target)?;
        self.files(&mut job, target, share)?;
        Some(job)
    }

    fn interface(&mut self, job: &mut Job, target: &Target) {
        let depth = target.request_count;
        job.engine.kind = match (self.profile.linux_engine, depth) {
            _ if target.memory_mapped => EngineKind::Mmap,
            (Some(LinuxEngine::Kernel), _) => EngineKind::Libaio,
            (Some(LinuxEngine::Posix), _) => {
                let fault = Fault::new(
                    "-xp asks for the C library's asynchronous I/O; io_uring is used in its place",
                );
                self.findings.note(None, fault);
                EngineKind::IoUring
            }
            (None, 1) => EngineKind::Psync,
            (None, _) if job.direct => EngineKind::Libaio,
            (None, _) => EngineKind::IoUring,
        };
        let iodepth = if target.memory_mapped { 1 } else { depth };
        job.depth = Depth {
            iodepth,
            low: iodepth,
            ..job.depth
        };
        if target.cache == CacheMode::DisableLocalCache {
            let fault = Fault::new(
                "-Sr leaves out the cache of this machine alone: O_DIRECT does so on a network file system",
            );
            self.findings
                .note(None, fault.remedy("on a disk of this machine it is what -Su is"));
        }
    }

    /// Each thread on one processor, in turn.
    fn processors(&self, job: &mut Job, share: Share) {
        let listed: Vec<u32> = self.span.affinity.iter().map(|at| u32::from(at.cpu)).collect();
        let cpus = if listed.is_empty() {
            self.lowering.cpus
        } else {
            &listed
        };
        if self.span.disable_affinity || cpus.is_empty() {
            return;
        }
        let of = |thread: u32| cpus[thread as usize % cpus.len()];
        job.cpus_allowed = vec![of(share.thread)];
        job.cpus_split = true;
    }

    /// The kernel is told of the order only where a hint asks for it.
    fn hints(&mut self, job: &mut Job, target: &Target) {
        let random = target.random_percent > 0;
        job.files.invalidate = false;
        job.files.advise = (random && target.random_access_hint) || (!random && target.sequential_scan_hint);
        if (random && target.sequential_scan_hint) || (!random && target.random_access_hint) {
            let fault = Fault::new("a hint (-fr, -fs) that says otherwise than the access is left out");
            self.findings.warning(None, fault.remedy("hint what is done"));
        }
        if target.temporary_hint {
            self.findings.note(
                None,
                Fault::new("-ft changes nothing: Linux has no temporary attribute"),
            );
        }
    }

    fn buffers(&mut self, target: &Target) -> Option<Buffers> {
        let plain = Buffers {
            scramble: false,
            huge_pages: target.large_pages,
            ..Buffers::default()
        };
        Some(match &target.write_source {
            Some(source) => Buffers {
                pattern: self.contents(source, target)?,
                source_bytes: Some(source.size_bytes),
                ..plain
            },
            None if target.zero_buffers => Buffers { zero: true, ..plain },
            None if self.span.random_write_data => Buffers {
                refill: true,
                ..plain
            },
            None => Buffers {
                pattern: (0..=255).collect(),
                ..plain
            },
        })
    }

    /// What fills the buffer that writes are taken from; empty: random bytes.
    fn contents(&mut self, source: &WriteSource, target: &Target) -> Option<Vec<u8>> {
        let Some(file) = &source.file else {
            return Some(Vec::new());
        };
        // A read-only load needs no contents.
        if target.write_percent == 0 {
            return Some(Vec::new());
        }
        let wanted = source.size_bytes.min(SOURCE_FILE_BYTES_MAX + 1);
        let fault = match (self.lowering.read_bytes)(file, wanted) {
            Ok(bytes) if bytes.len() as u64 > SOURCE_FILE_BYTES_MAX => Fault::new(format!(
                "-Z: more than {SOURCE_FILE_BYTES_MAX} bytes of `{file}` would be used"
            ))
            .remedy("use a shorter file, or a smaller size"),
            Ok(bytes) if bytes.is_empty() => {
                Fault::new(format!("-Z: the file `{file}` is empty")).remedy("name a file with contents")
            }
            Ok(mut bytes) => {
                bytes.truncate(source.size_bytes as usize);
                return Some(bytes);
            }
            Err(message) => Fault::new(format!("-Z: the file `{file}` cannot be read: {message}"))
                .remedy("name a file that exists, or none for random contents"),
        };
        self.findings.error(None, fault);
        None
    }

    /// The file, and the part of it that is used.
    fn files(&mut self, job: &mut Job, target: &Target, share: Share) -> Option<()> {
        job.files.names = vec![target.path.clone().into()];
        let size_now = (self.lowering.look)(&target.path);
        job.pattern.first_offset_bytes = target.thread_stride.saturating_mul(u64::from(share.within));
        self.region(job, target, (target.base_offset, size_now))
    }

    /// Sets the region from `begin` on; `size_now`: the smallest of the job's files, where they exist.
    pub(super) fn region(
        &mut self,
        job: &mut Job,
        target: &Target,
        (begin, size_now): (u64, Option<u64>),
    ) -> Option<()> {
        let files = job.files.names.len() as u64;
        if begin > 0 {
            job.region.offset = Some(Amount::Bytes(begin));
        }
        job.files.may_create = target.file_size.is_some();
        let whole = target.file_size.or(size_now);
        let end = match (target.max_offset, whole) {
            (0, whole) => whole,
            (max, Some(whole)) => Some(max.min(whole)),
            (max, None) => Some(max),
        };
        let room = end.map(|end| end.saturating_sub(begin));
        let first = job.pattern.first_offset_bytes;
        if room.is_some_and(|room| room.saturating_sub(first) < u64::from(target.block_size)) {
            let at = begin.saturating_add(first);
            let fault = Fault::new(format!(
                "a thread would begin at byte {at} of `{}`, and there is no block left",
                target.path
            ));
            self.findings
                .error(None, fault.remedy("make the target larger, or -B and -T smaller"));
            return None;
        }
        let limited = target.max_offset > 0 && end != whole;
        // A modelled disk has no file of that size: what is used of it is said as well.
        let said = limited || target.file_size.is_some() || (target.max_offset > 0 && whole.is_none());
        if let (true, Some(room)) = (said, room) {
            job.region.size = Some(Amount::Bytes(room.saturating_mul(files)));
        }
        if let Some(bytes) = target.file_size {
            if limited {
                let fault = Fault::new("of a file that -c makes, only the part that -f leaves is laid out");
                self.findings.note(None, fault);
            } else {
                job.region.file_size = Some((bytes, bytes));
            }
            // What is read is always laid out first; what is only written would otherwise be holes.
            job.files.overwrite = size_now.is_none_or(|now| now < end.unwrap_or(bytes));
        }
        Some(())
    }
}

fn name(share: Share, with_target: bool, target: &Target) -> String {
    let thread = format!("thread {}", share.thread);
    if with_target {
        format!("{thread}: {}", target.path)
    } else {
        thread
    }
}

fn pattern(target: &Target, share: Share) -> Pattern {
    let random = target.random_percent > 0;
    let percent = if random { target.random_percent as u8 } else { 100 };
    let stride = target.alignment_bytes() as i64;
    Pattern {
        mix: match target.write_percent {
            0 => Mix::Read,
            100 => Mix::Write,
            write => Mix::ReadWrite {
                read_percent: 100u32.saturating_sub(write) as u8,
            },
        },
        random,
        skip_bytes: if percent == 100 && random {
            0
        } else {
            stride.saturating_sub(i64::from(target.block_size))
        },
        keeps_direction: random && percent < 100,
        random_percent: [percent; 3],
        distribution: [(); 3].map(|()| distribution(target)),
        random_map: RandomMap::Independent,
        shared_sequence: !random && target.interlocked && share.of > 1,
        same_offset: !random && target.parallel_async && target.request_count > 1,
        ..Pattern::default()
    }
}

fn distribution(target: &Target) -> Distribution {
    let Some(ranges) = &target.distribution else {
        return Distribution::Uniform;
    };
    let size = |bytes: u64| match ranges {
        Ranges::Percent(_) => ZoneSize::Percent(bytes as f64),
        Ranges::Absolute(_) if bytes == 0 => ZoneSize::Rest,
        Ranges::Absolute(_) => ZoneSize::Bytes(bytes),
    };
    let zone = |range: &crate::diskspd::profile::Range| Zone {
        io_percent: f64::from(range.io_percent),
        size: size(range.target),
    };
    Distribution::Zones(ranges.ranges().iter().map(zone).collect())
}

/// A limit holds for reads and writes together: each gets its share of it.
fn pace(target: &Target) -> Pace {
    let write = u64::from(target.write_percent.min(100));
    let rate = |share: u64| {
        let part = |whole: u64| (whole * share / 100).max(1);
        match target.throughput {
            _ if share == 0 => None,
            Throughput::None => None,
            Throughput::BytesPerMs(bytes) => Some(Rate::BytesPerSecond(part(u64::from(bytes) * 1000))),
            Throughput::Iops(iops) => Some(Rate::Iops(part(u64::from(iops)))),
        }
    };
    let think = match (target.burst, target.think_ms) {
        (Some(blocks @ 1..), Some(ms @ 1..)) => Some(ThinkTime {
            pause: Nanos::from_millis(u64::from(ms)),
            spin: Nanos(0),
            blocks,
            basis: ThinkTimeBasis::Issue,
            puts_off: false,
            after_run: None,
        }),
        _ => None,
    };
    Pace {
        rate: [rate(100 - write), rate(write), None],
        think,
        ..Pace::default()
    }
}

/// Windows' very low priority is served when nothing else is there; low yields to normal.
fn priority(target: &Target) -> Option<IoPriority> {
    match target.io_priority {
        1 => Some(IoPriority { class: 3, level: 0 }),
        2 => Some(IoPriority { class: 2, level: 7 }),
        _ => None,
    }
}
