//! Results written, read by the independent readers, and compared field by field with what went in.

use super::{made, read_text, read_xml};
use crate::diskspd::results::{Bucket, Direction, DiskspdResult, Latency, Row, SpanResult, text, xml};
use read_text::Line;
use read_xml::{child, children, number};
use roxmltree::Node;

const SEEDS: std::ops::Range<u64> = 0..24;

fn ms(ns: f64) -> String {
    format!("{:.3}", ns / 1e6)
}

/// The population standard deviation of I/Os a second, by its definition.
fn deviation(buckets: &[Bucket]) -> f64 {
    if buckets.is_empty() {
        return 0.0;
    }
    let n = buckets.len() as f64;
    let mean = buckets.iter().map(|b| b.ios as f64).sum::<f64>() / n;
    let squares: f64 = buckets
        .iter()
        .map(|b| (b.ios as f64 - mean) * (b.ios as f64 - mean))
        .sum();
    (squares / n).sqrt()
}

fn added(one: &[Bucket], other: &[Bucket]) -> Vec<Bucket> {
    let at = |list: &[Bucket], index: usize| list.get(index).copied().unwrap_or_default();
    (0..one.len().max(other.len()))
        .map(|i| at(one, i).and(at(other, i)))
        .collect()
}

/// What a line must show of a direction.
fn expected(span: &SpanResult, of: &Direction) -> Line {
    let seconds = span.test_time_ns as f64 / 1e9;
    Line {
        bytes: of.bytes,
        ios: of.ios,
        mib_per_s: format!("{:.2}", of.bytes as f64 / f64::from(1 << 20) / seconds),
        ios_per_s: format!("{:.2}", of.ios as f64 / seconds),
        avg_lat: span.measure_latency.then(|| ms(of.latency.mean_ns)),
        iops_stddev: span
            .io_bucket_ms
            .map(|_| format!("{:.2}", deviation(of.buckets.as_deref().unwrap_or_default()))),
        lat_stddev: span.measure_latency.then(|| match of.latency.n {
            0 => String::from("N/A"),
            _ => ms(of.latency.stddev_ns),
        }),
        ..Line::default()
    }
}

fn both(one: &Direction, other: &Direction) -> Direction {
    let buckets = |d: &Direction| d.buckets.clone().unwrap_or_default();
    Direction {
        ios: one.ios + other.ios,
        bytes: one.bytes + other.bytes,
        latency: one.latency.and(&other.latency),
        buckets: Some(added(&buckets(one), &buckets(other))),
    }
}

type Of = fn(&Row) -> Direction;
const TABLES: [(&str, Of); 3] = [
    ("Total IO", |row| both(&row.read, &row.write)),
    ("Read IO", |row| row.read.clone()),
    ("Write IO", |row| row.write.clone()),
];

fn check_tables(span: &SpanResult, read: &read_text::Span) {
    assert_eq!(read.tables.len(), 3);
    for ((name, of), (heading, lines)) in TABLES.iter().zip(&read.tables) {
        assert_eq!(heading, name);
        assert_eq!(lines.len(), span.rows.len() + 1);
        let mut all = Direction {
            buckets: Some(Vec::new()),
            ..Direction::default()
        };
        for (row, line) in span.rows.iter().zip(lines) {
            let direction = of(row);
            let (path, size) = line.file.clone().expect("a file");
            assert_eq!(path, row.path);
            assert_eq!(bytes_of(&size), row.file_size_bytes.expect("known"));
            let want = Line {
                thread: Some(row.thread),
                file: line.file.clone(),
                ..expected(span, &direction)
            };
            assert_eq!(*line, want);
            all = both(&all, &direction);
        }
        let want = expected(span, &all);
        assert_eq!(lines.last(), Some(&want));
    }
}

/// `1MiB` as bytes.
fn bytes_of(size: &str) -> u64 {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let (unit, shift) = units
        .iter()
        .find(|(unit, _)| size.ends_with(unit))
        .expect("a unit");
    size.trim_end_matches(unit).parse::<u64>().expect("a number") << shift
}

