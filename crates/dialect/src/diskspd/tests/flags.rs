//! Each flag: its grammar, its default, and what it excludes.

use super::{assert_refused, job, jobs, parsed, profile, said, span, target};
use crate::diskspd::{
    Affinity, CacheMode, Distribution, FlushMode, Range, ResultFormat, Throughput, WriteSource,
};

#[test]
fn block_size_is_read_first() {
    assert_eq!(target("data").block_size, 65_536);
    assert_eq!(target("-b8K data").block_size, 8192);
    assert_eq!(target("-b4096 data").block_size, 4096);
    assert_eq!(target("-b1m data").block_size, 1 << 20);
    // Sizes in blocks count in the one that stands last, wherever they stand.
    assert_eq!(target("-B2b -b4K -c10B -b8K data").base_offset, 16_384);
    assert_eq!(target("-B2b -b4K -c10B -b8K data").file_size, Some(81_920));
    for wrong in [
        "-b0",
        "-b",
        "-b4X",
        "-b4Kx",
        "-bK",
        "-b4G",
        "-b99999999999999999999",
        "-b-1",
        "-b18446744073709551615T",
    ] {
        assert_refused(&format!("{wrong} data"), "-b");
    }
}

#[test]
fn regions() {
    assert_eq!(target("-B1G data").base_offset, 1 << 30);
    let both = target("-B16K:512K data");
    assert_eq!((both.base_offset, both.max_offset), (16 << 10, 528 << 10));
    assert_eq!(target("-f10T data").max_offset, 10 << 40);
    let hints = target("-frst data");
    assert!(hints.random_access_hint && hints.sequential_scan_hint && hints.temporary_hint);
    assert_refused("-B1M:1M -f3M data", "the region's end is given twice");
    assert_refused("-B1M -B2M data", "the region's begin is given twice");
    assert_refused("-B1M: data", "no size");
    assert_refused("-B1Mx data", "left over");
    assert_refused("-f1M -B1M data", "ends (-f) before it begins");
    assert_refused("-fx data", "no hint");
    assert_refused("-f data", "missing");
    assert_refused("-B18446744073709551615:1 data", "beyond 64 bits");
}

#[test]
fn left_out_flags_say_so() {
    assert_eq!(profile("-:1 data").experiment_flags, 1);
    assert!(said("-:1 data").contains("note: changes nothing"));
    assert_refused("-:x data", "out of its range");
    assert_eq!(profile("data").progress, 0);
    assert_eq!(profile("-P data").progress, 65_536);
    assert_eq!(profile("-P100 data").progress, 100);
    assert!(said("-P data").contains("note: changes nothing"));
}

#[test]
fn mappings() {
    let mapped = target("-Sm -Nv data");
    assert!(mapped.memory_mapped);
    assert_eq!(mapped.flush, Some(FlushMode::ViewOfFile));
    assert_refused("-Nv data", "-N flushes a mapping, and there is none");
    assert_refused("-Sm -Nn -w100 data", "persistent memory");
    assert_refused("-Sm -Ni data", "persistent memory");
    assert_refused("-Sm -Nx data", "no flush mode");
    assert_refused("-Sm -N data", "no flush mode");
    assert_refused("-Sm -x data", "leave one of them out");
    assert_refused("-Smu data", "leave one of them out");
    assert_refused("-Sum data", "leave one of them out");
    assert!(said("-Smw data").contains("non-temporal"));
}

