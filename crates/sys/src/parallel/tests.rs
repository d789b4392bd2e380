//! Whatever the number of items, the results are those of one thread.

use super::*;

#[test]
fn the_order_is_that_of_the_items() {
    for n in [
        0,
        1,
        WORTH_A_THREAD - 1,
        WORTH_A_THREAD,
        WORTH_A_THREAD + 1,
        7 * WORTH_A_THREAD + 3,
    ] {
        let items: Vec<usize> = (0..n).collect();
        let squares = in_parts(&items, |part| part.iter().map(|n| n * n).collect());
        let expected: Vec<usize> = (0..n).map(|n| n * n).collect();
        assert_eq!(squares, expected, "of {n}");
    }
}

#[test]
#[should_panic(expected = "the last one")]
fn a_panic_goes_on() {
    let items: Vec<usize> = (0..3 * WORTH_A_THREAD).collect();
    in_parts(&items, |part| {
        assert!(!part.contains(&(3 * WORTH_A_THREAD - 1)), "the last one");
        part.to_vec()
    });
}
