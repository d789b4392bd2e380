//! Lines of several widths.

use super::{Position, View, clock, layout, left};
use expect_test::{Expect, expect};
use fathom_core::units::Nanos;
use fathom_engine::collect::Live;
use fathom_engine::run::GroupProgress;
use std::time::Duration;

fn mixed() -> GroupProgress {
    GroupProgress {
        name: String::from("database"),
        group: 2,
        running: 4,
        workers: 4,
        started: true,
        fraction: Some(0.43),
        eta: Some(Nanos::from_secs(12)),
        live: Live {
            second: 8,
            ios: [76_543, 33_100, 0],
            bytes: [76_543 << 12, 33_100 << 12, 0],
            lat_ns_p99: 1_230_000,
        },
        ..GroupProgress::default()
    }
}

fn check(group: &GroupProgress, columns: usize, expected: &Expect) {
    let position = Some(Position { number: 3, of: 9 });
    let line = View {
        group,
        position,
        silent: Nanos::ZERO,
    }
    .terminal_line(columns);
    assert!(
        line.chars().count() < columns,
        "{} columns: {line}",
        line.chars().count()
    );
    expected.assert_eq(&line);
}

#[test]
fn a_mixed_group_at_several_widths() {
    let group = mixed();
    check(
        &group,
        140,
        &expect![
            "3/9 database [##########--------------]  43 % 0:12 left read 76.5k IOPS 299 MiB/s  write 33.1k IOPS 129 MiB/s  p99 1.23 ms"
        ],
    );
    check(
        &group,
        120,
        &expect![
            "3/9 database [#####-------]  43 % 0:12 left read 76.5k IOPS 299 MiB/s  write 33.1k IOPS 129 MiB/s  p99 1.23 ms"
        ],
    );
    check(
        &group,
        80,
        &expect!["3/9 database [####------] 0:12 left r 76.5k 299 w 33.1k 129 MiB/s p99 1.23 ms"],
    );
    check(&group, 40, &expect!["3/9 dat~ [###---] 0:12 left r 76.5k w 3"]);
}

#[test]
fn without_an_end_there_is_no_bar() {
    let mut group = mixed();
    (group.fraction, group.eta) = (None, None);
    group.live.ios[1] = 0;
    check(
        &group,
        100,
        &expect!["3/9 database read 76.5k IOPS 299 MiB/s  p99 1.23 ms"],
    );
}

#[test]
fn silence_is_told_after_three_seconds() {
    let group = mixed();
    let line = |silent| {
        View {
            group: &group,
            position: None,
            silent,
        }
        .plain_line(Nanos::from_secs(11))
    };
    assert!(line(Nanos::from_millis(2_999)).contains("read 76.5k IOPS"));
    expect!["0:11 database: 43 %, 0:12 left, no completion for 3 s"]
        .assert_eq(&line(Nanos::from_millis(3_900)));
}

#[test]
fn a_group_in_its_ramp_says_so_and_one_without_a_second_yet_is_starting() {
    let mut group = mixed();
    group.ramping = true;
    let line = View {
        group: &group,
        position: None,
        silent: Nanos::ZERO,
    }
    .plain_line(Nanos::from_secs(2));
    assert!(line.contains("ramp, read 76.5k"), "{line}");
    let fresh = GroupProgress {
        name: String::from("x"),
        started: true,
        ..GroupProgress::default()
    };
    let line = View {
        group: &fresh,
        position: None,
        silent: Nanos::ZERO,
    }
    .plain_line(Nanos::ZERO);
    assert_eq!(line, "0:00 x: starting");
}

#[test]
fn long_names_are_cut_on_a_terminal_and_whole_in_a_log() {
    let mut group = mixed();
    group.name = "a-very-long-name-of-a-section-of-a-job-file".to_owned();
    let view = View {
        group: &group,
        position: None,
        silent: Nanos::ZERO,
    };
    assert!(view.terminal_line(120).starts_with("a-very-long-nam~ "));
    assert!(view.plain_line(Nanos::ZERO).contains(&group.name));
}

#[test]
fn a_layout_tells_how_long_it_still_takes() {
    expect!["laying out ~iles/are/here/and/their/names/F: 25 % of 16 GiB, 205 MiB/s, 1:00 left"].assert_eq(
        &layout(
            "/mnt/data/where/files/are/here/and/their/names/F",
            4 << 30,
            16 << 30,
            Duration::from_secs(20),
        ),
    );
}

#[test]
fn a_layout_that_only_waits_for_the_disk_says_so() {
    expect!["laying out F: 1 GiB written, waiting for the disk"].assert_eq(&layout(
        "F",
        1 << 30,
        1 << 30,
        Duration::from_secs(2),
    ));
}

#[test]
fn what_is_left_is_never_half_a_second_off() {
    for (ms, expected) in [
        (0, "0:00"),
        (499, "0:00"),
        (500, "0:01"),
        (12_001, "0:12"),
        (59_600, "1:00"),
    ] {
        assert_eq!(left(Nanos::from_millis(ms)), expected);
    }
    assert_eq!(left(Nanos(u64::MAX)), clock(u64::MAX / 1_000_000_000));
    assert_eq!(clock(59), "0:59");
    assert_eq!(clock(3 * 3600 + 7 * 60), "3:07:00");
}

#[test]
fn bar_and_time_left_stay_at_80_columns_whatever_the_numbers() {
    for (ios, bytes, lat) in [
        ([999_400, 999_400, 0], [999_400 << 20, 999_400, 0], 999_400_000),
        ([1, 1, 0], [4096, 1 << 30, 0], 1_230),
        ([99_949, 9_994, 0], [99_949 << 12, 9_994 << 12, 0], 99_940_000),
    ] {
        let mut group = mixed();
        group.name = String::from("a-long-name-of-a-section");
        group.eta = Some(Nanos::from_secs(3 * 3600));
        (group.live.ios, group.live.bytes, group.live.lat_ns_p99) = (ios, bytes, lat);
        let view = View {
            group: &group,
            position: Some(Position { number: 13, of: 19 }),
            silent: Nanos::ZERO,
        };
        let line = view.terminal_line(80);
        assert!(line.chars().count() < 80, "{line}");
        for part in ["[###-----]", "3:00:00 left", "r ", "w ", "p99 "] {
            let bar = part.starts_with('[') && line.contains("[##");
            assert!(bar || line.contains(part), "{part} is not in: {line}");
        }
    }
}
