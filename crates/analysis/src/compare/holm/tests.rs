use super::adjusted;

#[test]
fn the_smallest_counts_for_all_and_the_largest_for_itself() {
    let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
    for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    assert_eq!(adjusted(&[0.4, 0.9]), [0.8, 0.9]);
    assert_eq!(adjusted(&[0.03]), [0.03]);
    assert!(adjusted(&[]).is_empty());
}
