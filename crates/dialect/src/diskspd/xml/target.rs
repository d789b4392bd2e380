//! The element `<Target>`.
//!
//! Data in: the element. Data out: a [`Target`]. It must not know the rest of the profile.

use super::element::{Element, Reader};
use crate::diagnostic::Fault;
use crate::diskspd::profile::{
    CacheMode, Distribution, FlushMode, Range, Target, ThreadTarget, Throughput, WriteSource,
};

/// What several elements together decide.
#[derive(Default)]
struct Together {
    path: Option<String>,
    stride: bool,
    random: Option<u64>,
    random_ratio: Option<u32>,
    all_cache: bool,
    os_cache: bool,
    local_cache: bool,
}

pub(super) fn read<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>) -> Target {
    let mut target = Target::default();
    let mut together = Together::default();
    for element in reader.children(parent, &[]) {
        if !plain(reader, element, &mut target) && !special(reader, element, &mut target, &mut together) {
            reader.unknown(element, parent);
        }
    }
    settle(reader, parent, &mut target, together);
    target
}

/// Elements that stand for one field.
fn plain<'d>(reader: &mut Reader<'_, 'd>, element: Element<'d>, target: &mut Target) -> bool {
    match element.name() {
        "BlockSize" => reader.number_within(element, (1, u32::MAX), &mut target.block_size),
        "BaseFileOffset" => reader.number(element, &mut target.base_offset),
        "MaxFileSize" => reader.number(element, &mut target.max_offset),
        "SequentialScan" => reader.bool(element, &mut target.sequential_scan_hint),
        "RandomAccess" => reader.bool(element, &mut target.random_access_hint),
        "TemporaryFile" => reader.bool(element, &mut target.temporary_hint),
        "UseLargePages" => reader.bool(element, &mut target.large_pages),
        "InterlockedSequential" => reader.bool(element, &mut target.interlocked),
        "RequestCount" => reader.number(element, &mut target.request_count),
        "MemoryMappedIo" => reader.bool(element, &mut target.memory_mapped),
        "WriteThrough" => reader.bool(element, &mut target.write_through),
        "ParallelAsyncIO" => reader.bool(element, &mut target.parallel_async),
        "ThreadsPerFile" => reader.number(element, &mut target.threads_per_file),
        "ThreadStride" => reader.number(element, &mut target.thread_stride),
        "WriteRatio" => reader.number_within(element, (0, 100), &mut target.write_percent),
        "Weight" => reader.number(element, &mut target.weight),
        "FlushType" => {
            let words = FlushMode::ALL.map(|mode| (mode.word(), Some(mode)));
            reader.choice(element, &words, &mut target.flush);
        }
        _ => return false,
    }
    true
}

/// Elements that need more than one field.
fn special<'d>(
    reader: &mut Reader<'_, 'd>,
    element: Element<'d>,
    target: &mut Target,
    together: &mut Together,
) -> bool {
    match element.name() {
        "Path" => together.path = reader.text(element),
        "StrideSize" => {
            together.stride = true;
            target.alignment = Some(value(reader, element));
        }
        "Random" => together.random = Some(value(reader, element)),
        "RandomRatio" => {
            let mut percent = 0;
            // All or nothing random is said by <Random> or <StrideSize> alone.
            reader.number_within(element, (1, 99), &mut percent);
            together.random_ratio = Some(percent);
        }
        "DisableAllCache" => reader.bool(element, &mut together.all_cache),
        "DisableOSCache" => reader.bool(element, &mut together.os_cache),
        "DisableLocalCache" => reader.bool(element, &mut together.local_cache),
        "BurstSize" => target.burst = Some(value(reader, element)),
        "ThinkTime" => target.think_ms = Some(value(reader, element)),
        "FileSize" => target.file_size = Some(value(reader, element)),
        "IOPriority" => {
            let mut priority = 3;
            reader.number_within(element, (0, 3), &mut priority);
            // 0 stands for a priority that was not set.
            target.io_priority = if priority == 0 { 3 } else { priority as u8 };
        }
        "Throughput" => throughput(reader, element, target),
        "WriteBufferContent" => contents(reader, element, target),
        "Distribution" => distribution(reader, element, target),
        "ThreadTargets" => thread_targets(reader, element, target),
        _ => return false,
    }
    true
}

fn value<'d, T: std::str::FromStr + Default>(reader: &mut Reader<'_, 'd>, element: Element<'d>) -> T {
    let mut number = T::default();
    reader.number(element, &mut number);
    number
}

