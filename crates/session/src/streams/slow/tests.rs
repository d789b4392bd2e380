use super::*;

const MS: u64 = 1_000_000;

/// One I/O a millisecond of 100 µs each, but for those at the given times.
fn run(seconds: u64, slow: &[(u64, u64)]) -> Vec<Window> {
    let mut finder = SlowFinder::new();
    for at in (0..seconds * 1000).map(|ms| (ms + 1) * MS) {
        finder.take_in(at - 100_000, at);
        if let Some(&(end, lat)) = slow.iter().find(|(end, _)| *end == at) {
            finder.take_in(end - lat, end);
        }
    }
    finder.end();
    finder.windows().collect()
}

#[test]
fn a_slow_io_is_a_window_with_the_time_before_it() {
    let windows = run(3, &[(1500 * MS, 300 * MS)]);
    let wide = Window {
        from: MonoTime(900 * MS),
        to: MonoTime(1500 * MS),
    };
    assert!(windows.contains(&wide), "{windows:?}");
    assert!(windows.len() <= 6, "one a second beside it: {}", windows.len());
}

#[test]
fn windows_are_few_however_many_ios_are_slow() {
    let slow: Vec<_> = (100..3000).map(|ms| (ms * MS, 50 * MS)).collect();
    let windows = run(3, &slow);
    assert!((10..=34).contains(&windows.len()), "{}", windows.len());
}

#[test]
fn where_all_are_slow_each_second_still_has_one() {
    let mut finder = SlowFinder::new();
    for at in (1..=500).map(|io| io * 10 * MS) {
        finder.take_in(at - 9 * MS, at);
    }
    finder.end();
    let count = finder.windows().count();
    assert!((5..=16).contains(&count), "{count}");
}

#[test]
fn nothing_is_found_where_nothing_happened() {
    let mut finder = SlowFinder::new();
    finder.end();
    assert_eq!(finder.windows().count(), 0);
}

#[test]
fn a_long_time_in_which_all_are_slow_does_not_become_usual() {
    let mut finder = SlowFinder::new();
    for at in (1..=2000).map(|io| io * MS) {
        finder.take_in(at - 100_000, at);
    }
    // From here on a hundredth as many, each 90 times as slow.
    for at in (1..=2000).map(|io| 2000 * MS + io * 10 * MS) {
        finder.take_in(at - 9 * MS, at);
    }
    finder.end();
    let count = finder.windows().filter(|window| window.to.0 > 4000 * MS).count();
    assert!((150..=220).contains(&count), "{count} in 18 s");
}

#[test]
fn a_wait_of_minutes_is_looked_at_where_it_ends() {
    let mut finder = SlowFinder::new();
    finder.take_in(0, 100_000 * MS);
    finder.end();
    let wide = Window {
        from: MonoTime(94_000 * MS),
        to: MonoTime(100_000 * MS),
    };
    assert!(finder.windows().any(|window| window == wide));
}
