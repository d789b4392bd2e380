//! The layout itself, character by character.

use super::{made, read_xml};
use crate::diskspd::results::{
    Bucket, CpuPlace, CpuUse, Direction, DiskspdResult, Latency, Row, SpanResult, System, Totals, text, xml,
};
use expect_test::{expect, expect_file};

/// The figures of diskspd's own unit test of its text (`ResultParserUnitTests::Test_ParseResults` of v2.2).
fn published() -> DiskspdResult {
    let buckets = vec![
        Bucket {
            ios: 1,
            ..Bucket::default()
        };
        10
    ];
    let direction = |bytes, ios, buckets: &[Bucket]| Direction {
        ios,
        bytes,
        latency: Latency::default(),
        buckets: Some(buckets.to_vec()),
    };
    let row = Row {
        thread: 0,
        path: String::from("testfile1.dat"),
        file_size_bytes: Some(10 << 20),
        read: direction(4 << 20, 6, &buckets),
        write: direction(2 << 20, 10, &[]),
        ranges: Vec::new(),
    };
    DiskspdResult {
        profile_text: String::from("\nCommand Line: \n\nInput parameters:\n\n"),
        profile_xml: String::from("<Profile>\n</Profile>\n"),
        verbose_stats: false,
        system: System {
            processors: 1,
            places: vec![CpuPlace {
                cpu: 0,
                socket: 0,
                node: 0,
                core: 0,
            }],
            power_scheme: Some(String::new()),
            ..System::default()
        },
        spans: vec![SpanResult {
            test_time_ns: 120_000_000_000,
            thread_count: 1,
            io_bucket_ms: Some(1000),
            cpus: vec![CpuUse {
                cpu: 0,
                user_percent: 30.0,
                kernel_percent: 25.0,
                idle_percent: 45.0,
            }],
            rows: vec![row],
            totals: Totals {
                read_buckets: buckets,
                ..Totals::default()
            },
            ..SpanResult::default()
        }],
    }
}

