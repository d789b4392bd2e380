use super::*;
use fathom_core::rng::Rng;

const MS: u64 = 1_000_000;

/// Feeds a detector as a timeline does, with a chunk each ten seconds.
fn detect(ios: &[(u64, u64)]) -> Vec<Event> {
    let mut detector = Detector::default();
    let mut chunk = MiniHistogram::default();
    let mut number = 0;
    for &(due_ns, latency_ns) in ios {
        let end_ns = due_ns + latency_ns;
        if end_ns / 10_000_000_000 > number {
            number = end_ns / 10_000_000_000;
            chunk = MiniHistogram::default();
        }
        chunk.count(latency_ns);
        detector.count(&chunk, number, due_ns, end_ns, latency_ns);
    }
    detector.events()
}

/// Against a sorted list, for several seeds and spreads: a bucket is at most a quarter octave wide.
#[test]
fn percentiles_are_within_a_bucket_of_the_truth() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut histogram = MiniHistogram::default();
        let mut all: Vec<u64> = (0..2000)
            .map(|_| 300 + (rng.unit().powi(6) * 10f64.powi((seed % 10) as i32)) as u64)
            .collect();
        for value in &all {
            histogram.count(*value);
        }
        all.sort_unstable();
        for percent in [1, 50, 90, 100] {
            let rank = (all.len() * percent).div_ceil(100).max(1);
            let (found, truth) = (
                histogram.percentile_ns(percent as u64) as f64,
                all[rank - 1] as f64,
            );
            assert!(
                (found / truth - 1.0).abs() < 0.13,
                "seed {seed}: p{percent} {found} {truth}"
            );
        }
    }
}

#[test]
fn the_ends_of_the_range_have_buckets() {
    let mut histogram = MiniHistogram::default();
    histogram.count(0);
    histogram.count(u64::MAX);
    assert_eq!(histogram.percentile_ns(50), (1 << 8) + 32);
    assert!(histogram.percentile_ns(100) > 60_000 * MS);
}

/// One stalled I/O among a hundred a second.
#[test]
fn a_stall_of_a_slow_load_is_one_event() {
    let mut ios: Vec<(u64, u64)> = Vec::new();
    let mut now = 0;
    for number in 0..3000 {
        let latency = if number == 1500 {
            500 * MS
        } else {
            9 * MS + number % 3 * MS
        };
        ios.push((now, latency));
        now += latency;
    }
    let events = detect(&ios);
    let stall = events.iter().max_by_key(|event| event.worst_ns).unwrap();
    assert_eq!((stall.ios, stall.worst_ns), (1, 500 * MS));
    assert_eq!(stall.end_ns - stall.start_ns, 500 * MS);
}

/// A limit that acts in slices of 100 ms makes one I/O in eight slow: that is the usual course.
#[test]
fn what_is_slow_all_the_time_is_no_event_in_the_end() {
    let mut histogram = MiniHistogram::default();
    for number in 0..800 {
        histogram.count(if number % 8 == 0 { 100 * MS } else { MS / 3 });
    }
    let usual = histogram.usual();
    assert!(usual.threshold_ns() > 150 * MS, "{usual:?}");
}

#[test]
fn memory_is_bounded_and_keeps_the_worst() {
    let mut detector = Detector::default();
    let usual = MiniHistogram::default();
    for number in 0..200_000_u64 {
        // Far apart, each slow by another amount; the threshold is held down.
        detector.threshold_ns = MS;
        detector.until_look = 1000;
        let worst = MS + (number * 7919) % (900 * MS);
        detector.count(&usual, 0, number * 2_000 * MS, number * 2_000 * MS + worst, worst);
    }
    assert!(detector.events.len() <= EVENTS_MAX);
    let worst = detector.events().iter().map(|event| event.worst_ns).max();
    let truth = (0..200_000_u64)
        .map(|number| MS + (number * 7919) % (900 * MS))
        .max();
    assert_eq!(worst, truth);
}

#[test]
fn near_events_are_one() {
    let event = |start_ns, end_ns| Event {
        start_ns,
        end_ns,
        ios: 1,
        worst_ns: end_ns - start_ns,
        worst_at_ns: end_ns,
        shift: false,
        lost_ns: 1,
    };
    let mut events = vec![
        event(500 * MS, 600 * MS),
        event(0, 10 * MS),
        event(90 * MS, 95 * MS),
    ];
    merge(&mut events);
    assert_eq!(events.len(), 2);
    assert_eq!(
        (
            events[0].end_ns,
            events[0].ios,
            events[0].worst_ns,
            events[0].lost_ns
        ),
        (95 * MS, 2, 10 * MS, 2)
    );
}
