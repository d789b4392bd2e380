//! A job while its options are applied: the job so far, and what can only be settled at the end.
//!
//! Data in: one option after the other, in the order written. Data out: itself, to `resolve`. It must not
//! know sections or text.

use crate::diagnostic::Place;
use crate::resolve::DEFAULT_SEED;
use fathom_core::units::Nanos;
use fathom_core::workload::{
    BlockSize, Compression, Dedupe, Distribution, Flow, Job, LatencyTarget, Mix, PerOp, RandomMap, Rate,
    ReadIolog, SplitEntry, Steady, SteadyOf, ThinkTime, ThinkTimeBasis, Verify, VerifyAlgorithm, ZoneRules,
};
use std::collections::BTreeMap;

/// A job in the making.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// What is settled at once.
    pub(crate) job: Job,
    /// The name that an option gave, which replaces the section's.
    pub(crate) name: Option<String>,
    /// What `k` means in the sizes that follow.
    pub(crate) kb_base: u64,
    pub(crate) blocks: Blocks,
    pub(crate) rate_bytes: PerOp<u64>,
    pub(crate) rate_iops: PerOp<u64>,
    pub(crate) read_percent: u8,
    pub(crate) think: ThinkTime,
    pub(crate) verify_algorithm: Option<VerifyAlgorithm>,
    /// The other options of verification; its algorithm is not read.
    pub(crate) verify: Verify,
    /// 0 %: none.
    pub(crate) compression: Compression,
    /// 0 %: none.
    pub(crate) dedupe: Dedupe,
    /// The share of a working set, where copies are of one.
    pub(crate) dedupe_set_percent: u8,
    pub(crate) dedupe_of_set: bool,
    /// Weight 0: none.
    pub(crate) flow: Flow,
    /// Latency 0: none.
    pub(crate) target: LatencyTarget,
    /// Duration 0: none, nor without what has to be steady.
    pub(crate) steady: Steady,
    pub(crate) steady_given: bool,
    pub(crate) rate_min_bytes: PerOp<u64>,
    pub(crate) rate_min_iops: PerOp<u64>,
    pub(crate) zones: ZoneWords,
    /// `bs` is that of sequential I/Os, then that of random ones.
    pub(crate) sizes_by_order: bool,
    /// Largest pages for the buffers.
    pub(crate) huge_pages: bool,
    /// All is direct, whatever else says.
    pub(crate) atomic: bool,
    pub(crate) iodepth_low: u32,
    pub(crate) no_random_map: bool,
    /// Blocks of one size all come once, map or not (`random_generator=lfsr`).
    pub(crate) visits_all: bool,
    /// Of a sequence of blocks: see [`Distribution::Sequence`].
    pub(crate) sequence_strides: bool,
    /// Its path is empty: no record is played.
    pub(crate) iolog: ReadIolog,
    /// What a block gets that is drawn again, where there is a map.
    pub(crate) next_free: bool,
    /// `randrepeat`: the same random decisions on each run.
    pub(crate) repeat: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) new_group: bool,
    /// Whether the times of logs are a clock's, and which.
    pub(crate) log_epoch: bool,
    pub(crate) log_clock: u32,
    /// Where each option was last given.
    pub(crate) places: BTreeMap<&'static str, Place>,
}

/// How a region is divided into zones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ZoneWords {
    pub(crate) mode: ZoneMode,
    pub(crate) size: u64,
    pub(crate) range: u64,
    pub(crate) skip: u64,
    /// What counts where the zones of a device are heeded; its sizes are given by the words above.
    pub(crate) rules: ZoneRules,
}

/// What zones are to a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ZoneMode {
    #[default]
    None,
    /// Parts of a region, one after the other.
    Strided,
    /// Those of a zoned device.
    Heeded,
}

/// The three ways to give block sizes; per direction the last of them that is set counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Blocks {
    pub(crate) fixed: PerOp<Option<u64>>,
    pub(crate) range: PerOp<Option<(u64, u64)>>,
    pub(crate) split: PerOp<Option<Vec<SplitEntry>>>,
    pub(crate) unaligned: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            job: Job::default(),
            name: None,
            kb_base: 1024,
            blocks: Blocks::default(),
            rate_bytes: [0; 3],
            rate_iops: [0; 3],
            read_percent: 50,
            think: ThinkTime {
                pause: Nanos::ZERO,
                spin: Nanos::ZERO,
                blocks: 1,
                basis: ThinkTimeBasis::Complete,
                puts_off: false,
                after_run: None,
            },
            verify_algorithm: None,
            verify: Verify::default(),
            compression: Compression {
                percent: 0,
                chunk_bytes: 512,
            },
            dedupe: Dedupe {
                percent: 0,
                working_set_percent: None,
                shared: false,
            },
            dedupe_set_percent: 5,
            dedupe_of_set: false,
            flow: Flow {
                id: 0,
                weight: 0,
                sleep: Nanos::ZERO,
            },
            target: LatencyTarget {
                latency: Nanos::ZERO,
                window: Nanos::ZERO,
                percentile: 100.0,
                keeps_running: false,
            },
            steady: Steady {
                of: SteadyOf::Iops,
                slope: true,
                limit: 0.0,
                in_percent: false,
                duration: Nanos::ZERO,
                ramp: Nanos::ZERO,
            },
            steady_given: false,
            rate_min_bytes: [0; 3],
            rate_min_iops: [0; 3],
            zones: ZoneWords::default(),
            sizes_by_order: false,
            huge_pages: false,
            atomic: false,
            iodepth_low: 0,
            no_random_map: false,
            visits_all: false,
            sequence_strides: false,
            iolog: ReadIolog::default(),
            next_free: false,
            repeat: true,
            seed: None,
            new_group: false,
            log_epoch: false,
            log_clock: 0,
            places: BTreeMap::new(),
        }
    }
}

