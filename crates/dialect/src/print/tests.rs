use super::{PrintError, print};
use crate::table::{Kind, Support, table};
use crate::testing::{context, parsed, shown};
use crate::{Override, parse};
use proptest::prelude::*;
use std::fmt::Write as _;

#[test]
fn texts_that_no_job_file_holds_are_refused() {
    for text in ["a # b", "a;b", "a\nb", "${HOME}", "$ncpus"] {
        let parsed = parse(&[], &[Override::new("description", text)], &context(&[]));
        let workload = parsed.workload.expect("accepted");
        assert!(
            matches!(
                print(&workload),
                Err(PrintError::Text {
                    option: "description",
                    ..
                })
            ),
            "{text}"
        );
    }
}

#[test]
fn names_that_no_header_holds() {
    for name in ["global", "a]b", "globally"] {
        let workload = parse(&[], &[Override::new("name", name)], &context(&[]))
            .workload
            .expect("accepted");
        let text = print(&workload).expect("printed");
        assert_eq!(parsed(&text).workload, Some(workload), "{text}");
    }
}

/// Values that each option is tried with, besides its example.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "rw" => &[
            "read",
            "write:4k",
            "write:-12k",
            "randread:8",
            "rw",
            "randrw",
            "trim",
            "randtrimwrite",
            "trimwrite",
        ],
        "bs" => &["4k", "512,8k", "8k,,1m", ",4k", "12345"],
        "bsrange" => &["4k-64k", "512-4k,8k-8k", ",1k-3k,"],
        "bssplit" => &["4k/60:64k/40", "4k:8k/50,16k", ",,4k/10:8k/20:16k/"],
        "ba" => &["4k", ",8k", "4k,,1m"],
        "size" | "io_size" | "offset" | "offset_increment" => &["1g", "50%", "0", "123456789"],
        "filesize" => &["1g", "1m-2m"],
        "filename" => &["a", "/dev/a:/dev/b", r"x\:y:z"],
        "directory" => &["/a:/b", "."],
        "random_distribution" => &[
            "zipf:0.9",
            "pareto:0.3:0.1",
            "normal:12.5",
            "random,zipf:2,normal:3:1",
            "zoned:60/10:30/20:8/30:2/40",
            "zoned:60:40/7",
            "zoned:33.5/12.25:66.5/,random",
            "zoned_abs:60/1m:40/,50/4k:50/8k",
        ],
        "percentage_random" => &["50", "10,20,30", ",5", "0"],
        "rate" | "rate_iops" => &["1m", "1000,,2000", ",10", "0"],
        "runtime" | "ramp_time" => &["30", "1500ms", "7us", "3ns", "1h", "0"],
        "startdelay" => &["5", "1-5", "100ms-2s"],
        "thinktime" | "thinktime_spin" | "thinktime_iotime" => &["500", "10ms", "3s", "0"],
        "prio" => &["0", "7"],
        "prioclass" => &["0", "1", "3"],
        "percentile_list" => &["50", "99.99:1:33.3333", "100"],
        "cpus_allowed" => &["0", "0,2-4,9", "1-3"],
        "ioengine" => &[
            "sync", "psync", "pvsync", "pvsync2", "mmap", "libaio", "io_uring", "null", "vsync",
        ],
        "sync" => &["none", "0", "1", "sync", "dsync"],
        "verify" => &["0", "crc32c", "md5", "xxhash", "sha256"],
        "verify_pattern" | "buffer_pattern" => &["0xdeadbeef", "\"ab\"-1", "300"],
        "continue_on_error" => &["none", "read", "write", "io", "verify", "all", "0", "1"],
        "fallocate" => &["none", "native", "posix", "keep", "truncate"],
        "file_service_type" => &["roundrobin", "random", "sequential"],
        "number_ios" => &["0", "1", "1000000"],
        "iodepth" => &["1", "2", "256"],
        "iodepth_low" | "iodepth_batch" | "iodepth_batch_complete_min" | "iodepth_batch_complete_max" => {
            &["0", "1", "2", "8"]
        }
        "name" => &["x y", "global", "a]"],
        _ => &[],
    }
}

/// One line of a job file: an option that is carried out, with one of its values.
fn option_line() -> impl Strategy<Value = String> {
    let rows: Vec<_> = table()
        .iter()
        .filter(|row| row.support == Support::Exact && row.name != "wait_for")
        .collect();
    (0..rows.len(), any::<prop::sample::Index>()).prop_map(move |(row, pick)| {
        let row = rows[row];
        let more = values(row.name);
        if row.kind() == Kind::Flag || row.kind() == Kind::Bool {
            return format!("{}={}", row.name, pick.index(2));
        }
        let pick = pick.index(more.len() + 1);
        format!("{}={}", row.name, more.get(pick).unwrap_or(&row.example))
    })
}

fn job_file() -> impl Strategy<Value = String> {
    let section = prop::collection::vec(option_line(), 0..14);
    prop::collection::vec((any::<bool>(), section), 1..4).prop_map(|sections| {
        let mut text = String::new();
        for (index, (global, lines)) in sections.into_iter().enumerate() {
            let header = if global {
                String::from("global")
            } else {
                format!("job {index}")
            };
            let _ = writeln!(text, "[{header}]");
            for line in lines {
                text += &line;
                text.push('\n');
            }
        }
        text + "[last]\n"
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 40_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is accepted prints as a job file that means the same, without any complaint that was not there
    /// before, and printing that again gives the same text.
    #[test]
    fn a_printed_workload_parses_to_itself(text in job_file()) {
        let first = parsed(&text);
        prop_assume!(first.workload.is_some());
        let printed = print(first.workload.as_ref().expect("checked")).expect("printed");
        let second = parsed(&printed);
        prop_assert_eq!(&second.workload, &first.workload, "{}\n---\n{}\n---\n{}", text, printed, shown(&second));
        prop_assert_eq!(print(second.workload.as_ref().expect("checked")).expect("printed"), printed);
    }

    /// No text makes the parser panic, and without a workload there is an error that says why.
    #[test]
    fn any_text_is_judged(text in "(?s)([\\[\\]a-z0-9=.:,/#; \n$({*)}-]|\\PC){0,200}") {
        let parsed = parsed(&text);
        prop_assert_eq!(parsed.workload.is_none(), parsed.errors().next().is_some());
    }
}

/// Units are powers of 1024, which a job with another base would read as something else.
#[test]
fn another_base_has_sizes_in_bytes() {
    let text = "[a]\nkb_base=1000\nsize=1MB\nbssplit=64k/50:128k/50\nrw=write:4KiB\nzonemode=strided\nzonesize=64k\n\
                zonerange=128k\nwrite_bw_log\n";
    let first = crate::testing::parsed(text).workload.expect("a workload");
    let printed = crate::print(&first).expect("printed");
    let second = crate::testing::parsed(&printed).workload.expect("again");
    assert_eq!(first, second, "{printed}");
    assert_eq!(
        super::without_units("8k/30:1m/,zoned_abs:5,7"),
        "8192/30:1048576/,zoned_abs:5,7"
    );
}
