use super::*;
use crate::document::explained::percent;
use crate::fixtures;
use expect_test::{Expect, expect};
use fathom_analysis::explain::SCHEMA;
use fathom_analysis::explain::answer::{
    Averages, Candidate, Cause, Depths, Distribution, Figure, HiddenSeconds, HourDistribution, LimitKind,
    Owned, OwnerClass, Period, Process, ProcessUse, SectionDistribution, SectionLimit, Served, Smaller,
    Spike, SpikeReport, Split, Unit, Verdict, WorstIo,
};
use fathom_core::record::Comm;

const MS: u64 = 1_000_000;

fn limit() -> SectionLimit {
    let figure = |what: &str, value, unit| Figure {
        what: String::from(what),
        value,
        unit,
    };
    SectionLimit {
        name: String::from("oltp"),
        limit: LimitKind::Iops,
        confidence: 0.93,
        because: vec![
            String::from(
                "its rate is the same each second to 0.05 %, while chance would make it vary by 3.6 %",
            ),
            String::from("16.0 in flight / 14.3 ms each = 1122 IOPS, 4.38 MiB/s"),
        ],
        change: String::from("a disk with more IOPS, or larger and fewer I/Os"),
        figures: vec![
            figure("rate", 1122.0, Unit::Iops),
            figure("bandwidth", 4_595_712.0, Unit::BytesPerSecond),
            figure("mean latency", 14.26e6, Unit::Nanoseconds),
            figure("disk busy", 99.9, Unit::Percent),
        ],
        candidates: ["azure/P15", "azure/E15", "aws/x", "gcp/y", "gcp/z"]
            .into_iter()
            .map(|name| Candidate {
                name: String::from(name),
                limit: 1100.0,
                unit: Unit::Iops,
                ratio: 1.02,
                own: false,
            })
            .collect(),
        misleading: vec![String::from("iowait is 0.0 %, though the disk is saturated")],
        missing: vec![String::from("the same load with another block size")],
    }
}

fn owned(class: OwnerClass, process: Option<Process>, ms: u64) -> Owned {
    let lost = class != OwnerClass::Usual;
    Owned {
        class,
        process,
        cgroup: None,
        ns: ms * MS,
        share: if lost { ms as f64 / 9_400.0 } else { 0.0 },
        evidence: "what shows it",
    }
}

pub(crate) fn spike() -> Spike {
    let rsync = Process {
        pid: 4711,
        comm: Comm::from("rsync"),
    };
    Spike {
        start_ns: 3_723_250 * MS,
        duration_ns: 412 * MS,
        sections: vec![String::from("oltp")],
        slow_ios: 61,
        threshold_ns: 16 * MS,
        usual_ns: 4 * MS,
        worst: WorstIo {
            latency_ns: 95 * MS,
            response_ns: 240 * MS,
            at_ns: 3_723_400 * MS,
            offset_bytes: 1 << 20,
            length_bytes: 4096,
            op: String::from("read"),
        },
        split: Some(Split {
            unsent_ns: 8e6,
            above_ns: 10_000.0,
            tag_ns: 0.0,
            scheduler_ns: 2e6,
            device_ns: 70e6,
            reap_ns: 1e6,
            ambiguous: 0.25,
            unmatched: 0.0,
        }),
        depth: Depths {
            before: 3.9,
            during: 16.0,
            after: 4.1,
            device_during: Some(71.5),
        },
        served: vec![Served {
            process: rsync,
            own: false,
            requests: 9_120,
            flushes: 0,
            bytes: 9_120 << 17,
            in_flight: 55.5,
            in_flight_before: 0.0,
        }],
        newcomers: vec![ProcessUse {
            process: rsync,
            cpu_ns: 320 * MS,
            read_bytes: 1 << 30,
            written_bytes: 0,
        }],
        shift: false,
        lost_ns: 9_400 * MS,
        owners: vec![
            owned(OwnerClass::CompetingIo, Some(rsync), 8_550),
            owned(OwnerClass::NoCpu, None, 600),
            owned(OwnerClass::NotSeen, None, 250),
            owned(OwnerClass::Usual, None, 244),
        ],
        verdict: Verdict {
            cause: Cause::CompetingIo,
            process: Some(rsync),
            confidence: 0.91,
            confidence_words: String::from("almost certain"),
            because: vec![String::from(
                "of 9.40 s lost in these 412 ms: 8.55 s behind other processes' I/O: rsync; 600 ms no CPU; 250 ms not seen",
            )],
            also: vec![(Cause::CpuStarvation, None)],
            missing: Vec::new(),
        },
    }
}

