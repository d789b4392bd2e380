use crate::{Style, fixtures, text};
use expect_test::{Expect, expect};
use fathom_core::run::Run;

fn check(run: &Run, style: Style, expect: &Expect) {
    expect.assert_eq(&text::render(run, style));
}

#[test]
fn random_read() {
    check(
        &fixtures::random_read(),
        Style::default(),
        &expect![[r#"
        fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
        randread 4 KiB, direct, io_uring, iodepth 32, 1 worker, for 10 s on data.bin
          (ext4 on /dev/vda, virtio)

        randread: 1 worker, 10.0 s
          read  9000 IOPS  35.2 MiB/s  (36.9 MB/s)  352 MiB in 10.0 s

          latency, µs    min  mean  stddev   p50   p90   p99  p99.9   max
          read slat    0.750  1.65    1.77  1.50  2.11  2.25   28.2  30.7
          read clat      200   436     452   401   563   599   7369  8154
          read lat       200   441     478   402   564   600   7541  8187

          read lat percentiles, µs
                p1   204   p5  221  p10  241    p20   281    p30   322
               p40   362  p50  402  p60  443    p70   483    p80   524
               p90   564  p95  584  p99  600  p99.5  4583  p99.9  7541
            p99.95  7893

          CPU: 4.10 % user, 12.3 % system; 18.2 µs and 1.00 context switches an I/O

        disk vda: 99.4 % of the time busy, 3.58 I/Os in flight on average
          8955 reads/s of 4 KiB on average, 400 µs each, 0.00 % merged
          1.19 writes/s of 16 KiB on average, 2.00 ms each, 25.0 % merged
          0.30 flushes/s

        fathom's own cost: 31 ns of each I/O (0.01 % of the mean latency)
    "#]],
    );
}

#[test]
fn groups() {
    check(
        &fixtures::groups(),
        Style::default(),
        &expect![[r#"
        fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
        3 jobs on data.bin (ext4 on /dev/vda, virtio)

        job             what          IOPS  MiB/s     mean      p99
        oltp-a, oltp-b  read          4200   32.8   982 µs  1.35 ms
                        write         1800   14.1  2.63 ms  3.60 ms
        log             write 64 KiB   500   31.2   763 µs  1.05 ms

        oltp-a, oltp-b: 4 workers, 10.0 s
          randrw 70 % reads, 8 KiB, direct, io_uring, iodepth 32, 1 worker, for 10 s
          randrw 70 % reads, 8 KiB, direct, io_uring, iodepth 32, 3 workers, for 10 s
          read   4200 IOPS  32.8 MiB/s  (34.4 MB/s)  328 MiB in 10.0 s
          write  1800 IOPS  14.1 MiB/s  (14.7 MB/s)  141 MiB in 10.0 s

          latency, µs   min  mean  stddev   p50   p90   p99  p99.9    max
          read lat      450   982    1010   902  1267  1349  16392  18406
          write lat    1200  2631    2834  2406  3373  3598  44728  49082

          read lat percentiles, µs
                p1    459   p5   494  p10   539    p20   628    p30    720
               p40    812  p50   902  p60   995    p70  1084    p80   1177
               p90   1267  p95  1314  p99  1349  p99.5  9331  p99.9  16392
            p99.95  17351

          write lat percentiles, ms
             p1  1.23   p5  1.33  p10  1.44    p20  1.69    p30  1.93
            p40  2.17  p50  2.41  p60  2.65    p70  2.89    p80  3.12
            p90  3.37  p95  3.50  p99  3.60  p99.5  27.7  p99.9  44.7

          CPU a worker: 1.03 % user, 3.08 % system; 27.3 µs and 1.50 context switches an
            I/O

        log: 1 worker, 10.0 s
          write 64 KiB, direct, io_uring, iodepth 32, fdatasync after each write, 1
            worker, for 10 s
          write     500 IOPS  31.2 MiB/s  (32.8 MB/s)  312 MiB in 10.0 s
          sync   500 calls/s

          latency, µs  min  mean  stddev   p50   p90   p99    max
          write lat    350   763     753   704   988  1050  14122
          sync lat     550  1165     975  1097  1549  1648  21673

          write lat percentiles, µs
             p1  358   p5   390  p10   422    p20   496  p30  565
            p40  633  p50   704  p60   773    p70   845  p80  918
            p90  988  p95  1023  p99  1050  p99.5  6484

          CPU: 4.10 % user, 12.3 % system; 328 µs and 18.0 context switches an I/O
    "#]],
    );
}

#[test]
fn open_loop() {
    check(
        &fixtures::open_loop(),
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
            randread 16 KiB, direct, io_uring, iodepth 32, reads at 5000 IOPS a worker,
              Poisson, 1 worker, for 10 s on data.bin (ext4 on /dev/vda, virtio)

            paced: 1 worker, 10.0 s
              read  4000 IOPS  62.5 MiB/s  (65.5 MB/s)  625 MiB in 10.0 s

              latency, ms     min  mean  stddev   p50   p90   p99  p99.9    max
              read lat       3.00  6.56    6.73  6.03  8.45  9.00    111    123
              read response   450   990    1059   906  1268  1350  17104  18443

              read response percentiles, ms
                    p1    460   p5   497  p10   542    p20   632    p30    724
                   p40    815  p50   906  p60   997    p70  1085    p80   1178
                   p90   1268  p95  1314  p99  1350  p99.5  9488  p99.9  17104
                p99.95  17633

              backlog: at most 10240 I/Os due and not sent, 9981 at the end
              CPU: 4.10 % user, 12.3 % system; 41.0 µs and 2.25 context switches an I/O

            warning: paced: the schedule was not kept: up to 10240 I/Os were due and not
              sent, 9981 at the end. Lower the rate or raise iodepth; judge by response
              time, not by lat.
            warning: the machine was busy before the run: load 1.7 on 2 CPUs. Run on a quiet
              machine, or repeat and compare.
        "#]],
    );
}

#[test]
fn failed() {
    check(
        &fixtures::failed(),
        Style::default(),
        &expect![[r#"
            fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
            failed: errors ended a job early; see below.
            read 128 KiB, direct, io_uring, iodepth 32, 1 worker, for 10 s on data.bin (ext4
              on /dev/vda, virtio)

            scrub: 1 worker, 10.0 s
              read  120 IOPS  15.0 MiB/s  (15.7 MB/s)  150 MiB in 10.0 s
              13 reads failed
              2 of 1200 reads moved fewer bytes than asked

              latency, µs  min  mean  stddev  p50  p90  p99   max
              read lat     150   339     454  300  419  873  6045

              read lat percentiles, µs
                 p1  152   p5  166  p10  179  p20  209  p30  234
                p40  266  p50  300  p60  329  p70  357  p80  386
                p90  419  p95  437  p99  873

              CPU: 4.10 % user, 12.3 % system; 1.37 ms and 75.1 context switches an I/O

            error: scrub: read failed: Input/output error (errno 5), 13 times, first on
              /mnt/a/rather/long/path/to/the/file/that/was/being/read/data.bin, 128 KiB at
              offset 1048576. The disk or the path to it failed: look for the device in
              dmesg, and at its health (smartctl -a, nvme smart-log).
            error: scrub: verify failed: crc32c differs, on data.bin, 4 KiB at offset 0
        "#]],
    );
}

#[test]
fn interrupted_in_colour() {
    let style = Style {
        colour: true,
        ..Style::default()
    };
    let text = text::render(&fixtures::interrupted(), style);
    expect![[r#"
        ^[1mfathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC^[0m
        ^[33minterrupted:^[0m the results are those up to then.
        randtrimwrite 64 KiB, direct, psync, fsync after every 32 writes, 1 worker, for
          10 s on data.bin (ext4 on /dev/vda, virtio)

        ^[1mdiscard: 1 worker, 3.21 s^[0m
        ^[1m  write      280 IOPS  17.5 MiB/s  (18.4 MB/s)  56.2 MiB in 3.21 s^[0m
        ^[1m  trim       280 IOPS  17.5 MiB/s  (18.4 MB/s)  56.2 MiB in 3.21 s^[0m
        ^[1m  sync   8.72 calls/s^[0m

          latency, µs   min  mean  stddev   p50   p90    max
          write lat     952  2041    1957  1875  2660  35876
          trim lat     45.1  98.5     115  88.4   126   1722
          sync lat     4030  7912    2061  7926     -  11971

          write lat percentiles, ms
             p1  0.966   p5  1.03  p10  1.13  p20  1.28  p30  1.49
            p40   1.70  p50  1.87  p60  2.07  p70  2.27  p80  2.46
            p90   2.66  p95  2.76

          trim lat percentiles, µs
             p1  46.0   p5  50.0  p10  53.5  p20  61.4  p30  70.6
            p40  78.8  p50  88.4  p60  99.5  p70   108  p80   116
            p90   126  p95   131

          CPU: 12.8 % user, 38.3 % system; 912 µs and 50.1 context switches an I/O
    "#]]
    .assert_eq(&text.replace('\x1b', "^"));
}

#[test]
fn tiny() {
    check(
        &fixtures::tiny(),
        Style::default(),
        &expect![[r#"
        fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
        write 4 KiB, direct, io_uring, iodepth 32, 1 worker, 7 I/Os a worker on data.bin
          (ext4 on /dev/vda, virtio)

        tiny: 1 worker, 900 µs
          write  7778 IOPS  30.4 MiB/s  (31.9 MB/s)  28 KiB in 900 µs

          latency, µs   min  mean  stddev  max
          write lat    62.5   116    29.5  157

        warning: tiny: ran for 900 µs only. Run for a minute at least: cloud disks
          burst, and caches fill.
    "#]],
    );
}

#[test]
fn killed() {
    check(
        &fixtures::killed(),
        Style::default(),
        &expect![[r#"
        fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
        unfinished: the run is under way or was killed; `fathom recover` completes a
          killed one.
        randread 4 KiB, direct, io_uring, iodepth 32, 1 worker, for 10 s on
          model:azure/P15
        The disk is a model and the time virtual.

        No results: no job came to its end.
    "#]],
    );
}

/// Its section is there, and nothing of it is known.
#[test]
fn killed_before_its_first_second() {
    let mut run = fixtures::random_read();
    run.status = fathom_core::run::Status::Running;
    for job in &mut run.summary.jobs {
        job.runtime_ns = 0;
    }
    let text = text::render(&run, Style::default());
    assert!(text.contains("nothing of its results is kept yet"), "{text}");
    assert!(!text.contains(" 0 ns") && !text.contains("IOPS"), "{text}");
}

#[test]
fn narrow_and_plain() {
    let style = Style {
        colour: false,
        width: 60,
        unicode: false,
    };
    check(
        &fixtures::random_read(),
        style,
        &expect![[r#"
            fathom 0.1.0 on vm1, 2026-09-21 14:13:20 UTC
            randread 4 KiB, direct, io_uring, iodepth 32, 1 worker, for
              10 s on data.bin (ext4 on /dev/vda, virtio)

            randread: 1 worker, 10.0 s
              read  9000 IOPS  35.2 MiB/s  (36.9 MB/s)  352 MiB

              latency, us    min  mean   p50   p90   p99  p99.9   max
              read slat    0.750  1.65  1.50  2.11  2.25   28.2  30.7
              read clat      200   436   401   563   599   7369  8154
              read lat       200   441   402   564   600   7541  8187

              read lat percentiles, us
                 p1  204     p5   221    p10   241     p20   281
                p30  322    p40   362    p50   402     p60   443
                p70  483    p80   524    p90   564     p95   584
                p99  600  p99.5  4583  p99.9  7541  p99.95  7893

              CPU: 4.10 % user, 12.3 % system; 18.2 us and 1.00 context
                switches an I/O

            disk vda: 99.4 % of the time busy, 3.58 I/Os in flight on
                average
              8955 reads/s of 4 KiB on average, 400 us each, 0.00 %
                merged
              1.19 writes/s of 16 KiB on average, 2.00 ms each, 25.0 %
                merged
              0.30 flushes/s

            fathom's own cost: 31 ns of each I/O (0.01 % of the mean
              latency)
        "#]],
    );
}

/// Units that a number in running text may have.
const UNITS: [&str; 25] = [
    "IOPS",
    "B/s",
    "KiB/s",
    "MiB/s",
    "GiB/s",
    "MB/s",
    "kB/s",
    "GB/s",
    "B",
    "KiB",
    "MiB",
    "GiB",
    "ns",
    "µs",
    "ms",
    "s",
    "%",
    "I/Os",
    "context",
    "calls/s",
    "reads/s",
    "writes/s",
    "flushes/s",
    "worker",
    "workers",
];

/// Every number in the lines of facts is followed by what it counts, whatever the snapshots say.
#[test]
fn each_number_has_a_unit() {
    let facts = [
        "read ", "write ", "trim ", "sync ", "CPU", "disk ", "fathom's", "0", "1", "2", "3", "4", "8",
    ];
    for (name, run) in fixtures::all() {
        for line in text::render(
            &run,
            Style {
                width: 100,
                ..Style::default()
            },
        )
        .lines()
        .skip(2)
        {
            let start = line.trim_start();
            let is_table = start.contains(" lat ") || start.contains("response") || start.contains(" clat ");
            let is_table = is_table || start.contains(" slat ") || start.starts_with('p');
            if is_table
                || line.contains("iodepth")
                || !line.starts_with("  ")
                || line.starts_with("   ")
                || !facts.iter().any(|fact| start.starts_with(fact))
            {
                continue;
            }
            let words: Vec<&str> = start.split_whitespace().collect();
            for (at, word) in words.iter().enumerate() {
                let number = word
                    .trim_matches(|c: char| "(),;".contains(c))
                    .trim_end_matches(['k', 'M', 'G']);
                if number.parse::<f64>().is_err() {
                    continue;
                }
                let unit = words
                    .get(at + 1)
                    .map(|unit| unit.trim_matches(|c: char| "(),;".contains(c)));
                let unit = unit.unwrap_or("nothing");
                // `2 of 1200 reads`, `18.2 µs and 1.00 context switches`.
                let counts = unit == "of" || unit.ends_with('s') || unit.ends_with("at");
                assert!(
                    UNITS.contains(&unit) || counts,
                    "{name}: `{word}` has no unit in `{line}`"
                );
            }
        }
    }
}

#[test]
fn each_latency_table_names_its_unit() {
    for (name, run) in fixtures::all() {
        let text = text::render(&run, Style::default());
        let titles = text
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with("latency") || line.contains("percentiles"));
        for title in titles {
            let unit = title
                .split(", ")
                .nth(1)
                .and_then(|rest| rest.split_whitespace().next());
            assert!(matches!(unit, Some("ns" | "µs" | "ms" | "s")), "{name}: {title}");
        }
    }
}

#[test]
fn lines_fit_whatever_the_names_are() {
    for (name, mut run) in fixtures::all() {
        for width in [0, 60, 72, 80, 100, 1000] {
            for evil in ["", "a name with\nlines and \u{1b}[31mcolours ", "x"] {
                let long = evil.repeat(40);
                for job in &mut run.workload.jobs {
                    job.name = long.clone();
                }
                for job in run.summary.jobs.iter_mut().chain(&mut run.summary.groups) {
                    job.name = long.clone();
                }
                run.summary.target.description = long.clone();
                let style = Style {
                    colour: false,
                    width,
                    unicode: true,
                };
                let text = text::render(&run, style);
                for line in text.lines() {
                    let columns = line.chars().count();
                    assert!(
                        columns <= width.clamp(60, 100),
                        "{name}, {width}: {columns}: {line}"
                    );
                }
                assert!(!text.contains('\u{1b}'), "{name}: a name smuggled a colour in");
            }
        }
    }
}

#[test]
fn large_numbers_fit() {
    let mut run = fixtures::random_read();
    let read = &mut run.summary.jobs[0].read;
    *read = fixtures::direction(1, 20_000, 1 << 20, 0.001, 700);
    read.lat_ns.max = 86_400_000_000_000;
    read.bytes = u64::MAX;
    for width in [60, 80] {
        let text = text::render(
            &run,
            Style {
                width,
                ..Style::default()
            },
        );
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{line}");
        }
    }
}

#[test]
fn plain_text_is_ascii_and_colours_change_nothing_else() {
    for (name, run) in fixtures::all() {
        let style = Style {
            unicode: false,
            ..Style::default()
        };
        assert!(text::render(&run, style).is_ascii(), "{name}");
        let plain = text::render(&run, Style::default());
        let painted = text::render(
            &run,
            Style {
                colour: true,
                ..Style::default()
            },
        );
        let mut stripped = painted.clone();
        for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[33m", "\u{1b}[31m"] {
            stripped = stripped.replace(code, "");
        }
        assert_eq!(stripped, plain, "{name}");
        assert_ne!(painted, plain, "{name}");
    }
}

/// Fewer than ten I/Os beyond a percentile: it is not shown. 90 000 I/Os have 9 beyond p99.99.
#[test]
fn unsupported_percentiles_are_not_shown() {
    let text = text::render(&fixtures::random_read(), Style::default());
    assert!(text.contains("p99.95 ") && !text.contains("p99.99"), "{text}");
}

/// A record from elsewhere may have more results than jobs.
#[test]
fn results_without_a_job_are_shown() {
    let mut run = fixtures::groups();
    run.workload.jobs.truncate(1);
    let text = text::render(&run, Style::default());
    assert!(text.contains("log: 1 worker"), "{text}");
}
