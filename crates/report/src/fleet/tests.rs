use super::FleetReport;
use crate::{Format, Style};
use expect_test::expect;
use fathom_analysis::fleet::{Fleet, Limit, Limited, Member, Shown, Total};
use fathom_core::histogram::Histogram;

#[test]
fn a_fleet_is_told_with_its_limit_its_start_and_who_falls_behind() {
    let mut lat = Histogram::new();
    lat.record_many(1_000_000, 100);
    let member = |name: &str, iops| Member {
        name: name.to_owned(),
        node: Some(format!("node-{name}")),
        iops,
        bytes_per_second: iops * 4096.0,
        lat_ns_p50: 1_000_000,
        lat_ns_p99: 2_000_000,
    };
    let fleet = Fleet {
        members: vec![member("1", 7_000.0), member("2", 5_400.0)],
        total: vec![Total {
            op: "read",
            ios: 124_000,
            bytes: 124_000 * 4096,
            iops: 12_400.0,
            bytes_per_second: 12_400.0 * 4096.0,
            lat_ns: lat.summary(&[50.0, 95.0, 99.0, 99.9]),
        }],
        limit: Limit::Shared {
            iops: 12_400.0,
            shown_by: Shown::Alone { iops_alone: 9_000.0 },
        },
        stragglers: vec![1],
        limited: vec![Limited {
            by: String::from("an IOPS limit"),
            members: vec![0, 1],
        }],
    };
    let report = FleetReport {
        on: "class pool",
        fleet: &fleet,
        skew_ns: Some((3_100_000, 1_200_000)),
        version: "0",
    };
    expect![[r#"
        2 pods at once on class pool
        begun within 3.10 ms, give or take 1.20 ms of their clocks
        together they get 12.4k IOPS: a limit that all share, not the volumes' own: one
          alone gets 9000 IOPS

        Together
                I/Os   IOPS  MiB/s      p50      p95      p99    p99.9
          read  124k  12.4k   48.4  1.00 ms  1.00 ms  1.00 ms  1.00 ms

        What limited each by itself
          limited by     so many                   of them
          an IOPS limit        2  1 on node-1, 2 on node-2

        Each
        warning: behind the others: 2 on node-2
          pod  node    IOPS  MiB/s      p50      p99
          1    node-1  7000   27.3  1.00 ms  2.00 ms
          2    node-2  5400   21.1  1.00 ms  2.00 ms
    "#]]
    .assert_eq(&report.text(Style {
        width: 80,
        colour: false,
        unicode: true,
    }));
    let json = report.json();
    assert_eq!(json["limit"]["limit"], "shared");
    assert_eq!(json["start_skew_ns"], 3_100_000);
    assert!(
        report
            .render(Format::Html)
            .expect("a page")
            .contains("12.4k IOPS")
    );
}
