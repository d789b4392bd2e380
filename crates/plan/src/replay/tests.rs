use super::{Player, Replayed};
use crate::layout::Layout;
use crate::seen::{Arrival, SECOND_NS};
use fathom_core::backend::Op;
use fathom_model::Catalog;

const START_NS: u64 = 77 * SECOND_NS;

fn played(layout: &str, growth_permille: u64, arrivals: &[Arrival]) -> Replayed {
    let catalog = Catalog::azure();
    let layout = Layout::named(layout, catalog).unwrap();
    let mut player = Player::new(&layout, catalog, START_NS, growth_permille).unwrap();
    for some in arrivals.chunks(100) {
        player.take(some);
    }
    player.finish()
}

/// `ios` a second for `seconds`, evenly, of 8 KiB.
fn steady(ios: u64, seconds: u64, depth: u32) -> Vec<Arrival> {
    (0..ios * seconds)
        .map(|number| Arrival {
            due_ns: START_NS + number * SECOND_NS / ios,
            offset_bytes: (number * 7_919 % 100_000) * 8_192,
            len_bytes: 8_192,
            op: if number % 4 == 0 { Op::Write } else { Op::Read },
            file: 0,
            worker: 5,
            depth,
            think_ns: 0,
            took_ns: 0,
        })
        .collect()
}

#[test]
fn what_a_disk_carries_is_not_throttled() {
    let replayed = played("azure/P15", 1_000, &steady(1_000, 30, 0));
    assert_eq!((replayed.ios, replayed.bytes), (30_000, 30_000 * 8_192));
    assert_eq!((replayed.reads.n(), replayed.writes.n()), (22_500, 7_500));
    assert_eq!((replayed.throttled_seconds, replayed.late_ns), (0, 0));
    assert!((29..=31).contains(&replayed.seconds));
}

/// 4,000 IOPS of 3,000, without credit: the queue grows by 1,000 a second, and the last ones wait a third of the time.
#[test]
fn an_open_load_that_is_too_much_queues_without_end() {
    let replayed = played(
        "azure/PremiumV2,size=100g,iops=3000,mbps=125",
        1_000,
        &steady(4_000, 30, 0),
    );
    assert!(replayed.throttled_seconds >= 28, "{}", replayed.throttled_seconds);
    let longest = replayed.reads.max().unwrap();
    assert!((9 * SECOND_NS..12 * SECOND_NS).contains(&longest), "{longest}");
    assert_eq!(replayed.held[0].limit, "disk IOPS");
}

/// The same of workers that wait: each I/O takes as long as the disk does, and the load is late instead.
#[test]
fn a_closed_load_that_is_too_much_is_held_up() {
    let layout = "azure/PremiumV2,size=100g,iops=3000,mbps=125";
    let replayed = played(layout, 1_000, &steady(4_000, 30, 64));
    assert!(
        (9 * SECOND_NS..12 * SECOND_NS).contains(&replayed.late_ns),
        "{}",
        replayed.late_ns
    );
    let longest = replayed.reads.max().unwrap();
    assert!(longest < SECOND_NS / 5, "{longest}");
    assert_eq!(replayed.ios, 120_000);
}

/// With one at a time the next is never sent before the last is complete, and as long after it as in the recording.
#[test]
fn one_that_waits_has_one_in_flight() {
    let mut arrivals = steady(10_000, 1, 1);
    for arrival in &mut arrivals {
        arrival.think_ns = 50_000;
    }
    let replayed = played("azure/P40", 1_000, &arrivals);
    let each_ns = replayed.latency().mean() + 50_000.0;
    let expected = each_ns * 10_000.0 - SECOND_NS as f64;
    let late = replayed.late_ns as f64;
    assert!((late / expected - 1.0).abs() < 0.02, "{late} {expected}");
}

/// A burst of half an hour on a small disk, then its credit is spent: known of P10, 500 IOPS and 3,500 in bursts.
#[test]
fn credit_is_that_of_the_recorded_time() {
    let busy = steady(1_000, 4_000, 0);
    let replayed = played("azure/P10", 1_000, &busy);
    // (3,500 - 500) x 1,800 s of credit at 500 a second above the base last 10,800 s.
    assert_eq!(replayed.throttled_seconds, 0, "{:?}", replayed.held);
    let longer: Vec<Arrival> = steady(3_000, 2_400, 0);
    let replayed = played("azure/P10", 1_000, &longer);
    // The model lets 2 % more through, as was measured: (3,570 - 510) x 1,800 s of credit at 2,490 a second are 2,212 s.
    assert!(
        (186..=190).contains(&replayed.throttled_seconds),
        "{} {:?}",
        replayed.throttled_seconds,
        replayed.spent
    );
    assert!(
        (2_210..2_214).contains(&(replayed.spent[0].lasted_ns / SECOND_NS)),
        "{:?}",
        replayed.spent
    );
}

#[test]
fn growth_asks_for_so_many_times() {
    let arrivals = steady(100, 20, 0);
    for (permille, ios) in [(1_000, 2_000), (2_000, 4_000), (1_500, 3_000), (500, 1_000)] {
        assert_eq!(played("azure/P30", permille, &arrivals).ios, ios, "{permille}");
    }
}

/// With a host's cache the machine tells ends later: what waits is sent all the same, and each I/O is counted once.
#[test]
fn a_host_cache_tells_ends_and_workers_go_on() {
    let layout = "azure/P15,vm=Standard_DS3_v2,cache=rw";
    for depth in [0, 4] {
        let replayed = played(layout, 1_000, &steady(2_000, 20, depth));
        assert_eq!(replayed.ios, 40_000, "depth {depth}");
    }
    let replayed = played(
        "azure/P15,vm=Standard_DS3_v2,cache=ro",
        1_000,
        &steady(2_000, 20, 4),
    );
    assert_eq!(replayed.ios, 40_000);
}

/// Far too much for a disk, sent by workers that wait: the replay ends before it fills memory.
#[test]
fn a_hopeless_layout_is_given_up() {
    let arrivals = steady(50_000, 30, 8);
    let replayed = played("azure/PremiumV2,size=100g,iops=3000,mbps=125", 1_000, &arrivals);
    assert!(replayed.given_up_seconds.is_some_and(|seconds| seconds < 30));
}

/// I/Os beyond the end of a smaller volume lie within it.
#[test]
fn places_of_a_larger_disk_are_found_on_a_smaller_one() {
    let mut arrivals = steady(100, 2, 0);
    for (number, arrival) in arrivals.iter_mut().enumerate() {
        arrival.offset_bytes = u64::MAX - number as u64 * 4_096;
    }
    assert_eq!(played("azure/P1", 1_000, &arrivals).ios, 200);
}
