//! A draft becomes a job: defaults filled in, fix-ups made and said, contradictions found.
//!
//! Data in: a draft with all its options applied. Data out: a job, and findings. It must not know where the
//! options came from beyond their places.

mod depth;
mod elsewhere;
mod rare;
mod verify;

use crate::diagnostic::{Fault, Findings};
use crate::draft::Draft;
use crate::table::find_exact;
use fathom_core::workload::{Amount, BlockSize, Distribution, Job, Mix, RandomMap, Rate};

/// The seed of jobs that repeat themselves and name no seed of their own (fio's is the same number, which
/// does not make the offsets the same).
pub(crate) const DEFAULT_SEED: u64 = 0x89;

/// Settles a job. `seed` is that of jobs which do not want to repeat themselves.
pub(crate) fn resolve(draft: &Draft, section: &str, seed: u64, findings: &mut Findings) -> Job {
    let mut job = draft.job.clone();
    job.name = draft.name.clone().unwrap_or_else(|| section.to_owned());
    job.random_seed = draft
        .seed
        .unwrap_or(if draft.repeat { DEFAULT_SEED } else { seed });
    job.region.loops = job.region.loops.max(1);
    job.reporting.kb_base = draft.kb_base as u16;
    job.direct |= draft.atomic;
    if draft.log_epoch {
        job.reporting.logs.epoch_clock = Some(draft.log_clock);
    }
    let mut settling = Settling { draft, job, findings };
    settling.mix();
    settling.blocks();
    settling.sizes_by_order();
    settling.region();
    settling.sequence();
    settling.random_map();
    settling.time();
    settling.rates();
    settling.pauses();
    settling.buffers();
    settling.engine();
    settling.depth();
    settling.strides();
    settling.stops();
    settling.verify();
    settling.iolog();
    settling.elsewhere();
    settling.job
}

/// A job while it is settled.
struct Settling<'a> {
    draft: &'a Draft,
    job: Job,
    findings: &'a mut Findings,
}