#[test]
fn figures_of_diskspds_own_test_print_alike() {
    // Tabs as arrows: a snapshot's indentation would swallow them.
    expect![[r"

        Command Line: 

        Input parameters:

        System information:

        →computer name: 
        →start time: 

        →cpu count:→→1
        →core count:→→1
        →group count:→→1
        →node count:→→1
        →socket count:→→1
        →heterogeneous cores:→n

        →active power scheme:→

        Results for timespan 1:
        *******************************************************************************

        actual test time:→120.00s
        thread count:→→1

        CPU |  Usage |  User  | Kernel |  Idle
        ----------------------------------------
           0|  55.00%|  30.00%|  25.00%|  45.00%
        ----------------------------------------
        avg.|  55.00%|  30.00%|  25.00%|  45.00%

        Total IO
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file
        -------------------------------------------------------------------------------------------
             0 |         6291456 |           16 |       0.05 |       0.13 |       0.00 | testfile1.dat (10MiB)
        -------------------------------------------------------------------------------------------
        total:           6291456 |           16 |       0.05 |       0.13 |       0.00

        Read IO
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file
        -------------------------------------------------------------------------------------------
             0 |         4194304 |            6 |       0.03 |       0.05 |       0.00 | testfile1.dat (10MiB)
        -------------------------------------------------------------------------------------------
        total:           4194304 |            6 |       0.03 |       0.05 |       0.00

        Write IO
        thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s | IopsStdDev |  file
        -------------------------------------------------------------------------------------------
             0 |         2097152 |           10 |       0.02 |       0.08 |       0.00 | testfile1.dat (10MiB)
        -------------------------------------------------------------------------------------------
        total:           2097152 |           10 |       0.02 |       0.08 |       0.00
    "]]
    .assert_eq(&text(&published()).replace('\t', "→"));
}

#[test]
fn everything_that_was_asked_for() {
    let mut result = made::result(3, 1);
    result.verbose_stats = true;
    let span = &mut result.spans[0];
    span.measure_latency = true;
    span.io_bucket_ms = Some(1000);
    span.rows.truncate(2);
    span.rows[0].ranges = made::ranges(&[(10.0, 0, 8192), (10.0, 8192, 20_480), (80.0, 28_672, 102_400)]);
    span.rows[1].ranges = span.rows[0].ranges.clone();
    span.rows[1].read.buckets = None;
    span.cpus.truncate(2);
    expect_file!["layout/everything.txt"].assert_eq(&text(&result).replace('\t', "→"));
}

#[test]
fn what_is_not_known_says_so() {
    let mut result = published();
    result.system = System::default();
    result.spans[0].cpus.clear();
    result.spans[0].rows[0].file_size_bytes = None;
    let written = text(&result);
    assert!(written.contains("\tcore count:\t\tN/A\n") && written.contains("\tactive power scheme:\tN/A\n"));
    assert!(
        written.contains("avg.|     N/A|     N/A|     N/A|     N/A\n"),
        "{written}"
    );
    assert!(written.contains("testfile1.dat (N/A)"));
    let xml = xml(&result);
    assert!(
        !xml.contains("N/A") && !xml.contains("<FileSize>") && !xml.contains("<Average>"),
        "{xml}"
    );
    // Interrupted before anything was counted.
    result.spans[0].test_time_ns = 0;
    let sentence = "The test was interrupted before the measurements began. No results are displayed.";
    assert!(text(&result).ends_with(&format!("{sentence}\n")));
    assert!(super::super::xml(&result).contains(&format!(
        "<TimeSpan>\n    <Error>{sentence}</Error>\n  </TimeSpan>"
    )));
}

#[test]
fn xml_of_the_published_figures() {
    let mut result = published();
    result.system.tool_version = String::from("fathom 0.1.0");
    let written = xml(&result);
    assert!(written.ends_with("</Results>"));
    expect_file!["layout/published.xml"].assert_eq(&written);
}

/// The elements of a result of diskspd 2.0.21 that `PerfKitBenchmarker` reads, below `TimeSpan`.
const READ_ELSEWHERE: [&str; 28] = [
    "TestTimeSeconds",
    "ThreadCount",
    "RequestCount",
    "ProcCount",
    "CpuUtilization",
    "CpuUtilization/CPU",
    "CpuUtilization/CPU/Socket",
    "CpuUtilization/CPU/Node",
    "CpuUtilization/CPU/Group",
    "CpuUtilization/CPU/Core",
    "CpuUtilization/CPU/EfficiencyClass",
    "CpuUtilization/CPU/Id",
    "CpuUtilization/CPU/UsagePercent",
    "CpuUtilization/CPU/UserPercent",
    "CpuUtilization/CPU/KernelPercent",
    "CpuUtilization/CPU/IdlePercent",
    "CpuUtilization/Average/UsagePercent",
    "Thread",
    "Thread/Id",
    "Thread/Target",
    "Thread/Target/Path",
    "Thread/Target/BytesCount",
    "Thread/Target/FileSize",
    "Thread/Target/IOCount",
    "Thread/Target/ReadBytes",
    "Thread/Target/ReadCount",
    "Thread/Target/WriteBytes",
    "Thread/Target/WriteCount",
];

#[test]
fn xml_has_what_programs_read() {
    let written = xml(&made::result(1, 2));
    let document = read_xml::document(&written);
    let paths = read_xml::paths(&document);
    for path in READ_ELSEWHERE {
        assert!(
            paths.contains(&format!("Results/TimeSpan/{path}")),
            "{path}: {paths:?}"
        );
    }
    for path in [
        "ComputerName",
        "Tool/Version",
        "Tool/VersionDate",
        "RunTime",
        "ProcessorTopology/Group",
    ] {
        assert!(paths.contains(&format!("Results/System/{path}")), "{path}");
    }
}
