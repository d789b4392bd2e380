//! A profile as XML: the elements and their order are those of diskspd (`Profile::GetXml` of v2.2).
//!
//! Data in: a profile. Data out: text, two spaces a level. It must not know the schema's reader. Values that diskspd writes
//! as they are, are escaped here.

use crate::diskspd::profile::{
    CacheMode, Distribution, FlushMode, Precreate, Profile, ResultFormat, Target, ThreadTarget, Throughput,
    TimeSpan,
};
use crate::diskspd::xml::writer::Writer;

/// A profile as XML: what `-Rpxml` prints, and what stands in results.
pub fn profile_as_xml(profile: &Profile) -> String {
    let mut writer = Writer::default();
    writer.within("Profile", |w| {
        w.value("Progress", profile.progress);
        w.if_any(
            "ExperimentFlags",
            Some(profile.experiment_flags).filter(|&bits| bits != 0),
        );
        let format = match profile.result_format {
            ResultFormat::Text => "text",
            ResultFormat::Xml => "xml",
        };
        w.value("ResultFormat", format);
        w.value("Verbose", profile.verbose);
        w.if_so("VerboseStats", profile.verbose_stats);
        w.if_any("PrecreateFiles", profile.precreate.map(Precreate::word));
        w.within("TimeSpans", |w| {
            for span in &profile.time_spans {
                time_span(w, span);
            }
        });
    });
    writer.into_text()
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
        w.if_any("FlushType", target.flush.map(FlushMode::word));
        contents(w, target);
        w.value("ParallelAsyncIO", target.parallel_async);
        w.if_any("BurstSize", target.burst);
        w.if_any("ThinkTime", target.think_ms);
        w.if_any("FileSize", target.file_size);
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
                w.if_any("FilePath", source.file.as_ref());
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
                w.if_any("Weight", Some(at.weight).filter(|&weight| weight != 0));
            });
        }
    });
}