fn unknown() -> Spike {
    Spike {
        start_ns: 10_000 * MS,
        worst: WorstIo {
            latency_ns: 30 * MS,
            response_ns: 30 * MS,
            ..spike().worst
        },
        split: None,
        served: Vec::new(),
        newcomers: Vec::new(),
        shift: false,
        lost_ns: 0,
        owners: Vec::new(),
        verdict: Verdict {
            cause: Cause::Unknown,
            process: None,
            confidence: 0.0,
            confidence_words: String::from("a guess"),
            because: vec![String::from(
                "80 % of the slow I/Os' time went by before they came to the block layer",
            )],
            also: Vec::new(),
            missing: vec![String::from("who was on the CPUs meanwhile (stream `sched`)")],
        },
        ..spike()
    }
}

fn section() -> SectionDistribution {
    let whole = Distribution {
        n: 864_000,
        mean_ns: 5.94e6,
        stddev_ns: 30.8e6,
        min_ns: 2_618_000,
        max_ns: 2_899 * MS,
        percentiles: vec![
            (5.0, 2_800_000),
            (50.0, 4_084_000),
            (95.0, 5_681_000),
            (99.0, 27_695_000),
        ],
        above: [56_400, 43_100, 33_300, 24_100, 13_500, 2_276],
    };
    SectionDistribution {
        name: String::from("oltp"),
        hours: (0..2)
            .map(|hour| HourDistribution {
                hour,
                ios: whole.clone(),
                average_ns: (4e6, 900e6),
            })
            .collect(),
        whole,
        averages: Averages {
            seconds: 7200,
            min_ns: 4.0e6,
            p5_ns: 4.4e6,
            p50_ns: 5.0e6,
            p95_ns: 6.3e6,
            max_ns: 900e6,
            hidden: vec![
                HiddenSeconds {
                    above_ms: 6,
                    with_slow_io: 7000,
                    hidden: 6500,
                },
                HiddenSeconds {
                    above_ms: 50,
                    with_slow_io: 40,
                    hidden: 0,
                },
            ],
        },
    }
}

fn explanation() -> Explanation {
    Explanation {
        usage: fathom_analysis::usage::Usage::default(),
        commands: Vec::new(),
        schema: String::from(SCHEMA),
        limits: vec![limit()],
        spikes: Some(SpikeReport {
            found: 1200,
            kept: vec![unknown(), spike()],
            lost_ns: 0,
            covered: 1.0,
            smaller: Smaller::default(),
            causes: vec![(Cause::CompetingIo, 1), (Cause::Unknown, 1)],
            kinds: Vec::new(),
            periods: vec![Period {
                cause: Some(Cause::Device),
                worst_min_ns: 300 * MS,
                period_ns: 400_000 * MS,
                phase_ns: 170_000 * MS,
                spikes: 216,
                missed: 1,
                jitter_ns: 25 * MS,
            }],
        }),
        distributions: vec![section()],
        missing: vec![String::from(
            "stream `sched`: 12 rows were lost because the recording could not keep up",
        )],
    }
}

fn check(explanation: &Explanation, style: Style, expect: &Expect) {
    let shown = text(&fixtures::random_read(), explanation, None, &Evidence::All, style);
    expect.assert_eq(&shown);
}