/// diskspd's percentile: the first value at which as many as asked for have been counted.
fn percentile(latency: &Latency, share: f64) -> Option<f64> {
    let (min, max) = latency.extremes_ns?;
    let n: u64 = latency.histogram.iter().map(|&(_, _, count)| count).sum();
    let mut seen = 0;
    for &(low, high, count) in &latency.histogram {
        seen += count;
        if seen as f64 >= share * n as f64 - 1e-9 {
            return Some(u64::midpoint(low, high).clamp(min, max) as f64);
        }
    }
    Some(max as f64)
}

const SHARES: [(&str, f64); 13] = [
    ("25th", 0.25),
    ("50th", 0.5),
    ("75th", 0.75),
    ("90th", 0.9),
    ("95th", 0.95),
    ("99th", 0.99),
    ("3-nines", 0.999),
    ("4-nines", 0.999_9),
    ("5-nines", 0.999_99),
    ("6-nines", 0.999_999),
    ("7-nines", 0.999_999_9),
    ("8-nines", 0.999_999_99),
    ("9-nines", 0.999_999_999),
];

/// Two times in milliseconds as shown differ by no more than a bucket is wide.
fn close(shown: &str, want: Option<f64>) {
    match want {
        None => assert_eq!(shown, "N/A"),
        Some(ns) => {
            let shown: f64 = shown.parse().unwrap_or_else(|_| panic!("`{shown}`, not {ns}"));
            assert!(
                (shown - ns / 1e6).abs() <= 0.0006 + ns / 1e6 / 500.0,
                "{shown} ms, not {ns} ns"
            );
        }
    }
}

fn check_percentiles(read: &Latency, write: &Latency, rows: &[Vec<String>]) {
    let total = read.and(write);
    assert_eq!(rows.len(), SHARES.len() + 2);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!((names[0], names[14]), ("min", "max"));
    for ((name, share), row) in SHARES.iter().zip(&rows[1..]) {
        assert_eq!(row[0], *name);
        for (latency, cell) in [read, write, &total].iter().zip(&row[1..]) {
            close(cell, percentile(latency, *share).filter(|_| latency.n > 0));
        }
    }
    for (latency, index) in [(read, 1), (write, 2), (&total, 3)] {
        let shown = |ns: Option<u64>| ns.map_or_else(|| String::from("N/A"), |ns| ms(ns as f64));
        assert_eq!(rows[0][index], shown(latency.extremes_ns.map(|(min, _)| min)));
        assert_eq!(rows[14][index], shown(latency.extremes_ns.map(|(_, max)| max)));
    }
}

#[test]
fn text_says_what_went_in() {
    for seed in SEEDS {
        let result = made::result(seed, 1 + (seed % 3) as u32);
        let written = text(&result);
        let spans = read_text::spans(&written);
        assert_eq!(spans.len(), result.spans.len(), "seed {seed}");
        for (span, read) in result.spans.iter().zip(&spans) {
            assert_eq!(read.seconds, format!("{:.2}", span.test_time_ns as f64 / 1e9));
            assert_eq!(read.threads, span.thread_count);
            check_tables(span, read);
            for (cpu, (id, shares)) in span.cpus.iter().zip(&read.cpus) {
                assert_eq!(*id, Some(cpu.cpu));
                let all = [
                    cpu.user_percent + cpu.kernel_percent,
                    cpu.user_percent,
                    cpu.kernel_percent,
                    cpu.idle_percent,
                ];
                assert_eq!(*shares, all.map(|share| format!("{share:.2}")));
            }
            check_latencies(span, read);
        }
        check_totals(&result, &written);
    }
}

fn check_latencies(span: &SpanResult, read: &read_text::Span) {
    if !span.measure_latency {
        assert!(read.percentiles.is_empty());
        return;
    }
    let mut paths: Vec<&str> = span.rows.iter().map(|row| row.path.as_str()).collect();
    paths.dedup();
    let targets = if paths.len() > 1 { paths.len() } else { 0 };
    assert_eq!(read.percentiles.len(), targets + 1);
    for (path, (heading, rows)) in paths.iter().zip(&read.percentiles[..targets]) {
        assert_eq!(*heading, format!("Latency distribution: {path}"));
        let of = |which: fn(&Row) -> &Latency| {
            let own = span.rows.iter().filter(|row| row.path == *path);
            own.fold(Latency::default(), |all, row| all.and(which(row)))
        };
        check_percentiles(&of(|row| &row.read.latency), &of(|row| &row.write.latency), rows);
    }
    let (heading, rows) = &read.percentiles[targets];
    assert_eq!(heading, "Total latency distribution:");
    check_percentiles(&span.totals.read, &span.totals.write, rows);
}