/// The way back: a draft that becomes this job again.
impl From<&Job> for Draft {
    fn from(job: &Job) -> Self {
        let mut draft = Self {
            job: job.clone(),
            no_random_map: job.pattern.random_map == RandomMap::Independent,
            next_free: job.pattern.random_map == RandomMap::NextFree,
            seed: Some(job.random_seed).filter(|&seed| seed != DEFAULT_SEED),
            ..Self::default()
        };
        if let Mix::ReadWrite { read_percent } = job.pattern.mix {
            draft.read_percent = read_percent;
        }
        for op in 0..3 {
            match &job.block_size[op] {
                BlockSize::Fixed(bytes) => draft.blocks.fixed[op] = Some(*bytes),
                BlockSize::Split(entries) => draft.blocks.split[op] = Some(entries.clone()),
                BlockSize::Range { min, max, unaligned } => {
                    draft.blocks.range[op] = Some((*min, *max));
                    draft.blocks.unaligned |= unaligned;
                }
            }
            match job.pace.rate[op] {
                Some(Rate::BytesPerSecond(bytes)) => draft.rate_bytes[op] = bytes,
                Some(Rate::Iops(iops)) => draft.rate_iops[op] = iops,
                None => {}
            }
            match job.stops.rate_min[op] {
                Some(Rate::BytesPerSecond(bytes)) => draft.rate_min_bytes[op] = bytes,
                Some(Rate::Iops(iops)) => draft.rate_min_iops[op] = iops,
                None => {}
            }
        }
        if let Some(clock) = job.reporting.logs.epoch_clock {
            (draft.log_epoch, draft.log_clock) = (true, clock);
        }
        draft.restore_rare(job);
        draft.think = job.pace.think.unwrap_or(draft.think);
        draft.compression = job.buffers.compression.unwrap_or(draft.compression);
        if job.depth.low != job.depth.iodepth {
            draft.iodepth_low = job.depth.low;
        }
        if let Some(verify) = &job.verify {
            draft.verify_algorithm = Some(verify.algorithm);
            draft.verify = verify.clone();
        }
        draft
    }
}

impl Draft {
    /// What few jobs have.
    fn restore_rare(&mut self, job: &Job) {
        if let Some(dedupe) = job.buffers.dedupe {
            self.dedupe = dedupe;
            self.dedupe_of_set = dedupe.working_set_percent.is_some();
            self.dedupe_set_percent = dedupe.working_set_percent.unwrap_or(self.dedupe_set_percent);
        }
        self.sequence_strides = matches!(
            job.pattern.distribution[0],
            Distribution::Sequence { strides: true, .. }
        );
        self.iolog = job.read_iolog.clone().unwrap_or_default();
        self.flow = job.flow.unwrap_or(self.flow);
        self.target = job.latency_target.unwrap_or(self.target);
        if let Some(steady) = job.stops.steady {
            self.steady = steady;
            self.steady_given = true;
        }
        if let Some(strides) = job.pattern.strides {
            self.zones = ZoneWords {
                mode: ZoneMode::Strided,
                size: strides.amount_bytes,
                range: strides.range_bytes,
                skip: strides.skip_bytes,
                ..ZoneWords::default()
            };
        }
        if let Some(rules) = job.pattern.zones {
            self.zones = ZoneWords {
                mode: ZoneMode::Heeded,
                size: rules.size_bytes,
                rules,
                ..ZoneWords::default()
            };
        }
    }

    /// Where `option` was given, if it was.
    pub(crate) fn place(&self, option: &str) -> Option<&Place> {
        self.places.get(option)
    }

    /// Where the first of `options` that was given stands.
    pub(crate) fn place_of_any(&self, options: &[&str]) -> Option<Place> {
        options.iter().find_map(|option| self.place(option).cloned())
    }

    /// Makes room for a flag of the command line: what excludes it or outranks it in the job file is
    /// forgotten, so that `--bs=8k` wins over a `bssplit`, `--rate_iops` over a `rate`, `--random_map` over `norandommap`.
    pub(crate) fn give_way_to(&mut self, option: &'static str) {
        match option {
            "bs" => {
                self.blocks = Blocks {
                    unaligned: self.blocks.unaligned,
                    ..Blocks::default()
                };
            }
            "bsrange" => self.blocks.split = [None, None, None],
            "rate" => self.rate_iops = [0; 3],
            "rate_iops" => self.rate_bytes = [0; 3],
            "random_map" => self.no_random_map = false,
            _ => {}
        }
    }
}

/// Writes the values that are given over the ones there.
pub(crate) fn merge<T>(into: &mut PerOp<T>, given: PerOp<Option<T>>) {
    for (old, new) in into.iter_mut().zip(given) {
        if let Some(new) = new {
            *old = new;
        }
    }
}
