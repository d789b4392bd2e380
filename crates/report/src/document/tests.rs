use super::*;
use crate::fixtures;
use expect_test::expect;

fn report(run: &Run) -> RunReport<'_> {
    RunReport {
        run,
        series: &[],
        histograms: &[],
        heat: None,
        explanation: None,
        outline: None,
        windows: &[],
        published: None,
    }
}

#[test]
fn the_name_of_a_file_says_its_format() {
    let format = |name: &str| Format::of(Path::new(name));
    assert_eq!(format("a/report.html"), Some(Format::Html));
    assert_eq!(format("REPORT.MD"), Some(Format::Markdown));
    assert_eq!(format("r.csv"), Some(Format::Csv));
    assert_eq!(format("r.pdf"), None);
    assert_eq!(format("html"), None);
}

#[test]
fn a_run_in_words_and_tables() {
    let run = fixtures::random_read();
    expect![[r#"
        # randread 4 KiB on data.bin (ext4 on /dev/vda, virtio)

        Run on vm1, 2026-09-21 14:13:20 UTC.

        ## Numbers

        - **read:** 9000 IOPS (90.0k I/Os, in 10.0 s)
        - **read:** 36.9 MB/s (35.2 MiB/s, 352 MiB in all)
        - **read, mean latency:** 441 µs (p99 600 µs, slowest 8.19 ms)

        | job | direction | IOPS | MiB/s | MB/s | mean | p50 | p90 | p99 | p99.9 | p99.99 | slowest | I/Os | errors |
        |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        | randread | read | 9000 | 35.2 | 36.9 | 441 µs | 402 µs | 564 µs | 600 µs | 7.54 ms | – | 8.19 ms | 90.0k | 0 |

        ## What was run

        - **load:** randread 4 KiB, direct, io\_uring, iodepth 32, 1 worker, for 10 s
        - **target:** data.bin (ext4 on /dev/vda, virtio)
        - **machine:** 2 CPUs
        - **command:** fathom run
        - **program:** fathom 0.1.0

        ## Beside the load

        - randread: CPU: 4.10 % user, 12.3 % system; 18.2 µs and 1.00 context switches an I/O
        - disk vda: 99.4 % of the time busy, 3.58 I/Os in flight on average; 8955 reads/s of 4 KiB on average, 400 µs each, 0.00 % merged; 1.19 writes/s of 16 KiB on average, 2.00 ms each, 25.0 % merged; 0.30 flushes/s
        - fathom's own cost: 31 ns of each I/O (0.01 % of the mean latency)

        Written by fathom 0.1.0.
    "#]]
    .assert_eq(&report(&run).render(Format::Markdown));
}

#[test]
fn every_kind_of_run_has_a_report() {
    for (name, run) in fixtures::all() {
        for format in [Format::Html, Format::Markdown, Format::Csv] {
            let text = report(&run).render(format);
            assert!(text.len() > 100, "{name}, {format:?}: {text}");
        }
        let text = report(&run).render(Format::Markdown);
        for job in &run.workload.jobs {
            let described = crate::words::describe(job);
            let first = described.split(',').next().expect("words");
            assert!(text.contains(first), "{name}: {first} is not in {text}");
        }
        for warning in &run.summary.warnings {
            let first = warning.to_string();
            let first = first.split(['_', '*']).next().expect("words");
            assert!(text.contains(first), "{name}: {first} is not in {text}");
        }
    }
}