fn check_totals(result: &DiskspdResult, written: &str) {
    let totals = read_text::totals(written);
    if result.spans.len() == 1 {
        assert!(totals.is_empty());
        return;
    }
    let sum = |of: fn(&Row) -> u64| {
        result
            .spans
            .iter()
            .flat_map(|span| &span.rows)
            .map(of)
            .sum::<u64>()
    };
    let read = (sum(|row| row.read.bytes), sum(|row| row.read.ios));
    let write = (sum(|row| row.write.bytes), sum(|row| row.write.ios));
    let want = [
        ("write", write),
        ("read", read),
        ("total", (read.0 + write.0, read.1 + write.1)),
    ];
    let found: Vec<(&str, (u64, u64))> = totals
        .iter()
        .map(|(name, b, i)| (name.as_str(), (*b, *i)))
        .collect();
    assert_eq!(found, want);
}

#[test]
fn xml_says_what_went_in() {
    for seed in SEEDS {
        let result = made::result(seed, 1 + (seed % 3) as u32);
        let written = xml(&result);
        let document = read_xml::document(&written);
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "Results");
        let system = child(root, "System").expect("a system");
        assert_eq!(read_xml::text(system, "ComputerName").as_deref(), Some("vm<1>"));
        assert_eq!(
            read_xml::text(system, "RunTime").as_deref(),
            Some("2026/09/21 14:13:20 UTC")
        );
        assert!(child(root, "Profile").is_some());
        let spans = children(root, "TimeSpan");
        assert_eq!(spans.len(), result.spans.len(), "seed {seed}");
        for (span, node) in result.spans.iter().zip(spans) {
            check_span(span, node);
        }
    }
}

fn check_span(span: &SpanResult, node: Node<'_, '_>) {
    let text = |name| read_xml::text(node, name);
    assert_eq!(
        text("TestTimeSeconds"),
        Some(format!("{:.2}", span.test_time_ns as f64 / 1e9))
    );
    assert_eq!(number(node, "ThreadCount"), u64::from(span.thread_count));
    assert_eq!(number(node, "ProcCount"), 4);
    let cpus = node
        .children()
        .find(|node| node.has_tag_name("CpuUtilization"))
        .expect("processors");
    let ids: Vec<u64> = cpus
        .children()
        .filter(|node| node.has_tag_name("CPU"))
        .map(|cpu| number(cpu, "Id"))
        .collect();
    assert_eq!(ids, [0, 1, 2, 3]);
    let threads: Vec<Node<'_, '_>> = node
        .children()
        .filter(|node| node.has_tag_name("Thread"))
        .collect();
    assert_eq!(threads.len(), span.rows.len());
    for (row, thread) in span.rows.iter().zip(threads) {
        assert_eq!(number(thread, "Id"), u64::from(row.thread));
        let target = thread
            .children()
            .find(|node| node.has_tag_name("Target"))
            .expect("a target");
        check_target(span, row, target);
    }
    let latency = node.children().find(|node| node.has_tag_name("Latency"));
    assert_eq!(latency.is_some(), span.measure_latency);
    if let Some(latency) = latency {
        check_buckets(span, latency);
    }
    let iops = node.children().find(|node| node.has_tag_name("Iops"));
    assert_eq!(iops.is_some(), span.io_bucket_ms.is_some());
    if let Some(iops) = iops {
        check_iops(&span.totals.read_buckets, &span.totals.write_buckets, iops);
    }
}

