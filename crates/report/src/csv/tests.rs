use super::*;
use crate::fixtures;
use expect_test::expect;
use fathom_core::run::LatencySummary;
use fathom_core::run::Status;
use fathom_core::sweep::{Coordinates, Inferred};
use fathom_testkit::make;

/// The cells of each line, by a reader of its own.
fn cells(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    for letter in text.chars() {
        let row = rows.last_mut().expect("a row");
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            '\r' if !quoted => {}
            letter => row.last_mut().expect("a cell").push(letter),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line ends");
    rows
}

fn named<'a>(rows: &'a [Vec<String>], row: usize, name: &str) -> &'a str {
    let column = rows[0].iter().position(|cell| cell == name).expect("a column");
    &rows[row][column]
}

#[test]
fn a_second_is_a_row() {
    let mut run = fixtures::random_read();
    run.workload.jobs[0].name = String::from("a, \"b\"");
    let row = SeriesRow {
        duration_ns: 500_000_000,
        ramp: true,
        ios: 250,
        bytes: 1_024_000,
        errors: 1,
        lat: fixtures::latency(1, 250, 400_000),
        ..make::second(3)
    };
    let text = series(&run, std::slice::from_ref(&row));
    let rows = cells(&text);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].len(), rows[1].len());
    assert_eq!(
        named(&rows, 1, "job"),
        "a  \"b\"".replace("  ", ", ").replace('"', "")
    );
    assert_eq!(named(&rows, 1, "counted"), "0");
    assert_eq!(named(&rows, 1, "iops"), "500.000");
    assert_eq!(named(&rows, 1, "bytes_per_second"), "2048000.000");
    assert_eq!(
        named(&rows, 1, "lat_ns_p99"),
        row.lat.percentile(99.0).expect("p99").to_string()
    );
    assert_eq!(named(&rows, 1, "response_ns_p99"), "");
}

fn at(iodepth: u32) -> Coordinates {
    Coordinates {
        random: true,
        read_percent: 80,
        block_size_bytes: 65_536,
        iodepth,
        threads: 2,
    }
}

fn figures(iops: f64) -> PointFigures {
    let direction = |share: f64| {
        let ios = (iops * share) as u64;
        let lat_ns = LatencySummary {
            n: ios,
            min: 10,
            mean: 2e9 / iops,
            stddev: 1.0,
            max: 9_000_000,
            percentiles: vec![(99.0, (1e10 / iops) as u64)],
        };
        make::sweep::direction(ios, 65_536, iops * share, lat_ns)
    };
    PointFigures {
        runtime_ns: 1_000_000_000,
        read: direction(0.8),
        write: direction(0.2),
        total: direction(1.0),
        ..PointFigures::default()
    }
}

#[test]
fn a_point_is_a_row() {
    let outcomes = [
        Outcome::Measured {
            repeats: vec![figures(400.0), figures(500.0)],
        },
        Outcome::Inferred(Inferred {
            iops: 500.0,
            bytes_per_second: 32_768_000.0,
            lat_ns_mean: 1e6,
            because: String::from("the limit, reached"),
            from: vec![0],
        }),
        Outcome::Failed {
            message: String::from("no \"space\"\nleft"),
        },
        Outcome::Pending,
    ];
    let all = (1..).zip(outcomes).map(|(depth, outcome)| (at(depth), outcome));
    let results = make::sweep::results(Status::Interrupted, all);
    let text = points(&results);
    let rows = cells(&text);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    assert_eq!(named(&rows, 1, "iops"), "450.000");
    assert_eq!(
        (named(&rows, 1, "iops_min"), named(&rows, 1, "iops_max")),
        ("400.000", "500.000")
    );
    assert_eq!(named(&rows, 1, "lat_ns_p99"), "22500000");
    assert_eq!(named(&rows, 1, "read_iops"), "360.000");
    assert_eq!(named(&rows, 2, "reason"), "the limit, reached");
    assert_eq!(
        named(&rows, 2, "lat_ns_p99"),
        "",
        "nothing is inferred of a percentile"
    );
    expect![[r#"
        point,name,random,read_percent,block_size_bytes,iodepth,threads,total_depth,outcome,reason,repeats,runtime_ns,iops_half_width_percent,errors,iops,iops_min,iops_max,bytes_per_second,lat_ns_mean,lat_ns_min,lat_ns_max,lat_ns_p50,lat_ns_p90,lat_ns_p95,lat_ns_p99,lat_ns_p99_9,lat_ns_p99_99,read_iops,read_bytes_per_second,read_lat_ns_mean,read_lat_ns_p99,write_iops,write_bytes_per_second,write_lat_ns_mean,write_lat_ns_p99
        0,rand-r080-64k-q01-t2,1,80,65536,1,2,2,measured,,2,2000000000,,0,450.000,400.000,500.000,29491200.000,4500000.0,10,9000000,,,,22500000,,,360.000,23592960.000,4500000.0,22500000,90.000,5898240.000,4500000.0,22500000
        1,rand-r080-64k-q02-t2,1,80,65536,2,2,4,inferred,"the limit, reached",0,,,,500.000,,,32768000.000,1000000.0,,,,,,,,,,,,,,,,
        2,rand-r080-64k-q03-t2,1,80,65536,3,2,6,failed,"no ""space""
        left",0,,,,,,,,,,,,,,,,,,,,,,,,
        3,rand-r080-64k-q04-t2,1,80,65536,4,2,8,pending,,0,,,,,,,,,,,,,,,,,,,,,,,,
    "#]]
    .assert_eq(&text.replace("\r\n", "\n"));
}
