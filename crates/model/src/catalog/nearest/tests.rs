use super::*;

/// By the definition, without a table.
fn by_hand(a: &[char], b: &[char]) -> usize {
    let (Some((&x, a_rest)), Some((&y, b_rest))) = (a.split_first(), b.split_first()) else {
        return a.len().max(b.len());
    };
    let mut least = by_hand(a_rest, b_rest) + usize::from(x != y);
    least = least.min(by_hand(a_rest, b) + 1).min(by_hand(a, b_rest) + 1);
    if a.len() > 1 && b.len() > 1 && a[0] == b[1] && a[1] == b[0] {
        least = least.min(by_hand(&a[2..], &b[2..]) + 1);
    }
    least
}

proptest::proptest! {
    #[test]
    fn distance_is_the_defined_one(a in "[abc]{0,6}", b in "[abc]{0,6}") {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        proptest::prop_assert_eq!(osa_distance(&a, &b), by_hand(&letters(&a), &letters(&b)));
    }
}

#[test]
fn only_near_names_are_offered() {
    assert_eq!(nearest("cahce", ["cache", "chunk"]), Some("cache"));
    assert_eq!(nearest("SIZ", ["size"]), Some("size"));
    assert_eq!(nearest("zzz", ["size", "seed"]), None);
    assert_eq!(nearest("", ["a"]), None);
    assert_eq!(nearest("P16", ["P1", "P10"]), Some("P10"));
}
