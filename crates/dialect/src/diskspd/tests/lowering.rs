//! Profiles as workloads: what each job does, and which rows it fills.

use super::{LOWERING, assert_refused, job, jobs, lowered, lowering_says, profile};
use crate::diskspd::{RowSource, lower};
use fathom_core::units::Nanos;
use fathom_core::workload::{
    Amount, BlockSize, Distribution, EngineKind, FileChoice, Mix, RandomMap, Rate, SyncMode, ThinkTimeBasis,
    ZoneSize,
};

/// Thread, job and file of each row.
fn rows(line: &str) -> Vec<(u32, u32, Option<u32>)> {
    let row = |row: &RowSource| (row.thread, row.job, row.file);
    lowered(line).rows.iter().map(row).collect()
}

#[test]
fn a_day_of_random_reads() {
    let job = job("-b8K -d86400 -h -L -o32 -r data");
    assert_eq!(job.limit.runtime, Some(Nanos::from_secs(86_400)));
    assert_eq!(job.limit.ramp_time, Nanos::from_secs(5));
    assert!(job.limit.time_based && job.direct && job.pattern.random);
    assert_eq!(job.block_size[0], BlockSize::Fixed(8192));
    assert_eq!(job.pattern.mix, Mix::Read);
    assert_eq!(job.pattern.random_map, RandomMap::Independent);
    assert_eq!((job.engine.kind, job.depth.iodepth), (EngineKind::Libaio, 32));
    assert_eq!(job.sync.mode, SyncMode::Sync);
    assert!(!job.files.may_create);
    assert_eq!(job.percentiles.list.last(), Some(&99.999_999_9));
}

#[test]
fn files_are_made_with_their_size() {
    let new = job("-c50M new");
    assert!(new.files.may_create && new.files.overwrite);
    assert_eq!(new.region.file_size, Some((50 << 20, 50 << 20)));
    assert_eq!(new.region.size, Some(Amount::Bytes(50 << 20)));
    // One that is large enough is left as it is, and its first part used.
    let there = job("-c50M -w100 data");
    assert!(there.files.may_create && !there.files.overwrite);
    assert!(job("-c2M -w100 small").files.overwrite);
    let part = job("-c50M -f10M new");
    assert_eq!(part.region.file_size, None);
    assert_eq!(part.region.size, Some(Amount::Bytes(10 << 20)));
    assert!(lowering_says("-c50M -f10M new").contains("only the part"));
}

#[test]
fn regions_become_offsets_and_sizes() {
    let region = job("-B16M:64M data").region;
    assert_eq!(
        (region.offset, region.size),
        (Some(Amount::Bytes(16 << 20)), Some(Amount::Bytes(64 << 20)))
    );
    // Beyond the end there is nothing to use.
    assert_eq!(job("-f2M small").region.size, None);
    assert_eq!(job("-B512K -f2M small").region.size, None);
    let says = lowering_says("-B1M small");
    assert!(says.contains("there is no block left"), "{says}");
}

#[test]
fn depth_chooses_the_engine() {
    for (line, kind, depth) in [
        ("-o1 -Su data", EngineKind::Psync, 1),
        ("-o1 data", EngineKind::Psync, 1),
        ("-Su data", EngineKind::Libaio, 2),
        ("-o8 data", EngineKind::IoUring, 8),
        ("-o8 -Sm data", EngineKind::Mmap, 1),
        ("-o8 -xk data", EngineKind::Libaio, 8),
        ("-o8 -Sd -xp data", EngineKind::IoUring, 8),
    ] {
        let job = job(line);
        assert_eq!(
            (job.engine.kind, job.depth.iodepth, job.depth.low),
            (kind, depth, depth),
            "{line}"
        );
    }
    assert_eq!(job("-Sm -Nv -w100 data").sync.fdatasync_every, 1);
    assert!(lowering_says("-xp data").contains("io_uring is used in its place"));
    assert!(job("-Sr data").direct);
    assert!(lowering_says("-Sr data").contains("network file system"));
}

