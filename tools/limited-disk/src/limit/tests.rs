use super::*;
use crate::args;
use crate::clock::MS;
use proptest::prelude::*;

fn settings(flags: &str) -> Settings {
    let words = format!("limited-disk /mnt {flags}");
    args::parse(words.split_whitespace().map(Into::into)).expect("flags")
}

fn limiter(flags: &str) -> Limiter {
    let settings = settings(flags);
    let stalls = Stalls::new(&settings.stalls, 0);
    Limiter::new(&settings, stalls)
}

/// Keeps `depth` I/Os of `bytes` in flight for `seconds` from 100 s on; when each was complete.
fn closed_loop(limiter: &mut Limiter, depth: usize, bytes: u64, seconds: u64) -> Vec<u64> {
    let start = 100 * SECOND;
    let mut flying: Vec<u64> = (0..depth).map(|_| limiter.read_or_write(start, bytes)).collect();
    let mut done = Vec::new();
    loop {
        let (index, &now) = flying
            .iter()
            .enumerate()
            .min_by_key(|at| at.1)
            .expect("one flies");
        if now >= start + seconds * SECOND {
            return done;
        }
        done.push(now - start);
        flying[index] = limiter.read_or_write(now, bytes);
    }
}

#[test]
fn the_iops_hold_with_and_without_slices() {
    for slices in ["--slice-ms 0", "--slice-ms 50"] {
        let mut limiter = limiter(&format!(
            "--iops 1100 --bytes-per-second 125000000 --latency-us 2000 {slices}"
        ));
        let done = closed_loop(&mut limiter, 32, 4096, 10);
        assert!(
            (10_900..=11_060).contains(&done.len()),
            "{slices}: {}",
            done.len()
        );
    }
}

#[test]
fn the_bandwidth_holds() {
    let mut limiter = limiter("--iops 1100 --bytes-per-second 125000000 --latency-us 2000");
    let bytes = closed_loop(&mut limiter, 8, 1 << 20, 10).len() as f64 * f64::from(1 << 20) / 10.0;
    assert!((bytes / 125e6 - 1.0).abs() < 0.01, "{bytes}");
}

#[test]
fn a_slice_releases_its_share_at_once() {
    let mut limiter = limiter("--iops 1000 --slice-ms 50");
    let due: Vec<u64> = (0..120).map(|_| limiter.read_or_write(10 * SECOND, 1)).collect();
    let in_slice = |from_ms: u64| due.iter().filter(|&&at| at == 10 * SECOND + from_ms * MS).count();
    assert_eq!((in_slice(0), in_slice(50), in_slice(100)), (50, 50, 20));
}

#[test]
fn smooth_is_one_after_the_other() {
    let mut limiter = limiter("--iops 1000 --slice-ms 0 --latency-us 300");
    let due: Vec<u64> = (0..4).map(|_| limiter.read_or_write(SECOND, 1)).collect();
    let each = |number: u64| SECOND + number * MS + 300_000;
    assert_eq!(due, [each(0), each(1), each(2), each(3)]);
}

#[test]
fn an_idle_disk_saves_what_it_may() {
    let mut limiter = limiter("--iops 1000 --slice-ms 0 --burst-ms 30");
    let due: Vec<u64> = (0..40).map(|_| limiter.read_or_write(SECOND, 1)).collect();
    assert_eq!(due.iter().filter(|&&at| at == SECOND).count(), 31);
}

#[test]
fn a_stall_delays_all_that_is_in_flight_and_lends_nothing() {
    let mut limiter = limiter("--iops 1000 --slice-ms 0 --latency-us 5000 --stall at=101s,for=300ms");
    let done = closed_loop(&mut limiter, 16, 4096, 2);
    let during = done
        .iter()
        .filter(|&&at| (SECOND + 1..SECOND + 300 * MS).contains(&at))
        .count();
    assert_eq!(during, 0);
    assert!((1_690..=1_706).contains(&done.len()), "{}", done.len());
}

#[test]
fn without_limits_there_is_latency_alone() {
    let mut limiter = limiter("--latency-us 70");
    assert_eq!(limiter.read_or_write(5, 1 << 30), 70_005);
    assert_eq!(limiter.flush(5), 70_005);
}

#[test]
fn a_disk_can_become_another_one() {
    let mut limiter = limiter("--bytes-per-second 100000000 --slice-ms 0 --latency-us 1000");
    assert_eq!(limiter.read_or_write(SECOND, 4096), SECOND + MS);
    limiter.change(Change::Latency { ns: 4 * MS });
    assert_eq!(limiter.read_or_write(2 * SECOND, 4096), 2 * SECOND + 4 * MS);
    limiter.change(Change::Bandwidth(Some(1_000_000)));
    limiter.read_or_write(3 * SECOND, 10_000);
    assert_eq!(limiter.read_or_write(3 * SECOND, 1), 3 * SECOND + 14 * MS);
    limiter.change(Change::Bandwidth(None));
    limiter.change(Change::Iops(Some(10)));
    limiter.read_or_write(4 * SECOND, 1);
    assert_eq!(limiter.read_or_write(4 * SECOND, 1), 4 * SECOND + 104 * MS);
}

#[test]
fn a_discard_keeps_the_bandwidth_from_others() {
    let mut limiter =
        limiter("--bytes-per-second 100000000 --discard-bytes-per-second 1000000000 --slice-ms 0");
    assert_eq!(limiter.discard(SECOND, 500_000_000), SECOND + 500 * MS);
    assert_eq!(limiter.read_or_write(SECOND, 1), SECOND + 500 * MS);
}

proptest! {
    /// Whatever is asked when: nothing before its time, and in any window from the start no more than the rate and
    /// one share give.
    #[test]
    fn no_more_than_the_rate(
        gaps in prop::collection::vec(0_u64..20_000_000, 1..400),
        slice_ms in prop::sample::select(vec![0_u64, 10, 50]),
    ) {
        let mut limiter = limiter(&format!("--iops 1000 --slice-ms {slice_ms}"));
        let mut now = 50 * SECOND;
        let mut due = Vec::new();
        for gap in gaps {
            now += gap;
            let at = limiter.read_or_write(now, 1);
            prop_assert!(at >= now);
            prop_assert!(due.last().is_none_or(|&last| last <= at), "first come, first served");
            due.push(at);
        }
        for (index, &first) in due.iter().enumerate() {
            for (count, &last) in (1_u64..).zip(&due[index..]) {
                let allowed = (last - first) / MS + 2 * slice_ms + 1;
                prop_assert!(count <= allowed, "{count} in {} ns", last - first);
            }
        }
    }
}
