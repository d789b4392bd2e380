use super::*;
use proptest::prelude::*;

fn stalls(all: &[&str], origin_ns: u64) -> Stalls {
    let parsed: Vec<Stall> = all.iter().map(|text| Stall::parse(text).expect(text)).collect();
    Stalls::new(&parsed, origin_ns)
}

fn first(stalls: &Stalls, count: usize) -> Vec<(u64, u64)> {
    let mut from = 0;
    let each = std::iter::from_fn(|| {
        let next = stalls.next(from)?;
        from = next.1;
        Some((next.0 / MS, next.1 / MS))
    });
    each.take(count).collect()
}

#[test]
fn periodic_and_single_stalls() {
    let each = stalls(&["every=2s,for=300ms"], 10 * SECOND);
    assert_eq!(first(&each, 2), [(12_000, 12_300), (14_000, 14_300)]);
    let from = stalls(&["for=300ms,from=500ms,every=2s"], 0);
    assert_eq!(first(&from, 2), [(500, 800), (2_500, 2_800)]);
    let once = stalls(&["at=5s,for=3s"], 0);
    assert_eq!(first(&once, 2), [(5_000, 8_000)]);
    assert_eq!(first(&stalls(&[], 7), 1), []);
}

#[test]
fn stalls_that_overlap_are_one() {
    let both = stalls(&["every=1s,for=300ms", "at=1200ms,for=1s"], 0);
    assert_eq!(first(&both, 3), [(1_000, 2_300), (3_000, 3_300), (4_000, 4_300)]);
}

#[test]
fn what_makes_no_sense_is_refused_in_words() {
    for (text, word) in [
        ("every=2s", "how long"),
        ("for=1s", "say when"),
        ("every=2s,for=2s", "shorter"),
        ("every=2s,for=0s", "how long"),
        ("at=1s,every=2s,for=1s", "say when"),
        ("at=1s,from=1s,for=1s", "say when"),
        ("at=1s,for=1s,for=1s", "twice"),
        ("every=2h,for=1s", "whole number"),
        ("every=,for=1s", "whole number"),
        ("every=99999999999999999999s,for=1s", "large"),
        ("sometimes", "name=duration"),
        ("now=1s", "every, for"),
    ] {
        let refused = Stall::parse(text).expect_err(text);
        assert!(refused.contains(word), "{text}: {refused}");
    }
}

#[test]
fn the_disks_clock_stands_still_meanwhile() {
    let mut clock = DiskClock::new(stalls(&["every=10s,for=2s"], 0));
    assert_eq!(clock.at(9 * SECOND), 9 * SECOND);
    assert_eq!(clock.when(9 * SECOND + 500 * MS), 9 * SECOND + 500 * MS);
    // 1.5 s of work: one of it before the stall, half of it after.
    assert_eq!(clock.when(10 * SECOND + 500 * MS), 12 * SECOND + 500 * MS);
    assert_eq!(clock.at(11 * SECOND), 10 * SECOND);
    assert_eq!(clock.when(10 * SECOND + 1), 12 * SECOND + 1);
    assert_eq!(clock.at(13 * SECOND), 11 * SECOND);
    assert_eq!(clock.when(30 * SECOND), 36 * SECOND);
}

proptest! {
    #[test]
    fn any_text_is_taken_or_refused(text in "(every|for|at|from|=|,|[0-9]{0,22}|us|ms|s|\\PC){0,12}") {
        let _whatever = Stall::parse(&text);
    }

    /// Both ways, and never within a stall.
    #[test]
    fn the_clocks_agree(
        periods in prop::collection::vec((2_u64..50, 1_u64..10, 0_u64..60), 0..3),
        mut times in prop::collection::vec(0_u64..2_000, 1..30),
    ) {
        let all: Vec<Stall> = periods
            .iter()
            .map(|&(every, length, from)| {
                let every = every + 3 * length;
                Stall::parse(&format!("every={every}s,for={length}s,from={from}s")).expect("a stall")
            })
            .collect();
        prop_assume!(Stalls::leave_time(&all));
        let stalls = Stalls::new(&all, 0);
        let mut clock = DiskClock::new(stalls.clone());
        times.sort_unstable();
        let mut before = (0, 0);
        for time in times {
            let now_ns = time * SECOND / 2;
            let shown = clock.at(now_ns);
            prop_assert!(shown - before.1 <= now_ns - before.0, "it ran faster than time");
            before = (now_ns, shown);
            let due_ns = clock.when(shown + 1);
            prop_assert!(due_ns > now_ns);
            let inside = stalls.next(due_ns).is_some_and(|(start, end)| start < due_ns && due_ns < end);
            prop_assert!(!inside, "{due_ns} is within a stall");
            prop_assert_eq!(DiskClock::new(stalls.clone()).at(due_ns), shown + 1);
        }
    }
}