#[test]
fn random_and_sequential_exclude_each_other() {
    let random = target("-r data");
    assert_eq!((random.random_percent, random.alignment), (100, Some(65_536)));
    assert_eq!(target("-b4K -r512 data").alignment, Some(512));
    let mixed = target("-rs30 -r8K data");
    assert_eq!((mixed.random_percent, mixed.alignment_bytes()), (30, 8192));
    assert_eq!(target("-r8K -rs30 data").random_percent, 30);
    // As diskspd has it: -rs100 is -r, and -r may then say the alignment.
    assert_eq!(target("-rs100 -r4K data").alignment, Some(4096));
    let strided = target("-b4K -s64K data");
    assert_eq!((strided.random_percent, strided.alignment), (0, Some(65_536)));
    assert_eq!(target("-s data").alignment, Some(65_536));
    assert_eq!(target("-s0 -b4K data").alignment_bytes(), 4096);
    for (line, what) in [
        ("-r -s data", "-r asks for random I/O and -s for sequential"),
        ("-s -r data", "-s asks for sequential I/O and -r for random"),
        ("-r -r data", "asked for twice"),
        ("-s -s data", "asked for twice"),
        ("-s -rs50 data", "alignment of sequential I/O only"),
        ("-rs50 -s data", "alignment of sequential I/O only"),
        ("-rs50 -rs60 data", "given twice"),
        ("-r0 data", "multiples of 0"),
        ("-rs0 data", "out of its range"),
        ("-rs101 data", "out of its range"),
        ("-rs data", "missing"),
        ("-b8K -s4K data", "shorter than the block"),
        ("-r -T1M -t2 data", "-T sets sequential threads apart"),
        ("-rs50 -si -t2 data", "-s gives the alignment"),
        ("-r -p data", "-p goes in sequence"),
        ("-si -T1M -t2 data", "-si shares one pointer and -T"),
        ("-si -p -t2 data", "-si shares one pointer and -p"),
    ] {
        assert_refused(line, what);
    }
}

#[test]
fn distributions() {
    let ranges = |list: &[(u32, u64)]| -> Vec<Range> {
        let range = |&(io_percent, target)| Range { io_percent, target };
        list.iter().map(range).collect()
    };
    // The example of diskspd's own help: the rest goes to the rest.
    assert_eq!(
        target("-r -rdpct90/10:0/10:5/20 data").distribution,
        Some(Distribution::Percent(ranges(&[
            (90, 10),
            (0, 10),
            (5, 20),
            (5, 60)
        ])))
    );
    assert_eq!(
        target("-r -rdabs90/10G:0/10G:5/20G data").distribution,
        Some(Distribution::Absolute(ranges(&[
            (90, 10 << 30),
            (0, 10 << 30),
            (5, 20 << 30),
            (5, 0)
        ])))
    );
    for (line, what) in [
        ("-r -rdpct90/10:20/10 data", "more than 100 % of the I/O"),
        ("-r -rdpct50/100 data", "cover more than 100 % of the target"),
        ("-r -rdpct100/50 data", "cover less than 100 %"),
        ("-r -rdpct90 data", "no slash"),
        ("-r -rdpct90/0 data", "out of its range"),
        ("-r -rdabs90/0 data", "a range of no bytes"),
        ("-b8K -r -rdabs90/4K data", "smaller than a block"),
        ("-r -rdfoo90/10 data", "no distribution"),
        (
            "-rdpct90/10 data",
            "-rd distributes random I/O, and there is none",
        ),
    ] {
        assert_refused(line, what);
    }
}

#[test]
fn cache_letters_combine() {
    use CacheMode::{Cached, DisableLocalCache, DisableOsCache};
    for (flag, cache, through) in [
        ("", Cached, false),
        ("-S", DisableOsCache, false),
        ("-Su", DisableOsCache, false),
        ("-Sb", Cached, false),
        ("-Sbw", Cached, true),
        ("-Sw", Cached, true),
        ("-Sh", DisableOsCache, true),
        ("-h", DisableOsCache, true),
        ("-Suw", DisableOsCache, true),
        ("-Swu", DisableOsCache, true),
        ("-Su -Sw", DisableOsCache, true),
        ("-Sr", DisableLocalCache, false),
    ] {
        let target = target(&format!("{flag} data"));
        assert_eq!((target.cache, target.write_through), (cache, through), "{flag}");
    }
    for line in [
        "-Sub data",
        "-Shu data",
        "-h -S data",
        "-Sh -h data",
        "-Sww data",
        "-Sw -h data",
        "-Sr -Su data",
        "-Smm data",
    ] {
        assert_refused(line, "out");
    }
    assert_refused("-Sq data", "no cache letter");
    assert_refused("-hx data", "takes no value");
}