/// What it comes to, and one disturbance's evidence, in 80 columns.
#[test]
fn in_short() {
    let run = fixtures::random_read();
    let mut explanation = explanation();
    explanation.distributions.clear();
    let short = text(&run, &explanation, None, &Evidence::None, Style::default());
    expect![[r#"
        fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

        What limited it: oltp: an IOPS limit (almost certain, 93 %).
        What disturbed it: of 9.40 s that I/Os lost in 1200 disturbances, 8.55 s (91 %)
          behind other processes' I/O: rsync; 600 ms (6.4 %) no CPU.
        What to do: move rsync to another disk, or limit its I/O (io.max).

        Limits
          oltp: an IOPS limit (almost certain, 93 %)
            because its rate is the same each second to 0.05 %, while chance would make
              it vary by 3.6 %
            equal to the limit of: azure/P15 (1100 IOPS, measured 102 % of it);
              azure/E15 (1100 IOPS, measured 102 % of it); aws/x (1100 IOPS, measured
              102 % of it); gcp/y (1100 IOPS, measured 102 % of it); and 1 more
            to change it: a disk with more IOPS, or larger and fewer I/Os
            beware: iowait is 0.0 %, though the disk is saturated
            missing: the same load with another block size

        Disturbances
          1200 spikes, the worst 2 of them kept: competing I/O 1, unknown 1
          those by device of 300 ms and more come every 400 s, first at 0:02:50.000: 216
            spikes on time to 25.0 ms, 1 time none came

          #           at     for    lost    worst  cause
          1  1:02:03.250  412 ms  9.40 s   240 ms  competing I/O: rsync
          2  0:00:10.000  412 ms       -  30.0 ms  unknown
          --evidence 1 tells what shows the first of them, --evidence all everything.

        Not in the record
          stream `sched`: 12 rows were lost because the recording could not keep up
    "#]]
    .assert_eq(&short);
    let of_one = text(&run, &explanation, None, &Evidence::Of(vec![2]), Style::default());
    assert!(
        of_one.contains("\n  #2, 0:00:10.000: 412 ms, unknown"),
        "{of_one}"
    );
    assert!(!of_one.contains("\n  #1, "), "{of_one}");
    for line in short.lines().chain(of_one.lines()) {
        assert!(line.chars().count() <= 80 && !line.contains('…'), "{line}");
    }
}

#[test]
fn limits_and_spikes() {
    let mut explanation = explanation();
    explanation.distributions.clear();
    check(
        &explanation,
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

            What limited it: oltp: an IOPS limit (almost certain, 93 %).
            What disturbed it: of 9.40 s that I/Os lost in 1200 disturbances, 8.55 s (91 %)
              behind other processes' I/O: rsync; 600 ms (6.4 %) no CPU.
            What to do: move rsync to another disk, or limit its I/O (io.max).

            Limits
              oltp: an IOPS limit (almost certain, 93 %)
                rate 1122 IOPS, bandwidth 4.38 MiB/s (4.60 MB/s), mean latency 14.3 ms, disk
                busy 99.9 %
                because its rate is the same each second to 0.05 %, while chance would make
                  it vary by 3.6 %
                because 16.0 in flight / 14.3 ms each = 1122 IOPS, 4.38 MiB/s
                equal to the limit of: azure/P15 (1100 IOPS, measured 102 % of it);
                  azure/E15 (1100 IOPS, measured 102 % of it); aws/x (1100 IOPS, measured
                  102 % of it); gcp/y (1100 IOPS, measured 102 % of it); and 1 more
                to change it: a disk with more IOPS, or larger and fewer I/Os
                beware: iowait is 0.0 %, though the disk is saturated
                missing: the same load with another block size

            Disturbances
              1200 spikes, the worst 2 of them kept: competing I/O 1, unknown 1
              those by device of 300 ms and more come every 400 s, first at 0:02:50.000: 216
                spikes on time to 25.0 ms, 1 time none came

              #           at     for    lost    worst  cause
              1  1:02:03.250  412 ms  9.40 s   240 ms  competing I/O: rsync
              2  0:00:10.000  412 ms       -  30.0 ms  unknown

              #1, 1:02:03.250: 412 ms, competing I/O by rsync (4711) (almost certain, 91 %)
                because of 9.40 s lost in these 412 ms: 8.55 s behind other processes' I/O:
                  rsync; 600 ms no CPU; 250 ms not seen
                8.55 s (91 %) behind other processes' I/O, rsync (4711): what shows it
                600 ms (6.4 %) no CPU: what shows it
                250 ms (2.7 %) not seen: what shows it
                also: CPU starvation
                61 slow I/Os of oltp; the worst, a read of 4 KiB, took 95.0 ms (240 ms from
                  when it was due); normal is 4.00 ms
                their time: due and not sent 8.00 ms (9.9 %), in the scheduler 2.00 ms (2.5
                  %), at the device 70.0 ms (86 %), done and not seen 1.00 ms (1.2 %), for
                  25 % of them several requests fit, so this is approximate
                in flight: 3.90 before, 16.0 during, 4.10 after; 71.5 at the device
                  meanwhile
                also served: rsync (4711) 9120 requests of 1.11 GiB, 55.5 in flight, before
                  0.00
                busy then and not before (no proof of guilt): rsync (4711) 320 ms of CPU, 1
                  GiB read, 0 B written

              #2, 0:00:10.000: 412 ms, unknown
                because 80 % of the slow I/Os' time went by before they came to the block
                  layer
                missing to decide: who was on the CPUs meanwhile (stream `sched`)
                61 slow I/Os of oltp; the worst, a read of 4 KiB, took 30.0 ms; normal is
                  4.00 ms
                in flight: 3.90 before, 16.0 during, 4.10 after; 71.5 at the device
                  meanwhile

            Not in the record
              stream `sched`: 12 rows were lost because the recording could not keep up
        "#]],
    );
}

#[test]
fn averages_and_what_is_missing() {
    let mut explanation = explanation();
    explanation.limits.clear();
    explanation.spikes = Some(SpikeReport::default());
    check(
        &explanation,
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

            What disturbed it: nothing; no I/O took far longer than those around it.

            Averages against truth
              oltp: 864k I/Os
                1-second averages: 4.00 ms to 900 ms, nine of ten between 4.40 ms and 6.30
                  ms
                the I/Os: 2.62 ms to 2.90 s, nine of ten between 2.80 ms and 5.68 ms, mean
                  5.94 ms
                an I/O above 6 ms is in 7000 seconds; in 6500 of them the average is below
                  that
                p5 2.80 ms, p50 4.08 ms, p95 5.68 ms, p99 27.7 ms
              > ms        6     10     15     20     25     50     max
              all     6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s
              hour 1  6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s
              hour 2  6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s

            Not in the record
              stream `sched`: 12 rows were lost because the recording could not keep up
        "#]],
    );
}

/// What is the same of several sections is told once.
#[test]
fn limits_of_several_sections() {
    let mut explanation = explanation();
    explanation.spikes = Some(SpikeReport::default());
    explanation.missing.clear();
    explanation.distributions.clear();
    explanation.limits = ["h00", "h01", "h02", "h03"]
        .into_iter()
        .zip([1122.0, 1118.0, 9000.0, 1120.0])
        .map(|(name, rate)| SectionLimit {
            name: String::from(name),
            figures: vec![Figure {
                what: String::from("rate"),
                value: rate,
                unit: Unit::Iops,
            }],
            candidates: Vec::new(),
            change: String::from(if rate > 2000.0 {
                "a larger machine"
            } else {
                "more IOPS"
            }),
            ..limit()
        })
        .collect();
    check(
        &explanation,
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

            What limited it: 3 sections (h00, h01, h03): an IOPS limit (almost certain, 93
              %); h02: an IOPS limit (almost certain, 93 %).
            What disturbed it: nothing; no I/O took far longer than those around it.
            What to do: to go faster, more IOPS.

            Limits
              3 sections (h00, h01, h03): an IOPS limit (almost certain, 93 %)
                rate 1118 to 1122 IOPS
                because its rate is the same each second to 0.05 %, while chance would make
                  it vary by 3.6 %
                because 16.0 in flight / 14.3 ms each = 1122 IOPS, 4.38 MiB/s
                to change it: more IOPS
                beware: iowait is 0.0 %, though the disk is saturated
                missing: the same load with another block size

              h02: an IOPS limit (almost certain, 93 %)
                rate 9000 IOPS
                because its rate is the same each second to 0.05 %, while chance would make
                  it vary by 3.6 %
                because 16.0 in flight / 14.3 ms each = 1122 IOPS, 4.38 MiB/s
                to change it: a larger machine
                beware: iowait is 0.0 %, though the disk is saturated
                missing: the same load with another block size
        "#]],
    );
}

#[test]
fn averages_of_several_sections() {
    let mut explanation = explanation();
    explanation.spikes = Some(SpikeReport::default());
    explanation.missing.clear();
    explanation.limits.clear();
    let mut few = section();
    few.name = String::from("a-section-with-a-long-name");
    few.hours.clear();
    few.whole.percentiles.truncate(2);
    few.averages.hidden.clear();
    explanation.distributions.push(few);
    check(
        &explanation,
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

            What disturbed it: nothing; no I/O took far longer than those around it.

            Averages against truth
              Latency: of averages over a second (avg), and of the I/Os
              section               I/Os  avg p95  avg max      p50      p99  p99.9     max
              oltp                  864k  6.30 ms   900 ms  4.08 ms  27.7 ms      -  2.90 s
              a-section-with-a-lo…  864k  6.30 ms   900 ms  4.08 ms        -      -  2.90 s

              The share of I/Os above so many milliseconds
              > ms                      6     10     15     20     25     50     max
              oltp                  6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s
              oltp, hour 1          6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s
              oltp, hour 2          6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s
              a-section-with-a-lo…  6.5 %  5.0 %  3.9 %  2.8 %  1.6 %  0.3 %  2.90 s

              Seconds with an average of at most so many milliseconds, of those with an I/O
                above
              > ms                          6  10  15  20  25    50
              oltp                  6500/7000   -   -   -   -  0/40
              a-section-with-a-lo…          -   -   -   -   -     -
        "#]],
    );
}

#[test]
fn nothing_to_say() {
    let nothing = Explanation {
        usage: fathom_analysis::usage::Usage::default(),
        commands: Vec::new(),
        schema: String::from(SCHEMA),
        limits: Vec::new(),
        spikes: Some(SpikeReport::default()),
        distributions: Vec::new(),
        missing: Vec::new(),
    };
    check(
        &nothing,
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on data.bin (ext4 on /dev/vda, virtio)

            What disturbed it: nothing; no I/O took far longer than those around it.
        "#]],
    );
}

/// Whatever is said fits the terminal, and ASCII where that is asked for.
#[test]
fn lines_fit() {
    let mut several = explanation();
    several.distributions.push(section());
    let both = [explanation(), several];
    for (width, explanation) in [60, 80, 100]
        .into_iter()
        .flat_map(|width| both.iter().map(move |it| (width, it)))
    {
        let style = Style {
            width,
            unicode: false,
            ..Style::default()
        };
        let text = text(&fixtures::random_read(), explanation, None, &Evidence::All, style);
        for line in text.lines() {
            assert!(line.len() <= width && line.is_ascii(), "{width}: {line}");
        }
    }
}

#[test]
fn shares_are_never_nothing_where_there_is_something() {
    let each = [
        (0.123, "12 %"),
        (0.012_3, "1.2 %"),
        (0.000_96, "0.1 %"),
        (0.000_009, "0.0009 %"),
        (0.0, "0 %"),
    ];
    for (share, words) in each {
        assert_eq!(percent(share), words);
    }
}

#[test]
fn json_keeps_names_units_and_order() {
    let document: serde_json::Value = serde_json::from_str(&json(&explanation())).expect("JSON");
    let at = |pointer: &str| document.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at("/schema"), "fathom.explanation/1");
    assert_eq!(at("/limits/0/limit"), "iops");
    assert_eq!(at("/limits/0/figures/1/unit"), "bytes_per_second");
    assert_eq!(at("/spikes/kept/1/verdict/cause"), "competing_io");
    assert_eq!(at("/spikes/kept/1/verdict/process/comm"), "rsync");
    assert_eq!(at("/spikes/kept/1/worst/response_ns"), 240_000_000);
    assert_eq!(at("/truth/0/whole/p99_ns"), 27_695_000);
    assert_eq!(at("/truth/0/whole/above_50_ms"), 2_276);
    assert_eq!(at("/spikes/kept/0/split"), serde_json::Value::Null);
}