/// What the elements mean together, in diskspd's order.
fn settle(reader: &mut Reader<'_, '_>, parent: Element<'_>, target: &mut Target, together: Together) {
    match together.path {
        Some(path) => match reader.slots.fill(&path) {
            Ok(path) => target.path = path,
            Err(fault) => reader.error(parent, fault),
        },
        None => reader.error(
            parent,
            Fault::new("a target without a <Path>").remedy("give it one"),
        ),
    }
    if together.stride && (together.random.is_some() || together.random_ratio.is_some()) {
        let fault = Fault::new("<StrideSize> is for sequential I/O, <Random> and <RandomRatio> for random");
        reader.error(parent, fault.remedy("leave one of them out"));
    }
    if let Some(align) = together.random {
        target.random_percent = 100;
        target.alignment = Some(align);
    }
    if let Some(percent) = together.random_ratio {
        target.random_percent = percent;
    }
    if together.os_cache || together.all_cache {
        target.cache = CacheMode::DisableOsCache;
    }
    target.write_through |= together.all_cache;
    if together.local_cache {
        target.cache = CacheMode::DisableLocalCache;
    }
}

fn throughput<'d>(reader: &mut Reader<'_, 'd>, element: Element<'d>, target: &mut Target) {
    let mut number = 0;
    reader.number(element, &mut number);
    target.throughput = match (number, element.0.attribute("unit")) {
        (0, _) => Throughput::None,
        (number, None | Some("BPMS")) => Throughput::BytesPerMs(number),
        (number, Some("IOPS")) => Throughput::Iops(number),
        (_, Some(unit)) => {
            let fault = Fault::new(format!("`{unit}` is no unit of <Throughput>"));
            reader.error(
                element,
                fault.remedy("write unit=\"IOPS\", or none for bytes a millisecond"),
            );
            Throughput::None
        }
    };
}

fn contents<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>, target: &mut Target) {
    let mut pattern = "sequential";
    let mut source = None;
    for element in reader.children(parent, &[]) {
        match element.name() {
            "Pattern" => {
                let words = ["sequential", "zero", "random"].map(|word| (word, word));
                reader.choice(element, &words, &mut pattern);
            }
            "RandomDataSource" => source = Some(data_source(reader, element)),
            _ => reader.unknown(element, parent),
        }
    }
    match pattern {
        "zero" => target.zero_buffers = true,
        "random" => target.write_source = source.filter(|source| source.size_bytes > 0),
        _ => {}
    }
}

fn data_source<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>) -> WriteSource {
    let mut source = WriteSource {
        size_bytes: 0,
        file: None,
    };
    for element in reader.children(parent, &[]) {
        match element.name() {
            "SizeInBytes" => reader.number(element, &mut source.size_bytes),
            "FilePath" => source.file = reader.text(element).filter(|path| !path.is_empty()),
            _ => reader.unknown(element, parent),
        }
    }
    source
}

fn distribution<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>, target: &mut Target) {
    for kind in reader.children(parent, &[]) {
        let percent = match kind.name() {
            "Percent" => true,
            "Absolute" => false,
            _ => {
                reader.unknown(kind, parent);
                continue;
            }
        };
        let mut ranges = Vec::new();
        for element in reader.children(kind, &["Range"]) {
            if element.name() != "Range" {
                reader.unknown(element, kind);
                continue;
            }
            let mut range = Range {
                io_percent: 0,
                target: 0,
            };
            reader.number(element, &mut range.target);
            reader.attribute(element, "IO", &mut range.io_percent);
            ranges.push(range);
        }
        if target.distribution.is_some() || ranges.is_empty() {
            let fault = Fault::new("<Distribution> holds ranges of one kind");
            reader.error(
                kind,
                fault.remedy("write <Percent> or <Absolute> with at least one <Range>"),
            );
            continue;
        }
        let whole = if percent {
            Distribution::Percent(ranges)
        } else {
            Distribution::Absolute(ranges)
        };
        target.distribution = Some(whole.completed());
    }
}

fn thread_targets<'d>(reader: &mut Reader<'_, 'd>, parent: Element<'d>, target: &mut Target) {
    for outer in reader.children(parent, &["ThreadTarget"]) {
        if outer.name() != "ThreadTarget" {
            reader.unknown(outer, parent);
            continue;
        }
        let mut thread_target = ThreadTarget { thread: 0, weight: 0 };
        for element in reader.children(outer, &[]) {
            match element.name() {
                "Thread" => reader.number(element, &mut thread_target.thread),
                "Weight" => reader.number(element, &mut thread_target.weight),
                _ => reader.unknown(element, outer),
            }
        }
        target.thread_targets.push(thread_target);
    }
}
