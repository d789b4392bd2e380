use crate::{Style, fixtures, text};
use expect_test::expect;
use fathom_core::run::{DiskSummary, Held, ModelSummary};

#[test]
fn limits_and_caches_are_told() {
    let mut run = fixtures::random_read();
    run.summary.disks = vec![DiskSummary {
        read_ios: 1000,
        ..DiskSummary::default()
    }];
    run.summary.model = Some(ModelSummary {
        held: vec![
            Held {
                limit: String::from("disk MB/s"),
                held_ns: 2_000_000,
            },
            Held {
                limit: String::from("VM uncached IOPS"),
                held_ns: 7_000_000_000,
            },
        ],
        dirty_peak_bytes: 4_200_000_000,
        drain_ns: 33_000_000_000,
        host_dirty_peak_bytes: 1 << 30,
        host_cache_hits: 999,
        host_cache_misses: 1,
        ..ModelSummary::default()
    });
    let report = text::render(&run, Style::default());
    let from = report.find("model:").expect("a section about the model");
    let section = report[from..].split("\n\n").next().unwrap_or_default();
    expect![[r#"
        model: limits held back an I/O of the disk by, on average: VM uncached IOPS 7.00
            ms, disk MB/s 2.00 µs
          page cache: at most 3.91 GiB dirty
          host cache: 99.9 % of 1000 reads served
          host cache: at most 1 GiB not yet on the disk
          33.0 s after the last job until all was on the disk"#]]
    .assert_eq(section);
    run.summary.model = Some(ModelSummary::default());
    assert!(text::render(&run, Style::default()).contains("model: no limit held anything back"));
}
