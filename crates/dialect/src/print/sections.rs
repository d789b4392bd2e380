//! One job as a section: its options in the order of the table's topics.

use super::{PrintError, words};
use crate::resolve::DEFAULT_SEED;
use crate::scan;
use fathom_core::workload::{BlockSize, Job, Mix, RandomMap, Rate, ThinkTimeBasis};
use std::fmt::Write as _;

/// Appends the section of `job` to `text`. `last_group` is the group of the job before it.
pub(super) fn section(job: &Job, last_group: Option<u32>, text: &mut String) -> Result<(), PrintError> {
    let mut section = Section {
        job,
        plain: Job::default(),
        lines: String::new(),
        fault: None,
    };
    let header = section.header();
    section.identity(last_group);
    section.time();
    section.files();
    section.pattern();
    section.sizes();
    section.buffers();
    section.engine();
    section.pace();
    section.verify();
    section.reporting();
    if let Some(fault) = section.fault {
        return Err(fault);
    }
    let _ = writeln!(text, "[{header}]");
    text.push_str(&section.lines);
    Ok(())
}

struct Section<'a> {
    job: &'a Job,
    /// A job with nothing but defaults.
    plain: Job,
    lines: String,
    fault: Option<PrintError>,
}

impl Section<'_> {
    fn put(&mut self, option: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.lines, "{option}={value}");
    }
    fn put_if(&mut self, condition: bool, option: &str, value: impl std::fmt::Display) {
        if condition {
            self.put(option, value);
        }
    }
    /// A switch, where it differs from its default.
    fn switch(&mut self, option: &str, on: bool, default: bool) {
        self.put_if(on != default, option, u8::from(on));
    }
    fn text(&mut self, option: &'static str, text: &str) {
        if is_plain(text) {
            self.put(option, text);
        } else {
            let (job, text) = (self.job.name.clone(), text.to_owned());
            self.fault = Some(PrintError::Text { job, option, text });
        }
    }
    fn unspeakable(&mut self, what: &'static str) {
        self.fault = Some(PrintError::Setting {
            job: self.job.name.clone(),
            what,
        });
    }

    /// The section's name, which is the job's unless a header cannot hold it.
    fn header(&mut self) -> String {
        let name = &self.job.name;
        // Variables are replaced in values, not in headers.
        if is_one_line(name) && !name.contains(']') && !scan::is_global(name) {
            return name.clone();
        }
        self.text("name", name);
        String::from("job")
    }

    fn identity(&mut self, last_group: Option<u32>) {
        let job = self.job;
        if !job.description.is_empty() {
            self.text("description", &job.description);
        }
        self.switch("stonewall", job.start.stonewall, false);
        let new_group = !job.start.stonewall && last_group.is_some_and(|last| last != job.group);
        self.switch("new_group", new_group, false);
        if let Some(awaited) = &job.start.wait_for {
            self.text("wait_for", awaited);
        }
        self.put_if(job.numjobs != 1, "numjobs", job.numjobs);
        self.switch("group_reporting", job.group_reporting, false);
        self.put_if(
            !job.cpus_allowed.is_empty(),
            "cpus_allowed",
            words::cpus(&job.cpus_allowed),
        );
        self.put_if(job.cpus_split, "cpus_allowed_policy", "split");
        self.put_if(job.nice != 0, "nice", job.nice);
        if let Some(priority) = job.io_priority {
            self.put("prioclass", priority.class);
            self.put("prio", priority.level);
        }
        self.without_words();
    }

    /// What no option of fio's stands for.
    fn without_words(&mut self) {
        let job = self.job;
        let settings = [
            (!job.limit.cooldown_time.is_zero(), "a cooldown"),
            (job.pattern.shared_sequence, "a sequence that its workers share"),
            (job.pattern.same_offset, "a sequence for each I/O in flight"),
            (
                job.pattern.first_offset_bytes > 0,
                "a sequence that begins within its region",
            ),
            (job.pattern.keeps_direction, "runs of one direction"),
            (job.buffers.huge_pages, "buffers in large pages"),
            (
                job.buffers.source_bytes.is_some(),
                "a store that writes are taken from",
            ),
            (job.count_files, "counts of each file"),
        ];
        if let Some((_, what)) = settings.iter().find(|(asked, _)| *asked) {
            self.unspeakable(what);
        }
    }

    fn time(&mut self) {
        let job = self.job;
        if let Some(runtime) = job.limit.runtime {
            self.put("runtime", words::time(runtime));
        }
        self.switch("time_based", job.limit.time_based, false);
        self.put_if(
            !job.limit.ramp_time.is_zero(),
            "ramp_time",
            words::time(job.limit.ramp_time),
        );
        let (from, to) = job.start.delay;
        if from != to {
            self.put("startdelay", format!("{}-{}", words::time(from), words::time(to)));
        } else if !from.is_zero() {
            self.put("startdelay", words::time(from));
        }
        self.put_if(job.region.loops > 1, "loops", job.region.loops);
    }

    fn files(&mut self) {
        let (files, plain) = (&self.job.files, self.plain.files.clone());
        for (option, paths) in [("filename", &files.names), ("directory", &files.directories)] {
            match words::paths(paths) {
                _ if paths.is_empty() => {}
                Some(text) => self.text(option, &text),
                None => self.unspeakable("a path that is not UTF-8"),
            }
        }
        self.put_if(files.nrfiles != 1, "nrfiles", files.nrfiles);
        if files.name_format != plain.name_format {
            self.text("filename_format", &files.name_format);
        }
        self.put_if(
            files.choice != plain.choice,
            "file_service_type",
            words::file_choice(files.choice),
        );
        self.put_if(
            files.fallocate != plain.fallocate,
            "fallocate",
            words::fallocate(files.fallocate),
        );
        self.switch("fadvise_hint", files.advise, plain.advise);
        self.switch("allow_file_create", files.may_create, plain.may_create);
        self.switch("create_fsync", files.create_fsync, plain.create_fsync);
        self.switch("overwrite", files.overwrite, plain.overwrite);
        self.switch("invalidate", files.invalidate, plain.invalidate);
        self.switch("pre_read", files.pre_read, plain.pre_read);
        self.switch("unlink", files.unlink, plain.unlink);
    }

    fn pattern(&mut self) {
        let pattern = &self.job.pattern;
        self.put("rw", words::direction(pattern));
        if let Mix::ReadWrite { read_percent } = pattern.mix {
            self.put_if(read_percent != 50, "rwmixread", read_percent);
        }
        if pattern.random_percent != [100; 3] {
            let percents = pattern.random_percent.map(|percent| Some(percent.to_string()));
            self.put(
                "percentage_random",
                words::per_direction(percents).unwrap_or_default(),
            );
        }
        if pattern.distribution != self.plain.pattern.distribution {
            let each = pattern
                .distribution
                .each_ref()
                .map(|distribution| Some(words::distribution(distribution)));
            self.put(
                "random_distribution",
                words::per_direction(each).unwrap_or_default(),
            );
        }
        self.switch("norandommap", pattern.random_map == RandomMap::Independent, false);
        self.put_if(
            pattern.random_map == RandomMap::NextFree,
            "random_map",
            "next_free",
        );
        self.put_if(
            self.job.random_seed != DEFAULT_SEED,
            "randseed",
            self.job.random_seed,
        );
    }

    fn sizes(&mut self) {
        let job = self.job;
        let blocks = &job.block_size;
        let fixed = |block: &BlockSize| match block {
            BlockSize::Fixed(bytes) => Some(words::size(*bytes)),
            _ => None,
        };
        let ways = [
            ("bs", blocks.each_ref().map(fixed)),
            ("bsrange", blocks.each_ref().map(words::range)),
            ("bssplit", blocks.each_ref().map(words::split)),
        ];
        for (option, values) in ways {
            if let Some(text) = words::per_direction(values) {
                self.put(option, text);
            }
        }
        let unaligned = blocks
            .iter()
            .any(|b| matches!(b, BlockSize::Range { unaligned: true, .. }));
        self.switch("bs_unaligned", unaligned, false);
        let aligns = job
            .block_align
            .map(|align| (align != 0).then(|| words::size(align)));
        if let Some(text) = words::per_direction(aligns) {
            self.put("ba", text);
        }
        let region = &job.region;
        for (option, amount) in [
            ("size", region.size),
            ("io_size", region.io_size),
            ("offset", region.offset),
            ("offset_increment", region.offset_increment),
        ] {
            if let Some(amount) = amount {
                self.put(option, words::amount(amount));
            }
        }
        match region.file_size {
            Some((from, to)) if from == to => self.put("filesize", words::size(from)),
            Some((from, to)) => self.put("filesize", format!("{}-{}", words::size(from), words::size(to))),
            None => {}
        }
        if let Some(number) = region.number_ios {
            self.put("number_ios", number);
        }
    }

    fn buffers(&mut self) {
        let job = self.job;
        self.switch("direct", job.direct, false);
        let sync = &job.sync;
        self.put_if(
            sync.mode != self.plain.sync.mode,
            "sync",
            words::sync_mode(sync.mode),
        );
        self.put_if(sync.fsync_every != 0, "fsync", sync.fsync_every);
        self.put_if(sync.fdatasync_every != 0, "fdatasync", sync.fdatasync_every);
        self.switch("end_fsync", sync.fsync_at_end, false);
        self.switch("fsync_on_close", sync.fsync_on_close, false);
        let buffers = &job.buffers;
        self.switch("zero_buffers", buffers.zero, false);
        self.switch("refill_buffers", buffers.refill, false);
        self.switch("scramble_buffers", buffers.scramble, true);
        self.put_if(
            !buffers.pattern.is_empty(),
            "buffer_pattern",
            words::pattern(&buffers.pattern),
        );
        if let Some(compression) = buffers.compression {
            self.put("buffer_compress_percentage", compression.percent);
            self.put("buffer_compress_chunk", compression.chunk_bytes);
        }
    }

    fn engine(&mut self) {
        let engine = &self.job.engine;
        self.put("ioengine", engine.kind.name());
        self.switch("hipri", engine.poll, false);
        self.switch("fixedbufs", engine.fixed_buffers, false);
        self.switch("registerfiles", engine.registered_files, false);
        self.switch("sqthread_poll", engine.submission_thread, false);
        if let Some(cpu) = engine.submission_thread_cpu {
            self.put("sqthread_poll_cpu", cpu);
        }
        self.put_if(engine.vectored, "nonvectored", 0);
        self.switch("nowait", engine.nowait, false);
        let (depth, plain) = (self.job.depth, self.plain.depth);
        self.put_if(depth.iodepth != 1, "iodepth", depth.iodepth);
        self.put_if(
            depth.batch_submit != plain.batch_submit,
            "iodepth_batch",
            depth.batch_submit,
        );
        let (min, max) = (depth.batch_complete_min, depth.batch_complete_max);
        self.put_if(min != plain.batch_complete_min, "iodepth_batch_complete_min", min);
        self.put_if(max != plain.batch_complete_max, "iodepth_batch_complete_max", max);
        self.put_if(depth.low != depth.iodepth, "iodepth_low", depth.low);
    }

    fn pace(&mut self) {
        let pace = &self.job.pace;
        let bytes = pace.rate.map(|rate| match rate {
            Some(Rate::BytesPerSecond(bytes)) => Some(words::size(bytes)),
            _ => None,
        });
        let iops = pace.rate.map(|rate| match rate {
            Some(Rate::Iops(iops)) => Some(iops.to_string()),
            _ => None,
        });
        match (words::per_direction(bytes), words::per_direction(iops)) {
            (Some(_), Some(_)) => self.unspeakable("a rate in bytes beside a rate in I/Os"),
            (Some(bytes), None) => self.put("rate", bytes),
            (None, Some(iops)) => self.put("rate_iops", iops),
            (None, None) => {}
        }
        let poisson = pace.arrival != self.plain.pace.arrival;
        self.put_if(poisson, "rate_process", "poisson");
        let Some(think) = pace.think else { return };
        self.put("thinktime", words::time(think.pause));
        self.put_if(!think.spin.is_zero(), "thinktime_spin", words::time(think.spin));
        self.put_if(think.blocks != 1, "thinktime_blocks", think.blocks);
        self.put_if(
            think.basis != ThinkTimeBasis::default(),
            "thinktime_blocks_type",
            "issue",
        );
        if let Some(time) = think.after_run {
            self.put("thinktime_iotime", words::time(time));
        }
    }

    fn verify(&mut self) {
        let Some(verify) = &self.job.verify else { return };
        self.put("verify", words::algorithm(verify.algorithm));
        self.put_if(
            !verify.pattern.is_empty(),
            "verify_pattern",
            words::pattern(&verify.pattern),
        );
        self.put_if(
            verify.interval_bytes != 0,
            "verify_interval",
            words::size(verify.interval_bytes.into()),
        );
        self.switch("verify_only", verify.only, false);
        self.switch("do_verify", verify.read_back, true);
        self.switch("verify_fatal", verify.fatal, false);
    }

    fn reporting(&mut self) {
        match words::errors(self.job.on_error) {
            Some("none") => {}
            Some(word) => self.put("continue_on_error", word),
            None => self.unspeakable("which of reads, writes and verification go on after errors"),
        }
        let (percentiles, plain) = (&self.job.percentiles, self.plain.percentiles.clone());
        self.switch("clat_percentiles", percentiles.clat, plain.clat);
        self.switch("lat_percentiles", percentiles.lat, plain.lat);
        self.switch("slat_percentiles", percentiles.slat, plain.slat);
        if percentiles.list != plain.list {
            let list: Vec<String> = percentiles.list.iter().map(f64::to_string).collect();
            self.put("percentile_list", list.join(":"));
        }
    }
}

/// Whether a value survives being written into a job file.
fn is_plain(text: &str) -> bool {
    let replaced = ["${", "$pagesize", "$mb_memory", "$ncpus"];
    is_one_line(text) && !replaced.iter().any(|word| text.contains(word))
}

/// Whether text stays whole within a line: not cut by a comment, a trim or an end of line.
fn is_one_line(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.contains(['#', ';', '\n'])
}