impl Settling<'_> {
    fn error(&mut self, options: &[&str], fault: Fault) {
        self.findings.error(self.draft.place_of_any(options), fault);
    }
    fn warning(&mut self, options: &[&str], fault: Fault) {
        self.findings.warning(self.draft.place_of_any(options), fault);
    }
    fn note(&mut self, options: &[&str], fault: Fault) {
        self.findings.note(self.draft.place_of_any(options), fault);
    }
    fn given(&self, option: &str) -> bool {
        self.draft.place(option).is_some()
    }

    fn mix(&mut self) {
        if let Mix::ReadWrite { read_percent } = &mut self.job.pattern.mix {
            *read_percent = self.draft.read_percent;
            return;
        }
        for option in ["rwmixread", "rwmixwrite"] {
            if self.given(option) {
                let fault = Fault::new(format!(
                    "`{option}` has no effect: the job does not both read and write"
                ));
                self.note(&[option], fault.remedy("use rw=rw or rw=randrw"));
            }
        }
    }

    /// Per direction a split outranks a range, and a range a size, in whatever order they were given.
    fn blocks(&mut self) {
        let blocks = &self.draft.blocks;
        for op in 0..3 {
            if let Some(entries) = &blocks.split[op] {
                self.job.block_size[op] = match entries[..] {
                    [one] => BlockSize::Fixed(one.bytes),
                    _ => BlockSize::Split(entries.clone()),
                };
            } else if let Some((min, max)) = blocks.range[op] {
                self.job.block_size[op] = if min == max {
                    BlockSize::Fixed(min)
                } else {
                    BlockSize::Range {
                        min,
                        max,
                        unaligned: blocks.unaligned,
                    }
                };
            } else if let Some(bytes) = blocks.fixed[op] {
                self.job.block_size[op] = BlockSize::Fixed(bytes);
            }
        }
    }

    /// A region or an amount that holds not even one block is a mistake.
    fn region(&mut self) {
        let smallest = self.job.min_block_bytes();
        for (option, amount) in [
            ("size", self.job.region.size),
            ("io_size", self.job.region.io_size),
        ] {
            if let Some(Amount::Bytes(bytes)) = amount
                && bytes < smallest
            {
                let fault = Fault::new(format!(
                    "{option} is {bytes} bytes, less than a block of {smallest}"
                ));
                self.error(&[option], fault.remedy(format!("raise {option} or lower bs")));
            }
        }
        let files = u64::from(self.job.files.nrfiles);
        if self.job.files.names.is_empty()
            && self.job.files.all_below.is_none()
            && self.job.region.file_size.is_none()
            && let Some(Amount::Bytes(bytes)) = self.job.region.size
            && bytes >= smallest
            && bytes / files < smallest
        {
            let fault = Fault::new(format!(
                "each of {files} files has {} bytes, less than a block",
                bytes / files
            ));
            self.error(&["nrfiles", "size"], fault.remedy("raise size or lower nrfiles"));
        }
        if let Some((from, _)) = self.job.region.file_size
            && from < smallest
        {
            let fault = Fault::new(format!(
                "files of {from} bytes are smaller than a block of {smallest}"
            ));
            self.error(&["filesize"], fault.remedy("raise filesize or lower bs"));
        }
        if !self.job.files.names.is_empty() && self.job.files.nrfiles != 1 {
            let fault = Fault::new("`nrfiles` has no effect: filename names the files");
            self.note(
                &["nrfiles"],
                fault.remedy("leave filename out, or name more files with filename=a:b"),
            );
        }
    }

    fn random_map(&mut self) {
        if self.draft.no_random_map && !self.comes_once_anyway() {
            self.job.pattern.random_map = RandomMap::Independent;
            if self.draft.next_free {
                let fault = Fault::new("`random_map` has no effect: norandommap switches the map off");
                self.note(&["random_map"], fault.remedy("leave one of them out"));
            }
            return;
        }
        if self.draft.next_free {
            self.job.pattern.random_map = RandomMap::NextFree;
        }
        if !self.job.pattern.random {
            return;
        }
        let (mut skewed, mut aligned) = (false, false);
        for op in self.job.used_ops() {
            skewed |= self.job.pattern.distribution[op] != Distribution::Uniform;
            aligned |= self.job.block_align[op] != 0;
        }
        for (cause, option) in [(skewed, "random_distribution"), (aligned, "ba")] {
            if cause {
                self.job.pattern.random_map = RandomMap::Independent;
                let fault = Fault::new(format!("`{option}` switches the random map off, as in fio"));
                self.note(&[option], fault.remedy("add norandommap to say so"));
            }
        }
    }

    /// fio's other generator visits each block once by itself, where blocks have one size and none comes more often.
    fn comes_once_anyway(&self) -> bool {
        let job = &self.job;
        let one_size = job.min_block_bytes() == job.max_block_bytes();
        let even =
            |op: usize| job.pattern.distribution[op] == Distribution::Uniform && job.block_align[op] == 0;
        self.draft.visits_all && one_size && job.used_ops().all(even)
    }

    fn time(&mut self) {
        if self.job.limit.time_based && self.job.limit.runtime.is_none() {
            // As fio, which says so and goes on.
            let fault = Fault::new("time_based has no effect without a runtime");
            self.warning(&["time_based"], fault.remedy("add such as runtime=60s"));
            self.job.limit.time_based = false;
        }
    }

    fn rates(&mut self) {
        let (bytes, iops) = (self.draft.rate_bytes, self.draft.rate_iops);
        if bytes.iter().any(|&rate| rate > 0) && iops.iter().any(|&rate| rate > 0) {
            let fault = Fault::new("rate and rate_iops exclude each other");
            self.error(&["rate_iops", "rate"], fault.remedy("leave one of them out"));
            return;
        }
        for op in 0..3 {
            self.job.pace.rate[op] = match (bytes[op], iops[op]) {
                (0, 0) => None,
                (0, iops) => Some(Rate::Iops(iops)),
                (bytes, _) => Some(Rate::BytesPerSecond(bytes)),
            };
        }
        if self.given("rate_process") && !self.job.is_open_loop() {
            let fault = Fault::new("`rate_process` has no effect without a rate");
            self.note(&["rate_process"], fault.remedy("add rate or rate_iops"));
        }
    }

    fn pauses(&mut self) {
        let mut think = self.draft.think;
        if think.pause.is_zero() {
            for option in [
                "thinktime_spin",
                "thinktime_blocks",
                "thinktime_blocks_type",
                "thinktime_iotime",
            ] {
                if self.given(option) {
                    let fault = Fault::new(format!("`{option}` has no effect without thinktime"));
                    self.note(&[option], fault);
                }
            }
            return;
        }
        if think.spin > think.pause {
            let fault = Fault::new("thinktime_spin is longer than thinktime: the whole pause is spun");
            self.warning(&["thinktime_spin"], fault);
            think.spin = think.pause;
        }
        self.job.pace.think = Some(think);
    }

    fn buffers(&mut self) {
        let compression = self.draft.compression;
        self.job.buffers.compression = (compression.percent > 0).then_some(compression);
        self.job.buffers.huge_pages |= self.draft.huge_pages;
        let mut dedupe = self.draft.dedupe;
        dedupe.working_set_percent = self.draft.dedupe_of_set.then_some(self.draft.dedupe_set_percent);
        self.job.buffers.dedupe = (dedupe.percent > 0).then_some(dedupe);
    }

    /// Options that belong to other interfaces are refused, as in fio.
    fn engine(&mut self) {
        let engine = self.job.engine.kind.name();
        for (&option, place) in &self.draft.places {
            let Some(row) = find_exact(option) else { continue };
            if !row.engines.is_empty() && !row.engines.contains(&engine) {
                let fault = Fault::new(format!("ioengine={engine} has no option `{option}`"));
                let remedy = format!("it belongs to ioengine={}", row.engines.join(" and ioengine="));
                self.findings.error(place.clone(), fault.remedy(remedy));
            }
        }
    }
}

#[cfg(test)]
mod tests;
