use super::*;

fn parse(text: &str) -> Measure {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_vocabulary_is_read() {
    let cases = [
        ("read.iops", Quantity::Amount(Direction::Read, Amount::Iops)),
        (
            "write.clat.p99.9",
            Quantity::Latency(Direction::Write, Latency::Clat, Statistic::Percentile(99.9)),
        ),
        (
            "total.lat.share(1.5..3)",
            Quantity::Share(Direction::Total, Latency::Lat, (1_500_000, 3_000_000)),
        ),
        (
            "total.lat.count(25..)",
            Quantity::Within(Direction::Total, Latency::Lat, (25_000_000, u64::MAX)),
        ),
        (
            "job.max.write.bandwidth",
            Quantity::PerJob(true, PerJob::Bandwidth(Direction::Write)),
        ),
        ("job.min.runtime", Quantity::PerJob(false, PerJob::Runtime)),
        ("disk.io_size", Quantity::Disk(None, DiskCount::IoSize)),
        (
            "disk[1].ios",
            Quantity::Disk(Some(1), DiskCount::Amount(Amount::Ios)),
        ),
        ("held(disk IOPS)", Quantity::Held(String::from("disk IOPS"))),
        (
            "seconds.read.lat.p5",
            Quantity::Seconds(Direction::Read, PerSecond::Lat, Statistic::Percentile(5.0)),
        ),
        ("phase(2).duration", Quantity::Phase(2, PhaseCount::Duration)),
        ("stall", Quantity::Stall),
    ];
    for (text, quantity) in cases {
        let measure = parse(text);
        assert_eq!((measure.fold, measure.quantity), (None, quantity), "{text}");
    }
    assert_eq!(parse("ratio write.iops").fold, Some(Fold::Ratio));
    assert_eq!(parse("max held(VM uncached MB/s)").fold, Some(Fold::Max));
}

#[test]
fn each_word_of_the_documented_vocabulary_is_known() {
    for text in "read.ios write.iops total.bytes total.bandwidth read.lat.mean read.clat.min read.slat.max \
        write.lat.stdev runtime job.min.read.bandwidth disk.ios disk.iops disk.bytes disk.bandwidth disk.ticks \
        disk.latency disk.in_queue disk.util dirty_peak host_dirty_peak drain seconds.total.iops.mean \
        phase(1).bandwidth phase(1).iops outcomes"
        .split_whitespace()
    {
        parse(text);
    }
    for fold in ["max", "min", "mean", "median", "ratio", "linearity"] {
        parse(&format!("{fold} read.iops"));
    }
}

#[test]
fn what_is_not_understood_is_said() {
    for text in [
        "",
        "reads.ios",
        "read",
        "read.iops.mean",
        "read.lat",
        "read.lat.p0",
        "read.lat.p101",
        "read.lat.share(5..4)",
        "read.lat.share(4)",
        "phase(0).duration",
        "disk[x].ios",
        "job.mid.runtime",
        "seconds.read.bytes.max",
        "mode read.iops",
    ] {
        let error = text.parse::<Measure>().expect_err(text);
        assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
    }
}

#[test]
fn a_ratio_has_no_unit() {
    assert_eq!(parse("read.bandwidth").dimension(), Dimension::Bandwidth);
    assert_eq!(parse("ratio read.bandwidth").dimension(), Dimension::Number);
    assert_eq!(parse("max read.bandwidth").dimension(), Dimension::Bandwidth);
}
