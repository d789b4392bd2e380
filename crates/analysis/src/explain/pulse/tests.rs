use super::*;
use fathom_core::rng::Rng;

const MS: u64 = 1_000_000;

/// One I/O in flight for so long, with the latency (in ms) of each moment (in ms), spread by a third.
fn pulse(seconds: u64, seed: u64, latency_ms: impl Fn(u64) -> f64) -> Pulse {
    let mut rng = Rng::new(seed);
    let mut pulse = Pulse::new(0);
    let mut now = 0;
    while now < seconds * 1000 * MS {
        let latency = latency_ms(now / MS) * (0.83 + rng.unit() / 3.0);
        let end = now + (latency * 1e6) as u64;
        pulse.count(now, end).expect("a time");
        now = end + 20_000;
    }
    pulse
}

fn events(pulse: &Pulse) -> Vec<Event> {
    pulse.events(&pulse.normal())
}

#[test]
fn nothing_is_no_event() {
    for seed in 0..20 {
        assert_eq!(events(&pulse(20, seed, |_| 1.0)), []);
    }
}

/// Four times the latency for six seconds in ten: what is normal does not move, and it is one event.
#[test]
fn a_disturbance_of_most_of_the_run_does_not_raise_what_is_normal() {
    for seed in 0..20 {
        let slow = |ms: u64| (2_000..8_000).contains(&ms);
        let pulse = pulse(10, seed, |ms| if slow(ms) { 4.0 } else { 1.0 });
        let normal = pulse.normal();
        assert!((normal.mean_ns / 1e6 - 1.0).abs() < 0.05, "{}", normal.mean_ns);
        let events = pulse.events(&normal);
        assert_eq!(events.len(), 1, "{events:?}");
        assert!(events[0].shift);
        assert!(events[0].start_ns.abs_diff(2_000 * MS) <= 300 * MS, "{events:?}");
        assert!(events[0].end_ns.abs_diff(8_000 * MS) <= 300 * MS, "{events:?}");
        let (lost, within) = pulse.excess_ns(&normal, &events);
        assert_eq!(within.len(), events.len());
        assert!(within[0] / lost > 0.9, "{within:?} of {lost}");
        assert!((lost / 6e9 - 0.75).abs() < 0.05, "{lost}");
    }
}

/// 1.6 times the latency for a second and a half, of a load of 100 I/Os a second.
#[test]
fn a_small_shift_of_a_slow_load_is_found() {
    let mut found = 0;
    for seed in 0..20 {
        let slow = |ms: u64| (5_000..6_500).contains(&ms);
        let pulse = pulse(15, seed, |ms| if slow(ms) { 16.0 } else { 10.0 });
        found += usize::from(events(&pulse).iter().any(|event| event.shift));
    }
    assert!(found >= 18, "{found} of 20");
}

/// A drift to the double is a shift of its slower part.
#[test]
fn a_drift_is_found() {
    let pulse = pulse(30, 1, |ms| 1.0 + ms as f64 / 30_000.0);
    let events = events(&pulse);
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].end_ns > 29_000 * MS);
}

/// Each event has what was lost in it, and none what was lost beside it.
#[test]
fn what_was_lost_is_told_event_by_event() {
    let ms_slow = |ms: u64| match ms {
        3_000..3_040 | 6_000..6_400 => 100.0,
        _ => 1.0,
    };
    let pulse = pulse(10, 5, ms_slow);
    let normal = pulse.normal();
    let events = pulse.events(&normal);
    assert_eq!(events.len(), 2, "{events:?}");
    let (all, each) = pulse.excess_ns(&normal, &events);
    let ratio = each[1] / each[0];
    // One I/O beside four.
    assert!((2.5..6.5).contains(&ratio), "{each:?}");
    assert!(
        (each.iter().sum::<f64>() / all - 1.0).abs() < 1e-9,
        "{each:?} of {all}"
    );
    let (all, each) = pulse.excess_ns(&normal, &events[..1]);
    assert!(each[0] < all / 3.0, "{each:?} of {all}");
}

#[test]
fn a_single_slow_one_is_an_event_and_no_shift() {
    let pulse = pulse(10, 3, |ms| if (4_000..4_005).contains(&ms) { 300.0 } else { 1.0 });
    let events = events(&pulse);
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(!events[0].shift && events[0].worst_ns > 240 * MS);
}

/// A month and a second after it, and a time before the start.
#[test]
fn times_that_no_run_has_are_refused() {
    let mut pulse = Pulse::new(1_000);
    assert!(pulse.count(0, 500).is_some());
    assert!(
        pulse
            .count(0, 31 * 24 * 3600 * 1_000 * MS + 60_000 * MS)
            .is_none()
    );
    assert!(pulse.count(0, u64::MAX).is_none());
    assert_eq!(pulse.events(&pulse.normal()), []);
}
