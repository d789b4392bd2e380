//! A profile as XML: the elements and their order are those of diskspd (`Profile::GetXml` of v2.2).
//!
//! Data in: a profile. Data out: text, two spaces a level. It must not know the schema's reader. Values that diskspd writes
//! as they are, are escaped here.

use crate::diskspd::profile::{
    CacheMode, Distribution, Profile, ResultFormat, Target, ThreadTarget, Throughput, TimeSpan,
};
use std::fmt::Display;

/// Elements being written.
struct Writer {
    text: String,
    level: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.level));
        self.text.push_str(line);
        self.text.push('\n');
    }
    fn value(&mut self, name: &str, value: impl Display) {
        let value = escaped(&value.to_string());
        self.line(&format!("<{name}>{value}</{name}>"));
    }
    fn within(&mut self, name: &str, inner: impl FnOnce(&mut Self)) {
        self.line(&format!("<{name}>"));
        self.level += 1;
        inner(self);
        self.level -= 1;
        self.line(&format!("</{name}>"));
    }
    /// An element that is left out where it says nothing: older readers do not know it.
    fn if_so(&mut self, name: &str, is_so: bool) {
        if is_so {
            self.value(name, true);
        }
    }
}

/// Text between tags.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A profile as XML: what `-Rpxml` prints, and what stands in results.
pub fn profile_as_xml(profile: &Profile) -> String {
    let mut writer = Writer {
        text: String::new(),
        level: 0,
    };
    writer.within("Profile", |w| {
        w.value("Progress", profile.progress);
        if profile.experiment_flags != 0 {
            w.value("ExperimentFlags", profile.experiment_flags);
        }
        let format = match profile.result_format {
            ResultFormat::Text => "text",
            ResultFormat::Xml => "xml",
        };
        w.value("ResultFormat", format);
        w.value("Verbose", profile.verbose);
        w.if_so("VerboseStats", profile.verbose_stats);
        if let Some(precreate) = profile.precreate {
            w.value("PrecreateFiles", precreate.word());
        }
        w.within("TimeSpans", |w| {
            for span in &profile.time_spans {
                time_span(w, span);
            }
        });
    });
    writer.text
}

fn time_span(writer: &mut Writer, span: &TimeSpan) {
    writer.within("TimeSpan", |w| {
        w.value("CompletionRoutines", span.completion_routines);
        w.value("MeasureLatency", span.measure_latency);
        w.value("CalculateIopsStdDev", span.iops_std_dev);
        w.value("DisableAffinity", span.disable_affinity);
        w.value("Duration", span.duration_s);
        w.value("Warmup", span.warmup_s);
        w.value("Cooldown", span.cooldown_s);
        w.value("ThreadCount", span.thread_count);
        w.value("RequestCount", span.request_count);
        w.value("IoBucketDuration", span.io_bucket_ms);
        w.value("RandSeed", span.random_seed);
        // diskspd forgets this one, so that its own profiles lose it.
        w.if_so("RandomWriteData", span.random_write_data);
        if !span.affinity.is_empty() {
            w.within("Affinity", |w| {
                for at in &span.affinity {
                    let (group, cpu) = (at.group, at.cpu);
                    w.line(&format!(
                        "<AffinityGroupAssignment Group=\"{group}\" Processor=\"{cpu}\"/>"
                    ));
                }
            });
        }
        w.within("Targets", |w| {
            for one in &span.targets {
                target(w, one);
            }
        });
    });
}

fn target(writer: &mut Writer, target: &Target) {
    writer.within("Target", |w| {
        w.value("Path", &target.path);
        w.value("BlockSize", target.block_size);
        w.value("BaseFileOffset", target.base_offset);
        w.value("SequentialScan", target.sequential_scan_hint);
        w.value("RandomAccess", target.random_access_hint);
        w.value("TemporaryFile", target.temporary_hint);
        w.value("UseLargePages", target.large_pages);
        w.if_so("DisableLocalCache", target.cache == CacheMode::DisableLocalCache);
        w.if_so("DisableOSCache", target.cache == CacheMode::DisableOsCache);
        w.if_so("WriteThrough", target.write_through);
        w.if_so("MemoryMappedIo", target.memory_mapped);
        if let Some(flush) = target.flush {
            w.value("FlushType", flush.word());
        }
        contents(w, target);
        w.value("ParallelAsyncIO", target.parallel_async);
        if let Some(burst) = target.burst {
            w.value("BurstSize", burst);
        }
        if let Some(think) = target.think_ms {
            w.value("ThinkTime", think);
        }
        if let Some(size) = target.file_size {
            w.value("FileSize", size);
        }
        order(w, target);
        w.value("ThreadStride", target.thread_stride);
        w.value("MaxFileSize", target.max_offset);
        w.value("RequestCount", target.request_count);
        w.value("WriteRatio", target.write_percent);
        match target.throughput {
            Throughput::None => w.value("Throughput", 0),
            Throughput::BytesPerMs(bytes) => w.value("Throughput", bytes),
            Throughput::Iops(iops) => w.line(&format!("<Throughput unit=\"IOPS\">{iops}</Throughput>")),
        }
        w.value("ThreadsPerFile", target.threads_per_file);
        w.value("IOPriority", target.io_priority);
        w.value("Weight", target.weight);
        thread_targets(w, &target.thread_targets);
    });
}

fn contents(writer: &mut Writer, target: &Target) {
    writer.within("WriteBufferContent", |w| match &target.write_source {
        // diskspd names zeros first, where both are asked for, and writes from the buffer.
        Some(source) => {
            w.value("Pattern", "random");
            w.within("RandomDataSource", |w| {
                w.value("SizeInBytes", source.size_bytes);
                if let Some(file) = &source.file {
                    w.value("FilePath", file);
                }
            });
        }
        None if target.zero_buffers => w.value("Pattern", "zero"),
        None => w.value("Pattern", "sequential"),
    });
}

fn order(writer: &mut Writer, target: &Target) {
    if target.random_percent == 0 {
        writer.value("StrideSize", target.alignment_bytes());
        writer.value("InterlockedSequential", target.interlocked);
        return;
    }
    writer.value("Random", target.alignment_bytes());
    if target.random_percent != 100 {
        writer.value("RandomRatio", target.random_percent);
    }
    if let Some(distribution) = &target.distribution {
        let kind = match distribution {
            Distribution::Percent(_) => "Percent",
            Distribution::Absolute(_) => "Absolute",
        };
        writer.within("Distribution", |w| {
            w.within(kind, |w| {
                for range in distribution.ranges() {
                    w.line(&format!(
                        "<Range IO=\"{}\">{}</Range>",
                        range.io_percent, range.target
                    ));
                }
            });
        });
    }
}

fn thread_targets(writer: &mut Writer, list: &[ThreadTarget]) {
    if list.is_empty() {
        return;
    }
    writer.within("ThreadTargets", |w| {
        for at in list {
            w.within("ThreadTarget", |w| {
                w.value("Thread", at.thread);
                if at.weight != 0 {
                    w.value("Weight", at.weight);
                }
            });
        }
    });
}
