use super::*;
use crate::sweep::fixture::axes;
use crate::sweep::seen::seen;
use fathom_testkit::make::sweep::{measured, plan};

#[test]
fn only_points_that_differ_in_nothing_else() {
    let plan = plan(axes());
    // Writes half as fast, but at depth 64.
    let results = measured(&plan, |at| match (at.read_percent, at.iodepth) {
        (0, 64) | (50.., _) => 1000.0,
        _ => 500.0,
    });
    let seen = seen(&results);
    let found = read_write(&seen);
    assert_eq!(found.by_size.len(), 5);
    for contrast in &found.by_size {
        // Two orders, four depths.
        assert_eq!(
            (contrast.pairs.len(), contrast.alike, contrast.deepest),
            (8, 2, 64)
        );
        assert!((contrast.ratio - 2.0).abs() < 1e-9 && (contrast.ratio_deepest - 1.0).abs() < 1e-9);
        for pair in &contrast.pairs {
            let (first, second) = (
                plan.points[pair.first as usize],
                plan.points[pair.second as usize],
            );
            assert_eq!((first.read_percent, second.read_percent), (100, 0));
            assert_eq!(
                Coordinates {
                    read_percent: 0,
                    ..first
                },
                second
            );
            assert!((pair.half_width.expect("both known") - 0.002 * 2.0_f64.sqrt()).abs() < 1e-9);
        }
    }
    let orders = random_sequential(&seen);
    assert!(
        orders
            .by_size
            .iter()
            .all(|contrast| contrast.pairs.len() == 12 && contrast.alike == 12)
    );
}

#[test]
fn one_kind_alone_is_no_comparison() {
    let plan = plan(fathom_core::sweep::Axes {
        read_percent: vec![100],
        random: vec![true],
        ..axes()
    });
    let results = measured(&plan, |_| 1000.0);
    let seen = seen(&results);
    assert_eq!(read_write(&seen), Comparison::default());
    assert_eq!(random_sequential(&seen), Comparison::default());
}