#[test]
fn threads_of_each_target() {
    let line = "-t2 -r data other";
    assert_eq!(
        rows(line),
        [(0, 0, None), (1, 1, None), (2, 2, None), (3, 3, None)]
    );
    let names: Vec<String> = jobs(line).into_iter().map(|job| job.name).collect();
    assert_eq!(
        names,
        [
            "thread 0: data",
            "thread 1: data",
            "thread 2: other",
            "thread 3: other"
        ]
    );
    assert!(jobs(line).iter().all(|job| job.numjobs == 1 && job.group == 0));
}

#[test]
fn threads_of_all_targets() {
    let line = "-F2 -o4 -r data other";
    assert_eq!(
        rows(line),
        [(0, 0, None), (0, 1, None), (1, 2, None), (1, 3, None)]
    );
    // Each keeps its depth on each target, on one processor.
    for (job, cpu) in jobs(line).iter().zip([0, 0, 1, 1]) {
        assert_eq!((job.depth.iodepth, job.cpus_allowed.as_slice()), (4, &[cpu][..]));
    }
}

#[test]
fn thread_pools() {
    let line = "-F2 -O16 -r -Su data other";
    assert_eq!(
        rows(line),
        [(0, 0, Some(0)), (0, 0, Some(1)), (1, 1, Some(0)), (1, 1, Some(1))]
    );
    for job in jobs(line) {
        assert_eq!(job.files.names.len(), 2);
        assert_eq!((job.files.choice, job.depth.iodepth), (FileChoice::Random, 16));
        assert!(job.count_files);
        assert_eq!(job.region.size, None);
    }
    // Both of the same part.
    assert_eq!(
        job("-F1 -O4 -r -f64M data other").region.size,
        Some(Amount::Bytes(128 << 20))
    );
    assert_refused("-F2 -O4 -p data", "-p steps through each target");
}

#[test]
fn threads_share_a_pointer() {
    let line = "-si -t3 -b64K data other";
    let jobs = jobs(line);
    assert_eq!(jobs.len(), 6);
    assert!(
        jobs.iter()
            .all(|job| job.numjobs == 1 && job.pattern.shared_sequence)
    );
    // All that share have the same part of the same file.
    assert!(jobs[..3].iter().all(|job| job.region == jobs[0].region));
    let rows = lowered(line).rows;
    assert_eq!(
        (rows[4].thread, rows[4].job, rows[4].path.as_str()),
        (4, 4, "other")
    );
    assert!(
        self::jobs("-F2 -O4 -si data other")
            .iter()
            .all(|job| job.pattern.shared_sequence)
    );
    assert!(!job("-si data").pattern.shared_sequence);
    assert_eq!(job("-si128K -t2 data").pattern.skip_bytes, 64 << 10);
}

#[test]
fn threads_begin_apart() {
    let at = |line: &str| -> Vec<(Option<Amount>, u64)> {
        let jobs = jobs(line).into_iter();
        jobs.map(|job| (job.region.offset, job.pattern.first_offset_bytes))
            .collect()
    };
    let base = Some(Amount::Bytes(4096));
    // The region is that of the target, so that each thread comes round to its beginning.
    assert_eq!(
        at("-t3 -T1M -B4K data"),
        [(base, 0), (base, 1 << 20), (base, 2 << 20)]
    );
    assert_eq!(at("-F2 -T1M data"), [(None, 0), (None, 1 << 20)]);
    assert!(lowering_says("-t2 -T1M small").contains("there is no block left"));
}

#[test]
fn runs_keep_their_direction() {
    let pattern = |line: &str| {
        let pattern = job(line).pattern;
        (
            pattern.random,
            pattern.random_percent[0],
            pattern.keeps_direction,
            pattern.skip_bytes,
        )
    };
    assert_eq!(pattern("-b8K -rs30 -w50 data"), (true, 30, true, 0));
    // In sequence it goes on by the alignment, as diskspd does.
    assert_eq!(pattern("-b8K -rs30 -r64K -w50 data"), (true, 30, true, 56 << 10));
    assert_eq!(pattern("-b8K -rs30 -r4K -w50 data"), (true, 30, true, -(4 << 10)));
    assert_eq!(pattern("-b8K -r64K data"), (true, 100, false, 0));
}