#[test]
fn write_buffers() {
    assert!(target("-Z data").zero_buffers);
    assert!(span("-Zr data").random_write_data);
    let source = |size_bytes, file: Option<&str>| {
        let file = file.map(str::to_owned);
        Some(WriteSource { size_bytes, file })
    };
    assert_eq!(target("-Z1M data").write_source, source(1 << 20, None));
    assert_eq!(
        target("-Z20M,/tmp/words data").write_source,
        source(20 << 20, Some("/tmp/words"))
    );
    assert_eq!(target("-Z1b,a,b data").write_source, source(65_536, Some("a,b")));
    assert_refused("-Z0 data", "no bytes");
    assert_refused("-Z4K data", "smaller than a block");
    assert_refused("-Zq data", "no size");
}

#[test]
fn limits() {
    assert_eq!(target("data").throughput, Throughput::None);
    assert_eq!(target("-g31457 data").throughput, Throughput::BytesPerMs(31_457));
    assert_eq!(target("-g500i data").throughput, Throughput::Iops(500));
    for line in ["-g0 data", "-g data", "-gi data", "-g5x data", "-g-5 data"] {
        assert_refused(line, "-g");
    }
    assert_refused("-g5 -x data", "-g limits what -x cannot");
    assert_refused("-g5 -F2 -O2 data", "-O shares threads");
}

#[test]
fn bursts() {
    let target = target("-i10 -j100 data");
    assert_eq!((target.burst, target.think_ms), (Some(10), Some(100)));
    assert_refused("-i10 data", "need each other");
    assert_refused("-j10 data", "need each other");
    assert_refused("-i0 -j1 data", "out of its range");
    assert_refused("-i1 -j1 -F2 -O4 data", "-j pauses each target");
}

#[test]
fn priorities() {
    assert_eq!(target("data").io_priority, 3);
    assert_eq!(target("-I1 data").io_priority, 1);
    assert_refused("-I0 data", "from 1 to 3");
    assert_refused("-I4 data", "from 1 to 3");
    assert_eq!(job("data").io_priority, None);
    let of = |line: &str| {
        job(line)
            .io_priority
            .map(|priority| (priority.class, priority.level))
    };
    assert_eq!(
        (of("-I1 data"), of("-I2 data"), of("-I3 data")),
        (Some((3, 0)), Some((2, 7)), None)
    );
}

#[test]
fn write_share() {
    assert_eq!(target("-w30 data").write_percent, 30);
    assert_eq!(target("-w0 data").write_percent, 0);
    assert_refused("-w data", "missing");
    assert_refused("-w101 data", "from 0 to 100");
}

#[test]
fn help_wins() {
    let parsed = parsed("-b0 -? -w");
    assert!(parsed.help && parsed.profile.is_none() && parsed.diagnostics.is_empty());
}

#[test]
fn processors() {
    let cpus = |line: &str| -> Vec<(u16, u16)> {
        let at = |at: &Affinity| (at.group, at.cpu);
        span(line).affinity.iter().map(at).collect()
    };
    assert_eq!(cpus("-a data"), []);
    assert_eq!(cpus("-ag data"), []);
    assert_eq!(cpus("-a0,1,2 data"), [(0, 0), (0, 1), (0, 2)]);
    assert_eq!(cpus("-ag0,0,1 -a5 data"), [(0, 0), (0, 1), (0, 5)]);
    assert!(span("-n data").disable_affinity);
    assert_refused("-n -a0 data", "-n leaves threads to the scheduler");
    assert_refused("-ag1,0 data", "Linux has no groups");
    for line in [
        "-a0, data",
        "-ag0 data",
        "-ag0,g1,0 -ax data",
        "-a256 data",
        "-agg0 data",
    ] {
        assert_refused(line, "-a");
    }
    // In turn, and none where the scheduler is asked to choose.
    let of = |line: &str| -> Vec<Vec<u32>> { jobs(line).into_iter().map(|job| job.cpus_allowed).collect() };
    assert_eq!(of("-t4 data"), [[0], [1], [2], [0]]);
    assert_eq!(of("-t3 -a7,5 data"), [[7], [5], [7]]);
    assert_eq!(of("-t2 -n data"), [[0u32; 0]; 2]);
}

