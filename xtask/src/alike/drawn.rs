//! Job files drawn from a list of options: each pair of neighbours in the list of values comes together in some job file.
//!
//! Data in: a seed of its own. Data out: lines as those of `cases.txt`, the same each time.

/// Options that may be combined, each with its values.
const OPTIONS: &[(&str, &[&str])] = &[
    ("rw", &["read", "write", "randread", "randwrite", "rw", "randrw"]),
    ("bs", &["4k", "8k", "16k", "4k,8k", "512", "3k"]),
    ("size", &["256k", "1m", "100k", "512k"]),
    ("io_size", &["128k", "2m", "300k"]),
    (
        "ioengine",
        &[
            "psync", "sync", "libaio", "io_uring", "null", "pvsync", "mmap", "posixaio",
        ],
    ),
    ("iodepth", &["1", "4", "16"]),
    ("numjobs", &["1", "2", "3"]),
    ("nrfiles", &["1", "2", "5"]),
    ("loops", &["1", "2"]),
    ("number_ios", &["7", "50"]),
    ("norandommap", &["", "1"]),
    ("percentage_random", &["50", "100"]),
    ("random_distribution", &["zipf:1.2", "pareto:0.2", "normal:10"]),
    ("random_generator", &["lfsr", "tausworthe64"]),
    ("file_service_type", &["random", "sequential", "roundrobin:2"]),
    ("fsync", &["4", "16"]),
    ("fdatasync", &["4", "8"]),
    ("end_fsync", &["1"]),
    ("fsync_on_close", &["1"]),
    ("sync", &["dsync", "1"]),
    ("rwmixread", &["30", "80"]),
    ("offset", &["64k", "4k"]),
    ("offset_increment", &["64k", "128k"]),
    ("thinktime", &["10", "50us"]),
    ("rate", &["50m", "20m,30m"]),
    ("rate_iops", &["5k", "8000"]),
    ("startdelay", &["10ms"]),
    ("thread", &["", "1"]),
    ("group_reporting", &["", "1"]),
    ("refill_buffers", &["", "1"]),
    ("zero_buffers", &["", "1"]),
    ("buffer_compress_percentage", &["20", "80"]),
    ("dedupe_percentage", &["20", "80"]),
    ("buffer_pattern", &["0xdeadbeef", "\"abc\""]),
    ("fallocate", &["none", "truncate", "posix"]),
    ("overwrite", &["1"]),
    ("pre_read", &["1"]),
    ("invalidate", &["0"]),
    ("openfiles", &["1", "2"]),
    ("serialize_overlap", &["1"]),
    ("iodepth_batch", &["2", "4"]),
    ("iodepth_batch_complete_min", &["1", "3"]),
    ("iodepth_low", &["1", "2"]),
    ("randrepeat", &["0"]),
    ("randseed", &["7", "99"]),
    ("clat_percentiles", &["0"]),
    ("nice", &["1"]),
    ("max_latency", &["10s"]),
    ("continue_on_error", &["all", "io"]),
    ("ignore_error", &["EIO"]),
    ("mem", &["mmap", "shm"]),
    ("iomem_align", &["512", "4k"]),
    ("gtod_reduce", &["1"]),
    ("unified_rw_reporting", &["none"]),
    ("verify", &["md5", "crc32c", "sha1", "meta", "xxhash"]),
    ("verify_fatal", &["1"]),
    ("verify_backlog", &["8", "64"]),
    ("do_verify", &["0"]),
    ("zonemode", &["none"]),
    ("latency_percentile", &["99"]),
    ("rw_sequencer", &["sequential"]),
    ("write_hint", &["short"]),
    ("unlink", &["1"]),
    ("disk_util", &["0"]),
];

/// What may not stand beside an option, since fio refuses it or its amount then depends on time.
const APART: &[(&str, &str)] = &[("rate", "rate_iops")];
/// So many job files; each option comes in several.
const LINES: usize = 140;
const OPTIONS_EACH: usize = 7;

/// The job files.
pub(super) fn lines() -> Vec<String> {
    let mut state = 0x9e37_79b9_u64;
    let mut below = |n: usize| {
        // Knuth's linear congruential generator; its high bits are good enough to choose by.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut lines = Vec::with_capacity(LINES);
    let mut next = 0;
    for _ in 0..LINES {
        let mut chosen: Vec<usize> = vec![0, 2];
        // One after the other, so that each comes, and others by chance.
        while chosen.len() < OPTIONS_EACH {
            let at = if chosen.len() == 2 {
                next = (next + 1) % OPTIONS.len();
                next
            } else {
                below(OPTIONS.len())
            };
            let name = OPTIONS[at].0;
            let apart = chosen.iter().any(|&other| {
                let other = OPTIONS[other].0;
                APART.contains(&(name, other)) || APART.contains(&(other, name))
            });
            if !chosen.contains(&at) && !apart {
                chosen.push(at);
            } else if chosen.len() == 2 {
                chosen.push(1);
            }
        }
        chosen.sort_unstable();
        let words = chosen.iter().map(|&at| {
            let (name, values) = OPTIONS[at];
            match values[below(values.len())] {
                "" => name.to_owned(),
                value => format!("{name}={value}"),
            }
        });
        lines.push(words.collect::<Vec<_>>().join(";"));
    }
    lines
}