#[test]
fn large_pages() {
    assert!(super::target("-l data").large_pages);
    assert!(job("-l data").buffers.huge_pages);
    assert!(!job("data").buffers.huge_pages);
}

#[test]
fn parallel_at_one_offset() {
    assert!(job("-p -o4 data").pattern.same_offset);
    assert!(!job("-p -o1 data").pattern.same_offset);
}

#[test]
fn orders() {
    assert_eq!(job("-b4K -s64K data").pattern.skip_bytes, 60 << 10);
    assert_eq!(job("-b4K -r512 data").block_align, [512; 3]);
    assert_eq!(job("-rs30 data").pattern.random_percent, [30; 3]);
    let zones = |line: &str| match job(line).pattern.distribution[0].clone() {
        Distribution::Zones(zones) => zones,
        other => panic!("{other:?}"),
    };
    let percent = zones(
        "-r -rdpct90/10:0/90:10/0 data"
            .replace(":10/0", "")
            .replace("0/90", "10/90")
            .as_str(),
    );
    assert_eq!(percent.len(), 2);
    let absolute = zones("-r -rdabs90/1M data");
    assert_eq!(
        (absolute[0].size, absolute[1].size),
        (ZoneSize::Bytes(1 << 20), ZoneSize::Rest)
    );
}

#[test]
fn limits_are_shared_by_reads_and_writes() {
    assert_eq!(
        job("-g31457 data").pace.rate,
        [Some(Rate::BytesPerSecond(31_457_000)), None, None]
    );
    assert_eq!(
        job("-g1000i -w30 data").pace.rate,
        [Some(Rate::Iops(700)), Some(Rate::Iops(300)), None]
    );
    assert_eq!(job("-w30 data").pattern.mix, Mix::ReadWrite { read_percent: 70 });
    let think = job("-i10 -j100 data").pace.think.expect("pauses");
    assert_eq!(
        (think.blocks, think.pause, think.basis),
        (10, Nanos::from_millis(100), ThinkTimeBasis::Issue)
    );
}

#[test]
fn contents_of_writes() {
    let buffers = job("-w100 data").buffers;
    assert_eq!(
        (buffers.pattern.len(), buffers.pattern[255], buffers.scramble),
        (256, 255, false)
    );
    assert!(job("-w100 -Z data").buffers.zero);
    let random = job("-w100 -Zr data").buffers;
    assert!(random.refill && random.pattern.is_empty());
    let source = job("-w100 -Z1M data").buffers;
    assert_eq!(
        (source.source_bytes, source.pattern.len(), source.refill),
        (Some(1 << 20), 0, false)
    );
    assert_eq!(job("-w100 -Z1M,words data").buffers.pattern, b"abc");
    for (file, what) in [
        ("long", "shorter file"),
        ("empty", "is empty"),
        ("none", "cannot be read"),
    ] {
        let says = lowering_says(&format!("-w100 -Z2M,{file} data"));
        assert!(says.contains(what), "{says}");
    }
    // What is only read needs none.
    assert_eq!(lowering_says("-Z2M,none data"), "");
}

#[test]
fn hints() {
    assert!(job("-r -fr data").files.advise);
    assert!(!job("-r data").files.advise);
    assert!(!job("-r data").files.invalidate);
    assert!(lowering_says("-r -fs data").contains("otherwise than the access"));
    assert!(lowering_says("-ft data").contains("no temporary attribute"));
}

#[test]
fn too_many_threads_are_refused() {
    for line in [
        "-t5000 -r data",
        "-F3000 -r data other",
        "-F2147483647 -O2 -r data other",
        "-t2147483647 -r data",
    ] {
        let lowered = lower(&profile(line), &LOWERING);
        assert!(lowered.spans.is_empty());
        assert!(lowered.diagnostics[0].to_string().contains("are more than 4096"));
    }
}
