use super::classic::{BOUNDS_NS, cumulative};
use super::native::{Native, index_of};
use super::{Family, Format, Value, parse_labels, write};
use crate::metric;
use expect_test::expect;
use fathom_core::histogram::Histogram;
use fathom_core::rng::Rng;

fn families() -> Vec<Family> {
    let mut latencies = Histogram::new();
    for ns in [9_000, 90_000, 90_500, 2_000_000, 90_000_000_000] {
        latencies.record(ns);
    }
    let mut latency = Family::new(metric::LOAD_LATENCY);
    latency.push(&["a \"job\"\n\\", "read"], Value::Latencies(latencies));
    vec![
        Family::new(metric::LOAD_IOS).with(&["a", "read"], 12.0),
        Family::new(metric::RUNNING).with(&[], 1.0),
        Family::new(metric::PAGED_IN).with(&[], 3.5),
        Family::new(metric::DONE),
        latency,
    ]
}

fn text(format: Format) -> String {
    String::from_utf8(write(&families(), format)).expect("text")
}

#[test]
fn prometheus_text_is_as_documented() {
    let text = text(Format::Text);
    let (head, buckets) = text.split_once("# HELP fathom_load_latency").expect("both");
    expect![[r#"
        # HELP fathom_load_ios_total I/Os of the load completed, with ramp and cooldown
        # TYPE fathom_load_ios_total counter
        fathom_load_ios_total{section="a",op="read"} 12.0
        # HELP fathom_running 1 while the measurement goes on, 0 once it has ended
        # TYPE fathom_running gauge
        fathom_running 1.0
        # HELP node_vmstat_pgpgin KiB read from disks
        # TYPE node_vmstat_pgpgin untyped
        node_vmstat_pgpgin 3.5
    "#]]
    .assert_eq(head);
    let line = |of: &str| buckets.lines().find(|line| line.contains(of)).map(str::to_owned);
    assert_eq!(
        line("le=\"0.0001\"").expect("a bucket"),
        r#"fathom_load_latency_seconds_bucket{section="a \"job\"\n\\",op="read",le="0.0001"} 3.0"#
    );
    assert!(line("le=\"60.0\"").expect("a bucket").ends_with(" 4.0"));
    assert!(line("+Inf").expect("a bucket").ends_with(" 5.0"));
    assert!(line("_count").expect("a count").ends_with(" 5.0"));
    assert!(line("_sum").expect("a sum").ends_with(" 90.0021895"));
}

#[test]
fn open_metrics_differs_where_it_has_to() {
    let text = text(Format::OpenMetrics);
    assert!(text.contains("# TYPE fathom_load_ios counter\nfathom_load_ios_total{"));
    assert!(text.contains("# TYPE node_vmstat_pgpgin unknown\n"));
    assert!(text.ends_with("\n# EOF\n"));
}

#[test]
fn a_scraper_is_given_what_it_likes_best() {
    let prometheus = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                      application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let cases = [
        (prometheus, Format::Protobuf),
        (
            "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
            Format::OpenMetrics,
        ),
        (
            "application/openmetrics-text;version=0.0.1,text/plain;q=0.5",
            Format::Text,
        ),
        (
            "application/vnd.google.protobuf;proto=other;encoding=delimited",
            Format::Text,
        ),
        ("application/vnd.google.protobuf;q=0", Format::Text),
        ("text/html,application/xhtml+xml,*/*;q=0.8", Format::Text),
        ("", Format::Text),
        (";;q=,=,", Format::Text),
    ];
    for (accept, format) in cases {
        assert_eq!(Format::of(accept), format, "{accept}");
    }
}

/// Native buckets hold all, in order, and each latency where its bounds say; seconds as they would be computed by hand.
#[test]
fn native_buckets_hold_what_ours_hold() {
    let seed = fathom_testkit::seed();
    let mut rng = Rng::stream(seed, 0);
    let mut ours = Histogram::new();
    let mut values = Vec::new();
    for _ in 0..20_000 {
        let octave = 10 + rng.below(30);
        let value = (1u64 << octave) + rng.below(1 << octave);
        ours.record(value);
        values.push(value);
    }
    ours.record(0);
    let native = Native::of(&ours);
    assert_eq!(native.zero, 1);
    assert_eq!(native.counts.iter().sum::<u64>(), 20_000);
    assert_eq!(
        native
            .spans
            .iter()
            .map(|span| span.length as usize)
            .sum::<usize>(),
        native.counts.len()
    );
    let mut indices = Vec::new();
    let mut next = 0;
    for span in &native.spans {
        next += span.offset;
        for _ in 0..span.length {
            indices.push(next);
            next += 1;
        }
    }
    assert!(indices.windows(2).all(|two| two[0] < two[1]), "seed {seed}");
    // Quantiles: the upper bound of the bucket with the rank is within one bucket and half of one of ours.
    values.sort_unstable();
    for permille in [1u64, 10, 250, 500, 900, 990, 999] {
        let rank = permille * 20_000 / 1000;
        let mut sum = 0;
        let place = native.counts.iter().position(|count| {
            sum += count;
            sum >= rank
        });
        let bound = (f64::from(indices[place.expect("a bucket")]) / 256.0).exp2();
        let exact = values[rank as usize - 1] as f64 / 1e9;
        let off = bound / exact - 1.0;
        assert!((-0.001..0.0038).contains(&off), "seed {seed}: {permille}: {off}");
    }
}

#[test]
fn the_index_of_a_bucket_is_that_of_its_upper_bound() {
    assert_eq!(index_of(1_000_000_000), 0);
    assert_eq!(index_of(2_000_000_000), 256);
    assert_eq!(index_of(2_000_000_001), 257);
    assert_eq!(index_of(500_000_000), -256);
    assert_eq!(index_of(1), -7653);
}

#[test]
fn classic_buckets_are_cumulative_and_what_is_longer_is_in_none() {
    let mut histogram = Histogram::new();
    histogram.record_many(9_000, 2);
    histogram.record_many(11_000, 3);
    histogram.record_many(120_000_000_000, 7);
    let counts = cumulative(&histogram);
    assert_eq!(counts[..3], [2, 5, 5]);
    assert_eq!(counts[BOUNDS_NS.len() - 1], 5);
}

#[test]
fn labels_of_counters_come_back_as_they_were() {
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    };
    assert_eq!(parse_labels(""), Some(Vec::new()));
    assert_eq!(
        parse_labels(r#"cpu="0",mode="user""#),
        Some(own(&[("cpu", "0"), ("mode", "user")]))
    );
    assert_eq!(
        parse_labels(r#"device="a\"b\\c\nd",x="=""#),
        Some(own(&[("device", "a\"b\\c\nd"), ("x", "=")]))
    );
    assert_eq!(parse_labels("device"), None);
    assert_eq!(parse_labels("device=\"open"), None);
}

/// A family read back by the rules of protobuf, as far as needed: its fields by number.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        unreachable!("a varint ends")
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let length = match key & 7 {
            0 => {
                found.push((key >> 3, varint(&mut bytes).to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            wire => panic!("wire type {wire}"),
        };
        found.push((key >> 3, bytes[..length].to_vec()));
        bytes = &bytes[length..];
    }
    found
}

#[test]
fn protobuf_has_each_family_behind_its_length() {
    let whole = write(&families()[..1], Format::Protobuf);
    assert_eq!(usize::from(whole[0]), whole.len() - 1);
    let family = fields(&whole[1..]);
    assert_eq!(family[0], (1, b"fathom_load_ios_total".to_vec()));
    assert_eq!(family[2], (3, 0u64.to_le_bytes().to_vec()));
    let metric = fields(&family[3].1);
    assert_eq!(
        fields(&metric[0].1),
        [(1, b"section".to_vec()), (2, b"a".to_vec())]
    );
    let (field, counter) = metric.last().expect("a value");
    assert_eq!(
        (*field, fields(counter)),
        (3, vec![(1, 12f64.to_le_bytes().to_vec())])
    );
    let whole = write(&families()[4..], Format::Protobuf);
    let family = fields(&whole[2..]);
    let metric = fields(&family.last().expect("a metric").1);
    let histogram = fields(&metric.last().expect("a histogram").1);
    let numbers: Vec<u64> = histogram.iter().map(|(field, _)| *field).collect();
    assert_eq!(numbers[..2], [1, 2]);
    assert_eq!(
        numbers.iter().filter(|&&field| field == 3).count(),
        BOUNDS_NS.len()
    );
    assert!([5, 6, 7, 12, 13].iter().all(|field| numbers.contains(field)));
}
