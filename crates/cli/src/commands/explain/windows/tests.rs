use super::*;

fn windows(bounds: &[(u64, u64)]) -> Vec<Window> {
    let window = |&(start_ns, end_ns): &(u64, u64)| Window { start_ns, end_ns };
    bounds.iter().map(window).collect()
}

#[test]
fn few_windows_are_read_each_on_its_own_and_touching_ones_together() {
    let bounds = [(0, 10), (100, 110), (110, 120)];
    assert_eq!(places(&windows(&bounds)), [(0, 10), (100, 120)]);
    assert_eq!(places(&[]), []);
}

#[test]
fn many_windows_are_read_in_few_places_and_none_is_left_out() {
    // Gaps grow: the last ones separate.
    let bounds: Vec<(u64, u64)> = (0..1000).map(|n| (n * n * 10, n * n * 10 + 5)).collect();
    let places = places(&windows(&bounds));
    assert!(places.len() <= PLACES_MAX, "{}", places.len());
    assert!(places.len() > PLACES_MAX / 2, "{}", places.len());
    for (start, end) in bounds {
        assert!(
            places.iter().any(|&(from, to)| from <= start && end <= to),
            "{start}"
        );
    }
    assert!(
        places.is_sorted_by(|a, b| a.1 < b.0),
        "they ascend and do not overlap"
    );
}
