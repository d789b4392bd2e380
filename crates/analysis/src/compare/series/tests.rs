use super::{batches, correlation, known};
use crate::compare::chance::Chance;

#[test]
fn independent_seconds_stay_apart_and_those_that_hang_together_are_batched() {
    let mut chance = Chance::new(7);
    let alone: Vec<f64> = (0..300).map(|_| chance.normal()).collect();
    let together = chance.remembering(300, 0.9);
    let number = |values: &[f64]| batches(values).expect("long").len();
    assert!(number(&alone) >= 15, "{}", number(&alone));
    assert!(number(&together) <= 15, "{}", number(&together));
    let known = known(&together).expect("long");
    assert!((4.0..60.0).contains(&known.memory), "{known:?}");
}

/// The rates that `docs/compare.md` gives for 300 s, within what 1,000 series tell.
#[test]
fn intervals_hold_as_often_as_stated() {
    const SERIES: u32 = 1_000;
    let seed = 20_261_123;
    for (memory, least) in [(0.0, 0.93), (0.3, 0.93), (0.6, 0.92), (0.8, 0.91), (0.9, 0.91)] {
        let mut chance = Chance::new(seed);
        let mut held = 0;
        for _ in 0..SERIES {
            let known = known(&chance.remembering(300, memory)).expect("long");
            held += u32::from(known.mean.abs() <= known.half);
        }
        let rate = f64::from(held) / f64::from(SERIES);
        println!("seed {seed}, correlation {memory}: {rate:.3} of intervals hold");
        assert!(rate >= least, "correlation {memory}: {rate}");
    }
}

#[test]
fn what_is_too_short_or_flat_is_said() {
    assert!(known(&[1.0; 5]).is_none());
    let flat = known(&[3.0; 50]).expect("long");
    assert!(flat.half == 0.0 && flat.is_long_enough);
    let rising: Vec<f64> = (0..60).map(f64::from).collect();
    assert!(!known(&rising).expect("long").is_long_enough);
    assert!(correlation(&rising) > 0.9);
}