#[test]
fn times() {
    let times = |line: &str| {
        let span = span(line);
        (span.duration_s, span.warmup_s, span.cooldown_s)
    };
    assert_eq!(times("data"), (10, 5, 0));
    assert_eq!(times("-d86400 -W60 -C30 data"), (86_400, 60, 30));
    // Bare, as C's atoi has it.
    assert_eq!(times("-W -C data"), (10, 0, 0));
    assert_refused("-d data", "missing");
    assert_refused("-d0 data", "out of its range");
    assert_refused("-d10x data", "no number");
    assert_refused("-W-1 data", "out of its range");
}

#[test]
fn intervals_have_bounds() {
    assert!(!span("data").iops_std_dev);
    let interval = |line: &str| (span(line).iops_std_dev, span(line).io_bucket_ms);
    assert_eq!(interval("-D data"), (true, 1000));
    assert_eq!(interval("-D0 data"), (true, 1000));
    assert_eq!(interval("-D5000 data"), (true, 5000));
    assert_eq!(interval("-D250 data"), (true, 250));
    assert_eq!(interval("-D1001 data"), (true, 1001));
    assert_eq!(interval("-D3 data"), (true, 10));
    assert_eq!(interval("-D90001 data"), (true, 91_000));
    assert!(said("-D250 data").is_empty());
    assert!(said("-D3 data").contains("becomes 10 ms"));
    assert!(said("-D90001 data").contains("becomes 91000 ms"));
}

#[test]
fn windows_alone_is_refused() {
    assert_refused(
        "-eDISK_IO data",
        "event tracing is part of Windows; `fathom record`",
    );
    assert_refused("-ep data", "event tracing");
    assert_refused("-ysgo data", "named events are part of Windows");
    assert_refused("#1", "physical drive of Windows");
    assert_refused("c:", "drive of Windows");
    assert!(refused_remedy("#1").contains("/dev/sdb"));
}

fn refused_remedy(line: &str) -> String {
    super::refused(line)
}

#[test]
fn latency_is_asked_for() {
    assert!(!span("data").measure_latency);
    assert!(span("-L data").measure_latency);
    assert_refused("-L1 data", "takes no value");
}

#[test]
fn result_formats() {
    let format = |line: &str| {
        let profile = profile(line);
        (profile.result_format, profile.profile_only)
    };
    assert_eq!(format("data"), (ResultFormat::Text, false));
    assert_eq!(format("-Rxml data"), (ResultFormat::Xml, false));
    assert_eq!(format("-Rtext data"), (ResultFormat::Text, false));
    assert_eq!(format("-Rpxml data"), (ResultFormat::Xml, true));
    assert_eq!(format("-Rp data"), (ResultFormat::Text, true));
    assert_refused("-R data", "no format");
    assert_refused("-Rjson data", "no format");
}

#[test]
fn verbosity() {
    let of = |line: &str| (profile(line).verbose, profile(line).verbose_stats);
    assert_eq!(of("data"), (false, false));
    assert_eq!(of("-v data"), (true, false));
    assert_eq!(of("-vs data"), (false, true));
    assert_refused("-vx data", "takes no value");
}

#[test]
fn seeds() {
    assert_eq!(span("data").random_seed, 0);
    assert_eq!(span("-z42 data").random_seed, 42);
    assert_eq!(span("-z data").random_seed, 4711);
    assert_refused("-z4294967296 data", "out of its range");
    assert_refused("-z4x data", "no number");
    // Threads differ, and the same seed gives the same threads.
    let seeds = |line: &str| -> Vec<u64> { jobs(line).iter().map(|job| job.random_seed).collect() };
    let one = seeds("-z1 -t4 data");
    assert!(one.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(one, seeds("-z1 -t4 data"));
    assert_ne!(one, seeds("-z2 -t4 data"));
}