fn check_target(span: &SpanResult, row: &Row, target: Node<'_, '_>) {
    assert_eq!(read_xml::text(target, "Path").as_deref(), Some(row.path.as_str()));
    let counts = [
        ("BytesCount", row.read.bytes + row.write.bytes),
        ("FileSize", row.file_size_bytes.expect("known")),
        ("IOCount", row.read.ios + row.write.ios),
        ("ReadBytes", row.read.bytes),
        ("ReadCount", row.read.ios),
        ("WriteBytes", row.write.bytes),
        ("WriteCount", row.write.ios),
    ];
    for (name, count) in counts {
        assert_eq!(number(target, name), count, "{name}");
    }
    let total = row.read.latency.and(&row.write.latency);
    for (name, latency) in [
        ("Read", &row.read.latency),
        ("Write", &row.write.latency),
        ("", &total),
    ] {
        let known = span.measure_latency && latency.n > 0;
        let mean = read_xml::text(target, &format!("Average{name}LatencyMilliseconds"));
        assert_eq!(mean, known.then(|| ms(latency.mean_ns)), "{name}");
        let stdev = read_xml::text(target, &format!("{name}LatencyStdev"));
        assert_eq!(stdev, known.then(|| ms(latency.stddev_ns)), "{name}");
    }
    if let Some(iops) = target.children().find(|node| node.has_tag_name("Iops")) {
        let of = |direction: &Direction| direction.buckets.clone().unwrap_or_default();
        check_iops(&of(&row.read), &of(&row.write), iops);
    }
}

/// 0 to 99, seven steps of nines, 100.
fn check_buckets(span: &SpanResult, latency: Node<'_, '_>) {
    let buckets: Vec<Node<'_, '_>> = latency
        .children()
        .filter(|node| node.has_tag_name("Bucket"))
        .collect();
    assert_eq!(buckets.len(), 108);
    let names: Vec<String> = buckets
        .iter()
        .filter_map(|node| read_xml::text(*node, "Percentile"))
        .collect();
    assert_eq!(
        (
            names[0].as_str(),
            names[99].as_str(),
            names[106].as_str(),
            names[107].as_str()
        ),
        ("0", "99", "99.9999999", "100")
    );
    let total = span.totals.read.and(&span.totals.write);
    for (name, latency) in [
        ("Read", &span.totals.read),
        ("Write", &span.totals.write),
        ("Total", &total),
    ] {
        for (bucket, percent) in buckets.iter().zip(&names) {
            let shown = read_xml::text(*bucket, &format!("{name}Milliseconds"));
            let share = percent.parse::<f64>().expect("a number") / 100.0;
            let (min, max) = latency.extremes_ns.unwrap_or_default();
            let want = match percent.as_str() {
                "0" => Some(min as f64),
                "100" => Some(max as f64),
                _ => percentile(latency, share),
            };
            match shown {
                None => assert_eq!(latency.n, 0),
                Some(shown) => close(&shown, want),
            }
        }
    }
}

fn check_iops(read: &[Bucket], write: &[Bucket], iops: Node<'_, '_>) {
    let total = added(read, write);
    for (name, buckets) in [
        ("ReadIopsStdDev", read),
        ("WriteIopsStdDev", write),
        ("IopsStdDev", &total),
    ] {
        let want = (!buckets.is_empty()).then(|| format!("{:.3}", deviation(buckets)));
        assert_eq!(read_xml::text(iops, name), want, "{name}");
    }
    let nodes: Vec<Node<'_, '_>> = iops
        .children()
        .filter(|node| node.has_tag_name("Bucket"))
        .collect();
    assert_eq!(nodes.len(), total.len());
    for (index, node) in nodes.iter().enumerate() {
        let shown = |name: &str| {
            node.attribute(name)
                .unwrap_or_else(|| panic!("no {name}"))
                .to_owned()
        };
        let at = |list: &[Bucket]| list.get(index).copied().unwrap_or_default();
        assert_eq!(shown("SampleMillisecond"), ((index + 1) * 1000).to_string());
        assert_eq!(shown("Read"), at(read).ios.to_string());
        assert_eq!(shown("Write"), at(write).ios.to_string());
        assert_eq!(shown("Total"), (at(read).ios + at(write).ios).to_string());
        for (name, bucket) in [("Read", at(read)), ("Write", at(write))] {
            assert_eq!(shown(&format!("{name}MinLatencyMilliseconds")), ms(bucket.min_ns));
            assert_eq!(shown(&format!("{name}MaxLatencyMilliseconds")), ms(bucket.max_ns));
            assert_eq!(
                shown(&format!("{name}AvgLatencyMilliseconds")),
                ms(bucket.mean_ns)
            );
            assert_eq!(shown(&format!("{name}LatencyStdDev")), ms(bucket.stddev_ns));
        }
    }
}
